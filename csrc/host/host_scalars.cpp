#include "host/host_scalars.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

#include "ir/all_nodes.h"
#include "ir/topo_sort.h"

namespace nvfuser::host {
namespace {

bool is_host_tensor(const Val* val) {
  return val->is_tensor() && static_cast<const TensorView*>(val)->is_cpu_scalar();
}

/// Whether `output` has no dimensions, and is computed of tensors on the host and numbers alone. A
/// size of a tensor is no such number: the tensor is needed for it.
bool depends_on_host_alone(const Fusion& fusion, const Val* output) {
  if (!output->is_tensor() || output->is_fusion_input() ||
      static_cast<const TensorView*>(output)->rank() != 0) {
    return false;
  }
  const AliasInfo* alias = fusion.alias_of(output);
  if (alias != nullptr && !is_host_tensor(alias->input)) {
    return false; // it is written to a device
  }
  std::vector<const Val*> pending{output};
  std::unordered_set<const Val*> seen(pending.begin(), pending.end()); // only looked up
  bool has_host_tensor = false;
  while (!pending.empty()) {
    const Val* val = pending.back();
    pending.pop_back();
    if (val->definition() == nullptr) {
      const bool is_number = !val->is_tensor() && (val->is_const() || val->is_fusion_input());
      if (!is_number && !is_host_tensor(val)) {
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

/// Some outputs of a fusion, and what they are computed by, as a fusion.
class PartOfFusion {
 public:
  explicit PartOfFusion(const Fusion& whole)
      : whole_(whole), part_(Fusion::create()), guard_(part_.get()), clone_(whole, *part_) {}

  void add_inputs(const std::vector<int64_t>& positions) {
    for (const int64_t position : positions) {
      part_->add_input(clone_(whole_.inputs()[static_cast<size_t>(position)]));
    }
  }

  /// `is_on_host`: where they are stored.
  void add_outputs(const std::vector<Val*>& outputs, bool is_on_host) {
    for (const Expr* expr : sorted_definitions(outputs)) {
      clone_(expr);
      for (Val* result : expr->outputs()) { // outputs of the whole may be none of the part
        if (result->is_tensor()) {
          clone_(static_cast<TensorView*>(result))->assign_memory_type(MemoryType::Local);
        }
      }
    }
    for (Val* output : outputs) {
      if (is_on_host) {
        clone_(static_cast<TensorView*>(output))->assign_cpu_scalar(true);
      }
      const AliasInfo* alias = whole_.alias_of(output);
      if (alias == nullptr || !alias->is_hidden) {
        part_->add_output(clone_(output));
      }
      if (alias != nullptr) {
        part_->add_output(clone_(output), clone_(alias->input));
      }
    }
  }

  [[nodiscard]] const std::shared_ptr<Fusion>& get() const {
    return part_;
  }

 private:
  const Fusion& whole_;
  const std::shared_ptr<Fusion> part_;
  const FusionGuard guard_;
  Cloner clone_;
};

/// By output that `is_scalar` says `wanted` of.
std::vector<Val*> outputs_of(const Fusion& whole, const std::vector<bool>& is_scalar, bool wanted) {
  std::vector<Val*> outputs;
  for (size_t i = 0; i < is_scalar.size(); ++i) {
    if (is_scalar[i] == wanted) {
      outputs.push_back(whole.outputs()[i]);
    }
  }
  return outputs;
}

/// The positions of the inputs that are numbers or lie on the host.
std::vector<int64_t> host_inputs_of(const Fusion& whole) {
  std::vector<int64_t> positions;
  for (size_t i = 0; i < whole.inputs().size(); ++i) {
    if (!whole.inputs()[i]->is_tensor() || is_host_tensor(whole.inputs()[i])) {
      positions.push_back(static_cast<int64_t>(i));
    }
  }
  return positions;
}

} // namespace

bool HostScalars::has_others() const {
  return scalars == nullptr || !std::ranges::all_of(is_scalar, std::identity());
}

HostScalars split_host_scalars(const std::shared_ptr<Fusion>& whole, bool is_cuda) {
  HostScalars parts{.whole = whole, .scalars = nullptr, .others = whole};
  if (!is_cuda) {
    return parts;
  }
  for (const Val* output : whole->outputs()) {
    parts.is_scalar.push_back(depends_on_host_alone(*whole, output));
  }
  if (std::ranges::none_of(parts.is_scalar, std::identity())) {
    return parts;
  }
  PartOfFusion scalars(*whole);
  parts.inputs = host_inputs_of(*whole);
  scalars.add_inputs(parts.inputs);
  scalars.add_outputs(outputs_of(*whole, parts.is_scalar, true), /*is_on_host=*/true);
  parts.scalars = scalars.get();

  if (!parts.has_others()) {
    return parts;
  }
  PartOfFusion others(*whole);
  std::vector<int64_t> all(whole->inputs().size());
  std::iota(all.begin(), all.end(), int64_t{0});
  others.add_inputs(all);
  others.add_outputs(outputs_of(*whole, parts.is_scalar, false), /*is_on_host=*/false);
  parts.others = others.get();
  return parts;
}

void add_host_scalars(Partition& partition, const HostScalars& parts) {
  Piece piece{
      .fusion = parts.scalars->clone(), .inputs = parts.inputs, .kind = SegmentKind::Evaluated};
  auto next = static_cast<Slot>(parts.whole->inputs().size()); // behind what other pieces set
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
