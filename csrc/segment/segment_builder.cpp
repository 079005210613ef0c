#include "segment/segment_builder.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/source_location_scope.h"
#include "base/workspace.h"
#include "ir/all_nodes.h"
#include "ops/cast.h"
#include "ops/shape.h"
#include "schedule/common/kernel_rules.h"
#include "transform/sizes_by_operands.h"

namespace nvfuser::segment {
namespace {

/// Finds the symbols that a group needs: leaves of its scalars and sizes.
class SymbolSearch {
 public:
  /// Bind what a tensor that is read brings along: sizes, but not those of axes that it lost when
  /// it was computed. Nothing else of its domain is looked at.
  void bind(const TensorView* tensor) {
    seen_.insert(tensor);
    for (const IterDomain* axis : TensorDomain::no_reductions(tensor->logical())) {
      known_.insert(axis->extent());
      if (axis->has_expanded_extent()) {
        known_.insert(axis->expanded_extent());
      }
    }
  }

  void add(const Expr* expr) {
    for (const Val* in : expr->inputs()) {
      add(in);
    }
    for (const Val* out : expr->outputs()) {
      add(out);
    }
    expr->for_each_attr([&](const char* /*name*/, const AttrValue& value) {
      if (const auto* val = std::get_if<Val*>(&value)) {
        add(*val);
      } else if (const auto* vals = std::get_if<std::vector<Val*>>(&value)) {
        std::ranges::for_each(*vals, [&](const Val* one) { add(one); });
      }
    });
  }

  /// Symbols without a value of their own, in the order in which they were met.
  [[nodiscard]] const std::vector<const Val*>& symbols() const {
    return symbols_;
  }

 private:
  void add(const Val* val) {
    if (val == nullptr) {
      return;
    }
    if (val->is_tensor()) {
      add_sizes(static_cast<const TensorView*>(val));
    } else if (val->is_scalar()) {
      add_scalar(val);
    }
  }

  void add_sizes(const TensorView* tensor) {
    if (!seen_.insert(tensor).second) {
      return;
    }
    for (const IterDomain* axis : tensor->domain()->all_ids()) {
      for (const Val* size :
           {axis->extent(), axis->start(), axis->stop_offset(), axis->expanded_extent()}) {
        add(size);
      }
    }
    for (const Expr* transform : tensor->domain()->all_exprs()) {
      if (const auto* split = transform->as<Split>()) {
        add(split->factor);
      } else if (const auto* resize = transform->as<Resize>()) {
        add(resize->left);
        add(resize->right);
      }
    }
  }

  void add_scalar(const Val* root) { // no recursion: sums of many sizes are deep
    std::vector<const Val*> pending{root};
    while (!pending.empty()) {
      const Val* val = pending.back();
      pending.pop_back();
      const bool is_symbol = !val->is_const() && val->vtype() == ValType::Scalar;
      if (!is_symbol || known_.contains(val) || !seen_.insert(val).second) {
        continue;
      }
      if (val->definition() == nullptr) {
        symbols_.push_back(val);
        continue;
      }
      for (const Val* in : val->definition()->inputs()) {
        if (in->is_tensor()) {
          continue; // of which an element, or a size, is taken
        }
        pending.push_back(in);
      }
    }
  }

