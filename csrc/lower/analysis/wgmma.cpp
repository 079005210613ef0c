#include "lower/analysis/wgmma.h"

#include "base/mma_macro.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/product_groups.h"
#include "lower/analysis/tensor_maps.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr int64_t kArchitecture = 90; // the only one that has it

/// Whether `tile` is a part of `box`, or all of it, by splits without remainder.
bool is_part_of(const ValGraph& exact, const IterDomain* tile, const IterDomain* box) {
  while (!exact.are_mapped(tile, box)) {
    const auto* split = tile->definition() == nullptr ? nullptr : tile->definition()->as<Split>();
    if (split == nullptr || split->inner != tile || !split->in->extent()->is_const_int() ||
        !tile->extent()->is_const_int() ||
        as_int(split->in->extent()->value()) % as_int(tile->extent()->value()) != 0) {
      return false;
    }
    tile = split->in;
  }
  return true;
}

const char* name_of_instruction(const TensorView* sum) {
  return is_wgmma(sum->definition()) ? "wgmma" : "tcgen05";
}

/// An axis of the sum that the instruction computes a tile of.
struct TileOfFactor {
  const char* name;
  const IterDomain* tile;
};

/// The box that holds the tiles [rows, summed] of a factor.
std::optional<Refusal> find_wrong_box(
    Kernel& kernel,
    TensorView* factor,
    const TensorView* sum,
    const TileOfFactor& rows,
    const TileOfFactor& summed) {
  const auto map = std::get<TensorMap>(find_tensor_map(kernel, factor)); // check_bulk_copies has it
  if (map.swizzle_bytes == 0) {
    return refuse({
        .headline =
            {"A factor of ", name_of_instruction(sum), " lies in shared memory without a swizzle"},
        .node = {describe(factor), "\nmultiplied in ", describe(sum)},
        .expected = {"rows of 32, 64 or 128 bytes, swizzled by 16 bytes in lines of 128"},
        .found = {"a box without swizzle"},
        .fix = {"split the rows of the box by 8 and its columns by 8, and swizzle both parts; "
                "docs/tensor_cores.md shows how"},
    });
  }
  const ValGraph& exact = kernel.id_model->maybe_build_graph(IdMappingMode::exact);
  const std::array<TileOfFactor, 2> tiles{summed, rows}; // innermost first, as axes of the map
  for (size_t i = 0; i < tiles.size(); ++i) {
    const IterDomain* box = i < map.dims.size() ? map.dims[i].tile : nullptr;
    if (box == nullptr || !is_part_of(exact, tiles[i].tile, box)) {
      return refuse({
          .headline =
              {"A tile of ", name_of_instruction(sum),
               " is no part of the box that its factor lies in"},
          .node = {describe(factor), "\nmultiplied in ", describe(sum)},
          .expected =
              {"a box of which ", tiles[i].tile->to_string(), ", axis ", tiles[i].name,
               " of the sum, is a part without remainder; k is innermost"},
          .found = {box == nullptr ? std::string("no axis of the box") : box->to_string()},
          .fix =
              {"split ", tiles[i].name,
               " of the factor and of the sum by the size of the box, "
               "and that of the sum by the tile again"},
      });
    }
  }
  return std::nullopt;
}

} // namespace

bool is_wgmma(const Expr* expr) {
  const auto* op = expr == nullptr ? nullptr : expr->as<MmaOp>();
  return op != nullptr && MmaMacro::from_int(op->macro).arch == MmaMacroArch::Hopper;
}

std::optional<Refusal> find_wrong_shared_factor(const TensorView* factor, const TensorView* sum) {
  if (is_bulk_load(factor->definition())) {
    return std::nullopt;
  }
  return refuse({
      .headline =
          {"A factor of ", name_of_instruction(sum),
           " is not brought to shared memory by a bulk copy"},
      .node = {describe(factor), "\nmultiplied in ", describe(sum)},
      .expected = {"a tensor made by cache_after(LoadStoreOpType.tma), in shared memory"},
      .found =
          {factor->definition() == nullptr ? "an input" : factor->definition()->op_name(), ", in ",
           enum_name(factor->memory_type())},
      .fix = {"define the factors as [m, 1, k] and [1, n, k], so that no broadcast stands between "
              "the copy and the product, and call cache_after(LoadStoreOpType.tma) on them"},
  });
}

std::optional<Refusal> find_wrong_wgmma(Kernel& kernel, const MmaOp& product) {
  const auto* sum = static_cast<const TensorView*>(product.out);
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  const Target& target = kernel.target();
  if (target.is_cuda() && (target.architecture != kArchitecture || !target.has_bulk_copies)) {
    return refuse({
        .headline = {"The GPU has no instruction ", macro.to_string()},
        .node = {describe(sum)},
        .expected = {"compute capability 9.0, and a driver that describes tensors"},
        .found =
            {target.architecture / 10, ".", target.architecture % 10,
             target.has_bulk_copies ? "" : ", without bulk copies"},
        .fix = {"MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro(), with factors in "
                "registers"},
    });
  }
  return find_wrong_boxes(kernel, product);
}

std::optional<Refusal> find_wrong_boxes(Kernel& kernel, const MmaOp& product) {
  const auto* sum = static_cast<const TensorView*>(product.out);
  const MmaMacro macro = MmaMacro::from_int(product.macro);
  FragmentAxes axes;
  NVF_RETURN_REFUSAL(find_fragment(sum, find_mma_instruction(macro)->result, axes));
  const TileOfFactor summed{"k", sum->axis(-1)};
  NVF_RETURN_REFUSAL(find_wrong_box(
      kernel, static_cast<TensorView*>(product.a), sum, {"m", axes.tile[0]}, summed));
  return find_wrong_box(
      kernel, static_cast<TensorView*>(product.b), sum, {"n", axes.tile[1]}, summed);
}

const AsyncMechanism& products_of_warpgroups() {
  static const ProductGroups products(kProducts, kRegistersOfProducts, /*is_seen_by_block=*/false);
  return products;
}

} // namespace nvfuser
