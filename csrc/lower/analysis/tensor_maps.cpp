#include "lower/analysis/tensor_maps.h"

#include <algorithm>

#include "eval/simplify.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/val_graph.h"
#include "ir/rules.h"
#include "ir/scalar.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/bulk_runs.h"
#include "lower/analysis/launch_conditions.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/shared_loads.h"

namespace nvfuser {
namespace {

constexpr size_t kMostDims = 5;
constexpr int64_t kMostElements = 256; // of a box along an axis, with those it steps over
constexpr int64_t kLongestStep = 8;
constexpr int64_t kPieceBytes = 16; // a box consists of whole ones
constexpr int64_t kLineBytes = 128; // boxes begin at multiples in shared memory

int64_t constant(const Val* extent) {
  return as_int(extent->value());
}

/// Makes the map of one copy.
class MapFinder {
 public:
  MapFinder(Kernel& kernel, TensorView* copy)
      : kernel_(kernel),
        simplifier_(*kernel.simplifier),
        exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
        copy_(copy),
        arg_(bulk_source(copy->definition())),
        is_load_(is_bulk_load(copy->definition())),
        global_(is_load_ ? arg_ : copy),
        shared_(is_load_ ? copy : arg_) {}

  std::variant<TensorMap, Refusal> run() {
    if (std::optional<Refusal> refusal = find()) {
      return std::move(*refusal);
    }
    return TensorMap{
        .tensor = global_,
        .dims = dims_,
        .swizzle_bytes = swizzle_bytes_,
        .innermost = positions_.at(dims_.front().axis),
        .conditions = std::move(conditions_)};
  }

 private:
  /// A tile of an axis, `whole`, that is copied at once: every `step`th position from one on.
  struct Box {
    IterDomain* axis = nullptr;
    IterDomain* whole = nullptr;
    int64_t step = 1;
  };

  std::optional<Refusal> find() {
    NVF_RETURN_REFUSAL(find_memory());
    NVF_RETURN_REFUSAL(find_boxes());
    NVF_RETURN_REFUSAL(find_order());
    NVF_RETURN_REFUSAL(choose_dims());
    return find_wrong_sizes();
  }

  [[nodiscard]] Refusal refuse_copy(Part headline, Part expected, Part found, Part fix) const {
    return refuse_node(
        {describe(copy_), is_load_ ? "\nloaded from " : "\nstored from ", describe(arg_)},
        std::move(headline), std::move(expected), std::move(found), std::move(fix));
  }

  // ---- Axes of the tensor in global memory ------------------------------------------------------

  /// For each axis of the tensor in global memory that of the copy: a broadcast has more of them.
  [[nodiscard]] IterDomains axes_of_copy() const {
    IterDomains axes = TensorDomain::no_reductions(copy_->logical());
    if (!is_load_ || copy_->has_root()) {
      return axes;
    }
    IterDomains copied;
    for (const AxisUse& use : axes_of_use(arg_, copy_)) {
      copied.push_back(axes[static_cast<size_t>(use.position)]);
    }
    return copied;
  }

  /// The memory as it is: an axis of the map for each of its axes, outermost first.
  std::optional<Refusal> find_memory() {
    const IterDomains logical = TensorDomain::no_reductions(global_->logical());
    const IterDomains copied = axes_of_copy();
    const IterDomains& allocation = global_->maybe_allocation();
    const IterDomains axes = global_axes(global_);
    Val* run = kernel_.one();
    for (size_t i = axes.size(); i-- > 0;) {
      const auto place = std::find(logical.begin(), logical.end(), axes[i]) - logical.begin();
      if (copy_->has_root() || static_cast<size_t>(place) == logical.size()) {
        return refuse_copy(
            {"A bulk copy needs the axes of its tensor as they lie in memory"},
            {"a copy whose axes are those of the tensor, in any order in memory"},
            {copy_->has_root() ? "a copy that changes the axes"
                               : "an allocation domain with axes that are split or merged"},
            {"copy with LoadStoreOpType.set or LoadStoreOpType.cp_async"});
      }
      if (axes[i]->is_broadcast()) {
        continue;
      }
      const auto position =
          std::find(allocation.begin(), allocation.end(), axes[i]) - allocation.begin();
      const auto& contiguity = global_->domain()->contiguity();
      const bool is_contiguous = contiguity[static_cast<size_t>(position)].value_or(true);
      if (!is_contiguous && !is_load_) {
        return refuse_copy(
            {"A bulk copy stores to memory without gaps"}, {"an output that is contiguous"},
            {"axis ", axes[i]->to_string(), " is not"}, {"store with LoadStoreOpType.set"});
      }
      Val* stride = is_contiguous ? run : memory_stride(kernel_, global_, i);
      IterDomain* axis = copied[static_cast<size_t>(place)];
      memory_.insert(memory_.begin(), {axis, axis->extent(), stride});
      positions_[axis] = {static_cast<int64_t>(i)};
      run = simplifier_.simplify(scalar::mul(stride, axis->extent()));
    }
    return std::nullopt;
  }

