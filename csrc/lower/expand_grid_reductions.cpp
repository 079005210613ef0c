#include "lower/expand_grid_reductions.h"

#include "ir/scalar.h"
#include "lower/parallel_dims.h"

namespace nvfuser {
namespace {

class GridReductionExpander {
 public:
  GridReductionExpander(Kernel& kernel, const GridReduction& reduction)
      : kernel_(kernel), reduction_(reduction) {}

  [[nodiscard]] Scope expand() {
    Scope statements = store_partials();
    statements.push_back(
        kernel_.make<GridSync>(reduction_.reduced_dims, reduction_.sync_buffer));
    Scope combine = combine_partials();
    if (reduction_.allreduce) {
      statements.insert(statements.end(), combine.begin(), combine.end());
      return statements;
    }
    Val* is_first = nullptr;
    for (const int64_t dim : reduction_.reduced_dims) {
      is_first = scalar::logical_and(
          is_first, scalar::eq(kernel_.parallel_index(grid_type(dim)), kernel_.zero()));
    }
    kernel_.make<UnaryOp>(
        reduction_.is_last, scalar::logical_not(is_first), UnaryOpType::LogicalNot);
    statements.push_back(kernel_.make<IfThenElse>(is_first, combine));
    return statements;
  }

 private:
  static ParallelType grid_type(int64_t dim) {
    return kGridDimTypes[static_cast<size_t>(dim)];
  }

  /// Where a block's partial result lies: [entrance, block, thread], x fastest. `block_index` gives
  /// the index of a grid dimension.
  template <typename BlockIndex>
  Val* slot(const BlockIndex& block_index) {
    Val* slot = reduction_.entrance == nullptr ? kernel_.zero() : reduction_.entrance;
    for (const auto& types : {kGridDimTypes, kBlockDimTypes}) {
      for (size_t i = types.size(); i-- > 0;) {
        const Val* launched = kernel_.launch.extents[thread_type_index(types[i])];
        if (launched != nullptr && !launched->is_one()) {
          slot = scalar::add(
              scalar::mul(slot, launched_extent(kernel_, types[i])), block_index(types[i]));
        }
      }
    }
    return slot;
  }

  Scope store_partials() {
    Val* own = slot([&](ParallelType type) { return kernel_.parallel_index(type); });
    Scope contribute;
    Scope abstain;
    for (size_t i = 0; i < reduction_.ins.size(); ++i) {
      TensorIndex* partial = kernel_.new_tensor_index(reduction_.work_buffers[i], own);
      TensorIndex* neutral = kernel_.new_tensor_index(reduction_.work_buffers[i], own);
      contribute.push_back(
          kernel_.make<LoadStoreOp>(partial, reduction_.ins[i], LoadStoreOpType::Set));
      abstain.push_back(
          kernel_.make<LoadStoreOp>(neutral, reduction_.inits[i], LoadStoreOpType::Set));
    }
    if (reduction_.read_predicate == nullptr) {
      return contribute;
    }
    return {kernel_.make<IfThenElse>(reduction_.read_predicate, contribute, abstain)};
  }

  Scope combine_partials() {
    std::array<Val*, 3> loop_index{};
    Scope body;
    for (const int64_t dim : reduction_.reduced_dims) {
      loop_index[static_cast<size_t>(dim)] = kernel_.new_scalar(DataType::Index);
    }
    Val* other = slot([&](ParallelType type) -> Val* {
      if (is_block_dim(type)) {
        const size_t dim = static_cast<size_t>(type) - static_cast<size_t>(ParallelType::BIDx);
        if (loop_index[dim] != nullptr) {
          return loop_index[dim];
        }
      }
      return kernel_.parallel_index(type);
    });
    std::vector<Val*> partials;
    for (TensorView* work : reduction_.work_buffers) {
      partials.push_back(kernel_.new_tensor_index(work, other));
    }
    std::vector<Val*> outs; // fresh: a value has one definition
    for (const Val* out : reduction_.outs) {
      const auto* element = static_cast<const TensorIndex*>(out);
      outs.push_back(kernel_.new_tensor_index(element->view(), element->index()));
    }
    if (reduction_.is_welford) {
      body = {kernel_.make<WelfordOp>(
          outs[0], outs[1], outs[2], partials[0], partials[1], partials[2], reduction_.inits[0],
          reduction_.inits[1], reduction_.inits[2])};
    } else {
      body = {kernel_.make<BinaryOp>(outs[0], outs[0], partials[0], reduction_.op)};
    }
    for (const int64_t dim : reduction_.reduced_dims) { // x innermost: the order of blocks
      Val* extent = launched_extent(kernel_, grid_type(dim));
      body = {kernel_.make<ForLoop>(
          loop_index[static_cast<size_t>(dim)], kernel_.new_iter_domain(extent), kernel_.zero(),
          extent, kernel_.one(), false, false, false, false, body)};
    }
    return body;
  }

  Kernel& kernel_;
  const GridReduction& reduction_;
};

} // namespace

void expand_grid_reductions(Kernel& kernel, Scope& scope) {
  Scope result;
  for (Expr* expr : scope) {
    if (auto* reduction = expr->as<GridReduction>()) {
      const Scope statements = GridReductionExpander(kernel, *reduction).expand();
      kernel.remove(reduction);
      result.insert(result.end(), statements.begin(), statements.end());
      continue;
    }
    if (auto* loop = expr->as<ForLoop>()) {
      expand_grid_reductions(kernel, loop->body);
    } else if (auto* branch = expr->as<IfThenElse>()) {
      expand_grid_reductions(kernel, branch->then_body);
      expand_grid_reductions(kernel, branch->else_body);
    }
    result.push_back(expr);
  }
  scope = std::move(result);
}

} // namespace nvfuser
