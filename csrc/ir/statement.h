// Statement: anything a Fusion owns. A value (Val) or an expression (Expr).
//
// Statements belong to exactly one Fusion, which creates them, numbers them and destroys them with
// itself; the rest of the core holds raw pointers. A statement that leaves the graph (an expression
// whose output got another definition) stays alive, so that a handle to it never dangles.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/source_location.h"
#include "base/types.h"
#include "ir/fwd.h"

namespace nvfuser {

class Statement {
 public:
  virtual ~Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  [[nodiscard]] Fusion* fusion() const {
    return fusion_;
  }
  /// Number within its kind: the 3 of `T3`. Every kind of value has a counter, expressions share
  /// one.
  [[nodiscard]] int64_t name() const {
    return name_;
  }
  /// The user's line that made this statement.
  [[nodiscard]] const SourceLocation& location() const {
    return location_;
  }
  /// Creation order within the fusion, over all kinds. Everything that must be deterministic sorts
  /// by this.
  [[nodiscard]] int64_t serial() const {
    return serial_;
  }
  /// Whether the call that made it failed (ir/transaction.h): only handles know it, and no graph.
  [[nodiscard]] bool is_taken_back() const {
    return serial_ == kTakenBack;
  }
  [[nodiscard]] virtual bool is_val() const = 0;
  [[nodiscard]] bool is_expr() const {
    return !is_val();
  }

  /// The documented text. `indent` counts levels of two spaces.
  [[nodiscard]] std::string to_string(int indent = 0) const;
  /// The text as part of a scalar expression: `( ceilDiv(i0, 4) )`.
  [[nodiscard]] std::string to_inline_string() const;

 protected:
  Statement() = default;
  /// The fusion may compute something else from now on, or in another way: see Fusion::version().
  void count_edit();
  /// The same for edits of what axes correspond by: see Fusion::axes_version().
  void count_edit_of_axes();

 private:
  friend class Fusion;
  friend class FusionReader;
  friend class Cloner;
  static constexpr int64_t kTakenBack = -2;
  Fusion* fusion_ = nullptr;
  int64_t name_ = -1;
  int64_t serial_ = -1;
  SourceLocation location_;
};

/// A value. Plain `Val`s are scalars: constants, inputs, or computed by a scalar expression.
class Val : public Statement {
 public:
  [[nodiscard]] bool is_val() const final {
    return true;
  }
  [[nodiscard]] ValType vtype() const {
    return vtype_;
  }
  [[nodiscard]] DataType dtype() const {
    return dtype_;
  }
  /// The constant this Val stands for; empty for symbolic values.
  [[nodiscard]] const ScalarValue& value() const {
    return value_;
  }

  [[nodiscard]] bool is_tensor() const {
    return vtype_ == ValType::TensorView;
  }
  [[nodiscard]] bool is_scalar() const {
    return vtype_ == ValType::Scalar || vtype_ == ValType::NamedScalar;
  }
  [[nodiscard]] bool is_const() const {
    return has_value(value_);
  }
  [[nodiscard]] bool is_symbolic() const {
    return !is_const();
  }
  [[nodiscard]] bool is_const_int() const {
    return is_const() && (is_integral(dtype_));
  }
  [[nodiscard]] bool is_const_int(int64_t number) const {
    return is_const_int() && as_int(value_) == number;
  }
  /// A scalar that constants alone decide: one of them, or computed from them.
  [[nodiscard]] bool is_const_scalar() const;
  [[nodiscard]] bool is_integral_scalar() const {
    return is_scalar() && is_integral(dtype_);
  }
  [[nodiscard]] bool is_floating_point_scalar() const {
    return is_scalar() && is_floating_point(dtype_);
  }
  [[nodiscard]] bool is_a_bool() const {
    return is_scalar() && is_boolean(dtype_);
  }
  [[nodiscard]] bool is_zero() const;
  [[nodiscard]] bool is_zero_int() const {
    return is_const_int(0);
  }
  [[nodiscard]] bool is_one() const;
  [[nodiscard]] bool is_one_int() const {
    return is_const_int(1);
  }
  [[nodiscard]] bool is_true() const {
    return is_const() && is_boolean(dtype_) && as_bool(value_);
  }
  [[nodiscard]] bool is_false() const {
    return is_const() && is_boolean(dtype_) && !as_bool(value_);
  }

  /// The expression that computes this value; nullptr for inputs, constants and free symbols.
  [[nodiscard]] Expr* definition() const {
    return definition_;
  }
  /// Every expression that reads this value, in the order they were made.
  [[nodiscard]] const std::vector<Expr*>& all_uses() const {
    return uses_;
  }
  /// The expressions that read this value. For a tensor only those that lead to a registered
  /// output, as long as the fusion has outputs.
  [[nodiscard]] std::vector<Expr*> uses() const;

  [[nodiscard]] bool is_fusion_input() const {
    return is_fusion_input_;
  }
  [[nodiscard]] bool is_fusion_output() const {
    return is_fusion_output_;
  }

  /// Same constant, same symbol, or computed by the same operations from the same values.
  [[nodiscard]] bool same_as(const Val* other) const;
  /// Both are computed, as the same result of the same operation on the same values.
  [[nodiscard]] bool same_definition(const Val* other) const;
  /// Equal for values that are `same_as` each other.
  [[nodiscard]] size_t hash() const;

 protected:
  Val(ValType vtype, DataType dtype, ScalarValue value = {})
      : vtype_(vtype), dtype_(dtype), value_(value) {}

 private:
  friend class Fusion;
  friend class Cloner;
  friend class TensorView;
  ValType vtype_;
  DataType dtype_;
  bool is_fusion_input_ = false;
  bool is_fusion_output_ = false;
  ScalarValue value_;
  Expr* definition_ = nullptr;
  std::vector<Expr*> uses_;
};

/// A value the target provides under a fixed name: `threadIdx.x`, `gridDim.y`, a kernel parameter.
class NamedScalar final : public Val {
 public:
  [[nodiscard]] const std::string& text_name() const {
    return text_name_;
  }
  /// The hardware index this is (`threadIdx.x` -> TIDx), Serial if it is none.
  [[nodiscard]] ParallelType parallel_index() const;
  /// The launch dimension this is (`blockDim.x` -> TIDx), Serial if it is none.
  [[nodiscard]] ParallelType parallel_dim() const;

 private:
  friend class Fusion;
  friend class Cloner;
  NamedScalar(std::string text_name, DataType dtype)
      : Val(ValType::NamedScalar, dtype), text_name_(std::move(text_name)) {}
  std::string text_name_;
};

/// "T1_l_float[iS0{i0}], made at softmax.py:14": how an error names a statement.
[[nodiscard]] std::string describe(const Statement* statement);
[[nodiscard]] inline std::string describe(const Statement& statement) {
  return describe(&statement);
}

} // namespace nvfuser