  std::unordered_set<const Val*> known_;
  std::unordered_set<const Val*> seen_;
  std::vector<const Val*> symbols_;
};

/// The inputs of a group.
struct GroupInputs {
  std::vector<TensorId> read;         // ascending: arguments first
  std::vector<TensorView*> for_sizes; // arguments of which no element is read
  std::unordered_set<const Val*> scalars;
};

/// A size that is computed in the complete fusion is a symbol of the segment.
void make_symbol(Fusion& fusion, Val* size) {
  if (size != nullptr && size->definition() != nullptr && !size->is_const_scalar()) {
    fusion.remove(size->definition());
  }
}

/// How a tensor lies in memory: its axes as positions, outermost first.
struct MemoryOrder {
  std::vector<size_t> axes;
  Contiguity contiguity;
};

/// If `view` permutes an input of the complete fusion, its memory is that of the input. Nothing is
/// known of other views.
std::optional<MemoryOrder> order_of_view(const TensorView* view) {
  const Expr* made_by = view->definition();
  const auto* permute = made_by == nullptr ? nullptr : made_by->as<LoadStoreOp>();
  if (permute == nullptr || !permute->arg->is_fusion_input() || view->has_allocation()) {
    return std::nullopt;
  }
  const auto* input = static_cast<const TensorView*>(permute->arg);
  const IterDomains of_input = TensorDomain::no_reductions(input->logical());
  const IterDomains& root = view->maybe_root(); // in the order of the input
  const IterDomains& logical = view->logical();
  if (root.size() != of_input.size() || std::ranges::any_of(root, &IterDomain::is_broadcast)) {
    return std::nullopt;
  }
  MemoryOrder order;
  const IterDomains& memory = input->maybe_allocation();
  for (size_t i = 0; i < memory.size(); ++i) {
    const auto place = std::ranges::find(of_input, memory[i]) - of_input.begin();
    if (static_cast<size_t>(place) == of_input.size()) {
      return std::nullopt; // a reduction, or an axis that memory has split or merged
    }
    const auto axis = std::ranges::find(logical, root[static_cast<size_t>(place)]);
    if (axis == logical.end()) {
      return std::nullopt;
    }
    order.axes.push_back(static_cast<size_t>(axis - logical.begin()));
    order.contiguity.push_back(input->domain()->contiguity()[i]);
  }
  return order.axes.size() == logical.size() ? std::optional(order) : std::nullopt;
}

/// The copy of a computed tensor as an input: its axes are what is left of them, without reductions
/// and without the reshape that made them.
void make_input(Fusion& fusion, const TensorView* original, TensorView* copy, bool is_strided) {
  TensorDomainSpec spec;
  std::unordered_map<const IterDomain*, IterDomain*> axis_for;
  for (const IterDomain* axis : TensorDomain::no_reductions(copy->logical())) {
    make_symbol(fusion, axis->extent());
    make_symbol(fusion, axis->expanded_extent());
    IterDomain* own = fusion.new_iter_domain(
        {.extent = axis->extent(),
         .expanded_extent = axis->expanded_extent(),
         .iter_type = axis->is_broadcast() ? IterType::Broadcast : IterType::Iteration});
    axis_for.emplace(axis, own);
    spec.logical.push_back(own);
  }
  const TensorDomain& domain = *copy->domain();
  const IterDomains& memory = domain.maybe_allocation();
  for (size_t i = 0; i < memory.size(); ++i) {
    const auto own = axis_for.find(memory[i]);
    if (own != axis_for.end()) {
      spec.allocation.push_back(own->second);
      spec.contiguity.push_back(domain.contiguity()[i]);
    }
  }
  const bool is_permuted =
      original->has_allocation() && spec.allocation.size() == spec.logical.size();
  if (!is_permuted || is_strided) {
    spec.allocation.clear();
    spec.contiguity = TensorDomain::contiguity_filled_with(spec.logical, !is_strided);
  }
  const std::optional<MemoryOrder> order = is_strided ? order_of_view(original) : std::nullopt;
  if (order) {
    for (const size_t axis : order->axes) {
      spec.allocation.push_back(spec.logical.at(axis));
    }
    spec.contiguity = order->contiguity;
  }
  copy->assign_domain(fusion.new_tensor_domain(std::move(spec)));
}

/// An input that repeats elements is read as one that has each of those that `other` has.
void read_each_element(const TensorView& input, const TensorView& other) {
  const IterDomains& axes = input.logical();
  Contiguity contiguity = input.domain()->contiguity();
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i]->has_expanded_extent() && !other.logical().at(i)->is_broadcast()) {
      Val* size = axes[i]->expanded_extent();
      axes[i]->assign_iter_type(IterType::Iteration);
      axes[i]->assign_extents(size, nullptr);
      contiguity[i] = false;
    }
  }
  input.domain()->assign_contiguity(std::move(contiguity));
}

} // namespace

