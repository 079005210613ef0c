#include "transform/siblings.h"

#include <algorithm>

#include "base/errors.h"
#include "ir/all_nodes.h"
#include "ir/replay_domain.h"
#include "transform/replay.h"

namespace nvfuser {
namespace {

bool is_transformed(const TensorView* tv) {
  return tv->loop() != tv->domain()->initial_loop();
}

bool is_bound(const TensorView* tv) {
  return std::any_of(tv->loop().begin(), tv->loop().end(), [](const IterDomain* id) {
    return id->is_parallelized();
  });
}

[[noreturn]] void refuse(const TensorView* reference, const TensorView* sibling) {
  throw UserError(
      {.headline = "Results of one expression are scheduled differently",
       .node = describe(sibling),
       .expected = {"the loop domain of ", describe(reference)},
       .found = describe(sibling),
       .fix = "transform one of them only, or all of them alike"});
}

/// The binding of an axis goes to its partner where that has none.
void exchange_binding(IterDomain* a, IterDomain* b) {
  if (a->is_parallelized() && !b->is_parallelized()) {
    copy_binding(a, b);
  } else if (b->is_parallelized() && !a->is_parallelized()) {
    copy_binding(b, a);
  }
}

} // namespace

void align_siblings(Expr* expr) {
  std::vector<TensorView*> results;
  for (Val* output : expr->outputs()) {
    if (output->is_tensor()) {
      results.push_back(static_cast<TensorView*>(output));
    }
  }
  // Results of other ranks share no loops: such an expression (attention) is evaluated.
  const auto rank = [](const TensorView* tv) { return tv->logical().size(); };
  const bool is_alike = std::all_of(results.begin(), results.end(), [&](const TensorView* tv) {
    return rank(tv) == rank(results.front());
  });
  if (results.size() < 2 || !is_alike) {
    return;
  }
  auto reference = std::find_if(results.begin(), results.end(), is_transformed);
  if (reference == results.end()) {
    reference = std::find_if(results.begin(), results.end(), is_bound);
  }
  TensorView* like = reference == results.end() ? results.front() : *reference;

  // First everything that can fail, then the changes.
  std::vector<std::pair<TensorView*, schedule::Replay>> replays;
  for (TensorView* sibling : results) {
    if (sibling == like) {
      continue;
    }
    schedule::Replay replay =
        schedule::replay(like, like->loop(), sibling, schedule::Direction::ToSibling);
    const bool is_complete =
        replay.loop.size() == like->loop().size() && replay.position == like->ndims();
    if (!is_complete || (is_transformed(sibling) && replay.loop != sibling->loop())) {
      refuse(like, sibling);
    }
    replays.emplace_back(sibling, std::move(replay));
  }
  int64_t produce_position = 0;
  for (const TensorView* tv : results) {
    produce_position = std::max(produce_position, tv->max_producer_position());
  }
  for (auto& [sibling, replay] : replays) {
    if (replay.loop != sibling->loop()) {
      sibling->domain()->assign_loop(replay.loop);
    }
    for (size_t i = 0; i < replay.loop.size(); ++i) {
      exchange_binding(like->loop()[i], sibling->loop()[i]);
      if (like->loop()[i]->parallel_type() != sibling->loop()[i]->parallel_type()) {
        refuse(like, sibling);
      }
    }
    sibling->assign_max_producer_position(produce_position);
  }
  like->assign_max_producer_position(produce_position);
}

void align_siblings(Fusion& fusion) {
  for (Expr* expr : fusion.exprs()) {
    align_siblings(expr);
  }
}

} // namespace nvfuser
