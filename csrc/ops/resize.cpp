#include "ops/resize.h"

#include <algorithm>

#include "ir/cancelling_sum.h"
#include "ir/domain_exprs.h"
#include "ir/pointwise.h"
#include "ir/resize_exprs.h"
#include "ir/scalar.h"
#include "ops/operands.h"
#include "ops/promotion.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

/// A copy of `axis` to resize. An expanded one is an ordinary axis from here on: its elements get
/// positions of their own.
IterDomain* axis_to_resize(const IterDomain* axis) {
  IterDomainSpec spec = copied_spec(axis);
  if (axis->has_expanded_extent()) {
    spec.extent = axis->expanded_extent();
    spec.expanded_extent = nullptr;
    spec.iter_type = spec.extent->is_const_int() ? IterType::Iteration : IterType::Symbolic;
  }
  return Fusion::active().new_iter_domain(spec);
}

/// Root and logical axes of a result whose dimension i has left[i] and right[i] elements more than
/// that of the operand. `extent` is the size that this makes, where all resized dimensions have one
/// that is known; nullptr: it is summed up.
TensorDomainSpec resized_domain(
    const IterDomains& axes,
    const std::vector<Val*>& left,
    const std::vector<Val*>& right,
    Val* extent = nullptr) {
  TensorDomainSpec spec;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool is_kept = left[i]->is_zero() && right[i]->is_zero();
    spec.root.push_back(is_kept ? copy_axis(axes[i]) : axis_to_resize(axes[i]));
    spec.logical.push_back(
        is_kept ? spec.root.back()
                : resize_id(spec.root.back(), left[i], right[i], std::nullopt, true, extent));
    check_not_negative(spec.logical.back()->extent(), axes[i]);
  }
  return spec;
}

// ---- Slice --------------------------------------------------------------------------------------

/// Whether it shows that `stop` is at most `extent`.
bool is_clipped(const Val* stop, const Val* extent) {
  if (stop->is_const_int() && extent->is_const_int()) {
    return as_int(stop->value()) <= as_int(extent->value());
  }
  const auto* min = stop->definition() == nullptr ? nullptr : stop->definition()->as<BinaryOp>();
  return stop->same_as(extent) || (min != nullptr && min->op == BinaryOpType::Min &&
                                   (min->lhs->same_as(extent) || min->rhs->same_as(extent)));
}

/// min(extent, stop). A stop that is clipped already stays as it is.
Val* clipped(Val* stop, Val* extent) {
  return is_clipped(stop, extent) ? stop : scalar::min(extent, stop);
}

/// A negative position counts from the end.
Val* wrapped(Val* position, Val* extent) {
  Val* zero = Fusion::active().zero();
  return position->same_as(extent)
             ? position
             : scalar::where(scalar::lt(position, zero), scalar::add(position, extent), position);
}

/// start = max(0, start); stop = max(start, min(extent, stop)), both after wrapping.
void normalize(Val*& start, Val*& stop, Val* extent) {
  Val* zero = Fusion::active().zero();
  start = scalar::max(zero, wrapped(start, extent));
  stop = wrapped(stop, extent);
  if (start->is_zero()) { // the same, in the order that a later slice finds clipped
    stop = stop->same_as(extent) ? stop : clipped(scalar::max(zero, stop), extent);
  } else {
    stop = scalar::max(start, clipped(stop, extent));
  }
}

void check_slice_lists(size_t rank, size_t num_starts, size_t num_stops, size_t num_strides) {
  NVF_USER_CHECK(
      num_starts == num_strides,
      "Slice start_indices and strides don't match! Start Indices: ", num_starts,
      " Strides: ", num_strides);
  NVF_USER_CHECK(
      num_starts == rank,
      "Number of tensor dimensions does not match slice dimensions! Tensor-dims: ", rank,
      " Slice-dims: ", num_starts);
  NVF_USER_CHECK(
      num_starts == num_stops,
      "Slice indexing attribute dimensions don't match! Start Indices: ", num_starts,
      " End Indices: ", num_stops);
}