SegmentBuilder::SegmentBuilder(const Fusion& complete, const Flow& flow, const Facts& facts)
    : complete_(complete), flow_(flow), facts_(facts) {
  for (const Val* input : complete.inputs()) {
    position_of_.emplace(input, position_of_.size());
    if (!input->is_tensor()) {
      continue;
    }
    auto* tensor = const_cast<TensorView*>(static_cast<const TensorView*>(input));
    for (const IterDomain* axis : tensor->logical()) {
      argument_with_.emplace(axis->extent(), tensor);
      if (axis->has_expanded_extent()) {
        argument_with_.emplace(axis->expanded_extent(), tensor);
      }
    }
  }
}

namespace {

/// In another type; through Float, where there is no cast from one to the other.
TensorView* converted(TensorView* tensor, DataType type) {
  const bool is_direct = tensor->dtype() == type || !cast_text(tensor->dtype(), type).empty();
  return ops::maybe_cast(is_direct ? tensor : ops::cast(tensor, DataType::Float), type);
}

class GroupCopy {
 public:
  GroupCopy(const Fusion& complete, const Flow& flow, const Facts& facts, const Group& group)
      : complete_(complete),
        flow_(flow),
        facts_(facts),
        group_(group),
        fusion_(Fusion::create()),
        guard_(fusion_.get()),
        clone_(complete, *fusion_) {}

  BuiltSegment make(
      const std::unordered_map<const Val*, TensorView*>& argument_with,
      const std::unordered_map<const Val*, size_t>& position_of,
      const std::set<TensorId>& strided) {
    find_inputs(argument_with);
    copy_inputs(position_of, strided);
    copy_exprs();
    load_after_waits();
    cast_inputs();
    copy_outputs();
    return {.fusion = fusion_, .inputs = std::move(inputs_), .outputs = std::move(outputs_)};
  }

 private:
  void find_inputs(const std::unordered_map<const Val*, TensorView*>& argument_with) {
    std::set<TensorId> read;
    std::unordered_set<TensorId> made;
    for (const ExprId id : group_.exprs) {
      for (const TensorId operand : flow_.expr(id).operands) {
        if (!made.contains(operand)) {
          read.insert(operand);
        }
      }
      made.insert(flow_.expr(id).results.begin(), flow_.expr(id).results.end());
    }
    found_.read.assign(read.begin(), read.end());
    SymbolSearch search;
    std::unordered_set<const Val*> tensors;
    for (const TensorId id : found_.read) {
      search.bind(flow_.tensor(id).tensor);
      tensors.insert(flow_.tensor(id).tensor);
    }
    for (const ExprId id : group_.exprs) {
      search.add(flow_.expr(id).expr);
    }
    const auto add_argument = [&](TensorView* argument) {
      if (tensors.insert(argument).second) {
        found_.for_sizes.push_back(argument);
        search.bind(argument);
      }
    };
    for (const Val* symbol : search.symbols()) {
      const auto argument = argument_with.find(symbol);
      if (symbol->is_fusion_input()) {
        found_.scalars.insert(symbol);
      } else if (argument != argument_with.end()) {
        add_argument(argument->second);
      }
    }
    for (const TensorId output : group_.outputs) {
      if (const AliasInfo* alias = update_of(output)) {
        add_argument(alias->input);
      }
    }
  }

  [[nodiscard]] const AliasInfo* update_of(TensorId output) const {
    const bool is_in_place = std::ranges::find(group_.updates, output) != group_.updates.end();
    return is_in_place ? complete_.alias_of(flow_.tensor(output).tensor) : nullptr;
  }

  void add_input(Val* original) {
    fusion_->add_input(clone_(original));
    inputs_.push_back(original);
  }

