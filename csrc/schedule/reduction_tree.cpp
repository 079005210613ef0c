#include "schedule/reduction_tree.h"

#include <algorithm>
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

/// The results of a reduction, with the same transforms.
class Tree {
 public:
  explicit Tree(const std::vector<TensorView*>& results) : results_(results) {
    piece_ = axes_before_last_reduced(results_.front());
  }

  [[nodiscard]] std::optional<Refusal> factor(std::vector<PartialResults>& stages) {
    for (TensorView* result : results_) {
      NVF_RETURN_REFUSAL(move_reduced_inside(result));
    }
    extent_ = results_.front()->axis(kept_)->extent();
    int64_t combined = 1; // elements behind one element that is left
    for (int64_t stage = 0; stage < kStages && !is_short(combined); ++stage) {
      const bool is_first = stage == 0;
      if (is_first) {
        split(results_.front()->fusion()->new_index(kAccumulators));
        combined *= kAccumulators;
      } else {
        split(run_length(combined));
        combined *= kRun;
      }
      split(run_length(combined));
      combined *= kRun;
      // [kept .., piece, run, accumulator] or [kept .., piece, outer run, inner run]
      PartialResults made;
      made.accumulators = factor_axis(is_first ? kept_ + 1 : kept_ + 2);
      made.results = factor_axis(kept_ + 1);
      order_pieces(made.accumulators);
      order_pieces(made.results);
      made.pieces = kept_ + 1;
      made.runs = is_first ? 0 : 1;
      stages.push_back(std::move(made));
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

  [[nodiscard]] Val* left(int64_t combined) const {
    return scalar::ceil_div(extent_, results_.front()->fusion()->new_index(combined));
  }

  [[nodiscard]] bool is_short(int64_t combined) const {
    const Val* elements = left(combined);
    return elements->is_const() && as_int(elements->value()) <= kRun;
  }

  /// At least one, since nothing is divided into pieces of no elements.
  [[nodiscard]] Val* run_length(int64_t combined) const {
    Fusion& fusion = *results_.front()->fusion();
    return scalar::max(
        scalar::min(left(combined), fusion.new_index(kRun)), fusion.new_index(int64_t{1}));
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
  return is_transformed || !results.front()->has_reduction() ? std::nullopt
                                                             : Tree(results).factor(stages);
}

} // namespace nvfuser::schedule
