// Where the operands of index expressions are known, and index expressions in a form that lets
// neighbours share their parts.
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// A list of statements that the source prints between braces: of the kernel, of a loop, a branch,
/// or a region of the CPU target. Declarations in it hold up to its end.
struct Place {
  Place* outer = nullptr; // nullptr: this is the kernel
  Scope* list = nullptr;
  Expr* node = nullptr; // of `outer->list`, that this is a part of
  int depth = 0;
  bool repeats = false;        // a loop over iterations, threads or blocks
  bool may_be_empty = false;   // a loop that may run zero times
  bool is_branch = false;      // of a condition
  bool is_main_path = false;   // a branch whose alternative is the same with more conditions
  const Val* index = nullptr;  // of a loop
  bool is_thread_loop = false; // over several threads
  bool has_thread = false;     // threadIdx is known from here on
  bool has_block = false;      // blockIdx.y and z are
  bool has_block_x = false;    // blockIdx.x is: within a cluster, blocks differ in it
  /// Expressions that are computed here in any case.
  std::unordered_set<const Val*> anticipated;
  std::unordered_map<const Val*, Val*> rebuilt;
  std::unordered_map<const Val*, Place*> known_in; // IndexForms::place_of
};

/// An integer operation on integers.
[[nodiscard]] bool is_index_operation(const Val* val);
/// The operation that computes `model`, on other operands.
[[nodiscard]] Val* repeat_operation(
    Kernel& kernel, const Val* model, const std::vector<Val*>& operands);
/// Division, remainder and their like.
[[nodiscard]] bool is_division(const Expr& operation);

class IndexForms {
 public:
  explicit IndexForms(Kernel& kernel);

  [[nodiscard]] Place* root() {
    return &places_.front();
  }
  /// Outer places before inner ones.
  [[nodiscard]] std::deque<Place>& places() {
    return places_;
  }
  /// The place of a body of `owner`, which is a part of `node` of `outer`.
  Place* enter(const Expr& owner, Scope& body, Place* outer, Expr* node);

  /// `val` as it is computed in `place`: sums from terms of outer places to terms of inner ones, or
  /// with a sum that was asked for before as a part; the same Val for the same expression.
  Val* rebuild(Val* val, Place* place);

  /// The outermost place around `place` that knows every leaf of `val`; nullptr: not even `place`
  /// does, some leaf is declared by a statement or an element of a tensor.
  [[nodiscard]] Place* place_of(const Val* val, Place* place) const;
  /// Whether `val` has a name of its own in `place`, whatever defines it.
  [[nodiscard]] bool is_leaf(const Val* val, const Place* place) const;
  /// Whether `val` divides by something that is not a positive constant.
  [[nodiscard]] bool needs_guard(const Val* val);
  /// One Val for all constants of the value and type of `val`; `val` itself, where it is none.
  const Val* shared_constant(const Val* val);

 private:
  [[nodiscard]] Place* place_of_leaf(const Val* leaf, Place* place) const;
  /// A term that is added to a sum, or taken away.
  struct SignedVal {
    Val* val;
    bool is_negative;
    auto operator<=>(const SignedVal&) const = default;
  };
  /// A term of a sum, and the depth of the place that knows it.
  struct Term {
    int depth;
    SignedVal val;
  };
  using Terms = std::vector<Term>; // from outer to inner places, constants last
  struct KnownSum {
    std::vector<SignedVal> terms;
    int depth; // of the innermost
    Val* val;
  };
  /// The terms of a sum that were added so far, and those that are still to be taken away.
  struct PartialSum {
    Val* val = nullptr;
    std::vector<Val*> negative{};
  };
  Terms terms_of(Val* sum, Place* place);
  Val* rebuild_sum(Val* sum, Place* place);
  void add(PartialSum& so_far, const SignedVal& term, const Val* sum);
  /// lhs + rhs or lhs - rhs, one Val wherever it is asked for. `model` is a sum or difference.
  Val* shared_sum(const Val* model, BinaryOpType op, Val* lhs, Val* rhs);
  /// The largest known sum that is a part of `terms` and has a term of their innermost place;
  /// nullptr: none.
  [[nodiscard]] const KnownSum* known_part(const Terms& terms) const;
  Val* rebuild_operation(Val* val, Place* place);
  /// The operation of `model` on these operands, one Val wherever it is asked for.
  Val* shared(Val* model, const std::vector<Val*>& operands);
  using Key = std::tuple<ExprKind, int, DataType, std::vector<const Val*>>;
  Key key_of(ExprKind kind, int op, DataType type, const std::vector<Val*>& operands);

  Kernel& kernel_;
  std::deque<Place> places_;
  std::unordered_set<const Val*> known_;    // sizes and scalar inputs
  std::unordered_set<const Val*> declared_; // by statements of the kernel
  std::map<Key, Val*> shared_;              // looked up only
  std::vector<KnownSum> sums_;              // latest last
  std::map<std::pair<int64_t, DataType>, const Val*> constants_;
  std::unordered_map<const Val*, bool> needs_guard_;
  bool has_many_threads_ = false; // in loops over threads
  bool has_clusters_ = false;
};

} // namespace nvfuser
