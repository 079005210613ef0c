#include "lower/passes/prefetch_loads.h"

#include <algorithm>
#include <functional>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/checked_copies.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/statement_facts.h"
#include "lower/passes/hazards.h"
#include "lower/statements/statements.h"

namespace nvfuser {
namespace {

using Stage = CircularBufferLoopStage;

/// A copy of `scope` with the statements that `choose` returns instead of its own; nullptr leaves
/// one out, and loops that hold none.
Scope chosen(Kernel& kernel, const Scope& scope, const std::function<Expr*(Expr*)>& choose) {
  Scope result;
  for (Expr* expr : scope) {
    const auto* loop = expr->as<ForLoop>();
    if (loop == nullptr) {
      if (Expr* statement = choose(expr)) {
        result.push_back(statement);
      }
      continue;
    }
    Scope body = chosen(kernel, loop->body, choose);
    if (!body.empty()) {
      result.push_back(with_body(kernel, *loop, std::move(body)));
    }
  }
  return result;
}

/// Whether a statement loads a buffer of the loop.
bool is_load(const Kernel& kernel, const CircularLoop& circular, const Expr* statement) {
  const auto origin = kernel.origin.find(statement);
  return origin != kernel.origin.end() && !statement->is_a<Allocate>() &&
         circular_loop_of(kernel, first_output(origin->second)) == &circular;
}

void append(Scope& scope, const Scope& more) {
  scope.insert(scope.end(), more.begin(), more.end());
}

/// Whether bulk copies store what threads write to a buffer.
bool is_stored_in_boxes(const Kernel& kernel, const TensorView* buffer) {
  return !is_bulk_copy(buffer->definition()) &&
         std::ranges::any_of(buffer->consumers(), [&](const TensorView* out) {
           return is_bulk_copy(out->definition()) &&
                  (is_bulk_instruction(kernel, out) || checks_copies(kernel));
         });
}

/// The parts of one loop.
class CircularLoopBuilder {
 public:
  /// `is_repeated`: the loop runs several times.
  CircularLoopBuilder(
      Kernel& kernel,
      const Hazards& hazards,
      const CircularLoop& circular,
      const ForLoop& loop,
      bool is_repeated)
      : kernel_(kernel),
        circular_(circular),
        loop_(loop),
        statements_(kernel),
        is_repeated_(is_repeated) {
    if (hands_stages_back_) {
      mechanisms_.push_back(&stages_handed_back());
      has_epilog_ = prefetch_ > 0; // as many loads as iterations that hand stages back
      return;
    }
    for (const TensorView* tensor : circular.tensors) {
      needs_barrier_ = needs_barrier_ || !hazards.after(tensor).empty();
      needs_fence_ = needs_fence_ || is_stored_in_boxes(kernel, tensor);
      const AsyncMechanism* mechanism = counted_mechanism(kernel, tensor->definition());
      if (mechanism != nullptr && std::ranges::find(mechanisms_, mechanism) == mechanisms_.end()) {
        mechanisms_.push_back(mechanism);
      }
      has_epilog_ = has_epilog_ || tensor->producers().front()->memory_type() != MemoryType::Global;
    }
    has_epilog_ = has_epilog_ && prefetch_ > 0;
  }

  Scope build() {
    Scope result;
    if (prefetch_ > 0) {
      result.push_back(prolog());
    }
    result.push_back(main());
    if (prefetch_ > 0 && !hands_stages_back_) {
      append_wait(result, 0); // for the groups that no iteration waited for
    }
    if (has_epilog_) {
      append_barrier(result);
      Scope body;
      if (hands_stages_back_) {
        append_wait(body, 0);
      }
      append(body, reads());
      result.push_back(part(Stage::Epilog, loop_.index, main_stop(), loop_.stop, std::move(body)));
    }
    if (is_repeated_ && !is_multiple_of_stages()) {
      append_acquire(result, 0); // it begins with stage 0 again, whichever was the last one
    }
    return result;
  }

 private:
  ForLoop* part(Stage stage, Val* index, Val* start, Val* stop, Scope body) {
    return kernel_.make<ForLoop>(
        {.index = index,
         .iter_domain = loop_.iter_domain,
         .start = start,
         .stop = stop,
         .body = std::move(body),
         .circular_buffer_stage = stage,
         .circular_buffer_depth = circular_.stages});
  }

  ForLoop* prolog() {
    Val* count = kernel_.new_index(prefetch_);
    if (hands_stages_back_) {
      count = kernel_.simplifier->simplify(scalar::min(count, loop_.stop));
    }
    Val* index = kernel_.zero();
    if (prefetch_ > 1 || !count->is_const()) {
      index = kernel_.new_scalar(DataType::Index);
      kernel_.simplifier->set_range(index, count);
    }
    return part(Stage::Prolog, index, kernel_.zero(), count, loads_of(index));
  }

  /// With distance 1 a load overwrites what the iteration before has read: after the barrier that
  /// ends those reads. With more, the barrier of an iteration in between does.
  ForLoop* main() {
    Val* ahead = iteration_ahead();
    Scope body;
    const bool loads_first = circular_.stages - prefetch_ > 1;
    if (loads_first) {
      append(body, loads_of(ahead));
    }
    append_wait(body, loads_first ? prefetch_ : prefetch_ - 1);
    append_barrier(body);
    if (!loads_first) {
      append(body, loads_of(ahead));
    }
    append(body, reads());
    return part(Stage::Main, loop_.index, kernel_.zero(), main_stop(), std::move(body));
  }

