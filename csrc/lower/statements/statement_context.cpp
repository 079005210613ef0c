#include "lower/statements/statement_context.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "graph/pair_graph.h"
#include "graph/storage.h"
#include "lower/analysis/memory_layout.h"

namespace nvfuser {
namespace {

/// The vectorized loop of a statement, nullptr if it is scalar.
const Loop* vector_loop(const LoopNest& nest) {
  for (const Loop* loop : nest) {
    if (loop->parallel_type == ParallelType::Vectorize) {
      return loop;
    }
  }
  return nullptr;
}

bool is_operand(const TensorView* tensor, const TensorView* of) {
  const std::vector<TensorView*> operands = of->producers();
  return std::find(operands.begin(), operands.end(), tensor) != operands.end();
}

} // namespace

StatementContext::StatementContext(
    Kernel& kernel, const LoopNest& nest, const TensorView* out, IndexWalk::Shared& walks)
    : kernel(kernel),
      out(out),
      walk(kernel, *kernel.simplifier, nest, out, vector_loop(nest), walks) {}

TensorIndex* StatementContext::element(TensorView* tensor) {
  if (TensorView* storage = buffer_of(tensor); storage != tensor) {
    const IterDomains axes = TensorDomain::no_reductions(tensor->logical());
    IndexWalk::Positions positions;
    for (size_t i = 0; i < axes.size(); ++i) {
      positions.emplace_back(storage->logical().at(i), walk.index_of(axes[i], tensor));
    }
    return element_at(storage, positions);
  }
  if (is_operand(tensor, out) && is_resized_apart(tensor, out)) {
    const PairwiseDomainMap map(tensor, out);
    IndexWalk::Positions positions;
    for (const auto& [id, out_id] : map.pairs()) {
      positions.emplace_back(id, id->is_broadcast() ? kernel.zero() : walk.index_of(out_id, out));
    }
    return element_at(tensor, positions);
  }
  return kernel.new_tensor_index(tensor, element_offset(kernel, *kernel.simplifier, walk, tensor));
}

TensorIndex* StatementContext::element_at(
    TensorView* tensor, const IndexWalk::Positions& positions) {
  IndexWalk from_positions = walk.at(tensor, positions);
  return kernel.new_tensor_index(
      tensor, element_offset(kernel, *kernel.simplifier, from_positions, tensor));
}

TensorIndex* StatementContext::result(Val* result) {
  return element(static_cast<TensorView*>(result));
}

Val* StatementContext::operand(Val* val) {
  return val->is_tensor() ? element(static_cast<TensorView*>(val)) : val;
}

Expr* StatementContext::copy_to(TensorView* tensor, Val* value) {
  return kernel.make<LoadStoreOp>(
      {.out = element(tensor), .arg = value, .op = LoadStoreOpType::Set});
}

} // namespace nvfuser
