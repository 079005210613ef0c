#include "ops/operands.h"

#include <algorithm>

#include "ir/scalar.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

void check_buildable(const IterDomain* axis) {
  const ParallelType type = axis->parallel_type();
  if (type != ParallelType::Serial && !axis->is_stream() && !axis->is_device_dim()) {
    throw UserError({
        .headline = {type, " is not expected when building ops."},
        .node = describe(axis),
        .expected = {"a dimension that is serial, stream or device parallel"},
        .found = {type},
        .fix = {"define the operations before the schedule"},
    });
  }
}

/// Iteration wins over Symbolic, Symbolic over Broadcast.
int iter_type_strength(IterType type) {
  switch (type) {
    case IterType::Broadcast: return 0;
    case IterType::Symbolic: return 1;
    default: return 2;
  }
}

/// What readers see of an axis that its producer writes in an unusual way.
IterType read_as(IterType type) {
  return type == IterType::GatherScatter || type == IterType::VectorComponent ? IterType::Iteration
                                                                              : type;
}

} // namespace

Fusion& fusion_for(const std::vector<Val*>& operands) {
  Fusion& fusion = Fusion::active();
  for (const Val* operand : operands) {
    if (operand == nullptr) {
      throw UserError("An operand is missing: expected a value, but got None.", ErrorKind::Type);
    }
    fusion.check_contains(operand);
  }
  return fusion;
}

Val* number(double value) {
  return Fusion::active().new_constant(value, DataType::Double);
}

IterDomains shape_axes(const TensorView* tv) {
  return TensorDomain::no_reductions(tv->logical());
}

IterDomainSpec copied_spec(const IterDomain* axis) {
  check_buildable(axis);
  IterDomainSpec spec = axis->spec();
  spec.iter_type = read_as(spec.iter_type);
  spec.is_rfactor = false;
  spec.is_padded = false;
  spec.padded_to_size.reset();
  spec.is_clustered = false;
  return spec;
}

IterDomain* copy_axis(const IterDomain* axis, bool as_rfactor) {
  IterDomainSpec spec = copied_spec(axis);
  spec.is_rfactor = as_rfactor;
  if (as_rfactor && axis->has_expanded_extent()) {
    spec.extent = axis->expanded_extent();
    spec.expanded_extent = nullptr;
    spec.iter_type = IterType::Iteration;
  }
  return Fusion::active().new_iter_domain(spec);
}

IterDomain* new_broadcast_axis() {
  Fusion& fusion = Fusion::active();
  return fusion.new_iter_domain({.extent = fusion.one(), .iter_type = IterType::Broadcast});
}

TensorView* new_tensor(const IterDomains& logical, DataType dtype) {
  TensorDomainSpec spec;
  spec.logical = logical;
  return new_tensor(std::move(spec), dtype);
}

TensorView* new_tensor(TensorDomainSpec spec, DataType dtype) {
  spec.contiguity = TensorDomain::contiguity_filled_with(
      spec.allocation.empty() ? spec.logical : spec.allocation, true);
  Fusion& fusion = Fusion::active();
  return fusion.new_tensor(fusion.new_tensor_domain(std::move(spec)), dtype);
}

TensorView* new_tensor_like(const TensorView* tv, DataType dtype) {
  IterDomains axes;
  for (const IterDomain* axis : shape_axes(tv)) {
    axes.push_back(copy_axis(axis));
  }
  return new_tensor(axes, dtype);
}

std::vector<Val*> broadcast_together(const std::vector<Val*>& operands) {
  int64_t rank = 0;
  for (const Val* operand : operands) {
    if (operand->is_tensor()) {
      rank = std::max(rank, static_cast<const TensorView*>(operand)->rank());
    }
  }
  std::vector<Val*> result;
  for (Val* operand : operands) {
    if (operand->is_tensor()) {
      auto* tv = static_cast<TensorView*>(operand);
      std::vector<bool> flags(static_cast<size_t>(rank), false);
      std::fill_n(flags.begin(), rank - tv->rank(), true);
      operand = broadcast(tv, flags);
    }
    result.push_back(operand);
  }
  return result;
}

Val* new_result(const std::vector<Val*>& operands, DataType dtype) {
  std::vector<IterDomains> axes_of_tensors;
  for (const Val* operand : operands) {
    if (operand->is_tensor()) {
      axes_of_tensors.push_back(shape_axes(static_cast<const TensorView*>(operand)));
    }
  }
  if (axes_of_tensors.empty()) {
    return Fusion::active().new_scalar(dtype);
  }
  IterDomains logical;
  for (size_t dim = 0; dim < axes_of_tensors.front().size(); ++dim) {
    IterDomains axes;
    for (const IterDomains& tensor_axes : axes_of_tensors) {
      axes.push_back(tensor_axes.at(dim));
    }
    logical.push_back(result_axis(axes));
  }
  return new_tensor(logical, dtype);
}

IterDomain* result_axis(const IterDomains& axes) {
  IterDomainSpec spec;
  spec.iter_type = IterType::Broadcast;
  Val* symbolic_extent = nullptr;
  for (const IterDomain* axis : axes) {
    check_buildable(axis);
    const IterType type = read_as(axis->iter_type());
    if (iter_type_strength(type) > iter_type_strength(spec.iter_type)) {
      spec.iter_type = type;
    }
    if (type == IterType::Broadcast) {
      spec.expanded_extent = agreed_extent(spec.expanded_extent, axis->expanded_extent());
    } else if (type == IterType::Symbolic) {
      symbolic_extent = agreed_extent(symbolic_extent, axis->extent());
    } else {
      spec.extent = agreed_extent(spec.extent, axis->extent());
    }
    if (spec.parallel_type == ParallelType::Serial) {
      spec.parallel_type = axis->parallel_type();
    }
  }
  if (spec.extent == nullptr) {
    spec.extent = symbolic_extent;
  }
  if (spec.extent == nullptr) {
    spec.extent = Fusion::active().one();
  } else if (spec.expanded_extent != nullptr) {
    spec.extent = agreed_extent(spec.extent, spec.expanded_extent);
    spec.expanded_extent = nullptr;
  }
  return Fusion::active().new_iter_domain(spec);
}

IterDomain* reduction_axis(const IterDomain* axis) {
  IterDomainSpec spec = copied_spec(axis);
  spec.iter_type = IterType::Reduction;
  return Fusion::active().new_iter_domain(spec);
}

IterDomain* block_axis(const IterDomain* axis, int64_t block_size) {
  Fusion& fusion = Fusion::active();
  IterDomainSpec spec = copied_spec(axis);
  spec.extent = scalar::div(axis->maybe_expanded_extent(), fusion.new_index(block_size));
  spec.expanded_extent = nullptr;
  return fusion.new_iter_domain(spec);
}

Val* agreed_extent(Val* a, Val* b) {
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? b : a;
  }
  if (a->is_const_int() && b->is_const_int()) {
    NVF_USER_CHECK(
        as_int(a->value()) == as_int(b->value()),
        "Expected sizes to match: ", a->to_inline_string(), " vs ", b->to_inline_string(), ".");
  }
  return !a->is_const() && b->is_const() ? b : a;
}

std::vector<int64_t> unique_axes(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> result;
  for (const int64_t axis : axes) {
    result.push_back(wrap_axis(axis, rank));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace nvfuser::ops
