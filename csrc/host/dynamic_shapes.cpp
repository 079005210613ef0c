#include "host/dynamic_shapes.h"

#include <algorithm>

#include "base/value_or_throw.h"
#include "eval/evaluator.h"
#include "runtime/arguments.h"
#include "runtime/paired_tensor.h"
#include "runtime/signature.h"
#include "transform/concretize.h"

namespace nvfuser::host {

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
    return Specialization{0, definition_};
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

int64_t DynamicShapes::count() const {
  const std::lock_guard lock(mutex_);
  return is_dynamic_ ? static_cast<int64_t>(specializations_.size()) : 1;
}

int64_t DynamicShapes::num_forgotten() const {
  const std::lock_guard lock(mutex_);
  return num_made_ - static_cast<int64_t>(specializations_.size());
}

} // namespace nvfuser::host
