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
//                   what those before it have. Every thread of the block reaches it, too.
//   GridReduction   combines over blocks (after a BlockReduction, if threads are reduced too). With
//                   `allreduce` every block gets the result and the kernel is cooperative; without,
//                   only the last block to arrive does, and `is_last` says whether this is it. With
//                   `is_serial` blocks take turns, so that the last one is the last in their order.
// Both combine several values at once: those of grouped reductions, and lanes of grouped axes.
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

struct ForLoop final : ExprNode<ForLoop> {
  static constexpr ExprKind kKind = ExprKind::ForLoop;
  static constexpr const char* kName = "ForLoop";
  static constexpr const char* kDoc =
      "Run body for index = start, start + step, ... while index < stop. A loop over an axis "
      "bound to a hardware index has that index as `index` and runs once per thread: it prints "
      "nothing but its body.";
  Val* index = nullptr;
  IterDomain* iter_domain = nullptr;
  Val* start = nullptr;
  Val* stop = nullptr;
  Val* step = nullptr;
  bool is_parallel = false;
  bool is_vectorized = false;
  bool is_unrolled = false;
  bool hoists_conditions = false;
  Scope body;
  CircularBufferLoopStage circular_buffer_stage = CircularBufferLoopStage::NotApplicable;
  int64_t circular_buffer_depth = 0;
  int64_t unroll_count = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::input("index", &ForLoop::index, "Loop variable, or the hardware index."),
        nvfuser::attr(
            "iter_domain", &ForLoop::iter_domain, "The axis the loop runs over (after promotion)."),
        nvfuser::attr("start", &ForLoop::start, "First index."),
        nvfuser::attr("stop", &ForLoop::stop, "End, exclusive."),
        nvfuser::attr("step", &ForLoop::step, "Increment."),
        nvfuser::attr("is_parallel", &ForLoop::is_parallel, "Bound to a hardware index: no loop."),
        nvfuser::attr(
            "is_vectorized", &ForLoop::is_vectorized,
            "The body is one vector access of `stop` lanes."),
        nvfuser::attr(
            "is_unrolled", &ForLoop::is_unrolled,
            "Must be unrolled: it addresses registers, or was asked for."),
        nvfuser::attr(
            "hoists_conditions", &ForLoop::hoists_conditions,
            "Unswitched or unrolled: conditions of the body are tested once, before it."),
        nvfuser::attr("body", &ForLoop::body, "Statements."),
        nvfuser::attr(
            "circular_buffer_stage", &ForLoop::circular_buffer_stage,
            "Part of a loop that loads ahead: first loads (Prolog), iterations (Main), last "
            "iterations without loads (Epilog)."),
        nvfuser::attr(
            "circular_buffer_depth", &ForLoop::circular_buffer_depth,
            "Number of stages of its circular buffers; 0: it has none."),
        nvfuser::attr(
            "unroll_count", &ForLoop::unroll_count,
            "Iterations that stand one after the other in the code; 0: as the compiler likes."),
    };
  }
};

struct IfThenElse final : ExprNode<IfThenElse> {
  static constexpr ExprKind kKind = ExprKind::IfThenElse;
  static constexpr const char* kName = "IfThenElse";
  static constexpr const char* kDoc = "Run then_body if condition holds, else_body otherwise.";
  Val* condition = nullptr;
  Scope then_body;
  Scope else_body;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::input("condition", &IfThenElse::condition, "Bool."),
        nvfuser::attr("then_body", &IfThenElse::then_body, "Statements."),
        nvfuser::attr("else_body", &IfThenElse::else_body, "Statements."),
    };
  }
};

struct Allocate final : ExprNode<Allocate> {
  static constexpr ExprKind kKind = ExprKind::Allocate;
  static constexpr const char* kName = "Allocate";
  static constexpr const char* kDoc =
      "Storage of a tensor: a register array (Local), a part of the block's dynamic shared "
      "memory (Shared), or a buffer the host allocates (Global).";
  TensorView* buffer = nullptr;
  MemoryType memory_type = MemoryType::Local;
  Val* size = nullptr;
  Val* address = nullptr;
  TensorView* alias = nullptr;
  bool zero_init = false;
  bool is_expanded = false;
  bool is_spilled = false;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr("buffer", &Allocate::buffer, "The tensor."),
        nvfuser::attr("memory_type", &Allocate::memory_type, "Where."),
        nvfuser::attr("size", &Allocate::size, "Number of elements."),
        nvfuser::attr(
            "address", &Allocate::address,
            "Byte offset in shared memory; nullptr before it is assigned."),
        nvfuser::attr("alias", &Allocate::alias, "Use this tensor's storage instead."),
        nvfuser::attr("zero_init", &Allocate::zero_init, "Whether the host zero-fills it."),
        nvfuser::attr(
            "is_expanded", &Allocate::is_expanded,
            "CPU target: has one element per thread (or block) and lies in the arena."),
        nvfuser::attr(
            "is_spilled", &Allocate::is_spilled,
            "Local: too large for registers. It lies in the thread's local memory."),
    };
  }
};

