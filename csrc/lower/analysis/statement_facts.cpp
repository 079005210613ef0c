#include "lower/analysis/statement_facts.h"

#include <unordered_set>

#include "ir/scopes.h"

namespace nvfuser {

void forget_absent_statements(Kernel& kernel) {
  std::unordered_set<const Expr*> present;
  for_each_node(kernel.body, [&](const Expr& statement) { present.insert(&statement); });
  const auto is_absent = [&](const auto& entry) { return !present.contains(entry.first); };
  std::erase_if(kernel.tests, is_absent);
  std::erase_if(kernel.origin, is_absent);
}

} // namespace nvfuser
