// Launch recipes as bytes, for the disk.
#pragma once

#include <optional>
#include <string>

#include "runtime/launch_recipe.h"

namespace nvfuser {

void write_recipe(ByteWriter& bytes, const LaunchRecipe& recipe);

/// Read a recipe back. `bytes` keep the first fault of anything that write_recipe did not write; a
/// recipe without a fault can be run for `fusion`, whatever the bytes were.
[[nodiscard]] LaunchRecipe read_recipe(
    ByteReader& bytes, const Fusion& fusion, const LaunchWords& words);

} // namespace nvfuser
