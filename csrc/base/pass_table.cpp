#include "base/pass_table.h"

#include <algorithm>
#include <numeric>

namespace nvfuser {
namespace {

/// Number of letters to insert, remove or replace between two names.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string joined(const std::vector<std::string>& items, const char* separator) {
  std::string out;
  for (const std::string& item : items) {
    out += (out.empty() ? "" : separator) + item;
  }
  return out;
}

} // namespace

void check_pass_name(std::string_view name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return;
  }
  const auto nearest =
      std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
        return edit_distance(a, name) < edit_distance(b, name);
      });
  throw UserError(
      {.headline = {"There is no pass \"", name, "\""},
       .node = Part::none(),
       .expected = {"one of ", joined(known, ", ")},
       .found = {"\"", name, "\""},
       .fix = nearest == known.end() ? Part("leave `until` out")
                                     : Part("did you mean \"", *nearest, "\"?")},
      ErrorKind::Value);
}

void throw_violations(
    const char* pass, const std::vector<std::string>& violations, const std::string& text) {
  throw InternalError(
      __FILE__, __LINE__, "a pass leaves its IR in order",
      {"after the pass ", pass, ":\n  ", joined(violations, "\n  "), "\n", text});
}

} // namespace nvfuser
