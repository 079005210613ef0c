// KernelCache: compiled kernels on disk, so that a second process starts warm.
//
// One file per kernel, named after a hash of its key; the key is everything the code depends on
// (source, options, compiler and its version, architecture, processor). A file holds
//
//   Header | key | payload
//
// and is believed only if the whole key is equal and the checksum holds: a corrupt or foreign entry
// is a miss, never a failure. Files appear by rename, so that a reader sees a whole one or none.
// When the folder outgrows its bound, the entries unused for longest go.
//
// Kinds of files share the folder and its bound: machine code (.kernel), what a process needs to
// launch it (.facts, runtime/kernel_store.h), and schedules that tuning found (.tuned,
// host/tuned_schedules.h). Each kind is a KernelCache.
//
// Its entries are run as code. So only regular files of this user's own are read, from folders of
// this user's own, that no one else may write to. Anything else is a miss, and the first one a
// warning.
//
// Entries can be carried to another process in a file of its own making (FusionCache.serialize):
// what this process read or wrote is told by `used_entries`, and what `carry` was given is found
// before the folder is looked at, also where the folder is off.
//
// NVFUSER_KERNEL_CACHE=0 (or NVFUSER_DISABLE=nvrtc_caching) turns it off. It lies in
// NVFUSER_CACHE_DIR, else in nvfuser/ of XDG_CACHE_HOME or ~/.cache; NVFUSER_CACHE_MB bounds it
// (default 512).
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace nvfuser {

/// Why an entry was not used.
#define NVF_FOR_EACH_CACHE_MISS(X)                                      \
  X(Absent, "absent")         /* never stored, or evicted */            \
  X(Corrupt, "corrupt")       /* truncated, or the checksum is wrong */ \
  X(Foreign, "foreign")       /* another key, or another file format */ \
  X(Unreadable, "unreadable") /* the file system refused */             \
  X(Untrusted, "untrusted")   /* someone else may have made it */       \
  X(Disabled, "disabled")

#define NVF_CACHE_MISS_MEMBER(Name, text) Name,
enum class CacheMiss : uint8_t { NVF_FOR_EACH_CACHE_MISS(NVF_CACHE_MISS_MEMBER) };
#undef NVF_CACHE_MISS_MEMBER
#define NVF_CACHE_MISS_TEXT(Name, text) text,
inline constexpr const char* kCacheMissTexts[] = {NVF_FOR_EACH_CACHE_MISS(NVF_CACHE_MISS_TEXT)};
#undef NVF_CACHE_MISS_TEXT

struct KernelCacheStats {
  int64_t hits = 0;
  std::array<int64_t, std::size(kCacheMissTexts)> misses{}; // by CacheMiss
  int64_t stores = 0;
  int64_t failed_stores = 0;
  int64_t evictions = 0;

  /// "2 hits, 3 misses (2 absent, 1 corrupt), 3 stores, 0 evictions"
  [[nodiscard]] std::string to_string() const;
};

class KernelCache {
 public:
  static constexpr std::string_view kCode = ".kernel";
  static constexpr std::string_view kFacts = ".facts";
  static constexpr std::string_view kTuned = ".tuned";
  static constexpr std::array kKinds = {kCode, kFacts, kTuned};

  /// A cache in `folder` (made when something is stored) of at most `max_bytes`. An empty folder: a
  /// disabled cache.
  KernelCache(std::string folder, int64_t max_bytes, std::string_view kind = kCode);
  /// The ones of this process, as the environment variables have them.
  [[nodiscard]] static KernelCache& instance();
  [[nodiscard]] static KernelCache& facts();
  [[nodiscard]] static KernelCache& tuned();

  /// The payload stored under `key`, if it is there and whole.
  [[nodiscard]] std::optional<std::string> find(const std::string& key);
  /// The payload of the entry with that name, whatever its key is.
  [[nodiscard]] std::optional<std::string> find_named(const std::string& name);
  /// Failing to store is not an error.
  void store(const std::string& key, const std::string& payload);

  [[nodiscard]] bool is_enabled() const;
  /// Whether something may be found in it: it is enabled, or carries entries.
  [[nodiscard]] bool may_find() const;

  /// The entries that this process found or stored, as far as they are still there: each as the
  /// bytes of its file.
  [[nodiscard]] std::vector<std::string> used_entries() const;
  /// Find the entry that `bytes` are, from now on and in this process. False: they are none.
  bool carry(const std::string& bytes);
  /// Why nothing is read from the folder and kept in it: "others may write to it"; empty if it is.
  [[nodiscard]] std::string distrust() const;
  [[nodiscard]] const std::string& folder() const {
    return folder_;
  }
  [[nodiscard]] int64_t max_bytes() const {
    return max_bytes_;
  }
  /// Bytes of all entries of all kinds now.
  [[nodiscard]] int64_t size_bytes() const;
  /// Remove every entry, of all kinds.
  void clear();
  /// The hash of a key, in 32 digits: the name of its entry.
  [[nodiscard]] static std::string name_of(const std::string& key);
  /// The file of `key`.
  [[nodiscard]] std::string path_of(const std::string& key) const;
  [[nodiscard]] KernelCacheStats stats() const;

 private:
  [[nodiscard]] std::string path_of_name(const std::string& name) const;
  /// The payload of the entry `name`. With a key, the entry must have that one.
  [[nodiscard]] std::optional<std::string> find_entry(
      const std::string& name, const std::string* key);
  [[nodiscard]] std::optional<std::string> find_carried(
      const std::string& name, const std::string* key);
  [[nodiscard]] std::optional<std::string> read(
      const std::string& path, const std::string& name, const std::string* key);
  [[nodiscard]] bool write(
      const std::string& path, const std::string& key, const std::string& data);
  void miss(CacheMiss reason);
  /// Whether the folders of the entry `path` are this user's alone; a warning if not.
  [[nodiscard]] bool is_trusted(const std::string& path);
  /// Warn that `path` is not used; once in the life of this cache.
  void warn_untrusted(const std::string& path, const std::string& reason);
  void evict();

  const std::string folder_;
  const int64_t max_bytes_;
  const std::string_view kind_;
  mutable std::mutex mutex_;                   // of the fields below
  std::set<std::string> used_;                 // names of entries
  std::map<std::string, std::string> carried_; // bytes of files, by name
  KernelCacheStats stats_;
  bool has_warned_ = false;
  int64_t bytes_until_scan_ = 0; // stores look at the whole folder only after so many bytes
};

} // namespace nvfuser
