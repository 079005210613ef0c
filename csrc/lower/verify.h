// The rules that the statements of a kernel keep between any two passes.
//
//   tree          every statement is there and belongs to the kernel; loops and conditions stand
//                 once, other statements once in a list (paths of a condition may share them);
//                 loops, conditions and allocations have what they need
//   indices       the index of a loop is used inside the loop only
//   definitions   a value is a constant, a parameter, known to the launch, or computed before its
//                 use in a scope that is still open
//   allocations   a tensor in registers or shared memory is allocated before it is read or written,
//                 in a scope that is still open, and only once
//   types         conditions are Bool, indices and sizes integral; values that are combined, or
//                 copied, have one type, or are real or complex numbers of another precision
//   barriers      threads that wait for each other all come there: no condition or loop around a
//                 barrier depends on which of them it is
//   fences        once barriers are there: between what threads write to shared memory and a bulk
//                 copy that stores it stands a fence of the async proxy; on a target without bulk
//                 copies if it checks for races
//   facts         `kernel.tests` and `kernel.origin` speak of statements of the kernel
#pragma once

#include <string>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// The faults, one line for each; empty: none, or there are no statements yet.
[[nodiscard]] std::vector<std::string> find_violations(const Kernel& kernel);

/// Replace a list of statements ("body", "then_body", "else_body") of a loop or a condition, or of
/// the kernel if `owner` is nullptr: for tests, which ask what passes make of it.
void set_statements(Kernel& kernel, Expr* owner, const std::string& list, const Scope& statements);

} // namespace nvfuser
