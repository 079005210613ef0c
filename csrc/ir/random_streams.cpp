#include "ir/random_streams.h"

#include <algorithm>

#include "ir/fusion.h"
#include "ir/random_exprs.h"

namespace nvfuser {

int64_t stream_in_use(const RNGOp& op) {
  const std::vector<Expr*> exprs = op.fusion()->exprs();
  return std::count_if(exprs.begin(), exprs.end(), [&](const Expr* expr) {
    const auto* other = expr->as<RNGOp>();
    return other != nullptr && other->seed == nullptr && other->stream < op.stream;
  });
}

} // namespace nvfuser
