#include "python_translate.h"

#include <algorithm>

#include "bindings.h"
#include "ir/equality.h"
#include "ir/serialize.h"
#include "transform/definition_order.h"
#include "transform/graph_steps.h"
#include "translate_schedule.h"
#include "translator.h"

namespace nvfuser::python {
namespace {

/// A cache is a copy, which the math has a line for. The other steps leave what no definition
/// makes.
bool has_definition(const GraphStep& step) {
  return step.effect.change == GraphChange::CacheAfter ||
         step.effect.change == GraphChange::CacheBefore ||
         step.effect.change == GraphChange::CacheFork;
}

/// Undo the steps from `first` on. They are changed: undoing finds out what their calls said.
void undo_from(size_t first, std::vector<GraphStep>& steps) {
  for (size_t i = steps.size(); i-- > first;) {
    undo_graph_step(steps[i]);
  }
}

std::string math_text(const Fusion& fusion) {
  const std::vector<GraphStep> found = graph_steps(fusion);
  const auto first = std::find_if_not(found.begin(), found.end(), has_definition);
  if (first == found.end()) {
    PythonTranslator translator(fusion);
    translator.print_math();
    return translator.text();
  }
  const std::shared_ptr<Fusion> math = fusion.clone();
  std::vector<GraphStep> steps = graph_steps(*math);
  undo_from(static_cast<size_t>(first - found.begin()), steps);
  PythonTranslator translator(*math, PythonTranslator::Part::MathOfSchedule);
  translator.print_math();
  return translator.text();
}

/// `fusion` without caches and factored reductions, its statements in the order of lines.
std::shared_ptr<Fusion> math_of(const Fusion& fusion) {
  std::shared_ptr<Fusion> math = fusion.clone();
  put_in_order_of_definition(*math);
  std::vector<GraphStep> steps = graph_steps(*math);
  undo_from(0, steps);
  return math;
}

std::string schedule_text(const Fusion& fusion) {
  const std::shared_ptr<Fusion> math = fusion.clone();
  put_in_order_of_definition(*math); // what the text builds is numbered in that order
  ScheduleTranslator schedule(*math);
  std::vector<GraphStep> steps = graph_steps(*math);
  undo_from(0, steps);
  PythonTranslator translator(*math, PythonTranslator::Part::MathOfSchedule);
  translator.print_math();
  ScriptWriter writer{
      .line = [&](const std::string& text) { translator.line(text); },
      .text_of = [&](Val* val) { return translator.text_of_scalar(val); },
      .name_of = [&](const TensorView* tensor) { return translator.give_name(tensor); }};
  schedule.print(translator.printed_tensors(), steps, writer);
  return translator.text();
}

/// "add" for a sum of two operands, "sum" for a reduction; empty where the operation does not
/// decide the function.
std::string function_of(const Expr& expr) {
  const auto named = [](const std::string& call) { return call.substr(call.rfind('.') + 1); };
  if (const auto* op = expr.as<UnaryOp>()) {
    return named(op->op == UnaryOpType::Cast ? ".cast" : function_name(op->op, expr));
  }
  if (const auto* op = expr.as<BinaryOp>()) {
    return named(function_name(op->op, expr));
  }
  if (const auto* op = expr.as<TernaryOp>()) {
    return named(function_name(op->op, expr));
  }
  if (const auto* op = expr.as<ReductionOp>()) {
    return named(reduction_name(op->op, expr));
  }
  if (const auto* op = expr.as<ScanOp>()) {
    return named(scan_name(op->op, expr));
  }
  return "";
}

} // namespace

std::string translate_fusion(const Fusion& fusion, bool schedule) {
  return schedule ? schedule_text(fusion) : math_text(fusion);
}

std::string translate_unscheduled(const Fusion& fusion) {
  std::shared_ptr<Fusion> math = math_of(fusion);
  // Bytes have one order of statements, and one constant of each value: as a plan on disk says it.
  const auto without_history = try_deserialize(serialize(*math));
  if (const auto* read = std::get_if<std::shared_ptr<Fusion>>(&without_history)) {
    math = *read;
  }
  PythonTranslator translator(*math, PythonTranslator::Part::MathOfSchedule);
  translator.print_math();
  return translator.text();
}

void bind_python_translate(nb::module_& m) {
  internal_module(m).def(
      "function_of", &function_of, "expr"_a,
      "The function of ``ops`` that an operation is made by: \"add\", \"sum\"; empty for "
      "expressions "
      "of which there is one kind.");
  m.def(
      "translate_fusion", &translate_fusion, "fusion"_a, "schedule"_a = false,
      R"(A fusion as the Python function that builds it.

Parameters
----------
fusion : Fusion
    The fusion. If it is scheduled, factored and grouped reductions are printed whole, and caches as
    copies.
schedule : bool
    Print the schedule as well: behind the math, which is then that from before any cache, stand the
    calls that lead from it to the present graph of tensors, loop domains, bindings and positions.

Returns
-------
str
    Source of ``nvfuser_fusion(fd)``. Calling it inside ``with FusionDefinition() as fd`` gives an
    equal fusion, and with `schedule` one that lowers to the same kernel.

Raises
------
NotImplementedError
    If an expression, an axis or a step of the schedule has no call that makes it.
)");
  m.def(
      "equal_up_to_numbering", &equal_up_to_numbering, "a"_a, "b"_a,
      R"(Whether two fusions say the same, whatever their statements are numbered.

Parameters
----------
a, b : Fusion
    The fusions. Unlike for `==`, statements may have other numbers, and equal scalars may be one
    or several.
)");
}

} // namespace nvfuser::python
