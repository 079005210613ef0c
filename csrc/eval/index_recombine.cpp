// The rules of IndexAlgebra::add: parts of one index that were taken apart by divisions and
// remainders and meet again in a sum. This is what makes the address of a contiguous tensor linear:
//
//   (k / (n1 * n2)) * (n1 * n2) + ((k / n2) % n1) * n2 + k % n2  ->  k
//
// All rules are identities of trunc division wherever the divisor is not 0. Where a division is
// assumed to be exact, its dividend also comes back by itself: ceilDiv(n, 4) * 4 is n.
#include <algorithm>

#include "eval/index_algebra.h"

namespace nvfuser {

namespace {

/// A sum settles long before; each rule removes an atom.
constexpr int kMaxRounds = 32;

bool is_quotient_or_remainder(const IndexAtom& atom) {
  return atom.kind == AtomKind::Div || atom.kind == AtomKind::Mod;
}

} // namespace

Sum IndexAlgebra::recombine(Sum a) {
  for (int round = 0; round < kMaxRounds; ++round) {
    Sum joined = nullptr;
    AtomList quotients;
    bool has_remainder = false;
    for (const IndexTerm& part : a->terms) {
      for (const AtomId id : factors(part.monomial)) {
        if (joined == nullptr && is_quotient_or_remainder(atom(id))) {
          joined = atom(id).kind == AtomKind::Mod ? join_remainder(a, part, id)
                                                  : join_quotient(a, part, id);
        }
        has_remainder = has_remainder || atom(id).kind == AtomKind::Mod;
        if (atom(id).kind == AtomKind::Div) {
          quotients.push_back(id);
        }
      }
    }
    if (joined == nullptr && has_remainder && !quotients.empty()) {
      // Without remainders everything that completes each other cancels, in whatever order it
      // stands. Kept only if a division is gone with them.
      const Sum plain = without_remainders(a);
      std::ranges::sort(quotients);
      const auto distinct = std::ranges::unique(quotients).begin() - quotients.begin();
      AtomList left;
      for (const IndexTerm& part : plain->terms) {
        std::ranges::copy_if(factors(part.monomial), std::back_inserter(left), [&](AtomId id) {
          return is_quotient_or_remainder(atom(id));
        });
      }
      std::ranges::sort(left);
      if (std::ranges::unique(left).begin() - left.begin() < distinct) {
        joined = plain;
      }
    }
    if (joined == nullptr || joined == a) {
      return a;
    }
    a = joined;
  }
  return a;
}

/// `a` with b * ceilDiv(x, b) written as x, for what is assumed to be divisible.
Sum IndexAlgebra::restore_dividends(Sum a) {
  if (exact_divisions_.empty()) {
    return a;
  }
  for (const IndexTerm& part : a->terms) {
    for (const AtomId id : factors(part.monomial)) {
      const IndexAtom& quotient = atom(id);
      if (quotient.kind != AtomKind::CeilDiv || !is_assumed_exact(quotient)) {
        continue;
      }
      const Sum outer = term(part.coefficient, *divide(part.monomial, monomial({id})));
      if (const Sum multiple = exact_quotient(outer, quotient.operands[1])) {
        const Sum others = plus(a, term(-part.coefficient, part.monomial));
        return plus(others, mul(multiple, quotient.operands[0]));
      }
    }
  }
  return a;
}

/// `part` = c * R * (y % n). Joins it with c * R * n * (y / n), or with c * R * n * ((y / n) % m).
Sum IndexAlgebra::join_remainder(Sum a, const IndexTerm& part, AtomId mod_id) {
  const Sum y = atom(mod_id).operands[0];
  const Sum n = atom(mod_id).operands[1];
  const MonomialId others = *divide(part.monomial, monomial({mod_id}));
  const Sum outer = term(part.coefficient, others); // c * R
  const Sum quotient = div(y, n);
  const Sum self = term(part.coefficient, part.monomial);

  const Sum completing = mul(outer, mul(n, quotient));
  if (contains(a, completing)) {
    return plus(plus(a, negate(plus(self, completing))), mul(outer, y));
  }
  if (n->terms.size() != 1 || !nonnegative(n, facts_of(n))) {
    return nullptr;
  }
  const Sum stride = mul(outer, n);
  for (const IndexTerm& other : a->terms) {
    const auto digit = divide(other.monomial, stride->terms.front().monomial);
    if (!digit || other.coefficient != stride->terms.front().coefficient ||
        factors(*digit).size() != 1) {
      continue;
    }
    const IndexAtom& higher = atom(factors(*digit).front());
    if (higher.kind == AtomKind::Mod && higher.operands[0] == quotient &&
        nonnegative(higher.operands[1], facts_of(higher.operands[1]))) {
      const Sum rest = plus(a, negate(plus(self, term(other.coefficient, other.monomial))));
      return plus(rest, mul(outer, mod(y, mul(n, higher.operands[1]))));
    }
  }
  return nullptr;
}

/// `part` = c * R * (y / n). Where it takes the multiples of n from a term, y - n * (y / n), that
/// term becomes the remainder y % n; also with y / m for y, as (y / m) / (n / m) = y / n. Where the
/// rest is added, n * (y / n) + y % n, it becomes y: the remainder may be of something simpler than
/// y, as those within y by the same divisor are gone in it.
Sum IndexAlgebra::join_quotient(Sum a, const IndexTerm& part, AtomId div_id) {
  const Sum y = atom(div_id).operands[0];
  const Sum n = atom(div_id).operands[1];
  const Sum self = term(part.coefficient, part.monomial);
  const Sum outer = term(part.coefficient, *divide(part.monomial, monomial({div_id})));

  const auto join = [&](Sum whole, Sum divisor) -> Sum {
    const Sum scale_of =
        divisor->terms.size() == 1 ? exact_quotient(negate(outer), divisor) : nullptr;
    if (scale_of == nullptr) {
      return nullptr;
    }
    const Sum taken = mul(scale_of, whole);
    if (!contains(a, taken)) {
      return nullptr;
    }
    return plus(plus(a, negate(plus(self, taken))), mul(scale_of, mod(whole, divisor)));
  };

  if (const Sum joined = join(y, n)) {
    return joined;
  }
  const Sum scale_of = n->terms.size() == 1 ? exact_quotient(outer, n) : nullptr;
  const Sum rest = scale_of == nullptr ? nullptr : mul(scale_of, mod(y, n));
  if (rest != nullptr && !is_zero(rest) && contains(a, rest)) {
    return plus(plus(a, negate(plus(self, rest))), mul(scale_of, y));
  }
  if (!nonnegative(n, facts_of(n))) {
    return nullptr;
  }
  for (const IndexTerm& other : a->terms) {
    for (const AtomId id : factors(other.monomial)) {
      const IndexAtom& finer = atom(id);
      if (id == div_id || finer.kind != AtomKind::Div || finer.operands[0] != y ||
          !nonnegative(finer.operands[1], facts_of(finer.operands[1]))) {
        continue;
      }
      if (const Sum ratio = exact_quotient(n, finer.operands[1])) {
        if (const Sum joined = join(atom_sum(id), ratio)) {
          return joined;
        }
      }
    }
  }
  return nullptr;
}

Sum IndexAlgebra::without_remainders(Sum a) {
  Sum result = a;
  // From the last made to the first: a remainder never contains a later atom.
  for (int round = 0; round < kMaxRounds; ++round) {
    AtomId last = -1;
    for (const IndexTerm& part : result->terms) {
      for (const AtomId id : factors(part.monomial)) {
        if (atom(id).kind == AtomKind::Mod) {
          last = std::max(last, id);
        }
      }
    }
    if (last < 0) {
      return result;
    }
    const auto parts = split_at(result, last);
    if (!parts) {
      return a;
    }
    const Sum y = atom(last).operands[0];
    const Sum n = atom(last).operands[1];
    const Sum spelled_out = plus(y, negate(mul(n, div(y, n))));
    result = plus(parts->first, mul(parts->second, spelled_out));
  }
  return a;
}

} // namespace nvfuser
