// Expressions that combine the elements along some axes.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct ReductionOpFields {
  static constexpr const char* kDoc =
      "Combine the elements of arg along the reduction axes of out.";
  Val* out = nullptr;
  Val* arg = nullptr;
  Val* init = nullptr;
  BinaryOpType op = BinaryOpType::Add;
  bool allreduce = false;
  bool serial_grid = false;
  static constexpr auto fields() {
    return std::tuple{
        output(
            "out", &ReductionOpFields::out,
            "Result; reduced axes are reduction axes of its domain."),
        input("arg", &ReductionOpFields::arg, "Operand."),
        attr("init", &ReductionOpFields::init, "Identity of op."),
        attr("op", &ReductionOpFields::op, "Associative and commutative combiner."),
        attr(
            "allreduce", &ReductionOpFields::allreduce,
            "Whether every thread of the reduction gets the result. Set by lowering."),
        attr(
            "serial_grid", &ReductionOpFields::serial_grid,
            "Whether blocks combine into one accumulator, one after the other."),
    };
  }
};
struct ReductionOp final : ExprNode<ReductionOp, ReductionOpFields> {
  /// Let the blocks of the reduction take turns instead of storing a partial result each.
  void request_serial_grid_reduction() {
    serial_grid = true;
    count_edit();
  }
};

struct WelfordOpFields {
  static constexpr const char* kDoc =
      "Mean, sum of squared deviations and count in one pass. Merging (a, A, n) and (b, B, m): "
      "N = n + m, d = b - a gives (a + d*m/N, A + B + d*d*n*m/N, N). Chan, Golub and LeVeque "
      "1979.";
  Val* out_avg = nullptr;
  Val* out_var = nullptr;
  Val* out_n = nullptr;
  Val* in_avg = nullptr;
  Val* in_var = nullptr;
  Val* in_n = nullptr;
  Val* init_avg = nullptr;
  Val* init_var = nullptr;
  Val* init_n = nullptr;
  bool allreduce = false;
  static constexpr auto fields() {
    return std::tuple{
        output("out_avg", &WelfordOpFields::out_avg, "Mean."),
        output("out_var", &WelfordOpFields::out_var, "Sum of squared deviations from the mean."),
        output("out_n", &WelfordOpFields::out_n, "Number of elements, dtype Index."),
        input("in_avg", &WelfordOpFields::in_avg, "Elements, or means of partial results."),
        input("in_var", &WelfordOpFields::in_var, "Constant 0, or deviations of partial results."),
        input("in_n", &WelfordOpFields::in_n, "Constant 1, or counts of partial results."),
        attr("init_avg", &WelfordOpFields::init_avg, "Initial mean."),
        attr("init_var", &WelfordOpFields::init_var, "Initial sum of squared deviations."),
        attr("init_n", &WelfordOpFields::init_n, "Initial count."),
        attr(
            "allreduce", &WelfordOpFields::allreduce,
            "Whether every thread of the reduction gets the result. Set by lowering."),
    };
  }
};
struct WelfordOp final : ExprNode<WelfordOp, WelfordOpFields> {};

struct GroupedReductionOpFields {
  static constexpr const char* kDoc = "Reductions of one shape that share their barriers.";
  std::vector<Val*> outs{};
  std::vector<Val*> args{};
  std::vector<Val*> inits{};
  std::vector<BinaryOpType> ops{};
  bool allreduce = false;
  static constexpr auto fields() {
    return std::tuple{
        output("outs", &GroupedReductionOpFields::outs, "Results."),
        input("args", &GroupedReductionOpFields::args, "Operands."),
        attr("inits", &GroupedReductionOpFields::inits, "Identity of each op."),
        attr("ops", &GroupedReductionOpFields::ops, "Combiner of each."),
        attr(
            "allreduce", &GroupedReductionOpFields::allreduce,
            "Whether every thread of the reduction gets the results. Set by lowering."),
    };
  }
};
struct GroupedReductionOp final : ExprNode<GroupedReductionOp, GroupedReductionOpFields> {};

} // namespace nvfuser
