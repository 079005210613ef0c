#include "codegen/shifted_sums.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

#include "ir/dependencies.h"
#include "ir/scopes.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

// Elements of a set: as many as keep sums short, and fewer cost less as steps of a Welford.
constexpr int64_t kFewest = 4;
constexpr int64_t kFewestOnCpu = 16;
constexpr int64_t kMost = 128;
constexpr int64_t kMostInDouble = 4096; // with elements of half the digits

constexpr int64_t kMostSets = 64; // of an array

using Accumulators = std::array<const TensorView*, 3>;

/// Elements that one set may have; 0: the squares of elements need digits that the sums do not
/// have.
int64_t most_elements(const WelfordOp& step) {
  if (step.out_avg->dtype() == DataType::Float) {
    return kMost;
  }
  return size_bytes(step.in_avg->dtype()) < size_bytes(DataType::Double) ? kMostInDouble : 0;
}

/// A constant that `stop` does not exceed; no value: none is known here.
std::optional<int64_t> most_of(const Val& stop) {
  if (stop.is_const_int()) {
    return as_int(stop.value());
  }
  const auto* least = stop.definition() == nullptr ? nullptr : stop.definition()->as<BinaryOp>();
  if (least == nullptr || least->op != BinaryOpType::Min) {
    return std::nullopt;
  }
  const std::optional<int64_t> most = most_of(*least->lhs);
  return most ? most : most_of(*least->rhs);
}

/// Iterations of a loop at most; no value: not known here.
std::optional<int64_t> most_iterations(const ForLoop& loop) {
  return most_of(*loop.stop);
}

/// The tensors in registers that a step adds to; no value: others, or other types.
std::optional<Accumulators> accumulators_of(const WelfordOp& step) {
  Accumulators views{};
  for (size_t i = 0; i < views.size(); ++i) {
    const Val* out = step.outputs()[i];
    if (out->vtype() != ValType::TensorIndex) {
      return std::nullopt;
    }
    views.at(i) = static_cast<const TensorIndex*>(out)->view();
    if (views.at(i)->memory_type() != MemoryType::Local) {
      return std::nullopt;
    }
  }
  const DataType type = step.out_avg->dtype();
  const bool is_real = type == DataType::Float || type == DataType::Double;
  return is_real && step.out_var->dtype() == type ? std::optional(views) : std::nullopt;
}

const Val* index_of(const Val* element) {
  return static_cast<const TensorIndex*>(element)->index();
}

/// Whether the three values of a set have one index.
bool is_indexed_alike(const WelfordOp& step) {
  return index_of(step.out_avg) == index_of(step.out_var) &&
         index_of(step.out_avg) == index_of(step.out_n);
}

/// Whether statements of `scope` do nothing with the accumulators but add elements.
bool only_adds(const Scope& scope, const Accumulators& accumulators) {
  const auto is_one = [&](const TensorView* view) {
    return std::ranges::find(accumulators, view) != accumulators.end();
  };
  bool holds = true;
  for_each_node(scope, [&](const Expr& expr) {
    const auto* step = expr.as<WelfordOp>();
    const bool adds = step != nullptr && adds_element(*step);
    const auto check = [&](const TensorIndex& element) {
      holds = holds && !is_one(element.view());
    };
    for_each_read(expr, check);
    if (!adds) {
      for_each_write(expr, check);
    }
    const auto* allocate = expr.as<Allocate>();
    holds = holds && (allocate == nullptr || !is_one(allocate->buffer));
  });
  return holds;
}

} // namespace

bool adds_element(const WelfordOp& welford) {
  return welford.in_n->is_const_int(1) && welford.in_var->is_zero();
}

ShiftedSums::ShiftedSums(const Kernel& kernel) : kernel_(kernel) {
  visit(kernel.body);
}

void ShiftedSums::visit(const Scope& scope) {
  for (const Expr* expr : scope) {
    if (const auto* allocate = expr->as<Allocate>()) {
      arrays_[allocate->buffer] = allocate;
    } else if (const auto* step = expr->as<WelfordOp>()) {
      visit_step(*step);
    } else if (const auto* loop = expr->as<ForLoop>(); loop != nullptr && is_serial(*loop)) {
      open_.push_back(loop);
      visit(loop->body);
      open_.pop_back();
    } else {
      // Threads and blocks that are loops have accumulators of their own.
      std::vector<const ForLoop*> around;
      if (expr->is_a<ForLoop>() || expr->is_a<IfThenElse>()) {
        around = open_;
      }
      std::swap(around, open_);
      for (const Scope* body : bodies_of(*expr)) {
        visit(*body);
      }
      std::swap(around, open_);
    }
  }
}

/// Elements of an array of which each may have a set; 0: it is too large.
int64_t ShiftedSums::size_of_array(const TensorView* view) const {
  const auto found = arrays_.find(view);
  if (found == arrays_.end() || !found->second->size->is_const_int() ||
      (found->second->is_spilled && kernel_.target().is_cuda())) {
    return 0;
  }
  const int64_t size = as_int(found->second->size->value());
  return size <= kMostSets ? size : 0;
}

/// The outermost loop over what is reduced that has the accumulators for itself, and not too many
/// elements.
void ShiftedSums::visit_step(const WelfordOp& step) {
  const std::optional<Accumulators> accumulators = accumulators_of(step);
  if (!adds_element(step) || !accumulators) {
    return;
  }
  const std::vector<const Val*> index = dependencies(index_of(step.out_avg));
  const int64_t size = is_indexed_alike(step) ? size_of_array(accumulators->front()) : 0;
  const ForLoop* outermost = nullptr;
  int64_t elements = 1;  // of a set
  bool has_sets = false; // inside of the loop that is looked at
  int64_t sets = 1;
  for (const ForLoop* loop : open_ | std::views::reverse) {
    if (!only_adds(loop->body, *accumulators)) {
      break;
    }
    if (std::ranges::find(index, loop->index) != index.end()) {
      has_sets = true;
      continue;
    }
    const std::optional<int64_t> most = most_iterations(*loop);
    if (!most || *most * elements > most_elements(step) || (has_sets && size == 0)) {
      break;
    }
    outermost = loop;
    elements *= std::max<int64_t>(*most, 1);
    sets = has_sets ? size : 1;
  }
  if (elements < (kernel_.target().is_cuda() ? kFewest : kFewestOnCpu)) {
    return;
  }
  std::vector<LoopSums>& all = sums_[outermost];
  auto own = std::ranges::find_if(all, [&](const LoopSums& sums) {
    return accumulators_of(*sums.steps.front()) == accumulators;
  });
  if (own == all.end()) {
    own = all.insert(all.end(), LoopSums{.steps = {}, .elements = sets});
  }
  if (own->elements == sets) {
    own->steps.push_back(&step);
    own->most_of_set += elements;
  }
}

std::span<const LoopSums> ShiftedSums::of(const ForLoop& loop) const {
  const auto found = sums_.find(&loop);
  return found == sums_.end() ? std::span<const LoopSums>() : found->second;
}

} // namespace nvfuser
