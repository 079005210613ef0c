// The translator walks the expressions once, as a queue: an expression whose operands have no line
// yet goes to the back. There is one `handle` per kind of node; a forgotten one does not compile.
//
// Lossless: what Python builds from the text is what was there. Where the constants of the text
// would come back as another type, they get a line of their own that names the type.
#include "python_translate.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "base/options.h"
#include "bindings.h"
#include "ir/all_nodes.h"
#include "ir/equality.h"
#include "python_names.h"
#include "python_text.h"

namespace nvfuser::python {
namespace {

// ---- What is asked of tensors -------------------------------------------------------------------

IterDomains shape_of(const TensorView* tv) {
  return TensorDomain::no_reductions(tv->logical());
}

TensorView* as_tensor(Val* val) {
  NVF_INVARIANT(val->is_tensor(), "reads and writes tensors: ", describe(val));
  return static_cast<TensorView*>(val);
}

/// Position of every axis of `of` in `in`; empty if they are not the same axes.
std::vector<int64_t> positions(const IterDomains& of, const IterDomains& in) {
  std::vector<int64_t> result;
  for (const IterDomain* axis : of) {
    const auto found = std::find(in.begin(), in.end(), axis);
    if (found == in.end() || of.size() != in.size()) {
      return {};
    }
    result.push_back(found - in.begin());
  }
  return result;
}

/// Rank of every dimension's stride, if the allocation domain says so and nothing else.
std::vector<int64_t> stride_order_of(const TensorView* tv) {
  if (!tv->has_allocation()) {
    return {};
  }
  std::vector<int64_t> order =
      positions(shape_of(tv), TensorDomain::no_reductions(tv->maybe_allocation()));
  for (int64_t& entry : order) {
    entry = static_cast<int64_t>(order.size()) - 1 - entry;
  }
  return order;
}

/// The sizes a user sees.
std::vector<Val*> sizes_of(const TensorView* tv) {
  std::vector<Val*> sizes;
  for (const IterDomain* axis : shape_of(tv)) {
    sizes.push_back(axis->maybe_expanded_extent());
  }
  return sizes;
}

/// Whether a copy has other expressions of the same sizes: an `expand` that expands nothing.
bool is_resized(const LoadStoreOp& op) {
  if (op.op != LoadStoreOpType::Set || !op.out->is_tensor()) {
    return false;
  }
  const TensorView* out = as_tensor(op.out);
  return !out->has_root() && sizes_of(out) != sizes_of(as_tensor(op.arg));
}

bool is_row_major(const std::vector<int64_t>& stride_order) {
  return std::is_sorted(stride_order.rbegin(), stride_order.rend());
}

/// The positions of true flags.
std::vector<int64_t> true_positions(const std::vector<bool>& flags) {
  std::vector<int64_t> result;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) {
      result.push_back(static_cast<int64_t>(i));
    }
  }
  return result;
}

[[noreturn]] void throw_untranslatable(const Statement& statement, const char* expected) {
  throw UserError(
      {
          .headline = {"Translation to Python: unhandled ", statement.to_string()},
          .node = describe(statement),
          .expected = {expected},
          .found = {statement.to_string()},
          .fix = {"translate the fusion before it is scheduled"},
      },
      ErrorKind::NotImplemented);
}

// ---- The walk -----------------------------------------------------------------------------------

class PythonTranslator {
 public:
  explicit PythonTranslator(const Fusion& fusion)
      : fusion_(fusion), names_constants_(has_option(DisableOption::PythonInlineDefinitions)) {}

  std::string translate() {
    text_ = "def nvfuser_fusion(fd : FusionDefinition) -> None :\n";
    for (Val* input : fusion_.inputs()) {
      print_input(input);
    }
    print_expressions();
    print_outputs();
    return std::move(text_);
  }

 private:
  // -- lines --

  void line(const std::string& text) {
    text_ += "    " + text + "\n";
  }

  void assign(const std::vector<Val*>& outputs, const PythonCall& call) {
    std::string names;
    for (const Val* output : outputs) {
      NVF_INVARIANT(
          output == nullptr || !is_inline(output),
          "A constant scalar Val* cannot be an output lvalue.");
      names += (names.empty() ? "" : ", ") + (output == nullptr ? "_" : name_of(output));
    }
    line(names + " = " + call.str());
    for (Val* output : outputs) {
      mark_printed(output);
    }
  }

  void mark_printed(Val* val) {
    if (val == nullptr || !printed_.insert(val).second || !val->is_tensor()) {
      return;
    }
    const auto* tv = static_cast<const TensorView*>(val);
    const IterDomains axes = shape_of(tv);
    for (size_t dim = 0; dim < axes.size(); ++dim) {
      size_of_.try_emplace(
          axes[dim]->maybe_expanded_extent(), TensorDim{tv, static_cast<int64_t>(dim)});
    }
  }

