#include "lower/analysis/checked_copies.h"

#include "base/options.h"
#include "lower/analysis/bulk_copies.h"

namespace nvfuser {
namespace {

/// The tensor that a statement on elements writes; nullptr: none.
const TensorView* tensor_written_by(const Expr& statement) {
  if (statement.outputs().empty() || statement.outputs().front()->vtype() != ValType::TensorIndex) {
    return nullptr;
  }
  return static_cast<const TensorIndex*>(statement.outputs().front())->view();
}

} // namespace

bool checks_copies(const Kernel& kernel) {
  return !kernel.target().has_hardware_threads && has_option(EnableOption::KernelDebug);
}

const AsyncMechanism* counted_mechanism(const Kernel& kernel, const Expr* definition) {
  return checks_copies(kernel) ? mechanism_of(definition) : async_mechanism(kernel, definition);
}

const TensorView* box_stored_by(const Kernel& kernel, const Expr& statement) {
  if (const auto* store = statement.as<BulkStore>()) {
    return static_cast<const TensorIndex*>(store->arg)->view();
  }
  const TensorView* out = checks_copies(kernel) ? tensor_written_by(statement) : nullptr;
  const bool is_store =
      out != nullptr && is_bulk_copy(out->definition()) && out->memory_type() != MemoryType::Shared;
  return is_store ? bulk_source(out->definition()) : nullptr;
}

bool loads_box(const Kernel& kernel, const Expr& statement) {
  if (statement.is_a<BulkLoad>()) {
    return true;
  }
  const TensorView* out = checks_copies(kernel) ? tensor_written_by(statement) : nullptr;
  return out != nullptr && is_bulk_load(out->definition());
}

bool counts_copies(const Expr& statement) {
  return statement.is_a<AsyncCommit>() || statement.is_a<AsyncWait>() ||
         statement.is_a<BulkStoreWait>() || statement.is_a<FenceAsyncProxy>();
}

} // namespace nvfuser
