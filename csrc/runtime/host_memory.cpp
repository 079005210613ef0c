#include "runtime/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

namespace nvfuser {
namespace {

constexpr size_t kHugePage = 2 << 20;
constexpr size_t kGrain = 64 << 10; // of sizes

/// Whole pages, which begin at a huge one.
struct Block {
  void* memory = nullptr;
  size_t bytes = 0;
};

size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Without memory where the system has none.
Block map_block(size_t bytes) {
  // More than is asked for, to begin at a huge page; what is before and behind is given back.
  const size_t mapped = bytes + kHugePage;
  void* const memory =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return {};
  }
  const size_t before = round_up(reinterpret_cast<uintptr_t>(memory), kHugePage) -
                        reinterpret_cast<uintptr_t>(memory);
  char* const begin = static_cast<char*>(memory) + before;
  if (before > 0) {
    munmap(memory, before);
  }
  munmap(begin + bytes, mapped - before - bytes);
#ifdef MADV_HUGEPAGE
  madvise(begin, bytes, MADV_HUGEPAGE);
#endif
  return {begin, bytes};
}

/// Blocks that no tensor has, the latest first.
class KeptBlocks {
 public:
  /// The smallest that is large enough, if it is not far too large; else without memory.
  Block take(size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      const bool fits = block->bytes >= bytes && block->bytes - bytes <= bytes / kMostWaste;
      if (fits && (best == blocks_.end() || block->bytes < best->bytes)) {
        best = block;
      }
    }
    if (best == blocks_.end()) {
      return {};
    }
    const Block found = *best;
    bytes_ -= found.bytes;
    blocks_.erase(best);
    return found;
  }

  void give(const Block& block) {
#ifdef MADV_FREE
    madvise(block.memory, block.bytes, MADV_FREE);
#endif
    const std::lock_guard lock(mutex_);
    blocks_.push_front(block);
    bytes_ += block.bytes;
    while (bytes_ > static_cast<size_t>(kMostKeptBytes)) {
      bytes_ -= blocks_.back().bytes;
      munmap(blocks_.back().memory, blocks_.back().bytes);
      blocks_.pop_back();
    }
  }

 private:
  /// At most a part of this of a tensor's memory is not used.
  static constexpr size_t kMostWaste = 8;

  std::mutex mutex_;
  std::list<Block> blocks_;
  size_t bytes_ = 0;
};

KeptBlocks& kept_blocks() {
  static auto& blocks = *new KeptBlocks(); // outlives tensors of static lifetime
  return blocks;
}

struct PooledTensor {
  DLManagedTensorVersioned managed{};
  Block block;
  std::vector<int64_t> layout; // sizes, then strides
};

void delete_pooled(DLManagedTensorVersioned* managed) {
  const std::unique_ptr<PooledTensor> tensor(static_cast<PooledTensor*>(managed->manager_ctx));
  kept_blocks().give(tensor->block);
}

} // namespace

std::optional<DlpackHandle> allocate_pooled(DataType dtype, std::span<const int64_t> sizes) {
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    elements *= size;
  }
  const int64_t bytes = storage_bytes(dtype, elements);
  if (bytes < kLeastPooledBytes) {
    return std::nullopt;
  }
  const size_t rounded = round_up(static_cast<size_t>(bytes), kGrain);
  auto tensor = std::make_unique<PooledTensor>();
  tensor->layout.resize(2 * sizes.size());
  std::ranges::copy(sizes, tensor->layout.begin());
  row_major_strides(sizes, std::span(tensor->layout).subspan(sizes.size()));
  tensor->block = kept_blocks().take(rounded);
  if (tensor->block.memory == nullptr) {
    tensor->block = map_block(rounded);
  }
  if (tensor->block.memory == nullptr) {
    return std::nullopt;
  }
  DLManagedTensorVersioned& managed = tensor->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.dl_tensor.data = tensor->block.memory;
  managed.dl_tensor.device = to_dlpack(Device::cpu());
  managed.dl_tensor.ndim = static_cast<int32_t>(sizes.size());
  managed.dl_tensor.dtype = to_dlpack(dtype);
  managed.dl_tensor.shape = tensor->layout.data();
  managed.dl_tensor.strides = tensor->layout.data() + sizes.size();
  managed.manager_ctx = tensor.get();
  managed.deleter = delete_pooled;
  return DlpackHandle(&tensor.release()->managed);
}

} // namespace nvfuser
