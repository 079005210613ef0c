// Scan over the threads along one dimension of a block.
//
// The threads that agree in the other dimensions form a segment, in the order of the dimension.
// Values are combined in that order, grouped in a way that depends on the block's shape only.
//
// Scratch: one value per thread, in shared memory. A call begins with a barrier, so that it may
// follow any reader of the same memory; after it the scratch may still be read until the next
// barrier, which the next call contains.
//
// provides: block_scan
// requires: types thread_index shuffle reduce_ops
#pragma once

/// The values combined up to a thread (without its own), and in all of its segment.
template <typename T>
struct Scanned {
  T prefix;
  T all;
};

/// Each lane: what it and those before it have. All lanes of the warp call.
template <typename T, typename Op>
NVF_FUNCTION T warp_scan(T value, Op op, unsigned lane) {
  for (unsigned distance = 1; distance < kWarpSize; distance *= 2) {
    const T before = shuffle_from(value, lane - distance);
    value = lane >= distance ? op(before, value) : value;
  }
  return value;
}

/// Segments of whole warps: shuffles, then one round through shared memory if there are several.
template <bool kX, bool kY, bool kZ, typename T, typename Op>
NVF_FUNCTION Scanned<T> scan_in_warps(T start, T value, Op op, T* scratch) {
  const unsigned warps = thread_count<kX, kY, kZ>() / kWarpSize;
  const unsigned member = thread_position<kX, kY, kZ>();
  const unsigned lane = member % kWarpSize;
  const unsigned warp = member / kWarpSize;
  const T in_warp = warp_scan(value, op, lane);
  const T left = shuffle_from(in_warp, lane - 1);
  T before_warp = start;
  T all = shuffle_from(in_warp, kWarpSize - 1);
  if (warps > 1) {
    T* totals = scratch + thread_position<!kX, !kY, !kZ>() * warps;
    block_barrier();
    if (lane == kWarpSize - 1) {
      totals[warp] = in_warp;
    }
    block_barrier();
    // A block has no more warps than a warp has lanes.
    const T of_warps = warp_scan(totals[lane < warps ? lane : warps - 1], op, lane);
    const T before = shuffle_from(of_warps, warp - 1);
    before_warp = warp > 0 ? op(start, before) : start;
    all = shuffle_from(of_warps, warps - 1);
  }
  return {lane > 0 ? op(before_warp, left) : before_warp, op(start, all)};
}

/// Segments of any size: after each step a slot covers twice as many threads. It is compiled once,
/// however many scans use it.
template <bool kX, bool kY, bool kZ, typename T, typename Op>
__device__ __noinline__ Scanned<T> scan_in_shared(T start, T value, Op op, T* scratch) {
  const unsigned members = thread_count<kX, kY, kZ>();
  const unsigned member = thread_position<kX, kY, kZ>();
  const unsigned segments = thread_count<!kX, !kY, !kZ>();
  const unsigned segment = thread_position<!kX, !kY, !kZ>();
  // Neighbouring threads take neighbouring slots, so that they meet in different banks.
  T* slots = kX ? scratch + segment * members : scratch + segment;
  const unsigned stride = kX ? 1 : segments;
  block_barrier();
  slots[member * stride] = value;
  block_barrier();
#pragma unroll 1
  for (unsigned distance = 1; distance < members; distance *= 2) {
    const T before = member >= distance ? slots[(member - distance) * stride] : value;
    block_barrier();
    if (member >= distance) {
      value = op(before, value);
      slots[member * stride] = value;
    }
    block_barrier();
  }
  return {
      member > 0 ? op(start, slots[(member - 1) * stride]) : start,
      op(start, slots[(members - 1) * stride])};
}

/// prefix = op(carry, values of the threads before this one); carry = op(carry, values of all)
template <bool kX, bool kY, bool kZ, typename Op, typename T>
NVF_FUNCTION void block_scan(T& prefix, T& carry, typename Exactly<T>::Type value, void* scratch) {
  T* slots = static_cast<T*>(scratch);
  const unsigned members = thread_count<kX, kY, kZ>();
  const bool rows_are_warps = kX && block_size_x() % kWarpSize == 0;
  const bool is_whole_block = thread_count<!kX, !kY, !kZ>() == 1;
  Scanned<T> scanned = {carry, Op()(carry, value)};
  if (rows_are_warps || (is_whole_block && members % kWarpSize == 0)) {
    scanned = scan_in_warps<kX, kY, kZ>(carry, value, Op(), slots);
  } else if (members > 1) {
    scanned = scan_in_shared<kX, kY, kZ>(carry, value, Op(), slots);
  }
  prefix = scanned.prefix;
  carry = scanned.all;
}
