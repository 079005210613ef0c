// The border between Vals and IndexAlgebra: reads expressions into sums, decides conditions, writes
// the results back.
#include "eval/simplify.h"

#include <algorithm>
#include <ranges>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/errors.h"
#include "base/pointer_map.h"
#include "eval/index_algebra.h"
#include "eval/index_emitter.h"
#include "ir/dependencies.h"
#include "ir/fusion.h"
#include "ir/pointwise.h"
#include "ir/scalar.h"

namespace nvfuser {

namespace {

/// Types in which arithmetic is that of integers; narrower ones wrap.
bool is_index_type(DataType type) {
  return type == DataType::Index || type == DataType::Int;
}

/// The operation that computes `val`, if it is one on scalars; nullptr: `val` is a leaf.
const Expr* scalar_operation(const Val* val) {
  const Expr* definition = val->definition();
  if (definition == nullptr || !val->is_scalar() || val->is_const() ||
      !(definition->is_a<UnaryOp>() || definition->is_a<BinaryOp>() ||
        definition->is_a<TernaryOp>())) {
    return nullptr;
  }
  const bool is_scalar = std::ranges::all_of(
      definition->inputs(), [](const Val* input) { return input->is_scalar(); });
  return is_scalar ? definition : nullptr;
}

} // namespace

class IndexSimplifier::Impl {
 public:
  explicit Impl(Fusion& fusion) : emitter_(fusion), fusion_(fusion) {
    for (const Val* val : fusion.vals()) {
      if (val->vtype() == ValType::NamedScalar &&
          static_cast<const NamedScalar*>(val)->parallel_index() != ParallelType::Serial) {
        nonnegative_.insert(val);
      }
      if (val->vtype() != ValType::IterDomain) {
        continue;
      }
      const auto* id = static_cast<const IterDomain*>(val);
      for (const Val* size : {id->extent(), id->maybe_expanded_extent()}) {
        if (scalar_operation(size) == nullptr) {
          nonnegative_.insert(size);
        }
      }
    }
  }

  void set_range(Val* leaf, Val* extent);
  void set_nonnegative(Val* val);
  void assume_divisible(Val* a, Val* b);
  bool prove_divisible(Val* a, Val* b);
  Val* simplify(Val* expr);

  Sum sum_of(Val* val);
  IndexAlgebra& algebra() {
    return *algebra_;
  }
  /// The sum of an expression that came from outside.
  Sum read_in(Val* val) {
    fusion_.check_contains(val);
    return sum_of(val);
  }
  Val* emit(Sum sum) {
    return emitter_.emit(*algebra_, sum);
  }
  bool prove_nonnegative(Sum difference, Val* a, Val* b) {
    const Facts facts = algebra_->facts_of(read_in(a), read_in(b)); // they have been read
    const bool is_proven = algebra_->nonnegative(difference, facts);
    return !algebra_->take_overflow() && is_proven;
  }
  Val* extreme(Val* expr, const std::vector<Val*>& over, bool want_max);

 private:
  Sum read(Val* val, const Expr* operation);
  Sum read_leaf(Val* val);
  Sum read_binary(const BinaryOp& op);
  Sum read_ternary(const TernaryOp& op);
  Val* decide(Val* condition);
  Val* decide_comparison(Val* condition, const BinaryOp& op);
  Val* decide_logical(Val* condition, const BinaryOp& op);
  void apply_range(Val* leaf, Val* extent);
  void restart();

