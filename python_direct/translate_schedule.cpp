#include "translate_schedule.h"

#include <algorithm>
#include <set>

#include "python_text.h"
#include "transform/settings.h"
#include "translated_tensors.h"

namespace nvfuser::python {
namespace {

using nvfuser::python::python_text; // beside those below

std::string python_text(const Pipelined& type) {
  return type.uses_mbarrier_for_war ? "Pipelined(True)" : "Pipelined()";
}

std::string python_text(const WarpSpecialized& type) {
  PythonCall call("WarpSpecialized");
  call.arg(python_text(type.on));
  if (type.num_registers) {
    const auto& [loading, computing] = *type.num_registers;
    call.keyword(
        "num_registers", "(" + std::to_string(loading) + ", " + std::to_string(computing) + ")");
  }
  if (type.stage_slice_position) {
    call.keyword("stage_slice_position", std::to_string(*type.stage_slice_position));
  }
  return call.str();
}

std::string python_text(const std::variant<Pipelined, WarpSpecialized>& type) {
  return std::visit([](const auto& value) { return python_text(value); }, type);
}

/// The call of a method that a step is.
template <typename Step>
std::string call_of(const std::string& tensor, const Step& step) {
  using steps::Shown;
  PythonCall call(tensor + "." + Step::kName);
  for_each_arg(step, [&]<typename Field, typename T>(const Field& field, const T& value) {
    if (Field::shown != Shown::Always && value == Step{}.*field.member) {
      return;
    }
    if constexpr (Field::shown == Shown::KeywordUnlessDefault) {
      call.keyword(field.name, python_text(value));
    } else {
      call.arg(python_text(value));
    }
  });
  return call.str();
}

/// The step that leads to a property which is more than one value: found by its type.
steps::CircularBuffer step_of(const CircularBuffering& options) {
  return {
      .number_of_stages = options.stages,
      .prefetch_distance = options.prefetch,
      .type = options.type};
}

/// Inlining stops at axes that are bound to these: where it went past them, they were bound later.
bool stops_inlining(ParallelType type) {
  return traits_of(type).stops_inlining != InlineStop::Nowhere;
}

int64_t innermost_position(const TensorView& tensor) {
  return std::max(
      {tensor.compute_at_position(), tensor.compute_with_position(),
       tensor.maybe_max_producer_position()});
}

} // namespace

ScheduleTranslator::ScheduleTranslator(const Fusion& fusion) {
  for (TensorView* tensor : fusion.tensors()) {
    const auto* reduction =
        tensor->definition() == nullptr ? nullptr : tensor->definition()->as<ReductionOp>();
    const auto* product =
        tensor->definition() == nullptr ? nullptr : tensor->definition()->as<MmaOp>();
    states_.push_back(
        {.tensor = tensor,
         .domain = tensor->domain(),
         .schedule = tensor->schedule(),
         .is_interface = tensor->is_fusion_input() || tensor->is_fusion_output(),
         .is_serial_reduction = reduction != nullptr && reduction->serial_grid,
         .macro = product == nullptr ? 0 : product->macro,
         .origin = tensor->is_fusion_input() ? "input" : "",
         .layout = {}});
  }
  for (const Expr* expr : fusion.exprs()) {
    if (!expr->output(0)->is_tensor()) {
      continue;
    }
    const TensorView* result = as_tensor(expr->output(0));
    readers_.try_emplace(result);
    for (const Val* input : expr->inputs()) {
      if (input->is_tensor() && input->definition() != nullptr) {
        readers_[as_tensor(input->definition()->output(0))].push_back(result);
      }
    }
  }
}

void ScheduleTranslator::order_as_printed(
    const std::vector<const TensorView*>& tensors, const std::vector<GraphStep>& steps) {
  std::unordered_map<const TensorView*, size_t> place;
  for (const TensorView* tensor : tensors) {
    place.emplace(tensor, place.size());
  }
  for (const GraphStep& step : steps) {
    for (const TensorView* made : step.effect.made) {
      place.emplace(made, place.size());
    }
  }
  for (const State& state : states_) {
    if (!place.contains(state.tensor)) {
      throw_untranslatable(
          *state.tensor, "a tensor of the math, or one that a schedule made of it");
    }
  }
  std::sort(states_.begin(), states_.end(), [&](const State& a, const State& b) {
    return place.at(a.tensor) < place.at(b.tensor);
  });
  for (size_t i = 0; i < states_.size(); ++i) {
    index_[states_[i].tensor] = i;
  }
}

/// First results of expressions. Next comes, among those whose readers are all listed, the one that
/// was printed last.
std::vector<const TensorView*> ScheduleTranslator::consumers_first() const {
  std::unordered_map<const TensorView*, size_t> num_missing; // readers
  std::unordered_map<const TensorView*, std::vector<const TensorView*>> read_by;
  std::set<size_t> ready; // indices of states
  for (const State& state : states_) {
    const auto found = readers_.find(state.tensor);
    if (found == readers_.end()) {
      continue;
    }
    num_missing[state.tensor] = found->second.size();
    for (const TensorView* reader : found->second) {
      read_by[reader].push_back(state.tensor);
    }
    if (found->second.empty()) {
      ready.insert(index_.at(state.tensor));
    }
  }
  std::vector<const TensorView*> order;
  while (!ready.empty()) {
    const TensorView* tensor = states_[*ready.rbegin()].tensor;
    ready.erase(std::prev(ready.end()));
    order.push_back(tensor);
    for (const TensorView* producer : read_by[tensor]) {
      if (--num_missing[producer] == 0) {
        ready.insert(index_.at(producer));
      }
    }
  }
  return order;
}

void ScheduleTranslator::print(
    const std::vector<const TensorView*>& tensors,
    const std::vector<GraphStep>& steps,
    ScriptWriter& writer) {
  writer_ = &writer;
  order_as_printed(tensors, steps);
  find_layouts();
  if (!steps.empty()) {
    writer.line("# Caches and factored reductions");
  }
  for (const GraphStep& step : steps) {
    print_step(step);
  }
  std::vector<TranslatedAxes> axes; // of the states
  for (const State& state : states_) {
    axes.emplace_back(name_of(state.tensor), state.domain, writer);
    print_tensor(state, axes.back());
  }
  print_positions();
  for (size_t i = 0; i < states_.size(); ++i) {
    print_axis_bindings(states_[i], axes[i], /*is_inlined=*/true);
  }
  for (const State& state : states_) {
    print_late_steps(state);
  }
}

std::string ScheduleTranslator::name_of(const TensorView* tensor) const {
  return writer_->name_of(tensor);
}

std::string ScheduleTranslator::names_of(const std::vector<TensorView*>& tensors) const {
  std::string text;
  for (const TensorView* tensor : tensors) {
    text += (text.empty() ? "" : ", ") + name_of(tensor);
  }
  return text;
}

/// Allocation domains that the math makes.
void ScheduleTranslator::find_layouts() {
  for (State& state : states_) {
    TensorView* tensor = state.tensor;
    const Expr* definition = tensor->definition();
    const AliasInfo* alias = tensor->fusion()->alias_of(tensor);
    const bool is_copy = definition != nullptr && definition->is_a<LoadStoreOp>();
    if (alias != nullptr && alias->input->has_allocation()) {
      state.layout = stride_order_of(alias->input);
    } else if (
        tensor->is_fusion_input() || (is_copy && !tensor->has_step<steps::SetAllocationDomain>())) {
      state.layout = stride_order_of(tensor);
    }
    if (tensor->is_fusion_input() && is_row_major(state.layout)) {
      state.layout.clear();
    }
  }
}

// ---- The graph of tensors -----------------------------------------------------------------------

void ScheduleTranslator::print_step(const GraphStep& step) {
  const GraphEffect& effect = step.effect;
  switch (effect.change) {
    case GraphChange::None: return;
    case GraphChange::CacheAfter:
    case GraphChange::CacheBefore:
    case GraphChange::CacheFork: return print_cache(step);
    case GraphChange::Rfactor: return print_rfactor(step);
    case GraphChange::GroupReductions:
      return writer_->line("fd.sched.group_reductions([" + names_of(effect.tensors) + "])");
    case GraphChange::CommitLeafToLogical: {
      const TensorView* tensor = effect.tensors.front();
      TranslatedAxes axes(name_of(tensor), effect.before.front(), *writer_);
      axes.print_domain(/*has_allocation_already=*/true);
      return writer_->line(name_of(tensor) + ".commit_leaf_to_logical()");
    }
  }
}

void ScheduleTranslator::print_cache(const GraphStep& step) {
  const TensorView* tensor = step.effect.tensors.front();
  const TensorView* made = step.effect.made.front();
  const std::vector<int64_t> layout = state_of(tensor).layout;
  const char* method = "cache_fork";
  const char* origin = "output that copies ";
  if (step.effect.change == GraphChange::CacheAfter) {
    method = "cache_after";
    origin = "cache of ";
  } else if (step.effect.change == GraphChange::CacheBefore) {
    method = "cache_before";
    origin = "computes ";
    if (!step.readers.empty()) {
      throw_untranslatable(*made, "a tensor that only its copy reads");
    }
  }
  const std::string result = name_of(made);
  PythonCall call(result + " = " + name_of(tensor) + "." + method);
  state_of(made).origin = origin + name_of(tensor);
  state_of(made).layout = layout;
  if (step.op_type != LoadStoreOpType::Set) {
    call.arg(python_text(step.op_type));
  }
  if (step.cache_op != CacheOp::Unspecified) {
    call.keyword("cache_op", python_text(step.cache_op));
  }
  if (step.effect.change == GraphChange::CacheAfter && !layout.empty() &&
      !state_of(made).domain->has_allocation()) {
    call.keyword("propagate_allocation_domain", "False");
    state_of(made).layout.clear();
  }
  if (!step.readers.empty()) {
    std::vector<std::string> uses;
    for (const TensorView* reader : step.readers) {
      uses.push_back(name_of(reader) + ".definition()");
    }
    call.keyword("cached_uses", python_list(uses));
  }
  writer_->line(call.str());
}

void ScheduleTranslator::print_rfactor(const GraphStep& step) {
  const GraphEffect& effect = step.effect;
  const TensorDomain& before = *effect.before.front();
  IterDomains reductions = before.loop();
  std::erase_if(reductions, [](const IterDomain* id) { return !id->is_reduction(); });
  IterDomains factored;
  for (const int64_t axis : effect.axes) {
    factored.push_back(before.axis(axis));
  }
  TranslatedAxes axes(name_of(effect.tensors.front()), &before, *writer_);
  axes.transform_to(reductions);
  std::vector<int64_t> positions = axes.positions(factored);
  std::sort(positions.begin(), positions.end());
  PythonCall call(names_of(effect.made) + " = " + name_of(effect.tensors.front()) + ".rfactor");
  call.arg(python_list(positions));
  if (effect.tensors.size() > 1) {
    call.arg("[" + names_of(effect.tensors) + "]");
  }
  writer_->line(call.str());
  for (size_t i = 0; i < effect.made.size(); ++i) {
    state_of(effect.made[i]).origin = "partial result of " + name_of(effect.tensors[i]);
  }
}

// ---- One tensor ---------------------------------------------------------------------------------

void ScheduleTranslator::print_tensor(const State& state, TranslatedAxes& axes) {
  const TensorView& tensor = *state.tensor;
  const TensorDomain& domain = *state.domain;
  // The comment stands over the first line, if there is one.
  ScriptWriter& out = *writer_;
  const auto plain_line = out.line;
  bool is_first = true;
  out.line = [&](const std::string& text) {
    if (std::exchange(is_first, false)) {
      plain_line("# " + name_of(&tensor) + (state.origin.empty() ? "" : ", " + state.origin));
    }
    plain_line(text);
  };
  const bool is_laid_out =
      !state.layout.empty() && domain.has_allocation() && state.layout == stride_order_of(domain) &&
      (tensor.is_fusion_input() ||
       domain.contiguity() == TensorDomain::contiguity_filled_with(domain.allocation(), true));
  axes.print_domain(is_laid_out);
  if (!domain.has_allocation() && !tensor.is_fusion_input() &&
      tensor.has_step<steps::SetContiguity>()) {
    out.line(name_of(&tensor) + ".set_contiguity(" + python_list(domain.contiguity()) + ")");
  }
  print_memory(state);
  print_settings(state);
  if (state.is_serial_reduction) {
    out.line(name_of(&tensor) + ".definition().request_serial_grid_reduction()");
  }
  print_macro(state);
  print_axis_bindings(state, axes, /*is_inlined=*/false);
  out.line = plain_line;
}

void ScheduleTranslator::print_macro(const State& state) {
  if (state.macro == 0) {
    return;
  }
  const MmaMacro macro = MmaMacro::from_int(state.macro);
  PythonCall encode("MmaMacroEncode");
  encode.arg(python_text(macro.arch));
  for (const int64_t part : {macro.m, macro.n, macro.k}) {
    encode.arg(python_text(part));
  }
  writer_->line(name_of(state.tensor) + ".set_mma_macro(" + encode.str() + ".mma_macro())");
}

void ScheduleTranslator::print_memory(const State& state) {
  const TensorView& tensor = *state.tensor;
  const auto move_to = [&](MemoryType type) {
    writer_->line(call_of(name_of(&tensor), steps::SetMemoryType{.memory_type = type}));
  };
  const MemoryType memory = state.schedule.memory_type;
  if (memory != (state.is_interface ? MemoryType::Global : MemoryType::Local)) {
    move_to(memory);
  }
}

void ScheduleTranslator::print_settings(const State& state) {
  transform::for_each_setting([&]<size_t kProperty>() {
    constexpr auto kSetting = kScheduleProperty<kProperty>;
    const auto& value = state.schedule.*kSetting.member;
    if (value != TensorSchedule{}.*kSetting.member) {
      PythonCall call(name_of(state.tensor) + "." + kSetting.setter);
      if (!kSetting.usual.has_value() || value != *kSetting.usual) {
        call.arg(python_text(value));
      }
      writer_->line(call.str());
    }
  });
}

/// Bindings that inlining stops at come after it where it went past them.
void ScheduleTranslator::print_axis_bindings(
    const State& state, TranslatedAxes& axes, bool is_inlined) {
  for (int64_t i = 0; i < state.domain->ndims(); ++i) {
    const IterDomain* id = state.domain->axis(i);
    const bool is_late =
        i < innermost_position(*state.tensor) && stops_inlining(id->parallel_type());
    if (is_late != is_inlined) {
      continue;
    }
    axes.bind_as(id, name_of(state.tensor) + ".axis(" + std::to_string(i) + ")");
  }
}

// ---- All tensors --------------------------------------------------------------------------------

/// Consumers first: how deep a tensor may go depends on where those that read it are.
void ScheduleTranslator::print_positions() {
  const std::vector<const TensorView*> tensors = consumers_first();
  std::vector<std::string> lines;
  for (const TensorView* tensor : tensors) {
    if (tensor->compute_at_position() > 0) {
      lines.push_back(
          call_of(name_of(tensor), steps::InlineAt{.pos = tensor->compute_at_position()}));
    }
  }
  for (const TensorView* tensor : tensors) {
    if (tensor->compute_with_position() > 0) {
      lines.push_back(
          call_of(name_of(tensor), steps::ComputeWith{.pos = tensor->compute_with_position()}));
    }
  }
  if (!lines.empty()) {
    writer_->line("# Positions, consumers first");
  }
  for (const std::string& text : lines) {
    writer_->line(text);
  }
}

/// Properties with a `step_of`.
void ScheduleTranslator::print_late_steps(const State& state) {
  for_each_field<TensorSchedule>([&](const auto& field) {
    const auto& value = state.schedule.*field.member;
    if constexpr (requires { step_of(*value); }) {
      if (value) {
        writer_->line(call_of(name_of(state.tensor), step_of(*value)));
      }
    }
  });
}

} // namespace nvfuser::python
