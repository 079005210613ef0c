// Which axes of inputs an axis is built from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/fwd.h"

namespace nvfuser {

class ValGraph;

/// Answers for the axes of one exact graph. An answer for a class is remembered until the graph
/// grows, so that a chain of reshapes is walked once and not from each of its tensors.
class InputCovers {
 public:
  using Cover = std::set<int64_t>; // classes of the graph

  /// `inputs`: classes of the axes of inputs. They were made by nothing, also where a chain of
  /// reshapes leads back to them.
  InputCovers(const ValGraph& exact, std::set<int64_t> inputs)
      : exact_(exact), inputs_(std::move(inputs)) {}

  /// The non-broadcast axes of inputs (and of tensors made from nothing) that `id` is built from. A
  /// broadcast is built from none, also the slice of one element. The reference is good until the
  /// graph grows.
  /// Cost: O(axes on the way that no earlier question met).
  [[nodiscard]] const Cover& of(const IterDomain* id);

 private:
  /// Another tensor may say how an equal axis was made; nullptr: nothing made it.
  [[nodiscard]] const Expr* definition_of(int64_t group) const;
  /// Remember the covers of `root` and of what it is made from; false: a circle of definitions.
  bool remember(int64_t root);
  [[nodiscard]] Cover walk(int64_t root) const;
  void forget_if_grown();

  const ValGraph& exact_;
  std::set<int64_t> inputs_;
  std::unordered_map<int64_t, Cover> known_; // by class, of axes that are no broadcasts
  size_t num_ids_ = 0;                       // of the graph, when the first cover was found
  size_t num_groups_ = 0;
};

} // namespace nvfuser
