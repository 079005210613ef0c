// Which memory the elements of a tensor lie in: mostly its own; in place, that of another tensor:
//
//   T2 = set(T0)    T3 = scatter(T2, T1, ..)     T2 lies in T3: the scatter overwrites a copy
//   T4 = T0 + 1, an update of the input T0       T4 lies in T0
//
// Both may come together: where T3 is an update of T0, T2 lies in T3, and T3 in T0.
#pragma once

#include "ir/tensor_view.h"

namespace nvfuser {

class ValGraph;

enum class StorageKind : uint8_t {
  Own,
  Overwritten, // the result of the one expression that reads the tensor overwrites it
  Update,      // an output that is written into the memory of an input
};

struct Storage {
  TensorView* owner = nullptr; // the tensor itself, or in whose memory it lies
  StorageKind kind = StorageKind::Own;
};

/// One step: the owner may lie in the memory of another tensor in turn.
[[nodiscard]] Storage storage_of(TensorView* tensor);
[[nodiscard]] Storage storage_of(const TensorView* tensor);

/// The tensor that the memory belongs to in the end.
[[nodiscard]] const TensorView* owner_of(const TensorView* tensor);

/// The tensor whose name the memory has inside of a kernel: overwritten tensors have that of the
/// result. Updates have memory of their own name, which a launch binds to that of the input.
[[nodiscard]] TensorView* buffer_of(TensorView* tensor);
[[nodiscard]] const TensorView* buffer_of(const TensorView* tensor);

/// The input that `output` is an update of; nullptr: it is none.
[[nodiscard]] const TensorView* updated_input(const Val* output);

/// Whether `output`, an update of `input`, is written over the elements of the input that have the
/// same axes: a transpose has others. `exact`: the exact graph.
[[nodiscard]] bool updates_same_elements(
    const ValGraph& exact, const TensorView* output, const TensorView* input);

/// Whether `expr` copies a tensor to the memory where it is: the copy that a scatter overwrites,
/// where the scatter updates the input that is copied.
[[nodiscard]] bool copies_to_itself(const Expr& expr);

} // namespace nvfuser