void check_slice_constants(const Val* start, const Val* stop, const Val* stride) {
  const auto number = [](const Val* val) { return as_int(val->value()); };
  NVF_USER_CHECK(
      !start->is_const_int() || number(start) >= 0,
      "Slice operation start_indices must be greater than or equal to 0. Start Indices: ",
      number(start));
  NVF_USER_CHECK(
      !start->is_const_int() || !stop->is_const_int() || number(stop) >= number(start),
      "Slice operation end_indices must be greater than or equal to start_indices. Start Indices: ",
      number(start), " End Indices: ", number(stop));
  NVF_USER_CHECK(
      stride->is_const_int(1),
      "nvFuser Limitation: All slice operation strides must be of const size 1. Stride: ",
      stride->to_inline_string());
}

// ---- Pad and cat --------------------------------------------------------------------------------

/// A node for `arg` with these widths, the outermost dimension first; a copy if all are zero.
/// `extent` as for resized_domain.
TensorView* pad_outermost_first(
    TensorView* arg, const std::vector<Val*>& widths, Val* value, Val* extent = nullptr) {
  std::vector<Val*> left;
  std::vector<Val*> right;
  for (size_t i = 0; i < widths.size(); i += 2) {
    left.push_back(widths[i]);
    right.push_back(widths[i + 1]);
  }
  if (std::all_of(
          widths.begin(), widths.end(), [](const Val* width) { return width->is_zero(); })) {
    return set(arg);
  }
  TensorView* out = new_tensor(resized_domain(shape_axes(arg), left, right, extent), arg->dtype());
  Fusion::active().make<PadOp>({.out = out, .arg = arg, .value = value, .widths = widths});
  return out;
}

Val* zero_of(DataType dtype) {
  return Fusion::active().new_constant(int64_t{0}, dtype);
}

/// Every tensor padded to the extent of all, or the one tensor that needs no padding. Common parts
/// of the sums of sizes are one scalar each: there are as many as tensors, not as pairs of them.
std::vector<TensorView*> padded_behind_each_other(
    const std::vector<TensorView*>& tensors, int64_t dim) {
  Fusion& fusion = Fusion::active();
  std::vector<Val*> sizes;
  for (TensorView* tensor : tensors) {
    sizes.push_back(tensor->size(dim));
  }
  std::vector<Val*> behind(sizes.size(), fusion.zero()); // the sum of the sizes after each
  for (size_t i = sizes.size() - 1; i > 0; --i) {
    behind[i - 1] = scalar::add(sizes[i], behind[i]);
  }
  Val* total = scalar::cancelling_sum(sizes); // what each padded size alone is, in the same order
  std::vector<TensorView*> padded;
  Val* before = fusion.zero();
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<Val*> widths(2 * static_cast<size_t>(tensors[i]->rank()), fusion.zero());
    widths[2 * static_cast<size_t>(dim)] = before;
    widths[2 * static_cast<size_t>(dim) + 1] = behind[i];
    padded.push_back(pad_outermost_first(tensors[i], widths, zero_of(tensors[i]->dtype()), total));
    if (!padded.back()->definition()->is_a<PadOp>()) {
      return {padded.back()};
    }
    before = scalar::add(before, sizes[i]);
  }
  return padded;
}

/// Also if it is a copy, such as a cache, of a padded tensor.
bool is_padded(const TensorView* tensor) {
  const Expr* definition = tensor->definition();
  while (definition != nullptr && definition->is_a<LoadStoreOp>()) {
    definition = definition->as<LoadStoreOp>()->arg->definition();
  }
  return definition != nullptr && definition->is_a<PadOp>();
}

} // namespace

