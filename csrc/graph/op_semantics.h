// The meaning of each kind of expression: where the elements of its results come from, and for
// every operand which axes correspond to those of a result and which of their positions one element
// of the result reads. It is said here once. Equivalence graphs, replay, inlining, hazards, storage
// and vectorization derive their answers from it.
//
//   T2[M, N, r K] = matmul(T0[M, K], T1[K, N])
//     axes_of_use(T0, T2):  Same 0, Reduced 2        axes_of_use(T1, T2):  Reduced 2, Same 1
//   T3[I, J] = gather(T0[A, B], T1[I, J]) along dimension 0
//     axes_of_use(T0, T3):  Indexed 0, Leading 1     axes_of_use(T1, T3):  Same 0, Same 1
//
// The table has two parts: a row for each kind (`semantics_of`), and the axes of each operand,
// which depend on the attributes of the node (`use_of`). A kind without either does not compile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

// ---- Kinds --------------------------------------------------------------------------------------

/// The part of the operands that one element of a result reads, from the least to the most.
enum class OperandRead : uint8_t {
  None,      // there are no tensors among the operands
  Same,      // the element at the same position
  Elsewhere, // elements at other positions: shifted, repeated, or given by another operand
  Reduced,   // all elements along some axes, which are combined
  Scanned,   // all elements up to the position along an axis
  Whole,     // any number of elements along some axes: a block of them, or all of them
};

/// Where the elements of a result come from.
enum class ElementSource : uint8_t {
  Created,  // from scalars
  Computed, // from elements of the operands
  Copied,   // elements of the first operand, as they are
  Reshaped, // the same under another shape
  Chosen,   // elements of one of several operands
};

/// Where a result can lie in the memory of the first operand, with other strides and another start.
enum class ViewOf : uint8_t {
  Nothing,
  Anything, // wherever the operand lies
  Packed,   // where axes that become one are neighbours
};

/// The row of a kind.
struct OpSemantics {
  OperandRead read = OperandRead::None;
  ElementSource elements = ElementSource::Computed;
  /// All results have the same axes. They share their loops.
  bool has_like_results = true;
  /// Results are operands of the same kind again: parts of a reduction are combined by another one.
  bool has_steps = false;
  /// The result begins as the first operand, and some of its elements are overwritten.
  bool overwrites_first = false;
  /// The loops run over the axes of the other operands instead of those of the result.
  bool loops_over_operands = false;
  ViewOf view = ViewOf::Nothing;
  /// The result shows an element of the first operand at several positions.
  bool repeats_elements = false;
  /// The result has elements beside those of its operands.
  bool adds_elements = false;
  /// An element of the result is a part of one of the operand.
  bool shows_parts = false;
};

/// Cost: a lookup in an array.
[[nodiscard]] const OpSemantics& semantics_of(const Expr& expr);

/// The operand that the result begins as and overwrites (scatter); nullptr: there is none.
[[nodiscard]] TensorView* overwritten_operand(const Expr* expr);
/// The operand whose elements the results are, as they are; nullptr: there is none.
[[nodiscard]] TensorView* copied_operand(const Expr* expr);
/// Whether every element of the result is one of the first operand, as it is, at any position.
[[nodiscard]] bool shows_first_operand(const Expr& expr);
/// Whether the elements of the result are those of the operand, at the same positions.
[[nodiscard]] bool is_elementwise_copy(const Expr& expr);
/// The axes that the loops of `tensor` are made from: mostly its logical axes, for a scatter its
/// positions.
[[nodiscard]] const IterDomains& first_axes(const TensorView* tensor);
/// Whether these are not the logical axes. False for inputs.
[[nodiscard]] bool loops_over_operands(const TensorView* tensor);

// ---- Axes ---------------------------------------------------------------------------------------

/// Which positions along one axis of an operand one element of a result reads.
enum class AxisRead : uint8_t {
  Same,     // the position of the result; the only one, if the result lacks the axis
  Leading,  // the position of the result, which may have fewer
  Resized,  // the position of the root axis, which a Resize may lead to the logical one
  Repeated, // the position of the result modulo the extent
  Indexed,  // the position that an element of another operand holds
  Placed,   // one position is written where an element of another operand says
  Reduced,  // all positions, combined; `position` is the reduction axis, if the result has one
  Scanned,  // all positions up to that of the result
  Block,    // those of a block of neighbors
  Whole,    // all positions
  Any,      // any: how elements are laid out, or which group they belong to, is data
};

inline constexpr int64_t kNoPosition = -1;

struct AxisUse {
  AxisRead read = AxisRead::Same;
  /// Whether the two are the same axis: of one extent, or a broadcast that is resolved.
  bool is_partner = false;
  /// The axis of the result that `read` speaks of; kNoPosition: there is none.
  int64_t position = kNoPosition;

  bool operator==(const AxisUse&) const = default;
};

/// How one result reads one operand.
struct OperandUse {
  /// For each logical axis of the operand, without those that the operand has reduced.
  std::vector<AxisUse> axes;
  /// Positions count the axes that the loops of the result are made from (`first_axes`), instead of
  /// its root axes (logical axes, if it has no root domain).
  bool is_of_loops = false;
};

/// `producer` is an operand of the definition of `consumer`. If it is several of them, an axis has
/// a partner where all agree, and the read that takes most. Cost: O(rank).
[[nodiscard]] OperandUse use_of(const TensorView* producer, const TensorView* consumer);
/// Only the axes of `use_of`.
/// Error: `producer` is no operand of the definition of `consumer`.
[[nodiscard]] std::vector<AxisUse> axes_of_use(
    const TensorView* producer, const TensorView* consumer);

/// "same 0", "reduced"; an axis that is no partner in parentheses: "indexed (0)".
[[nodiscard]] std::string to_string(const AxisUse& use);

/// The positions that are read for an axis, as the row of a kind says it.
[[nodiscard]] OperandRead operand_read(AxisRead read);

/// Root axes of `tensor` that its definition reads in a way: those it scans, for instance.
[[nodiscard]] IterDomains axes_read(const TensorView* tensor, AxisRead read);

} // namespace nvfuser
