#include "lower/passes/end_loops.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "eval/simplify.h"
#include "ir/dependencies.h"
#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "ir/substitute_scalars.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/shared_loads.h"

namespace nvfuser {
namespace {

using Terms = std::vector<Val*>;

/// A loop with few iterations is written out: it loads for several of them at once.
constexpr int64_t kWrittenOut = 16;
constexpr int64_t kRegisterBytes = 4;

bool is_written_out(const ForLoop& loop) {
  return loop.stop->is_const_int() && as_int(loop.stop->value()) <= kWrittenOut;
}

/// The condition under which a statement contributes or copies an element; nullptr: none.
Val* own_condition(const Expr& statement) {
  if (const auto* reduction = statement.as<BlockReduction>()) {
    return reduction->read_predicate;
  }
  return statement.predicate();
}

/// Arrays of a thread that are larger than all of its registers. They lie in memory.
std::unordered_set<const TensorView*> arrays_beyond_registers(const Kernel& kernel) {
  std::unordered_set<const TensorView*> arrays;
  for_each_node(kernel.body, [&](const Expr& statement) {
    const auto* allocate = statement.as<Allocate>();
    if (allocate != nullptr && allocate->memory_type == MemoryType::Local &&
        allocate->size->is_const_int()) {
      const int64_t bytes = as_int(allocate->size->value()) * size_bytes(allocate->buffer->dtype());
      if (bytes > kernel.target().max_registers_per_thread * kRegisterBytes) {
        arrays.insert(allocate->buffer);
      }
    }
  });
  return arrays;
}

/// Arrays that each iteration has anew: what is in them is gone at its end.
std::unordered_set<const TensorView*> arrays_in(const ForLoop& loop) {
  std::unordered_set<const TensorView*> arrays;
  for_each_node(loop.body, [&](const Expr& statement) {
    if (const auto* allocate = statement.as<Allocate>()) {
      arrays.insert(allocate->buffer);
    }
  });
  return arrays;
}

/// Whether blocks wait for each other in the statement, or take turns.
bool is_between_blocks(const Kernel& kernel, const Expr& statement) {
  const bool has_shared_stages =
      stage_side(statement) != StageSide::None && loading_blocks(kernel) > 1;
  return has_shared_stages || statement.is_a<GridReduction>() ||
         statement.is_a<BlockSerializeWait>() || statement.is_a<BlockSerializeRelease>() ||
         !BarrierSet{Barrier::Warp, Barrier::Block}.contains(traits_of(statement).barriers);
}

bool has_part(const Scope& scope, const ForLoop& loop, CircularBufferLoopStage stage) {
  return std::ranges::any_of(scope, [&](const Expr* node) {
    const auto* other = node->as<ForLoop>();
    return other != nullptr && other->index == loop.index && other->circular_buffer_stage == stage;
  });
}

class LoopEnder {
 public:
  explicit LoopEnder(Kernel& kernel)
      : kernel_(kernel),
        simplifier_(*kernel.simplifier),
        in_memory_(arrays_beyond_registers(kernel)) {}

  void run(Scope& scope) {
    for (Expr*& node : scope) {
      for (Scope* body : bodies_of(*node)) {
        run(*body);
      }
      auto* loop = node->as<ForLoop>();
      if (loop == nullptr || loop->loop_kind != LoopKind::Serial || !loop->start->is_zero() ||
          is_written_out(*loop) || has_part(scope, *loop, CircularBufferLoopStage::Epilog) ||
          addresses_registers(*loop)) {
        continue;
      }
      if (const std::optional<End> end = find_end(*loop)) {
        ForLoop* ended = with_body(kernel_, *loop, without_term(loop->body, end->term));
        ended->stop = end->stop;
        node = ended;
      }
    }
  }

 private:
  /// `term` holds in exactly the iterations before `stop`.
  struct End {
    Val* term = nullptr;
    Val* stop = nullptr;
  };

  /// Whether something of the loop is different in each of its iterations by what register is
  /// addressed: such loops are written out, and have a fixed number of iterations.
  [[nodiscard]] bool addresses_registers(const ForLoop& loop) const {
    bool found = false;
    for_each_node(loop.body, [&](const Expr& statement) {
      for_each_element(statement, [&](const TensorIndex& element) {
        found = found ||
                (element.view()->memory_type() == MemoryType::Local &&
                 !in_memory_.contains(element.view()) && depends_on(element.index(), loop.index));
      });
    });
    return found;
  }

