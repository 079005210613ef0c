// The functions that the host offers a kernel.
//
// provides: nvf_cpu_runtime
#pragma once

extern "C" struct nvf_cpu_runtime {
  /// Run fn(frame, first, last, scratch) for ranges of blocks that cover [0, blocks), several at
  /// once if `parallel`, in order otherwise; return after the last. `scratch`: that many bytes,
  /// aligned to 64, private to the range while it runs, with undefined contents.
  void (*run_blocks)(
      const nvf_cpu_runtime* runtime,
      long long blocks,
      int parallel,
      void (*fn)(void* frame, long long first, long long last, void* scratch),
      void* frame,
      long long scratch_bytes);
  /// Memory aligned to 64 that lives until the kernel returns.
  void* (*allocate)(const nvf_cpu_runtime* runtime, long long bytes);
  /// Called by a kernel that checks itself: thread `second` does `what` to an element of `buffer`
  /// that `first` (-1: several) touched, and breaks a rule (RaceRule).
  void (*report_race)(
      const nvf_cpu_runtime* runtime,
      int rule,
      const char* buffer,
      long long element,
      int first,
      int second,
      const char* what);
};
