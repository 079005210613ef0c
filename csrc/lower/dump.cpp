#include "lower/dump.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "base/options.h"
#include "base/text_diff.h"
#include "graph/id_model.h"
#include "ir/print.h"
#include "lower/dump_decisions.h"

namespace nvfuser {
namespace {

/// Whether `lower_verbose(a,b)` names the pass; without arguments it means all of them.
bool is_lower_verbose(const std::string& pass) {
  if (!has_option(DumpOption::LowerVerbose)) {
    return false;
  }
  const std::vector<std::string> passes = option_args(DumpOption::LowerVerbose);
  return passes.empty() || std::find(passes.begin(), passes.end(), pass) != passes.end();
}

void dump_sorted_exprs(const Kernel& kernel) {
  std::cout << "Order of expressions:\n";
  for (const Expr* expr : kernel.sorted_exprs) {
    std::cout << "  " << expr->to_string();
  }
  std::cout << '\n';
}

void dump_parallel_dims(const Kernel& kernel) {
  std::cout << "Extents of hardware indices:\n";
  for (const ParallelType type : kHardwareTypes) {
    const Val* extent = kernel.launch.extents[type];
    if (extent != nullptr) {
      std::cout << "  " << text(type) << ": " << extent->to_inline_string() << '\n';
    }
  }
}

} // namespace

std::string kernel_state(const Kernel& kernel) {
  return kernel.body.empty() ? print_scheduled(kernel, /*with_transforms=*/false)
                             : kernel.print_kernel_ir();
}

LoweringDumps::LoweringDumps(Kernel& kernel) : kernel_(kernel) {}

LoweringDumps::~LoweringDumps() = default;

void LoweringDumps::show_changes(const std::string& pass) {
  std::string state = kernel_state(kernel_);
  std::cout << "After " << pass << ":\n";
  if (shown_.empty()) {
    std::cout << state;
  } else {
    const std::string changes = text_diff(shown_, state);
    std::cout << (changes.empty() ? kUnchanged : changes);
  }
  std::cout << '\n';
  shown_ = std::move(state);
}

void LoweringDumps::before_pass(const std::string& pass) {
  if (pass == "place_conditions" && has_option(DumpOption::PredicateElimination)) {
    conditions_ = std::make_unique<ConditionReport>(kernel_);
  }
}

void LoweringDumps::after_pass(const std::string& pass) {
  if (is_lower_verbose(pass)) {
    show_changes(pass);
  }
  if (pass == "model_loops" && has_option(DumpOption::CaMap)) {
    std::cout << kernel_.id_model->to_string() << '\n';
  }
  if (pass == "find_parallel_dims" && has_option(DumpOption::ParallelDimensions)) {
    dump_parallel_dims(kernel_);
  }
  if (pass == "sort_exprs" && has_option(DumpOption::ExprSort)) {
    dump_sorted_exprs(kernel_);
  }
  if (pass == "build_loop_nests" && has_option(DumpOption::IndexingVerbose)) {
    std::cout << describe_indices(kernel_) << '\n';
  }
  if (pass == "insert_syncs" && has_option(DumpOption::SyncMap)) {
    std::cout << describe_barriers(kernel_) << '\n';
  }
  if (conditions_ != nullptr) {
    std::cout << std::exchange(conditions_, nullptr)->describe(kernel_) << '\n';
  }
  if (pass == "reuse_memory" && has_option(DumpOption::BufferReuseVerbose)) {
    std::cout << describe_shared_memory(kernel_) << '\n';
  }
}

void LoweringDumps::at_end() const {
  if (has_option(DumpOption::KernelIr)) {
    std::cout << kernel_.print_kernel_ir() << '\n';
  }
  if (has_option(DumpOption::PerfDebugVerbose)) {
    std::cout << "Time of lowering passes (ms):\n";
    for (const PassRecord& record : kernel_.passes) {
      std::cout << "  " << record.name << ": " << record.milliseconds << '\n';
    }
  }
  std::cout << std::flush;
}

} // namespace nvfuser
