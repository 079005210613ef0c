// The sort works on a tree of groups. At depth 0 the whole kernel is one group; at depth d the
// expressions of a group fall into subgroups by their d-th loop, and an expression without a d-th
// loop is a subgroup of its own. Subgroups of one group are ordered by dependency: a subgroup is
// one loop, so everything in it runs before anything that reads from it.

#include "lower/passes/sort_exprs.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "graph/storage.h"
#include "lower/analysis/loop_model.h"

namespace nvfuser {
namespace {

struct Subgroup {
  std::vector<Expr*> exprs; // in definition order
  std::vector<size_t> producers;
  bool has_consumer = false;
};

class ExprSorter {
 public:
  explicit ExprSorter(const Kernel& kernel) : kernel_(kernel), model_(*kernel.loop_model) {}

  std::optional<Refusal> sort(std::vector<Expr*> exprs, size_t depth, std::vector<Expr*>& sorted) {
    if (exprs.size() == 1) {
      sorted.push_back(exprs.front());
      return std::nullopt;
    }
    std::vector<Subgroup> groups = split_by_loop(exprs, depth);
    connect(groups);
    std::vector<size_t> order;
    NVF_RETURN_REFUSAL(find_dependency_order(groups, order));
    for (const size_t index : order) {
      NVF_RETURN_REFUSAL(sort(std::move(groups[index].exprs), depth + 1, sorted));
    }
    return std::nullopt;
  }

 private:
  /// Hardware indices are no loops: expressions need not be neighbours to have one in common.
  [[nodiscard]] LoopNest nest(const Expr* expr) const {
    LoopNest loops = model_.nest(static_cast<TensorView*>(expr->outputs().front()));
    std::erase_if(loops, [](const Loop* loop) { return loop->is_hardware(); });
    return loops;
  }

  std::vector<Subgroup> split_by_loop(const std::vector<Expr*>& exprs, size_t depth) {
    std::vector<Subgroup> groups;
    std::unordered_map<const Loop*, size_t> group_of_loop;
    group_of_.clear();
    for (Expr* expr : exprs) {
      const LoopNest loops = nest(expr);
      size_t index = groups.size();
      if (depth < loops.size()) {
        index = group_of_loop.try_emplace(loops[depth], groups.size()).first->second;
      }
      if (index == groups.size()) {
        groups.emplace_back();
      }
      groups[index].exprs.push_back(expr);
      group_of_[expr] = index;
    }
    return groups;
  }

  void connect(std::vector<Subgroup>& groups) {
    for (size_t index = 0; index < groups.size(); ++index) {
      std::vector<size_t>& producers = groups[index].producers;
      for (const Expr* expr : groups[index].exprs) {
        for (const Val* in : expr->inputs()) {
          depend_on(in->definition(), index, producers);
        }
        for (const Val* out : expr->outputs()) {
          if (const TensorView* input = updated_input(out)) {
            for (const Expr* reader : input->all_uses()) {
              depend_on(reader, index, producers); // reads come before the update in place
            }
          }
        }
      }
      std::sort(producers.begin(), producers.end());
      producers.erase(std::unique(producers.begin(), producers.end()), producers.end());
      for (const size_t producer : producers) {
        groups[producer].has_consumer = true;
      }
    }
  }

  void depend_on(const Expr* expr, size_t index, std::vector<size_t>& producers) const {
    const auto found = expr == nullptr ? group_of_.end() : group_of_.find(expr);
    if (found != group_of_.end() && found->second != index) {
      producers.push_back(found->second);
    }
  }

  /// Depth first from the groups without readers: a component is finished before the next begins.
  static std::optional<Refusal> find_dependency_order(
      const std::vector<Subgroup>& groups, std::vector<size_t>& order) {
    enum class Mark : uint8_t { New, Open, Done };
    std::vector<Mark> marks(groups.size(), Mark::New);
    const auto visit_from = [&](size_t root) -> std::optional<Refusal> {
      std::vector<std::pair<size_t, size_t>> stack{{root, 0}}; // group, next producer
      marks[root] = Mark::Open;
      while (!stack.empty()) {
        auto& [index, next] = stack.back();
        if (next < groups[index].producers.size()) {
          const size_t producer = groups[index].producers[next++];
          if (marks[producer] == Mark::New) {
            marks[producer] = Mark::Open;
            stack.emplace_back(producer, 0);
          } else if (marks[producer] == Mark::Open) {
            return refuse_cycle(groups[producer], groups[index]);
          }
          continue;
        }
        marks[index] = Mark::Done;
        order.push_back(index);
        stack.pop_back();
      }
      return std::nullopt;
    };
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!groups[i].has_consumer && marks[i] == Mark::New) {
        NVF_RETURN_REFUSAL(visit_from(i));
      }
    }
    for (size_t i = 0; i < groups.size(); ++i) { // only reached if there is a cycle
      if (marks[i] == Mark::New) {
        NVF_RETURN_REFUSAL(visit_from(i));
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] static Refusal refuse_cycle(const Subgroup& a, const Subgroup& b) {
    return refuse({
        .headline = {"Expressions that share a loop depend on one that does not"},
        .node = {describe(a.exprs.front()->outputs().front())},
        .expected = {"no path that leaves a shared loop and comes back to it"},
        .found = {"such a path through ", describe(b.exprs.front()->outputs().front())},
        .fix = {"inline the tensors on the path too, or inline the first one less deep"},
    });
  }

  const Kernel& kernel_;
  const LoopModel& model_;
  std::unordered_map<const Expr*, size_t> group_of_;
};

} // namespace

std::optional<Refusal> sort_exprs(Kernel& kernel) {
  std::vector<Expr*> exprs;
  for (Expr* expr : kernel.exprs()) {
    if (!expr->outputs().empty() && expr->outputs().front()->is_tensor()) {
      exprs.push_back(expr);
    }
  }
  kernel.sorted_exprs.clear();
  return exprs.empty() ? std::nullopt
                       : ExprSorter(kernel).sort(std::move(exprs), 0, kernel.sorted_exprs);
}

} // namespace nvfuser
