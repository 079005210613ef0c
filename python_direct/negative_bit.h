// Whether PyTorch negates the elements of a tensor when they are read, without a call into PyTorch
// for each tensor of each run.
#pragma once

#include <dlpack.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace nvfuser::python {

/// A bit in the objects that describe tensors of PyTorch.
class NegativeBit {
 public:
  /// Find it by an experiment with new tensors, which `api` describes; no value where it is not
  /// found. Needs the GIL, and that no mode and no transform of PyTorch is active.
  [[nodiscard]] static std::optional<NegativeBit> find(const DLPackExchangeAPI& api);

  /// The answer of `is_neg()` for the tensor that `api` described as `tensor`. No value: the tensor
  /// has to be asked.
  [[nodiscard]] std::optional<bool> of(const DLTensor& tensor) const;

 private:
  NegativeBit(size_t word, uint64_t bit) : word_(word), bit_(bit) {}
  [[nodiscard]] static std::optional<NegativeBit> try_find(const DLPackExchangeAPI& api);

  size_t word_; // counted from the sizes on
  uint64_t bit_;
};

} // namespace nvfuser::python
