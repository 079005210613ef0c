#include "lower/passes/check_vector_accesses.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "eval/simplify.h"
#include "graph/domain_map.h"
#include "graph/id_model.h"
#include "graph/op_semantics.h"
#include "graph/storage.h"
#include "graph/val_graph.h"
#include "ir/rules.h"
#include "ir/scalar.h"
#include "ir/shifted_axes.h"
#include "lower/analysis/loop_model.h"
#include "lower/analysis/memory_layout.h"
#include "lower/analysis/shifted_lanes.h"
#include "lower/statements/element_statements.h"
#include "transform/fragments.h"

namespace nvfuser {
namespace {

constexpr const char* kInnermostFix =
    "vectorize the axis of stride 1 of the tensor in memory, or unroll this one";

/// "4 bytes", "4 bits"
std::string size_text(DataType dtype) {
  const int64_t bits = size_bits(dtype);
  return bits < 8 ? std::to_string(bits) + " bits" : std::to_string(bits / 8) + " bytes";
}

/// The axis whose loop is one access. An axis of one element may share a loop over more: the loop
/// counts, and not the axis.
IterDomain* vector_axis(const LoopModel& model, const TensorView* tensor) {
  for (IterDomain* axis : tensor->loop()) {
    if (axis->parallel_type() == ParallelType::Vectorize &&
        !model.loop_of(axis)->extent()->is_one()) {
      return axis;
    }
  }
  return nullptr;
}

/// A thread that stored a single element of a pair would write the other one as well.
std::optional<Refusal> find_single_store(const LoopModel& model, const TensorView* tensor) {
  if (!is_stored_in_pairs(tensor) || vector_axis(model, tensor) != nullptr) {
    return std::nullopt; // the width of a vector is a number of bytes
  }
  return refuse(
      {
          .headline = {"A single fp4 element cannot be stored to global memory"},
          .node = {describe(tensor)},
          .expected =
              {"a store that is vectorized by 2, 4, 8, 16 or 32: two elements share a byte"},
          .found = {"no vectorized axis in ", tensor->to_string()},
          .fix = {"copy = y.cache_before(); y.split(-1, 8); "
                  "y.axis(-1).parallelize(ParallelType.vectorize)"},
      },
      ErrorKind::NotImplemented);
}

/// Checks one vectorized tensor.
class VectorCheck {
 public:
  VectorCheck(Kernel& kernel, TensorView* tensor, IterDomain* lanes)
      : kernel_(kernel),
        exact_(kernel.id_model->maybe_build_graph(IdMappingMode::exact)),
        tensor_(tensor),
        lanes_(lanes),
        loop_(*kernel.loop_model->loop_of(lanes)) {}

  std::optional<Refusal> run() {
    NVF_RETURN_REFUSAL(find_wrong_statement());
    NVF_RETURN_REFUSAL(find_wrong_loop());
    width_ = as_int(loop_.extent()->value());
    NVF_RETURN_REFUSAL(find_wrong_width(tensor_));
    NVF_RETURN_REFUSAL(find_swizzled_lanes());
    TensorView* source = copied_operand(tensor_->definition());
    NVF_RETURN_REFUSAL(find_unsuited_shift());
    if (reads_elsewhere(tensor_->definition())) {
      NVF_RETURN_REFUSAL(find_wrong_resized_source(source));
    } else {
      NVF_RETURN_REFUSAL(find_wrong_side(source));
    }
    return find_wrong_side(tensor_);
  }

 private:
  [[nodiscard]] Refusal refuse_lanes(Part headline, Part expected, Part found, Part fix) const {
    return refuse_node(
        {describe(tensor_), ", axis ", lanes_->to_string()}, std::move(headline),
        std::move(expected), std::move(found), std::move(fix));
  }

