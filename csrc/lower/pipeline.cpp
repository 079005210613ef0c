// The table of contents of lowering.

#include "lower/pipeline.h"

#include <chrono>
#include <memory>

#include "base/trace.h"
#include "eval/simplify.h"
#include "graph/id_model.h"
#include "lower/analysis/circular_loops.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/parallel_dims.h"
#include "lower/dump.h"
#include "lower/passes/build_loop_nests.h"
#include "lower/passes/check_enclosing_loops.h"
#include "lower/passes/check_in_place.h"
#include "lower/passes/check_index_accesses.h"
#include "lower/passes/check_vector_accesses.h"
#include "lower/passes/form_regions.h"
#include "lower/passes/hoist_indices.h"
#include "lower/passes/insert_syncs.h"
#include "lower/passes/merge_conditions.h"
#include "lower/passes/place_conditions.h"
#include "lower/passes/prefetch_loads.h"
#include "lower/passes/reduce_in_registers.h"
#include "lower/passes/register_arrays.h"
#include "lower/passes/replace_sizes.h"
#include "lower/passes/resolve_compute_with.h"
#include "lower/passes/reuse_memory.h"
#include "lower/passes/serialize_blocks.h"
#include "lower/passes/skip_idle_threads.h"
#include "lower/passes/sort_exprs.h"
#include "lower/passes/unroll_loops.h"
#include "lower/passes/validate_schedule.h"

namespace nvfuser {
namespace {

void model_ranges(Kernel& kernel) {
  kernel.simplifier = std::make_unique<IndexSimplifier>(kernel);
  for (Val* name : kernel.size_names) {
    kernel.simplifier->set_nonnegative(name);
  }
  for (const Loop& loop : kernel.loop_model->loops()) {
    if (!loop.index->is_const() && !loop.is_hardware()) {
      kernel.simplifier->set_range(loop.index, loop.extent());
    }
  }
  for (const ParallelType type : kHardwareTypes) {
    Val* launched = kernel.launch.extents[hardware_type_index(type)];
    if (launched != nullptr) {
      // An exact index runs over its axes' extent; else only the launched size is known.
      const bool is_known =
          kernel.loop_model->is_exact(type) || (launched->is_const() && !launched->is_zero());
      kernel.simplifier->set_range(
          kernel.parallel_index(type), is_known ? launched : kernel.parallel_dim(type));
    }
  }
}

} // namespace

const std::vector<Pass>& lowering_passes() {
  // Never destroyed: threads may still lower when the process ends.
  static const auto& passes = *new std::vector<Pass>{
      {"validate_schedule", validate_schedule,
       "what is wrong in the schedule fails before changes"},
      {"replace_sizes", replace_sizes, "from here on, equal extents are one value"},
      {"reduce_in_registers", reduce_in_registers, "adds tensors, so before loops are modelled"},
      {"model_loops", model_loops, "which axes share a loop, and what each loop runs over"},
      {"resolve_compute_with", resolve_compute_with,
       "who comes first follows from a sort; the loops are then modelled again"},
      {"find_parallel_dims", find_parallel_dims, "loop indices need the launched extents"},
      {"find_circular_loops", find_circular_loops, "needs loops and which of them run once"},
      {"model_ranges", model_ranges, "ranges of loop indices, for every proof that follows"},
      {"check_vector_accesses", check_vector_accesses, "needs promoted loops and proofs"},
      {"check_index_accesses", check_index_accesses,
       "refuses before anything is written; sizes are final"},
      {"check_enclosing_loops", check_enclosing_loops,
       "loops are final; sizes are left to launches"},
      {"sort_exprs", sort_exprs, "expressions of one loop must be neighbours"},
      {"check_in_place", check_in_place, "the order of readers and updates is known"},
      {"build_loop_nests", build_loop_nests, "loops, allocations, indexed statements"},
      {"prefetch_loads", prefetch_loads, "its barriers are the first ones"},
      {"insert_syncs", insert_syncs, "while every statement stands in its loops only once"},
      {"serialize_blocks", serialize_blocks, "no barrier over blocks may lie in a section"},
      {"promote_reuse", promote_reuse,
       "knows all other barriers; none may be added in a condition"},
      {"place_conditions", place_conditions, "doubles the bodies of unswitched loops"},
      {"merge_conditions", merge_conditions, "conditions stand in the tree; barriers are final"},
      {"check_register_arrays", check_register_arrays, "sizes are final"},
      {"spill_register_arrays", spill_register_arrays, "sizes and indices are final"},
      {"unroll_loops", unroll_loops, "which arrays are in registers is known"},
      {"reuse_memory", reuse_memory, "allocations, reductions and barriers are final"},
      {"form_regions", form_regions, "moves statements out of the loops they were made in"},
      {"skip_idle_threads", skip_idle_threads, "what each loop over threads holds is final"},
      {"hoist_indices", hoist_indices, "last: what stands where is final"},
  };
  return passes;
}

void run_passes(Kernel& kernel) {
  LoweringDumps dumps(kernel);
  for (const Pass& pass : lowering_passes()) {
    dumps.before_pass(pass.name);
    const auto begin = std::chrono::steady_clock::now();
    {
      const TraceSpan span(pass.name);
      pass.run(kernel);
    }
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    kernel.passes.push_back(
        {pass.name, kernel.options().record_passes ? kernel_state(kernel) : "", time.count()});
    dumps.after_pass(pass.name);
  }
  dumps.at_end();
}

} // namespace nvfuser
