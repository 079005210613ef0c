// Nearly all schedules transform loop axes by methods of the tensor, one position after the other.
// Where the axes were made otherwise (from the root domain, resized, or differently for the
// allocation and the loops), every axis gets a variable, and the domains are set from these.
#include "translate_axes.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/target.h"
#include "ir/meaning.h"
#include "ir/shifted_axes.h"
#include "python_text.h"
#include "translated_tensors.h"

namespace nvfuser::python {
namespace {

IterDomain* as_id(Val* val) {
  return static_cast<IterDomain*>(val);
}

bool contains(const IterDomains& ids, const Val* id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool contains_all(const IterDomains& ids, const IterDomains& wanted) {
  return std::all_of(
      wanted.begin(), wanted.end(), [&](const IterDomain* id) { return contains(ids, id); });
}

void append(IterDomains& ids, const IterDomains& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

/// `TensorView::resize` makes axes larger only, or shifts them; definitions can crop as well.
bool is_growing(const Resize& resize) {
  if (is_shift(resize)) {
    return true;
  }
  const auto is_width = [](const Val* width) {
    return width->is_const_int() && as_int(width->value()) >= 0;
  };
  return is_width(resize.left) && is_width(resize.right);
}

/// The call that rounds an axis, which `text` stands for, up to warps.
std::string padding_call(const std::string& text, const IterDomain* id) {
  const Val* extent = id->extent();
  const std::optional<int64_t> size = id->maybe_size_after_padding();
  const bool is_next_multiple =
      !size || (extent->is_const_int() && padded_to_warps(as_int(extent->value())) == *size);
  PythonCall call(text + ".pad_to_multiple_of_warp");
  if (!is_next_multiple) {
    call.arg(std::to_string(*size));
  }
  return call.str();
}

IterDomains operands_of(const Expr& expr) {
  IterDomains operands;
  for (Val* in : expr.inputs()) {
    operands.push_back(as_id(in));
  }
  return operands;
}

/// Whether a method of the tensor makes it. A tensor that follows another one's schedule may have
/// swizzled what `swizzle` does not take.
bool is_method(const Expr& expr) {
  if (const auto* resize = expr.as<Resize>()) {
    return is_growing(*resize);
  }
  if (expr.is_a<Swizzle>()) {
    const IterDomains operands = operands_of(expr);
    return std::none_of(operands.begin(), operands.end(), [](const IterDomain* id) {
      return id->is_broadcast() || id->is_reduction();
    });
  }
  return expr.is_a<Split>() || expr.is_a<Merge>() || expr.is_a<Swizzle1D>();
}

std::vector<Expr*> in_order_of_making(std::vector<Expr*> exprs) {
  std::sort(exprs.begin(), exprs.end(), [](const Expr* a, const Expr* b) {
    return a->serial() < b->serial();
  });
  exprs.erase(std::unique(exprs.begin(), exprs.end()), exprs.end());
  return exprs;
}

/// As rfactor does it: results stand where the first operand stood.
void apply_at_first(IterDomains& ids, const Expr& expr) {
  const auto is_operand = [&](const Val* id) {
    return std::find(expr.inputs().begin(), expr.inputs().end(), id) != expr.inputs().end();
  };
  const auto place = std::find_if(ids.begin(), ids.end(), is_operand) - ids.begin();
  std::erase_if(ids, is_operand);
  IterDomains results;
  for (Val* out : expr.outputs()) {
    results.push_back(as_id(out));
  }
  ids.insert(ids.begin() + place, results.begin(), results.end());
}

/// As the methods of tensors do it: what is swizzled stays in both places.
void apply(IterDomains& ids, const Expr& expr) {
  if (!expr.is_a<Swizzle>()) {
    apply_at_first(ids, expr);
    return;
  }
  for (size_t i = 0; i < expr.inputs().size(); ++i) {
    std::replace(ids.begin(), ids.end(), as_id(expr.inputs()[i]), as_id(expr.outputs()[i]));
  }
}

/// Transforms that `ids` are made by, back to axes that are given.
std::vector<Expr*> definitions_of(const IterDomains& ids, const IterDomains& given) {
  std::unordered_set<const Expr*> visited;
  std::vector<Expr*> exprs;
  std::vector<const Val*> pending(ids.begin(), ids.end());
  while (!pending.empty()) {
    const Val* id = pending.back();
    pending.pop_back();
    Expr* definition = id->definition();
    if (definition == nullptr || contains(given, id) || !visited.insert(definition).second) {
      continue;
    }
    exprs.push_back(definition);
    pending.insert(pending.end(), definition->inputs().begin(), definition->inputs().end());
  }
  return in_order_of_making(std::move(exprs));
}

} // namespace

TranslatedAxes::TranslatedAxes(std::string name, const TensorDomain* domain, ScriptWriter& writer)
    : name_(std::move(name)),
      domain_(*domain),
      writer_(writer),
      start_(first_loop(*domain)),
      loop_(start_) {}

void TranslatedAxes::call(const std::string& text) {
  writer_.line(name_ + "." + text);
}

int64_t TranslatedAxes::position(const Val* id) const {
  const auto found = std::find(loop_.begin(), loop_.end(), id);
  NVF_INVARIANT(found != loop_.end(), "the axis is there: ", describe(id));
  return found - loop_.begin();
}

std::vector<int64_t> TranslatedAxes::positions(const IterDomains& ids) const {
  std::vector<int64_t> result;
  for (const IterDomain* id : ids) {
    result.push_back(position(id));
  }
  return result;
}

std::string TranslatedAxes::axis(const IterDomain* id) const {
  return name_ + ".axis(" + std::to_string(position(id)) + ")";
}

std::string TranslatedAxes::logical_axis(const IterDomain* id) const {
  const IterDomains& logical = domain_.logical();
  const auto position = std::find(logical.begin(), logical.end(), id) - logical.begin();
  return name_ + ".get_logical_domain()[" + std::to_string(position) + "]";
}

ParallelType TranslatedAxes::binding_of(const IterDomain* id) const {
  const auto found = bindings_.find(id);
  return found == bindings_.end() ? ParallelType::Serial : found->second;
}

void TranslatedAxes::bind(const IterDomain* id, ParallelType type, const std::string& text) {
  if (binding_of(id) != type) {
    bindings_[id] = type;
    writer_.line(text + ".parallelize(" + python_text(type) + ")");
  }
}

void TranslatedAxes::bind_as(const IterDomain* id, const std::string& text) {
  if (id->has_padding_to_multiple_of_warp()) {
    bind(id, ParallelType::TIDx, text);
    writer_.line(padding_call(text, id));
  }
  if (id->is_clustered_grid_dim()) {
    bind(id, ParallelType::BIDx, text);
    writer_.line(text + ".set_clustered_blocks()");
  }
  bind(id, id->parallel_type(), text);
}

// ---- Method by method ---------------------------------------------------------------------------

void TranslatedAxes::transform_to(const IterDomains& ids) {
  const std::vector<Expr*> exprs = definitions_of(ids, start_);
  if (std::all_of(exprs.begin(), exprs.end(), [](const Expr* e) { return is_method(*e); })) {
    for (const Expr* expr : exprs) {
      transform(*expr);
    }
    return;
  }
  IterDomains loop = loop_;
  for (const Expr* expr : exprs) {
    apply_at_first(loop, *expr);
  }
  print_named_axes(exprs, loop);
  set_loop(loop);
}

/// Axes that `broadcast` inserted: they come from nowhere.
IterDomains TranslatedAxes::inserted_axes() const {
  IterDomains inserted;
  IterDomains ends = domain_.loop();
  for (const Expr* expr : definitions_of(domain_.loop(), start_)) {
    for (Val* in : expr->inputs()) {
      ends.push_back(as_id(in));
    }
  }
  for (IterDomain* id : ends) {
    if (id->definition() == nullptr && id->is_broadcast() && !contains(domain_.logical(), id) &&
        !contains(domain_.root(), id) && !contains(start_, id) && !contains(inserted, id)) {
      inserted.push_back(id);
    }
  }
  return inserted;
}

bool TranslatedAxes::can_transform(const std::vector<Expr*>& exprs) const {
  IterDomains front = loop_;
  append(front, inserted_axes());
  bool has_met_allocation = !domain_.has_allocation() ||
                            contains_all(front, domain_.allocation()) ||
                            contains_all(domain_.logical(), domain_.allocation());
  for (const Expr* expr : exprs) {
    if (!is_method(*expr) || !contains_all(front, operands_of(*expr))) {
      return false;
    }
    apply(front, *expr);
    has_met_allocation = has_met_allocation || contains_all(front, domain_.allocation());
  }
  return has_met_allocation && front.size() == domain_.loop().size() &&
         contains_all(front, domain_.loop());
}

void TranslatedAxes::insert_axes(const IterDomains& ids) {
  for (IterDomain* id : ids) {
    PythonCall broadcast("broadcast");
    broadcast.arg(std::to_string(loop_.size()));
    if (!id->extent()->is_one()) {
      broadcast.arg(writer_.text_of(id->extent()));
    }
    call(broadcast.str());
    loop_.push_back(id);
  }
}

/// An axis that was bound when it was transformed handed its binding on to the result in its place.
void TranslatedAxes::hand_on_bindings(const Expr& expr) {
  for (Val* in : expr.inputs()) {
    bind_as(as_id(in), axis(as_id(in)));
  }
  note_results(expr);
}

/// The bindings of results when they are made. Both parts of a split are bound as the whole.
void TranslatedAxes::note_results(const Expr& expr) {
  for (size_t i = 0; i < expr.outputs().size(); ++i) {
    bindings_[expr.outputs()[i]] = binding_of(as_id(expr.inputs()[expr.is_a<Split>() ? 0 : i]));
  }
}

void TranslatedAxes::transform(const Expr& expr) {
  const auto at = [&](const Val* id) { return std::to_string(position(id)); };
  if (const auto* split = expr.as<Split>()) {
    PythonCall text("split");
    text.arg(at(split->in)).arg(writer_.text_of(split->factor));
    call((split->inner_split ? text : text.keyword("inner_split", "False")).str());
  } else if (const auto* merge = expr.as<Merge>()) {
    if (!merge->outer->is_parallelized() || !merge->inner->is_parallelized()) {
      hand_on_bindings(expr);
    }
    call(PythonCall("merge").arg(at(merge->outer)).arg(at(merge->inner)).str());
  } else if (const auto* swizzle = expr.as<Swizzle>()) {
    hand_on_bindings(expr);
    PythonCall text("swizzle");
    if (swizzle->swizzle_type != SwizzleType::XOR) {
      text.arg(python_text(swizzle->swizzle_type));
    }
    call(text.arg(at(swizzle->in_x)).arg(at(swizzle->in_y)).str());
  } else if (const auto* rotation = expr.as<Swizzle1D>()) {
    hand_on_bindings(expr);
    call(PythonCall("swizzle1d")
             .arg(at(rotation->in))
             .arg(python_text(rotation->parallel_type))
             .str());
  } else if (const auto* resize = expr.as<Resize>()) {
    call(PythonCall("resize")
             .arg(at(resize->in))
             .arg(writer_.text_of(resize->left))
             .arg(writer_.text_of(resize->right))
             .arg(python_text(resize->out->iter_type()))
             .str());
  } else {
    throw_untranslatable(expr, "a split, a merge, a swizzle or a resize");
  }
  apply(loop_, expr);
}

void TranslatedAxes::reorder() {
  std::string moves;
  for (size_t i = 0; i < loop_.size(); ++i) {
    const auto& wanted = domain_.loop();
    const auto to = std::find(wanted.begin(), wanted.end(), loop_[i]) - wanted.begin();
    if (to != static_cast<std::ptrdiff_t>(i)) {
      moves += (moves.empty() ? "" : ", ") + std::to_string(i) + ": " + std::to_string(to);
    }
  }
  if (!moves.empty()) {
    call("reorder({" + moves + "})");
  }
  loop_ = domain_.loop();
}

void TranslatedAxes::print_domain(bool has_allocation_already) {
  // First what the allocation is made of: its axes may be transformed further.
  std::vector<Expr*> exprs = definitions_of(domain_.allocation(), start_);
  for (Expr* expr : definitions_of(domain_.loop(), start_)) {
    if (std::find(exprs.begin(), exprs.end(), expr) == exprs.end()) {
      exprs.push_back(expr);
    }
  }
  if (!can_transform(exprs)) {
    print_axes_one_by_one(has_allocation_already);
    return;
  }
  insert_axes(inserted_axes());
  bool is_pending = domain_.has_allocation() && !has_allocation_already;
  const auto print_met_allocation = [&] {
    const bool is_logical = !contains_all(start_, domain_.logical()) && // a scatter's
                            contains_all(domain_.logical(), domain_.allocation());
    if (!is_pending || (!is_logical && !contains_all(loop_, domain_.allocation()))) {
      return;
    }
    std::vector<std::string> axes;
    for (const IterDomain* id : domain_.allocation()) {
      axes.push_back(is_logical ? logical_axis(id) : axis(id));
    }
    print_allocation(
        domain_.allocation() == loop_ ? name_ + ".get_loop_domain()" : python_list(axes));
    is_pending = false;
  };
  print_met_allocation();
  for (const Expr* expr : exprs) {
    transform(*expr);
    print_met_allocation();
  }
  reorder();
}

void TranslatedAxes::print_allocation(const std::string& ids) {
  std::string flags = python_list(domain_.contiguity());
  for (const bool flag : {false, true}) {
    if (domain_.contiguity() == TensorDomain::contiguity_filled_with(domain_.allocation(), flag)) {
      flags = python_text(flag);
    }
  }
  call(PythonCall("set_allocation_domain").arg(ids).arg(flags).str());
}

// ---- Axis by axis -------------------------------------------------------------------------------

std::string TranslatedAxes::name_of(const Val* id) const {
  return names_.at(id);
}

std::string TranslatedAxes::new_name(const Val* id) {
  return names_[id] = "id" + std::to_string(writer_.num_axes++);
}

/// Variables for the axes that the tensor has by its definition, and for new ones.
void TranslatedAxes::name_sources(const std::vector<Expr*>& exprs, const IterDomains& ids) {
  std::unordered_set<const Val*> made;
  IterDomains needed = ids;
  for (const Expr* expr : exprs) {
    made.insert(expr->outputs().begin(), expr->outputs().end());
    for (Val* in : expr->inputs()) {
      needed.push_back(as_id(in));
    }
  }
  for (IterDomain* id : needed) {
    if (made.contains(id) || names_.contains(id)) {
      continue;
    }
    std::string source;
    for (const auto& [domain, getter] :
         {std::pair(&domain_.logical(), "get_logical_domain"),
          std::pair(&domain_.root(), "get_root_domain"), std::pair(&start_, "get_loop_domain")}) {
      if (const auto found = std::find(domain->begin(), domain->end(), id);
          source.empty() && found != domain->end()) {
        source = name_ + "." + getter + "()[" + std::to_string(found - domain->begin()) + "]";
      }
    }
    if (source.empty()) {
      if (!id->is_broadcast()) {
        throw_untranslatable(*id, "an axis of the tensor, or a broadcast");
      }
      insert_axes({id});
      source = axis(id);
    }
    writer_.line(new_name(id) + " = " + source);
  }
}

/// As `hand_on_bindings`. Memory may be made of a loop, which is bound later: what is made of it is
/// bound by itself.
void TranslatedAxes::hand_on_bindings_of_names(const Expr& expr) {
  for (Val* in : expr.inputs()) {
    if (!contains(domain_.loop(), in)) {
      bind_as(as_id(in), name_of(in));
    }
  }
  note_results(expr);
}

void TranslatedAxes::print_axis_expr(const Expr& expr) {
  std::string outs;
  for (const Val* out : expr.outputs()) {
    outs += (outs.empty() ? "" : ", ") + new_name(out);
  }
  const auto text_of = [&](Val* val) { return writer_.text_of(val); };
  PythonCall text = visit(
      expr, overloaded{
                [&](const Split& e) {
                  PythonCall split("IterDomain.split");
                  split.arg(name_of(e.in)).arg(text_of(e.factor));
                  return e.inner_split ? split : split.keyword("inner_split", "False");
                },
                [&](const Merge& e) {
                  return PythonCall("IterDomain.merge").arg(name_of(e.outer)).arg(name_of(e.inner));
                },
                [&](const Swizzle& e) {
                  return PythonCall("IterDomain.swizzle")
                      .arg(python_text(e.swizzle_type))
                      .arg(name_of(e.in_x))
                      .arg(name_of(e.in_y));
                },
                [&](const Resize& e) {
                  return PythonCall("IterDomain.resize")
                      .arg(name_of(e.in))
                      .arg(text_of(e.left))
                      .arg(text_of(e.right))
                      .arg(python_text(e.out->iter_type()));
                },
                [&](const Expr& e) -> PythonCall {
                  throw_untranslatable(e, "a split, a merge, a swizzle or a resize");
                }});
  writer_.line(outs + " = " + text.str());
  const bool is_of_loops =
      std::ranges::any_of(expr.inputs(), [&](Val* in) { return contains(domain_.loop(), in); });
  for (Val* out : expr.outputs()) {
    if (is_of_loops) {
      bind(as_id(out), as_id(out)->parallel_type(), name_of(out));
    }
  }
}

void TranslatedAxes::print_axes_one_by_one(bool has_allocation_already) {
  IterDomains given = domain_.logical();
  append(given, domain_.root());
  append(given, start_);
  IterDomains ends = domain_.loop();
  append(ends, domain_.allocation());
  print_named_axes(definitions_of(ends, given), ends);
  if (domain_.has_allocation() && !has_allocation_already) {
    print_allocation(names_of(domain_.allocation()));
  }
  if (domain_.loop() != loop_) {
    set_loop(domain_.loop());
  }
}

/// Variables for `ids`, which `exprs` make.
void TranslatedAxes::print_named_axes(const std::vector<Expr*>& exprs, const IterDomains& ids) {
  name_sources(exprs, ids);
  for (const Expr* expr : exprs) {
    hand_on_bindings_of_names(*expr);
    print_axis_expr(*expr);
  }
}

std::string TranslatedAxes::names_of(const IterDomains& ids) const {
  std::vector<std::string> names;
  for (const IterDomain* id : ids) {
    names.push_back(name_of(id));
  }
  return python_list(names);
}

void TranslatedAxes::set_loop(const IterDomains& ids) {
  call(PythonCall("set_loop_domain").arg(names_of(ids)).str());
  loop_ = ids;
}

} // namespace nvfuser::python
