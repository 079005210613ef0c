// Fusions as bytes, and back: with everything that their schedules say.
//
//   serialize    the bytes of a fusion. Equal fusions (`equal_up_to_numbering`) have equal bytes,
//                whatever their history: numbers, names, dead statements, order of creation, lines
//                of Python.
//   digest       names a fusion by its bytes: the key of caches across processes
//   deserialize  the fusion that the bytes say, numbered in their order
//
// Bytes are read only by the build of the library whose nodes have the same fields, and may come
// from anywhere: what is damaged, foreign or makes no sense is refused.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "base/refusal.h"
#include "base/sha256.h"
#include "ir/fwd.h"

namespace nvfuser {

/// Requires: no kernel, which is made again by lowering its fusion.
[[nodiscard]] std::vector<std::byte> serialize(const Fusion& fusion);

/// Changes with the fusion, its schedule, and the fields of the nodes of this build.
[[nodiscard]] Digest digest(const Fusion& fusion);

/// The fusion, or why the bytes say none. Whatever was read serializes to the same bytes.
/// Cost: time and memory are linear in the number of bytes, up to sorting.
[[nodiscard]] std::variant<std::shared_ptr<Fusion>, Refusal> try_deserialize(
    std::span<const std::byte> bytes);
/// The fusion; throws what is refused.
[[nodiscard]] std::shared_ptr<Fusion> deserialize(std::span<const std::byte> bytes);

} // namespace nvfuser
