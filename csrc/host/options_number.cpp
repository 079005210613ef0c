#include "host/options_number.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/options.h"

namespace nvfuser::host {
namespace {

using CompileOptions = std::pair<OptionSet<EnableOption>, OptionSet<DisableOption>>;

/// The number of options that were met before is their position.
int64_t look_up(const Options& options) {
  static auto& mutex = *new std::mutex(); // outlives threads that run fusions
  static auto& known = *new std::vector<CompileOptions>();
  const CompileOptions wanted{
      std::get<OptionSet<EnableOption>>(options), std::get<OptionSet<DisableOption>>(options)};
  const std::lock_guard lock(mutex);
  const auto found = std::ranges::find(known, wanted);
  const int64_t number = found - known.begin();
  if (found == known.end()) {
    known.push_back(wanted);
  }
  return number;
}

} // namespace

int64_t options_number() {
  struct Last {
    std::shared_ptr<const Options> options; // kept: its address stays its own
    int64_t number = 0;
  };
  static thread_local Last last;
  std::shared_ptr<const Options> options = current_options();
  if (options != last.options) {
    last.number = look_up(*options);
    last.options = std::move(options);
  }
  return last.number;
}

} // namespace nvfuser::host
