// Inlining positions that leave no loop between two tensors that another one needs in turn.
//
// A loop runs as a whole. If t in it needs u, which is computed elsewhere, and u needs a of the
// loop, then the loop would have to end before u and begin after it:
//
//   FOR i: { a = ..  t = b + .. }      a -> u -> b, and t reads b
//
// Loops and single expressions are the nodes of a graph of dependencies, at each depth of the
// nests; on a circle stands a loop that is entered at one tensor and left from another. One that
// brings these two together is computed outside. Hardware indices are no loops: expressions need
// not be neighbors to have one in common.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "graph/domain_map.h"
#include "graph/storage.h"
#include "transform/inline_limits.h"
#include "transform/one_loop.h"

namespace nvfuser::transform {
namespace {

/// A loop of some tensors: the axes that inlining joins.
using LoopId = size_t;

/// The loops around each expression, the outermost first, without those bound to hardware.
class LoopNests {
 public:
  LoopNests(
      const std::vector<Expr*>& exprs,
      const InlineLimits::Positions& positions,
      Alignments& alignments)
      : positions_(positions), alignments_(alignments) {
    for (const Expr* expr : exprs) {
      for (const TensorView* tensor : tensor_outputs(expr)) {
        add(tensor);
      }
    }
    for (const Expr* expr : exprs) {
      connect(tensor_outputs(expr));
    }
    for (const auto& [tensor, first] : first_axis_) { // the order does not matter
      for (size_t i = 0; i < tensor->loop().size(); ++i) {
        if (is_hardware_index(tensor->loop()[i]->parallel_type())) {
          is_hardware_[root_of(first + i)] = true;
        }
      }
    }
    for (size_t e = exprs.size(); e-- > 0;) { // consumers first
      find_nest(exprs[e]);
    }
  }

  [[nodiscard]] const std::vector<LoopId>& of(const Expr* expr) const {
    return serial_.at(expr);
  }
  [[nodiscard]] LoopId loop_of(const TensorView* tensor, size_t axis) const {
    return root_of(first_axis_.at(tensor) + axis);
  }
  /// All loops around a tensor, with those that are bound to hardware.
  [[nodiscard]] const std::vector<LoopId>& all_of(const Expr* expr) const {
    return nests_.at(expr);
  }

 private:
  void add(const TensorView* tensor) {
    if (first_axis_.try_emplace(tensor, parent_.size()).second) {
      const size_t size = parent_.size() + tensor->loop().size();
      const size_t first = parent_.size();
      parent_.resize(size);
      std::iota(parent_.begin() + static_cast<std::ptrdiff_t>(first), parent_.end(), first);
      is_hardware_.resize(size, false);
    }
  }

  void connect(const std::vector<TensorView*>& outs) {
    for (const TensorView* out : outs) {
      const size_t shared = std::min(out->loop().size(), outs.front()->loop().size());
      for (size_t i = 0; i < shared; ++i) {
        join(first_axis_.at(out) + i, first_axis_.at(outs.front()) + i);
      }
      const int64_t position = InlineLimits::position_of(positions_, out);
      for (const TensorView* consumer : out->consumers()) {
        if (!first_axis_.contains(consumer)) {
          continue; // leads to no output
        }
        const std::vector<int64_t>& partners = alignments_(out, consumer).consumer_axis;
        for (size_t i = 0; i < static_cast<size_t>(position); ++i) {
          if (partners[i] >= 0) {
            join(
                first_axis_.at(out) + i,
                first_axis_.at(consumer) + static_cast<size_t>(partners[i]));
          }
        }
      }
    }
  }

