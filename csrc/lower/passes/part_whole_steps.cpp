#include "lower/passes/part_whole_steps.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "eval/simplify.h"
#include "ir/dependencies.h"
#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "ir/substitute_scalars.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

/// A loop with so few iterations is written out by compilers: it is part of a step.
constexpr int64_t kWrittenOut = 16;

bool is_written_out(const ForLoop& loop) {
  return loop.stop->is_const_int() && as_int(loop.stop->value()) <= kWrittenOut;
}

/// The conditions that decide whether steps of a loop are whole.
struct Parts {
  std::unordered_set<const IfThenElse*> decided; // hold in all whole steps
  std::vector<Val*> stops;                       // the steps before them are whole
  std::vector<Val*> conditions;                  // of all steps alike
};

class StepParter {
 public:
  explicit StepParter(Kernel& kernel) : kernel_(kernel), simplifier_(*kernel.simplifier) {}

  /// Whether a loop in `scope` was parted.
  bool run(Scope& scope) {
    bool has_parted = false;
    Scope result;
    for (Expr* node : scope) {
      bool is_done = false;
      for (Scope* body : bodies_of(*node)) {
        is_done = run(*body) || is_done;
      }
      auto* loop = node->as<ForLoop>();
      if (!is_done && loop != nullptr && may_part(*loop)) {
        if (const std::optional<Parts> parts = find_parts(*loop)) {
          append_parts(result, *loop, *parts);
          has_parted = true;
          continue;
        }
      }
      has_parted = has_parted || is_done;
      result.push_back(node);
    }
    scope = std::move(result);
    return has_parted;
  }

 private:
  /// A loop of a block, without barriers.
  static bool may_part(const ForLoop& loop) {
    if (loop.loop_kind != LoopKind::Serial || !loop.start->is_zero() || loop.index->is_const() ||
        loop.circular_buffer_stage != CircularBufferLoopStage::NotApplicable ||
        is_written_out(loop)) {
      return false;
    }
    bool result = true;
    for_each_node(loop.body, [&](const Expr& node) {
      result = result && !traits_of(node).needs_all_threads && !node.is_a<BlockLoop>() &&
               !node.is_a<ClusterLoop>();
    });
    return result;
  }

  std::optional<Parts> find_parts(const ForLoop& loop) {
    Parts parts;
    std::vector<Val*> inner;
    find_parts(loop, loop.body, inner, parts);
    const bool saves_tests = std::ranges::any_of(
        parts.decided, [](const IfThenElse* branch) { return !branch->else_body.empty(); });
    return saves_tests ? std::optional(parts) : std::nullopt;
  }

  /// `inner`: the indices of the loops between `loop` and `scope`, threads among them.
  void find_parts(const ForLoop& loop, const Scope& scope, std::vector<Val*>& inner, Parts& parts) {
    for (const Expr* node : scope) {
      if (const auto* branch = node->as<IfThenElse>()) {
        if (decide(loop, *branch, inner, parts)) {
          find_parts(loop, branch->then_body, inner, parts);
        }
      } else if (const auto* nested = node->as<ForLoop>()) {
        inner.push_back(nested->index);
        find_parts(loop, nested->body, inner, parts);
        inner.pop_back();
      } else if (const auto* threads = node->as<ThreadLoop>()) {
        const size_t outside = inner.size();
        for (const ParallelType type : kBlockDimTypes) {
          inner.push_back(kernel_.parallel_index(type));
        }
        find_parts(loop, threads->body, inner, parts);
        inner.resize(outside);
      }
    }
  }

  /// Note when all terms of a condition hold, if that is known. A condition without another path is
  /// left alone if it tells elements of a step apart: it has its reason within a step.
  bool decide(
      const ForLoop& loop, const IfThenElse& branch, const std::vector<Val*>& inner, Parts& parts) {
    Parts found;
    for (Val* term : terms_of(branch.condition)) {
      const BinaryOp* test = as_range_test(*term);
      if (test == nullptr || (branch.else_body.empty() && depends_on_any(test->lhs, inner)) ||
          !decide_term(loop, *test, inner, found)) {
        return false;
      }
    }
    parts.decided.insert(&branch);
    const auto add = [](std::vector<Val*>& all, const std::vector<Val*>& more) {
      std::ranges::copy_if(
          more, std::back_inserter(all), [&](const Val* val) { return !contains_term(all, val); });
    };
    add(parts.stops, found.stops);
    add(parts.conditions, found.conditions);
    return true;
  }

