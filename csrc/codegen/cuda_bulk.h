// Bulk copies as CUDA C++: calls of runtime/cuda/bulk_copy.cuh.
#pragma once

#include "codegen/printer.h"

namespace nvfuser {

/// A BulkLoad, BulkStore, BulkStoreWait or FenceAsyncProxy.
void print_bulk_statement(KernelPrinter& printer, const Expr& statement);

/// `bulk_groups.commit();`, `bulk_groups.wait<1>();`
[[nodiscard]] std::string commit_of_bulk_loads();
[[nodiscard]] std::string wait_for_bulk_loads(int64_t keep_stages);

/// The groups of bulk loads, and their barriers in shared memory; nothing if there are no loads.
void declare_bulk_groups(KernelPrinter& printer);

/// The shared memory of the kernel begins at a multiple of so many bytes.
[[nodiscard]] int64_t alignment_of_shared_memory(const Kernel& kernel);

} // namespace nvfuser
