#include "codegen/cuda_packed.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/element_statements.h"
#include "codegen/printer.h"

namespace nvfuser {
namespace {

/// offset + sum of factor * variable, each variable once.
struct LinearIndex {
  int64_t offset = 0;
  std::vector<std::pair<const Val*, int64_t>> terms;
  bool is_linear = true;

  void add(const LinearIndex& other, int64_t factor) {
    offset += other.offset * factor;
    is_linear = is_linear && other.is_linear;
    for (const auto& [variable, of_other] : other.terms) {
      const auto known = std::ranges::find(terms, variable, &decltype(terms)::value_type::first);
      if (known == terms.end()) {
        terms.emplace_back(variable, of_other * factor);
      } else {
        known->second += of_other * factor;
      }
    }
  }
  /// The factor of a variable, which is gone then.
  int64_t take(const Val* variable) {
    const auto known = std::ranges::find(terms, variable, &decltype(terms)::value_type::first);
    const int64_t factor = known == terms.end() ? 0 : known->second;
    if (known != terms.end()) {
      terms.erase(known);
    }
    return factor;
  }
};

LinearIndex linear_index(const Val* index) {
  if (index->is_const_int()) {
    LinearIndex constant;
    constant.offset = as_int(index->value());
    return constant;
  }
  const auto* op = index->definition() == nullptr ? nullptr : index->definition()->as<BinaryOp>();
  LinearIndex sum;
  if (op != nullptr && (op->op == BinaryOpType::Add || op->op == BinaryOpType::Sub)) {
    sum = linear_index(op->lhs);
    sum.add(linear_index(op->rhs), op->op == BinaryOpType::Add ? 1 : -1);
  } else if (op != nullptr && op->op == BinaryOpType::Mul && op->rhs->is_const_int()) {
    sum.add(linear_index(op->lhs), as_int(op->rhs->value()));
  } else if (op != nullptr && op->op == BinaryOpType::Mul && op->lhs->is_const_int()) {
    sum.add(linear_index(op->rhs), as_int(op->lhs->value()));
  } else {
    sum.terms.emplace_back(index, 1);
    sum.is_linear = index->definition() == nullptr;
  }
  return sum;
}

/// Loops around a conversion and the maximum that takes its result.
struct Nest {
  std::vector<const ForLoop*> loops;
  const UnaryOp* conversion = nullptr;
  const BinaryOp* extremum = nullptr;
};

bool has_constant_range(const ForLoop& loop) {
  return (loop.loop_kind == LoopKind::Serial || loop.loop_kind == LoopKind::Unrolled) &&
         loop.circular_buffer_depth == 0 && loop.start->is_zero() && loop.stop->is_const_int() &&
         as_int(loop.stop->value()) > 0;
}

const TensorIndex* element_of(const Val* val) {
  return val->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(val) : nullptr;
}

bool is_same_element(const Val* a, const Val* b) {
  const TensorIndex* one = element_of(a);
  const TensorIndex* other = element_of(b);
  return one != nullptr && other != nullptr && one->view() == other->view() &&
         one->index()->same_as(other->index());
}

/// A name for part of an index.
bool is_index_name(const Expr& expr) {
  return is_unconditional(expr) && (expr.is_a<UnaryOp>() || expr.is_a<BinaryOp>()) &&
         element_of(expr.outputs().front()) == nullptr;
}

/// The loop that a body consists of; nullptr: it does not.
const ForLoop* only_loop(const Scope& body) {
  const ForLoop* found = nullptr;
  for (const Expr* expr : body) {
    if (!is_index_name(*expr)) {
      const auto* loop = expr->as<ForLoop>();
      if (loop == nullptr || found != nullptr) {
        return nullptr;
      }
      found = loop;
    }
  }
  return found;
}

/// The two statements of the innermost body, if it has no others that leave anything.
bool find_statements(const Scope& body, Nest& nest) {
  std::vector<const TensorView*> own;
  for (const Expr* expr : body) {
    if (const auto* allocate = expr->as<Allocate>()) {
      own.push_back(allocate->buffer);
      continue;
    }
    if (is_index_name(*expr)) {
      continue;
    }
    const auto* unary = expr->as<UnaryOp>();
    const auto* binary = expr->as<BinaryOp>();
    if (!is_unconditional(*expr)) {
      return false;
    }
    if (unary != nullptr && unary->op == UnaryOpType::Cast && nest.conversion == nullptr) {
      nest.conversion = unary;
    } else if (
        binary != nullptr && (binary->op == BinaryOpType::Max || binary->op == BinaryOpType::Min) &&
        nest.conversion != nullptr && nest.extremum == nullptr) {
      nest.extremum = binary;
    } else {
      return false;
    }
  }
  return nest.extremum != nullptr &&
         std::ranges::find(own, view_of(nest.conversion->out)) != own.end() &&
         is_same_element(nest.extremum->out, nest.extremum->lhs) &&
         is_same_element(nest.extremum->rhs, nest.conversion->out);
}

std::optional<Nest> find_nest(const ForLoop& outermost) {
  Nest nest;
  for (const ForLoop* loop = &outermost; loop != nullptr;) {
    if (!has_constant_range(*loop) || !is_unconditional(*loop)) {
      return std::nullopt;
    }
    nest.loops.push_back(loop);
    const ForLoop* inner = only_loop(loop->body);
    if (inner == nullptr && !find_statements(loop->body, nest)) {
      return std::nullopt;
    }
    loop = inner;
  }
  return nest;
}

/// The neighbours that all iterations read together: how many, and the index of the first.
struct Run {
  int64_t elements = 1;
  LinearIndex first;
};

/// No value: they are no neighbours, or do not begin with a word.
std::optional<Run> find_run(const Nest& nest, const Val* index) {
  Run run;
  run.first = linear_index(index);
  std::vector<std::pair<int64_t, int64_t>> loops; // step, iterations
  for (const ForLoop* loop : nest.loops) {
    loops.emplace_back(run.first.take(loop->index), as_int(loop->stop->value()));
  }
  std::ranges::sort(loops);
  for (const auto& [step, iterations] : loops) {
    if (iterations > 1 && step != run.elements) {
      return std::nullopt;
    }
    run.elements *= iterations;
  }
  const auto is_even = [](int64_t number) { return number % 2 == 0; };
  const bool begins_with_word =
      is_even(run.first.offset) &&
      std::ranges::all_of(run.first.terms, [&](const auto& term) { return is_even(term.second); });
  return run.first.is_linear && is_even(run.elements) && begins_with_word
             ? std::optional(std::move(run))
             : std::nullopt;
}

bool depends_on(const Val* index, const std::vector<const ForLoop*>& loops) {
  LinearIndex linear = linear_index(index);
  return !linear.is_linear || std::ranges::any_of(loops, [&](const ForLoop* loop) {
    return linear.take(loop->index) != 0;
  });
}

std::string text_of(KernelPrinter& printer, const LinearIndex& index) {
  std::string text;
  for (const auto& [variable, factor] : index.terms) {
    text += (text.empty() ? "" : " + ") +
            printer.expressions().value(variable).within(Precedence::Product) + " * " +
            std::to_string(factor);
  }
  if (index.offset != 0 || text.empty()) {
    text += (text.empty() ? "" : " + ") + std::to_string(index.offset);
  }
  return text;
}

} // namespace

bool print_packed_extremum(KernelPrinter& printer, const ForLoop& loop, const WordArrays& words) {
  const std::optional<Nest> nest = find_nest(loop);
  const TensorIndex* element = nest ? element_of(nest->conversion->arg) : nullptr;
  if (element == nullptr || !words.contains(element->view()) ||
      nest->extremum->out->dtype() != DataType::Float ||
      nest->conversion->out->dtype() != DataType::Float ||
      depends_on(element_of(nest->extremum->out)->index(), nest->loops)) {
    return false;
  }
  const std::optional<Run> run = find_run(*nest, element->index());
  if (!run) {
    return false;
  }
  const std::string op = nest->extremum->op == BinaryOpType::Max ? "maximum" : "minimum";
  const std::string result = printer.elements({nest->extremum->out});
  printer.commented_line(
      *nest->extremum,
      result + " = " + op + "(" + result + ", packed_" + op + "<" + std::to_string(run->elements) +
          ">(&" + printer.name_of(element->view()) + "[" + text_of(printer, run->first) + "]));");
  return true;
}

void print_keep_packed(KernelPrinter& printer, const Expr& collective, const PackedArrays& packed) {
  constexpr int64_t kWordBytes = 4;
  for (const Allocate* array : packed.read_on_both_sides(collective)) {
    if (printer.vector_bytes(array->buffer) >= kWordBytes) { // else it is not aligned
      printer.line(
          "keep_packed<" + std::to_string(as_int(array->size->value())) + ">(" +
          printer.name_of(array->buffer) + ");");
    }
  }
}

} // namespace nvfuser
