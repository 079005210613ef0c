#include "runtime/nvrtc.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/environment.h"
#include "base/errors.h"
#include "base/trace.h"
#include "runtime/cuda_driver.h"
#include "runtime/dynamic_library.h"
#include "runtime/file_io.h"

namespace nvfuser {

namespace fs = std::filesystem;

/// The library's C interface. `int` stands for its result enumeration; 0 is success.
struct Nvrtc::Functions {
  using Program = void*;
  DynamicLibrary library;
  int (*version)(int*, int*) = nullptr;
  int (*num_archs)(int*) = nullptr;
  int (*archs)(int*) = nullptr;
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) =
      nullptr;
  int (*destroy)(Program*) = nullptr;
  int (*compile)(Program, int, const char* const*) = nullptr;
  int (*log_size)(Program, size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*cubin_size)(Program, size_t*) = nullptr;
  int (*cubin)(Program, char*) = nullptr;
  int (*ptx_size)(Program, size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  const char* (*error_text)(int) = nullptr;

  /// Whether all of them were found.
  bool bind() {
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(library.find(symbol));
      return function != nullptr;
    };
    return find(version, "nvrtcVersion") && find(num_archs, "nvrtcGetNumSupportedArchs") &&
           find(archs, "nvrtcGetSupportedArchs") && find(create, "nvrtcCreateProgram") &&
           find(destroy, "nvrtcDestroyProgram") && find(compile, "nvrtcCompileProgram") &&
           find(log_size, "nvrtcGetProgramLogSize") && find(log, "nvrtcGetProgramLog") &&
           find(cubin_size, "nvrtcGetCUBINSize") && find(cubin, "nvrtcGetCUBIN") &&
           find(ptx_size, "nvrtcGetPTXSize") && find(ptx, "nvrtcGetPTX") &&
           find(error_text, "nvrtcGetErrorString");
  }
};

namespace {

std::mutex search_mutex;

std::vector<std::string>& search_folders() {
  static auto& folders = *new std::vector<std::string>(); // outlives threads that compile
  return folders;
}

/// Files in `folder` whose names start with `prefix`, the highest version first.
std::vector<std::string> files_starting_with(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.rbegin(), files.rend());
  return files;
}

constexpr std::array kNames = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}; // best first

/// Everything worth trying to open, best first. Folders of packages are asked for the names: to
/// list them would take a later process longer than its kernel.
std::vector<std::string> candidates() {
  if (const std::string chosen = environment_text("NVFUSER_NVRTC"); !chosen.empty()) {
    std::error_code error;
    // A choice that does not work must not be covered up.
    return fs::is_directory(chosen, error) ? files_starting_with(chosen, "libnvrtc.so")
                                           : std::vector{chosen};
  }
  std::vector<std::string> result;
  const auto add_folder = [&](const std::string& folder) {
    for (const char* name : kNames) {
      if (std::string path = folder + "/" + name; ::access(path.c_str(), F_OK) == 0) {
        result.push_back(std::move(path));
      }
    }
  };
  for (const std::string& folder : library_search_paths()) {
    add_folder(folder);
    for (const std::string& wheel : files_starting_with(folder + "/nvidia", "cu")) {
      add_folder(wheel + "/lib");
    }
    add_folder(folder + "/torch/lib");
  }
  result.insert(result.end(), kNames.begin(), kNames.end());
  if (const std::string home = environment_text("CUDA_HOME"); !home.empty()) {
    add_folder(home + "/lib64");
  }
  add_folder("/usr/local/cuda/lib64");
  return result;
}

/// NVRTC opens its builtins by bare name, which finds the wrong file, or none, unless they lie on
/// the library path. Opened before by full path, they are found by name.
void open_builtins_beside(const std::string& library_path) {
  const fs::path path(library_path);
  if (!path.has_parent_path()) {
    return;
  }
  for (const std::string& file :
       files_starting_with(path.parent_path().string(), "libnvrtc-builtins.so")) {
    std::string error;
    DynamicLibrary builtins = DynamicLibrary::open(file, error);
    if (builtins.is_open()) {
      builtins.release();
      return;
    }
  }
}

