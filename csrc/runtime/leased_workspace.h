// LeasedWorkspace: memory for tensors that live between the kernels of a run.
//
// A stream runs its kernels in order: as soon as a run has enqueued all of its kernels, the next
// run on the stream may use the same memory. A lease lasts until then. The memory of ended leases
// is kept for each stream, and a run takes it without asking the caller's framework.
#pragma once

#include <cstdint>
#include <utility>

#include "base/device.h"
#include "runtime/cuda_driver.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

class LeasedWorkspace {
 public:
  /// Memory of so many bytes. Requires: a CUDA device's context is current.
  LeasedWorkspace(int64_t bytes, Device device, CUstream stream, OutputAllocator& allocator);
  ~LeasedWorkspace();
  LeasedWorkspace(const LeasedWorkspace&) = delete;
  LeasedWorkspace& operator=(const LeasedWorkspace&) = delete;

  [[nodiscard]] void* data() const;

  /// A CUDA device and the number of a stream, which no other stream gets; -1 and 0 for the CPU.
  using Place = std::pair<int, unsigned long long>;

 private:
  DlpackHandle memory_;
  int64_t bytes_ = 0; // of the memory
  Place place_{-1, 0};
  bool is_kept_ = false; // when the lease is over
};

} // namespace nvfuser
