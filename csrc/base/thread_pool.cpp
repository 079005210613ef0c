#include "base/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/captured_output.h"
#include "base/environment.h"
#include "base/errors.h"
#include "base/options.h"

namespace nvfuser {
namespace {

thread_local bool in_parallel_region_ = false;

/// Marks this thread as one that must not wait for the pool.
class RegionMark {
 public:
  RegionMark() : previous_(std::exchange(in_parallel_region_, true)) {}
  ~RegionMark() {
    in_parallel_region_ = previous_;
  }
  RegionMark(const RegionMark&) = delete;
  RegionMark& operator=(const RegionMark&) = delete;

 private:
  bool previous_;
};

/// One running parallel_for. It lives on the stack of its caller, which leaves only when no worker
/// knows the job any more.
class Job {
 public:
  using Fn = std::function<void(int64_t, int64_t)>;

  Job(int64_t begin, int64_t end, int64_t grain, const Fn& fn)
      : end_(end),
        grain_(grain),
        fn_(fn),
        options_(current_options()),
        captured_(captured_text()),
        next_(begin) {}

  /// Run pieces until none is left to start.
  void work() {
    const RegionMark mark;
    const OptionsGuard guard(options_);
    const OutputCapture capture(captured_);
    while (!failed_.load(std::memory_order_relaxed)) {
      const int64_t first = next_.fetch_add(grain_, std::memory_order_relaxed);
      if (first >= end_) {
        return;
      }
      try {
        fn_(first, first + std::min(grain_, end_ - first));
      } catch (...) {
        record_failure(first, std::current_exception());
      }
    }
  }

  [[nodiscard]] bool has_pieces_left() const {
    return !failed_.load(std::memory_order_relaxed) && next_.load(std::memory_order_relaxed) < end_;
  }

  void rethrow_failure() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

  int num_helpers = 0; // workers on this job now; guarded by the pool's mutex
  int max_helpers = 0; // workers it may have; constant once the pool knows it
  std::condition_variable all_left;

 private:
  /// Pieces start in ascending order, so every piece below a failed one has started: keeping the
  /// lowest failure makes the result independent of the number of threads.
  void record_failure(int64_t first, std::exception_ptr failure) {
    const std::lock_guard<std::mutex> lock(failure_mutex_);
    if (!failure_ || first < failed_piece_) {
      failure_ = std::move(failure);
      failed_piece_ = first;
    }
    failed_.store(true, std::memory_order_relaxed);
  }

  const int64_t end_;
  const int64_t grain_;
  const Fn& fn_;
  const std::shared_ptr<const Options> options_;
  const std::shared_ptr<CapturedText> captured_;
  std::atomic<int64_t> next_;
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
  int64_t failed_piece_ = 0;
};

class ThreadPool {
 public:
  /// With as many of the workers as the system lets start: callers do without the others.
  explicit ThreadPool(int num_workers) {
    workers_.reserve(static_cast<size_t>(num_workers));
    try {
      for (int i = 0; i < num_workers; ++i) {
        workers_.emplace_back([this] { run_worker(); });
      }
    } catch (const std::system_error&) { // NOLINT(bugprone-empty-catch): no more threads
    }
  }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) {
      worker.join();
    }
  }

