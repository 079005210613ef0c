// The scheduler `matmul`: one product of matrices on the tensor cores of compute capability 9.0,
// with what is computed from its result element by element.
//
//   T2[M, N] = linear(T0[M, K], T1[N, K])     T3 = gelu(T2 + bias)     return T3
//
// A library multiplies as fast. The kernel wins where it saves a pass over the result in memory: so
// the scheduler takes a product only where something follows it, and where the option `fuse_matmul`
// is on. With `matmul_expr_eval` disabled it takes whatever it can.
//
//   problem.h     the product, its operands and axes, or why there is no kernel for it
//   heuristics    tiles, from sizes of a run
//   apply         the schedule of examples/schedules/matmul_wgmma.py
#pragma once

#include "schedule/matmul/problem.h"
#include "schedule/params/matmul_params.h"
#include "schedule/scheduler.h"

namespace nvfuser::schedule {

[[nodiscard]] const Scheduler& matmul_scheduler();

namespace matmul {

[[nodiscard]] std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary);
[[nodiscard]] std::optional<Refusal> find_refusal_by_size(
    const FusionSummary& summary, const RunFacts& facts);
[[nodiscard]] std::unique_ptr<HeuristicParams> compute_heuristics(
    const FusionSummary& summary, const RunFacts& facts);
void apply(FusionSummary& summary, const HeuristicParams& params);

/// Tiles and stages for a product, and the times that they were chosen by.
struct TileChoice {
  int64_t rows = 128;
  int64_t columns = 256;
  int64_t rows_of_group = 64; // of a warpgroup
  int64_t stages = 4;
  double kernel_us = 0;  // expected
  double library_us = 0; // of a library's product and a kernel for the rest, expected
};
[[nodiscard]] TileChoice choose_tiles(
    const MatmulProblem& problem, const FusionSummary& summary, const RunFacts& facts);

} // namespace matmul
} // namespace nvfuser::schedule
