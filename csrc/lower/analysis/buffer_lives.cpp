#include "lower/analysis/buffer_lives.h"

#include <algorithm>

#include "ir/kernel_traits.h"
#include "ir/scopes.h"
#include "lower/analysis/block_collectives.h"
#include "lower/analysis/bulk_copies.h"
#include "lower/analysis/for_loops.h"
#include "lower/analysis/loading_threads.h"
#include "lower/analysis/rewrite_elements.h"

namespace nvfuser {
namespace {

// A collective reads its operands, waits, uses its scratch, and then writes its results. Any other
// statement happens at once.
constexpr int64_t kSteps = 4;
enum Step : int64_t { kRead = 0, kWait = 1, kCombine = 2, kWrite = 3 };

bool encloses(const Enclosure& outer, const Enclosure* inner) {
  while (inner != nullptr && inner != &outer) {
    inner = inner->outer;
  }
  return inner != nullptr;
}

const Enclosure* common_enclosure(const Enclosure* a, const Enclosure* b) {
  while (!encloses(*a, b)) {
    a = a->outer;
  }
  return a;
}

/// Whether a thread that goes from `use` to the end of the loop or branch around it passes the
/// barrier.
bool follows(const Site& barrier, const Site& use) {
  return use.position < barrier.position && encloses(*barrier.enclosure, use.enclosure);
}

bool precedes(const Site& barrier, const Site& use) {
  return barrier.position < use.position && encloses(*barrier.enclosure, use.enclosure);
}

bool repeats(const Expr& node) {
  const auto* loop = node.as<ForLoop>();
  return loop != nullptr && is_serial(*loop);
}

/// Loops that are bound to hardware or are one vector access run their body once.
bool is_transparent(const Expr& node) {
  return node.is_a<ForLoop>() && !repeats(node);
}

} // namespace

BufferLives::BufferLives(Kernel& kernel)
    : kernel_(kernel), box_alignments_(find_box_alignments(kernel)) {
  visit_scope(kernel.body, enclose(kernel.body, /*repeats=*/false, nullptr));
}

// ---- Positions ----------------------------------------------------------------------------------

Enclosure* BufferLives::enclose(Scope& body, bool repeats, const Enclosure* outer) {
  enclosures_.push_back(std::make_unique<Enclosure>(Enclosure{outer, &body, repeats, 0, 0}));
  return enclosures_.back().get();
}

void BufferLives::visit_scope(Scope& scope, Enclosure* enclosure) {
  const int64_t begin = next_ * kSteps;
  for (Expr* node : scope) {
    const int64_t first = next_ * kSteps;
    const std::vector<Scope*> bodies = bodies_of(*node);
    for (Scope* body : bodies) {
      visit_scope(
          *body, is_transparent(*node) ? enclosure : enclose(*body, repeats(*node), enclosure));
    }
    if (bodies.empty()) {
      visit_statement(*node, enclosure);
      ++next_;
    }
    span_of_node_[node] = {first, next_ * kSteps - 1};
  }
  if (enclosure->body == &scope) {
    enclosure->begin = begin;
    enclosure->end = next_ * kSteps - 1;
  }
}

void BufferLives::visit_statement(Expr& statement, const Enclosure* enclosure) {
  const int64_t position = next_ * kSteps;
  if (auto* allocate = statement.as<Allocate>()) {
    if (allocate->memory_type == MemoryType::Shared) {
      SharedBuffer& buffer = buffer_of(allocate->buffer);
      buffer.allocate = allocate;
      buffer.home = buffer.home == nullptr ? enclosure : common_enclosure(buffer.home, enclosure);
    }
    return;
  }
  const KernelTraits& traits = traits_of(statement);
  if (traits.barriers.has(Barrier::Block) ||
      (traits.is_collective && always_waits(kernel_, statement))) {
    barriers_.push_back({position + kWait, enclosure, false});
  }
  const auto use = [&](const TensorIndex& element, int64_t step, bool is_write) {
    if (element.view()->memory_type() == MemoryType::Shared) {
      buffer_of(element.view()).uses.push_back({position + step, enclosure, is_write});
    }
  };
  const int64_t write_step = traits.is_collective ? kWrite : kRead;
  for_each_read(statement, [&](const TensorIndex& element) { use(element, kRead, false); });
  for_each_write(statement, [&](const TensorIndex& element) { use(element, write_step, true); });
  if (traits.is_collective) {
    buffers_.push_back({nullptr, &statement, enclosure, {{position + kCombine, enclosure, true}}});
  }
}

SharedBuffer& BufferLives::buffer_of(const TensorView* tensor) {
  const auto [found, is_new] = of_tensor_.try_emplace(tensor, buffers_.size());
  if (is_new) {
    buffers_.emplace_back();
  }
  return buffers_[found->second];
}

// ---- Questions ----------------------------------------------------------------------------------

const Enclosure& BufferLives::common_loop(const SharedBuffer& a, const SharedBuffer& b) {
  const Enclosure* common = common_enclosure(a.home, b.home);
  while (!common->repeats && common->outer != nullptr) {
    common = common->outer;
  }
  return *common;
}

BufferLives::Span BufferLives::life(const SharedBuffer& buffer, const Enclosure& seen_from) {
  Span span;
  for (const Site& use : buffer.uses) {
    Span of_use{use.position, use.position};
    for (const Enclosure* outer = use.enclosure; outer != &seen_from; outer = outer->outer) {
      if (outer->repeats) {
        of_use = {outer->begin, outer->end};
      }
    }
    span.begin = span.end < 0 ? of_use.begin : std::min(span.begin, of_use.begin);
    span.end = std::max(span.end, of_use.end);
  }
  return span;
}

bool BufferLives::ends_before(const SharedBuffer& a, const SharedBuffer& b) const {
  const Enclosure& loop = common_loop(a, b);
  return life(a, loop).end < life(b, loop).begin;
}

bool BufferLives::is_separated(const SharedBuffer& a, const SharedBuffer& b) const {
  if (b.collective != nullptr) {
    return true; // it waits before it writes
  }
  const auto is_separated_pair = [&](const Site& use, const Site& write) {
    return std::any_of(barriers_.begin(), barriers_.end(), [&](const Site& barrier) {
      return use.position < barrier.position && barrier.position < write.position &&
             (follows(barrier, use) || precedes(barrier, write));
    });
  };
  return std::all_of(a.uses.begin(), a.uses.end(), [&](const Site& use) {
    return std::all_of(b.uses.begin(), b.uses.end(), [&](const Site& write) {
      return !write.is_write || is_separated_pair(use, write);
    });
  });
}

bool BufferLives::is_separated_on_return(const SharedBuffer& a, const SharedBuffer& b) const {
  const Enclosure& loop = common_loop(a, b);
  if (!loop.repeats || a.collective != nullptr) {
    return true;
  }
  const auto is_separated_pair = [&](const Site& use, const Site& write) {
    return std::any_of(barriers_.begin(), barriers_.end(), [&](const Site& barrier) {
      return encloses(loop, barrier.enclosure) &&
             (follows(barrier, use) || precedes(barrier, write));
    });
  };
  return std::all_of(b.uses.begin(), b.uses.end(), [&](const Site& use) {
    return std::all_of(a.uses.begin(), a.uses.end(), [&](const Site& write) {
      return !write.is_write || is_separated_pair(use, write);
    });
  });
}

/// Other blocks write to the scratch of a reduction over a cluster, and bulk copies to theirs: a
/// barrier of the block tells nothing about them.
bool BufferLives::is_written_by_others(const SharedBuffer& buffer) const {
  return buffer.collective != nullptr
             ? buffer.collective->is_a<ClusterReduction>()
             : buffer.allocate != nullptr && (box_alignments_.contains(buffer.allocate->buffer) ||
                                              has_stage_barriers(kernel_, buffer.allocate->buffer));
}

bool BufferLives::may_overlay(const SharedBuffer& a, const SharedBuffer& b) const {
  if (is_written_by_others(a) || is_written_by_others(b)) {
    return false;
  }
  if (a.uses.empty() || b.uses.empty() || (a.collective != nullptr && b.collective != nullptr)) {
    return true;
  }
  if (ends_before(a, b)) {
    return is_separated(a, b) && is_separated_on_return(a, b);
  }
  return ends_before(b, a) && is_separated(b, a) && is_separated_on_return(b, a);
}

BufferLives::Place BufferLives::between(const SharedBuffer& a, const SharedBuffer& b) const {
  const Enclosure& loop = common_loop(a, b);
  const int64_t last = life(a, loop).end;
  const int64_t first = life(b, loop).begin;
  const auto contains = [&](const Expr* node, int64_t position) {
    const Span span = span_of_node_.at(node);
    return span.begin <= position && position <= span.end;
  };
  Scope* scope = &kernel_.body;
  for (;;) {
    const auto next = std::find_if(
        scope->begin(), scope->end(), [&](const Expr* node) { return contains(node, first); });
    NVF_INVARIANT(next != scope->end(), "a use of a buffer stands in the kernel");
    const std::vector<Scope*> bodies = bodies_of(**next);
    if (!contains(*next, last)) {
      return {scope, static_cast<size_t>(next - scope->begin())};
    }
    NVF_INVARIANT(bodies.size() == 1, "barriers are added before conditions are placed");
    scope = bodies.front();
  }
}

} // namespace nvfuser
