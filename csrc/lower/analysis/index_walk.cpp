#include "lower/analysis/index_walk.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "eval/simplify.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/scalar.h"
#include "ir/shifted_axes.h"

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
    Kernel& kernel, IndexSimplifier& simplifier, const LoopNest& nest, const TensorView* tensor)
    : kernel_(kernel),
      simplifier_(simplifier),
      exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
      nest_(nest),
      way_(std::make_shared<Way>()) {
  const std::vector<Expr*> exprs = tensor->domain()->all_exprs();
  if (std::none_of(exprs.begin(), exprs.end(), [](const Expr* e) { return e->is_a<Resize>(); })) {
    return;
  }
  const std::vector<Expr*> shaping = exprs_between(tensor->maybe_root(), tensor->logical());
  for (Expr* expr : exprs) {
    const auto* resize = expr->as<Resize>();
    // A shift is of the loops, also where a factored reduction has it before its logical domain.
    const bool is_shaping = std::find(shaping.begin(), shaping.end(), expr) != shaping.end() &&
                            (resize == nullptr || !is_shift(*resize));
    if (resize != nullptr && !is_shaping) {
      resizes_.insert(exact_.disjoint_expr_sets().representative(expr));
    }
  }
}

IndexWalk::IndexWalk(
    Kernel& kernel,
    IndexSimplifier& simplifier,
    const LoopNest& nest,
    const TensorView* tensor,
    const Loop* zero_lane,
    Shared& shared)
    : IndexWalk(kernel, simplifier, nest, tensor) {
  if (!resizes_.empty()) { // they are the tensor's own
    learn_loops(zero_lane);
    return;
  }
  std::vector<const Val*> key;
  for (const Loop* loop : nest) {
    key.push_back(loop->promoted);
    key.push_back(loop == zero_lane ? kernel.zero() : loop->index);
  }
  std::shared_ptr<Way>& way = shared.ways_[key];
  if (way == nullptr) {
    learn_loops(zero_lane);
    way = way_;
  }
  way_ = way;
  is_shared_ = true;
}

void IndexWalk::learn_loops(const Loop* zero_lane) {
  std::unordered_map<int64_t, const Loop*> loop_of_class;
  for (const Loop* loop : nest_) {
    const auto [other, is_new] = loop_of_class.try_emplace(exact_.group(loop->promoted), loop);
    if (!is_new && !loop->is_broadcast()) {
      kernel_.note_refusal(refuse({
          .headline = {"Two loops around one statement run over the same axis"},
          .node = {describe(loop->tensors.front())},
          .expected = {"axes that can be told apart"},
          .found =
              {other->second->promoted->to_string(), " and ", loop->promoted->to_string(),
               ", which some expression maps to each other"},
          .fix = {"copy one operand (ops.set) into a kernel of its own: a tensor and its transpose "
                  "cannot share this one"},
      }));
    }
    learn(loop->promoted, loop == zero_lane ? kernel_.zero() : loop->index);
  }
}

IndexWalk IndexWalk::at(const TensorView* operand, const Positions& positions) const {
  IndexWalk walk(kernel_, simplifier_, nest_, operand);
  for (const auto& [id, index] : positions) {
    walk.learn(id, index);
  }
  const auto shared = static_cast<size_t>(kernel_.loop_model->shared_depth(operand));
  for (size_t i = 0; i < shared; ++i) {
    walk.learn(nest_.at(i)->promoted, nest_[i]->index);
  }
  return walk;
}

bool IndexWalk::is_walked(const Resize* resize) const {
  Expr* expr = const_cast<Resize*>(resize); // the sets' element type
  return resizes_.count(exact_.disjoint_expr_sets().representative(expr)) != 0;
}

bool IndexWalk::is_known(const Val* id) const {
  return way_->known.contains(exact_.group(static_cast<const IterDomain*>(id)));
}

void IndexWalk::learn(const Val* id, Val* index) {
  reach(id, std::nullopt, index);
}