  /// The iteration that an iteration loads for.
  Val* iteration_ahead() {
    if (prefetch_ == 0) {
      return loop_.index;
    }
    Val* ahead = scalar::add(loop_.index, kernel_.new_index(prefetch_));
    // No iteration loads beyond the end, so that its loads need no test. Loading threads test the
    // elements, and a kernel that is read back, where no value has this range, has to have the same
    // tests after all passes.
    if (has_epilog_ && !is_specialized(kernel_, circular_)) {
      kernel_.simplifier->set_range(ahead, loop_.stop);
    }
    return ahead;
  }

  Val* main_stop() {
    if (!has_epilog_) {
      return loop_.stop;
    }
    return kernel_.simplifier->simplify(
        scalar::max(scalar::sub(loop_.stop, kernel_.new_index(prefetch_)), kernel_.zero()));
  }

  /// The loads of the body for another iteration; a group of their own if they are asynchronous.
  Scope loads_of(Val* iteration) {
    Loop ahead = *circular_.loop;
    ahead.index = iteration;
    Scope loads;
    append_acquire(loads, circular_.first_loads());
    append(loads, chosen(kernel_, loop_.body, [&](Expr* statement) -> Expr* {
             if (!is_load(kernel_, circular_, statement)) {
               return nullptr;
             }
             Expr* expr = const_cast<Expr*>(kernel_.origin.at(statement));
             LoopNest nest = kernel_.loop_model->nest(first_output(expr));
             std::replace(nest.begin(), nest.end(), const_cast<Loop*>(circular_.loop), &ahead);
             return statements_.lower(expr, nest).front();
           }));
    for (const AsyncMechanism* mechanism : mechanisms_) {
      append(loads, mechanism->commit(kernel_));
    }
    return loads;
  }

  /// The part of an iteration that reads its stage, and hands it back.
  Scope reads() {
    Scope scope = without_loads();
    for (const AsyncMechanism* mechanism : mechanisms_) {
      append(scope, mechanism->arrive(kernel_));
    }
    return scope;
  }

  /// Whether stage 0 follows the one that the last iteration reads.
  [[nodiscard]] bool is_multiple_of_stages() const {
    return loop_.stop->is_const_int() && as_int(loop_.stop->value()) % circular_.stages == 0;
  }

  Scope without_loads() {
    return chosen(kernel_, loop_.body, [&](Expr* statement) {
      return is_load(kernel_, circular_, statement) ? nullptr : statement;
    });
  }

  void append_acquire(Scope& scope, int64_t keep_stages) {
    for (const AsyncMechanism* mechanism : mechanisms_) {
      append(scope, mechanism->acquire(kernel_, keep_stages));
    }
  }

  void append_wait(Scope& scope, int64_t keep_stages) {
    for (const AsyncMechanism* mechanism : mechanisms_) {
      append(scope, mechanism->wait(kernel_, keep_stages));
    }
  }

  void append_barrier(Scope& scope) {
    if (needs_fence_) {
      scope.push_back(kernel_.make<FenceAsyncProxy>({}));
    }
    if (needs_barrier_) {
      scope.push_back(kernel_.make<BlockSync>({.war_sync = false}));
    }
  }

  Kernel& kernel_;
  const CircularLoop& circular_;
  const ForLoop& loop_;
  StatementBuilder statements_;
  bool is_repeated_;
  const bool hands_stages_back_ = hands_stages_back(kernel_, circular_);
  /// Iterations between a load and its read in the order of statements. Threads that only load are
  /// ahead of those that compute without it, where they are threads.
  const int64_t prefetch_ =
      is_specialized(kernel_, circular_) && kernel_.target().has_hardware_threads
          ? 0
          : circular_.first_loads();
  bool needs_barrier_ = false;
  bool needs_fence_ = false;
  std::vector<const AsyncMechanism*> mechanisms_; // of the asynchronous copies among them
  bool has_epilog_ = false;
};

class LoadPrefetcher {
 public:
  explicit LoadPrefetcher(Kernel& kernel) : kernel_(kernel), hazards_(kernel) {}

  /// Inner loops first: they become part of what the outer ones copy.
  /// `is_repeated`: the scope runs several times.
  void run(Scope& scope, bool is_repeated = false) {
    Scope result;
    for (Expr* expr : scope) {
      const auto* outer = expr->as<ForLoop>();
      for (Scope* body : bodies_of(*expr)) {
        run(*body, is_repeated || (outer != nullptr && is_serial(*outer)));
      }
      const auto* loop = expr->as<ForLoop>();
      const CircularLoop* circular = loop == nullptr ? nullptr : circular_loop_with(*loop);
      if (circular == nullptr) {
        result.push_back(expr);
      } else {
        append(
            result, CircularLoopBuilder(kernel_, hazards_, *circular, *loop, is_repeated).build());
      }
    }
    scope = std::move(result);
  }

 private:
  /// Other loops may run over the same axis, to set accumulators: only the one with loads counts.
  const CircularLoop* circular_loop_with(const ForLoop& loop) const {
    for (const CircularLoop& circular : kernel_.circular_loops) {
      if (circular.loop->index == loop.index && has_loads(loop, circular)) {
        return &circular;
      }
    }
    return nullptr;
  }

  bool has_loads(const ForLoop& loop, const CircularLoop& circular) const {
    bool found = false;
    for_each_node(loop.body, [&](const Expr& statement) {
      found = found || is_load(kernel_, circular, &statement);
    });
    return found;
  }

  Kernel& kernel_;
  Hazards hazards_;
};

} // namespace

std::optional<Refusal> prefetch_loads(Kernel& kernel) {
  if (!kernel.circular_loops.empty()) {
    LoadPrefetcher(kernel).run(kernel.body);
    forget_absent_statements(kernel);
  }
  return kernel.take_refusal();
}

} // namespace nvfuser
