#include "base/environment.h"

#include <cstdlib>

#include "base/errors.h"

namespace nvfuser {

std::optional<int64_t> environment_int(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  char* end = nullptr;
  const int64_t number = std::strtoll(text, &end, 10); // saturates
  if (*end != '\0') {
    throw UserError({
        .headline = {name, " is not a number"},
        .node = Part::none(),
        .expected = {"an integer"},
        .found = {"'", text, "'"},
        .fix = {"unset it, or write digits only"},
    });
  }
  return number;
}

} // namespace nvfuser
