// CodeCache: machine code that this process has made or read already, by everything it depends on.
//
// Two fusions that print the same source share one module. Bounded: past kMaxEntries the oldest
// entry goes (kernels in use keep theirs).
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace nvfuser {

template <typename Code>
class CodeCache {
 public:
  /// The code under `key`; made by `make` if it is not there. Threads that ask for different keys
  /// make at once; two that ask for the same new key may both make it, and one result is kept.
  template <typename Make>
  std::shared_ptr<Code> get(const std::string& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      const auto found = entries_.find(key);
      if (found != entries_.end()) {
        return found->second;
      }
    }
    std::shared_ptr<Code> made = make();
    const std::lock_guard lock(mutex_);
    const auto [position, is_new] = entries_.emplace(key, std::move(made));
    std::shared_ptr<Code> result = position->second;
    if (is_new) {
      order_.push_back(key);
      if (order_.size() > kMaxEntries) {
        entries_.erase(order_.front());
        order_.pop_front();
      }
    }
    return result;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    order_.clear();
  }

 private:
  static constexpr size_t kMaxEntries = 1024;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Code>> entries_;
  std::deque<std::string> order_; // oldest first
};

} // namespace nvfuser
