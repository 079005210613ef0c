// How the registers of a multiprocessor are given out to the threads of its blocks. Schedulers, the
// compiler's options and launches ask here, so that they agree.
#pragma once

#include "base/target.h"

namespace nvfuser {

inline constexpr int64_t kRegisterBytes = 4;

/// The number of threads that a block of `threads` is given registers for: four warps are given
/// theirs together, one for each scheduler of a multiprocessor.
[[nodiscard]] constexpr int64_t threads_with_registers(const Target& target, int64_t threads) {
  constexpr int64_t kWarpsTogether = 4;
  const int64_t together = kWarpsTogether * target.warp_size;
  return (threads + together - 1) / together * together;
}

/// The most registers that each thread can have if `registers` are for `blocks` blocks of
/// `threads`; 0: the blocks do not fit.
[[nodiscard]] constexpr int64_t registers_of_thread(
    const Target& target, int64_t registers, int64_t threads, int64_t blocks = 1) {
  const int64_t unit = target.register_granularity;
  const int64_t most = registers / (threads_with_registers(target, threads) * blocks) / unit * unit;
  return most < target.max_registers_per_thread ? most : target.max_registers_per_thread;
}

} // namespace nvfuser
