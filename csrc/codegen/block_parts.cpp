#include "codegen/block_parts.h"

#include "lower/analysis/conditions.h"

namespace nvfuser {
namespace {

constexpr size_t kMostOfBlock = 48; // statements that stay in one function
constexpr size_t kFewestOfFunction = 16;

/// The statements in a tree, without the loops and conditions around them.
size_t count_statements(const Scope& scope) {
  size_t count = 0;
  for_each_node(scope, [&](const Expr& expr) { count += bodies_of(expr).empty() ? 1 : 0; });
  return count;
}

} // namespace

std::vector<BlockPart> parts_of_block(const Scope& body) {
  if (count_statements(body) <= kMostOfBlock) {
    return {{body}};
  }
  std::vector<BlockPart> parts;
  size_t size = 0; // of the last part
  for (Expr* expr : body) {
    const bool is_function = !only_declares(*expr);
    const bool is_full = is_function && size >= kFewestOfFunction;
    if (parts.empty() || parts.back().is_function != is_function || is_full) {
      parts.push_back({.is_function = is_function});
      size = 0;
    }
    parts.back().statements.push_back(expr);
    size += count_statements({expr});
  }
  return parts;
}

} // namespace nvfuser
