// Target: what a kernel is generated for. Passes ask it; they do not fork.
#pragma once

#include <cstdint>

namespace nvfuser {

enum class TargetKind : uint8_t { Cuda, Cpu };

/// Facts about a target that lowering depends on.
struct Target {
  TargetKind kind = TargetKind::Cuda;
  /// Whether thread and block axes are hardware indices. If not, loops stand around the regions
  /// between two points that need all threads (or all blocks).
  bool has_hardware_threads = true;
  /// Whether a copy into shared memory can go on while its thread does. If not, it is a plain copy.
  bool has_async_copies = true;
  /// Bytes of shared memory a block can have.
  int64_t max_shared_bytes = 227 * 1024;
  /// Registers of 4 bytes that a thread can have.
  int64_t max_registers_per_thread = 255;
  /// Bytes of arrays that a thread may have besides its registers. A GPU reserves them for all
  /// threads that it can have at the same time, about 2000 on each of its multiprocessors.
  int64_t max_local_bytes = 16 * 1024;
  int64_t max_threads_per_block = 1024;
  /// Lanes that can exchange registers.
  int64_t warp_size = 32;
  /// Widest vector access.
  int64_t max_vector_bytes = 16;

  [[nodiscard]] bool is_cuda() const {
    return kind == TargetKind::Cuda;
  }
  [[nodiscard]] const char* name() const {
    return is_cuda() ? "cuda" : "cpu";
  }
  [[nodiscard]] static Target cuda() {
    return {};
  }
  [[nodiscard]] static Target cpu() {
    return {.kind = TargetKind::Cpu, .has_hardware_threads = false, .has_async_copies = false};
  }
};

} // namespace nvfuser
