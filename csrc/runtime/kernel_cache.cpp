#include "runtime/kernel_cache.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/options.h"
#include "base/warnings.h"
#include "runtime/file_io.h"

namespace nvfuser {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'N', 'V', 'F', 'K', 'E', 'R', 'N', '1'};
// <folder>/12/3456789abcdef0123456789abcdef0.kernel: the digits of the key's hash. While it is
// written, a file's name goes on: .kernel.<writer>.tmp
constexpr size_t kFolderDigits = 2;
constexpr size_t kFileDigits = 30;
constexpr std::string_view kTemporary = ".tmp";
/// The bytes that are stored before the whole folder is looked at again: machine code is large, and
/// facts are small.
int64_t bytes_between_scans(int64_t max_bytes, std::string_view kind) {
  return max_bytes / (kind == KernelCache::kCode ? 16 : 64);
}

struct Header {
  char magic[8];
  uint64_t key_bytes;
  uint64_t payload_bytes;
  uint64_t checksum; // of key and payload
};
static_assert(sizeof(Header) == 32); // the file format

uint64_t fnv1a(const std::string& bytes, uint64_t hash) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return hash;
}
constexpr uint64_t kSeed = 0xcbf29ce484222325;
constexpr uint64_t kOtherSeed = 0x9ae16a3b2f90404f;

uint64_t checksum_of(const std::string& key, const std::string& payload) {
  return fnv1a(payload, fnv1a(key, kSeed));
}

std::string environment_folder() {
  if (!environment().keeps_kernels) {
    return "";
  }
  if (std::string folder = environment_text("NVFUSER_CACHE_DIR"); !folder.empty()) {
    return folder;
  }
  if (const std::string caches = environment_text("XDG_CACHE_HOME"); !caches.empty()) {
    return caches + "/nvfuser";
  }
  const std::string home = environment_text("HOME");
  return home.empty() ? "" : home + "/.cache/nvfuser";
}

int64_t environment_max_bytes() {
  constexpr int64_t kDefaultMegabytes = 512;
  constexpr int64_t kMostMegabytes = int64_t{1} << 40;
  const int64_t megabytes = environment().cache_mb.value_or(kDefaultMegabytes);
  return std::clamp<int64_t>(megabytes, 0, kMostMegabytes) << 20;
}

/// The contents of a file.
struct StoredEntry {
  std::string key;
  std::string payload;
};

/// Read the bytes of a file; why they are no entry.
std::optional<CacheMiss> read_entry(const std::string& bytes, StoredEntry& entry) {
  Header header{};
  if (bytes.size() < sizeof(Header)) {
    return CacheMiss::Corrupt;
  }
  std::memcpy(&header, bytes.data(), sizeof(Header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return CacheMiss::Foreign;
  }
  const uint64_t rest = bytes.size() - sizeof(Header);
  if (header.key_bytes > rest || header.payload_bytes != rest - header.key_bytes) {
    return CacheMiss::Corrupt;
  }
  entry.key = bytes.substr(sizeof(Header), header.key_bytes);
  entry.payload = bytes.substr(sizeof(Header) + header.key_bytes);
  if (checksum_of(entry.key, entry.payload) != header.checksum) {
    return CacheMiss::Corrupt;
  }
  return std::nullopt;
}

struct Entry {
  fs::path path;
  fs::file_time_type time;
  int64_t bytes = 0;
  bool is_temporary = false;
};

/// Does `name` start with that many digits of a hash?
bool starts_with_digits(std::string_view name, size_t count) {
  return name.size() >= count &&
         name.substr(0, count).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The files of one folder of hashes that a cache made. A file that vanishes meanwhile is none.
void list_entries_of(const fs::path& folder, std::vector<Entry>& entries) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!starts_with_digits(name, kFileDigits)) {
      continue;
    }
    const std::string_view suffix = std::string_view(name).substr(kFileDigits);
    Entry entry;
    bool is_entry = false;
    for (const std::string_view kind : KernelCache::kKinds) {
      is_entry |= suffix == kind;
      entry.is_temporary |= suffix.starts_with(kind) && suffix.ends_with(kTemporary);
    }
    is_entry |= entry.is_temporary;
    std::error_code vanished;
    if (is_entry && it->symlink_status(vanished).type() == fs::file_type::regular) {
      entry.path = it->path();
      entry.time = it->last_write_time(vanished);
      entry.bytes = vanished ? 0 : static_cast<int64_t>(it->file_size(vanished));
      if (!vanished) {
        entries.push_back(std::move(entry));
      }
    }
  }
}

/// Every entry of a cache folder, and temporary files that a writer left behind. Nothing else: the
/// folder may be one where other people's files lie.
std::vector<Entry> list_entries(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.size() == kFolderDigits && starts_with_digits(name, kFolderDigits) &&
        it->symlink_status(error).type() == fs::file_type::directory) {
      list_entries_of(it->path(), entries);
    }
  }
  return entries;
}

