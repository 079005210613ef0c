// Setting the properties of a tensor that are declared as settings (ir/tensor_schedule.h).
//
//   set<&TensorSchedule::promotes_reuse>(tensor, true);
//
// A property that a value is refused for has its rule here; all others need nothing.
#pragma once

#include <optional>

#include "base/refusal.h"
#include "ir/tensor_view.h"

namespace nvfuser::steps {

using SetCacheHint = Set<property_index(&TensorSchedule::cache_hint)>;

} // namespace nvfuser::steps

namespace nvfuser::transform {

template <size_t kProperty>
[[nodiscard]] std::optional<Refusal> find_wrong_setting(
    const TensorView* /*tv*/, const steps::Set<kProperty>& /*step*/) {
  return std::nullopt;
}
/// Only buffers in shared memory are reused.
[[nodiscard]] std::optional<Refusal> find_wrong_setting(
    const TensorView* tv, const steps::PromoteReuse& step);
/// Copies have hints; the first-level cache is passed by bulk copies, and cp.async has an operator.
[[nodiscard]] std::optional<Refusal> find_wrong_setting(
    const TensorView* tv, const steps::SetCacheHint& step);

/// Give a property of `tv` the value of a step.
template <size_t kProperty>
void set(TensorView* tv, const steps::Set<kProperty>& step) {
  check(find_wrong_setting(tv, step));
  tv->edit_schedule().*step.property().member = step.value;
  tv->record_step(step);
}
/// Calls `fn.template operator()<number of the property>()` for each setting.
template <typename Fn>
void for_each_setting(Fn&& fn) {
  const auto call = [&]<size_t kProperty>() {
    if constexpr (is_setting_v<kProperty>) {
      fn.template operator()<kProperty>();
    }
  };
  [&]<size_t... i>(std::index_sequence<i...>) {
    (call.template operator()<i>(), ...);
  }(std::make_index_sequence<kNumScheduleProperties>{});
}

template <auto kMember, typename T>
void set(TensorView* tv, const T& value) {
  set(tv, steps::Set<property_index(kMember)>{.value = value});
}

} // namespace nvfuser::transform
