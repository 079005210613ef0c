#include "runtime/cpu_code.h"

#include <cerrno>
#include <cstring>

#include "base/environment.h"
#include "runtime/code_cache.h"
#include "runtime/file_io.h"
#include "runtime/host_compiler.h"
#include "runtime/kernel_cache.h"

namespace nvfuser {
namespace {

CodeCache<CpuCode>& loaded_code() {
  static auto& cache = *new CodeCache<CpuCode>(); // outlives every kernel of static lifetime
  return cache;
}

KernelRefusal refuse_failure(const ErrorReport& report) {
  return {refuse(report, ErrorKind::NotImplemented), KernelRefusal::Cause::CompilerFailure};
}

} // namespace

std::variant<std::shared_ptr<CpuCode>, KernelRefusal> CpuCode::try_load(
    const std::string& object, const std::string& name) {
  std::optional<Refusal> reason;
  const std::optional<PrivateFolder> folder = PrivateFolder::try_make(reason);
  if (!folder) {
    return KernelRefusal{*reason, KernelRefusal::Cause::NoCompiler};
  }
  const std::string path = folder->path() + "/" + name + ".so";
  if (!write_file(path, object)) {
    return refuse_failure({
        .headline = {"A compiled CPU kernel cannot be written."},
        .node = Part::none(),
        .expected = {"space in a temporary folder"},
        .found = {path, ": ", std::strerror(errno)},
        .fix = {"free space on that disk, or set TMPDIR to a folder on another one"},
    });
  }
  auto code = std::shared_ptr<CpuCode>(new CpuCode());
  code->name_ = name;
  std::string error;
  code->library_ = DynamicLibrary::open(path, error);
  if (code->library_.is_open()) {
    code->function_ = reinterpret_cast<CpuKernelFn>(code->library_.find(name.c_str()));
    error = code->function_ == nullptr ? "it has no function of that name" : "";
  }
  if (!error.empty()) {
    return refuse_failure({
        .headline = {"Cannot load the CPU kernel ", name},
        .node = Part::none(),
        .expected = {"a shared object that this process can open"},
        .found = {error},
        .fix = {"set TMPDIR to a folder from which programs may be run"},
    });
  }
  return code;
}

std::shared_ptr<CpuCode> CpuCode::try_load_entry(
    const std::optional<std::string>& object,
    const std::string& name,
    const std::string& cache_name) {
  if (!object) {
    return nullptr;
  }
  const auto loaded = try_load(*object, name);
  const auto* code = std::get_if<std::shared_ptr<CpuCode>>(&loaded);
  if (code == nullptr) {
    return nullptr;
  }
  (*code)->cache_name_ = cache_name;
  return *code;
}

std::shared_ptr<CpuCode> CpuCode::find(const std::string& cache_name, const std::string& name) {
  return loaded_code().get(cache_name, [&]() -> std::shared_ptr<CpuCode> {
    if (std::shared_ptr<CpuCode> code =
            try_load_entry(KernelCache::instance().find_named(cache_name), name, cache_name)) {
      return code;
    }
    loaded_code().note_unusable(cache_name);
    return nullptr;
  });
}

std::variant<std::shared_ptr<CpuCode>, KernelRefusal> CpuCode::try_compile(
    const std::string& source,
    const std::string& name,
    const std::vector<std::string>& include_paths) {
  if (const std::optional<Refusal> missing = HostCompiler::find_missing()) {
    // A machine that has none is no news; a name that leads nowhere is.
    const bool is_named = !environment_text("CXX").empty();
    return KernelRefusal{
        *missing,
        is_named ? KernelRefusal::Cause::CompilerFailure : KernelRefusal::Cause::NoCompiler};
  }
  const HostCompiler& compiler = HostCompiler::get();
  std::vector<std::string> options = compiler.options();
  for (const std::string& path : include_paths) {
    options.push_back("-I" + path);
  }
  std::string key = "cpu\n" + compiler.command() + "\n" + compiler.version() + "\n";
  key += host_cpu_id();
  for (const std::string& option : options) {
    key += option + "\n";
  }
  key += name + "\n" + source;
  const std::string cache_name = KernelCache::name_of(key);
  std::optional<KernelRefusal> refused;
  std::shared_ptr<CpuCode> code = loaded_code().get(cache_name, [&]() -> std::shared_ptr<CpuCode> {
    // An include can change without the source: such kernels are not kept.
    KernelCache* disk = include_paths.empty() ? &KernelCache::instance() : nullptr;
    if (disk != nullptr && !loaded_code().is_unusable(cache_name)) {
      if (std::shared_ptr<CpuCode> code = try_load_entry(disk->find(key), name, cache_name)) {
        return code;
      }
    }
    const auto object = compiler.try_compile(source, name, options);
    if (const auto* refusal = std::get_if<KernelRefusal>(&object)) {
      refused = *refusal;
      return nullptr;
    }
    const auto loaded = try_load(std::get<std::string>(object), name);
    if (const auto* refusal = std::get_if<KernelRefusal>(&loaded)) {
      refused = *refusal;
      return nullptr;
    }
    const auto& made = std::get<std::shared_ptr<CpuCode>>(loaded);
    if (disk != nullptr) {
      disk->store(key, std::get<std::string>(object));
      made->cache_name_ = cache_name;
    }
    return made;
  });
  if (refused) {
    return std::move(*refused);
  }
  return code;
}

void clear_loaded_cpu_code() {
  loaded_code().clear();
}

} // namespace nvfuser
