// Loading a tensor ahead of the loop that reads it.
#include "transform/circular_buffer.h"

#include "graph/op_semantics.h"
#include "ir/fusion.h"
#include "transform/rules.h"

namespace nvfuser {
namespace {

std::optional<Refusal> find_wrong_stages(
    const TensorView* tensor, int64_t stages, int64_t prefetch) {
  if (stages <= 1) {
    return refuse({
        .headline = {"Unsupported stage number ", stages},
        .node = {describe(tensor)},
        .expected = {"at least 2 stages: one to read and one to load"},
        .found = {"number_of_stages = ", stages},
        .fix = {"without circular buffering there is one stage"},
    });
  }
  if (prefetch < 0 || prefetch >= stages) {
    return refuse({
        .headline = {"Invalid prefetch distance ", prefetch},
        .node = {describe(tensor)},
        .expected =
            {"0 <= prefetch_distance < ", stages, ", or a negative one that counts from ", stages},
        .found = {"prefetch_distance = ", prefetch},
        .fix = {"what is loaded ahead must not overwrite what is read: use more stages"},
    });
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_type(
    const TensorView* tensor, const std::variant<Pipelined, WarpSpecialized>& type) {
  const auto* pipelined = std::get_if<Pipelined>(&type);
  if (pipelined != nullptr && !pipelined->uses_mbarrier_for_war) {
    return std::nullopt;
  }
  return refuse(
      {
          .headline = {"This type of circular buffer has no kernel form"},
          .node = {describe(tensor)},
          .expected = {"Pipelined(): the threads that compute load ahead, and wait for barriers of "
                       "the block"},
          .found =
              {pipelined == nullptr ? "WarpSpecialized: threads that only load"
                                    : "Pipelined(uses_mbarrier_for_war=True)"},
          .fix = {"use Pipelined(), which overlaps loads with LoadStoreOpType.cp_async"},
      },
      ErrorKind::NotImplemented);
}

/// Negative distances count from the number of stages.
int64_t wrap_distance(int64_t stages, int64_t prefetch) {
  return prefetch < 0 ? stages + prefetch : prefetch;
}

std::vector<ParallelType> types_of(const TensorView* tensor) {
  std::vector<ParallelType> types;
  for (const IterDomain* axis : tensor->loop()) {
    types.push_back(axis->parallel_type());
  }
  return types;
}

std::string axes_text(const TensorView* tensor, int64_t end) {
  std::string text;
  for (int64_t i = 0; i < end; ++i) {
    text += (i == 0 ? "" : ", ") + tensor->axis(i)->to_string();
  }
  return end == 0 ? "none: the tensor is not inlined" : text;
}

} // namespace

std::optional<Refusal> find_wrong_circular_buffer(const TensorView* tensor) {
  const bool is_copy =
      tensor->definition() != nullptr && is_elementwise_copy(*tensor->definition());
  if (!is_copy || copied_operand(tensor->definition()) == nullptr) {
    return refuse({
        .headline = {"Only a copy can be circular buffered"},
        .node = {describe(tensor)},
        .expected = {"a tensor defined by a load or store"},
        .found =
            {tensor->definition() == nullptr ? "an input of the fusion"
                                             : tensor->definition()->op_name()},
        .fix = {"circular buffer a copy (cache_after) instead"},
    });
  }
  if (tensor->memory_type() != MemoryType::Local && tensor->memory_type() != MemoryType::Shared) {
    return refuse({
        .headline = {"A circular buffer lies in registers or in shared memory"},
        .node = {describe(tensor)},
        .expected = {"local or shared"},
        .found = {enum_name(tensor->memory_type())},
        .fix = {"set_memory_type(MemoryType.shared)"},
    });
  }
  if (tensor->compute_with_position() > 0) {
    return refuse({
        .headline = {"A circular buffer cannot be computed with its first consumer only"},
        .node = {describe(tensor)},
        .expected = {"no compute-with position"},
        .found = {"compute-with position ", tensor->compute_with_position()},
        .fix = {"inline it with inline_at"},
    });
  }
  return std::nullopt;
}

int64_t circular_buffer_axis(const TensorView* tensor, const std::vector<ParallelType>& types) {
  int64_t position = tensor->compute_at_position() - 1;
  while (position >= 0 && (types[static_cast<size_t>(position)] != ParallelType::Serial ||
                           tensor->axis(position)->is_broadcast())) {
    --position;
  }
  return position;
}

std::optional<Refusal> find_missing_circular_axis(
    const TensorView* tensor, const std::vector<ParallelType>& types) {
  const int64_t position = circular_buffer_axis(tensor, types);
  if (position < 0) {
    return refuse({
        .headline = {"A circular buffer needs a serial axis left of its compute-at position"},
        .node = {describe(tensor)},
        .expected = {"a serial loop that is shared with the consumers, to load ahead of"},
        .found = {axes_text(tensor, tensor->compute_at_position())},
        .fix = {"inline the tensor into a serial loop of its consumers first"},
    });
  }
  if (tensor->max_producer_position() > position) {
    return refuse({
        .headline = {"The producer of a circular buffer is computed inside of its loop"},
        .node = {describe(tensor)},
        .expected =
            {"a producer that is complete before the loop over ",
             tensor->axis(position)->to_string()},
        .found = {"produce position ", tensor->max_producer_position()},
        .fix = {"inline the producer at position ", position, " or less"},
    });
  }
  return std::nullopt;
}

std::optional<Refusal> transform::find_wrong_circular_buffer(
    const TensorView* tv,
    int64_t number_of_stages,
    int64_t prefetch_distance,
    const std::variant<Pipelined, WarpSpecialized>& type) {
  NVF_RETURN_REFUSAL(
      find_wrong_stages(tv, number_of_stages, wrap_distance(number_of_stages, prefetch_distance)));
  NVF_RETURN_REFUSAL(find_wrong_type(tv, type));
  NVF_RETURN_REFUSAL(nvfuser::find_wrong_circular_buffer(tv));
  return find_missing_circular_axis(tv, types_of(tv));
}

void TensorView::circular_buffer(
    int64_t number_of_stages,
    int64_t prefetch_distance,
    const std::variant<Pipelined, WarpSpecialized>& type) {
  check(transform::find_wrong_circular_buffer(this, number_of_stages, prefetch_distance, type));
  const int64_t prefetch = wrap_distance(number_of_stages, prefetch_distance);
  assign_circular_buffering(CircularBuffering{number_of_stages, prefetch, type});
  record_step(
      steps::CircularBuffer{
          .number_of_stages = number_of_stages, .prefetch_distance = prefetch, .type = type});
}

} // namespace nvfuser