  // -- values --

  static std::string name_of(const Val* val) {
    return (val->is_tensor() ? "tv" : "c") + std::to_string(val->name());
  }

  /// Whether a value is written where it is used. A constant of dtype Index would come back as an
  /// Int: that is the same only where the function makes it an Index again.
  [[nodiscard]] bool is_inline(const Val* val) const {
    if (!val->is_const() || names_constants_) {
      return false;
    }
    switch (val->dtype()) {
      case DataType::Bool:
      case DataType::Int:
      case DataType::Double:
      case DataType::ComplexDouble: return true;
      case DataType::Index: return !names_index_constants_;
      default: return false;
    }
  }

  /// Constants without a line can get one at any time; nothing has to come before them.
  [[nodiscard]] bool is_ready(const Val* val) const {
    return printed_.contains(val) || is_inline(val);
  }

  [[nodiscard]] std::string text_of(const Val* val) const {
    if (val == nullptr) {
      return "None";
    }
    return is_inline(val) ? python_text(val->value()) : name_of(val);
  }

  template <typename T>
  [[nodiscard]] std::string text_of(const std::vector<T*>& vals) const {
    std::vector<std::string> texts;
    for (const T* val : vals) {
      texts.push_back(text_of(val));
    }
    return python_list(texts);
  }

  // -- definitions --

  void print_input(Val* input) {
    if (input->is_tensor()) {
      print_tensor(static_cast<TensorView*>(input));
      return;
    }
    print_scalar(input);
    if (size_of_.contains(input)) { // `size` does not register it
      line(PythonCall("fd.fusion.add_input").arg(name_of(input)).str());
    }
  }

  void print_tensor(TensorView* tv) {
    std::vector<std::string> shape;
    for (const IterDomain* axis : shape_of(tv)) {
      const Val* size = axis->maybe_expanded_extent();
      if (printed_.contains(size) && !size->is_const()) {
        throw_untranslatable(*tv, "the tensor registered before scalars that are its sizes");
      }
      shape.push_back(size->is_const() ? python_text(size->value()) : "-1");
    }
    PythonCall call("fd.define_tensor");
    call.keyword("shape", python_list(shape))
        .keyword("contiguity", python_list(tv->domain()->contiguity()))
        .keyword("dtype", python_text(tv->dtype()))
        .keyword("is_cpu", python_text(tv->is_cpu_scalar()));
    if (tv->has_allocation()) {
      const std::vector<int64_t> order = stride_order_of(tv);
      if (order.empty()) {
        throw_untranslatable(*tv, "an allocation domain that permutes the logical one");
      }
      if (!is_row_major(order)) {
        call.keyword("stride_order", python_list(order));
      }
    }
    assign({tv}, call);
  }

  /// The line of a scalar that nothing computes, if it needs one.
  void print_scalar(Val* val) {
    if (is_ready(val)) {
      return;
    }
    if (const auto found = size_of_.find(val); found != size_of_.end()) {
      assign(
          {val}, PythonCall("fd.ops.size")
                     .arg(name_of(found->second.tv))
                     .keyword("dim", python_text(found->second.dim)));
      return;
    }
    assign(
        {val}, PythonCall("fd.define_scalar")
                   .arg(python_text(val->value()))
                   .keyword("dtype", python_text(val->dtype())));
  }

  void print_free_scalars(const std::vector<Val*>& vals) {
    for (Val* val : vals) {
      if (val->is_scalar() && val->definition() == nullptr) {
        print_scalar(val);
      }
    }
  }

  // -- expressions --

  /// The tensor whose sizes the expression's line lists; nullptr for all other expressions.
  static TensorView* sized_output(const Expr* expr) {
    const auto* copy = expr->as<LoadStoreOp>();
    const bool shows_sizes = expr->is_a<ReshapeOp>() || expr->is_a<ExpandOp>() ||
                             expr->is_a<FullOp>() || (copy != nullptr && is_resized(*copy));
    return shows_sizes ? as_tensor(expr->output(0)) : nullptr;
  }

  /// The values that a line shows.
  static std::vector<Val*> operands_of(const Expr* expr) {
    const auto* welford = expr->as<WelfordOp>();
    return welford == nullptr ? expr->inputs() : std::vector<Val*>{welford->in_avg};
  }

