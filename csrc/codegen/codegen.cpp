#include "codegen/codegen.h"

#include "codegen/device_sources.h"
#include "codegen/dialect.h"
#include "codegen/printer.h"

namespace nvfuser {
namespace {

std::unique_ptr<Dialect> make_dialect(const Target& target) {
  return target.is_cuda() ? make_cuda_dialect() : make_cpu_dialect();
}

std::string kernel_text(
    const Kernel& kernel, const std::string& kernel_name, Comments comments, Dialect& dialect) {
  const std::string name = kernel_name.empty() ? default_kernel_name(kernel.target()) : kernel_name;
  return KernelPrinter(kernel, dialect, name, comments).print();
}

} // namespace

const char* default_kernel_name(const Target& target) {
  return target.is_cuda() ? "CUDAGeneratedKernel" : "CPUGeneratedKernel";
}

std::string generate_kernel_text(
    const Kernel& kernel, const std::string& kernel_name, Comments comments) {
  return kernel_text(kernel, kernel_name, comments, *make_dialect(kernel.target()));
}

std::string generate_source(
    const Kernel& kernel, const std::string& kernel_name, Comments comments) {
  const std::unique_ptr<Dialect> dialect = make_dialect(kernel.target());
  const std::string text = kernel_text(kernel, kernel_name, comments, *dialect);
  std::string source = "using nvfuser_index_t = ";
  source += dialect->fixed_width_index(kernel.index_type() == DataType::Int32);
  source += ";\n";
  source += used_device_sources(kernel.target(), text);
  source += "extern \"C\" {\n" + text + "}\n";
  return source;
}

} // namespace nvfuser
