#include "graph/axis_table.h"

#include <algorithm>
#include <optional>

#include "ir/all_nodes.h"

namespace nvfuser {
namespace {

using Axes = std::vector<AxisUse>;

/// The same axis of the result.
AxisUse partner(int64_t position, AxisRead read = AxisRead::Same) {
  return {.read = read, .is_partner = true, .position = position};
}

/// Another axis of the result, or none.
AxisUse apart(AxisRead read, int64_t position = kNoPosition) {
  return {.read = read, .is_partner = false, .position = position};
}

Axes in_order(int64_t rank) {
  Axes axes;
  axes.reserve(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) {
    axes.push_back(partner(i));
  }
  return axes;
}

Axes all(AxisRead read, int64_t rank) {
  return Axes(static_cast<size_t>(rank), apart(read));
}

/// As `in_order`, but one axis is read otherwise.
Axes all_but(int64_t dim, AxisUse use, int64_t rank) {
  Axes axes = in_order(rank);
  axes.at(static_cast<size_t>(dim)) = use;
  return axes;
}

/// In order from the last axes on, as broadcasting aligns shapes.
Axes from_the_right(int64_t rank, int64_t result_rank) {
  if (rank > result_rank) {
    return all(AxisRead::Any, rank);
  }
  Axes axes;
  for (int64_t i = 0; i < rank; ++i) {
    axes.push_back(partner(result_rank - rank + i));
  }
  return axes;
}

/// `axes`, then `more`.
Axes joined(Axes axes, const Axes& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  return axes;
}

/// Looks up one pair of operand and result. An overload names every operand of its node, and what
/// the result reads of it; those that are the producer answer.
class AxisTable {
 public:
  AxisTable(const TensorView& producer, const TensorView& consumer)
      : producer_(producer), consumer_(consumer), rank_(producer.rank()) {}

  [[nodiscard]] OperandUse use() {
    visit(*consumer_.definition(), *this);
    NVF_INVARIANT(
        found_.has_value() || rank_ == 0, "the table of axes names every operand of a ",
        consumer_.definition()->op_name(), ", also ", describe(&producer_));
    return found_.value_or(OperandUse{});
  }

  // -- operands that meet position by position --

#define NVF_IN_ORDER(Node)          \
  void operator()(const Node& op) { \
    meet(op);                       \
  }
  NVF_FOR_EACH_POINTWISE_EXPR(NVF_IN_ORDER)
  NVF_FOR_EACH_CREATE_EXPR(NVF_IN_ORDER)
  NVF_FOR_EACH_RANDOM_EXPR(NVF_IN_ORDER)
  NVF_IN_ORDER(ExpandOp)
  NVF_IN_ORDER(ReshapeOp)
  NVF_IN_ORDER(CatOp)
  NVF_IN_ORDER(ViewAsScalar)
#undef NVF_IN_ORDER

#define NVF_REDUCED(Node)           \
  void operator()(const Node& op) { \
    reduce(op);                     \
  }
  NVF_FOR_EACH_REDUCE_EXPR(NVF_REDUCED)
  NVF_REDUCED(MmaOp)
#undef NVF_REDUCED

#define NVF_NO_TENSORS(Node) \
  void operator()(const Node&) {}
  NVF_FOR_EACH_DOMAIN_EXPR(NVF_NO_TENSORS)
  NVF_FOR_EACH_KERNEL_EXPR(NVF_NO_TENSORS)
#undef NVF_NO_TENSORS

  // -- ir/shape_exprs.h --

  void operator()(const BroadcastOp& op) {
    on(op.arg, [&] {
      Axes axes;
      for (size_t i = 0; i < op.flags.size(); ++i) {
        if (!op.flags[i]) {
          axes.push_back(partner(static_cast<int64_t>(i)));
        }
      }
      return axes;
    });
  }

  void operator()(const SqueezeOp& op) {
    on(op.arg, [&] {
      Axes axes;
      int64_t next = 0;
      for (const bool is_removed : op.flags) {
        axes.push_back(is_removed ? apart(AxisRead::Same) : partner(next++));
      }
      return axes;
    });
  }

