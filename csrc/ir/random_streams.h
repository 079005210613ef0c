// Which part of the random stream of a run a tensor takes.
#pragma once

#include <cstdint>
#include <vector>

namespace nvfuser {

class Fusion;
struct RNGOp;

/// The place of `op` among the random tensors with implicit seed that its fusion needs, by age
/// (`RNGOp::stream`). One that leads to no output takes no part of the stream: a copy of the fusion
/// without it, which a translated text makes, draws the same numbers.
[[nodiscard]] int64_t stream_in_use(const RNGOp& op);

/// How many random tensors with implicit seed `fusion` needs.
[[nodiscard]] int64_t count_random_streams(const Fusion& fusion);

/// The places in `whole` of the random tensors of `part`, a copy of some of it: by their place in
/// `part`. A run that draws one state for `whole` computes the same numbers in its parts.
[[nodiscard]] std::vector<int64_t> random_numbers_of(const Fusion& part, const Fusion& whole);

} // namespace nvfuser
