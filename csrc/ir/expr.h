// Expr: the base of every expression, and the tools that a node's declaration feeds.
//
// A node is declared once: an aggregate with its named, typed fields, and the node that has them.
//
//   struct BroadcastOpFields {
//     static constexpr const char* kDoc = "Add dimensions of size one.";
//     TensorView* out = nullptr;
//     TensorView* arg = nullptr;
//     std::vector<bool> flags{};
//     static constexpr auto fields() {
//       return std::tuple{
//           output("out", &BroadcastOpFields::out, "..."), input("arg", ...), attr("flags", ...)};
//     }
//   };
//   struct BroadcastOp final : ExprNode<BroadcastOp, BroadcastOpFields> {};
//
// Creation, operand lists, clone, hash, structural equality, the Python class and its stub derive
// from `fields()`. Whoever makes a node names its fields; those left out have their defaults:
//
//   fusion.make<BroadcastOp>({.out = out, .arg = arg, .flags = flags});
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/errors.h"
#include "ir/fields.h"
#include "ir/statement.h"

namespace nvfuser {

#define NVF_EXPR_KIND(Node) Node,
enum class ExprKind : uint8_t { NVF_FOR_EACH_EXPR(NVF_EXPR_KIND) };
#undef NVF_EXPR_KIND

/// The kind and the name of a node's class.
template <typename Node>
struct NodeName;
#define NVF_NODE_NAME(Node)                           \
  template <>                                         \
  struct NodeName<Node> {                             \
    static constexpr ExprKind kKind = ExprKind::Node; \
    static constexpr const char* kName = #Node;       \
  };
NVF_FOR_EACH_EXPR(NVF_NODE_NAME)
#undef NVF_NODE_NAME

// ---- Expr ---------------------------------------------------------------------------------------

/// The values that `Expr::for_each_attr` hands out, beside an attribute's name.
using AttrValue = std::variant<
    bool,
    int64_t,
    std::string,
    Val*,
    Expr*,
    std::vector<bool>,
    std::vector<int64_t>,
    std::vector<std::string>,
    std::vector<Val*>,
    std::vector<Expr*>>;

class Expr : public Statement {
 public:
  [[nodiscard]] bool is_val() const final {
    return false;
  }
  [[nodiscard]] virtual ExprKind kind() const = 0;
  /// Class name: "ReductionOp".
  [[nodiscard]] virtual const char* op_name() const = 0;

  /// Operands and results in field order; absent optional operands are left out.
  [[nodiscard]] const std::vector<Val*>& inputs() const {
    return inputs_;
  }
  [[nodiscard]] const std::vector<Val*>& outputs() const {
    return outputs_;
  }
  /// Positional access; an IndexError out of range.
  [[nodiscard]] Val* input(int64_t index) const;
  [[nodiscard]] Val* output(int64_t index) const;

  template <typename Node>
  [[nodiscard]] bool is_a() const {
    return kind() == Node::kKind;
  }
  /// This expression as a `Node`, nullptr if it is another kind.
  template <typename Node>
  [[nodiscard]] Node* as() {
    return is_a<Node>() ? static_cast<Node*>(this) : nullptr;
  }
  template <typename Node>
  [[nodiscard]] const Node* as() const {
    return is_a<Node>() ? static_cast<const Node*>(this) : nullptr;
  }

  /// Same kind and equal attributes (operands are not compared).
  [[nodiscard]] virtual bool same_op(const Expr* other) const = 0;
  /// Hash of kind and attributes.
  [[nodiscard]] virtual size_t op_hash() const = 0;
  /// Same operation on the same values, with results of the same types and axes.
  [[nodiscard]] bool same_definition(const Expr* other) const;
  /// Positional access to the attributes, in field order; an IndexError out of range.
  [[nodiscard]] AttrValue attribute(int64_t index) const;
  /// Attributes by name, in field order.
  virtual void for_each_attr(
      const std::function<void(const char* name, const AttrValue& value)>& fn) const = 0;

  /// The condition under which a kernel statement runs; nullptr: always. Set by lowering.
  [[nodiscard]] Val* predicate() const {
    return predicate_;
  }
  void set_predicate(Val* predicate) {
    predicate_ = predicate;
  }