  void print_expressions() {
    const std::vector<Expr*> needed = fusion_.exprs();
    rebuilt_.insert(needed.begin(), needed.end());
    std::deque<Expr*> queue(needed.begin(), needed.end());
    for (const Expr* expr : needed) {
      if (const TensorView* output = sized_output(expr)) {
        const std::vector<Expr*> of_sizes = Fusion::exprs_to(sizes_of(output));
        queue.insert(queue.end(), of_sizes.begin(), of_sizes.end());
        if (!expr->is_a<ReshapeOp>()) {
          rebuilt_.insert(of_sizes.begin(), of_sizes.end());
        }
      }
    }
    size_t num_waiting = 0; // since the last line
    while (!queue.empty()) {
      Expr* expr = queue.front();
      queue.pop_front();
      const bool is_done = print_expression(expr);
      num_waiting = is_done ? 0 : num_waiting + 1;
      if (!is_done) {
        queue.push_back(expr);
      }
      NVF_USER_CHECK(
          num_waiting <= queue.size(), "Cycle detected: None of the expressions can be processed!");
    }
  }

  /// Whether the expression has its line now.
  bool print_expression(Expr* expr) {
    const auto& outputs = expr->outputs();
    if (std::all_of(outputs.begin(), outputs.end(), [&](const Val* output) {
          return printed_.contains(output);
        })) {
      return true;
    }
    // Arithmetic takes a number as an Int. Functions that take sizes make it an Index.
    names_index_constants_ =
        rebuilt_.contains(expr) && sized_output(expr) == nullptr && !expr->is_a<IotaOp>();
    const std::vector<Val*> operands = operands_of(expr);
    print_free_scalars(operands);
    const auto is_missing = [&](const Val* val) { return !is_ready(val); };
    if (std::any_of(operands.begin(), operands.end(), is_missing)) {
      return false;
    }
    if (const TensorView* output = sized_output(expr)) {
      const std::vector<Val*> sizes = sizes_of(output);
      if (std::any_of(sizes.begin(), sizes.end(), [&](const Val* size) {
            return size->definition() != nullptr && is_missing(size);
          })) {
        return false;
      }
      print_free_scalars(sizes);
    }
    visit(*expr, [this](const auto& node) { handle(node); });
    names_index_constants_ = false;
    return true;
  }

  void handle(const UnaryOp& op) {
    if (op.op == UnaryOpType::Cast) {
      print_cast(op.out, op.arg);
      return;
    }
    assign({op.out}, PythonCall(function_name(op.op, op)).arg(text_of(op.arg)));
  }

  void handle(const BinaryOp& op) {
    assign(
        {op.out}, PythonCall(function_name(op.op, op)).arg(text_of(op.lhs)).arg(text_of(op.rhs)));
  }

  void handle(const TernaryOp& op) {
    assign(
        {op.out}, PythonCall(function_name(op.op, op))
                      .arg(text_of(op.in1))
                      .arg(text_of(op.in2))
                      .arg(text_of(op.in3)));
  }

