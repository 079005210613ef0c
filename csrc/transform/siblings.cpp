#include "transform/siblings.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/errors.h"
#include "graph/op_semantics.h"
#include "ir/all_nodes.h"
#include "ir/replay_domain.h"
#include "transform/replay.h"

namespace nvfuser {
namespace {

/// How far a tensor is scheduled: transforms of its axes, then whether they are reordered.
/// Transforms that it was made with count like any other, so that the present state alone decides.
std::pair<size_t, bool> progress_of(const TensorView* tv) {
  return {exprs_between(tv->logical(), tv->loop()).size(), tv->loop() != tv->logical()};
}

/// Whether `loop` is what `tv` has, or what it becomes by further transforms.
bool leads_to(const TensorView* tv, const IterDomains& loop) {
  if (std::is_permutation(loop.begin(), loop.end(), tv->loop().begin(), tv->loop().end())) {
    return tv->loop() == loop || tv->loop() == tv->logical();
  }
  std::unordered_set<const Val*> passed(loop.begin(), loop.end());
  for (const Expr* expr : exprs_between(tv->logical(), loop)) {
    passed.insert(expr->inputs().begin(), expr->inputs().end());
  }
  return std::all_of(tv->loop().begin(), tv->loop().end(), [&](const IterDomain* id) {
    return passed.contains(id);
  });
}

Refusal differ(const TensorView* reference, const TensorView* sibling) {
  return refuse(
      {.headline = "Results of one expression are scheduled differently",
       .node = describe(sibling),
       .expected = {"the loop domain of ", describe(reference)},
       .found = describe(sibling),
       .fix = "transform one of them only, or all of them alike"});
}

/// The results of `expr`, if they share their loops.
std::vector<TensorView*> results_in_one_nest(const Expr* expr) {
  std::vector<TensorView*> results;
  for (Val* output : expr->outputs()) {
    if (output->is_tensor()) {
      results.push_back(static_cast<TensorView*>(output));
    }
  }
  const bool is_nest = results.size() > 1 && semantics_of(*expr).has_like_results;
  return is_nest ? results : std::vector<TensorView*>{};
}

/// The result whose schedule the others take: the first of those that are scheduled furthest.
TensorView* reference_of(const std::vector<TensorView*>& results) {
  return *std::max_element(
      results.begin(), results.end(),
      [](const TensorView* a, const TensorView* b) { return progress_of(a) < progress_of(b); });
}

/// The loop domain of `sibling` when it is scheduled like `like`, into `loop`.
std::optional<Refusal> find_aligned_loop(
    const TensorView* like, const TensorView* sibling, IterDomains& loop) {
  transform::Replay replay;
  NVF_RETURN_REFUSAL(
      transform::try_replay(like, like->loop(), sibling, transform::Direction::ToSibling, replay));
  const bool is_complete =
      replay.loop.size() == like->loop().size() && replay.position == like->ndims();
  if (!is_complete || !leads_to(sibling, replay.loop)) {
    return differ(like, sibling);
  }
  loop = replay.loop;
  return std::nullopt;
}

/// Per loop axis the one that is bound, of any of the results, into `bound`; nullptr: none is.
std::optional<Refusal> find_common_bindings(
    const std::vector<TensorView*>& results,
    const std::vector<IterDomains>& loops,
    std::vector<const IterDomain*>& bound) {
  bound.assign(loops.front().size(), nullptr);
  for (size_t r = 0; r < results.size(); ++r) {
    for (size_t i = 0; i < bound.size(); ++i) {
      const IterDomain* axis = loops[r][i];
      if (!axis->is_parallelized()) {
        continue;
      }
      if (bound[i] == nullptr) {
        bound[i] = axis;
      } else if (bound[i]->parallel_type() != axis->parallel_type()) {
        return differ(results.front(), results[r]);
      }
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Refusal> try_align_siblings(Expr* expr, const TensorView* like) {
  const std::vector<TensorView*> results = results_in_one_nest(expr);
  if (results.empty()) {
    return std::nullopt;
  }
  // First everything that can fail, then the changes.
  like = like == nullptr ? reference_of(results) : like;
  std::vector<IterDomains> loops;
  int64_t produce_position = 0;
  for (const TensorView* tv : results) {
    loops.push_back(tv->loop());
    if (tv != like) {
      NVF_RETURN_REFUSAL(find_aligned_loop(like, tv, loops.back()));
    }
    produce_position = std::max(produce_position, tv->max_producer_position());
  }
  std::vector<const IterDomain*> bound;
  NVF_RETURN_REFUSAL(find_common_bindings(results, loops, bound));
  for (size_t r = 0; r < results.size(); ++r) {
    results[r]->domain()->assign_loop(loops[r]);
    results[r]->assign_max_producer_position(produce_position);
    for (size_t i = 0; i < bound.size(); ++i) {
      if (bound[i] != nullptr && !loops[r][i]->is_parallelized()) {
        copy_binding(bound[i], loops[r][i]);
      }
    }
  }
  return std::nullopt;
}

const TensorView* furthest_sibling(const Expr* expr) {
  const std::vector<TensorView*> results = results_in_one_nest(expr);
  return results.empty() ? nullptr : reference_of(results);
}

void align_siblings(Expr* expr, const TensorView* like) {
  check(try_align_siblings(expr, like));
}

std::optional<Refusal> try_align_siblings(Fusion& fusion) {
  for (Expr* expr : fusion.exprs()) {
    NVF_RETURN_REFUSAL(try_align_siblings(expr));
  }
  return std::nullopt;
}

} // namespace nvfuser