struct BlockSync final : ExprNode<BlockSync> {
  static constexpr ExprKind kKind = ExprKind::BlockSync;
  static constexpr const char* kName = "BlockSync";
  static constexpr const char* kDoc =
      "Wait until every thread of the block is here; shared and global writes before it are "
      "visible after it.";
  bool war_sync = false;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr(
            "war_sync", &BlockSync::war_sync,
            "Keeps a later write from overtaking an earlier read."),
    };
  }
};

struct AsyncCommit final : ExprNode<AsyncCommit> {
  static constexpr ExprKind kKind = ExprKind::AsyncCommit;
  static constexpr const char* kName = "AsyncCommit";
  static constexpr const char* kDoc =
      "The asynchronous copies that this thread began since the last commit, if any, are a group.";
  LoadStoreOpType async_op = LoadStoreOpType::CpAsync;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr("async_op", &AsyncCommit::async_op, "Kind of the copies."),
    };
  }
};

struct AsyncWait final : ExprNode<AsyncWait> {
  static constexpr ExprKind kKind = ExprKind::AsyncWait;
  static constexpr const char* kName = "AsyncWait";
  static constexpr const char* kDoc =
      "Wait until all groups of this thread's asynchronous copies but the youngest have arrived. "
      "What other threads copied is there only after a barrier, too.";
  LoadStoreOpType async_op = LoadStoreOpType::CpAsync;
  int64_t keep_stages = 0;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr("async_op", &AsyncWait::async_op, "Kind of the copies."),
        nvfuser::attr(
            "keep_stages", &AsyncWait::keep_stages,
            "Number of youngest groups that need not have arrived."),
    };
  }
};

struct GridSync final : ExprNode<GridSync> {
  static constexpr ExprKind kKind = ExprKind::GridSync;
  static constexpr const char* kName = "GridSync";
  static constexpr const char* kDoc =
      "Wait until every block of the grid is here. The kernel is cooperative.";
  std::vector<int64_t> sync_dims;
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr(
            "sync_dims", &GridSync::sync_dims, "Grid dimensions that take part (0 x, 1 y, 2 z)."),
        nvfuser::attr(
            "sync_buffer", &GridSync::sync_buffer,
            "Counters in zero-filled global memory; nullptr on a target without."),
    };
  }
};

struct BlockReduction final : ExprNode<BlockReduction> {
  static constexpr ExprKind kKind = ExprKind::BlockReduction;
  static constexpr const char* kName = "BlockReduction";
  static constexpr const char* kDoc =
      "Combine values (or a Welford triple) over threads of a block with one set of barriers; see "
      "the top of this file. out = combine(out, over threads: predicate ? in : init).";
  std::vector<Val*> outs;
  std::vector<Val*> ins;
  std::vector<Val*> inits;
  std::vector<BinaryOpType> ops;
  bool is_welford = false;
  std::vector<int64_t> reduced_dims;
  bool is_warp = false;
  Val* read_predicate = nullptr;
  Val* workspace_offset = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "outs", &BlockReduction::outs, "Accumulators: one per reduction, or (avg, var, n)."),
        nvfuser::input("ins", &BlockReduction::ins, "Values of this thread, as many."),
        nvfuser::attr("inits", &BlockReduction::inits, "Identities, as many."),
        nvfuser::attr("ops", &BlockReduction::ops, "Combiner of each value; empty for triples."),
        nvfuser::attr("is_welford", &BlockReduction::is_welford, "Combine triples."),
        nvfuser::attr(
            "reduced_dims", &BlockReduction::reduced_dims,
            "Thread dimensions that are reduced (0 x, 1 y, 2 z)."),
        nvfuser::attr(
            "is_warp", &BlockReduction::is_warp,
            "All reduced threads are the lanes of one dimension x, blockDim.x is a multiple of 32 "
            "and nothing else is reduced: use shuffles."),
        nvfuser::attr(
            "read_predicate", &BlockReduction::read_predicate,
            "Whether this thread contributes; nullptr: yes."),
        nvfuser::attr(
            "workspace_offset", &BlockReduction::workspace_offset,
            "Byte offset of its scratch in shared memory. Set by memory planning."),
    };
  }
};

