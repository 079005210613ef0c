// Tools of passes from fusion to fusion. A pass looks at expressions and says what is to stand in
// their place; what must not get lost on the way is known here:
//
//   - an output stays the tensor that it is: its name, its strides, the input it is written into.
//     Where another tensor has its elements, it becomes a copy of that, or takes its definition;
//   - what nothing reads any more leaves the graph at once, so that `all_uses` are readers that
//     count;
//   - new statements have the line of the expression that they stand for.
//
// A guard for the fusion is active while these are called.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/source_location_scope.h"
#include "ir/fusion.h"

namespace nvfuser::optimize {

// ---- Questions ----------------------------------------------------------------------------------

/// Whether each element of the results is computed from the elements of the operands at its place.
[[nodiscard]] bool is_on_elements(const Expr& expr);
/// Whether the result shows elements of its operand several times.
[[nodiscard]] bool repeats_elements(const Expr& expr);
/// Whether the result is its operand with more or fewer axes of one element, or such axes expanded.
[[nodiscard]] bool changes_broadcast_axes(const Expr& expr);
/// Whether both have as many dimensions, of the same kinds and provably the same sizes.
[[nodiscard]] bool have_same_shape(const TensorView* a, const TensorView* b);
/// Whether readers of `from` may read `to` instead, if the elements are the same: shape and dtype.
[[nodiscard]] bool may_stand_for(const TensorView* to, const TensorView* from);
/// Whether some output is written into the memory of `tensor`, an input.
[[nodiscard]] bool is_updated(const TensorView* tensor);
/// The value of a scalar constant as a double; no value: it is another value, or complex.
[[nodiscard]] std::optional<double> constant_number(const Val* val);

// ---- Editing ------------------------------------------------------------------------------------

/// New statements have the line of what they stand for.
class MadeFor {
 public:
  explicit MadeFor(const Statement* statement) : location_(statement->location()) {}

 private:
  SourceLocationScope location_;
};

/// Let every reader of `from` read `to`, whose elements are the same.
/// Requires: may_stand_for(to, from); `to` does not depend on `from`.
void replace(TensorView* from, TensorView* to);

/// Let `out` be computed as `result` is, which nothing reads. `result` leaves the graph.
/// Requires: as for `replace`.
void define_as(TensorView* out, TensorView* result);

/// Take the definition of `tensor` out of the graph if nothing reads any of its results, and then
/// those of its operands in turn.
void remove_unread(TensorView* tensor);

// ---- Copying ------------------------------------------------------------------------------------

using ValMap = std::unordered_map<const Val*, Val*>; // only looked up

/// The same operation with other operands, results and attributes: those that `values` maps.
Expr* copy_expr(const Expr& expr, const ValMap& values);

/// A tensor of its own with copies of all axes of `tensor`, and of the transforms between its root
/// and its logical domain. Adds them to `axes`.
[[nodiscard]] TensorView* copy_tensor(const TensorView* tensor, DataType dtype, ValMap& axes);

/// The results of `expr` where it reads other tensors: those that `operands` maps, of the same
/// shapes. `dtype`: that of the results; no value: those of the results of `expr`.
[[nodiscard]] std::vector<TensorView*> apply_to(
    const Expr& expr, ValMap operands, std::optional<DataType> dtype = std::nullopt);

} // namespace nvfuser::optimize
