#include "base/captured_output.h"

#include <iostream>
#include <mutex>
#include <streambuf>
#include <utility>

namespace nvfuser {

class CapturedText {
 public:
  void add(const char* text, size_t count) {
    const std::lock_guard lock(mutex_);
    text_.append(text, count);
  }
  [[nodiscard]] std::string get() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

namespace {

thread_local std::shared_ptr<CapturedText> captured_here_;

/// Stands in front of the buffer of std::cout, and passes on what no thread collects.
class SplittingBuffer final : public std::streambuf {
 public:
  explicit SplittingBuffer(std::streambuf* printed) : printed_(printed) {}

 protected:
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (captured_here_ == nullptr) {
      return printed_->sputn(text, count);
    }
    captured_here_->add(text, static_cast<size_t>(count));
    return count;
  }
  int overflow(int symbol) override {
    if (symbol == traits_type::eof()) {
      return traits_type::not_eof(symbol);
    }
    const char text = traits_type::to_char_type(symbol);
    return xsputn(&text, 1) == 1 ? symbol : traits_type::eof();
  }
  int sync() override {
    return captured_here_ == nullptr ? printed_->pubsync() : 0;
  }

 private:
  std::streambuf* const printed_;
};

void split_standard_output() {
  // Never removed: another thread may be writing at any time.
  static std::once_flag once;
  std::call_once(once, [] { std::cout.rdbuf(new SplittingBuffer(std::cout.rdbuf())); });
}

} // namespace

std::shared_ptr<CapturedText> captured_text() {
  return captured_here_;
}

bool capture_text(const std::string& text) {
  if (captured_here_ == nullptr) {
    return false;
  }
  captured_here_->add(text.data(), text.size());
  return true;
}

OutputCapture::OutputCapture() : OutputCapture(std::make_shared<CapturedText>()) {
  split_standard_output();
}

OutputCapture::OutputCapture(std::shared_ptr<CapturedText> text)
    : text_(text), previous_(std::exchange(captured_here_, std::move(text))) {}

OutputCapture::~OutputCapture() {
  captured_here_ = std::move(previous_);
}

std::string OutputCapture::text() const {
  return text_ == nullptr ? "" : text_->get();
}

} // namespace nvfuser
