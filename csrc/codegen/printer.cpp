#include "codegen/printer.h"

#include <cctype>

namespace nvfuser {
namespace {

/// The copy in a vectorized loop: alone, or alone under a condition.
struct VectorCopy {
  const LoadStoreOp* copy = nullptr;
  const IfThenElse* condition = nullptr;
};

VectorCopy vector_copy_of(const ForLoop& loop) {
  VectorCopy found;
  const Scope* body = &loop.body;
  if (body->size() == 1) {
    found.condition = body->front()->as<IfThenElse>();
    if (found.condition != nullptr && found.condition->else_body.empty()) {
      body = &found.condition->then_body;
    }
  }
  if (body->size() == 1) {
    found.copy = body->front()->as<LoadStoreOp>();
  }
  NVF_INVARIANT(
      found.copy != nullptr && view_of(found.copy->arg) != nullptr && loop.stop->is_const_int(),
      "a vectorized loop of constant width holds one copy between tensors: ", loop.to_string());
  return found;
}

} // namespace

const TensorView* view_of(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val)->view()
                                              : nullptr;
}

KernelPrinter::KernelPrinter(const Kernel& kernel, Dialect& dialect, std::string name)
    : kernel_(kernel), dialect_(dialect), name_(std::move(name)), expressions_(kernel, dialect) {
  for (const Val* output : kernel.outputs()) {
    if (const AliasInfo* alias = kernel.alias_of(output); alias != nullptr) {
      written_.insert(alias->input);
    }
  }
  analyze(kernel.body);
}

std::string KernelPrinter::print() {
  // The body first: it decides what the head declares.
  indent_ = 1;
  statements(kernel_.body);
  std::string body;
  std::swap(body, text_);
  declare_sizes();
  body_ = text_ + body;
  text_.clear();
  indent_ = 0;
  dialect_.open_kernel(*this, name_);
  return text_ + body_ + "}\n";
}

bool KernelPrinter::mentions(const std::string& name) const {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (size_t at = body_.find(name); at != std::string::npos; at = body_.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !is_word(body_[at - 1])) && (end == body_.size() || !is_word(body_[end]))) {
      return true;
    }
  }
  return false;
}

// ---- Facts about the whole kernel ---------------------------------------------------------------

void KernelPrinter::analyze(const Scope& scope) {
  for (const Expr* expr : scope) {
    for (const Val* out : expr->outputs()) {
      const TensorView* view = view_of(out);
      if (view != nullptr && view->memory_type() == MemoryType::Global) {
        written_.insert(view);
      }
    }
    if (const auto* allocate = expr->as<Allocate>();
        allocate != nullptr && allocate->alias != nullptr) {
      alias_[allocate->buffer] = storage_of(allocate->alias);
    }
    if (const auto* loop = expr->as<ForLoop>(); loop != nullptr && loop->is_vectorized) {
      const VectorCopy vector = vector_copy_of(*loop);
      const int64_t lanes = as_int(loop->stop->value());
      for (const Val* side : {vector.copy->out, vector.copy->arg}) {
        int64_t& bytes = vector_bytes_[storage_of(view_of(side))];
        bytes = std::max(bytes, lanes * size_bytes(side->dtype()));
      }
    }
    for (const Scope* body : bodies_of(*expr)) {
      analyze(*body);
    }
  }
}

const TensorView* KernelPrinter::storage_of(const TensorView* view) const {
  const auto found = alias_.find(view);
  return found == alias_.end() ? view : found->second;
}

int64_t KernelPrinter::vector_bytes(const TensorView* view) const {
  const auto found = vector_bytes_.find(storage_of(view));
  return found == vector_bytes_.end() ? 0 : found->second;
}

bool KernelPrinter::is_read_only(const TensorView* view) const {
  return view->memory_type() == MemoryType::Global && view->is_fusion_input() &&
         written_.count(view) == 0;
}

// ---- Lines --------------------------------------------------------------------------------------

void KernelPrinter::line(const std::string& text) {
  text_ += std::string(static_cast<size_t>(2 * indent_), ' ') + text + "\n";
}

void KernelPrinter::block(
    const std::string& head, const std::function<void()>& body, const std::string& tail) {
  line(head);
  indented(body);
  line("}" + tail);
}

void KernelPrinter::indented(const std::function<void()>& body) {
  const size_t mark = expressions_.open_scope();
  ++indent_;
  body();
  --indent_;
  expressions_.close_scope(mark);
}

