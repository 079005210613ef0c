#include "ir/serialized_form.h"

namespace nvfuser::serialized {
namespace {

/// The type of a field as text; everything that its bytes depend on.
template <typename T>
void describe_type(std::string& out) {
  if constexpr (is_statement_pointer_v<T>) {
    using Statement = std::remove_pointer_t<T>;
    if constexpr (std::is_same_v<Statement, IterDomain>) {
      out += "axis";
    } else if constexpr (std::is_same_v<Statement, TensorDomain>) {
      out += "domain";
    } else if constexpr (std::is_same_v<Statement, TensorView>) {
      out += "tensor";
    } else {
      static_assert(std::is_same_v<Statement, Val>, "expressions are no fields of definitions");
      out += "value";
    }
  } else if constexpr (is_vector_v<T>) {
    out += '[';
    describe_type<typename T::value_type>(out);
    out += ']';
  } else if constexpr (is_optional_v<T>) {
    describe_type<typename T::value_type>(out);
    out += '?';
  } else if constexpr (is_variant_v<T>) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      ((out += i == 0 ? "" : "|", describe_type<std::variant_alternative_t<i, T>>(out)), ...);
    }(std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (is_pair_v<T>) {
    out += '<';
    describe_type<typename T::first_type>(out);
    out += ',';
    describe_type<typename T::second_type>(out);
    out += '>';
  } else if constexpr (HasFields<T>) {
    out += '{';
    for_each_field<T>([&]<typename Field>(const Field& field) {
      constexpr const char* kRoles[] = {"out ", "in ", ""};
      out += kRoles[static_cast<size_t>(field.role)];
      out += field.name;
      out += field.is_optional ? "?:" : ":";
      describe_type<typename Field::Type>(out);
      out += ';';
    });
    out += '}';
  } else if constexpr (std::is_same_v<T, bool>) {
    out += "bool";
  } else if constexpr (std::is_enum_v<T>) {
    out += EnumMembers<T>::kName;
    for (const char* member : EnumMembers<T>::kMembers) {
      out += std::string(" ") + member;
    }
  } else {
    static_assert(std::is_same_v<T, int64_t>, "a field of a kind that ir/fields.h names");
    out += "int";
  }
}

template <typename T>
void add_row(std::string& table, const std::string& name) {
  table += name + " ";
  describe_type<T>(table);
  table += '\n';
}

std::string make_node_table() {
  std::string table;
  add_row<ValType>(table, "ValType");
  add_row<DataType>(table, "DataType");
  add_row<IterDomainSpec>(table, "IterDomain");
  add_row<TensorDomainSpec>(table, "TensorDomain");
  add_row<TensorSchedule>(table, "TensorSchedule");
#define NVF_ADD_ROW(Node) \
  add_row<Node::Fields>(table, std::to_string(static_cast<size_t>(ExprKind::Node)) + " " #Node);
  NVF_FOR_EACH_DOMAIN_EXPR(NVF_ADD_ROW)
  NVF_FOR_EACH_MATH_EXPR(NVF_ADD_ROW)
#undef NVF_ADD_ROW
  return table;
}

} // namespace

bool is_written(ExprKind kind) {
  switch (kind) {
#define NVF_CASE(Node) case ExprKind::Node:
    NVF_FOR_EACH_DOMAIN_EXPR(NVF_CASE)
    NVF_FOR_EACH_MATH_EXPR(NVF_CASE)
#undef NVF_CASE
    return true;
    default: return false; // statements of kernels
  }
}

const std::string& node_table() {
  static const auto& table = *new std::string(make_node_table());
  return table;
}

const Digest& node_table_digest() {
  static const Digest digest = sha256({std::as_bytes(std::span(node_table()))});
  return digest;
}

} // namespace nvfuser::serialized
