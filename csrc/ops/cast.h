// Conversions of the dtype.
#pragma once

#include "ir/fusion.h"

namespace nvfuser::ops {

/// `arg` converted to `dtype`; a plain copy if it has that dtype. Converting a complex number to a
/// real type drops the imaginary part, with a warning.
Val* cast(Val* arg, DataType dtype);
inline TensorView* cast(TensorView* arg, DataType dtype) {
  return static_cast<TensorView*>(cast(static_cast<Val*>(arg), dtype));
}

/// `arg` as the constant it is, converted by the rules of constants (also where there is no
/// conversion at run time); else `maybe_cast`.
Val* cast_constant(Val* arg, DataType dtype);

/// `arg` itself if it has that dtype, else `cast`.
Val* maybe_cast(Val* arg, DataType dtype);
inline TensorView* maybe_cast(TensorView* arg, DataType dtype) {
  return static_cast<TensorView*>(maybe_cast(static_cast<Val*>(arg), dtype));
}

/// `arg`, as a Float if its precision is lower: what layers compute in.
TensorView* widened(TensorView* arg);

/// The bits of every element read as another type of the same size.
Val* bitcast(DataType dtype, Val* arg);
inline TensorView* bitcast(DataType dtype, TensorView* arg) {
  return static_cast<TensorView*>(bitcast(dtype, static_cast<Val*>(arg)));
}

} // namespace nvfuser::ops
