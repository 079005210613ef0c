#include "codegen/cuda_welford.h"

#include <algorithm>
#include <initializer_list>

#include "codegen/element_statements.h"
#include "codegen/printer.h"
#include "codegen/shifted_sums.h"
#include "ir/scopes.h"
#include "lower/analysis/for_loops.h"

namespace nvfuser {
namespace {

bool is_array_of_counts(const Allocate& allocate) {
  return allocate.memory_type == MemoryType::Local && !allocate.is_spilled &&
         allocate.buffer->dtype() == DataType::Int && allocate.size->is_const_int() &&
         as_int(allocate.size->value()) > 1;
}

const TensorIndex* element_of(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val) : nullptr;
}

/// The array of which iteration i of the loop takes element i; nullptr: it is something else.
const TensorView* array_of(const Val* val, const ForLoop& loop) {
  const TensorIndex* element = element_of(val);
  return element != nullptr && element->index() == loop.index ? element->view() : nullptr;
}

bool runs_over(const ForLoop& loop, int64_t size) {
  return is_serial(loop) && loop.circular_buffer_depth == 0 && loop.start->is_zero() &&
         loop.stop->is_const_int(size);
}

/// The count that `out` is made of; nullptr: `expr` makes it of none.
const Val* source_of_count(const Expr& expr, const Val* out) {
  if (const auto* step = expr.as<WelfordOp>(); step != nullptr && step->out_n == out) {
    return step->in_n;
  }
  const auto* copy = expr.as<LoadStoreOp>();
  return copy == nullptr ? nullptr : copy->arg;
}

} // namespace

AlikeCounts::AlikeCounts(const Scope& body) {
  visit(body, nullptr);
  remove_those_made_of_others();
}

/// `around`: the loop that the statements of `scope` stand in, if nothing but the loop decides
/// whether they run.
void AlikeCounts::visit(const Scope& scope, const ForLoop* around) {
  for (const Expr* expr : scope) {
    if (const auto* allocate = expr->as<Allocate>();
        allocate != nullptr && is_array_of_counts(*allocate)) {
      sizes_[allocate->buffer] = as_int(allocate->size->value());
    }
    visit_writes(*expr, around);
    const auto* loop = expr->as<ForLoop>();
    for (const Scope* body : bodies_of(*expr)) {
      visit(*body, loop);
    }
  }
}

void AlikeCounts::visit_writes(const Expr& expr, const ForLoop* around) {
  for (const Val* out : expr.outputs()) {
    const TensorIndex* element = element_of(out);
    const auto known = element == nullptr ? sizes_.end() : sizes_.find(element->view());
    if (known == sizes_.end()) {
      continue;
    }
    const TensorView* view = known->first;
    const Val* source = source_of_count(expr, out);
    const bool is_of_all = around != nullptr && is_unconditional(expr) &&
                           runs_over(*around, known->second) && array_of(out, *around) == view;
    if (!is_of_all || source == nullptr) {
      others_.insert(view);
    } else if (!source->is_const()) {
      // nullptr is no array that is known, so that `view` is none either.
      made_of_[view].push_back(array_of(source, *around));
    }
  }
}

void AlikeCounts::remove_those_made_of_others() {
  for (bool has_changed = true; has_changed;) {
    has_changed = std::erase_if(sizes_, [&](const auto& entry) {
                    const TensorView* view = entry.first;
                    const std::vector<const TensorView*>& sources = made_of_[view];
                    return others_.count(view) != 0 ||
                           std::ranges::any_of(sources, [&](const TensorView* source) {
                             return !contains(source);
                           });
                  }) > 0;
  }
}

bool print_merged_sets(KernelPrinter& printer, const ForLoop& loop, const AlikeCounts& counts) {
  const auto merges = [&](const Expr* expr) {
    const auto* step = expr->as<WelfordOp>();
    if (step == nullptr || adds_element(*step) || !is_unconditional(*step)) {
      return false;
    }
    const TensorView* total = array_of(step->out_n, loop);
    const TensorView* other = array_of(step->in_n, loop);
    const auto is_of_loop = [&](const Val* val) {
      const TensorView* view = array_of(val, loop);
      return view != nullptr && view->memory_type() == MemoryType::Local &&
             view->dtype() == step->out_avg->dtype();
    };
    return counts.contains(total) && counts.contains(other) &&
           runs_over(loop, counts.size_of(total)) && runs_over(loop, counts.size_of(other)) &&
           std::ranges::all_of(
               std::initializer_list<const Val*>{
                   step->out_avg, step->out_var, step->in_avg, step->in_var},
               is_of_loop);
  };
  if (loop.body.empty() || !std::ranges::all_of(loop.body, merges)) {
    return false;
  }
  for (const Expr* expr : loop.body) {
    const auto& step = *expr->as<WelfordOp>();
    std::string arrays;
    for (const Val* val :
         {step.out_avg, step.out_var, step.out_n, step.in_avg, step.in_var, step.in_n}) {
      arrays += (arrays.empty() ? "" : ", ") + printer.name_of(array_of(val, loop));
    }
    printer.statement(
        step,
        "welford_merge_alike<" + std::to_string(as_int(loop.stop->value())) + ">(" + arrays + ");");
  }
  return true;
}

} // namespace nvfuser
