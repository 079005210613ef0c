#include "lower/passes/hazards.h"

#include <algorithm>

#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/pair_graph.h"
#include "graph/val_graph.h"
#include "ir/grid_order_exprs.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/mma.h"
#include "lower/analysis/reductions.h"
#include "lower/analysis/thread_memory.h"
#include "lower/statements/element_statements.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

/// Whether lanes read what others have written to shared memory, or write what others read: rows
/// of matrices.
bool copies_rows(const TensorView* producer, const TensorView* consumer) {
  return producer->memory_type() == MemoryType::Shared &&
         (is_matrix_copy(producer->definition()) || is_matrix_copy(consumer->definition()));
}

/// The loop of `tensor` bound to a hardware index; nullptr if it has none, or one that every thread
/// repeats (an unresolved broadcast, an axis that was reduced).
const Loop* bound_loop(const Kernel& kernel, const TensorView* tensor, ParallelType type) {
  for (const Loop* loop : kernel.loop_model->nest(tensor)) {
    if (loop->parallel_type != type || loop->is_broadcast()) {
      continue;
    }
    if (!is_reduced(kernel, tensor, loop)) {
      return loop;
    }
  }
  return nullptr;
}

const Loop* reading_loop(const Kernel& kernel, const TensorView* consumer, ParallelType type) {
  for (const Loop* loop : kernel.loop_model->nest(consumer)) {
    if (loop->parallel_type == type) {
      return loop;
    }
  }
  return nullptr;
}

/// The axis of `tensor` that `loop` drives; nullptr: none.
const IterDomain* axis_in(const TensorView* tensor, const Loop& loop) {
  const auto found = std::find(loop.tensors.begin(), loop.tensors.end(), tensor);
  return found == loop.tensors.end() ? nullptr : loop.members[found - loop.tensors.begin()];
}

/// Whether the axes of the two loops correspond, by what the tensors themselves say. One loop for
/// both computes a broadcast wherever it is resolved; of two, only one thread has computed it.
bool drives_same_axis(
    const TensorView* producer,
    const Loop& writer,
    const TensorView* consumer,
    const Loop& reader) {
  const IterDomain* written = axis_in(producer, writer);
  const IterDomain* read = axis_in(consumer, reader);
  const BroadcastPairs broadcasts =
      &writer == &reader ? BroadcastPairs::Keep : BroadcastPairs::Drop;
  return written != nullptr && read != nullptr &&
         pair_graph(producer, consumer, broadcasts).are_mapped(written, read);
}

} // namespace

Hazards::Hazards(const Kernel& kernel)
    : kernel_(kernel), exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)) {}

BarrierSet Hazards::between(const TensorView* producer, const TensorView* consumer) const {
  if (producer->definition() == nullptr) {
    return {}; // an input
  }
  if (is_ordered_only(producer, consumer)) {
    return {}; // no element is read
  }
  // Which thread writes an element of a scatter's result follows from no axis.
  const bool is_scattered = overwritten_operand(producer->definition()) != nullptr ||
                            overwritten_operand(consumer->definition()) == producer;
  const AsyncMechanism* mechanism = async_mechanism(kernel_, producer->definition());
  const bool is_seen_by_block = mechanism != nullptr && mechanism->is_seen_by_block();
  BarrierSet barriers;
  for (const ParallelType type : kHardwareTypes) {
    const Val* launched = kernel_.launch.extents[type];
    if (launched == nullptr || launched->is_one()) {
      continue;
    }
    if (type == ParallelType::TIDx && producer->memory_type() == MemoryType::Local &&
        is_mma_instruction(kernel_, consumer->definition())) {
      continue; // each lane hands its registers to the instruction
    }
    if (type == ParallelType::TIDx && copies_rows(producer, consumer)) {
      barriers |= {is_seen_by_block ? Barrier::MBarrier : Barrier::Block};
      continue;
    }
    const Loop* writer = bound_loop(kernel_, producer, type);
    const Loop* reader = reading_loop(kernel_, consumer, type);
    if (!is_scattered && is_seen_by_reader(producer, consumer, type, writer, reader)) {
      continue;
    }
    check_visible(producer, consumer, type, writer, reader);
    barriers |=
        {is_grid_dim(type)  ? Barrier::Grid
         : is_seen_by_block ? Barrier::MBarrier
                            : Barrier::Block};
  }
  return barriers;
}

