#include "schedule/trivial.h"

#include <algorithm>
#include <utility>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "ir/all_nodes.h"
#include "schedule/common/distinct_axes.h"
#include "schedule/reduction_tree.h"
#include "schedule/stored_tensors.h"
#include "transform/inline.h"
#include "transform/rules.h"

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

/// Spread the leading `iterations` axes over all threads. Says no where they are too many elements.
std::optional<Refusal> flatten(TensorView* tensor, int64_t iterations, int64_t blocks) {
  if (iterations == 0) {
    return std::nullopt;
  }
  for (int64_t i = 1; i < iterations; ++i) {
    NVF_RETURN_REFUSAL(transform::find_wrong_merge(tensor, 0, 1));
    tensor->merge(0, 1);
  }
  tensor->split(0, kThreads);
  tensor->split(0, blocks);
  tensor->axis(1)->parallelize(ParallelType::BIDx);
  tensor->axis(2)->parallelize(ParallelType::TIDx);
  return std::nullopt;
}

/// How many axes stand for the iterations of a flattened tensor.
constexpr int64_t kFlattened = 3;

/// Whether every consumer reads the element that was computed last: it can stay in a register.
bool is_fully_inlined(const TensorView* tensor) {
  int64_t iterations = 0;
  for (const IterDomain* axis : tensor->loop()) {
    iterations += axis->is_reduction() ? 0 : 1;
  }
  return tensor->compute_at_position() >= iterations;
}

/// The overwritten tensor is a copy, in memory that nothing else reads.
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

// Axes that are merged and bound here must not be bound or shared already.
std::optional<Refusal> find_scheduled_tensor(const Fusion& fusion) {
  for (const TensorView* tensor : scheduled_tensors(fusion)) {
    const bool is_bound = std::ranges::any_of(
        tensor->loop(), [](const IterDomain* id) { return id->is_parallelized(); });
    const bool is_shared = tensor->compute_at_position() > 0 ||
                           tensor->compute_with_position() > 0 ||
                           tensor->max_producer_position() > 0;
    if (tensor->definition() != nullptr && (is_bound || is_shared)) {
      return refuse(
          {.headline = "trivial: the fusion has a schedule already",
           .node = describe(tensor),
           .expected = "axes that are serial, of tensors that are not inlined",
           .found = is_bound ? "axes bound to hardware or to a parallel type"
                             : "loops shared with other tensors",
           .fix = "call it before other scheduling calls, or on a definition without them"});
    }
  }
  return std::nullopt;
}

std::optional<Refusal> try_trivial(Fusion& fusion) {
  return try_trivial_on(fusion, kBlocks);
}

std::optional<Refusal> try_trivial_on(Fusion& fusion, int64_t blocks) {
  const FusionGuard guard(&fusion);
  NVF_RETURN_REFUSAL(find_scheduled_tensor(fusion));
  copy_overwritten(fusion);
  const std::shared_ptr<IdModel> defined = shared_id_model(fusion);
  NVF_RETURN_REFUSAL(
      find_indistinct_axes(fusion, defined->maybe_build_graph(IdMappingMode::exact)));

  std::vector<PartialResults> stages;
  for (const Expr* expr : tensor_exprs(fusion)) {
    NVF_RETURN_REFUSAL(factor_into_tree(expr, stages));
  }
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
      NVF_RETURN_REFUSAL(flatten(tensor, stage.pieces, blocks));
      flattened.insert(tensor);
    }
  }
  for (TensorView* tensor : computed) {
    if (!flattened.contains(tensor)) {
      NVF_RETURN_REFUSAL(flatten(tensor, serial_axes_last(tensor), blocks));
    }
  }
  inline_or_store(computed, exact, accumulators);
  std::vector<std::pair<TensorView*, int64_t>> positions;
  for (const PartialResults& stage : stages) {
    for (const Accumulators& sums : stage.accumulators) {
      positions.emplace_back(sums.tensors.front(), kFlattened + sums.runs);
    }
  }
  return transform::try_inline_each_at(positions);
}

void trivial(Fusion& fusion) {
  check(try_trivial(fusion));
}

} // namespace nvfuser::schedule
