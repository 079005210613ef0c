// IndexAlgebra: the arithmetic under IndexSimplifier. Integers are kept as sums of products
//
//   coefficient * atom * atom * ... + coefficient * ... + constant
//
// An atom is what cannot be written as a sum of products of smaller things: a leaf (a loop index,
// an extent, any Val that is not looked into), or a division, remainder, rounded-up division,
// minimum, maximum, exclusive or, ... of sums. Sums, products (monomials) and atoms are interned:
// equal ones are one object, so that equality is identity and results are remembered per object.
//
// The rules are applied when an atom would be made (index_divide.cpp) and when sums are added
// (`add`). Each rule states what it needs; `nonnegative` (index_proofs.cpp) is asked whether it
// holds.
//
// Vocabulary:
//   trunc     division as in C: towards zero; `floor` where both agree (operands >= 0)
//   facts     atoms known to be >= 1 wherever a sum has a value: extents of the leaves in it, and
//             what its divisors are made of. They belong to a sum, not to the algebra: in another
//             loop the same extent may be 0.
//   rank      0 for constants and leaves without a range; an atom ranks above all it is made of, a
//             leaf with a range above its extent. Proofs eliminate from high to low.
//
// Constants are int64. The result of an operation that would overflow is an unknown number, and the
// algebra notes it: the caller that began the computation asks `take_overflow`, and the expression
// stays as it is, or is not proven.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/statement.h"

namespace nvfuser {

using AtomId = int32_t;
using MonomialId = int32_t;           // 0: the empty product
using AtomList = std::vector<AtomId>; // sorted; a repeated factor stands repeatedly
using Facts = const AtomList*;        // interned

/// Bounds by constants; the extreme values of int64 mean "none".
struct Interval {
  static constexpr int64_t kNoLower = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNoUpper = std::numeric_limits<int64_t>::max();
  int64_t lo = kNoLower;
  int64_t hi = kNoUpper;

  [[nodiscard]] bool is_nonnegative() const {
    return lo >= 0;
  }
  [[nodiscard]] bool is_bounded() const {
    return lo != kNoLower && hi != kNoUpper;
  }
};
[[nodiscard]] Interval operator+(const Interval& a, const Interval& b);
[[nodiscard]] Interval operator*(const Interval& a, const Interval& b);

struct IndexTerm {
  int64_t coefficient;
  MonomialId monomial;
  bool operator==(const IndexTerm&) const = default;
};

/// A sum of products. Terms are sorted by monomial and have no zero coefficient.
struct IndexSum {
  std::vector<IndexTerm> terms;
  int32_t id = 0;
  int rank = 0;
  AtomList leaves;   // everything it depends on
  AtomList positive; // its facts
};
using Sum = const IndexSum*;

enum class AtomKind : uint8_t {
  Leaf,
  Div,     // operands [dividend, divisor], trunc
  Mod,     // operands [dividend, divisor], trunc
  CeilDiv, // operands [dividend, divisor]
  Min,
  Max,
  Xor,
  Select,  // operands [condition, if true, if false]
  Cast,    // operands [integer]
  Product, // operands [sum, sum]: a product too large to expand
  Opaque   // any other operation
};

struct IndexAtom {
  AtomKind kind = AtomKind::Leaf;
  Val* leaf = nullptr;          // of a Leaf
  const Expr* origin = nullptr; // of a Select, Cast or Opaque: says which operation it is
  std::vector<Sum> operands;
  Sum extent = nullptr; // of a leaf with a range
  Interval interval;    // of every value it can take, its own facts used
  int rank = 0;
  AtomList leaves;
  AtomList positive;
};

class IndexAlgebra {
 public:
  IndexAlgebra();

  // -- making sums --
  Sum constant(int64_t value);
  Sum leaf(Val* val);
  /// `a + b`, in normal form: divisions and remainders that complete each other are joined.
  Sum add(Sum a, Sum b);
  Sum sub(Sum a, Sum b) {
    return add(a, negate(b));
  }
  Sum scale(Sum a, int64_t factor);
  Sum negate(Sum a) {
    return scale(a, -1);
  }
  Sum mul(Sum a, Sum b);
  Sum div(Sum a, Sum b);
  Sum mod(Sum a, Sum b);
  Sum ceil_div(Sum a, Sum b);
  Sum min(Sum a, Sum b);
  Sum max(Sum a, Sum b);
  Sum bitwise_xor(Sum a, Sum b);
  Sum select(const Expr* origin, Sum condition, Sum if_true, Sum if_false);
  /// The result of `origin` on `operands`; `kind` is Cast or Opaque.
  Sum operation(AtomKind kind, const Expr* origin, std::vector<Sum> operands);

