#include "schedule/summary/persistent_buffers.h"

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"

namespace nvfuser::schedule {
namespace {

/// Positions of reductions, a bit for each: whole definitions have hundreds.
class Reductions {
 public:
  Reductions() = default;
  explicit Reductions(size_t position) : words_(position / kBits + 1, 0) {
    words_.back() = uint64_t{1} << (position % kBits);
  }

  Reductions& operator|=(const Reductions& other) {
    words_.resize(std::max(words_.size(), other.words_.size()), 0);
    for (size_t i = 0; i < other.words_.size(); ++i) {
      words_[i] |= other.words_[i];
    }
    return *this;
  }
  Reductions& operator&=(const Reductions& other) {
    words_.resize(std::min(words_.size(), other.words_.size()));
    for (size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= other.words_[i];
    }
    return *this;
  }
  [[nodiscard]] Reductions without(const Reductions& other) const {
    Reductions rest(*this);
    for (size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) {
      rest.words_[i] &= ~other.words_[i];
    }
    return rest;
  }
  [[nodiscard]] std::vector<size_t> positions() const {
    std::vector<size_t> found;
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        found.push_back(i * kBits + static_cast<size_t>(std::countr_zero(word)));
      }
    }
    return found;
  }

 private:
  static constexpr size_t kBits = 64;
  std::vector<uint64_t> words_;
};

class BufferSearch {
 public:
  BufferSearch(const std::vector<Expr*>& exprs, const std::vector<ReductionFacts>& reductions)
      : exprs_(exprs) {
    for (size_t i = 0; i < reductions.size(); ++i) {
      for (const TensorView* out : tensor_outputs(reductions[i].expr)) {
        reduction_of_.emplace(out, Reductions(i));
      }
    }
    find_dependences();
    find_readers();
  }

  /// Reductions for which the tensor has to be kept: one reader leads into the reduction, another
  /// one only to where its result is met.
  [[nodiscard]] std::vector<size_t> kept_for(const TensorView* tensor) const {
    Reductions kept;
    for (const TensorView* reader : tensor->consumers()) {
      if (reduction_of_.contains(reader)) {
        continue;
      }
      Reductions met = at(depends_, reader).without(at(depends_, tensor));
      met |= at(meets_, reader);
      kept |= met.without(at(feeds_, reader));
    }
    kept &= at(feeds_, tensor);
    return kept.positions();
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
          depends |= at(depends_, in);
        }
        depends |= at(reduction_of_, out);
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
            feeds_[in] |= own->second; // what reads the result reads reduced elements
            continue;
          }
          feeds_[in] |= at(feeds_, out);
          meets_[in] |= at(meets_, out);
          meets_[in] |= at(depends_, out).without(at(depends_, in));
        }
      }
    }
  }

  const std::vector<Expr*>& exprs_;
  Map reduction_of_;
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
    std::vector<size_t> kept = search.kept_for(tensor);
    if (!kept.empty()) {
      buffers.push_back(
          {.tensor = tensor,
           .reductions = std::move(kept),
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