 protected:
  friend class Fusion;
  friend class Cloner;
  /// A copy in another fusion, every value mapped; not yet registered there.
  [[nodiscard]] virtual std::unique_ptr<Expr> clone_with(Cloner& cloner) const = 0;
  /// Recompute the operand lists from the fields.
  virtual void collect_operands() = 0;
  /// Let the input fields that are `from` be `to`.
  virtual void substitute_input(Val* from, Val* to) = 0;
  virtual void substitute_output(Val* from, Val* to) = 0;

  std::vector<Val*> inputs_;
  std::vector<Val*> outputs_;
  Val* predicate_ = nullptr;

 private:
  friend class Val;
  /// As of the fusion's last update_liveness().
  [[nodiscard]] bool leads_to_output() const {
    return leads_to_output_;
  }
  bool leads_to_output_ = false;
};

// ---- Derived from declarations ------------------------------------------------------------------

/// Maps the statements of one fusion to copies in another. Values and expressions are cloned on
/// first use, operands before what reads them.
class Cloner {
 public:
  Cloner(const Fusion& from, Fusion& to) : from_(from), to_(to) {}

  template <typename T>
  T* operator()(T* statement) {
    if constexpr (std::is_base_of_v<Expr, T>) {
      return static_cast<T*>(clone_expr(statement));
    } else {
      return static_cast<T*>(clone_val(statement));
    }
  }
  /// A copy of anything with fields, every statement in it mapped.
  template <typename T>
    requires(!is_statement_pointer_v<T>)
  T operator()(const T& value) {
    T copy = value;
    for_each_leaf(copy, [&]<typename Leaf>(Leaf&& leaf) {
      if constexpr (is_statement_pointer_v<std::remove_cvref_t<Leaf>>) {
        leaf = (*this)(leaf);
      }
    });
    return copy;
  }
  /// The copy of an expression that was cloned already; nullptr else.
  [[nodiscard]] Expr* find(const Expr* expr) const;
  [[nodiscard]] const Fusion& from() const {
    return from_;
  }
  [[nodiscard]] Fusion& to() const {
    return to_;
  }

 private:
  friend class Fusion;
  Val* clone_val(Val* val);
  Expr* clone_expr(const Expr* expr);
  [[nodiscard]] std::unique_ptr<Val> copy_val(const Val* val);
  void adopt_copy(const Statement* original, std::unique_ptr<Statement> copy);

  const Fusion& from_;
  Fusion& to_;
  bool is_whole_copy_ = false; // of a fusion: names and serials are kept
  std::unordered_map<const Statement*, Statement*> map_;
};

namespace detail {

size_t hash_combine(size_t seed, size_t value);
/// Structural equality and hash of values, as `Val::same_as` has it; nullptr counts as a value.
bool same_val(const Val* a, const Val* b);
size_t hash_val(const Val* val);

template <typename T>
bool same_attr(const T& a, const T& b) {
  if constexpr (is_statement_pointer_v<T>) {
    if constexpr (std::is_base_of_v<Val, std::remove_pointer_t<T>>) {
      return same_val(a, b);
    } else {
      return a == b;
    }
  } else if constexpr (is_vector_v<T>) {
    if (a.size() != b.size()) {
      return false;
    }
    for (size_t i = 0; i < a.size(); ++i) {
      if (!same_attr<typename T::value_type>(a[i], b[i])) {
        return false;
      }
    }
    return true;
  } else {
    return a == b;
  }
}

template <typename T>
size_t hash_attr(const T& value) {
  if constexpr (is_statement_pointer_v<T>) {
    if constexpr (std::is_base_of_v<Val, std::remove_pointer_t<T>>) {
      return hash_val(value);
    } else {
      return 0;
    }
  } else if constexpr (is_vector_v<T>) {
    size_t hash = value.size();
    for (size_t i = 0; i < value.size(); ++i) {
      hash = hash_combine(hash, hash_attr<typename T::value_type>(value[i]));
    }
    return hash;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<size_t>(value);
  } else {
    return std::hash<T>{}(value);
  }
}

template <typename T>
AttrValue to_attr_value(const T& value) {
  if constexpr (is_statement_pointer_v<T>) {
    if constexpr (std::is_base_of_v<Expr, std::remove_pointer_t<T>>) {
      return static_cast<Expr*>(value);
    } else {
      return static_cast<Val*>(value);
    }
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(enum_name(value));
  } else if constexpr (is_vector_v<T>) {
    if constexpr (std::is_same_v<T, std::vector<Expr*>>) {
      return value;
    } else if constexpr (is_statement_pointer_v<typename T::value_type>) {
      return std::vector<Val*>(value.begin(), value.end());
    } else if constexpr (std::is_enum_v<typename T::value_type>) {
      std::vector<std::string> names;
      for (const auto item : value) {
        names.emplace_back(enum_name(item));
      }
      return names;
    } else {
      return value;
    }
  } else {
    return value;
  }
}

template <typename T>
void append_operands(std::vector<Val*>& list, const T& value) {
  if constexpr (is_vector_v<T>) {
    for (auto* item : value) {
      list.push_back(item);
    }
  } else if (value != nullptr) {
    list.push_back(value);
  }
}

template <typename T>
void substitute(T& value, Val* from, Val* to) {
  if constexpr (is_vector_v<T>) {
    for (auto& item : value) {
      substitute(item, from, to);
    }
  } else if (value == from) {
    value = static_cast<T>(to);
  }
}

} // namespace detail

/// The base of every node: implements Expr from the fields.
template <typename Derived, typename FieldsOfNode>
struct ExprNode : Expr, FieldsOfNode {
  using Fields = FieldsOfNode;
  static constexpr ExprKind kKind = NodeName<Derived>::kKind;
  static constexpr const char* kName = NodeName<Derived>::kName;

