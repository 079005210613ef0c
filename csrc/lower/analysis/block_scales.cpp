#include "lower/analysis/block_scales.h"

#include <algorithm>
#include <array>

#include "base/mma_macro.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/pointwise.h"
#include "ir/rules.h"
#include "lower/analysis/memory_layout.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kLanes = 32;  // of a warp
constexpr int64_t kColumns = 4; // of a chunk: rows / 32
constexpr int64_t kBlocks = 4;  // of a chunk: bytes of a column
constexpr int64_t kRows = kLanes * kColumns;
constexpr int64_t kElements = kRows * kBlocks;

const TensorView* source_of(const TensorView* copy) {
  return static_cast<const TensorView*>(copy->definition()->as<LoadStoreOp>()->arg);
}

/// The axes bound to mma, outermost first.
std::vector<const IterDomain*> copied_axes(const TensorView* copy) {
  std::vector<const IterDomain*> axes;
  for (const IterDomain* axis : copy->loop()) {
    if (axis->is_mma()) {
      axes.push_back(axis);
    }
  }
  return axes;
}

/// Whether `axes` count the elements of chunks: [.., 32, 4, 4], or, of two, [.., 2, 32, 4, 4].
bool are_of_chunks(const std::vector<const IterDomain*>& axes) {
  constexpr std::array<int64_t, 4> kExtents{2, kLanes, kColumns, kBlocks};
  if (axes.size() < 3 || axes.size() > kExtents.size()) {
    return false;
  }
  return std::ranges::equal(
      axes, std::span(kExtents).last(axes.size()),
      [](const IterDomain* axis, int64_t extent) { return axis->extent()->is_const_int(extent); });
}

/// The split of which `axis` is the inner part; nullptr: it is of none.
const Split* split_with_inner(const IterDomain* axis) {
  const auto* split = axis->definition() == nullptr ? nullptr : axis->definition()->as<Split>();
  return split != nullptr && split->inner == axis ? split : nullptr;
}

/// Whether `axis`, which an instruction sums, is `block`, or a part as long of what counts of
/// blocks and they were merged to.
bool is_one_block(const IterDomain* axis, const IterDomain* block) {
  const int64_t elements = as_int(block->extent()->value());
  while (const Split* split = split_with_inner(axis)) {
    if (!axis->extent()->is_const_int() || as_int(axis->extent()->value()) % elements != 0) {
      return false;
    }
    axis = split->in;
  }
  const auto* merge = axis->definition() == nullptr ? nullptr : axis->definition()->as<Merge>();
  return axis == block || (merge != nullptr && merge->inner == block);
}

/// The axis of rows that the axes of a copy are split from: by 32, and if there are two chunks, by
/// 4 again; nullptr: they are split otherwise.
const IterDomain* rows_of(const std::vector<const IterDomain*>& axes) {
  const size_t first = axes.size() - 3; // of [32, 4, 4]
  const Split* by_lanes = split_with_inner(axes[first]);
  if (by_lanes == nullptr) {
    return nullptr;
  }
  if (first == 0) {
    return by_lanes->outer == axes[1] ? by_lanes->in : nullptr;
  }
  const Split* by_chunks = split_with_inner(axes[first + 1]);
  const bool is_of_chunks =
      by_chunks != nullptr && by_chunks->in == by_lanes->outer && by_chunks->outer == axes.front();
  return is_of_chunks ? by_lanes->in : nullptr;
}

/// Whether the innermost of `stored`, or what they are merged from, are `axes`.
bool end_in(
    const ValGraph& exact,
    std::vector<const IterDomain*> stored,
    const std::vector<const IterDomain*>& axes) {
  for (size_t i = axes.size(); i-- > 0;) {
    while (!stored.empty() && !exact.are_mapped(stored.back(), axes[i])) {
      const IterDomain* axis = stored.back();
      const auto* merge = axis->definition() == nullptr ? nullptr : axis->definition()->as<Merge>();
      stored.pop_back();
      if (merge == nullptr) {
        return false;
      }
      stored.push_back(merge->outer);
      stored.push_back(merge->inner);
    }
    if (stored.empty()) {
      return false;
    }
    stored.pop_back();
  }
  return true;
}

