#include "schedule/summary/persistent_buffers.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"

namespace nvfuser::schedule {
namespace {

using Reductions = std::set<size_t>; // positions

class BufferSearch {
 public:
  BufferSearch(const std::vector<Expr*>& exprs, const std::vector<ReductionFacts>& reductions)
      : exprs_(exprs) {
    for (size_t i = 0; i < reductions.size(); ++i) {
      for (const TensorView* out : tensor_outputs(reductions[i].expr)) {
        reduction_of_.emplace(out, i);
      }
    }
    find_dependences();
    find_readers();
  }

  /// Reductions for which the tensor has to be kept: one reader leads into the reduction, another
  /// one only to where its result is met.
  [[nodiscard]] Reductions kept_for(const TensorView* tensor) const {
    Reductions kept;
    for (const size_t reduction : at(feeds_, tensor)) {
      for (const TensorView* reader : tensor->consumers()) {
        if (leads_into(reader, reduction) || !meets(tensor, reader, reduction)) {
          continue;
        }
        kept.insert(reduction);
      }
    }
    return kept;
  }

 private:
  using Map = std::unordered_map<const TensorView*, Reductions>; // only looked up

  static const Reductions& at(const Map& map, const TensorView* tensor) {
    static const Reductions none;
    const auto found = map.find(tensor);
    return found == map.end() ? none : found->second;
  }

  /// Results of which reductions a tensor is computed from.
  void find_dependences() {
    for (const Expr* expr : exprs_) {
      for (const TensorView* out : tensor_outputs(expr)) {
        Reductions& depends = depends_[out];
        for (const TensorView* in : tensor_inputs(expr)) {
          depends.insert(at(depends_, in).begin(), at(depends_, in).end());
        }
        if (const auto own = reduction_of_.find(out); own != reduction_of_.end()) {
          depends.insert(own->second);
        }
      }
    }
  }

  /// Which reductions reduce what is computed from a tensor, and results of which reductions that
  /// meets without being reduced by them.
  void find_readers() {
    for (auto expr = exprs_.rbegin(); expr != exprs_.rend(); ++expr) {
      for (const TensorView* in : tensor_inputs(*expr)) {
        for (const TensorView* out : tensor_outputs(*expr)) {
          if (const auto own = reduction_of_.find(out); own != reduction_of_.end()) {
            feeds_[in].insert(own->second); // what reads the result reads reduced elements
            continue;
          }
          feeds_[in].insert(at(feeds_, out).begin(), at(feeds_, out).end());
          meets_[in].insert(at(meets_, out).begin(), at(meets_, out).end());
          for (const size_t reduction : at(depends_, out)) {
            if (!at(depends_, in).contains(reduction)) {
              meets_[in].insert(reduction);
            }
          }
        }
      }
    }
  }

  [[nodiscard]] bool leads_into(const TensorView* reader, size_t reduction) const {
    const auto own = reduction_of_.find(reader);
    return own != reduction_of_.end() ? own->second == reduction
                                      : at(feeds_, reader).contains(reduction);
  }

  [[nodiscard]] bool meets(
      const TensorView* tensor, const TensorView* reader, size_t reduction) const {
    if (reduction_of_.contains(reader)) {
      return false;
    }
    const bool is_met_here =
        at(depends_, reader).contains(reduction) && !at(depends_, tensor).contains(reduction);
    return is_met_here || at(meets_, reader).contains(reduction);
  }

  const std::vector<Expr*>& exprs_;
  std::unordered_map<const TensorView*, size_t> reduction_of_;
  Map depends_;
  Map feeds_;
  Map meets_;
};

/// The inputs that `tensor` is computed from; empty if a reduction, random numbers or a look-up
/// stand between.
std::vector<TensorView*> inputs_behind(const TensorView* tensor) {
  std::vector<TensorView*> found;
  std::set<const TensorView*> seen{tensor};
  std::vector<const TensorView*> pending{tensor};
  while (!pending.empty()) {
    const Expr* made_by = pending.back()->definition();
    pending.pop_back();
    if (made_by == nullptr) {
      continue;
    }
    const bool is_random = made_by->is_a<RNGOp>();
    if (is_random || semantics_of(*made_by).read > OperandRead::Same) {
      return {};
    }
    for (TensorView* in : tensor_inputs(made_by)) {
      if (!seen.insert(in).second) {
        continue;
      }
      if (in->is_fusion_input()) {
        found.push_back(in);
      }
      pending.push_back(in);
    }
  }
  return found;
}

} // namespace

std::vector<PersistentBuffer> find_persistent_buffers(
    const std::vector<Expr*>& exprs,
    const std::vector<TensorView*>& inputs,
    const std::vector<ReductionFacts>& reductions) {
  std::vector<PersistentBuffer> buffers;
  if (reductions.empty()) {
    return buffers;
  }
  const BufferSearch search(exprs, reductions);
  const auto add = [&](TensorView* tensor) {
    const Reductions kept = search.kept_for(tensor);
    if (!kept.empty()) {
      buffers.push_back(
          {.tensor = tensor,
           .reductions = {kept.begin(), kept.end()},
           .projected_inputs = tensor->is_fusion_input() ? std::vector<TensorView*>{tensor}
                                                         : inputs_behind(tensor)});
    }
  };
  std::ranges::for_each(inputs, add);
  for (const Expr* expr : exprs) {
    std::ranges::for_each(tensor_outputs(expr), add);
  }
  return buffers;
}

} // namespace nvfuser::schedule
