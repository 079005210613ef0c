#include "schedule/matmul/problem.h"

#include <algorithm>
#include <array>

#include "ir/all_nodes.h"
#include "ir/rules.h"
#include "optimize/rewrite.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/summary/axis_sources.h"
#include "transform/translate_product.h"

namespace nvfuser::schedule::matmul {
namespace {

/// Makes the problem of a fusion, a part after the other.
class ProblemFinder {
 public:
  explicit ProblemFinder(const FusionSummary& summary) : summary_(summary) {}

  std::variant<MatmulProblem, Refusal> run() {
    if (std::optional<Refusal> refusal = find()) {
      return *std::move(refusal);
    }
    return std::move(problem_);
  }

 private:
  std::optional<Refusal> find() {
    NVF_RETURN_REFUSAL(find_product());
    NVF_RETURN_REFUSAL(find_refusal_of_product_kernels(summary_));
    NVF_RETURN_REFUSAL(transform::find_wrong_translation(problem_.product));
    NVF_RETURN_REFUSAL(find_axes());
    NVF_RETURN_REFUSAL(find_operand(
        problem_.a, problem_.a->logical().back(), problem_.position_of_a, problem_.a_runs_along_m));
    const IterDomains& of_b = problem_.b->logical(); // [K, N] of a matmul, [N, K] of a linear
    NVF_RETURN_REFUSAL(find_operand(
        problem_.b, problem_.is_linear ? of_b.back() : of_b.front(), problem_.position_of_b,
        problem_.b_runs_along_n));
    NVF_RETURN_REFUSAL(find_other_expression());
    return find_outputs();
  }

  std::optional<Refusal> find_product() {
    for (const Expr* expr : summary_.exprs()) {
      const auto* matmul = expr->as<MatmulOp>();
      const auto* linear = expr->as<LinearOp>();
      if (matmul == nullptr && linear == nullptr) {
        continue;
      }
      if (problem_.product != nullptr) {
        return refuse_node(
            expr->outputs().front(), {"A kernel multiplies two matrices"},
            {"one matmul or linear in a kernel"},
            {"another one beside ", describe(problem_.product)},
            {"cut the fusion between the products"});
      }
      problem_.product = matmul != nullptr ? matmul->out : linear->out;
      problem_.a = matmul != nullptr ? matmul->a : linear->a;
      problem_.b = matmul != nullptr ? matmul->b : linear->b;
      problem_.is_linear = linear != nullptr;
      problem_.has_bias = linear != nullptr && linear->bias != nullptr;
    }
    if (problem_.product != nullptr) {
      return std::nullopt;
    }
    return refuse(
        {.headline = "there is no product of matrices",
         .node = "the fusion",
         .expected = "a matmul or a linear",
         .found = "none",
         .fix = "the other schedulers take it"});
  }

  std::optional<Refusal> find_axes() {
    const IterDomains& axes = problem_.product->logical();
    if (problem_.a == problem_.b) {
      return refuse_node(
          problem_.product,
          {"A product of a matrix with itself has axes that cannot be told apart"},
          {"two operands"}, {problem_.a->to_string(), ", twice"},
          {"the evaluator multiplies it through a library"});
    }
    if (!problem_.is_linear && (problem_.a->rank() > 2 || problem_.b->rank() > 2)) {
      return refuse_node(
          problem_.product, {"A kernel multiplies one pair of matrices"},
          {"operands [M, K] and [K, N]"},
          {"ranks ", problem_.a->rank(), " and ", problem_.b->rank()},
          {"the evaluator multiplies batches of matrices"});
    }
    problem_.k = axes.back();
    problem_.n = axes[axes.size() - 2];
    problem_.m.assign(axes.begin(), axes.end() - 2);
    if (std::ranges::none_of(axes, &IterDomain::is_broadcast)) {
      return std::nullopt;
    }
    return refuse_node(
        problem_.product, {"A product for tensor cores has an axis of one element"},
        {"axes of more than one element, which fill tiles"}, {problem_.product->to_string()},
        {"leave out dimensions of size one, or let the evaluator multiply vectors"});
  }