  void handle(const LoadStoreOp& op) {
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
    const std::vector<int64_t> order = is_laid_out ? std::vector<int64_t>{} : stride_order_of(out);
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

  void print_permute(const LoadStoreOp& op, const TensorView& out) {
    const std::vector<int64_t> dims = positions(out.logical(), out.root());
    if (dims.empty()) {
      throw_untranslatable(op, "a logical domain that permutes the root domain");
    }
    assign(
        {op.out},
        PythonCall("fd.ops.permute").arg(text_of(op.arg)).keyword("dims", python_list(dims)));
  }

  void print_cast(Val* out, const Val* arg) {
    assign(
        {out},
        PythonCall("fd.ops.cast").arg(text_of(arg)).keyword("dtype", python_text(out->dtype())));
  }

  /// Logical positions of the reduced axes.
  static std::vector<int64_t> reduced_dims(const Expr& expr, const TensorView* out) {
    if (out->has_root()) {
      throw_untranslatable(expr, "a reduction that no rfactor has divided");
    }
    std::vector<bool> flags;
    for (const IterDomain* axis : out->logical()) {
      flags.push_back(axis->is_reduction());
    }
    return true_positions(flags);
  }

  void handle(const ReductionOp& op) {
    PythonCall call(reduction_name(op.op, op));
    call.arg(text_of(op.arg)).keyword("dims", python_list(reduced_dims(op, as_tensor(op.out))));
    if (op.op == BinaryOpType::Add || op.op == BinaryOpType::Mul) {
      call.keyword("dtype", python_text(op.out->dtype()));
    }
    assign({op.out}, call);
  }

  void handle(const WelfordOp& op) {
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

  void handle(const BroadcastOp& op) {
    assign(
        {op.out}, PythonCall("fd.ops.broadcast")
                      .arg(text_of(op.arg))
                      .keyword("is_broadcast_dim", python_list(op.flags)));
  }

  void handle(const SqueezeOp& op) {
    const IterDomains axes = shape_of(op.arg);
    bool is_ordinary = false;
    bool is_expanded = false;
    for (const int64_t dim : true_positions(op.flags)) {
      const IterDomain* axis = axes.at(static_cast<size_t>(dim));
      is_ordinary = is_ordinary || !(axis->is_broadcast() || axis->is_symbolic_axis());
      is_expanded = is_expanded || axis->has_expanded_extent();
    }
    if (is_ordinary) { // only a reshape to no dimensions removes ordinary dimensions of size one
      assign(
          {op.out}, PythonCall("fd.ops.reshape").arg(text_of(op.arg)).keyword("new_shape", "[]"));
      return;
    }
    PythonCall call("fd.ops.squeeze");
    call.arg(text_of(op.arg)).keyword("dims", python_list(true_positions(op.flags)));
    if (is_expanded) {
      call.keyword("squeeze_expanded", "True");
    }
    assign({op.out}, call);
  }

  void handle(const ReshapeOp& op) {
    assign(
        {op.out}, PythonCall("fd.ops.reshape")
                      .arg(text_of(op.arg))
                      .keyword("new_shape", text_of(sizes_of(op.out))));
  }

  void handle(const ExpandOp& op) {
    print_expand(op.out, op.arg);
  }

  void print_expand(TensorView* out, const Val* arg) {
    assign(
        {out},
        PythonCall("fd.ops.expand").arg(text_of(arg)).keyword("shape", text_of(sizes_of(out))));
  }

  void handle(const FullOp& op) {
    assign(
        {op.out}, PythonCall("fd.ops.full")
                      .keyword("shape", text_of(sizes_of(op.out)))
                      .keyword("fill_value", text_of(op.fill_value))
                      .keyword("dtype", python_text(op.out->dtype())));
  }

  void handle(const IotaOp& op) {
    PythonCall call("fd.ops.iota");
    call.keyword("length", text_of(op.length))
        .keyword("start", text_of(op.start))
        .keyword("step", text_of(op.step));
    if (op.out->dtype() != DataType::Int) {
      call.keyword("dtype", python_text(op.out->dtype()));
    }
    assign({op.out}, call);
  }

  // What schedules and lowering make has no function in `ops`.
#define NVF_HANDLE_INTERNAL(Node)                                        \
  void handle(const Node& node) {                                        \
    throw_untranslatable(node, "an expression that a definition makes"); \
  }
  NVF_FOR_EACH_DOMAIN_EXPR(NVF_HANDLE_INTERNAL)
  NVF_FOR_EACH_KERNEL_EXPR(NVF_HANDLE_INTERNAL)
#undef NVF_HANDLE_INTERNAL

  // -- outputs --

  void print_outputs() {
    std::unordered_set<const Val*> aliased; // those whose alias has its line
    for (Val* output : fusion_.outputs()) {
      const AliasInfo* alias = fusion_.alias_of(output);
      if (alias != nullptr && aliased.insert(output).second) {
        line(PythonCall("fd.add_output").arg(name_of(output)).arg(name_of(alias->input)).str());
      }
      if (alias == nullptr || !alias->is_hidden) {
        line(PythonCall("fd.add_output").arg(name_of(output)).str());
      }
    }
  }

  struct TensorDim {
    const TensorView* tv;
    int64_t dim;
  };

  const Fusion& fusion_;
  const bool names_constants_;
  bool names_index_constants_ = false; // for the expression at hand
  std::string text_;
  // Their results will be there again. A reshape makes its sizes itself, whatever tells it them.
  std::unordered_set<const Expr*> rebuilt_;
  std::unordered_set<const Val*> printed_;            // have their line
  std::unordered_map<const Val*, TensorDim> size_of_; // by extent: where it was printed first
};

} // namespace

std::string translate_fusion(const Fusion& fusion) {
  return PythonTranslator(fusion).translate();
}

void bind_python_translate(nb::module_& m) {
  m.def(
      "translate_fusion", &translate_fusion, "fusion"_a,
      R"(The math of a fusion as the Python function that builds it.

Parameters
----------
fusion : Fusion
    An unscheduled fusion.

Returns
-------
str
    Source of `nvfuser_fusion(fd)`. Calling it inside `with FusionDefinition() as fd` gives an equal
    fusion.
)");
  m.def(
      "equal_up_to_numbering", &equal_up_to_numbering, "a"_a, "b"_a,
      R"(Whether two fusions say the same, whatever their statements are numbered.

Parameters
----------
a, b : Fusion
    The fusions. Unlike for `==`, statements may have other numbers, and equal scalars may be one
    or several.
)");
}

} // namespace nvfuser::python