  std::unique_ptr<IndexAlgebra> algebra_ = std::make_unique<IndexAlgebra>();
  IndexEmitter emitter_;
  Fusion& fusion_;
  PointerMap<Val, Sum> sums_;
  std::unordered_set<const Val*> nonnegative_; // leaves, and what is in nonnegative_sums_
  std::vector<Val*> nonnegative_sums_;         // those that are computed
  std::vector<std::pair<Val*, Val*>> ranges_;
  std::vector<std::pair<Val*, Val*>> exact_divisions_;
  std::unordered_map<const Val*, size_t> range_index_;
  std::vector<const Val*> computed_leaves_; // those of ranges_ that are not just a symbol
};

// ---- Facts -------------------------------------------------------------------------------------

void IndexSimplifier::Impl::set_range(Val* leaf, Val* extent) {
  fusion_.check_contains(leaf);
  fusion_.check_contains(extent);
  const auto [position, is_new] = range_index_.emplace(leaf, ranges_.size());
  if (is_new) {
    ranges_.emplace_back(leaf, extent);
    if (leaf->definition() != nullptr || leaf->vtype() == ValType::TensorIndex) {
      computed_leaves_.push_back(leaf);
    }
  } else if (ranges_[position->second].second == extent) {
    return;
  } else {
    ranges_[position->second].second = extent;
  }
  // Results worked out without the range, or with another, do not hold or are not normal.
  if (algebra_->leaf_id(leaf) >= 0 || sums_.contains(leaf)) {
    restart();
  } else {
    apply_range(leaf, extent);
  }
}

void IndexSimplifier::Impl::apply_range(Val* leaf, Val* extent) {
  const Sum size = sum_of(extent);
  sums_.insert_or_assign(leaf, algebra_->set_range(leaf, size));
}

void IndexSimplifier::Impl::set_nonnegative(Val* val) {
  fusion_.check_contains(val);
  if (!nonnegative_.insert(val).second) {
    return;
  }
  if (scalar_operation(val) != nullptr) {
    nonnegative_sums_.push_back(val);
    algebra_->set_nonnegative(sum_of(val));
  } else if (algebra_->leaf_id(val) >= 0) {
    restart();
  }
}

void IndexSimplifier::Impl::assume_divisible(Val* a, Val* b) {
  if (prove_divisible(a, b)) {
    return;
  }
  exact_divisions_.emplace_back(a, b);
  restart();
}

bool IndexSimplifier::Impl::prove_divisible(Val* a, Val* b) {
  const auto divides = [&](Sum sum) { return algebra_->is_zero(algebra_->mod(sum, read_in(b))); };
  // x - x % b is b * (x / b).
  const bool is_divisible =
      divides(read_in(a)) || divides(algebra_->without_remainders(read_in(a)));
  return !algebra_->take_overflow() && is_divisible;
}

/// Facts are asserted anew, divisibility first: it decides how ranges are written.
void IndexSimplifier::Impl::restart() {
  emitter_.forget_sums();
  sums_.clear();
  algebra_ = std::make_unique<IndexAlgebra>();
  for (const auto& [dividend, divisor] : exact_divisions_) {
    algebra_->assume_divisible(sum_of(dividend), sum_of(divisor));
  }
  sums_.clear();
  for (const auto& [leaf, extent] : ranges_) {
    apply_range(leaf, extent);
  }
  for (Val* val : nonnegative_sums_) {
    algebra_->set_nonnegative(sum_of(val));
  }
}

// ---- Reading -----------------------------------------------------------------------------------

/// Operands before results, without recursion: definitions may be thousands deep.
Sum IndexSimplifier::Impl::sum_of(Val* root) {
  if (const Sum* known = sums_.find(root)) {
    return *known;
  }
  std::vector<Val*> stack = {root};
  while (!stack.empty()) {
    Val* val = stack.back();
    if (sums_.contains(val)) {
      stack.pop_back();
      continue;
    }
    const Expr* operation = range_index_.contains(val) ? nullptr : scalar_operation(val);
    const size_t depth = stack.size();
    if (operation != nullptr) {
      // The first operand is read first: atoms are numbered in the order of the text.
      for (Val* input : std::views::reverse(operation->inputs())) {
        if (!sums_.contains(input)) {
          stack.push_back(input);
        }
      }
    }
    if (stack.size() > depth) {
      continue;
    }
    sums_.try_emplace(val, read(val, operation));
    stack.pop_back();
  }
  return sums_.at(root);
}

Sum IndexSimplifier::Impl::read(Val* val, const Expr* operation) {
  emitter_.remember(val);
  if (operation == nullptr) {
    return read_leaf(val);
  }
  if (is_boolean(val->dtype())) {
    return algebra_->leaf(decide(val));
  }
  if (!is_index_type(val->dtype())) {
    return read_leaf(val);
  }
  Sum sum = nullptr;
  if (const auto* binary = operation->as<BinaryOp>()) {
    sum = read_binary(*binary);
  } else if (const auto* ternary = operation->as<TernaryOp>()) {
    sum = read_ternary(*ternary);
  } else if (operation->as<UnaryOp>()->op == UnaryOpType::Neg) {
    sum = algebra_->negate(sums_.at(operation->as<UnaryOp>()->arg));
  }
  if (!algebra_->take_overflow() && sum != nullptr) { // else the operation stays as it is
    return sum;
  }
  std::vector<Sum> operands;
  for (const Val* input : operation->inputs()) {
    operands.push_back(sums_.at(input));
  }
  const auto* unary = operation->as<UnaryOp>();
  const bool is_cast =
      unary != nullptr && unary->op == UnaryOpType::Cast && is_index_type(unary->arg->dtype());
  return algebra_->operation(
      is_cast ? AtomKind::Cast : AtomKind::Opaque, operation, std::move(operands));
}

Sum IndexSimplifier::Impl::read_leaf(Val* val) {
  // Larger constants have no negative.
  if (val->is_const_int() && as_int(val->value()) != Interval::kNoLower &&
      (is_index_type(val->dtype()) || as_int(val->value()) >= 0)) {
    return algebra_->constant(as_int(val->value()));
  }
  if (val->is_const() && is_boolean(val->dtype())) {
    return algebra_->leaf(val->is_true() ? fusion_.true_val() : fusion_.false_val());
  }
  const Sum leaf = algebra_->leaf(val);
  bool is_nonnegative = nonnegative_.contains(val);
  if (val->vtype() == ValType::NamedScalar) {
    const auto* named = static_cast<const NamedScalar*>(val);
    is_nonnegative = is_nonnegative || named->parallel_index() != ParallelType::Serial ||
                     named->parallel_dim() != ParallelType::Serial;
  }
  if (is_nonnegative) {
    algebra_->set_nonnegative(leaf);
  }
  return leaf;
}

Sum IndexSimplifier::Impl::read_binary(const BinaryOp& op) {
  const bool is_integer = is_index_type(op.lhs->dtype()) || is_index_type(op.rhs->dtype());
  const bool is_real = !is_integral(op.lhs->dtype()) || !is_integral(op.rhs->dtype());
  if (!is_integer || is_real) {
    return nullptr;
  }
  const Sum a = sums_.at(op.lhs);
  const Sum b = sums_.at(op.rhs);
  switch (op.op) {
    case BinaryOpType::Add: return algebra_->add(a, b);
    case BinaryOpType::Sub: return algebra_->sub(a, b);
    case BinaryOpType::Mul: return algebra_->mul(a, b);
    case BinaryOpType::Div: return algebra_->div(a, b);
    case BinaryOpType::Mod: return algebra_->mod(a, b);
    case BinaryOpType::CeilDiv: return algebra_->ceil_div(a, b);
    case BinaryOpType::Min: return algebra_->min(a, b);
    case BinaryOpType::Max: return algebra_->max(a, b);
    case BinaryOpType::BitwiseXor: return algebra_->bitwise_xor(a, b);
    default: return nullptr;
  }
}

Sum IndexSimplifier::Impl::read_ternary(const TernaryOp& op) {
  if (op.op != TernaryOpType::Where || !is_index_type(op.in2->dtype()) ||
      !is_index_type(op.in3->dtype())) {
    return nullptr;
  }
  const IndexAtom* condition = algebra_->as_atom(sums_.at(op.in1));
  if (condition != nullptr && condition->leaf != nullptr && condition->leaf->is_const()) {
    return sums_.at(condition->leaf->is_true() ? op.in2 : op.in3);
  }
  return algebra_->select(&op, sums_.at(op.in1), sums_.at(op.in2), sums_.at(op.in3));
}

// ---- Conditions --------------------------------------------------------------------------------

/// The condition in its simplest form; its operands have been read.
Val* IndexSimplifier::Impl::decide(Val* condition) {
  const Expr* operation = condition->definition();
  const auto decided = [&](Val* operand) { return algebra_->as_atom(sums_.at(operand))->leaf; };
  if (const auto* unary = operation->as<UnaryOp>()) {
    if (unary->op == UnaryOpType::LogicalNot && is_boolean(unary->arg->dtype())) {
      Val* arg = decided(unary->arg);
      if (arg->is_const()) {
        return arg->is_true() ? fusion_.false_val() : fusion_.true_val();
      }
    }
    return condition;
  }
  const auto* binary = operation->as<BinaryOp>();
  if (binary == nullptr) {
    return condition;
  }
  const bool is_logical =
      binary->op == BinaryOpType::LogicalAnd || binary->op == BinaryOpType::LogicalOr;
  if (is_logical && is_boolean(binary->lhs->dtype()) && is_boolean(binary->rhs->dtype())) {
    return decide_logical(condition, *binary);
  }
  if (is_comparison(binary->op) && is_index_type(binary->lhs->dtype()) &&
      is_index_type(binary->rhs->dtype())) {
    Val* decided_condition = decide_comparison(condition, *binary);
    return algebra_->take_overflow() ? condition : decided_condition;
  }
  return condition;
}

Val* IndexSimplifier::Impl::decide_logical(Val* condition, const BinaryOp& op) {
  const bool is_and = op.op == BinaryOpType::LogicalAnd;
  Val* a = algebra_->as_atom(sums_.at(op.lhs))->leaf;
  Val* b = algebra_->as_atom(sums_.at(op.rhs))->leaf;
  // false && b, true || b
  if (a->is_const()) {
    return a->is_true() == is_and ? b : a;
  }
  if (b->is_const()) {
    return b->is_true() == is_and ? a : b;
  }
  if (a == b) {
    return a;
  }
  return a == op.lhs && b == op.rhs ? condition : emitter_.binary(op.op, a, b);
}

Val* IndexSimplifier::Impl::decide_comparison(Val* condition, const BinaryOp& op) {
  Sum a = sums_.at(op.lhs);
  Sum b = sums_.at(op.rhs);
  if (op.op == BinaryOpType::LT || op.op == BinaryOpType::GE) {
    a = algebra_->part_that_decides(a, b);
  }
  const Facts facts = algebra_->facts_of(a, b);
  const Sum difference = algebra_->sub(b, a);
  // b - a >= margin, a - b >= margin
  const auto is_below = [&](int64_t margin) {
    return algebra_->nonnegative(algebra_->plus(difference, algebra_->constant(-margin)), facts);
  };
  const auto is_above = [&](int64_t margin) {
    return algebra_->nonnegative(
        algebra_->plus(algebra_->negate(difference), algebra_->constant(-margin)), facts);
  };
  const auto is_equal = [&] { return algebra_->is_zero(algebra_->without_remainders(difference)); };
  const auto decide_by = [&](auto always, auto never) -> Val* {
    return always() ? fusion_.true_val() : never() ? fusion_.false_val() : nullptr;
  };
  const auto is_unequal = [&] { return is_below(1) || is_above(1); };
  Val* known = nullptr;
  switch (op.op) {
    case BinaryOpType::LT:
      known = decide_by([&] { return is_below(1); }, [&] { return is_above(0); });
      break;
    case BinaryOpType::LE:
      known = decide_by([&] { return is_below(0); }, [&] { return is_above(1); });
      break;
    case BinaryOpType::GT:
      known = decide_by([&] { return is_above(1); }, [&] { return is_below(0); });
      break;
    case BinaryOpType::GE:
      known = decide_by([&] { return is_above(0); }, [&] { return is_below(1); });
      break;
    case BinaryOpType::Eq: known = decide_by(is_equal, is_unequal); break;
    default: known = decide_by(is_unequal, is_equal); break;
  }
  if (known != nullptr) {
    return known;
  }
  if (algebra_->has_overflowed()) {
    return condition;
  }
  Val* left = emit(a);
  Val* right = emit(b);
  return left == op.lhs && right == op.rhs ? condition : emitter_.binary(op.op, left, right);
}

// ---- Results -----------------------------------------------------------------------------------

Val* IndexSimplifier::Impl::simplify(Val* expr) {
  fusion_.check_contains(expr);
  if (!expr->is_scalar() || !(is_index_type(expr->dtype()) || is_boolean(expr->dtype()))) {
    return expr;
  }
  const Sum sum = sum_of(expr);
  if (is_boolean(expr->dtype())) {
    return algebra_->as_atom(sum)->leaf;
  }
  int64_t value = 0;
  if (algebra_->is_constant(sum, &value)) {
    return emitter_.constant(value, expr->dtype());
  }
  return scalar::cast(expr->dtype(), emit(sum));
}

Val* IndexSimplifier::Impl::extreme(Val* expr, const std::vector<Val*>& over, bool want_max) {
  const Sum sum = read_in(expr);
  AtomList leaves;
  const auto add = [&](const Val* leaf) {
    const AtomId id = algebra_->leaf_id(leaf);
    if (id >= 0 && std::ranges::find(leaves, id) == leaves.end()) {
      leaves.push_back(id);
    }
  };
  std::ranges::for_each(over, add);
  for (const Val* leaf : computed_leaves_) { // it runs with what it is made of
    const std::vector<const Val*> made_of = dependencies(leaf);
    if (std::ranges::find_first_of(made_of, over) != made_of.end()) {
      add(leaf);
    }
  }
  std::ranges::sort(leaves);
  const Sum bound = algebra_->extreme(sum, leaves, want_max, algebra_->facts_of(sum));
  const Sum normal = bound == nullptr ? nullptr : algebra_->add(bound, algebra_->constant(0));
  return algebra_->take_overflow() || normal == nullptr ? nullptr : emit(normal);
}

// ---- IndexSimplifier ---------------------------------------------------------------------------

IndexSimplifier::IndexSimplifier(Fusion& fusion) : impl_(std::make_unique<Impl>(fusion)) {}
IndexSimplifier::~IndexSimplifier() = default;
IndexSimplifier::IndexSimplifier(IndexSimplifier&&) noexcept = default;
IndexSimplifier& IndexSimplifier::operator=(IndexSimplifier&&) noexcept = default;

void IndexSimplifier::set_range(Val* leaf, Val* extent) {
  impl_->set_range(leaf, extent);
}

void IndexSimplifier::set_nonnegative(Val* val) {
  impl_->set_nonnegative(val);
}

void IndexSimplifier::assume_divisible(Val* a, Val* b) {
  impl_->assume_divisible(a, b);
}

Val* IndexSimplifier::simplify(Val* expr) {
  return impl_->simplify(expr);
}

Val* IndexSimplifier::part_that_decides(Val* index, Val* extent) {
  const Sum sum = impl_->read_in(index);
  const Sum part = impl_->algebra().part_that_decides(sum, impl_->read_in(extent));
  return impl_->algebra().take_overflow() || part == sum ? index : impl_->emit(part);
}

bool IndexSimplifier::prove_lt(Val* a, Val* b) {
  IndexAlgebra& algebra = impl_->algebra();
  const Sum difference = algebra.sub(impl_->read_in(b), impl_->read_in(a));
  return impl_->prove_nonnegative(algebra.plus(difference, algebra.constant(-1)), a, b);
}

bool IndexSimplifier::prove_le(Val* a, Val* b) {
  const Sum difference = impl_->algebra().sub(impl_->read_in(b), impl_->read_in(a));
  return impl_->prove_nonnegative(difference, a, b);
}

bool IndexSimplifier::prove_nonnegative(Val* a) {
  return impl_->prove_nonnegative(impl_->read_in(a), a, a);
}

bool IndexSimplifier::prove_divisible(Val* a, Val* b) {
  return impl_->prove_divisible(a, b);
}

bool IndexSimplifier::prove_equal(Val* a, Val* b) {
  IndexAlgebra& algebra = impl_->algebra();
  const Sum difference = algebra.sub(impl_->read_in(a), impl_->read_in(b));
  const bool is_equal =
      algebra.is_zero(difference) || algebra.is_zero(algebra.without_remainders(difference));
  return !algebra.take_overflow() && is_equal;
}

Val* IndexSimplifier::max_over(Val* expr, const std::vector<Val*>& over) {
  return impl_->extreme(expr, over, /*want_max=*/true);
}

Val* IndexSimplifier::min_over(Val* expr, const std::vector<Val*>& over) {
  return impl_->extreme(expr, over, /*want_max=*/false);
}

} // namespace nvfuser
