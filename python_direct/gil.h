// The interpreter's lock, given up and taken for a scope.
//
// When the interpreter ends, a thread that asks for the lock is ended by Python (before 3.14)
// through unwinding its stack. The frames below are noexcept, which would abort the process. Such a
// thread waits here for the end of the process instead, as Python itself has it from 3.14 on.
#pragma once

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

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

/// Without the lock for a scope: around what takes long and touches no Python object.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    take_gil([&] { PyEval_RestoreThread(state_); });
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
  }
  ~GilAcquire() {
    PyGILState_Release(state_);
  }
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;

 private:
  PyGILState_STATE state_;
};

} // namespace nvfuser::python
