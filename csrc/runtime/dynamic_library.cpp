#include "runtime/dynamic_library.h"

#include <dlfcn.h>

namespace nvfuser {

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) {
    dlclose(handle_);
  }
}

DynamicLibrary DynamicLibrary::open(const std::string& path, std::string& error) {
  DynamicLibrary library;
  library.handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.is_open()) {
    const char* text = dlerror();
    error = text != nullptr ? text : "cannot open " + path;
  }
  return library;
}

void* DynamicLibrary::find(const char* symbol) const {
  return dlsym(handle_, symbol);
}

std::string DynamicLibrary::file_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  return info.dli_fname;
}

} // namespace nvfuser