  std::optional<End> find_end(const ForLoop& loop) {
    Terms candidates;
    for_each_node(loop.body, [&](const Expr& node) {
      const auto* branch = node.as<IfThenElse>();
      for (Val* tested : branch == nullptr ? Terms{} : terms_of(branch->condition)) {
        Val* term = has_chains() ? weakest_in(loop, tested) : tested;
        if (depends_on(term, loop.index) && !contains_term(candidates, term)) {
          candidates.push_back(term);
        }
      }
    });
    const std::unordered_set<const TensorView*> own = arrays_in(loop);
    for (Val* term : candidates) {
      Val* stop = stop_of(loop, *term);
      if (stop != nullptr && is_idle_without(loop.body, term, own, /*is_tested=*/false)) {
        return End{term, stop};
      }
    }
    return std::nullopt;
  }

  /// A task of a processor runs through chains of sums one after the other; on a GPU, threads that
  /// pass over the end of theirs wait for others anyway.
  [[nodiscard]] bool has_chains() const {
    return !kernel_.target().is_cuda();
  }

  /// `term` in the first iterations of the loops in `loop`, if it then holds wherever it does.
  Val* weakest_in(const ForLoop& loop, Val* term) {
    const auto* test = term->definition() == nullptr ? nullptr : term->definition()->as<BinaryOp>();
    if (test == nullptr || test->op != BinaryOpType::LT || test->lhs->dtype() != DataType::Index ||
        !depends_on_inner_loop(loop.body, test->lhs)) {
      return term;
    }
    ScalarSubstitution substitute(kernel_);
    for_each_node(loop.body, [&](const Expr& node) {
      const auto* inner = node.as<ForLoop>();
      if (inner != nullptr && inner->loop_kind != LoopKind::Hardware && !inner->index->is_const()) {
        substitute.replace(inner->index, kernel_.zero());
      }
    });
    Val* first = simplifier_.simplify(substitute(test->lhs));
    return simplifier_.prove_le(first, test->lhs) ? scalar::lt(first, test->rhs) : term;
  }

  /// The first iteration in which `base + index * step < extent` does not hold, at most the stop of
  /// the loop. nullptr: the term is something else, differs among the threads of a block, or is
  /// the same in all blocks.
  Val* stop_of(const ForLoop& loop, const Val& term) {
    const auto* test = term.definition() == nullptr ? nullptr : term.definition()->as<BinaryOp>();
    if (test == nullptr || test->op != BinaryOpType::LT || test->lhs->dtype() != DataType::Index ||
        !is_of_block(loop, test->rhs)) {
      return nullptr;
    }
    const auto at = [&](Val* iteration) {
      ScalarSubstitution substitute(kernel_);
      substitute.replace(loop.index, iteration);
      return simplifier_.simplify(substitute(test->lhs));
    };
    Val* base = at(kernel_.zero());
    Val* step =
        simplifier_.simplify(scalar::sub(at(scalar::add(loop.index, kernel_.one())), test->lhs));
    if (!step->is_const_int() || as_int(step->value()) < 1 || !is_of_block(loop, base) ||
        !has_several_ends(base) || !simplifier_.prove_nonnegative(base)) {
      return nullptr;
    }
    // There may be more blocks than the extent needs.
    Val* left = scalar::max(scalar::sub(test->rhs, base), kernel_.zero());
    Val* stop = scalar::ceil_div(left, step);
    const bool is_less = simplifier_.prove_le(scalar::ceil_div(test->rhs, step), loop.stop);
    return simplifier_.simplify(is_less ? stop : scalar::min(stop, loop.stop));
  }

  /// Whether all threads of a block have the same value, in all iterations.
  [[nodiscard]] bool is_of_block(const ForLoop& loop, const Val* val) const {
    const bool is_of_thread = std::ranges::any_of(kBlockDimTypes, [&](ParallelType type) {
      return depends_on(val, kernel_.parallel_index(type));
    });
    return !is_of_thread && !depends_on(val, loop.index) && elements_in(val).empty() &&
           !depends_on_inner_loop(loop.body, val);
  }

