#include "base/environment.h"

#include <cstdlib>
#include <limits>

#include "base/errors.h"
#include "base/target.h"

namespace nvfuser {
namespace {

constexpr int64_t kAnyNumber = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostRegisters = Target::cuda().max_registers_per_thread;

[[noreturn]] void throw_malformed(
    const char* name, const char* what, const Part& expected, const std::string& text) {
  throw UserError({
      .headline = {name, " ", what},
      .node = Part::none(),
      .expected = expected,
      .found = {"'", text, "'"},
      .fix = {"unset it, or set it to one of these"},
  });
}

/// The integer of a variable that is set to something. Beyond 64 bits it is the nearest of those.
std::optional<int64_t> read_int(const char* name, int64_t least, int64_t most = kAnyNumber) {
  const std::string text = environment_text(name);
  if (text.empty()) {
    return std::nullopt;
  }
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 10); // saturates
  const Part expected =
      most != kAnyNumber
          ? Part("an integer from ", least, " to ", most)
          : (least == -kAnyNumber ? Part("an integer") : Part("an integer from ", least, " on"));
  if (end == text.c_str() || *end != '\0') {
    throw_malformed(name, "is not a number", expected, text);
  }
  if (number < least || number > most) {
    throw_malformed(name, "is out of range", expected, text);
  }
  return number;
}

std::optional<bool> read_switch(const char* name) {
  const std::string text = environment_text(name);
  if (text.empty()) {
    return std::nullopt;
  }
  if (text != "0" && text != "1") {
    throw_malformed(name, "is neither on nor off", Part("1 or 0"), text);
  }
  return text == "1";
}

Environment read_environment() {
  Environment result;
  result.num_threads = read_int("NVFUSER_NUM_THREADS", -kAnyNumber); // is brought into range
  result.max_registers = read_int("NVFUSER_MAX_REG_COUNT", 0, kMostRegisters);
  result.jit_opt_level = read_int("NVFUSER_JIT_OPT_LEVEL", 0, 4);
  result.cache_mb = read_int("NVFUSER_CACHE_MB", 0);
  result.keeps_kernels = read_switch("NVFUSER_KERNEL_CACHE").value_or(true);
  result.verifies_passes = read_switch("NVFUSER_VERIFY_PASSES").value_or(false);
  std::optional<bool> no_fallback = read_switch("NVFUSER_DISABLE_FALLBACK");
  if (!no_fallback) {
    no_fallback = read_switch("PYTORCH_NVFUSER_DISABLE_FALLBACK");
  }
  result.disables_fallback = no_fallback.value_or(false);
  return result;
}

} // namespace

const Environment& environment() {
  static const Environment result = read_environment(); // is tried again where it throws
  return result;
}

std::string environment_text(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

} // namespace nvfuser
