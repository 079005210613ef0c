#include "ops/reshape_walk.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "base/errors.h"

namespace nvfuser::ops {

namespace {

/// "split(2, 4)"
std::string call_text(const char* name, std::initializer_list<int64_t> args) {
  std::string out = std::string(name) + "(";
  for (const int64_t arg : args) {
    out += (out.back() == '(' ? "" : ", ") + std::to_string(arg);
  }
  return out + ")";
}

std::string step_text(const ReshapeStep& step) {
  switch (step.kind) {
    case ReshapeStep::Kind::Merge: return call_text("merge", {step.position});
    case ReshapeStep::Kind::OuterSplit: return call_text("split", {step.position, step.factor});
    case ReshapeStep::Kind::InnerSplit:
      return call_text("inner_split", {step.position, step.factor});
  }
  throw InternalError(__FILE__, __LINE__, "known kind", {"ReshapeStep::Kind out of range"});
}

/// The letter of a rule in the documented table.
char letter_of(WalkRule rule) {
  return rule == WalkRule::Leftover ? '-' : static_cast<char>('A' + static_cast<int>(rule));
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (const int64_t size : shape) {
    out += (out.size() == 1 ? "" : ", ") + std::to_string(size);
  }
  return out + "]";
}

std::vector<SizeProduct> as_products(const std::vector<int64_t>& sizes) {
  std::vector<SizeProduct> products;
  for (const int64_t size : sizes) {
    products.push_back({.constant = size, .unknowns = {}});
  }
  return products;
}

/// `new_shape` with the size that its -1 stands for, where that divides.
std::vector<int64_t> without_inferred(std::vector<int64_t> new_shape, int64_t count) {
  const auto inferred = std::find(new_shape.begin(), new_shape.end(), -1);
  if (inferred != new_shape.end()) {
    *inferred = 1;
    const int64_t others = product_of(as_products(new_shape)).constant;
    *inferred = others != 0 && count % others == 0 ? count / others : -1;
  }
  return new_shape;
}

/// Reads both shapes from left to right. In each step the first rule that applies is taken.
class Walker {
 public:
  Walker(
      const std::vector<WalkDim>& old_dims,
      const std::vector<SizeProduct>& new_sizes,
      std::vector<WalkRow>* rows)
      : old_(old_dims), new_(new_sizes), rows_(rows) {
    take_next(0);
  }

  std::optional<ReshapeWalk> run() {
    while (old_at_ < old_.size() || new_at_ < new_.size()) {
      const std::optional<WalkRule> rule = next_rule();
      if (!rule.has_value()) {
        return std::nullopt;
      }
      if (rows_ != nullptr) {
        rows_->push_back(
            {.rule = *rule,
             .old_dim = static_cast<int64_t>(old_at_),
             .position = position_,
             .new_dim = static_cast<int64_t>(new_at_),
             .in_hand = in_hand_,
             .effect = {}});
      }
      apply(*rule);
    }
    return std::move(walk_);
  }

 private:
  /// The first row of the table that applies; none: unknown sizes leave open which one.
  [[nodiscard]] std::optional<WalkRule> next_rule() const {
    if (new_at_ == new_.size()) {
      return WalkRule::Leftover; // only ones are left
    }
    const SizeProduct& wanted = new_[new_at_];
    if (must_absorb_next()) {
      return WalkRule::Absorb;
    }
    if (!used_up() && in_hand_ == wanted) {
      return WalkRule::Close;
    }
    if (wanted.is_constant(1)) {
      return WalkRule::NewOne;
    }
    if (used_up()) {
      return std::nullopt;
    }
    if (in_hand_.is_constant(1) && is_removable_) {
      return WalkRule::Drop;
    }
    if (has_next() && old_[old_at_ + 1].is_removable) {
      return WalkRule::DropNext;
    }
    if (const std::optional<SizeProduct> rest = divide(in_hand_, wanted)) {
      const bool has_factor = wanted.is_constant() || rest->is_constant();
      return has_factor ? std::optional(WalkRule::Split) : std::nullopt;
    }
    return has_next() ? std::optional(WalkRule::Merge) : std::nullopt;
  }

  void apply(WalkRule rule) {
    switch (rule) {
      case WalkRule::Absorb:
      case WalkRule::Merge: merge(); return;
      case WalkRule::Close:
        ++position_;
        ++new_at_;
        take_next(old_at_ + 1);
        return;
      case WalkRule::NewOne:
        walk_.broadcasts.push_back(static_cast<int64_t>(new_at_));
        note(call_text("broadcast", {static_cast<int64_t>(new_at_++)}));
        return;
      case WalkRule::DropNext: squeeze(++old_at_); return;
      case WalkRule::Drop:
      case WalkRule::Leftover:
        squeeze(old_at_);
        take_next(old_at_ + 1);
        return;
      case WalkRule::Split: split(); return;
    }
  }

