#include "schedule/common/rescaled_sums.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "ir/all_nodes.h"
#include "ops/binary.h"
#include "ops/reduce.h"
#include "ops/reshape_nodes.h"
#include "ops/shape.h"
#include "ops/ternary.h"
#include "ops/unary.h"
#include "optimize/rewrite.h"
#include "schedule/common/reduction_rules.h"
#include "schedule/summary/axis_sources.h"

namespace nvfuser::schedule {
namespace {

TensorView* tensor_of(const Val* val) {
  return val->is_tensor() ? static_cast<TensorView*>(const_cast<Val*>(val)) : nullptr;
}

/// The definition of `val` as this operation, if nothing but `reader` reads `val`.
template <typename Op>
const Op* only_read_by(const Val* val, const Expr* reader) {
  const bool is_own = val->is_tensor() && val->definition() != nullptr && val->uses().size() == 1 &&
                      val->uses().front() == reader && !val->is_fusion_output();
  return is_own ? val->definition()->as<Op>() : nullptr;
}

/// sum(exp(x - broadcast(max(x)))), if it is that.
std::optional<RescaledSum> rescaled_sum(const ReductionOp* sum) {
  if (sum->op != BinaryOpType::Add) {
    return std::nullopt;
  }
  const auto* power = only_read_by<UnaryOp>(sum->arg, sum);
  if (power == nullptr || power->op != UnaryOpType::Exp) {
    return std::nullopt;
  }
  const auto* difference = only_read_by<BinaryOp>(power->arg, power);
  if (difference == nullptr || difference->op != BinaryOpType::Sub ||
      !difference->rhs->is_tensor() || difference->rhs->definition() == nullptr) {
    return std::nullopt;
  }
  const auto* broadcast = difference->rhs->definition()->as<BroadcastOp>();
  const Expr* made_by = broadcast == nullptr ? nullptr : broadcast->arg->definition();
  const auto* maximum = made_by == nullptr ? nullptr : made_by->as<ReductionOp>();
  if (maximum == nullptr || maximum->op != BinaryOpType::Max || maximum->arg != difference->lhs) {
    return std::nullopt;
  }
  return RescaledSum{.maximum = maximum, .sum = sum, .shift = tensor_of(difference->rhs)};
}

std::vector<int64_t> reduced_positions(const TensorView* tensor) {
  std::vector<int64_t> positions;
  for (size_t i = 0; i < tensor->logical().size(); ++i) {
    if (tensor->logical()[i]->is_reduction()) {
      positions.push_back(static_cast<int64_t>(i));
    }
  }
  return positions;
}

class ChunkWriter {
 public:
  ChunkWriter(const FusionSummary& summary, int64_t size) : summary_(summary), size_(size) {}

  /// The reduction in two steps; the first one.
  TensorView* reduce(const ReductionOp* reduction, ReducedChunks& made) {
    const optimize::MadeFor made_for(reduction);
    auto* out = tensor_of(reduction->out);
    const int64_t at = position_of_chunks(out);
    TensorView* elements = chunks_of(tensor_of(reduction->arg), at);
    TensorView* part = ops::new_reduction(reduction->op, elements, {at + 1}, reduction->init);
    finish(reduction, part, made);
    return part;
  }

  /// The sum about the maxima of the chunks.
  void sum_about(const RescaledSum& rescaled, TensorView* maxima, ReducedChunks& made) {
    const optimize::MadeFor made_for(rescaled.sum);
    const int64_t at = position_of_chunks(tensor_of(rescaled.sum->out));
    TensorView* elements = chunks_of(tensor_of(rescaled.maximum->arg), at);
    // A chunk of -inf alone adds nothing: about 0, its powers are 0.
    Fusion& fusion = summary_.fusion();
    const DataType dtype = maxima->dtype();
    Val* lowest = fusion.new_constant(-std::numeric_limits<double>::infinity(), dtype);
    Val* zero = fusion.new_constant(0.0, dtype);
    auto* center = tensor_of(ops::where(ops::eq(maxima, lowest), zero, maxima));
    std::vector<bool> is_new(static_cast<size_t>(elements->rank()), false);
    is_new[static_cast<size_t>(at) + 1] = true;
    auto* powers = tensor_of(ops::exp(ops::sub(elements, ops::broadcast(center, is_new))));
    TensorView* part = ops::new_reduction(BinaryOpType::Add, powers, {at + 1}, rescaled.sum->init);
    auto* scale = tensor_of(ops::exp(ops::sub(maxima, rescaled.shift)));
    made.sums.push_back(part);
    finish(rescaled.sum, tensor_of(ops::mul(part, scale)), made);
  }

