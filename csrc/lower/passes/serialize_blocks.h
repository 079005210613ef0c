#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Let blocks take turns around the reductions over blocks that ask for it.
///   before:  FOR i: { T2 = ..   T3 = GRIDREDUCTION(T2, serial) }
///   after:   BLOCKSERIALIZEWAIT   FOR i: { .. }   BLOCKSERIALIZERELEASE
/// A section covers whole loops and is entered and left by all threads: one wait for each block.
/// Requires: barriers are in place.
/// Ensures:  every serial GridReduction stands between a wait and a release over its dimensions.
///           Where blocks run in phases they combine in their order anyway: only errors are found.
/// Errors:   a barrier over blocks inside a section, where the next block would wait for its turn.
std::optional<Refusal> serialize_blocks(Kernel& kernel);

} // namespace nvfuser
