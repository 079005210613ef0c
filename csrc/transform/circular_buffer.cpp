// Loading a tensor ahead of the loop that reads it.
#include "transform/circular_buffer.h"

#include "graph/op_semantics.h"
#include "ir/fusion.h"
#include "transform/bulk_copy.h"
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

/// Numbers that setmaxnreg takes.
std::optional<Refusal> find_wrong_registers(
    const TensorView* tensor, const std::pair<int64_t, int64_t>& num_registers) {
  constexpr int64_t kFewest = 24;
  constexpr int64_t kMost = 256;
  constexpr int64_t kUnit = 8;
  const auto [loading, computing] = num_registers;
  for (const int64_t registers : {loading, computing}) {
    if (registers < kFewest || registers > kMost || registers % kUnit != 0) {
      return refuse({
          .headline =
              {"The number of registers for setmaxnreg must be between ", kFewest, " and ", kMost,
               " (inclusive) and be a multiple of ", kUnit, "."},
          .node = {describe(tensor)},
          .expected = {kFewest, ", ", kFewest + kUnit, ", .., ", kMost},
          .found = {"num_registers = (", loading, ", ", computing, ")"},
          .fix = {"round to multiples of ", kUnit, ", or leave num_registers out"},
      });
    }
  }
  if (loading > computing) {
    return refuse({
        .headline = {"The number of registers for async warp group must be <= to the number of "
                     "registers for the compute warp groups."},
        .node = {describe(tensor)},
        .expected = {"no more than ", computing, " registers of a loading thread"},
        .found = {"num_registers = (", loading, ", ", computing, ")"},
        .fix = {"the first number is that of threads that only load: they need few"},
    });
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_type(const TensorView* tensor, const Pipelined& type) {
  if (!type.uses_mbarrier_for_war || is_bulk_copy(tensor->definition())) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"Only stages that bulk copies load are handed back"},
      .node = {describe(tensor)},
      .expected = {"a copy with LoadStoreOpType.tma"},
      .found = {"Pipelined(uses_mbarrier_for_war=True) on another copy"},
      .fix = {"use Pipelined(), with which a barrier of the block says that a stage was read"},
  });
}

std::optional<Refusal> find_wrong_type(const TensorView* tensor, const WarpSpecialized& type) {
  if (!is_bulk_copy(tensor->definition())) {
    return refuse({
        .headline = {"Only bulk copies are loaded by threads of their own"},
        .node = {describe(tensor)},
        .expected = {"a copy with LoadStoreOpType.tma, which one thread begins"},
        .found = {"another copy"},
        .fix = {"make it with cache_after(LoadStoreOpType.tma), or use Pipelined()"},
    });
  }
  if (!is_block_dim(type.on)) {
    return refuse({
        .headline = {"Loading threads stand along a dimension of the block"},
        .node = {describe(tensor)},
        .expected = {"ParallelType.block_x, block_y or block_z"},
        .found = {type.on},
        .fix = {"use the slowest thread dimension that is bound, or the next one"},
    });
  }
  if (type.stage_slice_position) {
    return refuse(
        {
            .headline = {"A stage is loaded and handed back as a whole"},
            .node = {describe(tensor)},
            .expected = {"no stage_slice_position"},
            .found = {"stage_slice_position = ", *type.stage_slice_position},
            .fix = {"leave it out: groups of computing threads wait for a stage together"},
        },
        ErrorKind::NotImplemented);
  }
  return type.num_registers ? find_wrong_registers(tensor, *type.num_registers) : std::nullopt;
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
  const Expr* definition = tensor->definition();
  const bool is_copy = definition != nullptr && is_elementwise_copy(*definition) &&
                       copied_operand(definition) != nullptr;
  if (!is_copy && !is_bulk_copy(definition)) {
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

std::optional<Refusal> find_load_ahead(const TensorView* tensor) {
  if (!tensor->schedule().circular_buffer_options) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"A circular buffer cannot be computed with its first consumer only"},
      .node = {describe(tensor)},
      .expected = {"a tensor that is computed when it is read"},
      .found = {"circular_buffer()"},
      .fix = {"inline it with inline_at"},
  });
}

const std::variant<Pipelined, WarpSpecialized>& loader_of(const TensorView* tensor) {
  return tensor->schedule().circular_buffer_options->type;
}

std::optional<Refusal> find_wrong_loader(
    const TensorView* tensor, const std::variant<Pipelined, WarpSpecialized>& type) {
  return std::visit([&](const auto& kind) { return find_wrong_type(tensor, kind); }, type);
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
  NVF_RETURN_REFUSAL(nvfuser::find_wrong_circular_buffer(tv));
  NVF_RETURN_REFUSAL(find_wrong_loader(tv, type));
  return find_missing_circular_axis(tv, types_of(tv));
}

void transform::warp_specialize(
    TensorView* tv,
    int64_t number_of_stages,
    int64_t prefetch_distance,
    ParallelType parallel_type,
    const std::optional<std::pair<int64_t, int64_t>>& num_registers) {
  tv->circular_buffer(
      number_of_stages, prefetch_distance,
      WarpSpecialized{parallel_type, num_registers, std::nullopt});
}

void TensorView::circular_buffer(
    int64_t number_of_stages,
    int64_t prefetch_distance,
    const std::variant<Pipelined, WarpSpecialized>& type) {
  check(transform::find_wrong_circular_buffer(this, number_of_stages, prefetch_distance, type));
  const int64_t prefetch = wrap_distance(number_of_stages, prefetch_distance);
  edit_schedule().circular_buffer_options = CircularBuffering{number_of_stages, prefetch, type};
  record_step(
      steps::CircularBuffer{
          .number_of_stages = number_of_stages, .prefetch_distance = prefetch, .type = type});
}

} // namespace nvfuser
