// Params of schedulers that decide nothing.
#pragma once

#include "schedule/params/heuristic_params.h"

namespace nvfuser {

struct NoChoice {
  static constexpr SchedulerType kType = SchedulerType::no_op;
  static constexpr const char* kTitle = "Heuristic";
  static constexpr auto fields() {
    return std::tuple{};
  }
  bool operator==(const NoChoice&) const = default;
};
/// Params of `no_op` and `expr_eval`.
using PlainParams = ParamsOf<NoChoice>;

} // namespace nvfuser
