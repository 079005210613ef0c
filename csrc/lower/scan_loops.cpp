#include "lower/scan_loops.h"

#include <algorithm>

#include "graph/id_model.h"
#include "graph/val_graph.h"

namespace nvfuser {
namespace {

[[noreturn]] void refuse(
    const ScanOp& scan, const Part& headline, const Part& expected, const Part& found) {
  throw UserError({
      .headline = headline,
      .node = {describe(scan.out)},
      .expected = expected,
      .found = found,
      .fix = {"leave the axis of a scan serial, or split it; merge and parallelize the others"},
  });
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

bool is_serial(const Loop& loop) {
  return loop.parallel_type == ParallelType::Serial || loop.parallel_type == ParallelType::Unroll ||
         loop.parallel_type == ParallelType::Unswitch || loop.index->is_const();
}

} // namespace

LoopNest scanned_loops(const Kernel& kernel, const ScanOp& scan, const LoopNest& nest) {
  const IterDomain* axis =
      TensorDomain::no_reductions(scan.out->maybe_root()).at(static_cast<size_t>(scan.dim));
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  LoopNest loops = loops_over(exact, axis, nest);
  if (loops.empty()) {
    refuse(
        scan, {"A scan needs loops of its own over its axis ", axis->to_string()},
        {"loops over the axis, or over the parts of its splits"}, {"the loops ", text_of(nest)});
  }
  for (const Loop* loop : loops) {
    if (!is_serial(*loop)) {
      refuse(
          scan,
          {"The axis ", axis->to_string(), " of a scan cannot be bound to ", loop->parallel_type},
          {"serial loops over the axis: one thread combines all its elements"},
          {loop->promoted->to_string()});
    }
  }
  const auto position = [&](const Loop* loop) {
    return std::find(nest.begin(), nest.end(), loop) - nest.begin();
  };
  const bool is_in_order = std::is_sorted(
      loops.begin(), loops.end(),
      [&](const Loop* a, const Loop* b) { return position(a) < position(b); });
  if (!is_in_order) {
    refuse(
        scan, {"A scan visits its axis ", axis->to_string(), " in increasing order"},
        {"the outer part of every split of it in an outer loop: ", text_of(loops)},
        {"the loops ", text_of(nest)});
  }
  return loops;
}

} // namespace nvfuser