void IndexWalk::reach(const Val* id, std::optional<size_t> step, Val* index) {
  const int64_t group = exact_.group(static_cast<const IterDomain*>(id));
  if (way_->known.try_emplace(group, Known{index, step, std::nullopt}).second) {
    way_->reached.push_back(group);
  }
}

bool IndexWalk::finds(const Val* id) {
  while (!is_known(id) && way_->next < way_->reached.size()) {
    take_steps();
  }
  return is_known(id);
}

void IndexWalk::take_steps() {
  const int64_t group = way_->reached[way_->next++];
  // Toward the logical domains first: a walk from loops is mostly backward.
  for (const Expr* expr : exact_.definitions(group)) {
    try_step(expr);
  }
  for (const Expr* expr : exact_.uses(group)) {
    try_step(expr);
  }
}

void IndexWalk::try_step(const Expr* expr) {
  const auto all_known = [&](const std::vector<Val*>& ids) {
    return std::all_of(ids.begin(), ids.end(), [&](const Val* id) { return is_known(id); });
  };
  const bool knows_inputs = all_known(expr->inputs());
  if (knows_inputs == all_known(expr->outputs()) || expr->is_a<Swizzle1D>()) {
    return; // a Swizzle1D depends on the device: it has no kernel form
  }
  if (const auto* resize = expr->as<Resize>()) {
    if (!is_walked(resize)) {
      return;
    }
    has_resized_ = true;
  }
  const size_t step = way_->steps.size();
  way_->steps.push_back({expr, /*is_backward=*/!knows_inputs});
  for (const Val* id : knows_inputs ? expr->outputs() : expr->inputs()) {
    reach(id, step, nullptr);
  }
}

Val* IndexWalk::known_index(const IterDomain* id) {
  const Known& known = way_->known.at(exact_.group(id));
  if (known.index == nullptr) {
    take_step(*known.step);
  }
  return known.index;
}

/// The first axis passes through. One that repeats elements moves none.
template <typename Set>
void IndexWalk::take_swizzle(const Swizzle& swizzle, bool is_backward, const Set& set) {
  using namespace scalar;
  Val* x = known_index(is_backward ? swizzle.out_x : swizzle.in_x);
  Val* y = known_index(is_backward ? swizzle.out_y : swizzle.in_y);
  Val* extent = swizzle.in_y->extent();
  Val* moved = y;
  if (is_broadcast_for_all(swizzle.in_x)) {
    // The tensor has one position there. Where threads or blocks count along it, its writers would
    // move elements and its readers, which do not know that loop, would not.
  } else if (swizzle.swizzle_type == SwizzleType::XOR) {
    moved = bitwise_xor(y, x);
  } else if (swizzle.swizzle_type == SwizzleType::CyclicShift) {
    moved = mod(is_backward ? sub(add(y, extent), x) : add(y, x), extent);
  }
  set(is_backward ? swizzle.in_x : swizzle.out_x, x);
  set(is_backward ? swizzle.in_y : swizzle.out_y, moved);
}

bool IndexWalk::is_broadcast_for_all(const IterDomain* id) const {
  return std::ranges::all_of(exact_.members(exact_.group(id)), [](const IterDomain* member) {
    return member->is_broadcast();
  });
}

