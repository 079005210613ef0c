#include "segment/stored_types.h"

#include <algorithm>
#include <set>

#include "base/options.h"
#include "segment/facts.h"

namespace nvfuser::segment {
namespace {

bool is_lower(DataType type) {
  return type == DataType::Half || type == DataType::BFloat16;
}

/// By tensor: the types of the outputs that are computed from it.
std::vector<std::set<DataType>> types_of_outputs(const Flow& flow) {
  std::vector<std::set<DataType>> types(flow.tensors().size());
  for (TensorId id = 0; id < types.size(); ++id) {
    if (flow.tensor(id).is_output) {
      types[id].insert(flow.tensor(id).tensor->dtype());
    }
  }
  for (size_t i = flow.exprs().size(); i-- > 0;) {
    const FlowExpr& expr = flow.expr(i);
    for (const TensorId result : expr.results) {
      for (const TensorId operand : expr.operands) {
        types[operand].insert(types[result].begin(), types[result].end());
      }
    }
  }
  return types;
}

/// Whether kernels with loops over elements write and read a tensor, each element at its position.
bool is_between_kernels(
    const std::vector<ExprFacts>& exprs, const FlowTensor& tensor, TensorId id) {
  const auto is_plain_reader = [&](ExprId reader) {
    const ExprFacts& facts = exprs[reader];
    const bool is_looked_up = std::ranges::find(facts.looked_up, id) != facts.looked_up.end();
    return !stands_alone(facts.role) && facts.role != Role::View && !is_looked_up;
  };
  return !stands_alone(exprs[tensor.made_by].role) && !tensor.tensor->has_allocation() &&
         std::ranges::all_of(tensor.readers, is_plain_reader);
}

} // namespace

std::vector<DataType> stored_types(
    const Flow& flow, const std::vector<ExprFacts>& exprs, bool lowers) {
  const std::vector<std::set<DataType>> leads_to =
      lowers ? types_of_outputs(flow) : std::vector<std::set<DataType>>(flow.tensors().size());
  std::vector<DataType> types;
  for (TensorId id = 0; id < flow.tensors().size(); ++id) {
    const FlowTensor& tensor = flow.tensor(id);
    DataType type = tensor.tensor->dtype();
    const bool may_differ = tensor.made_by != kNoExpr && !tensor.is_output;
    if (may_differ && type == DataType::Float4_e2m1fn) {
      type = DataType::Float8_e4m3fn;
    }
    const bool leads_to_lower = leads_to[id].size() == 1 && is_lower(*leads_to[id].begin());
    if (may_differ && type == DataType::Float && leads_to_lower &&
        is_between_kernels(exprs, tensor, id)) {
      type = *leads_to[id].begin();
    }
    types.push_back(type);
  }
  return types;
}

bool lowers_boundaries() {
  return has_option(EnableOption::IoToLowerPrecision);
}

std::optional<Refusal> find_two_lower_types(const Fusion& fusion) {
  const auto find_output = [&](DataType type) -> const Val* {
    const auto found =
        std::ranges::find(fusion.outputs(), type, [](const Val* val) { return val->dtype(); });
    return found == fusion.outputs().end() ? nullptr : *found;
  };
  const Val* half = find_output(DataType::Half);
  const Val* bfloat16 = find_output(DataType::BFloat16);
  if (!lowers_boundaries() || half == nullptr || bfloat16 == nullptr) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "io_to_lower_precision: outputs are Half and BFloat16",
       .node = describe(static_cast<const TensorView*>(bfloat16)),
       .expected = {"outputs of one of the two types, like ", half->to_string()},
       .found = "both",
       .fix = "disable io_to_lower_precision for this call, or cast one of the outputs by a "
              "definition of its own"});
}

} // namespace nvfuser::segment
