// Facts: what segmentation knows of every expression and tensor of a flow. Each is of constant size
// (up to the rank; spaces are shared), so that all decisions are linear in expressions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graph/val_graph.h"
#include "schedule/run_facts.h"
#include "segment/flow.h"

namespace nvfuser::segment {

enum class Role : uint8_t {
  Map,       // elements from elements
  View,      // the same elements under another shape
  Resize,    // some of the elements, or surroundings as well: slice, pad, cat
  Reduction, // elements combined along some axes
  Scan,      // elements combined up to each position of an axis
  Scatter,   // elements written where positions say: stands alone
  Library,   // no loops over elements compute it: products, searches
};

/// Whether it is a segment_set: its readers are in other segments.
[[nodiscard]] bool asks_for_cut(const Expr* expr);

/// Whether an expression shares no segment with others.
[[nodiscard]] constexpr bool stands_alone(Role role) {
  return role == Role::Library || role == Role::Scatter;
}

/// Classes of axes, ascending; numbers mean nothing but equality.
using AxisSet = std::vector<int64_t>;

/// The axes that loops run over. Tensors and expressions with the same axes share a set, which has
/// all parts of a concatenation: copies and most comparisons do not look at its elements.
class Space {
 public:
  Space() = default; // no axes
  explicit Space(AxisSet axes) : axes_(std::make_shared<const AxisSet>(std::move(axes))) {}

  [[nodiscard]] size_t size() const {
    return axes_ == nullptr ? 0 : axes_->size();
  }
  friend bool operator==(const Space& a, const Space& b) {
    return a.axes_ == b.axes_ || (a.size() == b.size() && is_within(a, b));
  }
  /// An order, for maps. Cost: as of comparing sets, if they are not shared.
  friend bool operator<(const Space& a, const Space& b) {
    const AxisSet none;
    return a.axes_ != b.axes_ &&
           (a.axes_ == nullptr ? none : *a.axes_) < (b.axes_ == nullptr ? none : *b.axes_);
  }
  /// Whether all axes of `inner` are in `outer`. Cost: O(inner log(outer)), if it is not shared.
  friend bool is_within(const Space& inner, const Space& outer);

 private:
  std::shared_ptr<const AxisSet> axes_;
};
[[nodiscard]] bool is_within(const Space& inner, const Space& outer);

inline constexpr int64_t kNoPattern = -1;

/// The axes that a reduction reduces and those it keeps, as classes of the exact graph; a scan
/// reduces the axis that it runs along. Two of them can share loops if all is equal.
struct Pattern {
  AxisSet reduced;
  AxisSet kept;
  bool is_scan = false;

  bool operator==(const Pattern&) const = default;
};

struct ExprFacts {
  Role role = Role::Map;
  /// The axes that its loops run over: those of its first result, reduced ones among them, without
  /// broadcasts. Each stands for the axes that it was made of by reshapes and resizes, so that what
  /// is reshaped has the space that it had before.
  Space space = {};
  int64_t pattern = kNoPattern; // of a reduction or scan: number of its pattern
  double slots = 0;             // issue slots of an element
  bool is_random = false;
  bool is_boundary = false;             // a segment_set: its readers are in other segments
  std::vector<TensorId> looked_up = {}; // computed operands that have to lie in memory
};

struct TensorFacts {
  int64_t elements = 0; // in memory: broadcasts count once
  int64_t bytes = 0;
  /// The type in which it lies in memory between segments (segment/stored_types.h).
  DataType stored_as = DataType::Null;
  /// It lies in memory whatever is decided: an input, an output, a result of a library, a boundary
  /// that was asked for.
  bool is_stored = false;
  Space space = {}; // as that of expressions; without reduced axes
};

class Facts {
 public:
  /// `run` knows the sizes. `lowers`: as stored_types has it. Cost: linear in expressions * rank.
  Facts(const Flow& flow, const ValGraph& exact, const schedule::RunFacts& run, bool lowers);

  [[nodiscard]] bool lowers() const {
    return lowers_;
  }
  [[nodiscard]] const ExprFacts& expr(ExprId id) const {
    return exprs_[id];
  }
  [[nodiscard]] const TensorFacts& tensor(TensorId id) const {
    return tensors_[id];
  }
  /// The space of a tensor that the expressions of a pattern read.
  [[nodiscard]] const Space& space_of_pattern(int64_t pattern) const {
    return spaces_of_patterns_[static_cast<size_t>(pattern)];
  }
  [[nodiscard]] const std::vector<Pattern>& patterns() const {
    return patterns_;
  }

 private:
  bool lowers_ = false; // io_to_lower_precision holds
  std::vector<ExprFacts> exprs_;
  std::vector<TensorFacts> tensors_;
  std::vector<Pattern> patterns_;
  std::vector<Space> spaces_of_patterns_;
};

} // namespace nvfuser::segment
