// Kernel IR: what lowering turns a scheduled fusion into.
//
// A kernel is a tree. Its leaves are tensor expressions whose operands are TensorIndex (an element
// of a tensor at an index) and the synchronisation, reduction and allocation statements below; its
// inner nodes are loops and conditions, which own lists of statements.
//
// Reductions. An expression that combines within one thread becomes BinaryOps. Across threads:
//   BlockReduction  combines over the reduction's threads of a block. Every thread of the block
//                   reaches it; every thread of a segment gets the result, so the result is uniform
//                   over the reduced thread dimensions.
//   BlockScan       combines over the threads along one dimension, in their order, and tells each
//                   what those before it have. Every thread of the block reaches it.
//   ClusterReduction  combines over the reduction's threads and over the blocks of a cluster, which
//                   reach into each other's shared memory. Every thread of the cluster reaches it,
//                   and every block gets the result.
//   GridReduction   combines over blocks (after a BlockReduction, if threads are reduced too). With
//                   `allreduce` every block gets the result and the kernel is cooperative; without,
//                   only the last block to arrive does, and `is_last` says whether this is it. With
//                   `is_serial` blocks take turns, so that the last one is the last in their order.
// All combine several values at once: those of grouped reductions, and lanes of grouped axes.
//
// Asynchronous copies. AsyncCommit ends a group of them, AsyncWait waits for groups:
//   cp.async   LoadStoreOps of that kind. Each thread has groups of its own.
//   bulk       BulkLoads. The block has common groups: each thread commits and waits for all, one
//              of them copies.
// A BulkStore is waited for by the thread that began it, with a BulkStoreWait.
#pragma once

#include "ir/expr.h"
#include "ir/tensor_view.h"

namespace nvfuser {

/// An element of a tensor: `view[index]`. `index` counts elements from the start of the tensor's
/// memory (or of the thread's array, for registers). In a vectorized statement it is the index of
/// lane 0.
class TensorIndex final : public Val {
 public:
  [[nodiscard]] TensorView* view() const {
    return view_;
  }
  [[nodiscard]] Val* index() const {
    return index_;
  }

