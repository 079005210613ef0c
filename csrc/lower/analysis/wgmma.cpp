#include "lower/analysis/wgmma.h"

#include "base/mma_macro.h"
#include "graph/id_model.h"
#include "graph/val_graph.h"
#include "ir/rules.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/memory_layout.h"
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

/// Checks the box that holds the tiles [rows, summed] of a factor whose rows run along m or n:
/// tiles are as wide as one box, or as several that follow each other.
class TransposedFactor {
 public:
  TransposedFactor(
      Kernel& kernel,
      TensorView* factor,
      const TensorView* sum,
      const TileOfFactor& rows,
      const TensorMap& map)
      : kernel_(kernel),
        exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
        factor_(factor),
        sum_(sum),
        rows_(rows),
        map_(map) {}

  std::optional<Refusal> check() {
    constexpr int64_t kBytes = 2;
    if (size_bytes(factor_->dtype()) != kBytes) {
      return refuse_factor(
          {"A transposed factor of wgmma has no elements of 16 bits"},
          {"BFloat16 or Half where ", rows_.name, " is innermost; k innermost for other types"},
          {text(factor_->dtype())},
          {"store the factor with k contiguous, or convert it to 16 bits before"});
    }
    if (!holds_boxes()) {
      return refuse_factor(
          {"A tile of wgmma is not made of the boxes of its transposed factor"},
          {"a tile along ", rows_.name,
           " that is a box, of 32, 64 or 128 bytes, or an axis that "
           "counts boxes merged with it"},
          {rows_.tile->to_string(), " of boxes ", box()->to_string()},
          {"split ", rows_.name,
           " of the sum by the box, as that of the factor, and merge with "
           "the box the axis that counts those of a tile"});
    }
    if (!are_neighbours()) {
      return refuse_factor(
          {"Boxes of a transposed factor of wgmma do not follow each other along ", rows_.name},
          {"the axis that counts the boxes of a tile directly outside of the box in shared memory"},
          {merge_of_boxes()->outer->to_string(), " of ", rows_.tile->to_string(), " elsewhere"},
          {"reorder the axes of the factor, so that it stands in front of those of the box"});
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] const IterDomain* box() const {
    return map_.dims.front().tile;
  }
  /// The merge that makes a tile of several boxes; nullptr: there is none.
  [[nodiscard]] const Merge* merge_of_boxes() const {
    const Expr* made_by = rows_.tile->definition();
    const auto* merge = made_by == nullptr ? nullptr : made_by->as<Merge>();
    return merge != nullptr && exact_.are_mapped(merge->inner, box()) ? merge : nullptr;
  }
  [[nodiscard]] bool holds_boxes() const {
    return exact_.are_mapped(box(), rows_.tile) || merge_of_boxes() != nullptr;
  }
  [[nodiscard]] int64_t box_elements() const {
    return map_.dims[0].box * map_.dims[1].box;
  }

  /// Whether a tile is one box, or the boxes of a tile lie one behind the other.
  [[nodiscard]] bool are_neighbours() const {
    const Merge* merge = merge_of_boxes();
    if (merge == nullptr) {
      return true;
    }
    int64_t inside = 1; // elements
    const IterDomains stored = stored_axes(kernel_, factor_);
    for (size_t i = stored.size(); i-- > 0;) {
      if (exact_.are_mapped(stored[i], merge->outer)) {
        return inside == box_elements();
      }
      inside *= stored[i]->extent()->is_const_int() ? as_int(stored[i]->extent()->value()) : 0;
    }
    return false;
  }

  [[nodiscard]] Refusal refuse_factor(Part headline, Part expected, Part found, Part fix) const {
    return refuse_node(
        {describe(factor_), "\nmultiplied in ", describe(sum_)}, std::move(headline),
        std::move(expected), std::move(found), std::move(fix));
  }

  Kernel& kernel_;
  const ValGraph& exact_;
  TensorView* factor_;
  const TensorView* sum_;
  const TileOfFactor& rows_;
  const TensorMap& map_;
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
  const bool is_plane = map.dims.size() > 1 && map.dims[0].tile != nullptr;
  const bool is_transposed = is_plane && is_wgmma(sum->definition()) &&
                             is_transposed_factor(*sum->definition()->as<MmaOp>(), factor);
  if (is_transposed) {
    NVF_RETURN_REFUSAL(TransposedFactor(kernel, factor, sum, rows, map).check());
  }
  const std::array<TileOfFactor, 2> tiles{summed, rows}; // innermost first, as axes of the map
  for (size_t i = 0; i < (is_transposed ? 1 : tiles.size()); ++i) {
    const size_t dim = is_transposed ? 1 : i;
    const IterDomain* box = dim < map.dims.size() ? map.dims[dim].tile : nullptr;
    if (box == nullptr || !is_part_of(exact, tiles[i].tile, box)) {
      return refuse({
          .headline =
              {"A tile of ", name_of_instruction(sum),
               " is no part of the box that its factor lies in"},
          .node = {describe(factor), "\nmultiplied in ", describe(sum)},
          .expected =
              {"a box of which ", tiles[i].tile->to_string(), ", axis ", tiles[i].name,
               " of the sum, is a part without remainder; k is innermost, or m or n of 16 bits"},
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

bool holds_first_factor(const MmaOp& product) {
  return is_wgmma(&product) && !is_bulk_load(product.a->definition());
}

bool is_transposed_factor(const MmaOp& product, const TensorView* factor) {
  const auto* sum = static_cast<const TensorView*>(product.out);
  const IterDomains& axes = sum->maybe_root(); // as many as those of factors
  const auto summed = std::ranges::find_if(axes, &IterDomain::is_reduction);
  const IterDomains& stored =
      factor->has_allocation() ? factor->maybe_allocation() : factor->loop();
  const IterDomain* innermost = stored.back();
  while (innermost->definition() != nullptr) {
    const auto* split = innermost->definition()->as<Split>();
    const auto* merge = innermost->definition()->as<Merge>();
    if (split == nullptr && merge == nullptr) {
      break;
    }
    innermost = split != nullptr ? split->in : merge->inner;
  }
  return innermost != factor->logical()[static_cast<size_t>(summed - axes.begin())];
}

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
  if (!holds_first_factor(product)) {
    NVF_RETURN_REFUSAL(find_wrong_box(
        kernel, static_cast<TensorView*>(product.a), sum, {"m", axes.tile[0]}, summed));
  }
  return find_wrong_box(
      kernel, static_cast<TensorView*>(product.b), sum, {"n", axes.tile[1]}, summed);
}

const AsyncMechanism& products_of_warpgroups() {
  static const ProductGroups products(kProducts, kRegistersOfProducts, /*is_seen_by_block=*/false);
  return products;
}

} // namespace nvfuser
