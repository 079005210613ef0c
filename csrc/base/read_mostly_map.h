// ReadMostlyMap: a map that many threads look into and few add to. A lookup takes no lock: it reads
// the current table, which stays readable however the map changes meanwhile.
//
// A table is an array of places, each empty or a pointer to an entry; an entry is looked for from
// the place of its hash on. Adding an entry fills an empty place. When a table is half full, its
// pointers move to one of twice the size. Readers may still look at the old table, or at the
// entries of a map that was cleared: these are retired, and deleted by a later change once no
// lookup that began before is left. Lookups are counted while they last.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace nvfuser {

namespace detail {
/// Which counter of lookups this thread uses: threads beside each other use different ones.
[[nodiscard]] inline size_t reader_number() {
  static std::atomic<size_t> next = 0;
  static thread_local const size_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}
} // namespace detail

/// `Value` is a pointer or a shared_ptr: cheap to copy, and empty for a key that is not there.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class ReadMostlyMap {
 public:
  ReadMostlyMap() : table_(new Table(kFewest)) {}
  ~ReadMostlyMap() {
    delete table_.load();
  }
  ReadMostlyMap(const ReadMostlyMap&) = delete;
  ReadMostlyMap& operator=(const ReadMostlyMap&) = delete;

  /// The value of `key`; an empty one if there is none. Takes no lock.
  [[nodiscard]] Value find(const Key& key) const {
    const size_t hash = Hash()(key);
    const Lookup lookup(*this);
    const Entry* entry = table_.load()->find(hash, key);
    return entry == nullptr ? Value() : entry->value;
  }

  /// Let `key` have `value`, unless it has one. Returns the one it has.
  Value insert(Key key, Value value) {
    const size_t hash = Hash()(key);
    const std::lock_guard lock(write_mutex_);
    Table* table = table_.load();
    if (const Entry* entry = table->find(hash, key)) {
      return entry->value;
    }
    if (2 * (entries_.size() + 1) > table->places.size()) {
      table = replace_table(2 * table->places.size());
    }
    entries_.push_back(std::make_unique<const Entry>(hash, std::move(key), std::move(value)));
    table->add(entries_.back().get());
    return entries_.back()->value;
  }

  /// Forget all entries. Lookups that are under way still find them.
  void clear() {
    const std::lock_guard lock(write_mutex_);
    retired_.push_back({nullptr, std::exchange(entries_, {})});
    replace_table(kFewest);
  }

  [[nodiscard]] size_t size() const {
    const std::lock_guard lock(write_mutex_);
    return entries_.size();
  }

  /// Keys and values in the order in which they came.
  [[nodiscard]] std::vector<std::pair<Key, Value>> items() const {
    const std::lock_guard lock(write_mutex_);
    std::vector<std::pair<Key, Value>> result;
    for (const auto& entry : entries_) {
      result.emplace_back(entry->key, entry->value);
    }
    return result;
  }

 private:
  static constexpr size_t kFewest = 8; // places; a power of two
  static constexpr size_t kCounters = 16;
  static constexpr size_t kCacheLine = 64; // bytes

  struct Entry {
    Entry(size_t hash, Key&& key, Value&& value)
        : hash(hash), key(std::move(key)), value(std::move(value)) {}
    const size_t hash;
    const Key key;
    const Value value;
  };

  struct Table {
    explicit Table(size_t size) : places(size) {}
    [[nodiscard]] const Entry* find(size_t hash, const Key& key) const {
      for (size_t i = hash;; ++i) {
        const Entry* entry = places[i & (places.size() - 1)].load(std::memory_order_acquire);
        if (entry == nullptr || (entry->hash == hash && entry->key == key)) {
          return entry;
        }
      }
    }
    void add(const Entry* entry) {
      size_t i = entry->hash;
      while (places[i & (places.size() - 1)].load(std::memory_order_relaxed) != nullptr) {
        ++i;
      }
      places[i & (places.size() - 1)].store(entry, std::memory_order_release);
    }
    std::vector<std::atomic<const Entry*>> places; // at least half of them are empty
  };

  struct alignas(kCacheLine) Counter {
    std::atomic<int64_t> lookups = 0;
  };

  /// A lookup under way. It is counted before it reads `table_`: when a writer that has replaced
  /// the table finds no lookup, later ones see the new one.
  class Lookup {
   public:
    explicit Lookup(const ReadMostlyMap& map)
        : counter_(map.counters_[detail::reader_number() % kCounters]) {
      counter_.lookups.fetch_add(1);
    }
    ~Lookup() {
      counter_.lookups.fetch_sub(1);
    }
    Lookup(const Lookup&) = delete;
    Lookup& operator=(const Lookup&) = delete;

   private:
    Counter& counter_;
  };

  struct Retired {
    std::unique_ptr<Table> table;
    std::vector<std::unique_ptr<const Entry>> entries;
  };

  /// Let a table of that many places hold the entries there are. Requires: write_mutex_.
  Table* replace_table(size_t size) {
    auto next = std::make_unique<Table>(size);
    for (const auto& entry : entries_) {
      next->add(entry.get());
    }
    Table* result = next.get();
    retired_.push_back({std::unique_ptr<Table>(table_.exchange(next.release())), {}});
    bool is_read = false;
    for (const Counter& counter : counters_) {
      is_read = is_read || counter.lookups.load() != 0;
    }
    if (!is_read) {
      retired_.clear();
    }
    return result;
  }

  std::atomic<Table*> table_;
  mutable std::array<Counter, kCounters> counters_;
  mutable std::mutex write_mutex_; // of what follows
  std::vector<std::unique_ptr<const Entry>> entries_;
  std::vector<Retired> retired_;
};

} // namespace nvfuser
