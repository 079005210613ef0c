// The statements of a kernel as text that can be read back.
//
// `Kernel::print_kernel_ir` is for people, and leaves out what they can guess. This text has every
// field of every statement, and the facts that passes know about it:
//
//   Allocate(buffer=T1, memory_type=Shared, size=64:Index)
//   ForLoop(index=i3, iter_domain=D6, start=0:Index, stop=4:Index, step=1:Index)
//     body:
//       UnaryOp(out=T1[i3], arg=T0[Add:Index(i3, 4:Index)], op=Neg) origin=T1 ranges=[i3 < i0]
//
// Both directions derive from the fields of the nodes. Fields that have their default are left out.
//
//   T1, D6, i3, "threadIdx.x"   a tensor, an axis, a scalar of the kernel by its name
//   T1[i3]                      an element
//   4:Index, 0x1p-1:Float       a constant
//   Add:Index(i3, 4:Index)      a scalar that is computed where it is used
//
// Tensors, axes and sizes are those of the kernel that reads the text: it has to be lowered as far
// as its loops.
#pragma once

#include <string>

#include "lower/kernel.h"

namespace nvfuser {

[[nodiscard]] std::string print_statements(const Kernel& kernel);

/// Replace the statements of `kernel`, and `kernel.tests` and `kernel.origin`, by those of a text.
/// Errors: a text that does not follow the form, with the line; names that the kernel does not
/// have.
void read_statements(Kernel& kernel, const std::string& text);

} // namespace nvfuser
