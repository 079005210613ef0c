#include "segment/facts.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "schedule/common/kernel_rules.h"
#include "schedule/summary/costs.h"
#include "segment/stored_types.h"

namespace nvfuser::segment {
namespace {

void make_set(AxisSet& axes) {
  std::ranges::sort(axes);
  const auto rest = std::ranges::unique(axes);
  axes.erase(rest.begin(), rest.end());
}

/// Adds `some` to `axes`. Cost: O(some log(axes)), and what stands behind new ones is moved.
void add_all(AxisSet& axes, const AxisSet& some) {
  for (const int64_t axis : some) {
    const auto place = std::ranges::lower_bound(axes, axis);
    if (place == axes.end() || *place != axis) {
      axes.insert(place, axis);
    }
  }
}

/// The axes that a class was made of by splits, merges and resizes. Tensors are added in the order
/// of the flow; a class is made as the first tensor that has it makes it.
class Origins {
 public:
  explicit Origins(const ValGraph& exact) : exact_(exact) {}

  void add(const TensorView* tensor) {
    for (const IterDomain* axis : tensor->maybe_root()) {
      add_own(axis);
    }
    if (!tensor->has_root()) {
      return;
    }
    for (const Expr* made_by : exprs_between(tensor->root(), tensor->logical())) {
      AxisSet made_of;
      for (const Val* in : made_by->inputs()) {
        if (in->vtype() == ValType::IterDomain) {
          add_all(made_of, add_own(static_cast<const IterDomain*>(in)));
        }
      }
      for (const Val* out : made_by->outputs()) {
        const auto* axis = static_cast<const IterDomain*>(out);
        const auto [place, is_new] =
            found_.emplace(exact_.group(axis), axis->is_broadcast() ? AxisSet{} : made_of);
        if (!is_new && made_by->is_a<Resize>()) { // parts of a concatenation
          add_all(place->second, made_of);
        }
      }
    }
    for (const IterDomain* axis : tensor->logical()) {
      add_own(axis);
    }
  }

  /// Requires: all tensors were added. Axes of the same classes share a space.
  Space of(const IterDomains& axes) {
    std::vector<int64_t> classes;
    for (const IterDomain* axis : axes) {
      if (!axis->is_broadcast()) {
        classes.push_back(exact_.group(axis));
      }
    }
    const auto [place, is_new] = spaces_.try_emplace(classes);
    if (is_new) {
      AxisSet all;
      for (const int64_t axis : classes) {
        add_all(all, found_.emplace(axis, AxisSet{axis}).first->second);
      }
      place->second = Space(std::move(all));
    }
    return place->second;
  }

 private:
  const AxisSet& add_own(const IterDomain* axis) {
    const int64_t own = exact_.group(axis);
    return found_.emplace(own, axis->is_broadcast() ? AxisSet{} : AxisSet{own}).first->second;
  }

