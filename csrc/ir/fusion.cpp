// Fusion: making, numbering and registering statements; walking the graph.
#include "ir/fusion.h"

#include <algorithm>
#include <iterator>

#include "base/pointer_map.h"
#include "base/pointer_set.h"
#include "ir/all_nodes.h"
#include "ir/topo_sort.h"

namespace nvfuser {

Fusion::Fusion() = default;
Fusion::~Fusion() = default;

std::shared_ptr<Fusion> Fusion::create() {
  return std::shared_ptr<Fusion>(new Fusion());
}

// ---- Values -------------------------------------------------------------------------------------

template <typename T>
T* Fusion::adopt(std::unique_ptr<T> statement, int64_t& counter) {
  T* raw = statement.get();
  raw->fusion_ = this;
  raw->name_ = counter++;
  raw->serial_ = counters_.serial++;
  raw->location_ = current_source_location();
  statements_.push_back(std::move(statement));
  return raw;
}

namespace {

void check_unpacked(DataType dtype) {
  NVF_USER_CHECK(
      dtype != DataType::Float4_e2m1fn_x2, "Packed type ", dtype,
      " must be unpacked when defining fusion");
}

} // namespace

Val* Fusion::new_scalar(DataType dtype) {
  check_unpacked(dtype);
  return adopt(std::unique_ptr<Val>(new Val(ValType::Scalar, dtype)), counters_.scalar);
}

Val* Fusion::new_constant(const ScalarValue& value, DataType dtype) {
  check_unpacked(dtype);
  return adopt(
      std::unique_ptr<Val>(new Val(ValType::Scalar, dtype, convert_value(value, dtype))),
      counters_.scalar);
}

Val* Fusion::zero() {
  return zero_ != nullptr ? zero_ : zero_ = new_index(0);
}

Val* Fusion::one() {
  return one_ != nullptr ? one_ : one_ = new_index(1);
}

Val* Fusion::true_val() {
  return true_ != nullptr ? true_ : true_ = new_constant(true, DataType::Bool);
}

Val* Fusion::false_val() {
  return false_ != nullptr ? false_ : false_ = new_constant(false, DataType::Bool);
}

NamedScalar* Fusion::named_scalar(const std::string& text_name, DataType dtype) {
  const auto found = named_scalars_.find(text_name);
  if (found != named_scalars_.end()) {
    NVF_INVARIANT(found->second->dtype() == dtype, "one type per name: ", text_name);
    return found->second;
  }
  NamedScalar* scalar =
      adopt(std::unique_ptr<NamedScalar>(new NamedScalar(text_name, dtype)), counters_.named);
  named_scalars_.emplace(text_name, scalar);
  return scalar;
}

IterDomain* Fusion::new_iter_domain(const IterDomainSpec& spec) {
  IterDomainSpec full = spec;
  NVF_INVARIANT(full.extent != nullptr, "every axis has an extent");
  full.start = full.start != nullptr ? full.start : zero();
  full.stop_offset = full.stop_offset != nullptr ? full.stop_offset : zero();
  for (const Val* val : {full.extent, full.start, full.stop_offset, full.expanded_extent}) {
    if (val == nullptr) {
      continue;
    }
    check_contains(val);
    if (val->dtype() != DataType::Index) {
      throw UserError(
          {.headline =
               {"Cannot create an iter domain with ", val->to_inline_string(), " of type ",
                val->dtype(), ": extent, start and stop offset must be of type ", DataType::Index},
           .node = describe(val),
           .expected = {DataType::Index},
           .found = {val->dtype()},
           .fix = "cast it to Index"});
    }
  }
  return adopt(std::unique_ptr<IterDomain>(new IterDomain(full)), counters_.iter_domain);
}

IterDomain* Fusion::new_iter_domain(Val* extent, IterType type) {
  return new_iter_domain(IterDomainSpec{.extent = extent, .iter_type = type});
}

TensorDomain* Fusion::new_tensor_domain(TensorDomainSpec spec) {
  for (const IterDomains* ids : {&spec.root, &spec.logical, &spec.allocation, &spec.loop}) {
    std::for_each(ids->begin(), ids->end(), [&](const IterDomain* id) { check_contains(id); });
  }
  return adopt(
      std::unique_ptr<TensorDomain>(new TensorDomain(std::move(spec))), counters_.tensor_domain);
}

TensorView* Fusion::new_tensor(TensorDomain* domain, DataType dtype, MemoryType memory_type) {
  check_contains(domain);
  check_unpacked(dtype);
  return adopt(
      std::unique_ptr<TensorView>(
          new TensorView(domain, dtype, TensorSchedule{.memory_type = memory_type})),
      counters_.tensor);
}

TensorIndex* Fusion::new_tensor_index(TensorView* view, Val* index) {
  check_contains(view);
  check_contains(index);
  return adopt(std::unique_ptr<TensorIndex>(new TensorIndex(view, index)), counters_.index);
}

void Fusion::check_contains(const Statement* statement) const {
  NVF_INVARIANT(statement != nullptr, "a statement is given");
  if (!contains(statement)) {
    throw UserError(
        {.headline =
             {statement->is_val() ? statement->to_string()
                                  : static_cast<const Expr*>(statement)->op_name(),
              " was not found in the active fusion."},
         .node = describe(statement),
         .expected = "a statement of the fusion that is being defined or scheduled",
         .found = statement->is_taken_back() ? "what a call made that then failed"
                                             : "a statement of another fusion",
         .fix = "keep one fusion active at a time, and use the handles that were made in it"});
  }
}

// ---- Expressions --------------------------------------------------------------------------------

void Fusion::add_use(Val* val, Expr* expr) {
  // Nearly always the youngest expression, so the end is the place.
  auto& uses = val->uses_;
  const auto place = std::lower_bound(
      uses.begin(), uses.end(), expr,
      [](const Expr* a, const Expr* b) { return a->serial() < b->serial(); });
  if (place == uses.end() || *place != expr) {
    uses.insert(place, expr);
  }
}

void Fusion::drop_use(Val* val, Expr* expr) {
  auto& uses = val->uses_;
  uses.erase(std::remove(uses.begin(), uses.end(), expr), uses.end());
}

Expr* Fusion::register_expr(std::unique_ptr<Expr> expr) {
  expr->collect_operands();
  for (const std::vector<Val*>* list : {&expr->inputs_, &expr->outputs_}) {
    std::for_each(list->begin(), list->end(), [&](const Val* val) { check_contains(val); });
  }
  for (const Val* output : expr->outputs_) {
    NVF_INVARIANT(!output->is_fusion_input_, "an input is not computed: ", describe(output));
  }
  expr->for_each_attr([&](const char*, const AttrValue& value) {
    if (const auto* val = std::get_if<Val*>(&value); val != nullptr && *val != nullptr) {
      check_contains(*val);
    }
  });

  Expr* raw = adopt(std::move(expr), counters_.expr);
  bool is_read_already = false;
  for (Val* output : raw->outputs_) {
    // Elements of tensors are written by many kernel statements; everything else has one
    // definition.
    if (output->definition_ != nullptr && output->vtype() != ValType::TensorIndex) {
      remove(output->definition_);
    }
    output->definition_ = raw;
    is_read_already = is_read_already || output->is_fusion_output_ || !output->uses_.empty();
  }
  for (Val* input : raw->inputs_) {
    add_use(input, raw);
  }
  if (is_read_already || outputs_.empty()) { // without outputs, every expression counts
    count_edit_of_graph();
  }
  return raw;
}

void Fusion::remove(Expr* expr) {
  check_contains(expr);
  for (Val* output : expr->outputs_) {
    if (output->definition_ == expr) {
      output->definition_ = nullptr;
    }
  }
  for (Val* input : expr->inputs_) {
    drop_use(input, expr);
  }
  count_edit_of_graph();
}

void Fusion::take_back(size_t size, const Counters& counters) {
  const auto is_gone = [&](const Statement* statement) {
    return statement != nullptr && statement->serial() >= counters.serial;
  };
  for (size_t i = size; i < statements_.size(); ++i) {
    if (statements_[i]->is_expr()) {
      remove(static_cast<Expr*>(statements_[i].get()));
    }
  }
  for (Val** shared : {&zero_, &one_, &true_, &false_}) {
    *shared = is_gone(*shared) ? nullptr : *shared;
  }
  std::erase_if(named_scalars_, [&](const auto& entry) { return is_gone(entry.second); });
  const auto first = statements_.begin() + static_cast<std::ptrdiff_t>(size);
  std::for_each(
      first, statements_.end(), [](const auto& gone) { gone->serial_ = Statement::kTakenBack; });
  std::move(first, statements_.end(), std::back_inserter(taken_back_));
  statements_.erase(first, statements_.end());
  counters_ = counters;
}

void Fusion::replace_uses(Val* from, Val* to, const std::vector<Expr*>& users) {
  check_contains(from);
  check_contains(to);
  NVF_INVARIANT(from->is_tensor() == to->is_tensor(), describe(to), " stands for ", describe(from));
  std::for_each(users.begin(), users.end(), [&](const Expr* user) { check_contains(user); });
  for (Expr* user : users) {
    user->substitute_input(from, to);
    drop_use(from, user);
    add_use(to, user);
  }
  count_edit_of_graph();
}

void Fusion::replace_output_of(Expr* expr, Val* from, Val* to) {
  check_contains(expr);
  check_contains(to);
  const bool is_element = from->vtype() == ValType::TensorIndex; // may have other definitions
  NVF_INVARIANT(is_element || from->definition_ == expr, "the expression defines what is replaced");
  if (to->definition_ != nullptr && !is_element) {
    remove(to->definition_);
  }
  expr->substitute_output(from, to);
  if (from->definition_ == expr) {
    from->definition_ = nullptr;
  }
  to->definition_ = expr;
  count_edit_of_graph();
}

void Fusion::reorder(const std::vector<Statement*>& first) {
  PointerMap<Statement, size_t> places;
  size_t num_places = 0;
  for (const Statement* statement : first) {
    check_contains(statement);
    if (places.try_emplace(statement, num_places).second) {
      ++num_places;
    }
  }
  std::vector<std::unique_ptr<Statement>> ordered(num_places);
  for (auto& statement : statements_) {
    if (const size_t* place = places.find(statement.get())) {
      ordered[*place] = std::move(statement);
    } else {
      ordered.push_back(std::move(statement));
    }
  }
  statements_ = std::move(ordered);
  for (size_t i = 0; i < statements_.size(); ++i) {
    statements_[i]->serial_ = static_cast<int64_t>(i);
  }
  for (const auto& statement : statements_) {
    if (statement->is_val()) {
      auto& uses = static_cast<Val*>(statement.get())->uses_;
      std::sort(uses.begin(), uses.end(), [](const Expr* a, const Expr* b) {
        return a->serial() < b->serial();
      });
    }
  }
  count_edit_of_graph(); // ties are in the order in which expressions were made
}

void Fusion::count_edit_of_graph() {
  is_liveness_valid_ = false;
  exprs_.reset();
  ++version_;
  ++axes_version_;
}

void Fusion::update_liveness() const {
  if (is_liveness_valid_) {
    return;
  }
  const std::lock_guard<std::mutex> lock(liveness_mutex_); // readers may run in parallel
  if (is_liveness_valid_) {
    return;
  }
  for (const auto& statement : statements_) {
    if (statement->is_expr()) {
      static_cast<Expr*>(statement.get())->leads_to_output_ = false;
    }
  }
  std::vector<const Val*> pending(outputs_.begin(), outputs_.end());
  while (!pending.empty()) {
    Expr* definition = pending.back()->definition();
    pending.pop_back();
    if (definition != nullptr && !definition->leads_to_output_) {
      definition->leads_to_output_ = true;
      pending.insert(pending.end(), definition->inputs().begin(), definition->inputs().end());
    }
  }
  is_liveness_valid_ = true;
}

// ---- The graph ----------------------------------------------------------------------------------

std::vector<Expr*> Fusion::exprs() const {
  const std::lock_guard<std::mutex> lock(liveness_mutex_); // readers may run in parallel
  if (!exprs_.has_value()) {
    exprs_ = sorted_definitions(outputs_);
  }
  return *exprs_;
}

std::vector<Expr*> Fusion::all_exprs() const {
  std::vector<Expr*> found;
  for (const auto& statement : statements_) {
    if (!statement->is_expr()) {
      continue;
    }
    auto* expr = static_cast<Expr*>(statement.get());
    const bool defines = std::any_of(
        expr->outputs().begin(), expr->outputs().end(),
        [&](const Val* output) { return output->definition() == expr; });
    if (defines) {
      found.push_back(expr);
    }
  }
  return found;
}

std::vector<Val*> Fusion::vals() const {
  std::vector<Val*> found;
  for (const auto& statement : statements_) {
    if (statement->is_val()) {
      found.push_back(static_cast<Val*>(statement.get()));
    }
  }
  return found;
}

std::vector<TensorView*> Fusion::tensors() const {
  std::vector<TensorView*> found;
  PointerSet<Val> visited;
  const auto add = [&](const std::vector<Val*>& vals) {
    for (Val* val : vals) {
      if (val->is_tensor() && visited.insert(val)) {
        found.push_back(static_cast<TensorView*>(val));
      }
    }
  };
  add(inputs_);
  add(outputs_);
  for (const Expr* expr : exprs()) {
    add(expr->inputs());
    add(expr->outputs());
  }
  std::sort(found.begin(), found.end(), [](const TensorView* a, const TensorView* b) {
    return a->serial() < b->serial();
  });
  return found;
}

} // namespace nvfuser
