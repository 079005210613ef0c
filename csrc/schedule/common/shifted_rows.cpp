#include "schedule/common/shifted_rows.h"

#include <algorithm>

#include "base/register_file.h"
#include "ir/fusion.h"
#include "ir/scalar.h"

namespace nvfuser::schedule {
namespace {

/// Vectors of the shortest row: two of them are moved element by element.
constexpr int64_t kFewestVectors = 32;

/// Whether the elements of all rows lie behind each other in memory, and the first begins a vector.
bool is_one_run(const TensorAccess& access, const RunFacts& facts) {
  const int64_t alignment =
      access.is_output ? facts.target().max_vector_bytes : facts.input(access.position).alignment;
  const VectorRun& all = access.runs.back();
  return access.has_all_axes && !access.updated_input && all.exists &&
         all.memory_axes.size() == memory_axes(access.tensor).size() &&
         alignment % facts.target().max_vector_bytes == 0;
}

/// Whether it is an input of one row, whose elements are neighbours in memory.
bool is_one_row(const TensorAccess& access, size_t kept, size_t reduced) {
  return !access.is_output && !access.has_any_axis(0, kept) &&
         std::ranges::all_of(
             access.has_axis.begin() + static_cast<int64_t>(kept), access.has_axis.end(),
             [](bool has) { return has; }) &&
         access.runs[reduced - 1].exists;
}

/// Bytes of the narrowest element that each row has anew, at most `most`.
int64_t narrowest_of_rows(const ReductionProblem& problem, int64_t most) {
  int64_t narrowest = most;
  for (const TensorAccess& access : problem.accesses) {
    narrowest =
        access.has_all_axes ? std::min(narrowest, size_bytes(access.tensor->dtype())) : narrowest;
  }
  return narrowest;
}

} // namespace

std::optional<ProblemSizes> find_shifted_sizes(
    const ReductionProblem& problem,
    const ProblemSizes& sizes,
    const RunFacts& facts,
    int64_t enough_lanes) {
  const int64_t widest = facts.target().max_vector_bytes;
  const int64_t lanes = widest / narrowest_of_rows(problem, widest);
  if (sizes.vectors.lanes >= enough_lanes || sizes.reduced < kFewestVectors * lanes) {
    return std::nullopt;
  }
  const size_t kept = problem.kept.size();
  const size_t reduced = problem.reduced.size();
  ProblemSizes shifted = sizes;
  shifted.is_shifted = true;
  shifted.reduced += lanes - 1;
  shifted.vectors.lanes = lanes;
  for (size_t i = 0; i < problem.accesses.size(); ++i) {
    const TensorAccess& access = problem.accesses[i];
    int64_t& width = shifted.vectors.widths[i];
    if (access.is_lookup()) {
      return std::nullopt;
    }
    const bool is_sum_over_rows = access.is_output && !access.has_any_axis(0, kept);
    if (is_sum_over_rows || !access.has_any_axis(kept, kept + reduced)) {
      width = 1;
    } else if (is_one_run(access, facts) || is_one_row(access, kept, reduced)) {
      width = std::min(lanes, widest / size_bytes(access.tensor->dtype()));
    } else {
      return std::nullopt;
    }
  }
  return shifted;
}

std::optional<ProblemSizes> find_shifted_sizes(
    const ReductionProblem& problem, const ProblemSizes& sizes, const RunFacts& facts) {
  const int64_t narrowest = narrowest_of_rows(problem, facts.target().max_vector_bytes);
  return find_shifted_sizes(problem, sizes, facts, ceil_div(kRegisterBytes, narrowest));
}

ProblemSizes with_half_vectors(const ProblemSizes& shifted) {
  ProblemSizes narrow = shifted;
  narrow.vectors.lanes /= 2;
  narrow.reduced -= narrow.vectors.lanes;
  for (int64_t& width : narrow.vectors.widths) {
    width = std::min(width, narrow.vectors.lanes);
  }
  return narrow;
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
