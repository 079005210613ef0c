// What NVFUSER_DUMP shows of lowering.
#pragma once

#include "lower/kernel.h"

namespace nvfuser {

/// Does some dump print the kernel after this pass? `lower_verbose(a,b)` names passes; without
/// arguments it means all of them.
[[nodiscard]] bool is_pass_dumped(const std::string& pass);
/// Print what is asked for after a pass. Requires: `record.text` is there if is_pass_dumped.
void dump_pass(const Kernel& kernel, const PassRecord& record);
/// Print what is asked for at the end.
void dump_lowered(const Kernel& kernel);

} // namespace nvfuser
