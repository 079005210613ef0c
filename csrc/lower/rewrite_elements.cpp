#include "lower/rewrite_elements.h"

#include <unordered_set>

#include "ir/scopes.h"

namespace nvfuser {
namespace {

class Rewriter {
 public:
  Rewriter(Kernel& kernel, const std::function<Val*(const TensorIndex&)>& new_index)
      : kernel_(kernel), new_index_(new_index) {}

  void run(const Scope& scope) {
    for_each_node(scope, [&](Expr& expr) {
      if (bodies_of(expr).empty() && done_.insert(&expr).second) {
        rewrite(&expr);
      }
    });
  }

 private:
  void rewrite(Expr* statement) {
    const std::vector<Val*> inputs = statement->inputs();
    for (Val* in : inputs) {
      if (TensorIndex* element = replacement(in)) {
        kernel_.replace_uses(in, element, {statement});
      }
    }
    const std::vector<Val*> outputs = statement->outputs();
    for (Val* out : outputs) {
      if (TensorIndex* element = replacement(out)) {
        kernel_.replace_output_of(statement, out, element);
      }
    }
  }

  TensorIndex* replacement(Val* val) {
    if (val->vtype() != ValType::TensorIndex) {
      return nullptr;
    }
    const auto [found, is_new] = replacements_.try_emplace(val, nullptr);
    if (is_new) {
      const auto& element = static_cast<const TensorIndex&>(*val);
      if (Val* index = new_index_(element)) {
        found->second = kernel_.new_tensor_index(element.view(), index);
      }
    }
    return found->second;
  }

  Kernel& kernel_;
  const std::function<Val*(const TensorIndex&)>& new_index_;
  std::unordered_set<const Expr*> done_;
  std::unordered_map<const Val*, TensorIndex*> replacements_;
};

} // namespace

bool depends_on(const Val* val, const Val* leaf) {
  std::vector<const Val*> stack{val};
  std::unordered_set<const Val*> visited;
  while (!stack.empty()) {
    const Val* current = stack.back();
    stack.pop_back();
    if (current == leaf) {
      return true;
    }
    if (visited.insert(current).second && current->definition() != nullptr) {
      const std::vector<Val*>& inputs = current->definition()->inputs();
      stack.insert(stack.end(), inputs.begin(), inputs.end());
    }
  }
  return false;
}

void rewrite_elements(
    Kernel& kernel, const Scope& scope, const std::function<Val*(const TensorIndex&)>& new_index) {
  Rewriter(kernel, new_index).run(scope);
}

} // namespace nvfuser
