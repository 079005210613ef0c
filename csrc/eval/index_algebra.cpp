#include "eval/index_algebra.h"

#include <algorithm>
#include <bit>

#include "ir/expr.h"

namespace nvfuser {

namespace {

/// Products of sums with more terms than this stay products, and those with longer terms: squaring
/// doubles the factors of a term each time.
constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxFactors = 64;

using Wide = __int128;

int64_t clamp(Wide value) {
  if (value <= Interval::kNoLower) {
    return Interval::kNoLower;
  }
  return value >= Interval::kNoUpper ? Interval::kNoUpper : static_cast<int64_t>(value);
}

// The smallest int64 has no negative and counts as an overflow: every coefficient has one.

std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflows = __builtin_mul_overflow(a, b, &result) || result == Interval::kNoLower;
  return overflows ? std::nullopt : std::optional(result);
}

std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t result = 0;
  const bool overflows = __builtin_add_overflow(a, b, &result) || result == Interval::kNoLower;
  return overflows ? std::nullopt : std::optional(result);
}

bool is_unbounded(int64_t end) {
  return end == Interval::kNoLower || end == Interval::kNoUpper;
}

/// An end of an interval times an end of another: 0 times "no bound" is 0.
int64_t multiply_ends(int64_t a, int64_t b) {
  if (a != 0 && b != 0 && (is_unbounded(a) || is_unbounded(b))) {
    return (a < 0) == (b < 0) ? Interval::kNoUpper : Interval::kNoLower;
  }
  return clamp(static_cast<Wide>(a) * b);
}

/// `list`, sorted, every atom once.
AtomList as_set(AtomList list) {
  std::ranges::sort(list);
  const auto repeated = std::ranges::unique(list);
  list.erase(repeated.begin(), repeated.end());
  return list;
}

void merge_into(AtomList& list, const AtomList& other) {
  if (other.empty()) {
    return;
  }
  AtomList merged;
  merged.reserve(list.size() + other.size());
  std::set_union(list.begin(), list.end(), other.begin(), other.end(), std::back_inserter(merged));
  list = std::move(merged);
}

void insert_sorted(AtomList& list, AtomId id) {
  const auto position = std::lower_bound(list.begin(), list.end(), id);
  if (position == list.end() || *position != id) {
    list.insert(position, id);
  }
}

/// 2^k - 1 for the smallest k that makes it >= value >= 0: what bitwise operations stay below.
int64_t all_ones_above(int64_t value) {
  return static_cast<int64_t>((uint64_t{1} << std::bit_width(static_cast<uint64_t>(value))) - 1);
}

} // namespace

Interval operator+(const Interval& a, const Interval& b) {
  Interval sum;
  if (a.lo != Interval::kNoLower && b.lo != Interval::kNoLower) {
    sum.lo = clamp(static_cast<Wide>(a.lo) + b.lo);
  }
  if (a.hi != Interval::kNoUpper && b.hi != Interval::kNoUpper) {
    sum.hi = clamp(static_cast<Wide>(a.hi) + b.hi);
  }
  return sum;
}

Interval operator*(const Interval& a, const Interval& b) {
  const auto [lo, hi] = std::minmax(
      {multiply_ends(a.lo, b.lo), multiply_ends(a.lo, b.hi), multiply_ends(a.hi, b.lo),
       multiply_ends(a.hi, b.hi)});
  return {lo, hi};
}

// ---- Interning ---------------------------------------------------------------------------------

size_t IndexAlgebra::TermsHash::operator()(Sum a) const {
  size_t hash = a->terms.size();
  for (const IndexTerm& term : a->terms) {
    hash = detail::hash_combine(hash, static_cast<size_t>(term.coefficient));
    hash = detail::hash_combine(hash, static_cast<size_t>(term.monomial));
  }
  return hash;
}

IndexAlgebra::IndexAlgebra() {
  monomial({}); // the empty product is number 0
}

MonomialId IndexAlgebra::monomial(AtomList factors) {
  const auto [position, is_new] =
      monomial_index_.emplace(std::move(factors), static_cast<MonomialId>(monomials_.size()));
  if (is_new) {
    monomials_.push_back(&position->first);
  }
  return position->second;
}

