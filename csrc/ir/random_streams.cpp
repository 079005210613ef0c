#include "ir/random_streams.h"

#include <algorithm>

#include "ir/fusion.h"
#include "ir/random_exprs.h"

namespace nvfuser {
namespace {

/// The ages of the random tensors with implicit seed that a fusion needs, sorted.
std::vector<int64_t> ages_in(const Fusion& fusion) {
  std::vector<int64_t> ages;
  for (const Expr* expr : fusion.exprs()) {
    const auto* op = expr->as<RNGOp>();
    if (op != nullptr && op->seed == nullptr) {
      ages.push_back(op->stream);
    }
  }
  std::ranges::sort(ages);
  return ages;
}

int64_t place_of(int64_t age, const std::vector<int64_t>& ages) {
  return std::ranges::lower_bound(ages, age) - ages.begin();
}

} // namespace

int64_t stream_in_use(const RNGOp& op) {
  return place_of(op.stream, ages_in(*op.fusion()));
}

int64_t count_random_streams(const Fusion& fusion) {
  return static_cast<int64_t>(ages_in(fusion).size());
}

std::vector<int64_t> random_numbers_of(const Fusion& part, const Fusion& whole) {
  const std::vector<int64_t> all = ages_in(whole);
  std::vector<int64_t> numbers;
  for (const int64_t age : ages_in(part)) {
    numbers.push_back(place_of(age, all));
  }
  return numbers;
}

} // namespace nvfuser
