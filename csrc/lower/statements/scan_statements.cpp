// Scans: registers outside of the loops over the axis hold what was combined so far.
//
//   carry = init                        before the loops over the axis
//   carry = carry op T1[i]              in them
//   T2[i] = carry
//
// Over threads, each of which has some items (`lower/statements/scan_loops.h`):
//
//   carry = init                        before the loops over the axis
//   own = identity                      before those over the items of a thread
//   own = own op T1[i]                  in them. Holes do nothing: they count as identities
//   chunk[i] = own
//   own, carry = scan of own            after them; every thread calls (BlockScan)
//   T2[i] = own op chunk[i]             in loops over the items of their own
#include <algorithm>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "lower/statements/statements.h"
#include "ops/reduce.h"

namespace nvfuser {
namespace {

bool contains(const LoopNest& loops, const Loop* loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

/// Registers have as many elements as a loop that they are addressed by has positions.
void require_constant_extent(
    const Kernel& kernel, const ScanOp& op, const Loop& loop, bool is_over_items) {
  if (loop.extent()->is_const_int()) {
    return;
  }
  const std::string where =
      is_over_items ? "over the items of a thread: " : "inside of the loops over its axis: ";
  kernel.note_refusal(refuse({
      .headline = {"A scan has a loop of unknown size ", where, loop.promoted->to_string()},
      .node = {describe(op.out)},
      .expected =
          {is_over_items ? "a constant number of items"
                         : "constant extents inside of the loops over the axis of a scan"},
      .found = {"extent ", loop.extent()->to_inline_string()},
      .fix =
          {is_over_items
               ? "split the axis by the number of items first, then the outer part by threads"
               : "reorder the axis of the scan inside, or bind the other axis to threads"},
  }));
}

/// Sums and products run in Float where elements are narrower: each is rounded once, when stored.
/// For the same reason those of Floats run in Double where that costs nothing.
DataType running_type(const Kernel& kernel, const ScanOp& op) {
  const DataType type = op.out->dtype();
  if (op.op != BinaryOpType::Add && op.op != BinaryOpType::Mul) {
    return type;
  }
  if (type == DataType::Float && has_fast_doubles(kernel)) {
    return DataType::Double;
  }
  return is_low_precision(type) ? DataType::Float : type;
}

/// The loops of the nest from the first of `outlived` on that registers before that have elements
/// for: all that may run more than once, without `outlived` themselves.
LoopNest loops_inside(const LoopNest& nest, const LoopNest& outlived) {
  LoopNest inside;
  bool is_inside = false;
  for (Loop* loop : nest) {
    const bool is_outlived = contains(outlived, loop);
    is_inside = is_inside || is_outlived;
    if (is_inside && !is_outlived && !loop->is_hardware() && !loop->index->is_const()) {
      inside.push_back(loop);
    }
  }
  return inside;
}

} // namespace

// ---- Registers ----------------------------------------------------------------------------------

StatementBuilder::Registers StatementBuilder::new_registers(
    const ScanOp& op, const LoopNest& loops) {
  Val* size = kernel_.one();
  for (const Loop* loop : loops) {
    size = scalar::mul(size, loop->extent());
  }
  TensorDomainSpec spec;
  spec.logical = {kernel_.new_iter_domain(size)};
  return {kernel_.new_tensor(kernel_.new_tensor_domain(spec), running_type(kernel_, op)), loops};
}

Expr* StatementBuilder::allocate(const Registers& registers, ScanOp& op) {
  Expr* statement = kernel_.make<Allocate>(
      {.buffer = registers.tensor,
       .memory_type = MemoryType::Local,
       .size = registers.tensor->logical().front()->extent()});
  kernel_.origin[statement] = &op;
  return statement;
}

TensorIndex* StatementBuilder::element(const Registers& registers) {
  Val* index = kernel_.zero();
  for (const Loop* loop : registers.loops) {
    index = scalar::add(scalar::mul(index, loop->extent()), loop->index);
  }
  return kernel_.new_tensor_index(registers.tensor, kernel_.simplifier->simplify(index));
}

Expr* StatementBuilder::set_registers(const Registers& registers, Val* value, ScanOp& op) {
  Expr* statement = kernel_.make<LoadStoreOp>(
      {.out = element(registers), .arg = value, .op = LoadStoreOpType::Set});
  kernel_.origin[statement] = &op;
  return statement;
}

// ---- Statements ---------------------------------------------------------------------------------

/// Registers for what the loops inside of those over the axis run through: one running value for
/// each of their positions, also where `out` itself is the same for several.
std::vector<StatementBuilder::ScanStart> StatementBuilder::start_scan(
    ScanOp& op, const LoopNest& nest) {
  Scan& state = scans_[&op];
  if (const auto refusal = find_scan_loops(kernel_, op, nest, state.loops)) {
    kernel_.note_refusal(*refusal);
    return {};
  }
  const LoopNest& items = state.loops.items;
  LoopNest serial = state.loops.rounds;
  serial.insert(serial.end(), items.begin(), items.end());
  state.carry = new_registers(op, loops_inside(nest, serial));
  for (const Loop* loop : state.carry.loops) {
    require_constant_extent(kernel_, op, *loop, /*is_over_items=*/false);
  }
  const DataType dtype = running_type(kernel_, op);
  std::vector<ScanStart> starts{
      {serial,
       {allocate(state.carry, op)},
       set_registers(state.carry, scalar::cast(dtype, op.init), op)}};
  if (state.loops.thread == nullptr) {
    return starts;
  }
  state.own = new_registers(op, loops_inside(nest, items));
  LoopNest of_chunk;
  for (Loop* loop : nest) {
    if (contains(items, loop)) {
      require_constant_extent(kernel_, op, *loop, /*is_over_items=*/true);
      of_chunk.push_back(loop);
    } else if (contains(state.own.loops, loop)) {
      of_chunk.push_back(loop);
    }
  }
  state.chunk = new_registers(op, of_chunk);
  Val* identity = kernel_.new_constant(ops::reduction_identity(op.op, dtype), dtype);
  starts.push_back(
      {items,
       {allocate(state.own, op), allocate(state.chunk, op)},
       set_registers(state.own, identity, op)});
  return starts;
}

const ScanLoops& StatementBuilder::loops_of_scan(const ScanOp& op) const {
  return scans_.at(&op).loops;
}

std::vector<Expr*> StatementBuilder::scan(ScanOp& op, const LoopNest& nest) {
  const Scan& state = scans_.at(&op);
  const bool is_over_threads = state.loops.thread != nullptr;
  StatementContext context(kernel_, nest, op.out, walks_);
  TensorIndex* running = element(is_over_threads ? state.own : state.carry);
  Expr* combine = kernel_.make<BinaryOp>(
      {.out = running, .lhs = running, .rhs = context.operand(op.arg), .op = op.op});
  kernel_.tests[combine] = tests_of(&op, context);
  kernel_.tests[combine].owner = nullptr; // every thread has a running value of its own
  if (is_over_threads) {
    return {combine, set_registers(state.chunk, running, op)};
  }
  Expr* store = context.copy_to(op.out, running);
  kernel_.tests[store] = tests_of(&op, context);
  return {combine, store};
}

Expr* StatementBuilder::scan_threads(ScanOp& op) {
  const Scan& state = scans_.at(&op);
  Expr* statement = kernel_.make<BlockScan>(
      {.prefix = element(state.own),
       .carry = element(state.carry),
       .value = element(state.own),
       .op = op.op,
       .scanned_dim = traits_of(state.loops.thread->parallel_type).dim});
  kernel_.origin[statement] = &op;
  return statement;
}

Expr* StatementBuilder::finish_scan(ScanOp& op, const LoopNest& nest) {
  const Scan& state = scans_.at(&op);
  StatementContext context(kernel_, nest, op.out, walks_);
  Expr* statement = kernel_.make<BinaryOp>(
      {.out = context.result(op.out),
       .lhs = element(state.own),
       .rhs = element(state.chunk),
       .op = op.op});
  kernel_.origin[statement] = &op;
  if (op.out->memory_type() != MemoryType::Local) { // a hole in registers may hold anything
    kernel_.tests[statement] = tests_of(&op, context);
  }
  return statement;
}

} // namespace nvfuser
