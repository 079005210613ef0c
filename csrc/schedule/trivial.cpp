#include "schedule/trivial.h"

#include "transform/inline.h"

namespace nvfuser::schedule {
namespace {

// Few enough blocks to be resident at once on any GPU that runs the grid barrier.
constexpr int64_t kBlocks = 64;
constexpr int64_t kThreads = 256;
constexpr int64_t kScheduledAxes = 3; // serial, grid_x, block_x

/// Move reductions inside; the number of iteration axes.
int64_t reductions_last(TensorView* tensor) {
  std::vector<int64_t> iterations;
  std::vector<int64_t> reductions;
  for (int64_t i = 0; i < tensor->ndims(); ++i) {
    (tensor->axis(i)->is_reduction() ? reductions : iterations).push_back(i);
  }
  std::unordered_map<int64_t, int64_t> old2new;
  int64_t position = 0;
  for (const std::vector<int64_t>* axes : {&iterations, &reductions}) {
    for (const int64_t axis : *axes) {
      old2new[axis] = position++;
    }
  }
  tensor->reorder(old2new);
  return static_cast<int64_t>(iterations.size());
}

void schedule_tensor(TensorView* tensor) {
  const int64_t iterations = reductions_last(tensor);
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

bool is_fully_inlined(const TensorView* tensor) {
  int64_t iterations = 0;
  for (const IterDomain* axis : tensor->loop()) {
    iterations += axis->is_reduction() ? 0 : 1;
  }
  return iterations == 0 || tensor->compute_at_position() >= kScheduledAxes;
}

} // namespace

void trivial(Fusion& fusion) {
  const FusionGuard guard(&fusion);
  std::vector<TensorView*> computed;
  for (TensorView* tensor : fusion.tensors()) {
    if (tensor->definition() != nullptr) {
      computed.push_back(tensor);
    }
  }
  for (TensorView* tensor : computed) {
    schedule_tensor(tensor);
  }
  // The result of a reduction is stored, so that no consumer computes it again for every element.
  std::vector<TensorView*> inlinable;
  for (TensorView* tensor : computed) {
    if (!tensor->has_reduction()) {
      inlinable.push_back(tensor);
    }
  }
  inline_most(inlinable);
  for (TensorView* tensor : computed) {
    if (!tensor->is_fusion_output() && !is_fully_inlined(tensor)) {
      tensor->set_memory_type(MemoryType::Global);
    }
  }
}

} // namespace nvfuser::schedule
