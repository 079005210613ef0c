#include "lower/passes/build_loop_nests.h"

#include <algorithm>

#include "eval/simplify.h"
#include "graph/storage.h"
#include "ir/scalar.h"
#include "lower/analysis/memory_layout.h"
#include "lower/statements/element_statements.h"
#include "lower/statements/statements.h"

namespace nvfuser {
namespace {

class NestBuilder {
 public:
  explicit NestBuilder(Kernel& kernel)
      : kernel_(kernel), model_(*kernel.loop_model), statements_(kernel) {}

  std::optional<Refusal> build() {
    for (Expr* expr : kernel_.sorted_exprs) {
      // Elements of a copy to itself stay where they are: check_in_place.
      if (!copies_to_itself(*expr) && !is_read_through(kernel_, expr)) {
        place(expr);
      }
      if (kernel_.is_refused()) {
        break;
      }
    }
    return kernel_.take_refusal();
  }

 private:
  /// A loop that statements go into now. Loops that run once have no ForLoop.
  struct Open {
    const Loop* loop;
    ForLoop* node;
  };

  void place(Expr* expr) {
    const LoopNest nest = statement_nest(kernel_, expr);
    size_t common = 0;
    while (common < open_.size() && common < nest.size() && open_[common].loop == nest[common]) {
      ++common;
    }
    open_.resize(common);
    for (Val* val : expr->outputs()) {
      allocate(static_cast<TensorView*>(val), nest);
    }
    if (is_reduction_expr(expr)) {
      initialize_reduction(expr, nest);
    } else if (auto* scan = expr->as<ScanOp>()) {
      start_scan(*scan, nest);
      if (kernel_.is_refused()) {
        return;
      }
    }
    open_to(nest, nest.size());
    for (Expr* statement : statements_.lower(expr)) {
      innermost().push_back(statement);
    }
    if (auto* scan = expr->as<ScanOp>()) {
      finish_scan(*scan, nest);
    }
  }

  /// The list of statements inside the first `depth` open loops.
  Scope& scope_at(size_t depth) {
    for (size_t i = depth; i-- > 0;) {
      if (open_[i].node != nullptr) {
        return open_[i].node->body;
      }
    }
    return kernel_.body;
  }
  Scope& innermost() {
    return scope_at(open_.size());
  }

  /// Put a statement inside the first `depth` loops, before the loop that is open there.
  void insert(size_t depth, Expr* statement) {
    Scope& scope = scope_at(depth);
    auto position = scope.end();
    for (size_t i = depth; i < open_.size(); ++i) {
      if (open_[i].node != nullptr) {
        position = std::find(scope.begin(), scope.end(), open_[i].node);
        break;
      }
    }
    scope.insert(position, statement);
  }

  void open_to(const LoopNest& nest, size_t depth) {
    while (open_.size() < depth) {
      Loop* loop = nest[open_.size()];
      ForLoop* node = make_loop(*loop);
      if (node != nullptr) {
        innermost().push_back(node);
      }
      open_.push_back({loop, node});
    }
  }

  ForLoop* make_loop(const Loop& loop) {
    // A loop that runs once is left out, unless it says where conditions are hoisted to.
    const LoopKind kind = traits_of(loop.parallel_type).loop;
    if (loop.index->is_const() && !traits_of(kind).hoists_conditions) {
      return nullptr;
    }
    return kernel_.make<ForLoop>(
        {.index = loop.index,
         .iter_domain = loop.promoted,
         .start = kernel_.zero(),
         .stop = kernel_.simplifier->simplify(loop.extent()),
         .loop_kind = kind});
  }

  void allocate(TensorView* tensor, const LoopNest& nest) {
    if (tensor->memory_type() == MemoryType::Global) {
      if (!tensor->is_fusion_output() && buffer_of(tensor) == tensor) {
        kernel_.launch.buffers.push_back({tensor, /*zero_init=*/false, /*is_output=*/false});
      }
      return;
    }
    const size_t depth = storage_depth(tensor, nest);
    Expr* statement = kernel_.make<Allocate>(
        {.buffer = tensor,
         .memory_type = tensor->memory_type(),
         .size = kernel_.simplifier->simplify(stored_elements(kernel_, tensor))});
    kernel_.origin[statement] = tensor->definition();
    if (depth <= open_.size()) {
      insert(depth, statement);
    } else {
      open_to(nest, depth);
      innermost().push_back(statement);
    }
  }

