#include "codegen/printer.h"

#include <algorithm>
#include <cctype>

#include "lower/analysis/kernel_parameters.h"
#include "lower/analysis/memory_layout.h"

namespace nvfuser {
namespace {

/// Call fn(const LoadStoreOp&) for every copy in the body of a vectorized loop.
template <typename Fn>
void for_each_vector_copy(const Scope& body, const Fn& fn) {
  for (const Expr* expr : body) {
    if (const auto* branch = expr->as<IfThenElse>()) {
      for_each_vector_copy(branch->then_body, fn);
      for_each_vector_copy(branch->else_body, fn);
      continue;
    }
    const auto* copy = expr->as<LoadStoreOp>();
    NVF_INVARIANT(
        copy != nullptr, "a vectorized loop holds copies and conditions: ", expr->to_string());
    fn(*copy);
  }
}

/// Whether a statement writes an element of global memory that no other statement writes: under its
/// condition, then, and not always. An element of a workspace may have several such statements.
bool is_stored_alone(const Val* out) {
  const TensorView* view = view_of(out);
  return view != nullptr && view->memory_type() == MemoryType::Global &&
         view->definition() != nullptr;
}

} // namespace

bool may_be_unrolled(const Val* extent) {
  constexpr int64_t kMost = 16; // iterations that g++ unrolls as a whole
  return extent->is_const_int() && as_int(extent->value()) <= kMost;
}

bool has_loops(const Scope& scope) {
  bool found = false;
  for_each_node(scope, [&](const Expr& expr) {
    const auto* loop = expr.as<ForLoop>();
    found = found || (loop != nullptr && loop->loop_kind != LoopKind::Hardware &&
                      loop->loop_kind != LoopKind::Vector);
  });
  return found;
}

const TensorView* view_of(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val)->view()
                                              : nullptr;
}

