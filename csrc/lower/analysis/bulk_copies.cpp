#include "lower/analysis/bulk_copies.h"

#include <algorithm>

#include "ir/scopes.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/loop_model.h"

namespace nvfuser {
namespace {

/// The driver's descriptions of tensors are for elements of these sizes.
bool has_size_of_bulk_copies(DataType dtype) {
  const int64_t bytes = dtype == DataType::Float4_e2m1fn ? 0 : size_bytes(dtype);
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

std::optional<Refusal> find_wrong_memory(
    const Fusion& fusion, const TensorView* tensor, const TensorView* source) {
  const bool is_load =
      source->memory_type() == MemoryType::Global && tensor->memory_type() == MemoryType::Shared;
  const bool is_store =
      source->memory_type() == MemoryType::Shared && tensor->memory_type() == MemoryType::Global;
  if (!is_load && !is_store) {
    return refuse({
        .headline = {"A bulk copy is one between global and shared memory"},
        .node = {describe(tensor), "\ncopied from ", describe(source)},
        .expected = {"one tensor in global and one in shared memory"},
        .found = {enum_name(source->memory_type()), " to ", enum_name(tensor->memory_type())},
        .fix = {"set_memory_type(MemoryType.shared) on the copy that is not in global memory"},
    });
  }
  if (is_load && (!source->is_fusion_input() || source->is_cpu_scalar())) {
    return refuse(
        {
            .headline = {"A bulk copy loads from an input of the kernel"},
            .node = {describe(tensor), "\ncopied from ", describe(source)},
            .expected = {"a tensor that is complete before the kernel begins"},
            .found =
                {source->is_cpu_scalar() ? "a scalar of the host"
                                         : "a tensor that this kernel computes"},
            .fix = {"load it with LoadStoreOpType.set, or cut the fusion before it"},
        },
        ErrorKind::NotImplemented);
  }
  if (is_store && (!tensor->is_fusion_output() || !tensor->consumers().empty() ||
                   fusion.alias_of(tensor) != nullptr)) {
    return refuse(
        {
            .headline = {"A bulk copy stores to an output that nothing reads"},
            .node = {describe(tensor)},
            .expected = {"an output of its own, without readers in this kernel"},
            .found =
                {!tensor->is_fusion_output()    ? "a tensor between others"
                 : !tensor->consumers().empty() ? "an output that the kernel reads"
                                                : "an output that updates an input"},
            .fix = {"store it with LoadStoreOpType.set"},
        },
        ErrorKind::NotImplemented);
  }
  return std::nullopt;
}

/// Whether global memory combines elements to what the operation is defined as. It takes subnormal
/// Floats for zeros, and has no minimum and maximum of Doubles. Narrower floats are added in Float.
bool combines_exactly(BinaryOpType op, DataType dtype) {
  switch (dtype) {
    case DataType::Int32:
    case DataType::Int:
    case DataType::UInt64: return true;
    case DataType::Double: return op == BinaryOpType::Add;
    default: return false;
  }
}

std::optional<Refusal> find_wrong_update(const Fusion& fusion, const TensorView* tensor) {
  const auto& update = *tensor->definition()->as<BinaryOp>();
  const AliasInfo* alias = fusion.alias_of(tensor);
  const TensorView* source = bulk_source(&update);
  const Val* updated = update.lhs == source ? update.rhs : update.lhs;
  if (alias == nullptr || alias->input != updated || !tensor->consumers().empty()) {
    return refuse({
        .headline = {"A bulk copy combines what it stores with the input that it updates"},
        .node = {describe(tensor)},
        .expected = {"an update of ", updated->to_string(), " in place, which nothing else reads"},
        .found =
            {alias == nullptr          ? "a result of its own"
             : alias->input != updated ? "an update of another input"
                                       : "a result that the kernel reads"},
        .fix = {"add_output(result, input) of the input that is combined, or bind the axis to "
                "threads"},
    });
  }
  if (!combines_exactly(update.op, tensor->dtype())) {
    return refuse(
        {
            .headline = {"A bulk copy does not combine elements of this type exactly"},
            .node = {describe(tensor)},
            .expected = {"elements of type Int32, Int or UInt64, or a sum of Doubles"},
            .found = {op_text(update.op), " of ", text(tensor->dtype())},
            .fix = {"bind the axis to threads, which read the input and add"},
        },
        ErrorKind::NotImplemented);
  }
  return std::nullopt;
}

std::optional<Refusal> find_wrong_axes(const TensorView* tensor) {
  bool has_box = false;
  for (const IterDomain* axis : tensor->loop()) {
    const ParallelType type = axis->parallel_type();
    has_box = has_box || type == ParallelType::Bulk;
    if (is_block_dim(type)) {
      return refuse({
          .headline = {"One thread begins a bulk copy"},
          .node = {describe(tensor)},
          .expected = {"axes that are bound to blocks, loops or tma"},
          .found = {axis->to_string()},
          .fix = {"bind the axis to tma: its positions are copied at once"},
      });
    }
    if (is_instruction(type) && type != ParallelType::Bulk) {
      return refuse({
          .headline = {"A bulk copy has no axis bound to ", type},
          .node = {describe(tensor)},
          .expected = {"axes that are bound to blocks, loops or tma"},
          .found = {axis->to_string()},
          .fix = {"bind the axis to tma"},
      });
    }
    if (type == ParallelType::Bulk && axis->is_broadcast()) {
      return refuse({
          .headline = {"The axis of a box is a broadcast"},
          .node = {describe(tensor)},
          .expected = {"axes that have elements in global memory"},
          .found = {axis->to_string()},
          .fix = {"leave the axis a loop: it runs once"},
      });
    }
  }
  if (!has_box) {
    return refuse({
        .headline = {"A bulk copy has no box"},
        .node = {describe(tensor)},
        .expected = {"axes bound to ParallelType.tma, whose positions are copied at once"},
        .found = {"none"},
        .fix = {"split the axes by the size of a box, and bind the inner parts to tma"},
    });
  }
  return std::nullopt;
}

std::optional<Refusal> find_box_of_other_copy(const TensorView* tensor) {
  for (const IterDomain* axis : tensor->loop()) {
    if (axis->parallel_type() == ParallelType::Bulk) {
      return refuse({
          .headline = {"An axis is bound to tma, but its tensor is no bulk copy"},
          .node = {describe(tensor)},
          .expected = {"a tensor made by cache_after or cache_before(LoadStoreOpType.tma)"},
          .found = {axis->to_string()},
          .fix = {"bind the axis to threads, or vectorize it"},
      });
    }
  }
  return std::nullopt;
}

} // namespace

bool is_bulk_load(const Expr* expr) {
  if (expr != nullptr && expr->is_a<BulkLoad>()) {
    return true;
  }
  return is_bulk_copy(expr) && expr->outputs().front()->is_tensor() &&
         first_output(expr)->memory_type() == MemoryType::Shared;
}

bool is_bulk_instruction(const Kernel& kernel, const TensorView* tensor) {
  return kernel.target().has_bulk_copies && is_bulk_copy(tensor->definition());
}

std::optional<Refusal> find_wrong_bulk_copy(const TensorView* tensor) {
  if (!is_bulk_copy(tensor->definition())) {
    return find_box_of_other_copy(tensor);
  }
  const TensorView* source = bulk_source(tensor->definition());
  NVF_RETURN_REFUSAL(
      is_bulk_update(tensor->definition()) ? find_wrong_update(*tensor->fusion(), tensor)
                                           : find_wrong_memory(*tensor->fusion(), tensor, source));
  if (!has_size_of_bulk_copies(tensor->dtype())) {
    return refuse({
        .headline = {"A bulk copy does not move elements of this size"},
        .node = {describe(tensor)},
        .expected = {"elements of 1, 2, 4 or 8 bytes"},
        .found = {text(tensor->dtype())},
        .fix = {"copy with LoadStoreOpType.set or LoadStoreOpType.cp_async"},
    });
  }
  return find_wrong_axes(tensor);
}

int64_t num_bulk_groups(const Kernel& kernel) {
  int64_t ahead = 0; // of all loops: they may be nested
  for (const CircularLoop& circular : kernel.circular_loops) {
    const bool loads_boxes = std::ranges::any_of(circular.tensors, [&](const TensorView* tensor) {
      return is_bulk_instruction(kernel, tensor);
    });
    ahead += loads_boxes && !hands_stages_back(kernel, circular) ? circular.first_loads() : 0;
  }
  return ahead + 1; // that which is being begun
}

int64_t alignment_of_boxes(int64_t swizzle_bytes) {
  constexpr int64_t kLine = 128;
  constexpr int64_t kPiece = 16;
  // Lines are permuted by their number, up to as many pieces as the permutation has.
  return swizzle_bytes == 0 ? kLine : kLine * (swizzle_bytes / kPiece);
}

std::unordered_map<const TensorView*, int64_t> find_box_alignments(const Kernel& kernel) {
  std::unordered_map<const TensorView*, int64_t> alignments;
  const auto note = [&](const Val* box, int64_t swizzle_bytes) {
    int64_t& alignment = alignments[static_cast<const TensorIndex*>(box)->view()];
    alignment = std::max(alignment, alignment_of_boxes(swizzle_bytes));
  };
  for_each_node(kernel.body, [&](const Expr& statement) {
    if (const auto* load = statement.as<BulkLoad>()) {
      note(load->out, load->swizzle_bytes);
    } else if (const auto* store = statement.as<BulkStore>()) {
      note(store->arg, store->swizzle_bytes);
    }
  });
  return alignments;
}

bool BoxedTensor::same_as(const BoxedTensor& other) const {
  const auto are_same = [](const Val* a, const Val* b) { return a->same_as(b); };
  return tensor == other.tensor && box == other.box && steps == other.steps &&
         swizzle_bytes == other.swizzle_bytes &&
         std::ranges::equal(extents, other.extents, are_same) &&
         std::ranges::equal(strides, other.strides, are_same);
}

int64_t BoxedTensor::bytes_of_box() const {
  int64_t bytes = size_bytes(tensor->dtype());
  for (const int64_t extent : box) {
    bytes *= extent;
  }
  return bytes;
}

bool copies_run(const Expr& statement) {
  if (const auto* load = statement.as<BulkLoad>()) {
    return copies_runs(static_cast<const TensorIndex*>(load->out)->view()->definition());
  }
  const auto* store = statement.as<BulkStore>();
  return store != nullptr && copies_runs(store->tensor->definition());
}

std::optional<BoxedTensor> boxed_tensor(const Expr& statement) {
  if (copies_run(statement)) {
    return std::nullopt;
  }
  const auto of = [](const auto& copy, const std::vector<int64_t>& steps) {
    return BoxedTensor{copy.tensor, copy.extents, copy.strides,
                       copy.box,    steps,        copy.swizzle_bytes};
  };
  if (const auto* load = statement.as<BulkLoad>()) {
    return of(*load, load->steps);
  }
  if (const auto* store = statement.as<BulkStore>()) {
    return of(*store, std::vector<int64_t>(store->box.size(), 1));
  }
  return std::nullopt;
}

std::vector<BoxedTensor> boxed_tensors(const Kernel& kernel) {
  std::vector<BoxedTensor> tensors;
  for_each_node(kernel.body, [&](const Expr& statement) {
    std::optional<BoxedTensor> tensor = boxed_tensor(statement);
    if (tensor && std::ranges::none_of(
                      tensors, [&](const BoxedTensor& other) { return tensor->same_as(other); })) {
      tensors.push_back(std::move(*tensor));
    }
  });
  return tensors;
}

} // namespace nvfuser