 private:
  friend class Fusion;
  friend class Cloner;
  TensorIndex(TensorView* view, Val* index)
      : Val(ValType::TensorIndex, view->dtype()), view_(view), index_(index) {}
  TensorView* view_;
  Val* index_;
};

using Scope = std::vector<Expr*>;

struct ForLoopFields {
  static constexpr const char* kDoc =
      "Run body for index = start, start + 1, ... while index < stop. A loop over an axis bound to "
      "a hardware index has that index as `index` and runs once per thread: it prints nothing but "
      "its body.";
  Val* index = nullptr;
  IterDomain* iter_domain = nullptr;
  Val* start = nullptr;
  Val* stop = nullptr;
  LoopKind loop_kind = LoopKind::Serial;
  Scope body{};
  CircularBufferLoopStage circular_buffer_stage = CircularBufferLoopStage::NotApplicable;
  int64_t circular_buffer_depth = 0;
  int64_t unroll_count = 0;
  static constexpr auto fields() {
    return std::tuple{
        input("index", &ForLoopFields::index, "Loop variable, or the hardware index."),
        attr(
            "iter_domain", &ForLoopFields::iter_domain,
            "The axis the loop runs over (after promotion)."),
        attr("start", &ForLoopFields::start, "First index."),
        attr("stop", &ForLoopFields::stop, "End, exclusive."),
        attr(
            "loop_kind", &ForLoopFields::loop_kind,
            "How the body is repeated: one iteration after the other (Serial), also with its "
            "conditions tested once before it (Unswitched), written out because it was asked for "
            "or addresses registers (Unrolled, Grouped); or not repeated by this thread: the body "
            "is one vector access of `stop` lanes (Vector), or each thread has an index "
            "(Hardware)."),
        attr("body", &ForLoopFields::body, "Statements."),
        attr(
            "circular_buffer_stage", &ForLoopFields::circular_buffer_stage,
            "Part of a loop that loads ahead: first loads (Prolog), iterations (Main), last "
            "iterations without loads (Epilog)."),
        attr(
            "circular_buffer_depth", &ForLoopFields::circular_buffer_depth,
            "Number of stages of its circular buffers; 0: it has none."),
        attr(
            "unroll_count", &ForLoopFields::unroll_count,
            "Iterations that stand one after the other in the code; 0: as the compiler likes."),
    };
  }
};
struct ForLoop final : ExprNode<ForLoop, ForLoopFields> {};

struct IfThenElseFields {
  static constexpr const char* kDoc = "Run then_body if condition holds, else_body otherwise.";
  Val* condition = nullptr;
  Scope then_body{};
  Scope else_body{};
  static constexpr auto fields() {
    return std::tuple{
        input("condition", &IfThenElseFields::condition, "Bool."),
        attr("then_body", &IfThenElseFields::then_body, "Statements."),
        attr("else_body", &IfThenElseFields::else_body, "Statements."),
    };
  }
};
struct IfThenElse final : ExprNode<IfThenElse, IfThenElseFields> {};

struct AllocateFields {
  static constexpr const char* kDoc =
      "Storage of a tensor: a register array (Local), a part of the block's dynamic shared "
      "memory (Shared), or a buffer the host allocates (Global).";
  TensorView* buffer = nullptr;
  MemoryType memory_type = MemoryType::Local;
  Val* size = nullptr;
  Val* address = nullptr;
  bool is_spilled = false;
  static constexpr auto fields() {
    return std::tuple{
        attr("buffer", &AllocateFields::buffer, "The tensor."),
        attr("memory_type", &AllocateFields::memory_type, "Where."),
        attr("size", &AllocateFields::size, "Number of elements."),
        attr(
            "address", &AllocateFields::address,
            "Byte offset in shared memory; nullptr before it is assigned."),
        attr(
            "is_spilled", &AllocateFields::is_spilled,
            "Local: too large for registers. It lies in the thread's local memory."),
    };
  }
};
struct Allocate final : ExprNode<Allocate, AllocateFields> {};

struct BlockSyncFields {
  static constexpr const char* kDoc =
      "Wait until every thread of the block is here; shared and global writes before it are "
      "visible after it.";
  bool war_sync = false;
  static constexpr auto fields() {
    return std::tuple{
        attr(
            "war_sync", &BlockSyncFields::war_sync,
            "Keeps a later write from overtaking an earlier read."),
    };
  }
};
struct BlockSync final : ExprNode<BlockSync, BlockSyncFields> {};

struct AsyncCommitFields {
  static constexpr const char* kDoc =
      "The asynchronous copies that this thread began since the last commit, if any, are a group.";
  LoadStoreOpType async_op = LoadStoreOpType::CpAsync;
  static constexpr auto fields() {
    return std::tuple{
        attr("async_op", &AsyncCommitFields::async_op, "Kind of the copies."),
    };
  }
};
struct AsyncCommit final : ExprNode<AsyncCommit, AsyncCommitFields> {};

struct AsyncWaitFields {
  static constexpr const char* kDoc =
      "Wait until all groups of this thread's asynchronous copies but the youngest have arrived. "
      "Elements that other threads copied are there only after a barrier as well.";
  LoadStoreOpType async_op = LoadStoreOpType::CpAsync;
  int64_t keep_stages = 0;
  static constexpr auto fields() {
    return std::tuple{
        attr("async_op", &AsyncWaitFields::async_op, "Kind of the copies."),
        attr(
            "keep_stages", &AsyncWaitFields::keep_stages,
            "Number of youngest groups that need not have arrived."),
    };
  }
};
struct AsyncWait final : ExprNode<AsyncWait, AsyncWaitFields> {};

struct GridSyncFields {
  static constexpr const char* kDoc =
      "Wait until every block of the grid is here. The kernel is cooperative.";
  std::vector<int64_t> sync_dims{};
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        attr(
            "sync_dims", &GridSyncFields::sync_dims,
            "Grid dimensions that take part (0 x, 1 y, 2 z)."),
        attr(
            "sync_buffer", &GridSyncFields::sync_buffer,
            "Counters in zero-filled global memory; nullptr on a target without."),
    };
  }
};
struct GridSync final : ExprNode<GridSync, GridSyncFields> {};

