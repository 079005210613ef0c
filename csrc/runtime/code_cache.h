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
  /// The code under `key`; made by `make` if it is not there, nullptr if that makes none. Threads
  /// that ask for different keys make at once; two that ask for the same new key may both make it,
  /// and one result is kept.
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
    if (made == nullptr) {
      return nullptr;
    }
    std::shared_ptr<Code> oldest; // unloaded after the lock is released: that may take a while
    const std::lock_guard lock(mutex_);
    const auto [position, is_new] = entries_.try_emplace(key, std::move(made));
    std::shared_ptr<Code> result = position->second;
    if (is_new) {
      order_.push_back(key);
      if (order_.size() > kMaxEntries) {
        oldest = std::move(entries_.extract(order_.front()).mapped());
        order_.pop_front();
      }
    }
    return result;
  }

  void clear() {
    Entries all; // as `oldest` above
    const std::lock_guard lock(mutex_);
    all.swap(entries_);
    order_.clear();
  }

 private:
  static constexpr size_t kMaxEntries = 1024;
  using Entries = std::unordered_map<std::string, std::shared_ptr<Code>>;
  std::mutex mutex_;
  Entries entries_;
  std::deque<std::string> order_; // oldest first
};

} // namespace nvfuser
