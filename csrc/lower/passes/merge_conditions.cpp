// From the inside out: each list of statements is arranged after the lists inside of it. A second
// walk, from the outside in, drops terms that hold anyway.
#include "lower/passes/merge_conditions.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "eval/simplify.h"
#include "ir/dependencies.h"
#include "ir/scopes.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/effects.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/index_forms.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

/// Neighbours that a statement is moved past at most: what is further away is no neighbour.
constexpr size_t kFarthest = 32;

using Terms = std::vector<Val*>;

/// A condition without alternative; nullptr: the node is something else.
IfThenElse* plain_branch(Expr* node) {
  auto* branch = node->as<IfThenElse>();
  return branch != nullptr && branch->else_body.empty() ? branch : nullptr;
}

bool is_register_array(const Expr* node) {
  const auto* allocate = node->as<Allocate>();
  return allocate != nullptr && allocate->memory_type == MemoryType::Local;
}

std::unordered_set<const TensorView*> arrays_of(const Scope& scope) {
  std::unordered_set<const TensorView*> arrays;
  for (const Expr* node : scope) {
    if (is_register_array(node)) {
      arrays.insert(node->as<Allocate>()->buffer);
    }
  }
  return arrays;
}

bool are_same(const Terms& a, const Terms& b) {
  const auto are_in = [](const Terms& some, const Terms& all) {
    return std::ranges::all_of(some, [&](const Val* term) { return contains_term(all, term); });
  };
  return are_in(a, b) && are_in(b, a);
}

Terms common_terms(const Terms& a, const Terms& b) {
  Terms common;
  std::ranges::copy_if(
      a, std::back_inserter(common), [&](const Val* term) { return contains_term(b, term); });
  return common;
}

Terms without(Terms terms, const Terms& others) {
  std::erase_if(terms, [&](const Val* term) { return contains_term(others, term); });
  return terms;
}

