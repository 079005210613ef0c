#include "lower/passes/order_grids.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/options.h"
#include "graph/domain_map.h"
#include "ir/grid_order_exprs.h"
#include "ir/rules.h"
#include "ir/scopes.h"
#include "ir/topo_sort.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

/// The first architecture whose grids wait for those before them.
constexpr int64_t kFirstWithWaits = 90;

using Inputs = std::set<const Val*>;

/// The inputs that a tensor is computed from, or it itself.
Inputs inputs_behind(TensorView* tensor) {
  Inputs inputs;
  const auto note = [&](const Val* val) {
    if (val->is_fusion_input() && val->is_tensor()) {
      inputs.insert(val);
    }
  };
  note(tensor);
  for (const Expr* expr : sorted_definitions({tensor})) {
    std::ranges::for_each(expr->inputs(), note);
  }
  return inputs;
}

/// The tensors that are older than the prior grid.
std::span<TensorView* const> older_tensors(const WaitForPriorGridOp& wait) {
  return std::span(wait.ins).subspan(1);
}

/// A statement that each thread comes to at most once: it stands in no loop but those over threads
/// and blocks.
struct Place {
  Scope* scope = nullptr;
  size_t position = 0;

  [[nodiscard]] Expr* statement() const {
    return scope->at(position);
  }
  void insert_before(Expr* added) const {
    scope->insert(scope->begin() + static_cast<int64_t>(position), added);
  }
  void insert_behind(Expr* added) const {
    scope->insert(scope->begin() + static_cast<int64_t>(position) + 1, added);
  }
};

void append_places(Scope& scope, std::vector<Place>& places) {
  for (size_t i = 0; i < scope.size(); ++i) {
    auto* loop = scope[i]->as<ForLoop>();
    if (loop != nullptr && loop->loop_kind == LoopKind::Hardware) {
      append_places(loop->body, places);
    } else {
      places.push_back({&scope, i});
    }
  }
}

class GridOrderer {
 public:
  explicit GridOrderer(Kernel& kernel) : kernel_(kernel) {
    for (const Expr* expr : tensor_exprs(kernel)) {
      if (const auto* wait = expr->as<WaitForPriorGridOp>()) {
        waits_.push_back(wait);
        for (TensorView* older : older_tensors(*wait)) {
          older_.merge(inputs_behind(older));
        }
      } else if (expr->is_a<LaunchDependentGridOp>()) {
        launches_.insert(expr);
      }
    }
    append_places(kernel.body, places_);
  }

  std::optional<Refusal> run() {
    if (overlaps_by_option()) {
      overlap();
      return std::nullopt;
    }
    NVF_RETURN_REFUSAL(find_early_read());
    NVF_RETURN_REFUSAL(find_waiting_blocks());
    // Positions behind what is inserted change: the last place comes first.
    const auto last = std::find_if(places_.rbegin(), places_.rend(), [&](const Place& place) {
      return any_origin(place, [&](const Expr* expr) { return launches_.contains(expr); });
    });
    const auto first = std::ranges::find_if(
        places_, [&](const Place& place) { return !waits_.empty() && has_to_wait(place); });
    if (last != places_.rend()) {
      NVF_RETURN_REFUSAL(find_early_signal(first, last.base()));
    }
    if (!kernel_.target().is_cuda()) {
      return std::nullopt;
    }
    if (last != places_.rend()) {
      last->insert_behind(kernel_.make<DependentGridLaunch>({}));
    }
    if (first != places_.end()) {
      first->insert_before(kernel_.make<PriorGridWait>({}));
      kernel_.launch.waits_for_prior_grid = kernel_.target().architecture >= kFirstWithWaits;
    }
    return std::nullopt;
  }

 private:
  using Places = std::vector<Place>;

  /// Whether a kernel whose schedule does not say it begins early all the same.
  [[nodiscard]] bool overlaps_by_option() const {
    return has_option(EnableOption::DependentLaunch) && waits_.empty() && launches_.empty() &&
           kernel_.target().is_cuda() && kernel_.target().architecture >= kFirstWithWaits &&
           !kernel_.launch.is_cooperative;
  }

