// Hazards: which threads have to wait before a thread reads what another one wrote.
#pragma once

#include <unordered_map>

#include "ir/kernel_traits.h"
#include "lower/analysis/loop_model.h"

namespace nvfuser {

class ValGraph;

class Hazards {
 public:
  explicit Hazards(const Kernel& kernel);

  /// The threads that have to wait between the definition of `producer` and that of `consumer`,
  /// which reads it. An error where the reader cannot see what was written.
  [[nodiscard]] BarrierSet between(const TensorView* producer, const TensorView* consumer) const;
  /// The threads that have to wait between `producer` and any of its consumers.
  [[nodiscard]] BarrierSet after(const TensorView* producer) const;

 private:
  [[nodiscard]] bool is_seen_by_reader(
      const TensorView* producer,
      const TensorView* consumer,
      ParallelType type,
      const Loop* writer,
      const Loop* reader) const;
  void check_visible(
      const TensorView* producer,
      const TensorView* consumer,
      ParallelType type,
      const Loop* writer,
      const Loop* reader) const;

  [[nodiscard]] bool has_same_index(const IterDomain* written, const IterDomain* read) const;
  /// nvfuser::reads_elsewhere, which looks at all operands, once for each expression.
  [[nodiscard]] bool reads_elsewhere(const Expr* expr) const;

  const Kernel& kernel_;
  const ValGraph& exact_;
  mutable std::unordered_map<const Expr*, bool> reads_elsewhere_;
};

} // namespace nvfuser
