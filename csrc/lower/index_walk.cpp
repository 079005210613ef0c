#include "lower/index_walk.h"

#include <algorithm>
#include <unordered_set>

#include "eval/simplify.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/scalar.h"

namespace nvfuser {
namespace {

IterDomain* as_id(Val* val) {
  return static_cast<IterDomain*>(val);
}

std::string list_text(const LoopNest& nest) {
  std::string text;
  for (const Loop* loop : nest) {
    text += (text.empty() ? "" : ", ") + loop->promoted->to_string();
  }
  return "[" + text + "]";
}

} // namespace

IndexWalk::IndexWalk(
    Kernel& kernel,
    IndexSimplifier& simplifier,
    const LoopNest& nest,
    const TensorView* tensor,
    std::nullptr_t)
    : kernel_(kernel),
      simplifier_(simplifier),
      exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
      nest_(nest) {
  const std::vector<Expr*> exprs = tensor->domain()->all_exprs();
  if (std::none_of(exprs.begin(), exprs.end(), [](const Expr* e) { return e->is_a<Resize>(); })) {
    return;
  }
  const std::vector<Expr*> shaping = exprs_between(tensor->maybe_root(), tensor->logical());
  for (Expr* expr : exprs) {
    const bool is_shaping = std::find(shaping.begin(), shaping.end(), expr) != shaping.end();
    if (expr->is_a<Resize>() && !is_shaping) {
      resizes_.insert(exact_.disjoint_expr_sets().representative(expr));
    }
  }
}

IndexWalk::IndexWalk(
    Kernel& kernel,
    IndexSimplifier& simplifier,
    const LoopNest& nest,
    const TensorView* tensor,
    const Loop* zero_lane)
    : IndexWalk(kernel, simplifier, nest, tensor, nullptr) {
  std::unordered_map<int64_t, const Loop*> loop_of_class;
  for (const Loop* loop : nest) {
    const auto [other, is_new] = loop_of_class.try_emplace(exact_.group(loop->promoted), loop);
    if (!is_new && !loop->is_broadcast()) {
      throw UserError({
          .headline = {"Two loops around one statement run over the same axis"},
          .node = {describe(loop->tensors.front())},
          .expected = {"axes that can be told apart"},
          .found =
              {other->second->promoted->to_string(), " and ", loop->promoted->to_string(),
               ", which some expression maps to each other"},
          .fix = {"copy one operand (ops.set) into a kernel of its own: a tensor and its transpose "
                  "cannot share this one"},
      });
    }
    learn(loop->promoted, loop == zero_lane ? kernel.zero() : loop->index);
  }
  explore();
}

IndexWalk IndexWalk::at(const TensorView* operand, const Positions& positions) const {
  IndexWalk walk(kernel_, simplifier_, nest_, operand, nullptr);
  for (const auto& [id, index] : positions) {
    walk.learn(id, index);
  }
  const auto shared = static_cast<size_t>(kernel_.loop_model->shared_depth(operand));
  for (size_t i = 0; i < shared; ++i) {
    walk.learn(nest_.at(i)->promoted, nest_[i]->index);
  }
  walk.explore();
  return walk;
}

bool IndexWalk::is_walked(const Resize* resize) const {
  Expr* expr = const_cast<Resize*>(resize); // the sets' element type
  return resizes_.count(exact_.disjoint_expr_sets().representative(expr)) != 0;
}

bool IndexWalk::is_known(const Val* id) const {
  return known_.count(exact_.group(static_cast<const IterDomain*>(id))) != 0;
}

void IndexWalk::learn(const Val* id, Val* index) {
  const int64_t group = exact_.group(static_cast<const IterDomain*>(id));
  if (known_.try_emplace(group, index).second) {
    frontier_.push_back(group);
    if (stepping_ != nullptr) {
      made_by_[group] = stepping_;
    }
  }
}

void IndexWalk::explore() {
  while (!frontier_.empty()) {
    const int64_t group = frontier_.front();
    frontier_.erase(frontier_.begin());
    // Toward the logical domains first: a walk from loops is mostly backward.
    for (const Expr* expr : exact_.definitions(group)) {
      try_step(expr);
    }
    for (const Expr* expr : exact_.uses(group)) {
      try_step(expr);
    }
  }
}

void IndexWalk::try_step(const Expr* expr) {
  const auto all_known = [&](const std::vector<Val*>& ids) {
    return std::all_of(ids.begin(), ids.end(), [&](const Val* id) { return is_known(id); });
  };
  const bool backward = all_known(expr->outputs()) && !all_known(expr->inputs());
  const bool forward = all_known(expr->inputs()) && !all_known(expr->outputs());
  if (!backward && !forward) {
    return;
  }
  const auto at = [&](const IterDomain* id) { return known_.at(exact_.group(id)); };
  using namespace scalar;
  stepping_ = expr;
  if (const auto* split = expr->as<Split>()) {
    Val* inner_extent = split->inner->extent();
    if (backward) {
      learn(split->in, add(mul(at(split->outer), inner_extent), at(split->inner)));
    } else {
      learn(split->outer, div(at(split->in), inner_extent));
      learn(split->inner, mod(at(split->in), inner_extent));
    }
  } else if (const auto* merge = expr->as<Merge>()) {
    Val* inner_extent = merge->inner->extent();
    if (!backward) {
      learn(merge->out, add(mul(at(merge->outer), inner_extent), at(merge->inner)));
    } else if (merge->outer->extent()->is_one()) {
      // Holes of the product are holes of its only real part: no modulo hides them.
      learn(merge->inner, at(merge->out));
      learn(merge->outer, kernel_.zero());
    } else {
      learn(merge->outer, div(at(merge->out), inner_extent));
      learn(merge->inner, mod(at(merge->out), inner_extent));
    }
  } else if (const auto* swizzle = expr->as<Swizzle>()) {
    // The first axis passes through.
    Val* x = backward ? at(swizzle->out_x) : at(swizzle->in_x);
    Val* y = backward ? at(swizzle->out_y) : at(swizzle->in_y);
    Val* extent = swizzle->in_y->extent();
    Val* moved = y;
    if (swizzle->swizzle_type == SwizzleType::XOR) {
      moved = bitwise_xor(y, x);
    } else if (swizzle->swizzle_type == SwizzleType::CyclicShift) {
      moved = mod(backward ? sub(add(y, extent), x) : add(y, x), extent);
    }
    learn(backward ? swizzle->in_x : swizzle->out_x, x);
    learn(backward ? swizzle->in_y : swizzle->out_y, moved);
  } else if (const auto* resize = expr->as<Resize>()) {
    if (!is_walked(resize)) {
      stepping_ = nullptr;
      return;
    }
    has_resized_ = true;
    if (backward) {
      learn(resize->in, sub(at(resize->out), resize->left));
    } else {
      learn(resize->out, add(at(resize->in), resize->left));
    }
  }
  stepping_ = nullptr;
  steps_.push_back({expr, backward});
}

void IndexWalk::assume_unreached_broadcasts(IterDomain* target) {
  std::vector<IterDomain*> stack{target};
  std::unordered_set<const IterDomain*> visited;
  while (!stack.empty()) {
    IterDomain* id = stack.back();
    stack.pop_back();
    if (!visited.insert(id).second || is_known(id)) {
      continue;
    }
    if (id->is_broadcast()) {
      learn(id, kernel_.zero());
    } else if (id->definition() != nullptr) {
      for (Val* in : id->definition()->inputs()) {
        stack.push_back(as_id(in));
      }
    }
  }
  explore();
}

Val* IndexWalk::index_of(IterDomain* id, const TensorView* tensor) {
  if (!is_known(id)) {
    assume_unreached_broadcasts(id);
  }
  if (!is_known(id)) {
    throw UserError({
        .headline = {"No index: the loops around a statement do not lead to an axis of a tensor"},
        .node = {describe(tensor)},
        .expected = {"a path of transforms from ", list_text(nest_), " to ", id->to_string()},
        .found = {"none"},
        .fix =
            {"give the tensor and its consumer the same transforms (schedule.transform_like), or "
             "keep it in memory that all threads see"},
    });
  }
  return simplifier_.simplify(known_.at(exact_.group(id)));
}

IterDomain* IndexWalk::cheapest_to_test(IterDomain* id) const {
  for (;;) {
    const auto step = made_by_.find(exact_.group(id));
    const auto* merge = step == made_by_.end() ? nullptr : step->second->as<Merge>();
    const bool is_outer = merge != nullptr && exact_.are_mapped(merge->outer, id) &&
                          !exact_.are_mapped(merge->inner, id);
    if (!is_outer || merge->outer->extent()->is_one()) {
      return id;
    }
    id = merge->out;
  }
}

std::vector<RangeTest> IndexWalk::hole_tests(const IterDomains& ids, const TensorView* tensor) {
  std::unordered_set<int64_t> in_range; // classes that are tested, or implied by a test
  std::vector<RangeTest> tests;
  const auto test = [&](IterDomain* id, bool is_resized = false) {
    const int64_t group = exact_.group(id);
    if (!in_range.insert(group).second || (id->is_broadcast() && !is_resized)) {
      return;
    }
    RangeTest needed{index_of(id, tensor), id->extent()};
    needed.may_be_negative = has_resized_ && !simplifier_.prove_nonnegative(needed.index);
    if (!needed.may_be_negative && simplifier_.prove_lt(needed.index, needed.extent)) {
      return;
    }
    const bool is_repeated = std::any_of(
        tests.begin(), tests.end(), [&](const RangeTest& other) { return other.same_as(needed); });
    if (!is_repeated) {
      tests.push_back(needed);
    }
  };
  const auto ranged = [&](const IterDomain* id) { return in_range.count(exact_.group(id)) != 0; };
  for (IterDomain* id : ids) {
    if (!id->is_broadcast()) {
      test(cheapest_to_test(id));
      in_range.insert(exact_.group(id));
    }
  }
  // From the logical axes back to the loops: what a test on one side of a transform implies on the
  // other needs none of its own.
  for (size_t i = steps_.size(); i-- > 0;) {
    const auto [expr, is_backward] = steps_[i];
    if (const auto* split = expr->as<Split>()) {
      if (is_backward && ranged(split->in)) {
        in_range.insert(exact_.group(split->outer));
        test(split->inner);
      } else if (!is_backward && (ranged(split->outer) || ranged(split->inner))) {
        test(split->in);
      }
    } else if (const auto* merge = expr->as<Merge>()) {
      if (is_backward && has_resized_ && (ranged(merge->outer) || ranged(merge->inner))) {
        test(merge->out); // -1 / n is 0: a quotient in range says nothing (hard case 4.24)
      } else if (is_backward && ranged(merge->outer)) {
        in_range.insert(exact_.group(merge->out));
      } else if (is_backward && ranged(merge->inner)) {
        if (merge->outer->extent()->is_one()) {
          in_range.insert(exact_.group(merge->out));
        } else {
          test(merge->out);
        }
      } else if (!is_backward && ranged(merge->out)) {
        test(merge->inner);
        in_range.insert(exact_.group(merge->outer));
      }
    } else if (const auto* swizzle = expr->as<Swizzle>()) {
      // A permutation of a full square: both sides are in range together.
      const bool any = is_backward ? ranged(swizzle->in_x) || ranged(swizzle->in_y)
                                   : ranged(swizzle->out_x) || ranged(swizzle->out_y);
      if (any) {
        test(is_backward ? swizzle->out_x : swizzle->in_x);
        test(is_backward ? swizzle->out_y : swizzle->in_y);
      }
    } else if (const auto* resize = expr->as<Resize>()) {
      if (is_backward && resize->in->is_broadcast()) {
        test(resize->in, /*is_resized=*/true); // its one element has holes around it
      }
      const bool only_grows = simplifier_.prove_nonnegative(resize->left) &&
                              simplifier_.prove_nonnegative(resize->right);
      if (is_backward && only_grows && ranged(resize->in)) {
        in_range.insert(exact_.group(resize->out));
      } else if (is_backward ? ranged(resize->in) : ranged(resize->out)) {
        test(is_backward ? resize->out : resize->in);
      }
    }
  }
  return tests;
}

} // namespace nvfuser
