#include "lower/analysis/loading_threads.h"

#include <algorithm>

#include "ir/scopes.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/rewrite_elements.h"
#include "transform/circular_buffer.h"

namespace nvfuser {
namespace {

/// Warps that change the number of their registers together.
constexpr int64_t kWarpsOfGroup = 4;

const std::variant<Pipelined, WarpSpecialized>& type_of(const CircularLoop& loop) {
  return loader_of(loop.tensors.front());
}
const WarpSpecialized* specialization_of(const CircularLoop& loop) {
  return std::get_if<WarpSpecialized>(&type_of(loop));
}
bool has_stages_to_hand_back(const CircularLoop& loop) {
  const auto* pipelined = std::get_if<Pipelined>(&type_of(loop));
  return pipelined == nullptr || pipelined->uses_mbarrier_for_war;
}

/// Threads along a dimension that compute; no value: a launch says how many.
std::optional<int64_t> computing_along(const Kernel& kernel, int64_t dim) {
  const Val* extent = kernel.launch.extents.block[static_cast<size_t>(dim)];
  if (extent == nullptr) {
    return 1;
  }
  if (!extent->is_const_int()) {
    return std::nullopt;
  }
  return std::max<int64_t>(as_int(extent->value()), 1);
}

/// The loops whose loads have threads of their own agree in what these are.
std::optional<Refusal> find_other_group(const CircularLoop& first, const CircularLoop& loop) {
  const WarpSpecialized& a = *specialization_of(first);
  const WarpSpecialized& b = *specialization_of(loop);
  if (a.on == b.on && a.num_registers == b.num_registers) {
    return std::nullopt;
  }
  return refuse({
      .headline = {"A kernel has one group of loading threads"},
      .node = {describe(first.tensors.front()), "\nand ", describe(loop.tensors.front())},
      .expected = {"the same thread dimension and the same numbers of registers for all loops"},
      .found = {a.on, " and ", b.on, a.on == b.on ? ", with other registers" : ""},
      .fix = {"call warp_specialize with the same parallel_type and num_registers"},
  });
}

/// Loading threads and stage barriers count through the whole kernel.
std::optional<Refusal> find_other_loader(const Kernel& kernel, const CircularLoop& specialized) {
  const auto found = std::ranges::find_if(kernel.circular_loops, [](const CircularLoop& loop) {
    return has_stages_to_hand_back(loop) && specialization_of(loop) == nullptr;
  });
  if (found == kernel.circular_loops.end()) {
    return std::nullopt;
  }
  return refuse(
      {
          .headline = {"Stages of a kernel are handed back to one thread"},
          .node =
              {describe(found->tensors.front()), "\nand ", describe(specialized.tensors.front())},
          .expected = {"one kind of circular buffers that hand stages back"},
          .found = {"Pipelined(uses_mbarrier_for_war=True) and WarpSpecialized"},
          .fix = {"use Pipelined() or WarpSpecialized for the first one"},
      },
      ErrorKind::NotImplemented);
}

/// Loading threads come to no barrier of a cluster.
std::optional<Refusal> find_cluster_reduction(const Kernel& kernel) {
  const std::vector<TensorView*> tensors = kernel.tensors();
  const auto found = std::ranges::find_if(
      tensors, [](const TensorView* tensor) { return tensor->domain()->has_cluster_reduction(); });
  if (found == tensors.end()) {
    return std::nullopt;
  }
  return refuse(
      {
          .headline = {"A kernel with loading threads has no reductions over clusters"},
          .node = {describe(*found)},
          .expected = {"reductions of blocks: all threads of a cluster wait for each other"},
          .found = {"clusters of ", cluster_size(kernel), " blocks"},
          .fix = {"leave out set_clustered_blocks, or load ahead with circular_buffer"},
      },
      ErrorKind::NotImplemented);
}

/// Positions along `on` that are whole groups of warps. Threads of a warp are neighbours: the
/// dimension is the slowest one, and the faster ones have sizes that are known.
std::optional<Refusal> find_positions(
    const Kernel& kernel, const CircularLoop& loop, LoadingThreads& loading) {
  const int64_t dim = traits_of(loading.along).dim;
  int64_t faster = 1;
  for (int64_t other = 0; other < 3; ++other) {
    const std::optional<int64_t> size = computing_along(kernel, other);
    if (other == dim || size == 1) {
      continue;
    }
    if (other < dim && size) {
      faster *= *size;
      continue;
    }
    const ParallelType type = kBlockDimTypes[static_cast<size_t>(other)];
    return refuse({
        .headline = {"The loading threads would not be neighbours"},
        .node = {describe(loop.tensors.front())},
        .expected = {"loading threads along the slowest thread dimension, and constant sizes of "
                     "the faster ones"},
        .found =
            {loading.along, ", and ", type, " of size ",
             kernel.launch.extents[type]->to_inline_string()},
        .fix =
            {other > dim ? "call warp_specialize with the slowest thread dimension that is bound"
                         : "split the axes that are bound to threads by constants"},
    });
  }
  const int64_t group = kWarpsOfGroup * kernel.target().warp_size;
  int64_t positions = 1;
  while (positions * faster % group != 0) {
    ++positions;
  }
  loading.positions = positions;
  loading.threads = positions * faster;
  return std::nullopt;
}

/// A group of warps gets registers that another one gave away: the kernel begins with enough for
/// both, and whole groups of computing threads.
std::optional<Refusal> find_registers(
    const Kernel& kernel, const CircularLoop& loop, LoadingThreads& loading) {
  const auto& wanted = specialization_of(loop)->num_registers;
  if (!wanted) {
    return std::nullopt;
  }
  const Target& target = kernel.target();
  const int64_t group = kWarpsOfGroup * target.warp_size;
  int64_t computing = 1;
  for (int64_t dim = 0; dim < 3; ++dim) {
    const std::optional<int64_t> size = computing_along(kernel, dim);
    computing *= size.value_or(0);
  }
  if (computing == 0 || computing % group != 0) {
    return refuse({
        .headline = {"Registers are shared between groups of ", group, " threads"},
        .node = {describe(loop.tensors.front())},
        .expected =
            {"a block whose size is a constant and a multiple of ", group,
             ", without the "
             "loading threads"},
        .found =
            {computing == 0 ? std::string("a size that is known at the launch")
                            : std::to_string(computing) + " threads"},
        .fix = {"split the axes that are bound to threads by constants, or leave out "
                "num_registers"},
    });
  }
  const auto [of_loading, of_computing] = *wanted;
  const int64_t threads = loading.threads + computing;
  const int64_t needed = loading.threads * of_loading + computing * of_computing;
  const int64_t unit = target.register_granularity;
  const int64_t at_start = (needed + threads * unit - 1) / (threads * unit) * unit;
  constexpr int64_t kMost = 248; // of a thread when a kernel begins, in whole units
  if (at_start > kMost || at_start * threads > target.registers_per_block) {
    return refuse({
        .headline = {"A block has not as many registers"},
        .node = {describe(loop.tensors.front())},
        .expected =
            {"at most ", target.registers_per_block, " registers of a block, and ", kMost,
             " of a thread on average"},
        .found =
            {loading.threads, " threads with ", of_loading, " and ", computing, " with ",
             of_computing, ": ", needed},
        .fix = {"ask for fewer registers, or use smaller blocks"},
    });
  }
  loading.registers = {of_loading, of_computing, at_start};
  return std::nullopt;
}

/// The group, in `loading`, or why there can be none.
std::optional<Refusal> find_group(const Kernel& kernel, LoadingThreads& loading) {
  const CircularLoop* first = nullptr;
  for (const CircularLoop& loop : kernel.circular_loops) {
    if (specialization_of(loop) == nullptr) {
      continue;
    }
    if (first != nullptr) {
      NVF_RETURN_REFUSAL(find_other_group(*first, loop));
      continue;
    }
    first = &loop;
    loading.along = specialization_of(loop)->on;
    NVF_RETURN_REFUSAL(find_other_loader(kernel, loop));
    NVF_RETURN_REFUSAL(find_cluster_reduction(kernel));
    NVF_RETURN_REFUSAL(find_positions(kernel, loop, loading));
    NVF_RETURN_REFUSAL(find_registers(kernel, loop, loading));
  }
  return std::nullopt;
}

} // namespace

bool hands_stages_back(const Kernel& kernel, const CircularLoop& loop) {
  const Target& target = kernel.target();
  return has_stages_to_hand_back(loop) && (target.has_bulk_copies || !target.has_hardware_threads);
}

bool is_specialized(const Kernel& kernel, const CircularLoop& loop) {
  return hands_stages_back(kernel, loop) && specialization_of(loop) != nullptr;
}

std::optional<Refusal> find_wrong_loading_threads(const Kernel& kernel) {
  LoadingThreads loading;
  return find_group(kernel, loading);
}

LoadingThreads loading_threads(const Kernel& kernel) {
  LoadingThreads loading;
  if (kernel.target().has_hardware_threads && kernel.target().has_bulk_copies) {
    const std::optional<Refusal> refusal = find_group(kernel, loading);
    NVF_INVARIANT(!refusal, "loading threads were looked at when their loops were found");
  }
  return loading;
}

int64_t loading_positions(const Kernel& kernel, int64_t dim) {
  const LoadingThreads loading = loading_threads(kernel);
  return traits_of(loading.along).dim == dim ? loading.positions : 0;
}

bool tells_roles_apart(const Kernel& kernel, const Val* condition) {
  const Expr* definition = condition->definition();
  const auto* comparison = definition == nullptr ? nullptr : definition->as<BinaryOp>();
  if (comparison == nullptr || comparison->op != BinaryOpType::GE || !comparison->rhs->is_zero() ||
      comparison->lhs->vtype() != ValType::NamedScalar) {
    return false;
  }
  const LoadingThreads loading = loading_threads(kernel);
  return loading.positions > 0 &&
         static_cast<const NamedScalar*>(comparison->lhs)->parallel_index() == loading.along;
}

int64_t num_stage_barriers(const Kernel& kernel) {
  int64_t barriers = 0;
  for (const CircularLoop& loop : kernel.circular_loops) {
    if (hands_stages_back(kernel, loop)) {
      barriers = std::max(barriers, loop.first_loads() + 1);
    }
  }
  return barriers;
}

bool has_stage_barriers(const Kernel& kernel, const TensorView* tensor) {
  const CircularLoop* loop = circular_loop_of(kernel, tensor);
  return loop != nullptr && hands_stages_back(kernel, *loop);
}

bool loads_stages(const Kernel& kernel, const Scope& scope) {
  bool found = false;
  for_each_node(scope, [&](const Expr& statement) {
    for_each_write(statement, [&](const TensorIndex& element) {
      found = found || has_stage_barriers(kernel, element.view());
    });
  });
  return found;
}

} // namespace nvfuser
