#include "runtime/cpu_code.h"

#include <cerrno>
#include <cstring>

#include "base/errors.h"
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

} // namespace

/// Open the bytes of a shared object. A file is needed only for as long as that takes.
std::shared_ptr<CpuCode> load_shared_object(const std::string& object, const std::string& name) {
  const PrivateFolder folder;
  const std::string path = folder.path() + "/" + name + ".so";
  NVF_USER_CHECK(write_file(path, object), "Cannot write ", path, ": ", std::strerror(errno));
  auto code = std::make_shared<CpuCode>();
  std::string error;
  code->library_ = DynamicLibrary::open(path, error);
  NVF_USER_CHECK(code->library_.is_open(), "Cannot load the CPU kernel ", name, ": ", error);
  code->function_ = reinterpret_cast<CpuKernelFn>(code->library_.find(name.c_str()));
  NVF_USER_CHECK(code->function_ != nullptr, "The source of CPU kernel ", name, " has no ", name);
  return code;
}

std::shared_ptr<CpuCode> CpuCode::compile(
    const std::string& source,
    const std::string& name,
    const std::vector<std::string>& include_paths) {
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
  return loaded_code().get(key, [&] {
    // An include can change without the source: such kernels are not kept.
    KernelCache* disk = include_paths.empty() ? &KernelCache::instance() : nullptr;
    if (const auto object = disk != nullptr ? disk->find(key) : std::nullopt) {
      return load_shared_object(*object, name);
    }
    const std::string object = compiler.compile(source, name, options);
    std::shared_ptr<CpuCode> code = load_shared_object(object, name);
    if (disk != nullptr) {
      disk->store(key, object);
    }
    return code;
  });
}

void clear_loaded_cpu_code() {
  loaded_code().clear();
}

} // namespace nvfuser
