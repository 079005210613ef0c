// Concretization: what the dynamic shapes of a fusion come out as for given sizes.
//
// A dynamic reshape has symbolic axes until sizes are known, and so has what reads it; a size that
// is a scalar may be 1, and its axis a broadcast then. The record says only what the structure of
// the fusion depends on: which dimensions are squeezed, merged, split (by which constant) and new,
// and which axes are broadcasts. Executions with equal records share one concretized fusion and its
// kernels; sizes of kept and merged dimensions are not in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/refusal.h"
#include "eval/evaluator.h"
#include "ir/fusion.h"
#include "ir/shape_exprs.h"
#include "ops/reshape_walk.h"

namespace nvfuser {

/// The form of one reshape for the sizes of a run.
struct ReshapeForm {
  enum class Size : uint8_t { Zero, One, Other };
  int64_t tensor = 0; // name of the result
  ops::ReshapeWalk walk;
  /// Sizes of the result where the operand has no elements; there is no walk then.
  std::optional<std::vector<Size>> empty;
  bool operator==(const ReshapeForm&) const = default;
};

/// The form of a symbolic axis that does not just follow the axes it is computed from.
struct AxisForm {
  enum class Kind : uint8_t {
    Iteration,
    Broadcast, // its size is 1
    Expanded,  // result of an expand whose operand has size 1
    Unchanged, // result of an expand whose operand has that size
  };
  int64_t axis = 0; // name
  Kind kind = Kind::Iteration;
  bool operator==(const AxisForm&) const = default;
};

/// A dimension that a squeeze removes though its size is not 1: it has to repeat one element.
struct RepeatedDim {
  int64_t tensor = 0; // name
  int64_t dim = 0;
  bool operator==(const RepeatedDim&) const = default;
};

struct Concretization {
  std::vector<ReshapeForm> reshapes; // in the order of the expressions
  std::vector<AxisForm> axes;        // in the order of the expressions
  std::vector<RepeatedDim> repeated; // in the order of the expressions

  bool operator==(const Concretization&) const = default;
  [[nodiscard]] size_t hash() const;
  /// "T1: squeeze(2), merge(0), split(0, 4), broadcast(1); ?S7: broadcast; T2.1: repeated"
  [[nodiscard]] std::string to_string() const;
};

/// Says no to squeezing dimension `dim` of `arg`, which is ordinary and has this size.
[[nodiscard]] Refusal refuse_squeeze(const TensorView* arg, size_t dim, const std::string& size);

/// Whether the merges and splits of a reshape are still to be found.
[[nodiscard]] bool is_dynamic(const ReshapeOp& op);
/// Whether anything that leads to an output waits for sizes. Where nothing does, the fusion is its
/// own concretization.
[[nodiscard]] bool has_dynamic_shapes(const Fusion& fusion);
/// Refuse a reshape that is_dynamic: its merges and splits are no part of the fusion yet, so that
/// it has no kernel.
[[nodiscard]] std::optional<Refusal> find_unresolved(const Fusion& fusion);
/// Positions of the scalar inputs that sizes are computed from.
[[nodiscard]] std::vector<int64_t> size_inputs(const Fusion& fusion);

/// The record for the sizes that `evaluator` knows: those of the inputs, and scalar inputs. Says no
/// where a reshape or an expand is impossible with these sizes.
/// Cost: linear in the number of expressions.
[[nodiscard]] std::variant<Concretization, Refusal> try_find_concretization(
    const Fusion& fusion, ExpressionEvaluator& evaluator);
/// The record; throws what is refused.
[[nodiscard]] Concretization find_concretization(
    const Fusion& fusion, ExpressionEvaluator& evaluator);

} // namespace nvfuser
