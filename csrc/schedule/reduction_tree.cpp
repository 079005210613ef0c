#include "schedule/reduction_tree.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "ir/scalar.h"
#include "transform/rules.h"

namespace nvfuser::schedule {
namespace {

constexpr int64_t kAccumulators = 8; // of a thread: independent of each other, and of one vector
constexpr int64_t kRun = 16;         // elements that one accumulator takes in turn
constexpr int64_t kStages = 3;       // 2^23 elements become one
constexpr int64_t kLeft = 4;         // so few pieces need no further stage

/// Lengths of the runs of a stage behind the first, the last sum first. 256 pieces become one.
constexpr std::array<int64_t, 4> kRounded = {2, 2, 4, kRun};
constexpr std::array<int64_t, 2> kExact = {kRun, kRun};

/// Whether sums of pieces are rounded like the result: no wider type is there to combine them in.
bool is_rounded(const Expr* expr) {
  const auto* reduction = expr->as<ReductionOp>();
  const bool adds = reduction == nullptr || reduction->op == BinaryOpType::Add ||
                    reduction->op == BinaryOpType::Mul;
  const DataType type = expr->outputs().front()->dtype();
  return adds && (type == DataType::Double || is_complex(type));
}

/// The results of a reduction, with the same transforms.
class Tree {
 public:
  Tree(const std::vector<TensorView*>& results, std::span<const int64_t> runs)
      : results_(results), runs_(runs) {
    piece_ = axes_before_last_reduced(results_.front());
  }

  [[nodiscard]] std::optional<Refusal> factor(std::vector<PartialResults>& stages) {
    for (TensorView* result : results_) {
      NVF_RETURN_REFUSAL(move_reduced_inside(result));
    }
    extent_ = results_.front()->axis(kept_)->extent();
    if (has_at_most(kRun, 1)) {
      return std::nullopt;
    }
    stages.push_back(first_stage());
    int64_t combined = kAccumulators * kRun; // elements behind one element that is left
    for (int64_t made = 1; made < kStages && !has_at_most(kLeft, combined); ++made) {
      stages.push_back(later_stage(combined));
      combined *= std::accumulate(runs_.begin(), runs_.end(), int64_t{1}, std::multiplies<>());
    }
    return std::nullopt;
  }

 private:
  /// How many of the axes that are kept stand before the innermost one that is reduced.
  static int64_t axes_before_last_reduced(const TensorView* tensor) {
    int64_t kept = 0;
    int64_t before = 0;
    for (const IterDomain* axis : tensor->loop()) {
      before = axis->is_reduction() ? kept : before;
      kept += axis->is_reduction() ? 0 : 1;
    }
    return before;
  }

  /// So that neighboring threads read neighboring elements.
  void order_pieces(const std::vector<TensorView*>& tensors) const {
    for (TensorView* tensor : tensors) {
      if (piece_ != kept_) {
        tensor->reorder(std::unordered_map<int64_t, int64_t>{{kept_, piece_}});
      }
    }
  }

  /// Behind the axes that are kept, as one axis. Says no where that has too many elements.
  std::optional<Refusal> move_reduced_inside(TensorView* tensor) {
    std::unordered_map<int64_t, int64_t> old2new;
    int64_t position = 0;
    for (const bool is_reduced : {false, true}) {
      kept_ = position;
      for (int64_t i = 0; i < tensor->ndims(); ++i) {
        if (tensor->axis(i)->is_reduction() == is_reduced) {
          old2new[i] = position++;
        }
      }
    }
    tensor->reorder(old2new);
    while (tensor->ndims() > kept_ + 1) {
      NVF_RETURN_REFUSAL(transform::find_wrong_merge(tensor, kept_, kept_ + 1));
      tensor->merge(kept_, kept_ + 1);
    }
    return std::nullopt;
  }

  /// [kept .., piece, run, accumulator]
  PartialResults first_stage() {
    split(results_.front()->fusion()->new_index(kAccumulators));
    split(run_length(kAccumulators, kRun));
    PartialResults stage;
    stage.accumulators = {{.tensors = factor_axis(kept_ + 1), .runs = 0}};
    finish(stage);
    return stage;
  }

  /// [kept .., piece, last run, .., first run]; without runs that take one element.
  PartialResults later_stage(int64_t combined) {
    std::vector<Val*> lengths;
    for (const int64_t run : runs_) {
      if (has_at_most(1, combined)) {
        break;
      }
      lengths.push_back(run_length(combined, run));
      combined *= run;
    }
    for (size_t i = lengths.size(); i-- > 0;) {
      split(lengths[i]);
    }
    PartialResults stage;
    for (auto runs = static_cast<int64_t>(lengths.size()); runs > 1; --runs) {
      stage.accumulators.push_back({.tensors = factor_axis(kept_ + runs), .runs = runs - 1});
    }
    finish(stage);
    return stage;
  }

  void finish(PartialResults& stage) {
    stage.results = factor_axis(kept_ + 1);
    stage.pieces = kept_ + 1;
    order_pieces(stage.results);
    for (const Accumulators& sums : stage.accumulators) {
      order_pieces(sums.tensors);
    }
  }

  [[nodiscard]] Val* left(int64_t combined) const {
    return scalar::ceil_div(extent_, results_.front()->fusion()->new_index(combined));
  }

  /// Whether no more elements are left, by the definition.
  [[nodiscard]] bool has_at_most(int64_t elements, int64_t combined) const {
    const Val* found = left(combined);
    return found->is_const() && as_int(found->value()) <= elements;
  }

  /// At least one, since nothing is divided into pieces of no elements.
  [[nodiscard]] Val* run_length(int64_t combined, int64_t longest) const {
    Fusion& fusion = *results_.front()->fusion();
    return scalar::max(
        scalar::min(left(combined), fusion.new_index(longest)), fusion.new_index(int64_t{1}));
  }

  void split(Val* factor) {
    for (TensorView* result : results_) {
      result->split(kept_, factor);
    }
  }

  std::vector<TensorView*> factor_axis(int64_t axis) {
    return results_.front()->rfactor({axis}, results_);
  }

  std::vector<TensorView*> results_;
  std::span<const int64_t> runs_; // of the stages behind the first
  int64_t kept_ = 0;
  int64_t piece_ = 0;     // where the piece of a stage belongs among them
  Val* extent_ = nullptr; // of all that is reduced
};

} // namespace

std::optional<Refusal> factor_into_tree(const Expr* expr, std::vector<PartialResults>& stages) {
  if (!semantics_of(*expr).has_steps) {
    return std::nullopt;
  }
  std::vector<TensorView*> results;
  for (Val* out : expr->outputs()) {
    results.push_back(static_cast<TensorView*>(out));
  }
  const bool is_transformed = std::ranges::any_of(
      results, [](const TensorView* result) { return result->loop() != result->logical(); });
  if (is_transformed || !results.front()->has_reduction()) {
    return std::nullopt;
  }
  const auto runs = is_rounded(expr) ? std::span<const int64_t>(kRounded) : kExact;
  return Tree(results, runs).factor(stages);
}

} // namespace nvfuser::schedule
