#include "lower/analysis/size_names.h"

#include <algorithm>

#include "ir/scopes.h"
#include "lower/analysis/for_loops.h"

namespace nvfuser {
namespace {

constexpr int kMostTerms = 8; // of a sum without a name

const BinaryOp* as_sum(const Val* val) {
  const auto* op = val->definition() == nullptr ? nullptr : val->definition()->as<BinaryOp>();
  return op != nullptr && op->op == BinaryOpType::Add && val->dtype() == DataType::Index ? op
                                                                                         : nullptr;
}

} // namespace

SizeNamer::SizeNamer(Kernel& kernel) : kernel_(kernel) {
  for (const TensorView* tensor : kernel.tensors()) {
    for (const IterDomain* id : tensor->domain()->all_ids()) {
      extents_.insert(id->extent());
      extents_.insert(id->maybe_expanded_extent());
    }
  }
}

int SizeNamer::num_terms(const Val* val) const {
  if (const auto known = num_terms_.find(val); known != num_terms_.end()) {
    return known->second;
  }
  const bool is_size = val->is_const_int() ? as_int(val->value()) >= 0 : extents_.contains(val);
  return is_size ? 1 : 0;
}

Val* SizeNamer::shortened(const Val* original, Val* rebuilt) {
  const BinaryOp* sum = as_sum(original);
  const BinaryOp* result = as_sum(rebuilt);
  const int left = sum == nullptr ? 0 : num_terms(sum->lhs);
  const int right = sum == nullptr ? 0 : num_terms(sum->rhs);
  if (left == 0 || right == 0) {
    return rebuilt;
  }
  num_terms_[original] = result == nullptr ? 1 : left + right;
  if (result == nullptr) {
    return rebuilt;
  }
  Val*& known = sums_[{result->lhs, result->rhs}]; // a total repeats what is before its last part
  if (known == nullptr && left + right <= kMostTerms) {
    known = rebuilt;
  } else if (known == nullptr) {
    known = kernel_.new_scalar(DataType::Index);
    kernel_.make<LoadStoreOp>({.out = known, .arg = rebuilt, .op = LoadStoreOpType::Set});
    kernel_.size_names.push_back(known);
  }
  if (left + right > kMostTerms) {
    num_terms_[original] = 1;
  }
  return known;
}

void declare_size_names(Kernel& kernel) {
  if (kernel.size_names.empty()) {
    return;
  }
  const std::unordered_set<const Val*> names(kernel.size_names.begin(), kernel.size_names.end());
  std::unordered_set<const Val*> used;
  std::unordered_set<const Val*> visited;
  const auto use = [&](const Val* root) {
    std::vector<const Val*> stack{root};
    while (!stack.empty()) {
      const Val* val = stack.back();
      stack.pop_back();
      if (val == nullptr || !visited.insert(val).second) {
        continue;
      }
      if (val->vtype() == ValType::TensorIndex) {
        stack.push_back(static_cast<const TensorIndex*>(val)->index());
      } else if (val->is_scalar() && val->definition() != nullptr) {
        if (names.contains(val)) {
          used.insert(val);
        }
        stack.insert(
            stack.end(), val->definition()->inputs().begin(), val->definition()->inputs().end());
      }
    }
  };
  for_each_node(kernel.body, [&](const Expr& node) {
    use(node.predicate());
    std::for_each(node.inputs().begin(), node.inputs().end(), use);
    std::for_each(node.outputs().begin(), node.outputs().end(), use);
    if (const auto* loop = node.as<ForLoop>(); loop != nullptr && !is_serial(*loop)) {
      return; // the source has no bounds of it
    }
    node.for_each_attr([&](const char*, const AttrValue& value) {
      if (Val* const* val = std::get_if<Val*>(&value)) {
        use(*val);
      } else if (const auto* vals = std::get_if<std::vector<Val*>>(&value)) {
        std::for_each(vals->begin(), vals->end(), use);
      }
    });
  });
  use(kernel.launch.shared_bytes);
  Scope declarations;
  for (const Val* name : kernel.size_names) {
    if (used.contains(name)) {
      declarations.push_back(name->definition());
    }
  }
  kernel.body.insert(kernel.body.begin(), declarations.begin(), declarations.end());
}

} // namespace nvfuser
