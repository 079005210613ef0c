// The process's worker threads: they run CPU kernels and compile segments side by side.
//
// A task never waits for the pool: parallel_for inside a task runs serially, and a caller works on
// its own loop while it waits. So loops started from several threads at once share the workers
// without a deadlock and without more running threads than callers and workers.
#pragma once

#include <cstdint>
#include <functional>

namespace nvfuser {

/// Call `fn(first, last)` for consecutive pieces of [begin, end) that cover it, each of `grain`
/// elements (the last one may be shorter), on at most `max_threads` threads (0: the whole pool).
/// Returns when all have run. If pieces throw, no further ones are started, and the exception of
/// the lowest throwing piece is rethrown here, whatever the number of threads.
///
/// Tasks see the options of the caller (base/options.h).
void parallel_for(
    int64_t begin,
    int64_t end,
    int64_t grain,
    const std::function<void(int64_t first, int64_t last)>& fn,
    int max_threads = 0);

/// Threads that run one parallel_for, its caller included; at least 1. Loops that run already keep
/// the threads they have.
void set_num_threads(int num_threads);

/// The number that set_num_threads set; until then NVFUSER_NUM_THREADS (clamped to the number of
/// cores), else the number of cores.
[[nodiscard]] int get_num_threads();

/// Whether this thread is running a piece of a parallel_for.
[[nodiscard]] bool is_in_parallel_region();

} // namespace nvfuser
