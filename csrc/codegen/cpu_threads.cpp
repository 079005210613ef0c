#include "codegen/cpu_threads.h"

namespace nvfuser {

std::string axis_name(int64_t dim) {
  return std::string("threadIdx.") + "xyz"[dim];
}

const Val* threads_along(const Kernel& kernel, int64_t dim) {
  return kernel.launch.extents.block[static_cast<size_t>(dim)];
}

std::string size_text(const Kernel& kernel, int64_t dim) {
  const Val* extent = threads_along(kernel, dim);
  return extent->is_const() ? std::to_string(as_int(extent->value()))
                            : std::string("blockDim.") + "xyz"[dim];
}

std::vector<int64_t> launched_dims(const Kernel& kernel) {
  std::vector<int64_t> dims;
  for (const int64_t dim : {2, 1, 0}) {
    const Val* extent = threads_along(kernel, dim);
    if (extent != nullptr && !extent->is_const_int(1)) {
      dims.push_back(dim);
    }
  }
  return dims;
}

std::string threads_of_block(const Kernel& kernel) {
  std::string threads = "1";
  for (const int64_t dim : launched_dims(kernel)) {
    threads += " * int(" + size_text(kernel, dim) + ")";
  }
  return threads;
}

std::string number_of_thread(const Kernel& kernel) {
  std::string thread;
  for (const int64_t dim : launched_dims(kernel)) { // the slowest first
    thread = thread.empty()
                 ? axis_name(dim)
                 : "(" + thread + ") * " + size_text(kernel, dim) + " + " + axis_name(dim);
  }
  return thread;
}

} // namespace nvfuser
