#include "graph/op_semantics.h"

#include <algorithm>
#include <array>

#include "graph/axis_table.h"
#include "ir/fusion.h"

namespace nvfuser {
namespace {

// ---- Rows ---------------------------------------------------------------------------------------

/// A kind that is not listed is a compile error: the switch has no default.
constexpr OpSemantics row_of(ExprKind kind) {
  using enum ExprKind;
  switch (kind) {
    case UnaryOp:
    case BinaryOp:
    case TernaryOp: return {.read = OperandRead::Same};
    case LoadStoreOp:
      return {
          .read = OperandRead::Same, .elements = ElementSource::Copied, .view = ViewOf::Anything};
    case BroadcastOp:
    case ExpandOp:
      return {
          .read = OperandRead::Same,
          .elements = ElementSource::Reshaped,
          .view = ViewOf::Anything,
          .repeats_elements = true};
    case SqueezeOp:
      return {
          .read = OperandRead::Same, .elements = ElementSource::Reshaped, .view = ViewOf::Anything};
    case ReshapeOp:
      return {
          .read = OperandRead::Same, .elements = ElementSource::Reshaped, .view = ViewOf::Packed};
    case ViewAsScalar:
      return {.read = OperandRead::Same, .elements = ElementSource::Reshaped, .shows_parts = true};
    case CatOp: return {.read = OperandRead::Same, .elements = ElementSource::Chosen};

    // Copies that stay where they are: no view, and nothing that reads through them.
    case WaitForPriorGridOp:
    case LaunchDependentGridOp:
      return {.read = OperandRead::Same, .elements = ElementSource::Copied};

    case FullOp:
    case IotaOp:
    case EyeOp:
    case TensorConstruct:
    case RNGOp: return {.elements = ElementSource::Created};

    case SliceOp:
      return {
          .read = OperandRead::Elsewhere,
          .elements = ElementSource::Copied,
          .view = ViewOf::Anything};
    case PadOp:
      return {
          .read = OperandRead::Elsewhere, .elements = ElementSource::Copied, .adds_elements = true};
    case SelectOp:
    case IndexSelectOp:
    case GatherOp: return {.read = OperandRead::Elsewhere, .elements = ElementSource::Copied};
    case RepeatOp:
      return {
          .read = OperandRead::Elsewhere,
          .elements = ElementSource::Reshaped,
          .repeats_elements = true};
    case ScatterOp:
      return {
          .read = OperandRead::Elsewhere,
          .elements = ElementSource::Chosen,
          .overwrites_first = true,
          .loops_over_operands = true};
    case IndexPutAccumulateOp: return {.read = OperandRead::Elsewhere, .overwrites_first = true};
    case EmbeddingFwdOp: return {.read = OperandRead::Whole}; // of a row that max_norm scales

    case ReductionOp:
    case WelfordOp:
    case GroupedReductionOp: return {.read = OperandRead::Reduced, .has_steps = true};
    case MmaOp:
    case MatmulOp:
    case LinearOp: return {.read = OperandRead::Reduced};
    case ScanOp: return {.read = OperandRead::Scanned};
    case TopKOp:
    case ArgsortOp:
    case ScaledMmaOp: // scales lie in blocks
    case CutlassNvfp4GroupedMmaOp:
    case PreprocessGroupedMatmulInputSf: return {.read = OperandRead::Whole};
    case GroupedMmaOp: // beside the product, its scales
    case SdpaFwdOp:
    case SdpaBwdOp:
    case BlockQuantizationOp:
    case GroupedBlockQuantizationOp:
      return {.read = OperandRead::Whole, .has_like_results = false};

// Expressions of axes and of kernels have no tensors.
#define NVF_NO_TENSORS(Node) case ExprKind::Node:
      NVF_FOR_EACH_DOMAIN_EXPR(NVF_NO_TENSORS)
      NVF_FOR_EACH_KERNEL_EXPR(NVF_NO_TENSORS)
#undef NVF_NO_TENSORS
      return {};
  }
  return {};
}

#define NVF_ONE(Node) +1
constexpr size_t kNumKinds = 0 NVF_FOR_EACH_EXPR(NVF_ONE);
#undef NVF_ONE

constexpr std::array<OpSemantics, kNumKinds> kRows = [] {
  std::array<OpSemantics, kNumKinds> rows{};
  for (size_t kind = 0; kind < kNumKinds; ++kind) {
    rows[kind] = row_of(static_cast<ExprKind>(kind));
  }
  return rows;
}();

TensorView* first_operand(const Expr& expr) {
  Val* first = expr.inputs().empty() ? nullptr : expr.inputs().front();
  return first != nullptr && first->is_tensor() ? static_cast<TensorView*>(first) : nullptr;
}

void check_reads(const TensorView* producer, const TensorView* consumer) {
  const Expr* expr = consumer->definition();
  const auto reads = [&](const Val* input) { return input == producer; };
  if (expr == nullptr || std::ranges::none_of(expr->inputs(), reads)) {
    throw UserError(
        {.headline = "Axes correspond between an operand and its result",
         .node = describe(consumer),
         .expected = {"a tensor that is computed from ", describe(producer)},
         .found = expr == nullptr
                      ? Part("a tensor without definition")
                      : Part("a result of ", expr->op_name(), ", which does not read it"),
         .fix = "pass a tensor, and one of its consumers()"});
  }
}

} // namespace

const OpSemantics& semantics_of(const Expr& expr) {
  return kRows[static_cast<size_t>(expr.kind())];
}

TensorView* overwritten_operand(const Expr* expr) {
  return expr != nullptr && semantics_of(*expr).overwrites_first ? first_operand(*expr) : nullptr;
}

TensorView* copied_operand(const Expr* expr) {
  const bool is_copy = expr != nullptr && semantics_of(*expr).elements == ElementSource::Copied;
  return is_copy ? first_operand(*expr) : nullptr;
}

bool shows_first_operand(const Expr& expr) {
  const OpSemantics& semantics = semantics_of(expr);
  const bool moves =
      semantics.elements == ElementSource::Copied || semantics.elements == ElementSource::Reshaped;
  return moves && !semantics.adds_elements && !semantics.shows_parts;
}

bool is_elementwise_copy(const Expr& expr) {
  const OpSemantics& semantics = semantics_of(expr);
  return semantics.read == OperandRead::Same && semantics.elements == ElementSource::Copied;
}

bool loops_over_operands(const TensorView* tensor) {
  return tensor->definition() != nullptr && semantics_of(*tensor->definition()).loops_over_operands;
}

const IterDomains& first_axes(const TensorView* tensor) {
  return loops_over_operands(tensor) ? tensor->domain()->initial_loop() : tensor->logical();
}

// ---- Axes ---------------------------------------------------------------------------------------

OperandUse use_of(const TensorView* producer, const TensorView* consumer) {
  check_reads(producer, consumer);
  return look_up_use(*producer, *consumer);
}

std::vector<AxisUse> axes_of_use(const TensorView* producer, const TensorView* consumer) {
  return use_of(producer, consumer).axes;
}

std::string to_string(const AxisUse& use) {
  std::string text = [&] {
    switch (use.read) {
      case AxisRead::Same: return "same";
      case AxisRead::Leading: return "leading";
      case AxisRead::Resized: return "resized";
      case AxisRead::Repeated: return "repeated";
      case AxisRead::Indexed: return "indexed";
      case AxisRead::Placed: return "placed";
      case AxisRead::Reduced: return "reduced";
      case AxisRead::Scanned: return "scanned";
      case AxisRead::Block: return "block";
      case AxisRead::Whole: return "whole";
      case AxisRead::Any: return "any";
    }
    return "?";
  }();
  if (use.position != kNoPosition) {
    const std::string position = std::to_string(use.position);
    text += use.is_partner ? " " + position : " (" + position + ")";
  }
  return text;
}

OperandRead operand_read(AxisRead read) {
  switch (read) {
    case AxisRead::Same: return OperandRead::Same;
    case AxisRead::Leading:
    case AxisRead::Resized:
    case AxisRead::Repeated:
    case AxisRead::Indexed:
    case AxisRead::Placed: return OperandRead::Elsewhere;
    case AxisRead::Reduced: return OperandRead::Reduced;
    case AxisRead::Scanned: return OperandRead::Scanned;
    case AxisRead::Block:
    case AxisRead::Whole:
    case AxisRead::Any: return OperandRead::Whole;
  }
  return OperandRead::Whole;
}

IterDomains axes_read(const TensorView* tensor, AxisRead read) {
  IterDomains axes;
  if (tensor->definition() == nullptr ||
      semantics_of(*tensor->definition()).read < operand_read(read)) {
    return axes;
  }
  const IterDomains& root = tensor->maybe_root();
  for (const TensorView* producer : tensor->producers()) {
    for (const AxisUse& use : axes_of_use(producer, tensor)) {
      if (use.read == read && use.position != kNoPosition) {
        IterDomain* axis = root.at(static_cast<size_t>(use.position));
        if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
          axes.push_back(axis);
        }
      }
    }
  }
  return axes;
}

} // namespace nvfuser
