#include "lower/analysis/rewrite_elements.h"

#include <unordered_set>

#include "ir/dependencies.h"
#include "ir/scopes.h"
#include "lower/analysis/index_forms.h"

namespace nvfuser {
namespace {

class Rewriter {
 public:
  Rewriter(Kernel& kernel, const std::function<Val*(const TensorIndex&)>& new_index)
      : kernel_(kernel), new_index_(new_index) {}

  void run(const Scope& scope) {
    for_each_node(scope, [&](Expr& expr) {
      const bool has_elements = bodies_of(expr).empty() || expr.is_a<IfThenElse>();
      if (has_elements && done_.insert(&expr).second) {
        rewrite(&expr);
      }
    });
  }

 private:
  void rewrite(Expr* statement) {
    const std::vector<Val*> inputs = statement->inputs();
    for (Val* in : inputs) {
      if (Val* with = replacement(in); with != in) {
        kernel_.replace_uses(in, with, {statement});
      }
    }
    const std::vector<Val*> outputs = statement->outputs();
    for (Val* out : outputs) {
      Val* with = out->vtype() == ValType::TensorIndex ? replacement(out) : out;
      if (with != out) {
        kernel_.replace_output_of(statement, out, with);
      }
    }
  }

  /// `val` with other elements; `val` itself if none of them changes.
  Val* replacement(Val* val) {
    if (const auto found = replacements_.find(val); found != replacements_.end()) {
      return found->second;
    }
    Val* result = val;
    if (val->vtype() == ValType::TensorIndex) {
      const auto& element = static_cast<const TensorIndex&>(*val);
      Val* index = new_index_(element);
      index = replacement(index == nullptr ? element.index() : index);
      result = index == element.index() ? val : kernel_.new_tensor_index(element.view(), index);
    } else if (!elements_in(val).empty()) {
      result = rebuilt(val);
    }
    replacements_[val] = result;
    return result;
  }

  /// A scalar that depends on elements.
  Val* rebuilt(Val* val) {
    std::vector<Val*> operands;
    for (Val* in : val->definition()->inputs()) {
      operands.push_back(replacement(in));
    }
    if (operands == val->definition()->inputs()) {
      return val;
    }
    return repeat_operation(kernel_, val, operands);
  }

  Kernel& kernel_;
  const std::function<Val*(const TensorIndex&)>& new_index_;
  std::unordered_set<const Expr*> done_;
  std::unordered_map<const Val*, Val*> replacements_;
};

} // namespace

std::vector<const TensorIndex*> elements_in(const Val* scalar) {
  std::vector<const TensorIndex*> elements;
  if (!has_dependencies(*scalar)) {
    return elements;
  }
  for (const Val* val : dependencies(scalar)) {
    if (val->vtype() == ValType::TensorIndex) {
      elements.push_back(static_cast<const TensorIndex*>(val));
    }
  }
  return elements;
}

std::vector<const TensorIndex*> inner_elements(const TensorIndex& element) {
  return elements_in(element.index());
}

void rewrite_elements(
    Kernel& kernel, const Scope& scope, const std::function<Val*(const TensorIndex&)>& new_index) {
  Rewriter(kernel, new_index).run(scope);
}

} // namespace nvfuser
