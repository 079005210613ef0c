#include "graph/storage.h"

#include <algorithm>

#include "graph/op_semantics.h"
#include "graph/val_graph.h"
#include "ir/fusion.h"

namespace nvfuser {
namespace {

/// The result that is computed in the memory of `tensor`: nothing else reads or returns it, and it
/// is computed by the fusion.
TensorView* overwriting_result(const TensorView* tensor) {
  const std::vector<Expr*>& uses = tensor->uses();
  if (uses.size() != 1 || tensor->definition() == nullptr || tensor->is_fusion_output() ||
      overwritten_operand(uses.front()) != tensor) {
    return nullptr;
  }
  const std::vector<Val*>& operands = uses.front()->inputs();
  const bool is_read_once = std::ranges::count(operands, tensor) == 1;
  return is_read_once ? static_cast<TensorView*>(uses.front()->outputs().front()) : nullptr;
}

} // namespace

Storage storage_of(TensorView* tensor) {
  if (TensorView* result = overwriting_result(tensor)) {
    return {.owner = result, .kind = StorageKind::Overwritten};
  }
  const AliasInfo* alias =
      tensor->is_fusion_output() ? tensor->fusion()->alias_of(tensor) : nullptr;
  return alias != nullptr ? Storage{.owner = alias->input, .kind = StorageKind::Update}
                          : Storage{.owner = tensor, .kind = StorageKind::Own};
}

Storage storage_of(const TensorView* tensor) {
  return storage_of(const_cast<TensorView*>(tensor));
}

const TensorView* owner_of(const TensorView* tensor) {
  const TensorView* owner = storage_of(tensor).owner;
  while (owner != tensor) {
    tensor = owner;
    owner = storage_of(tensor).owner;
  }
  return owner;
}

TensorView* buffer_of(TensorView* tensor) {
  while (TensorView* result = overwriting_result(tensor)) {
    tensor = result;
  }
  return tensor;
}

const TensorView* buffer_of(const TensorView* tensor) {
  return buffer_of(const_cast<TensorView*>(tensor));
}

const TensorView* updated_input(const Val* output) {
  if (!output->is_tensor()) {
    return nullptr;
  }
  const Storage storage = storage_of(static_cast<const TensorView*>(output));
  return storage.kind == StorageKind::Update ? storage.owner : nullptr;
}

bool updates_same_elements(
    const ValGraph& exact, const TensorView* output, const TensorView* input) {
  const auto is_same = [&](const IterDomain* written, const IterDomain* read) {
    return exact.are_mapped(written, read) || (written->is_broadcast() && read->is_broadcast());
  };
  return std::ranges::equal(
      TensorDomain::no_reductions(output->logical()), TensorDomain::no_reductions(input->logical()),
      is_same);
}

bool copies_to_itself(const Expr& expr) {
  const TensorView* source = copied_operand(&expr);
  if (source == nullptr || semantics_of(expr).read != OperandRead::Same) {
    return false;
  }
  const Val* copy = expr.outputs().front();
  if (!copy->is_tensor()) {
    return false;
  }
  const auto* tensor = static_cast<const TensorView*>(copy);
  return storage_of(tensor).kind == StorageKind::Overwritten && owner_of(tensor) == source;
}

} // namespace nvfuser