void append(Scope& to, const Scope& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Loops bound to a hardware index are no loops: their bodies take their place.
void dissolve_parallel_loops(Scope& scope) {
  Scope result;
  for (Expr* node : scope) {
    for (Scope* body : bodies_of(*node)) {
      dissolve_parallel_loops(*body);
    }
    const auto* loop = node->as<ForLoop>();
    if (loop != nullptr && loop->loop_kind == LoopKind::Hardware) {
      append(result, loop->body);
    } else {
      result.push_back(node);
    }
  }
  scope = std::move(result);
}

class ConditionMerger {
 public:
  explicit ConditionMerger(Kernel& kernel)
      : kernel_(kernel), simplifier_(*kernel.simplifier), forms_(kernel) {}

  void run() {
    dissolve_parallel_loops(kernel_.body);
    tidy(kernel_.body);
    drop_known(kernel_.body, {});
  }

 private:
  // -- Terms --

  /// Whether a term may be tested earlier, or not at all.
  bool is_movable(const Val* term) {
    return !forms_.needs_guard(term) && elements_in(term).empty();
  }

  Terms movable(Terms terms) {
    std::erase_if(terms, [&](const Val* term) { return !is_movable(term); });
    return terms;
  }

  // -- From the inside out --

  void tidy(Scope& scope) {
    Scope result;
    for (Expr* node : scope) {
      for (Scope* body : bodies_of(*node)) {
        tidy(*body);
      }
      if (auto* loop = node->as<ForLoop>()) {
        append_loop(result, *loop);
      } else if (auto* branch = node->as<IfThenElse>()) {
        result.push_back(factored(branch));
      } else {
        result.push_back(node);
      }
    }
    scope = std::move(result);
    arrange(scope);
  }

  void append_loop(Scope& result, ForLoop& loop) {
    const Terms invariant = terms_of_all(loop);
    if (invariant.empty()) {
      result.push_back(&loop);
      return;
    }
    Scope body;
    for (Expr* node : loop.body) {
      append(body, without_terms(node, invariant));
    }
    arrange(body);
    result.push_back(kernel_.make<IfThenElse>(
        {.condition = all_of(invariant),
         .then_body = Scope{with_body(kernel_, loop, std::move(body))}}));
  }

  /// A node where `terms` hold.
  Scope without_terms(Expr* node, const Terms& terms) {
    const IfThenElse* branch = plain_branch(node);
    if (branch == nullptr) {
      return {node};
    }
    const Terms rest = without(terms_of(branch->condition), terms);
    return rest.empty() ? branch->then_body
                        : Scope{kernel_.make<IfThenElse>(
                              {.condition = all_of(rest), .then_body = branch->then_body})};
  }

  /// Movable terms that every statement of the loop whose effect outlives an iteration is under,
  /// and that are the same in all iterations.
  Terms terms_of_all(const ForLoop& loop) {
    const std::unordered_set<const TensorView*> own = arrays_of(loop.body);
    std::optional<Terms> common;
    for (Expr* node : loop.body) {
      const Effects& effects = effects_.of(node);
      const bool is_temporary =
          effects.stays_in_registers() &&
          std::ranges::all_of(effects.writes, [&](const TensorView* t) { return own.contains(t); });
      if (is_temporary) {
        continue;
      }
      const IfThenElse* branch = plain_branch(node);
      if (branch == nullptr || effects.waits) {
        return {};
      }
      const Terms terms = terms_of(branch->condition);
      common = common ? common_terms(*common, terms) : movable(terms);
    }
    Terms invariant = common.value_or(Terms{});
    std::erase_if(invariant, [&](const Val* term) {
      return loop.loop_kind != LoopKind::Vector && depends_on(term, loop.index);
    });
    return invariant;
  }

  /// IF a && b: X ELSE: IF a && c: Y   as   IF a: { IF b: X ELSE: IF c: Y }
  Expr* factored(IfThenElse* branch) {
    IfThenElse* other =
        branch->else_body.size() == 1 ? plain_branch(branch->else_body[0]) : nullptr;
    if (other == nullptr) {
      return unnested(branch);
    }
    const Terms terms = terms_of(branch->condition);
    const Terms of_other = terms_of(other->condition);
    const Terms common = movable(common_terms(terms, of_other));
    if (common.empty()) {
      return branch;
    }
    const Terms rest = without(terms, common);
    if (rest.empty()) { // there is no other path
      return kernel_.make<IfThenElse>(
          {.condition = branch->condition, .then_body = branch->then_body});
    }
    const Terms rest_of_other = without(of_other, common);
    const Scope otherwise =
        rest_of_other.empty()
            ? other->then_body
            : Scope{kernel_.make<IfThenElse>(
                  {.condition = all_of(rest_of_other), .then_body = other->then_body})};
    Expr* inner = kernel_.make<IfThenElse>(
        {.condition = all_of(rest), .then_body = branch->then_body, .else_body = otherwise});
    return kernel_.make<IfThenElse>({.condition = all_of(common), .then_body = Scope{inner}});
  }

  /// IF a: { IF b: X }   as   IF a && b: X
  Expr* unnested(IfThenElse* branch) {
    const IfThenElse* inner = branch->else_body.empty() && branch->then_body.size() == 1
                                  ? plain_branch(branch->then_body[0])
                                  : nullptr;
    if (inner == nullptr) {
      return branch;
    }
    Terms terms = terms_of(branch->condition);
    const Terms more = without(terms_of(inner->condition), terms);
    terms.insert(terms.end(), more.begin(), more.end());
    return kernel_.make<IfThenElse>({.condition = all_of(terms), .then_body = inner->then_body});
  }

  // -- One list, from the last node to the first --

  struct List {
    std::unordered_set<const TensorView*> own; // register arrays that it allocates
    std::vector<Expr*> after;                  // nodes that are in their place, last one first
    std::unordered_map<const TensorView*, std::vector<const Expr*>> users; // of these
  };

  void arrange(Scope& scope) {
    List list;
    list.own = arrays_of(scope);
    for (size_t i = scope.size(); i-- > 0;) {
      if (!merge(list, scope[i]) && !sink(list, scope[i])) {
        note_use(list, effects_.of(scope[i]), scope[i]);
        list.after.push_back(scope[i]);
      }
    }
    scope.assign(list.after.rbegin(), list.after.rend());
    for (Expr*& node : scope) {
      auto* branch = node->as<IfThenElse>();
      if (branch != nullptr && changed_.erase(branch) != 0) {
        arrange(branch->then_body);
        arrange(branch->else_body);
        node = factored(branch);
      }
    }
  }

  static void note_use(List& list, const Effects& effects, const Expr* user) {
    for (const auto* tensors : {&effects.reads, &effects.writes}) {
      for (const TensorView* tensor : *tensors) {
        if (std::vector<const Expr*>& users = list.users[tensor];
            std::ranges::find(users, user) == users.end()) {
          users.push_back(user);
        }
      }
    }
  }

  void put_in(List& list, IfThenElse& branch, const Effects& effects) {
    effects_.add(&branch, effects);
    note_use(list, effects, &branch);
    changed_.insert(&branch);
  }

  /// Move a node into the branch that all its results are for.
  bool sink(List& list, Expr* node) {
    const Effects effects = effects_.of(node);
    if (!effects.stays_in_registers() || effects.writes.empty()) {
      return false;
    }
    const Expr* user = nullptr;
    for (const TensorView* tensor : effects.writes) {
      if (!list.own.contains(tensor)) {
        return false;
      }
      for (const Expr* reader : list.users[tensor]) {
        if (user != nullptr && user != reader) {
          return false;
        }
        user = reader;
      }
    }
    if (user == nullptr) {
      return false;
    }
    for (size_t i = list.after.size(); i-- > 0;) {
      if (list.after[i] == user) {
        IfThenElse* branch = plain_branch(list.after[i]);
        if (branch == nullptr || !elements_in(branch->condition).empty() ||
            (effects.loops && is_common_work(node, branch->condition))) {
          return false;
        }
        const Scope inside = without_terms(node, terms_of(branch->condition));
        branch->then_body.insert(branch->then_body.begin(), inside.begin(), inside.end());
        put_in(list, *branch, effects);
        return true;
      }
      if (list.after.size() - i > kFarthest || !may_wait_for(effects, list.after[i])) {
        return false;
      }
    }
    return false;
  }

  /// Without hardware threads, whether `condition` is about threads or blocks that all do `node`
  /// alike: one of them will do it for all, if it does not stand under the condition.
  bool is_common_work(Expr* node, const Val* condition) {
    if (kernel_.target().has_hardware_threads) {
      return false;
    }
    const auto depends = [&](const Val* val, const std::array<ParallelType, 3>& types) {
      return std::ranges::any_of(
          types, [&](ParallelType type) { return depends_on(val, kernel_.parallel_index(type)); });
    };
    const auto is_of_one = [&](const std::array<ParallelType, 3>& types) {
      bool found = false;
      for_each_node(Scope{node}, [&](const Expr& expr) {
        for (const std::vector<Val*>& operands : {expr.inputs(), expr.outputs()}) {
          found = found || std::ranges::any_of(
                               operands, [&](const Val* val) { return depends(val, types); });
        }
      });
      return found;
    };
    return std::ranges::any_of(
        std::array{kBlockDimTypes, kGridDimTypes}, [&](const std::array<ParallelType, 3>& types) {
          return depends(condition, types) && !is_of_one(types);
        });
  }

  /// Join a condition with the next one that is the same.
  bool merge(List& list, Expr* node) {
    auto* branch = node->as<IfThenElse>();
    if (branch == nullptr || !elements_in(branch->condition).empty()) {
      return false;
    }
    const Effects effects = effects_.of(node);
    const Terms terms = terms_of(branch->condition);
    for (size_t i = list.after.size(); i-- > 0;) {
      auto* next = list.after[i]->as<IfThenElse>();
      if (next != nullptr && are_same(terms, terms_of(next->condition))) {
        next->then_body.insert(
            next->then_body.begin(), branch->then_body.begin(), branch->then_body.end());
        next->else_body.insert(
            next->else_body.begin(), branch->else_body.begin(), branch->else_body.end());
        put_in(list, *next, effects);
        return true;
      }
      if (list.after.size() - i > kFarthest || !effects_.of(list.after[i]).stays_in_registers() ||
          !may_wait_for(effects, list.after[i])) {
        return false;
      }
    }
    return false;
  }

  /// Whether something with these effects may as well come after `next`. Values that it loads from
  /// memory are on their way while others are computed: it does not wait for loops.
  bool may_wait_for(const Effects& effects, const Expr* next) {
    const Effects& others = effects_.of(next);
    return may_change_places(effects, others) && !(effects.reads_memory && others.loops);
  }

  // -- From the outside in --

  void drop_known(Scope& scope, const Terms& known) {
    Scope result;
    for (Expr* node : scope) {
      auto* branch = node->as<IfThenElse>();
      if (branch == nullptr) {
        for (Scope* body : bodies_of(*node)) {
          drop_known(*body, known);
        }
        result.push_back(node);
        continue;
      }
      const Terms terms = terms_of(branch->condition);
      const Terms needed = needed_terms(terms, known);
      Terms inside = known;
      std::ranges::copy_if(
          needed, std::back_inserter(inside), [&](const Val* term) { return is_movable(term); });
      drop_known(branch->then_body, inside);
      drop_known(branch->else_body, known);
      if (needed.empty()) {
        append(result, branch->then_body);
      } else if (needed.size() == terms.size()) {
        result.push_back(branch);
      } else {
        result.push_back(kernel_.make<IfThenElse>(
            {.condition = all_of(needed),
             .then_body = branch->then_body,
             .else_body = branch->else_body}));
      }
    }
    scope = std::move(result);
  }

  Terms needed_terms(Terms terms, const Terms& known) {
    for (size_t i = 0; i < terms.size();) {
      const auto decides = [&](const Val* other) {
        return other != terms[i] && is_movable(other) && implies(simplifier_, other, terms[i]);
      };
      const bool is_known =
          is_movable(terms[i]) &&
          (std::ranges::any_of(
               known, [&](const Val* k) { return implies(simplifier_, k, terms[i]); }) ||
           std::ranges::any_of(terms, decides));
      if (is_known) {
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return terms;
  }

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  IndexForms forms_;
  EffectsOfNodes effects_;
  std::unordered_set<const IfThenElse*> changed_; // bodies that are not arranged again yet
};

} // namespace

void merge_conditions(Kernel& kernel) {
  ConditionMerger(kernel).run();
}

} // namespace nvfuser
