#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Put barriers where a thread (or block) reads what another one wrote, and where it would
/// overwrite what another one still reads.
///   before:  T1_s[tx] = T0[tx]              T2[tx] = T1_s[63 - tx]
///   after:   T1_s[tx] = T0[tx]   BLOCKSYNC   T2[tx] = T1_s[63 - tx]
/// A barrier stands once, after the last pending write, where the loops of writer and reader part.
/// Before it each thread waits for the asynchronous copies that it has under way. Circular buffers
/// are ordered within their loop already.
/// Requires: the loop nest; loads ahead placed.
/// Ensures:  no thread reads an element before its writer's barrier; registers are read only by the
///           thread that wrote them (else an error that names both tensors and both axes).
std::optional<Refusal> insert_syncs(Kernel& kernel);

} // namespace nvfuser
