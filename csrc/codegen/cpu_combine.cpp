#include "codegen/cpu_combine.h"

namespace nvfuser {

void combine_into(
    KernelPrinter& printer,
    const BlockReduction& reduction,
    const std::vector<std::string>& totals) {
  ExpressionPrinter& expressions = printer.expressions();
  if (reduction.is_welford) {
    printer.line(
        "welford_merge(" + totals[0] + ", " + totals[1] + ", " + totals[2] + ", " +
        printer.triple(reduction.ins, compute_type(reduction.outs.front()->dtype())) + ");");
    return;
  }
  for (size_t i = 0; i < totals.size(); ++i) {
    const DataType type = compute_type(reduction.outs[i]->dtype());
    const Text in = expressions.value_as(reduction.ins[i], type);
    printer.line(
        totals[i] + " = " + expressions.binary(reduction.ops[i], {totals[i]}, in, type).str() +
        ";");
  }
}

void combine_totals(
    KernelPrinter& printer,
    const BlockReduction& reduction,
    const std::vector<std::string>& totals) {
  ExpressionPrinter& expressions = printer.expressions();
  if (reduction.is_welford) {
    printer.statement(
        reduction, "welford_merge(" + printer.elements(reduction.outs) + ", {" + totals[0] + ", " +
                       totals[1] + ", " + totals[2] + "});");
    return;
  }
  for (size_t i = 0; i < totals.size(); ++i) {
    const Val* out = reduction.outs[i];
    const DataType type = compute_type(out->dtype());
    const Text sum =
        expressions.binary(reduction.ops[i], expressions.value_as(out, type), {totals[i]}, type);
    printer.statement(
        reduction, expressions.value(out).str() + " = " +
                       expressions.cast(sum, type, out->dtype()).str() + ";");
  }
}

} // namespace nvfuser