struct BlockScan final : ExprNode<BlockScan> {
  static constexpr ExprKind kKind = ExprKind::BlockScan;
  static constexpr const char* kName = "BlockScan";
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
        nvfuser::output(
            "prefix", &BlockScan::prefix,
            "What was combined before this thread's value. May be where the value is."),
        nvfuser::output(
            "carry", &BlockScan::carry,
            "What was combined before the first thread's value, then after the last one's; equal "
            "in all threads along the dimension."),
        nvfuser::input("value", &BlockScan::value, "Of this thread; an identity, if it has none."),
        nvfuser::attr("op", &BlockScan::op, "Associative combiner."),
        nvfuser::attr("scanned_dim", &BlockScan::scanned_dim, "Thread dimension (0 x, 1 y, 2 z)."),
        nvfuser::attr(
            "workspace_offset", &BlockScan::workspace_offset,
            "Byte offset of its scratch in shared memory. Set by memory planning."),
    };
  }
};

struct GridReduction final : ExprNode<GridReduction> {
  static constexpr ExprKind kKind = ExprKind::GridReduction;
  static constexpr const char* kName = "GridReduction";
  static constexpr const char* kDoc =
      "Combine values (or a Welford triple) over blocks; see the top of this file.";
  std::vector<Val*> outs;
  std::vector<Val*> ins;
  std::vector<Val*> inits;
  std::vector<BinaryOpType> ops;
  bool is_welford = false;
  std::vector<int64_t> reduced_dims;
  std::vector<int64_t> reduced_thread_dims;
  bool allreduce = false;
  bool is_serial = false;
  Val* is_last = nullptr;
  Val* read_predicate = nullptr;
  Val* entrance = nullptr;
  Val* entrances = nullptr;
  std::vector<TensorView*> work_buffers;
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output(
            "outs", &GridReduction::outs, "Accumulators: one per reduction, or (avg, var, n)."),
        nvfuser::input("ins", &GridReduction::ins, "Values of this thread, as many."),
        nvfuser::attr("inits", &GridReduction::inits, "Identities, as many."),
        nvfuser::attr("ops", &GridReduction::ops, "Combiner of each value; empty for triples."),
        nvfuser::attr("is_welford", &GridReduction::is_welford, "Combine triples."),
        nvfuser::attr(
            "reduced_dims", &GridReduction::reduced_dims,
            "Grid dimensions that are reduced (0 x, 1 y, 2 z)."),
        nvfuser::attr(
            "reduced_thread_dims", &GridReduction::reduced_thread_dims,
            "Thread dimensions over which the input is uniform after the block's own reduction."),
        nvfuser::attr(
            "allreduce", &GridReduction::allreduce, "Whether every block gets the result."),
        nvfuser::attr(
            "is_serial", &GridReduction::is_serial,
            "Whether blocks combine into one partial result, in turns that BlockSerializeWait and "
            "BlockSerializeRelease around the statement give them."),
        nvfuser::attr(
            "is_last", &GridReduction::is_last,
            "Bool Val defined by this statement without allreduce: whether this block has the "
            "result."),
        nvfuser::attr(
            "read_predicate", &GridReduction::read_predicate,
            "Whether this thread contributes; nullptr: yes."),
        nvfuser::attr(
            "entrance", &GridReduction::entrance,
            "Number of the entry, when it stands in serial loops; nullptr: 0."),
        nvfuser::attr("entrances", &GridReduction::entrances, "Number of entries in all."),
        nvfuser::attr(
            "work_buffers", &GridReduction::work_buffers,
            "Global memory for partial results, one per value."),
        nvfuser::attr("sync_buffer", &GridReduction::sync_buffer, "Zero-filled counters."),
    };
  }
};