  /// Where `axis` stands in the memory; past the end: it does not.
  std::vector<TensorMapDim>::iterator place_of(const IterDomain* axis) {
    return std::ranges::find(memory_, axis, &TensorMapDim::axis);
  }

  /// Let `axis` be one of the memory's, by the transforms that lead to it.
  std::optional<Refusal> expose(IterDomain* axis) {
    if (place_of(axis) != memory_.end()) {
      return std::nullopt;
    }
    const Expr* made_by = axis->definition();
    if (const auto* split = made_by == nullptr ? nullptr : made_by->as<Split>()) {
      NVF_RETURN_REFUSAL(expose(split->in));
      return take_apart(*split);
    }
    if (const auto* merge = made_by == nullptr ? nullptr : made_by->as<Merge>()) {
      NVF_RETURN_REFUSAL(expose(merge->outer));
      NVF_RETURN_REFUSAL(expose(merge->inner));
      return join(*merge);
    }
    return refuse_copy(
        {"A box has an axis that memory does not have"},
        {"axes made by splits and merges of those of ", global_->to_string()}, {axis->to_string()},
        {"bind another axis to tma"});
  }

  std::optional<Refusal> take_apart(const Split& split) {
    const auto place = place_of(split.in);
    if (place == memory_.end()) {
      return used_twice(split.in);
    }
    Val* rest = scalar::mod(split.in->extent(), split.factor);
    if (!simplifier_.prove_divisible(split.in->extent(), split.factor)) {
      if (rest->is_const()) {
        return refuse_copy(
            {"A box would reach beyond a part of a split"},
            {"an axis that the split divides without remainder"},
            {split.in->to_string(), " split by ", split.factor->to_inline_string()},
            {"split by a factor of the extent, or bind the parts of this split to tma"});
      }
      conditions_.push_back(size_condition(
          scalar::eq(rest, kernel_.zero()),
          {"A bulk copy needs a split without remainder of ", split.in->to_string()},
          describe(copy_)));
    }
    const TensorMapDim in = *place;
    positions_[split.outer] = positions_[split.inner] = positions_.at(split.in);
    *place = {
        split.outer, split.outer->extent(),
        simplifier_.simplify(scalar::mul(in.stride, split.inner->extent()))};
    memory_.insert(place + 1, {split.inner, split.inner->extent(), in.stride});
    return std::nullopt;
  }

  std::optional<Refusal> join(const Merge& merge) {
    const auto outer = place_of(merge.outer);
    const auto inner = place_of(merge.inner);
    if (outer == memory_.end() || inner == memory_.end()) {
      return used_twice(outer == memory_.end() ? merge.outer : merge.inner);
    }
    if (!simplifier_.prove_equal(outer->stride, scalar::mul(inner->stride, inner->extent))) {
      return refuse_copy(
          {"A box has an axis whose parts do not follow each other in memory"},
          {"axes that are contiguous, the inner one of ", merge.out->to_string(), " inside"},
          {merge.outer->to_string(), " and ", merge.inner->to_string(), " of ",
           global_->to_string()},
          {"do not merge the axes, or define the tensor as contiguous"});
    }
    std::vector<int64_t> both = positions_.at(merge.outer);
    const std::vector<int64_t>& of_inner = positions_.at(merge.inner);
    both.insert(both.end(), of_inner.begin(), of_inner.end());
    positions_[merge.out] = std::move(both);
    *inner = {merge.out, merge.out->extent(), inner->stride};
    memory_.erase(outer);
    return std::nullopt;
  }

