#include "lower/analysis/common_work.h"

#include <algorithm>
#include <limits>

#include "ir/dependencies.h"
#include "ir/kernel_traits.h"
#include "ir/scopes.h"
#include "lower/analysis/async_copies.h"
#include "lower/analysis/rewrite_elements.h"
#include "lower/analysis/thread_memory.h"

namespace nvfuser {
namespace {

/// Iterations from which on a loop is worth a region of its own; a phase makes all workers wait for
/// each other.
int64_t fewest_iterations(Level level) {
  return level == Level::Threads ? 16 : 256;
}

/// How often the innermost statement of `expr` runs, as far as loops have constant lengths; the
/// largest number where one has not.
int64_t most_iterations(const Expr& expr) {
  constexpr int64_t kMany = std::numeric_limits<int32_t>::max();
  int64_t inside = 1;
  for (const Scope* body : bodies_of(expr)) {
    for (const Expr* child : *body) {
      inside = std::max(inside, most_iterations(*child));
    }
  }
  const auto* loop = expr.as<ForLoop>();
  if (loop == nullptr) {
    return inside;
  }
  if (!loop->start->is_const() || !loop->stop->is_const()) {
    return kMany;
  }
  const int64_t own = as_int(loop->stop->value()) - as_int(loop->start->value());
  return std::min(kMany, inside * std::clamp<int64_t>(own, 0, kMany));
}

} // namespace

std::span<const ParallelType> indices_of(Level level) {
  switch (level) {
    case Level::Threads: return kBlockDimTypes;
    case Level::Cluster: return {kGridDimTypes.data(), 1};
    case Level::Blocks: break;
  }
  return kGridDimTypes;
}

bool is_private(const TensorView* tensor, Level level) {
  return is_of_thread(tensor) ||
         (level == Level::Blocks && tensor->memory_type() == MemoryType::Shared);
}

bool is_cut(const Expr* expr, Level level) {
  const KernelTraits& traits = traits_of(*expr);
  switch (level) {
    case Level::Threads:
      return traits.barriers.has(Barrier::Block) || traits.is_collective ||
             stage_side(*expr) != StageSide::None;
    case Level::Cluster: return traits.barriers.has(Barrier::Cluster);
    case Level::Blocks: break;
  }
  return traits.barriers.has(Barrier::Grid);
}

CommonWork::CommonWork(Kernel& kernel, Level level) : kernel_(kernel), level_(level) {
  for_each_node(kernel.body, [&](const Expr& node) {
    for (const Val* out : node.outputs()) {
      if (out->vtype() != ValType::TensorIndex) {
        declared_.insert(out);
      }
    }
  });
  for_each_node(kernel.body, [&](const Expr& node) {
    const Facts& facts = facts_.emplace(&node, facts_of(node)).first->second;
    common_.insert(facts.writes.begin(), facts.writes.end());
  });
  for (bool is_changed = true; is_changed;) {
    done_once_.clear();
    opened_.clear();
    is_changed = sort(kernel.body);
  }
  choose();
}

bool CommonWork::depends_on_index(const Val* val) const {
  const std::vector<const Val*> sources = dependencies(val);
  return std::ranges::any_of(sources, [&](const Val* source) {
    const auto is_source = [&](ParallelType type) {
      return source == kernel_.parallel_index(type);
    };
    return declared_.contains(source) || std::ranges::any_of(indices_of(level_), is_source);
  });
}

CommonWork::Facts CommonWork::facts_of(const Expr& node) const {
  Facts facts;
  if (node.is_a<Allocate>()) {
    return facts;
  }
  facts.is_own = is_cut(&node, level_) || (level_ == Level::Threads && traits_of(node).is_ordered);
  if (const auto* loop = node.as<ForLoop>()) {
    facts.is_own = depends_on_index(loop->start) || depends_on_index(loop->stop);
    for (const Val* bound : {loop->start, loop->stop}) {
      for (const TensorIndex* element : elements_in(bound)) {
        facts.reads.push_back(element->view());
      }
    }
  } else {
    for (const std::vector<Val*>& operands : {node.inputs(), node.outputs()}) {
      facts.is_own = facts.is_own || std::ranges::any_of(operands, [&](const Val* operand) {
                       return depends_on_index(operand);
                     });
    }
    for_each_read(node, [&](const TensorIndex& element) { facts.reads.push_back(element.view()); });
    for_each_write(node, [&](const TensorIndex& element) {
      facts.writes.push_back(element.view());
      facts.is_own = facts.is_own || !is_private(element.view(), level_);
    });
  }
  for (std::vector<const TensorView*>* tensors : {&facts.reads, &facts.writes}) {
    std::erase_if(*tensors, [&](const TensorView* tensor) { return !is_private(tensor, level_); });
  }
  return facts;
}

bool CommonWork::is_common(const Expr& expr) const {
  bool writes = false;
  bool is_all = true;
  const auto look_at = [&](const Expr& node) {
    const Facts& facts = facts_.at(&node);
    const auto is_known = [&](const TensorView* tensor) { return common_.contains(tensor); };
    writes = writes || !facts.writes.empty();
    is_all = is_all && !facts.is_own && std::ranges::all_of(facts.reads, is_known) &&
             std::ranges::all_of(facts.writes, is_known);
  };
  look_at(expr);
  for (const Scope* body : bodies_of(expr)) {
    for_each_node(*body, look_at);
  }
  return is_all && writes;
}

bool CommonWork::is_worth_it(const Expr& expr) const {
  return most_iterations(expr) >= fewest_iterations(level_);
}

bool CommonWork::may_be_opened(const Expr& expr) const {
  const auto* loop = expr.as<ForLoop>();
  const Facts& facts = facts_.at(&expr);
  return (loop != nullptr ? !traits_of(loop->loop_kind).is_written_out : expr.is_a<IfThenElse>()) &&
         !facts.is_own && facts.reads.empty();
}

bool CommonWork::has_common_loop(const Expr& expr) const {
  const std::vector<const Scope*> bodies = bodies_of(expr);
  return std::ranges::any_of(bodies, [&](const Scope* body) {
    return std::ranges::any_of(*body, [&](const Expr* child) {
      return is_common(*child) ? is_worth_it(*child)
                               : may_be_opened(*child) && has_common_loop(*child);
    });
  });
}

bool CommonWork::sort(const Scope& scope) {
  bool is_changed = false;
  const auto do_apart = [&](const Expr& node) {
    for (const TensorView* tensor : facts_.at(&node).writes) {
      is_changed = common_.erase(tensor) > 0 || is_changed;
    }
  };
  for (const Expr* expr : scope) {
    if (is_common(*expr)) {
      done_once_.insert(expr);
    } else if (may_be_opened(*expr) && has_common_loop(*expr)) {
      opened_.insert(expr);
      for (const Scope* body : bodies_of(*expr)) {
        is_changed = sort(*body) || is_changed;
      }
    } else {
      do_apart(*expr);
      for (const Scope* body : bodies_of(*expr)) {
        for_each_node(*body, do_apart);
      }
    }
  }
  return is_changed;
}

void CommonWork::choose() {
  std::unordered_map<const TensorView*, std::vector<const Expr*>> writers;
  std::unordered_map<const Expr*, std::unordered_set<const TensorView*>> touched;
  std::vector<const Expr*> chosen;
  for (const Expr* expr : done_once_) { // the order does not matter
    const auto look_at = [&](const Expr& node) {
      const Facts& facts = facts_.at(&node);
      touched[expr].insert(facts.reads.begin(), facts.reads.end());
      touched[expr].insert(facts.writes.begin(), facts.writes.end());
      for (const TensorView* tensor : facts.writes) {
        writers[tensor].push_back(expr);
      }
    };
    look_at(*expr);
    for (const Scope* body : bodies_of(*expr)) {
      for_each_node(*body, look_at);
    }
    if (is_worth_it(*expr)) {
      chosen.push_back(expr);
    }
  }
  done_once_ = {chosen.begin(), chosen.end()};
  while (!chosen.empty()) {
    const Expr* expr = chosen.back();
    chosen.pop_back();
    for (const TensorView* tensor : touched.at(expr)) {
      shared_.insert(tensor); // all that write it are chosen
      for (const Expr* writer : writers.at(tensor)) {
        if (done_once_.insert(writer).second) {
          chosen.push_back(writer);
        }
      }
    }
  }
}

} // namespace nvfuser
