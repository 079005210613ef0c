// OptimizedFusion: a definition after passes from fusion to fusion.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/pass_table.h"
#include "base/refusal.h"
#include "ir/fusion.h"

namespace nvfuser {

struct OptimizeOptions {
  /// Keep the printed math after every pass (OptimizedFusion.passes in Python).
  bool record_passes = false;
  /// The last pass that runs; empty: all do.
  std::string until{};
  /// The passes that run, in the order of the table; no value: all.
  std::optional<std::vector<std::string>> passes{};
  /// Look for mistakes of the compiler after every pass (optimize/verify.h); no value: as
  /// NVFUSER_VERIFY_PASSES says.
  std::optional<bool> verifies_passes{};
};

/// Computes what the definition computes, from the same arguments into the same outputs. Inputs and
/// outputs keep their names, their order, the inputs that they are written into, and the strides
/// that were asked for. Behind the inputs of the definition there may be others, which repeat them:
/// `arguments` says what a run passes for each.
class OptimizedFusion final : public Fusion {
 public:
  /// Run the passes (optimize/pipeline.h) on a copy of `fusion`, which stays as it is: the result,
  /// or a refusal for a fusion with dynamic shapes, and for one with a schedule.
  [[nodiscard]] static std::variant<std::shared_ptr<OptimizedFusion>, Refusal> try_optimize(
      const Fusion& fusion, const OptimizeOptions& options = {});
  /// The result; throws what is refused.
  [[nodiscard]] static std::shared_ptr<OptimizedFusion> optimize(
      const Fusion& fusion, const OptimizeOptions& options = {});

  /// Run one more pass, and look for mistakes before and after it.
  void run_pass(const std::string& name);

  /// An input more, which is bound to the argument of `input`.
  TensorView* repeat_input(const TensorView* input);

  /// For each input the argument that it is bound to: its position among the inputs of the
  /// definition.
  [[nodiscard]] const std::vector<int64_t>& arguments() const {
    return arguments_;
  }

  /// Those that ran, in order.
  std::vector<PassRecord> passes;

 private:
  OptimizedFusion() = default;
  std::vector<int64_t> arguments_;
};

} // namespace nvfuser
