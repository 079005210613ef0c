#include "schedule/common/shifted_rows.h"

#include <algorithm>

#include "ir/fusion.h"
#include "ir/scalar.h"

namespace nvfuser::schedule {
namespace {

/// Shorter rows are mostly ends.
constexpr int64_t kFewestVectors = 64;
/// Rows of one input fit in shared memory, where single elements wait for nothing.
constexpr int64_t kFewestInputs = 2;

/// Whether a tensor has rows of the problem, of which vectors are loaded or stored.
bool has_rows(const TensorAccess& access) {
  return access.has_all_axes && !access.is_lookup();
}

/// Whether a tensor has elements of columns that all rows, or some, share: each of its vectors is
/// loaded as two, and waited for. That took as long as what the rows gained.
bool is_excluded(const TensorAccess& access) {
  return !access.has_all_axes && access.has_axis.back();
}

} // namespace

std::optional<ProblemSizes> sizes_of_shifted_rows(
    const ReductionProblem& problem, const RunFacts& facts, const ProblemSizes& sizes) {
  if (!facts.target().is_cuda() || !problem.is_inner || problem.kept.empty() ||
      problem.reduced.size() != 1 || sizes.streams < kFewestInputs) {
    return std::nullopt;
  }
  std::vector<int64_t> widths;
  for (const TensorAccess& access : problem.accesses) {
    widths.push_back(has_rows(access) ? widest_access_of_packed(access, facts) : 1);
    if (is_excluded(access) || (has_rows(access) && widths.back() == 1)) {
      return std::nullopt;
    }
  }
  ProblemSizes shifted = sizes;
  shifted.vectors = choose_vector_widths(problem.accesses, std::move(widths), facts);
  const int64_t lanes = shifted.vectors.lanes;
  if (lanes <= sizes.vectors.lanes || sizes.reduced < kFewestVectors * lanes) {
    return std::nullopt;
  }
  shifted.reduced = ceil_div(sizes.reduced + lanes - 1, lanes) * lanes;
  return shifted;
}

void shift_row(LoopRoles& loops, LoopRole role, ParallelType blocks, int64_t lanes) {
  const IterDomain* axis = loops.axis(role);
  Fusion& fusion = *axis->fusion();
  Val* width = fusion.new_index(lanes);
  Val* elements = axis->extent();
  Val* before = scalar::mod(scalar::mul(fusion.parallel_index(blocks), elements), width);
  Val* positions = scalar::mul(
      scalar::ceil_div(scalar::add(elements, fusion.new_index(lanes - 1)), width), width);
  Val* behind = scalar::sub(scalar::sub(positions, elements), before);
  loops.tensor()->resize(loops.position(role), before, behind, axis->iter_type());
}

} // namespace nvfuser::schedule