 private:
  [[nodiscard]] int64_t position_of_chunks(const TensorView* out) const {
    const IterDomain* axis = axis_of_chunks(summary_);
    const IterDomains& axes = out->logical();
    return std::ranges::find_if(
               axes,
               [&](const IterDomain* other) { return summary_.exact().are_mapped(axis, other); }) -
           axes.begin();
  }

  TensorView* chunks_of(TensorView* elements, int64_t at) {
    TensorView*& chunks = chunks_[elements];
    if (chunks == nullptr) {
      chunks = ops::split_dim(elements, at, size_);
    }
    return chunks;
  }

  /// Reduce what the chunks were reduced to, in the place of `reduction`.
  void finish(const ReductionOp* reduction, TensorView* parts, ReducedChunks& made) {
    auto* out = tensor_of(reduction->out);
    TensorView* result =
        ops::new_reduction(reduction->op, parts, reduced_positions(out), reduction->init);
    if (out->is_fusion_output()) {
      optimize::define_as(out, result);
      result = out;
    } else {
      optimize::replace(out, result);
    }
    made.results.push_back(result);
    if (out == summary_.problem()->reference) {
      made.reference = result;
    }
  }

  const FusionSummary& summary_;
  int64_t size_;
  std::unordered_map<const TensorView*, TensorView*> chunks_; // only looked up
};

} // namespace

std::optional<ChunkedRow> find_chunked_row(const FusionSummary& summary) {
  const TensorSetOf behind = tensors_behind_reductions(summary);
  ChunkedRow row;
  TensorSetOf differences; // that are made for the sums alone
  for (const ReductionFacts& facts : summary.reductions()) {
    const auto* reduction = facts.expr->as<ReductionOp>();
    if (reduction == nullptr) {
      return std::nullopt;
    }
    if (!behind.contains(facts.operand)) {
      row.direct.push_back(reduction);
      continue;
    }
    const std::optional<RescaledSum> sum = rescaled_sum(reduction);
    if (!sum || std::ranges::find(row.direct, sum->maximum) == row.direct.end()) {
      return std::nullopt;
    }
    const Expr* power = sum->sum->arg->definition();
    differences.insert({tensor_of(sum->sum->arg), tensor_of(power->as<UnaryOp>()->arg)});
    row.rescaled.push_back(*sum);
  }
  const AxisClasses reduced = sources_of(summary.exact(), summary.problem()->reduced);
  const bool has_other_row = std::ranges::any_of(summary.computed(), [&](const TensorView* tensor) {
    const bool is_row = std::ranges::any_of(concrete_axes(tensor), [&](const IterDomain* axis) {
      return reduced.contains(summary.exact().group(axis));
    });
    return is_row && !differences.contains(tensor) &&
           (behind.contains(tensor) || tensor->is_fusion_output());
  });
  return row.rescaled.empty() || has_other_row ? std::nullopt : std::optional(std::move(row));
}

IterDomain* axis_of_chunks(const FusionSummary& summary) {
  return summary.problem()->reduced.back();
}

ReducedChunks reduce_in_chunks(const FusionSummary& summary, const ChunkedRow& row, int64_t size) {
  ReducedChunks made;
  ChunkWriter writer(summary, size);
  std::unordered_map<const ReductionOp*, TensorView*> parts; // only looked up
  for (const ReductionOp* reduction : row.direct) {
    parts[reduction] = writer.reduce(reduction, made);
  }
  for (const RescaledSum& rescaled : row.rescaled) {
    TensorView* maxima = parts.at(rescaled.maximum);
    if (std::ranges::find(made.maxima, maxima) == made.maxima.end()) {
      made.maxima.push_back(maxima);
    }
    writer.sum_about(rescaled, maxima, made);
  }
  return made;
}

} // namespace nvfuser::schedule
