#include "host/dynamic_shapes.h"

#include <algorithm>

#include "base/value_or_throw.h"
#include "eval/evaluator.h"
#include "runtime/arguments.h"
#include "runtime/paired_tensor.h"
#include "runtime/signature.h"
#include "transform/concretize.h"

namespace nvfuser::host {
namespace {

/// Elements of a tensor from which on a run is worth kernels of its own for its axes of size 1.
constexpr int64_t kLargeTensor = int64_t{1} << 20;

const TensorArg* tensor_at(std::span<const Argument> args, size_t position) {
  return std::get_if<TensorArg>(&args[position]);
}

/// Whether axes of one element stand between others of a large tensor: two and more of these have
/// to be addressed one by one.
bool separates_axes(const TensorArg& tensor) {
  int64_t elements = 1;
  int64_t long_axes = 0;
  for (const int64_t size : tensor.sizes()) {
    elements *= size;
    long_axes += size > 1 ? 1 : 0;
  }
  return elements >= kLargeTensor && long_axes >= 2 && long_axes < tensor.rank;
}

/// The candidates whose sizes are 1, if any of them belongs to a tensor that they separate.
std::vector<UnitCandidate> find_units(
    const std::vector<UnitCandidate>& candidates, std::span<const Argument> args) {
  std::vector<UnitCandidate> units;
  bool is_any_separated = false;
  for (const UnitCandidate& candidate : candidates) {
    const bool is_unit = std::ranges::all_of(candidate, [&](const TensorDim& place) {
      return tensor_at(args, place.input)->sizes()[place.dim] == 1;
    });
    if (is_unit) {
      units.push_back(candidate);
      is_any_separated |= std::ranges::any_of(candidate, [&](const TensorDim& place) {
        return separates_axes(*tensor_at(args, place.input));
      });
    }
  }
  return is_any_separated ? units : std::vector<UnitCandidate>();
}

} // namespace

DynamicShapes::DynamicShapes(std::shared_ptr<Fusion> definition)
    : definition_(std::move(definition)),
      is_dynamic_(has_dynamic_shapes(*definition_)),
      sizes_depend_on_(find_shape_scalars(*definition_)) {
  for (const int64_t input : size_inputs(*definition_)) {
    sizes_depend_on_[static_cast<size_t>(input)] = true;
  }
}

std::variant<Specialization, Refusal> DynamicShapes::try_resolve(std::span<const Argument> args) {
  if (!is_dynamic_) {
    return resolve_units(args);
  }
  // Which axes correspond shows only once the shapes are resolved: sizes are held against each
  // other then.
  ExpressionEvaluator sizes;
  const UnpairedArguments elements(*definition_, args);
  auto bound = try_bind_arguments(*definition_, elements.args(), {}, sizes);
  if (auto* refusal = std::get_if<Refusal>(&bound)) {
    return std::move(*refusal);
  }
  std::variant<Concretization, Refusal> record;
  Specialization result;
  {
    const std::lock_guard lock(mutex_);
    record = try_find_concretization(*definition_, sizes);
    if (auto* refusal = std::get_if<Refusal>(&record)) {
      return std::move(*refusal);
    }
    result = specialization_for(std::get<Concretization>(record));
  }
  ExpressionEvaluator all_sizes;
  bound = try_bind_arguments(*result.fusion, elements.args(), {}, all_sizes);
  if (auto* refusal = std::get_if<Refusal>(&bound)) {
    return std::move(*refusal);
  }
  if (std::optional<Refusal> refusal = find_unequal_sizes(*result.fusion, all_sizes)) {
    return *std::move(refusal);
  }
  return result;
}

Specialization DynamicShapes::resolve(std::span<const Argument> args) {
  return value_or_throw(try_resolve(args));
}

Specialization DynamicShapes::specialization_for(const Concretization& record) {
  const auto known = specializations_.find(record);
  if (known != specializations_.end()) {
    known->second.last_use = ++num_questions_;
    return known->second.specialization;
  }
  const std::shared_ptr<Fusion> fusion = definition_->clone();
  concretize(*fusion, record);
  if (specializations_.size() >= kMost) {
    specializations_.erase(std::ranges::min_element(specializations_, {}, [](const auto& entry) {
      return entry.second.last_use;
    }));
  }
  const Specialization made{num_made_++, fusion};
  specializations_.emplace(record, Known{made, ++num_questions_});
  return made;
}

Specialization DynamicShapes::resolve_units(std::span<const Argument> args) {
  Specialization as_given{0, definition_};
  const UnpairedArguments elements(*definition_, args);
  const bool may_have_units = std::ranges::any_of(elements.args(), [](const Argument& arg) {
    const auto* tensor = std::get_if<TensorArg>(&arg);
    return tensor != nullptr && separates_axes(*tensor);
  });
  if (!may_have_units) {
    return as_given;
  }
  const std::lock_guard lock(mutex_);
  if (!unit_candidates_) {
    unit_candidates_ = find_unit_candidates(*definition_);
  }
  const std::vector<UnitCandidate> units = find_units(*unit_candidates_, elements.args());
  if (units.empty()) {
    return as_given;
  }
  const auto known = without_units_.find(units);
  if (known != without_units_.end()) {
    return known->second;
  }
  if (without_units_.size() + 1 >= kMost) {
    return as_given;
  }
  const std::shared_ptr<Fusion> fusion = definition_->clone();
  make_broadcasts(*fusion, units);
  const Specialization made{static_cast<int64_t>(without_units_.size()) + 1, fusion};
  without_units_.emplace(units, made);
  return made;
}

int64_t DynamicShapes::count() const {
  const std::lock_guard lock(mutex_);
  return is_dynamic_ ? static_cast<int64_t>(specializations_.size())
                     : static_cast<int64_t>(without_units_.size()) + 1;
}

int64_t DynamicShapes::num_forgotten() const {
  const std::lock_guard lock(mutex_);
  return num_made_ - static_cast<int64_t>(specializations_.size());
}

} // namespace nvfuser::host
