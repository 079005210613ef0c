#include "base/options.h"
#include "ir/rules.h"
#include "schedule/matmul/matmul.h"

namespace nvfuser::schedule {

const Scheduler& matmul_scheduler() {
  static constexpr Scheduler kScheduler{
      .type = SchedulerType::matmul,
      .find_refusal_by_structure = matmul::find_refusal_by_structure,
      .find_refusal_by_size = matmul::find_refusal_by_size,
      .compute_heuristics = matmul::compute_heuristics,
      .apply = matmul::apply};
  return kScheduler;
}

namespace matmul {
namespace {

/// Addresses and strides of what bulk copies load are multiples of so many bytes.
constexpr int64_t kPieceBytes = 16;
constexpr int64_t kArchitecture = 90; // the only one with instructions of warpgroups

/// Whether a user asks for kernels in place of a library, faster or not.
bool is_wanted_anyway() {
  return has_option(DisableOption::MatmulExprEval);
}

std::optional<Refusal> find_wrong_option(const MatmulProblem& problem) {
  if (has_option(EnableOption::FuseMatmul)) {
    return std::nullopt;
  }
  return refuse_node(
      problem.product, {"Products of matrices are left to a library"},
      {"the option fuse_matmul: NVFUSER_ENABLE=fuse_matmul, or _enable_options of a call"},
      {"it is off"}, {"enable the option"});
}

std::optional<Refusal> find_wrong_target(const MatmulProblem& problem, const Target& target) {
  if (!target.is_cuda()) {
    return is_wanted_anyway()
               ? std::nullopt
               : std::optional(refuse_node(
                     problem.product, {"A library multiplies matrices faster on this target"},
                     {"a GPU"}, {target.name()},
                     {"disable matmul_expr_eval to have a loop nest all the same"}));
  }
  if (target.architecture == kArchitecture && target.has_bulk_copies) {
    return std::nullopt;
  }
  return refuse_node(
      problem.product, {"The GPU has no products of warpgroups"},
      {"compute capability 9.0, and a driver that describes tensors"},
      {target.architecture / 10, ".", target.architecture % 10,
       target.has_bulk_copies ? "" : ", without bulk copies"},
      {"the evaluator multiplies through a library"});
}

std::optional<Refusal> find_wrong_layout(const TensorView* operand, const InputLayout& layout) {
  const int64_t bytes = size_bytes(operand->dtype());
  for (size_t i = 0; i < layout.sizes.size(); ++i) {
    const bool is_inner = i + 1 == layout.sizes.size();
    if (!is_inner && layout.sizes[i] > 1 && layout.strides[i] * bytes % kPieceBytes != 0) {
      return refuse_node(
          operand, {"Rows of an operand do not begin at multiples of ", kPieceBytes, " bytes"},
          {"strides that are multiples of ", kPieceBytes / bytes, " elements"},
          {"a stride of ", layout.strides[i]}, {"pad the rows, or leave the product to a library"});
    }
  }
  if (layout.alignment % kPieceBytes != 0) {
    return refuse_node(
        operand, {"An operand does not begin at a multiple of ", kPieceBytes, " bytes"},
        {"a multiple of ", kPieceBytes, " bytes"}, {"a multiple of ", layout.alignment},
        {"copy the operand, or leave the product to a library"});
  }
  return std::nullopt;
}

std::optional<Refusal> find_empty(const MatmulProblem& problem, const RunFacts& facts) {
  const MatmulSizes sizes = sizes_of(problem, facts);
  if (sizes.m > 0 && sizes.n > 0 && sizes.k > 0) {
    return std::nullopt;
  }
  return refuse_node(
      problem.product, {"A product without elements needs no tensor cores"},
      {"matrices with elements"}, {sizes.m, " x ", sizes.n, " x ", sizes.k},
      {"the evaluator makes the result"});
}

std::optional<Refusal> find_faster_library(
    const MatmulProblem& problem, const FusionSummary& summary, const RunFacts& facts) {
  if (is_wanted_anyway()) {
    return std::nullopt;
  }
  if (!has_epilogue(summary)) {
    return refuse_node(
        problem.product, {"A library is as fast with a product alone"},
        {"a product and operations on its result"}, {problem.product->definition()->op_name()},
        {"disable matmul_expr_eval to have a kernel all the same"});
  }
  const TileChoice choice = choose_tiles(problem, summary, facts);
  if (choice.kernel_us < choice.library_us) {
    return std::nullopt;
  }
  const MatmulSizes sizes = sizes_of(problem, facts);
  return refuse_node(
      problem.product, {"A library, and a kernel for the rest, are faster for these sizes"},
      {"less than ", static_cast<int64_t>(choice.library_us), " us"},
      {sizes.m, " x ", sizes.n, " x ", sizes.k, ", some ", static_cast<int64_t>(choice.kernel_us),
       " us in one kernel"},
      {"disable matmul_expr_eval to have a kernel all the same"});
}

} // namespace

std::optional<Refusal> find_refusal_by_structure(const FusionSummary& summary) {
  const std::variant<MatmulProblem, Refusal> problem = find_problem(summary);
  const auto* refusal = std::get_if<Refusal>(&problem);
  return refusal == nullptr ? std::nullopt : std::optional(*refusal);
}

std::optional<Refusal> find_refusal_by_size(const FusionSummary& summary, const RunFacts& facts) {
  const auto problem = std::get<MatmulProblem>(find_problem(summary));
  NVF_RETURN_REFUSAL(find_wrong_option(problem));
  NVF_RETURN_REFUSAL(find_wrong_target(problem, facts.target()));
  NVF_RETURN_REFUSAL(find_empty(problem, facts));
  NVF_RETURN_REFUSAL(find_wrong_layout(problem.a, facts.input(problem.position_of_a)));
  NVF_RETURN_REFUSAL(find_wrong_layout(problem.b, facts.input(problem.position_of_b)));
  return find_faster_library(problem, summary, facts);
}

} // namespace matmul
} // namespace nvfuser::schedule
