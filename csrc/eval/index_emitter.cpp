#include "eval/index_emitter.h"

#include <algorithm>
#include <limits>

#include "ir/fusion.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"

namespace nvfuser {

// ---- Operations --------------------------------------------------------------------------------

void IndexEmitter::remember(Val* val) {
  if (val->is_const_int()) {
    constants_.emplace(std::pair(as_int(val->value()), val->dtype()), val);
  } else if (const auto* binary = val->definition() ? val->definition()->as<BinaryOp>() : nullptr) {
    binaries_.emplace(std::tuple(binary->op, shared(binary->lhs), shared(binary->rhs)), val);
  }
}

/// The constant that stands for all equal ones; other values stand for themselves.
const Val* IndexEmitter::shared(const Val* val) const {
  if (!val->is_const_int()) {
    return val;
  }
  const auto known = constants_.find({as_int(val->value()), val->dtype()});
  return known == constants_.end() ? val : known->second;
}

Val* IndexEmitter::constant(int64_t value, DataType dtype) {
  Val*& known = constants_[{value, dtype}];
  if (known == nullptr) {
    known = fusion_.new_constant(value, dtype);
  }
  return known;
}

Val* IndexEmitter::negate(Val* a) {
  Val*& known = negations_[a];
  if (known == nullptr) {
    known = scalar::neg(a);
  }
  return known;
}

Val* IndexEmitter::binary(BinaryOpType op, Val* a, Val* b) {
  const auto make = [&]() -> Val* {
    switch (op) {
      case BinaryOpType::Add: return scalar::add(a, b);
      case BinaryOpType::Sub: return scalar::sub(a, b);
      case BinaryOpType::Mul: return scalar::mul(a, b);
      case BinaryOpType::Div: return scalar::div(a, b);
      case BinaryOpType::Mod: return scalar::mod(a, b);
      case BinaryOpType::CeilDiv: return scalar::ceil_div(a, b);
      case BinaryOpType::Min: return scalar::min(a, b);
      case BinaryOpType::Max: return scalar::max(a, b);
      case BinaryOpType::BitwiseXor: return scalar::bitwise_xor(a, b);
      case BinaryOpType::LogicalAnd: return scalar::logical_and(a, b);
      case BinaryOpType::LogicalOr: return scalar::logical_or(a, b);
      default: {
        Val* out = fusion_.new_scalar(DataType::Bool);
        fusion_.make<BinaryOp>({.out = out, .lhs = a, .rhs = b, .op = op});
        return out;
      }
    }
  };
  const std::tuple key(op, shared(a), shared(b));
  if (const auto known = binaries_.find(key); known != binaries_.end()) {
    return known->second;
  }
  return binaries_.emplace(key, make()).first->second;
}

// ---- Sums --------------------------------------------------------------------------------------

Val* IndexEmitter::emit(IndexAlgebra& algebra, Sum root) {
  algebra_ = &algebra;
  std::vector<Sum> stack = {root};
  while (!stack.empty()) {
    const Sum sum = stack.back();
    if (sums_.contains(sum)) {
      stack.pop_back();
      continue;
    }
    std::vector<AtomId> ready;
    const size_t depth = stack.size();
    for (const IndexTerm& term : sum->terms) {
      for (const AtomId id : algebra_->factors(term.monomial)) {
        if (atoms_.contains(id)) {
          continue;
        }
        ready.push_back(id);
        for (const Sum operand : algebra_->atom(id).operands) {
          if (!sums_.contains(operand)) {
            stack.push_back(operand);
          }
        }
      }
    }
    if (stack.size() > depth) {
      continue;
    }
    for (const AtomId id : ready) { // an atom of several terms stands there repeatedly
      if (!atoms_.contains(id)) {
        atoms_.emplace(id, emit_atom(algebra_->atom(id)));
      }
    }
    const bool is_plain_int =
        !sum->leaves.empty() && std::ranges::all_of(sum->terms, [&](const IndexTerm& term) {
          return std::ranges::all_of(algebra_->factors(term.monomial), [&](AtomId id) {
            return atoms_.at(id)->dtype() == DataType::Int;
          });
        });
    const DataType dtype = is_plain_int ? DataType::Int : DataType::Index;
    sums_.emplace(sum, emit_terms(sum->terms, dtype));
    stack.pop_back();
  }
  return sums_.at(root);
}

Val* IndexEmitter::emit_atom(const IndexAtom& atom) {
  std::vector<Val*> operands;
  for (const Sum operand : atom.operands) {
    operands.push_back(sums_.at(operand));
  }
  const auto emit_binary = [&](BinaryOpType op) { return binary(op, operands[0], operands[1]); };
  switch (atom.kind) {
    case AtomKind::Leaf: return atom.leaf;
    case AtomKind::Div: return emit_binary(BinaryOpType::Div);
    case AtomKind::Mod: return emit_binary(BinaryOpType::Mod);
    case AtomKind::CeilDiv: return emit_ceil_div(atom);
    case AtomKind::Min: return emit_binary(BinaryOpType::Min);
    case AtomKind::Max: return emit_binary(BinaryOpType::Max);
    case AtomKind::Xor: return emit_binary(BinaryOpType::BitwiseXor);
    case AtomKind::Product: return emit_binary(BinaryOpType::Mul);
    case AtomKind::Select:
    case AtomKind::Cast:
    case AtomKind::Opaque: break;
  }
  Val* original = atom.origin->output(0);
  if (atom.origin->inputs() == operands) {
    return original;
  }
  Val* out = fusion_.new_scalar(original->dtype());
  if (const auto* unary = atom.origin->as<UnaryOp>()) {
    fusion_.make<UnaryOp>({.out = out, .arg = operands[0], .op = unary->op});
  } else if (const auto* ternary = atom.origin->as<TernaryOp>()) {
    fusion_.make<TernaryOp>(
        {.out = out,
         .in1 = operands[0],
         .in2 = operands[1],
         .in3 = operands[2],
         .op = ternary->op});
  } else {
    fusion_.make<BinaryOp>(
        {.out = out,
         .lhs = operands[0],
         .rhs = operands[1],
         .op = atom.origin->as<BinaryOp>()->op});
  }
  return out;
}

Val* IndexEmitter::emit_ceil_div(const IndexAtom& atom) {
  Val* quotient = sums_.at(atom.operands[0]);
  for (Val* divisor : divisors_in_turn(atom)) {
    quotient = binary(BinaryOpType::CeilDiv, quotient, divisor);
  }
  return quotient;
}

/// ceilDiv(ceilDiv(x, a), b) is kept as ceilDiv(x, a * b), but only a and b are known to fit in an
/// index: the width is chosen for what the kernel had, and the product may be larger than x. So the
/// factors of a divisor are multiplied only as far as they fit in 32 bits whatever the sizes are.
std::vector<Val*> IndexEmitter::divisors_in_turn(const IndexAtom& quotient) {
  const auto [dividend, divisor] = std::pair(quotient.operands[0], quotient.operands[1]);
  const bool is_product = divisor->terms.size() == 1 && divisor->terms.front().coefficient > 0;
  if (!is_product || !algebra_->nonnegative(dividend, algebra_->facts_of(dividend, divisor))) {
    return {sums_.at(divisor)};
  }
  const IndexTerm& whole = divisor->terms.front();
  const AtomList factors = in_order(whole.monomial);
  if (std::ranges::any_of(factors, [&](AtomId id) { return algebra_->atom(id).interval.lo < 0; })) {
    return {sums_.at(divisor)};
  }
  std::vector<Val*> divisors;
  int64_t bound = 0; // of the last one
  const auto append = [&](Val* factor, int64_t largest) {
    if (bound > 0 && largest <= std::numeric_limits<int32_t>::max() / bound) {
      divisors.back() = binary(BinaryOpType::Mul, divisors.back(), factor);
      bound *= largest;
    } else {
      divisors.push_back(factor);
      bound = largest;
    }
  };
  for (const AtomId id : factors) {
    append(atoms_.at(id), algebra_->atom(id).interval.hi);
  }
  if (whole.coefficient != 1 || factors.empty()) {
    append(constant(whole.coefficient, sums_.at(divisor)->dtype()), whole.coefficient);
  }
  return divisors;
}

/// Sizes: symbols that are not known to be indices of loops.
bool IndexEmitter::is_size(AtomId id) const {
  const IndexAtom& atom = algebra_->atom(id);
  if (atom.kind == AtomKind::CeilDiv) {
    return std::ranges::all_of(atom.leaves, [&](AtomId leaf) { return is_size(leaf); });
  }
  if (atom.kind != AtomKind::Leaf || atom.extent != nullptr) {
    return false;
  }
  return atom.leaf->vtype() != ValType::NamedScalar ||
         static_cast<const NamedScalar*>(atom.leaf)->parallel_index() == ParallelType::Serial;
}

/// In the order of the Vals they are made of.
std::pair<int64_t, AtomId> IndexEmitter::order(AtomId id) const {
  const IndexAtom& atom = algebra_->atom(id);
  int64_t serial = 0;
  for (const AtomId leaf : atom.leaves) {
    serial = std::max(serial, algebra_->atom(leaf).leaf->serial());
  }
  return {serial, id};
}

/// Indices before sizes.
AtomList IndexEmitter::in_order(MonomialId monomial) const {
  AtomList list = algebra_->factors(monomial);
  std::ranges::sort(list, {}, [&](AtomId id) { return std::pair(is_size(id), order(id)); });
  return list;
}

bool IndexEmitter::comes_before(const IndexTerm& a, const IndexTerm& b) const {
  const AtomList& of_a = algebra_->factors(a.monomial);
  const AtomList& of_b = algebra_->factors(b.monomial);
  if (of_a.empty() != of_b.empty()) {
    return of_b.empty(); // the constant stands last
  }
  const auto sizes = [&](const AtomList& list) {
    return std::ranges::count_if(list, [&](AtomId id) { return is_size(id); });
  };
  if (sizes(of_a) != sizes(of_b)) {
    return sizes(of_a) > sizes(of_b);
  }
  const auto magnitude = [](int64_t value) {
    return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  };
  if (magnitude(a.coefficient) != magnitude(b.coefficient)) {
    return magnitude(a.coefficient) > magnitude(b.coefficient);
  }
  return std::ranges::lexicographical_compare(
      in_order(a.monomial), in_order(b.monomial),
      [&](AtomId x, AtomId y) { return order(x) < order(y); });
}

Val* IndexEmitter::emit_product(const IndexTerm& term, DataType dtype) {
  Val* product = nullptr;
  for (const AtomId id : in_order(term.monomial)) {
    Val* factor = atoms_.at(id);
    product = product == nullptr ? factor : binary(BinaryOpType::Mul, product, factor);
  }
  if (product == nullptr) {
    return constant(term.coefficient, dtype);
  }
  return term.coefficient == 1
             ? product
             : binary(BinaryOpType::Mul, product, constant(term.coefficient, dtype));
}

/// The factor to take out of several terms; -1 if none has one in common.
AtomId IndexEmitter::find_common_factor(const Terms& terms) const {
  std::map<AtomId, int> counts;
  for (const IndexTerm& term : terms) {
    const AtomList& list = algebra_->factors(term.monomial);
    for (size_t i = 0; i < list.size(); ++i) {
      counts[list[i]] += i == 0 || list[i] != list[i - 1] ? 1 : 0;
    }
  }
  AtomId best = -1;
  const auto rank = [&](AtomId id) { return std::tuple(!is_size(id), -counts[id], order(id)); };
  for (const auto& [id, count] : counts) {
    if (count > 1 && (best < 0 || rank(id) < rank(best))) {
      best = id;
    }
  }
  return best;
}

/// Moves the terms with `factor` out of `terms`: ( their sum without it ) * factor.
IndexEmitter::Piece IndexEmitter::take_group(Terms& terms, AtomId factor, DataType dtype) {
  Piece piece;
  Terms inner;
  Terms rest;
  for (const IndexTerm& term : terms) {
    const AtomList& list = algebra_->factors(term.monomial);
    const auto position = std::ranges::lower_bound(list, factor);
    if (position == list.end() || *position != factor) {
      rest.push_back(term);
      continue;
    }
    piece.lead = inner.empty() || comes_before(term, piece.lead) ? term : piece.lead;
    AtomList others = list;
    others.erase(others.begin() + (position - list.begin()));
    inner.push_back({term.coefficient, algebra_->monomial(others)});
  }
  piece.is_negative =
      std::ranges::all_of(inner, [](const IndexTerm& term) { return term.coefficient < 0; });
  for (IndexTerm& term : inner) {
    term.coefficient = piece.is_negative ? -term.coefficient : term.coefficient;
  }
  Val* sum = emit_terms(std::move(inner), dtype);
  Val* common = atoms_.at(factor);
  piece.val = is_size(factor) ? binary(BinaryOpType::Mul, sum, common)
                              : binary(BinaryOpType::Mul, common, sum);
  terms = std::move(rest);
  return piece;
}

Val* IndexEmitter::emit_terms(Terms terms, DataType dtype) {
  if (terms.empty()) {
    return constant(0, dtype);
  }
  if (terms.size() == 1 && terms.front().monomial == 0) {
    return constant(terms.front().coefficient, dtype);
  }
  const auto is_negative = [](const IndexTerm& term) { return term.coefficient < 0; };
  if (std::ranges::all_of(terms, is_negative)) {
    for (IndexTerm& term : terms) {
      term.coefficient = -term.coefficient;
    }
    return negate(emit_terms(std::move(terms), dtype));
  }
  std::vector<Piece> pieces;
  while (terms.size() > 1) {
    const AtomId factor = find_common_factor(terms);
    if (factor < 0) {
      break;
    }
    pieces.push_back(take_group(terms, factor, dtype));
  }
  for (const IndexTerm& term : terms) {
    const IndexTerm magnitude = {
        is_negative(term) ? -term.coefficient : term.coefficient, term.monomial};
    pieces.push_back({is_negative(term), term, emit_product(magnitude, dtype)});
  }
  return join(std::move(pieces));
}

Val* IndexEmitter::join(std::vector<Piece> pieces) {
  std::ranges::stable_sort(
      pieces, [&](const Piece& a, const Piece& b) { return comes_before(a.lead, b.lead); });
  // A sum starts with something positive, if there is any: b - a, not -a + b.
  const auto first = std::ranges::find_if(pieces, [](const Piece& p) { return !p.is_negative; });
  if (first == pieces.end()) {
    pieces.front().val = negate(pieces.front().val);
  } else {
    std::rotate(pieces.begin(), first, first + 1);
  }
  Val* sum = pieces.front().val;
  for (auto piece = pieces.begin() + 1; piece != pieces.end(); ++piece) {
    const BinaryOpType op = piece->is_negative ? BinaryOpType::Sub : BinaryOpType::Add;
    sum = binary(op, sum, piece->val);
  }
  return sum;
}

} // namespace nvfuser