  [[nodiscard]] std::optional<Refusal> find_wrong_statement() const {
    const TensorView* source = copied_operand(tensor_->definition());
    if (source == nullptr) {
      return refuse_lanes(
          {"Only a copy can be vectorized"},
          {"a tensor defined by a load, a store, a slice, a pad or a gather"},
          {"a tensor defined by ", tensor_->definition()->op_name()},
          {"vectorize a copy of its operand (x.cache_after()) or of its result "
           "(y.cache_before()), or unroll the axis"});
    }
    if (source->memory_type() == MemoryType::Local && tensor_->memory_type() == MemoryType::Local) {
      return refuse_lanes(
          {"A vectorized copy has one side in global or shared memory"},
          {"a load into registers, or a store from them"}, {"registers on both sides"},
          {"bind the axis to ParallelType.serial or ParallelType.unroll here, and vectorize the "
           "load or the store"});
    }
    return std::nullopt;
  }

  /// The lanes are a loop of this tensor alone, and the innermost one.
  [[nodiscard]] std::optional<Refusal> find_wrong_loop() const {
    NVF_RETURN_REFUSAL(find_inlined_axis());
    NVF_RETURN_REFUSAL(find_tensor_in_lanes());
    if (!loop_.extent()->is_const_int()) {
      return refuse_lanes(
          {"A vectorized axis needs a constant extent"}, {"a constant"},
          {loop_.extent()->to_inline_string()},
          {"split the axis by a constant, and vectorize the inner part"});
    }
    const IterDomains& axes = tensor_->loop();
    for (auto inner = std::find(axes.begin(), axes.end(), lanes_) + 1; inner != axes.end();
         ++inner) {
      if (!kernel_.loop_model->loop_of(*inner)->index->is_const()) {
        return refuse_lanes(
            {"A vectorized axis has a loop inside"},
            {"the last axis of the loop domain, or one with axes of size 1 behind it"},
            {(*inner)->to_string(), " behind it"},
            {"reorder the axes, so that the vectorized one is the last"});
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Refusal> find_inlined_axis() const {
    const IterDomains& axes = tensor_->loop();
    const auto position = std::find(axes.begin(), axes.end(), lanes_) - axes.begin();
    if (position < tensor_->compute_at_position()) {
      return refuse_lanes(
          {"A vectorized axis cannot be inlined"},
          {"a compute-at position left of the axis, at most ", position},
          {"compute-at position ", tensor_->compute_at_position(), ": one loop over ",
           loop_.promoted->to_string(), " computes this tensor and its readers"},
          {"bind the axis to ParallelType.vectorize before inlining, which then stops left of it; "
           "or clear_compute_position() and inline_at(",
           position, ")"});
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Refusal> find_tensor_in_lanes() const {
    for (const TensorView* other : loop_.tensors) {
      if (other == tensor_) {
        continue;
      }
      const IterDomains& axes = other->loop();
      const auto shared = std::find_if(axes.begin(), axes.end(), [&](const IterDomain* axis) {
        return kernel_.loop_model->loop_of(axis) == &loop_;
      });
      const auto position = shared - axes.begin();
      return refuse_lanes(
          {"A tensor is inlined into the lanes of a vectorized axis"},
          {"nothing but the copy in the loop over the lanes; a compute-at position of at most ",
           position, " of ", describe(other)},
          {"compute-at position ", other->compute_at_position()},
          {"bind the axis to ParallelType.vectorize before inlining, which then stops left of it; "
           "or clear_compute_position() and inline_at(",
           position, ") for that tensor"});
    }
    return std::nullopt;
  }

  /// All lanes are moved or none: whether an element of a swizzled axis exists is asked of where it
  /// comes from, and neighbours come from apart.
  [[nodiscard]] std::optional<Refusal> find_swizzled_lanes() {
    climbed_.clear();
    const IterDomain* current = loop_.promoted;
    while (position_of(tensor_->logical(), current) < 0 && is_new(current)) {
      const Expr* definition = origin_of(current);
      if (definition == nullptr) {
        return std::nullopt;
      }
      if (definition->is_a<Swizzle>()) {
        return refuse_lanes(
            {"The lanes of a vectorized axis are swizzled"},
            {"lanes that are split off before the swizzle"}, {definition->to_string()},
            {"split the axis by the width first, and swizzle its outer part"});
      }
      current = static_cast<IterDomain*>(definition->inputs().back()); // whose elements are lanes
    }
    return std::nullopt;
  }

  /// The ends of shifted rows are copied element by element.
  [[nodiscard]] std::optional<Refusal> find_unsuited_shift() const {
    const bool has_elements =
        !is_stored_in_pairs(tensor_) && !is_matrix_copy(tensor_->definition());
    if (shift_of_lanes(kernel_, tensor_) == nullptr ||
        (has_elements && !reads_elsewhere(tensor_->definition()))) {
      return std::nullopt;
    }
    return refuse_lanes(
        {"The vectors of a shifted axis can only be copied"},
        {"a load or a store at the positions of the loops, of elements that have an address"},
        {tensor_->definition()->op_name()}, {"do not vectorize this axis, or do not shift it"});
  }

  [[nodiscard]] std::optional<Refusal> find_wrong_width(const TensorView* tensor) const {
    constexpr int64_t kByte = 8; // bits
    const int64_t bits = width_ * size_bits(tensor->dtype());
    const bool is_power = bits >= kByte && (bits & (bits - 1)) == 0;
    if (!is_power || bits > kernel_.target().max_vector_bytes * kByte) {
      return refuse_lanes(
          {"Vector width is not supported"},
          {"1, 2, 4, 8 or ", kernel_.target().max_vector_bytes, " bytes"},
          {width_, " elements of ", size_text(tensor->dtype()), " in ", describe(tensor)},
          {"split the axis by a power of two, so that the inner part has one of these sizes"});
    }
    return std::nullopt;
  }

  /// `size`, the `role` of an axis, must be a multiple of the width: now, or checked with actual
  /// sizes.
  [[nodiscard]] std::optional<Refusal> require_divisible(
      Val* size, const IterDomain* axis, const char* role = "extent") {
    Val* width = kernel_.new_index(width_);
    if (kernel_.simplifier->prove_divisible(size, width)) {
      return std::nullopt;
    }
    if (size->is_const()) {
      return refuse_lanes(
          {"Vectorization needs an ", role, " that the width divides"}, {"a multiple of ", width_},
          {axis->to_string(), " of ", role, " ", size->to_string()},
          {"vectorize by a width that divides it, or unroll the axis"});
    }
    kernel_.launch.conditions.push_back(
        {.holds = scalar::eq(scalar::mod(size, width), kernel_.zero()),
         .report =
             {.headline =
                  {"Vectorization of ", tensor_->to_string(), " by ", width_,
                   " needs a multiple of it as ", role, " of ", axis->to_string()},
              .node = {describe(tensor_), ", axis ", lanes_->to_string()},
              .expected = {size->to_inline_string(), " divisible by ", width_},
              .found = Part::none(),
              .fix = {"choose a factor that divides the size, or do not vectorize this axis"}},
         .shown = {size}});
    kernel_.simplifier->assume_divisible(size, width);
    return std::nullopt;
  }

  /// The axes that `id` is merged from, outermost first: down to those of `axes`, through the
  /// merges of reshapes; {id} if it is no merge.
  [[nodiscard]] IterDomains merged_from(IterDomain* id, const IterDomains& axes) const {
    IterDomains leaves;
    std::unordered_set<int64_t> opened; // a reshape that is undone leads back
    IterDomains pending{id};
    while (!pending.empty()) {
      IterDomain* axis = pending.back();
      pending.pop_back();
      const Expr* origin = position_of(axes, axis) >= 0 ? nullptr : origin_of(axis);
      const auto* merge = origin == nullptr ? nullptr : origin->as<Merge>();
      if (merge == nullptr || !opened.insert(exact_.group(axis)).second) {
        leaves.push_back(axis);
      } else {
        pending.push_back(merge->inner);
        pending.push_back(merge->outer);
      }
    }
    return leaves;
  }

  /// All lanes are moved, and all lie inside of the axis before, or all outside.
  [[nodiscard]] std::optional<Refusal> require_divisible_resize(const Resize& resize) {
    NVF_RETURN_REFUSAL(require_divisible(resize.left, resize.in, "offset"));
    NVF_RETURN_REFUSAL(require_divisible(resize.in->extent(), resize.in));
    return require_divisible(resize.out->extent(), resize.out);
  }

  [[nodiscard]] std::optional<Refusal> find_wrong_side(TensorView* side) {
    std::vector<int64_t> run;
    if (side->memory_type() == MemoryType::Global) {
      NVF_RETURN_REFUSAL(find_run(side, global_axes(side), run));
      if (!run.empty()) { // else the load finds out where it begins
        kernel_.launch.vector_accesses.push_back({buffer_of(side), tensor_, width_, run});
      }
      return std::nullopt;
    }
    return find_run(side, stored_axes(kernel_, side), run);
  }

  /// The operand of a slice or pad. Its elements are neighbours along the innermost dimension only:
  /// what lies outside of a resized axis is no run with it. The offset and both extents are
  /// multiples of the width, so that all lanes lie inside of the operand, or all outside.
  [[nodiscard]] std::optional<Refusal> find_wrong_resized_source(TensorView* source) {
    climbed_.clear();
    const IterDomains& logical = tensor_->logical();
    IterDomain* current = loop_.promoted;
    while (position_of(logical, current) < 0) {
      NVF_RETURN_REFUSAL(climb(current, tensor_));
    }
    const int64_t dim = position_of(logical, current);
    NVF_RETURN_REFUSAL(find_different_positions(source, dim));
    IterDomain* root = tensor_->maybe_root().at(static_cast<size_t>(dim));
    if (const Expr* definition = logical[static_cast<size_t>(dim)]->definition();
        definition != nullptr && definition->is_a<Resize>()) {
      NVF_RETURN_REFUSAL(require_divisible_resize(*definition->as<Resize>()));
    }
    const bool is_global = source->memory_type() == MemoryType::Global;
    const IterDomains axes = is_global ? global_axes(source) : stored_axes(kernel_, source);
    const IterDomain* read = PairwiseDomainMap(source, tensor_).producer_of(root);
    const auto position = std::find(axes.begin(), axes.end(), read) - axes.begin();
    if (position != innermost_stored(axes) || !is_contiguous(source, axes, position)) {
      return refuse_lanes(
          {"A vectorized axis is not innermost and contiguous in memory"},
          {"the axis of stride 1 of ", describe(source)}, {root->to_string()}, {kInnermostFix});
    }
    if (is_global) {
      kernel_.launch.vector_accesses.push_back({buffer_of(source), tensor_, width_, {position}});
    }
    return std::nullopt;
  }

  /// Lanes along dimension `dim` of elements that are looked up in `source` read at one position:
  /// the other operands, which hold it, have one for all of them.
  [[nodiscard]] std::optional<Refusal> find_different_positions(
      const TensorView* source, int64_t dim) const {
    const auto is_looked_up = [](const AxisUse& use) { return use.read == AxisRead::Indexed; };
    if (std::ranges::none_of(axes_of_use(source, tensor_), is_looked_up)) {
      return std::nullopt;
    }
    const std::vector<Val*>& operands = tensor_->definition()->inputs();
    const bool holds_own_positions = std::ranges::count(operands, source) > 1;
    for (const TensorView* operand : tensor_->producers()) {
      if (operand == source && !holds_own_positions) {
        continue;
      }
      const IterDomains axes = TensorDomain::no_reductions(operand->logical());
      const std::vector<AxisUse> uses = axes_of_use(operand, tensor_);
      for (size_t i = 0; i < axes.size(); ++i) {
        if (uses[i].position == dim && !axes[i]->is_broadcast()) {
          return refuse_lanes(
              {"The lanes of a vectorized gather read at different positions"},
              {"lanes along a dimension that the positions are broadcast over"},
              {axes[i]->to_string(), " of ", operand->to_string()},
              {"vectorize another dimension, or unroll this one"});
        }
      }
    }
    return std::nullopt;
  }

  /// From `current` to the axis that it is the innermost part of.
  [[nodiscard]] std::optional<Refusal> climb(IterDomain*& current, const TensorView* side) {
    Expr* definition = is_new(current) ? origin_of(current) : nullptr;
    if (definition == nullptr) {
      return refuse_lanes(
          {"A vectorized axis is not innermost in memory"},
          {"the innermost axis of ", describe(side)}, {current->to_string()}, {kInnermostFix});
    }
    if (const auto* split = definition->as<Split>();
        split != nullptr && exact_.are_mapped(split->inner, current)) {
      current = split->in;
      return require_divisible(current->extent(), current);
    }
    if (const auto* merge = definition->as<Merge>()) {
      current = merge->inner;
      return require_divisible(current->extent(), current);
    }
    if (const auto* resize = definition->as<Resize>();
        resize != nullptr && resize->out == current) {
      current = resize->in;
      return is_shift(*resize) ? std::nullopt : require_divisible_resize(*resize);
    }
    return refuse_lanes(
        {"A vectorized axis is not innermost in memory"},
        {"an axis made by inner splits of the innermost axis of ", describe(side)},
        {definition->to_string()}, {kInnermostFix});
  }

  /// Walks from the lanes to the axes that address `side`; the positions merged into the run. None:
  /// a load along a shifted axis may begin anywhere (is_unaligned).
  [[nodiscard]] std::optional<Refusal> find_run(
      TensorView* side, const IterDomains& axes, std::vector<int64_t>& run) {
    climbed_.clear();
    IterDomain* current = loop_.promoted;
    while (position_of(axes, current) < 0) {
      const Expr* definition = origin_of(current);
      if (const auto* merge = definition == nullptr ? nullptr : definition->as<Merge>()) {
        NVF_RETURN_REFUSAL(find_merged_run(side, axes, merged_from(merge->out, axes), run));
        if (!run.empty()) {
          return std::nullopt;
        }
      }
      if (IterDomain* part = inner_part(axes, current)) {
        current = part;
      } else {
        NVF_RETURN_REFUSAL(climb(current, side));
      }
    }
    const int64_t position = position_of(axes, current);
    if (position != innermost_stored(axes) || !is_contiguous(side, axes, position)) {
      return refuse_lanes(
          {"A vectorized axis is not innermost and contiguous in memory"},
          {"the axis of stride 1 of ", describe(side)}, {current->to_string()}, {kInnermostFix});
    }
    run = {position};
    if (side->memory_type() == MemoryType::Global && shift_of_lanes(kernel_, tensor_) != nullptr) {
      std::optional<Refusal> refusal = find_unaligned_rows(kernel_, tensor_, side, width_);
      constexpr int64_t kWord = 32; // bits
      const bool is_load = side != tensor_ && tensor_->memory_type() == MemoryType::Local &&
                           width_ * size_bits(side->dtype()) >= kWord;
      run.resize(refusal ? 0 : axes.size()); // a shift follows from all rows
      std::iota(run.begin(), run.end(), 0);
      return is_load ? std::nullopt : refusal;
    }
    return std::nullopt;
  }

  /// The run of `leaves`, which are merged: neighbours in memory, the first of which may be a part
  /// of one. Lanes then run on from the last element of that part's axis that lies in the tile to
  /// nothing, so that both the part and the axis hold whole vectors, with all inside of them.
  ///   [A, b, c] of memory -> [A/8, 8, b, c] -> [A/8, (8 b c)/4, 4]
  [[nodiscard]] std::optional<Refusal> find_merged_run(
      TensorView* side, const IterDomains& axes, IterDomains leaves, std::vector<int64_t>& run) {
    IterDomains parts{leaves.front()}; // innermost first
    while (position_of(axes, parts.back()) < 0) {
      const Expr* origin = origin_of(parts.back());
      const auto* split = origin == nullptr ? nullptr : origin->as<Split>();
      if (split == nullptr || !exact_.are_mapped(split->inner, parts.back())) {
        break;
      }
      parts.push_back(split->in);
    }
    leaves.front() = parts.back();
    run = contiguous_run(side, axes, leaves);
    if (run.empty() || parts.size() == 1) {
      return std::nullopt;
    }
    for (IterDomain* part : parts) {
      Val* elements = part->extent();
      for (size_t i = 1; i < leaves.size(); ++i) {
        elements = scalar::mul(elements, leaves[i]->extent());
      }
      NVF_RETURN_REFUSAL(require_divisible(elements, part));
    }
    return std::nullopt;
  }

  /// The inner part of `axis` that addresses the storage, if every part of which it is an inner
  /// one holds whole vectors.
  IterDomain* inner_part(const IterDomains& axes, const IterDomain* axis) {
    for (const Expr* use : exact_.uses(exact_.group(axis))) {
      const auto* split = use->as<Split>();
      if (split == nullptr ||
          !kernel_.simplifier->prove_divisible(split->inner->extent(), kernel_.new_index(width_))) {
        continue;
      }
      IterDomain* part =
          position_of(axes, split->inner) >= 0 ? split->inner : inner_part(axes, split->inner);
      if (part != nullptr) {
        return part;
      }
    }
    return nullptr;
  }

  /// Whether a climb from the lanes was not at an axis equal to `id` before: where slices are put
  /// together again, or a reshape is undone, an axis is made of one that is made of it.
  bool is_new(const IterDomain* id) {
    return climbed_.insert(exact_.group(id)).second;
  }

  /// How an axis was made: by its own definition, or that of an axis it is equal to.
  [[nodiscard]] Expr* origin_of(const IterDomain* id) const {
    if (id->definition() != nullptr) {
      return id->definition();
    }
    const std::vector<Expr*>& definitions = exact_.definitions(exact_.group(id));
    return definitions.empty() ? nullptr : definitions.front();
  }

  [[nodiscard]] int64_t position_of(const IterDomains& axes, const IterDomain* id) const {
    for (size_t i = 0; i < axes.size(); ++i) {
      if (exact_.are_mapped(axes[i], id)) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

  [[nodiscard]] static int64_t innermost_stored(const IterDomains& axes) {
    for (size_t i = axes.size(); i-- > 0;) {
      if (!axes[i]->is_broadcast()) {
        return static_cast<int64_t>(i);
      }
    }
    return -1;
  }

  [[nodiscard]] static bool is_contiguous(
      const TensorView* side, const IterDomains& axes, int64_t position) {
    if (side->memory_type() != MemoryType::Global) {
      return true;
    }
    const IterDomains& allocation = side->maybe_allocation();
    const auto found =
        std::find(allocation.begin(), allocation.end(), axes[static_cast<size_t>(position)]);
    return side->domain()->contiguity()[static_cast<size_t>(found - allocation.begin())].value_or(
        false);
  }

  /// Positions of `leaves` if they are neighbours in memory that end at the innermost axis and are
  /// contiguous; else nothing. Axes of size one in between do not matter.
  [[nodiscard]] std::vector<int64_t> contiguous_run(
      const TensorView* side, const IterDomains& axes, const IterDomains& leaves) const {
    std::vector<int64_t> run;
    int64_t expected = innermost_stored(axes);
    for (size_t i = leaves.size(); i-- > 0;) {
      if (leaves[i]->is_broadcast()) {
        if (!leaves[i]->extent()->is_one()) { // a part of a split broadcast: elements repeat
          return {};
        }
        continue;
      }
      while (expected >= 0 && axes[static_cast<size_t>(expected)]->is_broadcast()) {
        --expected;
      }
      if (expected < 0 || position_of(axes, leaves[i]) != expected ||
          !is_contiguous(side, axes, expected)) {
        return {};
      }
      run.push_back(expected--);
    }
    std::reverse(run.begin(), run.end());
    return run;
  }

  Kernel& kernel_;
  const ValGraph& exact_;
  TensorView* tensor_;
  IterDomain* lanes_;
  const Loop& loop_;                    // over the lanes
  std::unordered_set<int64_t> climbed_; // classes of axes on the way up from the lanes
  int64_t width_ = 1;
};

} // namespace

std::optional<Refusal> check_vector_accesses(Kernel& kernel) {
  for (TensorView* tensor : kernel.tensors()) {
    if (tensor->definition() == nullptr) {
      continue;
    }
    NVF_RETURN_REFUSAL(find_single_store(*kernel.loop_model, tensor));
    if (IterDomain* axis =
            vector_axis(*kernel.loop_model, tensor)) { // validated: there is at most one
      NVF_RETURN_REFUSAL(VectorCheck(kernel, tensor, axis).run());
    }
  }
  return std::nullopt;
}

} // namespace nvfuser
