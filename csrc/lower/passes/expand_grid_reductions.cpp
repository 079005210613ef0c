#include "lower/passes/expand_grid_reductions.h"

#include <algorithm>

#include "ir/scalar.h"
#include "lower/analysis/parallel_dims.h"

namespace nvfuser {
namespace {

class GridReductionExpander {
 public:
  GridReductionExpander(Kernel& kernel, const GridReduction& reduction)
      : kernel_(kernel), reduction_(reduction) {}

  [[nodiscard]] Scope expand() {
    Scope statements = store_partials();
    statements.push_back(grid_sync());
    Val* is_first = is_zero_in(reduction_.reduced_dims, kGridDimTypes);
    // One block folds, and one thread of it for those that hold the same value.
    Val* folds =
        scalar::logical_and(is_first, is_zero_in(reduction_.reduced_thread_dims, kBlockDimTypes));
    if (reduction_.allreduce) {
      // The folding block leaves the result where every block finds it.
      statements.push_back(kernel_.make<IfThenElse>(
          {.condition = folds, .then_body = fold_rest_into(first_partials())}));
      statements.push_back(grid_sync());
      append(statements, combine(accumulators(), first_partials()));
      return statements;
    }
    define_as(reduction_.is_last, is_first);
    Scope fold = combine(accumulators(), first_partials());
    append(fold, fold_rest_into(accumulators()));
    statements.push_back(kernel_.make<IfThenElse>(
        {.condition = reduction_.is_serial ? is_first : folds, .then_body = fold}));
    return statements;
  }

 private:
  static void append(Scope& statements, const Scope& more) {
    statements.insert(statements.end(), more.begin(), more.end());
  }

  /// Computes `val`, which conditions mention already, as `condition` is computed: its terms are
  /// found there.
  void define_as(Val* val, Val* condition) {
    const Expr* definition = condition->definition();
    if (const auto* op = definition == nullptr ? nullptr : definition->as<BinaryOp>()) {
      kernel_.make<BinaryOp>({.out = val, .lhs = op->lhs, .rhs = op->rhs, .op = op->op});
    } else {
      kernel_.make<LoadStoreOp>({.out = val, .arg = condition});
    }
  }

  Expr* grid_sync() {
    return kernel_.make<GridSync>(
        {.sync_dims = reduction_.reduced_dims, .sync_buffer = reduction_.sync_buffer});
  }

  [[nodiscard]] static bool contains(const std::vector<int64_t>& dims, size_t dim) {
    return std::find(dims.begin(), dims.end(), static_cast<int64_t>(dim)) != dims.end();
  }

  [[nodiscard]] bool is_launched(ParallelType type) const {
    const Val* launched = kernel_.launch.extents[type];
    return launched != nullptr && !launched->is_one();
  }

  Val* is_zero_in(const std::vector<int64_t>& dims, const std::array<ParallelType, 3>& types) {
    Val* condition = nullptr;
    for (const int64_t dim : dims) {
      const ParallelType type = types[static_cast<size_t>(dim)];
      if (is_launched(type)) {
        condition = scalar::logical_and(
            condition, scalar::eq(kernel_.parallel_index(type), kernel_.zero()));
      }
    }
    return condition == nullptr ? kernel_.true_val() : condition;
  }

  /// Where a partial result lies: [entrance, block, thread], x fastest. `index_of(type)` gives the
  /// index of a block or thread dimension.
  template <typename IndexOf>
  Val* slot(const IndexOf& index_of) {
    Val* slot = reduction_.entrance == nullptr ? kernel_.zero() : reduction_.entrance;
    for (const auto& types : {kGridDimTypes, kBlockDimTypes}) {
      for (size_t i = types.size(); i-- > 0;) {
        if (is_launched(types[i])) {
          slot = scalar::add(
              scalar::mul(slot, launched_extent(kernel_, types[i])), index_of(types[i]));
        }
      }
    }
    return slot;
  }

  std::vector<Val*> partials_at(Val* slot) {
    std::vector<Val*> partials;
    for (TensorView* work : reduction_.work_buffers) {
      partials.push_back(kernel_.new_tensor_index(work, slot));
    }
    return partials;
  }

