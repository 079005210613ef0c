// Bulk copies as CUDA C++: calls of runtime/cuda/bulk_copy.cuh and bulk_stages.cuh.
#pragma once

#include "codegen/printer.h"

namespace nvfuser {

/// A BulkLoad, BulkStore, BulkStoreWait or FenceAsyncProxy.
void print_bulk_statement(KernelPrinter& printer, const Expr& statement);

/// The end of a group of asynchronous copies or of accesses to stages, and the wait for groups:
/// `cp_async_commit();`, `bulk_groups.wait<1>();`, `bulk_stages.wait_full();`
[[nodiscard]] std::string commit_text(const AsyncCommit& commit);
[[nodiscard]] std::string wait_text(const AsyncWait& wait);

/// Barriers in shared memory, and the object that counts them: `type counter(memory);`
void declare_barriers(
    KernelPrinter& printer,
    const std::string& type,
    const std::string& counter,
    const std::string& memory,
    int64_t barriers);
/// Fetch the descriptions of tensors that bulk copies read; nothing if there are none.
void prefetch_tensor_maps(KernelPrinter& printer);
/// The groups and stages of bulk loads, and their barriers in shared memory; nothing if there are
/// no loads.
void declare_bulk_barriers(KernelPrinter& printer);

/// How warps share out their registers where a role begins; empty: `body` of `branch` is none, or
/// they do not.
[[nodiscard]] std::string register_share(
    const Kernel& kernel, const IfThenElse& branch, const Scope& body);

/// The shared memory of the kernel begins at a multiple of so many bytes.
[[nodiscard]] int64_t alignment_of_shared_memory(const Kernel& kernel);

} // namespace nvfuser