  /// Run `job` on the caller and on up to `job.max_helpers` workers.
  void run(Job& job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push_back(&job);
    }
    for (int i = 0; i < job.max_helpers; ++i) {
      wake_.notify_one();
    }
    job.work();
    std::unique_lock<std::mutex> lock(mutex_);
    jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
    job.all_left.wait(lock, [&] { return job.num_helpers == 0; });
  }

  [[nodiscard]] int num_workers() const {
    return static_cast<int>(workers_.size());
  }

 private:
  /// The oldest job that still takes a helper. Call with the mutex held.
  [[nodiscard]] Job* find_job() const {
    for (Job* job : jobs_) {
      if (job->num_helpers < job->max_helpers && job->has_pieces_left()) {
        return job;
      }
    }
    return nullptr;
  }

  void run_worker() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      Job* job = nullptr;
      wake_.wait(lock, [&] { return stopping_ || (job = find_job()) != nullptr; });
      if (job == nullptr) {
        return; // stopping, and no job needs help: the owner of a job also owns the pool
      }
      ++job->num_helpers;
      lock.unlock();
      job->work();
      lock.lock();
      if (--job->num_helpers == 0) {
        job->all_left.notify_one();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> jobs_; // oldest first
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

int num_cores() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// NVFUSER_NUM_THREADS, clamped to the cores of this machine; empty if it is not set.
std::optional<int> num_threads_from_environment() {
  const std::optional<int64_t> number = environment().num_threads;
  if (!number) {
    return std::nullopt;
  }
  return static_cast<int>(std::clamp<int64_t>(*number, 1, num_cores()));
}

/// The process's pool. Threads start with the first loop that can use them. A new size makes a new
/// pool; the old one goes when its last loop has ended.
class ProcessPool {
 public:
  [[nodiscard]] std::shared_ptr<ThreadPool> get() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!pool_) {
      pool_ = std::make_shared<ThreadPool>(size_here() - 1);
    }
    return pool_;
  }

  void resize(int num_threads) {
    std::shared_ptr<ThreadPool> old; // its threads end after the lock is released
    const std::lock_guard<std::mutex> lock(mutex_);
    if (num_threads_ != num_threads) {
      num_threads_ = num_threads;
      old = std::exchange(pool_, nullptr);
    }
  }

  [[nodiscard]] int size() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return size_here();
  }

  /// For a forked child: the same size and no threads.
  [[nodiscard]] ProcessPool* fresh_copy() const {
    auto* copy = new ProcessPool;
    copy->num_threads_ = num_threads_;
    return copy;
  }

 private:
  int size_here() {
    if (num_threads_ == 0) {
      num_threads_ = num_threads_from_environment().value_or(num_cores());
    }
    return num_threads_;
  }

  std::mutex mutex_;
  int num_threads_ = 0; // 0: not decided yet
  std::shared_ptr<ThreadPool> pool_;
};

/// Never destroyed: threads that sleep at the end of the process are no reason to wait, and a
/// forked child has a pool without the threads, which it cannot join.
ProcessPool*& process_pool() {
  static ProcessPool* pool = [] {
    pthread_atfork(nullptr, nullptr, [] { process_pool() = process_pool()->fresh_copy(); });
    return new ProcessPool;
  }();
  return pool;
}

} // namespace

void parallel_for(
    int64_t begin,
    int64_t end,
    int64_t grain,
    const std::function<void(int64_t, int64_t)>& fn,
    int max_threads) {
  NVF_INVARIANT(grain > 0, "a piece has at least one element: ", grain);
  if (begin >= end) {
    return;
  }
  grain = std::min(grain, end - begin); // so that positions of pieces do not overflow
  Job job(begin, end, grain, fn);
  const int64_t num_pieces = (end - begin - 1) / grain + 1;
  if (num_pieces == 1 || max_threads == 1 || in_parallel_region_ || get_num_threads() == 1) {
    job.work();
  } else {
    const std::shared_ptr<ThreadPool> pool = process_pool()->get();
    const int limit = max_threads > 0 ? max_threads - 1 : pool->num_workers();
    job.max_helpers =
        static_cast<int>(std::min<int64_t>(num_pieces - 1, std::min(limit, pool->num_workers())));
    pool->run(job);
  }
  job.rethrow_failure();
}

void set_num_threads(int num_threads) {
  if (num_threads < 1) {
    throw UserError(
        {
            .headline = {"set_num_threads: a loop needs at least one thread"},
            .node = Part::none(),
            .expected = {"num_threads >= 1"},
            .found = {"num_threads = ", num_threads},
            .fix = {"1 runs everything in the calling thread"},
        },
        ErrorKind::Value);
  }
  process_pool()->resize(num_threads);
}

int get_num_threads() {
  return process_pool()->size();
}

bool is_in_parallel_region() {
  return in_parallel_region_;
}

} // namespace nvfuser
