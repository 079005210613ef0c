#include "schedule/common/short_rows.h"

#include <algorithm>

namespace nvfuser::schedule {
namespace {

/// Along longer rows a vector is loaded whole, and the sum over its lanes costs less than loads of
/// one element each, which are what rows in lanes have.
constexpr int64_t kLongestShortRow = 48;

} // namespace

std::optional<ShortRows> find_short_rows(const ProblemSizes& sizes) {
  const int64_t lanes = lanes_of_step(sizes.widest_bytes, sizes.narrowest_bytes);
  if (sizes.reduced > kLongestShortRow || sizes.kept < lanes) {
    return std::nullopt;
  }
  const int64_t elements = lanes * std::max<int64_t>(sizes.reduced, 1);
  return ShortRows{
      .lanes = lanes,
      .groups = std::clamp<int64_t>(
          power_of_two_below(kTaskElements / elements), 1,
          power_of_two_above(ceil_div(sizes.kept, lanes)))};
}

void choose_short_rows(const ShortRows& rows, const ProblemSizes& sizes, ReductionParams& params) {
  params.vectorize_iter_dom = true;
  params.unroll_factor_iter_dom = rows.lanes;
  params.iterations_per_task = rows.groups;
  params.lparams.bind(ParallelType::BIDx, ceil_div(sizes.kept, rows.lanes * rows.groups));
}

} // namespace nvfuser::schedule
