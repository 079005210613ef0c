// Outputs that depend on scalars of the host alone are computed there, as PyTorch does it: they
// need no launch, and the caller gets them in the host's memory.
#pragma once

#include <memory>
#include <vector>

#include "host/partition.h"
#include "ir/fusion.h"

namespace nvfuser::host {

/// A fusion in two parts that share nothing but inputs. Both compute what both need.
struct HostScalars {
  std::shared_ptr<Fusion> whole;
  std::shared_ptr<Fusion> scalars;  // nullptr: no output is one
  std::shared_ptr<Fusion> others;   // has all inputs; `whole` if there is nothing to part
  std::vector<int64_t> inputs = {}; // by input of `scalars`: its position in `whole`
  std::vector<bool> is_scalar = {}; // by output of `whole`

  /// Whether some output is no scalar of the host.
  [[nodiscard]] bool has_others() const;
};

/// `is_cuda`: whether it runs on a GPU. Elsewhere there is nothing to part.
[[nodiscard]] HostScalars split_host_scalars(const std::shared_ptr<Fusion>& whole, bool is_cuda);

/// Let `partition`, which computes `parts.others`, compute the scalars as well: behind all others,
/// since they may update arguments that those read. Requires: there are scalars. Where nothing else
/// is computed, `partition` is empty.
void add_host_scalars(Partition& partition, const HostScalars& parts);

} // namespace nvfuser::host
