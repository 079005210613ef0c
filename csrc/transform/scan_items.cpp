#include "transform/scan_items.h"

#include <algorithm>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "ir/domain_exprs.h"

namespace nvfuser::transform {
namespace {

using Splits = std::unordered_map<const IterDomain*, const Split*>;

/// The parts that `id` was split into, in the order of its positions.
void append_parts(IterDomain* id, const Splits& splits, IterDomains& parts) {
  const auto split = splits.find(id);
  if (split == splits.end()) {
    parts.push_back(id);
    return;
  }
  append_parts(split->second->outer, splits, parts);
  append_parts(split->second->inner, splits, parts);
}

} // namespace

IterDomains items_of_scan(const TensorView* tensor) {
  const IterDomains scanned = axes_read(tensor, AxisRead::Scanned);
  if (scanned.empty()) {
    return {};
  }
  Splits splits;
  for (const Expr* expr : tensor->domain()->all_exprs()) {
    if (const auto* split = expr->as<Split>()) {
      splits[split->in] = split;
    }
  }
  IterDomains parts;
  for (IterDomain* axis : scanned) {
    append_parts(axis, splits, parts);
  }
  const auto thread = std::find_if(parts.begin(), parts.end(), [](const IterDomain* id) {
    return is_block_dim(id->parallel_type());
  });
  if (thread == parts.end()) {
    return {};
  }
  IterDomains items(thread + 1, parts.end());
  std::erase_if(items, [](const IterDomain* id) { return id->extent()->is_one(); });
  return items;
}

} // namespace nvfuser::transform
