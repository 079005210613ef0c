// Lines of arithmetic, shapes, reductions and creation.
#include "ops/reshape.h"
#include "ops/reshape_nodes.h"
#include "translator.h"

namespace nvfuser::python {

void PythonTranslator::handle(const UnaryOp& op) {
  if (op.op == UnaryOpType::Cast) {
    print_cast(op.out, op.arg);
    return;
  }
  assign({op.out}, PythonCall(function_name(op.op, op)).arg(text_of(op.arg)));
}

void PythonTranslator::handle(const BinaryOp& op) {
  assign({op.out}, PythonCall(function_name(op.op, op)).arg(text_of(op.lhs)).arg(text_of(op.rhs)));
}

void PythonTranslator::handle(const TernaryOp& op) {
  assign(
      {op.out}, PythonCall(function_name(op.op, op))
                    .arg(text_of(op.in1))
                    .arg(text_of(op.in2))
                    .arg(text_of(op.in3)));
}

void PythonTranslator::handle(const LoadStoreOp& op) {
  if (op.op == LoadStoreOpType::SegmenterSet) {
    assign({op.out}, PythonCall("fd.ops.segment_set").arg(text_of(op.arg)));
    return;
  }
  if (!op.out->is_tensor()) {
    print_cast(op.out, op.arg);
    return;
  }
  auto* out = static_cast<TensorView*>(op.out);
  // The layout of an in-place output is that of its input, if that has one: `add_output` makes
  // it.
  const AliasInfo* alias = fusion_.alias_of(out);
  const bool is_laid_out = alias != nullptr && alias->input->has_allocation();
  const std::vector<int64_t> order =
      is_laid_out ? std::vector<int64_t>{} : defined_stride_order(out);
  if (is_resized(op)) {
    print_expand(out, op.arg);
    return;
  }
  if (out->has_root()) {
    print_permute(op, *out);
  }
  if (!order.empty()) {
    const Val* arg = out->has_root() ? op.out : op.arg;
    assign(
        {op.out}, PythonCall("fd.ops.stride_order")
                      .arg(text_of(arg))
                      .keyword("stride_order", python_list(order)));
  } else if (!out->has_root()) {
    print_cast(op.out, op.arg);
  }
}

void PythonTranslator::print_permute(const LoadStoreOp& op, const TensorView& out) {
  const std::vector<int64_t> dims = positions(out.logical(), out.root());
  if (dims.empty()) {
    throw_untranslatable(op, "a logical domain that permutes the root domain");
  }
  assign(
      {op.out},
      PythonCall("fd.ops.permute").arg(text_of(op.arg)).keyword("dims", python_list(dims)));
}

void PythonTranslator::print_cast(Val* out, const Val* arg) {
  assign(
      {out},
      PythonCall("fd.ops.cast").arg(text_of(arg)).keyword("dtype", python_text(out->dtype())));
}

std::vector<int64_t> PythonTranslator::reduced_dims(const Expr& expr, const TensorView* out) {
  if (out->has_root()) {
    throw_untranslatable(expr, "a reduction that no rfactor has divided");
  }
  std::vector<bool> flags;
  for (const IterDomain* axis : out->logical()) {
    flags.push_back(axis->is_reduction());
  }
  return true_positions(flags);
}

void PythonTranslator::handle(const ReductionOp& op) {
  PythonCall call(reduction_name(op.op, op));
  call.arg(text_of(op.arg)).keyword("dims", python_list(reduced_dims(op, as_tensor(op.out))));
  if (op.op == BinaryOpType::Add || op.op == BinaryOpType::Mul) {
    call.keyword("dtype", python_text(op.out->dtype()));
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const WelfordOp& op) {
  const bool reads_elements = op.in_var->is_const() && as_double(op.in_var->value()) == 0 &&
                              op.in_n->is_one() && op.init_n->is_zero();
  if (!reads_elements) {
    throw_untranslatable(op, "Welford over elements, not over partial results");
  }
  const std::vector<int64_t> dims = reduced_dims(op, as_tensor(op.out_avg));
  assign(
      {op.out_avg, op.out_var, op.out_n},
      PythonCall("fd.ops.welford").arg(text_of(op.in_avg)).keyword("dims", python_list(dims)));
}

void PythonTranslator::handle(const BroadcastOp& op) {
  assign(
      {op.out}, PythonCall("fd.ops.broadcast")
                    .arg(text_of(op.arg))
                    .keyword("is_broadcast_dim", python_list(op.flags)));
}

void PythonTranslator::handle(const SqueezeOp& op) {
  const IterDomains axes = shape_of(op.arg);
  bool is_ordinary = false;
  bool is_expanded = false;
  for (const int64_t dim : true_positions(op.flags)) {
    const IterDomain* axis = axes.at(static_cast<size_t>(dim));
    is_ordinary = is_ordinary || !(axis->is_broadcast() || axis->is_symbolic_axis());
    is_expanded = is_expanded || axis->has_expanded_extent();
  }
  if (is_ordinary) { // only a reshape to no dimensions removes ordinary dimensions of size one
    assign({op.out}, PythonCall("fd.ops.reshape").arg(text_of(op.arg)).keyword("new_shape", "[]"));
    return;
  }
  PythonCall call("fd.ops.squeeze");
  call.arg(text_of(op.arg)).keyword("dims", python_list(true_positions(op.flags)));
  if (is_expanded || op.squeeze_expanded) {
    call.keyword("squeeze_expanded", "True");
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const ReshapeOp& op) {
  PythonCall call("fd.ops.reshape");
  call.arg(text_of(op.arg)).keyword("new_shape", text_of(sizes_of(op.out)));
  const std::vector<ops::ReshapeStep> steps = ops::steps_of(op);
  if (!steps.empty() && !ops::follows_from_sizes(op)) {
    std::vector<std::string> texts = ops::texts_of(steps);
    for (std::string& text : texts) {
      text = "\"" + text + "\"";
    }
    call.keyword("steps", python_list(texts));
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const ExpandOp& op) {
  print_expand(op.out, op.arg);
}

void PythonTranslator::print_expand(TensorView* out, const Val* arg) {
  assign(
      {out},
      PythonCall("fd.ops.expand").arg(text_of(arg)).keyword("shape", text_of(sizes_of(out))));
}

void PythonTranslator::handle(const FullOp& op) {
  assign(
      {op.out}, PythonCall("fd.ops.full")
                    .keyword("shape", text_of(sizes_of(op.out)))
                    .keyword("fill_value", text_of(op.fill_value))
                    .keyword("dtype", python_text(op.out->dtype())));
}

void PythonTranslator::handle(const IotaOp& op) {
  PythonCall call("fd.ops.iota");
  call.keyword("length", text_of(op.length))
      .keyword("start", text_of(op.start))
      .keyword("step", text_of(op.step));
  if (op.out->dtype() != DataType::Int) {
    call.keyword("dtype", python_text(op.out->dtype()));
  }
  assign({op.out}, call);
}

void PythonTranslator::handle(const EyeOp& op) {
  PythonCall call("fd.ops.eye");
  call.arg(text_of(op.rows)).arg(text_of(op.columns));
  assign({op.out}, call.keyword("dtype", python_text(op.out->dtype())));
}

void PythonTranslator::handle(const TensorConstruct& op) {
  std::vector<std::string> items;
  for (const Val* element : op.elements) {
    items.push_back(text_of(element));
  }
  // [a, b, c, d] in the shape [2, 2] is [[a, b], [c, d]].
  const std::vector<Val*> sizes = sizes_of(op.out);
  for (size_t dim = sizes.size(); dim > 1; --dim) {
    const auto size = static_cast<size_t>(as_int(sizes[dim - 1]->value()));
    std::vector<std::string> rows;
    for (size_t i = 0; i + size <= items.size() && size > 0; i += size) {
      rows.push_back(python_list(
          std::vector<std::string>(
              items.begin() + static_cast<std::ptrdiff_t>(i),
              items.begin() + static_cast<std::ptrdiff_t>(i + size))));
    }
    items = std::move(rows);
  }
  const std::string elements = sizes.empty() ? items.at(0) : python_list(items);
  assign({op.out}, PythonCall("fd.ops.tensor").arg(elements));
}

void PythonTranslator::handle(const GroupedReductionOp& op) {
  throw_untranslatable(op, "reductions that no schedule has grouped");
}

// Nodes that schedules and lowering make have no function in `ops`.
#define NVF_HANDLE_INTERNAL(Node)                                      \
  void PythonTranslator::handle(const Node& op) {                      \
    throw_untranslatable(op, "an expression that a definition makes"); \
  }
NVF_FOR_EACH_DOMAIN_EXPR(NVF_HANDLE_INTERNAL)
NVF_FOR_EACH_KERNEL_EXPR(NVF_HANDLE_INTERNAL)
#undef NVF_HANDLE_INTERNAL

} // namespace nvfuser::python
