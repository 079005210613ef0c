// The table of contents of lowering.

#include "lower/pipeline.h"

#include <algorithm>
#include <memory>

#include "base/environment.h"
#include "eval/simplify.h"
#include "graph/id_model.h"
#include "lower/analysis/circular_loops.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/mma.h"
#include "lower/analysis/parallel_dims.h"
#include "lower/analysis/tensor_maps.h"
#include "lower/dump.h"
#include "lower/passes/bound_indices.h"
#include "lower/passes/build_loop_nests.h"
#include "lower/passes/check_in_place.h"
#include "lower/passes/check_index_accesses.h"
#include "lower/passes/check_parameters.h"
#include "lower/passes/check_vector_accesses.h"
#include "lower/passes/end_loops.h"
#include "lower/passes/fill_registers.h"
#include "lower/passes/find_enclosing_loops.h"
#include "lower/passes/form_regions.h"
#include "lower/passes/hoist_indices.h"
#include "lower/passes/insert_syncs.h"
#include "lower/passes/join_cluster_reductions.h"
#include "lower/passes/merge_conditions.h"
#include "lower/passes/order_grids.h"
#include "lower/passes/part_whole_steps.h"
#include "lower/passes/place_conditions.h"
#include "lower/passes/prefetch_loads.h"
#include "lower/passes/reduce_in_registers.h"
#include "lower/passes/register_arrays.h"
#include "lower/passes/replace_sizes.h"
#include "lower/passes/resolve_compute_with.h"
#include "lower/passes/reuse_memory.h"
#include "lower/passes/separate_roles.h"
#include "lower/passes/serialize_blocks.h"
#include "lower/passes/skip_idle_threads.h"
#include "lower/passes/sort_exprs.h"
#include "lower/passes/unroll_loops.h"
#include "lower/passes/validate_schedule.h"
#include "lower/passes/wait_for_bulk_stores.h"
#include "lower/passes/wait_for_products.h"
#include "lower/verify.h"

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
    Val* launched = kernel.launch.extents[type];
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

const std::vector<Pass<Kernel>>& lowering_passes() {
  // Never destroyed: threads may still lower when the process ends.
  static const auto& passes = *new std::vector<Pass<Kernel>>{
      {"validate_schedule", validate_schedule,
       "what is wrong in the schedule fails before changes"},
      {"replace_sizes", replace_sizes, "from here on, equal extents are one value"},
      {"reduce_in_registers", reduce_in_registers, "adds tensors, so before loops are modelled"},
      {"place_factors", place_factors, "changes memory, which loops do not depend on yet"},
      {"model_loops", model_loops, "which axes share a loop, and what each loop runs over"},
      {"resolve_compute_with", resolve_compute_with,
       "the first consumer follows from a sort; the loops are then modelled again"},
      {"find_parallel_dims", find_parallel_dims, "loop indices need the launched extents"},
      {"find_circular_loops", find_circular_loops, "needs loops and which of them run once"},
      {"model_ranges", model_ranges, "ranges of loop indices, for every proof that follows"},
      {"check_vector_accesses", check_vector_accesses, "needs promoted loops and proofs"},
      {"check_bulk_copies", check_bulk_copies, "needs storage, and proofs about sizes"},
      {"check_mma", check_mma, "needs loops, and the threads that are launched"},
      {"check_index_accesses", check_index_accesses,
       "refuses before anything is written; sizes are final"},
      {"find_enclosing_loops", find_enclosing_loops, "loops are final; sizes are left to launches"},
      {"sort_exprs", sort_exprs, "expressions of one loop must be neighbours"},
      {"check_in_place", check_in_place, "the order of readers and updates is known"},
      {"build_loop_nests", build_loop_nests, "loops, allocations, indexed statements"},
      {"join_cluster_reductions", join_cluster_reductions, "changes which barriers there are"},
      {"prefetch_loads", prefetch_loads, "its barriers are the first ones"},
      {"insert_syncs", insert_syncs, "while every statement stands in its loops only once"},
      {"wait_for_bulk_stores", wait_for_bulk_stores,
       "barriers say where what is stored may change"},
      {"wait_for_products", wait_for_products, "barriers stand behind these waits"},
      {"serialize_blocks", serialize_blocks, "no barrier over blocks may lie in a section"},
      {"order_grids", order_grids, "all accesses to global memory are there"},
      {"check_parameters", check_parameters, "all tensors that the host passes are known"},
      {"promote_reuse", promote_reuse,
       "knows all other barriers; none may be added in a condition"},
      {"place_conditions", place_conditions, "doubles the bodies of unswitched loops"},
      {"end_loops", end_loops, "conditions stand beside what they are for, not merged yet"},
      {"merge_conditions", merge_conditions, "conditions stand in the tree; barriers are final"},
      {"fill_registers", fill_registers, "knows which conditions are left around loads"},
      {"check_register_arrays", check_register_arrays, "sizes are final"},
      {"spill_register_arrays", spill_register_arrays, "sizes and indices are final"},
      {"unroll_loops", unroll_loops, "which arrays are in registers is known"},
      {"reuse_memory", reuse_memory, "allocations, reductions and barriers are final"},
      {"form_regions", form_regions, "moves statements out of the loops they were made in"},
      {"separate_roles", separate_roles, "loops and conditions around loads are final"},
      {"skip_idle_threads", skip_idle_threads, "what each loop over threads holds is final"},
      {"part_whole_steps", part_whole_steps,
       "doubles loops whose conditions and regions are final"},
      {"hoist_indices", hoist_indices, "last of those that move: what stands where is final"},
      {"bound_indices", bound_indices, "tensors, loops and buffers are final"},
  };
  return passes;
}