void IndexWalk::take_step(size_t step) {
  const auto [expr, is_backward] = way_->steps[step];
  const auto set = [&](const IterDomain* id, Val* index) {
    Known& known = way_->known.at(exact_.group(id));
    if (known.index == nullptr && known.step == step) {
      known.index = index;
    }
  };
  using namespace scalar;
  if (const auto* split = expr->as<Split>()) {
    Val* inner_extent = split->inner->extent();
    if (!is_backward) {
      set(split->outer, div(known_index(split->in), inner_extent));
      set(split->inner, mod(known_index(split->in), inner_extent));
    } else if (split->in->extent()->is_one() && is_broadcast_for_all(split->in)) {
      // Rounded up, its parts run further than its one position, and no test keeps them out.
      set(split->in, kernel_.zero());
    } else {
      set(split->in, add(mul(known_index(split->outer), inner_extent), known_index(split->inner)));
    }
  } else if (const auto* merge = expr->as<Merge>()) {
    Val* inner_extent = merge->inner->extent();
    if (!is_backward) {
      set(merge->out, add(mul(known_index(merge->outer), inner_extent), known_index(merge->inner)));
    } else if (merge->outer->extent()->is_one()) {
      // Holes of the product are holes of its only real part: no modulo hides them.
      set(merge->inner, known_index(merge->out));
      set(merge->outer, kernel_.zero());
    } else {
      set(merge->outer, div(known_index(merge->out), inner_extent));
      set(merge->inner, mod(known_index(merge->out), inner_extent));
    }
  } else if (const auto* swizzle = expr->as<Swizzle>()) {
    take_swizzle(*swizzle, is_backward, set);
  } else if (const auto* resize = expr->as<Resize>()) {
    if (is_backward) {
      set(resize->in, sub(known_index(resize->out), resize->left));
    } else {
      set(resize->out, add(known_index(resize->in), resize->left));
    }
  }
}

void IndexWalk::assume_unreached_ones(IterDomain* target) {
  if (is_shared_) { // other statements may assume something else
    way_ = std::make_shared<Way>(*way_);
    is_shared_ = false;
  }
  std::vector<IterDomain*> stack{target};
  std::unordered_set<const IterDomain*> visited;
  while (!stack.empty()) {
    IterDomain* id = stack.back();
    stack.pop_back();
    if (!visited.insert(id).second || is_known(id)) {
      continue;
    }
    if (id->is_broadcast() || id->extent()->is_one()) {
      learn(id, kernel_.zero());
    } else if (id->definition() != nullptr) {
      for (Val* in : id->definition()->inputs()) {
        stack.push_back(as_id(in));
      }
    }
  }
}

Val* IndexWalk::index_of(IterDomain* id, const TensorView* tensor) {
  if (!finds(id)) {
    assume_unreached_ones(id);
  }
  if (!finds(id)) {
    kernel_.note_refusal(refuse({
        .headline = {"No index: the loops around a statement do not lead to an axis of a tensor"},
        .node = {describe(tensor)},
        .expected = {"a path of transforms from ", list_text(nest_), " to ", id->to_string()},
        .found = {"none"},
        .fix =
            {"give the tensor and its consumer the same transforms (schedule.transform_like), or "
             "keep it in memory that all threads see"},
    }));
    return kernel_.zero();
  }
  return simplifier_.simplify(known_index(id));
}

IterDomain* IndexWalk::product_of(const IterDomain* outer, const IterDomain* inner) {
  if (!finds(outer) || !finds(inner)) {
    return nullptr;
  }
  const std::optional<size_t> step = way_->known.at(exact_.group(outer)).step;
  if (!step.has_value() || way_->known.at(exact_.group(inner)).step != step ||
      !way_->steps[*step].is_backward) {
    return nullptr;
  }
  const auto* merge = way_->steps[*step].expr->as<Merge>();
  return merge != nullptr && exact_.are_mapped(merge->outer, outer) &&
                 exact_.are_mapped(merge->inner, inner)
             ? merge->out
             : nullptr;
}

IterDomain* IndexWalk::cheapest_to_test(IterDomain* id) {
  for (;;) {
    const std::optional<size_t> step =
        finds(id) ? way_->known.at(exact_.group(id)).step : std::optional<size_t>();
    const auto* merge = step.has_value() ? way_->steps[*step].expr->as<Merge>() : nullptr;
    const bool is_outer = merge != nullptr && exact_.are_mapped(merge->outer, id) &&
                          !exact_.are_mapped(merge->inner, id);
    if (!is_outer || merge->outer->extent()->is_one()) {
      return id;
    }
    id = merge->out;
  }
}

