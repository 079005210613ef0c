#include "schedule/common/fixed_sizes.h"

#include <algorithm>

#include "graph/domain_map.h"
#include "ir/substitute_scalars.h"

namespace nvfuser::schedule {
namespace {

[[noreturn]] void refuse_size(const IterDomain* axis, int64_t size) {
  throw UserError(
      {.headline = "fixed_sizes has a size that the kernel cannot be made for",
       .node = describe(axis),
       .expected =
           {"0; at least 2, where ", axis->extent()->to_inline_string(),
            " is the size of an input, and no number"},
       .found = size,
       .fix = "leave the size at 0"});
}

} // namespace

bool may_be_fixed(const IterDomain* axis) {
  const Val* extent = axis->extent();
  return extent->is_const_int() || (extent->definition() == nullptr && !extent->is_fusion_input());
}

void fix_sizes(Fusion& fusion, const IterDomains& axes, const std::vector<int64_t>& sizes) {
  ScalarSubstitution substitution(fusion);
  bool is_any_fixed = false;
  for (size_t i = 0; i < std::min(sizes.size(), axes.size()); ++i) {
    Val* extent = axes[i]->extent();
    const bool is_same = extent->is_const_int() && as_int(extent->value()) == sizes[i];
    if (sizes[i] == 0 || is_same) {
      continue;
    }
    if (sizes[i] < 2 || extent->is_const_int() || !may_be_fixed(axes[i])) {
      refuse_size(axes[i], sizes[i]);
    }
    substitution.replace(extent, fusion.new_index(sizes[i]));
    is_any_fixed = true;
  }
  if (is_any_fixed) {
    substitution.apply(scheduled_tensors(fusion));
  }
}

} // namespace nvfuser::schedule
