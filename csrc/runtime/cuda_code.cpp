#include "runtime/cuda_code.h"

#include <algorithm>
#include <iostream>

#include "base/environment.h"
#include "base/errors.h"
#include "base/options.h"
#include "base/target.h"
#include "base/trace.h"
#include "base/warnings.h"
#include "runtime/code_cache.h"
#include "runtime/kernel_cache.h"

namespace nvfuser {
namespace {

CodeCache<CudaCode>& loaded_code() {
  static auto& cache = *new CodeCache<CudaCode>(); // outlives every kernel of static lifetime
  return cache;
}

/// A warning if the assembler's report tells of registers kept in memory.
void warn_about_spills(const std::string& log, const std::string& name) {
  const size_t words = log.find(" bytes spill stores");
  if (words == std::string::npos || words == 0) {
    return;
  }
  const size_t number = log.find_last_not_of("0123456789", words - 1) + 1;
  const std::string bytes = log.substr(number, words - number);
  if (bytes != "0") {
    warn(name + " spills registers: " + bytes + " bytes of stores");
  }
}

/// The kernel in a module, with what the device says about it.
/// The function of `result.module`, and what it needs.
std::optional<Refusal> find_function(
    const CudaDriver& driver, const std::string& name, CudaFunction& result) {
  NVF_RETURN_REFUSAL(driver.find_failure(
      driver.module_get_function(&result.function, result.module, name.c_str()),
      "cuModuleGetFunction"));
  CUresult failed = 0; // the first that is no success
  const auto attribute = [&](CudaFunctionAttribute number) {
    int value = 0;
    const CUresult got = driver.func_get_attribute(&value, number, result.function);
    failed = failed == 0 ? got : failed;
    return value;
  };
  result.max_threads = attribute(kFuncMaxThreads);
  result.registers = attribute(kFuncRegisters);
  result.static_shared_bytes = attribute(kFuncStaticSharedBytes);
  result.local_bytes = attribute(kFuncLocalBytes);
  result.max_dynamic_shared_bytes = attribute(kFuncMaxDynamicSharedBytes);
  return driver.find_failure(failed, "cuFuncGetAttribute");
}

std::shared_ptr<CudaCode> from_cache(
    const std::string& name,
    const std::string& architecture,
    std::string code,
    const std::string& cache_name) {
  const bool is_ptx = architecture.rfind("compute_", 0) == 0;
  return std::make_shared<CudaCode>(
      name, architecture, CudaBinary{std::move(code), is_ptx, ""}, cache_name);
}

/// The architecture to compile for: PTX for a virtual one if machine code is not wanted.
std::string wanted_architecture(const std::string& architecture) {
  if (has_option(DisableOption::CompileToSass) && architecture.rfind("sm_", 0) == 0) {
    return "compute_" + architecture.substr(3);
  }
  return architecture;
}

} // namespace

std::vector<std::string> nvrtc_options(const CompileParams& params) {
  std::vector<std::string> options = {"--std=c++17", "-default-device"};
  constexpr int kFirstWithMinimal = 13;
  const Nvrtc* nvrtc = Nvrtc::maybe_get();
  if (nvrtc != nullptr && nvrtc->version().first >= kFirstWithMinimal) {
    options.emplace_back("--minimal"); // without textures and other declarations: 5 ms less
  }
  if (has_option(EnableOption::FastMath)) {
    options.emplace_back("--use_fast_math");
  }
  options.emplace_back(has_option(DisableOption::Fma) ? "--fmad=false" : "--fmad=true");
  if (has_option(EnableOption::KernelDebug)) {
    options.emplace_back("--device-debug");
    options.emplace_back("--define-macro=NVF_BOUNDED_WAITS"); // runtime/cuda/bulk_copy.cuh
  }
  if (has_option(EnableOption::KernelLineinfo) || has_option(EnableOption::KernelProfile)) {
    options.emplace_back("--generate-line-info");
  }
  const int64_t registers =
      std::min(params.maxrregcount, environment().max_registers.value_or(255));
  if (registers > 0 && registers < 255) {
    options.push_back("--maxrregcount=" + std::to_string(registers));
  }
  const bool to_sass = !has_option(DisableOption::CompileToSass);
  if (const std::optional<int64_t> level = environment().jit_opt_level; level && to_sass) {
    options.push_back("--ptxas-options=-O" + std::to_string(*level));
  }
  const bool is_verbose = params.enable_ptxas_verbose || has_option(DumpOption::PtxasVerbose) ||
                          has_option(EnableOption::WarnRegisterSpill);
  if (is_verbose && to_sass) {
    options.emplace_back("--ptxas-options=-v");
  }
  for (const std::string& path : params.include_paths) {
    options.push_back("--include-path=" + path);
  }
  return options;
}

std::shared_ptr<CudaCode> CudaCode::compile(
    const std::string& source,
    const std::string& name,
    const std::string& architecture,
    const CompileParams& params) {
  const Nvrtc& nvrtc = Nvrtc::get();
  const std::string target = wanted_architecture(architecture);
  const std::vector<std::string> options = nvrtc_options(params);
  std::string key = "cuda " + target + "\nnvrtc " + std::to_string(nvrtc.version().first) + "." +
                    std::to_string(nvrtc.version().second) + "\n";
  for (const std::string& option : options) {
    key += option + "\n";
  }
  key += name + "\n" + source;
  const bool is_verbose = params.enable_ptxas_verbose || has_option(DumpOption::PtxasVerbose);
  const std::string cache_name = KernelCache::name_of(key);
  return loaded_code().get(cache_name, [&] {
    // An include can change without the source, and a report comes from a compilation only.
    const bool may_cache = params.include_paths.empty() && !is_verbose;
    KernelCache* disk = may_cache ? &KernelCache::instance() : nullptr;
    if (disk != nullptr && !loaded_code().is_unusable(cache_name)) {
      if (auto code = disk->find(key)) {
        return from_cache(name, target, std::move(*code), cache_name);
      }
    }
    CudaBinary binary = nvrtc.compile(source, name, target, options);
    if (is_verbose) {
      std::cout << binary.log << std::endl;
    }
    if (has_option(EnableOption::WarnRegisterSpill)) {
      warn_about_spills(binary.log, name);
    }
    if (disk != nullptr) {
      disk->store(key, binary.code);
    }
    return std::make_shared<CudaCode>(
        name, target, std::move(binary), disk != nullptr ? cache_name : "");
  });
}

std::shared_ptr<CudaCode> CudaCode::find(
    const std::string& cache_name, const std::string& name, const std::string& architecture) {
  return loaded_code().get(cache_name, [&]() -> std::shared_ptr<CudaCode> {
    auto code = KernelCache::instance().find_named(cache_name);
    if (!code) {
      loaded_code().note_unusable(cache_name);
      return nullptr;
    }
    return from_cache(name, architecture, std::move(*code), cache_name);
  });
}

CudaCode::CudaCode(
    std::string name, std::string architecture, CudaBinary binary, std::string cache_name)
    : name_(std::move(name)),
      architecture_(std::move(architecture)),
      binary_(std::move(binary)),
      cache_name_(std::move(cache_name)) {}

CudaCode::~CudaCode() {
  if (stays_loaded_) {
    return;
  }
  const CudaDriver* driver = functions_.empty() ? nullptr : CudaDriver::maybe_get();
  for (const auto& [device, function] : functions_) {
    const CudaContextGuard guard(*driver, device, CudaContextGuard::Failure::Ignored);
    if (guard.is_entered()) {
      driver->module_unload(function.module);
    }
  }
}

const CudaFunction& CudaCode::on_device(const CudaDriver& driver, int device) const {
  const std::lock_guard lock(mutex_);
  const auto found = functions_.find(device);
  if (found != functions_.end()) {
    return found->second;
  }
  const TraceSpan span("load " + name_);
  CudaFunction function;
  driver.check(
      driver.module_load_data_ex(&function.module, binary_.code.data(), 0, nullptr, nullptr),
      "cuModuleLoadDataEx");
  if (const std::optional<Refusal> refusal = find_function(driver, name_, function)) {
    driver.module_unload(function.module);
    throw_refusal(*refusal);
  }
  return functions_.emplace(device, function).first->second;
}

void CudaCode::allow_shared_bytes(const CudaDriver& driver, int device, int64_t bytes) const {
  static_cast<void>(on_device(driver, device));
  const std::lock_guard lock(mutex_);
  CudaFunction& function = functions_.at(device);
  if (bytes > function.max_dynamic_shared_bytes) {
    driver.check(
        driver.func_set_attribute(
            function.function, kFuncMaxDynamicSharedBytes, static_cast<int>(bytes)),
        "cuFuncSetAttribute");
    function.max_dynamic_shared_bytes = static_cast<int>(bytes);
  }
}

void CudaCode::allow_clusters(const CudaDriver& driver, int device, int64_t blocks) const {
  if (blocks > Target::kPortableClusterSize) {
    const CudaFunction& function = on_device(driver, device);
    driver.check(
        driver.func_set_attribute(function.function, kFuncAllowsLargeClusters, 1),
        "cuFuncSetAttribute");
  }
}

void clear_loaded_cuda_code() {
  loaded_code().clear();
}

} // namespace nvfuser
