// Tensor maps: tensors as the driver describes them to bulk copies.
#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "base/refusal.h"
#include "runtime/cuda_driver.h"
#include "runtime/launch_recipe.h"

namespace nvfuser {

/// Describe a tensor whose address is not known yet; `registers` are those of its recipe. An axis
/// without elements is described as one of one element: no box of it is copied.
[[nodiscard]] std::variant<CUtensorMap, Refusal> try_encode_tensor_map(
    const CudaDriver& driver,
    const LaunchRecipe::TensorMap& recipe,
    std::span<const ScalarRegister> registers);

/// `map` for elements that begin at `address`, as bytes of a kernel's parameter. nullptr: there are
/// none.
void write_tensor_map(
    const CudaDriver& driver, const CUtensorMap& map, void* address, std::byte* parameter);

} // namespace nvfuser