  bool must_absorb_next() const {
    if (!has_next() || old_[old_at_ + 1].is_removable || !old_[old_at_ + 1].size.is_constant(1)) {
      return false;
    }
    return new_at_ + 1 >= new_.size() || !new_[new_at_ + 1].is_constant(1);
  }

  void merge() {
    add({.kind = ReshapeStep::Kind::Merge, .position = position_});
    in_hand_ = in_hand_ * old_[++old_at_].size;
    is_removable_ = false;
  }

  /// The left part is what is wanted. A split needs a constant: outside, or, where only the rest is
  /// one, inside.
  void split() {
    const SizeProduct& wanted = new_[new_at_];
    const SizeProduct rest = divide(in_hand_, wanted).value();
    const bool is_outer = wanted.is_constant();
    add({
        .kind = is_outer ? ReshapeStep::Kind::OuterSplit : ReshapeStep::Kind::InnerSplit,
        .position = position_,
        .factor = is_outer ? wanted.constant : rest.constant,
    });
    in_hand_ = rest;
    ++position_;
    ++new_at_;
  }

  void squeeze(size_t old_dim) {
    walk_.squeezes.push_back(static_cast<int64_t>(old_dim));
    note(call_text("squeeze", {static_cast<int64_t>(old_dim)}));
  }

  void add(const ReshapeStep& step) {
    walk_.transforms.push_back(step);
    note(step_text(step));
  }

  void note(std::string effect) {
    if (rows_ != nullptr) {
      rows_->back().effect = std::move(effect);
    }
  }

  void take_next(size_t old_at) {
    old_at_ = old_at;
    in_hand_ = used_up() ? SizeProduct{.constant = 0, .unknowns = {}} : old_[old_at_].size;
    is_removable_ = !used_up() && old_[old_at_].is_removable;
  }
  bool used_up() const {
    return old_at_ >= old_.size();
  }
  bool has_next() const {
    return old_at_ + 1 < old_.size();
  }

