// The time that a kernel on a GPU is expected to take, from figures that are known before it is
// generated.
//
//   time = fixed + max(memory, issue, special functions) / efficiency + barriers
//
// It ranks ways to compute the same thing and says what bounds them. It is no prediction: rates are
// those of one GPU, scaled by the number of multiprocessors.
#pragma once

#include <cstdint>
#include <string>

#include "base/target.h"
#include "schedule/run_facts.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule {

struct KernelFigures {
  double traffic_bytes = 0; // read and written, each once unless the kernel reads again
  double elements = 0;      // of the problem
  Cost of_element = {};
  int64_t blocks = 1;
  int64_t threads = 1;      // of a block
  int64_t registers = 32;   // of a thread
  int64_t shared_bytes = 0; // of a block
  /// Asked for by a thread before it uses the first; or by a block, ahead, into shared memory.
  int64_t load_bytes_of_thread = 0;
  int64_t load_bytes_of_block = 0;
  double block_barriers = 0; // of a block, one after the other
  double grid_barriers = 0;  // also tickets, behind which one block works for all
};

struct CostEstimate {
  int64_t blocks_of_sm = 0;   // resident; 0: none fits
  double bytes_in_flight = 0; // of a multiprocessor
  double waves = 0;           // rounds of resident blocks
  double efficiency = 1;      // of the last one, and of multiprocessors without a block
  double memory_us = 0;
  double issue_us = 0;
  double special_us = 0; // results of the special function unit
  double barriers_us = 0;
  double total_us = 0;

  /// "memory", "latency" (memory with too few loads in flight), "issue" or "special functions".
  [[nodiscard]] const char* bound() const;
  /// One line.
  [[nodiscard]] std::string to_string() const;
};

/// Bytes in flight that a multiprocessor needs for the full bandwidth.
inline constexpr double kFullFlight = 40.0 * 1024;

[[nodiscard]] CostEstimate estimate_cost(const KernelFigures& figures, const Target& target);

/// Bytes of the inputs that are read and of the outputs, each once.
[[nodiscard]] double traffic_bytes(const FusionSummary& summary, const RunFacts& facts);

} // namespace nvfuser::schedule
