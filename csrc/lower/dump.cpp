#include "lower/dump.h"

#include <algorithm>
#include <iostream>

#include "base/options.h"
#include "graph/id_model.h"

namespace nvfuser {
namespace {

/// Options that show the kernel as a pass leaves it.
struct KernelDump {
  DumpOption option;
  const char* pass;
};
constexpr KernelDump kKernelDumps[] = {
    {DumpOption::IndexingVerbose, "build_loop_nests"},
    {DumpOption::SyncMap, "insert_syncs"},
    {DumpOption::PredicateElimination, "place_conditions"},
    {DumpOption::BufferReuseVerbose, "reuse_memory"},
};

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
  for (const ParallelType type : kThreadParallelTypes) {
    const Val* extent = kernel.launch.extents[thread_type_index(type)];
    if (extent != nullptr) {
      std::cout << "  " << text(type) << ": " << extent->to_inline_string() << '\n';
    }
  }
}

} // namespace

bool is_pass_dumped(const std::string& pass) {
  return is_lower_verbose(pass) ||
         std::any_of(std::begin(kKernelDumps), std::end(kKernelDumps), [&](const KernelDump& dump) {
           return pass == dump.pass && has_option(dump.option);
         });
}

void dump_pass(const Kernel& kernel, const PassRecord& record) {
  if (is_pass_dumped(record.name)) {
    std::cout << "After " << record.name << ":\n" << record.text << '\n';
  }
  if (record.name == "model_loops" && has_option(DumpOption::CaMap)) {
    std::cout << kernel.id_model->to_string() << '\n';
  }
  if (record.name == "find_parallel_dims" && has_option(DumpOption::ParallelDimensions)) {
    dump_parallel_dims(kernel);
  }
  if (record.name == "sort_exprs" && has_option(DumpOption::ExprSort)) {
    dump_sorted_exprs(kernel);
  }
}

void dump_lowered(const Kernel& kernel) {
  if (has_option(DumpOption::KernelIr)) {
    std::cout << kernel.print_kernel_ir() << '\n';
  }
  if (has_option(DumpOption::PerfDebugVerbose)) {
    std::cout << "Time of lowering passes (ms):\n";
    for (const PassRecord& record : kernel.passes) {
      std::cout << "  " << record.name << ": " << record.milliseconds << '\n';
    }
  }
  std::cout << std::flush;
}

} // namespace nvfuser
