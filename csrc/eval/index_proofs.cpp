// Proofs about sums: intervals of constants first, then elimination.
//
// To show a >= 0, the atom of highest rank is replaced by the end of its range that makes `a`
// smallest: with a = A * x + B and A >= 0, x by a lower bound. The rest has fewer or lower
// atoms; it is enough if it is >= 0 for one of the bounds of x. A quotient q = x / n (or rounded
// up) is also replaced through q * n <= x, which keeps what a bound of q alone would lose:
//
//   n - 4 * o - 1, o < ceilDiv(n, 4)    o -> ceilDiv(n, 4) - 1    gives  n + 3 - 4 * ceilDiv(n, 4)
//                                       4 * ceilDiv(n, 4) -> n + 3    gives  0
#include <algorithm>
#include <numeric>

#include "eval/index_algebra.h"

namespace nvfuser {

namespace {

/// Steps of one proof; those about indices take less than twenty.
constexpr int kProofSteps = 256;
/// A sum of more terms costs more steps, so that the time of a proof does not grow with them.
constexpr size_t kTermsOfOneStep = 8;

bool is_either_operand(AtomKind kind) {
  return kind == AtomKind::Min || kind == AtomKind::Max || kind == AtomKind::Select;
}

} // namespace

// ---- Constant bounds ---------------------------------------------------------------------------

Interval IndexAlgebra::interval(MonomialId monomial, Facts facts) const {
  Interval product = {1, 1};
  for (const AtomId id : factors(monomial)) {
    Interval range = atom(id).interval;
    if (range.lo < 1 && std::ranges::binary_search(*facts, id)) {
      range.lo = 1;
      range.hi = std::max<int64_t>(range.hi, 1);
    }
    product = product * range;
  }
  return product;
}

Interval IndexAlgebra::interval(Sum a, Facts facts) const {
  Interval total = {0, 0};
  for (const IndexTerm& part : a->terms) {
    const Interval coefficient = {part.coefficient, part.coefficient};
    total = total + coefficient * interval(part.monomial, facts);
  }
  return total;
}

/// Whether the terms > 0 make up for the terms < 0 because they have factors >= 1 more:
/// n * m - n >= 0 for m >= 1.
bool IndexAlgebra::outweighs(Sum a, Facts facts) {
  std::vector<IndexTerm> positive;
  for (const IndexTerm& part : a->terms) {
    if (interval(part.monomial, facts).lo < 0) {
      return false;
    }
    if (part.coefficient > 0) {
      positive.push_back(part);
    }
  }
  for (const IndexTerm& part : a->terms) {
    if (part.coefficient > 0) {
      continue;
    }
    int64_t missing = -part.coefficient;
    for (IndexTerm& available : positive) {
      const auto ratio = divide(available.monomial, part.monomial);
      const int64_t least = ratio ? interval(*ratio, facts).lo : 0;
      if (least < 1 || available.coefficient == 0) {
        continue;
      }
      const int64_t needed = missing / least + (missing % least != 0 ? 1 : 0);
      const int64_t used = std::min(needed, available.coefficient);
      missing = used == needed ? 0 : missing - used * least;
      available.coefficient -= used;
    }
    if (missing > 0) {
      return false;
    }
  }
  return true;
}

// ---- a >= 0 ------------------------------------------------------------------------------------

bool IndexAlgebra::nonnegative(Sum a, Facts facts) {
  if (has_overflowed_) {
    return false; // it is asked of sums that are of no use
  }
  const Interval range = interval(a, facts);
  if (range.lo >= 0 || range.hi < 0) {
    return range.lo >= 0;
  }
  const std::pair key(a->id, facts);
  if (const auto known = proof_memo_.find(key); known != proof_memo_.end()) {
    return known->second;
  }
  if (proof_depth_ == 0) {
    proof_steps_ = kProofSteps;
  }
  ++proof_depth_;
  const bool is_found = search(a, facts);
  const bool is_proven = !take_overflow() && is_found;
  --proof_depth_;
  // A failure deep inside may be one of patience only.
  if (is_proven || proof_depth_ == 0) {
    proof_memo_.emplace(key, is_proven);
  }
  return is_proven;
}

AtomList IndexAlgebra::atoms_by_rank(Sum a) const {
  AtomList result;
  for (const IndexTerm& part : a->terms) {
    const AtomList& list = factors(part.monomial);
    result.insert(result.end(), list.begin(), list.end());
  }
  std::ranges::sort(
      result, std::ranges::greater{}, [&](AtomId id) { return std::pair(atom(id).rank, id); });
  const auto repeated = std::ranges::unique(result);
  result.erase(repeated.begin(), repeated.end());
  return result;
}

bool IndexAlgebra::search(Sum a, Facts facts) {
  const Interval range = interval(a, facts);
  if (range.lo >= 0 || range.hi < 0) {
    return range.lo >= 0;
  }
  if (!take_steps(a)) {
    return false;
  }
  if (outweighs(a, facts)) {
    return true;
  }
  for (const Sum known : nonnegative_sums_) {
    const Sum difference = plus(a, negate(known));
    if (interval(difference, facts).lo >= 0 || outweighs(difference, facts)) {
      return true;
    }
  }
  for (const AtomId id : atoms_by_rank(a)) {
    if (const auto is_proven = eliminate(a, id, facts)) {
      return *is_proven;
    }
    if (a->terms.size() > kTermsOfOneStep && !take_steps(a)) { // each attempt reads all terms
      return false;
    }
  }
  return false;
}

/// Whether patience is left for a look at all terms of `a`. None is left for what has overflowed.
bool IndexAlgebra::take_steps(Sum a) {
  proof_steps_ -= 1 + static_cast<int>(a->terms.size() / kTermsOfOneStep);
  return proof_steps_ >= 0 && !has_overflowed_;
}

/// Whether a >= 0 follows from bounds of `atom`; empty if there are none to try.
std::optional<bool> IndexAlgebra::eliminate(Sum a, AtomId id, Facts facts) {
  const auto parts = split_at(a, id);
  if (!parts) {
    return std::nullopt;
  }
  const auto [rest, factor] = *parts;
  const auto holds_for = [&](Sum bound) { return search(plus(rest, mul(factor, bound)), facts); };
  const IndexAtom& x = atom(id);
  const bool is_positive = nonnegative(factor, facts);
  const bool is_negative = !is_positive && nonnegative(negate(factor), facts);
  if (is_either_operand(x.kind)) {
    const bool first = holds_for(x.operands[x.operands.size() - 2]);
    const bool is_one_enough =
        (x.kind == AtomKind::Min && is_negative) || (x.kind == AtomKind::Max && is_positive);
    return is_one_enough ? first || holds_for(x.operands.back())
                         : first && holds_for(x.operands.back());
  }
  if (!is_positive && !is_negative) {
    return std::nullopt;
  }
  const Bounds bounds = bounds_of(id, facts);
  const std::vector<Sum>& ends = is_positive ? bounds.lower : bounds.upper;
  const std::vector<Sum> related = relate_quotient(x, factor, rest, is_positive);
  if (ends.empty() && related.empty()) {
    return std::nullopt;
  }
  return std::ranges::any_of(related, [&](Sum replaced) { return search(replaced, facts); }) ||
         std::ranges::any_of(ends, holds_for);
}

/// Sums that are <= m * (factor * q + rest) for some m >= 1, because q * n is near to x; q = x / n.
std::vector<Sum> IndexAlgebra::relate_quotient(
    const IndexAtom& quotient, Sum factor, Sum rest, bool is_factor_positive) {
  const bool is_ceil = quotient.kind == AtomKind::CeilDiv;
  if (quotient.kind != AtomKind::Div && !is_ceil) {
    return {};
  }
  const Sum x = quotient.operands[0];
  const Sum n = quotient.operands[1];
  const Facts facts = division_facts(x, n);
  if (!nonnegative(x, facts) || !nonnegative(n, facts)) {
    return {};
  }
  const int64_t divisor = content(n).coefficient;
  const int64_t multiple = divisor / std::gcd(content(factor).coefficient, divisor);
  const Sum scaled = exact_quotient(scale(factor, multiple), n);
  if (scaled == nullptr) {
    return {};
  }
  // q * n lies in (x - n, x], rounded up in [x, x + n).
  Sum end = x;
  if (is_assumed_exact(quotient)) {
    // q * n is x
  } else if (is_ceil && !is_factor_positive) {
    end = plus(plus(x, n), constant(-1));
  } else if (!is_ceil && is_factor_positive) {
    end = plus(plus(x, negate(n)), constant(1));
  }
  return {plus(mul(scaled, end), scale(rest, multiple))};
}

IndexAlgebra::Bounds IndexAlgebra::bounds_of(AtomId id, Facts facts) {
  const IndexAtom& x = atom(id);
  Bounds bounds;
  if (x.extent != nullptr) {
    bounds.upper.push_back(plus(x.extent, constant(-1)));
  }
  if (x.kind == AtomKind::Cast) {
    bounds.lower.push_back(x.operands[0]);
    bounds.upper.push_back(x.operands[0]);
  }
  if (x.kind == AtomKind::Mod && nonnegative(x.operands[1], facts)) {
    const Sum last = plus(x.operands[1], constant(-1));
    bounds.upper.push_back(last);
    if (nonnegative(x.operands[0], facts)) {
      bounds.lower.push_back(constant(0));
      bounds.upper.push_back(x.operands[0]); // x % n <= x
    } else {
      bounds.lower.push_back(negate(last));
    }
  }
  if (x.kind == AtomKind::Div || x.kind == AtomKind::CeilDiv) {
    add_quotient_bounds(x, facts, bounds);
  }
  const Interval range = interval(monomial({id}), facts);
  if (range.lo != Interval::kNoLower) {
    bounds.lower.push_back(constant(range.lo));
  }
  if (range.hi != Interval::kNoUpper) {
    bounds.upper.push_back(constant(range.hi));
  }
  return bounds;
}

void IndexAlgebra::add_quotient_bounds(const IndexAtom& atom, Facts facts, Bounds& bounds) {
  const Sum x = atom.operands[0];
  const Sum n = atom.operands[1];
  if (!nonnegative(n, facts)) {
    return;
  }
  const bool is_ceil = atom.kind == AtomKind::CeilDiv;
  AtomList ranged;
  std::ranges::copy_if(
      x->leaves, std::back_inserter(ranged), [&](AtomId id) { return this->atom(id).extent; });
  for (const bool want_max : {false, true}) {
    const Sum end = ranged.empty() ? nullptr : extreme(x, ranged, want_max, facts);
    if (end != nullptr) {
      (want_max ? bounds.upper : bounds.lower)
          .push_back(quotient_bound(end, n, is_ceil, want_max, facts));
    }
  }
  if (nonnegative(x, facts)) {
    bounds.lower.push_back(constant(0));
    bounds.upper.push_back(x);
  }
}

// ---- Extrema -----------------------------------------------------------------------------------

Sum IndexAlgebra::extreme(Sum a, const AtomList& over, bool want_max, Facts facts) {
  const auto depends = [&](AtomId id) {
    return std::ranges::any_of(
        atom(id).leaves, [&](AtomId leaf) { return std::ranges::binary_search(over, leaf); });
  };
  while (true) {
    const AtomList atoms = atoms_by_rank(a);
    const auto next = std::ranges::find_if(atoms, depends);
    if (next == atoms.end()) {
      return a;
    }
    const auto parts = split_at(a, *next);
    if (!parts) {
      return nullptr;
    }
    const auto [rest, factor] = *parts;
    const bool is_positive = nonnegative(factor, facts);
    if (!is_positive && !nonnegative(negate(factor), facts)) {
      return nullptr;
    }
    const Sum end = atom_extreme(*next, over, is_positive == want_max, facts);
    if (end == nullptr || has_overflowed_) {
      return nullptr;
    }
    a = plus(rest, mul(factor, end));
  }
}

Sum IndexAlgebra::atom_extreme(AtomId id, const AtomList& over, bool want_max, Facts facts) {
  const IndexAtom& x = atom(id);
  const auto is_fixed = [&](Sum a) {
    return std::ranges::none_of(
        a->leaves, [&](AtomId leaf) { return std::ranges::binary_search(over, leaf); });
  };
  const int64_t end = want_max ? x.interval.hi : x.interval.lo;
  const bool has_end = end != (want_max ? Interval::kNoUpper : Interval::kNoLower);
  const Sum known = has_end ? constant(end) : nullptr;
  if (x.kind == AtomKind::Leaf) {
    if (x.extent == nullptr) {
      return known;
    }
    return want_max ? plus(x.extent, constant(-1)) : constant(0);
  }
  if (x.kind == AtomKind::Mod) {
    if (!is_fixed(x.operands[1]) || !nonnegative(x.operands[1], facts)) {
      return known;
    }
    const Sum last = plus(x.operands[1], constant(-1));
    if (want_max) {
      return last;
    }
    return nonnegative(x.operands[0], facts) ? constant(0) : negate(last);
  }
  if (x.kind == AtomKind::Div || x.kind == AtomKind::CeilDiv) {
    const Sum bound = is_fixed(x.operands[1]) && nonnegative(x.operands[1], facts)
                          ? extreme(x.operands[0], over, want_max, facts)
                          : nullptr;
    return bound == nullptr
               ? known
               : quotient_bound(bound, x.operands[1], x.kind == AtomKind::CeilDiv, want_max, facts);
  }
  if (is_either_operand(x.kind)) {
    const Sum first = extreme(x.operands[x.operands.size() - 2], over, want_max, facts);
    const Sum second = extreme(x.operands.back(), over, want_max, facts);
    // The side that a selection does not take may have no value: the two are never compared.
    const bool is_comparable = x.kind != AtomKind::Select;
    if (first == nullptr || second == nullptr || (first != second && !is_comparable)) {
      return known;
    }
    return x.kind == AtomKind::Max ? max(first, second) : min(first, second);
  }
  return known;
}

/// A bound of x / divisor (or ceilDiv) where `extreme` is the bound of x on the same side. Both
/// divisions are monotone in x, whatever its sign; divisor >= 1.
Sum IndexAlgebra::quotient_bound(
    Sum extreme, Sum divisor, bool round_up, bool want_max, Facts facts) {
  if (want_max && nonnegative(extreme, facts)) {
    // extreme = divisor * s + r: floor gives s for 0 <= r < divisor, s - 1 for -divisor <= r < 0;
    // rounding up gives s for -divisor < r <= 0.
    const Quotient parts = divide_terms(extreme, divisor);
    const Sum minus_rest = negate(parts.rest);
    const Sum minus_one = constant(-1);
    if (round_up) {
      if (nonnegative(minus_rest, facts) &&
          nonnegative(plus(plus(parts.rest, divisor), minus_one), facts)) {
        return parts.quotient;
      }
    } else if (nonnegative(parts.rest, facts) && fits_below(parts.rest, divisor, facts)) {
      return parts.quotient;
    } else if (
        nonnegative(plus(minus_rest, minus_one), facts) &&
        nonnegative(plus(parts.rest, divisor), facts)) {
      return plus(parts.quotient, minus_one);
    }
  }
  return round_up ? ceil_div(extreme, divisor) : div(extreme, divisor);
}

} // namespace nvfuser