TensorView* slice(
    TensorView* arg,
    const std::vector<Val*>& start_indices,
    const std::vector<Val*>& end_indices,
    const std::vector<Val*>& strides,
    bool manual_normalization,
    bool clip_ends) {
  NVF_NODE_CHECK(
      manual_normalization || clip_ends, arg,
      "slice: ends that are not clipped need manual_normalization=True");
  Fusion& fusion = fusion_for({arg});
  fusion_for(start_indices);
  fusion_for(end_indices);
  fusion_for(strides);
  const IterDomains axes = shape_axes(arg);
  std::vector<Val*> steps = strides;
  if (steps.empty()) {
    steps.assign(start_indices.size(), fusion.one());
  }
  check_slice_lists(axes.size(), start_indices.size(), end_indices.size(), steps.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    check_slice_constants(start_indices[i], end_indices[i], steps[i]);
  }
  std::vector<Val*> starts;
  std::vector<Val*> stops;
  std::vector<Val*> left;
  std::vector<Val*> right;
  bool is_whole = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    Val* extent = axes[i]->maybe_expanded_extent();
    Val* start = as_index(start_indices[i], "position");
    Val* stop = as_index(end_indices[i], "position");
    if (!manual_normalization) {
      normalize(start, stop, extent);
    } else if (start->is_zero() && clip_ends) {
      stop = clipped(stop, extent);
    }
    starts.push_back(start);
    stops.push_back(stop);
    steps[i] = as_index(steps[i], "stride");
    const bool is_whole_axis = start->is_zero() && stop->same_as(extent);
    left.push_back(scalar::neg(start));
    right.push_back(is_whole_axis ? fusion.zero() : scalar::sub(stop, extent));
    is_whole = is_whole && is_whole_axis;
  }
  if (is_whole) {
    return set(arg);
  }
  TensorView* out = new_tensor(resized_domain(axes, left, right), arg->dtype());
  fusion.make<SliceOp>({.out = out, .arg = arg, .starts = starts, .stops = stops, .steps = steps});
  return out;
}

bool would_clip_ends(const SliceOp& op) {
  const IterDomains axes = shape_axes(op.arg);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (op.starts[i]->is_zero() && !is_clipped(op.stops[i], axes[i]->maybe_expanded_extent())) {
      return true;
    }
  }
  return false;
}

TensorView* pad(TensorView* arg, const std::vector<Val*>& pad_widths, Val* value) {
  Fusion& fusion = fusion_for({arg});
  fusion_for(pad_widths);
  const auto rank = static_cast<size_t>(arg->rank());
  NVF_NODE_CHECK(
      pad_widths.size() <= 2 * rank, arg,
      "Number of pad widths must be at most twice the input dimension. Got ", pad_widths.size(),
      " widths for a tensor of rank ", rank);
  NVF_NODE_CHECK(
      pad_widths.size() % 2 == 0, arg,
      "Expected an even number of pad widths, left and right of each "
      "dimension, but got ",
      pad_widths.size());
  if (value == nullptr) {
    value = zero_of(arg->dtype());
  }
  fusion_for({value});
  NVF_NODE_CHECK(
      same_number_class(value->dtype(), arg->dtype()), arg,
      "Tensor arg and pad value must have the same dtype. Tensor: ", arg->dtype(),
      ", value: ", value->dtype());
  std::vector<Val*> widths(2 * rank, fusion.zero());
  for (size_t i = 0; i < pad_widths.size(); ++i) {
    const size_t dim = rank - 1 - i / 2; // the call has the innermost dimension first
    widths[2 * dim + i % 2] = as_index(pad_widths[i], "width");
  }
  return pad_outermost_first(arg, widths, value);
}

TensorView* cat(const std::vector<TensorView*>& tensors, int64_t dim, bool manual_padding) {
  NVF_USER_CHECK(!tensors.empty(), "No input tensor given");
  Fusion& fusion = fusion_for({tensors.begin(), tensors.end()});
  const TensorView* first = tensors.front();
  const int64_t rank = first->rank();
  for (const TensorView* tensor : tensors) {
    NVF_NODE_CHECK(
        tensor->dtype() == first->dtype(), tensor,
        "Can't concatenate tensors with different data types: ", first->dtype(), ", ",
        tensor->dtype());
    NVF_NODE_CHECK(
        tensor->rank() == rank, tensor, "Unexpected number of dimensions: ", tensor->to_string(),
        ", expected: ", rank);
  }
  const int64_t wrapped_dim = dim < 0 ? dim + rank : dim;
  NVF_NODE_CHECK(wrapped_dim >= 0 && wrapped_dim < rank, first, "Invalid dimension to cat: ", dim);
  if (tensors.size() == 1) {
    return set(tensors.front());
  }
  NVF_USER_CHECK(
      !manual_padding || std::all_of(tensors.begin(), tensors.end(), is_padded),
      "Expected all inputs to be padded when manual_padding is True.");
  const std::vector<TensorView*> padded =
      manual_padding ? tensors : padded_behind_each_other(tensors, wrapped_dim);
  if (padded.size() == 1) {
    return padded.front();
  }
  IterDomains logical;
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i) {
    IterDomains axes;
    for (const TensorView* tensor : padded) {
      axes.push_back(shape_axes(tensor)[i]);
    }
    logical.push_back(result_axis(axes));
  }
  TensorView* out = new_tensor(logical, first->dtype());
  fusion.make<CatOp>({.out = out, .args = padded, .dim = wrapped_dim});
  return out;
}