KernelPrinter::KernelPrinter(
    const Kernel& kernel, Dialect& dialect, std::string name, Comments comments)
    : kernel_(kernel),
      dialect_(dialect),
      name_(std::move(name)),
      comments_(comments),
      expressions_(kernel, dialect),
      sums_(kernel) {
  for (const Val* output : kernel.outputs()) {
    if (const AliasInfo* alias = kernel.alias_of(output); alias != nullptr) {
      written_.insert(alias->input);
    }
  }
  analyze(kernel.body);
  // A compiler may read what nothing writes in front of a wait for the grid that writes it.
  const bool may_change = kernel.launch.waits_for_prior_grid;
  for (const Val* input : kernel.inputs()) {
    if (input->is_tensor() && !may_change &&
        written_.count(static_cast<const TensorView*>(input)) == 0) {
      expressions_.define_as_read_only(static_cast<const TensorView*>(input));
    }
  }
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
  const std::string differences =
      comments_ == Comments::Fusion ? expressions_.names().differences() : "";
  return "// Codegen generated code" + (differences.empty() ? "" : "; " + differences) + "\n" +
         text_ + body_ + "}\n";
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

void KernelPrinter::analyze(const Scope& scope, const Scope* branch) {
  for (const Expr* expr : scope) {
    for (const std::vector<Val*>* operands : {&expr->inputs(), &expr->outputs()}) {
      for (const Val* operand : *operands) {
        const TensorView* view = view_of(operand);
        if (view != nullptr && view->memory_type() == MemoryType::Local) {
          const auto [known, is_new] = branch_of_.try_emplace(view, branch);
          known->second = is_new || known->second == branch ? branch : nullptr;
        }
      }
    }
    for (const Val* out : expr->outputs()) {
      const TensorView* view = view_of(out);
      if (view != nullptr && view->memory_type() == MemoryType::Global) {
        written_.insert(view);
      }
    }
    if (const auto* loop = expr->as<ForLoop>();
        loop != nullptr && loop->loop_kind == LoopKind::Vector) {
      NVF_INVARIANT(loop->stop->is_const_int(), "a vector has a constant width");
      const int64_t lanes = as_int(loop->stop->value());
      for_each_vector_copy(loop->body, [&](const LoadStoreOp& copy) {
        for (const Val* side : {copy.out, copy.arg}) {
          if (view_of(side) != nullptr) {
            int64_t& bytes = vector_bytes_[view_of(side)];
            bytes = std::max(bytes, lanes * size_bytes(side->dtype()));
          }
        }
      });
    }
    if (const auto* load = expr->as<BulkLoad>()) {
      swizzle_bytes_[view_of(load->out)] = load->swizzle_bytes;
    }
    for (const Scope* body : bodies_of(*expr)) {
      analyze(*body, expr->is_a<IfThenElse>() ? body : branch);
    }
  }
}

bool KernelPrinter::keeps_its_reads(const Scope& branch) const {
  bool keeps = true;
  for_each_node(branch, [&](const Expr& expr) {
    for (const Val* out : expr.outputs()) {
      const TensorView* view = view_of(out);
      const bool is_own = view != nullptr && view->memory_type() == MemoryType::Local &&
                          branch_of_.at(view) == &branch;
      keeps = keeps && (view == nullptr || is_own || is_stored_alone(out));
    }
  });
  return keeps;
}

int64_t KernelPrinter::vector_bytes(const TensorView* view) const {
  const auto found = vector_bytes_.find(view);
  return found == vector_bytes_.end() ? 0 : found->second;
}

int64_t KernelPrinter::swizzle_bytes(const TensorView* box) const {
  const auto found = swizzle_bytes_.find(box);
  return found == swizzle_bytes_.end() ? 0 : found->second;
}

int64_t KernelPrinter::copied_units(const LoadStoreOp& copy, int64_t lanes) {
  const bool moves_pairs =
      is_stored_in_pairs(view_of(copy.arg)) && is_stored_in_pairs(view_of(copy.out));
  return moves_pairs ? lanes / 2 : lanes;
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
  if (comments_ == Comments::None) {
    return "";
  }
  const TensorView* view = expr.outputs().empty() ? nullptr : view_of(expr.outputs().front());
  const auto origin = kernel_.origin.find(&expr);
  SourceLocation location;
  // A statement that writes an output has the user's line that made the output, also where lowering
  // put a copy in between; a statement that lowering made has the line of the operation it serves.
  if (view != nullptr && view->is_fusion_output()) {
    location = view->location();
  } else if (origin != kernel_.origin.end() && origin->second != nullptr) {
    location = origin->second->location();
  } else if (view != nullptr && view->definition() != nullptr) {
    location = view->definition()->location();
  }
  return location.is_known() ? " // " + location.str() : "";
}

std::string KernelPrinter::axis_of(const ForLoop& loop) const {
  if (comments_ == Comments::None || loop.iter_domain == nullptr) {
    return "";
  }
  std::string text = " // " + expressions_.names().axis_text(loop.iter_domain);
  if (loop.circular_buffer_depth > 0) {
    text += std::string(", ") + enum_name(loop.circular_buffer_stage) + " of " +
            std::to_string(loop.circular_buffer_depth) + " stages";
  }
  return text;
}

std::string KernelPrinter::condition(const Val* predicate) {
  return predicate == nullptr ? "true" : expressions_.value(predicate).str();
}

void KernelPrinter::commented_line(const Expr& expr, const std::string& text) {
  line(text + location_of(expr));
}

void KernelPrinter::statement(const Expr& expr, const std::string& text) {
  if (expr.predicate() == nullptr || expr.predicate()->is_true()) {
    commented_line(expr, text);
  } else {
    block("if (" + condition(expr.predicate()) + ") {", [&] { commented_line(expr, text); });
  }
}

// ---- Parameters ---------------------------------------------------------------------------------

std::vector<KernelPrinter::Parameter> KernelPrinter::parameters() const {
  using Kind = KernelParameter::Kind;
  std::vector<Parameter> list;
  for (const KernelParameter& parameter : kernel_parameters(kernel_)) {
    std::string type = c_type(parameter.dtype);
    switch (parameter.kind) {
      case Kind::Tensor:
        type = "Tensor<" + type + ", " + std::to_string(parameter.tensor()->rank()) + ", " +
               std::to_string(parameter.num_strides()) + ">";
        list.push_back({std::move(type), name_of(parameter.tensor())});
        break;
      case Kind::Scalar:
        list.push_back(
            {std::move(type),
             parameter.val->is_tensor() ? name_of(parameter.tensor()) : name_of(parameter.val)});
        break;
      case Kind::TensorMap:
        list.push_back(
            {kTensorMapType, name_of_tensor_map(name_of(parameter.tensor()), parameter.position)});
        break;
      case Kind::RandomSeed: list.push_back({"PhiloxKeys", "rng_seed"}); break;
      case Kind::RandomOffset:
        list.push_back({std::move(type), name_of_random_offset(parameter.stream)});
        break;
    }
  }
  return list;
}

void KernelPrinter::declare_sizes() {
  for (const auto& [number, source] : expressions_.used_sizes()) {
    line(
        "const " + c_type(source->extent->dtype()) + " " + name_of(source->extent) + " = " +
        name_of(source->tensor) + ".logical_size[" + std::to_string(source->dim) + "];");
  }
}

// ---- Storage ------------------------------------------------------------------------------------

void KernelPrinter::declare_array(const Allocate& allocate, const std::string& attributes) {
  const TensorView* view = allocate.buffer;
  const std::string head = attributes + expressions_.element_type(view) + " " + name_of(view);
  if (allocate.size->is_const_int(1)) {
    expressions_.define_as_variable(view);
    line(head + ";");
  } else if (allocate.size->is_const_int(0)) {
    line(head + "[1];"); // C++ has no array without elements
  } else {
    const bool is_noted = allocate.is_spilled && comments_ != Comments::None;
    line(
        head + "[" + expressions_.value(allocate.size).str() + "];" +
        (is_noted ? " // in local memory: too large for registers" : ""));
  }
}

// ---- Statements ---------------------------------------------------------------------------------

void KernelPrinter::statements(const Scope& scope) {
  for (const Expr* expr : scope) {
    statement(*expr);
  }
}

void KernelPrinter::statement(const Expr& expr) {
  if (expressions_.leaves_unread(expr)) {
    return;
  }
  const bool is_predicated = expr.predicate() != nullptr && !expr.predicate()->is_true();
  const bool is_stored = std::ranges::all_of(expr.outputs(), is_stored_alone);
  const ConditionalReads reads(
      expressions_, expressions_.is_conditional() || (is_predicated && !is_stored));
  dialect_.begin_statement(kernel_, expr);
  visit(
      expr,
      overloaded{
          [&](const ForLoop& node) { loop(node); },
          [&](const IfThenElse& node) {
            branch(node, [&](const Scope& body) { statements(body); });
          },
          [&](const Allocate& node) { dialect_.allocate(*this, node); },
          [&](const BlockSync& node) { dialect_.block_sync(*this, node); },
          [&](const AsyncCommit& node) { dialect_.async_commit(*this, node); },
          [&](const AsyncWait& node) { dialect_.async_wait(*this, node); },
          [&](const BulkLoad& node) { dialect_.bulk_copy(*this, node); },
          [&](const BulkStore& node) { dialect_.bulk_copy(*this, node); },
          [&](const BulkStoreWait& node) { dialect_.bulk_copy(*this, node); },
          [&](const FenceAsyncProxy& node) { dialect_.bulk_copy(*this, node); },
          [&](const PriorGridWait&) { line("wait_for_prior_grid();"); },
          [&](const DependentGridLaunch&) { line("launch_dependent_grid();"); },
          [&](const GridSync& node) { dialect_.grid_sync(*this, node); },
          [&](const BlockReduction& node) { dialect_.block_reduction(*this, node); },
          [&](const BlockScan& node) { dialect_.block_scan(*this, node); },
          [&](const ClusterSync& node) { dialect_.cluster_sync(*this, node); },
          [&](const ClusterReduction& node) { dialect_.cluster_reduction(*this, node); },
          [&](const GridReduction& node) { dialect_.grid_reduction(*this, node); },
          [&](const BlockSerializeWait& node) { dialect_.block_serialize_wait(*this, node); },
          [&](const BlockSerializeRelease& node) { dialect_.block_serialize_release(*this, node); },
          [&](const ThreadLoop& node) { dialect_.thread_loop(*this, node); },
          [&](const BlockLoop& node) { dialect_.block_loop(*this, node); },
          [&](const ClusterLoop& node) { dialect_.cluster_loop(*this, node); },
          [&](const WelfordOp& node) { welford(node); },
          [&](const MmaOp& node) { multiply(node); },
          [&](const LoadStoreOp& node) { copy(node); },
          [&](const Expr& node) { pointwise(node); },
      });
}

void KernelPrinter::loop(const ForLoop& loop) {
  if (loop.loop_kind == LoopKind::Hardware) {
    statements(loop.body); // no braces: what the body declares is visible after it
    return;
  }
  if (loop.loop_kind == LoopKind::Vector) {
    vector_statements(loop.body, as_int(loop.stop->value()));
    return;
  }
  if (dialect_.print_shorter(*this, loop)) {
    return;
  }
  open_sums(loop);
  const std::string index = name_of(loop.index);
  const std::string start = expressions_.value_as(loop.start, DataType::Index).str();
  const std::string stop = expressions_.value(loop.stop).within(Precedence::Sum);
  if (const std::string hint = dialect_.unroll_hint(loop); !hint.empty()) {
    line(hint);
  }
  const std::string head = "for (nvfuser_index_t " + index + " = " + start + "; " + index + " < " +
                           stop + "; ++" + index + ") {" + axis_of(loop);
  const ConditionalReads reads(
      expressions_, expressions_.is_conditional() && may_be_unrolled(loop.stop));
  block(head, [&] {
    expressions_.define(loop.index, index);
    statements(loop.body);
  });
  close_sums(loop);
}

void KernelPrinter::vector_statements(const Scope& scope, int64_t lanes) {
  for (const Expr* expr : scope) {
    if (const auto* node = expr->as<IfThenElse>()) {
      branch(*node, [&](const Scope& body) { vector_statements(body, lanes); });
    } else {
      vector_copy(*expr->as<LoadStoreOp>(), lanes);
    }
  }
}

void KernelPrinter::vector_copy(const LoadStoreOp& copy, int64_t lanes) {
  dialect_.begin_statement(kernel_, copy);
  if (lanes == 1) {
    this->copy(copy);
  } else if (view_of(copy.arg) != nullptr) {
    dialect_.copy_vector(*this, copy, lanes);
  } else {
    statement(
        copy, "fill_vector<" + std::to_string(lanes) + dialect_.fill_arguments(view_of(copy.out)) +
                  ">(" + expressions_.address(copy.out, lanes, /*is_written=*/true) + ", " +
                  expressions_.value_as(copy.arg, copy.out->dtype(), true).str() + ");");
  }
}

void KernelPrinter::branch(
    const IfThenElse& branch, const std::function<void(const Scope&)>& body) {
  if (reads_where(branch)) {
    return;
  }
  const bool has_else = !branch.else_body.empty();
  // One test for whole loops is worth a branch, which most iterations pass.
  const bool is_branch = has_loops(branch.then_body);
  const std::string condition = this->condition(branch.condition);
  const std::string head = "if (" + (is_branch ? dialect_.likely(condition) : condition) + ") {";
  const auto print = [&](const Scope& statements) {
    if (const std::string first = dialect_.first_of_branch(kernel_, branch, statements);
        !first.empty()) {
      line(first);
    }
    const std::string kept = has_loops(statements) ? dialect_.kept_branch() : "";
    if (!kept.empty()) {
      line(kept);
    }
    const ConditionalReads reads(expressions_, kept.empty() && !keeps_its_reads(statements));
    body(statements);
  };
  block(head, [&] { print(branch.then_body); }, has_else ? " else {" : "");
  if (has_else) {
    indented([&] { print(branch.else_body); });
    line("}");
  }
}

/// A branch around a read waits for it before the next one, if a register is used again.
bool KernelPrinter::reads_where(const IfThenElse& branch) {
  if (!branch.else_body.empty() || branch.then_body.size() != 1) {
    return false;
  }
  const auto* chosen = branch.then_body.front()->as<ChosenElement>();
  const TensorView* to = chosen == nullptr ? nullptr : view_of(chosen->out);
  if (to == nullptr || to->memory_type() != MemoryType::Local) {
    return false;
  }
  const std::string read = expressions_.choice_where(condition(branch.condition), *chosen);
  if (!read.empty()) {
    statement(*chosen, expressions_.destination(chosen->out).str() + " = " + read + ";");
  }
  return !read.empty();
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
  const std::string name = name_of(out);
  line(
      "const " + c_type(out->dtype()) + " " + name + " = " + expressions_.result(&expr).str() +
      ";");
  if (const std::string assumption = dialect_.assumption(kernel_, out, name); !assumption.empty()) {
    line(assumption);
  }
  expressions_.define(out, name);
}

void KernelPrinter::copy(const LoadStoreOp& copy) {
  const TensorView* from = view_of(copy.arg);
  const TensorView* to = view_of(copy.out);
  const bool moves = from != nullptr && to != nullptr && copy.arg->dtype() == copy.out->dtype();
  if (moves || (to != nullptr && to->memory_type() == MemoryType::Tensor)) {
    dialect_.copy_element(*this, copy);
  } else {
    pointwise(copy);
  }
}

void KernelPrinter::welford(const WelfordOp& welford) {
  const std::string accumulators = elements(welford.outputs());
  const DataType type = welford.outputs().front()->dtype();
  if (!adds_element(welford)) {
    const std::string other = triple({welford.in_avg, welford.in_var, welford.in_n}, type);
    statement(welford, "welford_merge(" + accumulators + ", " + other + ");");
    return;
  }
  const std::string element = expressions_.value_as(welford.in_avg, type, true).str();
  const auto own = std::ranges::find_if(open_sums_, [&](const OpenSums& open) {
    return std::ranges::find(open.sums->steps, &welford) != open.sums->steps.end();
  });
  if (own == open_sums_.end()) {
    statement(welford, "welford_add(" + accumulators + ", " + element + ");");
    return;
  }
  const Val* set = static_cast<const TensorIndex*>(welford.out_avg)->index();
  const std::string at = own->sums->elements == 1 ? "0" : expressions_.value(set).str();
  statement(welford, own->name + ".add(" + at + ", " + element + ");");
}

void KernelPrinter::open_sums(const ForLoop& loop) {
  for (const LoopSums& sums : sums_.of(loop)) {
    const Val* mean = sums.steps.front()->out_avg;
    const int earlier = sums_of_[view_of(mean)]++;
    const std::string name =
        name_of(view_of(mean)) + "_sums" + (earlier == 0 ? "" : "_" + std::to_string(earlier));
    const bool is_short = sums.most_of_set <= kElementsOfFirstPivot;
    const std::string most = is_short ? ", " + std::to_string(sums.most_of_set) : "";
    const bool has_sets = sums.elements > 1 || is_short;
    const std::string sets = has_sets ? ", " + std::to_string(sums.elements) : "";
    line("ShiftedSums<" + c_type(mean->dtype()) + sets + most + "> " + name + " = {};");
    open_sums_.push_back({&sums, name});
  }
}

void KernelPrinter::close_sums(const ForLoop& loop) {
  const std::span<const LoopSums> all = sums_.of(loop);
  const size_t outer = open_sums_.size() - all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    const WelfordOp& step = *all[i].steps.front();
    std::string accumulators;
    for (const Val* out : step.outputs()) {
      accumulators += (accumulators.empty() ? "" : ", ") + name_of(view_of(out));
    }
    if (all[i].elements == 1) { // the loop does not index them
      accumulators = "0, " + elements(step.outputs());
    }
    commented_line(step, open_sums_[outer + i].name + ".merge_into(" + accumulators + ");");
  }
  open_sums_.resize(outer);
}

