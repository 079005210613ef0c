#include "translator.h"

#include <algorithm>
#include <deque>

#include "base/options.h"
#include "ir/topo_sort.h"
#include "transform/concretization.h"
#include "translate_schedule.h"

namespace nvfuser::python {

namespace {

/// Whether the function makes an Index of the integers it is given.
bool takes_sizes(const Expr* expr) {
  return expr->is_a<IotaOp>() || expr->is_a<EyeOp>() || expr->is_a<RNGOp>() ||
         expr->is_a<SliceOp>() || expr->is_a<PadOp>();
}

std::vector<Val*> without(std::vector<Val*> vals, const std::vector<const Val*>& hidden) {
  std::erase_if(vals, [&](const Val* val) {
    return std::find(hidden.begin(), hidden.end(), val) != hidden.end();
  });
  return vals;
}

std::vector<Expr*> joined(std::vector<Expr*> exprs, const std::vector<Expr*>& more) {
  exprs.insert(exprs.end(), more.begin(), more.end());
  return exprs;
}

/// Hand over one expression after the other; those that are not taken come again behind the rest.
template <typename Take>
void take_in_turn(const std::vector<Expr*>& exprs, Take&& take) {
  std::deque<Expr*> queue(exprs.begin(), exprs.end());
  size_t num_waiting = 0; // since one was taken
  while (!queue.empty()) {
    Expr* expr = queue.front();
    queue.pop_front();
    const bool is_taken = take(expr);
    num_waiting = is_taken ? 0 : num_waiting + 1;
    if (!is_taken) {
      queue.push_back(expr);
    }
    NVF_USER_CHECK(
        num_waiting <= queue.size(), "Cycle detected: None of the expressions can be processed!");
  }
}

} // namespace

PythonTranslator::PythonTranslator(const Fusion& fusion, Part part)
    : fusion_(fusion),
      part_(part),
      names_constants_(has_option(DisableOption::PythonInlineDefinitions)) {}

void PythonTranslator::print_math() {
  text_ = "def nvfuser_fusion(fd: FusionDefinition) -> None:\n";
  for (Val* input : fusion_.inputs()) {
    print_input(input);
  }
  print_expressions();
  print_outputs();
}

std::string PythonTranslator::text_of_scalar(Val* val) {
  for (Expr* expr : sorted_definitions({val})) {
    rebuilt_.insert(expr);
    const bool is_printed = print_expression(expr);
    NVF_INVARIANT(is_printed, "operands come first: ", expr->to_string());
  }
  print_free_scalars({val});
  return text_of(val);
}

std::vector<int64_t> PythonTranslator::defined_stride_order(const TensorView* tv) const {
  const bool is_scheduled =
      part_ == Part::MathOfSchedule && tv->has_step<steps::SetAllocationDomain>();
  return is_scheduled ? std::vector<int64_t>{} : stride_order_of(tv);
}

void PythonTranslator::line(const std::string& text) {
  text_ += "    " + text + "\n";
}

void PythonTranslator::assign(const std::vector<Val*>& outputs, const PythonCall& call) {
  std::string names;
  for (const Val* output : outputs) {
    NVF_INVARIANT(
        output == nullptr || !is_inline(output),
        "A constant scalar Val* cannot be an output lvalue.");
    names += (names.empty() ? "" : ", ") + (output == nullptr ? "_" : give_name(output));
  }
  line(names + " = " + call.str());
  for (Val* output : outputs) {
    mark_printed(output);
  }
}

void PythonTranslator::mark_printed(Val* val) {
  if (val == nullptr || !printed_.insert(val).second || !val->is_tensor()) {
    return;
  }
  const auto* tv = static_cast<const TensorView*>(val);
  printed_tensors_.push_back(tv);
  const IterDomains axes = shape_of(tv);
  for (size_t dim = 0; dim < axes.size(); ++dim) {
    size_of_.try_emplace(
        axes[dim]->maybe_expanded_extent(), TensorDim{tv, static_cast<int64_t>(dim)});
  }
}

const std::string& PythonTranslator::name_of(const Val* val) const {
  const auto found = names_.find(val);
  NVF_INVARIANT(found != names_.end(), "a value that is referred to has its line");
  return found->second;
}

const std::string& PythonTranslator::give_name(const Val* val) {
  const auto [entry, is_new] = names_.try_emplace(val);
  if (is_new) {
    int64_t& count = val->is_tensor() ? num_tensors_ : num_scalars_;
    entry->second = (val->is_tensor() ? "tv" : "c") + std::to_string(count++);
  }
  return entry->second;
}

bool PythonTranslator::is_inline(const Val* val) const {
  if (!val->is_const() || names_constants_) {
    return false;
  }
  switch (val->dtype()) {
    case DataType::Bool:
    case DataType::Int:
    case DataType::Double:
    case DataType::ComplexDouble: return true;
    case DataType::Index: return !names_index_constants_;
    default: return false;
  }
}

bool PythonTranslator::is_ready(const Val* val) const {
  return printed_.contains(val) || is_inline(val);
}

std::string PythonTranslator::text_of(const Val* val) const {
  if (val == nullptr) {
    return "None";
  }
  return is_inline(val) ? python_text(val->value()) : name_of(val);
}

void PythonTranslator::optional_keyword(PythonCall& call, const char* name, const Val* val) const {
  if (val != nullptr) {
    call.keyword(name, text_of(val));
  }
}

void PythonTranslator::print_input(Val* input) {
  if (input->is_tensor()) {
    print_tensor(static_cast<TensorView*>(input));
    return;
  }
  print_scalar(input);
  if (size_of_.contains(input)) { // `size` does not register it
    line(PythonCall("fd.fusion.add_input").arg(name_of(input)).str());
  }
}

void PythonTranslator::print_tensor(TensorView* tv) {
  std::vector<std::string> shape;
  for (const IterDomain* axis : shape_of(tv)) {
    const Val* size = axis->maybe_expanded_extent();
    if (printed_.contains(size) && !size->is_const()) {
      throw_untranslatable(*tv, "the tensor registered before scalars that are its sizes");
    }
    shape.push_back(size->is_const() ? python_text(size->value()) : "-1");
  }
  // A layout that no definition makes comes with the schedule.
  const bool is_scheduled_layout = part_ == Part::MathOfSchedule && tv->has_allocation() &&
                                   tv->rank() > 0 && stride_order_of(tv).empty();
  const Contiguity contiguity = is_scheduled_layout
                                    ? TensorDomain::contiguity_filled_with(shape_of(tv), true)
                                    : tv->domain()->contiguity();
  PythonCall call("fd.define_tensor");
  call.keyword("shape", python_list(shape))
      .keyword("contiguity", python_list(contiguity))
      .keyword("dtype", python_text(tv->dtype()))
      .keyword("is_cpu", python_text(tv->is_cpu_scalar()));
  if (tv->has_allocation() && !is_scheduled_layout) {
    const std::vector<int64_t> order = stride_order_of(tv);
    if (order.empty()) {
      throw_untranslatable(*tv, "an allocation domain that permutes the logical one");
    }
    if (!is_row_major(order)) {
      call.keyword("stride_order", python_list(order));
    }
  }
  assign({tv}, call);
}

void PythonTranslator::print_scalar(Val* val) {
  if (is_ready(val)) {
    return;
  }
  if (const auto found = size_of_.find(val); found != size_of_.end()) {
    assign(
        {val}, PythonCall("fd.ops.size")
                   .arg(name_of(found->second.tv))
                   .keyword("dim", python_text(found->second.dim)));
    return;
  }
  if (val->vtype() == ValType::NamedScalar) {
    const ParallelType index = static_cast<const NamedScalar*>(val)->parallel_index();
    if (index == ParallelType::Serial) {
      throw_untranslatable(*val, "a constant, a scalar of the definition, or a hardware index");
    }
    assign({val}, PythonCall("fd.fusion.parallel_index").arg(python_text(index)));
    return;
  }
  assign(
      {val}, PythonCall("fd.define_scalar")
                 .arg(python_text(val->value(), val->dtype()))
                 .keyword("dtype", python_text(val->dtype())));
}

void PythonTranslator::print_free_scalars(const std::vector<Val*>& vals) {
  for (Val* val : vals) {
    if (val->is_scalar() && val->definition() == nullptr) {
      print_scalar(val);
    }
  }
}

TensorView* PythonTranslator::sized_output(const Expr* expr) {
  const auto* copy = expr->as<LoadStoreOp>();
  const bool shows_sizes = expr->is_a<ReshapeOp>() || expr->is_a<ExpandOp>() ||
                           expr->is_a<FullOp>() || (copy != nullptr && is_resized(*copy));
  return shows_sizes ? as_tensor(expr->output(0)) : nullptr;
}

std::vector<Val*> PythonTranslator::operands_of(const Expr* expr) {
  if (const auto* welford = expr->as<WelfordOp>()) {
    return {welford->in_avg};
  }
  if (const auto* scan = expr->as<ScanOp>()) {
    return is_identity_of(scan->op, scan->init) ? expr->inputs()
                                                : std::vector<Val*>{scan->arg, scan->init};
  }
  if (const auto* quantization = expr->as<GroupedBlockQuantizationOp>()) {
    return without(expr->inputs(), {quantization->k, quantization->num_groups});
  }
  if (const auto* preprocess = expr->as<PreprocessGroupedMatmulInputSf>()) {
    return without(expr->inputs(), {preprocess->k, preprocess->num_groups});
  }
  return expr->inputs();
}

bool PythonTranslator::is_waiting(const Expr* expr, const ValSet& printed) const {
  // Scalars that nothing computes get their lines when they are needed.
  const auto is_missing = [&](const Val* val) {
    const bool is_free = val->is_scalar() && val->definition() == nullptr;
    return !is_free && !is_inline(val) && !printed.contains(val);
  };
  const std::vector<Val*> operands = operands_of(expr);
  if (std::any_of(operands.begin(), operands.end(), is_missing)) {
    return true;
  }
  const TensorView* output = sized_output(expr);
  const std::vector<Val*> sizes = output == nullptr ? std::vector<Val*>{} : sizes_of(output);
  return std::any_of(sizes.begin(), sizes.end(), is_missing);
}

std::vector<Expr*> PythonTranslator::in_order_of_lines(
    const std::vector<Expr*>& exprs, const std::vector<Expr*>& of_attributes) const {
  ValSet printed = printed_;
  std::unordered_set<const Expr*> rest(exprs.begin(), exprs.end());
  std::vector<Expr*> order;
  take_in_turn(joined(exprs, of_attributes), [&](Expr* expr) {
    if (is_waiting(expr, printed)) {
      return false;
    }
    printed.insert(expr->outputs().begin(), expr->outputs().end());
    if (rest.erase(expr) != 0) {
      order.push_back(expr);
    }
    return true;
  });
  return order;
}

std::vector<Expr*> PythonTranslator::exprs_of_attributes(const Expr* expr) {
  const auto* scan = expr->as<ScanOp>();
  const TensorView* output = sized_output(expr);
  return scan != nullptr     ? sorted_definitions({scan->init})
         : output != nullptr ? sorted_definitions(sizes_of(output))
                             : std::vector<Expr*>{};
}

std::vector<Expr*> PythonTranslator::exprs_by_results() const {
  std::vector<Expr*> order;
  ValSet done;
  const auto place = [&](Expr* expr) {
    if (!done.contains(expr->output(0))) {
      order.push_back(expr);
      done.insert(expr->outputs().begin(), expr->outputs().end());
    }
  };
  const auto place_all_to = [&](Val* result) {
    for (Expr* expr : sorted_definitions({result}, done)) {
      const std::vector<Expr*> shown = exprs_of_attributes(expr);
      std::for_each(shown.begin(), shown.end(), place);
      place(expr);
    }
  };
  const std::vector<TensorView*> tensors = fusion_.tensors();
  std::for_each(tensors.begin(), tensors.end(), place_all_to);
  const std::vector<Val*>& outputs = fusion_.outputs(); // of scalars as well
  std::for_each(outputs.begin(), outputs.end(), place_all_to);
  return order;
}

void PythonTranslator::print_expressions() {
  const std::vector<Expr*> needed = fusion_.exprs();
  rebuilt_.insert(needed.begin(), needed.end());
  std::vector<Expr*> of_attributes;
  for (const Expr* expr : needed) {
    const std::vector<Expr*> exprs = exprs_of_attributes(expr);
    of_attributes.insert(of_attributes.end(), exprs.begin(), exprs.end());
    const auto* reshape = expr->as<ReshapeOp>();
    if (reshape == nullptr || is_dynamic(*reshape)) {
      rebuilt_.insert(exprs.begin(), exprs.end());
    }
  }
  const auto print = [&](Expr* expr) { return print_expression(expr); };
  if (part_ == Part::MathOfSchedule) { // tensors by their age: no expression waits for another
    return take_in_turn(exprs_by_results(), print);
  }
  // Constants get their lines as soon as an expression is looked at, even if it has to wait. An
  // expression that waits comes last from the beginning: otherwise a fusion that the text defines,
  // in which it is last, would have these lines elsewhere in its own text.
  const std::vector<Expr*> order = in_order_of_lines(needed, of_attributes);
  take_in_turn(joined(order, of_attributes), print);
}

bool PythonTranslator::print_expression(Expr* expr) {
  const auto& outputs = expr->outputs();
  if (std::all_of(outputs.begin(), outputs.end(), [&](const Val* output) {
        return printed_.contains(output);
      })) {
    return true;
  }
  // Arithmetic takes a number as an Int. Functions that take sizes make it an Index.
  const TensorView* sized = sized_output(expr);
  names_index_constants_ = rebuilt_.contains(expr) && sized == nullptr && !takes_sizes(expr);
  print_free_scalars(operands_of(expr));
  if (is_waiting(expr, printed_)) {
    return false;
  }
  if (sized != nullptr) {
    print_free_scalars(sizes_of(sized));
  }
  visit(*expr, [this](const auto& node) { handle(node); });
  names_index_constants_ = false;
  return true;
}

void PythonTranslator::print_outputs() {
  std::unordered_set<const Val*> aliased; // those whose alias has its line
  for (Val* output : fusion_.outputs()) {
    const AliasInfo* alias = fusion_.alias_of(output);
    if (alias != nullptr && aliased.insert(output).second) {
      line(PythonCall("fd.add_output").arg(name_of(output)).arg(name_of(alias->input)).str());
    }
    if (alias == nullptr || !alias->is_hidden) {
      line(PythonCall("fd.add_output").arg(name_of(output)).str());
    }
  }
}

} // namespace nvfuser::python
