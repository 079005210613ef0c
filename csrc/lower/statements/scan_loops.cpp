#include "lower/statements/scan_loops.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/rules.h"

namespace nvfuser {
namespace {

Refusal refuse_scan(const ScanOp& scan, Part headline, Part expected, Part found) {
  return refuse_node(
      scan.out, std::move(headline), std::move(expected), std::move(found),
      "leave the axis of a scan serial, or split it by the number of items of a thread and bind "
      "the outer part to one thread dimension");
}

std::string text_of(const LoopNest& nest) {
  std::string text;
  for (const Loop* loop : nest) {
    text += (text.empty() ? "" : ", ") + loop->promoted->to_string();
  }
  return "[" + text + "]";
}

/// Loops over `id`, those of the outer part of a split before those of the inner part. Empty if it
/// has none, or if they run over other axes as well.
LoopNest loops_over(const ValGraph& exact, const IterDomain* id, const LoopNest& nest) {
  for (Loop* loop : nest) {
    if (exact.are_mapped(loop->promoted, id)) {
      return {loop};
    }
  }
  for (const Expr* use : exact.uses(exact.group(id))) {
    const auto* split = use->as<Split>();
    if (split == nullptr) {
      continue;
    }
    LoopNest loops = loops_over(exact, split->outer, nest);
    const LoopNest inner = loops_over(exact, split->inner, nest);
    if (!loops.empty() && !inner.empty()) {
      loops.insert(loops.end(), inner.begin(), inner.end());
      return loops;
    }
  }
  return {};
}

/// Serial loops of `loops` in the order of the axis. Where the index of a thread stands among them
/// does not matter.
std::optional<Refusal> find_wrong_order(
    const ScanOp& scan, const IterDomain* axis, const LoopNest& loops, const LoopNest& nest) {
  LoopNest serial;
  std::copy_if(loops.begin(), loops.end(), std::back_inserter(serial), [](const Loop* loop) {
    return is_loop(loop->parallel_type) && !loop->index->is_const();
  });
  const auto position = [&](const Loop* loop) {
    return std::find(nest.begin(), nest.end(), loop) - nest.begin();
  };
  const bool is_in_order = std::is_sorted(
      serial.begin(), serial.end(),
      [&](const Loop* a, const Loop* b) { return position(a) < position(b); });
  if (!is_in_order) {
    return refuse_scan(
        scan, {"A scan visits its axis ", axis->to_string(), " in increasing order"},
        {"the outer part of every split of it in an outer loop: ", text_of(loops)},
        {"the loops ", text_of(nest)});
  }
  return std::nullopt;
}

/// Threads combine what they have when the loops over their items have ended: what depends on the
/// result stands outside.
std::optional<Refusal> find_early_reader(
    const Kernel& kernel, const ScanOp& scan, const IterDomain* axis, const LoopNest& items) {
  if (items.empty()) {
    return std::nullopt;
  }
  std::unordered_set<const Val*> dependents{scan.out};
  for (const Expr* expr : kernel.sorted_exprs) {
    const bool depends = std::any_of(
        expr->inputs().begin(), expr->inputs().end(),
        [&](const Val* in) { return dependents.count(in) != 0; });
    if (!depends) {
      continue;
    }
    dependents.insert(expr->outputs().begin(), expr->outputs().end());
    const auto* out = static_cast<const TensorView*>(expr->outputs().front());
    const LoopNest& nest = kernel.loop_model->nest(out);
    if (std::find(nest.begin(), nest.end(), items.front()) != nest.end()) {
      return refuse({
          .headline =
              {"Results of a scan along its axis ", axis->to_string(),
               " are needed in the loop over the items of a thread"},
          .node = {describe(out), "\ndepends on ", describe(scan.out)},
          .expected = {"a loop of its own over the items: threads combine what they have before"},
          .found = {"both in the loop over ", items.front()->promoted->to_string()},
          .fix = {"inline left of the items; bind the axis to threads before inline_most"},
      });
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> find_scan_loops(
    const Kernel& kernel, const ScanOp& scan, const LoopNest& nest, ScanLoops& result) {
  const IterDomain* axis =
      TensorDomain::no_reductions(scan.out->maybe_root()).at(static_cast<size_t>(scan.dim));
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  const LoopNest loops = loops_over(exact, axis, nest);
  if (loops.empty()) {
    return refuse_scan(
        scan, {"A scan needs loops of its own over its axis ", axis->to_string()},
        {"loops over the axis, or over the parts of its splits"}, {"the loops ", text_of(nest)});
  }
  for (Loop* loop : loops) {
    if (loop->index->is_const()) {
      continue; // runs once
    }
    if (is_loop(loop->parallel_type)) {
      (result.thread == nullptr ? result.rounds : result.items).push_back(loop);
    } else if (!is_block_dim(loop->parallel_type)) {
      return refuse_scan(
          scan,
          {"The axis ", axis->to_string(), " of a scan cannot be bound to ", loop->parallel_type},
          {"serial loops over the axis, and at most one thread dimension"},
          {loop->promoted->to_string()});
    } else if (result.thread != nullptr) {
      return refuse_scan(
          scan, {"The axis ", axis->to_string(), " of a scan is bound to two thread dimensions"},
          {"serial loops over the axis, and at most one thread dimension"},
          {result.thread->promoted->to_string(), " and ", loop->promoted->to_string()});
    } else {
      result.thread = loop;
    }
  }
  NVF_RETURN_REFUSAL(find_wrong_order(scan, axis, loops, nest));
  return find_early_reader(kernel, scan, axis, result.items);
}

} // namespace nvfuser