MonomialId IndexAlgebra::multiply(MonomialId a, MonomialId b) {
  if (a == 0 || b == 0) {
    return a + b;
  }
  AtomList product;
  std::ranges::merge(factors(a), factors(b), std::back_inserter(product));
  return monomial(std::move(product));
}

std::optional<MonomialId> IndexAlgebra::divide(MonomialId a, MonomialId b) {
  if (b == 0) {
    return a;
  }
  if (!std::ranges::includes(factors(a), factors(b))) {
    return std::nullopt;
  }
  AtomList quotient;
  std::ranges::set_difference(factors(a), factors(b), std::back_inserter(quotient));
  return monomial(std::move(quotient));
}

MonomialId IndexAlgebra::common(MonomialId a, MonomialId b) {
  AtomList shared;
  std::ranges::set_intersection(factors(a), factors(b), std::back_inserter(shared));
  return monomial(std::move(shared));
}

/// Most sums are known already: looking one up allocates nothing.
Sum IndexAlgebra::intern(std::span<const IndexTerm> given) {
  std::vector<IndexTerm>& terms = looked_up_.terms;
  terms.assign(given.begin(), given.end());
  std::ranges::sort(terms, {}, &IndexTerm::monomial);
  size_t size = 0; // of what is added up, at the front
  for (const IndexTerm term : terms) {
    if (size > 0 && terms[size - 1].monomial == term.monomial) {
      const auto coefficient = checked_add(terms[size - 1].coefficient, term.coefficient);
      if (!coefficient) {
        return overflow();
      }
      terms[size - 1].coefficient = *coefficient;
    } else {
      terms[size++] = term;
    }
    if (terms[size - 1].coefficient == 0) {
      --size;
    }
  }
  terms.resize(size);
  if (const auto known = sum_index_.find(&looked_up_); known != sum_index_.end()) {
    return *known;
  }
  IndexSum sum;
  sum.terms = terms;
  const auto append = [](AtomList& to, const AtomList& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  AtomList leaves;
  AtomList positive;
  for (const IndexTerm& term : sum.terms) {
    for (const AtomId id : factors(term.monomial)) {
      append(leaves, atom(id).leaves);
      append(positive, atom(id).positive);
      sum.rank = std::max(sum.rank, atom(id).rank);
    }
  }
  sum.leaves = as_set(std::move(leaves));
  sum.positive = as_set(std::move(positive));
  sum.id = static_cast<int32_t>(sums_.size());
  sums_.push_back(std::move(sum));
  sum_index_.insert(&sums_.back());
  return &sums_.back();
}

Facts IndexAlgebra::intern_facts(AtomList positive) {
  return &*facts_index_.insert(std::move(positive)).first;
}

Sum IndexAlgebra::constant(int64_t value) {
  return value == Interval::kNoLower ? overflow() : term(value, 0);
}

/// The result of what overflows: a number that nothing is known of. It is a leaf, so that what goes
/// on with it needs no care.
Sum IndexAlgebra::overflow() {
  has_overflowed_ = true;
  if (unknown_ == nullptr) {
    const auto id = static_cast<AtomId>(atoms_.size());
    atoms_.emplace_back().leaves = {id};
    unknown_ = atom_sum(id);
  }
  return unknown_;
}

Sum IndexAlgebra::term(int64_t coefficient, MonomialId monomial) {
  const IndexTerm alone{coefficient, monomial};
  return intern(std::span(&alone, coefficient == 0 ? 0 : 1));
}

Sum IndexAlgebra::atom_sum(AtomId id) {
  return term(1, monomial({id}));
}

bool IndexAlgebra::is_constant(Sum a, int64_t* value) const {
  const bool is_constant =
      a->terms.empty() || (a->terms.size() == 1 && a->terms.front().monomial == 0);
  if (is_constant && value != nullptr) {
    *value = a->terms.empty() ? 0 : a->terms.front().coefficient;
  }
  return is_constant;
}

const IndexAtom* IndexAlgebra::as_atom(Sum a) const {
  if (a->terms.size() != 1 || a->terms.front().coefficient != 1) {
    return nullptr;
  }
  const AtomList& list = factors(a->terms.front().monomial);
  return list.size() == 1 ? &atom(list.front()) : nullptr;
}

bool IndexAlgebra::contains(Sum a, Sum part) const {
  return std::ranges::all_of(part->terms, [&](const IndexTerm& term) {
    const auto found = std::ranges::lower_bound(a->terms, term.monomial, {}, &IndexTerm::monomial);
    return found != a->terms.end() && *found == term;
  });
}

// ---- Atoms -------------------------------------------------------------------------------------

AtomId IndexAlgebra::leaf_id(const Val* val) const {
  const auto known = leaf_index_.find(val);
  return known == leaf_index_.end() ? -1 : known->second;
}

Sum IndexAlgebra::leaf(Val* val) {
  return atom_sum(leaf_atom(val));
}

AtomId IndexAlgebra::leaf_atom(Val* val) {
  if (const AtomId known = leaf_id(val); known >= 0) {
    return known;
  }
  // Metadata such as the size of a tensor is computed anew at each use.
  const size_t hash = detail::hash_val(val);
  if (val->definition() != nullptr) {
    const auto [first, last] = atom_index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      const IndexAtom& other = atom(it->second);
      if (other.kind == AtomKind::Leaf && other.extent == nullptr &&
          detail::same_val(other.leaf, val)) {
        leaf_index_.emplace(val, it->second);
        return it->second;
      }
    }
  }
  const auto id = static_cast<AtomId>(atoms_.size());
  IndexAtom atom;
  atom.leaf = val;
  atom.leaves = {id};
  atoms_.push_back(std::move(atom));
  leaf_index_.emplace(val, id);
  atom_index_.emplace(hash, id);
  return id;
}

