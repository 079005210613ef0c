#include "ir/kernel_traits.h"

#include "ir/kernel_nodes.h"
#include "ir/matmul_exprs.h"
#include "ir/pointwise.h"

namespace nvfuser {
namespace {

/// Each thread has copies of its own under way.
constexpr KernelTraits kAsync{.is_ordered = true};
/// A block takes its turn as a whole.
constexpr KernelTraits kTurn{.needs_all_threads = true, .is_ordered = true};
constexpr KernelTraits kBlockCollective{
    .is_collective = true, .needs_all_threads = true, .is_ordered = true, .is_large = true};

/// The table: a row for each kind of ir/kernel_nodes.h.
namespace row {
constexpr KernelTraits ForLoop{};
constexpr KernelTraits IfThenElse{};
constexpr KernelTraits Allocate{.is_declaration = true};
constexpr KernelTraits BlockSync{
    .barriers = {Barrier::Warp, Barrier::Block}, .needs_all_threads = true, .is_ordered = true};
constexpr KernelTraits AsyncCommit = kAsync;
constexpr KernelTraits AsyncWait = kAsync;
constexpr KernelTraits GridSync{
    .barriers = {Barrier::Warp, Barrier::Block, Barrier::Cluster, Barrier::Grid},
    .needs_all_threads = true,
    .is_ordered = true,
    .is_large = true};
constexpr KernelTraits BlockReduction = kBlockCollective;
constexpr KernelTraits BlockScan = kBlockCollective;
constexpr KernelTraits GridReduction{
    .needs_all_threads = true, .is_ordered = true, .is_large = true};
constexpr KernelTraits BlockSerializeWait = kTurn;
constexpr KernelTraits BlockSerializeRelease = kTurn;
constexpr KernelTraits RandomElement{};
constexpr KernelTraits ChosenElement{};
constexpr KernelTraits ThreadLoop{};
constexpr KernelTraits BlockLoop{};
constexpr KernelTraits ClusterSync{
    .barriers = {Barrier::Warp, Barrier::Block, Barrier::Cluster},
    .needs_all_threads = true,
    .is_ordered = true};
constexpr KernelTraits ClusterReduction{
    .barriers = {Barrier::Warp, Barrier::Block, Barrier::Cluster},
    .is_collective = true,
    .needs_all_threads = true,
    .is_ordered = true,
    .is_large = true};
constexpr KernelTraits ClusterLoop{};
constexpr KernelTraits BulkLoad{.is_ordered = true};
constexpr KernelTraits BulkStore{.is_ordered = true};
constexpr KernelTraits BulkStoreWait{.is_ordered = true};
constexpr KernelTraits FenceAsyncProxy{.is_ordered = true};
constexpr KernelTraits PriorGridWait{.needs_all_threads = true, .is_ordered = true};
constexpr KernelTraits DependentGridLaunch{.needs_all_threads = true, .is_ordered = true};
} // namespace row

constexpr KernelTraits kOnElements{};

/// Groups of bulk copies belong to the block, and so do those of its accesses to stages of circular
/// buffers: its threads count them together.
constexpr KernelTraits kOfBlockGroups{.needs_all_threads = true, .is_ordered = true};

/// The lanes of a warp multiply, copy matrices, and touch tensor memory together: none stands under
/// a condition, nor moves into one.
constexpr KernelTraits kOfWarp{.needs_all_threads = true, .is_ordered = true};

bool is_in_tensor_memory(const Val* element) {
  return element->vtype() == ValType::TensorIndex &&
         static_cast<const TensorIndex*>(element)->view()->memory_type() == MemoryType::Tensor;
}

bool is_of_warp(const Expr& statement) {
  const auto* mma = statement.as<MmaOp>();
  const auto* copy = statement.as<LoadStoreOp>();
  return (mma != nullptr && mma->macro != 0) ||
         (copy != nullptr &&
          (copy->op == LoadStoreOpType::LdMatrix || copy->op == LoadStoreOpType::StMatrix ||
           is_in_tensor_memory(copy->out) || is_in_tensor_memory(copy->arg)));
}

bool is_of_block_groups(const Expr& statement) {
  constexpr LoadStoreOpType kOfThread = LoadStoreOpType::CpAsync;
  const auto* commit = statement.as<AsyncCommit>();
  const auto* wait = statement.as<AsyncWait>();
  return (commit != nullptr && commit->async_op != kOfThread) ||
         (wait != nullptr && wait->async_op != kOfThread);
}

} // namespace

const KernelTraits& traits_of(const Expr& statement) {
  if (is_of_block_groups(statement)) {
    return kOfBlockGroups;
  }
  if (is_of_warp(statement)) {
    return kOfWarp;
  }
#define NVF_ROW(Node) \
  case ExprKind::Node: return row::Node;
  // clang-format off
  switch (statement.kind()) {
    NVF_FOR_EACH_KERNEL_EXPR(NVF_ROW)
    default: return kOnElements;
  }
    // clang-format on
#undef NVF_ROW
}

} // namespace nvfuser
