// Launch recipes as bytes, for the disk.
#pragma once

#include <optional>
#include <string>

#include "runtime/launch_recipe.h"

namespace nvfuser {

void write_recipe(ByteWriter& bytes, const LaunchRecipe& recipe);

/// What write_recipe wrote. Of anything else `bytes` say what is wrong with it: a recipe that is
/// good can be run for `fusion`, whatever the bytes were.
[[nodiscard]] LaunchRecipe read_recipe(
    ByteReader& bytes, const Fusion& fusion, const LaunchWords& words);

} // namespace nvfuser
