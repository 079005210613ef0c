// Writing a fusion as bytes.
//
// The order of statements follows from the interface alone: inputs, then what outputs are computed
// from, operands first. Constants and computed scalars of one meaning are one statement, as
// `equal_up_to_numbering` has it; so whether a size is one object or several does not show.
#include "ir/serialize.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/fusion.h"
#include "ir/meaning.h"
#include "ir/serialized_form.h"

namespace nvfuser {
namespace {

using namespace serialized;

class FusionWriter {
 public:
  explicit FusionWriter(const Fusion& fusion) : fusion_(fusion) {
    rank_streams();
    std::for_each(fusion.inputs().begin(), fusion.inputs().end(), [&](Val* val) { visit(val); });
    std::for_each(fusion.outputs().begin(), fusion.outputs().end(), [&](Val* val) { visit(val); });
    for (size_t i = 0; i < tensors_.size(); ++i) { // grows
      for (const TensorView* tensor : tensors_of_schedule(*tensors_[i])) {
        visit(tensor);
      }
    }
  }

  [[nodiscard]] ByteWriter body() const {
    ByteWriter out;
    write_interface(out);
    out.append(records_);
    for (const TensorView* tensor : tensors_) {
      write_value(out, tensor->schedule(), numbers());
    }
    return out;
  }

 private:
  /// The positions of statements, as `write_value` asks for them.
  struct Numbers {
    const FusionWriter& writer;
    uint64_t operator()(const Statement* statement) const {
      return writer.number_of(statement);
    }
  };
  [[nodiscard]] Numbers numbers() const {
    return {*this};
  }

  // -- the interface --

  void write_interface(ByteWriter& out) const {
    out.number(num_statements_);
    out.number(fusion_.inputs().size());
    for (const Val* input : fusion_.inputs()) {
      out.number(number_of(input));
    }
    out.number(fusion_.outputs().size());
    for (const Val* output : fusion_.outputs()) {
      const AliasInfo* alias = fusion_.alias_of(output);
      out.number(number_of(output));
      out.number(alias == nullptr ? 0 : number_of(alias->input));
      out.byte(alias != nullptr && alias->is_hidden ? 1 : 0);
    }
  }

  /// Implicit seeds: the order of random tensors counts, not the numbers that they drew.
  void rank_streams() {
    std::vector<const RNGOp*> ops;
    for (const Expr* expr : fusion_.exprs()) {
      const auto* op = expr->as<RNGOp>();
      if (op != nullptr && op->seed == nullptr) {
        ops.push_back(op);
      }
    }
    std::sort(ops.begin(), ops.end(), [](const RNGOp* a, const RNGOp* b) {
      return a->stream < b->stream;
    });
    for (size_t i = 0; i < ops.size(); ++i) {
      const bool is_tie = i > 0 && ops[i]->stream == ops[i - 1]->stream;
      streams_[ops[i]] = is_tie ? streams_[ops[i - 1]] : static_cast<int64_t>(i);
    }
  }

  static std::vector<const TensorView*> tensors_of_schedule(const TensorView& tensor) {
    std::vector<const TensorView*> tensors;
    for_each_leaf(tensor.schedule(), [&]<typename Leaf>(const Leaf& leaf) {
      if constexpr (is_statement_pointer_v<Leaf>) {
        tensors.push_back(leaf);
      }
    });
    return tensors;
  }

  // -- the order --

  /// Write what `root` is made of, then `root` itself. No recursion: programs may be long.
  void visit(const Statement* root) {
    std::vector<const Statement*> pending{root};
    while (!pending.empty()) {
      const Statement* statement = pending.back();
      if (numbers_.contains(statement)) {
        pending.pop_back();
      } else if (entered_.insert(statement).second) {
        const std::vector<const Statement*> parts = parts_of(*statement);
        pending.insert(pending.end(), parts.rbegin(), parts.rend());
      } else {
        pending.pop_back();
        write(*statement);
      }
    }
  }

  /// The statements that stand before this one.
  [[nodiscard]] std::vector<const Statement*> parts_of(const Statement& statement) const {
    std::vector<const Statement*> parts;
    if (statement.is_val()) {
      const auto& val = static_cast<const Val&>(statement);
      if (val.definition() != nullptr) {
        parts.push_back(val.definition());
      } else {
        add_parts(val, parts);
      }
    } else {
      const auto& expr = static_cast<const Expr&>(statement);
      visit_nodes(expr, [&](const auto& node) { add_operands(node, parts); });
      for (const Val* output : expr.outputs()) {
        if (output->definition() == &expr) {
          add_parts(*output, parts);
        } else {
          parts.push_back(output); // an input of the fusion, which is not computed any more
        }
      }
    }
    std::erase_if(
        parts, [&](const Statement* part) { return part == nullptr || numbers_.contains(part); });
    return parts;
  }

