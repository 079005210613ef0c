#include "runtime/counters.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/errors.h"

namespace nvfuser {
namespace {

constexpr int64_t kFirstBytes = int64_t{64} << 10;
/// More are filled in each run: that takes no longer than a launch, and streams keep little.
constexpr int64_t kMostCounterBytes = int64_t{1} << 20;
/// More partial results than that take longer to write than memory takes to be asked for.
constexpr int64_t kMostWorkspaceBytes = int64_t{16} << 20;

LaunchPiece own_workspace(int64_t bytes, Device device, OutputAllocator& allocator) {
  LaunchPiece piece;
  piece.own = allocator.allocate_workspace(bytes, device);
  const DLTensor& tensor = piece.own->dl_tensor;
  piece.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  return piece;
}

LaunchPiece own_counters(
    int64_t bytes, Device device, CUstream stream, OutputAllocator& allocator) {
  LaunchPiece piece = own_workspace(bytes, device, allocator);
  if (device.is_cpu()) {
    std::memset(piece.data, 0, static_cast<size_t>(bytes));
  } else {
    const CudaDriver& driver = CudaDriver::get();
    driver.check(
        driver.memset_d8_async(
            reinterpret_cast<CUdeviceptr>(piece.data), 0, static_cast<size_t>(bytes), stream),
        "cuMemsetD8Async");
  }
  return piece;
}

/// A stream's memory of one kind. Pieces that it outgrew stay: a launch that another thread is
/// about to make may have their address.
class GrowingMemory {
 public:
  /// `make(bytes)` makes a piece.
  template <typename Make>
  void* of(int64_t bytes, const Make& make) {
    if (bytes > bytes_) {
      int64_t wanted = std::max(kFirstBytes, 2 * bytes_);
      while (wanted < bytes) {
        wanted *= 2;
      }
      pieces_.push_back(make(wanted));
      bytes_ = wanted;
    }
    return pieces_.back().data;
  }

 private:
  std::vector<LaunchPiece> pieces_;
  int64_t bytes_ = 0; // of the last piece
};

struct MemoryOfStream {
  GrowingMemory counters;
  GrowingMemory workspace;
};

struct Arena {
  std::mutex mutex;
  std::map<std::pair<int, unsigned long long>, MemoryOfStream> streams; // by device and stream
};

/// Never destroyed: the framework whose memory it has may be gone before.
Arena& arena() {
  static auto* const instance = new Arena();
  return *instance;
}

/// The pieces that the stream keeps, of so many bytes; 0: none.
StreamMemory kept_memory(
    int64_t counter_bytes,
    int64_t workspace_bytes,
    Device device,
    CUstream stream,
    OutputAllocator& allocator) {
  StreamMemory memory;
  const unsigned long long number = CudaDriver::get().number_of(stream);
  const std::lock_guard lock(arena().mutex);
  MemoryOfStream& kept = arena().streams[{device.index, number}];
  if (counter_bytes > 0) {
    memory.counters.data = kept.counters.of(counter_bytes, [&](int64_t bytes) {
      return own_counters(bytes, device, stream, allocator);
    });
  }
  if (workspace_bytes > 0) {
    memory.workspace.data = kept.workspace.of(
        workspace_bytes, [&](int64_t bytes) { return own_workspace(bytes, device, allocator); });
  }
  return memory;
}

} // namespace

StreamMemory stream_memory_for(
    int64_t counter_bytes,
    int64_t workspace_bytes,
    Device device,
    CUstream stream,
    OutputAllocator& allocator) {
  if (counter_bytes == 0 && workspace_bytes == 0) {
    return {};
  }
  allocator.unlock(); // a thread that makes new memory of a stream may need it
  const bool is_shared = !device.is_cpu() && !CudaDriver::get().is_capturing(stream);
  const bool shares_counters = is_shared && counter_bytes <= kMostCounterBytes;
  const bool shares_workspace = is_shared && workspace_bytes <= kMostWorkspaceBytes;
  StreamMemory memory;
  if (is_shared) {
    memory = kept_memory(
        shares_counters ? counter_bytes : 0, shares_workspace ? workspace_bytes : 0, device, stream,
        allocator);
  }
  if (counter_bytes > 0 && !shares_counters) {
    memory.counters = own_counters(counter_bytes, device, stream, allocator);
  }
  if (workspace_bytes > 0 && !shares_workspace) {
    memory.workspace = own_workspace(workspace_bytes, device, allocator);
  }
  return memory;
}

} // namespace nvfuser
