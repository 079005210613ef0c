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
constexpr int64_t kMostBytes = int64_t{1} << 20;

RunCounters own_counters(
    int64_t bytes, Device device, CUstream stream, OutputAllocator& allocator) {
  RunCounters counters;
  const int64_t sizes[] = {bytes};
  counters.own = allocator.allocate(DataType::Byte, sizes, device);
  const DLTensor& tensor = counters.own->dl_tensor;
  counters.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  if (device.is_cpu()) {
    std::memset(counters.data, 0, static_cast<size_t>(bytes));
  } else {
    const CudaDriver& driver = CudaDriver::get();
    driver.check(
        driver.memset_d8_async(
            reinterpret_cast<CUdeviceptr>(counters.data), 0, static_cast<size_t>(bytes), stream),
        "cuMemsetD8Async");
  }
  return counters;
}

/// The counters of one stream. Those it outgrew stay: a launch that another thread is about to make
/// may have their address.
class StreamCounters {
 public:
  void* find(int64_t bytes) const {
    return bytes <= bytes_ ? pieces_.back().data : nullptr;
  }
  void* grow(int64_t bytes, Device device, CUstream stream, OutputAllocator& allocator) {
    int64_t wanted = std::max(kFirstBytes, 2 * bytes_);
    while (wanted < bytes) {
      wanted *= 2;
    }
    pieces_.push_back(own_counters(wanted, device, stream, allocator));
    bytes_ = wanted;
    return pieces_.back().data;
  }

 private:
  std::vector<RunCounters> pieces_;
  int64_t bytes_ = 0; // of the last piece
};

struct Arena {
  std::mutex mutex;
  std::map<std::pair<int, unsigned long long>, StreamCounters> streams; // by device and stream
};

/// Never destroyed: the framework whose memory it has may be gone before.
Arena& arena() {
  static auto* const instance = new Arena();
  return *instance;
}

bool is_capturing(const CudaDriver& driver, CUstream stream) {
  int status = 0;
  driver.check(driver.stream_is_capturing(stream, &status), "cuStreamIsCapturing");
  return status != 0;
}

} // namespace

RunCounters counters_for(
    int64_t bytes, Device device, CUstream stream, OutputAllocator& allocator) {
  if (device.is_cpu() || bytes > kMostBytes || is_capturing(CudaDriver::get(), stream)) {
    return own_counters(bytes, device, stream, allocator);
  }
  // Not the handle: each thread has its own stream behind that of the default stream per thread.
  unsigned long long id = 0;
  const CudaDriver& driver = CudaDriver::get();
  driver.check(driver.stream_get_id(stream, &id), "cuStreamGetId");
  const std::lock_guard lock(arena().mutex);
  StreamCounters& counters = arena().streams[{device.index, id}];
  void* data = counters.find(bytes);
  return {data != nullptr ? data : counters.grow(bytes, device, stream, allocator), nullptr};
}

} // namespace nvfuser