std::optional<RangeTest> IndexWalk::test_of(IterDomain* id) {
  RangeTest test{simplifier_.simplify(known_index(id)), id->extent()};
  test.index = simplifier_.part_that_decides(test.index, test.extent);
  test.may_be_negative = has_resized_ && !simplifier_.prove_nonnegative(test.index);
  if (!test.may_be_negative && simplifier_.prove_lt(test.index, test.extent)) {
    return std::nullopt;
  }
  return test;
}

bool IndexWalk::may_quotients_mislead() const {
  return has_resized_ || kernel_.options().has_empty_parallel_axis;
}

bool IndexWalk::covers_way(const IterDomain* id) {
  Known& known = way_->known.at(exact_.group(id)); // stays where it is
  if (!known.step.has_value()) {
    return true;
  }
  if (!known.covers_way.has_value()) {
    known.covers_way = covers_step(id, Step(way_->steps[*known.step]));
  }
  return *known.covers_way;
}

/// Whether no axis on the way through `step` is a hole while `id` is in range.
bool IndexWalk::covers_step(const IterDomain* id, const Step& step) {
  const auto holds = [&](IterDomain* operand) { // what is tested next, and all on the way to it
    return (operand->is_broadcast() || !test_of(operand).has_value()) && covers_way(operand);
  };
  if (const auto* split = step.expr->as<Split>()) {
    return step.is_backward ? covers_way(split->outer) && holds(split->inner) : holds(split->in);
  }
  if (const auto* merge = step.expr->as<Merge>()) {
    if (!step.is_backward) {
      return holds(merge->inner) && covers_way(merge->outer);
    }
    const bool is_covered = !may_quotients_mislead() && (exact_.are_mapped(merge->outer, id) ||
                                                         merge->outer->extent()->is_one());
    return is_covered ? covers_way(merge->out) : holds(merge->out);
  }
  if (const auto* swizzle = step.expr->as<Swizzle>()) {
    return step.is_backward ? holds(swizzle->out_x) && holds(swizzle->out_y)
                            : holds(swizzle->in_x) && holds(swizzle->in_y);
  }
  return false; // a resize
}

/// Collects the tests: what a test on one side of a transform implies on the other needs none of
/// its own. Goes from the axes back to the loops, along the steps that led to axes in range.
class IndexWalk::HoleTests {
 public:
  HoleTests(IndexWalk& walk, const TensorView* tensor) : walk_(walk), tensor_(tensor) {}

  /// Test an axis, or the cheaper one that stands for it.
  void require(IterDomain* id) {
    test(walk_.cheapest_to_test(id));
    imply(id);
  }

  /// Look at the step that led to an axis, in range or not.
  void look_at(const IterDomain* id) {
    const auto known = walk_.way_->known.find(walk_.exact_.group(id));
    if (known != walk_.way_->known.end() && known->second.step.has_value()) {
      steps_.insert(*known->second.step);
    }
  }

  void follow_all() {
    while (!steps_.empty()) {
      const size_t last = *steps_.rbegin();
      steps_.erase(last);
      follow(Step(walk_.way_->steps[last])); // a copy: a test may add steps
    }
  }

  [[nodiscard]] std::vector<RangeTest> take() {
    return std::move(tests_);
  }

 private:
  void follow(const Step& step) {
    const bool is_backward = step.is_backward;
    if (const auto* split = step.expr->as<Split>()) {
      follow_split(*split, is_backward);
    } else if (const auto* merge = step.expr->as<Merge>()) {
      follow_merge(*merge, is_backward);
    } else if (const auto* swizzle = step.expr->as<Swizzle>()) {
      follow_swizzle(*swizzle, is_backward);
    } else if (const auto* resize = step.expr->as<Resize>()) {
      follow_resize(*resize, is_backward);
    }
  }

