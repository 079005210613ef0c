// TensorView: a tensor of the fusion. Its domain says what it is and how its loops run; its
// positions say which of them it shares with its neighbours.
//
// The scheduling primitives are declared here and defined in transform/, one file each: the IR
// floor itself never calls them.
#pragma once

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ir/iter_domain.h"
#include "ir/schedule_step.h"
#include "ir/tensor_domain.h"
#include "ir/tensor_schedule.h"

namespace nvfuser {

class TensorView final : public Val {
 public:
  [[nodiscard]] TensorDomain* domain() const {
    return domain_;
  }
  [[nodiscard]] const IterDomains& root() const {
    return domain_->root();
  }
  [[nodiscard]] const IterDomains& maybe_root() const {
    return domain_->maybe_root();
  }
  [[nodiscard]] const IterDomains& logical() const {
    return domain_->logical();
  }
  [[nodiscard]] const IterDomains& maybe_allocation() const {
    return domain_->maybe_allocation();
  }
  [[nodiscard]] const IterDomains& loop() const {
    return domain_->loop();
  }
  [[nodiscard]] bool has_root() const {
    return domain_->has_root();
  }
  [[nodiscard]] bool has_allocation() const {
    return domain_->has_allocation();
  }
  /// Loop axes.
  [[nodiscard]] int64_t ndims() const {
    return domain_->ndims();
  }
  /// Logical dimensions without reductions: the rank a user sees.
  [[nodiscard]] int64_t rank() const;
  /// A loop axis; negative positions count from the end.
  [[nodiscard]] IterDomain* axis(int64_t position) const;
  /// Extent (expanded if expanded) of a logical dimension without reductions.
  [[nodiscard]] Val* size(int64_t dim) const;
  [[nodiscard]] std::vector<Val*> shape() const;

  /// The properties that its schedule adds; methods of the names of its fields follow.
  [[nodiscard]] const TensorSchedule& schedule() const {
    return schedule_;
  }
  [[nodiscard]] MemoryType memory_type() const {
    return schedule_.memory_type;
  }
  /// Outer loop axes shared with every consumer.
  [[nodiscard]] int64_t compute_at_position() const {
    return schedule_.compute_at_position;
  }
  /// Outer loop axes inside which some producer is computed.
  [[nodiscard]] int64_t max_producer_position() const {
    return schedule_.max_producer_position;
  }
  /// Outer loop axes shared with the first consumer in the kernel, 0: as many as with the others.
  /// Which consumer that is, is known to lowering only: it lists the results of that expression.
  [[nodiscard]] int64_t compute_with_position() const {
    return schedule_.compute_with_position;
  }
  [[nodiscard]] const std::vector<TensorView*>& compute_with_consumers() const {
    return schedule_.compute_with_consumers;
  }
  /// Outer loop axes shared with one consumer.
  [[nodiscard]] int64_t compute_position(const TensorView* consumer) const;
  /// Outer loop axes inside which some producer is computed if this tensor's expression is the
  /// first to read it.
  [[nodiscard]] int64_t maybe_max_producer_position() const {
    return std::max(schedule_.maybe_max_producer_position, schedule_.max_producer_position);
  }
  /// Whether some loop is shared with a producer or a consumer, or may be.
  [[nodiscard]] bool is_inlined() const {
    return schedule_.compute_at_position > 0 || schedule_.compute_with_position > 0 ||
           maybe_max_producer_position() > 0;
  }
  [[nodiscard]] bool is_cpu_scalar() const {
    return schedule_.is_cpu_scalar;
  }
  [[nodiscard]] bool has_reduction() const; // in the loop domain
  [[nodiscard]] bool has_broadcast() const;
  /// Tensors read by the definition / made by expressions that read this; no duplicates.
  [[nodiscard]] std::vector<TensorView*> producers() const;
  [[nodiscard]] std::vector<TensorView*> consumers() const;
  /// The other outputs of the definition.
  [[nodiscard]] std::vector<TensorView*> siblings() const;

  // Properties that are set as they are have `transform::set` (transform/settings.h).

  // -- scheduling: axes (transform/split.cpp, merge, reorder, swizzle, broadcast, resize) --
  TensorView* split(int64_t axis, int64_t factor, bool inner_split = true);
  TensorView* split(int64_t axis, Val* factor, bool inner_split = true);
  TensorView* inner_split(int64_t axis, int64_t factor);
  TensorView* outer_split(int64_t axis, int64_t factor);
  TensorView* merge(int64_t axis_o, int64_t axis_i);
  TensorView* merge(int64_t axis);
  TensorView* flatten(int64_t from = 0, int64_t to = -1);
  TensorView* reorder(const std::unordered_map<int64_t, int64_t>& old2new);
  TensorView* reorder(const std::vector<int64_t>& permutation);
  TensorView* swizzle(int64_t x, int64_t y);
  TensorView* swizzle(SwizzleType type, int64_t x, int64_t y);
  TensorView* swizzle1d(int64_t x, ParallelType parallel_type);
  TensorView* broadcast(int64_t axis, Val* extent = nullptr);
  TensorView* resize(
      int64_t axis, Val* left, Val* right, std::optional<IterType> iter_type = std::nullopt);