std::string KernelPrinter::location_of(const Expr& expr) const {
  const TensorView* view = expr.outputs().empty() ? nullptr : view_of(expr.outputs().front());
  const auto origin = kernel_.origin.find(&expr);
  SourceLocation location;
  // What writes an output is the user's line that made the output, also where lowering put a copy
  // in between; whatever lowering made has the line of the operation it serves.
  if (view != nullptr && view->is_fusion_output()) {
    location = view->location();
  } else if (origin != kernel_.origin.end() && origin->second != nullptr) {
    location = origin->second->location();
  } else if (view != nullptr && view->definition() != nullptr) {
    location = view->definition()->location();
  }
  return location.is_known() ? " // " + location.str() : "";
}

std::string KernelPrinter::condition(const Val* predicate) {
  return predicate == nullptr ? "true" : expressions_.value(predicate).str();
}

void KernelPrinter::statement(const Expr& expr, const std::string& text) {
  const std::string commented = text + location_of(expr);
  if (expr.predicate() == nullptr || expr.predicate()->is_true()) {
    line(commented);
  } else {
    block("if (" + condition(expr.predicate()) + ") {", [&] { line(commented); });
  }
}

// ---- Parameters ---------------------------------------------------------------------------------

std::vector<KernelPrinter::Parameter> KernelPrinter::parameters() const {
  std::vector<Parameter> list;
  const auto add_tensor = [&](const TensorView* view) {
    const size_t strides = TensorDomain::no_reductions(view->maybe_allocation()).size();
    list.push_back(
        {"Tensor<" + c_type(view->dtype()) + ", " + std::to_string(view->rank()) + ", " +
             std::to_string(strides) + ">",
         ExpressionPrinter::name_of(view)});
  };
  for (const Val* input : kernel_.inputs()) {
    if (!input->is_tensor()) {
      list.push_back({c_type(input->dtype()), ExpressionPrinter::name_of(input)});
    } else if (const auto* view = static_cast<const TensorView*>(input); view->is_cpu_scalar()) {
      list.push_back({c_type(view->dtype()), ExpressionPrinter::name_of(view)});
    } else {
      add_tensor(view);
    }
  }
  for (const GlobalBuffer& buffer : kernel_.launch.buffers) {
    add_tensor(buffer.tensor);
  }
  return list;
}

void KernelPrinter::declare_sizes() {
  for (const auto& [number, source] : expressions_.used_sizes()) {
    line(
        "const " + c_type(source->extent->dtype()) + " " +
        ExpressionPrinter::name_of(source->extent) + " = " +
        ExpressionPrinter::name_of(source->tensor) + ".logical_size[" +
        std::to_string(source->dim) + "];");
  }
}

// ---- Storage ------------------------------------------------------------------------------------

void KernelPrinter::declare_array(const Allocate& allocate, const std::string& attributes) {
  const TensorView* view = allocate.buffer;
  const std::string head =
      attributes + c_type(view->dtype()) + " " + ExpressionPrinter::name_of(view);
  if (allocate.size->is_const_int(1)) {
    expressions_.define_as_variable(view);
    line(head + ";");
  } else {
    line(head + "[" + expressions_.value(allocate.size).str() + "];");
  }
}

void KernelPrinter::declare_alias(const Allocate& allocate) {
  const TensorView* view = allocate.buffer;
  NVF_INVARIANT(
      view->dtype() == allocate.alias->dtype(),
      "registers are reused for the same type: ", describe(view));
  if (expressions_.is_variable(allocate.alias)) {
    expressions_.define_as_variable(view);
  }
  line(
      "auto& " + ExpressionPrinter::name_of(view) + " = " +
      ExpressionPrinter::name_of(allocate.alias) + ";");
}

// ---- Statements ---------------------------------------------------------------------------------

void KernelPrinter::statements(const Scope& scope) {
  for (const Expr* expr : scope) {
    statement(*expr);
  }
}

void KernelPrinter::statement(const Expr& expr) {
  visit(
      expr, overloaded{
                [&](const ForLoop& node) { loop(node); },
                [&](const IfThenElse& node) { branch(node); },
                [&](const Allocate& node) { dialect_.allocate(*this, node); },
                [&](const BlockSync& node) { dialect_.block_sync(*this, node); },
                [&](const GridSync& node) { dialect_.grid_sync(*this, node); },
                [&](const BlockReduction& node) { dialect_.block_reduction(*this, node); },
                [&](const GridReduction& node) { dialect_.grid_reduction(*this, node); },
                [&](const ThreadLoop& node) { dialect_.thread_loop(*this, node); },
                [&](const BlockLoop& node) { dialect_.block_loop(*this, node); },
                [&](const WelfordOp& node) { welford(node); },
                [&](const LoadStoreOp& node) { copy(node); },
                [&](const Expr& node) { pointwise(node); },
            });
}

