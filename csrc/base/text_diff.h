// Differences between two texts, for readers of dumps.
#pragma once

#include <string>

namespace nvfuser {

/// Lines of `before` that are gone, with "- " before them, and new ones of `after`, with "+ ", each
/// group with the line before it; "..." stands for lines that are equal. Empty for equal texts.
[[nodiscard]] std::string text_diff(const std::string& before, const std::string& after);

} // namespace nvfuser