/// Tells this writer from all others. Containers that share a folder have equal process numbers.
std::string writer_name() {
  static const unsigned salt = std::random_device()();
  static std::atomic<int64_t> counter = 0;
  return std::to_string(salt) + "." + std::to_string(getpid()) + "." + std::to_string(counter++);
}

} // namespace

std::string KernelCacheStats::to_string() const {
  std::ostringstream out;
  int64_t total = 0;
  for (const int64_t count : misses) {
    total += count;
  }
  out << hits << " hits, " << total << " misses";
  const char* separator = " (";
  for (size_t i = 0; i < misses.size(); ++i) {
    if (misses[i] > 0) {
      out << separator << misses[i] << " " << kCacheMissTexts[i];
      separator = ", ";
    }
  }
  out << (total > 0 ? ")" : "") << ", " << stores << " stores, " << evictions << " evictions";
  return out.str();
}

KernelCache::KernelCache(std::string folder, int64_t max_bytes, std::string_view kind)
    : folder_(std::move(folder)), max_bytes_(max_bytes), kind_(kind) {}

KernelCache& KernelCache::instance() {
  // Never destroyed: threads may still compile when the process ends.
  static auto& cache = *new KernelCache(environment_folder(), environment_max_bytes());
  return cache;
}

KernelCache& KernelCache::facts() {
  static auto& cache = *new KernelCache(environment_folder(), environment_max_bytes(), kFacts);
  return cache;
}

KernelCache& KernelCache::tuned() {
  static auto& cache = *new KernelCache(environment_folder(), environment_max_bytes(), kTuned);
  return cache;
}

bool KernelCache::is_enabled() const {
  return !folder_.empty() && max_bytes_ > 0 && !has_option(DisableOption::NvrtcCaching);
}

std::string KernelCache::name_of(const std::string& key) {
  char name[40];
  std::snprintf(
      name, sizeof(name), "%016llx%016llx", static_cast<unsigned long long>(fnv1a(key, kSeed)),
      static_cast<unsigned long long>(fnv1a(key, kOtherSeed)));
  return name;
}

std::string KernelCache::path_of_name(const std::string& name) const {
  std::string path = folder_ + "/" + name.substr(0, kFolderDigits) + "/";
  path += name.substr(kFolderDigits);
  path += kind_;
  return path;
}

std::string KernelCache::path_of(const std::string& key) const {
  return path_of_name(name_of(key));
}

void KernelCache::miss(CacheMiss reason) {
  const std::lock_guard lock(mutex_);
  ++stats_.misses[static_cast<size_t>(reason)];
}

std::string KernelCache::distrust() const {
  return folder_.empty() ? "" : distrust_of_folder(folder_, /*may_be_link=*/true);
}

bool KernelCache::is_trusted(const std::string& path) {
  std::string reason = distrust();
  if (!reason.empty()) {
    warn_untrusted(folder_, reason);
    return false;
  }
  const std::string folder = fs::path(path).parent_path();
  reason = distrust_of_folder(folder, /*may_be_link=*/false);
  if (!reason.empty()) {
    warn_untrusted(folder, reason);
  }
  return reason.empty();
}

void KernelCache::warn_untrusted(const std::string& path, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(has_warned_, true)) {
      return;
    }
  }
  warn(
      "The kernel cache does not use " + path + ": " + reason +
      ". It runs what it finds as code, so files and folders must be yours, and writable for you "
      "alone: remove it, take the permission away (chmod go-w), or set NVFUSER_CACHE_DIR.");
}

std::optional<std::string> KernelCache::find(const std::string& key) {
  return find_entry(name_of(key), &key);
}

std::optional<std::string> KernelCache::find_named(const std::string& name) {
  if (name.size() != kFolderDigits + kFileDigits || !starts_with_digits(name, name.size())) {
    miss(CacheMiss::Absent);
    return std::nullopt;
  }
  return find_entry(name, nullptr);
}

std::optional<std::string> KernelCache::find_entry(
    const std::string& name, const std::string* key) {
  if (std::optional<std::string> payload = find_carried(name, key)) {
    return payload;
  }
  if (!is_enabled()) {
    miss(CacheMiss::Disabled);
    return std::nullopt;
  }
  const std::string path = path_of_name(name);
  std::optional<std::string> payload = read(path, name, key);
  if (payload) {
    std::error_code ignored; // the time of last use decides what is evicted
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
    const std::lock_guard lock(mutex_);
    ++stats_.hits;
    used_.insert(name);
  }
  return payload;
}

std::optional<std::string> KernelCache::find_carried(
    const std::string& name, const std::string* key) {
  const std::lock_guard lock(mutex_);
  const auto found = carried_.find(name);
  StoredEntry entry;
  if (found == carried_.end() || read_entry(found->second, entry).has_value() ||
      (key != nullptr && entry.key != *key)) {
    return std::nullopt;
  }
  ++stats_.hits;
  used_.insert(name);
  return std::move(entry.payload);
}

