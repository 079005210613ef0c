// Which part of the random stream of a run a tensor takes.
#pragma once

#include <cstdint>

namespace nvfuser {

struct RNGOp;

/// The place of `op` among the random tensors with implicit seed that its fusion needs, by age
/// (`RNGOp::stream`). One that leads to no output takes no part of the stream: a copy of the fusion
/// without it, which a translated text makes, draws the same numbers.
[[nodiscard]] int64_t stream_in_use(const RNGOp& op);

} // namespace nvfuser
