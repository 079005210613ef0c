#include "codegen/codegen.h"

#include <algorithm>

#include "codegen/cuda_wgmma.h"
#include "codegen/device_sources.h"
#include "codegen/dialect.h"
#include "codegen/printer.h"
#include "lower/analysis/loading_threads.h"

namespace nvfuser {
namespace {

std::unique_ptr<Dialect> make_dialect(const Kernel& kernel) {
  return kernel.target().is_cuda() ? make_cuda_dialect(kernel) : make_cpu_dialect();
}

std::string kernel_text(
    const Kernel& kernel, const std::string& kernel_name, Comments comments, Dialect& dialect) {
  const std::string name = kernel_name.empty() ? default_kernel_name(kernel.target()) : kernel_name;
  return KernelPrinter(kernel, dialect, name, comments).print();
}

/// Constants that runtime/cuda/thread_index.cuh reads: sizes of the block, 0 where only the launch
/// knows, and positions of threads that only load.
std::string block_size_constants(const Kernel& kernel) {
  std::string text;
  for (const ParallelType type : kBlockDimTypes) {
    const Val* extent = kernel.launch.extents[type];
    int64_t size = 1; // of a dimension that no axis is bound to
    if (extent != nullptr) {
      // An empty axis is launched with one thread, whose loops run zero times.
      size = extent->is_const_int() ? std::max<int64_t>(as_int(extent->value()), 1) : 0;
    }
    text += std::string("constexpr unsigned kBlock") + "XYZ"[traits_of(type).dim] + " = " +
            std::to_string(size) + ";\n";
    text += std::string("constexpr unsigned kLoading") + "XYZ"[traits_of(type).dim] + " = " +
            std::to_string(loading_positions(kernel, traits_of(type).dim)) + ";\n";
  }
  return text;
}

} // namespace

const char* default_kernel_name(const Target& target) {
  return target.is_cuda() ? "CUDAGeneratedKernel" : "CPUGeneratedKernel";
}

std::string generate_kernel_text(
    const Kernel& kernel, const std::string& kernel_name, Comments comments) {
  return kernel_text(kernel, kernel_name, comments, *make_dialect(kernel));
}

std::string generate_source(
    const Kernel& kernel, const std::string& kernel_name, Comments comments) {
  const std::unique_ptr<Dialect> dialect = make_dialect(kernel);
  const std::string text = kernel_text(kernel, kernel_name, comments, *dialect);
  std::string source = "using nvfuser_index_t = ";
  source += dialect->fixed_width_index(kernel.index_type() == DataType::Int32);
  source += ";\n";
  const std::string device_sources = used_device_sources(kernel.target(), text);
  if (device_sources.find("kBlockX") != std::string::npos) {
    source += block_size_constants(kernel);
  }
  source += device_sources;
  source += wgmma_functions(kernel);
  source += "extern \"C\" {\n" + text + "}\n";
  return source;
}

} // namespace nvfuser