/// Products of elements of 16 bits are exact in Float.
void KernelPrinter::multiply(const MmaOp& product) {
  if (product.macro != 0) {
    dialect_.multiply(*this, product);
    return;
  }
  const DataType type = product.out->dtype();
  const auto factor = [&](const Val* val) {
    return expressions_.value_as(val, type, true).within(Precedence::Product);
  };
  const std::string sum = expressions_.destination(product.out).str() + " += ";
  if (product.a_scale == nullptr) {
    statement(product, sum + factor(product.a) + " * " + factor(product.b) + ";");
    return;
  }
  const auto scaled = [&](const Val* val, const Val* scale) {
    return "(" + factor(val) + " * " + factor(scale) + ")";
  };
  statement(
      product,
      sum + scaled(product.a, product.a_scale) + " * " + scaled(product.b, product.b_scale) + ";");
}

std::string KernelPrinter::elements(const std::vector<Val*>& vals) {
  std::string text;
  for (const Val* val : vals) {
    text += (text.empty() ? "" : ", ") + expressions_.value(val).str();
  }
  return text;
}

std::string KernelPrinter::triple(const std::vector<Val*>& vals, DataType type) {
  NVF_INVARIANT(vals.size() == 3, "a Welford triple has three values");
  return "{" + expressions_.value_as(vals[0], type).str() + ", " +
         expressions_.value_as(vals[1], type).str() + ", " +
         expressions_.value_as(vals[2], DataType::Int).str() + "}";
}

} // namespace nvfuser