Sum IndexAlgebra::make_atom(AtomKind kind, std::vector<Sum> operands, const Expr* origin) {
  size_t hash = detail::hash_combine(static_cast<size_t>(kind), operands.size());
  if (origin != nullptr) {
    hash = detail::hash_combine(hash, origin->op_hash());
  }
  for (const Sum operand : operands) {
    hash = detail::hash_combine(hash, static_cast<size_t>(operand->id));
  }
  const auto [first, last] = atom_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const IndexAtom& other = atom(it->second);
    if (other.kind == kind && other.operands == operands &&
        (origin == nullptr || (origin->same_op(other.origin) &&
                               origin->output(0)->dtype() == other.origin->output(0)->dtype()))) {
      return atom_sum(it->second);
    }
  }
  IndexAtom made;
  made.kind = kind;
  made.origin = origin;
  made.operands = std::move(operands);
  for (const Sum operand : made.operands) {
    merge_into(made.leaves, operand->leaves);
    made.rank = std::max(made.rank, operand->rank + 1);
    // Only one side of a selection has a value.
    if (kind != AtomKind::Select || operand == made.operands.front()) {
      merge_into(made.positive, operand->positive);
    }
  }
  if (kind == AtomKind::Div || kind == AtomKind::Mod || kind == AtomKind::CeilDiv) {
    add_implied_positive(made.operands[1], made.positive);
  }
  made.interval = atom_interval(made);
  const auto id = static_cast<AtomId>(atoms_.size());
  atoms_.push_back(std::move(made));
  atom_index_.emplace(hash, id);
  return atom_sum(id);
}

