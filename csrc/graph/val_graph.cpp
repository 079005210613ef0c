#include "graph/val_graph.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

constexpr size_t kNoGroup = std::numeric_limits<size_t>::max();

IterDomain* as_id(const Val* val) {
  NVF_INVARIANT(val->vtype() == ValType::IterDomain, "domain expressions are on axes");
  return const_cast<IterDomain*>(static_cast<const IterDomain*>(val)); // the sets' element type
}

/// A reshape is defined on divisible sizes, so its splits have no remainder.
bool is_split_of_reshape(const Split* split) {
  return split->outer->is_rfactor_product() && split->inner->is_rfactor_product() &&
         !split->outer->is_reduction() && !split->inner->is_reduction();
}

std::string join_numbers(std::vector<int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (const int64_t number : numbers) {
    text += (text.empty() ? "" : " ") + std::to_string(number);
  }
  return text;
}

template <typename T>
std::vector<int64_t> names_of(const std::vector<T*>& statements) {
  std::vector<int64_t> names;
  for (const T* statement : statements) {
    names.push_back(statement->name());
  }
  return names;
}

} // namespace

// ---- Keys ---------------------------------------------------------------------------------------

bool ValGraph::Key::operator==(const Key& other) const {
  return kind == other.kind && first == other.first && second == other.second &&
         hash_of_op == other.hash_of_op && (extent == nullptr) == (other.extent == nullptr) &&
         (extent == nullptr || extent->same_as(other.extent)) && expr->same_op(other.expr);
}

size_t ValGraph::KeyHash::operator()(const Key& key) const {
  size_t hash = key.hash_of_op;
  hash = detail::hash_combine(hash, static_cast<size_t>(key.kind));
  hash = detail::hash_combine(hash, key.first);
  hash = detail::hash_combine(hash, key.second);
  return key.extent == nullptr ? hash : detail::hash_combine(hash, key.hash_of_extent);
}

std::span<const ValGraph::Number> ValGraph::operands(Number transform) const {
  const Transform& of = transforms_[transform];
  return std::span(operands_).subspan(of.first_operand, of.num_operands);
}

ValGraph::Key ValGraph::inputs_key(
    const Expr* expr, size_t hash_of_op, size_t first, size_t second) const {
  return {
      .kind = KeyKind::Inputs,
      .expr = expr,
      .hash_of_op = hash_of_op,
      .first = first,
      .second = second,
      .extent = nullptr,
      .hash_of_extent = 0};
}

template <typename Fn>
void ValGraph::for_each_key(Number transform, const Fn& fn) const {
  const Transform& of = transforms_[transform];
  const Expr* expr = exprs_.entries()[transform];
  const std::span<const Number> all = operands(transform);
  const auto group_at = [&](size_t i) { return i < all.size() ? ids_.root(all[i]) : kNoGroup; };
  const auto second_of = [&](size_t first, size_t end) {
    return first + 1 < end ? group_at(first + 1) : kNoGroup;
  };
  const size_t out = of.num_inputs;
  fn(inputs_key(expr, of.hash_of_op, group_at(0), second_of(0, out)));
  Key key = inputs_key(expr, of.hash_of_op, group_at(out), second_of(out, all.size()));
  if (expr->is_a<Merge>()) {
    constexpr std::array kKinds = {KeyKind::OutAndOuter, KeyKind::OutAndInner};
    for (size_t i = 0; i < kKinds.size(); ++i) {
      key.kind = kKinds[i];
      key.second = group_at(i);
      key.extent = nullptr;
      fn(key);
      key.second = kNoGroup;
      key.extent = of.extents[i];
      key.hash_of_extent = of.hashes_of_extents[i];
      fn(key);
    }
    return;
  }
  key.kind = KeyKind::Outputs;
  key.extent = of.extents[0];
  key.hash_of_extent = of.hashes_of_extents[0];
  fn(key);
}

