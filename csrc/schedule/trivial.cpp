#include "schedule/trivial.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "graph/ambiguous_axes.h"
#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "ir/all_nodes.h"
#include "schedule/reduction_tree.h"
#include "schedule/stored_tensors.h"
#include "transform/inline.h"

namespace nvfuser::schedule {
namespace {

// Few enough blocks to be resident at once on any GPU that runs the grid barrier.
constexpr int64_t kBlocks = 64;
constexpr int64_t kThreads = 256;

/// Move the axes that one thread runs through, because they are reduced or scanned, inside; the
/// number of the others.
int64_t serial_axes_last(TensorView* tensor) {
  const IterDomains scanned = axes_read(tensor, AxisRead::Scanned);
  std::vector<int64_t> iterations;
  std::vector<int64_t> serial;
  for (int64_t i = 0; i < tensor->ndims(); ++i) {
    const bool is_serial = tensor->axis(i)->is_reduction() ||
                           std::ranges::find(scanned, tensor->axis(i)) != scanned.end();
    (is_serial ? serial : iterations).push_back(i);
  }
  std::unordered_map<int64_t, int64_t> old2new;
  int64_t position = 0;
  for (const std::vector<int64_t>* axes : {&iterations, &serial}) {
    for (const int64_t axis : *axes) {
      old2new[axis] = position++;
    }
  }
  tensor->reorder(old2new);
  return static_cast<int64_t>(iterations.size());
}

/// Spread the leading `iterations` axes over all threads.
void flatten(TensorView* tensor, int64_t iterations) {
  if (iterations == 0) {
    return;
  }
  for (int64_t i = 1; i < iterations; ++i) {
    tensor->merge(0, 1);
  }
  tensor->split(0, kThreads);
  tensor->split(0, kBlocks);
  tensor->axis(1)->parallelize(ParallelType::BIDx);
  tensor->axis(2)->parallelize(ParallelType::TIDx);
}

/// How many axes stand for the iterations of a flattened tensor.
constexpr int64_t kFlattened = 3;

/// The stages of all reductions, as trees.
std::vector<PartialResults> factor_reductions(Fusion& fusion) {
  std::vector<PartialResults> stages;
  for (const Expr* expr : tensor_exprs(fusion)) {
    std::vector<PartialResults> tree = factor_into_tree(expr);
    std::move(tree.begin(), tree.end(), std::back_inserter(stages));
  }
  return stages;
}

/// Whether every consumer reads the element that was computed last: it can stay in a register.
bool is_fully_inlined(const TensorView* tensor) {
  int64_t iterations = 0;
  for (const IterDomain* axis : tensor->loop()) {
    iterations += axis->is_reduction() ? 0 : 1;
  }
  return tensor->compute_at_position() >= iterations;
}

/// A tensor that meets its own transpose has two axes that no graph tells apart, and one that meets
/// its own reshape has axes with two indices. Cut in two kernels it would be two tensors; one
/// kernel cannot hold it.
void check_axes_differ(const Fusion& fusion, const ValGraph& exact) {
  AmbiguousAxisSearch search(exact);
  for (TensorView* tensor : fusion.tensors()) {
    const std::optional<SelfMapping> found =
        tensor->definition() == nullptr ? std::nullopt : find_self_mapping(exact, tensor);
    if (found) {
      throw UserError(
          {
              .headline = {"No single kernel computes a tensor together with its own transpose"},
              .node = {describe(tensor)},
              .expected = {"axes that can be told apart"},
              .found =
                  {found->first->to_string(), " and ", found->second->to_string(),
                   ", which expressions of the fusion map to each other"},
              .fix = {"evaluate the fusion, or pass the tensor as two inputs"},
          },
          ErrorKind::NotImplemented);
    }
    if (tensor->definition() == nullptr) {
      continue;
    }
    if (const std::optional<AmbiguousAxis> ambiguous = search.find(tensor)) {
      throw UserError(
          {
              .headline = {"No single kernel computes a tensor together with its own reshape"},
              .node = {describe(tensor)},
              .expected = {"axes of which none follows from others"},
              .found =
                  {ambiguous->axis->to_string(), ", which follows from ",
                   ambiguous->first->to_string(), " and from ", ambiguous->second->to_string()},
              .fix = {"evaluate the fusion, or pass the tensor as two inputs"},
          },
          ErrorKind::NotImplemented);
    }
  }
}

/// What is merged and bound here must not be bound or shared already.
void check_unscheduled(const Fusion& fusion) {
  for (const TensorView* tensor : scheduled_tensors(fusion)) {
    const bool is_bound = std::ranges::any_of(
        tensor->loop(), [](const IterDomain* id) { return id->is_parallelized(); });
    const bool is_shared = tensor->compute_at_position() > 0 ||
                           tensor->compute_with_position() > 0 ||
                           tensor->max_producer_position() > 0;
    if (tensor->definition() != nullptr && (is_bound || is_shared)) {
      throw UserError(
          {.headline = "trivial: the fusion has a schedule already",
           .node = describe(tensor),
           .expected = "axes that are serial, of tensors that are not inlined",
           .found = is_bound ? "axes bound to hardware or to a parallel type"
                             : "loops shared with other tensors",
           .fix = "call it before other scheduling calls, or on a definition without them"});
    }
  }
}

/// What is overwritten is a copy, in memory that nothing else reads.
void copy_overwritten(Fusion& fusion) {
  for (Expr* expr : tensor_exprs(fusion)) {
    TensorView* operand = overwritten_operand(expr);
    if (operand != nullptr && storage_of(operand).kind != StorageKind::Overwritten) {
      operand->cache_after(LoadStoreOpType::Set, CacheOp::Unspecified, false, {expr});
    }
  }
}

std::vector<TensorView*> computed_tensors(Fusion& fusion) {
  std::vector<TensorView*> computed;
  for (const Expr* expr : tensor_exprs(fusion)) {
    const std::vector<TensorView*> results = tensor_outputs(expr);
    computed.insert(computed.end(), results.begin(), results.end());
  }
  return computed;
}

/// Compute every tensor where it is used, or else store it in global memory. The result of a
/// reduction is stored, so that no consumer computes it again for every element; `accumulators` are
/// placed by the tree they belong to.
void inline_or_store(
    const std::vector<TensorView*>& computed,
    const ValGraph& exact,
    const TensorSet& accumulators) {
  TensorSet stored;
  for (const TensorView* tensor : computed) {
    if (tensor->has_reduction()) {
      stored.insert(tensor);
    }
  }
  for (bool is_settled = false; !is_settled;) {
    stored = closed_under_sharing(computed, exact, std::move(stored));
    std::vector<TensorView*> inlinable;
    for (TensorView* tensor : computed) {
      tensor->clear_compute_position();
      if (!stored.contains(tensor)) {
        inlinable.push_back(tensor);
      }
    }
    transform::inline_most(inlinable);
    is_settled = true;
    for (const TensorView* tensor : inlinable) {
      if (!tensor->uses().empty() && !is_fully_inlined(tensor)) {
        stored.insert(tensor);
        is_settled = false;
      }
    }
  }
  for (TensorView* tensor : computed) {
    if (stored.contains(tensor) && !accumulators.contains(tensor) && !tensor->is_fusion_output()) {
      tensor->set_memory_type(MemoryType::Global);
    }
  }
}

} // namespace

void trivial(Fusion& fusion) {
  const FusionGuard guard(&fusion);
  check_unscheduled(fusion);
  copy_overwritten(fusion);
  const std::shared_ptr<IdModel> defined = shared_id_model(fusion);
  check_axes_differ(fusion, defined->maybe_build_graph(IdMappingMode::exact));

  const std::vector<PartialResults> stages = factor_reductions(fusion);
  const std::shared_ptr<IdModel> model =
      shared_id_model(fusion); // of logical axes: no schedule yet
  const ValGraph& exact = model->maybe_build_graph(IdMappingMode::exact);
  const std::vector<TensorView*> computed = computed_tensors(fusion);
  TensorSet accumulators;
  TensorSet flattened;
  for (const PartialResults& stage : stages) {
    std::vector<TensorView*> tensors = stage.results;
    for (const Accumulators& sums : stage.accumulators) {
      accumulators.insert(sums.tensors.begin(), sums.tensors.end());
      tensors.insert(tensors.end(), sums.tensors.begin(), sums.tensors.end());
    }
    for (TensorView* tensor : tensors) {
      flatten(tensor, stage.pieces);
      flattened.insert(tensor);
    }
  }
  for (TensorView* tensor : computed) {
    if (!flattened.contains(tensor)) {
      flatten(tensor, serial_axes_last(tensor));
    }
  }
  inline_or_store(computed, exact, accumulators);
  std::vector<std::pair<TensorView*, int64_t>> positions;
  for (const PartialResults& stage : stages) {
    for (const Accumulators& sums : stage.accumulators) {
      positions.emplace_back(sums.tensors.front(), kFlattened + sums.runs);
    }
  }
  transform::inline_each_at(positions);
}

} // namespace nvfuser::schedule
