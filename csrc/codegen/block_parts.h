// Parts of a long block: the time that g++ takes for a function grows faster than its length, so
// the statements of one block become several functions on targets whose threads are loops.
#pragma once

#include <vector>

#include "ir/scopes.h"

namespace nvfuser {

struct BlockPart {
  Scope statements{};
  bool is_function = false; // of its own; else the statements stand in the block itself
};

/// The statements of a block in their order, cut into functions where there are many: neighbours,
/// about 16 statements together. The block itself keeps what declares something, since later
/// statements use it. Requires: no two statements change the same variable of the block.
[[nodiscard]] std::vector<BlockPart> parts_of_block(const Scope& body);

} // namespace nvfuser
