// The inputs and outputs of a fusion.
#include <algorithm>
#include <functional>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/replay_domain.h"

namespace nvfuser {
namespace {

/// Aliases are sorted by the addresses of outputs, of which there may be many; no result depends on
/// this order.
template <typename Aliases>
auto place_of(Aliases& aliases, const Val* output) {
  return std::ranges::lower_bound(
      aliases, output, std::less(), [](const auto& alias) { return alias.first; });
}

/// A copy of a tensor, computed by a plain `set`.
TensorView* make_copy(Fusion& fusion, TensorView* tv) {
  IterDomains logical;
  for (const IterDomain* id : TensorDomain::no_reductions(tv->logical())) {
    logical.push_back(copy_id(id));
  }
  TensorView* copy = fusion.new_tensor(
      fusion.new_tensor_domain(
          {.root = {}, .logical = logical, .allocation = {}, .loop = {}, .contiguity = {}}),
      tv->dtype());
  fusion.make<LoadStoreOp>(
      {.out = copy,
       .arg = tv,
       .op = LoadStoreOpType::Set,
       .cache_op = CacheOp::Streaming}); // as ops::set
  return copy;
}

void check_same_kind(const TensorView* output, const TensorView* input) {
  if (output->rank() == input->rank() && output->dtype() == input->dtype()) {
    return;
  }
  const bool is_other_rank = output->rank() != input->rank();
  const auto kind_of = [](const TensorView* tv) {
    return Part(tv->rank(), " dimensions of ", tv->dtype());
  };
  throw UserError(
      {.headline =
           {"aliased output ", describe(output), " and input ", describe(input), " have different ",
            is_other_rank ? "numbers of dimensions" : "data types"},
       .node = describe(output),
       .expected = kind_of(input),
       .found = kind_of(output),
       .fix = "write a result of the shape and data type of the input"});
}

} // namespace

void Fusion::add_input(Val* input) {
  const bool is_argument = input->is_tensor() || input->vtype() == ValType::Scalar;
  if (!contains(input) || !is_argument) {
    throw UserError(
        {.headline = {"Cannot register input ", input->to_string()},
         .node = describe(input),
         .expected = "a tensor or a scalar of this fusion",
         .found = is_argument ? "a value of another fusion" : "a part of a tensor",
         .fix = "define what is passed at run time with define_tensor or define_scalar"});
  }
  NVF_USER_CHECK(
      !input->is_const(),
      "Immediate scalar value cannot be added as an input. It is not necessary to pass it as an "
      "input.");
  NVF_USER_CHECK(
      !input->is_fusion_input_, "Val: ", input->to_string(),
      " is already registered as input, duplicated inputs is not allowed");
  if (input->definition_ != nullptr) {
    // An input is not computed. An expression with other results still computes those.
    Expr* definition = input->definition_;
    input->definition_ = nullptr;
    const bool computes_others = std::any_of(
        definition->outputs().begin(), definition->outputs().end(),
        [&](const Val* output) { return output->definition() == definition; });
    if (!computes_others) {
      remove(definition);
    }
  }
  inputs_.push_back(input);
  input->is_fusion_input_ = true;
  count_edit_of_graph();
  if (input->is_tensor()) {
    static_cast<TensorView*>(input)->assign_memory_type(MemoryType::Global);
  }
}

void Fusion::add_output(Val* output) {
  check_contains(output);
  NVF_USER_CHECK(
      output->is_tensor(),
      "Non-TensorView outputs are not supported at this point: ", output->to_string());
  const auto alias = place_of(aliases_, output);
  if (alias != aliases_.end() && alias->first == output && alias->second.is_hidden) {
    alias->second.is_hidden = false;
    outputs_.erase(std::find(outputs_.begin(), outputs_.end(), output));
  }
  outputs_.push_back(output);
  output->is_fusion_output_ = true;
  static_cast<TensorView*>(output)->assign_memory_type(MemoryType::Global);
  count_edit_of_graph();
}

void Fusion::add_output(Val* output, Val* alias_input) {
  check_contains(output);
  check_contains(alias_input);
  NVF_USER_CHECK(alias_input->is_fusion_input_, "alias source can only be a fusion input");
  NVF_USER_CHECK(
      output->is_tensor() && alias_input->is_tensor(),
      "aliasing output to input is only supported for TensorView");
  auto* source = static_cast<TensorView*>(alias_input);
  auto* target = static_cast<TensorView*>(output);
  check_same_kind(target, source);
  const AliasInfo* known = alias_of(target);
  const bool is_written_elsewhere = known != nullptr && known->input != source;
  if (target->is_fusion_input() || is_written_elsewhere) {
    target = make_copy(*this, target);
  }
  replay_domain_on(target, source->domain());

  const bool is_hidden = !target->is_fusion_output_;
  if (is_hidden) {
    add_output(target);
  }
  if (alias_of(target) == nullptr) {
    aliases_.emplace(
        place_of(aliases_, target), target, AliasInfo{.input = source, .is_hidden = is_hidden});
    ++version_;
  }
}

const AliasInfo* Fusion::alias_of(const Val* output) const {
  const auto alias = place_of(aliases_, output);
  return alias != aliases_.end() && alias->first == output ? &alias->second : nullptr;
}

std::vector<const TensorView*> Fusion::updates_of(const Val* input) const {
  std::vector<const TensorView*> outputs;
  for (const auto& [aliased, info] : aliases_) {
    if (info.input == input) {
      outputs.push_back(static_cast<const TensorView*>(aliased));
    }
  }
  std::ranges::sort(outputs, std::less(), &TensorView::serial);
  return outputs;
}

void Fusion::replace_output(Val* from, Val* to) {
  check_contains(from);
  check_contains(to);
  NVF_INVARIANT(from->is_fusion_output_, "an output is replaced: ", describe(from));
  std::replace(outputs_.begin(), outputs_.end(), from, to);
  const auto alias = place_of(aliases_, from);
  if (alias != aliases_.end() && alias->first == from) {
    const AliasInfo info = alias->second;
    aliases_.erase(alias);
    aliases_.emplace(place_of(aliases_, to), to, info);
  }
  from->is_fusion_output_ = false;
  to->is_fusion_output_ = true;
  if (from->is_tensor() && !from->is_fusion_input_) {
    static_cast<TensorView*>(from)->assign_memory_type(MemoryType::Local);
  }
  if (to->is_tensor()) {
    static_cast<TensorView*>(to)->assign_memory_type(MemoryType::Global);
  }
  count_edit_of_graph();
}

} // namespace nvfuser
