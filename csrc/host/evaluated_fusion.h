#pragma once

#include <memory>

#include "ir/fusion.h"

namespace nvfuser::host {

/// An evaluator keeps here what it found out about a fusion when it first evaluated it. Only
/// evaluators touch it, under a lock of their own.
struct EvaluatorNotes {
  std::shared_ptr<void> kept; // empty before
};

/// A fusion that runs evaluate again and again, and that does not change.
struct EvaluatedFusion {
  std::shared_ptr<Fusion> fusion;
  std::shared_ptr<EvaluatorNotes> notes = std::make_shared<EvaluatorNotes>();
};

} // namespace nvfuser::host
