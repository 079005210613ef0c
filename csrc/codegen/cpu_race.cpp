#include "codegen/cpu_race.h"

#include "codegen/printer.h"
#include "lower/analysis/checked_copies.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/tcgen05.h"
#include "lower/analysis/wgmma.h"

namespace nvfuser {
namespace {

const char* groups_of(LoadStoreOpType op) {
  return op == LoadStoreOpType::CpAsync ? "RaceGroups::of_thread" : "RaceGroups::of_block";
}

/// Whether a statement is a step of a product that reads `factor` besides its threads. On this
/// target the factors that threads hold in registers lie in shared memory as well.
bool is_read_by_product(const Kernel& kernel, const TensorView* factor, const Expr& statement) {
  const TensorView* out =
      statement.outputs().empty() ? nullptr : view_of(statement.outputs().front());
  return out != nullptr && (is_wgmma(out->definition()) || is_tcgen05(out->definition())) &&
         counted_mechanism(kernel, factor->definition()) != nullptr;
}

/// The function that notes an access, and its last argument.
struct NotingFunction {
  const char* name;
  const char* groups = nullptr; // nullptr: it has no such argument
};

NotingFunction function_of_read(
    const Kernel& kernel, const Expr& statement, const TensorView* tensor) {
  if (box_stored_by(kernel, statement) == tensor) {
    return {"copy_out"};
  }
  return {is_read_by_product(kernel, tensor, statement) ? "read_async" : "read"};
}

NotingFunction function_of_write(const Kernel& kernel, const TensorView* tensor) {
  const AsyncMechanism* mechanism = counted_mechanism(kernel, tensor->definition());
  if (mechanism == nullptr) {
    return {"write"};
  }
  const bool is_stage = has_stage_barriers(kernel, tensor);
  return {"copy_in", is_stage ? "RaceGroups::none" : groups_of(mechanism->op())};
}

} // namespace

std::string checked_index(
    const RaceAccess& access,
    const TensorView* tensor,
    const std::string& name,
    const std::string& index,
    int64_t lanes) {
  const NotingFunction function = access.is_written
                                      ? function_of_write(access.kernel, tensor)
                                      : function_of_read(access.kernel, access.statement, tensor);
  const std::string groups = function.groups == nullptr ? "" : std::string(", ") + function.groups;
  return std::string("race.") + function.name + "(" + name + "_tags, " + index + ", " +
         std::to_string(lanes) + groups + ")";
}

std::string race_statement(const Expr& statement) {
  if (const auto* commit = statement.as<AsyncCommit>()) {
    return std::string("race.commit(") + groups_of(commit->async_op) + ");";
  }
  if (const auto* wait = statement.as<AsyncWait>()) {
    return std::string("race.wait(") + groups_of(wait->async_op) + ", " +
           std::to_string(wait->keep_stages) + ");";
  }
  if (const auto* wait = statement.as<BulkStoreWait>()) {
    return wait->only_reads ? "race.wait_for_reads();" : "race.wait_for_stores();";
  }
  NVF_INVARIANT(
      statement.is_a<FenceAsyncProxy>(), "of asynchronous copies: ", statement.to_string());
  return "race.fence();";
}

} // namespace nvfuser
