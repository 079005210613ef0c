#include "codegen/packed_arrays.h"

#include "base/register_file.h"
#include "ir/scopes.h"

namespace nvfuser {
namespace {

/// Whether whole registers hold the array, each several elements.
bool is_packed(const Allocate& allocate) {
  const DataType type = allocate.buffer->dtype();
  return allocate.memory_type == MemoryType::Local && !allocate.is_spilled &&
         is_low_precision(type) && allocate.size->is_const_int() &&
         as_int(allocate.size->value()) * size_bytes(type) % kRegisterBytes == 0;
}

const TensorView* read_tensor(const Val* operand) {
  return operand->vtype() == ValType::TensorIndex ? static_cast<const TensorIndex*>(operand)->view()
                                                  : nullptr;
}

} // namespace

PackedArrays::PackedArrays(const Scope& body) {
  std::unordered_map<const TensorView*, size_t> known;
  int64_t place = 0;
  for_each_node(body, [&](const Expr& expr) {
    ++place;
    if (const auto* allocate = expr.as<Allocate>(); allocate != nullptr && is_packed(*allocate)) {
      known.insert_or_assign(
          allocate->buffer, arrays_.size()); // the parts of a loop declare it anew
      arrays_.push_back({.array = allocate});
    } else if (
        expr.is_a<BlockReduction>() || expr.is_a<ClusterReduction>() ||
        expr.is_a<GridReduction>()) {
      places_.emplace(&expr, place);
    }
    for (const Val* operand : expr.inputs()) {
      if (const auto found = known.find(read_tensor(operand)); found != known.end()) {
        Reads& reads = arrays_[found->second];
        reads.first = reads.first < 0 ? place : reads.first;
        reads.last = place;
      }
    }
  });
}

std::vector<const Allocate*> PackedArrays::read_on_both_sides(const Expr& collective) const {
  std::vector<const Allocate*> found;
  const int64_t place = places_.at(&collective);
  for (const Reads& reads : arrays_) {
    if (reads.first >= 0 && reads.first < place && place < reads.last) {
      found.push_back(reads.array);
    }
  }
  return found;
}

} // namespace nvfuser
