#include "ir/find_fault.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "ir/fusion.h"
#include "ir/meaning.h"
#include "ir/node_rules.h"

namespace nvfuser {
namespace {

/// "T3": no more, since the text of a size that is computed in many steps may have no end.
std::string name_of(const TensorView* tensor) {
  return "T" + std::to_string(tensor->name());
}

std::string name_of(const IterDomain* id) {
  return "axis " + std::to_string(id->name());
}

bool has_stride(const IterDomain* id) {
  return !id->is_broadcast() && !id->is_reduction();
}

bool is_negative(const Val* size) {
  return size != nullptr && size->is_const() && as_int(size->value()) < 0;
}

// ---- Rules of one tensor ------------------------------------------------------------------------

std::string find_in_domains(const TensorView& tensor) {
  const TensorDomainSpec& spec = tensor.domain()->spec();
  for (const IterDomains* ids :
       {&spec.root, &spec.logical, &spec.allocation, &spec.loop, &spec.initial_loop}) {
    const std::unordered_set<const IterDomain*> distinct(ids->begin(), ids->end());
    if (distinct.size() != ids->size()) {
      return "a domain has an axis twice";
    }
  }
  return {};
}

std::string find_in_axes(const TensorView& tensor) {
  for (const IterDomain* id : tensor.domain()->all_ids()) {
    if (is_negative(id->extent()) || is_negative(id->expanded_extent())) {
      return name_of(id) + " has a negative size";
    }
    if (id->has_expanded_extent() && !id->is_broadcast()) {
      return name_of(id) + " repeats an element, but is no broadcast";
    }
    const int64_t padded = id->maybe_size_after_padding().value_or(1);
    if (padded < 0 || (padded == 0 && !id->extent()->is_zero())) {
      return name_of(id) + " is padded to no threads";
    }
  }
  return {};
}

/// Scales that lie padded group by group: how many rows that makes is data.
bool has_layout_of_groups(const TensorView& tensor) {
  const Expr* expr = tensor.definition();
  return expr != nullptr &&
         (expr->is_a<GroupedBlockQuantizationOp>() || expr->is_a<PreprocessGroupedMatmulInputSf>());
}

/// Axes of loops and memory come from those of the tensor.
std::string find_in_connections(const TensorView& tensor) {
  std::unordered_map<const Val*, std::vector<const Val*>> neighbours;
  for (const Expr* transform : tensor.domain()->all_exprs()) {
    for (const Val* input : transform->inputs()) {
      for (const Val* output : transform->outputs()) {
        neighbours[input].push_back(output);
        neighbours[output].push_back(input);
      }
    }
  }
  const TensorDomain& domain = *tensor.domain();
  std::vector<const Val*> pending(domain.root().begin(), domain.root().end());
  pending.insert(pending.end(), domain.logical().begin(), domain.logical().end());
  pending.insert(pending.end(), first_loop(domain).begin(), first_loop(domain).end());
  std::ranges::copy_if(domain.all_ids(), std::back_inserter(pending), [](const IterDomain* id) {
    return id->is_broadcast() && id->definition() == nullptr; // `broadcast` inserted it
  });
  std::unordered_set<const Val*> reached;
  while (!pending.empty()) {
    const Val* id = pending.back();
    pending.pop_back();
    if (reached.insert(id).second) {
      const std::vector<const Val*>& next = neighbours[id];
      pending.insert(pending.end(), next.begin(), next.end());
    }
  }
  const auto is_apart = [&](const IterDomain* id) { return !reached.contains(id); };
  const bool is_apart_somewhere =
      std::ranges::any_of(domain.loop(), is_apart) ||
      (!has_layout_of_groups(tensor) && std::ranges::any_of(domain.allocation(), is_apart));
  return is_apart_somewhere ? "an axis of loops or memory comes from no axis of the tensor" : "";
}

std::string find_in_memory(const TensorView& tensor) {
  const IterDomains& axes = tensor.maybe_allocation();
  const Contiguity& contiguity = tensor.domain()->contiguity();
  if (contiguity.size() != axes.size()) {
    return "contiguity has " + std::to_string(contiguity.size()) + " flags for " +
           std::to_string(axes.size()) + " axes";
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (contiguity[i].has_value() != has_stride(axes[i]) && !axes[i]->is_symbolic_axis()) {
      return "contiguity of " + name_of(axes[i]) + " and its kind do not agree";
    }
  }
  const MemoryType memory = tensor.memory_type();
  const bool is_argument = tensor.is_fusion_input() || tensor.is_fusion_output();
  if (is_argument && memory != MemoryType::Global && memory != MemoryType::Symmetric) {
    return std::string("an argument in memory ") + enum_name(memory);
  }
  return {};
}

std::string find_in_stages(const CircularBuffering& options) {
  if (options.stages < 2 || options.prefetch < 0 || options.prefetch >= options.stages) {
    return std::to_string(options.stages) + " stages, " + std::to_string(options.prefetch) +
           " loaded ahead";
  }
  const auto* group = std::get_if<WarpSpecialized>(&options.type);
  if (group != nullptr && !is_block_dim(group->on)) {
    return std::string("threads that load along ") + enum_name(group->on);
  }
  if (group != nullptr && group->num_registers) {
    for (const int64_t registers : {group->num_registers->first, group->num_registers->second}) {
      if (registers < 24 || registers > 256 || registers % 8 != 0) { // what setmaxnreg takes
        return std::to_string(registers) + " registers of a thread";
      }
    }
  }
  return {};
}

/// The fault of a property's value, by its type; most types have no rules.
template <typename T>
std::string find_in_property(const T& /*value*/) {
  return {};
}
std::string find_in_property(const std::optional<CircularBuffering>& options) {
  return options ? find_in_stages(*options) : std::string();
}

std::string find_in_schedule(const TensorView& tensor) {
  const TensorSchedule& schedule = tensor.schedule();
  for (const int64_t position :
       {schedule.compute_at_position, schedule.max_producer_position,
        schedule.compute_with_position, schedule.maybe_max_producer_position}) {
    if (position < 0 || position > tensor.ndims()) {
      return "position " + std::to_string(position) + " in " + std::to_string(tensor.ndims()) +
             " loops";
    }
  }
  if (!schedule.compute_with_consumers.empty()) {
    return "consumers that only lowering finds";
  }
  if (schedule.is_cpu_scalar && tensor.rank() != 0) {
    return "a scalar of the host with dimensions";
  }
  std::string fault;
  for_each_field<TensorSchedule>([&](const auto& field) {
    if (fault.empty()) {
      fault = find_in_property(schedule.*field.member);
    }
  });
  return fault;
}

// ---- Rules of the fusion ------------------------------------------------------------------------

/// Axes belong to one tensor.
std::string find_in_owners(const std::vector<TensorView*>& tensors) {
  std::unordered_map<const IterDomain*, const TensorView*> owners;
  for (const TensorView* tensor : tensors) {
    for (const IterDomain* id : tensor->domain()->all_ids()) {
      const auto [owner, is_new] = owners.emplace(id, tensor);
      if (!is_new) {
        return name_of(id) + " is one of " + name_of(owner->second) + " and " + name_of(tensor);
      }
    }
  }
  return {};
}

/// Few bytes can name one tensor of many axes many times: to compare them all would take long.
bool meets_too_often(const Expr& expr) {
  constexpr size_t kMostAxes = size_t{1} << 24U;
  size_t num_axes = 1;
  for (const TensorView* result : tensor_outputs(&expr)) {
    num_axes = std::max(num_axes, result->maybe_root().size());
  }
  return expr.inputs().size() > kMostAxes / num_axes;
}

std::string find_in_nodes(const Fusion& fusion, const std::vector<TensorView*>& tensors) {
  SampledSizes sizes;
  for (const TensorView* tensor : tensors) {
    for (const Expr* transform : tensor->domain()->all_exprs()) {
      if (std::string fault = find_broken_rule(*transform, sizes); !fault.empty()) {
        return name_of(tensor) + ": " + fault;
      }
    }
  }
  for (const Expr* expr : fusion.exprs()) {
    if (meets_too_often(*expr)) {
      return std::string(expr->op_name()) + ": too many operands of too many dimensions";
    }
    if (std::string fault = find_broken_rule(*expr, sizes); !fault.empty()) {
      const std::vector<TensorView*> results = tensor_outputs(expr);
      return (results.empty() ? "a scalar" : name_of(results.front())) + ": " + fault;
    }
  }
  return {};
}

std::string find_in_aliases(const Fusion& fusion) {
  for (const Val* output : fusion.outputs()) {
    const AliasInfo* alias = fusion.alias_of(output);
    if (alias == nullptr) {
      continue;
    }
    const auto* tensor = static_cast<const TensorView*>(output);
    if (tensor->dtype() != alias->input->dtype() || tensor->rank() != alias->input->rank()) {
      return name_of(tensor) + " is written to " + name_of(alias->input) + ", which is unlike it";
    }
  }
  return {};
}

} // namespace

std::string find_fault(const Fusion& fusion) {
  const std::vector<TensorView*> tensors = fusion.tensors();
  // First: then no axis is looked at for many tensors.
  if (std::string fault = find_in_owners(tensors); !fault.empty()) {
    return fault;
  }
  for (const TensorView* tensor : tensors) {
    for (const auto& find :
         {find_in_domains, find_in_axes, find_in_connections, find_in_memory, find_in_schedule}) {
      if (std::string fault = find(*tensor); !fault.empty()) {
        return name_of(tensor) + ": " + fault;
      }
    }
  }
  const std::string fault = find_in_nodes(fusion, tensors);
  return fault.empty() ? find_in_aliases(fusion) : fault;
}

} // namespace nvfuser