  // -- ir/index_exprs.h --

  void operator()(const SelectOp& op) {
    on(op.arg, [&] {
      Axes axes = in_order(rank_ - 1);
      axes.insert(axes.begin() + op.dim, apart(AxisRead::Indexed));
      return axes;
    });
    on(op.index, [&] { return in_order(rank_); });
  }

  void operator()(const IndexSelectOp& op) {
    on(op.arg, [&] { return all_but(op.dim, apart(AxisRead::Indexed, op.dim), rank_); });
    on(op.index, [&] { return in_order(rank_); });
  }

  void operator()(const GatherOp& op) {
    on(op.arg, [&] {
      Axes axes = in_order(rank_);
      for (int64_t i = 0; i < rank_; ++i) {
        if (!op.exact_sizes) {
          axes[static_cast<size_t>(i)] = apart(AxisRead::Leading, i);
        }
      }
      axes.at(static_cast<size_t>(op.dim)) = apart(AxisRead::Indexed, op.dim);
      return axes;
    });
    on(op.index, [&] { return in_order(rank_); });
  }

  /// The loops run over the positions; the copy of `arg` has the axes of the result.
  void operator()(const ScatterOp& op) {
    on(op.arg, [&] { return in_order(rank_); });
    on(op.index, [&] { return in_order(rank_); }, /*is_of_loops=*/true);
    on(op.src, [&] { return where_equal(*op.index); }, /*is_of_loops=*/true);
  }

  void operator()(const IndexPutAccumulateOp& op) {
    on(op.arg, [&] { return in_order(rank_); });
    on(op.index, [&] {
      Axes axes = all(AxisRead::Same, rank_); // [n], or [n, 1]
      axes.front() = apart(AxisRead::Placed, 0);
      return axes;
    });
    on(op.value, [&] { return all_but(0, apart(AxisRead::Placed, 0), rank_); });
  }

  void operator()(const EmbeddingFwdOp& op) {
    on(op.arg, [&] { return in_order(rank_); });
    on(op.weight, [&] {
      const AxisRead columns = op.max_norm == nullptr ? AxisRead::Same : AxisRead::Whole;
      return Axes{apart(AxisRead::Indexed), partner(num_taken_up() - 1, columns)};
    });
  }

  // -- ir/resize_exprs.h --

  void operator()(const SliceOp& op) {
    on(op.arg, [&] { return resized(); });
  }

  void operator()(const PadOp& op) {
    on(op.arg, [&] { return resized(); });
    on(op.value, [&] { return in_order(rank_); });
  }

  /// An axis of one element is resolved like a broadcast.
  void operator()(const RepeatOp& op) {
    on(op.arg, [&] {
      const IterDomains own = TensorDomain::no_reductions(op.arg->logical());
      Axes axes = in_order(rank_);
      for (size_t i = 0; i < axes.size(); ++i) {
        if (op.repeats.at(i) != 1) {
          axes[i].read = AxisRead::Repeated;
          axes[i].is_partner = own[i]->is_broadcast();
        }
      }
      return axes;
    });
  }

  // -- ir/search_exprs.h --

  void operator()(const ScanOp& op) {
    on(op.arg, [&] { return all_but(op.dim, partner(op.dim, AxisRead::Scanned), rank_); });
  }

  /// Which elements are the largest, all of them decide. A Resize leads to `k` of them.
  void operator()(const TopKOp& op) {
    on(op.arg, [&] { return all_but(op.dim, partner(op.dim, AxisRead::Whole), rank_); });
  }

  void operator()(const ArgsortOp& op) {
    on(op.arg, [&] { return all_but(op.dim, partner(op.dim, AxisRead::Whole), rank_); });
  }

  // -- ir/matmul_exprs.h --

  void operator()(const MatmulOp& op) {
    multiply(*op.a, *op.b);
  }

