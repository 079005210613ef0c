// Target: what a kernel is generated for, and the facts of that device. Schedulers and passes ask
// it; they do not fork.
#pragma once

#include <cstdint>

namespace nvfuser {

enum class TargetKind : uint8_t { Cuda, Cpu };

/// The facts of a device. The defaults are those of the GPU that this compiler is tuned for
/// (compute capability 9.0); where a device is there, the runtime fills in what the driver says.
struct Target {
  TargetKind kind = TargetKind::Cuda;
  /// Whether thread and block axes are hardware indices. If not, loops stand around the regions
  /// between two points that need all threads (or all blocks).
  bool has_hardware_threads = true;
  /// Whether a copy into shared memory can go on while its thread does. If not, it is a plain copy.
  bool has_async_copies = true;
  /// Whether one instruction copies a tile between global and shared memory.
  bool has_bulk_copies = true;
  /// Whether all blocks can be resident at once and wait for each other.
  bool has_cooperative_launch = true;

  /// Compute capability, 10 * major + minor; 0 on the CPU.
  int64_t architecture = 90;
  /// Multiprocessors of a GPU.
  int64_t num_sms = 132;

  // -- a block --
  int64_t max_threads_per_block = 1024;
  /// Along z: fewer than along x and y.
  int64_t max_threads_z = 64;
  /// Bytes of shared memory a block can have.
  int64_t max_shared_bytes = 227 * 1024;
  /// Registers of 4 bytes.
  int64_t registers_per_block = 64 * 1024;
  /// Registers are given out to threads in multiples of this.
  int64_t register_granularity = 8;
  /// Bytes of parameters that a kernel can have; 0: any number. Before CUDA 12.1, and on GPUs
  /// before compute capability 7.0, they are `kFewParameterBytes`.
  int64_t max_parameter_bytes = 32764;
  static constexpr int64_t kFewParameterBytes = 4096;
  /// Blocks of a cluster, which can reach each other's shared memory; 1: there are no clusters.
  int64_t max_cluster_size = 16;
  /// Any GPU that has clusters runs those of this size; larger ones are asked for explicitly.
  static constexpr int64_t kPortableClusterSize = 8;

  // -- a multiprocessor --
  int64_t max_threads_per_sm = 2048;
  int64_t shared_bytes_per_sm = 228 * 1024;
  /// Bytes of a block's shared memory that the system takes for itself.
  int64_t reserved_shared_bytes = 1024;
  int64_t registers_per_sm = 64 * 1024;
  /// Simple instructions of one lane that it completes in a microsecond; on the CPU target: those
  /// of the processor with all its cores.
  int64_t slots_per_us = int64_t{128} * 1755;

  // -- a thread --
  /// Registers of 4 bytes that a thread can have.
  int64_t max_registers_per_thread = 255;
  /// Bytes of arrays that a thread may have besides its registers. A GPU reserves them for all
  /// threads that it can have at the same time, about 2000 on each of its multiprocessors.
  int64_t max_local_bytes = 16 * 1024;
  /// Lanes that can exchange registers.
  int64_t warp_size = 32;
  /// Widest vector access.
  int64_t max_vector_bytes = 16;

  // -- the device --
  int64_t l2_bytes = int64_t{50} * 1024 * 1024;

  [[nodiscard]] constexpr bool is_cuda() const {
    return kind == TargetKind::Cuda;
  }
  [[nodiscard]] constexpr const char* name() const {
    return is_cuda() ? "cuda" : "cpu";
  }

  [[nodiscard]] static constexpr Target cuda() {
    return {};
  }
  [[nodiscard]] static constexpr Target cpu() {
    Target target;
    target.kind = TargetKind::Cpu;
    target.has_hardware_threads = false;
    target.has_async_copies = false;
    target.has_bulk_copies = false;
    target.has_cooperative_launch = false;
    target.architecture = 0;
    target.num_sms = 0;
    target.max_parameter_bytes = 0;
    target.slots_per_us = 128'000;
    target.l2_bytes = 1024 * 1024;
    return target;
  }

  bool operator==(const Target&) const = default;
};

/// `size` rounded up to whole warps.
[[nodiscard]] constexpr int64_t padded_to_warps(int64_t size) {
  constexpr int64_t kWarp = Target::cuda().warp_size;
  return (size + kWarp - 1) / kWarp * kWarp;
}

} // namespace nvfuser
