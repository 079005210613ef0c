#include "ir/topo_sort.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "base/numbering.h"
#include "base/pointer_set.h"
#include "ir/expr.h"

namespace nvfuser {

namespace {

/// Was everything that `expr` reads computed by expressions that are older than it?
bool reads_older_exprs(const Expr* expr) {
  return std::ranges::all_of(expr->inputs(), [&](const Val* input) {
    const Expr* definition = input->definition();
    return definition == nullptr || definition == expr || definition->serial() < expr->serial();
  });
}

} // namespace

std::vector<Expr*> topo_sort(std::vector<Expr*> exprs) {
  std::sort(exprs.begin(), exprs.end(), [](const Expr* a, const Expr* b) {
    return a->serial() < b->serial();
  });
  if (std::ranges::all_of(exprs, reads_older_exprs)) {
    return exprs; // as most are created: the oldest one is always ready
  }
  Numbering<const Expr*> numbers;
  numbers.reserve(exprs.size());
  for (const Expr* expr : exprs) {
    numbers.add(expr);
  }
  struct Reader {
    size_t number;
    size_t next; // position of another reader of the same expression
  };
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  std::vector<Reader> readers;
  std::vector<size_t> first_reader(exprs.size(), kNone);
  std::vector<size_t> num_pending(exprs.size(), 0);
  for (size_t i = 0; i < exprs.size(); ++i) {
    for (const Val* input : exprs[i]->inputs()) {
      const std::optional<size_t> producer = numbers.find(input->definition());
      if (producer.has_value() && *producer != i) {
        readers.push_back(
            {.number = i, .next = std::exchange(first_reader[*producer], readers.size())});
        ++num_pending[i];
      }
    }
  }

  // The smallest ready position first: positions are in order of creation.
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (num_pending[i] == 0) {
      ready.push(i);
    }
  }
  std::vector<Expr*> sorted;
  sorted.reserve(exprs.size());
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    sorted.push_back(exprs[i]);
    for (size_t at = first_reader[i]; at != kNone; at = readers[at].next) {
      if (--num_pending[readers[at].number] == 0) {
        ready.push(readers[at].number);
      }
    }
  }
  NVF_INVARIANT(sorted.size() == exprs.size(), "expressions do not depend on themselves");
  return sorted;
}

std::vector<Expr*> sorted_definitions(
    const std::vector<Val*>& to, const std::unordered_set<const Val*>& stop) {
  constexpr size_t kFew = 16; // the transforms of most domains: a list is as fast as a set
  std::vector<Expr*> found;
  PointerSet<Expr> visited; // once there are more
  const auto is_new = [&](Expr* expr) {
    if (found.size() < kFew) {
      return std::ranges::find(found, expr) == found.end();
    }
    if (found.size() == kFew) {
      std::ranges::for_each(found, [&](const Expr* known) { visited.insert(known); });
    }
    return visited.insert(expr);
  };
  const auto add_definitions = [&](const std::vector<Val*>& vals) {
    for (const Val* val : vals) {
      Expr* definition = val->definition();
      if (definition == nullptr || (!stop.empty() && stop.contains(val)) || !is_new(definition)) {
        continue;
      }
      if (found.empty()) {
        found.reserve(kFew);
      }
      found.push_back(definition);
    }
  };
  add_definitions(to);
  for (size_t i = 0; i < found.size(); ++i) { // which grows meanwhile
    add_definitions(found[i]->inputs());
  }
  return topo_sort(std::move(found));
}

} // namespace nvfuser