  /// [*_w, *_i, N, r K]
  void operator()(const LinearOp& op) {
    const int64_t num_w = op.b->rank() - 2;
    const int64_t num_i = op.a->rank() - 1;
    const AxisUse n = partner(num_w + num_i);
    on(op.a, [&] {
      Axes axes;
      for (int64_t i = 0; i < num_i; ++i) {
        axes.push_back(partner(num_w + i));
      }
      return joined(axes, {summed()});
    });
    on(op.b, [&] { return joined(in_order(num_w), {n, summed()}); });
    on(op.bias, [&] { return joined(in_order(rank_ - 1), {n}); });
  }

  /// [g, M, N, r K] of two matrices; else one is a stack, of which each row or column of the result
  /// takes the matrix of its group.
  void operator()(const GroupedMmaOp& op) {
    const bool has_groups = op.mat1->rank() == 2 && op.mat2->rank() == 2;
    const int64_t m = has_groups ? 1 : 0;
    if (&consumer_ == op.out_gamma) {
      add(all(AxisRead::Reduced, rank_));
      return;
    }
    const bool is_product = &consumer_ == op.out;
    const Axes stack = {apart(AxisRead::Indexed)};
    const AxisUse n = is_product ? partner(m + 1) : apart(AxisRead::Block, m + 1);
    on(op.mat1, [&] { return joined(rank_ == 3 ? stack : Axes{}, {partner(m), summed()}); });
    on(op.mat2, [&] { return joined(rank_ == 3 ? stack : Axes{}, {summed(), n}); });
    on(op.offsets,
       [&] { return Axes{has_groups ? partner(0, AxisRead::Whole) : apart(AxisRead::Any)}; });
    for (const TensorView* factor : {op.alpha, op.beta}) { // an element for each group
      on(factor,
         [&] { return has_groups && rank_ == 1 ? in_order(1) : all(AxisRead::Any, rank_); });
    }
    on(op.bias, [&] { return from_the_right(rank_, m + 2); });
    lie_in_blocks({op.scale1, op.scale2});
  }

  void operator()(const ScaledMmaOp& op) {
    if (&consumer_ != op.out) {
      add(all(AxisRead::Any, rank_));
      return;
    }
    multiply(*op.mat1, *op.mat2);
    on(op.bias, [&] {
      return from_the_right(
          rank_, static_cast<int64_t>(TensorDomain::no_reductions(consumer_.logical()).size()));
    });
    lie_in_blocks({op.scale1, op.scale2, op.alpha, op.beta});
  }

  /// [M, N, r K]: rows of the result take the matrix of their group.
  void operator()(const CutlassNvfp4GroupedMmaOp& op) {
    on(op.mat1, [&] { return Axes{partner(0), summed()}; });
    on(op.mat2, [&] { return Axes{apart(AxisRead::Indexed), summed(), partner(1)}; });
    lie_in_blocks(
        {op.scale1, op.scale2, op.alpha, op.problem_sizes, op.expert_offsets, op.sf_offsets});
  }

  /// out [N.., H, L, Ev], logsumexp [N.., H, L] of query [.., L, E], key [.., S, E], value
  /// [.., S, Ev] and bias or mask [.., L, S].
  void operator()(const SdpaFwdOp& op) {
    if (&consumer_ != op.out && &consumer_ != op.logsumexp) { // state of the generator
      add(all(AxisRead::Any, rank_));
      return;
    }
    const int64_t rows = op.query->rank() - 2;
    const AxisUse combined = apart(AxisRead::Reduced);
    const AxisUse columns = &consumer_ == op.out ? partner(rows + 1) : combined;
    on(op.query, [&] { return joined(in_order(rows), {partner(rows), combined}); });
    on(op.key, [&] { return joined(in_order(rows), {combined, combined}); });
    on(op.value, [&] { return joined(in_order(rows), {combined, columns}); });
    for (const TensorView* addend : {op.bias, op.mask}) {
      on(addend, [&] { return joined(in_order(rows), {partner(rows), combined}); });
    }
  }