bool KernelCache::may_find() const {
  if (is_enabled()) {
    return true;
  }
  const std::lock_guard lock(mutex_);
  return !carried_.empty();
}

bool KernelCache::carry(const std::string& bytes) {
  StoredEntry entry;
  if (read_entry(bytes, entry).has_value()) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  carried_.insert_or_assign(name_of(entry.key), bytes);
  return true;
}

std::vector<std::string> KernelCache::used_entries() const {
  std::set<std::string> names;
  std::vector<std::string> entries;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& name : used_) {
      if (const auto found = carried_.find(name); found != carried_.end()) {
        entries.push_back(found->second);
      } else {
        names.insert(name);
      }
    }
  }
  for (const std::string& name : names) {
    std::string bytes;
    std::string reason;
    StoredEntry entry;
    const std::string path = path_of_name(name);
    if (read_own_file(path, bytes, reason) == OwnFile::Read && !read_entry(bytes, entry)) {
      entries.push_back(std::move(bytes));
    }
  }
  return entries;
}

std::optional<std::string> KernelCache::read(
    const std::string& path, const std::string& name, const std::string* key) {
  if (!is_trusted(path)) {
    miss(CacheMiss::Untrusted);
    return std::nullopt;
  }
  std::string bytes;
  std::string reason;
  switch (read_own_file(path, bytes, reason)) {
    case OwnFile::Read: break;
    case OwnFile::Absent: miss(CacheMiss::Absent); return std::nullopt;
    case OwnFile::Unreadable: miss(CacheMiss::Unreadable); return std::nullopt;
    case OwnFile::Untrusted:
      miss(CacheMiss::Untrusted);
      warn_untrusted(path, reason);
      return std::nullopt;
  }
  StoredEntry entry;
  if (const std::optional<CacheMiss> fault = read_entry(bytes, entry)) {
    miss(*fault);
    return std::nullopt;
  }
  if (key != nullptr ? entry.key != *key : name_of(entry.key) != name) {
    miss(CacheMiss::Foreign);
    return std::nullopt;
  }
  return std::move(entry.payload);
}

bool KernelCache::write(
    const std::string& path, const std::string& key, const std::string& payload) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.key_bytes = key.size();
  header.payload_bytes = payload.size();
  header.checksum = checksum_of(key, payload);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(Header));
  bytes += key;
  bytes += payload;

  std::error_code error;
  const std::string temporary = path + "." + writer_name() + std::string(kTemporary);
  const bool has_folder =
      make_own_folder(folder_) && is_trusted(path) && make_own_folder(fs::path(path).parent_path());
  if (has_folder && write_own_file(temporary, bytes)) {
    fs::rename(temporary, path, error);
    if (!error) {
      return true;
    }
  }
  fs::remove(temporary, error);
  return false;
}

void KernelCache::store(const std::string& key, const std::string& payload) {
  const auto bytes = static_cast<int64_t>(sizeof(Header) + key.size() + payload.size());
  if (!is_enabled() || bytes > max_bytes_) {
    return;
  }
  const bool stored = write(path_of(key), key, payload);
  bool must_scan = false;
  {
    const std::lock_guard lock(mutex_);
    ++(stored ? stats_.stores : stats_.failed_stores);
    if (stored) {
      used_.insert(name_of(key));
    }
    bytes_until_scan_ -= bytes;
    must_scan = bytes_until_scan_ <= 0;
    if (must_scan) {
      bytes_until_scan_ = bytes_between_scans(max_bytes_, kind_);
    }
  }
  if (must_scan) {
    evict();
  }
}

void KernelCache::evict() {
  constexpr auto kAbandoned = std::chrono::hours(1);
  std::vector<Entry> entries = list_entries(folder_);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.time, a.path) < std::tie(b.time, b.path);
  });
  int64_t total = 0;
  for (const Entry& entry : entries) {
    total += entry.bytes;
  }
  // Room for what both kinds store before they look again.
  const int64_t bound =
      max_bytes_ - bytes_between_scans(max_bytes_, kCode) - bytes_between_scans(max_bytes_, kFacts);
  const auto now = fs::file_time_type::clock::now();
  int64_t evicted = 0;
  for (const Entry& entry : entries) {
    if (entry.is_temporary ? now - entry.time > kAbandoned : total > bound) {
      std::error_code error;
      if (fs::remove(entry.path, error)) {
        total -= entry.bytes;
        evicted += entry.is_temporary ? 0 : 1;
      }
    }
  }
  const std::lock_guard lock(mutex_);
  stats_.evictions += evicted;
}

int64_t KernelCache::size_bytes() const {
  int64_t total = 0;
  if (!folder_.empty()) {
    for (const Entry& entry : list_entries(folder_)) {
      total += entry.bytes;
    }
  }
  return total;
}

void KernelCache::clear() {
  if (folder_.empty()) {
    return;
  }
  for (const Entry& entry : list_entries(folder_)) {
    std::error_code ignored;
    fs::remove(entry.path, ignored);
  }
}

KernelCacheStats KernelCache::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

} // namespace nvfuser