  const std::vector<WalkDim>& old_;
  const std::vector<SizeProduct>& new_;
  std::vector<WalkRow>* rows_; // nullptr: the steps are not written down
  size_t old_at_ = 0;          // operand dimension being consumed
  size_t new_at_ = 0;          // result dimension being produced
  int64_t position_ = 0;       // of the dimension in hand in the working domain
  SizeProduct in_hand_;        // number of elements in hand
  bool is_removable_ = false;  // of what is in hand; dimensions dropped behind it do not count
  ReshapeWalk walk_;
};

} // namespace

SizeProduct operator*(const SizeProduct& a, const SizeProduct& b) {
  SizeProduct result;
  NVF_USER_CHECK(
      !__builtin_mul_overflow(a.constant, b.constant, &result.constant),
      "The number of elements does not fit into 64 bits: ", a.constant, " * ", b.constant);
  std::merge(
      a.unknowns.begin(), a.unknowns.end(), b.unknowns.begin(), b.unknowns.end(),
      std::back_inserter(result.unknowns));
  return result;
}

SizeProduct product_of(const std::vector<SizeProduct>& sizes) {
  SizeProduct result;
  for (const SizeProduct& size : sizes) {
    result = result * size;
  }
  return result;
}

std::optional<SizeProduct> divide(const SizeProduct& a, const SizeProduct& b) {
  const bool is_exact =
      b.constant != 0 && a.constant % b.constant == 0 &&
      std::includes(a.unknowns.begin(), a.unknowns.end(), b.unknowns.begin(), b.unknowns.end());
  if (!is_exact) {
    return std::nullopt;
  }
  SizeProduct result{.constant = a.constant / b.constant, .unknowns = {}};
  std::set_difference(
      a.unknowns.begin(), a.unknowns.end(), b.unknowns.begin(), b.unknowns.end(),
      std::back_inserter(result.unknowns));
  return result;
}

std::string to_string(const ReshapeWalk& walk) {
  std::string out;
  const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
  for (const int64_t dim : walk.squeezes) {
    add(call_text("squeeze", {dim}));
  }
  for (const ReshapeStep& step : walk.transforms) {
    add(step_text(step));
  }
  for (const int64_t dim : walk.broadcasts) {
    add(call_text("broadcast", {dim}));
  }
  return out.empty() ? "identity" : out;
}

std::vector<std::string> texts_of(const std::vector<ReshapeStep>& steps) {
  std::vector<std::string> texts;
  std::ranges::transform(steps, std::back_inserter(texts), step_text);
  return texts;
}

ReshapeStep read_step(const std::string& text) {
  const auto number_after = [&](char mark) {
    int64_t number = 0;
    const size_t at = text.find(mark);
    if (at != std::string::npos) {
      std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
    }
    return number;
  };
  using Kind = ReshapeStep::Kind;
  for (const Kind kind : {Kind::Merge, Kind::OuterSplit, Kind::InnerSplit}) {
    const int64_t factor = kind == Kind::Merge ? 0 : number_after(' ');
    const ReshapeStep step{.kind = kind, .position = number_after('('), .factor = factor};
    if (step_text(step) == text) {
      return step;
    }
  }
  throw UserError(
      {.headline = {"\"", text, "\" is no step of a reshape"},
       .node = {"reshape"},
       .expected = {"\"merge(position)\", \"split(position, factor)\" or "
                    "\"inner_split(position, factor)\""},
       .found = {"\"", text, "\""},
       .fix = {"take the steps from explain_reshape(old_shape, new_shape).transforms"}});
}

std::optional<int64_t> rank_after(int64_t rank, const std::vector<ReshapeStep>& steps) {
  for (const ReshapeStep& step : steps) {
    const bool is_merge = step.kind == ReshapeStep::Kind::Merge;
    const bool is_there = step.position >= 0 && step.position + (is_merge ? 1 : 0) < rank;
    if (!is_there || (!is_merge && step.factor < 1)) {
      return std::nullopt;
    }
    rank += is_merge ? -1 : 1;
  }
  return rank;
}

std::optional<ReshapeWalk> walk_reshape(
    const std::vector<WalkDim>& old_dims,
    const std::vector<SizeProduct>& new_sizes,
    std::vector<WalkRow>* rows) {
  return Walker(old_dims, new_sizes, rows).run();
}

ExplainedWalk explain_walk(
    const std::vector<int64_t>& old_shape,
    const std::vector<int64_t>& new_shape,
    const std::vector<bool>& is_removable) {
  NVF_USER_CHECK(
      is_removable.size() == old_shape.size(), "Expected a flag for each of ", old_shape.size(),
      " dimensions of the operand, but got ", is_removable.size());
  const std::vector<SizeProduct> old_sizes = as_products(old_shape);
  const int64_t count = product_of(old_sizes).constant;
  const std::vector<int64_t> wanted = without_inferred(new_shape, count);
  const bool is_shape =
      std::all_of(wanted.begin(), wanted.end(), [](int64_t size) { return size > 0; });
  const bool is_operand =
      std::all_of(old_shape.begin(), old_shape.end(), [](int64_t size) { return size > 0; });
  if (!is_operand || !is_shape || product_of(as_products(wanted)).constant != count) {
    throw UserError({
        .headline = "There is no walk between these shapes",
        .node = {shape_text(old_shape), " to ", shape_text(new_shape)},
        .expected = {"positive sizes with the same product; one new size may be -1"},
        .found = {count, " elements to arrange as ", shape_text(wanted)},
        .fix = {"a tensor without elements has nothing to rearrange: its reshape is a new tensor"},
    });
  }
  std::vector<WalkDim> old_dims;
  for (size_t i = 0; i < old_shape.size(); ++i) {
    old_dims.push_back(
        {.size = old_sizes[i], .is_removable = old_shape[i] == 1 && is_removable[i]});
  }
  ExplainedWalk result;
  const std::optional<ReshapeWalk> walk = walk_reshape(old_dims, as_products(wanted), &result.rows);
  NVF_INVARIANT(walk.has_value(), "constant shapes have a walk: ", shape_text(old_shape));
  result.walk = *walk;
  return result;
}

std::string ExplainedWalk::to_string() const {
  std::string out = "| i | p | j | cur | row | effect |\n";
  for (const WalkRow& row : rows) {
    for (const int64_t number : {row.old_dim, row.position, row.new_dim, row.in_hand.constant}) {
      out += "| " + std::to_string(number) + " ";
    }
    out += std::string("| ") + letter_of(row.rule) + " | " + row.effect +
           (row.effect.empty() ? "|\n" : " |\n");
  }
  return out + ops::to_string(walk);
}

} // namespace nvfuser::ops
