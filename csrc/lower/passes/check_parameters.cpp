#include "lower/passes/check_parameters.h"

#include <algorithm>

#include "lower/analysis/kernel_parameters.h"

namespace nvfuser {

std::optional<Refusal> check_parameters(Kernel& kernel) {
  const int64_t most = kernel.target().max_parameter_bytes;
  if (most == 0) {
    return std::nullopt;
  }
  const int64_t bytes = parameter_bytes(kernel);
  if (bytes <= most) {
    return std::nullopt;
  }
  const size_t workspaces = static_cast<size_t>(std::ranges::count_if(
      kernel.launch.buffers, [](const GlobalBuffer& buffer) { return !buffer.is_output; }));
  const bool is_wide = kernel.index_type() == DataType::Int;
  return refuse(
      {
          .headline = {"A kernel cannot have so many inputs and outputs"},
          .node =
              {"a kernel with ", kernel.inputs().size(), " inputs, ",
               kernel.launch.buffers.size() - workspaces, " outputs and ", workspaces,
               " tensors between them in global memory"},
          .expected = {"at most ", most, " bytes of parameters: pointers, sizes and strides"},
          .found = {bytes, " bytes, with indices of ", is_wide ? 64 : 32, " bits"},
          .fix =
              {"cut the fusion into several", is_wide ? ", or lower it with 32-bit indices" : "",
               "; fd.execute evaluates it"},
      },
      ErrorKind::NotImplemented);
}

} // namespace nvfuser
