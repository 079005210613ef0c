#include "ir/iter_domain.h"

#include "base/errors.h"
#include "base/target.h"
#include "ir/rules.h"
#include "ir/scalar.h"

namespace nvfuser {

void IterDomain::parallelize(ParallelType parallel_type) {
  check(find_wrong_parallel_type(this, parallel_type));
  assign_parallel_type(parallel_type);
}

std::optional<Refusal> find_wrong_parallel_type(const IterDomain* axis, ParallelType type) {
  if (type == axis->parallel_type() || !traits_of(type).needs_constant_extent ||
      (axis->start()->is_zero() && axis->extent()->is_const_int())) {
    return std::nullopt;
  }
  const std::string start = axis->start()->to_inline_string();
  const std::string extent = axis->extent()->to_inline_string();
  return refuse(
      {.headline =
           {"Vectorization, unrolling, unswitching and grouping are only supported with start = 0 "
            "and extent as a const int, but got a start of ",
            start, " and extent ", extent, " ."},
       .node = describe(axis),
       .expected = "start 0 and a constant extent",
       .found = {"start ", start, " and extent ", extent},
       .fix = "split the axis by a constant and parallelize the inner part"});
}

Val* IterDomain::stop() const {
  return scalar::sub(spec_.extent, spec_.stop_offset);
}

bool IterDomain::maybe_partial() const {
  return !spec_.start->is_zero() || !spec_.stop_offset->is_zero();
}

std::optional<Refusal> find_wrong_cluster(const IterDomain* axis) {
  if (axis->parallel_type() == ParallelType::BIDx) {
    return std::nullopt;
  }
  return refuse(
      {.headline = "Clusters of blocks are only supported on grid_x",
       .node = describe(axis),
       .expected = {"parallel type ", ParallelType::BIDx},
       .found = {"parallel type ", axis->parallel_type()},
       .fix = "parallelize the axis before clustering it"});
}

void IterDomain::set_clustered_blocks() {
  check(find_wrong_cluster(this));
  spec_.is_clustered = true;
  count_edit();
}

std::optional<Refusal> find_wrong_padding(const IterDomain* axis, std::optional<int64_t> size) {
  if (axis->parallel_type() != ParallelType::TIDx) {
    return refuse(
        {.headline = "Padding to a multiple of a warp is only supported on block_x",
         .node = describe(axis),
         .expected = {"parallel type ", ParallelType::TIDx},
         .found = {"parallel type ", axis->parallel_type()},
         .fix = "parallelize the axis before padding it"});
  }
  if (size.has_value() && (*size <= 0 || *size % Target::cuda().warp_size != 0)) {
    return refuse(
        {.headline = "Padded size must be a positive multiple of a warp",
         .node = describe(axis),
         .expected = {"a multiple of ", Target::cuda().warp_size},
         .found = {"size = ", *size},
         .fix = Part::none()});
  }
  const Val* extent = axis->extent();
  if (size.has_value() && extent->is_const_int() && *size < as_int(extent->value())) {
    return refuse(
        {.headline = "Padded size is smaller than the axis",
         .node = describe(axis),
         .expected = {"at least the extent, ", extent->to_inline_string()},
         .found = {"size = ", *size},
         .fix = "give a larger size, or none: the extent is then rounded up"});
  }
  return std::nullopt;
}

void IterDomain::pad_to_multiple_of_warp(std::optional<int64_t> size) {
  check(find_wrong_padding(this, size));
  spec_.is_padded = true;
  count_edit();
  const Val* extent = spec_.extent;
  if (size.has_value()) {
    spec_.padded_to_size = size;
  } else if (extent->is_const_int()) {
    const int64_t threads = as_int(extent->value());
    spec_.padded_to_size = padded_to_warps(threads);
  }
}

} // namespace nvfuser