struct BlockReductionFields {
  static constexpr const char* kDoc =
      "Combine values (or a Welford triple) over threads of a block with one set of barriers; see "
      "the top of this file. out = combine(out, over threads: predicate ? in : init).";
  std::vector<Val*> outs{};
  std::vector<Val*> ins{};
  std::vector<Val*> inits{};
  std::vector<BinaryOpType> ops{};
  bool is_welford = false;
  std::vector<int64_t> reduced_dims{};
  bool is_warp = false;
  Val* read_predicate = nullptr;
  Val* workspace_offset = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output(
            "outs", &BlockReductionFields::outs,
            "Accumulators: one per reduction, or (avg, var, n)."),
        input("ins", &BlockReductionFields::ins, "Values of this thread, as many."),
        attr("inits", &BlockReductionFields::inits, "Identities, as many."),
        attr("ops", &BlockReductionFields::ops, "Combiner of each value; empty for triples."),
        attr("is_welford", &BlockReductionFields::is_welford, "Combine triples."),
        attr(
            "reduced_dims", &BlockReductionFields::reduced_dims,
            "Thread dimensions that are reduced (0 x, 1 y, 2 z)."),
        attr(
            "is_warp", &BlockReductionFields::is_warp,
            "All reduced threads are the lanes of one dimension x, blockDim.x is a multiple of 32 "
            "and nothing else is reduced: use shuffles."),
        attr(
            "read_predicate", &BlockReductionFields::read_predicate,
            "Whether this thread contributes; nullptr: yes."),
        attr(
            "workspace_offset", &BlockReductionFields::workspace_offset,
            "Byte offset of its scratch in shared memory. Set by memory planning."),
    };
  }
};
struct BlockReduction final : ExprNode<BlockReduction, BlockReductionFields> {};

struct BlockScanFields {
  static constexpr const char* kDoc =
      "Scan values over the threads along one dimension. In each thread: prefix = combine(carry, "
      "values of the threads before it); then in all: carry = combine(carry, values of all).";
  Val* prefix = nullptr;
  Val* carry = nullptr;
  Val* value = nullptr;
  BinaryOpType op = BinaryOpType::Add;
  int64_t scanned_dim = 0;
  Val* workspace_offset = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output(
            "prefix", &BlockScanFields::prefix,
            "The values before this thread's, combined. May be where the value is."),
        output(
            "carry", &BlockScanFields::carry,
            "The values before the first thread's, then up to the last one's, combined; equal "
            "in all threads along the dimension."),
        input("value", &BlockScanFields::value, "This thread's; an identity if it has none."),
        attr("op", &BlockScanFields::op, "Associative combiner."),
        attr("scanned_dim", &BlockScanFields::scanned_dim, "Thread dimension (0 x, 1 y, 2 z)."),
        attr(
            "workspace_offset", &BlockScanFields::workspace_offset,
            "Byte offset of its scratch in shared memory. Set by memory planning."),
    };
  }
};
struct BlockScan final : ExprNode<BlockScan, BlockScanFields> {};

