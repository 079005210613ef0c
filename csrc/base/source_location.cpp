#include "base/source_location.h"

#include <atomic>
#include <mutex>
#include <unordered_set>

namespace nvfuser {
namespace {

std::atomic<SourceLocationProvider> provider_{nullptr};

} // namespace

std::string SourceLocation::str() const {
  if (!is_known()) {
    return "";
  }
  const std::string path(file);
  const size_t slash = path.find_last_of('/');
  return (slash == std::string::npos ? path : path.substr(slash + 1)) + ":" + std::to_string(line);
}

void set_source_location_provider(SourceLocationProvider provider) {
  provider_.store(provider);
}

SourceLocation current_source_location() {
  const SourceLocationProvider provider = provider_.load(std::memory_order_relaxed);
  return provider == nullptr ? SourceLocation{} : provider();
}

const char* intern_string(const std::string& text) {
  static std::mutex mutex;
  static std::unordered_set<std::string> strings; // nodes are stable: pointers stay valid
  const std::lock_guard<std::mutex> lock(mutex);
  return strings.insert(text).first->c_str();
}

} // namespace nvfuser
