#include "codegen/names.h"

#include <algorithm>

#include "base/options.h"
#include "ir/print.h"
#include "ir/scopes.h"
#include "ops/define.h"

namespace nvfuser {
namespace {

/// An input of the active fusion with the axes of `tensor`.
TensorView* define_like(const TensorView* tensor) {
  std::vector<int64_t> shape;
  Contiguity contiguity;
  for (const IterDomain* axis : TensorDomain::no_reductions(tensor->logical())) {
    const Val* size = axis->maybe_expanded_extent();
    shape.push_back(size->is_const() ? as_int(size->value()) : -1);
    const bool has_stride = shape.back() != 1 && !axis->has_expanded_extent();
    contiguity.push_back(has_stride ? std::optional(true) : std::nullopt);
  }
  return define_tensor(shape, contiguity);
}

} // namespace

KernelNames::KernelNames(const Kernel& kernel)
    : kernel_(kernel), renumbers_(!has_option(DisableOption::VarNameRemapping)) {
  if (renumbers_) {
    name_tensors();
    name_inputs();
    name_declared();
  }
}

// ---- Names --------------------------------------------------------------------------------------

std::string KernelNames::of(const TensorView* tensor) const {
  return "T" + std::to_string(number_of(tensor));
}

std::string KernelNames::of(const Val* scalar) const {
  return scalar_prefix(scalar->dtype()) + std::to_string(number_of(scalar));
}

int64_t KernelNames::number_of(const Val* val) const {
  if (!renumbers_) {
    return val->name();
  }
  const auto found = numbers_.find(val);
  NVF_INVARIANT(found != numbers_.end(), "the kernel declares what it names: ", describe(val));
  return found->second;
}

std::string KernelNames::axis_text(const IterDomain* axis) const {
  return print_axis(axis, [&](const Val* scalar) {
    return renumbers_ && numbers_.contains(scalar) ? of(scalar) : print_val(scalar);
  });
}

std::string KernelNames::differences() const {
  std::string here;
  std::string there;
  for (const auto& [number, val] : of_fusion_) {
    if (number != val->name()) {
      const std::string letter = val->is_tensor() ? "T" : scalar_prefix(val->dtype());
      here += (here.empty() ? "" : ", ") + letter + std::to_string(number);
      there += (there.empty() ? "" : ", ") + letter + std::to_string(val->name());
    }
  }
  return here.empty() ? "" : here + " = " + there + " of the fusion";
}

// ---- Numbers ------------------------------------------------------------------------------------

void KernelNames::name_tensors() {
  std::unordered_map<const TensorView*, int64_t> defined;
  for (const TensorView* tensor : kernel_.definition_order) {
    defined.emplace(tensor, next_tensor_++);
  }
  const auto name = [&](const TensorView* tensor) {
    if (tensor == nullptr || numbers_.contains(tensor)) {
      return;
    }
    const auto found = defined.find(tensor);
    if (found == defined.end()) {
      numbers_.emplace(tensor, next_tensor_++);
    } else {
      numbers_.emplace(tensor, found->second);
      of_fusion_.emplace_back(found->second, tensor);
    }
  };
  for (const Val* input : kernel_.inputs()) {
    if (input->is_tensor()) {
      name(static_cast<const TensorView*>(input));
    }
  }
  for (const GlobalBuffer& buffer : kernel_.launch.buffers) {
    name(buffer.tensor);
  }
  for_each_node(kernel_.body, [&](const Expr& node) {
    if (const auto* allocate = node.as<Allocate>()) {
      name(allocate->buffer);
    }
  });
  std::sort(of_fusion_.begin(), of_fusion_.end()); // numbers are unique
}

void KernelNames::name_inputs() {
  const std::shared_ptr<Fusion> inputs_alone = Fusion::create();
  const FusionGuard guard(inputs_alone.get());
  const auto name = [&](const Val* scalar, const Val* alone) {
    if (scalar->is_symbolic() && numbers_.emplace(scalar, alone->name()).second) {
      of_fusion_.emplace_back(alone->name(), scalar);
    }
  };
  for (const Val* input : kernel_.inputs()) {
    if (!input->is_tensor()) {
      if (!numbers_.contains(input)) {
        name(input, inputs_alone->new_scalar(input->dtype()));
      }
      continue;
    }
    const auto* tensor = static_cast<const TensorView*>(input);
    const std::vector<Val*> sizes = tensor->shape();
    const std::vector<Val*> alone = define_like(tensor)->shape();
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      name(sizes[dim], alone[dim]);
    }
  }
  next_scalar_ = inputs_alone->new_scalar(DataType::Index)->name();
}

void KernelNames::name_declared() {
  const auto name = [&](const Val* val) {
    if (val != nullptr && val->vtype() == ValType::Scalar && val->is_symbolic() &&
        !numbers_.contains(val)) {
      numbers_.emplace(val, next_scalar_++);
    }
  };
  for_each_node(kernel_.body, [&](const Expr& node) {
    if (const auto* loop = node.as<ForLoop>();
        loop != nullptr && loop->loop_kind != LoopKind::Vector) {
      name(loop->index);
    } else if (const auto* reduction = node.as<GridReduction>()) {
      name(reduction->is_last);
    }
    std::for_each(node.outputs().begin(), node.outputs().end(), name);
  });
}

} // namespace nvfuser