struct GridReductionFields {
  static constexpr const char* kDoc =
      "Combine values (or a Welford triple) over blocks; see the top of this file.";
  std::vector<Val*> outs{};
  std::vector<Val*> ins{};
  std::vector<Val*> inits{};
  std::vector<BinaryOpType> ops{};
  bool is_welford = false;
  std::vector<int64_t> reduced_dims{};
  std::vector<int64_t> reduced_thread_dims{};
  bool allreduce = false;
  bool is_serial = false;
  Val* is_last = nullptr;
  Val* read_predicate = nullptr;
  Val* entrance = nullptr;
  Val* entrances = nullptr;
  std::vector<TensorView*> work_buffers{};
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output(
            "outs", &GridReductionFields::outs,
            "Accumulators: one per reduction, or (avg, var, n)."),
        input("ins", &GridReductionFields::ins, "Values of this thread, as many."),
        attr("inits", &GridReductionFields::inits, "Identities, as many."),
        attr("ops", &GridReductionFields::ops, "Combiner of each value; empty for triples."),
        attr("is_welford", &GridReductionFields::is_welford, "Combine triples."),
        attr(
            "reduced_dims", &GridReductionFields::reduced_dims,
            "Grid dimensions that are reduced (0 x, 1 y, 2 z)."),
        attr(
            "reduced_thread_dims", &GridReductionFields::reduced_thread_dims,
            "Thread dimensions over which the input is uniform after the block's own reduction."),
        attr("allreduce", &GridReductionFields::allreduce, "Whether every block gets the result."),
        attr(
            "is_serial", &GridReductionFields::is_serial,
            "Whether blocks combine into one partial result, in turns that BlockSerializeWait and "
            "BlockSerializeRelease around the statement give them."),
        attr(
            "is_last", &GridReductionFields::is_last,
            "Bool Val defined by this statement without allreduce: whether this block has the "
            "result."),
        attr(
            "read_predicate", &GridReductionFields::read_predicate,
            "Whether this thread contributes; nullptr: yes."),
        attr(
            "entrance", &GridReductionFields::entrance,
            "Number of the entry, when it stands in serial loops; nullptr: 0."),
        attr("entrances", &GridReductionFields::entrances, "Number of entries in all."),
        attr(
            "work_buffers", &GridReductionFields::work_buffers,
            "Global memory for partial results, one per value."),
        attr("sync_buffer", &GridReductionFields::sync_buffer, "Zero-filled counters."),
    };
  }
};
struct GridReduction final : ExprNode<GridReduction, GridReductionFields> {};

struct BlockSerializeWaitFields {
  static constexpr const char* kDoc =
      "Wait for this block's turn among those that differ in sync_dims. Turns are in the order of "
      "blocks; every thread of the block comes here.";
  std::vector<int64_t> sync_dims{};
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        attr(
            "sync_dims", &BlockSerializeWaitFields::sync_dims,
            "Grid dimensions that take turns (0 x, 1 y, 2 z)."),
        attr(
            "sync_buffer", &BlockSerializeWaitFields::sync_buffer,
            "The block whose turn it is, one per segment, in zero-filled global memory."),
    };
  }
};
struct BlockSerializeWait final : ExprNode<BlockSerializeWait, BlockSerializeWaitFields> {};

struct BlockSerializeReleaseFields {
  static constexpr const char* kDoc =
      "Make what this block wrote visible and let the next block have its turn; the last block "
      "resets the buffer.";
  std::vector<int64_t> sync_dims{};
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        attr("sync_dims", &BlockSerializeReleaseFields::sync_dims, "As of the BlockSerializeWait."),
        attr(
            "sync_buffer", &BlockSerializeReleaseFields::sync_buffer,
            "As of the BlockSerializeWait."),
    };
  }
};
struct BlockSerializeRelease final : ExprNode<BlockSerializeRelease, BlockSerializeReleaseFields> {
};

struct RandomElementFields {
  static constexpr const char* kDoc =
      "One random number: result `lane` of the four (of 64 bits: two) that Philox makes of a "
      "counter. The same operands give the same number, wherever and however often it is computed.";
  Val* out = nullptr;
  Val* seed = nullptr;
  Val* offset = nullptr;
  Val* counter = nullptr;
  Val* lane = nullptr;
  std::vector<Val*> parameters{};
  RNGOpType op = RNGOpType::Uniform;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &RandomElementFields::out, "Result."),
        input("seed", &RandomElementFields::seed, "Key of the stream, 64 bits."),
        input("offset", &RandomElementFields::offset, "Low 64 bits of the counter."),
        input(
            "counter", &RandomElementFields::counter,
            "High 64 bits: the element's position in the logical shape over the lanes."),
        input("lane", &RandomElementFields::lane, "The rest of that division."),
        input("parameters", &RandomElementFields::parameters, "As of the RNGOp."),
        attr("op", &RandomElementFields::op, "Distribution."),
    };
  }
};
struct RandomElement final : ExprNode<RandomElement, RandomElementFields> {};

struct ChosenElementFields {
  static constexpr const char* kDoc =
      "out = values[k] for the first k whose condition holds, the last value if none does. Only "
      "that value is read: the others may lie outside of their tensors.";
  Val* out = nullptr;
  std::vector<Val*> conditions{};
  std::vector<Val*> values{};
  static constexpr auto fields() {
    return std::tuple{
        output("out", &ChosenElementFields::out, "Element of the result."),
        input("conditions", &ChosenElementFields::conditions, "Bool, one less than values."),
        input("values", &ChosenElementFields::values, "Elements, or scalars of out's type."),
    };
  }
};
struct ChosenElement final : ExprNode<ChosenElement, ChosenElementFields> {};

