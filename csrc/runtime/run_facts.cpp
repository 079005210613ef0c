#include "runtime/run_facts.h"

#include <bit>
#include <cstdint>

#include "base/value_or_throw.h"
#include "runtime/arguments.h"
#include "runtime/compiled_kernel.h"
#include "runtime/paired_tensor.h"

namespace nvfuser {
namespace {

/// The largest power of two that divides an address, as far as anything asks for it.
int64_t alignment_of(const void* address) {
  constexpr uintptr_t kMost = 256;
  return static_cast<int64_t>(
      uintptr_t{1} << std::countr_zero(reinterpret_cast<uintptr_t>(address) | kMost));
}

} // namespace

schedule::RunFacts find_run_facts(
    Fusion& fusion, std::span<const Argument> args, const std::optional<Target>& target) {
  return find_run_facts(fusion, args, equal_input_dims(fusion), target);
}

schedule::RunFacts find_run_facts(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    const std::optional<Target>& target) {
  return value_or_throw(try_find_run_facts(fusion, args, equal_dims, target));
}

std::variant<schedule::RunFacts, Refusal> try_find_run_facts(
    const Fusion& fusion,
    std::span<const Argument> args,
    const EqualDims& equal_dims,
    const std::optional<Target>& target) {
  if (std::optional<Refusal> refusal = find_unfit_argument(fusion, args)) {
    return *std::move(refusal);
  }
  const Device device = device_of_run(fusion, args);
  const UnpairedArguments unpaired(fusion, args);
  ExpressionEvaluator sizes;
  auto bound = try_bind_arguments(fusion, unpaired.args(), equal_dims, sizes);
  if (auto* refusal = std::get_if<Refusal>(&bound)) {
    return std::move(*refusal);
  }
  auto layouts = std::get<std::vector<MemoryLayout>>(std::move(bound));
  std::vector<schedule::InputLayout> inputs(layouts.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (const auto* tensor = std::get_if<TensorArg>(&unpaired.args()[i])) {
      inputs[i] = {
          .sizes = std::move(layouts[i].sizes),
          .strides = std::move(layouts[i].strides),
          .alignment = alignment_of(tensor->data)};
    }
  }
  return schedule::RunFacts(
      target.value_or(target_of(device)), std::move(sizes), std::move(inputs));
}

} // namespace nvfuser
