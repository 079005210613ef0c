// DynamicLibrary: a shared library opened at run time.
#pragma once

#include <string>
#include <utility>

namespace nvfuser {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  DynamicLibrary(DynamicLibrary&& other) noexcept {
    swap(other);
  }
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DynamicLibrary();

  /// Open a library by path or by name. Where that fails the result is closed and `error` says why.
  [[nodiscard]] static DynamicLibrary open(const std::string& path, std::string& error);
  [[nodiscard]] bool is_open() const {
    return handle_ != nullptr;
  }
  /// The symbol's address; nullptr if there is none.
  [[nodiscard]] void* find(const char* symbol) const;
  /// The file the symbol came from; empty if the loader does not tell.
  [[nodiscard]] static std::string file_of(const void* address);
  /// Never close: for libraries that do not survive being closed.
  void release() {
    handle_ = nullptr;
  }

 private:
  void swap(DynamicLibrary& other) noexcept {
    std::swap(handle_, other.handle_);
  }
  void* handle_ = nullptr;
};

} // namespace nvfuser
