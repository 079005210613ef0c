// Accesses to shared memory of a CPU kernel that checks itself for races, as calls of
// runtime/cpu/race_check.h.
#pragma once

#include <string>

#include "lower/kernel.h"

namespace nvfuser {

/// The statement that accesses an element of shared memory.
struct RaceAccess {
  const Kernel& kernel;
  const Expr& statement;
  bool is_written;
};
/// The index of an element, noted as accessed: `race.read(T1_tags, i3, 1)`. `name` is that of the
/// tensor; `lanes`: of how many neighbours.
[[nodiscard]] std::string checked_index(
    const RaceAccess& access,
    const TensorView* tensor,
    const std::string& name,
    const std::string& index,
    int64_t lanes);

/// The call by which a thread commits or awaits copies: `race.commit(RaceGroups::of_block);`.
/// Requires: an AsyncCommit or AsyncWait that is about no stage, a BulkStoreWait or a
/// FenceAsyncProxy.
[[nodiscard]] std::string race_statement(const Expr& statement);

} // namespace nvfuser