struct ThreadLoopFields {
  static constexpr const char* kDoc =
      "CPU target: run body for every thread of the block. Stands around a region that needs no "
      "other thread.";
  Scope body{};
  static constexpr auto fields() {
    return std::tuple{
        attr("body", &ThreadLoopFields::body, "Statements."),
    };
  }
};
struct ThreadLoop final : ExprNode<ThreadLoop, ThreadLoopFields> {};

struct BlockLoopFields {
  static constexpr const char* kDoc =
      "CPU target: run body for every block of the grid (or every cluster, if blocks form them), "
      "in "
      "parallel: none depends on another. One phase of the kernel.";
  Scope body{};
  static constexpr auto fields() {
    return std::tuple{
        attr("body", &BlockLoopFields::body, "Statements."),
    };
  }
};
struct BlockLoop final : ExprNode<BlockLoop, BlockLoopFields> {};

struct ClusterSyncFields {
  static constexpr const char* kDoc =
      "Wait until every block of the cluster is here; writes to the shared memory of any of them "
      "before it are visible after it.";
  static constexpr auto fields() {
    return std::tuple{};
  }
};
struct ClusterSync final : ExprNode<ClusterSync, ClusterSyncFields> {};

struct ClusterReductionFields {
  static constexpr const char* kDoc =
      "Combine values (or a Welford triple) over threads of a block and over the blocks of its "
      "cluster; see the top of this file. out = combine(out, over blocks and threads: predicate ? "
      "in : init), the same in every block.";
  std::vector<Val*> outs{};
  std::vector<Val*> ins{};
  std::vector<Val*> inits{};
  std::vector<BinaryOpType> ops{};
  bool is_welford = false;
  std::vector<int64_t> reduced_dims{};
  Val* read_predicate = nullptr;
  Val* workspace_offset = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        output(
            "outs", &ClusterReductionFields::outs,
            "Accumulators: one per reduction, or (avg, var, n)."),
        input("ins", &ClusterReductionFields::ins, "Values of this thread, as many."),
        attr("inits", &ClusterReductionFields::inits, "Identities, as many."),
        attr("ops", &ClusterReductionFields::ops, "Combiner of each value; empty for triples."),
        attr("is_welford", &ClusterReductionFields::is_welford, "Combine triples."),
        attr(
            "reduced_dims", &ClusterReductionFields::reduced_dims,
            "Thread dimensions that are reduced as well (0 x, 1 y, 2 z)."),
        attr(
            "read_predicate", &ClusterReductionFields::read_predicate,
            "Whether this thread contributes; nullptr: yes."),
        attr(
            "workspace_offset", &ClusterReductionFields::workspace_offset,
            "Byte offset of its scratch in the shared memory of each block; other blocks write "
            "there at any time. Set by memory planning."),
    };
  }
};
struct ClusterReduction final : ExprNode<ClusterReduction, ClusterReductionFields> {};

struct ClusterLoopFields {
  static constexpr const char* kDoc =
      "CPU target: run body for every block of a cluster, one after the other. Stands around a "
      "region that needs no other block.";
  Scope body{};
  static constexpr auto fields() {
    return std::tuple{
        attr("body", &ClusterLoopFields::body, "Statements."),
    };
  }
};
struct ClusterLoop final : ExprNode<ClusterLoop, ClusterLoopFields> {};

