// Blocks of a segment that take turns, in their order: each adds to one partial result, and the
// last has the whole. Nothing but block order decides the result. Blocks are started in that order,
// so the one whose turn it is runs or has run.
//
// provides: block_serialize_wait block_serialize_release serial_grid_reduce
// requires: types thread_index reduce_ops grid_reduce
#pragma once

/// The position of the block whose turn it is; one per segment of a grid whose dimensions kX, kY
/// and kZ are serialized. It stands at zero but for its highest bit, which another kernel may have
/// left (grid_sync.cuh), and does so again after the last block.
template <bool kX, bool kY, bool kZ, typename C>
NVF_FUNCTION unsigned* turn_of_segment(C* turns) {
  return reinterpret_cast<unsigned*>(turns + block_position<!kX, !kY, !kZ>());
}

template <bool kX, bool kY, bool kZ, typename C>
NVF_FUNCTION void block_serialize_wait(C* turns) {
  if (thread_position<true, true, true>() == 0) {
    const unsigned* turn = turn_of_segment<kX, kY, kZ>(turns);
    unsigned now;
    do {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(turn) : "memory");
    } while ((now & ~kCounterPhase) != (block_position<kX, kY, kZ>()));
    __threadfence();
  }
  block_barrier();
}

template <bool kX, bool kY, bool kZ, typename C>
NVF_FUNCTION void block_serialize_release(C* turns) {
  __threadfence();
  block_barrier();
  if (thread_position<true, true, true>() == 0) {
    const unsigned next = block_position<kX, kY, kZ>() + 1;
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(turn_of_segment<kX, kY, kZ>(turns)),
                 "r"(next == block_count<kX, kY, kZ>() ? 0u : next)
                 : "memory");
  }
}

/// out = op(out, over the blocks: read ? in : init), if this is the last block: returns that.
/// `work`: one element per entrance, segment and column.
template <typename Shape, typename Op, typename T>
NVF_FUNCTION bool serial_grid_reduce(
    T& out,
    typename Exactly<T>::Type in,
    typename Exactly<T>::Type init,
    bool read,
    T* work,
    uint64_t entrance) {
  return Shape::accumulate(out, T(read ? in : init), Op(), work, entrance);
}
