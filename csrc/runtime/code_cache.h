// CodeCache: machine code that this process has made or read already, by everything it depends on.
//
// Two fusions that print the same source share one module. Bounded: past kMaxEntries the oldest
// entry goes (kernels in use keep theirs).
//
// Code on disk is looked for twice: by the name that facts have (KernelStore), and by its source. A
// name that the first found nothing usable under is remembered, and not looked at by the second.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace nvfuser {

template <typename Code>
class CodeCache {
 public:
  /// The code under `key`; made by `make` if it is not there, nullptr if that makes none. Threads
  /// that ask for different keys make at once; those that ask for one that is being made wait.
  template <typename Make>
  std::shared_ptr<Code> get(const std::string& key, const Make& make) {
    {
      std::unique_lock lock(mutex_);
      const auto is_free = [&] { return !being_made_.contains(key); };
      made_one_.wait(lock, is_free);
      const auto found = entries_.find(key);
      if (found != entries_.end()) {
        return found->second;
      }
      being_made_.insert(key);
    }
    const Making making(*this, key);
    std::shared_ptr<Code> made = make();
    if (made == nullptr) {
      return nullptr;
    }
    std::shared_ptr<Code> oldest; // unloaded after the lock is released: that may take a while
    const std::lock_guard lock(mutex_);
    const auto [position, is_new] = entries_.try_emplace(key, std::move(made));
    std::shared_ptr<Code> result = position->second;
    unusable_.erase(key);
    if (is_new) {
      order_.push_back(key);
      if (order_.size() > kMaxEntries) {
        oldest = std::move(entries_.extract(order_.front()).mapped());
        order_.pop_front();
      }
    }
    return result;
  }

  /// On disk there is nothing under `key`, or nothing that can be loaded.
  void note_unusable(const std::string& key) {
    const std::lock_guard lock(mutex_);
    if (unusable_.size() >= kMaxEntries) {
      unusable_.clear();
    }
    unusable_.insert(key);
  }
  [[nodiscard]] bool is_unusable(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    return unusable_.contains(key);
  }

  void clear() {
    Entries all; // as `oldest` above
    const std::lock_guard lock(mutex_);
    all.swap(entries_);
    order_.clear();
    unusable_.clear();
  }

 private:
  static constexpr size_t kMaxEntries = 1024;

  /// While it lives, a thread makes what belongs to a key.
  class Making {
   public:
    Making(CodeCache& cache, const std::string& key) : cache_(cache), key_(key) {}
    ~Making() {
      {
        const std::lock_guard lock(cache_.mutex_);
        cache_.being_made_.erase(key_);
      }
      cache_.made_one_.notify_all();
    }
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    CodeCache& cache_;
    const std::string& key_;
  };

  using Entries = std::unordered_map<std::string, std::shared_ptr<Code>>;
  mutable std::mutex mutex_;
  Entries entries_;
  std::deque<std::string> order_; // oldest first
  std::unordered_set<std::string> unusable_;
  std::unordered_set<std::string> being_made_;
  std::condition_variable made_one_;
};

} // namespace nvfuser