  /// Arguments in their order, results of other segments, then arguments whose elements are not
  /// read.
  void copy_inputs(
      const std::unordered_map<const Val*, size_t>& position_of,
      const std::set<TensorId>& strided) {
    std::map<size_t, const Val*> arguments;
    for (const Val* scalar : found_.scalars) {
      arguments.emplace(position_of.at(scalar), scalar);
    }
    for (const TensorId id : found_.read) {
      if (flow_.tensor(id).made_by == kNoExpr) {
        arguments.emplace(position_of.at(flow_.tensor(id).tensor), flow_.tensor(id).tensor);
      }
    }
    for (const auto& [position, argument] : arguments) {
      add_input(complete_.inputs()[position]);
    }
    for (const TensorId id : found_.read) {
      TensorView* original = flow_.tensor(id).tensor;
      if (flow_.tensor(id).made_by != kNoExpr) {
        make_input(*fusion_, original, clone_(original), strided.contains(id));
        add_input(original);
      }
    }
    for (TensorView* argument : found_.for_sizes) {
      add_input(argument);
    }
  }

  void copy_exprs() {
    std::vector<TensorView*> made;
    for (const ExprId id : group_.exprs) {
      clone_(flow_.expr(id).expr);
      for (const TensorId result : flow_.expr(id).results) {
        made.push_back(clone_(flow_.tensor(result).tensor));
        made.back()->assign_memory_type(MemoryType::Local);
      }
    }
    compute_sizes_by_operands(*fusion_, made);
  }

  /// The grid in front of this one may be that of a segment. Then no tensor is known to be older.
  void load_after_waits() {
    const bool follows_segment = std::ranges::any_of(
        found_.read, [&](TensorId id) { return flow_.tensor(id).made_by != kNoExpr; });
    for (const ExprId id : group_.exprs) {
      const auto* wait = flow_.expr(id).expr->as<WaitForPriorGridOp>();
      if (wait != nullptr && follows_segment) {
        TensorView* out = clone_(wait->out);
        fusion_->remove(out->definition());
        fusion_->make<WaitForPriorGridOp>({.out = out, .ins = {clone_(wait->ins.front())}});
      }
    }
  }

  /// Let the group compute with what it reads in the types of the complete fusion.
  void cast_inputs() {
    for (const TensorId id : found_.read) {
      TensorView* original = flow_.tensor(id).tensor;
      TensorView* input = clone_(original);
      if (flow_.tensor(id).made_by != kNoExpr && facts_.tensor(id).stored_as != input->dtype()) {
        const SourceLocationScope scope(original->location());
        const std::vector<Expr*> readers = input->uses();
        input->assign_dtype(facts_.tensor(id).stored_as);
        fusion_->replace_uses(input, converted(input, original->dtype()), readers);
      }
    }
  }

  void copy_outputs() {
    for (const TensorId output : group_.outputs) {
      TensorView* original = flow_.tensor(output).tensor;
      if (const AliasInfo* alias = update_of(output)) {
        fusion_->add_output(clone_(original), clone_(alias->input));
      }
      const SourceLocationScope scope(original->location());
      // Also of an update: other segments may read it.
      fusion_->add_output(converted(clone_(original), facts_.tensor(output).stored_as));
      outputs_.push_back(original);
    }
  }

