// StatementFacts: facts of passes about the statements of a kernel, kept to those that it has.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Forget tests and origins of statements that are no longer in the kernel: for passes that replace
/// statements or leave some out.
void forget_absent_statements(Kernel& kernel);

} // namespace nvfuser
