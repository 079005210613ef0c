// Expressions that combine the elements along some axes.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

struct ReductionOp final : ExprNode<ReductionOp> {
  static constexpr ExprKind kKind = ExprKind::ReductionOp;
  static constexpr const char* kName = "ReductionOp";
  static constexpr const char* kDoc =
      "Combine the elements of arg along the reduction axes of out.";
  Val* out = nullptr;
  Val* arg = nullptr;
  Val* init = nullptr;
  BinaryOpType op = BinaryOpType::Add;
  bool allreduce = false;
  bool serial_grid = false;
  /// Let the blocks of the reduction take turns instead of storing a partial result each.
  void request_serial_grid_reduction() {
    serial_grid = true;
    count_edit();
  }
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "out", &ReductionOp::out, "Result; reduced axes are reduction axes of its domain."),
        nvfuser::input("arg", &ReductionOp::arg, "Operand."),
        nvfuser::attr("init", &ReductionOp::init, "Identity of op."),
        nvfuser::attr("op", &ReductionOp::op, "Associative and commutative combiner."),
        nvfuser::attr(
            "allreduce", &ReductionOp::allreduce,
            "Whether every thread of the reduction gets the result. Set by lowering."),
        nvfuser::attr(
            "serial_grid", &ReductionOp::serial_grid,
            "Whether blocks combine into one accumulator, one after the other."),
    };
  }
};

struct WelfordOp final : ExprNode<WelfordOp> {
  static constexpr ExprKind kKind = ExprKind::WelfordOp;
  static constexpr const char* kName = "WelfordOp";
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
        nvfuser::output("out_avg", &WelfordOp::out_avg, "Mean."),
        nvfuser::output("out_var", &WelfordOp::out_var, "Sum of squared deviations from the mean."),
        nvfuser::output("out_n", &WelfordOp::out_n, "Number of elements, dtype Index."),
        nvfuser::input("in_avg", &WelfordOp::in_avg, "Elements, or means of partial results."),
        nvfuser::input(
            "in_var", &WelfordOp::in_var, "Constant 0, or deviations of partial results."),
        nvfuser::input("in_n", &WelfordOp::in_n, "Constant 1, or counts of partial results."),
        nvfuser::attr("init_avg", &WelfordOp::init_avg, "Initial mean."),
        nvfuser::attr("init_var", &WelfordOp::init_var, "Initial sum of squared deviations."),
        nvfuser::attr("init_n", &WelfordOp::init_n, "Initial count."),
        nvfuser::attr(
            "allreduce", &WelfordOp::allreduce,
            "Whether every thread of the reduction gets the result. Set by lowering."),
    };
  }
};

struct GroupedReductionOp final : ExprNode<GroupedReductionOp> {
  static constexpr ExprKind kKind = ExprKind::GroupedReductionOp;
  static constexpr const char* kName = "GroupedReductionOp";
  static constexpr const char* kDoc = "Reductions of one shape that share their barriers.";
  std::vector<Val*> outs;
  std::vector<Val*> args;
  std::vector<Val*> inits;
  std::vector<BinaryOpType> ops;
  bool allreduce = false;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("outs", &GroupedReductionOp::outs, "Results."),
        nvfuser::input("args", &GroupedReductionOp::args, "Operands."),
        nvfuser::attr("inits", &GroupedReductionOp::inits, "Identity of each op."),
        nvfuser::attr("ops", &GroupedReductionOp::ops, "Combiner of each."),
        nvfuser::attr(
            "allreduce", &GroupedReductionOp::allreduce,
            "Whether every thread of the reduction gets the results. Set by lowering."),
    };
  }
};

} // namespace nvfuser
