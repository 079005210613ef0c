// Division, remainder and rounded-up division of sums.
//
// Truncating division obeys the rules of Euclidean division only where dividend and divisor are
// known not to be negative, so every rule below that takes a dividend apart first
// has that proven, of the dividend and of what is left of it. A divisor is not 0 where its quotient
// has a value; one that is >= 0 is therefore >= 1.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "eval/index_algebra.h"

namespace nvfuser {

namespace {

int64_t floor_div(int64_t a, int64_t b) { // b > 0
  return a / b - (a % b < 0 ? 1 : 0);
}

} // namespace

// ---- Taking sums apart -------------------------------------------------------------------------

/// a = b * quotient + rest, term by term; says nothing about signs. Coefficients are divided by
/// truncation; a constant term is only divided by an equal multiple of a symbolic divisor.
IndexAlgebra::Quotient IndexAlgebra::divide_terms(Sum a, Sum b) {
  Quotient result = {constant(0), a};
  if (is_zero(b)) {
    return result;
  }
  // The highest power leads; its multiples are subtracted as whole multiples of `b`.
  const IndexTerm lead = *std::ranges::max_element(b->terms, {}, [&](const IndexTerm& term) {
    return std::pair(factors(term.monomial).size(), term.monomial);
  });
  for (const IndexTerm& part : a->terms) {
    const auto monomial = divide(part.monomial, lead.monomial);
    const int64_t count = part.coefficient / lead.coefficient;
    if (!monomial || count == 0) {
      continue;
    }
    const Sum multiple = term(count, *monomial);
    const Sum rest = plus(result.rest, negate(mul(multiple, b)));
    if (b->terms.size() == 1 || rest->terms.size() < result.rest->terms.size()) {
      result = {plus(result.quotient, multiple), rest};
    }
  }
  return result;
}

Sum IndexAlgebra::with_whole_multiples(Sum a, Sum b) {
  const Sum plain = without_remainders(a);
  const bool leaves_less = plain != a && divide_terms(plain, b).rest->terms.size() <
                                             divide_terms(a, b).rest->terms.size();
  return leaves_less ? plain : a;
}

Sum IndexAlgebra::exact_quotient(Sum a, Sum b) {
  const Quotient parts = divide_terms(a, b);
  return !is_zero(b) && is_zero(parts.rest) ? parts.quotient : nullptr;
}

/// a / b by an assumption; nullptr if there is none that helps. The quotient is written rounded
/// up.
Sum IndexAlgebra::assumed_quotient(Sum a, Sum b) {
  if (exact_divisions_.empty() || is_zero(a)) {
    return nullptr;
  }
  for (const auto& [dividend, divisor] : exact_divisions_) {
    const Sum multiple = exact_quotient(a, dividend);
    if (multiple != nullptr && exact_quotient(divisor, b) != nullptr) {
      return mul(multiple, make_atom(AtomKind::CeilDiv, {dividend, b}));
    }
  }
  return nullptr;
}

bool IndexAlgebra::is_assumed_exact(const IndexAtom& quotient) {
  return std::ranges::any_of(exact_divisions_, [&](const SumPair& known) {
    return known.first == quotient.operands[0] &&
           exact_quotient(known.second, quotient.operands[1]) != nullptr;
  });
}

/// The largest monomial with coefficient > 0 that divides every term.
IndexTerm IndexAlgebra::content(Sum a) {
  IndexTerm result = {0, a->terms.empty() ? 0 : a->terms.front().monomial};
  for (const IndexTerm& part : a->terms) {
    result.coefficient = std::gcd(result.coefficient, part.coefficient);
    result.monomial = common(result.monomial, part.monomial);
  }
  return result;
}

Facts IndexAlgebra::division_facts(Sum a, Sum b) {
  AtomList positive = *facts_of(a, b);
  AtomList divisor;
  add_implied_positive(b, divisor);
  AtomList all;
  std::ranges::set_union(positive, divisor, std::back_inserter(all));
  return intern_facts(std::move(all));
}

/// a = b * quotient + rest with rest >= 0, for a >= 0 and b >= 1. `rest` is reduced as far as it
/// stays provable; equal for every dividend that differs by a multiple of `b`.
IndexAlgebra::Quotient IndexAlgebra::reduce(Sum a, Sum b, Facts facts) {
  Quotient parts = divide_terms(a, b);
  for (const IndexTerm& part : parts.rest->terms) {
    const Sum dividend = term(part.coefficient, part.monomial);
    if (const Sum quotient = assumed_quotient(dividend, b)) {
      parts = {plus(parts.quotient, quotient), plus(parts.rest, negate(dividend))};
    }
  }
  int64_t divisor = 0;
  if (is_constant(b, &divisor)) {
    // The constant is chosen so that the smallest value of `rest` lies in [0, b).
    const Interval range = interval(parts.rest, facts);
    int64_t shift = 0;
    if (range.lo != Interval::kNoLower) {
      shift = floor_div(range.lo, divisor);
    } else if (!parts.rest->terms.empty() && parts.rest->terms.front().monomial == 0) {
      shift = floor_div(parts.rest->terms.front().coefficient, divisor);
    }
    parts.quotient = plus(parts.quotient, constant(shift));
    parts.rest = plus(parts.rest, negate(scale(b, shift)));
  }
  if (nonnegative(parts.rest, facts)) {
    return parts;
  }
  // (o * n + n - 1) / n: the rest of -1 borrows from the quotient.
  const Sum borrowed = plus(parts.rest, b);
  if (borrowed != a && nonnegative(borrowed, facts)) {
    return {plus(parts.quotient, constant(-1)), borrowed};
  }
  return {constant(0), a};
}

/// Factors f of `b` such that terms of `a` are multiples of f: candidates for `partition`.
std::vector<IndexTerm> IndexAlgebra::partition_factors(Sum a, Sum b) {
  const IndexTerm whole = content(b);
  std::vector<IndexTerm> result;
  for (const IndexTerm& part : a->terms) {
    const IndexTerm factor = {
        std::gcd(part.coefficient, whole.coefficient), common(part.monomial, whole.monomial)};
    const bool is_unit = factor.coefficient == 1 && factor.monomial == 0;
    const bool is_divisor = b->terms.size() == 1 && factor == b->terms.front();
    if (part.monomial != 0 && !is_unit && !is_divisor &&
        std::ranges::find(result, factor) == result.end()) {
      result.push_back(factor);
    }
  }
  std::ranges::sort(result, std::ranges::greater{}, [&](const IndexTerm& factor) {
    return std::tuple(factors(factor.monomial).size(), factor.coefficient, factor.monomial);
  });
  return result;
}

/// a = factor * quotient + rest, where `rest` has the terms that are no multiples of `factor`.
IndexAlgebra::Quotient IndexAlgebra::partition(Sum a, const IndexTerm& factor) {
  std::vector<IndexTerm> multiples;
  std::vector<IndexTerm> rest;
  for (const IndexTerm& part : a->terms) {
    const auto monomial = divide(part.monomial, factor.monomial);
    if (monomial && part.monomial == 0) {
      const int64_t count = floor_div(part.coefficient, factor.coefficient);
      multiples.push_back({count, 0});
      rest.push_back({part.coefficient - count * factor.coefficient, 0});
    } else if (monomial && part.coefficient % factor.coefficient == 0) {
      multiples.push_back({part.coefficient / factor.coefficient, *monomial});
    } else {
      rest.push_back(part);
    }
  }
  return {intern(multiples), intern(rest)};
}

/// a < b
bool IndexAlgebra::fits_below(Sum a, Sum b, Facts facts) {
  return nonnegative(plus(plus(b, negate(a)), constant(-1)), facts);
}

/// a / b where it is one number for all values of `a`; `b` is a constant.
std::optional<int64_t> IndexAlgebra::constant_quotient(Sum a, Sum b, Facts facts, bool round_up) {
  int64_t divisor = 0;
  const Interval range = interval(a, facts);
  if (!is_constant(b, &divisor) || divisor <= 0 || !range.is_bounded()) {
    return std::nullopt;
  }
  const auto quotient = [&](int64_t value) {
    return round_up ? -floor_div(-value, divisor) : floor_div(value, divisor);
  };
  if (quotient(range.lo) != quotient(range.hi)) {
    return std::nullopt;
  }
  return quotient(range.lo);
}

// ---- Comparison --------------------------------------------------------------------------------

/// A constant that divides `a`: by its coefficients, or by an assumption.
int64_t IndexAlgebra::known_divisor(Sum a) {
  int64_t divisor = content(a).coefficient;
  for (const auto& [dividend, assumed] : exact_divisions_) {
    int64_t number = 0;
    if (is_constant(assumed, &number) && number > divisor && exact_quotient(a, dividend)) {
      divisor = number;
    }
  }
  return divisor;
}

/// a = quotient + rest, where `quotient` has the terms that `divisor` divides.
IndexAlgebra::Quotient IndexAlgebra::round_down(Sum a, int64_t divisor) {
  Quotient parts = {constant(0), constant(0)};
  const Sum by = constant(divisor);
  for (const IndexTerm& part : a->terms) {
    const Sum whole = term(part.coefficient, part.monomial);
    if (part.monomial == 0) {
      const Sum multiple = constant(floor_div(part.coefficient, divisor) * divisor);
      parts = {plus(parts.quotient, multiple), plus(parts.rest, plus(whole, negate(multiple)))};
    } else if (exact_quotient(whole, by) != nullptr || assumed_quotient(whole, by) != nullptr) {
      parts.quotient = plus(parts.quotient, whole);
    } else {
      parts.rest = plus(parts.rest, whole);
    }
  }
  return parts;
}

/// With a divisor d of `extent`, and a = m + r where d divides m and 0 <= r < d: a < extent exactly
/// if m < extent, as the next multiple of d after m is at most `extent`.
Sum IndexAlgebra::find_part_that_decides(Sum a, Sum extent) {
  const int64_t divisor = known_divisor(extent);
  std::vector<int64_t> candidates = {divisor};
  for (const IndexTerm& part : a->terms) {
    if (part.monomial != 0) {
      candidates.push_back(std::gcd(part.coefficient, divisor));
    }
  }
  std::ranges::sort(candidates, std::ranges::greater{});
  for (const int64_t candidate : candidates) {
    if (candidate <= 1) {
      break;
    }
    const Quotient parts = round_down(a, candidate);
    const Facts facts = facts_of(a, extent);
    if (nonnegative(parts.rest, facts) && fits_below(parts.rest, constant(candidate), facts)) {
      return parts.quotient;
    }
  }
  return a;
}

Sum IndexAlgebra::part_that_decides(Sum a, Sum extent) {
  if (const auto known = decides_memo_.find({a, extent}); known != decides_memo_.end()) {
    return known->second;
  }
  return remember(decides_memo_, a, extent, find_part_that_decides(a, extent));
}

// ---- Division ----------------------------------------------------------------------------------

Sum IndexAlgebra::remember(PairMemo& memo, Sum a, Sum b, Sum result) const {
  if (!has_overflowed_) {
    memo.emplace(SumPair{a, b}, result);
  }
  return result;
}

Sum IndexAlgebra::div(Sum a, Sum b) {
  if (const auto known = div_memo_.find({a, b}); known != div_memo_.end()) {
    return known->second;
  }
  const Sum result = make_div(a, b);
  return remember(div_memo_, a, b, result);
}

Sum IndexAlgebra::make_div(Sum a, Sum b) {
  int64_t dividend = 0;
  int64_t divisor = 0;
  const bool is_constant_divisor = is_constant(b, &divisor);
  if (is_constant_divisor && divisor == 0) {
    return make_atom(AtomKind::Div, {a, b});
  }
  if (is_constant_divisor && is_constant(a, &dividend)) {
    return constant(dividend / divisor);
  }
  if (is_constant_divisor && divisor < 0) {
    return negate(div(a, negate(b)));
  }
  if (const Sum exact = exact_quotient(a, b)) {
    return exact;
  }
  if (const Sum exact = assumed_quotient(a, b)) {
    return exact;
  }
  if (const Sum plain = with_whole_multiples(a, b); plain != a) {
    return div(plain, b);
  }
  // (g * x) / (g * y) = x / y
  const IndexTerm shared_a = content(a);
  const IndexTerm shared_b = content(b);
  const Sum shared = term(
      std::gcd(shared_a.coefficient, shared_b.coefficient),
      common(shared_a.monomial, shared_b.monomial));
  if (!is_constant(shared, &dividend) || dividend != 1) {
    return div(exact_quotient(a, shared), exact_quotient(b, shared));
  }
  const Facts facts = division_facts(a, b);
  const bool is_divisor_positive = nonnegative(b, facts);
  if (is_divisor_positive && nonnegative(a, facts)) {
    const Quotient parts = reduce(a, b, facts);
    return add(parts.quotient, divide_reduced(parts.rest, b, facts));
  }
  if (is_divisor_positive && nonnegative(negate(a), facts)) {
    return negate(div(negate(a), b));
  }
  // (x / c) / b = x / (c * b), whatever the sign of x.
  const IndexAtom* inner = as_atom(a);
  if (is_divisor_positive && inner != nullptr && inner->kind == AtomKind::Div &&
      nonnegative(inner->operands[1], facts)) {
    return div(inner->operands[0], mul(inner->operands[1], b));
  }
  return make_atom(AtomKind::Div, {a, b});
}

/// a / b for a >= 0 without multiples of b, and b >= 1.
Sum IndexAlgebra::divide_reduced(Sum a, Sum b, Facts facts) {
  if (const auto number = constant_quotient(a, b, facts, /*round_up=*/false)) {
    return constant(*number);
  }
  if (fits_below(a, b, facts)) {
    return constant(0);
  }
  const IndexAtom* inner = as_atom(a);
  if (inner != nullptr && inner->kind == AtomKind::Div && nonnegative(inner->operands[1], facts)) {
    return div(inner->operands[0], mul(inner->operands[1], b));
  }
  if (inner != nullptr && inner->kind == AtomKind::Mod) {
    // (x % (b * c)) / b = (x / b) % c
    const Sum ratio = exact_quotient(inner->operands[1], b);
    if (ratio != nullptr && nonnegative(ratio, facts)) {
      return mod(div(inner->operands[0], b), ratio);
    }
  }
  // (f * x + r) / (f * c) = x / c for 0 <= r < f
  for (const IndexTerm& factor : partition_factors(a, b)) {
    const Quotient parts = partition(a, factor);
    const Sum size = term(factor.coefficient, factor.monomial);
    if (nonnegative(parts.rest, facts) && fits_below(parts.rest, size, facts)) {
      return div(parts.quotient, exact_quotient(b, size));
    }
  }
  return make_atom(AtomKind::Div, {a, b});
}

// ---- Remainder ---------------------------------------------------------------------------------

Sum IndexAlgebra::mod(Sum a, Sum b) {
  if (const auto known = mod_memo_.find({a, b}); known != mod_memo_.end()) {
    return known->second;
  }
  const Sum result = make_mod(a, b);
  return remember(mod_memo_, a, b, result);
}

Sum IndexAlgebra::make_mod(Sum a, Sum b) {
  int64_t dividend = 0;
  int64_t divisor = 0;
  const bool is_constant_divisor = is_constant(b, &divisor);
  if (is_constant_divisor && divisor == 0) {
    return make_atom(AtomKind::Mod, {a, b});
  }
  if (is_constant_divisor && is_constant(a, &dividend)) {
    return constant(divisor == -1 ? 0 : dividend % divisor);
  }
  if (is_constant_divisor && divisor < 0) {
    return mod(a, negate(b));
  }
  if (exact_quotient(a, b) != nullptr || assumed_quotient(a, b) != nullptr) {
    return constant(0);
  }
  if (const Sum plain = with_whole_multiples(a, b); plain != a) {
    return mod(plain, b);
  }
  // (g * x) % (g * y) = g * (x % y)
  const IndexTerm shared_a = content(a);
  const IndexTerm shared_b = content(b);
  const Sum shared = term(
      std::gcd(shared_a.coefficient, shared_b.coefficient),
      common(shared_a.monomial, shared_b.monomial));
  if (!is_constant(shared, &dividend) || dividend != 1) {
    return mul(shared, mod(exact_quotient(a, shared), exact_quotient(b, shared)));
  }
  const Facts facts = division_facts(a, b);
  const bool is_divisor_positive = nonnegative(b, facts);
  if (is_divisor_positive && nonnegative(a, facts)) {
    return remainder_reduced(reduce(a, b, facts).rest, b, facts);
  }
  if (is_divisor_positive && nonnegative(negate(a), facts)) {
    return negate(mod(negate(a), b));
  }
  // (x % (b * c)) % b = x % b, whatever the sign of x.
  const IndexAtom* inner = as_atom(a);
  if (inner != nullptr && inner->kind == AtomKind::Mod &&
      exact_quotient(inner->operands[1], b) != nullptr) {
    return mod(inner->operands[0], b);
  }
  return make_atom(AtomKind::Mod, {a, b});
}

/// a % b for a >= 0 without multiples of b, and b >= 1.
Sum IndexAlgebra::remainder_reduced(Sum a, Sum b, Facts facts) {
  if (const auto number = constant_quotient(a, b, facts, /*round_up=*/false)) {
    return plus(a, negate(scale(b, *number)));
  }
  if (fits_below(a, b, facts)) {
    return a;
  }
  // (x % (b * c) + y) % b = (x + y) % b; x >= 0 keeps the dividend from becoming negative.
  for (const IndexTerm& part : a->terms) {
    const AtomList& list = factors(part.monomial);
    if (list.size() != 1 || part.coefficient < 0 || atom(list.front()).kind != AtomKind::Mod) {
      continue;
    }
    const Sum whole = atom(list.front()).operands[0];
    const Sum modulus = atom(list.front()).operands[1];
    if (exact_quotient(scale(modulus, part.coefficient), b) != nullptr &&
        nonnegative(whole, facts)) {
      const Sum others = plus(a, term(-part.coefficient, part.monomial));
      return mod(add(others, scale(whole, part.coefficient)), b);
    }
  }
  // (f * x + r) % (f * c) = f * (x % c) + r for 0 <= r < f
  for (const IndexTerm& factor : partition_factors(a, b)) {
    const Quotient parts = partition(a, factor);
    const Sum size = term(factor.coefficient, factor.monomial);
    if (nonnegative(parts.rest, facts) && fits_below(parts.rest, size, facts)) {
      return add(mul(size, mod(parts.quotient, exact_quotient(b, size))), parts.rest);
    }
  }
  return make_atom(AtomKind::Mod, {a, b});
}

// ---- Rounded-up division ------------------------------------------------------------------------

Sum IndexAlgebra::ceil_div(Sum a, Sum b) {
  if (const auto known = ceil_div_memo_.find({a, b}); known != ceil_div_memo_.end()) {
    return known->second;
  }
  const Sum result = make_ceil_div(a, b);
  return remember(ceil_div_memo_, a, b, result);
}

/// Only dividends >= 0 and divisors >= 1 are worked on.
Sum IndexAlgebra::make_ceil_div(Sum a, Sum b) {
  int64_t dividend = 0;
  int64_t divisor = 0;
  if (is_constant(a, &dividend) && is_constant(b, &divisor) && divisor != 0) {
    return constant(-floor_div(divisor > 0 ? -dividend : dividend, std::abs(divisor)));
  }
  if (is_zero(a)) {
    return a;
  }
  if (const Sum exact = assumed_quotient(a, b)) {
    return exact;
  }
  const Facts facts = division_facts(a, b);
  if (is_zero(b) || !nonnegative(b, facts) || !nonnegative(a, facts)) {
    return make_atom(AtomKind::CeilDiv, {a, b});
  }
  if (const Sum exact = exact_quotient(a, b)) {
    return exact;
  }
  const IndexTerm shared_a = content(a);
  const IndexTerm shared_b = content(b);
  const Sum shared = term(
      std::gcd(shared_a.coefficient, shared_b.coefficient),
      common(shared_a.monomial, shared_b.monomial));
  int64_t unit = 0;
  if (!is_constant(shared, &unit) || unit != 1) {
    const Sum dividend = exact_quotient(a, shared);
    const Sum divisor = exact_quotient(b, shared);
    // The quotients' signs must be known from themselves.
    const Facts reduced_facts = division_facts(dividend, divisor);
    if (nonnegative(dividend, reduced_facts) && nonnegative(divisor, reduced_facts)) {
      return ceil_div(dividend, divisor);
    }
  }
  const Quotient parts = reduce(a, b, facts);
  const Sum rest = parts.rest;
  if (const auto number = constant_quotient(rest, b, facts, /*round_up=*/true)) {
    return plus(parts.quotient, constant(*number));
  }
  // ceilDiv(x, b) = 1 for 1 <= x <= b
  if (nonnegative(plus(rest, constant(-1)), facts) && nonnegative(plus(b, negate(rest)), facts)) {
    return plus(parts.quotient, constant(1));
  }
  const IndexAtom* inner = as_atom(rest);
  if (inner != nullptr && inner->kind == AtomKind::CeilDiv &&
      nonnegative(inner->operands[0], facts) && nonnegative(inner->operands[1], facts)) {
    return plus(parts.quotient, ceil_div(inner->operands[0], mul(inner->operands[1], b)));
  }
  return plus(parts.quotient, make_atom(AtomKind::CeilDiv, {rest, b}));
}

} // namespace nvfuser
