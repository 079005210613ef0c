#include "lower/analysis/circular_loops.h"

#include <algorithm>

#include "lower/analysis/loading_threads.h"
#include "lower/analysis/loop_model.h"
#include "transform/circular_buffer.h"

namespace nvfuser {
namespace {

/// Loops between the buffered one and the storage would each need stages of their own, except those
/// that are bound to hardware or run once.
std::optional<Refusal> find_loop_between(
    const Kernel& kernel, const TensorView* tensor, const Loop* buffered) {
  const LoopNest& nest = kernel.loop_model->nest(tensor);
  const auto end = nest.begin() + kernel.loop_model->shared_depth(tensor);
  const auto begin = std::find(nest.begin(), end, buffered);
  NVF_INVARIANT(begin != end, "a shared axis drives a shared loop: ", describe(tensor));
  const auto between = std::find_if(begin + 1, end, [](const Loop* loop) {
    return !loop->is_hardware() && !loop->index->is_const();
  });
  if (between == end) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"A loop stands between a circular buffer and the loop it is loaded ahead of"},
      .node = {describe(tensor)},
      .expected =
          {"only threads and blocks inside the loop over ", buffered->promoted->to_string()},
      .found = {(*between)->promoted->to_string()},
      .fix = {"inline the tensor at that loop or less deep, so that the buffer has its axis"},
  });
}

/// The source of a load ahead must be there already. Producers share the loop by being inlined, by
/// being computed with the copy, or because a tensor that they read is inlined into a reader of the
/// copy.
std::optional<Refusal> find_late_producer(
    const Kernel& kernel, const TensorView* tensor, const Loop* buffered) {
  for (const TensorView* producer : tensor->producers()) {
    if (producer->definition() == nullptr) {
      continue; // an input
    }
    const LoopNest& nest = kernel.loop_model->nest(producer);
    if (std::find(nest.begin(), nest.end(), buffered) == nest.end()) {
      continue;
    }
    return refuse({
        .headline = {"The producer of a circular buffer is computed inside of its loop"},
        .node = {describe(tensor)},
        .expected =
            {"a producer that is complete before the loop over ", buffered->promoted->to_string()},
        .found = {describe(producer), " inside of it"},
        .fix = {"inline the producer, and what it reads, less deep"},
    });
  }
  return std::nullopt;
}

std::optional<Refusal> find_other_structure(const CircularLoop& loop, const TensorView* tensor) {
  const CircularBuffering& options = *tensor->schedule().circular_buffer_options;
  if (loop.stages == options.stages && loop.prefetch == options.prefetch) {
    if (loader_of(loop.tensors.front()) == options.type) {
      return std::nullopt;
    }
    return refuse({
        .headline = {"Circular buffers of one loop differ in the threads that load them"},
        .node = {describe(tensor), "\nand ", describe(loop.tensors.front())},
        .expected = {"one type for all of them"},
        .found = {"types that are not equal"},
        .fix = {"call circular_buffer, or warp_specialize, with the same arguments for both"},
    });
  }
  return refuse({
      .headline = {"Circular buffers of one loop differ in their stages"},
      .node = {describe(tensor), "\nand ", describe(loop.tensors.front())},
      .expected = {loop.stages, " stages, loaded ", loop.prefetch, " iterations ahead"},
      .found = {options.stages, " stages, loaded ", options.prefetch, " iterations ahead"},
      .fix = {"give both the same number of stages and the same prefetch distance"},
  });
}

} // namespace

int64_t CircularLoop::first_loads() const {
  const Val* extent = loop->extent();
  return extent->is_const() ? std::min(prefetch, as_int(extent->value())) : prefetch;
}

std::optional<Refusal> find_circular_loops(Kernel& kernel) {
  const LoopModel& model = *kernel.loop_model;
  for (TensorView* tensor : kernel.tensors()) {
    const std::optional<CircularBuffering>& options = tensor->schedule().circular_buffer_options;
    if (!options) {
      continue;
    }
    NVF_RETURN_REFUSAL(find_wrong_circular_buffer(tensor));
    NVF_RETURN_REFUSAL(find_wrong_loader(tensor, options->type));
    std::vector<ParallelType> types;
    for (const IterDomain* axis : tensor->loop()) {
      types.push_back(model.loop_of(axis)->parallel_type);
    }
    NVF_RETURN_REFUSAL(find_missing_circular_axis(tensor, types));
    const Loop* loop = model.loop_of(tensor->axis(circular_buffer_axis(tensor, types)));
    NVF_RETURN_REFUSAL(find_loop_between(kernel, tensor, loop));
    NVF_RETURN_REFUSAL(find_late_producer(kernel, tensor, loop));
    if (loop->index->is_const()) {
      continue;
    }
    std::vector<CircularLoop>& known = kernel.circular_loops;
    const auto found = std::find_if(
        known.begin(), known.end(), [&](const CircularLoop& other) { return other.loop == loop; });
    if (found == known.end()) {
      known.push_back({loop, options->stages, options->prefetch, {tensor}});
    } else {
      NVF_RETURN_REFUSAL(find_other_structure(*found, tensor));
      found->tensors.push_back(tensor);
    }
  }
  return find_wrong_loading_threads(kernel);
}

const CircularLoop* circular_loop_of(const Kernel& kernel, const TensorView* tensor) {
  for (const CircularLoop& loop : kernel.circular_loops) {
    if (std::find(loop.tensors.begin(), loop.tensors.end(), tensor) != loop.tensors.end()) {
      return &loop;
    }
  }
  return nullptr;
}

} // namespace nvfuser
