// LaunchDims: something for each dimension of a launch, x, y and z of the grid, of its blocks and
// of the clusters that blocks form.
#pragma once

#include <array>

#include "base/types.h"

namespace nvfuser {

template <typename T>
struct LaunchDims {
  std::array<T, 3> grid{};
  std::array<T, 3> block{};
  std::array<T, 3> cluster{};

  /// That of a hardware index.
  [[nodiscard]] T& operator[](ParallelType type) {
    const size_t i = hardware_type_index(type);
    return i < grid.size() ? grid[i] : block[i - grid.size()];
  }
  [[nodiscard]] const T& operator[](ParallelType type) const {
    return const_cast<LaunchDims&>(*this)[type];
  }
  [[nodiscard]] bool operator==(const LaunchDims&) const = default;
};

} // namespace nvfuser