  /// An input whose rows, of k or of m or n, lie in memory as a bulk copy loads them.
  std::optional<Refusal> find_operand(
      TensorView* operand, const IterDomain* k, size_t& position, bool& runs_along_side) {
    const std::vector<Val*>& inputs = summary_.fusion().inputs();
    const auto found = std::ranges::find(inputs, static_cast<Val*>(operand));
    if (found == inputs.end()) {
      return refuse_node(
          operand, {"An operand of a product is computed in the same kernel"},
          {"an operand that lies in memory: bulk copies load it"},
          {operand->definition()->op_name()}, {"cut the fusion before the product"});
    }
    position = static_cast<size_t>(found - inputs.begin());
    const IterDomains logical = TensorDomain::no_reductions(operand->logical());
    const IterDomains memory = axes_in_memory_order(operand);
    const auto& contiguity = operand->domain()->contiguity();
    if (!contiguity.back().value_or(false)) {
      return refuse_node(
          operand, {"An operand of a product has no rows that are contiguous in memory"},
          {"neighbours along k, or along m or n, that are neighbours in memory"},
          {operand->to_string(), ", stored with gaps"},
          {"the evaluator multiplies operands of any layout"});
    }
    runs_along_side = memory.back() != k;
    // Leading dimensions are merged to m: what is merged has no gaps.
    const bool is_merged = logical.size() > 2;
    const bool is_packed =
        std::ranges::equal(memory, logical) &&
        std::ranges::all_of(contiguity, [](const auto& flag) { return flag.value_or(false); });
    if (is_merged && !is_packed) {
      return refuse_node(
          operand, {"The rows of an operand do not follow each other in memory"},
          {"leading dimensions that are contiguous, as they are merged"}, {operand->to_string()},
          {"define the tensor as contiguous, or reshape it to a matrix"});
    }
    return std::nullopt;
  }

  /// Everything but the product is computed element by element, and moves nothing.
  std::optional<Refusal> find_other_expression() {
    for (const Expr* expr : summary_.exprs()) {
      if (expr == problem_.product->definition()) {
        continue;
      }
      if (!is_map(expr)) {
        return refuse_node(
            expr->outputs().front(), {"Only pointwise operations are computed beside a product"},
            {"operations on elements of the result, and broadcasts"}, {expr->op_name()},
            {"cut the fusion behind the product's epilogue"});
      }
      NVF_RETURN_REFUSAL(find_row(static_cast<TensorView*>(expr->outputs().front())));
    }
    for (TensorView* input : summary_.inputs()) {
      const bool has_all = concrete_axes(input).size() == problem_.m.size() + 1 &&
                           input != problem_.a && input != problem_.b;
      if (has_all) {
        problem_.streamed.push_back(input);
      }
    }
    return std::nullopt;
  }

  static bool is_map(const Expr* expr) {
    const auto* copy = expr->as<LoadStoreOp>();
    return optimize::is_on_elements(*expr) || expr->is_a<BroadcastOp>() || expr->is_a<ExpandOp>() ||
           (copy != nullptr && copy->op == LoadStoreOpType::Set &&
            !static_cast<TensorView*>(copy->out)->has_root());
  }

  /// A tensor with fewer dimensions than the result has its elements in shared memory: they are
  /// those along n or m, which blocks have tiles of.
  std::optional<Refusal> find_row(TensorView* tensor) {
    const IterDomains axes = concrete_axes(tensor);
    if (tensor->rank() == static_cast<int64_t>(problem_.m.size()) + 1 || axes.empty()) {
      return std::nullopt;
    }
    const bool is_along_n = summary_.exact().are_mapped(axes.back(), problem_.n);
    if (axes.size() > 1 || tensor->rank() > 1 || (!is_along_n && problem_.m.size() > 1)) {
      return refuse_node(
          tensor, {"An operand of several dimensions is computed before it is broadcast"},
          {"operands of the dimension n, or m, or of all"}, {tensor->to_string()},
          {"broadcast the operand before computing with it"});
    }
    problem_.rows.push_back({.tensor = tensor, .is_along_n = is_along_n});
    return std::nullopt;
  }

  /// Outputs have the axes of the product, in its order, also in memory.
  std::optional<Refusal> find_outputs() {
    const IterDomains kept = TensorDomain::no_reductions(problem_.product->logical());
    for (const TensorView* output : summary_.outputs()) {
      const IterDomains axes = TensorDomain::no_reductions(output->logical());
      const bool is_like =
          std::ranges::equal(axes, kept, [&](const IterDomain* axis, const IterDomain* of_product) {
            return summary_.exact().are_mapped(axis, of_product);
          });
      const bool is_update = summary_.fusion().alias_of(output) != nullptr;
      if (!is_like || is_update || axes_in_memory_order(output) != axes) {
        return refuse_node(
            output, {"An output beside a product has another shape or layout"},
            {"outputs with the axes of the product, stored row by row"},
            {output->to_string(), is_update ? ", an update of an input" : ""},
            {"cut the fusion between tensors of different shapes"});
      }
    }
    return std::nullopt;
  }

  const FusionSummary& summary_;
  MatmulProblem problem_;
};

} // namespace

MatmulSizes sizes_of(const MatmulProblem& problem, const RunFacts& facts) {
  MatmulSizes sizes{.m = 1, .n = facts.size(problem.n->extent()), .k = 1};
  sizes.k = facts.size(problem.k->extent());
  for (const IterDomain* axis : problem.m) {
    sizes.m *= facts.size(axis->extent());
  }
  return sizes;
}

std::variant<MatmulProblem, Refusal> find_problem(const FusionSummary& summary) {
  return ProblemFinder(summary).run();
}

bool has_epilogue(const FusionSummary& summary) {
  return summary.exprs().size() > 1;
}

} // namespace nvfuser::schedule::matmul
