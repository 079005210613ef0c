#include "host/dynamic_shapes.h"

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

Specialization DynamicShapes::resolve(std::span<const Argument> args) {
  if (!is_dynamic_) {
    return {0, definition_};
  }
  // Which axes correspond shows only once the shapes are resolved: sizes are held against each
  // other then.
  ExpressionEvaluator sizes;
  const UnpairedArguments elements(*definition_, args);
  static_cast<void>(bind_arguments(*definition_, elements.args(), {}, sizes));
  Specialization result;
  {
    const std::lock_guard lock(mutex_);
    const Concretization record = find_concretization(*definition_, sizes);
    auto known = specializations_.find(record);
    if (known == specializations_.end()) {
      const std::shared_ptr<Fusion> fusion = definition_->clone();
      concretize(*fusion, record);
      const auto number = static_cast<int64_t>(specializations_.size());
      known = specializations_.emplace(record, Specialization{number, fusion}).first;
    }
    result = known->second;
  }
  ExpressionEvaluator all_sizes;
  static_cast<void>(bind_arguments(*result.fusion, elements.args(), {}, all_sizes));
  check_meeting_sizes(*result.fusion, all_sizes);
  return result;
}

int64_t DynamicShapes::count() const {
  const std::lock_guard lock(mutex_);
  return is_dynamic_ ? static_cast<int64_t>(specializations_.size()) : 1;
}

} // namespace nvfuser::host
