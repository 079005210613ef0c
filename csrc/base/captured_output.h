// OutputCapture: a text of all that a thread, and the tasks that it starts, write to std::cout.
//
//   OutputCapture capture;
//   run();                    // dumps are collected, those of other threads are printed
//   return capture.text();
#pragma once

#include <memory>
#include <string>

namespace nvfuser {

/// The text that is collected. Threads share it.
class CapturedText;

/// The text that this thread collects now; nullptr: it prints.
[[nodiscard]] std::shared_ptr<CapturedText> captured_text();
/// Write to what this thread collects; false: it collects nothing.
bool capture_text(const std::string& text);

/// Collects in this thread until the end of its scope. The innermost one gets the text.
class OutputCapture {
 public:
  OutputCapture();
  /// Go on with what another thread collects: how a task takes over its caller's.
  explicit OutputCapture(std::shared_ptr<CapturedText> text);
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// The text collected so far.
  [[nodiscard]] std::string text() const;

 private:
  std::shared_ptr<CapturedText> text_;
  std::shared_ptr<CapturedText> previous_;
};

} // namespace nvfuser
