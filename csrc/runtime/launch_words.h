// Launch words: the numbers of a launch, in one order, as the inputs of scalar programs.
//
//   for each input of the fusion   a scalar: its value
//                                  a tensor: its logical sizes, then the strides of its memory axes
//   the sizes of grid and block    unknown as long as nothing says what they are
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/launch_params.h"
#include "eval/scalar_program.h"
#include "lower/kernel.h"
#include "runtime/buffer_layout.h"
#include "runtime/dlpack_tensor.h"

namespace nvfuser {

class LaunchWords {
 public:
  /// The words of launches of a fusion, or of a kernel made from it.
  explicit LaunchWords(const Fusion& fusion);

  [[nodiscard]] size_t count() const {
    return dims_ + kHardwareTypes.size();
  }
  /// Where the size of grid or block along a hardware index stands.
  [[nodiscard]] size_t dim(ParallelType type) const {
    return dims_ + hardware_type_index(type);
  }
  /// "T0.size[1]", "T0.stride[0]", "i2", "blockDim.x"
  [[nodiscard]] std::vector<std::string> names() const;

  /// Fill the words before the dimensions, which stay unknown. Requires: what bind_arguments
  /// returned for `args`.
  void fill(
      std::span<const Argument> args,
      std::span<const MemoryLayout> layouts,
      std::span<ScalarRegister> words) const;
  /// A builder of programs over these words, whose expressions are those of `kernel`.
  [[nodiscard]] ScalarProgramBuilder builder(const Kernel& kernel) const;

 private:
  struct Input {
    std::string name;
    DataType dtype = DataType::Int;
    bool is_tensor = false;
    size_t rank = 0;     // logical dimensions
    size_t num_axes = 0; // of the memory
  };
  std::vector<Input> inputs_;
  size_t dims_ = 0;
};

/// "blockDim.x": the name under which sizes of a kernel refer to the launched size.
[[nodiscard]] std::string dimension_name(ParallelType type);

} // namespace nvfuser
