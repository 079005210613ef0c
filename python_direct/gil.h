// The interpreter's lock, given up and taken for a scope.
//
// When the interpreter ends, a thread that asks for the lock is ended by Python (before 3.14)
// through unwinding its stack. The frames below are noexcept, which would abort the process. The
// thread waits here for the end of the process instead, as Python itself has it from 3.14 on.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <utility>

namespace nvfuser::python {

/// Calls `take_lock`; returns with the lock, or never.
template <typename TakeLock>
void take_gil(const TakeLock& take_lock) noexcept {
  try {
    take_lock();
  } catch (abi::__forced_unwind&) {
    for (;;) { // the exception may not be left
      pause();
    }
  }
}

/// How many GilRelease of this thread are open with no GilAcquire inside; the stable ABI has no
/// function that tells whether a thread holds the lock.
inline thread_local int released_gils = 0;

/// Whether this thread holds the lock: Python knows the thread, and it has not released the lock.
[[nodiscard]] inline bool holds_gil() {
  return released_gils == 0 && PyGILState_GetThisThreadState() != nullptr;
}

/// Without the lock for a scope: around what takes long and touches no Python object.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {
    ++released_gils;
  }
  ~GilRelease() {
    take_gil([&] { PyEval_RestoreThread(state_); });
    --released_gils;
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// With the lock for a scope, in any thread.
class GilAcquire {
 public:
  GilAcquire() {
    take_gil([&] { state_ = PyGILState_Ensure(); });
    released_before_ = std::exchange(released_gils, 0);
  }
  ~GilAcquire() {
    released_gils = released_before_;
    PyGILState_Release(state_);
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
  int released_before_ = 0;
};

} // namespace nvfuser::python
