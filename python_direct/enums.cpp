// The enumerations, under their Python names. Where the core or older scripts have another name, it
// is an alias: ParallelType.BIDx is ParallelType.grid_x.
#include "bindings.h"
#include "enum_binding.h"

namespace nvfuser::python {

void bind_enums(nb::module_& m) {
  // One row per enumeration: its class, and what it says.
  NVF_BIND_ENUM(DataType, "Type of an element or a scalar.");
  NVF_BIND_ENUM(ParallelType, "The hardware index, or kind of loop, that a loop axis is bound to.");
  NVF_BIND_ENUM(LoopKind, "How a loop of a kernel runs its body.");
  NVF_BIND_ENUM(IterType, "The use of an iteration domain.");
  NVF_BIND_ENUM(ValType, "Kind of a value; Others are scalars without a name.");
  NVF_BIND_ENUM(MemoryType, "Where a tensor lives.");
  NVF_BIND_ENUM(UnaryOpType, "Operations with one operand.");
  NVF_BIND_ENUM(BinaryOpType, "Operations with two operands.");
  NVF_BIND_ENUM(TernaryOpType, "Operations with three operands.");
  NVF_BIND_ENUM(RNGOpType, "Distributions of random numbers.");
  NVF_BIND_ENUM(LoadStoreOpType, "How a copy moves its data.");
  NVF_BIND_ENUM(CacheOp, "Cache hint of a load.");
  NVF_BIND_ENUM(CacheHint, "Which caches keep what a copy moves from or to global memory.");
  NVF_BIND_ENUM(SwizzleType, "Permutation of a square of two axes.");
  NVF_BIND_ENUM(CircularBufferLoopStage, "Part of a loop that loads ahead of the one that reads.");
  NVF_BIND_ENUM(IdMappingMode, "Which iteration domains correspond.");
  NVF_BIND_ENUM(SchedulerType, "Automatic schedulers.");
  NVF_BIND_ENUM(MmaOperand, "The first or the second factor of a product of matrices.");
}

} // namespace nvfuser::python
