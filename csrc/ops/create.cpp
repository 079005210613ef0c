#include "ops/create.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "ir/create.h"
#include "ir/scalar.h"
#include "ops/binary.h"
#include "ops/cast.h"
#include "ops/operands.h"
#include "ops/promotion.h"
#include "ops/shape.h"
#include "ops/unary.h"

namespace nvfuser::ops {

namespace {

/// start or step of an iota: of the same class of numbers as its elements, and their dtype then.
Val* iota_parameter(const char* name, Val* value, int64_t otherwise, DataType dtype) {
  Fusion& fusion = Fusion::active();
  if (value == nullptr) {
    return fusion.new_constant(otherwise, dtype);
  }
  fusion_for({value});
  NVF_NODE_CHECK(
      same_number_class(value->dtype(), dtype), value, "iota: ", name,
      " dtype does not match specified dtype argument, should be ", dtype, " but get ",
      value->dtype());
  return scalar::cast(dtype, value);
}

bool is_finite(const Val* value) {
  return !value->is_const() || std::isfinite(as_double(value->value()));
}

/// ceil((end - start) / step) of constants. Integers are not rounded to floating point on the way.
int64_t constant_arange_length(const Val* start, const Val* end, const Val* step) {
  const auto check_sign = [](bool is_consistent) {
    NVF_USER_CHECK(
        is_consistent, "arange: upper bound and larger bound inconsistent with step sign");
  };
  if (is_integral(start->dtype()) && is_integral(end->dtype()) && is_integral(step->dtype())) {
    const int64_t signed_stride = as_int(step->value());
    const bool is_up = signed_stride > 0;
    int64_t distance = 0;
    NVF_USER_CHECK(
        !__builtin_sub_overflow(
            as_int((is_up ? end : start)->value()), as_int((is_up ? start : end)->value()),
            &distance),
        "arange: the number of elements does not fit into 64 bits: from ",
        start->to_inline_string(), " to ", end->to_inline_string());
    check_sign(distance >= 0);
    const auto count = static_cast<uint64_t>(distance);
    const uint64_t stride =
        is_up ? static_cast<uint64_t>(signed_stride) : -static_cast<uint64_t>(signed_stride);
    return static_cast<int64_t>(count / stride + (count % stride == 0 ? 0 : 1));
  }
  NVF_USER_CHECK(
      is_finite(start) && is_finite(end) && is_finite(step),
      "arange: start, end, step must be finite numbers.");
  const double distance = as_double(end->value()) - as_double(start->value());
  const double count = std::ceil(distance / as_double(step->value()));
  check_sign(count >= 0);
  NVF_USER_CHECK(
      count < 0x1p63, "arange: the number of elements does not fit into 64 bits: ", count);
  return static_cast<int64_t>(count);
}

/// ceil((end - start) / step) as an extent.
Val* arange_length(Val* start, Val* end, Val* step) {
  if (start->is_const() && end->is_const() && step->is_const()) {
    return Fusion::active().new_index(constant_arange_length(start, end, step));
  }
  Val* distance = abs(sub(end, start));
  Val* stride = abs(step); // ceilDiv is for numbers that are not negative
  if (is_integral(distance->dtype()) && is_integral(stride->dtype())) {
    return ceilDiv(distance, stride);
  }
  return cast(ceil(truediv(distance, stride)), DataType::Index);
}

} // namespace

IterDomains factory_axes(const std::vector<Val*>& shape) {
  std::vector<Val*> extents;
  for (Val* size : shape) {
    NVF_NODE_CHECK(
        !size->is_const() || is_integral(size->dtype()), size,
        "Expected int extent argument to factory function but found constant value ",
        size->to_inline_string());
    check_not_negative(size, size);
    extents.push_back(as_extent(size));
  }
  Fusion& fusion = Fusion::active();
  IterDomains axes;
  for (Val* extent : extents) {
    IterDomainSpec spec{.extent = extent};
    if (extent->is_const_int(1)) {
      spec.iter_type = IterType::Broadcast;
    } else if (!extent->is_const_int()) {
      spec.iter_type = IterType::Symbolic;
    }
    axes.push_back(fusion.new_iter_domain(spec));
  }
  return axes;
}

TensorView* full(const std::vector<Val*>& shape, Val* fill_value, DataType dtype) {
  fusion_for(shape);
  Fusion& fusion = fusion_for({fill_value});
  Val* element = cast_constant(fill_value, dtype);
  TensorView* out = new_tensor(factory_axes(shape), dtype);
  fusion.make<FullOp>({.out = out, .shape = out->shape(), .fill_value = element});
  return out;
}

TensorView* zeros(const std::vector<Val*>& shape, DataType dtype) {
  return full(shape, Fusion::active().new_constant(int64_t{0}, dtype), dtype);
}

TensorView* ones(const std::vector<Val*>& shape, DataType dtype) {
  return full(shape, Fusion::active().new_constant(int64_t{1}, dtype), dtype);
}

TensorView* full_like(TensorView* arg, Val* fill_value, DataType dtype) {
  fusion_for({arg});
  return full(arg->shape(), fill_value, dtype == DataType::Null ? arg->dtype() : dtype);
}

TensorView* zeros_like(TensorView* arg) {
  fusion_for({arg});
  return zeros(arg->shape(), arg->dtype());
}

TensorView* ones_like(TensorView* arg) {
  fusion_for({arg});
  return ones(arg->shape(), arg->dtype());
}

TensorView* iota(Val* length, Val* start, Val* step, DataType dtype) {
  Fusion& fusion = fusion_for({length});
  NVF_NODE_CHECK(
      is_integral(length->dtype()), length, "length must be integer, but get dtype ",
      length->dtype());
  NVF_USER_CHECK(
      is_integral(dtype) || is_floating_point(dtype),
      "iota: dtype must be an integer or a float, but got ", dtype);
  start = iota_parameter("start", start, 0, dtype);
  step = iota_parameter("step", step, 1, dtype);
  NVF_USER_CHECK(
      is_finite(length) && is_finite(start) && is_finite(step),
      "iota: length, start, step must be finite numbers.");
  NVF_USER_CHECK(!step->is_zero(), "iota: step value must not equal zero.");
  const IterDomains axes = factory_axes({length});
  TensorView* out = new_tensor(axes, dtype);
  fusion.make<IotaOp>({.out = out, .length = axes.front()->extent(), .start = start, .step = step});
  return out;
}

TensorView* arange(Val* start, Val* end, Val* step, DataType dtype) {
  Fusion& fusion = fusion_for({end});
  start = start == nullptr ? fusion.new_constant(int64_t{0}, end->dtype()) : start;
  step = step == nullptr ? fusion.new_constant(int64_t{1}, end->dtype()) : step;
  fusion_for({start, step});
  NVF_USER_CHECK(!step->is_zero(), "arange: step value must not equal zero.");
  Val* length = as_extent(arange_length(start, end, step));
  return iota(length, scalar::cast(dtype, start), scalar::cast(dtype, step), dtype);
}

TensorView* eye(Val* rows, Val* columns, DataType dtype) {
  Fusion& fusion = fusion_for({rows});
  columns = columns == nullptr ? rows : columns;
  fusion_for({columns});
  const IterDomains axes = factory_axes({rows, columns});
  TensorView* out = new_tensor(axes, dtype);
  fusion.make<EyeOp>({.out = out, .rows = axes[0]->extent(), .columns = axes[1]->extent()});
  return out;
}

TensorView* tensor(
    const std::vector<Val*>& elements, const std::vector<int64_t>& shape, DataType dtype) {
  Fusion& fusion = fusion_for(elements);
  NVF_USER_CHECK(!elements.empty(), "tensor: a tensor of given elements has at least one element.");
  const int64_t count =
      std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  NVF_USER_CHECK(
      count == static_cast<int64_t>(elements.size()), "tensor: the shape holds ", count,
      " elements, but ", elements.size(), " are given.");
  if (dtype == DataType::Null) {
    dtype = elements.front()->dtype();
    for (const Val* element : elements) {
      dtype = promote_pair(dtype, element->dtype());
    }
  }
  std::vector<Val*> sizes;
  for (const int64_t size : shape) {
    sizes.push_back(fusion.new_index(size));
  }
  std::vector<Val*> converted;
  for (Val* element : elements) {
    converted.push_back(cast_constant(element, dtype));
  }
  TensorView* out = new_tensor(factory_axes(sizes), dtype);
  fusion.make<TensorConstruct>({.out = out, .elements = converted});
  return out;
}

} // namespace nvfuser::ops
