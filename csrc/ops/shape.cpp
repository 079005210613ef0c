#include "ops/shape.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "ir/pointwise.h"
#include "ir/scalar.h"
#include "ir/shape_exprs.h"
#include "ops/operands.h"
#include "ops/reshape_nodes.h"

namespace nvfuser::ops {

namespace {

std::string list_text(const std::vector<int64_t>& list) {
  std::string out;
  for (const int64_t item : list) {
    out += (out.empty() ? "" : ", ") + std::to_string(item);
  }
  return out;
}

Val* copy(LoadStoreOpType op, Val* arg) {
  Fusion& fusion = fusion_for({arg});
  Val* out = new_result({arg}, arg->dtype());
  const CacheOp cache_op = op == LoadStoreOpType::Set ? CacheOp::Streaming : CacheOp::Unspecified;
  fusion.make<LoadStoreOp>({.out = out, .arg = arg, .op = op, .cache_op = cache_op});
  return out;
}

/// A copy of `arg` in `out`, a tensor with other domains.
TensorView* copy_into(TensorView* out, TensorView* arg) {
  Fusion::active().make<LoadStoreOp>(
      {.out = out, .arg = arg, .op = LoadStoreOpType::Set, .cache_op = CacheOp::Streaming});
  return out;
}

/// `axes` from the outermost to the innermost stride. Entry i of `stride_order` is the stride rank
/// of axis i, 0 the fastest; negative entries wrap.
IterDomains allocation_order(const IterDomains& axes, const std::vector<int64_t>& stride_order) {
  const auto rank = static_cast<int64_t>(axes.size());
  IterDomains allocation(axes.size(), nullptr);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t entry = stride_order.at(i);
    NVF_USER_CHECK(
        entry >= -rank, "Operator stride_order argument is out of range, expects >= ", -rank,
        ", but got: ", entry);
    NVF_USER_CHECK(
        entry < rank, "Operator stride_order argument is out of range, expects < ", rank,
        ", but got: ", entry);
    IterDomain*& slot = allocation[static_cast<size_t>(rank - 1 - wrap_axis(entry, rank))];
    NVF_USER_CHECK(
        slot == nullptr,
        "Operator stride_order got duplicated stride_order entries: ", list_text(stride_order));
    slot = axes[i];
  }
  return allocation;
}

} // namespace

Val* set(Val* arg) {
  return copy(LoadStoreOpType::Set, arg);
}

Val* segment_set(Val* arg) {
  return copy(LoadStoreOpType::SegmenterSet, arg);
}

