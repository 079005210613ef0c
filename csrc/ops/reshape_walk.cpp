#include "ops/reshape_walk.h"

#include <algorithm>

#include "base/errors.h"

namespace nvfuser::ops {

namespace {

/// Reads both shapes from left to right. The first rule that applies is taken, in the order of the
/// code.
class Walker {
 public:
  Walker(const std::vector<WalkDim>& old_dims, const std::vector<SizeProduct>& new_sizes)
      : old_(old_dims), new_(new_sizes) {
    take_next(0);
  }

  std::optional<ReshapeWalk> run() {
    while (old_at_ < old_.size() || new_at_ < new_.size()) {
      if (new_at_ == new_.size()) {
        drop(); // only ones are left
      } else if (!step()) {
        return std::nullopt;
      }
    }
    return std::move(walk_);
  }

 private:
  /// One row of the table. False: no row applies for all values of the unknowns.
  bool step() {
    const SizeProduct& wanted = new_[new_at_];
    if (must_absorb_next()) { // A
      merge();
      return true;
    }
    if (!used_up() && in_hand_ == wanted) { // B close
      ++position_;
      ++new_at_;
      take_next(old_at_ + 1);
      return true;
    }
    if (wanted.is_constant(1)) { // C new 1
      walk_.broadcasts.push_back(static_cast<int64_t>(new_at_++));
      return true;
    }
    if (used_up()) {
      return false;
    }
    if (in_hand_.is_constant(1) && is_removable_) { // D drop
      drop();
      return true;
    }
    if (has_next() && old_[old_at_ + 1].is_removable) { // E drop next
      walk_.squeezes.push_back(static_cast<int64_t>(++old_at_));
      return true;
    }
    if (const std::optional<SizeProduct> rest = divide(in_hand_, wanted)) { // F split
      return split(wanted, *rest);
    }
    if (!has_next()) {
      return false;
    }
    merge(); // G merge
    return true;
  }

  bool must_absorb_next() const {
    if (!has_next() || old_[old_at_ + 1].is_removable || !old_[old_at_ + 1].size.is_constant(1)) {
      return false;
    }
    return new_at_ + 1 >= new_.size() || !new_[new_at_ + 1].is_constant(1);
  }

  void merge() {
    walk_.transforms.push_back({.kind = ReshapeStep::Kind::Merge, .position = position_});
    in_hand_ = in_hand_ * old_[++old_at_].size;
    is_removable_ = false;
  }

  /// The left part is `wanted`. A split needs a constant: outside, or, where only the rest is one,
  /// inside.
  bool split(const SizeProduct& wanted, const SizeProduct& rest) {
    if (!wanted.is_constant() && !rest.is_constant()) {
      return false;
    }
    const bool is_outer = wanted.is_constant();
    walk_.transforms.push_back({
        .kind = is_outer ? ReshapeStep::Kind::OuterSplit : ReshapeStep::Kind::InnerSplit,
        .position = position_,
        .factor = is_outer ? wanted.constant : rest.constant,
    });
    in_hand_ = rest;
    ++position_;
    ++new_at_;
    return true;
  }

  void drop() {
    walk_.squeezes.push_back(static_cast<int64_t>(old_at_));
    take_next(old_at_ + 1);
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
  size_t old_at_ = 0;         // operand dimension being consumed
  size_t new_at_ = 0;         // result dimension being produced
  int64_t position_ = 0;      // of the dimension in hand in the working domain
  SizeProduct in_hand_;       // number of elements in hand
  bool is_removable_ = false; // of what is in hand; dimensions dropped behind it do not count
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

std::optional<ReshapeWalk> walk_reshape(
    const std::vector<WalkDim>& old_dims, const std::vector<SizeProduct>& new_sizes) {
  return Walker(old_dims, new_sizes).run();
}

} // namespace nvfuser::ops
