// Copying statements between fusions.
//
// A whole copy (Fusion::copy_from) keeps names, serials and the order of uses, so that a clone
// equals its original and prints the same. A partial copy (any other Cloner makes one) numbers
// anew; with a value it copies the computation of its sizes and the transforms of its axes, but no
// definition of a tensor.
//
// Values never pull in definitions of tensors, so recursion is bounded by the nesting of kinds
// (element, tensor, domain, axis, size) and of kernel scopes, not by the length of the program.
#include <algorithm>
#include <functional>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/topo_sort.h"

namespace nvfuser {

namespace {

/// The fields that point to no tensor: a whole copy sets the others when all tensors are there.
TensorSchedule without_statements(const TensorSchedule& schedule) {
  TensorSchedule kept = schedule;
  for_each_field<TensorSchedule>([&](const auto& field) {
    using T = typename std::decay_t<decltype(field)>::Type;
    if constexpr (is_vector_v<T>) {
      kept.*field.member = {};
    } else {
      static_assert(!is_statement_pointer_v<T>, "tensors are lists of tensors");
    }
  });
  return kept;
}

} // namespace

Expr* Cloner::find(const Expr* expr) const {
  const auto found = map_.find(expr);
  return found == map_.end() ? nullptr : static_cast<Expr*>(found->second);
}

std::unique_ptr<Val> Cloner::copy_val(const Val* val) {
  Cloner& clone = *this;
  switch (val->vtype()) {
    case ValType::Scalar:
      return std::unique_ptr<Val>(new Val(ValType::Scalar, val->dtype(), val->value()));
    case ValType::NamedScalar: {
      const auto* named = static_cast<const NamedScalar*>(val);
      return std::unique_ptr<Val>(new NamedScalar(named->text_name(), named->dtype()));
    }
    case ValType::IterDomain: {
      const auto* id = static_cast<const IterDomain*>(val);
      return std::unique_ptr<Val>(new IterDomain(clone(id->spec())));
    }
    case ValType::TensorDomain: {
      const auto* domain = static_cast<const TensorDomain*>(val);
      auto copy = std::unique_ptr<TensorDomain>(new TensorDomain(TensorDomainSpec{}));
      copy->spec_ = clone(domain->spec()); // as it is, without the defaults of a new one
      return copy;
    }
    case ValType::TensorView: {
      const auto* tv = static_cast<const TensorView*>(val);
      auto copy = std::unique_ptr<TensorView>(
          new TensorView(clone(tv->domain()), tv->dtype(), without_statements(tv->schedule())));
      return copy; // a whole copy sets the steps when all statements are there
    }
    case ValType::TensorIndex: {
      const auto* element = static_cast<const TensorIndex*>(val);
      return std::unique_ptr<Val>(new TensorIndex(clone(element->view()), clone(element->index())));
    }
  }
  throw InternalError(__FILE__, __LINE__, "known kind", {"clone: ValType out of range"});
}

void Cloner::adopt_copy(const Statement* original, std::unique_ptr<Statement> copy) {
  copy->fusion_ = &to_;
  copy->location_ = original->location_;
  if (is_whole_copy_) {
    copy->name_ = original->name_;
    copy->serial_ = original->serial_;
  } else {
    Fusion::Counters& counters = to_.counters_;
    copy->serial_ = counters.serial++;
    switch (static_cast<const Val*>(original)->vtype()) {
      case ValType::Scalar: copy->name_ = counters.scalar++; break;
      case ValType::NamedScalar: copy->name_ = counters.named++; break;
      case ValType::IterDomain: copy->name_ = counters.iter_domain++; break;
      case ValType::TensorDomain: copy->name_ = counters.tensor_domain++; break;
      case ValType::TensorView: copy->name_ = counters.tensor++; break;
      case ValType::TensorIndex: copy->name_ = counters.index++; break;
    }
  }
  map_[original] = copy.get();
  to_.statements_.push_back(std::move(copy));
}

Val* Cloner::clone_val(Val* val) {
  if (val == nullptr) {
    return nullptr;
  }
  const auto known = [&]() -> Val* {
    const auto found = map_.find(val);
    return found == map_.end() ? nullptr : static_cast<Val*>(found->second);
  };
  if (Val* copy = known()) {
    return copy;
  }
  if (!is_whole_copy_) {
    NVF_INVARIANT(val->fusion() == &from_, "what is cloned belongs to the source");
    if (val->vtype() == ValType::NamedScalar) {
      const auto* named = static_cast<const NamedScalar*>(val);
      return to_.named_scalar(named->text_name(), named->dtype());
    }
    if (val == from_.zero_ || val == from_.one_) {
      return val == from_.zero_ ? to_.zero() : to_.one();
    }
    // Outputs are cloned by clone_expr, which has marked their definition.
    const bool has_computation = val->is_scalar() || val->vtype() == ValType::IterDomain;
    if (has_computation && val->definition() != nullptr && map_.count(val->definition()) == 0) {
      for (const Expr* expr : sorted_definitions({val})) {
        clone_expr(expr);
      }
      return known();
    }
  }
  adopt_copy(val, copy_val(val));
  return known();
}

Expr* Cloner::clone_expr(const Expr* expr) {
  if (expr == nullptr) {
    return nullptr;
  }
  if (const auto found = map_.find(expr); found != map_.end()) {
    return static_cast<Expr*>(found->second);
  }
  map_[expr] = nullptr; // being cloned
  std::unique_ptr<Expr> copy = expr->clone_with(*this);
  copy->predicate_ = clone_val(expr->predicate_);
  Expr* raw = copy.get();
  if (is_whole_copy_) {
    raw->collect_operands();
    adopt_copy(expr, std::move(copy));
  } else {
    to_.register_expr(std::move(copy));
    raw->location_ = expr->location_;
    map_[expr] = raw;
  }
  return raw;
}

Cloner Fusion::copy_from(const Fusion& from) {
  NVF_INVARIANT(statements_.empty(), "a whole fusion is copied into an empty one");
  Cloner cloner(from, *this);
  cloner.is_whole_copy_ = true;
  cloner.map_.reserve(from.statements_.size());
  statements_.reserve(from.statements_.size());
  for (const auto& statement : from.statements_) {
    if (statement->is_val()) {
      cloner(static_cast<Val*>(statement.get()));
    } else {
      cloner(static_cast<Expr*>(statement.get()));
    }
  }
  // A value may read one made after it (a domain that was scheduled): restore the order.
  std::sort(statements_.begin(), statements_.end(), [](const auto& a, const auto& b) {
    return a->serial_ < b->serial_;
  });
  for (const auto& statement : from.statements_) {
    if (!statement->is_val()) {
      continue;
    }
    auto* original = static_cast<Val*>(statement.get());
    Val* copy = cloner(original);
    copy->definition_ = cloner(original->definition_);
    copy->uses_ = cloner(original->uses_);
    copy->is_fusion_input_ = original->is_fusion_input_;
    copy->is_fusion_output_ = original->is_fusion_output_;
    if (original->is_tensor()) {
      const auto* tv = static_cast<const TensorView*>(original);
      auto* tv_copy = static_cast<TensorView*>(copy);
      tv_copy->schedule_ = cloner(tv->schedule());
      tv_copy->schedule_steps_ = cloner(tv->schedule_steps_);
    }
  }
  counters_ = from.counters_;
  inputs_ = cloner(from.inputs_);
  outputs_ = cloner(from.outputs_);
  for (const auto& [output, info] : from.aliases_) {
    aliases_.emplace_back(
        cloner(const_cast<Val*>(output)),
        AliasInfo{.input = cloner(info.input), .is_hidden = info.is_hidden});
  }
  std::ranges::sort(aliases_, std::less(), &std::pair<const Val*, AliasInfo>::first);
  for (const auto& [text_name, scalar] : from.named_scalars_) {
    named_scalars_.emplace(text_name, cloner(scalar));
  }
  zero_ = cloner(from.zero_);
  one_ = cloner(from.one_);
  true_ = cloner(from.true_);
  false_ = cloner(from.false_);
  return cloner;
}

std::shared_ptr<Fusion> Fusion::clone() const {
  std::shared_ptr<Fusion> copy = create();
  copy->copy_from(*this);
  return copy;
}

} // namespace nvfuser
