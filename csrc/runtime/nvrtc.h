// NVRTC, opened at run time: CUDA source to machine code. Needs no device.
//
// Where it is looked for, first match wins: NVFUSER_NVRTC (a file or a folder), the folders given
// to set_library_search_paths and the wheels in them (nvidia/cu*/lib, torch/lib), the system's
// library path, the usual places of the CUDA toolkit. Where the driver is older than a library
// found, one that the driver can load the code of is preferred.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/refusal.h"

namespace nvfuser {

/// Folders with libraries or with wheels (site-packages), best first. Call before the first
/// compilation.
void set_library_search_paths(std::vector<std::string> folders);
[[nodiscard]] std::vector<std::string> library_search_paths();

struct CudaBinary {
  std::string code; // a cubin, or PTX where machine code cannot be made
  bool is_ptx = false;
  std::string log; // warnings, the assembler's report
};

class Nvrtc {
 public:
  /// The library; nullptr where there is none, `reason` says what was tried.
  [[nodiscard]] static const Nvrtc* maybe_get(std::string* reason = nullptr);
  [[nodiscard]] static const Nvrtc& get();
  /// Says no where there is none.
  [[nodiscard]] static std::optional<Refusal> find_missing();
  /// A text that changes when a new process would find another library. The library is opened for
  /// it only where no file of it is found by its path.
  [[nodiscard]] static const std::string& files();

  /// {13, 1}
  [[nodiscard]] std::pair<int, int> version() const {
    return version_;
  }
  [[nodiscard]] const std::string& path() const {
    return path_;
  }
  /// "sm_90a" for {9, 0}: the most specific architecture that the library and the device share. For
  /// a device newer than the library: the newest "compute_.." it knows, which gives PTX.
  [[nodiscard]] std::string architecture(int major, int minor) const;
  /// Compile `source`, whose options contain no architecture, for `architecture`. Errors show the
  /// source around the first line that failed.
  [[nodiscard]] CudaBinary compile(
      const std::string& source,
      const std::string& name,
      const std::string& architecture,
      const std::vector<std::string>& options) const;

 private:
  struct Functions;
  Nvrtc() = default;
  [[nodiscard]] bool load(std::string& reason);

  const Functions* functions_ = nullptr;
  std::pair<int, int> version_{};
  std::string path_;
  std::vector<int> architectures_; // 80, 90 ...
};

/// `source` around `line` (from 1), each line with its number, the line itself marked.
[[nodiscard]] std::string source_excerpt(const std::string& source, int line);

} // namespace nvfuser
