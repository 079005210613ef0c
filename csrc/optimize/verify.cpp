#include "optimize/verify.h"

#include <algorithm>
#include <span>

#include "base/errors.h"
#include "graph/domain_map.h"
#include "graph/op_semantics.h"
#include "ir/pointwise.h"
#include "ir/resize_exprs.h"

namespace nvfuser::optimize {
namespace {

class Verifier {
 public:
  explicit Verifier(const Fusion& fusion) : fusion_(fusion) {}

  std::vector<std::string> run(const Interface& before) {
    if (!before.is_kept_by(Interface(fusion_))) {
      say("the inputs or outputs are not those of the definition");
    }
    for (const Expr* expr : fusion_.exprs()) {
      check_edges(*expr);
      check_dtypes(*expr);
      for (const TensorView* out : tensor_outputs(expr)) {
        check_reductions(*expr, out);
        for (const TensorView* in : tensor_inputs(expr)) {
          check_sizes(in, out);
        }
      }
    }
    return std::move(found_);
  }

 private:
  template <typename... Pieces>
  void say(const Pieces&... pieces) {
    found_.push_back(Part(pieces...).text());
  }

  void check_edges(const Expr& expr) {
    for (const Val* out : expr.outputs()) {
      if (out->definition() != &expr && !out->is_fusion_input()) {
        say(describe(out), " has another definition than ", expr.op_name());
      }
    }
    for (const Val* in : expr.inputs()) {
      if (!fusion_.contains(in)) {
        say(expr.op_name(), " reads a value of another fusion");
      } else if (std::ranges::find(in->all_uses(), &expr) == in->all_uses().end()) {
        say(describe(in), " does not know that ", describe(&expr), " reads it");
      }
      if (in->is_fusion_input() && in->definition() != nullptr) {
        say(describe(in), " is an input and computed");
      }
    }
  }

  void check_dtypes(const Expr& expr) {
    const std::vector<TensorView*> ins = tensor_inputs(&expr);
    const OpSemantics& semantics = semantics_of(expr);
    const bool is_moved = shows_first_operand(expr) || semantics.adds_elements;
    if (is_moved && !ins.empty() && expr.output(0)->dtype() != ins.front()->dtype()) {
      say(describe(expr.output(0)), " has another dtype than what it copies");
    }
    const auto* op = expr.as<BinaryOp>();
    const bool is_arithmetic = op != nullptr && op->op != BinaryOpType::Pow &&
                               op->op != BinaryOpType::Lshift && op->op != BinaryOpType::Rshift;
    if (is_arithmetic && op->lhs->is_tensor() && op->rhs->is_tensor() &&
        op->lhs->dtype() != op->rhs->dtype()) {
      say("the operands of ", describe(op->out), " have two dtypes");
    }
  }

  void check_reductions(const Expr& expr, const TensorView* out) {
    const OperandRead read = semantics_of(expr).read;
    const bool combines = read == OperandRead::Reduced || read == OperandRead::Whole;
    if (!combines && std::ranges::any_of(out->logical(), &IterDomain::is_reduction)) {
      say(describe(out), " has reduction axes, but ", expr.op_name(), " reduces nothing");
    }
  }

  void check_sizes(const TensorView* in, const TensorView* out) {
    const PairwiseDomainMap map(in, out, BroadcastPairs::Drop);
    for (const auto& [read, made] : map.pairs()) {
      const Val* a = read->maybe_expanded_extent();
      const Val* b = made->maybe_expanded_extent();
      const bool are_alike = read->is_broadcast() == made->is_broadcast() &&
                             read->has_expanded_extent() == made->has_expanded_extent();
      if (are_alike && a->is_const() && b->is_const() && !a->same_as(b)) {
        say(describe(out), " has ", made->to_string(), " where ", describe(in), " has ",
            read->to_string());
      }
    }
  }

  const Fusion& fusion_;
  std::vector<std::string> found_;
};

} // namespace

namespace {

/// For every axis in memory, outermost first, its place among the axes of the tensor; -1 for axes
/// that only memory has, which fill up tiles. Empty: no order is asked for.
std::vector<int64_t> memory_order(const TensorView* tensor) {
  if (!tensor->domain()->has_allocation()) {
    return {};
  }
  const IterDomains axes = TensorDomain::no_reductions(tensor->logical());
  std::vector<int64_t> order;
  for (const IterDomain* axis : TensorDomain::no_reductions(tensor->domain()->maybe_allocation())) {
    const auto place = std::ranges::find(axes, axis);
    order.push_back(place == axes.end() ? -1 : place - axes.begin());
  }
  return order;
}

} // namespace

Interface::Interface(const Fusion& fusion)
    : inputs_(fusion.inputs().begin(), fusion.inputs().end()) {
  for (const Val* val : fusion.outputs()) {
    const auto* tensor = static_cast<const TensorView*>(val);
    Output output;
    output.tensor = val;
    output.dtype = val->dtype();
    output.memory_order = memory_order(tensor);
    for (const IterDomain* axis : TensorDomain::no_reductions(tensor->logical())) {
      output.axes.emplace_back(axis->is_broadcast(), axis->has_expanded_extent());
    }
    if (const AliasInfo* alias = fusion.alias_of(val)) {
      output.updated_input = alias->input;
      output.is_hidden = alias->is_hidden;
    }
    outputs_.push_back(std::move(output));
  }
}

bool Interface::Output::is_kept_by(Output now) const {
  if (memory_order.empty()) { // it may lie in any order
    now.memory_order.clear();
  }
  return *this == now;
}

bool Interface::is_kept_by(const Interface& now) const {
  return std::ranges::equal(
             outputs_, now.outputs_,
             [](const Output& a, const Output& b) { return a.is_kept_by(b); }) &&
         inputs_.size() <= now.inputs_.size() &&
         std::ranges::equal(
             inputs_, std::span(now.inputs_).first(std::min(inputs_.size(), now.inputs_.size())));
}

std::vector<std::string> find_violations(const Fusion& fusion, const Interface& before) {
  return Verifier(fusion).run(before);
}

} // namespace nvfuser::optimize
