#include "graph/domain_map.h"

#include <algorithm>
#include <numeric>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/topo_sort.h"

namespace nvfuser {
namespace {

IterDomain* lookup(
    const std::unordered_map<const IterDomain*, IterDomain*>& map, const IterDomain* key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

/// One of them is a broadcast, the other is larger. A reduction over a broadcast is not.
bool is_resolved(const IterDomain* id0, const IterDomain* id1) {
  return id0->is_broadcast() != id1->is_broadcast() &&
         !(id0->extent()->is_one() && id1->extent()->is_one());
}

bool has_tensor_output(const Expr* expr) {
  const std::vector<Val*>& outs = expr->outputs();
  return std::any_of(outs.begin(), outs.end(), [](const Val* val) { return val->is_tensor(); });
}

// ---- Which dimension of the consumer a dimension of the producer is -----------------------------

/// Per dimension of the producer: the position in the consumer's root domain.
using AxisPositions = std::vector<int64_t>;
constexpr int64_t kNoPartner = -1;

/// The first dimension is the first, and so on.
AxisPositions in_order(size_t rank) {
  AxisPositions positions(rank);
  std::iota(positions.begin(), positions.end(), int64_t{0});
  return positions;
}

AxisPositions no_partners(size_t rank) {
  return AxisPositions(rank, kNoPartner);
}

/// As `in_order`, but `dim` is addressed by the elements of another operand.
AxisPositions all_but(int64_t dim, size_t rank) {
  AxisPositions positions = in_order(rank);
  positions.at(static_cast<size_t>(dim)) = kNoPartner;
  return positions;
}

/// As `in_order` for dimensions whose extent is provably that of `other`.
AxisPositions of_equal_extents(const TensorView& tensor, const TensorView& other) {
  const std::vector<Val*> extents = tensor.shape();
  const std::vector<Val*> others = other.shape();
  AxisPositions positions = in_order(extents.size());
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i]->same_as(others.at(i))) {
      positions[i] = kNoPartner;
    }
  }
  return positions;
}

AxisPositions around_new(const std::vector<bool>& is_new) {
  AxisPositions positions;
  for (size_t i = 0; i < is_new.size(); ++i) {
    if (!is_new[i]) {
      positions.push_back(static_cast<int64_t>(i));
    }
  }
  return positions;
}

AxisPositions without_removed(const std::vector<bool>& is_removed) {
  AxisPositions positions;
  int64_t next = 0;
  for (const bool removed : is_removed) {
    positions.push_back(removed ? kNoPartner : next++);
  }
  return positions;
}

/// A repeated dimension has its elements at several positions of the result; one of size 1 is
/// resolved like a broadcast.
AxisPositions all_but_repeated(const RepeatOp& op) {
  const IterDomains axes = TensorDomain::no_reductions(op.arg->logical());
  AxisPositions positions = in_order(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    if (op.repeats.at(i) != 1 && !axes[i]->is_broadcast()) {
      positions[i] = kNoPartner;
    }
  }
  return positions;
}

/// The positions, for each kind of consumer.
struct PositionsInConsumer {
  const TensorView& producer;
  size_t rank; // of the producer
  size_t consumer_rank;

  AxisPositions operator()(const BroadcastOp& op) const {
    return around_new(op.flags);
  }
  AxisPositions operator()(const SqueezeOp& op) const {
    return without_removed(op.flags);
  }
  AxisPositions operator()(const SelectOp& op) const {
    std::vector<bool> is_removed(rank, false);
    if (&producer == op.arg) {
      is_removed.at(static_cast<size_t>(op.dim)) = true;
    }
    return without_removed(is_removed);
  }
  AxisPositions operator()(const IndexSelectOp& op) const {
    return &producer == op.arg ? all_but(op.dim, rank) : in_order(rank);
  }
  AxisPositions operator()(const GatherOp& op) const {
    if (&producer != op.arg) {
      return in_order(rank);
    }
    return op.exact_sizes ? all_but(op.dim, rank) : no_partners(rank);
  }
  AxisPositions operator()(const ScatterOp& op) const {
    return &producer == op.src ? of_equal_extents(producer, *op.index) : in_order(rank);
  }
  AxisPositions operator()(const IndexPutAccumulateOp& op) const {
    return &producer == op.arg     ? in_order(rank)
           : &producer == op.value ? all_but(0, rank)
                                   : no_partners(rank);
  }
  AxisPositions operator()(const EmbeddingFwdOp& op) const {
    return &producer == op.weight
               ? AxisPositions{kNoPartner, static_cast<int64_t>(consumer_rank) - 1}
               : in_order(rank);
  }
  AxisPositions operator()(const RepeatOp& op) const {
    return all_but_repeated(op);
  }
// What has no kernel form is evaluated: none of its loops is shared.
#define NVF_EVALUATED(Node)                     \
  AxisPositions operator()(const Node&) const { \
    return no_partners(rank);                   \
  }
  NVF_FOR_EACH_MATMUL_EXPR(NVF_EVALUATED)
  NVF_FOR_EACH_QUANTIZE_EXPR(NVF_EVALUATED)
#undef NVF_EVALUATED
  AxisPositions operator()(const Expr&) const {
    return in_order(rank);
  }
};

