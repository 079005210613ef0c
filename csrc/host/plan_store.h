// PlanStore: how fusions were cut and scheduled, on disk. A second process that runs the same
// definition with arguments of the same sizes goes on from there: no pass, no scheduler, no
// segmentation, no lowering.
//
//   definition, sizes of a run -> digest -> pieces, and the way that each is computed
//                                        -> kernels of the pieces (runtime/kernel_store.h)
//
// A plan is kept for the sizes it was made for, and no others: it does not matter which came first.
// The params of schedulers are not in it, only their names: when they are asked for, the run is
// planned again (Replanned), which comes to the same.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/piece_planner.h"
#include "host/piece_ways.h"
#include "runtime/signature.h"

namespace nvfuser::host {

struct StoredPiece {
  Piece piece;
  size_t like = 0; // the first piece that is computed by the same kernel; itself, if there is none
  RememberedWay way;
};

struct StoredPlan {
  std::vector<StoredPiece> pieces;
  std::vector<Slot> outputs;
  int64_t random_streams = 0;
};

/// The key of plans of `definition`, whose digest is `digest`, for runs of this signature; empty:
/// none is kept with these options.
[[nodiscard]] std::string plan_key(
    const std::string& digest, Device device, std::span<const int64_t> signature);
/// The bytes of the plan; no value if it is not there. Plans of one meaning have equal bytes.
[[nodiscard]] std::optional<std::string> find_plan(const std::string& key);
/// The plan; no value if the bytes are not whole.
[[nodiscard]] std::optional<StoredPlan> read_plan(const std::string& text);
void store_plan(const std::string& key, const StoredPlan& plan);

/// The pieces of a run, planned when they are first asked for. Thread-safe.
class Replanned {
 public:
  Replanned(std::shared_ptr<PiecePlanner> planner, std::span<const Argument> args, Device device);
  [[nodiscard]] const PlannedPieces& get();

 private:
  const std::shared_ptr<PiecePlanner> planner_;
  std::vector<std::vector<int64_t>> layouts_; // sizes, then strides, of tensors
  std::vector<Argument> args_;                // whose elements are not read
  const Device device_;
  std::mutex mutex_;
  std::optional<PlannedPieces> pieces_;
};

/// The pieces of a stored plan; what they lack comes from `replanned` when it is asked for.
[[nodiscard]] PlannedPieces pieces_of(StoredPlan plan, const std::shared_ptr<Replanned>& replanned);

} // namespace nvfuser::host