  static const BinaryOp* as_range_test(const Val& term) {
    const auto* test = term.definition() == nullptr ? nullptr : term.definition()->as<BinaryOp>();
    return test != nullptr && test->op == BinaryOpType::LT && test->lhs->dtype() == DataType::Index
               ? test
               : nullptr;
  }

  static bool depends_on_any(const Val* val, const std::vector<Val*>& indices) {
    return std::ranges::any_of(
        indices, [&](const Val* index) { return !index->is_const() && depends_on(val, index); });
  }

  bool decide_term(
      const ForLoop& loop, const BinaryOp& test, const std::vector<Val*>& inner, Parts& parts) {
    Val* largest = simplifier_.max_over(test.lhs, varying(inner));
    if (largest == nullptr || depends_on_any(test.rhs, inner) || depends_on(test.rhs, loop.index) ||
        !elements_in(test.lhs).empty() || !elements_in(test.rhs).empty()) {
      return false;
    }
    const auto at = [&](Val* iteration) {
      ScalarSubstitution substitute(kernel_);
      substitute.replace(loop.index, iteration);
      return simplifier_.simplify(substitute(largest));
    };
    Val* base = at(kernel_.zero());
    Val* step =
        simplifier_.simplify(scalar::sub(at(scalar::add(loop.index, kernel_.one())), largest));
    if (!step->is_const_int() || as_int(step->value()) < 0) {
      return false;
    }
    if (step->is_zero()) {
      parts.conditions.push_back(simplifier_.simplify(scalar::lt(largest, test.rhs)));
      return !depends_on(largest, loop.index);
    }
    Val* left = scalar::max(scalar::sub(test.rhs, base), kernel_.zero());
    parts.stops.push_back(simplifier_.simplify(scalar::ceil_div(left, step)));
    return true;
  }

  static std::vector<Val*> varying(const std::vector<Val*>& indices) {
    std::vector<Val*> result;
    std::ranges::copy_if(
        indices, std::back_inserter(result), [](const Val* index) { return !index->is_const(); });
    return result;
  }

  void append_parts(Scope& result, ForLoop& loop, const Parts& parts) {
    ForLoop* whole = with_body(kernel_, loop, without_tests(loop.body, parts.decided));
    Scope steps{whole};
    if (!parts.stops.empty()) {
      Val* stop = loop.stop;
      for (Val* other : parts.stops) {
        stop = scalar::min(other, stop);
      }
      whole->stop = simplifier_.simplify(stop);
      ForLoop* rest = with_body(kernel_, loop, loop.body);
      rest->start = whole->stop;
      steps.push_back(rest);
    }
    if (parts.conditions.empty()) {
      result.insert(result.end(), steps.begin(), steps.end());
      return;
    }
    result.push_back(kernel_.make<IfThenElse>(
        {.condition = all_of(parts.conditions),
         .then_body = std::move(steps),
         .else_body = Scope{with_body(kernel_, loop, without_tests(loop.body, /*decided=*/{}))}}));
  }

  /// A copy of loops and conditions, with the first path in place of each condition in `decided`.
  Scope without_tests(const Scope& scope, const std::unordered_set<const IfThenElse*>& decided) {
    Scope result;
    for (Expr* node : scope) {
      if (const auto* branch = node->as<IfThenElse>()) {
        Scope then_body = without_tests(branch->then_body, decided);
        if (decided.contains(branch)) {
          result.insert(result.end(), then_body.begin(), then_body.end());
          continue;
        }
        node = kernel_.make<IfThenElse>(
            {.condition = branch->condition,
             .then_body = std::move(then_body),
             .else_body = without_tests(branch->else_body, decided)});
      } else if (const auto* loop = node->as<ForLoop>()) {
        node = with_body(kernel_, *loop, without_tests(loop->body, decided));
      } else if (const auto* threads = node->as<ThreadLoop>()) {
        node = kernel_.make<ThreadLoop>({.body = without_tests(threads->body, decided)});
      }
      result.push_back(node);
    }
    return result;
  }

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
};

} // namespace

void part_whole_steps(Kernel& kernel) {
  if (!kernel.target().is_cuda()) {
    StepParter(kernel).run(kernel.body);
  }
}

} // namespace nvfuser
