#include "lower/passes/reuse_memory.h"

#include <algorithm>

#include "eval/simplify.h"
#include "ir/scalar.h"
#include "lower/analysis/block_collectives.h"
#include "lower/analysis/buffer_lives.h"
#include "lower/analysis/bulk_copies.h"

namespace nvfuser {
namespace {

/// The buffer that is used next after the last use of `buffer`; nullptr: none.
const SharedBuffer* successor(const BufferLives& lives, const SharedBuffer& buffer) {
  const SharedBuffer* next = nullptr;
  for (const SharedBuffer& other : lives.buffers()) {
    const bool follows =
        !other.uses.empty() && &other != &buffer && lives.ends_before(buffer, other);
    if (follows && (next == nullptr || other.uses.front().position < next->uses.front().position)) {
      next = &other;
    }
  }
  return next;
}

/// Separate one promoting buffer from its successor; whether a barrier was added.
bool separate(Kernel& kernel, const BufferLives& lives) {
  for (const SharedBuffer& buffer : lives.buffers()) {
    const bool promotes =
        buffer.allocate != nullptr && buffer.allocate->buffer->schedule().promotes_reuse;
    const SharedBuffer* next = promotes ? successor(lives, buffer) : nullptr;
    if (next == nullptr) {
      continue;
    }
    if (!lives.is_separated(buffer, *next)) {
      const BufferLives::Place place = lives.between(buffer, *next);
      place.scope->insert(
          place.scope->begin() + static_cast<int64_t>(place.index),
          kernel.make<BlockSync>({.war_sync = true}));
      return true;
    }
    if (!lives.is_separated_on_return(buffer, *next)) {
      BufferLives::common_loop(buffer, *next)
          .body->push_back(kernel.make<BlockSync>({.war_sync = true}));
      return true;
    }
  }
  return false;
}

/// All addresses are multiples of it; boxes of bulk copies may need more than vectors do.
int64_t alignment_of(const Kernel& kernel) {
  int64_t alignment = kernel.target().max_vector_bytes;
  for (const auto& [tensor, of_boxes] : find_box_alignments(kernel)) {
    alignment = std::max(alignment, of_boxes);
  }
  return alignment;
}

Val* bytes_of(Kernel& kernel, const SharedBuffer& buffer, int64_t alignment) {
  Val* bytes = buffer.collective != nullptr
                   ? scratch_bytes(kernel, *buffer.collective)
                   : scalar::mul(
                         buffer.allocate->size,
                         kernel.new_index(size_bytes(buffer.allocate->buffer->dtype())));
  Val* unit = kernel.new_index(alignment);
  return scalar::mul(scalar::ceil_div(bytes, unit), unit);
}

class MemoryPlanner {
 public:
  explicit MemoryPlanner(Kernel& kernel)
      : kernel_(kernel), simplifier_(*kernel.simplifier), lives_(kernel) {
    const int64_t alignment = alignment_of(kernel);
    for (const SharedBuffer& buffer : lives_.buffers()) {
      blocks_.push_back({&buffer, bytes_of(kernel, buffer, alignment)});
    }
  }

  std::optional<Refusal> run() {
    for (Block* block : in_order()) {
      place(*block);
      placed_.push_back(block);
      total_ = larger(total_, block->end);
    }
    for (const Block& block : blocks_) {
      if (block.buffer->collective != nullptr) {
        set_scratch(*block.buffer->collective, block.begin);
      } else {
        block.buffer->allocate->address = block.begin;
      }
    }
    kernel_.launch.shared_bytes = blocks_.empty() ? nullptr : total_; // 0: all of them are empty
    return find_too_large_total();
  }

 private:
  /// The memory of one buffer: bytes [begin, end).
  struct Block {
    const SharedBuffer* buffer = nullptr;
    Val* bytes = nullptr;
    Val* begin = nullptr;
    Val* end = nullptr;
  };

