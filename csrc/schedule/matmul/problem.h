// The product of a fusion in terms of its axes: result [M.., N], operands [M.., K] and [N, K].
#pragma once

#include <variant>

#include "schedule/run_facts.h"
#include "schedule/summary/fusion_summary.h"

namespace nvfuser::schedule::matmul {

struct MatmulProblem {
  TensorView* product = nullptr; // the result of a MatmulOp or LinearOp
  TensorView* a = nullptr;       // inputs of the fusion
  TensorView* b = nullptr;
  size_t position_of_a = 0; // among the inputs of the fusion
  size_t position_of_b = 0;
  bool a_runs_along_m = false; // its rows in memory; else along k
  bool b_runs_along_n = false;
  bool is_linear = false;
  bool has_bias = false;
  IterDomains m; // of the product; several are merged
  IterDomain* n = nullptr;
  IterDomain* k = nullptr;
  /// Inputs with an element for each one of the result, beside the operands.
  std::vector<TensorView*> streamed;
  /// Tensors of one dimension that are computed, to be broadcast.
  struct Row {
    TensorView* tensor = nullptr;
    bool is_along_n = true; // else along m
  };
  std::vector<Row> rows;
};

/// Sizes of a run.
struct MatmulSizes {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
};
[[nodiscard]] MatmulSizes sizes_of(const MatmulProblem& problem, const RunFacts& facts);

/// The problem, or why no kernel of ours computes it. It follows from the definition.
[[nodiscard]] std::variant<MatmulProblem, Refusal> find_problem(const FusionSummary& summary);

/// Whether something beside the product has to be computed; a library adds the bias of a linear.
[[nodiscard]] bool has_epilogue(const FusionSummary& summary);

} // namespace nvfuser::schedule::matmul