  [[nodiscard]] bool is_in_range(const IterDomain* id) const {
    return in_range_.contains(walk_.exact_.group(id));
  }
  bool imply(const IterDomain* id) {
    const bool is_new = in_range_.insert(walk_.exact_.group(id)).second;
    if (is_new) {
      look_at(id);
    }
    return is_new;
  }

  void test(IterDomain* id, bool is_resized = false) {
    if (!imply(id) || (id->is_broadcast() && !is_resized)) {
      return;
    }
    static_cast<void>(walk_.index_of(id, tensor_)); // or why there is none
    if (walk_.kernel_.is_refused()) {
      return;
    }
    const std::optional<RangeTest> needed = walk_.test_of(id);
    const bool is_repeated =
        needed.has_value() &&
        std::ranges::any_of(tests_, [&](const RangeTest& other) { return other.same_as(*needed); });
    if (needed.has_value() && !is_repeated) {
      tests_.push_back(*needed);
    }
  }

  void follow_split(const Split& split, bool is_backward) {
    if (is_backward && is_in_range(split.in)) {
      imply(split.outer);
      test(split.inner);
    } else if (!is_backward && (is_in_range(split.outer) || is_in_range(split.inner))) {
      test(split.in);
    }
  }

  void follow_merge(const Merge& merge, bool is_backward) {
    if (!is_backward) {
      if (is_in_range(merge.out)) {
        test(merge.inner);
        imply(merge.outer);
      }
      return;
    }
    const bool has_outer = is_in_range(merge.outer);
    const bool has_inner = is_in_range(merge.inner);
    if (walk_.may_quotients_mislead() && (has_outer || has_inner)) {
      test(merge.out);
    } else if (has_outer || (has_inner && merge.outer->extent()->is_one())) {
      imply(merge.out);
    } else if (has_inner) {
      test(merge.out);
    }
  }

  /// A permutation of a full square: both sides are in range together.
  void follow_swizzle(const Swizzle& swizzle, bool is_backward) {
    const bool any = is_backward ? is_in_range(swizzle.in_x) || is_in_range(swizzle.in_y)
                                 : is_in_range(swizzle.out_x) || is_in_range(swizzle.out_y);
    if (any) {
      test(is_backward ? swizzle.out_x : swizzle.in_x);
      test(is_backward ? swizzle.out_y : swizzle.in_y);
    }
  }

  void follow_resize(const Resize& resize, bool is_backward) {
    if (is_backward && resize.in->is_broadcast() && !resize.out->is_broadcast()) {
      test(resize.in, /*is_resized=*/true); // its one element has holes around it
    }
    const bool only_grows = walk_.simplifier_.prove_nonnegative(resize.left) &&
                            walk_.simplifier_.prove_nonnegative(resize.right);
    if (is_backward && only_grows && is_in_range(resize.in)) {
      imply(resize.out);
    } else if (is_in_range(is_backward ? resize.in : resize.out)) {
      test(is_backward ? resize.out : resize.in);
    }
  }

  IndexWalk& walk_;
  const TensorView* tensor_;
  std::unordered_set<int64_t> in_range_; // classes that are tested, or implied by a test
  std::set<size_t> steps_;               // to look at, the last one first
  std::vector<RangeTest> tests_;
};

std::vector<RangeTest> IndexWalk::hole_tests(const IterDomains& ids, const TensorView* tensor) {
  HoleTests tests(*this, tensor);
  for (const Expr* resize : resizes_) { // they decide what else has to be tested
    for (const Val* id : {resize->inputs().front(), resize->outputs().front()}) {
      if (finds(id)) {
        tests.look_at(static_cast<const IterDomain*>(id));
      }
    }
  }
  bool are_covered = resizes_.empty();
  for (IterDomain* id : ids) {
    if (!id->is_broadcast()) {
      tests.require(id);
      are_covered = are_covered && is_known(id) && covers_way(id);
    }
  }
  if (!are_covered) {
    tests.follow_all();
  }
  return tests.take();
}

} // namespace nvfuser
