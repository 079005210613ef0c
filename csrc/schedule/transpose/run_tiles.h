// How threads walk a tile of runs, and which tile they walk best.
//
// Threads walk the elements of a tile in the order of the results, and in that of the operands. If
// the number of threads is a multiple of the innermost sizes, and divides the next one, or the
// other way round, each step adds the same to the position along one dimension: an index is divided
// once for all elements of a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace nvfuser::schedule::transpose {

/// Elements of a vector.
struct RunLanes {
  int64_t results = 1;
  int64_t operands = 1;
};

struct RunProblem {
  std::vector<int64_t> sizes; // of the dimensions
  /// Dimensions in the order of memory, outermost first.
  std::vector<size_t> results;
  std::vector<size_t> operands;
  /// The vectors of a tile that has these parts.
  std::function<RunLanes(const std::vector<int64_t>& parts)> lanes;
  int64_t element_bytes = 4; // of the widest tensor
  int64_t staged_bytes = 4;  // of one element of each tensor in shared memory
};

struct RunTile {
  std::vector<int64_t> parts; // of each dimension
  int64_t threads = 256;
};

/// The tile about as large as `start`, and as many threads, that cost the least.
[[nodiscard]] RunTile choose_run_tile(const RunProblem& problem, const std::vector<int64_t>& start);

} // namespace nvfuser::schedule::transpose