  [[nodiscard]] Refusal used_twice(const IterDomain* axis) const {
    return refuse_copy(
        {"The axes of a box were made in two ways from one axis"}, {"one way to each axis"},
        {axis->to_string()}, {"bind the parts of one split to tma"});
  }

  // ---- The box ----------------------------------------------------------------------------------

  /// Put axes that are the results of one transform together again; of splits only neighbours,
  /// outer before inner, in `order`. Axes of boxes stay.
  void put_together(IterDomains& order, bool in_memory) {
    while (join_split(order) || undo_swizzle(order, in_memory)) {
    }
  }

  [[nodiscard]] bool is_box(const IterDomain* axis) const {
    return std::ranges::any_of(
        boxes_, [&](const Box& box) { return exact_.are_mapped(box.axis, axis); });
  }

  /// Transforms that made an axis: its own one first, then those of axes that are mapped to it.
  [[nodiscard]] std::vector<const Expr*> definitions_of(const IterDomain* axis) const {
    std::vector<const Expr*> definitions;
    if (axis->definition() != nullptr) {
      definitions.push_back(axis->definition());
    }
    if (exact_.contains(axis)) {
      const std::vector<Expr*>& others = exact_.definitions(exact_.group(axis));
      definitions.insert(definitions.end(), others.begin(), others.end());
    }
    return definitions;
  }

  bool join_split(IterDomains& order) const {
    for (size_t i = 0; i + 1 < order.size(); ++i) {
      if (is_box(order[i]) || is_box(order[i + 1])) {
        continue;
      }
      for (const Expr* expr : definitions_of(order[i])) {
        const auto* split = expr->as<Split>();
        if (split != nullptr && exact_.are_mapped(split->outer, order[i]) &&
            exact_.are_mapped(split->inner, order[i + 1]) && split->in->extent()->is_const_int() &&
            constant(split->in->extent()) <= kMostElements &&
            simplifier_.prove_divisible(split->in->extent(), split->factor)) {
          order[i] = split->in;
          order.erase(order.begin() + static_cast<int64_t>(i) + 1);
          return true;
        }
      }
    }
    return false;
  }

  /// Bytes from one position along an axis to the next; 0: not known.
  [[nodiscard]] int64_t bytes_between(const IterDomains& order, size_t axis) const {
    int64_t bytes = size_bytes(copy_->dtype());
    for (size_t i = axis + 1; i < order.size(); ++i) {
      bytes *= order[i]->extent()->is_const_int() ? constant(order[i]->extent()) : 0;
    }
    return bytes;
  }

  bool undo_swizzle(IterDomains& order, bool in_memory) {
    for (size_t x = 0; x < order.size(); ++x) {
      for (const Expr* expr : definitions_of(order[x])) {
        const auto* swizzle = expr->as<Swizzle>();
        if (swizzle == nullptr || !exact_.are_mapped(swizzle->out_x, order[x])) {
          continue;
        }
        const auto out_y = std::ranges::find_if(
            order, [&](const IterDomain* id) { return exact_.are_mapped(swizzle->out_y, id); });
        if (out_y == order.end()) {
          continue;
        }
        const auto y = static_cast<size_t>(out_y - order.begin());
        if (in_memory &&
            !note_swizzle(*swizzle, bytes_between(order, x), bytes_between(order, y))) {
          continue;
        }
        order[x] = swizzle->in_x;
        order[y] = swizzle->in_y;
        return true;
      }
    }
    return false;
  }