Interval IndexAlgebra::atom_interval(const IndexAtom& atom) {
  const Facts facts = intern_facts(atom.positive);
  std::vector<Interval> of;
  for (const Sum operand : atom.operands) {
    of.push_back(interval(operand, facts));
  }
  switch (atom.kind) {
    case AtomKind::Div:
    case AtomKind::CeilDiv: {
      if (of[1].lo < 0) {
        return {};
      }
      // Dividing by something >= 1 moves a value towards 0.
      const bool round_up = atom.kind == AtomKind::CeilDiv;
      const auto divide = [&](int64_t value, int64_t by) {
        return by <= 0 ? value : value / by + (round_up && value > 0 && value % by != 0 ? 1 : 0);
      };
      Interval result = {std::min(of[0].lo, int64_t{0}), std::max(of[0].hi, int64_t{0})};
      if (of[0].lo >= 0) {
        result.lo = of[1].hi == Interval::kNoUpper ? 0 : divide(of[0].lo, of[1].hi);
      }
      if (of[0].hi != Interval::kNoUpper && of[0].hi >= 0) {
        result.hi = divide(of[0].hi, of[1].lo);
      }
      return result;
    }
    case AtomKind::Mod: {
      Interval result = {of[0].lo >= 0 ? 0 : of[0].lo, std::max(of[0].hi, int64_t{0})};
      if (of[1].lo >= 0 && of[1].hi != Interval::kNoUpper) {
        const int64_t last = std::max<int64_t>(of[1].hi - 1, 0);
        result = {std::max(result.lo, -last), std::min(result.hi, last)};
      }
      return result;
    }
    case AtomKind::Min: return {std::min(of[0].lo, of[1].lo), std::min(of[0].hi, of[1].hi)};
    case AtomKind::Max: return {std::max(of[0].lo, of[1].lo), std::max(of[0].hi, of[1].hi)};
    case AtomKind::Xor:
      if (of[0].lo < 0 || of[1].lo < 0) {
        return {};
      }
      if (!of[0].is_bounded() || !of[1].is_bounded()) {
        return {0, Interval::kNoUpper};
      }
      return {0, all_ones_above(std::max(of[0].hi, of[1].hi))};
    case AtomKind::Select: return {std::min(of[1].lo, of[2].lo), std::max(of[1].hi, of[2].hi)};
    case AtomKind::Cast: return of[0];
    case AtomKind::Product: return of[0] * of[1];
    case AtomKind::Leaf:
    case AtomKind::Opaque: break;
  }
  return {};
}

// ---- Facts -------------------------------------------------------------------------------------

void IndexAlgebra::add_implied_positive(Sum a, AtomList& positive) const {
  if (a->terms.size() != 1 || a->terms.front().coefficient < 0) {
    return;
  }
  // A product of integers >= 0 that is >= 1 has no factor 0.
  const AtomList& list = factors(a->terms.front().monomial);
  if (!std::ranges::all_of(list, [&](AtomId id) { return atom(id).interval.is_nonnegative(); })) {
    return;
  }
  for (const AtomId id : list) {
    insert_sorted(positive, id);
    const AtomKind kind = atom(id).kind;
    if (kind == AtomKind::Div || kind == AtomKind::CeilDiv || kind == AtomKind::Mod) {
      add_implied_positive(atom(id).operands[0], positive);
    }
  }
}

void IndexAlgebra::set_nonnegative(Sum a) {
  if (a->terms.size() == 1 && a->terms.front().coefficient > 0) {
    // A product of extents is the extent of merged axes: each of them is an extent.
    for (const AtomId id : factors(a->terms.front().monomial)) {
      IndexAtom& factor = atoms_[static_cast<size_t>(id)];
      if (factor.kind == AtomKind::Leaf) {
        factor.interval.lo = std::max<int64_t>(factor.interval.lo, 0);
      }
    }
  }
  if (interval(a, facts_of(a)).lo < 0) {
    nonnegative_sums_.push_back(a);
  }
  proof_memo_.clear();
}

void IndexAlgebra::assume_divisible(Sum a, Sum b) {
  exact_divisions_.emplace_back(a, b);
}

Sum IndexAlgebra::set_range(Val* leaf, Sum extent) {
  set_nonnegative(extent);
  const AtomId id = leaf_atom(leaf);
  IndexAtom& index = atoms_[static_cast<size_t>(id)];
  index.extent = extent;
  index.rank = extent->rank + 1;
  index.positive.clear();
  merge_into(index.positive, extent->positive);
  add_implied_positive(extent, index.positive);
  index.interval = {0, Interval::kNoUpper};
  const Interval range = interval(extent, intern_facts(index.positive));
  if (range.hi != Interval::kNoUpper) {
    index.interval.hi = std::max<int64_t>(range.hi - 1, 0);
  }
  return atom_sum(id); // made now: it takes over rank and facts
}

Facts IndexAlgebra::facts_of(Sum a) {
  return intern_facts(a->positive);
}

Facts IndexAlgebra::facts_of(Sum a, Sum b) {
  AtomList positive = a->positive;
  merge_into(positive, b->positive);
  return intern_facts(std::move(positive));
}

// ---- Arithmetic --------------------------------------------------------------------------------

Sum IndexAlgebra::plus(Sum a, Sum b) {
  if (is_zero(a)) {
    return b;
  }
  if (is_zero(b)) {
    return a;
  }
  std::vector<IndexTerm> terms = a->terms;
  terms.insert(terms.end(), b->terms.begin(), b->terms.end());
  return restore_dividends(intern(terms));
}

