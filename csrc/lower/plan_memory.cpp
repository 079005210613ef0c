#include "lower/plan_memory.h"

#include <algorithm>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/parallel_dims.h"
#include "lower/rewrite_elements.h"

namespace nvfuser {
namespace {

constexpr int64_t kAlignment = 16; // bytes: the widest vector access

Val* aligned(Kernel& kernel, Val* bytes) {
  Val* unit = kernel.new_index(kAlignment);
  return scalar::mul(scalar::ceil_div(bytes, unit), unit);
}

/// One value of every thread; of Welford's a triple and its weight.
Val* reduction_scratch(Kernel& kernel, const BlockReduction& reduction) {
  int64_t bytes_per_thread = reduction.is_welford ? 8 : 0;
  for (const Val* in : reduction.outs) {
    bytes_per_thread += std::max<int64_t>(size_bytes(in->dtype()), reduction.is_welford ? 8 : 1);
  }
  Val* bytes = kernel.new_index(bytes_per_thread);
  for (const ParallelType type : kBlockDimTypes) {
    bytes = scalar::mul(bytes, launched_extent(kernel, type));
  }
  return bytes;
}

void check_register_array(const Kernel& kernel, const Allocate& allocate) {
  if (allocate.size->is_const()) {
    return;
  }
  const TensorView* tensor = allocate.buffer;
  throw UserError({
      .headline = {"A tensor in registers needs a constant size"},
      .node = {describe(tensor)},
      .expected =
          {"constant extents right of its compute-at position (", tensor->compute_at_position(),
           ")"},
      .found = {"size ", kernel.simplifier->simplify(allocate.size)->to_inline_string()},
      .fix = {"inline it deeper, or put it in shared memory"},
  });
}

bool addresses_registers(const ForLoop& loop) {
  bool found = false;
  for_each_node(loop.body, [&](const Expr& expr) {
    for_each_element(expr, [&](const TensorIndex& element) {
      found = found || (element.view()->memory_type() == MemoryType::Local &&
                        depends_on(element.index(), loop.index));
    });
  });
  return found;
}

} // namespace

void plan_memory(Kernel& kernel) {
  Val* offset = kernel.zero();
  Val* scratch = nullptr;
  std::vector<BlockReduction*> reductions;
  for_each_node(kernel.body, [&](Expr& expr) {
    if (auto* allocate = expr.as<Allocate>()) {
      if (allocate->memory_type == MemoryType::Shared) {
        allocate->address = offset;
        Val* bytes =
            scalar::mul(allocate->size, kernel.new_index(size_bytes(allocate->buffer->dtype())));
        offset = scalar::add(offset, aligned(kernel, bytes));
      } else if (allocate->memory_type == MemoryType::Local) {
        check_register_array(kernel, *allocate);
      }
    } else if (auto* reduction = expr.as<BlockReduction>()) {
      reductions.push_back(reduction);
      Val* bytes = reduction_scratch(kernel, *reduction);
      scratch = scratch == nullptr ? bytes : scalar::max(scratch, bytes);
    }
  });
  for (BlockReduction* reduction : reductions) {
    reduction->workspace_offset = offset;
  }
  if (scratch != nullptr) {
    offset = scalar::add(offset, aligned(kernel, scratch));
  }
  kernel.launch.shared_bytes = offset->is_zero() ? nullptr : offset;
}

void unroll_register_loops(Kernel& kernel) {
  for_each_node(kernel.body, [](Expr& expr) {
    if (auto* loop = expr.as<ForLoop>()) {
      loop->is_unrolled = loop->is_unrolled || (!loop->is_parallel && addresses_registers(*loop));
    }
  });
}

} // namespace nvfuser
