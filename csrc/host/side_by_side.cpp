#include "host/side_by_side.h"

#include <cstdint>

#include "base/options.h"
#include "base/thread_pool.h"

namespace nvfuser::host {

void make_side_by_side(size_t n, const std::function<void(size_t)>& make) {
  const int max_threads = has_option(DisableOption::ParallelCompile) ? 1 : 0;
  const auto make_one = [&](int64_t first, int64_t /*last*/) { make(static_cast<size_t>(first)); };
  parallel_for(0, static_cast<int64_t>(n), 1, make_one, max_threads);
}

} // namespace nvfuser::host