void KernelPrinter::loop(const ForLoop& loop) {
  if (loop.is_parallel) { // no braces: what the body declares is visible after it
    statements(loop.body);
    return;
  }
  if (loop.is_vectorized) {
    vectorized_loop(loop);
    return;
  }
  const std::string index = ExpressionPrinter::name_of(loop.index);
  const std::string start = expressions_.value_as(loop.start, DataType::Index).str();
  const std::string stop = expressions_.value(loop.stop).within(Precedence::Sum);
  const std::string step =
      loop.step->is_one()
          ? "++" + index
          : index + " += " + expressions_.value(loop.step).within(Precedence::Conditional);
  if (loop.is_unrolled && !dialect_.unroll_hint().empty()) {
    line(dialect_.unroll_hint());
  }
  const std::string axis =
      loop.iter_domain == nullptr ? "" : " // " + loop.iter_domain->to_string();
  const std::string head = "for (nvfuser_index_t " + index + " = " + start + "; " + index + " < " +
                           stop + "; " + step + ") {" + axis;
  block(head, [&] {
    expressions_.define(loop.index, index);
    statements(loop.body);
  });
}

void KernelPrinter::vectorized_loop(const ForLoop& loop) {
  const VectorCopy vector = vector_copy_of(loop);
  const auto print_copy = [&] {
    const int64_t lanes = as_int(loop.stop->value());
    if (lanes == 1) {
      copy(*vector.copy);
    } else {
      dialect_.copy_vector(*this, *vector.copy, lanes);
    }
  };
  if (vector.condition == nullptr) {
    print_copy();
  } else {
    block("if (" + condition(vector.condition->condition) + ") {", print_copy);
  }
}

void KernelPrinter::branch(const IfThenElse& branch) {
  const bool has_else = !branch.else_body.empty();
  block(
      "if (" + condition(branch.condition) + ") {", [&] { statements(branch.then_body); },
      has_else ? " else {" : "");
  if (has_else) {
    indented([&] { statements(branch.else_body); });
    line("}");
  }
}

void KernelPrinter::pointwise(const Expr& expr) {
  NVF_INVARIANT(
      expr.outputs().size() == 1, "a pointwise statement has one result: ", expr.to_string());
  const Val* out = expr.outputs().front();
  if (view_of(out) != nullptr) {
    statement(
        expr, expressions_.destination(out).str() + " = " + expressions_.result(&expr).str() + ";");
    return;
  }
  const std::string name = ExpressionPrinter::name_of(out);
  line(
      "const " + c_type(out->dtype()) + " " + name + " = " + expressions_.result(&expr).str() +
      ";");
  expressions_.define(out, name);
}

void KernelPrinter::copy(const LoadStoreOp& copy) {
  const TensorView* from = view_of(copy.arg);
  if (from != nullptr && view_of(copy.out) != nullptr && copy.arg->dtype() == copy.out->dtype()) {
    dialect_.copy_element(*this, copy);
  } else {
    pointwise(copy);
  }
}

void KernelPrinter::welford(const WelfordOp& welford) {
  const std::string accumulators = elements(welford.outputs());
  const bool is_element = welford.in_n->is_const_int(1) && welford.in_var->is_zero();
  const std::string text =
      is_element
          ? "welford_add(" + accumulators + ", " +
                expressions_.value_as(welford.in_avg, welford.outputs().front()->dtype(), true)
                    .str()
          : "welford_merge(" + accumulators + ", " +
                triple({welford.in_avg, welford.in_var, welford.in_n});
  statement(welford, text + ");");
}

std::string KernelPrinter::elements(const std::vector<Val*>& vals) {
  std::string text;
  for (const Val* val : vals) {
    text += (text.empty() ? "" : ", ") + expressions_.value(val).str();
  }
  return text;
}

std::string KernelPrinter::triple(const std::vector<Val*>& vals) {
  NVF_INVARIANT(vals.size() == 3, "a Welford triple has three values");
  return "{" + expressions_.value(vals[0]).str() + ", " +
         expressions_.value_as(vals[1], vals[0]->dtype()).str() + ", " +
         expressions_.value_as(vals[2], DataType::Int).str() + "}";
}

} // namespace nvfuser