  /// Inputs and statements in attributes, in the order of fields.
  template <typename Node>
  static void add_operands(const Node& node, std::vector<const Statement*>& parts) {
    for_each_field<Node>([&](const auto& field) {
      if (field.role != Role::Output) {
        add_leaves(node.*field.member, parts);
      }
    });
  }

  static void add_parts(const Val& val, std::vector<const Statement*>& parts) {
    if (const auto* id = as<IterDomain>(val, ValType::IterDomain)) {
      add_leaves(id->spec(), parts);
    } else if (const auto* domain = as<TensorDomain>(val, ValType::TensorDomain)) {
      add_leaves(meaning_of(*domain), parts);
    } else if (const auto* tensor = as<TensorView>(val, ValType::TensorView)) {
      parts.push_back(tensor->domain());
    }
  }

  template <typename T>
  static void add_leaves(const T& value, std::vector<const Statement*>& parts) {
    for_each_leaf(value, [&]<typename Leaf>(const Leaf& leaf) {
      if constexpr (is_statement_pointer_v<Leaf>) {
        parts.push_back(leaf);
      }
    });
  }

  template <typename T>
  static const T* as(const Val& val, ValType vtype) {
    return val.vtype() == vtype ? static_cast<const T*>(&val) : nullptr;
  }

  /// `fn` with the expression as what it is.
  template <typename Fn>
  static void visit_nodes(const Expr& expr, const Fn& fn) {
    switch (expr.kind()) {
#define NVF_CASE(Node) \
  case ExprKind::Node: fn(static_cast<const Node&>(expr)); return;
      NVF_FOR_EACH_DOMAIN_EXPR(NVF_CASE)
      NVF_FOR_EACH_MATH_EXPR(NVF_CASE)
#undef NVF_CASE
      default: break;
    }
    throw InternalError(
        __FILE__, __LINE__, "a node of definitions", {"serialize: ", expr.op_name()});
  }

  // -- records --

  void write(const Statement& statement) {
    if (!statement.is_val()) {
      write_expr(static_cast<const Expr&>(statement));
    } else if (const auto& val = static_cast<const Val&>(statement); val.is_const()) {
      write_constant(val);
    } else {
      write_val(val);
    }
  }

  void write_constant(const Val& val) {
    ByteWriter record;
    write_scalar(record, val);
    if (!is_known(val, record.str())) {
      add(val, record);
    }
  }

  void write_val(const Val& val) {
    NVF_INVARIANT(is_written(val.vtype()), "a value of definitions: ", describe(val));
    ByteWriter record;
    if (const auto* id = as<IterDomain>(val, ValType::IterDomain)) {
      record.byte(static_cast<uint8_t>(val.vtype()));
      write_value(record, id->spec(), numbers());
    } else if (const auto* domain = as<TensorDomain>(val, ValType::TensorDomain)) {
      record.byte(static_cast<uint8_t>(val.vtype()));
      write_value(record, meaning_of(*domain), numbers());
    } else if (const auto* tensor = as<TensorView>(val, ValType::TensorView)) {
      record.byte(static_cast<uint8_t>(val.vtype()));
      record.byte(static_cast<uint8_t>(val.dtype()));
      record.number(number_of(tensor->domain()));
      tensors_.push_back(tensor);
    } else if (const auto* named = as<NamedScalar>(val, ValType::NamedScalar)) {
      NVF_INVARIANT(
          is_hardware_index(named->parallel_index()), "a hardware index: ", named->text_name());
      record.byte(static_cast<uint8_t>(val.vtype()));
      record.byte(static_cast<uint8_t>(named->parallel_index()));
    } else {
      write_scalar(record, val);
    }
    add(val, record);
  }

  static void write_scalar(ByteWriter& record, const Val& val) {
    record.byte(static_cast<uint8_t>(val.vtype()));
    record.byte(static_cast<uint8_t>(val.dtype()));
    record.byte(static_cast<uint8_t>(val.value().index()));
    std::visit(
        [&]<typename T>(const T& value) {
          if constexpr (std::is_same_v<T, bool>) {
            record.byte(value ? 1 : 0);
          } else if constexpr (std::is_same_v<T, int64_t>) {
            record.signed_number(value);
          } else if constexpr (std::is_same_v<T, double>) {
            record.real(value);
          } else if constexpr (std::is_same_v<T, std::complex<double>>) {
            record.real(value.real());
            record.real(value.imag());
          }
        },
        val.value());
  }

