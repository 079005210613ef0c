#include "lower/passes/register_arrays.h"

#include "eval/simplify.h"
#include "ir/dependencies.h"
#include "ir/scopes.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

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

void check_register_arrays(Kernel& kernel) {
  for_each_node(kernel.body, [&](const Expr& expr) {
    const auto* allocate = expr.as<Allocate>();
    if (allocate == nullptr || allocate->memory_type != MemoryType::Local ||
        allocate->size->is_const()) {
      return;
    }
    const TensorView* tensor = allocate->buffer;
    throw UserError({
        .headline = {"A tensor in registers needs a constant size"},
        .node = {describe(tensor)},
        .expected =
            {"constant extents right of its compute-at position (", tensor->compute_at_position(),
             ")"},
        .found = {"size ", kernel.simplifier->simplify(allocate->size)->to_inline_string()},
        .fix = {"inline it deeper, or put it in shared memory"},
    });
  });
}

void unroll_register_loops(Kernel& kernel) {
  for_each_node(kernel.body, [](Expr& expr) {
    if (auto* loop = expr.as<ForLoop>()) {
      loop->is_unrolled = loop->is_unrolled || (!loop->is_parallel && addresses_registers(*loop));
    }
  });
}

} // namespace nvfuser
