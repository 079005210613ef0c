// Three steps: find out in which place of the kernel every leaf is known; order sums by that and
// make equal expressions one Val (index_forms.h); count uses and declare what is worth a name.
#include "lower/passes/hoist_indices.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_set>
#include <utility>

#include "base/options.h"
#include "ir/scopes.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/index_forms.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/size_names.h"

namespace nvfuser {
namespace {

/// A part of an index expression in the place that would declare it.
struct Candidate {
  Val* val = nullptr;
  Place* place = nullptr;
  Expr* before = nullptr;   // the node of `place` with the first use
  int uses = 0;             // by statements, and by larger candidates
  bool is_repeated = false; // some use is in a loop inside of `place`
  bool is_named = false;
  bool is_declared_around = false; // its name is that of a place around
  int cost = 0;                    // operations, those of named parts not counted
  std::vector<Candidate*> parts;
};

class IndexHoister {
 public:
  explicit IndexHoister(Kernel& kernel) : kernel_(kernel), forms_(kernel) {}

  void run() {
    visit(kernel_.body, forms_.root());
    if (Val*& bytes = kernel_.launch.shared_bytes; bytes != nullptr) {
      bytes = forms_.rebuild(bytes, forms_.root()); // the CPU target prints it, by the same names
    }
    for (const Use& use : uses_) {
      find_quotients(use.val);
    }
    for (const Use& use : uses_) {
      if (!use.position.is_conditional) {
        anticipate(use.val, use.position.place);
      }
    }
    for (const Use& use : uses_) {
      count(use.val, use.position);
    }
    for (Candidate& candidate : candidates_) {
      decide(candidate);
    }
    declare();
  }

 private:
  /// Where in the tree a statement stands.
  struct Position {
    Place* place;
    Expr* node; // of `place`, that it is a part of
    bool is_vector_access;
    bool is_conditional = false; // under a condition that is no place
  };
  /// An operand of a statement, the bound of a loop, or a condition.
  struct Use {
    Val* val;
    Position position;
  };

  // -- Step 1: the tree --

  void visit(Scope& scope, Place* place) {
    for (Expr* node : scope) {
      visit(*node, {place, node, false});
    }
  }

  void visit(Expr& expr, const Position& position) {
    if (auto* loop = expr.as<ForLoop>()) {
      visit_loop(*loop, position);
    } else if (auto* branch = expr.as<IfThenElse>()) {
      visit_branch(*branch, position);
    } else if (const std::vector<Scope*> bodies = bodies_of(expr); !bodies.empty()) {
      visit(*bodies.front(), forms_.enter(expr, *bodies.front(), position.place, position.node));
    } else if (auto* allocate = expr.as<Allocate>()) {
      if (allocate->address != nullptr) { // says the names there are, and is no reason for one
        allocate->address = forms_.rebuild(allocate->address, position.place);
      }
    } else {
      visit_statement(expr, position);
    }
  }

  void visit_loop(ForLoop& loop, const Position& position) {
    if (!is_serial(loop)) { // no braces in the source: no place of its own
      for (Expr* child : loop.body) {
        visit(*child, {position.place, position.node, loop.loop_kind == LoopKind::Vector});
      }
      return;
    }
    loop.stop = forms_.rebuild(loop.stop, position.place);
    uses_.push_back({loop.stop, position});
    visit(loop.body, forms_.enter(loop, loop.body, position.place, position.node));
  }

  void visit_branch(IfThenElse& branch, const Position& position) {
    replace_input(branch, branch.condition, position.place);
    uses_.push_back({branch.condition, position});
    for (Scope* body : {&branch.then_body, &branch.else_body}) {
      if (!position.is_vector_access) {
        visit(*body, forms_.enter(branch, *body, position.place, position.node));
        continue;
      }
      for (Expr* child : *body) { // a copy under a condition is all that the loop holds
        visit(*child, {position.place, position.node, true, /*is_conditional=*/true});
      }
    }
  }

  void visit_statement(Expr& statement, const Position& position) {
    if (rewritten_.insert(&statement).second) { // both paths of an unswitched loop may have it
      rewrite(statement, position.place);
    }
    const auto use = [&](Val* val) {
      if (val != nullptr) {
        uses_.push_back({val, position});
      }
    };
    const bool is_choice = statement.is_a<ChosenElement>(); // reads one element of several
    for_each_element(statement, [&](const TensorIndex& element) {
      uses_.push_back({element.index(), position});
      uses_.back().position.is_conditional |= is_choice;
    });
    for (Val* in : statement.inputs()) {
      if (in->is_scalar()) {
        use(in);
      }
    }
    for (Val** attribute : attributes_of(statement)) {
      use(*attribute);
    }
    use(statement.predicate());
  }

