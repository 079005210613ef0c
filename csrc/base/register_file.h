// How the registers of a multiprocessor are given out to the threads of its blocks. Schedulers, the
// compiler's options and launches ask here, so that they agree.
#pragma once

#include "base/target.h"

namespace nvfuser {

inline constexpr int64_t kRegisterBytes = 4;

/// Schedulers of a multiprocessor: each has a quarter of the warps, and of the registers.
inline constexpr int64_t kWarpSchedulers = 4;

/// Warps of each scheduler, of which one may have more than the others.
[[nodiscard]] constexpr int64_t warps_of_scheduler(int64_t warps) {
  return (warps + kWarpSchedulers - 1) / kWarpSchedulers;
}

[[nodiscard]] constexpr int64_t warps_of_block(const Target& target, int64_t threads) {
  return (threads + target.warp_size - 1) / target.warp_size;
}

/// The most registers that each thread can have if `registers` are for `blocks` blocks of
/// `threads`; 0: the blocks do not fit. Schedulers share the warps of all blocks: three blocks of
/// ten warps are eight for each, not nine.
[[nodiscard]] constexpr int64_t registers_of_thread(
    const Target& target, int64_t registers, int64_t threads, int64_t blocks = 1) {
  const int64_t unit = target.register_granularity;
  const int64_t warps = warps_of_scheduler(warps_of_block(target, threads) * blocks);
  const int64_t most = registers / (warps * kWarpSchedulers * target.warp_size) / unit * unit;
  return most < target.max_registers_per_thread ? most : target.max_registers_per_thread;
}

/// How many blocks of `threads` threads, with so many registers each, fit on a multiprocessor.
[[nodiscard]] constexpr int64_t blocks_with_registers(
    const Target& target, int64_t threads, int64_t registers) {
  const int64_t unit = target.register_granularity;
  const int64_t given = (registers + unit - 1) / unit * unit;
  const int64_t warps = target.registers_per_sm / kWarpSchedulers / (given * target.warp_size);
  return warps * kWarpSchedulers / warps_of_block(target, threads);
}

} // namespace nvfuser
