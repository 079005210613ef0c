#include "base/trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "base/warnings.h"

namespace nvfuser {
namespace {

constexpr int64_t kNotTraced = -1;

struct CloseFile {
  void operator()(std::FILE* file) const {
    std::fclose(file);
  }
};

/// The file of this process. It is a JSON array whose end is left out, as the format allows, so
/// that it can be read while the process runs and after it was killed.
class TraceFile {
 public:
  TraceFile() {
    const char* path = std::getenv("NVFUSER_TRACE");
    if (path == nullptr || *path == '\0') {
      return;
    }
    file_.reset(std::fopen(path, "w"));
    if (file_ == nullptr) {
      warn(std::string("NVFUSER_TRACE: cannot write ") + path);
      return;
    }
    std::fputs("[\n", file_.get());
  }

  [[nodiscard]] bool is_open() const {
    return file_ != nullptr;
  }
  [[nodiscard]] int64_t now_us() const {
    const auto elapsed = std::chrono::steady_clock::now() - begin_;
    return std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
  }
  /// `name` is of this project's making: it needs no escapes.
  void write(const std::string& name, int64_t begin_us, int64_t end_us) {
    const std::lock_guard lock(mutex_);
    std::fprintf(
        file_.get(),
        "{\"name\": \"%s\", \"ph\": \"X\", \"ts\": %lld, \"dur\": %lld, \"pid\": %ld, \"tid\": "
        "%ld},\n",
        name.c_str(), static_cast<long long>(begin_us), static_cast<long long>(end_us - begin_us),
        static_cast<long>(getpid()), static_cast<long>(syscall(SYS_gettid)));
    std::fflush(file_.get());
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::mutex mutex_;
};

TraceFile& trace_file() {
  static auto& file = *new TraceFile(); // outlives spans of static lifetime
  return file;
}

} // namespace

TraceSpan::TraceSpan(std::string_view name) : begin_us_(kNotTraced) {
  if (trace_file().is_open()) {
    name_ = name;
    begin_us_ = trace_file().now_us();
  }
}

TraceSpan::~TraceSpan() {
  if (begin_us_ != kNotTraced) {
    trace_file().write(name_, begin_us_, trace_file().now_us());
  }
}

} // namespace nvfuser