  const Fusion& complete_;
  const Flow& flow_;
  const Facts& facts_;
  const Group& group_;
  std::shared_ptr<Fusion> fusion_;
  FusionGuard guard_;
  Cloner clone_;
  GroupInputs found_;
  std::vector<Val*> inputs_;
  std::vector<TensorView*> outputs_;
};

/// The axes of a tensor that was made by a segment, packed in the order of its memory.
schedule::InputLayout packed_layout(const TensorView* tensor, ExpressionEvaluator& sizes) {
  schedule::InputLayout layout{.sizes = {}, .strides = {}, .alignment = kWorkspaceAlignment};
  for (const IterDomain* axis : TensorDomain::no_reductions(tensor->maybe_allocation())) {
    layout.sizes.push_back(axis->is_broadcast() ? 1 : sizes.evaluate_int(axis->extent()));
  }
  layout.strides.resize(layout.sizes.size());
  int64_t stride = 1;
  for (size_t i = layout.sizes.size(); i-- > 0;) {
    layout.strides[i] = stride;
    stride *= std::max<int64_t>(layout.sizes[i], 1);
  }
  return layout;
}

/// The tensor in whose memory an input of a segment lies: make_input gives a view of an input the
/// order of that.
const Val* stored_as(const Val* original, const Val* own) {
  if (!original->is_tensor()) {
    return original;
  }
  const auto* view = static_cast<const TensorView*>(original);
  const bool is_view = static_cast<const TensorView*>(own)->has_allocation() &&
                       !view->has_allocation() && order_of_view(view);
  return is_view ? static_cast<const LoadStoreOp*>(view->definition())->arg : original;
}

void bind_size(
    const Val* own,
    const Val* original,
    const schedule::RunFacts& run,
    ExpressionEvaluator& sizes) {
  if (own != nullptr && !own->is_const()) {
    sizes.bind(own, run.size(original));
  }
}

} // namespace

BuiltSegment SegmentBuilder::build(const Group& group, const std::set<TensorId>& strided) const {
  return GroupCopy(complete_, flow_, facts_, group).make(argument_with_, position_of_, strided);
}

schedule::RunFacts SegmentBuilder::facts_of(
    const BuiltSegment& segment, const schedule::RunFacts& run) const {
  ExpressionEvaluator sizes;
  const std::vector<Val*>& own_inputs = segment.fusion->inputs();
  for (size_t i = 0; i < own_inputs.size(); ++i) {
    const Val* original = segment.inputs[i];
    if (!original->is_tensor()) {
      if (is_integral(original->dtype())) {
        bind_size(own_inputs[i], original, run, sizes);
      }
      continue;
    }
    const IterDomains own = static_cast<const TensorView*>(own_inputs[i])->logical();
    const IterDomains axes =
        TensorDomain::no_reductions(static_cast<const TensorView*>(original)->logical());
    for (size_t axis = 0; axis < own.size(); ++axis) {
      const bool repeats = own[axis]->is_broadcast();
      bind_size(
          own[axis]->extent(), repeats ? axes[axis]->extent() : axes[axis]->maybe_expanded_extent(),
          run, sizes);
      bind_size(own[axis]->expanded_extent(), axes[axis]->expanded_extent(), run, sizes);
    }
  }
  std::vector<schedule::InputLayout> layouts;
  for (size_t i = 0; i < own_inputs.size(); ++i) {
    const auto argument = position_of_.find(stored_as(segment.inputs[i], own_inputs[i]));
    if (argument != position_of_.end()) {
      layouts.push_back(run.input(argument->second));
    } else {
      layouts.push_back(packed_layout(static_cast<const TensorView*>(own_inputs[i]), sizes));
    }
  }
  return {run.target(), std::move(sizes), std::move(layouts)};
}

std::shared_ptr<Fusion> copy_of(
    const Fusion& complete, TensorView* from, TensorView* argument, bool is_strided) {
  const std::shared_ptr<Fusion> fusion = Fusion::create();
  const FusionGuard guard(fusion.get());
  Cloner clone(complete, *fusion);
  TensorView* source = clone(from);
  const bool is_expanded = schedule::find_expanded_axis(*from, *argument) != nullptr;
  make_input(*fusion, from, source, is_strided || is_expanded);
  if (is_expanded) {
    read_each_element(*source, *argument);
  }
  fusion->add_input(source);
  TensorView* target = clone(argument);
  fusion->add_input(target);
  TensorView* copied = ops::set(source);
  fusion->add_output(copied, target);
  fusion->add_output(copied);
  return fusion;
}

} // namespace nvfuser::segment