  /// Tests first: positions that they compare are parts of addresses.
  void rewrite(Expr& statement, Place* place) {
    if (statement.predicate() != nullptr) {
      statement.set_predicate(forms_.rebuild(statement.predicate(), place));
    }
    const std::vector<Val*> inputs = statement.inputs();
    for (Val* in : inputs) {
      if (in->is_scalar()) {
        replace_input(statement, in, place);
      }
    }
    for (Val** attribute : attributes_of(statement)) {
      *attribute = forms_.rebuild(*attribute, place);
    }
    rewrite_elements(kernel_, {&statement}, [&](const TensorIndex& element) -> Val* {
      Val* index = forms_.rebuild(element.index(), place);
      return index == element.index() ? nullptr : index;
    });
  }

  void replace_input(Expr& statement, Val* in, Place* place) {
    if (Val* form = forms_.rebuild(in, place); form != in) {
      kernel_.replace_uses(in, form, {&statement});
    }
  }

  /// Scalars that a statement computes with besides its inputs.
  static std::vector<Val**> attributes_of(Expr& statement) {
    std::vector<Val**> found;
    if (auto* block = statement.as<BlockReduction>()) {
      found = {&block->read_predicate};
    } else if (auto* cluster = statement.as<ClusterReduction>()) {
      found = {&cluster->read_predicate};
    } else if (auto* grid = statement.as<GridReduction>()) {
      found = {&grid->read_predicate, &grid->entrance};
    }
    std::erase_if(found, [](Val** val) { return *val == nullptr; });
    return found;
  }

  // -- Step 2: counting --

  /// The same pair for equal operands: a constant may be several Vals.
  std::pair<const Val*, const Val*> operands_of(const BinaryOp& division) {
    return {forms_.shared_constant(division.lhs), forms_.shared_constant(division.rhs)};
  }

  /// Note the quotients that `val` is computed from.
  void find_quotients(const Val* val) {
    const Expr* definition = val->definition();
    if (definition == nullptr || !looked_at_.insert(val).second) {
      return;
    }
    const auto* binary = definition->as<BinaryOp>();
    if (binary != nullptr && binary->op == BinaryOpType::Div) {
      quotients_.try_emplace(operands_of(*binary), val);
    }
    for (const Val* in : definition->inputs()) {
      find_quotients(in);
    }
  }

  /// Note where an expression is computed in any case. A remainder is computed from the quotient.
  void anticipate(const Val* val, Place* place) {
    if (val->definition() == nullptr || forms_.is_leaf(val, place) ||
        !place->anticipated.insert(val).second) {
      return;
    }
    const Place* known = forms_.place_of(val, place);
    for (Place* at = place; known != nullptr && at != known && may_leave(val, *at);) {
      at = at->outer;
      at->anticipated.insert(val);
    }
    for (const Val* in : val->definition()->inputs()) {
      anticipate(in, place);
    }
    const auto* binary = val->definition()->as<BinaryOp>();
    if (binary != nullptr && binary->op == BinaryOpType::Mod) {
      const auto quotient = quotients_.find(operands_of(*binary));
      if (quotient != quotients_.end()) {
        anticipate(quotient->second, place);
      }
    }
  }

  /// Whether an expression that `place` computes may be computed before it.
  bool may_leave(const Val* val, const Place& place) {
    if (forms_.needs_guard(val)) {
      return divides_by_function_ || (!place.is_branch && !place.may_be_empty);
    }
    return !place.is_branch || place.is_main_path;
  }

  /// The outermost place that may declare `val`, which is used at `position`; nullptr: none.
  Place* home_of(const Val* val, const Position& position) {
    Place* known = forms_.place_of(val, position.place);
    if (known == nullptr) {
      return nullptr;
    }
    Place* home = nullptr;
    for (Place* at = position.place;; at = at->outer) {
      if (at->anticipated.count(val) != 0) {
        home = at;
      }
      // A compiler moves what does not change out of the loop over threads itself. If it finds it
      // there already, it takes the loop for simple enough to gather and scatter.
      const bool stays = at->is_thread_loop && known->outer != nullptr;
      if (at == known || stays) {
        return home != nullptr && is_guarded_in_threads(*home) ? nullptr : home;
      }
    }
  }

  /// Behind a condition in a loop over threads nothing is named: the simpler a guarded access
  /// looks, the sooner a compiler makes it for all threads, under a mask, where no thread may need
  /// it.
  static bool is_guarded_in_threads(const Place& place) {
    const Place* at = &place;
    while (at != nullptr && !at->is_thread_loop) {
      at = at->outer;
    }
    return at != nullptr && place.is_branch && !place.is_main_path;
  }

