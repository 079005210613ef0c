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
//   GridReduction   combines over blocks (after a BlockReduction, if threads are reduced too). With
//                   `allreduce` every block gets the result and the kernel is cooperative; without,
//                   only the last block to arrive does, and `is_last` says whether this is it.
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
    };
  }
};

struct IfThenElse final : ExprNode<IfThenElse> {
  static constexpr ExprKind kKind = ExprKind::IfThenElse;
  static constexpr const char* kName = "IfThenElse";
  static constexpr const char* kDoc = "Run then_body if predicate holds, else_body otherwise.";
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
      "Combine one value (or a Welford triple) over threads of a block; see the top of this "
      "file. out = combine(out, over threads: predicate ? in : init).";
  std::vector<Val*> outs;
  std::vector<Val*> ins;
  std::vector<Val*> inits;
  BinaryOpType op = BinaryOpType::Add;
  bool is_welford = false;
  std::vector<int64_t> reduced_dims;
  bool is_warp = false;
  Val* read_predicate = nullptr;
  Val* workspace_offset = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("outs", &BlockReduction::outs, "Accumulators: one, or (avg, var, n)."),
        nvfuser::input("ins", &BlockReduction::ins, "Values of this thread, as many."),
        nvfuser::attr("inits", &BlockReduction::inits, "Identities, as many."),
        nvfuser::attr("op", &BlockReduction::op, "Combiner, for one value."),
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

struct GridReduction final : ExprNode<GridReduction> {
  static constexpr ExprKind kKind = ExprKind::GridReduction;
  static constexpr const char* kName = "GridReduction";
  static constexpr const char* kDoc =
      "Combine one value (or a Welford triple) over blocks; see the top of this file.";
  std::vector<Val*> outs;
  std::vector<Val*> ins;
  std::vector<Val*> inits;
  BinaryOpType op = BinaryOpType::Add;
  bool is_welford = false;
  std::vector<int64_t> reduced_dims;
  std::vector<int64_t> reduced_thread_dims;
  bool allreduce = false;
  Val* is_last = nullptr;
  Val* read_predicate = nullptr;
  Val* entrance = nullptr;
  Val* entrances = nullptr;
  std::vector<TensorView*> work_buffers;
  TensorView* sync_buffer = nullptr;
  static constexpr auto fields() {
    return std::tuple{
        nvfuser::output("outs", &GridReduction::outs, "Accumulators: one, or (avg, var, n)."),
        nvfuser::input("ins", &GridReduction::ins, "Values of this thread, as many."),
        nvfuser::attr("inits", &GridReduction::inits, "Identities, as many."),
        nvfuser::attr("op", &GridReduction::op, "Combiner, for one value."),
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
