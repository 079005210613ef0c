#include "ops/operands.h"

#include <algorithm>

#include "ir/scalar.h"
#include "ops/shape.h"

namespace nvfuser::ops {

namespace {

void check_buildable(const IterDomain* axis) {
  const ParallelType type = axis->parallel_type();
  if (type != ParallelType::Serial && !is_outside_kernel(type)) {
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

/// The type that readers see of an axis that its producer writes in an unusual way.
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

void check_not_complex(const char* op, const Val* operand) {
  if (is_complex(operand->dtype())) {
    throw UserError({
        .headline = {op, " is not defined for complex numbers"},
        .node = describe(operand),
        .expected = {"a real or integer type"},
        .found = {operand->dtype()},
        .fix = {"apply it to ops.abs, ops.real or ops.imag"},
    });
  }
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

IterDomains copy_axes(const IterDomains& axes) {
  IterDomains copies;
  for (const IterDomain* axis : axes) {
    copies.push_back(copy_axis(axis));
  }
  return copies;
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
  return new_tensor(copy_axes(shape_axes(tv)), dtype);
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
      spec.expanded_extent = agreed_extent(spec.expanded_extent, axis->expanded_extent(), axis);
    } else if (type == IterType::Symbolic) {
      if (!axis->extent()->is_one()) { // of size 1 it will be a broadcast
        symbolic_extent = agreed_extent(symbolic_extent, axis->extent(), axis);
      }
    } else {
      spec.extent = agreed_extent(spec.extent, axis->extent(), axis);
    }
    if (spec.parallel_type == ParallelType::Serial) {
      spec.parallel_type = axis->parallel_type();
    }
  }
  if (spec.extent == nullptr) {
    spec.extent = symbolic_extent;
  }
  if (spec.expanded_extent != nullptr && spec.iter_type != IterType::Broadcast) {
    const auto expanded = std::find_if(axes.begin(), axes.end(), [](const IterDomain* axis) {
      return axis->has_expanded_extent();
    });
    spec.extent = agreed_extent(spec.extent, spec.expanded_extent, *expanded);
    spec.expanded_extent = nullptr;
  }
  if (spec.extent == nullptr) {
    spec.extent = Fusion::active().one();
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
  const Val* extent = axis->maybe_expanded_extent();
  if (extent->is_const_int() && as_int(extent->value()) % block_size != 0) {
    throw UserError({
        .headline =
            {"Blocks of ", block_size, " elements do not divide a dimension of size ",
             extent->to_inline_string()},
        .node = describe(axis),
        .expected = {"a multiple of ", block_size},
        .found = {extent->to_inline_string()},
        .fix = {"pad the dimension to whole blocks (ops.pad)"},
    });
  }
  spec.extent = scalar::div(axis->maybe_expanded_extent(), fusion.new_index(block_size));
  spec.expanded_extent = nullptr;
  return fusion.new_iter_domain(spec);
}

Val* agreed_extent(Val* a, Val* b, const Statement* node) {
  if (a == nullptr || b == nullptr) {
    return a == nullptr ? b : a;
  }
  if (a->is_const_int() && b->is_const_int() && as_int(a->value()) != as_int(b->value())) {
    throw UserError({
        .headline =
            {"Expected sizes to match: ", a->to_inline_string(), " vs ", b->to_inline_string(),
             "."},
        .node = node == nullptr ? Part::none() : Part(describe(node)),
        .expected = {"size ", a->to_inline_string(), ", or a dimension of size 1"},
        .found = {"size ", b->to_inline_string()},
        .fix = {"dimensions meet from the right; only those defined with size 1 are broadcast"},
    });
  }
  return !a->is_const() && b->is_const() ? b : a;
}

int64_t wrap_dim(const TensorView* tv, int64_t dim) {
  return wrap_axis(dim, tv->rank(), tv);
}

std::vector<int64_t> unique_dims(const TensorView* tv, const std::vector<int64_t>& dims) {
  std::vector<int64_t> result;
  for (const int64_t dim : dims) {
    result.push_back(wrap_dim(tv, dim));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace nvfuser::ops