void ValGraph::file(Number transform) {
  for_each_key(transform, [&](const Key& key) {
    const auto [position, is_new] = keys_.add(key);
    if (is_new) {
      filed_.push_back(transform);
    }
    const Number known = filed_[position];
    if (known == transform) {
      return;
    }
    if (is_loop(known)) {
      filed_[position] = transform; // a loop says nothing about those that come under its key
    } else {
      pending_exprs_.emplace_back(known, transform);
    }
  });
}

// ---- Building -----------------------------------------------------------------------------------

ValGraph::Number ValGraph::add_id(IterDomain* id) {
  if (ids_.add(id)) {
    neighbors_.emplace_back();
    return static_cast<Number>(neighbors_.size() - 1);
  }
  return static_cast<Number>(ids_.index_of(id));
}

void ValGraph::add_ids(const IterDomains& ids) {
  for (IterDomain* id : ids) {
    add_id(id);
  }
}

/// `tidy` has to be called behind the last of many.
void ValGraph::add_expr(Expr* expr) {
  if (!exprs_.add(expr)) {
    return;
  }
  const auto number = static_cast<Number>(transforms_.size());
  Transform transform{
      .hash_of_op = expr->op_hash(),
      .first_operand = static_cast<Number>(operands_.size()),
      .num_inputs = static_cast<Number>(expr->inputs().size()),
      .num_operands = static_cast<Number>(expr->inputs().size() + expr->outputs().size())};
  const auto* split = expr->as<Split>();
  if (const auto* merge = expr->as<Merge>()) {
    transform.extents = {merge->outer->extent(), merge->inner->extent()};
  } else if (split != nullptr && !is_split_of_reshape(split)) {
    transform.extents = {split->in->extent(), nullptr};
  }
  std::ranges::transform(
      transform.extents, transform.hashes_of_extents.begin(),
      [](const Val* extent) { return extent == nullptr ? 0 : detail::hash_val(extent); });
  for (const std::vector<Val*>* vals : {&expr->inputs(), &expr->outputs()}) {
    for (const Val* val : *vals) {
      operands_.push_back(add_id(as_id(val)));
    }
  }
  transforms_.push_back(transform);
  const std::span<const Number> all = operands(number);
  for (size_t i = 0; i < all.size(); ++i) {
    add_neighbor(all[i], number, /*is_use=*/i < transform.num_inputs);
  }
  file(number);
  close();
}

void ValGraph::add_neighbor(Number id, Number transform, bool is_use) {
  const auto group = static_cast<Number>(ids_.root(id));
  const auto link = static_cast<Number>(links_.size());
  const Number last = std::exchange(neighbors_[group].last_link, link);
  links_.push_back({.transform = transform, .next = last == kNone ? link : links_[last].next});
  if (last != kNone) {
    links_[last].next = link;
  }
  unlisted_.push_back({.id = id, .transform = transform, .is_use = is_use});
  touch(group);
}

void ValGraph::touch(Number root) {
  if (!std::exchange(neighbors_[root].is_touched, true)) {
    touched_.push_back(root);
  }
}

void ValGraph::add_tensor(const TensorView* tensor) {
  add_one_of_many(tensor);
  tidy();
}

void ValGraph::add_one_of_many(const TensorView* tensor) {
  const IterDomains ids = tensor->domain()->all_ids();
  std::vector<Expr*> exprs; // all that the domain has: its ids are their operands
  exprs.reserve(ids.size());
  for (const IterDomain* id : ids) {
    if (id->definition() != nullptr) {
      exprs.push_back(id->definition());
    }
  }
  std::ranges::sort(exprs, {}, &Expr::serial);
  exprs.erase(std::unique(exprs.begin(), exprs.end()), exprs.end());
  add_one_of_many(ids, topo_sort(std::move(exprs)));
}

void ValGraph::add_one_of_many(const IterDomains& ids, const std::vector<Expr*>& transforms) {
  add_ids(ids);
  for (Expr* transform : transforms) {
    add_expr(transform);
  }
}

void ValGraph::map_vals(IterDomain* val0, IterDomain* val1) {
  map_one_of_many(val0, val1);
  tidy();
}

void ValGraph::map_one_of_many(IterDomain* val0, IterDomain* val1) {
  val0->fusion()->check_contains(val1);
  const Number id0 = add_id(val0);
  pending_ids_.emplace_back(id0, add_id(val1));
  close();
}