std::vector<TensorView*> chunk(TensorView* arg, int64_t chunks, int64_t dim) {
  Fusion& fusion = fusion_for({arg});
  NVF_NODE_CHECK(chunks > 0, arg, "chunk: the number of chunks must be positive, but got ", chunks);
  const int64_t wrapped_dim = wrap_dim(arg, dim);
  const std::vector<Val*> sizes = arg->shape();
  const Val* size = sizes[static_cast<size_t>(wrapped_dim)];
  NVF_NODE_CHECK(
      size->is_const_int(), arg,
      "chunk: the number of parts follows from the extent, which must be a "
      "constant, but is ",
      size->to_inline_string());
  const int64_t extent = as_int(size->value());
  const int64_t length = std::max<int64_t>(extent / chunks + (extent % chunks == 0 ? 0 : 1), 1);
  std::vector<TensorView*> parts;
  for (int64_t begin = 0; begin == 0 || begin < extent; begin += length) {
    std::vector<Val*> starts(sizes.size(), fusion.zero());
    std::vector<Val*> stops = sizes;
    starts[static_cast<size_t>(wrapped_dim)] = fusion.new_index(begin);
    stops[static_cast<size_t>(wrapped_dim)] = fusion.new_index(std::min(begin + length, extent));
    parts.push_back(slice(arg, starts, stops));
  }
  return parts;
}

TensorView* repeat(TensorView* arg, const std::vector<int64_t>& repeats) {
  Fusion& fusion = fusion_for({arg});
  const IterDomains axes = shape_axes(arg);
  NVF_NODE_CHECK(
      repeats.size() == axes.size(), arg, "repeat: expected one number for each of ", axes.size(),
      " dimensions, but got ", repeats.size());
  IterDomains logical;
  for (size_t i = 0; i < axes.size(); ++i) {
    NVF_NODE_CHECK(
        repeats[i] > 0, arg, "repeat: a dimension is repeated at least once, but got ", repeats[i]);
    if (repeats[i] == 1) {
      logical.push_back(copy_axis(axes[i]));
      continue;
    }
    IterDomainSpec spec = copied_spec(axes[i]);
    spec.extent = scalar::mul(axes[i]->maybe_expanded_extent(), fusion.new_index(repeats[i]));
    spec.expanded_extent = nullptr;
    spec.iter_type = spec.iter_type == IterType::Broadcast ? IterType::Iteration : spec.iter_type;
    logical.push_back(fusion.new_iter_domain(spec));
  }
  if (std::all_of(repeats.begin(), repeats.end(), [](int64_t count) { return count == 1; })) {
    return set(arg);
  }
  TensorView* out = new_tensor(logical, arg->dtype());
  fusion.make<RepeatOp>({.out = out, .arg = arg, .repeats = repeats});
  return out;
}

TensorView* view_as_real(TensorView* arg) {
  Fusion& fusion = fusion_for({arg});
  NVF_NODE_CHECK(
      is_complex(arg->dtype()), arg, "Operand of view_as_real must be complex, but has type ",
      arg->dtype());
  IterDomains logical = copy_axes(shape_axes(arg));
  IterDomain* components = fusion.new_iter_domain(
      {.extent = fusion.new_index(2), .iter_type = IterType::VectorComponent});
  logical.push_back(components);
  TensorView* out = new_tensor(
      logical, arg->dtype() == DataType::ComplexFloat ? DataType::Float : DataType::Double);
  fusion.make<ViewAsScalar>({.out = out, .arg = arg, .vector_id = components});
  return out;
}

} // namespace nvfuser::ops
