#include "runtime/tensor_map.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace nvfuser {
namespace {

constexpr size_t kMostDims = 5;
constexpr int64_t kStrideBytes = 16; // strides are multiples of it

// Values of the driver's interface.
enum Element : int { kBytes1 = 0, kBytes2 = 1, kBytes4 = 2, kBytes8 = 4 }; // unsigned integers
enum Swizzle : int { kNone = 0, kBytes32 = 1, kBytes64 = 2, kBytes128 = 3 };
constexpr int kNotInterleaved = 0;
constexpr int kPromoteTo128Bytes = 2; // of the second-level cache: what is read there at once
constexpr int kFillWithZeros = 0;

/// Bits are copied as they are, so any type of the size does.
Element element_of(int64_t bytes) {
  switch (bytes) {
    case 1: return kBytes1;
    case 2: return kBytes2;
    case 4: return kBytes4;
    default: return kBytes8;
  }
}

Swizzle swizzle_of(int64_t bytes) {
  switch (bytes) {
    case 32: return kBytes32;
    case 64: return kBytes64;
    case 128: return kBytes128;
    default: return kNone;
  }
}

} // namespace

std::variant<CUtensorMap, Refusal> try_encode_tensor_map(
    const CudaDriver& driver,
    const LaunchRecipe::TensorMap& recipe,
    std::span<const ScalarRegister> registers) {
  NVF_INVARIANT(
      !recipe.dims.empty() && recipe.dims.size() <= kMostDims, "a tensor map has 1 to 5 axes");
  std::array<uint64_t, kMostDims> extents{};
  std::array<uint64_t, kMostDims> byte_strides{}; // of all axes but the first
  std::array<unsigned, kMostDims> box{};
  std::array<unsigned, kMostDims> element_strides{};
  for (size_t i = 0; i < recipe.dims.size(); ++i) {
    const LaunchRecipe::TensorMap::Dim& dim = recipe.dims[i];
    const int64_t extent = registers[dim.extent].word;
    const int64_t bytes = registers[dim.stride].word * recipe.element_bytes;
    extents.at(i) = static_cast<uint64_t>(std::max<int64_t>(extent, 1));
    if (i > 0) { // the stride of an axis that is not stepped along may be any
      byte_strides.at(i - 1) = static_cast<uint64_t>(extent > 1 ? bytes : kStrideBytes);
    }
    box.at(i) = static_cast<unsigned>(dim.box * dim.step); // counts what is stepped over
    element_strides.at(i) = static_cast<unsigned>(dim.step);
  }
  CUtensorMap map;
  void* any_address = &map; // aligned as elements have to be; replaced for each launch
  const CUresult result = driver.tensor_map_encode_tiled(
      &map, element_of(recipe.element_bytes), static_cast<unsigned>(recipe.dims.size()),
      any_address, extents.data(), byte_strides.data(), box.data(), element_strides.data(),
      kNotInterleaved, swizzle_of(recipe.swizzle_bytes), kPromoteTo128Bytes, kFillWithZeros);
  if (std::optional<Refusal> refusal = driver.find_failure(result, "cuTensorMapEncodeTiled")) {
    return std::move(*refusal);
  }
  return map;
}

void write_tensor_map(
    const CudaDriver& driver, const CUtensorMap& map, void* address, std::byte* parameter) {
  CUtensorMap of_launch = map; // parameters need not be aligned as the driver wants it
  if (address != nullptr) {
    driver.check(
        driver.tensor_map_replace_address(&of_launch, address), "cuTensorMapReplaceAddress");
  }
  std::memcpy(parameter, &of_launch, sizeof(of_launch));
}

} // namespace nvfuser