  /// Gradients have the shapes of query [.., L, E], key [.., S, E] and value [.., S, Ev]. An
  /// operand has rows of queries (L) or of keys (S), and columns of keys (E) or of values (Ev); a
  /// gradient reads its own row, and all others.
  void operator()(const SdpaBwdOp& op) {
    enum class Rows : uint8_t { Queries, Keys };
    enum class Columns : uint8_t { Keys, Values };
    const Rows own_rows = &consumer_ == op.grad_query ? Rows::Queries : Rows::Keys;
    const Columns own_columns = &consumer_ == op.grad_value ? Columns::Values : Columns::Keys;
    const int64_t leading = op.query->rank() - 2;
    const auto use_row = [&](Rows rows) {
      return rows == own_rows ? partner(leading) : apart(AxisRead::Reduced);
    };
    // A weight is computed from whole rows of query and key.
    const AxisRead along = own_columns == Columns::Keys ? AxisRead::Whole : AxisRead::Same;
    const auto read = [&](const TensorView* operand, Rows rows, Columns columns) {
      on(operand, [&] {
        const AxisUse column =
            columns == own_columns ? partner(leading + 1, along) : apart(AxisRead::Reduced);
        return joined(in_order(leading), {use_row(rows), column});
      });
    };
    read(op.grad_output, Rows::Queries, Columns::Values);
    read(op.out, Rows::Queries, Columns::Values);
    read(op.query, Rows::Queries, Columns::Keys);
    read(op.key, Rows::Keys, Columns::Keys);
    read(op.value, Rows::Keys, Columns::Values);
    on(op.logsumexp, [&] { return joined(in_order(leading), {use_row(Rows::Queries)}); });
    lie_in_blocks({op.philox_seed, op.philox_offset});
  }

  // -- ir/quantize_exprs.h --

  void operator()(const BlockQuantizationOp& op) {
    on(op.arg, [&] {
      Axes axes = in_blocks(&consumer_ == op.quantized);
      for (AxisUse& use : axes) {
        use.read = op.swizzled && &consumer_ == op.block_scales ? AxisRead::Any : use.read;
      }
      return axes;
    });
    on(op.global_scale, [&] { return in_order(rank_); });
  }

  void operator()(const GroupedBlockQuantizationOp& op) {
    on(op.arg, [&] {
      return &consumer_ == op.quantized ? in_blocks(/*is_quantized=*/true)
                                        : Axes{partner(0, AxisRead::Any), apart(AxisRead::Any, 1)};
    });
    on(op.global_scale, [&] { return in_order(rank_); });
    lie_in_blocks({op.input_offsets, op.output_offsets});
  }

  void operator()(const PreprocessGroupedMatmulInputSf& op) {
    on(op.arg, [&] { return Axes{partner(0, AxisRead::Any), partner(1, AxisRead::Any)}; });
    lie_in_blocks({op.input_offsets, op.output_offsets});
  }

  // -- ir/grid_order_exprs.h --

  void operator()(const WaitForPriorGridOp& op) {
    copy_first(op.ins);
  }
  void operator()(const LaunchDependentGridOp& op) {
    copy_first(op.ins);
  }

 private:
  /// The elements of `operand` that the result reads, asked for if that is the producer.
  template <typename Fn>
  void on(const Val* operand, const Fn& axes, bool is_of_loops = false) {
    if (operand == &producer_) {
      add(axes(), is_of_loops);
    }
  }

  /// A tensor may be several operands: what is certain is what all of them say.
  void add(Axes axes, bool is_of_loops = false) {
    if (!found_.has_value()) {
      found_ = OperandUse{.axes = std::move(axes), .is_of_loops = is_of_loops};
      return;
    }
    found_->is_of_loops = found_->is_of_loops && is_of_loops;
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisUse& known = found_->axes.at(i);
      const bool is_same_axis = known.position == axes[i].position;
      known.read = std::max(known.read, axes[i].read);
      known.is_partner = is_same_axis && known.is_partner && axes[i].is_partner;
      known.position = is_same_axis ? known.position : kNoPosition;
    }
  }