BarrierSet Hazards::after(const TensorView* producer) const {
  BarrierSet barriers;
  for (const TensorView* consumer : producer->consumers()) {
    barriers |= between(producer, consumer);
  }
  return barriers;
}

bool Hazards::is_seen_by_reader(
    const TensorView* producer,
    const TensorView* consumer,
    ParallelType type,
    const Loop* writer,
    const Loop* reader) const {
  if (writer == nullptr) {
    // Registers: every thread has computed its own. Other memory has one writer (the owner), and
    // blocks have shared memory of their own.
    return is_of_thread(producer) ||
           (is_grid_dim(type) && producer->memory_type() == MemoryType::Shared);
  }
  const IterDomain* own = axis_in(producer, *writer);
  if (own != nullptr && is_same_in_iterations(producer, own, *writer)) {
    return true; // every thread has computed its own
  }
  if (reader == nullptr) {
    return false;
  }
  // A shifted axis, or one of positions, may be equal to the producer's by another way through the
  // fusion, and by that way even share its loop. If the loop does not run over an axis of the
  // producer, each iteration recomputes the producer.
  if (reads_elsewhere(consumer->definition())) {
    return (writer == reader && axis_in(producer, *writer) == nullptr) ||
           drives_same_axis(producer, *writer, consumer, *reader);
  }
  return writer == reader || has_same_index(writer->promoted, reader->promoted);
}

/// A split by 1, or a merge with a single element, leaves an index as it is.
bool Hazards::has_same_index(const IterDomain* written, const IterDomain* read) const {
  return exact_.are_mapped(written, read) ||
         kernel_.id_model->maybe_build_graph(IdMappingMode::almost_exact).are_mapped(written, read);
}

bool Hazards::reads_elsewhere(const Expr* expr) const {
  const auto [known, is_new] = reads_elsewhere_.try_emplace(expr, false);
  if (is_new) {
    known->second = nvfuser::reads_elsewhere(expr);
  }
  return known->second;
}

void Hazards::check_visible(
    const TensorView* producer,
    const TensorView* consumer,
    ParallelType type,
    const Loop* writer,
    const Loop* reader) const {
  const MemoryType needed = is_grid_dim(type) ? MemoryType::Global : MemoryType::Shared;
  const MemoryType memory = producer->memory_type();
  if (memory == MemoryType::Global || memory == needed) {
    return;
  }
  const char* who = is_grid_dim(type) ? "blocks" : "threads";
  // An asynchronous copy stays in shared memory.
  const bool is_bound_to_memory =
      async_mechanism(kernel_, producer->definition()) != nullptr && memory == MemoryType::Shared;
  kernel_.note_refusal(refuse({
      .headline =
          {"A tensor is read by other ", who, " than those that computed it, but lies in ",
           memory == MemoryType::Local ? "registers" : "shared memory"},
      .node = {describe(producer), "\nread by ", describe(consumer)},
      .expected = {type, " bound to the same axis in both, or memory that all ", who, " see"},
      .found =
          {writer->promoted->to_string(), " in the producer, ",
           reader == nullptr ? std::string("no axis") : reader->promoted->to_string(),
           " in the consumer"},
      .fix = is_bound_to_memory
                 ? Part(
                       "inline the producer so that the axes share a loop, or copy with "
                       "LoadStoreOpType.set and set_memory_type(MemoryType.Global)")
                 : Part(
                       "set_memory_type(MemoryType.", is_grid_dim(type) ? "Global" : "shared",
                       ") on the producer, or inline it so that the axes share a loop"),
  }));
}

} // namespace nvfuser
