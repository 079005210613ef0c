#include "base/trace.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <sstream>

#include "base/environment.h"
#include "base/warnings.h"

namespace nvfuser {
namespace {

constexpr int64_t kNotTraced = -1;

/// The file of this process: a JSON array, complete after every event, so that it can be read while
/// the process runs and whatever ends it. An event replaces the end of the array by itself and a
/// new end, in one write. A forked child, which has the same file, writes nothing.
class TraceFile {
 public:
  TraceFile() {
    const std::string path = environment_text("NVFUSER_TRACE");
    if (path.empty()) {
      return;
    }
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) {
      warn("NVFUSER_TRACE: cannot write " + path + ": " + std::strerror(errno));
      return;
    }
    put("[", "");
  }

  [[nodiscard]] bool is_open() const {
    return file_ >= 0 && getpid() == owner_;
  }
  [[nodiscard]] int64_t now_us() const {
    const auto elapsed = std::chrono::steady_clock::now() - begin_;
    return std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
  }
  /// `name` is of this project's making: it needs no escapes.
  void write(const std::string& name, int64_t begin_us, int64_t end_us) {
    std::ostringstream event;
    event << "{\"name\": \"" << name << "\", \"ph\": \"X\", \"ts\": " << begin_us
          << ", \"dur\": " << end_us - begin_us << ", \"pid\": " << owner_
          << ", \"tid\": " << syscall(SYS_gettid) << "}";
    const std::lock_guard lock(mutex_);
    put(event.str(), has_events_ ? ",\n" : "\n");
    has_events_ = true;
  }

 private:
  /// Write `separator`, `text` and the end of the array over the end that is there.
  void put(const std::string& text, const char* separator) {
    constexpr const char* kEnd = "\n]\n";
    const std::string kept = separator + text;
    const std::string bytes = kept + kEnd;
    // A disk that is full ends the trace, not the program.
    if (pwrite(file_, bytes.data(), bytes.size(), end_) == static_cast<ssize_t>(bytes.size())) {
      end_ += static_cast<off_t>(kept.size());
    } else if (ftruncate(file_, end_) == 0) {
      [[maybe_unused]] const ssize_t ended = pwrite(file_, kEnd, std::strlen(kEnd), end_);
    }
  }

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const pid_t owner_ = getpid();
  int file_ = -1;
  off_t end_ = 0; // of the last event; the end of the array follows
  bool has_events_ = false;
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
