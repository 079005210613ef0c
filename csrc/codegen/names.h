// KernelNames: what values are called in generated source.
//
// A name consists of a letter and a number, as in the fusion. Where the fusion has no gaps the
// numbers are its own; but they follow from the kernel alone: equal kernels have equal sources,
// whatever else was made beside their fusions, and find each other's machine code.
//
//   tensors   those of the fusion in the order of definition (transform/definition_order.h), then
//             those that lowering made, as they appear
//   scalars   sizes and scalar inputs by the numbers that a fusion of these inputs alone gives
//             them, then what the kernel declares, as it appears
//
// NVFUSER_DISABLE=var_name_remapping: all numbers are those of the kernel IR.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

class KernelNames {
 public:
  explicit KernelNames(const Kernel& kernel);

  /// `T0`, `i3`.
  [[nodiscard]] std::string of(const TensorView* tensor) const;
  [[nodiscard]] std::string of(const Val* scalar) const;
  /// The number in the name of a value that the kernel declares or is given.
  [[nodiscard]] int64_t number_of(const Val* val) const;
  /// An axis as the IR prints it, with the names that its sizes have here.
  [[nodiscard]] std::string axis_text(const IterDomain* axis) const;
  /// `T1, i0 = T2, i4 of the fusion`: names that are others there; empty: none.
  [[nodiscard]] std::string differences() const;

 private:
  void name_tensors();
  void name_inputs();
  void name_declared();

  const Kernel& kernel_;
  const bool renumbers_;
  std::unordered_map<const Val*, int64_t> numbers_;
  /// Values of the fusion with their numbers here: tensors by number, then scalars of inputs.
  std::vector<std::pair<int64_t, const Val*>> of_fusion_;
  int64_t next_tensor_ = 0;
  int64_t next_scalar_ = 0;
};

} // namespace nvfuser
