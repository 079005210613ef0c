// KeptVector: a list of one run, whose memory the thread keeps from run to run.
#pragma once

#include <vector>

namespace nvfuser {

/// Empty at first. A second one of the same items that a thread has meanwhile, as in a nested run,
/// has memory of its own.
template <typename Item>
class KeptVector {
 public:
  KeptVector() {
    items_.swap(kept());
  }
  ~KeptVector() {
    items_.clear();
    items_.swap(kept());
  }
  KeptVector(const KeptVector&) = delete;
  KeptVector& operator=(const KeptVector&) = delete;

  [[nodiscard]] std::vector<Item>& operator*() {
    return items_;
  }
  [[nodiscard]] const std::vector<Item>& operator*() const {
    return items_;
  }
  [[nodiscard]] std::vector<Item>* operator->() {
    return &items_;
  }

 private:
  static std::vector<Item>& kept() {
    static thread_local std::vector<Item> memory;
    return memory;
  }

  std::vector<Item> items_;
};

} // namespace nvfuser