struct BulkLoadFields {
  static constexpr const char* kDoc =
      "Begin to copy a box of a tensor in global memory to shared memory, where it lies without "
      "gaps. Elements outside of the tensor become zeros. One thread does it; the box belongs to "
      "the group of its next AsyncCommit.";
  Val* out = nullptr;
  std::vector<Val*> coordinates{};
  TensorView* tensor = nullptr;
  std::vector<Val*> extents{};
  std::vector<Val*> strides{};
  std::vector<int64_t> box{};
  std::vector<int64_t> steps{};
  int64_t swizzle_bytes = 0;
  static constexpr auto fields() {
    return std::tuple{
        output("out", &BulkLoadFields::out, "Where the box begins in shared memory."),
        input(
            "coordinates", &BulkLoadFields::coordinates,
            "Where the box begins in the tensor, along each of its axes; innermost first."),
        attr("tensor", &BulkLoadFields::tensor, "The tensor in global memory."),
        attr("extents", &BulkLoadFields::extents, "The tensor's, along each axis (elements)."),
        attr("strides", &BulkLoadFields::strides, "The tensor's, along each axis (elements)."),
        attr("box", &BulkLoadFields::box, "Extents of the box, along each axis (elements)."),
        attr(
            "steps", &BulkLoadFields::steps,
            "Positions of the tensor from one element of the box to the next, along each axis."),
        attr(
            "swizzle_bytes", &BulkLoadFields::swizzle_bytes,
            "Width of the box (bytes) if its pieces of 16 bytes are permuted in shared memory: "
            "piece i of line n, of 128 bytes, lies where i XOR n would. 0: they are not."),
    };
  }
};
struct BulkLoad final : ExprNode<BulkLoad, BulkLoadFields> {};

struct BulkStoreFields {
  static constexpr const char* kDoc =
      "Begin to copy a box from shared memory to a tensor in global memory. Elements outside of "
      "the tensor are not written. One thread does it, after a FenceAsyncProxy of all writers.";
  Val* arg = nullptr;
  std::vector<Val*> coordinates{};
  TensorView* tensor = nullptr;
  std::vector<Val*> extents{};
  std::vector<Val*> strides{};
  std::vector<int64_t> box{};
  int64_t swizzle_bytes = 0;
  static constexpr auto fields() {
    return std::tuple{
        input("arg", &BulkStoreFields::arg, "Where the box begins in shared memory."),
        input(
            "coordinates", &BulkStoreFields::coordinates,
            "Where the box begins in the tensor, along each of its axes; innermost first."),
        attr("tensor", &BulkStoreFields::tensor, "The tensor in global memory."),
        attr("extents", &BulkStoreFields::extents, "The tensor's, along each axis (elements)."),
        attr("strides", &BulkStoreFields::strides, "The tensor's, along each axis (elements)."),
        attr("box", &BulkStoreFields::box, "Extents of the box, along each axis (elements)."),
        attr(
            "swizzle_bytes", &BulkStoreFields::swizzle_bytes,
            "Width of the box (bytes) if its pieces of 16 bytes are permuted in shared memory: "
            "piece i of line n, of 128 bytes, lies where i XOR n would. 0: they are not."),
    };
  }
};
struct BulkStore final : ExprNode<BulkStore, BulkStoreFields> {};

struct BulkStoreWaitFields {
  static constexpr const char* kDoc =
      "Wait until the boxes that this thread began to store have been read from shared memory, or "
      "until they are in global memory.";
  bool only_reads = false;
  static constexpr auto fields() {
    return std::tuple{
        attr(
            "only_reads", &BulkStoreWaitFields::only_reads,
            "Wait for the reads: shared memory may be written again."),
    };
  }
};
struct BulkStoreWait final : ExprNode<BulkStoreWait, BulkStoreWaitFields> {};

struct FenceAsyncProxyFields {
  static constexpr const char* kDoc =
      "Bulk copies that begin after a barrier see what this thread wrote to shared memory.";
  static constexpr auto fields() {
    return std::tuple{};
  }
};
struct FenceAsyncProxy final : ExprNode<FenceAsyncProxy, FenceAsyncProxyFields> {};

struct PriorGridWaitFields {
  static constexpr const char* kDoc =
      "Wait until the grid before this one in the stream has ended, and see what it wrote.";
  static constexpr auto fields() {
    return std::tuple{};
  }
};
struct PriorGridWait final : ExprNode<PriorGridWait, PriorGridWaitFields> {};

struct DependentGridLaunchFields {
  static constexpr const char* kDoc =
      "When all blocks have come here or have ended, a grid that waits for this one may begin.";
  static constexpr auto fields() {
    return std::tuple{};
  }
};
struct DependentGridLaunch final : ExprNode<DependentGridLaunch, DependentGridLaunchFields> {};

} // namespace nvfuser
