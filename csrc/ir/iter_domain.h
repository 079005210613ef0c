// IterDomain: one axis of an iteration space: [start, extent), how it runs, what it is for.
#pragma once

#include <optional>

#include "ir/fields.h"
#include "ir/statement.h"

namespace nvfuser {

/// Everything an IterDomain is made of. Extents and offsets have dtype Index. Fields are named as
/// the methods of IterDomain that give them.
struct IterDomainSpec {
  Val* extent = nullptr;
  Val* start = nullptr;           // nullptr: 0
  Val* stop_offset = nullptr;     // nullptr: 0
  Val* expanded_extent = nullptr; // size seen by users where the memory holds one element
  IterType iter_type = IterType::Iteration;
  ParallelType parallel_type = ParallelType::Serial;
  bool is_rfactor = false; // made by a root-to-logical transform
  bool is_padded = false;  // extent is rounded up to warps when the kernel is launched
  std::optional<int64_t> padded_to_size = std::nullopt;
  bool is_clustered = false;

  static constexpr auto fields() {
    using S = IterDomainSpec;
    return std::tuple{
        attr("start", &S::start, "First index, 0 unless the axis was resized."),
        attr("extent", &S::extent, "Loop size: 1 for a broadcast, even if it is expanded."),
        attr("stop_offset", &S::stop_offset, "Indices at the end that do not run."),
        attr(
            "expanded_extent", &S::expanded_extent,
            "Size a user sees where memory holds one element; None if the axis is not expanded.")
            .or_none(),
        attr("parallel_type", &S::parallel_type, "The parallel type that the axis is bound to."),
        attr("iter_type", &S::iter_type, "The role of the axis."),
        attr(
            "is_rfactor_product", &S::is_rfactor,
            "Whether it was made by a transform between root and logical domain."),
        attr("is_clustered_grid_dim", &S::is_clustered, "Whether its blocks form clusters."),
        attr(
            "has_padding_to_multiple_of_warp", &S::is_padded,
            "Whether its launched size is rounded up to whole warps."),
        attr(
            "maybe_size_after_padding", &S::padded_to_size,
            "The size it is padded to (threads), if it was given."),
    };
  }
};

class IterDomain final : public Val {
 public:
  [[nodiscard]] Val* start() const {
    return spec_.start;
  }
  /// Loop size: 1 for a broadcast, even if it is expanded.
  [[nodiscard]] Val* extent() const {
    return spec_.extent;
  }
  [[nodiscard]] Val* stop_offset() const {
    return spec_.stop_offset;
  }
  /// The end of the indices that run: the extent without the stop offset.
  [[nodiscard]] Val* stop() const;
  [[nodiscard]] bool has_expanded_extent() const {
    return spec_.expanded_extent != nullptr;
  }
  [[nodiscard]] Val* expanded_extent() const {
    return spec_.expanded_extent;
  }
  /// The size a user sees.
  [[nodiscard]] Val* maybe_expanded_extent() const {
    return has_expanded_extent() ? spec_.expanded_extent : spec_.extent;
  }

  [[nodiscard]] ParallelType parallel_type() const {
    return spec_.parallel_type;
  }
  [[nodiscard]] IterType iter_type() const {
    return spec_.iter_type;
  }
  [[nodiscard]] bool is_iteration() const {
    return spec_.iter_type == IterType::Iteration;
  }
  [[nodiscard]] bool is_reduction() const {
    return spec_.iter_type == IterType::Reduction;
  }
  [[nodiscard]] bool is_broadcast() const {
    return spec_.iter_type == IterType::Broadcast;
  }
  /// A broadcast that no size was expanded to.
  [[nodiscard]] bool is_implicit_broadcast() const {
    return is_broadcast() && !has_expanded_extent();
  }
  [[nodiscard]] bool is_gather_scatter() const {
    return spec_.iter_type == IterType::GatherScatter;
  }
  [[nodiscard]] bool is_stride() const {
    return spec_.iter_type == IterType::Stride;
  }
  [[nodiscard]] bool is_vector_component() const {
    return spec_.iter_type == IterType::VectorComponent;
  }
  [[nodiscard]] bool is_symbolic_axis() const {
    return spec_.iter_type == IterType::Symbolic;
  }
  [[nodiscard]] bool is_rfactor_product() const {
    return spec_.is_rfactor;
  }
  [[nodiscard]] bool is_parallelized() const {
    return spec_.parallel_type != ParallelType::Serial;
  }
  [[nodiscard]] bool is_grid_dim() const {
    return nvfuser::is_grid_dim(spec_.parallel_type);
  }
  [[nodiscard]] bool is_block_dim() const {
    return nvfuser::is_block_dim(spec_.parallel_type);
  }
  [[nodiscard]] bool is_thread() const {
    return nvfuser::is_hardware_index(spec_.parallel_type);
  }
  [[nodiscard]] bool is_device_dim() const {
    return nvfuser::is_device_dim(spec_.parallel_type);
  }
  [[nodiscard]] bool is_stream() const {
    return spec_.parallel_type == ParallelType::Stream;
  }
  [[nodiscard]] bool is_mma() const {
    return spec_.parallel_type == ParallelType::Mma;
  }
  [[nodiscard]] bool is_bulk() const {
    return spec_.parallel_type == ParallelType::Bulk;
  }
  /// Whether fewer indices run than the extent says.
  [[nodiscard]] bool maybe_partial() const;
  [[nodiscard]] bool is_clustered_grid_dim() const {
    return spec_.is_clustered;
  }
  [[nodiscard]] bool has_padding_to_multiple_of_warp() const {
    return spec_.is_padded;
  }
  [[nodiscard]] std::optional<int64_t> maybe_size_after_padding() const {
    return spec_.padded_to_size;
  }
  [[nodiscard]] const IterDomainSpec& spec() const {
    return spec_;
  }

  // -- editing without checks, for the lower floor --
  void assign_extents(Val* extent, Val* expanded_extent) {
    spec_.extent = extent;
    spec_.expanded_extent = expanded_extent;
    count_edit_of_axes();
  }
  void assign_iter_type(IterType iter_type) {
    spec_.iter_type = iter_type;
    count_edit_of_axes();
  }
  void assign_parallel_type(ParallelType parallel_type) {
    spec_.parallel_type = parallel_type;
    spec_.is_clustered = spec_.is_clustered && parallel_type == ParallelType::BIDx;
    count_edit();
  }

  /// Bind the axis. Unrolled, vectorized and grouped axes start at 0 and have a constant extent.
  void parallelize(ParallelType parallel_type);
  /// Round the launched size up to whole warps (block_x only), or to `size` threads.
  void pad_to_multiple_of_warp(std::optional<int64_t> size = std::nullopt);
  /// Let the blocks of a grid_x axis form clusters.
  void set_clustered_blocks();

 private:
  friend class Fusion;
  friend class Cloner;
  explicit IterDomain(const IterDomainSpec& spec)
      : Val(ValType::IterDomain, DataType::Index), spec_(spec) {}
  IterDomainSpec spec_;
};

} // namespace nvfuser
