// EventCounter: counts what many threads do at once, without one waiting for another's cache line.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/read_mostly_map.h"

namespace nvfuser::host {

class EventCounter {
 public:
  void add() {
    parts_[detail::reader_number() % kParts].count.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] int64_t count() const {
    int64_t sum = 0;
    for (const Part& part : parts_) {
      sum += part.count.load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  static constexpr size_t kParts = 16;
  static constexpr size_t kCacheLine = 64; // bytes
  struct alignas(kCacheLine) Part {
    std::atomic<int64_t> count = 0;
  };
  std::array<Part, kParts> parts_;
};

} // namespace nvfuser::host
