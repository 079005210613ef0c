// Tensors of fp4, which holds two elements in a byte. The caller's framework counts pairs: its
// tensors have dtype Float4_e2m1fn_x2 and half the size along the innermost dimension in memory.
// The core counts elements: dtype Float4_e2m1fn, twice that size, strides of elements.
#pragma once

#include <list>
#include <span>
#include <vector>

#include "ir/fusion.h"
#include "runtime/buffer_layout.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

/// The type of tensors of the framework that hold elements of `dtype`: Index is Int there, fp4
/// comes in pairs.
[[nodiscard]] DataType framework_dtype(DataType dtype);

/// Arguments in elements; those that are no pairs are as they were given. Valid as long as both
/// this and the given ones.
class UnpairedArguments {
 public:
  /// Throws UserError for tensors whose pairs are not neighbours. Requires: check_arguments.
  UnpairedArguments(const Fusion& fusion, std::span<const Argument> args);
  UnpairedArguments(const UnpairedArguments&) = delete;
  UnpairedArguments& operator=(const UnpairedArguments&) = delete;

  [[nodiscard]] std::span<const Argument> args() const {
    return args_;
  }

 private:
  /// Sizes, then strides.
  const std::vector<int64_t>& unpaired_layout(
      size_t i, const TensorView* input, const TensorArg& tensor);

  std::span<const Argument> args_;
  std::vector<Argument> unpaired_; // empty if there are no pairs
  std::list<std::vector<int64_t>> layouts_;
};

/// The layout of a new fp4 tensor as the framework sees it: sizes, strides and elements count
/// pairs. The memory axes, which are the kernel's, count elements as before. Throws UserError if
/// the innermost size is odd.
void pair_up(const TensorView* tensor, BufferLayout& layout);

} // namespace nvfuser
