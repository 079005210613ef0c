#include "host/steps.h"

#include "ir/all_nodes.h"

namespace nvfuser::host {
namespace {

std::string slot_name(Slot slot) {
  return "s" + std::to_string(slot);
}

std::string slot_list(const std::vector<Slot>& slots) {
  std::string text;
  for (const Slot slot : slots) {
    text += (text.empty() ? "" : ", ") + slot_name(slot);
  }
  return text;
}

/// "matmul, add": the expressions on tensors, by name.
std::string operations_of(const Fusion& fusion) {
  std::string text;
  for (const Expr* expr : fusion.exprs()) {
    if (!expr->outputs().empty() && expr->outputs().front()->is_tensor()) {
      text += (text.empty() ? "" : ", ") + std::string(expr->op_name());
    }
  }
  return text;
}

std::string outputs_of(const Fusion& fusion) {
  std::string text;
  for (const Val* output : fusion.outputs()) {
    text += (text.empty() ? "" : ", ") + output->to_string();
  }
  return text;
}

/// "s2 = "; empty for a step that only updates its inputs.
std::string set_text(const std::vector<Slot>& slots) {
  return slots.empty() ? "" : slot_list(slots) + " = ";
}

} // namespace

std::vector<const Val*> visible_outputs(const Fusion& fusion) {
  std::vector<const Val*> result;
  for (const Val* output : fusion.outputs()) {
    const AliasInfo* alias = fusion.alias_of(output);
    if (alias == nullptr || !alias->is_hidden) {
      result.push_back(output);
    }
  }
  return result;
}

std::vector<Slot> slots_read(const Step& step) {
  return std::visit(
      overloaded{
          [](const Copy& copy) { return std::vector<Slot>{copy.from, copy.to}; },
          [](const Free&) { return std::vector<Slot>{}; },
          [](const auto& computing) { return computing.inputs; },
      },
      step);
}

std::vector<Slot> slots_set(const Step& step) {
  return std::visit(
      overloaded{
          [](const Copy&) { return std::vector<Slot>{}; },
          [](const Free&) { return std::vector<Slot>{}; },
          [](const auto& computing) { return computing.outputs; },
      },
      step);
}

std::string to_string(const Step& step) {
  return std::visit(
      overloaded{
          [](const Launch& launch) {
            return set_text(launch.outputs) + "launch " + launch.kernel->identity().name() + "(" +
                   slot_list(launch.inputs) + ")";
          },
          [](const Evaluate& evaluate) {
            return set_text(evaluate.outputs) + "evaluate(" + slot_list(evaluate.inputs) + ") {" +
                   operations_of(*evaluate.fusion()) + "}";
          },
          [](const View& view) {
            return set_text(view.outputs) + "view(" + slot_list(view.inputs) + ") {" +
                   operations_of(*view.fusion) + "}";
          },
          [](const Allocate& allocate) {
            return set_text(allocate.outputs) + "allocate(" + slot_list(allocate.inputs) + ") {" +
                   outputs_of(*allocate.fusion) + "}";
          },
          [](const Copy& copy) {
            return "copy " + slot_name(copy.from) + " to " + slot_name(copy.to);
          },
          [](const Free& free) { return "free " + slot_name(free.slot); },
      },
      step);
}

} // namespace nvfuser::host
