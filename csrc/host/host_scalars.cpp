#include "host/host_scalars.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "ir/all_nodes.h"

namespace nvfuser::host {
namespace {

bool is_host_tensor(const Val* val) {
  return val->is_tensor() && static_cast<const TensorView*>(val)->is_cpu_scalar();
}

/// Whether `output` has no dimensions, and is computed of tensors on the host and numbers alone.
bool depends_on_host_alone(const Val* output) {
  if (!output->is_tensor() || output->is_fusion_input() ||
      static_cast<const TensorView*>(output)->rank() != 0) {
    return false;
  }
  std::vector<const Val*> pending{output};
  std::unordered_set<const Val*> seen(pending.begin(), pending.end()); // only looked up
  bool has_host_tensor = false;
  while (!pending.empty()) {
    const Val* val = pending.back();
    pending.pop_back();
    if (val->definition() == nullptr) {
      if (val->is_tensor() && !is_host_tensor(val)) {
        return false;
      }
      has_host_tensor = has_host_tensor || val->is_tensor();
      continue;
    }
    for (const Val* operand : val->definition()->inputs()) {
      if (seen.insert(operand).second) {
        pending.push_back(operand);
      }
    }
  }
  return has_host_tensor;
}

/// A copy with those outputs of which `is_scalar` says `wanted`.
std::shared_ptr<Fusion> part_of(
    const Fusion& whole, const std::vector<bool>& is_scalar, bool wanted) {
  const std::shared_ptr<Fusion> part = Fusion::create();
  const FusionGuard guard(part.get());
  Cloner clone(whole, *part);
  for (Val* input : whole.inputs()) {
    part->add_input(clone(input));
  }
  for (size_t i = 0; i < is_scalar.size(); ++i) {
    if (is_scalar[i] != wanted) {
      continue;
    }
    Val* output = whole.outputs()[i];
    if (wanted) {
      clone(static_cast<TensorView*>(output))->assign_cpu_scalar(true);
    }
    const AliasInfo* alias = whole.alias_of(output);
    if (alias == nullptr || !alias->is_hidden) {
      part->add_output(clone(output));
    }
    if (alias != nullptr) {
      part->add_output(clone(output), clone(alias->input));
    }
  }
  return part;
}

} // namespace

HostScalars split_host_scalars(std::shared_ptr<Fusion> whole, bool is_cuda) {
  HostScalars parts{.whole = whole, .scalars = nullptr, .others = whole};
  if (!is_cuda) {
    return parts;
  }
  for (const Val* output : whole->outputs()) {
    parts.is_scalar.push_back(depends_on_host_alone(output));
  }
  const auto num_scalars = std::ranges::count(parts.is_scalar, true);
  if (num_scalars == 0) {
    return parts;
  }
  parts.scalars = part_of(*whole, parts.is_scalar, true);
  parts.others = num_scalars == std::ssize(parts.is_scalar)
                     ? parts.scalars
                     : part_of(*whole, parts.is_scalar, false);
  return parts;
}

void add_host_scalars(Partition& partition, const HostScalars& parts) {
  Piece piece{.fusion = parts.scalars->clone(), .inputs = {}, .kind = SegmentKind::Evaluated};
  piece.inputs.resize(parts.whole->inputs().size());
  std::iota(piece.inputs.begin(), piece.inputs.end(), Slot{0});
  auto next = static_cast<Slot>(piece.inputs.size()); // behind what other pieces set
  for (const Piece& other : partition.pieces) {
    next += std::ssize(visible_outputs(*other.fusion));
  }
  std::vector<Slot> outputs;
  auto other = partition.outputs.begin();
  for (size_t i = 0; i < parts.is_scalar.size(); ++i) {
    const AliasInfo* alias = parts.whole->alias_of(parts.whole->outputs()[i]);
    if (alias == nullptr || !alias->is_hidden) {
      outputs.push_back(parts.is_scalar[i] ? next++ : *other++);
    }
  }
  partition.outputs = std::move(outputs);
  partition.pieces.push_back(std::move(piece));
}

} // namespace nvfuser::host
