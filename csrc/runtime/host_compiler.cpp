#include "runtime/host_compiler.h"

#include <sys/statvfs.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/environment.h"
#include "base/errors.h"
#include "base/options.h"
#include "base/trace.h"
#include "runtime/file_io.h"
#include "runtime/nvrtc.h"
#include "runtime/subprocess.h"

namespace nvfuser {
namespace {

std::vector<std::string> split_words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) {
    words.push_back(word);
  }
  return words;
}

/// Commands, best first.
std::vector<std::string> names_to_try() {
  if (const std::string chosen = environment_text("CXX"); !chosen.empty()) {
    return {chosen}; // a choice that does not work must not be covered up
  }
  return {"c++", "g++", "clang++"};
}

/// Where a program of that name is looked for: what to put before it.
std::vector<std::string> folders_of(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    return {""};
  }
  std::vector<std::string> folders;
  std::istringstream path(environment_text("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    folders.push_back((folder.empty() ? "." : folder) + "/");
  }
  return folders;
}

/// The first compiler that is found by its path.
std::string find_files() {
  const TraceSpan span("look for the compiler");
  for (const std::string& name : names_to_try()) {
    const std::vector<std::string> command = split_words(name);
    if (command.empty()) {
      continue;
    }
    for (const std::string& folder : folders_of(command.front())) {
      if (const std::string file = identity_of_file(folder + command.front()); !file.empty()) {
        return name + ": " + file;
      }
    }
  }
  return "";
}

/// Line of the first error ("kernel.cpp:12:3: error: ..."); 0 if there is none.
int first_error_line(const std::string& log, const std::string& file) {
  const size_t error = log.find("error:");
  const size_t start = error == std::string::npos ? error : log.rfind(file + ":", error);
  return start == std::string::npos
             ? 0
             : static_cast<int>(std::strtol(log.c_str() + start + file.size() + 1, nullptr, 10));
}

constexpr const char* kFreeTheDisk =
    "free space on that disk, or set TMPDIR to a folder on another one";

bool is_disk_full(const std::string& folder) {
  struct statvfs status{};
  if (statvfs(folder.c_str(), &status) != 0) {
    return false;
  }
  // Some file systems count no files.
  return status.f_bavail == 0 || (status.f_files > 0 && status.f_favail == 0);
}

} // namespace

KernelRefusal HostCompiler::refuse_failure(const std::string& what, const std::string& fix) const {
  return {
      refuse(
          {
              .headline = {"The C++ compiler, which compiles CPU kernels, failed."},
              .node = Part::none(),
              .expected = {"a shared object, made by ", command_text_, " (", version_, ")"},
              .found = {what},
              .fix = {fix},
          },
          ErrorKind::NotImplemented),
      KernelRefusal::Cause::CompilerFailure};
}

const std::string& HostCompiler::files() {
  static const std::string& files = *new std::string(find_files()); // a process uses one compiler
  return files;
}

bool HostCompiler::find(std::string& reason) {
  for (const std::string& name : names_to_try()) {
    std::vector<std::string> command = split_words(name);
    if (command.empty()) {
      continue;
    }
    command_ = command;
    command.emplace_back("--version");
    const RunResult result = run_program(command);
    if (result.status == 0) {
      command_text_ = name;
      version_ = result.output.substr(0, result.output.find('\n'));
      return true;
    }
    reason += (reason.empty() ? "" : "\n") + name + ": " + result.output;
  }
  return false;
}

const HostCompiler* HostCompiler::maybe_get(std::string* reason) {
  struct Found {
    HostCompiler compiler;
    std::string reason;
    bool ok = false;
  };
  // Never destroyed: threads may still compile when the process ends.
  static const Found& found = *[] {
    auto* result = new Found();
    result->ok = result->compiler.find(result->reason);
    return result;
  }();
  if (reason != nullptr) {
    *reason = found.reason;
  }
  return found.ok ? &found.compiler : nullptr;
}

std::optional<Refusal> HostCompiler::find_missing() {
  std::string reason;
  if (maybe_get(&reason) != nullptr) {
    return std::nullopt;
  }
  const bool is_named = !environment_text("CXX").empty();
  return refuse(
      {
          .headline = {"A C++ compiler, which compiles CPU kernels, was not found."},
          .node = Part::none(),
          .expected =
              {is_named ? "a compiler by the name that the variable CXX has"
                        : "c++, g++ or clang++ on PATH, or another compiler that CXX names"},
          .found = {reason},
          .fix =
              {is_named ? "name it in CXX as the shell finds it, or unset CXX: c++, g++ or clang++ "
                          "on PATH will serve"
                        : "install one, or name it in CXX"},
      },
      ErrorKind::NotImplemented);
}

