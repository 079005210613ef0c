// The table of contents of the passes from fusion to fusion.

#include "optimize/pipeline.h"

#include <algorithm>
#include <iostream>

#include "base/environment.h"
#include "base/options.h"
#include "base/text_diff.h"
#include "graph/domain_map.h"
#include "optimize/passes/accumulate_scatters.h"
#include "optimize/passes/cancel_views.h"
#include "optimize/passes/compute_before_repeating.h"
#include "optimize/passes/fold_casts.h"
#include "optimize/passes/look_up_before_computing.h"
#include "optimize/passes/merge_equal_exprs.h"
#include "optimize/passes/multiply_thin_matrices.h"
#include "optimize/passes/refine_axes.h"
#include "optimize/passes/rejoin_slices.h"
#include "optimize/passes/remove_dead_exprs.h"
#include "optimize/passes/remove_empty.h"
#include "optimize/passes/repeat_by_expanding.h"
#include "optimize/passes/separate_uses.h"
#include "optimize/passes/set_output_order.h"
#include "optimize/passes/simplify_pointwise.h"
#include "optimize/passes/slice_before_computing.h"
#include "optimize/passes/unify_extents.h"
#include "optimize/passes/use_reciprocals.h"
#include "optimize/passes/use_sigmoid.h"
#include "optimize/verify.h"
#include "transform/concretization.h"

namespace nvfuser::optimize {
namespace {

std::string math_of(const Fusion& fusion) {
  return fusion.print_math();
}

/// Prints what each pass changes, for NVFUSER_DUMP=pre_segmenter_logging.
class ChangeLog {
 public:
  explicit ChangeLog(const Fusion& fusion) : fusion_(fusion) {
    if (has_option(DumpOption::PreSegmenterLogging)) {
      shown_ = math_of(fusion);
      std::cout << "Before passes:\n" << *shown_ << '\n';
    }
  }

  void after_pass(const char* pass) {
    if (!shown_) {
      return;
    }
    std::string math = math_of(fusion_);
    const std::string changes = text_diff(*shown_, math);
    std::cout << "After " << pass << ":\n" << (changes.empty() ? kUnchanged : changes) << std::endl;
    shown_ = std::move(math);
  }

 private:
  const Fusion& fusion_;
  std::optional<std::string> shown_; // the math as it was printed last; no value: nothing is
};

std::optional<Refusal> find_schedule(const Fusion& fusion) {
  for (const TensorView* tensor : fusion.tensors()) {
    const bool is_bound = std::ranges::any_of(tensor->loop(), &IterDomain::is_thread);
    if (tensor->schedule_steps().empty() && !tensor->is_inlined() && !is_bound) {
      continue;
    }
    return refuse(
        {.headline = "Passes from fusion to fusion take definitions, before they are scheduled",
         .node = describe(tensor),
         .expected = "a tensor without transforms, bindings and positions",
         .found = "a schedule",
         .fix = "optimize first, then schedule what is returned"});
  }
  return std::nullopt;
}

/// Most passes need to know no more than that it is a fusion.
template <bool (*pass)(Fusion&)>
bool on_fusion(OptimizedFusion& fusion) {
  return pass(fusion);
}

std::vector<Pass<OptimizedFusion>> wanted_passes(const OptimizeOptions& options) {
  std::vector<Pass<OptimizedFusion>> passes = optimization_passes();
  if (options.passes) {
    for (const std::string& name : *options.passes) {
      check_pass_name(name, pass_names(passes));
    }
    std::erase_if(passes, [&](const Pass<OptimizedFusion>& pass) {
      return std::ranges::find(*options.passes, pass.name) == options.passes->end();
    });
  }
  return passes;
}

} // namespace

const std::vector<Pass<OptimizedFusion>>& optimization_passes() {
  // Never destroyed: threads may still compile when the process ends.
  static const auto& passes = *new std::vector<Pass<OptimizedFusion>>{
      {"remove_dead_exprs", on_fusion<remove_dead_exprs>,
       "later passes see readers that count only"},
      {"unify_extents", on_fusion<unify_extents>, "sizes that are known decide what follows"},
      {"remove_empty", on_fusion<remove_empty>, "what has no elements needs no other pass"},
      {"multiply_thin_matrices", on_fusion<multiply_thin_matrices>,
       "products of elements are what others look at"},
      {"simplify_pointwise", on_fusion<simplify_pointwise>,
       "leaves fewer and simpler patterns to others"},
      {"compute_before_repeating", on_fusion<compute_before_repeating>,
       "brings casts, and views, next to each other"},
      {"repeat_by_expanding", on_fusion<repeat_by_expanding>,
       "what is computed with repetitions stands before them"},
      {"fold_casts", on_fusion<fold_casts>, "values are as narrow as they can be"},
      {"cancel_views", on_fusion<cancel_views>, "casts no longer stand between them"},
      {"merge_equal_exprs", on_fusion<merge_equal_exprs>,
       "what was written in two ways is now the same"},
      {"rejoin_slices", on_fusion<rejoin_slices>, "parts of one tensor are found to be that"},
      {"slice_before_computing", on_fusion<slice_before_computing>,
       "the slices that are left take parts"},
      {"look_up_before_computing", on_fusion<look_up_before_computing>,
       "tensors that are equal were merged, so that each is looked up in once"},
      {"accumulate_scatters", on_fusion<accumulate_scatters>,
       "copies and views no longer stand between them"},
      {"use_sigmoid", on_fusion<use_sigmoid>, "operands that are equal are one tensor"},
      {"use_reciprocals", on_fusion<use_reciprocals>, "quotients of activations are gone"},
      {"set_output_order", on_fusion<set_output_order>, "axes of outputs are those that stay"},
      {"refine_axes", on_fusion<refine_axes>, "outputs whose memory has an order stay as they are"},
      {"separate_uses", separate_uses, "last: merging would undo it"},
  };
  return passes;
}

std::optional<Refusal> find_unfit(const Fusion& fusion) {
  if (has_dynamic_shapes(fusion)) {
    return refuse(
        {.headline = "Passes from fusion to fusion take definitions whose shapes are resolved",
         .node = Part::none(),
         .expected = "no symbolic axes",
         .found = "axes whose kind depends on sizes of a run",
         .fix = "optimize(concretize(fusion, find_concretization(fusion, inputs)))"});
  }
  return find_schedule(fusion);
}

void run_passes(OptimizedFusion& fusion, const OptimizeOptions& options) {
  const FusionGuard guard(&fusion);
  ChangeLog log(fusion);
  PassRun<OptimizedFusion> run{
      .until = options.until,
      .records = options.record_passes,
      .text_of = math_of,
      .after_pass = [&](const char* pass) { log.after_pass(pass); }};
  if (options.verifies_passes.value_or(environment().verifies_passes)) {
    const Interface before(fusion);
    if (const std::vector<std::string> found = find_violations(fusion, before); !found.empty()) {
      throw_violations("(none)", found, math_of(fusion));
    }
    run.find_violations = [before](const Fusion& now) { return find_violations(now, before); };
  }
  check(run_pass_table(wanted_passes(options), fusion, run, fusion.passes));
}

} // namespace nvfuser::optimize
