#include "lower/analysis/rewrite_elements.h"

#include <algorithm>
#include <array>
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

/// Whether it takes few steps to see that `scalar` depends on no element, as most indices do. The
/// walk allocates nothing.
bool is_plainly_without_elements(const Val* scalar) {
  constexpr size_t kFew = 12;
  std::array<const Val*, kFew> computed{scalar};
  size_t count = has_dependencies(*scalar) ? 1 : 0;
  for (size_t i = 0; i < count; ++i) {
    if (computed[i]->vtype() == ValType::TensorIndex) {
      return false;
    }
    for (const Val* operand : computed[i]->definition()->inputs()) {
      const auto end = computed.begin() + static_cast<ptrdiff_t>(count);
      if (!has_dependencies(*operand) || std::find(computed.begin(), end, operand) != end) {
        continue;
      }
      if (count == kFew) {
        return false;
      }
      computed[count++] = operand;
    }
  }
  return true;
}

} // namespace

std::vector<const TensorIndex*> elements_in(const Val* scalar) {
  std::vector<const TensorIndex*> elements;
  const Val* index = scalar;
  if (scalar->vtype() == ValType::TensorIndex) {
    elements.push_back(static_cast<const TensorIndex*>(scalar));
    index = elements.back()->index();
  }
  if (is_plainly_without_elements(index)) {
    return elements;
  }
  elements.clear();
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
