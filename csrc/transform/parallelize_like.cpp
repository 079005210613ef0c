#include "transform/parallelize_like.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "ir/fusion.h"
#include "ir/replay_domain.h"
#include "ir/rules.h"
#include "transform/axis_checks.h"

namespace nvfuser::transform {
namespace {

/// The reference's axes by group of one graph. Serial ones count: they can make a match ambiguous.
class TypesOfGroups {
 public:
  TypesOfGroups(const ValGraph& graph, const IterDomains& axes) : graph_(graph) {
    for (IterDomain* axis : axes) {
      if (graph.contains(axis)) {
        axes_[graph.group(axis)].push_back(axis);
      }
    }
  }

  /// The reference's axes that `axis` corresponds to.
  [[nodiscard]] IterDomains find(const IterDomain* axis) const {
    if (!graph_.contains(axis)) {
      return {};
    }
    const auto found = axes_.find(graph_.group(axis));
    return found == axes_.end() ? IterDomains{} : found->second;
  }

 private:
  const ValGraph& graph_;
  std::map<int64_t, IterDomains> axes_;
};

bool have_one_type(const IterDomains& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](const IterDomain* axis) {
    return axis->parallel_type() == axes.front()->parallel_type();
  });
}

class TypeCopier {
 public:
  TypeCopier(TensorView* reference, const IterDomains& axes)
      : reference_(reference),
        model_(shared_id_model(*reference->fusion())),
        levels_{
            TypesOfGroups(model_->maybe_build_graph(IdMappingMode::exact), axes),
            TypesOfGroups(model_->maybe_build_graph(IdMappingMode::broadcast), axes),
            TypesOfGroups(model_->maybe_build_graph(IdMappingMode::permissive), axes)} {}

  /// The axis of the reference to copy from, into `source`; nullptr: none.
  [[nodiscard]] std::optional<Refusal> find_source(
      const TensorView* tensor, const IterDomain* axis, IterDomain*& source) const {
    source = nullptr;
    for (size_t level = 0; level < levels_.size(); ++level) {
      const IterDomains found = levels_[level].find(axis);
      if (found.empty()) {
        continue;
      }
      if (have_one_type(found)) {
        source = found.front();
        return std::nullopt;
      }
      if (level > 0) {
        return std::nullopt;
      }
      return refuse({
          .headline =
              {"An axis corresponds to several axes with different parallel types: ",
               found[0]->to_string(), " and ", found[1]->to_string()},
          .node = {describe(tensor)},
          .expected = {"one axis of T", reference_->name(), " for ", axis->to_string()},
          .found = {"a fusion that maps several axes of one tensor to each other"},
          .fix = {"parallelize this tensor by hand, or compute the two uses in different kernels"},
      });
    }
    return std::nullopt;
  }

 private:
  TensorView* reference_;
  std::shared_ptr<IdModel> model_;
  std::array<TypesOfGroups, 3> levels_;
};

std::vector<TensorView*> targets_of(
    const TensorView* reference, const std::vector<TensorView*>& selected) {
  if (selected.empty()) {
    std::vector<TensorView*> all = scheduled_tensors(*reference->fusion());
    std::erase_if(all, [](const TensorView* tensor) { return tensor->is_fusion_input(); });
    return all;
  }
  std::vector<TensorView*> targets;
  const auto add = [&](TensorView* tensor) {
    reference->fusion()->check_contains(tensor);
    if (std::find(targets.begin(), targets.end(), tensor) == targets.end()) {
      targets.push_back(tensor);
    }
  };
  for (TensorView* tensor : selected) {
    add(tensor);
    for (TensorView* sibling : tensor->siblings()) {
      add(sibling);
    }
  }
  return targets;
}

/// Whether a tensor can use an instruction that is asked for everywhere: copies move, reductions
/// combine lanes.
bool can_use(const TensorView* tensor, ParallelType type) {
  const Expr* definition = tensor->definition();
  if (type == ParallelType::Group) {
    return tensor->has_reduction();
  }
  return definition != nullptr && is_elementwise_copy(*definition);
}

} // namespace

std::optional<Refusal> try_parallelize_like(
    TensorView* reference,
    int64_t pos,
    const std::vector<TensorView*>& selected_tensors,
    const std::set<ParallelType>& selected_parallel_types,
    bool propagate_padding) {
  NVF_RETURN_REFUSAL(find_wrong_count(reference, pos));
  const IterDomains axes = leading_axes(reference, pos);
  const auto is_copied = [&](const IterDomain* source, const TensorView* target) {
    const ParallelType type = source->parallel_type();
    const bool is_asked_for = !is_instruction(type) || !selected_tensors.empty() ||
                              (!selected_parallel_types.empty() && can_use(target, type));
    return source->is_parallelized() && is_asked_for &&
           (selected_parallel_types.empty() || selected_parallel_types.count(type) != 0);
  };
  const TypeCopier copier(reference, axes);
  std::vector<std::pair<IterDomain*, const IterDomain*>> copies; // to, from
  for (const TensorView* tensor : targets_of(reference, selected_tensors)) {
    if (tensor == reference) {
      continue;
    }
    for (IterDomain* axis : tensor->loop()) {
      IterDomain* source = nullptr;
      NVF_RETURN_REFUSAL(copier.find_source(tensor, axis, source));
      if (source != nullptr && is_copied(source, tensor)) {
        copies.emplace_back(axis, source);
      }
    }
  }
  for (const auto& [axis, source] : copies) { // all or none
    NVF_RETURN_REFUSAL(
        propagate_padding ? find_wrong_binding(source, axis)
                          : find_wrong_parallel_type(axis, source->parallel_type()));
  }
  for (const auto& [axis, source] : copies) {
    propagate_padding ? copy_binding(source, axis) : axis->parallelize(source->parallel_type());
  }
  reference->record_step(
      steps::ParallelizeLike{
          .pos = pos,
          .selected_tensors = selected_tensors,
          .selected_parallel_types =
              {selected_parallel_types.begin(), selected_parallel_types.end()},
          .propagate_padding = propagate_padding});
  return std::nullopt;
}

void parallelize_like(
    TensorView* reference,
    int64_t pos,
    const std::vector<TensorView*>& selected_tensors,
    const std::set<ParallelType>& selected_parallel_types,
    bool propagate_padding) {
  check(try_parallelize_like(
      reference, pos, selected_tensors, selected_parallel_types, propagate_padding));
}

} // namespace nvfuser::transform