  [[nodiscard]] ExprKind kind() const final {
    return kKind;
  }
  [[nodiscard]] const char* op_name() const final {
    return kName;
  }

  [[nodiscard]] bool same_op(const Expr* other) const final {
    if (other->kind() != kKind) {
      return false;
    }
    bool same = true;
    for_each_field<Derived>([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Type;
      if (field.role == Role::Attr) {
        same = same && detail::same_attr<T>(
                           self().*field.member, static_cast<const Derived*>(other)->*field.member);
      }
    });
    return same;
  }

  [[nodiscard]] size_t op_hash() const final {
    auto hash = static_cast<size_t>(kKind);
    for_each_field<Derived>([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Type;
      if (field.role == Role::Attr) {
        hash = detail::hash_combine(hash, detail::hash_attr<T>(self().*field.member));
      }
    });
    return hash;
  }

  void for_each_attr(const std::function<void(const char*, const AttrValue&)>& fn) const final {
    for_each_field<Derived>([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Type;
      if (field.role == Role::Attr) {
        fn(field.name, detail::to_attr_value<T>(self().*field.member));
      }
    });
  }

 protected:
  [[nodiscard]] std::unique_ptr<Expr> clone_with(Cloner& cloner) const final {
    auto copy = std::make_unique<Derived>();
    for_each_field<Derived>(
        [&](const auto& field) { (*copy).*field.member = cloner(self().*field.member); });
    return copy;
  }

  void collect_operands() final {
    inputs_.clear();
    outputs_.clear();
    for_each_field<Derived>([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Type;
      if constexpr (is_operand_type<T>) {
        if (field.role == Role::Input) {
          detail::append_operands<T>(inputs_, self().*field.member);
        } else if (field.role == Role::Output) {
          detail::append_operands<T>(outputs_, self().*field.member);
        }
      }
    });
  }

  void substitute_input(Val* from, Val* to) final {
    substitute_role(Role::Input, from, to);
  }
  void substitute_output(Val* from, Val* to) final {
    substitute_role(Role::Output, from, to);
  }

 private:
  template <typename T>
  static constexpr bool is_val_v =
      std::is_pointer_v<T> && std::is_base_of_v<Val, std::remove_pointer_t<T>>;
  template <typename T>
  static constexpr bool is_operand_type = [] {
    if constexpr (is_vector_v<T>) {
      return is_val_v<typename T::value_type>;
    } else {
      return is_val_v<T>;
    }
  }();

  void substitute_role(Role role, Val* from, Val* to) {
    for_each_field<Derived>([&](const auto& field) {
      using T = typename std::decay_t<decltype(field)>::Type;
      if constexpr (is_operand_type<T>) {
        if (field.role == role) {
          detail::substitute(self().*field.member, from, to);
        }
      }
    });
    collect_operands();
  }
  [[nodiscard]] const Derived& self() const {
    return static_cast<const Derived&>(*this);
  }
  [[nodiscard]] Derived& self() {
    return static_cast<Derived&>(*this);
  }
};

} // namespace nvfuser