  /// A total that depends on sizes is checked at the launch, as are lower limits of the GPU at
  /// hand. A schedule has room on all targets or on none.
  [[nodiscard]] std::optional<Refusal> find_too_large_total() const {
    const int64_t most = kernel_.target().max_shared_bytes;
    int64_t extra = 0;
    for (const Block& block : blocks_) {
      if (block.buffer->collective != nullptr) {
        extra = std::max(extra, extra_scratch_bytes(kernel_, *block.buffer->collective));
      }
    }
    if (!total_->is_const() || as_int(total_->value()) - extra <= most) {
      return std::nullopt;
    }
    const TensorView* largest = nullptr;
    int64_t largest_bytes = 0;
    for (const Block& block : blocks_) {
      if (block.buffer->allocate != nullptr && as_int(block.bytes->value()) > largest_bytes) {
        largest = block.buffer->allocate->buffer;
        largest_bytes = as_int(block.bytes->value());
      }
    }
    return refuse({
        .headline = {"The total shared memory allocation is larger than available memory."},
        .node = largest == nullptr ? Part::none() : Part{describe(largest)},
        .expected = {"at most ", most, " bytes for a block"},
        .found =
            {as_int(total_->value()), " bytes", largest == nullptr ? "" : ", ",
             largest == nullptr ? "" : std::to_string(largest_bytes) + " of them for this tensor"},
        .fix = {"use smaller tiles, inline deeper, or keep fewer tensors in shared memory"},
    });
  }

  /// Large blocks first, small ones find gaps then; unknown sizes in the order of the kernel.
  [[nodiscard]] std::vector<Block*> in_order() {
    std::vector<Block*> order;
    for (Block& block : blocks_) {
      order.push_back(&block);
    }
    const bool is_known = std::all_of(
        order.begin(), order.end(), [](const Block* block) { return block->bytes->is_const(); });
    if (is_known && overlays_any()) {
      std::stable_sort(order.begin(), order.end(), [](const Block* a, const Block* b) {
        return as_int(a->bytes->value()) > as_int(b->bytes->value());
      });
    }
    return order;
  }

  [[nodiscard]] bool overlays_any() const {
    for (size_t i = 0; i < blocks_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (lives_.may_overlay(*blocks_[i].buffer, *blocks_[j].buffer)) {
          return true;
        }
      }
    }
    return false;
  }

  void place(Block& block) {
    std::vector<const Block*> others; // that must lie beside it
    for (const Block* other : placed_) {
      if (!lives_.may_overlay(*block.buffer, *other->buffer)) {
        others.push_back(other);
      }
    }
    std::vector<Val*> candidates{kernel_.zero()};
    Val* above_all = kernel_.zero();
    for (const Block* other : others) {
      candidates.push_back(other->end);
      above_all = larger(above_all, other->end);
    }
    if (std::all_of(candidates.begin(), candidates.end(), [](Val* v) { return v->is_const(); })) {
      std::stable_sort(candidates.begin(), candidates.end(), [](const Val* a, const Val* b) {
        return as_int(a->value()) < as_int(b->value());
      });
    }
    candidates.push_back(above_all); // fits always
    for (Val* candidate : candidates) {
      block.begin = candidate;
      block.end = scalar::add(candidate, block.bytes);
      const bool fits = std::all_of(others.begin(), others.end(), [&](const Block* other) {
        return simplifier_.prove_le(block.end, other->begin) ||
               simplifier_.prove_le(other->end, block.begin);
      });
      if (fits) {
        return;
      }
    }
  }

  Val* larger(Val* a, Val* b) {
    return simplifier_.prove_le(a, b) ? b : simplifier_.prove_le(b, a) ? a : scalar::max(a, b);
  }

  Kernel& kernel_;
  IndexSimplifier& simplifier_;
  BufferLives lives_;
  std::vector<Block> blocks_; // in the order of the kernel
  std::vector<const Block*> placed_;
  Val* total_ = kernel_.zero();
};

} // namespace

void promote_reuse(Kernel& kernel) {
  while (separate(kernel, BufferLives(kernel))) {
  }
}

std::optional<Refusal> reuse_memory(Kernel& kernel) {
  return MemoryPlanner(kernel).run();
}

} // namespace nvfuser