const HostCompiler& HostCompiler::get() {
  check(find_missing());
  return *maybe_get();
}

std::vector<std::string> HostCompiler::options() const {
  std::vector<std::string> options = {
      "-std=c++17",      "-O3",
      "-march=native",   "-shared",
      "-fPIC",           "-w",
      "-fno-math-errno", "-fno-trapping-math",
      "-fno-exceptions", "-fno-rtti",
      "-fwrapv",         "-fno-strict-aliasing",
      "-fopenmp-simd",   "-fno-stack-protector",
  };
  // g++ makes sin(atan(NaN)) 1 and cos(atan(NaN)) 0, by formulas for what it knows.
  for (const char* name : {"atan", "atanf", "atanh", "atanhf"}) {
    options.emplace_back(std::string("-fno-builtin-") + name);
  }
  // g++ gives a test of an element its own copy of the code behind it, with a division of its own:
  // in a vector all copies run.
  if (version_.find("clang") == std::string::npos) {
    options.emplace_back("-fno-thread-jumps");
  }
  options.emplace_back(has_option(DisableOption::Fma) ? "-ffp-contract=off" : "-ffp-contract=fast");
  if (has_option(EnableOption::KernelDebug) || has_option(EnableOption::KernelLineinfo)) {
    options.emplace_back("-g");
  }
  return options;
}

std::variant<std::string, KernelRefusal> HostCompiler::try_compile(
    const std::string& source,
    const std::string& name,
    const std::vector<std::string>& options) const {
  std::optional<Refusal> reason;
  const std::optional<PrivateFolder> folder = PrivateFolder::try_make(reason);
  if (!folder) {
    return KernelRefusal{*reason, KernelRefusal::Cause::NoCompiler};
  }
  const std::string source_path = folder->path() + "/" + name + ".cpp";
  const std::string object_path = folder->path() + "/" + name + ".so";
  if (!write_file(source_path, source)) {
    return refuse_failure(
        "Cannot write " + source_path + ": " + std::strerror(errno), kFreeTheDisk);
  }
  std::vector<std::string> command = command_;
  command.insert(command.end(), options.begin(), options.end());
  for (const char* word : {"-o", object_path.c_str(), source_path.c_str(), "-lm"}) {
    command.emplace_back(word);
  }
  const RunResult result = run_program(command);
  std::string object;
  if (result.status == 0 && read_file(object_path, object) && !object.empty()) {
    return object;
  }
  if (is_disk_full(folder->path())) {
    return refuse_failure(
        "The disk of " + folder->path() + " is full.\n" + result.output, kFreeTheDisk);
  }
  const std::string other_compiler =
      "name another compiler in CXX; " + command_text_ + " is what was found";
  if (result.status == 0) {
    return refuse_failure(
        "It says that it succeeded, and wrote no output.\n" + result.output, other_compiler);
  }
  if (result.signal != 0) {
    return refuse_failure(
        std::string("It was ended by a signal: ") + strsignal(result.signal) + ".\n" +
            result.output,
        "see that it has enough memory, or name another compiler in CXX");
  }
  const int line = first_error_line(result.output, source_path);
  if (line == 0) { // not about the source
    return refuse_failure(result.output, other_compiler);
  }
  throw UserError({
      .headline = {"CPU kernel ", name, " does not compile."},
      .node = Part::none(),
      .expected = {"source that ", command_text_, " accepts (", version_, ")"},
      .found = {result.output, "\n", source_excerpt(source, line)},
      .fix = Part::none(),
  });
}

std::string HostCompiler::compile(
    const std::string& source,
    const std::string& name,
    const std::vector<std::string>& options) const {
  auto object = try_compile(source, name, options);
  if (const auto* refusal = std::get_if<KernelRefusal>(&object)) {
    throw_refusal(*refusal);
  }
  return std::get<std::string>(std::move(object));
}

const std::string& host_cpu_id() {
  static const std::string& id = *[] { // never destroyed, like the compiler
    // The first processor stands for all; its lines end with the first empty one.
    std::ifstream in("/proc/cpuinfo");
    auto* result = new std::string();
    for (std::string line; std::getline(in, line) && !line.empty();) {
      for (const char* key :
           {"vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU implementer",
            "CPU part"}) {
        if (line.rfind(key, 0) == 0) {
          *result += line + "\n";
          break;
        }
      }
    }
    return result;
  }();
  return id;
}

} // namespace nvfuser
