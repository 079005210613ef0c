#include "runtime/dump_kernel.h"

#include <iostream>

#include "base/errors.h"
#include "base/options.h"
#include "base/warnings.h"
#include "codegen/codegen.h"
#include "ir/graphviz.h"
#include "ir/print.h"
#include "runtime/file_io.h"
#include "runtime/subprocess.h"

namespace nvfuser {
namespace {

void dump_to_file(const std::string& path, const std::string& bytes, DumpOption option) {
  NVF_USER_CHECK(write_file(path, bytes), option_name(option), ": cannot write ", path);
  std::cout << "PRINTING: " << path << std::endl;
}

/// PTX is not on the way to a cubin: it is compiled once more.
std::string ptx_of(const CompiledKernel& code, const KernelRequest& request) {
  const CudaBinary& binary = code.cuda->binary();
  if (binary.is_ptx) {
    return binary.code;
  }
  OptionsGuard guard;
  guard.set(DisableOption::CompileToSass);
  const std::string& architecture = code.cuda->architecture(); // sm_..
  return Nvrtc::get()
      .compile(
          code.source(), code.name, "compute_" + architecture.substr(3),
          nvrtc_options(request.params))
      .code;
}

/// Assembly of a cubin; empty, with a warning, where there is no disassembler.
std::string disassemble(const CompiledKernel& code) {
  const PrivateFolder folder;
  const std::string path = folder.path() + "/kernel.cubin";
  NVF_USER_CHECK(write_file(path, code.cuda->binary().code), "sass: cannot write ", path);
  const RunResult result = run_program({"nvdisasm", path});
  if (result.status != 0) {
    warn(
        "NVFUSER_DUMP=sass needs nvdisasm, of the CUDA toolkit, on PATH: " +
        result.output.substr(0, result.output.find('\n')));
    return "";
  }
  return result.output;
}

void dump_sass(const CompiledKernel& code) {
  const bool to_file = has_option(DumpOption::SassToFile);
  if ((!to_file && !has_option(DumpOption::Sass)) || code.cuda->binary().is_ptx) {
    return;
  }
  const std::string sass = disassemble(code);
  if (sass.empty()) {
    return;
  }
  if (to_file) {
    dump_to_file(code.name + ".sass", sass, DumpOption::SassToFile);
  } else {
    std::cout << sass << std::endl;
  }
}

} // namespace

void dump_scheduled_fusion(const Fusion& fusion, const std::string& kernel_name) {
  if (has_option(DumpOption::FusionIr)) {
    std::cout << "Fusion IR of " << kernel_name << ":\n"
              << print_scheduled(fusion, /*with_transforms=*/true) << std::endl;
  }
  if (has_option(DumpOption::FusionIrMath)) {
    std::cout << fusion.print_math() << std::flush;
  }
  if (has_option(DumpOption::FusionIrGraph)) {
    dump_to_file("__tmp_" + kernel_name + ".dot", graphviz(fusion), DumpOption::FusionIrGraph);
  }
}

void dump_source(const CompiledKernel& code, const KernelRequest& request) {
  if (has_option(DumpOption::CompileParams)) {
    std::cout << request.name << ": " << request.params.to_string() << std::flush;
  }
  const bool with_device_sources = has_option(DumpOption::CudaFull);
  if (with_device_sources || has_option(DumpOption::CudaKernel)) {
    const std::string text =
        with_device_sources ? code.source() : generate_kernel_text(*code.kernel(), code.name);
    std::cout << "\n======= Codegen output for kernel: " << code.name << " =======\n\n"
              << text << "\n======================================\n"
              << std::endl;
  }
  if (has_option(DumpOption::CudaToFile)) {
    const char* extension = request.device.is_cuda() ? ".cu" : ".cpp";
    dump_to_file("__tmp_" + code.name + extension, code.source(), DumpOption::CudaToFile);
  }
}

void dump_binary(const CompiledKernel& code, const KernelRequest& request) {
  if (has_option(DumpOption::PerfDebugVerbose)) {
    std::cout << "Time of " << code.name << " (ms): lowering " << code.lowering_ms
              << ", compilation as " << code.function_name() << " " << code.compilation_ms
              << std::endl;
  }
  if (code.cuda == nullptr) {
    return;
  }
  const CudaBinary& binary = code.cuda->binary();
  if (has_option(DumpOption::Cubin) && !binary.is_ptx) {
    dump_to_file(code.name + ".cubin", binary.code, DumpOption::Cubin);
  }
  if (has_option(DumpOption::Ptx)) {
    std::cout << ptx_of(code, request) << std::endl;
  }
  dump_sass(code);
}

} // namespace nvfuser
