#include "base/text_diff.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace nvfuser {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Whether a line stays, goes or is new.
enum class Fate : char { Same = ' ', Gone = '-', New = '+' };
struct Step {
  Fate fate;
  std::string_view line;
};

/// The steps from `before` to `after` with the most lines kept. Beyond kMostPairs pairs of lines
/// everything is replaced.
std::vector<Step> steps_between(const Lines& before, const Lines& after) {
  constexpr size_t kMostPairs = 4'000'000;
  const size_t rows = before.size();
  const size_t columns = after.size();
  std::vector<Step> steps;
  if (rows * columns > kMostPairs) {
    for (const std::string_view line : before) {
      steps.push_back({Fate::Gone, line});
    }
    for (const std::string_view line : after) {
      steps.push_back({Fate::New, line});
    }
    return steps;
  }
  // kept[i][j]: lines that before[i..] and after[j..] have in common.
  std::vector<std::vector<uint32_t>> kept(rows + 1, std::vector<uint32_t>(columns + 1, 0));
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      kept[i][j] =
          before[i] == after[j] ? kept[i + 1][j + 1] + 1 : std::max(kept[i + 1][j], kept[i][j + 1]);
    }
  }
  size_t i = 0;
  size_t j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && before[i] == after[j]) {
      steps.push_back({Fate::Same, before[i]});
      ++i;
      ++j;
    } else if (j == columns || (i < rows && kept[i + 1][j] >= kept[i][j + 1])) {
      steps.push_back({Fate::Gone, before[i++]});
    } else {
      steps.push_back({Fate::New, after[j++]});
    }
  }
  return steps;
}

} // namespace

std::string text_diff(const std::string& before, const std::string& after) {
  if (before == after) {
    return "";
  }
  const std::vector<Step> steps = steps_between(lines_of(before), lines_of(after));
  const auto is_change = [&](size_t i) { return i < steps.size() && steps[i].fate != Fate::Same; };
  std::string text;
  bool is_cut = false; // equal lines were left out since the last one shown
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!is_change(i) && !is_change(i + 1)) {
      is_cut = true;
      continue;
    }
    text += is_cut ? "  ...\n" : "";
    is_cut = false;
    text += static_cast<char>(steps[i].fate);
    text += ' ';
    text += steps[i].line;
    text += '\n';
  }
  return text + (is_cut ? "  ...\n" : "");
}

} // namespace nvfuser