  /// Whether the hardware permutes so: pieces of 16 bytes, by the number of the line.
  bool note_swizzle(const Swizzle& swizzle, int64_t x_bytes, int64_t y_bytes) {
    const Val* pieces = swizzle.in_y->extent();
    if (swizzle.swizzle_type != SwizzleType::XOR || x_bytes != kLineBytes ||
        y_bytes != kPieceBytes || !pieces->is_const_int() || swizzle_bytes_ > 0) {
      return false;
    }
    const int64_t bytes = constant(pieces) * kPieceBytes;
    const bool is_known = bytes == 32 || bytes == 64 || bytes == 128;
    swizzle_bytes_ = is_known ? bytes : 0;
    return is_known;
  }

  /// The tiles that the axes bound to tma are, and the axes that these are tiles of.
  std::optional<Refusal> find_boxes() {
    IterDomains tiles;
    for (IterDomain* axis : copy_->loop()) {
      if (axis->parallel_type() == ParallelType::Bulk) {
        tiles.push_back(axis);
      }
    }
    put_together(tiles, /*in_memory=*/false);
    std::vector<Box> boxes;
    for (IterDomain* tile : tiles) {
      if (!tile->extent()->is_const_int()) {
        return refuse_copy(
            {"The size of a box is not constant"}, {"a constant number of elements"},
            {tile->to_string()}, {"split the axis by a number, and bind the inner part to tma"});
      }
      const auto* split = tile->definition() == nullptr ? nullptr : tile->definition()->as<Split>();
      const auto is_tile = [&](IterDomain* id) { return std::ranges::count(tiles, id) > 0; };
      if (split == nullptr || (is_tile(split->outer) && is_tile(split->inner))) {
        boxes.push_back({tile, tile}); // all of an axis; with both, the box is too long for one
      } else if (split->inner == tile) {
        boxes.push_back({tile, split->in});
      } else {
        boxes.push_back({tile, split->in});
        NVF_RETURN_REFUSAL(take_steps(*split, boxes.back()));
      }
    }
    boxes_ = std::move(boxes);
    for (const Box& box : boxes_) {
      NVF_RETURN_REFUSAL(expose(box.whole));
    }
    for (const Box& box : boxes_) { // what was exposed first may have been taken apart since
      if (place_of(box.whole) == memory_.end()) {
        return used_twice(box.whole);
      }
    }
    return std::nullopt;
  }

  /// The outer part of `split` is a box of steps. It is one of what `split` divides, or of the
  /// axis that this is a tile of: then tiles are whole steps, since the hardware tests the tensor
  /// and not the tile.
  std::optional<Refusal> take_steps(const Split& split, Box& box) const {
    const Val* step = split.inner->extent();
    if (!step->is_const_int() || constant(step) > kLongestStep) {
      return refuse_copy(
          {"A box takes no steps of this size along an axis"},
          {"the outer part of a split whose inner part has a constant extent, at most ",
           kLongestStep},
          {split.inner->to_string()},
          {"bind the inner part to tma, or split by the step first, and what is outer by the box"});
    }
    if (!is_load_ && !step->is_one()) {
      return refuse_copy(
          {"A bulk copy stores neighbours along an axis"},
          {"the inner part of a split bound to tma"},
          {split.outer->to_string(), ", the outer part"}, {"bind the inner part to tma"});
    }
    box.step = constant(step);
    const Expr* made_by = split.in->definition();
    const auto* tiles = made_by == nullptr ? nullptr : made_by->as<Split>();
    if (tiles == nullptr || tiles->inner != split.in) {
      return std::nullopt;
    }
    box.whole = tiles->in;
    if (constant(box.axis->extent()) * box.step == constant(split.in->extent())) {
      return std::nullopt;
    }
    return refuse_copy(
        {"A box in steps would reach beyond its tile"},
        {"a tile that steps of ", box.step, " divide without remainder"},
        {split.in->to_string(), " split into ", split.outer->to_string(), " and ",
         split.inner->to_string()},
        {"split the axis by a multiple of the step before"});
  }

