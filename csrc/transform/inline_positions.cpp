#include "transform/inline_positions.h"

#include <algorithm>

#include "graph/domain_map.h"

namespace nvfuser::transform {

std::optional<Refusal> find_wrong_position(
    const TensorView* tensor, int64_t position, bool best_effort) {
  const int64_t size = tensor->ndims();
  if (position >= -size - 1 && (position <= size || best_effort)) {
    return std::nullopt;
  }
  return refuse({
      .headline =
          {"Invalid inline position for T", tensor->name(), ": ", position,
           ". Maximum allowed value:", size},
      .node = {describe(tensor)},
      .expected = {"a position in [", -size - 1, ", ", size, "]"},
      .found = {position},
      .fix = {"print the tensor to see its loop domain"},
  });
}

int64_t wrap_position(const TensorView* tensor, int64_t position) {
  const int64_t size = tensor->ndims();
  return std::min(position < 0 ? position + size + 1 : position, size);
}

Refusal refuse_position(const TensorView* tensor, int64_t position, int64_t limit) {
  return refuse({
      .headline =
          {"Invalid inline position for T", tensor->name(), ": ", position,
           ". Maximum allowed value:", limit},
      .node = {describe(tensor)},
      .expected = {"axes that every consumer has in the same order, outside of reductions and "
                   "vectorized axes"},
      .found = {"position ", position},
      .fix = {"transform the consumers alike (schedule.transform_like), or pass best_effort=True"},
  });
}

void update_produce_positions(TensorView* consumer, Alignments& alignments) {
  const std::vector<TensorView*> outs = with_siblings(consumer);
  int64_t position = 0;
  int64_t maybe_position = 0;
  for (const TensorView* producer : tensor_inputs(consumer->definition())) {
    for (const TensorView* out : outs) {
      const LoopAlignment& alignment = alignments(producer, out);
      const int64_t certain = producer->compute_at_position();
      for (int64_t i = 0; i < std::max(certain, producer->compute_with_position()); ++i) {
        int64_t& inside = i < certain ? position : maybe_position;
        inside = std::max(inside, alignment.consumer_axis[static_cast<size_t>(i)] + 1);
      }
    }
  }
  for (TensorView* out : outs) {
    out->assign_max_producer_position(position);
    out->assign_maybe_max_producer_position(maybe_position);
  }
}

} // namespace nvfuser::transform
