// FusionSummary: what schedulers ask of a fusion, computed once. It holds everything that needs the
// equivalence graphs, so that heuristics only evaluate extents.
//
// It describes the fusion before it is scheduled; applying a schedule makes it out of date. Each
// analysis has a file of its own in this folder, for use with other axes than those here.
#pragma once

#include <memory>
#include <vector>

#include "graph/id_model.h"
#include "ir/fusion.h"
#include "ir/shape_exprs.h"
#include "schedule/summary/accesses.h"
#include "schedule/summary/costs.h"
#include "schedule/summary/lookups.h"
#include "schedule/summary/persistent_buffers.h"
#include "schedule/summary/reduction_problem.h"
#include "schedule/summary/reductions.h"
#include "schedule/summary/reference.h"

namespace nvfuser::schedule {

class FusionSummary {
 public:
  /// Cost: near-linear in expressions.
  explicit FusionSummary(Fusion& fusion);
  FusionSummary(const FusionSummary&) = delete;
  FusionSummary& operator=(const FusionSummary&) = delete;

  [[nodiscard]] Fusion& fusion() const {
    return fusion_;
  }
  /// Which axes are the same; broadcasts are not what they are resolved to.
  [[nodiscard]] const ValGraph& exact() const {
    return exact_;
  }

  /// Expressions on tensors that lead to an output, operands before results.
  [[nodiscard]] const std::vector<Expr*>& exprs() const {
    return exprs_;
  }
  /// Tensor inputs that are read, and tensor outputs that are computed; each once.
  [[nodiscard]] const std::vector<TensorView*>& inputs() const {
    return inputs_;
  }
  [[nodiscard]] const std::vector<TensorView*>& outputs() const {
    return outputs_;
  }
  /// Results of `exprs`, in their order.
  [[nodiscard]] const std::vector<TensorView*>& computed() const {
    return computed_;
  }

  [[nodiscard]] const std::vector<ReductionFacts>& reductions() const {
    return reductions_;
  }
  [[nodiscard]] const std::vector<PersistentBuffer>& persistent_buffers() const {
    return persistent_buffers_;
  }
  [[nodiscard]] const std::vector<const ReshapeOp*>& reshapes() const {
    return reshapes_;
  }

  /// The first reduction of elements that are innermost in memory, else the first one; none if
  /// there are no reductions.
  [[nodiscard]] const std::optional<ReductionProblem>& problem() const {
    return problem_;
  }

  // -- maps: fusions without reductions --

  /// The output whose loops all tensors take, or why there is none.
  [[nodiscard]] const ReferenceSearch& reference() const {
    return reference_;
  }
  /// Seen from the axes of the reference; empty if there is none.
  [[nodiscard]] const std::vector<TensorAccess>& accesses() const {
    return accesses_;
  }
  /// Inputs that are read at other positions; empty if there is no reference.
  [[nodiscard]] const std::vector<LookupAccess>& lookups() const {
    return lookups_;
  }
  /// Position of the reference among the accesses.
  [[nodiscard]] size_t reference_access() const;
  /// Cost of one element of the reference: expressions for each, broadcasts' operands left out.
  [[nodiscard]] const Cost& cost() const {
    return cost_;
  }

 private:
  void collect_tensors();
  void find_problem();
  void find_cost();

  Fusion& fusion_;
  std::shared_ptr<IdModel> model_; // keeps the graph
  const ValGraph& exact_;
  std::vector<Expr*> exprs_;
  std::vector<TensorView*> inputs_;
  std::vector<TensorView*> outputs_;
  std::vector<TensorView*> computed_;
  std::vector<const ReshapeOp*> reshapes_;
  std::vector<ReductionFacts> reductions_;
  std::vector<PersistentBuffer> persistent_buffers_;
  std::optional<ReductionProblem> problem_;
  ReferenceSearch reference_;
  std::vector<TensorAccess> accesses_;
  std::vector<LookupAccess> lookups_;
  Cost cost_;
};

} // namespace nvfuser::schedule