/// The chunks of one factor, whose rows are those of `tile`, an axis of the sum.
std::optional<Refusal> find_wrong_chunks(
    Kernel& kernel, const TensorView* sum, const TensorView* scale, const IterDomain* tile) {
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  const auto axes = copied_axes(scale);
  const IterDomain* rows = rows_of(axes);
  const Split* blocks = split_with_inner(axes.back());
  if (rows == nullptr || !exact.are_mapped(rows, tile) || blocks == nullptr ||
      blocks->in != scale->logical()[scale->logical().size() - 2]) {
    return refuse_node(
        {describe(scale), "\nscales a factor of ", describe(sum)},
        {"Scales are not split as chunks of the tile that the instruction multiplies"},
        {tile->to_string(),
         " split by 32, and by 4 again if it has 256 rows, and the axis of "
         "blocks split by 4: [(2,) 32, 4, 4]"},
        {scale->domain()->to_string()},
        {"split rows of the scales as the sum, then by 32, and blocks by 4"});
  }
  const IterDomains stored = stored_axes(kernel, source_of(scale));
  if (!end_in(exact, {stored.begin(), stored.end()}, axes)) {
    std::string found;
    for (const IterDomain* axis : stored) {
      found += (found.empty() ? "" : ", ") + axis->to_string();
    }
    return refuse_node(
        {describe(source_of(scale)), "\ncopied to ", describe(scale)},
        {"Scales do not lie in shared memory as they are copied to tensor memory"},
        {"[.., (2,) 32, 4, 4] innermost, of the same splits: rows of a warp, rows / 32, blocks"},
        {"[", found, "]"},
        {"split and reorder the axes of the copy in shared memory as those of the one in tensor "
         "memory; the axes of 32 and 4 may be merged"});
  }
  return std::nullopt;
}

std::optional<Refusal> find_missing_copy(const TensorView* scale, const TensorView* sum) {
  if (is_scale_copy(scale->definition())) {
    return std::nullopt;
  }
  return refuse_node(
      {describe(scale), "\nscales a factor of ", describe(sum)},
      {"Scales of a product are not copied to tensor memory"},
      {"a copy with LoadStoreOpType.StTMem, of a copy in shared memory"},
      {scale->definition() == nullptr ? "an input" : scale->definition()->op_name(), ", in ",
       enum_name(scale->memory_type())},
      {"cache_after() with MemoryType.shared, and cache_after(LoadStoreOpType.StTMem) with "
       "MemoryType.tensor"});
}

} // namespace

bool is_block_scale(const TensorView* tensor) {
  return std::ranges::any_of(tensor->all_uses(), [&](const Expr* use) {
    const auto* product = use->as<MmaOp>();
    return product != nullptr && product->macro != 0 &&
           (product->a_scale == tensor || product->b_scale == tensor);
  });
}

bool is_scale_copy(const Expr* expr) {
  const auto* copy = expr == nullptr ? nullptr : expr->as<LoadStoreOp>();
  return copy != nullptr && copy->op == LoadStoreOpType::StTMem && copy->out->is_tensor() &&
         is_block_scale(static_cast<const TensorView*>(copy->out));
}

const TensorView* scales_copied_by(const Expr& statement) {
  const auto* copy = statement.as<LoadStoreOp>();
  if (copy == nullptr || copy->out->vtype() != ValType::TensorIndex) {
    return nullptr;
  }
  const TensorView* out = static_cast<const TensorIndex*>(copy->out)->view();
  return out->memory_type() == MemoryType::Tensor && is_scale_copy(out->definition()) ? out
                                                                                      : nullptr;
}

int64_t columns_of_scales(int64_t elements) {
  return elements / kElements * kColumns;
}

