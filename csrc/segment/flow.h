// Flow: the expressions on tensors of a fusion in an order that follows from its outputs
// (graph/output_order.h). All that segmentation decides stands on this order, so that two
// definitions that compute the same have the same plan.
//
// Expressions and tensors are numbered: positions in `exprs()` and `tensors()`. Everything known of
// them lies in lists beside these.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "ir/fusion.h"

namespace nvfuser::segment {

using ExprId = size_t;
using TensorId = size_t;

inline constexpr ExprId kNoExpr = static_cast<ExprId>(-1);

struct FlowExpr {
  Expr* expr = nullptr;
  std::vector<TensorId> operands = {}; // each once
  std::vector<TensorId> results = {};
};

struct FlowTensor {
  TensorView* tensor = nullptr;
  ExprId made_by = kNoExpr;         // none: an input
  std::vector<ExprId> readers = {}; // ascending
  bool is_output = false;
};

class Flow {
 public:
  /// Expressions that lead to an output. Cost: linear; no recursion.
  explicit Flow(const Fusion& fusion);

  /// Operands before results.
  [[nodiscard]] const std::vector<FlowExpr>& exprs() const {
    return exprs_;
  }
  [[nodiscard]] const std::vector<FlowTensor>& tensors() const {
    return tensors_;
  }
  [[nodiscard]] const FlowExpr& expr(ExprId id) const {
    return exprs_[id];
  }
  [[nodiscard]] const FlowTensor& tensor(TensorId id) const {
    return tensors_[id];
  }
  /// The first result of an expression: what texts name it by.
  [[nodiscard]] TensorView* result_of(ExprId id) const {
    return tensors_[exprs_[id].results.front()].tensor;
  }

 private:
  TensorId add_tensor(TensorView* tensor);
  void add_expr(Expr* expr);

  std::vector<FlowExpr> exprs_;
  std::vector<FlowTensor> tensors_;
  std::unordered_map<const TensorView*, TensorId> number_of_; // only looked up
};

} // namespace nvfuser::segment
