// The loops of a map: those of its reference, which all tensors take.
#pragma once

#include <utility>

#include "ir/tensor_view.h"
#include "schedule/params/pointwise_params.h"

namespace nvfuser::schedule::pointwise {

/// The loops of the reference, named while they are made. Its broadcasts stand behind them.
class ReferenceLoops {
 public:
  ReferenceLoops(TensorView* reference, const PointwiseParams& params)
      : reference_(reference), params_(params) {}

  /// Returns how many of its leading axes a block or task has one iteration of.
  int64_t make();

  [[nodiscard]] bool has_two_sides() const {
    return has_two_sides_;
  }

 private:
  std::pair<int64_t, int64_t> broadcasts_last();
  void split(int64_t position, int64_t factor);
  int64_t make_for_tasks();
  int64_t make_for_threads();
  int64_t bind_blocks();

  TensorView* reference_;
  const PointwiseParams& params_;
  bool has_two_sides_ = false;
};

} // namespace nvfuser::schedule::pointwise