void check_reads(const TensorView* producer, const TensorView* consumer) {
  const Expr* expr = consumer->definition();
  const auto reads = [&](const Val* input) { return input == producer; };
  if (expr == nullptr || std::ranges::none_of(expr->inputs(), reads)) {
    throw UserError(
        {.headline = "Axes correspond between an operand and its result",
         .node = describe(consumer),
         .expected = {"a tensor that is computed from ", describe(producer)},
         .found = expr == nullptr
                      ? Part("a tensor without definition")
                      : Part("a result of ", expr->op_name(), ", which does not read it"),
         .fix = "pass a tensor, and one of its consumers()"});
  }
}

/// The axes of the consumer that the producer's are compared with. A scatter has the shape of the
/// tensor it copies; its loops run over the positions it is given.
const IterDomains& read_axes(const TensorView* producer, const TensorView* consumer) {
  const auto* scatter = consumer->definition()->as<ScatterOp>();
  return scatter == nullptr || producer == scatter->arg ? consumer->maybe_root()
                                                        : consumer->domain()->initial_loop();
}

} // namespace

PairwiseDomainMap::PairwiseDomainMap(
    const TensorView* producer, const TensorView* consumer, BroadcastPairs broadcasts) {
  check_reads(producer, consumer);
  const IterDomains& read = read_axes(producer, consumer);
  const size_t rank = TensorDomain::no_reductions(producer->logical()).size();
  const AxisPositions partner =
      visit(*consumer->definition(), PositionsInConsumer{*producer, rank, read.size()});
  std::vector<IterDomain*> producer_axis(read.size(), nullptr);
  size_t dim = 0;
  for (IterDomain* id : producer->logical()) {
    const int64_t position = id->is_reduction() ? kNoPartner : partner.at(dim++);
    if (position == kNoPartner) {
      producer_only_.push_back(id);
    } else {
      producer_axis.at(static_cast<size_t>(position)) = id;
    }
  }
  for (size_t i = 0; i < read.size(); ++i) {
    if (producer_axis[i] == nullptr) {
      consumer_only_.push_back(read[i]);
    } else if (broadcasts == BroadcastPairs::Keep || !is_resolved(producer_axis[i], read[i])) {
      pairs_.emplace_back(producer_axis[i], read[i]);
      consumer_of_[producer_axis[i]] = read[i];
      producer_of_[read[i]] = producer_axis[i];
    }
  }
}

IterDomain* PairwiseDomainMap::consumer_of(const IterDomain* producer_axis) const {
  return lookup(consumer_of_, producer_axis);
}

IterDomain* PairwiseDomainMap::producer_of(const IterDomain* consumer_axis) const {
  return lookup(producer_of_, consumer_axis);
}

IterDomains indexed_axes(const TensorView* producer, const TensorView* consumer) {
  check_reads(producer, consumer);
  const IterDomains axes = TensorDomain::no_reductions(producer->logical());
  const auto at = [&](const TensorView* arg, int64_t dim) {
    return producer == arg ? IterDomains{axes.at(static_cast<size_t>(dim))} : IterDomains{};
  };
  return TensorDomain::no_broadcasts(visit(
      *consumer->definition(), overloaded{
                                   [&](const SelectOp& op) { return at(op.arg, op.dim); },
                                   [&](const IndexSelectOp& op) { return at(op.arg, op.dim); },
                                   [&](const GatherOp& op) {
                                     return producer == op.arg && !op.exact_sizes
                                                ? axes
                                                : at(op.arg, op.dim);
                                   },
                                   [&](const Expr&) { return IterDomains{}; },
                               }));
}

std::vector<Expr*> tensor_exprs(const Fusion& fusion) {
  std::vector<Expr*> exprs =
      fusion.outputs().empty() ? topo_sort(fusion.all_exprs()) : fusion.exprs();
  std::erase_if(exprs, [](const Expr* expr) { return !has_tensor_output(expr); });
  return exprs;
}

std::vector<TensorView*> scheduled_tensors(const Fusion& fusion) {
  std::vector<TensorView*> tensors;
  for (Val* input : fusion.inputs()) {
    if (input->is_tensor()) {
      tensors.push_back(static_cast<TensorView*>(input));
    }
  }
  for (const Expr* expr : tensor_exprs(fusion)) {
    const std::vector<TensorView*> ins = tensor_inputs(expr);
    const std::vector<TensorView*> outs = tensor_outputs(expr);
    tensors.insert(tensors.end(), ins.begin(), ins.end());
    tensors.insert(tensors.end(), outs.begin(), outs.end());
  }
  std::sort(tensors.begin(), tensors.end(), [](const TensorView* a, const TensorView* b) {
    return a->serial() < b->serial();
  });
  tensors.erase(std::unique(tensors.begin(), tensors.end()), tensors.end());
  return tensors;
}

} // namespace nvfuser
