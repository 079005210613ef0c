#include "lower/analysis/owners.h"

#include "ir/kernel_traits.h"
#include "ir/scalar.h"
#include "ir/scopes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/conditions.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/thread_memory.h"

namespace nvfuser {
namespace {

/// Whether one thread can run a statement without the others.
bool is_of_one_thread(const Kernel& kernel, const Expr& statement) {
  return !traits_of(statement).is_ordered && async_mechanism(kernel, &statement) == nullptr;
}

/// Whether one block can run a statement without the others: it waits for threads of its own, or
/// for copies that they began.
bool is_of_one_block(const Expr& statement) {
  const KernelTraits& traits = traits_of(statement);
  const bool waits_for_blocks =
      !BarrierSet{Barrier::Warp, Barrier::Block}.contains(traits.barriers);
  const bool is_block_barrier = !traits.barriers.empty() && !waits_for_blocks;
  return !traits.needs_all_threads || (traits.is_collective && !waits_for_blocks) ||
         is_block_barrier;
}

/// Whether other blocks cannot see an element.
bool is_in_block(const TensorIndex& element) {
  return element.view()->memory_type() != MemoryType::Global;
}

/// All indices of blocks.
HardwareIndices block_indices() {
  HardwareIndices indices;
  for (const ParallelType type : kGridDimTypes) {
    indices.set(hardware_type_index(type));
  }
  return indices;
}

} // namespace

HardwareIndices first_indices_tested(Val* condition) {
  HardwareIndices indices;
  for (const Val* term : terms_of(condition)) {
    const ParallelType type = first_index_tested(term);
    if (type != ParallelType::Serial) {
      indices.set(hardware_type_index(type));
    }
  }
  return indices;
}

/// A value that the block has for itself is assumed to be needed nowhere, until a reader turns up
/// that runs in more threads. Readers come before what they read: only results that a loop carries
/// on take another round.
Owners::Owners(Kernel& kernel) : kernel_(kernel) {
  struct Statement {
    const Expr* expr;
    std::vector<const TensorView*> reads;
  };
  std::vector<Statement> statements;
  for_each_node(kernel.body, [&](const Expr& node) {
    if (bodies_of(node).empty() && !node.is_a<Allocate>()) {
      statements.push_back({&node, tensors_read_by(node)});
    }
  });
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (size_t i = statements.size(); i-- > 0;) {
      const HardwareIndices indices = needed_for(*statements[i].expr);
      for (const TensorView* tensor : statements[i].reads) {
        const HardwareIndices of_reader =
            is_of_thread(tensor) ? indices : indices & block_indices();
        HardwareIndices& known =
            readers_.try_emplace(tensor, HardwareIndices{}.set()).first->second;
        is_changed = is_changed || (known & of_reader) != known;
        known &= of_reader;
      }
    }
  }
}

HardwareIndices Owners::needed_for(const Expr& statement) const {
  if (!is_of_one_block(statement)) {
    return {};
  }
  const auto tests = kernel_.tests.find(&statement);
  HardwareIndices indices = tests == kernel_.tests.end() || tests->second.owner == nullptr
                                ? HardwareIndices{}
                                : first_indices_tested(tests->second.owner);
  HardwareIndices of_readers = HardwareIndices{}.set();
  if (statement.is_a<BulkStore>()) { // its result is a box in global memory, and no element
    of_readers.reset();
  }
  for_each_write(statement, [&](const TensorIndex& element) {
    const auto found = readers_.find(element.view());
    if (!is_in_block(element)) {
      of_readers.reset();
    } else if (found != readers_.end()) {
      of_readers &= found->second;
    }
  });
  indices |= of_readers;
  return is_of_one_thread(kernel_, statement) ? indices : indices & block_indices();
}

std::vector<const TensorView*> Owners::tensors_read_by(const Expr& statement) const {
  std::vector<const TensorView*> tensors;
  const auto add = [&](const TensorIndex& element) {
    if (is_in_block(element)) {
      tensors.push_back(element.view());
    }
  };
  const auto add_all_in = [&](const Val* scalar) {
    for (const TensorIndex* element : elements_in(scalar)) {
      add(*element);
    }
  };
  for_each_read(statement, add);
  if (!is_of_one_thread(kernel_, statement)) { // what it writes may be what it adds to
    for_each_write(statement, add);
  }
  const auto tests = kernel_.tests.find(&statement);
  if (tests == kernel_.tests.end()) {
    return tensors;
  }
  for (const std::vector<RangeTest>* ranges : {&tests->second.ranges, &tests->second.storage}) {
    for (const RangeTest& range : *ranges) {
      add_all_in(range.index);
      add_all_in(range.extent);
    }
  }
  if (tests->second.owner != nullptr) {
    add_all_in(tests->second.owner);
  }
  return tensors;
}

HardwareIndices Owners::of(const ForLoop& loop) const {
  HardwareIndices indices = HardwareIndices{}.set();
  bool is_empty = true;
  for_each_node(loop.body, [&](const Expr& node) {
    if (bodies_of(node).empty() && !node.is_a<Allocate>()) {
      indices &= needed_for(node);
      is_empty = is_empty && node.outputs().empty(); // a barrier is no work
    }
  });
  if (is_empty) {
    return {};
  }
  for (const ParallelType type : kHardwareTypes) { // only what is launched is tested
    const Val* launched = kernel_.launch.extents[type];
    if (launched == nullptr || launched->is_one()) {
      indices.reset(hardware_type_index(type));
    }
  }
  return indices;
}

Val* Owners::test(HardwareIndices indices) const {
  std::vector<Val*> terms;
  for (const ParallelType type : kHardwareTypes) {
    if (indices.test(hardware_type_index(type))) {
      terms.push_back(scalar::eq(kernel_.parallel_index(type), kernel_.zero()));
    }
  }
  return all_of(terms);
}

Val* Owners::without(Val* owner, HardwareIndices indices) const {
  std::vector<Val*> rest = terms_of(owner);
  std::erase_if(rest, [&](const Val* condition) {
    const ParallelType type = first_index_tested(condition);
    return type != ParallelType::Serial && indices.test(hardware_type_index(type));
  });
  return all_of(rest);
}

} // namespace nvfuser