void ValGraph::join(Number id0, Number id1) {
  const size_t root0 = ids_.root(id0);
  const size_t root1 = ids_.root(id1);
  if (!ids_.map_positions(root0, root1)) {
    return;
  }
  const size_t into = ids_.root(root0);
  Neighbors& kept = neighbors_[into];
  const Neighbors moved = std::exchange(neighbors_[into == root0 ? root1 : root0], {});
  kept.definitions.insert(
      kept.definitions.end(), moved.definitions.begin(), moved.definitions.end());
  kept.uses.insert(kept.uses.end(), moved.uses.begin(), moved.uses.end());
  touch(static_cast<Number>(into));
  if (moved.last_link == kNone) {
    return;
  }
  const Number first = links_[moved.last_link].next;
  for (Number link = first;; link = links_[link].next) {
    file(links_[link].transform);
    if (link == moved.last_link) {
      break;
    }
  }
  if (kept.last_link != kNone) {
    std::swap(links_[kept.last_link].next, links_[moved.last_link].next); // two rings become one
  }
  kept.last_link = moved.last_link;
}

void ValGraph::close() {
  while (!pending_ids_.empty() || !pending_exprs_.empty()) {
    if (!pending_ids_.empty()) {
      const auto [id0, id1] = pending_ids_.back();
      pending_ids_.pop_back();
      join(id0, id1);
      continue;
    }
    const auto [expr0, expr1] = pending_exprs_.back();
    pending_exprs_.pop_back();
    if (exprs_.root(expr0) == exprs_.root(expr1)) {
      continue;
    }
    if (is_loop(expr0) || is_loop(expr1)) {
      if (!is_loop(expr0) || !is_loop(expr1)) {
        file(is_loop(expr0) ? expr1 : expr0); // its key may have been the loop's until now
      }
      continue;
    }
    exprs_.map_positions(expr0, expr1);
    const std::span<const Number> operands0 = operands(expr0);
    const std::span<const Number> operands1 = operands(expr1);
    for (size_t i = 0; i < operands0.size(); ++i) {
      pending_ids_.emplace_back(operands0[i], operands1[i]);
      touch(static_cast<Number>(ids_.root(operands0[i])));
    }
  }
}

void ValGraph::tidy() {
  for (const Unlisted& added : unlisted_) {
    Neighbors& neighbors = neighbors_[ids_.root(added.id)];
    std::vector<Expr*>& list = added.is_use ? neighbors.uses : neighbors.definitions;
    Expr* expr = exprs_.entries()[exprs_.first_at(added.transform)];
    if (list.empty() || list.back() != expr) {
      list.push_back(expr);
    }
  }
  unlisted_.clear();
  for (const Number id : touched_) {
    Neighbors& neighbors = neighbors_[ids_.root(id)];
    if (std::exchange(neighbors.is_touched, false)) {
      remove_duplicates(neighbors.definitions);
      remove_duplicates(neighbors.uses);
    }
  }
  touched_.clear();
}

/// A resize is no loop even where sizes are said to be equal that differ by its widths (they agree
/// if those are 0): it has one axis on each side, so equal resizes of an axis make one axis. Which
/// of them were seen before the sizes were said to be equal makes no difference then.
bool ValGraph::is_loop(Number transform) const {
  if (exprs_.entries()[transform]->is_a<Resize>()) {
    return false;
  }
  const std::span<const Number> all = operands(transform);
  const size_t num_inputs = transforms_[transform].num_inputs;
  return std::ranges::any_of(all.first(num_inputs), [&](Number in) {
    return std::ranges::any_of(
        all.subspan(num_inputs), [&](Number out) { return ids_.root(in) == ids_.root(out); });
  });
}

void ValGraph::remove_duplicates(std::vector<Expr*>& exprs) const {
  if (exprs.size() < 2) {
    return;
  }
  for (Expr*& expr : exprs) {
    expr = exprs_.representative(expr);
  }
  std::sort(exprs.begin(), exprs.end(), [&](Expr* a, Expr* b) {
    return exprs_.index_of(a) < exprs_.index_of(b); // representatives are first members
  });
  exprs.erase(std::unique(exprs.begin(), exprs.end()), exprs.end());
}