  /// Wait before the first access to global memory, and let the next grid begin from there on: it
  /// waits for the end of this one. All blocks of this one have begun then, so that the next one
  /// takes no place from them.
  void overlap() {
    const auto first =
        std::ranges::find_if(places_, [&](const Place& place) { return has_to_wait(place); });
    if (first != places_.end()) {
      first->insert_before(kernel_.make<DependentGridLaunch>({}));
      first->insert_before(kernel_.make<PriorGridWait>({}));
      kernel_.launch.waits_for_prior_grid = true;
    }
  }

  /// An input cannot be both: written by the prior grid, and older than it.
  [[nodiscard]] std::optional<Refusal> find_early_read() const {
    for (const WaitForPriorGridOp* wait : waits_) {
      const Inputs late = inputs_behind(wait->ins.front());
      for (const WaitForPriorGridOp* other : waits_) {
        for (TensorView* older : older_tensors(*other)) {
          for (const Val* input : inputs_behind(older)) {
            if (late.contains(input)) {
              return refuse_node(
                  wait->out, {"An input is read before the wait for the grid that writes it"},
                  {"tensors behind the first that read inputs which are older than the prior grid"},
                  {describe(older), ", which reads ", describe(input)},
                  {"leave the tensor out of the list, or copy another one behind the wait"});
            }
          }
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Refusal> find_waiting_blocks() const {
    if (waits_.empty() || !kernel_.launch.is_cooperative) {
      return std::nullopt;
    }
    return refuse_node(
        waits_.front()->out, {"A kernel whose blocks wait for each other waits for the prior grid"},
        {"blocks that may begin one by one, as those of the prior grid end"},
        {"a barrier over the grid, for which all of them have to be there"},
        {"leave out wait_for_prior_grid, or reduce over blocks without a barrier"});
  }

  /// A grid that begins with the signal takes everything before this grid for ended.
  [[nodiscard]] std::optional<Refusal> find_early_signal(
      Places::const_iterator wait, Places::const_iterator behind_signal) const {
    if (waits_.empty() || wait < behind_signal) {
      return std::nullopt;
    }
    const auto* signal = (*launches_.begin())->as<LaunchDependentGridOp>();
    return refuse_node(
        signal->out, {"The dependent grid is launched before the wait for the prior grid"},
        {"a tensor that is computed behind the wait"},
        {describe(signal->ins.front()), ", which is computed before it"},
        {"pass a tensor that depends on the result of wait_for_prior_grid"});
  }

  template <typename Fn>
  [[nodiscard]] bool any_origin(const Place& place, const Fn& fn) const {
    bool found = false;
    for_each_node({place.statement()}, [&](const Expr& node) {
      const auto origin = kernel_.origin.find(&node);
      found = found || (origin != kernel_.origin.end() && fn(origin->second));
    });
    return found;
  }

  /// Whether a loop nest touches memory that the prior grid may still use: it may write what this
  /// one reads, and read what was freed and is written here.
  [[nodiscard]] bool has_to_wait(const Place& place) const {
    bool found = false;
    for_each_node({place.statement()}, [&](const Expr& node) {
      found = found || touches_workspace(node) || node.is_a<BulkStore>();
      const auto* box = node.as<BulkLoad>();
      found = found || (box != nullptr && !older_.contains(box->tensor));
      for_each_read(node, [&](const TensorIndex& element) {
        found = found || (is_global(element.view()) && !older_.contains(element.view()));
      });
      for_each_write(
          node, [&](const TensorIndex& element) { found = found || is_global(element.view()); });
    });
    return found;
  }

  [[nodiscard]] static bool is_global(const TensorView* view) {
    return view->memory_type() == MemoryType::Global && !view->is_cpu_scalar();
  }

  [[nodiscard]] static bool touches_workspace(const Expr& node) {
    return node.is_a<GridReduction>() || node.is_a<GridSync>() || node.is_a<BlockSerializeWait>() ||
           node.is_a<BlockSerializeRelease>();
  }

  Kernel& kernel_;
  std::vector<const WaitForPriorGridOp*> waits_;
  std::set<const Expr*> launches_;
  Inputs older_; // those that may be read before the wait
  Places places_;
};

} // namespace

std::optional<Refusal> order_grids(Kernel& kernel) {
  return GridOrderer(kernel).run();
}

} // namespace nvfuser