/// Line of the first error in a log ("kernel.cu(12): error: ..."); 0 if it names none.
int first_error_line(const std::string& log) {
  const size_t error = log.find("error");
  const size_t open = log.rfind('(', error);
  if (error == std::string::npos || open == std::string::npos) {
    return 0;
  }
  return static_cast<int>(std::strtol(log.c_str() + open + 1, nullptr, 10));
}

} // namespace

void set_library_search_paths(std::vector<std::string> folders) {
  const std::lock_guard lock(search_mutex);
  search_folders() = std::move(folders);
}

std::vector<std::string> library_search_paths() {
  const std::lock_guard lock(search_mutex);
  return search_folders();
}

std::string source_excerpt(const std::string& source, int line) {
  constexpr int kContext = 4;
  std::istringstream in(source);
  std::ostringstream out;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    if (number >= line - kContext && number <= line + kContext) {
      out << (number == line ? "> " : "  ") << number << " | " << text << "\n";
    }
  }
  return out.str();
}

bool Nvrtc::load(std::string& reason) {
  const CudaDriver* driver = CudaDriver::maybe_get();
  std::unique_ptr<Functions> best;
  for (const std::string& candidate : candidates()) {
    open_builtins_beside(candidate);
    std::string error;
    auto functions = std::make_unique<Functions>();
    functions->library = DynamicLibrary::open(candidate, error);
    if (!functions->library.is_open() || !functions->bind()) {
      reason += (reason.empty() ? "" : "\n") + candidate + ": " +
                (error.empty() ? "not a complete NVRTC" : error);
      continue;
    }
    int major = 0;
    int minor = 0;
    functions->version(&major, &minor);
    const bool is_loadable = driver == nullptr || major <= driver->version() / 1000;
    if (best == nullptr || is_loadable) {
      best = std::move(functions);
      version_ = {major, minor};
    }
    if (is_loadable) {
      break;
    }
  }
  if (best == nullptr) {
    return false;
  }
  int count = 0;
  best->num_archs(&count);
  architectures_.resize(static_cast<size_t>(count));
  best->archs(architectures_.data());
  path_ = DynamicLibrary::file_of(reinterpret_cast<const void*>(best->version));
  best->library.release(); // it keeps threads and must not be closed
  functions_ = best.release();
  return true;
}

const std::string& Nvrtc::files() {
  // Once, since a process opens one library.
  static const std::string& files = *[] {
    const TraceSpan span("look for NVRTC");
    auto* text = new std::string();
    for (const std::string& candidate : candidates()) {
      *text += identity_of_file(candidate);
    }
    if (const Nvrtc* nvrtc = text->empty() ? maybe_get() : nullptr) {
      *text = identity_of_file(nvrtc->path());
    }
    return text;
  }();
  return files;
}

const Nvrtc* Nvrtc::maybe_get(std::string* reason) {
  struct Loaded {
    Nvrtc nvrtc;
    std::string reason;
    bool ok = false;
  };
  static const Loaded& loaded = *[] {
    auto* result = new Loaded();
    result->ok = result->nvrtc.load(result->reason);
    return result;
  }();
  if (reason != nullptr) {
    *reason = loaded.reason;
  }
  return loaded.ok ? &loaded.nvrtc : nullptr;
}

std::optional<Refusal> Nvrtc::find_missing() {
  std::string reason;
  if (maybe_get(&reason) != nullptr) {
    return std::nullopt;
  }
  const std::string named = environment_text("NVFUSER_NVRTC");
  if (reason.empty()) {
    reason = named.empty() ? "no file of that name" : "no file of that name in " + named;
  }
  return refuse(
      {
          .headline = {"NVRTC, which compiles CUDA kernels, was not found."},
          .node = Part::none(),
          .expected =
              {named.empty() ? "libnvrtc.so of CUDA 12 or 13"
                             : "libnvrtc.so of CUDA 12 or 13, where NVFUSER_NVRTC says"},
          .found = {reason},
          .fix =
              {named.empty() ? "pip install nvidia-cuda-nvrtc, or name its file in NVFUSER_NVRTC"
                             : "name its file or folder in NVFUSER_NVRTC, or unset that: it is "
                               "looked for where pip and CUDA put it"},
      },
      ErrorKind::NotImplemented);
}

