// The table of contents of lowering.

#include "lower/pipeline.h"

#include <chrono>
#include <iostream>

#include "base/options.h"
#include "eval/simplify.h"
#include "graph/id_model.h"
#include "lower/build_loop_nests.h"
#include "lower/check_in_place.h"
#include "lower/check_vector_accesses.h"
#include "lower/form_regions.h"
#include "lower/insert_syncs.h"
#include "lower/loop_model.h"
#include "lower/parallel_dims.h"
#include "lower/place_conditions.h"
#include "lower/plan_memory.h"
#include "lower/reduce_in_registers.h"
#include "lower/replace_sizes.h"
#include "lower/sort_exprs.h"
#include "lower/validate_schedule.h"

namespace nvfuser {
namespace {

void model_loops(Kernel& kernel) {
  kernel.id_model = std::make_unique<IdModel>(&kernel);
  kernel.loop_model = std::make_unique<LoopModel>(kernel);
}

void model_ranges(Kernel& kernel) {
  kernel.simplifier = std::make_unique<IndexSimplifier>(kernel);
  for (const Loop& loop : kernel.loop_model->loops()) {
    if (!loop.index->is_const() && !loop.is_thread()) {
      kernel.simplifier->set_range(loop.index, loop.extent());
    }
  }
  for (const ParallelType type : kThreadParallelTypes) {
    Val* launched = kernel.launch.extents[thread_type_index(type)];
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
  static const std::vector<Pass> passes = {
      {"validate_schedule", validate_schedule,
       "what is wrong in the schedule fails before changes"},
      {"replace_sizes", replace_sizes, "from here on, equal extents are one value"},
      {"reduce_in_registers", reduce_in_registers, "adds tensors, so before loops are modelled"},
      {"model_loops", model_loops, "which axes share a loop, and what each loop runs over"},
      {"find_parallel_dims", find_parallel_dims, "loop indices need the launched extents"},
      {"model_ranges", model_ranges, "ranges of loop indices, for every proof that follows"},
      {"check_vector_accesses", check_vector_accesses, "needs promoted loops and proofs"},
      {"sort_exprs", sort_exprs, "expressions of one loop must be neighbours"},
      {"check_in_place", check_in_place, "the order of readers and updates is known"},
      {"build_loop_nests", build_loop_nests, "loops, allocations, indexed statements"},
      {"insert_syncs", insert_syncs, "while every statement stands in its loops only once"},
      {"place_conditions", place_conditions, "doubles the bodies of unswitched loops"},
      {"unroll_register_loops", unroll_register_loops, "indices are final"},
      {"plan_memory", plan_memory, "allocations and reductions are final"},
      {"form_regions", form_regions, "last: moves statements out of the loops they were made in"},
  };
  return passes;
}

void run_passes(Kernel& kernel) {
  const bool is_verbose = has_option(DumpOption::LowerVerbose);
  for (const Pass& pass : lowering_passes()) {
    const auto begin = std::chrono::steady_clock::now();
    pass.run(kernel);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    PassRecord record{pass.name, "", time.count()};
    if (kernel.options().record_passes || is_verbose) {
      record.text = kernel.print_kernel_ir();
    }
    if (is_verbose) {
      std::cout << "After " << pass.name << ":\n" << record.text << '\n';
    }
    kernel.passes.push_back(std::move(record));
  }
  if (has_option(DumpOption::KernelIr)) {
    std::cout << kernel.print_kernel_ir() << '\n';
  }
}

} // namespace nvfuser