struct BlockSerializeWait final : ExprNode<BlockSerializeWait> {
  static constexpr ExprKind kKind = ExprKind::BlockSerializeWait;
  static constexpr const char* kName = "BlockSerializeWait";
  static constexpr const char* kDoc =
      "Wait for this block's turn among those that differ in sync_dims. Turns are in the order of "
      "blocks; every thread of the block comes here.";
  std::vector<int64_t> sync_dims;
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr(
            "sync_dims", &BlockSerializeWait::sync_dims,
            "Grid dimensions that take turns (0 x, 1 y, 2 z)."),
        nvfuser::attr(
            "sync_buffer", &BlockSerializeWait::sync_buffer,
            "The block whose turn it is, one per segment, in zero-filled global memory."),
    };
  }
};

struct BlockSerializeRelease final : ExprNode<BlockSerializeRelease> {
  static constexpr ExprKind kKind = ExprKind::BlockSerializeRelease;
  static constexpr const char* kName = "BlockSerializeRelease";
  static constexpr const char* kDoc =
      "Make what this block wrote visible and let the next block have its turn; the last block "
      "resets the buffer.";
  std::vector<int64_t> sync_dims;
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr(
            "sync_dims", &BlockSerializeRelease::sync_dims, "As of the BlockSerializeWait."),
        nvfuser::attr(
            "sync_buffer", &BlockSerializeRelease::sync_buffer, "As of the BlockSerializeWait."),
    };
  }
};

struct RandomElement final : ExprNode<RandomElement> {
  static constexpr ExprKind kKind = ExprKind::RandomElement;
  static constexpr const char* kName = "RandomElement";
  static constexpr const char* kDoc =
      "One random number: result `lane` of the four (of 64 bits: two) that Philox makes of a "
      "counter. The same operands give the same number, wherever and however often it is computed.";
  Val* out = nullptr;
  Val* seed = nullptr;
  Val* offset = nullptr;
  Val* counter = nullptr;
  Val* lane = nullptr;
  std::vector<Val*> parameters;
  RNGOpType op = RNGOpType::Uniform;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &RandomElement::out, "Result."),
        nvfuser::input("seed", &RandomElement::seed, "Key of the stream, 64 bits."),
        nvfuser::input("offset", &RandomElement::offset, "Low 64 bits of the counter."),
        nvfuser::input(
            "counter", &RandomElement::counter,
            "High 64 bits: the element's position in the logical shape over the lanes."),
        nvfuser::input("lane", &RandomElement::lane, "The rest of that division."),
        nvfuser::input("parameters", &RandomElement::parameters, "As of the RNGOp."),
        nvfuser::attr("op", &RandomElement::op, "Distribution."),
    };
  }
};

struct ChosenElement final : ExprNode<ChosenElement> {
  static constexpr ExprKind kKind = ExprKind::ChosenElement;
  static constexpr const char* kName = "ChosenElement";
  static constexpr const char* kDoc =
      "out = values[k] for the first k whose condition holds, the last value if none does. Only "
      "that value is read: the others may lie outside of their tensors.";
  Val* out = nullptr;
  std::vector<Val*> conditions;
  std::vector<Val*> values;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("out", &ChosenElement::out, "Element of the result."),
        nvfuser::input("conditions", &ChosenElement::conditions, "Bool, one less than values."),
        nvfuser::input("values", &ChosenElement::values, "Elements, or scalars of out's type."),
    };
  }
};

struct ThreadLoop final : ExprNode<ThreadLoop> {
  static constexpr ExprKind kKind = ExprKind::ThreadLoop;
  static constexpr const char* kName = "ThreadLoop";
  static constexpr const char* kDoc =
      "CPU target: run body for every thread of the block. Stands around a region that needs no "
      "other thread.";
  Scope body;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr("body", &ThreadLoop::body, "Statements."),
    };
  }
};

struct BlockLoop final : ExprNode<BlockLoop> {
  static constexpr ExprKind kKind = ExprKind::BlockLoop;
  static constexpr const char* kName = "BlockLoop";
  static constexpr const char* kDoc =
      "CPU target: run body for every block of the grid, in parallel where no block depends on "
      "another. One phase of the kernel.";
  bool is_parallel = true;
  Scope body;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::attr("is_parallel", &BlockLoop::is_parallel, "Whether blocks may run at once."),
        nvfuser::attr("body", &BlockLoop::body, "Statements."),
    };
  }
};

} // namespace nvfuser
