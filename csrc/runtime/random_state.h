// Where random tensors without explicit seed get theirs from: a source that the framework's
// bindings set, asked once per launch of a kernel that needs it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "base/device.h"
#include "lower/analysis/kernel_parameters.h"

namespace nvfuser {

/// The random numbers of a run: a random tensor takes the counters at `offset` plus its place among
/// those that the run needs.
struct RandomState {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

/// The part of a run's random numbers that one of its steps computes.
struct RandomShare {
  RandomState state;
  /// By random tensor of the step's fusion (`stream_in_use`): its place in the run. Empty: the step
  /// is the whole run.
  std::span<const int64_t> numbers;

  [[nodiscard]] uint64_t offset_of(size_t stream) const {
    return state.offset + (numbers.empty() ? static_cast<uint64_t>(stream)
                                           : static_cast<uint64_t>(numbers[stream]));
  }
};

/// A seed as kernels get it: the keys of the cipher's ten rounds, two for each.
using RandomKeys = std::array<uint32_t, 20>;
static_assert(sizeof(RandomKeys) == KernelParameter::kRandomSeedBytes);

/// As `philox_keys` of runtime/common/philox.h.
[[nodiscard]] RandomKeys keys_of(uint64_t seed);

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  /// The state of the device's generator, which moves on by `streams` offsets. Thread-safe.
  virtual RandomState draw(Device device, int64_t streams) = 0;
};

/// Let launches ask `source` from now on.
void set_random_source(std::shared_ptr<RandomSource> source);
/// Ask it; a UserError if there is none.
[[nodiscard]] RandomState draw_random_state(Device device, int64_t streams);

} // namespace nvfuser
