#include "runtime/leased_workspace.h"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <vector>

namespace nvfuser {
namespace {

constexpr int64_t kLeastBytes = int64_t{64} << 10;
/// More takes longer to be written than the framework takes to find it.
constexpr int64_t kMostLeasedBytes = int64_t{16} << 20;
/// Kept without a lease, of all streams.
constexpr int64_t kMostKeptBytes = int64_t{64} << 20;

class KeptMemory {
 public:
  struct Piece {
    DlpackHandle memory;
    int64_t bytes = 0;
  };

  /// The piece that was given last; it may be too small. Empty: there is none.
  Piece take(const LeasedWorkspace::Place& place) {
    const std::lock_guard lock(mutex_);
    std::vector<Piece>& pieces = pieces_[place];
    if (pieces.empty()) {
      return {};
    }
    Piece piece = std::move(pieces.back());
    pieces.pop_back();
    bytes_ -= piece.bytes;
    return piece;
  }

  /// Keep `piece`, or leave it where it is.
  void give(const LeasedWorkspace::Place& place, Piece& piece) {
    const std::lock_guard lock(mutex_);
    if (bytes_ + piece.bytes <= kMostKeptBytes) {
      bytes_ += piece.bytes;
      pieces_[place].push_back(std::move(piece));
    }
  }

 private:
  std::mutex mutex_;
  std::map<LeasedWorkspace::Place, std::vector<Piece>> pieces_;
  int64_t bytes_ = 0;
};

/// Never destroyed: the framework whose memory it has may be gone before.
KeptMemory& kept_memory() {
  static auto& memory = *new KeptMemory();
  return memory;
}

} // namespace

LeasedWorkspace::LeasedWorkspace(
    int64_t bytes, Device device, CUstream stream, OutputAllocator& allocator)
    : bytes_(bytes) {
  if (device.is_cuda()) {
    const CudaDriver& driver = CudaDriver::get();
    // A graph runs again, perhaps beside other runs on the stream: it has its own. A stream that
    // captures does not tell its number.
    is_kept_ = !driver.is_capturing(stream);
    if (is_kept_) {
      place_.first = device.index;
      place_.second = driver.number_of(stream);
    }
  } else {
    is_kept_ = true; // kernels have run when they are enqueued
  }
  is_kept_ = is_kept_ && bytes <= kMostLeasedBytes;
  if (is_kept_) {
    KeptMemory::Piece piece = kept_memory().take(place_);
    if (piece.bytes >= bytes) {
      memory_ = std::move(piece.memory);
      bytes_ = piece.bytes;
      return;
    }
    bytes_ =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(bytes, kLeastBytes))));
  }
  memory_ = allocator.allocate_workspace(bytes_, device);
}

LeasedWorkspace::~LeasedWorkspace() {
  if (is_kept_ && memory_ != nullptr) {
    KeptMemory::Piece piece{std::move(memory_), bytes_};
    kept_memory().give(place_, piece);
  }
}

void* LeasedWorkspace::data() const {
  const DLTensor& tensor = memory_->dl_tensor;
  return static_cast<char*>(tensor.data) + tensor.byte_offset;
}

} // namespace nvfuser