  [[nodiscard]] bool depends_on_block(const Val* val) const {
    return std::ranges::any_of(kGridDimTypes, [&](ParallelType type) {
      return depends_on(val, kernel_.parallel_index(type));
    });
  }

  /// Whether the loop may end before its stop, elsewhere in other blocks or iterations around it.
  [[nodiscard]] bool has_several_ends(const Val* base) const {
    return has_chains() || depends_on_block(base);
  }

  [[nodiscard]] static bool depends_on_inner_loop(const Scope& scope, const Val* val) {
    bool found = false;
    for_each_node(scope, [&](const Expr& node) {
      const auto* inner = node.as<ForLoop>();
      found = found || (inner != nullptr && inner->loop_kind != LoopKind::Hardware &&
                        !inner->index->is_const() && depends_on(val, inner->index));
    });
    return found;
  }

  [[nodiscard]] bool any_implies(const Terms& terms, const Val* term) {
    return std::ranges::any_of(
        terms, [&](const Val* known) { return implies(simplifier_, known, term); });
  }

  /// Whether an iteration in which `term` does not hold leaves nothing behind. `is_tested`: the
  /// scope stands under a condition that does not hold then.
  bool is_idle_without(
      const Scope& scope,
      const Val* term,
      const std::unordered_set<const TensorView*>& own,
      bool is_tested) {
    return std::ranges::all_of(scope, [&](const Expr* node) {
      if (const auto* branch = node->as<IfThenElse>()) {
        const bool is_branch_tested = is_tested || any_implies(terms_of(branch->condition), term);
        return is_idle_without(branch->then_body, term, own, is_branch_tested) &&
               is_idle_without(branch->else_body, term, own, is_tested);
      }
      if (const auto* inner = node->as<ForLoop>()) {
        return is_idle_without(inner->body, term, own, is_tested);
      }
      return is_idle_statement(*node, term, own, is_tested);
    });
  }

  bool is_idle_statement(
      const Expr& statement,
      const Val* term,
      const std::unordered_set<const TensorView*>& own,
      bool is_tested) {
    if (traits_of(statement).is_declaration) {
      return true;
    }
    if (is_between_blocks(kernel_, statement)) {
      return false; // all of them come here equally often
    }
    Val* condition = own_condition(statement);
    if (is_tested || (condition != nullptr && any_implies(terms_of(condition), term))) {
      return true;
    }
    bool is_own = true;
    for_each_write(statement, [&](const TensorIndex& element) {
      is_own = is_own && own.contains(element.view());
    });
    const bool declares =
        std::ranges::any_of(statement.outputs(), [](const Val* out) { return out->is_scalar(); });
    return is_own && !declares;
  }

  // -- Where the term holds --

  Scope without_term(const Scope& scope, const Val* term) {
    Scope result;
    for (Expr* node : scope) {
      if (auto* branch = node->as<IfThenElse>()) {
        const Terms rest = rest_of(branch->condition, term);
        Scope body = without_term(branch->then_body, term);
        if (rest.empty()) {
          result.insert(result.end(), body.begin(), body.end());
        } else {
          result.push_back(kernel_.make<IfThenElse>(
              {.condition = all_of(rest),
               .then_body = std::move(body),
               .else_body = without_term(branch->else_body, term)}));
        }
      } else if (auto* loop = node->as<ForLoop>()) {
        result.push_back(with_body(kernel_, *loop, without_term(loop->body, term)));
      } else {
        if (auto* reduction = node->as<BlockReduction>();
            reduction != nullptr && reduction->read_predicate != nullptr) {
          reduction->read_predicate = all_of(rest_of(reduction->read_predicate, term));
        }
        result.push_back(node);
      }
    }
    return result;
  }

  Terms rest_of(Val* condition, const Val* known) {
    Terms rest = terms_of(condition);
    std::erase_if(rest, [&](const Val* term) { return implies(simplifier_, known, term); });
    return rest;
  }

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  const std::unordered_set<const TensorView*> in_memory_; // arrays
};

} // namespace

void end_loops(Kernel& kernel) {
  LoopEnder(kernel).run(kernel.body);
}

} // namespace nvfuser