  /// Those of the segment's first block (and first thread, of those with equal values).
  std::vector<Val*> first_partials() {
    return partials_at(slot([&](ParallelType type) -> Val* {
      const auto dim = static_cast<size_t>(traits_of(type).dim);
      const bool is_reduced = contains(
          is_grid_dim(type) ? reduction_.reduced_dims : reduction_.reduced_thread_dims, dim);
      return is_reduced ? kernel_.zero() : kernel_.parallel_index(type);
    }));
  }

  /// Fresh elements, since a value has one definition.
  std::vector<Val*> accumulators() {
    std::vector<Val*> outs;
    for (const Val* out : reduction_.outs) {
      const auto* element = static_cast<const TensorIndex*>(out);
      outs.push_back(kernel_.new_tensor_index(element->view(), element->index()));
    }
    return outs;
  }

  Scope combine(const std::vector<Val*>& outs, const std::vector<Val*>& ins) {
    Scope statements;
    for (size_t i = 0; reduction_.is_welford && i < outs.size(); i += 3) {
      statements.push_back(kernel_.make<WelfordOp>(
          {.out_avg = outs[i],
           .out_var = outs[i + 1],
           .out_n = outs[i + 2],
           .in_avg = ins[i],
           .in_var = ins[i + 1],
           .in_n = ins[i + 2],
           .init_avg = reduction_.inits[i],
           .init_var = reduction_.inits[i + 1],
           .init_n = reduction_.inits[i + 2]}));
    }
    for (size_t i = 0; !reduction_.is_welford && i < outs.size(); ++i) {
      const auto* element = static_cast<const TensorIndex*>(outs[i]);
      statements.push_back(kernel_.make<BinaryOp>(
          {.out = outs[i],
           .lhs = kernel_.new_tensor_index(element->view(), element->index()),
           .rhs = ins[i],
           .op = reduction_.ops[i]}));
    }
    return statements;
  }

  Scope store_partials() {
    Val* own = slot([&](ParallelType type) { return kernel_.parallel_index(type); });
    Scope contribute;
    Scope abstain;
    for (size_t i = 0; i < reduction_.ins.size(); ++i) {
      TensorIndex* partial = kernel_.new_tensor_index(reduction_.work_buffers[i], own);
      TensorIndex* neutral = kernel_.new_tensor_index(reduction_.work_buffers[i], own);
      contribute.push_back(kernel_.make<LoadStoreOp>(
          {.out = partial, .arg = reduction_.ins[i], .op = LoadStoreOpType::Set}));
      abstain.push_back(kernel_.make<LoadStoreOp>(
          {.out = neutral, .arg = reduction_.inits[i], .op = LoadStoreOpType::Set}));
    }
    if (reduction_.read_predicate == nullptr) {
      return contribute;
    }
    return {kernel_.make<IfThenElse>(
        {.condition = reduction_.read_predicate, .then_body = contribute, .else_body = abstain})};
  }

  /// outs = combine(outs, partial results of the segment's blocks from the second on, in order).
  Scope fold_rest_into(const std::vector<Val*>& outs) {
    Val* blocks = kernel_.one();
    for (const int64_t dim : reduction_.reduced_dims) {
      blocks =
          scalar::mul(blocks, launched_extent(kernel_, kGridDimTypes[static_cast<size_t>(dim)]));
    }
    Val* block = kernel_.new_scalar(DataType::Index);
    Val* rest = block; // of the linear index, x fastest
    std::array<Val*, 3> position{};
    for (const int64_t dim : reduction_.reduced_dims) { // sorted
      Val* extent = launched_extent(kernel_, kGridDimTypes[static_cast<size_t>(dim)]);
      const bool is_slowest = dim == reduction_.reduced_dims.back();
      position[static_cast<size_t>(dim)] = is_slowest ? rest : scalar::mod(rest, extent);
      rest = scalar::div(rest, extent);
    }
    const std::vector<Val*> others = partials_at(slot([&](ParallelType type) -> Val* {
      const auto dim = static_cast<size_t>(traits_of(type).dim);
      return is_grid_dim(type) && position[dim] != nullptr ? position[dim]
                                                           : kernel_.parallel_index(type);
    }));
    return {kernel_.make<ForLoop>(
        {.index = block,
         .iter_domain = kernel_.new_iter_domain(blocks),
         .start = kernel_.one(),
         .stop = blocks,
         .body = combine(outs, others)})};
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
