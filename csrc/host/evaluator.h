// Evaluator: computes what has no kernel. The caller's framework implements it, as it does the
// allocator of outputs and the source of random numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/refusal.h"
#include "host/evaluated_fusion.h"
#include "runtime/dlpack_tensor.h"
#include "runtime/random_state.h"

namespace nvfuser::host {

/// A tensor that several places keep alive.
using SharedTensor = std::shared_ptr<DLManagedTensorVersioned>;

/// An operand of an evaluation: a number or a tensor, and whose it is. An evaluator may keep
/// tensors longer than its call: then it keeps their memory.
struct EvaluatorInput {
  static constexpr int64_t kNone = -1;
  Argument value;
  int64_t argument = kNone; // of the run, whose memory it is
  bool is_whole = false;    // is it that argument itself, or a part of its memory?
  SharedTensor memory{};    // of all other tensors
};

/// Takes the lock of the caller's language where it needs it.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Says no where nothing can be evaluated: what does it is not installed.
  [[nodiscard]] virtual std::optional<Refusal> find_unavailable() = 0;
  /// Compute a fusion on `device`, on the caller's current stream, with its share of the run's
  /// random numbers. Writes outputs that update an input into its memory. Returns a tensor in
  /// memory of its own for every other output, with the strides that layout_of_new gives it; empty
  /// handles stand for updates, for inputs and for outputs that came before.
  [[nodiscard]] virtual std::vector<DlpackHandle> evaluate(
      const EvaluatedFusion& evaluated,
      std::span<const EvaluatorInput> inputs,
      Device device,
      const RandomShare& random) = 0;
  /// Copy elements between tensors of one type, device and shape, with any strides.
  virtual void copy(const EvaluatorInput& from, const EvaluatorInput& to) = 0;
};

} // namespace nvfuser::host
