// When the shared memory of a block is in use: which buffers may lie over each other.
//
// Every statement of the kernel has a position. The life of a buffer reaches from its first to its
// last use; a use in a loop that the buffer outlives counts as the whole loop, since what one
// iteration leaves may be what the next one finds. Two buffers may lie over each other if their
// lives do not meet and a barrier stands on every way from the last use of one to the first write
// of the other; in a loop around both, also on the way back.
//
// The scratch of a reduction or scan over threads (a collective) is a buffer that lives during the
// statement, which waits before it writes there: scratch needs no barrier before it, only after it.
// A buffer that other blocks of a cluster write to shares its memory with no other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lower/kernel.h"

namespace nvfuser {

/// A node of the tree that owns statements and decides whether or how often they run. Loops bound
/// to hardware indices do neither.
struct Enclosure {
  const Enclosure* outer = nullptr; // nullptr: this is the kernel
  Scope* body = nullptr;
  bool repeats = false;
  int64_t begin = 0; // positions of its statements: [begin, end]
  int64_t end = 0;
};

/// Something that stands in the kernel: a barrier, or a use of a buffer.
struct Site {
  int64_t position = 0;
  const Enclosure* enclosure = nullptr;
  bool is_write = false;
};

/// A part of shared memory: the storage of a tensor, or the scratch of a collective.
struct SharedBuffer {
  Allocate* allocate = nullptr;
  Expr* collective = nullptr;
  const Enclosure* home = nullptr; // where it is allocated
  std::vector<Site> uses;          // by position
};

class BufferLives {
 public:
  explicit BufferLives(Kernel& kernel);

  /// In the order of the kernel.
  [[nodiscard]] const std::vector<SharedBuffer>& buffers() const {
    return buffers_;
  }
  /// Whether `a` and `b` may have the same memory.
  [[nodiscard]] bool may_overlay(const SharedBuffer& a, const SharedBuffer& b) const;
  /// Whether every use of `a` lies before every use of `b`, as seen from the innermost loop around
  /// both: what lacks to let `b` overlay `a` are barriers.
  [[nodiscard]] bool ends_before(const SharedBuffer& a, const SharedBuffer& b) const;
  /// Whether a barrier stands between the uses of `a` and those of `b`, which follow.
  [[nodiscard]] bool is_separated(const SharedBuffer& a, const SharedBuffer& b) const;
  /// The same for the way from `b` back to `a` in the next iteration of the loop around both; true
  /// if there is none.
  [[nodiscard]] bool is_separated_on_return(const SharedBuffer& a, const SharedBuffer& b) const;
  /// The innermost loop around both, or the kernel.
  [[nodiscard]] static const Enclosure& common_loop(const SharedBuffer& a, const SharedBuffer& b);
  /// The list, and the place in it, where a barrier separates `a` from `b`, which follows.
  struct Place {
    Scope* scope = nullptr;
    size_t index = 0;
  };
  [[nodiscard]] Place between(const SharedBuffer& a, const SharedBuffer& b) const;

 private:
  /// First and last position of a life.
  struct Span {
    int64_t begin = 0;
    int64_t end = -1;
  };
  void visit_scope(Scope& scope, Enclosure* enclosure);
  void visit_statement(Expr& statement, const Enclosure* enclosure);
  SharedBuffer& buffer_of(const TensorView* tensor);
  Enclosure* enclose(Scope& body, bool repeats, const Enclosure* outer);
  [[nodiscard]] bool is_written_by_others(const SharedBuffer& buffer) const;
  [[nodiscard]] static Span life(const SharedBuffer& buffer, const Enclosure& seen_from);

  Kernel& kernel_;
  const std::unordered_map<const TensorView*, int64_t> box_alignments_;
  int64_t next_ = 0; // statements so far
  std::vector<std::unique_ptr<Enclosure>> enclosures_;
  std::vector<SharedBuffer> buffers_;
  std::unordered_map<const TensorView*, size_t> of_tensor_;
  std::vector<Site> barriers_;
  std::unordered_map<const Expr*, Span> span_of_node_;
};

} // namespace nvfuser
