#include "transform/sizes_by_operands.h"

#include <optional>

#include "ir/all_nodes.h"
#include "ir/sampled_sizes.h"
#include "ir/scalar.h"
#include "ir/substitute_scalars.h"

namespace nvfuser {
namespace {

class SizesByOperands {
 public:
  SizesByOperands(Fusion& fusion, const std::vector<TensorView*>& made)
      : fusion_(fusion), made_(made) {}

  void run() {
    for_each_other_size([&](const IterDomain* axis, Val* size) { replace(axis->extent(), size); });
    // Transforms whose axes had one size may make different ones, each replaced for all.
    for_each_other_size(
        [](IterDomain* axis, Val* size) { axis->assign_extents(size, axis->expanded_extent()); });
  }

 private:
  /// `fn` for each axis of another size than its operands give, with the size that they give.
  template <typename Fn>
  void for_each_other_size(const Fn& fn) {
    for (const TensorView* tensor : made_) {
      if (!tensor->has_root()) {
        continue;
      }
      for (const Expr* transform : exprs_between(tensor->root(), tensor->logical())) {
        IterDomain* axis = axis_with_size(*transform);
        const bool is_open = axis != nullptr && !axis->extent()->is_const();
        if (is_open && samples_.of(axis->extent()) != sample_by_operands(*transform)) {
          fn(axis, size_by_operands(*transform));
        }
      }
    }
  }

  /// The result whose size follows from that of an operand; nullptr: there is none.
  static IterDomain* axis_with_size(const Expr& transform) {
    if (const auto* resize = transform.as<Resize>()) {
      return resize->out;
    }
    if (const auto* merge = transform.as<Merge>()) {
      return merge->out;
    }
    const auto* split = transform.as<Split>();
    return split == nullptr ? nullptr : split->inner_split ? split->outer : split->inner;
  }

  static Val* size_by_operands(const Expr& transform) {
    if (const auto* resize = transform.as<Resize>()) {
      return scalar::add(
          scalar::add(resize->in->maybe_expanded_extent(), resize->left), resize->right);
    }
    if (const auto* merge = transform.as<Merge>()) {
      return scalar::mul(merge->outer->extent(), merge->inner->extent());
    }
    const auto* split = transform.as<Split>();
    return scalar::ceil_div(split->in->extent(), split->factor);
  }

  /// As a number, without making values.
  std::optional<int64_t> sample_by_operands(const Expr& transform) {
    const auto known = [&](const Val* size) { return samples_.of(size).value_or(0); };
    if (const auto* resize = transform.as<Resize>()) {
      return known(resize->in->maybe_expanded_extent()) + known(resize->left) +
             known(resize->right);
    }
    if (const auto* merge = transform.as<Merge>()) {
      return known(merge->outer->extent()) * known(merge->inner->extent());
    }
    const auto* split = transform.as<Split>();
    const int64_t factor = known(split->factor);
    return factor == 0 ? std::nullopt
                       : std::optional((known(split->in->extent()) + factor - 1) / factor);
  }

  /// Also where other axes have the same size.
  void replace(const Val* size, Val* with) {
    ScalarSubstitution substitution(fusion_);
    for (const TensorView* tensor : made_) {
      for (const IterDomain* axis : tensor->domain()->all_ids()) {
        if (axis->extent()->same_as(size)) {
          substitution.replace(axis->extent(), with);
        }
      }
    }
    substitution.apply(made_);
  }

  Fusion& fusion_;
  const std::vector<TensorView*>& made_;
  SampledSizes samples_;
};

} // namespace

void compute_sizes_by_operands(Fusion& fusion, const std::vector<TensorView*>& tensors) {
  SizesByOperands(fusion, tensors).run();
}

} // namespace nvfuser