IterDomains ValGraph::replay(const Expr* expr, const IterDomains& inputs) {
  add_ids(inputs);
  const std::optional<size_t> found = keys_.find(inputs_key(
      expr, expr->op_hash(), root(inputs.at(0)), inputs.size() > 1 ? root(inputs[1]) : kNoGroup));
  IterDomains outputs;
  if (!found.has_value()) {
    outputs = replay_id_expr(expr, inputs);
    add_expr(outputs.at(0)->definition());
    tidy();
    return outputs;
  }
  for (const Val* out : exprs_.entries()[filed_[*found]]->outputs()) {
    outputs.push_back(as_id(out));
  }
  return outputs;
}

// ---- Groups -------------------------------------------------------------------------------------

size_t ValGraph::root(const Val* id) const {
  return ids_.root_index(as_id(id));
}

bool ValGraph::contains(const IterDomain* id) const {
  return ids_.contains(as_id(id));
}

int64_t ValGraph::group(const IterDomain* id) const {
  return static_cast<int64_t>(ids_.first_index(as_id(id)));
}

bool ValGraph::are_mapped(const IterDomain* val0, const IterDomain* val1) const {
  return val0 == val1 || ids_.permissive_are_mapped(as_id(val0), as_id(val1));
}

IterDomains ValGraph::members(int64_t group) const {
  return ids_.set_of(ids_.entries().at(static_cast<size_t>(group)));
}

const std::vector<Expr*>& ValGraph::definitions(int64_t group) const {
  return neighbors_[root(ids_.entries().at(static_cast<size_t>(group)))].definitions;
}

const std::vector<Expr*>& ValGraph::uses(int64_t group) const {
  return neighbors_[root(ids_.entries().at(static_cast<size_t>(group)))].uses;
}

// ---- Text and checks ----------------------------------------------------------------------------

std::string ValGraph::groups_text(int indent) const {
  const std::string outer(static_cast<size_t>(indent) * 2, ' ');
  const auto id_group = [&](const Val* id) {
    return "idg{" + join_numbers(names_of(ids_.set_of(as_id(id)))) + "}";
  };
  const auto id_groups = [&](const std::vector<Val*>& ids) {
    std::string text;
    for (const Val* id : ids) {
      text += (text.empty() ? "" : ", ") + id_group(id);
    }
    return text;
  };
  std::string text = outer + "Disjoint Ids:\n" + outer + "(idgs){\n";
  for (const IterDomains& set : ids_.sets()) {
    text += outer + "  idg{" + join_numbers(names_of(set)) + "}\n";
  }
  text += outer + "}\n\n" + outer + "Disjoint Expression groups:\n" + outer + "(exprgs){\n";
  for (const std::vector<Expr*>& set : exprs_.sets()) {
    text += outer + "  exprg{" + join_numbers(names_of(set)) +
            "}: " + id_groups(set.front()->inputs()) + " --" + set.front()->op_name() + "--> " +
            id_groups(set.front()->outputs()) + "\n";
  }
  return text + outer + "}\n";
}

std::string ValGraph::to_string() const {
  return "IdGraph { \n" + groups_text(0) + " } IdGraph\n";
}

void ValGraph::validate() const {
  Numbering<Key, KeyHash> keys;
  std::vector<Number> filed;
  for (Number transform = 0; transform < transforms_.size(); ++transform) {
    if (is_loop(transform)) {
      continue;
    }
    for_each_key(transform, [&](const Key& key) {
      const auto [position, is_new] = keys.add(key);
      if (is_new) {
        filed.push_back(transform);
      }
      const Number other = filed[position];
      NVF_INVARIANT(
          exprs_.root(transform) == exprs_.root(other),
          "equal transforms of mapped axes are mapped: ", exprs_.entries()[transform]->to_string(),
          exprs_.entries()[other]->to_string());
    });
  }
}

} // namespace nvfuser
