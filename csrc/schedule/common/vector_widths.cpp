#include "schedule/common/vector_widths.h"

#include <algorithm>
#include <numeric>

namespace nvfuser::schedule {
namespace {

constexpr int64_t kBitsPerByte = 8;

/// The largest power of two that divides `number`; `most` for 0, and at most that.
int64_t power_of_two_in(int64_t number, int64_t most) {
  return number == 0 ? most : std::min(number & -number, most);
}

/// Bits that are moved for each element of the reference; what is broadcast is moved rarely.
int64_t weight_of(const TensorAccess& access) {
  return access.has_all_axes && !access.is_lookup() ? size_bits(access.tensor->dtype()) : 0;
}

} // namespace

int64_t widest_access(const TensorAccess& access, size_t merged_axes, const RunFacts& facts) {
  return merged_axes == 0 || merged_axes > access.runs.size()
             ? 1
             : widest_access(access, access.runs[merged_axes - 1], facts);
}

namespace {

/// Elements of a vector of `tensor`; `input`: whose memory it is, if that is given.
int64_t widest_run(
    const TensorView* tensor,
    const VectorRun& run,
    std::optional<size_t> input,
    const RunFacts& facts) {
  if (!run.exists) {
    return 1;
  }
  const int64_t bits = size_bits(tensor->dtype());
  int64_t width = facts.target().max_vector_bytes * kBitsPerByte / bits;
  for (const std::vector<const Val*>& extents : run.multiples) {
    int64_t product = 1;
    for (const Val* extent : extents) {
      product *= power_of_two_in(facts.size(extent), width);
    }
    width = power_of_two_in(product, width);
  }
  if (!input) {
    return std::max<int64_t>(width, 1); // fresh memory is aligned and packed
  }
  const InputLayout& layout = facts.input(*input);
  for (size_t i = 0; i < layout.sizes.size(); ++i) {
    const bool is_in_run =
        std::ranges::find(run.memory_axes, static_cast<int64_t>(i)) != run.memory_axes.end();
    if (!is_in_run && layout.sizes[i] > 1) {
      width = power_of_two_in(layout.strides[i], width);
    }
  }
  width = std::min(width, layout.alignment * kBitsPerByte / bits);
  return std::max<int64_t>(width, 1);
}

} // namespace

int64_t widest_access(const TensorAccess& access, const VectorRun& run, const RunFacts& facts) {
  if (access.is_lookup()) {
    return 1;
  }
  const std::optional<size_t> input =
      access.is_output ? access.updated_input : std::optional(access.position);
  return widest_run(access.tensor, run, input, facts);
}

int64_t widest_access(const LookupAccess& lookup, const RunFacts& facts) {
  return widest_run(lookup.input, lookup.run, lookup.position, facts);
}

bool may_be_vectorized(const TensorAccess& access, size_t merged_axes) {
  return !access.is_lookup() && merged_axes > 0 && merged_axes <= access.runs.size() &&
         access.runs[merged_axes - 1].exists;
}

VectorWidths choose_vector_widths(
    const std::vector<TensorAccess>& accesses, size_t merged_axes, const RunFacts& facts) {
  VectorWidths chosen;
  int64_t all_bits = 0;
  int64_t widest = 1;
  for (const TensorAccess& access : accesses) {
    chosen.widths.push_back(widest_access(access, merged_axes, facts));
    all_bits += weight_of(access);
    widest = std::max(widest, chosen.widths.back());
  }
  // The widest number of lanes for which tensors with half of the bytes are accessed as widely as
  // their type allows.
  for (int64_t lanes = widest; lanes > 1; lanes /= 2) {
    int64_t wide_bits = 0;
    for (size_t i = 0; i < accesses.size(); ++i) {
      const int64_t bits = size_bits(accesses[i].tensor->dtype());
      const int64_t of_type = facts.target().max_vector_bytes * kBitsPerByte / bits;
      if (chosen.widths[i] >= std::min(lanes, of_type)) {
        wide_bits += weight_of(accesses[i]);
      }
    }
    if (2 * wide_bits >= all_bits) {
      chosen.lanes = lanes;
      break;
    }
  }
  for (int64_t& width : chosen.widths) {
    width = std::min(width, chosen.lanes);
  }
  return chosen;
}

} // namespace nvfuser::schedule