  /// The order of the box in shared memory, where it is all that lies innermost.
  std::optional<Refusal> find_order() {
    IterDomains stored = stored_axes(kernel_, shared_);
    put_together(stored, /*in_memory=*/true);
    std::vector<Box> in_order; // innermost first
    while (in_order.size() < boxes_.size() && in_order.size() < stored.size()) {
      const IterDomain* axis = stored[stored.size() - 1 - in_order.size()];
      const auto box = std::ranges::find_if(
          boxes_, [&](const Box& other) { return exact_.are_mapped(other.axis, axis); });
      if (box == boxes_.end()) {
        break;
      }
      in_order.push_back(*box);
    }
    if (in_order.size() < boxes_.size()) {
      std::string found;
      for (const IterDomain* axis : stored) {
        found += (found.empty() ? "" : ", ") + axis->to_string();
      }
      return refuse_copy(
          {"A box lies in shared memory with gaps, or in another order"},
          {"the axes of the box innermost in ", shared_->to_string(),
           ", swizzled by 16 bytes in lines of 128 at most"},
          {"stored as ", found},
          {is_load_ ? "bind neighbouring axes to tma, innermost in the loop domain"
                    : "set_allocation_domain of what is stored to the axes of the box"});
    }
    boxes_ = std::move(in_order);
    has_several_boxes_ =
        stored.size() > boxes_.size() || circular_loop_of(kernel_, shared_) != nullptr;
    return std::nullopt;
  }

  // ---- The map ----------------------------------------------------------------------------------

  /// First the axes of the box, then all others, which it has one position of.
  std::optional<Refusal> choose_dims() {
    for (const Box& box : boxes_) {
      const auto place = place_of(box.whole);
      dims_.push_back(*place);
      dims_.back().box = constant(box.axis->extent());
      dims_.back().tile = box.axis;
      dims_.back().step = box.step;
      memory_.erase(place);
    }
    while (dims_.size() + memory_.size() > kMostDims && join_any()) {
    }
    dims_.insert(dims_.end(), memory_.rbegin(), memory_.rend());
    if (dims_.size() <= kMostDims) {
      return std::nullopt;
    }
    return refuse_copy(
        {"A bulk copy has at most ", kMostDims, " axes"},
        {"at most ", kMostDims, " axes in global memory that are not merged"},
        {dims_.size(), " axes of ", global_->to_string()},
        {"merge axes that follow each other in memory and are not those of the box"});
  }

  /// Merge two axes outside of the box that the loops merge.
  bool join_any() {
    for (const Expr* expr : copy_->domain()->all_exprs()) {
      const auto* merge = expr->as<Merge>();
      if (merge != nullptr && place_of(merge->outer) != memory_.end() &&
          place_of(merge->inner) != memory_.end() && !join(*merge)) {
        return true;
      }
    }
    return false;
  }

  std::optional<Refusal> find_wrong_sizes() const {
    const int64_t element = size_bytes(copy_->dtype());
    int64_t bytes = element;
    for (const TensorMapDim& dim : dims_) {
      if (dim.box * dim.step > kMostElements && !copies_runs(copy_->definition())) {
        return refuse_copy(
            {"A box has more than ", kMostElements, " elements along an axis"},
            {"at most ", kMostElements, ", with those that it steps over"},
            {dim.box * dim.step, " along ", dim.axis->to_string()},
            {"use smaller boxes, or split the axis of the box again, and bind both parts to tma"});
      }
      bytes *= dim.box;
    }
    const TensorMapDim& inner = dims_.front();
    if (inner.step > 1) {
      return refuse_copy(
          {"A box takes neighbours along its innermost axis"},
          {"the inner part of a split innermost in ", shared_->to_string()},
          {inner.tile->to_string(), ", every ", inner.step, ". position"},
          {"copy with LoadStoreOpType.cp_async or LoadStoreOpType.set"});
    }
    if (!inner.stride->is_one()) {
      return refuse_copy(
          {"The innermost axis of a box is not contiguous in global memory"},
          {"neighbours in shared memory that are neighbours in ", global_->to_string()},
          {inner.axis->to_string(), " with stride ", inner.stride->to_inline_string()},
          {"reorder the axes of the box, so that the contiguous one is innermost"});
    }
    if (inner.box * element % kPieceBytes != 0) {
      return refuse_copy(
          {"A box consists of pieces of ", kPieceBytes, " bytes"},
          {"a multiple of ", kPieceBytes / element, " elements innermost"},
          {inner.box, " elements of ", element, " bytes along ", inner.axis->to_string()},
          {"use a wider box"});
    }
    for (size_t i = 1; i < dims_.size(); ++i) {
      const Val* stride = dims_[i].stride;
      if (stride->is_const_int() && constant(stride) * element % kPieceBytes != 0 &&
          !dims_[i].extent->is_one()) {
        return refuse_copy(
            {"A stride of a bulk copy is no multiple of ", kPieceBytes, " bytes"},
            {"a multiple of ", kPieceBytes / element, " elements along ",
             dims_[i].axis->to_string()},
            {constant(stride), " elements of ", element, " bytes"},
            {"pad the rows of the tensor, or copy with LoadStoreOpType.set"});
      }
    }
    return find_wrong_layout(bytes);
  }

