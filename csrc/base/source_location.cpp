#include "base/source_location.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/source_location_scope.h"

namespace nvfuser {
namespace {

std::atomic<SourceLocationProvider> provider_{nullptr};
/// That of the innermost SourceLocationScope of this thread.
thread_local std::optional<SourceLocation> fixed_location_;

} // namespace

std::string SourceLocation::str() const {
  if (!is_known()) {
    return "";
  }
  const std::string path(file);
  const size_t slash = path.find_last_of('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  // Code from a string may have any name. Kernels carry it in comments, which end with the line.
  const auto breaks_line = [](unsigned char c) { return c < ' '; };
  std::replace_if(name.begin(), name.end(), breaks_line, '?');
  return name + ":" + std::to_string(line);
}

void set_source_location_provider(SourceLocationProvider provider) {
  provider_.store(provider);
}

SourceLocation current_source_location() {
  if (fixed_location_) {
    return *fixed_location_;
  }
  const SourceLocationProvider provider = provider_.load(std::memory_order_relaxed);
  return provider == nullptr ? SourceLocation{} : provider();
}

SourceLocationScope::SourceLocationScope(const SourceLocation& location)
    : previous_(std::exchange(fixed_location_, location)) {}

SourceLocationScope::~SourceLocationScope() {
  fixed_location_ = previous_;
}

const char* intern_string(const std::string& text) {
  // Never destroyed: threads that still run when the process ends read their locations.
  static auto& mutex = *new std::mutex;
  static auto& strings = *new std::unordered_set<std::string>; // its nodes do not move
  const std::lock_guard<std::mutex> lock(mutex);
  return strings.insert(text).first->c_str();
}

} // namespace nvfuser