TensorView* broadcast(TensorView* arg, const std::vector<bool>& is_broadcast_dim) {
  Fusion& fusion = fusion_for({arg});
  const IterDomains axes = shape_axes(arg);
  const auto num_kept = std::count(is_broadcast_dim.begin(), is_broadcast_dim.end(), false);
  if (num_kept != static_cast<std::ptrdiff_t>(axes.size())) {
    throw UserError({
        .headline =
            {"Invalid broadcast, number of false entries in is_broadcast_dim expected to be ",
             axes.size(), " but received ", num_kept},
        .node = describe(arg),
        .expected = {"one false entry per dimension of the operand"},
        .found = {num_kept, " false entries of ", is_broadcast_dim.size()},
        .fix = {"give true exactly for the dimensions that are new"},
    });
  }
  if (axes.size() == is_broadcast_dim.size()) {
    return arg;
  }
  IterDomains logical;
  auto axis = axes.begin();
  for (const bool is_new : is_broadcast_dim) {
    logical.push_back(is_new ? new_broadcast_axis() : copy_axis(*axis++));
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  fusion.make<BroadcastOp>({.out = out, .arg = arg, .flags = is_broadcast_dim});
  return out;
}

TensorView* broadcast_in_dim(
    TensorView* arg, const std::vector<Val*>& shape, const std::vector<int64_t>& broadcast_dims) {
  fusion_for({arg});
  const auto rank = static_cast<int64_t>(shape.size());
  NVF_NODE_CHECK(
      shape.size() >= broadcast_dims.size(), arg,
      "broadcast_in_dim: the new shape has fewer dimensions (", shape.size(),
      ") than broadcast_dims (", broadcast_dims.size(), ").");
  NVF_NODE_CHECK(
      static_cast<int64_t>(broadcast_dims.size()) == arg->rank(), arg,
      "broadcast_in_dim: broadcast_dims has ", broadcast_dims.size(),
      " entries for an operand of rank ", arg->rank(), ".");
  std::vector<bool> is_new(shape.size(), true);
  std::map<size_t, int64_t> dim_at; // dimensions of `arg` by their positions in the result
  for (const int64_t dim : broadcast_dims) {
    const auto position = static_cast<size_t>(wrap_axis(dim, rank, arg));
    NVF_NODE_CHECK(
        is_new[position], arg, "nonbroadcast_dim (", dim, ") is specified more than once.");
    is_new[position] = false;
    dim_at.emplace(position, static_cast<int64_t>(dim_at.size()));
  }
  std::vector<int64_t> order;
  for (const auto& [position, dim] : dim_at) {
    order.push_back(dim);
  }
  TensorView* in_order = std::is_sorted(order.begin(), order.end()) ? arg : permute(arg, order);
  return expand(broadcast(in_order, is_new), shape);
}

TensorView* expand_as(TensorView* arg, TensorView* other) {
  fusion_for({arg, other});
  return expand(arg, other->shape());
}

TensorView* squeeze(TensorView* arg, const std::vector<int64_t>& dims, bool squeeze_expanded) {
  fusion_for({arg});
  const IterDomains axes = shape_axes(arg);
  const auto rank = static_cast<int64_t>(axes.size());
  NVF_NODE_CHECK(
      static_cast<int64_t>(dims.size()) <= rank, arg,
      "The dims to squeeze must be <= the number of dims of the input tensor. Squeeze dims: ",
      dims.size(), " Input Tensor dims: ", rank);
  if (dims.empty()) {
    return set(arg);
  }
  std::set<int64_t> removed;
  for (const int64_t dim : dims) {
    const int64_t wrapped = dim < 0 ? dim + rank : dim;
    NVF_NODE_CHECK(
        wrapped >= 0 && wrapped < rank, arg,
        "Squeeze dim is outside of Tensor size! Tensor Size: ", rank, " Dim: ", dim);
    removed.insert(wrapped);
  }
  bool may_be_expanded = false;
  for (const int64_t dim : removed) {
    const IterDomain* axis = axes[static_cast<size_t>(dim)];
    if (axis->is_symbolic_axis()) { // what it is shows when sizes are known
      may_be_expanded = may_be_expanded || squeeze_expanded;
      continue;
    }
    NVF_NODE_CHECK(
        axis->is_broadcast(), arg, "Can not squeeze non-broadcasting dimension(s). Dimension ", dim,
        " is ", axis->to_string(), ".");
    NVF_NODE_CHECK(
        squeeze_expanded || !axis->has_expanded_extent(), arg,
        "Refusing to squeeze expanded IterDomain ", axis->to_string(),
        ". To force removal of this axis, use squeeze_expanded=true.");
    NVF_NODE_CHECK(
        axis->extent()->is_const_int(1), arg, "Can not squeeze dimension(s) with size != 1.");
  }
  return squeeze_ones(arg, {removed.begin(), removed.end()}, may_be_expanded);
}

TensorView* unsqueeze(TensorView* arg, int64_t dim) {
  fusion_for({arg});
  const int64_t rank = arg->rank() + 1;
  std::vector<bool> flags(static_cast<size_t>(rank), false);
  flags[static_cast<size_t>(wrap_axis(dim, rank, arg))] = true;
  return broadcast(arg, flags);
}

TensorView* permute(TensorView* arg, const std::vector<int64_t>& dims) {
  fusion_for({arg});
  if (dims.empty()) {
    return set(arg);
  }
  const IterDomains axes = shape_axes(arg);
  const auto rank = static_cast<int64_t>(axes.size());
  NVF_NODE_CHECK(
      dims.size() == axes.size(), arg,
      "Operator permute expects `dims` argument to have the same length as input! Got ",
      dims.size(), " dims for a tensor of rank ", rank, ".");
  std::vector<bool> is_taken(axes.size(), false);
  std::vector<size_t> sources;
  for (const int64_t dim : dims) {
    const auto source = static_cast<size_t>(wrap_dim(arg, dim));
    NVF_NODE_CHECK(
        !is_taken[source], arg,
        "Operator permute got duplicated `dims` entries: ", list_text(dims));
    is_taken[source] = true;
    sources.push_back(source);
  }
  TensorDomainSpec spec;
  spec.root = copy_axes(axes);
  for (const size_t source : sources) {
    spec.logical.push_back(spec.root[source]);
  }
  return copy_into(new_tensor(std::move(spec), arg->dtype()), arg);
}

TensorView* transpose(TensorView* arg, int64_t dim0, int64_t dim1) {
  fusion_for({arg});
  std::vector<int64_t> dims(static_cast<size_t>(arg->rank()));
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(
      dims[static_cast<size_t>(wrap_dim(arg, dim0))],
      dims[static_cast<size_t>(wrap_dim(arg, dim1))]);
  return permute(arg, dims);
}

TensorView* transpose(TensorView* arg) {
  fusion_for({arg});
  NVF_NODE_CHECK(
      arg->rank() <= 2, arg,
      "transpose without dims expects a tensor with <= 2 dimensions, but got ", arg->rank());
  return arg->rank() == 2 ? transpose(arg, 0, 1) : set(arg);
}

TensorView* stride_order(TensorView* arg, const std::vector<int64_t>& stride_order) {
  fusion_for({arg});
  if (stride_order.empty()) {
    return set(arg);
  }
  NVF_NODE_CHECK(
      static_cast<int64_t>(stride_order.size()) == arg->rank(), arg,
      "Operator stride_order expects `stride_order` argument to have the same length as input! "
      "Got ",
      stride_order.size(), " entries for a tensor of rank ", arg->rank(), ".");
  TensorDomainSpec spec;
  spec.logical = copy_axes(shape_axes(arg));
  spec.allocation = allocation_order(spec.logical, stride_order);
  return copy_into(new_tensor(std::move(spec), arg->dtype()), arg);
}

void store_in_order(TensorView* tensor, const std::vector<int64_t>& stride_order) {
  fusion_for({tensor});
  IterDomains memory; // dimensions that were reduced take no part in the order
  for (IterDomain* axis : tensor->logical()) {
    if (axis->is_reduction()) {
      memory.push_back(axis);
    }
  }
  for (IterDomain* axis : allocation_order(shape_axes(tensor), stride_order)) {
    memory.push_back(axis);
  }
  Contiguity contiguity = TensorDomain::contiguity_filled_with(memory, true);
  tensor->domain()->assign_allocation(std::move(memory), std::move(contiguity));
}

Val* size(TensorView* arg, int64_t dim) {
  fusion_for({arg});
  return arg->size(dim);
}

std::vector<Val*> shape(TensorView* arg) {
  fusion_for({arg});
  return arg->shape();
}

Val* as_index(Val* number, const char* role) {
  if (!number->is_scalar() || !is_integral(number->dtype())) {
    throw UserError({
        .headline =
            {"A ", role, " must be an integer, but got a ",
             number->is_scalar()   ? "scalar"
             : number->is_tensor() ? "tensor"
                                   : "dimension",
             " of type ", number->dtype()},
        .node = describe(number),
        .expected = {"a scalar of an integer type"},
        .found = {number->dtype()},
        .fix = {"cast a scalar to DataType.Int; the size of a dimension is ops.size(tensor, dim)"},
    });
  }
  return scalar::cast(DataType::Index, number);
}

Val* as_extent(Val* size) {
  return as_index(size, "size");
}

void check_not_negative(const Val* size, const Statement* node) {
  if (size->is_const_int() && as_int(size->value()) < 0) {
    throw UserError({
        .headline = {"A size must not be negative, but is ", size->to_inline_string()},
        .node = describe(node),
        .expected = {"at least 0"},
        .found = {size->to_inline_string()},
        .fix = {"give the number of elements; -1 only has a meaning for reshape and expand"},
    });
  }
}

} // namespace nvfuser::ops