  [[nodiscard]] std::optional<Refusal> find_wrong_layout(int64_t box_bytes) const {
    const int64_t inner_bytes = dims_.front().box * size_bytes(copy_->dtype());
    if (swizzle_bytes_ > 0 && inner_bytes != swizzle_bytes_) {
      return refuse_copy(
          {"A swizzled box has another width than its swizzle"},
          {swizzle_bytes_, " bytes innermost, all of which the swizzle permutes"},
          {inner_bytes, " bytes"}, {"swizzle all pieces of 16 bytes of the innermost axis"});
    }
    const int64_t alignment =
        copies_runs(copy_->definition()) ? kPieceBytes : alignment_of_boxes(swizzle_bytes_);
    if (has_several_boxes_ && box_bytes % alignment != 0) {
      return refuse_copy(
          {"A box in shared memory does not begin where a bulk copy can"},
          {"boxes of a multiple of ", alignment, " bytes, one after the other"},
          {box_bytes, " bytes in ", shared_->to_string()},
          {"use larger boxes, or inline the copy so that shared memory holds one box"});
    }
    return std::nullopt;
  }

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  const ValGraph& exact_;
  TensorView* copy_;
  TensorView* arg_;
  const bool is_load_;
  TensorView* global_;
  TensorView* shared_;
  std::vector<TensorMapDim> memory_; // without boxes, outermost first
  /// The axes in memory that an axis is made of.
  std::unordered_map<const IterDomain*, std::vector<int64_t>> positions_;
  std::vector<Box> boxes_; // in the order of loops, then of memory, innermost first
  bool has_several_boxes_ = false;
  int64_t swizzle_bytes_ = 0;
  std::vector<TensorMapDim> dims_;
  std::vector<LaunchCondition> conditions_;
};

} // namespace

std::variant<TensorMap, Refusal> find_tensor_map(Kernel& kernel, TensorView* copy) {
  return MapFinder(kernel, copy).run();
}

std::optional<Refusal> check_bulk_copies(Kernel& kernel) {
  for (TensorView* copy : kernel.tensors()) {
    if (!is_bulk_copy(copy->definition())) {
      continue;
    }
    std::variant<TensorMap, Refusal> found = find_tensor_map(kernel, copy);
    if (auto* refusal = std::get_if<Refusal>(&found)) {
      return std::move(*refusal);
    }
    auto& map = std::get<TensorMap>(found);
    NVF_RETURN_REFUSAL(find_wrong_sharing(kernel, copy, map));
    if (copies_runs(copy->definition())) {
      NVF_RETURN_REFUSAL(find_wrong_runs(kernel, copy, map));
    }
    for (LaunchCondition& condition : map.conditions) {
      kernel.launch.conditions.push_back(std::move(condition));
    }
    // Addresses and strides are multiples of 16 bytes, as for vectors of that size.
    kernel.launch.vector_accesses.push_back(
        {.tensor = map.tensor,
         .made_by = copy,
         .width = kPieceBytes / size_bytes(copy->dtype()),
         .run_dims = map.innermost});
  }
  return std::nullopt;
}

} // namespace nvfuser
