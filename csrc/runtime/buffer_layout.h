// How a tensor in global memory lies: sizes a user sees, and strides of both its logical dimensions
// and the axes that address its memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "eval/evaluator.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// Axes that address the memory of a global tensor, outermost first: its allocation domain without
/// reductions and device axes. `alloc_stride` of a kernel parameter has one entry per axis.
[[nodiscard]] IterDomains memory_axes(const TensorView* tensor);
/// Logical dimensions a user sees: without reductions.
[[nodiscard]] IterDomains logical_axes(const TensorView* tensor);

/// Sizes and strides (elements) of the memory axes.
struct MemoryLayout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

/// The memory axes of a tensor that exists with `sizes` and `strides` of its logical dimensions.
/// Throws UserError where the allocation domain does not fit them.
[[nodiscard]] MemoryLayout layout_of_existing(
    const TensorView* tensor,
    std::span<const int64_t> sizes,
    std::span<const int64_t> strides,
    ExpressionEvaluator& evaluator);

/// A tensor to be made.
struct BufferLayout {
  std::vector<int64_t> sizes;   // logical
  std::vector<int64_t> strides; // logical; 0 in expanded dimensions
  MemoryLayout memory;
  int64_t elements = 1;     // of the storage, holes of padded allocation domains included
  bool is_row_major = true; // compact, and in the order of the logical dimensions
};

/// The compact layout of `tensor`: memory axes contiguous in their order. Throws UserError where
/// sizes are not known, or where no strides show the memory as the logical dimensions.
[[nodiscard]] BufferLayout layout_of_new(const TensorView* tensor, ExpressionEvaluator& evaluator);

// ---- Layouts without tensors --------------------------------------------------------------------

/// How the layout of a new tensor follows from numbers, apart from the tensor. Axes have numbers;
/// sizes are positions in a list of numbers that comes with each run.
struct LayoutRecipe {
  using Size = uint32_t;
  struct Dim { // logical
    uint32_t axis = 0;
    Size size = 0;
    bool is_expanded = false;
    bool is_device_dim = false;
  };
  struct MemoryAxis {
    uint32_t axis = 0;
    std::optional<Size> size; // none: one element, which is broadcast
    bool is_expanded = false;
  };
  /// An axis between memory and logical dimensions.
  struct InnerAxis {
    uint32_t axis = 0;
    Size extent = 0;
  };
  /// From memory axes to logical dimensions, a step for each transform.
  struct Step {
    enum class Kind : uint8_t { Split, Merge, Unfit };
    Kind kind = Kind::Unfit;
    bool is_broadcast = false;      // of Split: no stride reaches what pads the axis
    std::array<uint32_t, 3> axes{}; // of Split: in, outer, inner; of Merge: out, outer, inner
  };
  uint32_t num_axes = 0;
  std::vector<Dim> dims;
  std::vector<MemoryAxis> memory; // outermost first
  std::vector<InnerAxis> inner;
  std::vector<Step> steps; // the last transform first

  /// All sizes that it reads.
  [[nodiscard]] std::vector<Size> sizes_read() const;
};

/// The recipe for `tensor`; `position_of` says where in the list a size will stand.
[[nodiscard]] LayoutRecipe layout_recipe(
    const TensorView* tensor, const std::function<LayoutRecipe::Size(const Val*)>& position_of);

/// Why there is no layout.
struct LayoutFault {
  enum class Kind : uint8_t { NegativeSize, TooLarge, Unfit };
  Kind kind = Kind::Unfit;
  size_t position = 0;  // of the dimension that is negative, of the step that does not fit
  int64_t size = 0;     // of a tensor that is too large: one axis has it,
  int64_t inner = 0;    // and inner ones have these elements
  const char* why = ""; // of a step that does not fit
};
/// The layout that a recipe makes of a list of sizes.
[[nodiscard]] std::variant<BufferLayout, LayoutFault> make_layout(
    const LayoutRecipe& recipe, std::span<const int64_t> sizes);

} // namespace nvfuser
