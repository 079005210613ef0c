#include "lower/analysis/index_forms.h"

#include <algorithm>
#include <utility>

#include "ir/dependencies.h"
#include "ir/scopes.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/for_loops.h"

namespace nvfuser {
namespace {

constexpr int kUnknown = 1 << 20; // the depth of what no place knows

bool is_integer_scalar(const Val* val) {
  return val->is_scalar() && is_integral(val->dtype());
}

bool is_sum_or_difference(const Val* val) {
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
  return op != nullptr && (op->op == BinaryOpType::Add || op->op == BinaryOpType::Sub) &&
         val->dtype() == DataType::Index;
}

bool is_commutative(BinaryOpType op) {
  return op == BinaryOpType::Add || op == BinaryOpType::Mul;
}

int operation_of(const Expr& expr) {
  return visit(
      expr, overloaded{
                [](const UnaryOp& op) { return static_cast<int>(op.op); },
                [](const BinaryOp& op) { return static_cast<int>(op.op); },
                [](const TernaryOp& op) { return static_cast<int>(op.op); },
                [](const Expr&) { return -1; },
            });
}

} // namespace

bool is_index_operation(const Val* val) {
  const Expr* definition = val->definition();
  return is_integer_scalar(val) && definition != nullptr && is_arithmetic(*definition) &&
         std::all_of(definition->inputs().begin(), definition->inputs().end(), [](const Val* in) {
           return is_integer_scalar(in) || is_boolean(in->dtype());
         });
}

Val* repeat_operation(Kernel& kernel, const Val* model, const std::vector<Val*>& operands) {
  Val* result = kernel.new_scalar(model->dtype());
  visit(
      *model->definition(),
      overloaded{
          [&](const UnaryOp& op) {
            kernel.make<UnaryOp>({.out = result, .arg = operands[0], .op = op.op});
          },
          [&](const BinaryOp& op) {
            kernel.make<BinaryOp>(
                {.out = result, .lhs = operands[0], .rhs = operands[1], .op = op.op});
          },
          [&](const TernaryOp& op) {
            kernel.make<TernaryOp>(
                {.out = result,
                 .in1 = operands[0],
                 .in2 = operands[1],
                 .in3 = operands[2],
                 .op = op.op});
          },
          [&](const Expr& other) {
            NVF_INVARIANT(false, "index expressions are pointwise: ", other.op_name());
          },
      });
  return result;
}

bool is_division(const Expr& operation) {
  const auto* binary = operation.as<BinaryOp>();
  if (binary == nullptr) {
    return false;
  }
  switch (binary->op) {
    case BinaryOpType::Div:
    case BinaryOpType::Mod:
    case BinaryOpType::Remainder:
    case BinaryOpType::Fmod:
    case BinaryOpType::CeilDiv:
    case BinaryOpType::Gcd: return true;
    default: return false;
  }
}

// ---- Places -------------------------------------------------------------------------------------

IndexForms::IndexForms(Kernel& kernel) : kernel_(kernel) {
  Place& root = places_.emplace_back();
  root.list = &kernel.body;
  root.has_thread = root.has_block = root.has_block_x = kernel.target().has_hardware_threads;
  has_clusters_ = cluster_size(kernel) > 1;
  const auto& threads = kernel.launch.extents.block;
  has_many_threads_ = std::ranges::any_of(
      threads, [](const Val* extent) { return extent != nullptr && !extent->is_const_int(1); });
  for (const SizeSource& source : kernel.launch.sizes) {
    known_.insert(source.extent);
  }
  known_.insert(kernel.inputs().begin(), kernel.inputs().end());
  known_.insert(kernel.size_names.begin(), kernel.size_names.end());
  for_each_node(kernel.body, [&](const Expr& statement) {
    for (const Val* out : statement.outputs()) {
      if (out->is_scalar()) {
        declared_.insert(out);
      }
    }
    if (const auto* reduction = statement.as<GridReduction>()) {
      declared_.insert(reduction->is_last);
    }
  });
}

Place* IndexForms::enter(const Expr& owner, Scope& body, Place* outer, Expr* node) {
  Place& place = places_.emplace_back();
  place.outer = outer;
  place.list = &body;
  place.node = node;
  place.depth = outer->depth + 1;
  place.repeats = !owner.is_a<IfThenElse>();
  place.has_thread = owner.is_a<ThreadLoop>();
  place.is_thread_loop = place.has_thread && has_many_threads_;
  place.has_block = owner.is_a<BlockLoop>();
  place.has_block_x = has_clusters_ ? owner.is_a<ClusterLoop>() : place.has_block;
  const auto* loop = owner.as<ForLoop>();
  place.index = loop == nullptr ? nullptr : loop->index;
  place.may_be_empty = loop != nullptr && !surely_runs(*loop);
  const auto* branch = owner.as<IfThenElse>();
  place.is_branch = branch != nullptr;
  place.is_main_path =
      branch != nullptr && &body == &branch->then_body && !branch->else_body.empty();
  return &place;
}

bool IndexForms::is_leaf(const Val* val, const Place* place) const {
  if (val->definition() == nullptr || known_.count(val) != 0 || declared_.count(val) != 0) {
    return true;
  }
  for (; place != nullptr; place = place->outer) {
    if (place->index == val) {
      return true;
    }
  }
  return false;
}

Place* IndexForms::place_of_leaf(const Val* leaf, Place* place) const {
  Place* root = place;
  while (root->outer != nullptr) {
    root = root->outer;
  }
  if (leaf->is_const() || known_.count(leaf) != 0) {
    return root;
  }
  if (declared_.count(leaf) != 0) {
    return nullptr;
  }
  ParallelType type = ParallelType::Serial;
  if (leaf->vtype() == ValType::NamedScalar) {
    type = static_cast<const NamedScalar*>(leaf)->parallel_index();
    if (type == ParallelType::Serial) {
      return root; // a parameter of the launch
    }
  }
  for (Place* at = place; at != nullptr; at = at->outer) {
    const bool is_here = is_block_dim(type)           ? at->has_thread
                         : type == ParallelType::BIDx ? at->has_block_x
                         : is_grid_dim(type)          ? at->has_block
                                                      : at->index == leaf;
    if (is_here) {
      return at;
    }
  }
  return nullptr;
}

Place* IndexForms::place_of(const Val* val, Place* place) const {
  if (is_leaf(val, place)) {
    return place_of_leaf(val, place);
  }
  if (const auto found = place->known_in.find(val); found != place->known_in.end()) {
    return found->second;
  }
  Place* innermost = nullptr;
  for (const Val* in : val->definition()->inputs()) {
    Place* of_operand = in->is_scalar() ? place_of(in, place) : nullptr;
    if (of_operand == nullptr) {
      innermost = nullptr;
      break;
    }
    if (innermost == nullptr || innermost->depth < of_operand->depth) {
      innermost = of_operand;
    }
  }
  place->known_in[val] = innermost;
  return innermost;
}

bool IndexForms::needs_guard(const Val* val) {
  const Expr* definition = val->definition();
  if (definition == nullptr) {
    return false;
  }
  if (const auto found = needs_guard_.find(val); found != needs_guard_.end()) {
    return found->second;
  }
  bool result = false;
  if (is_division(*definition)) {
    const Val* divisor = definition->as<BinaryOp>()->rhs;
    result = !divisor->is_const_int() || as_int(divisor->value()) <= 0;
  }
  for (const Val* in : definition->inputs()) {
    result = result || needs_guard(in);
  }
  needs_guard_[val] = result;
  return result;
}

// ---- Forms --------------------------------------------------------------------------------------

Val* IndexForms::rebuild(Val* val, Place* place) {
  const Expr* definition = val->definition();
  if (val->is_const() || !val->is_scalar() || is_leaf(val, place) || !is_arithmetic(*definition)) {
    return val;
  }
  if (const auto found = place->rebuilt.find(val); found != place->rebuilt.end()) {
    return found->second;
  }
  Val* form = is_sum_or_difference(val) ? rebuild_sum(val, place) : rebuild_operation(val, place);
  place->rebuilt[val] = form;
  return form;
}

IndexForms::Terms IndexForms::terms_of(Val* sum, Place* place) {
  std::vector<SignedVal> pending{{sum, false}};
  Terms terms;
  while (!pending.empty()) {
    const auto [term, is_negative] = pending.back();
    pending.pop_back();
    if (is_sum_or_difference(term) && !is_leaf(term, place)) {
      const auto* op = term->definition()->as<BinaryOp>();
      pending.push_back({op->rhs, is_negative != (op->op == BinaryOpType::Sub)});
      pending.push_back({op->lhs, is_negative});
      continue;
    }
    const Place* known = place_of(term, place);
    const int depth = term->is_const() ? kUnknown + 1 : known == nullptr ? kUnknown : known->depth;
    terms.push_back({depth, {rebuild(term, place), is_negative}});
  }
  std::ranges::stable_sort(terms, {}, &Term::depth);
  return terms;
}

const IndexForms::KnownSum* IndexForms::known_part(const Terms& terms) const {
  constexpr size_t kLatest = 64; // a part of what stands nearby
  const int depth = terms.back().depth;
  std::set<SignedVal> vals; // of the terms; only looked up
  std::ranges::for_each(terms, [&](const Term& term) { vals.insert(term.val); });
  const KnownSum* best = nullptr;
  const size_t end = sums_.size() - std::min(sums_.size(), kLatest);
  for (size_t i = sums_.size(); i > end; --i) {
    const KnownSum& sum = sums_[i - 1];
    const auto is_term = [&](const SignedVal& val) { return vals.contains(val); };
    if (sum.depth == depth && sum.terms.size() <= terms.size() &&
        (best == nullptr || best->terms.size() < sum.terms.size()) &&
        std::ranges::all_of(sum.terms, is_term)) {
      best = &sum;
    }
  }
  return best;
}

/// The sum of the terms up to those of one place is remembered, for sums that have them and more.
/// Not for loops of constant length: unrolled, their accesses are constants apart, which are added
/// last.
Val* IndexForms::rebuild_sum(Val* sum, Place* place) {
  const auto is_shared = [&](int depth) {
    const Place* at = place;
    while (at != nullptr && at->depth > depth) {
      at = at->outer;
    }
    return at != nullptr && depth < kUnknown && (at->outer == nullptr || at->may_be_empty);
  };
  const Terms terms = terms_of(sum, place);
  std::unordered_set<const Val*> distinct; // a part of n + n may be n, but what is left is not 0
  std::ranges::for_each(terms, [&](const Term& term) { distinct.insert(term.val.val); });
  const bool has_repeated = distinct.size() < terms.size();
  PartialSum result;
  for (size_t begin = 0, end = 0; begin < terms.size(); begin = end) {
    const int depth = terms[begin].depth;
    while (end < terms.size() && terms[end].depth == depth) {
      ++end;
    }
    const bool may_share = !has_repeated && is_shared(depth);
    const Terms so_far(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(end));
    const KnownSum* part = may_share ? known_part(so_far) : nullptr;
    if (part != nullptr) {
      result = {};
      const std::set<SignedVal> of_part(part->terms.begin(), part->terms.end());
      for (const Term& term : so_far) {
        if (!of_part.contains(term.val)) {
          add(result, term.val, sum);
        }
      }
      add(result, {part->val, false}, sum);
    } else {
      for (size_t i = begin; i < end; ++i) {
        add(result, terms[i].val, sum);
      }
    }
    const bool is_known = part != nullptr && part->terms.size() == so_far.size();
    if (end > 1 && may_share && !is_known && result.negative.empty()) {
      KnownSum& known = sums_.emplace_back(KnownSum{{}, depth, result.val});
      std::ranges::transform(so_far, std::back_inserter(known.terms), &Term::val);
    }
  }
  return result.val; // the first operand of all is not negative
}

/// A negative first term waits for one that it is taken from.
void IndexForms::add(PartialSum& so_far, const SignedVal& term, const Val* sum) {
  if (so_far.val == nullptr && term.is_negative) {
    so_far.negative.push_back(term.val);
    return;
  }
  if (so_far.val == nullptr) {
    so_far.val = term.val;
  } else {
    const BinaryOpType op = term.is_negative ? BinaryOpType::Sub : BinaryOpType::Add;
    so_far.val = shared_sum(sum, op, so_far.val, term.val);
  }
  for (Val* negative : std::exchange(so_far.negative, {})) {
    so_far.val = shared_sum(sum, BinaryOpType::Sub, so_far.val, negative);
  }
}

Val* IndexForms::shared_sum(const Val* model, BinaryOpType op, Val* lhs, Val* rhs) {
  const auto& own = *model->definition()->as<BinaryOp>();
  Val*& result = shared_[key_of(own.kind(), static_cast<int>(op), DataType::Index, {lhs, rhs})];
  if (result == nullptr && own.op == op && own.lhs == lhs && own.rhs == rhs) {
    result = own.out;
  } else if (result == nullptr) {
    result = kernel_.new_scalar(DataType::Index);
    kernel_.make<BinaryOp>({.out = result, .lhs = lhs, .rhs = rhs, .op = op});
  }
  return result;
}

Val* IndexForms::rebuild_operation(Val* val, Place* place) {
  std::vector<Val*> operands;
  for (Val* in : val->definition()->inputs()) {
    operands.push_back(rebuild(in, place));
  }
  return shared(val, operands);
}

const Val* IndexForms::shared_constant(const Val* val) {
  return val->is_const_int()
             ? constants_.try_emplace({as_int(val->value()), val->dtype()}, val).first->second
             : val;
}

IndexForms::Key IndexForms::key_of(
    ExprKind kind, int op, DataType type, const std::vector<Val*>& operands) {
  std::vector<const Val*> parts;
  for (const Val* operand : operands) {
    parts.push_back(shared_constant(operand));
  }
  if (kind == ExprKind::BinaryOp && is_commutative(static_cast<BinaryOpType>(op))) {
    std::ranges::sort(parts); // what was asked for first stands for both
  }
  return {kind, op, type, std::move(parts)};
}

Val* IndexForms::shared(Val* model, const std::vector<Val*>& operands) {
  const Expr& operation = *model->definition();
  Val*& result =
      shared_[key_of(operation.kind(), operation_of(operation), model->dtype(), operands)];
  if (result != nullptr) {
    return result;
  }
  if (operation.inputs() == operands) {
    result = model;
    return result;
  }
  result = repeat_operation(kernel_, model, operands);
  return result;
}

} // namespace nvfuser