  const ValGraph& exact_;
  std::unordered_map<int64_t, AxisSet> found_;   // only looked up
  std::map<std::vector<int64_t>, Space> spaces_; // of classes
};

bool is_reduction(const Expr* expr, const TensorView* result) {
  return semantics_of(*expr).has_steps &&
         std::ranges::any_of(result->logical(), &IterDomain::is_reduction);
}

bool has_resized_axis(const TensorView* result) {
  return !axes_read(result, AxisRead::Resized).empty() ||
         !axes_read(result, AxisRead::Repeated).empty();
}

Role role_of(const Expr* expr, const TensorView* result) {
  if (schedule::is_scan(expr)) {
    return Role::Scan;
  }
  if (schedule::is_in_order(expr)) {
    return Role::Scatter;
  }
  if (schedule::is_for_library(expr)) {
    return Role::Library;
  }
  if (is_reduction(expr, result)) {
    return Role::Reduction;
  }
  const bool is_chosen = semantics_of(*expr).elements == ElementSource::Chosen;
  if (has_resized_axis(result) || is_chosen) { // pads say where the parts of a cat begin
    return Role::Resize;
  }
  return schedule::moves_elements(expr) ? Role::View : Role::Map;
}

/// Whether loops over `result` cannot run over all of the operand that it is a part of.
bool is_cropped(const TensorView* result) {
  if (!result->has_root()) {
    return false;
  }
  const auto may_be_negative = [](const Val* width) {
    return !width->is_const_int() || as_int(width->value()) < 0;
  };
  return std::ranges::any_of(
      exprs_between(result->root(), result->logical()), [&](const Expr* expr) {
        const auto* resize = expr->as<Resize>();
        return resize != nullptr &&
               (may_be_negative(resize->left) || may_be_negative(resize->right));
      });
}

/// Computed operands whose elements another operand chooses, or of which a part is read.
std::vector<TensorId> looked_up(const Flow& flow, const FlowExpr& entry) {
  std::vector<TensorId> found;
  if (semantics_of(*entry.expr).read != OperandRead::Elsewhere) {
    return found;
  }
  for (const TensorId operand : entry.operands) {
    const FlowTensor& tensor = flow.tensor(operand);
    const std::vector<AxisUse> axes =
        axes_of_use(tensor.tensor, flow.tensor(entry.results.front()).tensor);
    const bool is_part = is_cropped(flow.tensor(entry.results.front()).tensor);
    const bool is_chosen = std::ranges::any_of(axes, [&](const AxisUse& axis) {
      return axis.read == AxisRead::Indexed || axis.read == AxisRead::Placed ||
             axis.read == AxisRead::Repeated || (is_part && axis.read == AxisRead::Resized);
    });
    if (tensor.made_by != kNoExpr && is_chosen) {
      found.push_back(operand);
    }
  }
  return found;
}

int64_t elements_of(const TensorView* tensor, const schedule::RunFacts& run) {
  int64_t elements = 1;
  for (const IterDomain* axis : tensor->logical()) {
    if (!axis->is_broadcast() && !axis->is_reduction()) {
      elements *= run.size(axis->extent());
    }
  }
  return elements;
}

/// Requires: `result` is that of a reduction, or of a scan.
Pattern pattern_of(const TensorView* result, const ValGraph& exact) {
  Pattern pattern;
  const IterDomains scanned = axes_read(result, AxisRead::Scanned);
  pattern.is_scan = schedule::is_scan(result->definition());
  for (const IterDomain* axis : result->logical()) {
    const bool is_combined =
        axis->is_reduction() || std::ranges::find(scanned, axis) != scanned.end();
    if (!axis->is_broadcast()) {
      (is_combined ? pattern.reduced : pattern.kept).push_back(exact.group(axis));
    }
  }
  make_set(pattern.reduced);
  make_set(pattern.kept);
  return pattern;
}

} // namespace

bool asks_for_cut(const Expr* expr) {
  const auto* copy = expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::SegmenterSet;
}

bool is_within(const Space& inner, const Space& outer) {
  if (inner.axes_ == outer.axes_ || inner.size() == 0) {
    return true;
  }
  return inner.size() <= outer.size() && std::ranges::all_of(*inner.axes_, [&](int64_t axis) {
           return std::ranges::binary_search(*outer.axes_, axis);
         });
}

Facts::Facts(const Flow& flow, const ValGraph& exact, const schedule::RunFacts& run, bool lowers)
    : lowers_(lowers) {
  Origins origins(exact);
  std::map<std::tuple<AxisSet, AxisSet, bool>, int64_t> number_of_pattern;
  for (const FlowTensor& tensor : flow.tensors()) {
    origins.add(tensor.tensor);
    tensors_.push_back(
        {.elements = elements_of(tensor.tensor, run),
         .is_stored = tensor.made_by == kNoExpr || tensor.is_output});
  }
  for (TensorId id = 0; id < tensors_.size(); ++id) {
    tensors_[id].space = origins.of(TensorDomain::no_reductions(flow.tensor(id).tensor->logical()));
  }
  for (const FlowExpr& entry : flow.exprs()) {
    const TensorView* result = flow.tensor(entry.results.front()).tensor;
    ExprFacts facts{
        .role = role_of(entry.expr, result),
        .slots = schedule::cost_of(entry.expr).slots,
        .is_random = entry.expr->is_a<RNGOp>(),
        .is_boundary = asks_for_cut(entry.expr),
        .looked_up = looked_up(flow, entry)};
    facts.space = origins.of(result->logical());
    if (facts.role == Role::Reduction || facts.role == Role::Scan) {
      Pattern pattern = pattern_of(result, exact);
      const auto [place, is_new] = number_of_pattern.emplace(
          std::tuple(pattern.reduced, pattern.kept, pattern.is_scan),
          static_cast<int64_t>(patterns_.size()));
      if (is_new) {
        patterns_.push_back(std::move(pattern));
        spaces_of_patterns_.push_back(facts.space);
      }
      facts.pattern = place->second;
    }
    if (stands_alone(facts.role) || facts.is_boundary) {
      for (const TensorId made : entry.results) {
        tensors_[made].is_stored = true;
      }
    }
    exprs_.push_back(std::move(facts));
  }
  const std::vector<DataType> types = stored_types(flow, exprs_, lowers);
  for (TensorId id = 0; id < tensors_.size(); ++id) {
    tensors_[id].stored_as = types[id];
    tensors_[id].bytes = tensors_[id].elements * size_bytes(types[id]);
  }
}

} // namespace nvfuser::segment