  Candidate* count(Val* val, const Position& position) {
    const Expr* definition = val->definition();
    if (val->is_const() || forms_.is_leaf(val, position.place)) {
      return nullptr;
    }
    Place* home = is_index_operation(val) ? home_of(val, position) : nullptr;
    if (home == nullptr) { // never named: its parts are used where it is
      count_parts(*definition, position);
      return nullptr;
    }
    Candidate* candidate = candidate_of_[home][val];
    if (candidate == nullptr) {
      std::vector<Candidate*> parts = count_parts(*definition, position);
      candidate = &candidates_.emplace_back();
      candidate->val = val;
      candidate->place = home;
      candidate->before = node_at(home, position);
      candidate->parts = std::move(parts);
      candidate_of_[home][val] = candidate;
    }
    ++candidate->uses;
    for (const Place* at = position.place; at != home; at = at->outer) {
      candidate->is_repeated = candidate->is_repeated || at->repeats;
    }
    return candidate;
  }

  std::vector<Candidate*> count_parts(const Expr& operation, const Position& position) {
    std::vector<Candidate*> parts;
    for (Val* in : operation.inputs()) {
      Candidate* part = in->is_scalar() ? count(in, position) : nullptr;
      if (part != nullptr) {
        parts.push_back(part);
      }
    }
    return parts;
  }

  /// The node of `home` that a position inside of it is a part of.
  static Expr* node_at(const Place* home, const Position& position) {
    Expr* node = position.node;
    for (const Place* at = position.place; at != home; at = at->outer) {
      node = at->node;
    }
    return node;
  }

  // -- Step 3: names --

  /// A name that several uses share is worth two operations; one that only moves its operations out
  /// of a loop, which compilers do themselves, more.
  void decide(Candidate& candidate) {
    constexpr int kShared = 2;
    if (has_name_around(candidate)) {
      candidate.is_named = true;
      candidate.is_declared_around = true;
      return;
    }
    candidate.cost = cost_of(candidate.val);
    for (const Candidate* part : candidate.parts) {
      candidate.cost += part->is_named ? 0 : part->cost;
    }
    candidate.is_named = (candidate.uses > 1 && candidate.cost >= kShared) ||
                         (candidate.is_repeated && candidate.cost >= kMoved);
  }

  /// Whether a place around has declared the same for an earlier use, one before a loop over
  /// threads.
  bool has_name_around(const Candidate& candidate) const {
    for (const Place* at = candidate.place->outer; at != nullptr; at = at->outer) {
      const auto there = candidate_of_.find(at);
      if (there != candidate_of_.end()) {
        const auto found = there->second.find(candidate.val);
        if (found != there->second.end() && found->second->is_named) { // decided: it comes before
          return true;
        }
      }
    }
    return false;
  }

  /// A function of several branches keeps a loop from being made for vectors.
  int cost_of(const Val* val) {
    const bool is_call = divides_by_function_ && forms_.needs_guard(val);
    return !is_division(*val->definition()) ? 1 : is_call ? kMoved : 3;
  }

  void declare() {
    std::unordered_map<const Place*, std::unordered_map<const Expr*, Scope>> declarations;
    for (const Candidate& candidate : candidates_) {
      if (candidate.is_named && !candidate.is_declared_around) {
        declarations[candidate.place][candidate.before].push_back(candidate.val->definition());
      }
    }
    for (Place& place : forms_.places()) {
      const auto found = declarations.find(&place);
      if (found == declarations.end()) {
        continue;
      }
      Scope result;
      for (Expr* child : *place.list) {
        if (const auto here = found->second.find(child); here != found->second.end()) {
          result.insert(result.end(), here->second.begin(), here->second.end());
        }
        result.push_back(child);
      }
      *place.list = std::move(result);
    }
  }

  static constexpr int kMoved = 4;

  Kernel& kernel_;
  IndexForms forms_;
  /// Without hardware threads a division is a call that has a result for every divisor.
  const bool divides_by_function_ = !kernel_.target().has_hardware_threads;
  std::vector<Use> uses_; // in the order of the kernel
  std::unordered_set<const Val*> looked_at_;
  std::map<std::pair<const Val*, const Val*>, const Val*> quotients_; // looked up only
  std::unordered_set<const Expr*> rewritten_;
  std::deque<Candidate> candidates_; // parts before what they are parts of
  std::unordered_map<const Place*, std::unordered_map<const Val*, Candidate*>> candidate_of_;
};

} // namespace

void hoist_indices(Kernel& kernel) {
  declare_size_names(kernel);
  if (!has_option(DisableOption::IndexHoist)) {
    IndexHoister(kernel).run();
  }
}

} // namespace nvfuser
