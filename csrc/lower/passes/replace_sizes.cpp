#include "lower/passes/replace_sizes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "eval/simplify.h"
#include "graph/sized_axes.h"
#include "ir/all_nodes.h"
#include "ir/scalar.h"
#include "ir/substitute_scalars.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/size_names.h"

namespace nvfuser {
namespace {

bool is_leaf(const Val* val) {
  return val->definition() == nullptr;
}

/// Symbols that are sizes of inputs.
std::unordered_set<const Val*> input_sizes(const Kernel& kernel) {
  std::unordered_set<const Val*> sizes;
  for (const Val* in : kernel.inputs()) {
    if (in->is_tensor()) {
      for (Val* extent : static_cast<const TensorView*>(in)->shape()) {
        sizes.insert(extent);
      }
    }
  }
  return sizes;
}

std::optional<Refusal> find_mismatch(const IterDomain* a, const IterDomain* b) {
  if (a->extent()->is_const_int() && b->extent()->is_const_int() &&
      as_int(a->extent()->value()) != as_int(b->extent()->value())) {
    return refuse({
        .headline =
            {"Expected sizes to match: ", a->extent()->to_string(), " vs ",
             b->extent()->to_string(), "."},
        .node = {describe(a), "\nand ", describe(b)},
        .expected = {"one size: an expression maps these axes to each other"},
        .found = {"two"},
        .fix = {"check the shapes given to define_tensor"},
    });
  }
  return std::nullopt;
}

IterDomains sized_axes(const Kernel& kernel) {
  IterDomains axes;
  for (const TensorView* tensor : kernel.tensors()) {
    const IterDomains own = sized_axes(tensor);
    axes.insert(axes.end(), own.begin(), own.end());
  }
  return axes;
}

std::optional<Refusal> choose_representatives(Kernel& kernel, ScalarSubstitution& substitution) {
  const ValGraph exact = exact_graph_of_sized_axes(kernel);
  const std::unordered_set<const Val*> inputs = input_sizes(kernel);
  std::unordered_map<int64_t, const IterDomain*> chosen;
  const auto rank = [&](const Val* extent) { // smaller is better
    return extent->is_const() ? 0 : inputs.count(extent) != 0 ? 1 : 2;
  };
  const IterDomains axes = sized_axes(kernel);
  for (const IterDomain* id : axes) {
    if (id->is_broadcast() || !is_leaf(id->extent())) {
      continue;
    }
    const auto [found, is_new] = chosen.try_emplace(exact.group(id), id);
    if (!is_new) {
      NVF_RETURN_REFUSAL(find_mismatch(found->second, id));
      if (rank(id->extent()) < rank(found->second->extent())) {
        found->second = id;
      }
    }
  }
  for (const IterDomain* id : axes) {
    const auto found = chosen.find(exact.group(id));
    if (!id->is_broadcast() && found != chosen.end() && id->extent()->is_symbolic() &&
        is_leaf(id->extent()) && found->second->extent() != id->extent()) {
      substitution.replace(id->extent(), found->second->extent());
    }
  }
  return std::nullopt;
}

/// A part of an axis, an axis with surroundings, and a product of axes have computed sizes: whether
/// they are those of the axes that expressions map them to shows at launch.
std::optional<Refusal> require_computed_sizes(Kernel& kernel) {
  const IterDomains axes = sized_axes(kernel);
  const auto is_computed = [](const IterDomain* id) {
    return !id->is_broadcast() && !is_leaf(id->extent());
  };
  if (std::none_of(axes.begin(), axes.end(), is_computed)) {
    return std::nullopt; // most kernels: a graph costs time
  }
  const ValGraph exact = exact_graph_of_sized_axes(kernel);
  std::unordered_map<int64_t, const IterDomain*> computed;
  for (const IterDomain* id : axes) {
    if (is_computed(id)) {
      computed.try_emplace(exact.group(id), id);
    }
  }
  IndexSimplifier simplifier(kernel);
  std::vector<const Val*> checked;
  for (const IterDomain* id : axes) {
    const auto found = computed.find(exact.group(id));
    if (id->is_broadcast() || found == computed.end() ||
        simplifier.prove_equal(id->extent(), found->second->extent())) {
      continue;
    }
    NVF_RETURN_REFUSAL(find_mismatch(id, found->second));
    Val* holds = scalar::eq(found->second->extent(), id->extent());
    const bool is_repeated = std::any_of(
        checked.begin(), checked.end(), [&](const Val* other) { return holds->same_as(other); });
    if (!is_repeated) {
      checked.push_back(holds);
      kernel.launch.conditions.push_back(size_condition(
          holds,
          {"Expected sizes to match: ", found->second->to_string(), " vs ", id->to_string(), "."},
          {describe(found->second), "\nand ", describe(id)}));
    }
  }
  return std::nullopt;
}

struct ExpandedSize {
  Val* from = nullptr;
  Val* to = nullptr;
  Part headline;
  const TensorView* out = nullptr;
};

/// Sizes that an expand may change. A kernel expands nothing that its operand may bring along:
/// where a launch has different sizes, an expansion was meant.
std::vector<ExpandedSize> undecided_expands(const Kernel& kernel) {
  std::vector<ExpandedSize> sizes;
  for (const Expr* expr : kernel.exprs()) {
    const auto* expand = expr->as<ExpandOp>();
    if (expand == nullptr) {
      continue;
    }
    const IterDomains operand = TensorDomain::no_reductions(expand->arg->logical());
    for (size_t i = 0; i < operand.size(); ++i) {
      const IterDomain* axis = expand->out->logical().at(i);
      if (axis->is_symbolic_axis() && !axis->extent()->same_as(operand[i]->extent())) {
        sizes.push_back(
            {operand[i]->extent(),
             axis->extent(),
             {"Mismatch in sizes when concretizing expand. A kernel without concretization expands "
              "nothing: ",
              operand[i]->to_string(), " to ", axis->to_string(), "."},
             static_cast<const TensorView*>(expand->out)});
      }
    }
  }
  return sizes;
}

/// Sizes are those of a launch: an axis whose kind its size decides is an iteration, also where
/// that size turns out to be 1.
void resolve_symbolic_axes(const Kernel& kernel) {
  for (const TensorView* tensor : kernel.tensors()) {
    for (IterDomain* id : tensor->domain()->all_ids()) {
      if (id->is_symbolic_axis()) {
        id->assign_iter_type(IterType::Iteration);
      }
    }
  }
}

/// Elements of dtype Index have 64 bits in memory, however wide the kernel's own indices are.
void widen_index_tensors(const Kernel& kernel) {
  for (TensorView* tensor : kernel.tensors()) {
    if (tensor->dtype() == DataType::Index) {
      tensor->assign_dtype(DataType::Int);
    }
  }
}

void record_sources(Kernel& kernel) {
  std::unordered_set<const Val*> known;
  for (Val* in : kernel.inputs()) {
    if (!in->is_tensor()) {
      continue;
    }
    auto* tensor = static_cast<TensorView*>(in);
    const std::vector<Val*> shape = tensor->shape();
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (shape[dim]->is_symbolic() && is_leaf(shape[dim]) && known.insert(shape[dim]).second) {
        kernel.launch.sizes.push_back({shape[dim], tensor, static_cast<int64_t>(dim)});
      }
    }
  }
}

} // namespace

std::optional<Refusal> replace_sizes(Kernel& kernel) {
  const std::vector<ExpandedSize> expands = undecided_expands(kernel);
  resolve_symbolic_axes(kernel);
  SizeNamer namer(kernel);
  ScalarSubstitution substitution(
      kernel, [&](Val* val, Val* rebuilt) { return namer.shortened(val, rebuilt); });
  NVF_RETURN_REFUSAL(choose_representatives(kernel, substitution));
  substitution.apply(kernel.tensors());
  for (const auto& [from, to, headline, out] : expands) {
    kernel.launch.conditions.push_back(
        size_condition(scalar::eq(from, to), headline, describe(out)));
  }
  NVF_RETURN_REFUSAL(require_computed_sizes(kernel));
  widen_index_tensors(kernel);
  record_sources(kernel);
  return std::nullopt;
}

} // namespace nvfuser