  // -- facts. Sums made before a fact was known do not profit from it. --
  /// 0 <= leaf < extent. Returns the leaf.
  Sum set_range(Val* leaf, Sum extent);
  void set_nonnegative(Sum a);
  /// `b` divides `a`. From then on a / b and ceilDiv(a, b) are one, and b * ceilDiv(a, b) is `a`.
  void assume_divisible(Sum a, Sum b);

  // -- proofs --
  /// a >= 0 wherever `a` (and what `facts` were taken from) has a value.
  bool nonnegative(Sum a, Facts facts);
  [[nodiscard]] Facts facts_of(Sum a);
  [[nodiscard]] Facts facts_of(Sum a, Sum b);
  /// A bound on `a` while the leaves in `over` run over their ranges; nullptr if none is known.
  Sum extreme(Sum a, const AtomList& over, bool want_max, Facts facts);
  [[nodiscard]] Interval interval(Sum a, Facts facts) const;
  /// The part of `a` that decides whether a < extent, and whether a >= 0: what is left in the last
  /// multiple of a divisor of `extent` makes no difference.
  Sum part_that_decides(Sum a, Sum extent);

  /// Whether a constant overflowed since this was asked last. Sums that were made meanwhile may
  /// hold the unknown number: they are of no use.
  [[nodiscard]] bool take_overflow() {
    return std::exchange(has_overflowed_, false);
  }

  [[nodiscard]] bool has_overflowed() const {
    return has_overflowed_;
  }

  // -- looking at sums --
  [[nodiscard]] bool is_constant(Sum a, int64_t* value = nullptr) const;
  [[nodiscard]] bool is_zero(Sum a) const {
    return a->terms.empty();
  }
  /// The atom `a` consists of, with coefficient 1; nullptr else.
  [[nodiscard]] const IndexAtom* as_atom(Sum a) const;
  [[nodiscard]] const IndexAtom& atom(AtomId id) const {
    return atoms_[static_cast<size_t>(id)];
  }
  [[nodiscard]] const AtomList& factors(MonomialId id) const {
    return *monomials_[static_cast<size_t>(id)];
  }
  /// -1 if `val` is not known.
  [[nodiscard]] AtomId leaf_id(const Val* val) const;
  /// The number of a product of known atoms.
  MonomialId monomial(AtomList factors);
  /// s with a == b * s; nullptr if there is none.
  Sum exact_quotient(Sum a, Sum b);
  /// `a` with every remainder written as a difference: x % n = x - x / n * n.
  Sum without_remainders(Sum a);
  /// The same where less of it is then left by `b`, as x - x % n leaves nothing by n; else `a`.
  Sum with_whole_multiples(Sum a, Sum b);
  /// The part of `a` without (first) and with (second) the factor `atom` taken out of each term;
  /// empty if it occurs squared.
  std::optional<std::pair<Sum, Sum>> split_at(Sum a, AtomId atom);
  /// a + b, term by term: no rule is applied.
  Sum plus(Sum a, Sum b);

 private:
  struct Quotient {
    Sum quotient;
    Sum rest;
  };
  using SumPair = std::pair<Sum, Sum>;
  struct PairHash {
    size_t operator()(const SumPair& pair) const {
      return static_cast<size_t>(pair.first->id) * 0x9e3779b97f4a7c15ULL +
             static_cast<size_t>(pair.second->id);
    }
  };

  // index_algebra.cpp
  AtomId leaf_atom(Val* val);
  Sum overflow();
  /// The sum of terms that may come in any order and repeat a monomial.
  Sum intern(std::span<const IndexTerm> terms);
  Sum restore_dividends(Sum a);
  Sum term(int64_t coefficient, MonomialId monomial);
  Sum atom_sum(AtomId id);
  Sum make_atom(AtomKind kind, std::vector<Sum> operands, const Expr* origin = nullptr);
  Interval atom_interval(const IndexAtom& atom);
  MonomialId multiply(MonomialId a, MonomialId b);
  std::optional<MonomialId> divide(MonomialId a, MonomialId b);
  MonomialId common(MonomialId a, MonomialId b);
  [[nodiscard]] bool contains(Sum a, Sum part) const;
  Facts intern_facts(AtomList positive);
  /// Sums that must be >= 1 if `a` is.
  void add_implied_positive(Sum a, AtomList& positive) const;