  /// All operands but the first are computed before the result, and no axis of theirs is one of it.
  void copy_first(const std::vector<TensorView*>& ins) {
    on(ins.front(), [&] { return in_order(rank_); });
    for (size_t i = 1; i < ins.size(); ++i) {
      on(ins[i], [&] { return all(AxisRead::Any, rank_); });
    }
  }

  template <typename Node>
  void meet(const Node& op) {
    for (const Val* operand : op.inputs()) {
      if (operand == &producer_) {
        found_ = OperandUse{.axes = in_order(rank_)};
        return;
      }
    }
  }

  template <typename Node>
  void reduce(const Node& op) {
    meet(op);
    const IterDomains& result = consumer_.maybe_root();
    for (size_t i = 0; found_.has_value() && i < result.size(); ++i) {
      if (result[i]->is_reduction() && i < found_->axes.size()) {
        found_->axes[i].read = AxisRead::Reduced;
      }
    }
  }

  /// Axes of the result that operands meet.
  [[nodiscard]] int64_t num_taken_up() const {
    return static_cast<int64_t>(consumer_.maybe_root().size());
  }

  [[nodiscard]] Axes resized() const {
    Axes axes = in_order(rank_);
    for (AxisUse& use : axes) {
      use.read = AxisRead::Resized;
    }
    return axes;
  }

  /// In order, where the extent is provably that of `other`.
  [[nodiscard]] Axes where_equal(const TensorView& other) const {
    const std::vector<Val*> extents = producer_.shape();
    const std::vector<Val*> others = other.shape();
    Axes axes = in_order(rank_);
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!extents[i]->same_as(others.at(i))) {
        axes[i] = apart(AxisRead::Leading, static_cast<int64_t>(i));
      }
    }
    return axes;
  }

  /// The axis that a product sums over: the last one of its result, unless it has one element.
  [[nodiscard]] AxisUse summed() const {
    const IterDomains& result = consumer_.maybe_root();
    return !result.empty() && result.back()->is_reduction()
               ? partner(num_taken_up() - 1, AxisRead::Reduced)
               : apart(AxisRead::Reduced);
  }

  /// [batch.., M, N, r K] of a [.., M, K] or [K] and b [.., K, N] or [K].
  void multiply(const TensorView& a, const TensorView& b) {
    const int64_t batch_of_a = std::max<int64_t>(a.rank() - 2, 0);
    const int64_t batch_of_b = std::max<int64_t>(b.rank() - 2, 0);
    const int64_t batch = std::max(batch_of_a, batch_of_b);
    on(&a, [&] {
      const Axes m = a.rank() > 1 ? Axes{partner(batch)} : Axes{};
      return joined(joined(from_the_right(batch_of_a, batch), m), {summed()});
    });
    on(&b, [&] {
      const Axes n = b.rank() > 1 ? Axes{partner(batch + (a.rank() > 1 ? 1 : 0))} : Axes{};
      return joined(joined(from_the_right(batch_of_b, batch), {summed()}), n);
    });
  }

  /// Operands whose layout, or groups, are data: any element may be read for any other.
  void lie_in_blocks(std::initializer_list<const TensorView*> operands) {
    for (const TensorView* operand : operands) {
      on(operand, [&] { return all(AxisRead::Any, rank_); });
    }
  }

  /// Blocks of the innermost axis: quantized elements, or a scale for each block.
  [[nodiscard]] Axes in_blocks(bool is_quantized) const {
    Axes axes = in_order(rank_);
    axes.back() =
        is_quantized ? partner(rank_ - 1, AxisRead::Block) : apart(AxisRead::Block, rank_ - 1);
    return axes;
  }

  const TensorView& producer_;
  const TensorView& consumer_;
  const int64_t rank_; // of the producer
  std::optional<OperandUse> found_;
};

} // namespace

OperandUse look_up_use(const TensorView& producer, const TensorView& consumer) {
  return AxisTable(producer, consumer).use();
}

} // namespace nvfuser
