#include "host/partition.h"

#include <algorithm>
#include <numeric>

#include "ir/all_nodes.h"
#include "ir/random_streams.h"

namespace nvfuser::host {

Partition whole(std::shared_ptr<Fusion> fusion, SegmentKind kind) {
  const auto num_inputs = static_cast<Slot>(fusion->inputs().size());
  Piece piece;
  piece.fusion = std::move(fusion);
  piece.kind = kind;
  piece.inputs.resize(static_cast<size_t>(num_inputs));
  std::iota(piece.inputs.begin(), piece.inputs.end(), Slot{0});
  Partition result;
  for (const Val* output : piece.fusion->outputs()) {
    const AliasInfo* alias = piece.fusion->alias_of(output);
    if (alias == nullptr || !alias->is_hidden) {
      result.outputs.push_back(num_inputs + static_cast<Slot>(result.outputs.size()));
    }
  }
  result.pieces.push_back(std::move(piece));
  return result;
}

void bind_inputs(
    Partition& partition, const std::vector<int64_t>& arguments, size_t num_arguments) {
  const auto num_own = static_cast<Slot>(arguments.size());
  const auto bind = [&](Slot& slot) {
    slot = slot < num_own ? arguments[static_cast<size_t>(slot)]
                          : slot - num_own + static_cast<Slot>(num_arguments);
  };
  for (Piece& piece : partition.pieces) {
    std::ranges::for_each(piece.inputs, bind);
  }
  std::ranges::for_each(partition.outputs, bind);
}

void number_random_tensors(Partition& partition, const Fusion& definition) {
  partition.random_streams = count_random_streams(definition);
  for (Piece& piece : partition.pieces) {
    if (partition.random_streams > 0) {
      piece.random_numbers = random_numbers_of(*piece.fusion, definition);
    }
  }
}

} // namespace nvfuser::host
