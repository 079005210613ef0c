// Any tensor of PyTorch can be a view that negates, and the question costs as much as all else that
// is read of a tensor. The answer is a bit in the object that describes the tensor. The exchange
// table gives addresses in that object: up to rank 5, sizes and strides lie in it.
//
// Where the bit lies is not written here but found by experiment: it is the bit in which a tensor
// and a negated view of it differ, and no other bit of its word, for all ranks and types that are
// tried. Other words may differ by chance, where they have bytes without a meaning. If there is no
// such word, every tensor is asked.
#include "negative_bit.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace nvfuser::python {

namespace nb = nanobind;

namespace {

/// Sizes and strides of so many dimensions lie in the object, in two arrays one behind the other.
constexpr int32_t kMostDims = 5;
constexpr size_t kFirstWord = size_t{2} * kMostDims; // behind both arrays
constexpr size_t kNumWords = 5;                      // to look at, until the bit is found

bool lies_in_object(const DLTensor& tensor) {
  return tensor.ndim <= kMostDims && tensor.strides == tensor.shape + kMostDims;
}

uint64_t word_of(const DLTensor& tensor, size_t word) {
  uint64_t value = 0;
  std::memcpy(&value, tensor.shape + word, sizeof(value));
  return value;
}

/// A tensor, a negated view of it, and the negated view of that, as PyTorch describes them.
struct Probe {
  std::array<nb::object, 3> objects; // keep what is described
  std::array<DLTensor, 3> tensors{};
};

std::vector<Probe> make_probes(const DLPackExchangeAPI& api) {
  const nb::module_ torch = nb::module_::import_("torch");
  std::vector<Probe> probes;
  for (const char* dtype : {"float32", "bfloat16", "int64", "complex64"}) {
    nb::list sizes;
    for (int32_t rank = 0; rank <= kMostDims; ++rank) {
      auto& [objects, tensors] = probes.emplace_back();
      objects[0] = torch.attr("empty")(
          sizes, nb::arg("dtype") = torch.attr(dtype), nb::arg("device") = "cpu");
      objects[1] = torch.attr("_neg_view")(objects[0]);
      objects[2] = torch.attr("_neg_view")(objects[1]);
      for (size_t i = 0; i < tensors.size(); ++i) {
        if (api.dltensor_from_py_object_no_sync(objects[i].ptr(), &tensors[i]) != 0) {
          throw nb::python_error();
        }
      }
      sizes.append(rank + 2);
    }
  }
  return probes;
}

} // namespace

std::optional<bool> NegativeBit::of(const DLTensor& tensor) const {
  if (!lies_in_object(tensor)) {
    return std::nullopt;
  }
  return (word_of(tensor, word_) & bit_) != 0;
}

std::optional<NegativeBit> NegativeBit::try_find(const DLPackExchangeAPI& api) {
  const std::vector<Probe> probes = make_probes(api);
  const auto lie_in_objects = [](const Probe& probe) {
    return std::ranges::all_of(probe.tensors, lies_in_object);
  };
  if (!std::ranges::all_of(probes, lie_in_objects)) {
    return std::nullopt;
  }
  for (size_t word = kFirstWord; word < kFirstWord + kNumWords; ++word) {
    const auto& some = probes.front().tensors;
    const uint64_t bit = word_of(some[1], word) ^ word_of(some[2], word);
    const auto tells = [&](const Probe& probe) {
      const auto& [plain, negated, back] = probe.tensors;
      return (word_of(plain, word) & bit) == 0 && (word_of(back, word) & bit) == 0 &&
             word_of(negated, word) == (word_of(back, word) | bit);
    };
    if (std::has_single_bit(bit) && std::ranges::all_of(probes, tells)) {
      return NegativeBit(word, bit);
    }
  }
  return std::nullopt;
}

std::optional<NegativeBit> NegativeBit::find(const DLPackExchangeAPI& api) {
  try {
    return try_find(api);
  } catch (nb::python_error&) { // what overrides functions of PyTorch may refuse these
    return std::nullopt;
  }
}

} // namespace nvfuser::python