std::optional<Refusal> run_passes(Kernel& kernel) {
  LoweringDumps dumps(kernel);
  PassRun<Kernel> run{
      .until = kernel.options().until,
      .records = kernel.options().record_passes,
      .text_of = kernel_state,
      .before_pass = [&](const char* pass) { dumps.before_pass(pass); },
      .after_pass = [&](const char* pass) { dumps.after_pass(pass); }};
  if (kernel.options().verifies_passes.value_or(environment().verifies_passes)) {
    run.find_violations = find_violations;
  }
  std::optional<Refusal> refusal = run_pass_table(lowering_passes(), kernel, run, kernel.passes);
  if (!refusal) {
    dumps.at_end();
  }
  return refusal;
}

void run_pass(Kernel& kernel, const std::string& name) {
  const std::vector<std::string> names = pass_names(lowering_passes());
  check_pass_name(name, names);
  const auto place_of = [&](const std::string& pass) {
    return std::find(names.begin(), names.end(), pass) - names.begin();
  };
  const auto place = place_of(name);
  const auto last = kernel.passes.empty() ? -1 : place_of(kernel.passes.back().name);
  const bool has_facts = place == last + 1 || last >= place_of("build_loop_nests");
  if (place <= last || !has_facts) {
    throw UserError(
        {.headline = {"The pass \"", name, "\" cannot be run on this kernel"},
         .node = Part::none(),
         .expected = place <= last
                         ? Part("a kernel that no later pass has seen")
                         : Part("a kernel that the pass before it left, or \"build_loop_nests\""),
         .found = last < 0 ? Part("no pass was run") : Part("the last pass was ", names[last]),
         .fix = {"lower(until=\"", place == 0 ? name : names[place - 1], "\") is a kernel for it"}},
        ErrorKind::Value);
  }
  if (const std::vector<std::string> found = find_violations(kernel); !found.empty()) {
    throw_violations(kernel.passes.back().name.c_str(), found, kernel_state(kernel));
  }
  const FusionGuard guard(&kernel);
  const PassRun<Kernel> run{
      .until = {}, .text_of = kernel_state, .find_violations = find_violations};
  check(
      run_pass_table({lowering_passes()[static_cast<size_t>(place)]}, kernel, run, kernel.passes));
}

} // namespace nvfuser
