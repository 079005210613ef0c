#include "runtime/launch_words.h"

#include <map>
#include <utility>

#include "base/errors.h"

namespace nvfuser {

std::string dimension_name(ParallelType type) {
  return std::string(is_grid_dim(type) ? "gridDim." : "blockDim.") + "xyz"[traits_of(type).dim];
}

LaunchWords::LaunchWords(const Fusion& fusion) {
  for (const Val* val : fusion.inputs()) {
    Input input;
    input.dtype = val->dtype();
    if (!val->is_tensor()) {
      input.name = val->to_inline_string();
    } else {
      const auto* tensor = static_cast<const TensorView*>(val);
      input.name = "T" + std::to_string(tensor->name());
      input.is_tensor = true;
      input.rank = logical_axes(tensor).size();
      input.num_axes = memory_axes(tensor).size();
    }
    dims_ += input.is_tensor ? input.rank + input.num_axes : 1;
    inputs_.push_back(std::move(input));
  }
}

std::vector<std::string> LaunchWords::names() const {
  std::vector<std::string> names;
  for (const Input& input : inputs_) {
    if (!input.is_tensor) {
      names.push_back(input.name);
      continue;
    }
    for (size_t i = 0; i < input.rank; ++i) {
      names.push_back(input.name + ".size[" + std::to_string(i) + "]");
    }
    for (size_t i = 0; i < input.num_axes; ++i) {
      names.push_back(input.name + ".stride[" + std::to_string(i) + "]");
    }
  }
  for (const ParallelType type : kHardwareTypes) {
    names.push_back(dimension_name(type));
  }
  return names;
}

void LaunchWords::fill(
    std::span<const Argument> args,
    std::span<const MemoryLayout> layouts,
    std::span<ScalarRegister> words) const {
  size_t next = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].is_tensor) {
      const ScalarValue& value = std::get<ScalarArg>(args[i]).value;
      words[next++] = ScalarRegister::of(convert_value(value, inputs_[i].dtype));
      continue;
    }
    for (const int64_t size : std::get<TensorArg>(args[i]).sizes()) {
      words[next++] = ScalarRegister::of(size);
    }
    for (const int64_t stride : layouts[i].strides) {
      words[next++] = ScalarRegister::of(stride);
    }
  }
  NVF_INVARIANT(next == dims_, "arguments were checked against the inputs");
}

ScalarProgramBuilder LaunchWords::builder(const Kernel& kernel) const {
  std::map<std::pair<const TensorView*, size_t>, const Val*> strides;
  for (const auto& [val, source] : kernel.strides) {
    strides.emplace(std::pair(source.tensor, source.axis), val);
  }
  ScalarProgramBuilder builder;
  for (const Val* val : kernel.inputs()) {
    if (!val->is_tensor()) {
      builder.add_input(val);
      continue;
    }
    const auto* tensor = static_cast<const TensorView*>(val);
    for (const IterDomain* id : logical_axes(tensor)) {
      builder.add_input(id->maybe_expanded_extent());
    }
    for (size_t i = 0; i < memory_axes(tensor).size(); ++i) {
      const auto stride = strides.find(std::pair(tensor, i));
      builder.add_input(stride != strides.end() ? stride->second : nullptr);
    }
  }
  for (const ParallelType type : kHardwareTypes) {
    builder.add_input(dimension_name(type));
  }
  return builder;
}

} // namespace nvfuser
