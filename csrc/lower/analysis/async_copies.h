// Asynchronous copies: what moves data while the thread that began it goes on, and how threads
// learn that it has arrived. Passes ask the mechanism of a copy; they name none.
//
//   cp.async   moves 4, 8 or 16 bytes from global to shared memory. Copies that are committed
//              together are a group; a thread waits for its own groups, the oldest first. Others
//              see what it copied after a barrier.
//   bulk loads move a box from global to shared memory (lower/analysis/bulk_copies.h). Their groups
//              belong to the block: a thread that has waited for one sees all of it.
//   stages     are groups of bulk loads that their readers hand back, so that no barrier of the
//              block says when they may be overwritten. Both sides count them through the kernel:
//
//                the loading thread                     each thread that computes
//                AsyncWait(Set)         it was read     AsyncWait(CpAsyncBulk)    it has arrived
//                BulkLoad ..                            .. reads it
//                AsyncCommit(CpAsyncBulk)               AsyncCommit(Set)          it was read
//
//              A group of `CpAsyncBulk` is the loads of a stage, one of `Set` all accesses of the
//              threads to it. Threads that compute wait for one stage after the other.
//
// On a target that cannot copy so, no copy has a mechanism: it is a copy like any other.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

class AsyncMechanism {
 public:
  virtual ~AsyncMechanism() = default;
  /// The operation that copies of this kind are in a definition.
  [[nodiscard]] virtual LoadStoreOpType op() const = 0;

  /// Says no to what no copy of this kind can do.
  [[nodiscard]] virtual std::optional<Refusal> find_wrong_copy(const TensorView* tensor) const = 0;
  /// Whether a copy whose condition does not hold fills its destination with zeros.
  [[nodiscard]] virtual bool fills_holes() const = 0;
  /// Whether a thread that has waited sees what other threads copied, without a barrier.
  [[nodiscard]] virtual bool is_seen_by_block() const = 0;

  // -- statements around the copies; none where the mechanism needs none --

  /// Before copies begin: what they overwrite has been read, for all but the youngest `keep_stages`
  /// groups.
  [[nodiscard]] virtual Scope acquire(Kernel& kernel, int64_t keep_stages) const = 0;
  /// The copies begun since the last commit are a group.
  [[nodiscard]] virtual Scope commit(Kernel& kernel) const = 0;
  /// All groups but the youngest `keep_stages` have arrived.
  [[nodiscard]] virtual Scope wait(Kernel& kernel, int64_t keep_stages) const = 0;
  /// This thread has read a stage: copies may overwrite it once all its readers have.
  [[nodiscard]] virtual Scope arrive(Kernel& kernel) const = 0;
};

/// How `expr`, an expression of tensors or a statement on elements, copies while its thread goes
/// on; nullptr: it does not, as everything on a target that cannot.
[[nodiscard]] const AsyncMechanism* async_mechanism(const Kernel& kernel, const Expr* expr);

/// The same on a target that can.
[[nodiscard]] const AsyncMechanism* mechanism_of(const Expr* expr);

/// How the copies of circular buffers do whose stages are handed back: on every target, so that
/// threads that load and threads that read are told apart.
[[nodiscard]] const AsyncMechanism& stages_handed_back();

/// Kinds of the groups that they commit and wait for.
constexpr LoadStoreOpType kLoadsOfStage = LoadStoreOpType::CpAsyncBulk;
constexpr LoadStoreOpType kReadsOfStage = LoadStoreOpType::Set;

/// Which threads come to a statement about stages that are handed back.
enum class StageSide : uint8_t { None, Load, Read };
[[nodiscard]] StageSide stage_side(const Expr& statement);

/// Whether a hole of it is filled by the copy itself, so that no condition leaves it out.
[[nodiscard]] bool fills_holes(const Kernel& kernel, const Expr* expr);

/// Says no to what no asynchronous copy can do, on any target. Nothing to say about other tensors.
[[nodiscard]] std::optional<Refusal> find_wrong_async_copy(const TensorView* tensor);

} // namespace nvfuser
