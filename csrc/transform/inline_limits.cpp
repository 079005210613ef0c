#include "transform/inline_limits.h"

#include <algorithm>
#include <iterator>

#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/val_graph.h"
#include "transform/scan_items.h"
#include "transform/siblings.h"

namespace nvfuser::transform {
namespace {

/// The expressions that read any of the tensors.
std::unordered_set<const Expr*> users_of(const std::vector<TensorView*>& tensors) {
  std::unordered_set<const Expr*> users;
  for (const TensorView* tensor : tensors) {
    for (const Expr* use : tensor->uses()) {
      users.insert(use);
    }
  }
  return users;
}

/// A tensor that overwrites elements of a copy is complete when the last one is written: neither
/// the copy nor the result is computed inside of a loop of its reader.
bool is_whole_in_memory(const TensorView* producer, const TensorView* consumer) {
  return overwritten_operand(producer->definition()) != nullptr ||
         overwritten_operand(consumer->definition()) == producer;
}

} // namespace

std::vector<TensorView*> with_siblings(TensorView* tensor) {
  return tensor->definition() == nullptr ? std::vector<TensorView*>{tensor}
                                         : tensor_outputs(tensor->definition());
}

IterDomains combined_axes(const TensorView* tensor) {
  IterDomains axes = items_of_scan(tensor);
  std::copy_if(
      tensor->loop().begin(), tensor->loop().end(), std::back_inserter(axes),
      [](const IterDomain* axis) { return axis->is_reduction(); });
  return axes;
}

const LoopAlignment& Alignments::operator()(
    const TensorView* producer, const TensorView* consumer) {
  const auto key = std::make_pair(producer->serial(), consumer->serial());
  const auto found = known_.find(key);
  return found != known_.end() ? found->second
                               : known_.emplace(key, align_loops(producer, consumer)).first->second;
}

std::shared_ptr<Alignments> shared_alignments(Fusion& fusion) {
  struct Shared {
    std::weak_ptr<IdModel> model; // which others take the place of when axes change
    std::shared_ptr<Alignments> alignments;
  };
  static thread_local std::vector<Shared> known;
  std::erase_if(known, [](const Shared& shared) { return shared.model.expired(); });
  const std::shared_ptr<IdModel> model = shared_id_model(fusion);
  const auto found = std::ranges::find_if(
      known, [&](const Shared& shared) { return shared.model.lock() == model; });
  if (found != known.end()) {
    return found->alignments;
  }
  return known.emplace_back(Shared{model, std::make_shared<Alignments>()}).alignments;
}

InlineLimits::InlineLimits(Fusion& fusion, const std::vector<IterDomain*>& uninlinable)
    : fusion_(fusion),
      uninlinable_(uninlinable.begin(), uninlinable.end()),
      shared_(shared_alignments(fusion)) {}

bool InlineLimits::stops_either(const IterDomain* axis) const {
  return traits_of(axis->parallel_type()).stops_inlining == InlineStop::InBoth ||
         uninlinable_.count(axis) != 0;
}

bool InlineLimits::stops_producer(const IterDomain* axis) const {
  return stops_either(axis) ||
         traits_of(axis->parallel_type()).stops_inlining == InlineStop::InProducer;
}

int64_t InlineLimits::consumer_limit(
    const TensorView* producer, const TensorView* consumer, bool is_only_consumer) {
  if (is_whole_in_memory(producer, consumer)) {
    return 0;
  }
  const LoopAlignment& alignment = alignments_(producer, consumer);
  int64_t next = 0; // consumer's axes before it are taken or passed over
  for (int64_t i = 0; i < producer->ndims(); ++i) {
    const int64_t partner = alignment.consumer_axis[static_cast<size_t>(i)];
    if (partner < next || (partner > next && !is_only_consumer)) {
      return i;
    }
    for (; next <= partner; ++next) {
      const bool may_pass = next == partner || alignment.consumer_only[static_cast<size_t>(next)];
      if (!may_pass || stops_either(consumer->axis(next))) {
        return i;
      }
    }
  }
  return producer->ndims();
}

int64_t InlineLimits::pair_limit(TensorView* tensor) {
  if (tensor->is_fusion_input() || tensor->definition() == nullptr) {
    return 0;
  }
  const std::vector<TensorView*> outs = with_siblings(tensor);
  std::vector<std::pair<TensorView*, TensorView*>> pairs;
  for (TensorView* out : outs) {
    for (TensorView* consumer : out->consumers()) {
      pairs.emplace_back(out, consumer);
    }
  }
  if (pairs.empty()) {
    return 0;
  }
  const bool is_only_user = users_of(outs).size() == 1;
  int64_t limit = tensor->ndims();
  for (const TensorView* out : outs) {
    const IterDomains combined = combined_axes(out);
    const auto stop = std::find_if(out->loop().begin(), out->loop().end(), [&](const auto* axis) {
      return stops_producer(axis) ||
             std::find(combined.begin(), combined.end(), axis) != combined.end();
    });
    limit = std::min<int64_t>(limit, stop - out->loop().begin());
  }
  for (const auto& [producer, consumer] : pairs) {
    limit = std::min(limit, consumer_limit(producer, consumer, is_only_user));
  }
  if (const TensorView* reference = furthest_sibling(tensor->definition())) {
    for (const auto& [producer, consumer] : pairs) {
      limit = std::min(limit, common_axes(producer, reference));
    }
  }
  return limit;
}

int64_t InlineLimits::common_axes(const TensorView* tensor, const TensorView* sibling) const {
  const ValGraph& exact = shared_id_model(fusion_)->maybe_build_graph(IdMappingMode::exact);
  const int64_t most = std::min(tensor->ndims(), sibling->ndims());
  int64_t count = 0;
  while (count < most && exact.are_mapped(tensor->axis(count), sibling->axis(count))) {
    ++count;
  }
  return count;
}

void InlineLimits::lower(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  keep_common_nests(positions, adjustable);
  separate_reductions(positions, adjustable);
  keep_reductions_whole(positions, adjustable);
  keep_readers_outside(positions, adjustable);
}

void InlineLimits::keep_common_nests(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  while (lower_beside_fixed(positions, adjustable)) {
  }
}

bool InlineLimits::lower_beside_fixed(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  struct Foreign {
    int64_t axis;                        // the first in a loop that is none of the tensor's own
    const TensorView* through = nullptr; // the consumer inlined there that stands in such a loop
  };
  std::unordered_map<const TensorView*, Foreign> known; // consumers come first
  const std::vector<Expr*> exprs = tensor_exprs(fusion_);
  for (size_t e = exprs.size(); e-- > 0;) {
    const std::vector<TensorView*> outs = tensor_outputs(exprs[e]);
    const auto lower = [&](const TensorView* tensor, int64_t position) {
      for (const TensorView* out : tensor_outputs(tensor->definition())) {
        positions[out] = position;
      }
    };
    const int64_t position = position_of(positions, outs.front());
    Foreign foreign{outs.front()->ndims()};
    for (const TensorView* out : outs) {
      for (const TensorView* consumer : out->consumers()) {
        for (int64_t i = 0; i < std::min(position, foreign.axis); ++i) {
          const int64_t partner = alignments_(out, consumer).consumer_axis[static_cast<size_t>(i)];
          if (partner > i) {
            foreign = {i};
          } else if (partner >= known.at(consumer).axis) {
            foreign = {i, consumer};
          }
        }
      }
    }
    if (foreign.axis < position && users_of(outs).size() > 1) {
      if (adjustable.count(outs.front()) != 0) {
        lower(outs.front(), foreign.axis);
        foreign = {outs.front()->ndims()};
      } else {
        const TensorView* widened = foreign.through;
        while (widened != nullptr && adjustable.count(widened) == 0) {
          widened = known.at(widened).through;
        }
        if (widened != nullptr) {
          lower(widened, known.at(widened).axis);
          return true;
        }
      }
    }
    for (const TensorView* out : outs) {
      known[out] = foreign.axis < position ? foreign : Foreign{out->ndims()};
    }
  }
  return false;
}

int64_t InlineLimits::position_of(const Positions& positions, const TensorView* tensor) {
  const auto listed = positions.find(tensor);
  return listed == positions.end() ? tensor->compute_at_position() : listed->second;
}

} // namespace nvfuser::transform
