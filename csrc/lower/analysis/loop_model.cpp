#include "lower/analysis/loop_model.h"

#include <algorithm>
#include <functional>
#include <map>

#include "graph/ambiguous_axes.h"
#include "graph/id_model.h"
#include "graph/twisted_axes.h"
#include "graph/val_graph.h"

namespace nvfuser {
namespace {

IterDomain* id_at(const std::vector<Val*>& vals, size_t index) {
  return static_cast<IterDomain*>(vals[index]);
}

/// Classes of the axes of tensors that nothing in the kernel makes.
std::set<int64_t> axes_of_inputs(const std::vector<TensorView*>& tensors, const ValGraph& exact) {
  std::set<int64_t> axes;
  for (const TensorView* tensor : tensors) {
    if (tensor->definition() == nullptr) {
      for (const IterDomain* id : tensor->logical()) {
        axes.insert(exact.group(id));
      }
    }
  }
  return axes;
}

/// Producers before consumers, otherwise by age: which schedule made a copy, and when, does not
/// count.
std::vector<TensorView*> in_order_of_computation(const Kernel& kernel) {
  std::unordered_map<const Val*, size_t> places; // of what is computed; only looked up
  for (const Expr* expr : kernel.exprs()) {
    for (const Val* out : expr->outputs()) {
      places.emplace(out, places.size() + 1);
    }
  }
  const auto place_of = [&](const TensorView* tensor) {
    const auto place = places.find(tensor);
    return place == places.end() ? 0 : place->second;
  };
  std::vector<TensorView*> tensors = kernel.tensors();
  std::ranges::stable_sort(tensors, std::less(), place_of);
  return tensors;
}

} // namespace

LoopModel::LoopModel(Kernel& kernel)
    : kernel_(kernel),
      exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
      tensors_(in_order_of_computation(kernel)),
      covers_(exact_, axes_of_inputs(tensors_, exact_)) {
  using Step = void (LoopModel::*)();
  for (const Step step :
       {&LoopModel::refuse_self_mappings, &LoopModel::refuse_ambiguous_axes,
        &LoopModel::collect_loops, &LoopModel::choose_promotions, &LoopModel::choose_parallel_types,
        &LoopModel::build_nests, &LoopModel::refuse_repeated_bindings}) {
    (this->*step)();
    if (kernel_.is_refused()) {
      return;
    }
  }
}

/// Where two axes of a tensor are the same axis of the graph, an index of one cannot be told from
/// an index of the other.
void LoopModel::refuse_self_mappings() {
  for (TensorView* tensor : tensors_) {
    const std::optional<SelfMapping> mapping = find_self_mapping(exact_, tensor);
    if (tensor->definition() == nullptr || !mapping) {
      continue;
    }
    return kernel_.note_refusal(refuse({
        .headline = {"Two axes of a tensor correspond to the same axis"},
        .node = {describe(tensor)},
        .expected = {"axes that can be told apart"},
        .found =
            {mapping->first->to_string(), " and ", mapping->second->to_string(),
             ", which expressions of the fusion map to each other"},
        .fix = {"a tensor cannot meet its own transpose, or itself along two axes, in one kernel: "
                "pass it as two inputs"},
    }));
  }
}

/// Where an axis follows in two ways from those of a tensor, it would have two indices in its
/// loops.
void LoopModel::refuse_ambiguous_axes() {
  AmbiguousAxisSearch search(exact_);
  for (const TensorView* tensor : tensors_) {
    if (tensor->definition() == nullptr) {
      continue;
    }
    if (const std::optional<AmbiguousAxis> found = search.find(tensor)) {
      return kernel_.note_refusal(refuse({
          .headline = {"An axis follows in two ways from those of a tensor"},
          .node = {describe(tensor)},
          .expected = {"axes of which none follows from others"},
          .found =
              {found->axis->to_string(), ", which follows from ", found->first->to_string(),
               " and from ", found->second->to_string()},
          .fix = {"a tensor cannot meet its own reshape in one kernel: pass it as two inputs"},
      }));
    }
  }
  if (const std::optional<TwistedAxis> found = find_twisted_axis(exact_)) {
    kernel_.note_refusal(refuse({
        .headline = {"An axis follows in two ways from those of a tensor"},
        .node = describe(tensor_with(found->axis, tensors_)),
        .expected = {"axes that are one part of another one"},
        .found =
            {found->axis->to_string(), ", which is two different parts of ",
             found->whole->to_string()},
        .fix = {"a tensor cannot meet its own reshape in one kernel: pass it as two inputs"},
    }));
  }
}

void LoopModel::collect_loops() {
  if (auto refusal = kernel_.id_model->try_build_graph(IdMappingMode::loop)) {
    return kernel_.note_refusal(std::move(*refusal));
  }
  const ValGraph& graph = kernel_.id_model->maybe_build_graph(IdMappingMode::loop);
  std::map<int64_t, Loop*> loop_of_group;
  for (TensorView* tensor : tensors_) {
    for (IterDomain* axis : tensor->loop()) {
      Loop*& loop = loop_of_group[graph.group(axis)];
      if (loop == nullptr) {
        loop = &loops_.emplace_back();
      }
      if (!loop->tensors.empty() && loop->tensors.back() == tensor) { // tensors come one by one
        return kernel_.note_refusal(refuse({
            .headline = {"Two axes of one tensor would be driven by one loop"},
            .node = {describe(tensor)},
            .expected =
                {"different loops for ", loop->members.back()->to_string(), " and ",
                 axis->to_string()},
            .found = {"inlining that maps both to the same axis of another tensor"},
            .fix = {"inline less deep, or transform both tensors alike"},
        }));
      }
      loop->members.push_back(axis);
      loop->tensors.push_back(tensor);
      loop_of_.insert_or_assign(axis, loop);
    }
  }
}

IterDomain* LoopModel::covering_member(const Loop& loop) {
  std::vector<IterDomain*> candidates = loop.members;
  if (loop.promoted != nullptr) {
    candidates.push_back(loop.promoted);
  }
  InputCovers::Cover all;
  for (const IterDomain* id : candidates) {
    const InputCovers::Cover& cover = covers_.of(id);
    all.insert(cover.begin(), cover.end());
  }
  // Consumers come last and have the fullest axes, so that fewest tensors have to be dragged.
  for (size_t i = candidates.size(); i-- > 0;) {
    if (covers_.of(candidates[i]) == all && (all.empty() || !candidates[i]->is_broadcast())) {
      return candidates[i];
    }
  }
  std::string found;
  for (size_t i = 0; i < loop.members.size(); ++i) {
    found += (i == 0 ? "" : ", ") + loop.members[i]->to_string() + " of T" +
             std::to_string(loop.tensors[i]->name());
  }
  kernel_.note_refusal(refuse({
      .headline = {"No axis covers all tensors that share a loop"},
      .node = {describe(loop.tensors.front())},
      .expected = {"one axis of the shared loop that is built from the axes of all others"},
      .found = {found, ", which are not provably equal"},
      .fix = {"inline these tensors less deep, so that they get loops of their own"},
  }));
  return candidates.empty() ? loop.members.front() : candidates.front();
}

void LoopModel::choose_promotions() {
  for (Loop& loop : loops_) {
    loop.promoted = covering_member(loop);
  }
  // Dragging one tensor's axis may give another tensor of that loop something to follow.
  bool changed = true;
  for (size_t round = 0; changed && !kernel_.is_refused(); ++round) {
    NVF_INVARIANT(round <= tensors_.size() + 1, "promotions settle");
    changed = false;
    for (size_t i = tensors_.size(); i-- > 0;) {
      changed = drag_along(tensors_[i]) || changed;
    }
  }
}

LoopModel::Promotions LoopModel::promotions_of(const TensorView* tensor) const {
  Promotions promoted;
  const auto follow = [&](IterDomain* id, IterDomain* target, auto&& self) -> void {
    if (exact_.are_mapped(id, target) || promoted.count(id) != 0) {
      return;
    }
    promoted[id] = target;
    Expr* own = id->definition();
    Expr* other = target->definition();
    if (own == nullptr || other == nullptr || !own->same_op(other)) {
      return;
    }
    for (size_t i = 0; i < own->outputs().size(); ++i) {
      if (own->outputs()[i] != id && !loop_of_.contains(id_at(own->outputs(), i))) {
        promoted.try_emplace(id_at(own->outputs(), i), id_at(other->outputs(), i));
      }
    }
    for (size_t i = 0; i < own->inputs().size(); ++i) {
      self(id_at(own->inputs(), i), id_at(other->inputs(), i), self);
    }
  };
  for (IterDomain* axis : tensor->loop()) {
    follow(axis, loop_of_.at(axis)->promoted, follow);
  }
  return promoted;
}

/// A loop of one tensor alone follows its axis, unless that is a broadcast, along which the tensor
/// has one element. A shared one does to run over more than it does, or
/// once, over as much: away from an axis of its own to the partner of an axis that was promoted.
///   a[i0, i1] and its consumer b[i0, i1] share both loops, b and c[m0, m1] the first one, where
///   i is i0 * i1, and m, i merged with a broadcast, is m0 * m1: the second loop is m1
bool LoopModel::promote(Loop& loop, IterDomain* axis) {
  if (exact_.are_mapped(loop.promoted, axis)) {
    return false;
  }
  if (loop.members.size() == 1 && loop.promoted->is_broadcast() &&
      !loop.promoted->is_parallelized()) {
    return false;
  }
  if (loop.members.size() > 1) {
    const InputCovers::Cover& old_cover = covers_.of(loop.promoted);
    const InputCovers::Cover& new_cover = covers_.of(axis);
    const auto is_own = [&](const IterDomain* id) {
      return std::ranges::any_of(
          loop.members, [&](const IterDomain* own) { return exact_.are_mapped(own, id); });
    };
    const bool leaves_own =
        old_cover == new_cover && !axis->is_broadcast() && is_own(loop.promoted) && !is_own(axis);
    if (!leaves_own &&
        std::includes(old_cover.begin(), old_cover.end(), new_cover.begin(), new_cover.end())) {
      return false;
    }
  }
  loop.promoted = axis;
  loop.promoted = covering_member(loop);
  return true;
}

bool LoopModel::drag_along(TensorView* tensor) {
  Promotions promoted = promotions_of(tensor);
  if (promoted.empty()) {
    return false;
  }
  bool changed = false;
  for (Expr* expr : tensor->domain()->all_exprs()) {
    IterDomains inputs;
    bool any = false;
    for (size_t i = 0; i < expr->inputs().size(); ++i) {
      const auto found = promoted.find(id_at(expr->inputs(), i));
      any = any || found != promoted.end();
      inputs.push_back(found == promoted.end() ? id_at(expr->inputs(), i) : found->second);
    }
    if (!any) {
      continue;
    }
    const IterDomains outputs = exact_.replay(expr, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      IterDomain* own = id_at(expr->outputs(), i);
      promoted.try_emplace(own, outputs[i]);
      if (Loop* const* loop = loop_of_.find(own)) {
        changed = promote(**loop, promoted[own]) || changed;
      }
    }
  }
  return changed;
}

void LoopModel::choose_parallel_types() {
  for (Loop& loop : loops_) {
    const IterDomain* decided_by = nullptr;
    const auto consider = [&](bool broadcasts) {
      for (size_t i = 0; i < loop.members.size(); ++i) {
        const IterDomain* id = loop.members[i];
        if (id->is_broadcast() != broadcasts || !id->is_parallelized()) {
          continue;
        }
        if (loop.parallel_type != ParallelType::Serial && !broadcasts &&
            loop.parallel_type != id->parallel_type()) {
          return kernel_.note_refusal(refuse({
              .headline = {"Axes that share a loop have different parallel types"},
              .node = {describe(loop.tensors[i])},
              .expected = {loop.parallel_type, ", as ", decided_by->to_string()},
              .found = {id->to_string()},
              .fix = {"parallelize both alike, or inline less deep"},
          }));
        }
        if (loop.parallel_type == ParallelType::Serial) {
          loop.parallel_type = id->parallel_type();
          decided_by = id;
        }
      }
    };
    consider(false);
    consider(true);
    if (loop.parallel_type == ParallelType::Bulk && !kernel_.target().has_bulk_copies) {
      loop.parallel_type = ParallelType::Serial; // a box is copied element by element
    }
  }
}

/// Two axes of one tensor are checked before; here one of them is bound by a tensor that shares its
/// loop.
void LoopModel::refuse_repeated_bindings() {
  for (const TensorView* tensor : tensors_) {
    std::map<ParallelType, const Loop*> bound;
    for (const Loop* loop : nests_.at(tensor)) {
      if (!loop->is_hardware()) {
        continue;
      }
      const auto [other, is_new] = bound.try_emplace(loop->parallel_type, loop);
      if (is_new) {
        continue;
      }
      return kernel_.note_refusal(refuse({
          .headline = {"Two loops around a tensor are bound to ", loop->parallel_type},
          .node = {describe(tensor)},
          .expected = {"one loop for each hardware index"},
          .found = {other->second->promoted->to_string(), " and ", loop->promoted->to_string()},
          .fix = {"parallelize the axes that share a loop alike, or inline less deep"},
      }));
    }
  }
}

LoopNest LoopModel::shared_loops(
    const TensorView* tensor, const TensorView* consumer, int64_t position) const {
  const LoopNest& loops = nests_.at(consumer);
  size_t depth = 0;
  for (int64_t i = 0; i < position; ++i) {
    if (loop_of_.at(tensor->axis(i))->is_hardware()) {
      continue; // no loop, so nothing that has to be shared
    }
    const auto found = std::find(loops.begin(), loops.end(), loop_of_.at(tensor->axis(i)));
    NVF_INVARIANT(found != loops.end(), "an inlined axis is a loop of ", describe(consumer));
    depth = std::max<size_t>(depth, found - loops.begin() + 1);
  }
  return {loops.begin(), loops.begin() + static_cast<int64_t>(depth)};
}

std::vector<LoopModel::OuterLoops> LoopModel::loops_shared_with_consumers(
    const TensorView* tensor) const {
  std::vector<OuterLoops> shared;
  for (const TensorView* consumer : tensor->consumers()) {
    if (nests_.contains(consumer)) { // leads to an output
      shared.push_back({consumer, shared_loops(tensor, consumer, tensor->compute_at_position())});
    }
  }
  return shared;
}

LoopNest LoopModel::common_loops(const TensorView* tensor) const {
  if (tensor->compute_at_position() == 0) {
    return {};
  }
  const std::vector<OuterLoops> shared = loops_shared_with_consumers(tensor);
  return shared.empty() ? LoopNest{} : shared.front().loops; // settle_order: as of all consumers
}

LoopNest LoopModel::outer_loops(TensorView* tensor) const {
  LoopNest outer = common_loops(tensor);
  for (const TensorView* consumer : tensor->compute_with_consumers()) {
    LoopNest found = shared_loops(tensor, consumer, tensor->compute_with_position());
    if (found.size() > outer.size()) {
      outer = std::move(found);
    }
  }
  return outer;
}

void LoopModel::build_nests() {
  do {
    place_in_loops();
  } while (!settle_order() && !kernel_.is_refused());
  for (Val* in : kernel_.inputs()) {
    if (in->is_tensor()) {
      nests_[static_cast<TensorView*>(in)] = {};
      shared_depths_[static_cast<TensorView*>(in)] = 0;
    }
  }
}

void LoopModel::place_in_loops() {
  nests_.clear();
  // Consumers first: a nest begins with what its consumers share.
  std::vector<Expr*> exprs = kernel_.exprs();
  for (size_t i = exprs.size(); i-- > 0;) {
    std::vector<TensorView*> outs;
    for (Val* out : exprs[i]->outputs()) {
      if (out->is_tensor()) {
        outs.push_back(static_cast<TensorView*>(out));
      }
    }
    if (outs.empty()) {
      continue;
    }
    // Siblings share every loop; the deepest inlined of them decides.
    LoopNest prefix;
    for (TensorView* out : outs) {
      LoopNest candidate = outer_loops(out);
      if (candidate.size() > prefix.size()) {
        prefix = std::move(candidate);
      }
    }
    for (TensorView* out : outs) {
      shared_depths_[out] = static_cast<int64_t>(common_loops(out).size());
      LoopNest nest = prefix;
      for (IterDomain* axis : out->loop()) {
        Loop* loop = loop_of_.at(axis);
        if (std::find(nest.begin(), nest.end(), loop) == nest.end()) {
          nest.push_back(loop);
        }
      }
      nests_[out] = move_hardware_inside(std::move(nest));
    }
  }
}

LoopNest LoopModel::move_hardware_inside(LoopNest nest) const {
  for (auto loop = nest.begin(); loop != nest.end(); ++loop) {
    if (const auto inside = inside_.find(*loop); inside != inside_.end()) {
      std::stable_partition(nest.begin(), loop + 1, [&](const Loop* outer) {
        return !inside->second.contains(outer);
      });
    }
  }
  return nest;
}

bool LoopModel::settle_order() {
  for (const TensorView* tensor : tensors_) {
    if (!nests_.contains(tensor) || tensor->compute_at_position() == 0) {
      continue;
    }
    const std::vector<OuterLoops> shared = loops_shared_with_consumers(tensor);
    for (const OuterLoops& other : shared) {
      if (other.loops == shared.front().loops) {
        continue;
      }
      if (!note_order(shared.front().loops, other.loops)) {
        kernel_.note_refusal(refuse({
            .headline = {"A tensor is inlined into consumers with different outer loops"},
            .node = {describe(tensor)},
            .expected = {"the loops around ", describe(shared.front().consumer)},
            .found = {"other loops around ", describe(other.consumer)},
            .fix = {"inline it less deep"},
        }));
      }
      return false;
    }
    // A loop inside of the tensor's own loops is inside of those it shares.
    const LoopNest prefix = shared.empty() ? LoopNest{} : shared.front().loops;
    const LoopNest& nest = nests_.at(tensor);
    if (std::ranges::mismatch(prefix, nest).in1 != prefix.end() &&
        note_order(prefix, {nest.begin(), std::ranges::find(nest, prefix.back()) + 1})) {
      return false;
    }
  }
  return true;
}

bool LoopModel::note_order(const LoopNest& left, const LoopNest& right) {
  const auto [first_of_left, first_of_right] = std::ranges::mismatch(left, right);
  const LoopNest rests[] = {{first_of_left, left.end()}, {first_of_right, right.end()}};
  const auto serial = [](LoopNest loops) {
    std::erase_if(loops, [](const Loop* loop) { return loop->is_hardware(); });
    return loops;
  };
  if (serial(rests[0]) != serial(rests[1])) {
    return false;
  }
  bool is_new = false;
  for (const LoopNest& rest : rests) {
    for (const Loop* loop : rest) {
      is_new = (loop->is_hardware() && inside_[left.back()].insert(loop).second) || is_new;
    }
  }
  return is_new;
}

const LoopNest& LoopModel::nest(const TensorView* tensor) const {
  const auto found = nests_.find(tensor);
  NVF_INVARIANT(found != nests_.end(), "a tensor of the kernel has a nest: ", describe(tensor));
  return found->second;
}

int64_t LoopModel::shared_depth(const TensorView* tensor) const {
  return shared_depths_.at(tensor);
}

Loop* LoopModel::loop_of(const IterDomain* axis) const {
  Loop* const* loop = loop_of_.find(axis);
  NVF_INVARIANT(loop != nullptr, "a loop axis has a loop: ", describe(axis));
  return *loop;
}

TensorView* first_output(const Expr* expr) {
  return static_cast<TensorView*>(expr->outputs().front());
}

std::optional<Refusal> model_loops(Kernel& kernel) {
  kernel.id_model = std::make_unique<IdModel>(&kernel);
  kernel.loop_model = std::make_unique<LoopModel>(kernel);
  return kernel.take_refusal();
}

} // namespace nvfuser