const Nvrtc& Nvrtc::get() {
  nvfuser::check(find_missing());
  return *maybe_get();
}

std::string Nvrtc::architecture(int major, int minor) const {
  const int wanted = 10 * major + minor;
  int newest = 0;
  bool is_known = false;
  for (const int architecture : architectures_) {
    is_known = is_known || architecture == wanted;
    newest = std::max(newest, architecture <= wanted ? architecture : 0);
  }
  if (is_known) {
    // From Hopper on, instructions of one architecture alone have an "a".
    return "sm_" + std::to_string(wanted) + (major >= 9 ? "a" : "");
  }
  if (newest == 0) {
    throw UserError({
        .headline = {"NVRTC cannot compile for this GPU."},
        .node = Part::none(),
        .expected =
            {"compute capability ", architectures_.front() / 10, ".", architectures_.front() % 10,
             " or higher"},
        .found =
            {"compute capability ", major, ".", minor, ", NVRTC ", version_.first, ".",
             version_.second},
        .fix = {"install an NVRTC that knows the GPU, or pass CPU tensors"},
    });
  }
  return "compute_" + std::to_string(newest);
}

CudaBinary Nvrtc::compile(
    const std::string& source,
    const std::string& name,
    const std::string& architecture,
    const std::vector<std::string>& options) const {
  const Functions& f = *functions_;
  struct Program {
    const Functions& f;
    Functions::Program handle = nullptr;
    ~Program() {
      if (handle != nullptr) {
        f.destroy(&handle);
      }
    }
  } program{f};
  const auto check = [&](int result, const char* what) {
    NVF_USER_CHECK(result == 0, "NVRTC: ", what, " failed: ", f.error_text(result));
  };
  check(
      f.create(&program.handle, source.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr),
      "nvrtcCreateProgram");

  const std::string architecture_option = "--gpu-architecture=" + architecture;
  std::vector<const char*> arguments = {architecture_option.c_str()};
  for (const std::string& option : options) {
    arguments.push_back(option.c_str());
  }
  const int result =
      f.compile(program.handle, static_cast<int>(arguments.size()), arguments.data());

  CudaBinary binary;
  size_t size = 0;
  check(f.log_size(program.handle, &size), "nvrtcGetProgramLogSize");
  binary.log.resize(size);
  check(f.log(program.handle, binary.log.data()), "nvrtcGetProgramLog");
  binary.log.resize(size > 0 ? size - 1 : 0); // the terminating zero
  if (result != 0) {
    throw UserError({
        .headline = {"CUDA kernel ", name, " does not compile: ", f.error_text(result)},
        .node = Part::none(),
        .expected =
            {"source that NVRTC ", version_.first, ".", version_.second, " accepts for ",
             architecture},
        .found = {binary.log, "\n", source_excerpt(source, first_error_line(binary.log))},
        .fix = Part::none(),
    });
  }
  binary.is_ptx = architecture.rfind("compute_", 0) == 0;
  const auto size_of = binary.is_ptx ? f.ptx_size : f.cubin_size;
  const auto code_of = binary.is_ptx ? f.ptx : f.cubin;
  check(size_of(program.handle, &size), "reading the size of the code");
  binary.code.resize(size);
  check(code_of(program.handle, binary.code.data()), "reading the code");
  if (binary.is_ptx && !binary.code.empty() && binary.code.back() == '\0') {
    binary.code.pop_back(); // a text has its terminating zero behind it, not in it
  }
  return binary;
}

} // namespace nvfuser