  [[nodiscard]] LoopId root_of(size_t axis) const {
    while (parent_[axis] != axis) {
      axis = parent_[axis];
    }
    return axis;
  }
  void join(size_t a, size_t b) {
    a = root_of(a);
    b = root_of(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  /// Left of its position a tensor stands in the loops of a consumer.
  void find_nest(const Expr* expr) {
    std::vector<LoopId> nest;
    const TensorView* front = tensor_outputs(expr).front();
    size_t own = 0; // axes whose loops are in the list
    for (const TensorView* out : tensor_outputs(expr)) {
      const int64_t position = InlineLimits::position_of(positions_, out);
      for (const TensorView* consumer : out->consumers()) {
        if (position == 0 || own > 0 || !nests_.contains(consumer->definition())) {
          continue;
        }
        own = static_cast<size_t>(position);
        const std::vector<LoopId>& around = nests_.at(consumer->definition());
        const auto last = std::ranges::find(around, loop_of(out, own - 1));
        nest.assign(around.begin(), last == around.end() ? last : last + 1);
      }
    }
    for (size_t i = own; i < front->loop().size(); ++i) {
      nest.push_back(loop_of(front, i));
    }
    std::vector<LoopId>& serial = serial_[expr];
    std::ranges::copy_if(
        nest, std::back_inserter(serial), [&](LoopId loop) { return !is_hardware_[loop]; });
    nests_[expr] = std::move(nest);
  }

  const InlineLimits::Positions& positions_;
  Alignments& alignments_;
  std::unordered_map<const TensorView*, size_t> first_axis_;
  std::vector<size_t> parent_; // of axes
  std::vector<bool> is_hardware_;
  std::unordered_map<const Expr*, std::vector<LoopId>> nests_;
  std::unordered_map<const Expr*, std::vector<LoopId>> serial_;
};

/// A loop on a circle: something needs `left`, and `entered` needs that.
struct BrokenLoop {
  LoopId loop;
  const Expr* left;
  const Expr* entered;
};

/// Looks for circles of dependencies between loops.
class CircleSearch {
 public:
  explicit CircleSearch(const LoopNests& nests) : nests_(nests) {}

  /// The loops of one circle; empty if there is none. `exprs`: in the order of dependencies, all in
  /// the same `depth` loops.
  std::vector<BrokenLoop> find(const std::vector<const Expr*>& exprs, size_t depth) {
    std::vector<Group> groups = groups_of(exprs, depth);
    connect(groups);
    if (std::vector<BrokenLoop> circle = circle_of(groups, depth); !circle.empty()) {
      return circle;
    }
    for (const Group& group : groups) {
      if (group.exprs.size() > 1) {
        if (std::vector<BrokenLoop> circle = find(group.exprs, depth + 1); !circle.empty()) {
          return circle;
        }
      }
    }
    return {};
  }

 private:
  /// An edge to a group: `reader` of this one reads `read` of that one.
  struct Edge {
    size_t to;
    const Expr* reader;
    const Expr* read;
  };
  struct Group {
    std::vector<const Expr*> exprs;
    std::vector<Edge> needs;
  };

  std::vector<Group> groups_of(const std::vector<const Expr*>& exprs, size_t depth) {
    std::vector<Group> groups;
    std::map<LoopId, size_t> group_of_loop;
    group_of_.clear();
    for (const Expr* expr : exprs) {
      const std::vector<LoopId>& loops = nests_.of(expr);
      const size_t index =
          depth < loops.size()
              ? group_of_loop.try_emplace(loops[depth], groups.size()).first->second
              : groups.size();
      if (index == groups.size()) {
        groups.emplace_back();
      }
      groups[index].exprs.push_back(expr);
      group_of_[expr] = index;
    }
    return groups;
  }

  void connect(std::vector<Group>& groups) {
    for (Group& group : groups) {
      for (const Expr* expr : group.exprs) {
        for (const Val* in : expr->inputs()) {
          add_edge(group, expr, in->definition());
        }
        for (const Val* out : expr->outputs()) {
          if (const TensorView* input = updated_input(out)) {
            for (const Expr* reader : input->all_uses()) {
              add_edge(group, expr, reader); // reads come before the update in place
            }
          }
        }
      }
    }
  }

  void add_edge(Group& group, const Expr* reader, const Expr* read) {
    const auto found = read == nullptr ? group_of_.end() : group_of_.find(read);
    if (found != group_of_.end() && found->second != group_of_.at(reader)) {
      group.needs.push_back({found->second, reader, read});
    }
  }

  /// Depth first; the way to the present group is the stack.
  std::vector<BrokenLoop> circle_of(const std::vector<Group>& groups, size_t depth) const {
    enum class Mark : uint8_t { New, Open, Done };
    struct Step {
      size_t group;
      size_t next = 0; // of its edges
    };
    std::vector<Mark> marks(groups.size(), Mark::New);
    for (size_t root = 0; root < groups.size(); ++root) {
      if (marks[root] != Mark::New) {
        continue;
      }
      std::vector<Step> way{{root}};
      marks[root] = Mark::Open;
      while (!way.empty()) {
        Step& step = way.back();
        if (step.next == groups[step.group].needs.size()) {
          marks[step.group] = Mark::Done;
          way.pop_back();
          continue;
        }
        const size_t needed = groups[step.group].needs[step.next++].to;
        if (marks[needed] == Mark::Open) {
          const auto first = std::ranges::find(way, needed, &Step::group);
          std::vector<const Edge*> edges;
          for (auto it = first; it != way.end(); ++it) {
            edges.push_back(&groups[it->group].needs[it->next - 1]);
          }
          return loops_between(edges, depth);
        }
        if (marks[needed] == Mark::New) {
          marks[needed] = Mark::Open;
          way.push_back({needed});
        }
      }
    }
    return {};
  }

  /// `edges`: each leads to the group that the next one comes from.
  [[nodiscard]] std::vector<BrokenLoop> loops_between(
      const std::vector<const Edge*>& edges, size_t depth) const {
    std::vector<BrokenLoop> loops;
    for (size_t i = 0; i < edges.size(); ++i) {
      const Expr* left = edges[i]->read;
      const Expr* entered = edges[(i + 1) % edges.size()]->reader;
      if (left != entered) {
        loops.push_back({nests_.of(left).at(depth), left, entered});
      }
    }
    return loops;
  }

  const LoopNests& nests_;
  std::unordered_map<const Expr*, size_t> group_of_;
};

/// The axis of a tensor in a loop; nullopt: it has none, and is computed in the loop of another.
std::optional<int64_t> axis_in(const LoopNests& nests, const TensorView* tensor, LoopId loop) {
  for (size_t i = 0; i < tensor->loop().size(); ++i) {
    if (nests.loop_of(tensor, i) == loop) {
      return static_cast<int64_t>(i);
    }
  }
  return std::nullopt;
}

/// How many leading axes of a tensor are in loops around `loop`.
int64_t axes_outside(
    const LoopNests& nests, const Expr* expr, const TensorView* tensor, LoopId loop) {
  const std::vector<LoopId>& nest = nests.all_of(expr);
  const auto end = std::ranges::find(nest, loop);
  int64_t axes = 0;
  while (axes < tensor->ndims() &&
         std::find(nest.begin(), end, nests.loop_of(tensor, static_cast<size_t>(axes))) != end) {
    ++axes;
  }
  return axes;
}

} // namespace

bool InlineLimits::keep_ways_inside(
    Positions& positions, const std::unordered_set<const TensorView*>& adjustable) {
  const auto lower = [&](const TensorView* tensor, int64_t position) {
    for (const TensorView* out : tensor_outputs(tensor->definition())) {
      positions[out] = position;
    }
    return true;
  };
  const auto take_apart = [&](const LoopNests& nests, const BrokenLoop& broken) {
    for (const Expr* expr : {broken.left, broken.entered}) {
      const TensorView* tensor = tensor_outputs(expr).front();
      if (!axis_in(nests, tensor, broken.loop) && adjustable.contains(tensor)) {
        return lower(tensor, axes_outside(nests, expr, tensor, broken.loop));
      }
    }
    TensorView* start = tensor_outputs(broken.left).front();
    const std::optional<int64_t> axis = axis_in(nests, start, broken.loop);
    if (!axis) {
      return false;
    }
    const auto is_entered = [&](const OneLoop::Node& node) {
      return node.tensor->definition() == broken.entered;
    };
    const auto peak =
        OneLoop(positions, alignments_).peak_before_inside({start, *axis}, is_entered, adjustable);
    return peak && lower(peak->tensor, peak->axis);
  };
  const std::vector<Expr*> exprs = tensor_exprs(fusion_);
  for (bool has_lowered = false;; has_lowered = true) {
    const LoopNests nests(exprs, positions, alignments_);
    const std::vector<BrokenLoop> circle =
        CircleSearch(nests).find({exprs.begin(), exprs.end()}, 0);
    if (std::ranges::none_of(
            circle, [&](const BrokenLoop& broken) { return take_apart(nests, broken); })) {
      return has_lowered;
    }
  }
}

} // namespace nvfuser::transform
