#include "graph/val_graph.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/pointer_set.h"
#include "ir/all_nodes.h"
#include "ir/fusion.h"

namespace nvfuser {
namespace {

constexpr size_t kNoGroup = std::numeric_limits<size_t>::max();

IterDomain* as_id(const Val* val) {
  NVF_INVARIANT(val->vtype() == ValType::IterDomain, "domain expressions are on axes");
  return const_cast<IterDomain*>(static_cast<const IterDomain*>(val)); // the sets' element type
}

size_t num_operands(const Expr* expr) {
  return expr->inputs().size() + expr->outputs().size();
}

/// Inputs come first.
IterDomain* operand(const Expr* expr, size_t i) {
  const size_t num_inputs = expr->inputs().size();
  return as_id(i < num_inputs ? expr->inputs()[i] : expr->outputs()[i - num_inputs]);
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
         (extent == nullptr) == (other.extent == nullptr) &&
         (extent == nullptr || extent->same_as(other.extent)) && expr->same_op(other.expr);
}

size_t ValGraph::KeyHash::operator()(const Key& key) const {
  size_t hash = key.expr->op_hash();
  hash = detail::hash_combine(hash, static_cast<size_t>(key.kind));
  hash = detail::hash_combine(hash, key.first);
  hash = detail::hash_combine(hash, key.second);
  return key.extent == nullptr ? hash : detail::hash_combine(hash, detail::hash_val(key.extent));
}

std::vector<ValGraph::Key> ValGraph::keys_of(const Expr* expr) const {
  const auto key = [&](KeyKind kind, std::span<Val* const> ids, const Val* extent = nullptr) {
    return Key{kind, expr, root(ids[0]), ids.size() > 1 ? root(ids[1]) : kNoGroup, extent};
  };
  constexpr size_t kMost = 5;
  std::vector<Key> keys;
  keys.reserve(kMost);
  keys.push_back(key(KeyKind::Inputs, expr->inputs()));
  if (const auto* merge = expr->as<Merge>()) {
    const std::array<Val*, 2> out_and_outer{merge->out, merge->outer};
    const std::array<Val*, 2> out_and_inner{merge->out, merge->inner};
    keys.push_back(key(KeyKind::OutAndOuter, out_and_outer));
    keys.push_back(key(KeyKind::OutAndInner, out_and_inner));
    keys.push_back(key(KeyKind::OutAndOuter, expr->outputs(), merge->outer->extent()));
    keys.push_back(key(KeyKind::OutAndInner, expr->outputs(), merge->inner->extent()));
  } else if (const auto* split = expr->as<Split>(); split && !is_split_of_reshape(split)) {
    keys.push_back(key(KeyKind::Outputs, expr->outputs(), split->in->extent()));
  } else {
    keys.push_back(key(KeyKind::Outputs, expr->outputs()));
  }
  return keys;
}

void ValGraph::file(Expr* expr) {
  for (const Key& key : keys_of(expr)) {
    const auto [position, is_new] = filed_.try_emplace(key, expr);
    if (is_new || position->second == expr) {
      continue;
    }
    if (is_loop(position->second)) {
      position->second = expr; // a loop says nothing about those that come under its key
    } else {
      pending_exprs_.emplace_back(position->second, expr);
    }
  }
}

// ---- Building -----------------------------------------------------------------------------------

void ValGraph::add_id(IterDomain* id) {
  if (ids_.add(id)) {
    neighbors_.emplace_back();
  }
}

void ValGraph::add_ids(const IterDomains& ids) {
  for (IterDomain* id : ids) {
    add_id(id);
  }
}

/// `tidy` has to be called behind the last of many.
void ValGraph::add_expr(Expr* expr) {
  for (size_t i = 0; i < num_operands(expr); ++i) {
    add_id(operand(expr, i));
  }
  if (!exprs_.add(expr)) {
    return;
  }
  for (const Val* in : expr->inputs()) {
    neighbors_[root(in)].all.push_back(expr);
    neighbors_[root(in)].uses.push_back(expr);
    touched_.push_back(as_id(in));
  }
  for (const Val* out : expr->outputs()) {
    neighbors_[root(out)].all.push_back(expr);
    neighbors_[root(out)].definitions.push_back(expr);
    touched_.push_back(as_id(out));
  }
  file(expr);
  close();
}

void ValGraph::add_tensor(const TensorView* tensor) {
  add_ids(tensor->domain()->all_ids());
  for (Expr* expr : tensor->domain()->all_exprs()) {
    add_expr(expr);
  }
  tidy();
}

void ValGraph::map_vals(IterDomain* val0, IterDomain* val1) {
  map_one_of_many(val0, val1);
  tidy();
}

void ValGraph::map_one_of_many(IterDomain* val0, IterDomain* val1) {
  val0->fusion()->check_contains(val1);
  add_id(val0);
  add_id(val1);
  pending_ids_.emplace_back(val0, val1);
  close();
}

void ValGraph::join(IterDomain* val0, IterDomain* val1) {
  const size_t root0 = ids_.root_index(val0);
  const size_t root1 = ids_.root_index(val1);
  if (!ids_.map_entries(val0, val1)) {
    return;
  }
  const size_t into = ids_.root_index(val0);
  Neighbors moved = std::move(neighbors_[into == root0 ? root1 : root0]);
  neighbors_[into == root0 ? root1 : root0] = {};
  const auto append = [](std::vector<Expr*>& to, const std::vector<Expr*>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(neighbors_[into].all, moved.all);
  append(neighbors_[into].definitions, moved.definitions);
  append(neighbors_[into].uses, moved.uses);
  touched_.push_back(val0);
  for (Expr* expr : moved.all) {
    file(expr);
  }
}

void ValGraph::close() {
  while (!pending_ids_.empty() || !pending_exprs_.empty()) {
    if (!pending_ids_.empty()) {
      const auto [val0, val1] = pending_ids_.back();
      pending_ids_.pop_back();
      join(val0, val1);
      continue;
    }
    const auto [expr0, expr1] = pending_exprs_.back();
    pending_exprs_.pop_back();
    if (exprs_.strict_are_mapped(expr0, expr1)) {
      continue;
    }
    if (is_loop(expr0) || is_loop(expr1)) {
      if (!is_loop(expr0) || !is_loop(expr1)) {
        file(is_loop(expr0) ? expr1 : expr0); // its key may have been the loop's until now
      }
      continue;
    }
    exprs_.map_entries(expr0, expr1);
    for (size_t i = 0; i < num_operands(expr0); ++i) {
      pending_ids_.emplace_back(operand(expr0, i), operand(expr1, i));
      touched_.push_back(operand(expr0, i));
    }
  }
}

void ValGraph::tidy() {
  PointerSet<Neighbors> tidied;
  for (const IterDomain* id : touched_) {
    Neighbors& neighbors = neighbors_[root(id)];
    if (tidied.insert(&neighbors)) {
      remove_duplicates(neighbors.definitions);
      remove_duplicates(neighbors.uses);
    }
  }
  touched_.clear();
}

/// A resize is no loop even where sizes are said to be equal that differ by its widths (they agree
/// if those are 0): it has one axis on each side, so equal resizes of an axis make one axis. Which
/// of them were seen before the sizes were said to be equal makes no difference then.
bool ValGraph::is_loop(const Expr* expr) const {
  if (expr->is_a<Resize>()) {
    return false;
  }
  return std::any_of(expr->inputs().begin(), expr->inputs().end(), [&](const Val* in) {
    return std::any_of(expr->outputs().begin(), expr->outputs().end(), [&](const Val* out) {
      return root(in) == root(out);
    });
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
    return exprs_.first_index(a) < exprs_.first_index(b);
  });
  exprs.erase(std::unique(exprs.begin(), exprs.end()), exprs.end());
}

IterDomains ValGraph::replay(const Expr* expr, const IterDomains& inputs) {
  add_ids(inputs);
  const Key key{
      KeyKind::Inputs, expr, root(inputs.at(0)), inputs.size() > 1 ? root(inputs[1]) : kNoGroup,
      nullptr};
  const auto found = filed_.find(key);
  IterDomains outputs;
  if (found == filed_.end()) {
    outputs = replay_id_expr(expr, inputs);
    add_expr(outputs.at(0)->definition());
    tidy();
    return outputs;
  }
  for (const Val* out : found->second->outputs()) {
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
  std::unordered_map<Key, Expr*, KeyHash> filed;
  for (Expr* expr : exprs_.entries()) {
    if (is_loop(expr)) {
      continue;
    }
    for (const Key& key : keys_of(expr)) {
      Expr* other = filed.try_emplace(key, expr).first->second;
      NVF_INVARIANT(
          exprs_.strict_are_mapped(expr, other),
          "equal transforms of mapped axes are mapped: ", expr->to_string(), other->to_string());
    }
  }
}

} // namespace nvfuser