int64_t chunks_of(const TensorView* copy) {
  return copied_axes(copy).size() == 3 ? 1 : 2;
}

std::optional<Refusal> find_wrong_scales(const MmaOp& product) {
  if (product.a_scale == nullptr) {
    return std::nullopt;
  }
  const auto* sum = static_cast<const TensorView*>(product.out);
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  if (macro.n % kRows != 0) {
    return refuse_node(
        sum, {"A product by scales has no such number of columns"}, {"n = 128 or n = 256"},
        {"n = ", macro.n}, {"use a macro of 128 or 256 columns"});
  }
  if (!is_one_block(sum->axis(-1), sum->maybe_root().back())) {
    return refuse_node(
        sum, {"An instruction does not sum the elements that have one scale"},
        {"the blocks of the factors innermost: ", sum->maybe_root().back()->to_string()},
        {sum->axis(-1)->to_string()},
        {"move the axis of blocks behind m and n, as it is, or merged into those in front of it "
         "and split by 32"});
  }
  NVF_RETURN_REFUSAL(find_missing_copy(static_cast<TensorView*>(product.a_scale), sum));
  return find_missing_copy(static_cast<TensorView*>(product.b_scale), sum);
}

std::optional<Refusal> find_wrong_scale_copy(const TensorView* copy) {
  const TensorView* source = source_of(copy);
  if (source->memory_type() != MemoryType::Shared || copy->memory_type() != MemoryType::Tensor) {
    return refuse_node(
        copy, {"Scales are copied from shared memory to tensor memory"},
        {"a tensor with MemoryType.shared, and a copy with MemoryType.tensor"},
        {"from ", enum_name(source->memory_type()), " to ", enum_name(copy->memory_type())},
        {"set_memory_type() of both"});
  }
  const auto& uses = copy->all_uses();
  const auto other = std::ranges::find_if_not(uses, [&](const Expr* use) {
    const auto* product = use->as<MmaOp>();
    return product != nullptr && product->a != copy && product->b != copy;
  });
  if (other != uses.end() || copy->is_fusion_output()) {
    return refuse_node(
        copy, {"Scales in tensor memory are read by something that is no product"},
        {"sums with set_mma_macro, which read them as scales"},
        {other == uses.end() ? "an output" : (*other)->op_name()},
        {"compute with the tensor that is copied there"});
  }
  const auto axes = copied_axes(copy);
  const bool are_innermost = std::ranges::equal(axes, std::span(copy->loop()).last(axes.size()));
  const bool is_of_threads = std::ranges::any_of(copy->loop(), &IterDomain::is_block_dim);
  if (are_of_chunks(axes) && are_innermost && !is_of_threads) {
    return std::nullopt;
  }
  return refuse_node(
      copy, {"A copy of scales to tensor memory is no chunk of them"},
      {"[.., (2,) 32, 4, 4] innermost, bound to mma: rows / 128, rows of a warp, rows / 32, "
       "blocks; no axis bound to threads, of which one copies"},
      {copy->domain()->to_string()},
      {"split rows by 128 and by 32, blocks by 4, reorder them, and bind them to "
       "ParallelType.mma"});
}

std::optional<Refusal> find_wrong_chunks(Kernel& kernel, const MmaOp& product) {
  if (product.a_scale == nullptr) {
    return std::nullopt;
  }
  const auto* sum = static_cast<const TensorView*>(product.out);
  FragmentAxes axes;
  NVF_RETURN_REFUSAL(
      find_fragment(sum, find_mma_instruction(MmaMacro::from_int(product.macro))->result, axes));
  NVF_RETURN_REFUSAL(
      find_wrong_chunks(kernel, sum, static_cast<TensorView*>(product.a_scale), axes.tile[0]));
  return find_wrong_chunks(kernel, sum, static_cast<TensorView*>(product.b_scale), axes.tile[1]);
}

} // namespace nvfuser
