// Fields: how nodes and values declare what they are made of, and the walks over it.
//
//   struct Pipelined {
//     bool uses_mbarrier_for_war = false;
//     static constexpr auto fields() {
//       return std::tuple{attr("uses_mbarrier_for_war", &Pipelined::uses_mbarrier_for_war, "..")};
//     }
//   };
//
// Clone, equality, hash, printing, the Python class and the bytes on disk derive from `fields()`.
// A field is a statement pointer, a number, an enumerator, a text, a struct with fields, or a
// vector, optional, pair or variant of these.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ir/fwd.h"

namespace nvfuser {

enum class Role : uint8_t { Output, Input, Attr };

/// A field of a node or value: its name (the same in C++ and Python), where it is, what it means.
template <typename Owner, typename T>
struct Field {
  using Type = T;
  Role role;
  const char* name;
  T Owner::* member;
  const char* doc;
  bool is_optional = false;
  /// The same field; a pointer in it may be nullptr.
  [[nodiscard]] constexpr Field or_none() const {
    return {role, name, member, doc, true};
  }
};

template <typename Owner, typename T>
constexpr Field<Owner, T> output(const char* name, T Owner::* member, const char* doc) {
  return {Role::Output, name, member, doc};
}
/// An operand. nullptr (or an empty vector) is an absent optional operand.
template <typename Owner, typename T>
constexpr Field<Owner, T> input(const char* name, T Owner::* member, const char* doc) {
  return {Role::Input, name, member, doc};
}
/// Anything else. A Val in an attribute is cloned and compared, but is no edge of the graph.
template <typename Owner, typename T>
constexpr Field<Owner, T> attr(const char* name, T Owner::* member, const char* doc) {
  return {Role::Attr, name, member, doc};
}

template <typename Owner, typename Fn>
constexpr void for_each_field(Fn&& fn) {
  std::apply([&](const auto&... field) { (fn(field), ...); }, Owner::fields());
}

// ---- Kinds of fields ----------------------------------------------------------------------------

template <typename T>
concept HasFields = requires { T::fields(); };

template <typename T>
inline constexpr bool is_statement_pointer_v =
    std::is_pointer_v<T> && std::is_base_of_v<Statement, std::remove_pointer_t<T>>;

template <typename T, template <typename...> typename Template>
inline constexpr bool is_instance_v = false;
template <template <typename...> typename Template, typename... Args>
inline constexpr bool is_instance_v<Template<Args...>, Template> = true;

template <typename T>
inline constexpr bool is_vector_v = is_instance_v<T, std::vector>;
template <typename T>
inline constexpr bool is_optional_v = is_instance_v<T, std::optional>;
template <typename T>
inline constexpr bool is_variant_v = is_instance_v<T, std::variant>;
template <typename T>
inline constexpr bool is_pair_v = is_instance_v<T, std::pair>;

/// The length of a vector, whether an optional has a value, which alternative a variant holds.
struct Extent {
  size_t number;
};

/// Call `fn` with every part of `value` that has no parts itself, in order; before the parts of a
/// vector, optional or variant with its Extent. Two values of one type are equal if these are.
template <typename T, typename Fn>
void for_each_leaf(T& value, Fn&& fn) {
  using Plain = std::remove_const_t<T>;
  if constexpr (is_vector_v<Plain>) {
    fn(Extent{value.size()});
    for (size_t i = 0; i < value.size(); ++i) {
      if constexpr (std::is_same_v<Plain, std::vector<bool>>) {
        const bool flag = value[i];
        fn(flag);
      } else {
        for_each_leaf(value[i], fn);
      }
    }
  } else if constexpr (is_optional_v<Plain>) {
    fn(Extent{value.has_value() ? size_t{1} : size_t{0}});
    if (value.has_value()) {
      for_each_leaf(*value, fn);
    }
  } else if constexpr (is_variant_v<Plain>) {
    fn(Extent{value.index()});
    std::visit([&](auto& alternative) { for_each_leaf(alternative, fn); }, value);
  } else if constexpr (is_pair_v<Plain>) {
    for_each_leaf(value.first, fn);
    for_each_leaf(value.second, fn);
  } else if constexpr (HasFields<Plain>) {
    for_each_field<Plain>([&](const auto& field) { for_each_leaf(value.*field.member, fn); });
  } else {
    fn(value);
  }
}

} // namespace nvfuser