  /// Loops around the storage of a tensor: those it shares with its consumers, down to the one
  /// ahead of which it is loaded.
  [[nodiscard]] size_t storage_depth(const TensorView* tensor, const LoopNest& nest) const {
    if (const CircularLoop* circular = circular_loop_of(kernel_, tensor)) {
      return static_cast<size_t>(
          std::find(nest.begin(), nest.end(), circular->loop) - nest.begin());
    }
    return static_cast<size_t>(model_.shared_depth(tensor));
  }

  void initialize_reduction(Expr* reduction, LoopNest nest) {
    const TensorView* out = first_output(reduction);
    for (Loop* loop : model_.nest(out)) { // the lanes of grouped axes are set one by one
      if (std::find(nest.begin(), nest.end(), loop) == nest.end()) {
        nest.push_back(loop);
      }
    }
    initialize(
        nest, [&](const Loop* loop) { return is_reduced(kernel_, out, loop); },
        [&](const LoopNest& init_nest) { return statements_.initialize(reduction, init_nest); });
  }

  void start_scan(ScanOp& scan, const LoopNest& nest) {
    for (const StatementBuilder::ScanStart& start : statements_.start_scan(scan, nest)) {
      const auto is_outlived = [&](const Loop* loop) {
        return std::find(start.outlived.begin(), start.outlived.end(), loop) !=
               start.outlived.end();
      };
      const auto first =
          static_cast<size_t>(std::find_if(nest.begin(), nest.end(), is_outlived) - nest.begin());
      open_to(nest, first);
      for (Expr* allocate : start.allocations) {
        insert(first, allocate);
      }
      initialize(nest, is_outlived, [&](const LoopNest&) -> Scope { return {start.initial}; });
    }
  }

  /// The part of a scan over threads that follows the loops over a thread's items, which stay open
  /// for what does not depend on it.
  void finish_scan(ScanOp& scan, const LoopNest& nest) {
    const ScanLoops& loops = statements_.loops_of_scan(scan);
    if (loops.thread == nullptr) {
      return;
    }
    const auto is_item = [&](const Loop* loop) {
      return std::find(loops.items.begin(), loops.items.end(), loop) != loops.items.end();
    };
    const auto first = std::find_if(nest.begin(), nest.end(), is_item);
    const LoopNest inside(first, nest.end());
    LoopNest others = inside;
    std::erase_if(others, is_item);
    Scope& after = scope_at(static_cast<size_t>(first - nest.begin()));
    append(after, in_loops(others, {statements_.scan_threads(scan)}));
    append(after, in_loops(inside, {statements_.finish_scan(scan, nest)}));
  }

  static void append(Scope& scope, const Scope& more) {
    scope.insert(scope.end(), more.begin(), more.end());
  }

  /// `statements` in new loops.
  Scope in_loops(const LoopNest& loops, Scope statements) {
    for (size_t i = loops.size(); i-- > 0;) {
      if (ForLoop* node = make_loop(*loops[i]); node != nullptr) {
        node->body = std::move(statements);
        statements = {node};
      }
    }
    return statements;
  }

  /// Put statements before the outermost loop of `nest` that combines, inside the loops that it has
  /// besides those that do.
  template <typename IsCombined, typename MakeStatements>
  void initialize(
      const LoopNest& nest, const IsCombined& is_combined, const MakeStatements& make_statements) {
    const auto first = std::find_if(nest.begin(), nest.end(), is_combined);
    const auto depth = static_cast<size_t>(first - nest.begin());
    open_to(nest, depth);
    LoopNest others(first, nest.end());
    std::erase_if(others, is_combined);
    LoopNest init_nest(nest.begin(), first);
    init_nest.insert(init_nest.end(), others.begin(), others.end());
    for (Expr* statement : in_loops(others, make_statements(init_nest))) {
      insert(depth, statement);
    }
  }

  Kernel& kernel_;
  const LoopModel& model_;
  StatementBuilder statements_;
  std::vector<Open> open_;
};

} // namespace

std::optional<Refusal> build_loop_nests(Kernel& kernel) {
  return NestBuilder(kernel).build();
}

} // namespace nvfuser