  // index_recombine.cpp: the rules of `add`
  Sum recombine(Sum a);
  Sum join_remainder(Sum a, const IndexTerm& part, AtomId mod);
  Sum join_quotient(Sum a, const IndexTerm& part, AtomId div);

  // index_divide.cpp
  using PairMemo = std::unordered_map<SumPair, Sum, PairHash>;
  /// Note `result` in `memo`, unless it is of no use.
  Sum remember(PairMemo& memo, Sum a, Sum b, Sum result) const;
  Sum make_div(Sum a, Sum b);
  Sum make_mod(Sum a, Sum b);
  Sum make_ceil_div(Sum a, Sum b);
  Sum divide_reduced(Sum a, Sum b, Facts facts);
  Sum remainder_reduced(Sum a, Sum b, Facts facts);
  Quotient divide_terms(Sum a, Sum b);
  Quotient reduce(Sum a, Sum b, Facts facts);
  IndexTerm content(Sum a);
  std::vector<IndexTerm> partition_factors(Sum a, Sum b);
  Quotient partition(Sum a, const IndexTerm& factor);
  bool fits_below(Sum a, Sum b, Facts facts);
  Facts division_facts(Sum a, Sum b);
  Sum assumed_quotient(Sum a, Sum b);
  [[nodiscard]] bool is_assumed_exact(const IndexAtom& quotient);
  int64_t known_divisor(Sum a);
  Quotient round_down(Sum a, int64_t divisor);
  Sum find_part_that_decides(Sum a, Sum extent);
  std::optional<int64_t> constant_quotient(Sum a, Sum b, Facts facts, bool round_up);

  // index_proofs.cpp
  struct Bounds {
    std::vector<Sum> lower;
    std::vector<Sum> upper;
  };
  bool search(Sum a, Facts facts);
  bool take_steps(Sum a);
  bool outweighs(Sum a, Facts facts);
  std::optional<bool> eliminate(Sum a, AtomId atom, Facts facts);
  Bounds bounds_of(AtomId atom, Facts facts);
  void add_quotient_bounds(const IndexAtom& atom, Facts facts, Bounds& bounds);
  std::vector<Sum> relate_quotient(
      const IndexAtom& atom, Sum factor, Sum rest, bool is_factor_positive);
  Sum quotient_bound(Sum extreme, Sum divisor, bool round_up, bool want_max, Facts facts);
  Sum atom_extreme(AtomId atom, const AtomList& over, bool want_max, Facts facts);
  [[nodiscard]] Interval interval(MonomialId monomial, Facts facts) const;
  AtomList atoms_by_rank(Sum a) const;

  struct TermsHash {
    size_t operator()(Sum a) const;
  };
  struct TermsEqual {
    bool operator()(Sum a, Sum b) const {
      return a->terms == b->terms;
    }
  };
  std::deque<IndexSum> sums_;
  IndexSum looked_up_; // its terms are those of the last sum that was looked for
  std::unordered_set<Sum, TermsHash, TermsEqual> sum_index_;
  std::deque<IndexAtom> atoms_;
  std::unordered_multimap<size_t, AtomId> atom_index_;
  std::unordered_map<const Val*, AtomId> leaf_index_;
  std::map<AtomList, MonomialId> monomial_index_;
  std::vector<const AtomList*> monomials_;
  std::set<AtomList> facts_index_;

  PairMemo div_memo_;
  PairMemo mod_memo_;
  PairMemo ceil_div_memo_;
  PairMemo decides_memo_;
  std::map<std::pair<int32_t, Facts>, bool> proof_memo_; // looked up only: order is never seen
  std::vector<Sum> nonnegative_sums_;
  std::vector<SumPair> exact_divisions_; // dividend, divisor
  int proof_depth_ = 0;
  int proof_steps_ = 0;
  bool has_overflowed_ = false;
  Sum unknown_ = nullptr; // the result of what overflowed; made when first needed
};

} // namespace nvfuser
