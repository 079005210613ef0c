#include "lower/analysis/bulk_runs.h"

#include <algorithm>

#include "eval/simplify.h"
#include "ir/rules.h"
#include "ir/scalar.h"
#include "lower/analysis/clusters.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/shared_loads.h"

namespace nvfuser {
namespace {

std::optional<Refusal> find_wrong_shape(const TensorView* copy, const TensorMap& map) {
  const auto axes = std::ranges::count_if(
      map.dims, [](const TensorMapDim& dim) { return dim.tile != nullptr && dim.box > 1; });
  if (axes <= 1) {
    return std::nullopt;
  }
  return refuse_node(
      copy, {"A bulk copy without a description of its tensor copies neighbours"},
      {"one axis bound to tma"}, {axes, " axes, of ", map.tensor->to_string()},
      {"copy with LoadStoreOpType.tma, or merge axes that follow each other in memory"});
}

/// No run ends beyond its axis.
std::optional<Refusal> check_ends(Kernel& kernel, const TensorView* copy, const TensorMap& map) {
  const TensorMapDim& run = map.dims.front();
  Val* length = kernel.new_index(run.box);
  if (kernel.simplifier->prove_divisible(run.extent, length)) {
    return std::nullopt;
  }
  if (run.extent->is_const()) {
    return refuse_node(
        copy, {"A bulk copy without a description of its tensor would reach beyond an axis"},
        {"an axis that the size of a run divides"},
        {run.extent->to_inline_string(), " elements along ", run.axis->to_string(), ", in runs of ",
         run.box},
        {"use runs of another size, or copy with LoadStoreOpType.tma, which leaves out what is "
         "beyond"});
  }
  kernel.launch.conditions.push_back(size_condition(
      scalar::eq(scalar::mod(run.extent, length), kernel.zero()),
      {"A bulk copy without a description of its tensor needs runs that divide ",
       run.axis->to_string()},
      describe(copy)));
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_wrong_runs(
    Kernel& kernel, const TensorView* copy, const TensorMap& map) {
  NVF_RETURN_REFUSAL(find_wrong_shape(copy, map));
  if (is_same_in_cluster(copy) && cluster_size(kernel) > 1) {
    return refuse_node(
        copy, {"Blocks of a cluster load no runs together"}, {"a copy with LoadStoreOpType.tma"},
        {"a copy with LoadStoreOpType.CpAsyncBulk, and a broadcast bound to clustered blocks"},
        {"copy with LoadStoreOpType.tma"});
  }
  return check_ends(kernel, copy, map);
}

Val* offset_of_run(Kernel& kernel, const TensorMap& map, const std::vector<Val*>& coordinates) {
  Val* offset = kernel.zero();
  for (size_t i = 0; i < coordinates.size(); ++i) {
    offset = scalar::add(offset, scalar::mul(coordinates[i], map.dims[i].stride));
  }
  return kernel.simplifier->simplify(offset);
}

} // namespace nvfuser