Sum IndexAlgebra::add(Sum a, Sum b) {
  return recombine(plus(a, b));
}

Sum IndexAlgebra::scale(Sum a, int64_t factor) {
  if (factor == 1) {
    return a;
  }
  std::vector<IndexTerm> terms = a->terms;
  for (IndexTerm& term : terms) {
    const auto coefficient = checked_mul(term.coefficient, factor);
    if (!coefficient) {
      return overflow();
    }
    term.coefficient = *coefficient;
  }
  if (factor == 0) {
    terms.clear();
  }
  return restore_dividends(intern(terms));
}

Sum IndexAlgebra::mul(Sum a, Sum b) {
  int64_t factor = 0;
  if (is_constant(b, &factor)) {
    return scale(a, factor);
  }
  if (is_constant(a, &factor)) {
    return scale(b, factor);
  }
  const auto longest = [&](Sum sum) {
    size_t length = 0;
    for (const IndexTerm& term : sum->terms) {
      length = std::max(length, factors(term.monomial).size());
    }
    return length;
  };
  if (a->terms.size() * b->terms.size() > kMaxTerms || longest(a) + longest(b) > kMaxFactors) {
    return make_atom(AtomKind::Product, a->id < b->id ? std::vector{a, b} : std::vector{b, a});
  }
  std::vector<IndexTerm> terms;
  for (const IndexTerm& left : a->terms) {
    for (const IndexTerm& right : b->terms) {
      const auto coefficient = checked_mul(left.coefficient, right.coefficient);
      if (!coefficient) {
        return overflow();
      }
      terms.push_back({*coefficient, multiply(left.monomial, right.monomial)});
    }
  }
  return restore_dividends(intern(terms));
}

Sum IndexAlgebra::min(Sum a, Sum b) {
  const Facts facts = facts_of(a, b);
  if (nonnegative(plus(b, negate(a)), facts)) {
    return a;
  }
  if (nonnegative(plus(a, negate(b)), facts)) {
    return b;
  }
  return make_atom(AtomKind::Min, a->id < b->id ? std::vector{a, b} : std::vector{b, a});
}

Sum IndexAlgebra::max(Sum a, Sum b) {
  const Facts facts = facts_of(a, b);
  if (nonnegative(plus(a, negate(b)), facts)) {
    return a;
  }
  if (nonnegative(plus(b, negate(a)), facts)) {
    return b;
  }
  return make_atom(AtomKind::Max, a->id < b->id ? std::vector{a, b} : std::vector{b, a});
}

Sum IndexAlgebra::bitwise_xor(Sum a, Sum b) {
  int64_t left = 0;
  int64_t right = 0;
  if (is_constant(a, &left) && is_constant(b, &right)) {
    return constant(left ^ right);
  }
  if (a == b) {
    return constant(0);
  }
  if (is_zero(a) || is_zero(b)) {
    return is_zero(a) ? b : a;
  }
  return make_atom(AtomKind::Xor, a->id < b->id ? std::vector{a, b} : std::vector{b, a});
}

Sum IndexAlgebra::select(const Expr* origin, Sum condition, Sum if_true, Sum if_false) {
  if (if_true == if_false) {
    return if_true;
  }
  return make_atom(AtomKind::Select, {condition, if_true, if_false}, origin);
}

Sum IndexAlgebra::operation(AtomKind kind, const Expr* origin, std::vector<Sum> operands) {
  return make_atom(kind, std::move(operands), origin);
}

std::optional<std::pair<Sum, Sum>> IndexAlgebra::split_at(Sum a, AtomId atom) {
  std::vector<IndexTerm> with;
  std::vector<IndexTerm> without;
  for (const IndexTerm& term : a->terms) {
    const auto [first, last] = std::ranges::equal_range(factors(term.monomial), atom);
    if (last - first > 1) {
      return std::nullopt;
    }
    if (first == last) {
      without.push_back(term);
    } else {
      with.push_back({term.coefficient, *divide(term.monomial, monomial({atom}))});
    }
  }
  return std::pair{intern(without), intern(with)};
}

} // namespace nvfuser
