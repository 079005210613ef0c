#include "lower/analysis/placed_owners.h"

#include "ir/kernel_traits.h"
#include "ir/scopes.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/thread_memory.h"

namespace nvfuser {
namespace {

std::vector<const TensorView*> tensors_written_by(const Expr& statement) {
  std::vector<const TensorView*> tensors;
  for_each_write(statement, [&](const TensorIndex& element) { tensors.push_back(element.view()); });
  return tensors;
}

} // namespace

/// Tensors are assumed to be needed nowhere, until a reader turns up that runs in more threads.
PlacedOwners::PlacedOwners(const Kernel& kernel) : has_clusters_(cluster_size(kernel) > 1) {
  collect(kernel.body, {});
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (size_t i = reads_.size(); i-- > 0;) {
      const HardwareIndices needed = needed_for(reads_[i]);
      HardwareIndices& known =
          readers_.try_emplace(reads_[i].tensor, private_indices(reads_[i].tensor)).first->second;
      is_changed = is_changed || (known & needed) != known;
      known &= needed;
    }
  }
}

/// Indices whose values other threads do not share: all for a register, those of blocks for shared
/// memory (of a cluster, all but x), none for global memory.
HardwareIndices PlacedOwners::private_indices(const TensorView* tensor) const {
  HardwareIndices indices;
  const MemoryType memory = tensor->memory_type();
  for (const ParallelType type : kHardwareTypes) {
    const bool has_own = is_grid_dim(type) && !(has_clusters_ && type == ParallelType::BIDx);
    const bool is_private = is_of_thread(tensor) || (memory == MemoryType::Shared && has_own);
    indices.set(hardware_type_index(type), is_private);
  }
  return indices;
}

HardwareIndices PlacedOwners::of(const TensorView* tensor) const {
  const auto found = readers_.find(tensor);
  return found == readers_.end() ? HardwareIndices{} : found->second;
}

void PlacedOwners::collect(const Scope& scope, HardwareIndices tested) {
  for (const Expr* expr : scope) {
    collect(*expr, tested);
    const auto* branch = expr->as<IfThenElse>();
    for (const Scope* body : bodies_of(*expr)) {
      const bool is_tested = branch != nullptr && body == &branch->then_body;
      collect(*body, is_tested ? tested | first_indices_tested(branch->condition) : tested);
    }
  }
}

/// A loop or a condition decides for its threads: what it reads is needed in all of them. So is
/// what a collective reads, and what it combines its result with.
void PlacedOwners::collect(const Expr& node, HardwareIndices tested) {
  if (node.is_a<Allocate>()) {
    return;
  }
  const bool is_of_one_thread = !traits_of(node).is_ordered;
  const std::vector<const TensorView*> results = tensors_written_by(node);
  const auto add = [&](const TensorIndex& element) {
    reads_.push_back({element.view(), tested, results, is_of_one_thread});
  };
  for_each_read(node, add);
  if (!is_of_one_thread) {
    for_each_write(node, add);
  }
}

HardwareIndices PlacedOwners::needed_for(const Read& read) const {
  HardwareIndices of_results;
  if (!read.results.empty()) {
    of_results.set();
  }
  for (const TensorView* result : read.results) {
    const auto found = readers_.find(result);
    of_results &= found != readers_.end() ? found->second : private_indices(result);
  }
  return read.is_of_one_thread ? read.tested | of_results : HardwareIndices{};
}

} // namespace nvfuser