  // -- scheduling: tensors (transform/cache.cpp, rfactor.cpp, memory.cpp) --
  TensorView* cache_after(
      LoadStoreOpType op_type = LoadStoreOpType::Set,
      CacheOp cache_op = CacheOp::Unspecified,
      bool propagate_allocation_domain = true,
      const std::vector<Expr*>& cached_uses = {});
  TensorView* cache_before(LoadStoreOpType op_type = LoadStoreOpType::Set);
  TensorView* cache_fork();
  TensorView* rfactor(const std::vector<int64_t>& axes);
  std::vector<TensorView*> rfactor(
      const std::vector<int64_t>& axes, const std::vector<TensorView*>& tvs);
  void set_memory_type(MemoryType memory_type);
  void set_allocation_domain(const IterDomains& ids, bool contiguity);
  void set_allocation_domain(const IterDomains& ids, const Contiguity& contiguity);
  void set_loop_domain(const IterDomains& ids);
  // (transform/edit_domain.cpp)
  void set_contiguity(bool contiguity);
  void set_contiguity(const Contiguity& contiguity);
  void commit_leaf_to_logical();
  void clear_reduction_iter_domains();

  // -- scheduling: positions (transform/inline.cpp, compute_with.cpp) --
  TensorView* inline_at(int64_t position, bool best_effort = false);
  TensorView* compute_with(int64_t position, bool best_effort = false);
  void clear_compute_position();

  // -- scheduling: loading ahead (transform/circular_buffer.cpp) --
  void circular_buffer(
      int64_t number_of_stages,
      int64_t prefetch_distance = -1,
      const std::variant<Pipelined, WarpSpecialized>& type = Pipelined{});

  // -- editing without checks, for the transform and lower floors --
  TensorSchedule& edit_schedule() {
    count_edit();
    return schedule_;
  }
  void assign_domain(TensorDomain* domain) {
    domain_ = domain;
    count_edit_of_axes();
  }
  void assign_memory_type(MemoryType memory_type) {
    edit_schedule().memory_type = memory_type;
    schedule_.promotes_reuse = schedule_.promotes_reuse && memory_type == MemoryType::Shared;
  }
  void assign_compute_at_position(int64_t position) {
    edit_schedule().compute_at_position = position;
  }
  void assign_max_producer_position(int64_t position) {
    edit_schedule().max_producer_position = position;
  }
  void assign_compute_with(int64_t position, std::vector<TensorView*> consumers = {}) {
    edit_schedule().compute_with_position = position;
    schedule_.compute_with_consumers = std::move(consumers);
  }
  void assign_maybe_max_producer_position(int64_t position) {
    edit_schedule().maybe_max_producer_position = position;
  }
  void assign_cpu_scalar(bool is_cpu_scalar) {
    edit_schedule().is_cpu_scalar = is_cpu_scalar;
  }
  void assign_dtype(DataType dtype) {
    dtype_ = dtype;
    count_edit();
  }

  /// The lines of the schedule: every primitive applied to this tensor and the line that did it.
  using Step = ScheduleStep;
  [[nodiscard]] const std::vector<Step>& schedule_steps() const {
    return schedule_steps_;
  }
  /// A primitive whose result is not part of the tensor tells its effect on the graph.
  void record_step(ScheduleCall call, GraphEffect effect = {});
  /// Whether the primitive was applied to this tensor: `has_step<steps::SetMemoryType>()`.
  template <typename Primitive>
  [[nodiscard]] bool has_step() const {
    return std::any_of(
        schedule_steps_.begin(), schedule_steps_.end(),
        [](const ScheduleStep& step) { return std::holds_alternative<Primitive>(step.call); });
  }

 private:
  friend class Fusion;
  friend class FusionReader;
  friend class Cloner;
  TensorView(TensorDomain* domain, DataType dtype, TensorSchedule schedule)
      : Val(ValType::TensorView, dtype), domain_(domain), schedule_(std::move(schedule)) {}

  TensorDomain* domain_;
  TensorSchedule schedule_;
  std::vector<Step> schedule_steps_;
};

/// The tensors among the operands of an expression; every tensor once, in operand order.
[[nodiscard]] std::vector<TensorView*> tensor_inputs(const Expr* expr);
[[nodiscard]] std::vector<TensorView*> tensor_outputs(const Expr* expr);

/// `position` counted from the end if negative, checked against [0, size). An error names
/// `node`, whose positions they are.
[[nodiscard]] int64_t wrap_axis(int64_t position, int64_t size, const Statement* node = nullptr);

} // namespace nvfuser