  void write_expr(const Expr& expr) {
    NVF_INVARIANT(expr.predicate() == nullptr, "statements of kernels have conditions");
    if (is_shared(expr) && is_known_scalar(expr)) {
      return;
    }
    for (const Val* output : expr.outputs()) {
      if (output->definition() == &expr) {
        write_val(*output);
      }
    }
    ByteWriter record;
    record.byte(static_cast<uint8_t>(kNumValTypes + static_cast<size_t>(expr.kind())));
    visit_nodes(expr, [&](const auto& node) { write_fields(record, node); });
    add(expr, record);
  }

  template <typename Node>
  void write_fields(ByteWriter& record, const Node& node) const {
    typename Node::Fields fields = node;
    if constexpr (std::is_same_v<Node, RNGOp>) {
      const auto rank = streams_.find(&node);
      fields.stream = rank == streams_.end() ? 0 : rank->second;
    }
    for_each_field<typename Node::Fields>([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Type;
      if constexpr (is_statement_pointer_v<T>) {
        NVF_INVARIANT(
            field.is_optional || fields.*field.member != nullptr, Node::kName, ".", field.name,
            " is there");
      }
      write_value(record, fields.*field.member, numbers());
    });
  }

  // -- scalars of one meaning --

  /// As in `equal_up_to_numbering`: two computations of the same may be one.
  static bool is_shared(const Expr& expr) {
    return std::ranges::all_of(expr.outputs(), [&](const Val* output) {
      return output->is_scalar() && output->definition() == &expr;
    });
  }

  /// Whether results of these operations on these operands have numbers; then they are those of
  /// `expr`.
  bool is_known_scalar(const Expr& expr) {
    ByteWriter key;
    key.byte(static_cast<uint8_t>(kNumValTypes + static_cast<size_t>(expr.kind())));
    visit_nodes(expr, [&]<typename Node>(const Node& node) {
      for_each_field<Node>([&](const auto& field) {
        if (field.role != Role::Output) {
          write_value(key, node.*field.member, numbers());
        }
      });
    });
    for (const Val* output : expr.outputs()) {
      key.byte(static_cast<uint8_t>(output->dtype()));
    }
    const auto [known, is_new] = by_meaning_.emplace(key.str(), num_statements_ + 1);
    if (is_new) {
      return false;
    }
    uint64_t number = known->second;
    for (const Val* output : expr.outputs()) {
      numbers_[output] = number++;
    }
    numbers_[&expr] = number;
    return true;
  }

  bool is_known(const Val& constant, const std::string& key) {
    const auto [known, is_new] = by_meaning_.emplace(key, num_statements_ + 1);
    if (!is_new) {
      numbers_[&constant] = known->second;
    }
    return !is_new;
  }

  // -- numbers --

  void add(const Statement& statement, const ByteWriter& record) {
    numbers_[&statement] = ++num_statements_;
    records_.append(record);
  }

  [[nodiscard]] uint64_t number_of(const Statement* statement) const {
    if (statement == nullptr) {
      return 0;
    }
    const auto found = numbers_.find(statement);
    NVF_INVARIANT(found != numbers_.end(), "no statement depends on itself");
    return found->second;
  }

  const Fusion& fusion_;
  std::unordered_map<const RNGOp*, int64_t> streams_;
  std::unordered_set<const Statement*> entered_;
  std::unordered_map<const Statement*, uint64_t> numbers_;
  std::unordered_map<std::string, uint64_t> by_meaning_;
  std::vector<const TensorView*> tensors_; // in their order
  uint64_t num_statements_ = 0;
  ByteWriter records_;
};

/// A serialized fusion in parts, one behind the other.
struct Parts {
  std::array<std::byte, kNodeTableAt> front{}; // magic and version
  Digest digest{};
  ByteWriter body;
};

Parts parts_of(const Fusion& fusion) {
  Parts parts;
  std::ranges::copy(kMagic, parts.front.begin());
  parts.front.at(kVersionAt) = static_cast<std::byte>(kVersion);
  parts.body = FusionWriter(fusion).body();
  parts.digest = sha256({parts.front, node_table_digest(), parts.body.bytes()});
  return parts;
}

} // namespace

std::vector<std::byte> serialize(const Fusion& fusion) {
  const Parts parts = parts_of(fusion);
  std::vector<std::byte> bytes;
  bytes.reserve(kHeadBytes + parts.body.bytes().size());
  bytes.insert(bytes.end(), parts.front.begin(), parts.front.end());
  bytes.insert(bytes.end(), node_table_digest().begin(), node_table_digest().end());
  bytes.insert(bytes.end(), parts.digest.begin(), parts.digest.end());
  bytes.insert(bytes.end(), parts.body.bytes().begin(), parts.body.bytes().end());
  return bytes;
}

Digest digest(const Fusion& fusion) {
  return parts_of(fusion).digest;
}

} // namespace nvfuser
