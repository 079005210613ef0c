// Dynamic shapes: one definition, resolved for the sizes of each run (transform/concretization.h).
// Runs that resolve alike share a specialization, and so its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/fusion.h"
#include "runtime/dlpack_tensor.h"
#include "transform/concretization.h"
#include "transform/unit_axes.h"

namespace nvfuser::host {

/// A definition for all arguments that resolve alike. 0: as it was given, if no shape is dynamic.
struct Specialization {
  int64_t number = 0; // in the order of first use; a part of the names of kernels
  std::shared_ptr<Fusion> fusion;
};

/// The specializations of one definition, which must not be changed any more. Thread-safe. Where no
/// shape is dynamic, these are the definition itself, and those in which axes of one element
/// between others are broadcasts (transform/unit_axes.h), for large runs. A reshape may resolve in
/// another way for every size, so that the number of specializations has a bound.
class DynamicShapes {
 public:
  /// Past that the one is forgotten that was not asked for longest.
  static constexpr size_t kMost = 256;

  explicit DynamicShapes(std::shared_ptr<Fusion> definition);

  /// The specialization for these arguments, made if they are the first of their kind. Refused: a
  /// reshape or an expand that is impossible with these sizes, and sizes that do not match where
  /// axes meet. Requires: no unfit argument.
  [[nodiscard]] std::variant<Specialization, Refusal> try_resolve(std::span<const Argument> args);
  /// The same; throws what is refused.
  [[nodiscard]] Specialization resolve(std::span<const Argument> args);
  /// By argument: is it a number that some size depends on?
  [[nodiscard]] const std::vector<bool>& sizes_depend_on() const {
    return sizes_depend_on_;
  }
  /// How many there are, and how many were forgotten.
  [[nodiscard]] int64_t count() const;
  [[nodiscard]] int64_t num_forgotten() const;

 private:
  struct RecordHash {
    size_t operator()(const Concretization& record) const {
      return record.hash();
    }
  };

  struct Known {
    Specialization specialization;
    int64_t last_use = 0; // the number of the question that it answered
  };

  /// Requires: the mutex is held.
  [[nodiscard]] Specialization specialization_for(const Concretization& record);
  /// The definition, or one whose unit axes are broadcasts. Requires: no shape is dynamic.
  [[nodiscard]] Specialization resolve_units(std::span<const Argument> args);

  const std::shared_ptr<Fusion> definition_;
  const bool is_dynamic_;
  std::vector<bool> sizes_depend_on_;
  mutable std::mutex mutex_; // of what follows
  std::unordered_map<Concretization, Known, RecordHash> specializations_;
  std::optional<std::vector<UnitCandidate>> unit_candidates_; // once a run has an axis of size 1
  std::map<std::vector<UnitCandidate>, Specialization> without_units_;
  int64_t num_made_ = 0;
  int64_t num_questions_ = 0;
};

} // namespace nvfuser::host
