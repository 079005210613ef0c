// Blocks of the grid as tasks, and the memory of a block.
//
// provides: Dim3 keep_stack_aligned run_apart run_blocks parameter reserve
// requires: types abi
#pragma once

#if defined(__clang__)
#define NVF_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define NVF_INDEPENDENT _Pragma("GCC ivdep")
#endif

/// Stands before a short loop that is to become a vector: g++ would write it out first, and then
/// find no vector in it.
#if defined(__clang__)
#define NVF_ROLLED
#else
#define NVF_ROLLED _Pragma("GCC unroll 1")
#endif

/// For the body of a block: compilers then know that its captures do not change while it runs.
#define NVF_INLINED __attribute__((always_inline))

struct Dim3 {
  nvfuser_index_t x;
  nvfuser_index_t y;
  nvfuser_index_t z;
};

template <typename T>
NVF_FUNCTION T parameter(const void* bytes) {
  T out;
  __builtin_memcpy(&out, bytes, sizeof(T));
  return out;
}

/// The offset of `bytes` more bytes of a block's scratch memory.
NVF_FUNCTION long long reserve(long long& scratch_bytes, long long bytes) {
  const long long offset = scratch_bytes;
  scratch_bytes += (bytes + 63) / 64 * 64;
  return offset;
}

/// The next position in a grid, x fastest.
NVF_FUNCTION void step(Dim3& position, Dim3 grid) {
  if (++position.x == grid.x) {
    position.x = 0;
    if (++position.y == grid.y) {
      position.y = 0;
      ++position.z;
    }
  }
}

/// Stands in functions with arrays. g++ (seen in 12) lets a function that calls nothing do without
/// an aligned stack if registers hold the addresses of its arrays, and still stores vectors into
/// them as if they were aligned.
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noipa)) static void keep_stack_aligned() {}
#else
NVF_FUNCTION void keep_stack_aligned() {}
#endif

/// Run body() as a function of its own: compilers take more than linear time for long ones.
template <typename Body>
__attribute__((noinline)) void run_apart(const Body& body) {
  keep_stack_aligned();
  const Body own = body; // nothing else points to it: its members stay in registers
  own();
}

/// Run body(blockIdx, scratch) for every block.
template <typename Body>
NVF_FUNCTION void run_blocks(
    const nvf_cpu_runtime* runtime,
    Dim3 grid,
    bool parallel,
    long long scratch_bytes,
    const Body& body) {
  struct Phase {
    Body body;
    Dim3 grid;
  };
  Phase phase = {body, grid};
  const auto run = [](void* frame, long long first, long long last, void* scratch) {
    keep_stack_aligned();
    // A copy that nothing else points to: stores to tensors cannot change it, so its members stay
    // in registers.
    const Phase own = *static_cast<const Phase*>(frame);
    Dim3 position = {
        static_cast<nvfuser_index_t>(first % own.grid.x),
        static_cast<nvfuser_index_t>(first / own.grid.x % own.grid.y),
        static_cast<nvfuser_index_t>(first / own.grid.x / own.grid.y)};
    for (long long block = first; block < last; ++block) {
      own.body(position, static_cast<char*>(scratch));
      step(position, own.grid);
    }
  };
  runtime->run_blocks(
      runtime, static_cast<long long>(grid.x) * grid.y * grid.z, parallel, run, &phase,
      scratch_bytes);
}
