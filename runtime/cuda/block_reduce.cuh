// Reduction over threads of a block.
//
// The threads that agree in the dimensions that are not reduced form a segment. Every thread of a
// segment gets the segment's result, combined in an order that depends on the block's shape only.
//
// Scratch: one value per thread, in shared memory. A call begins with a barrier, so that it may
// follow any reader of the same memory; after it the scratch may still be read until the next
// barrier, which the next call contains.
//
// provides: block_reduce block_reduce_welford
// requires: types thread_index shuffle reduce_ops welford
#pragma once

/// Segments of any size. A tree whose first step folds what is above the power of two. Its barriers
/// cost more than a call: it is compiled once, however many reductions use it.
template <bool kX, bool kY, bool kZ, typename T, typename Op>
__device__ __noinline__ T combine_in_shared(T value, Op op, T* scratch) {
  unsigned members = thread_count<kX, kY, kZ>();
  unsigned member = thread_position<kX, kY, kZ>();
  bool is_first_of_warp = true;
  if constexpr (!kX && kY) {
    const unsigned columns = block_size_x();
    if (kWarpSize % columns == 0 && columns * block_size_y() % kWarpSize == 0) {
      // Each warp has some rows: it combines them itself, and goes on as one.
      value = warp_combine(value, op, kWarpSize, columns);
      const unsigned rows = kWarpSize / columns;
      is_first_of_warp = member % rows == 0;
      members /= rows;
      member /= rows;
    }
  }
  const unsigned segments = thread_count<!kX, !kY, !kZ>();
  const unsigned segment = thread_position<!kX, !kY, !kZ>();
  // Neighbouring threads take neighbouring slots, so that they meet in different banks.
  T* slots = kX ? scratch + segment * members : scratch + segment;
  const unsigned stride = kX ? 1 : segments;
  block_barrier();
  if (is_first_of_warp) {
    slots[member * stride] = value;
  }
  block_barrier();
  const unsigned first_half = members > 1 ? 1u << (31 - __clz(members - 1)) : 0;
#pragma unroll 1
  for (unsigned half = first_half; half > 0; half /= 2) {
    if (is_first_of_warp && member < half && member + half < members) {
      value = op(value, slots[(member + half) * stride]);
      slots[member * stride] = value;
    }
    block_barrier();
  }
  return slots[0];
}

/// Segments of whole warps: shuffles, then one round through shared memory if there are several.
template <bool kX, bool kY, bool kZ, typename T, typename Op>
NVF_FUNCTION T combine_in_warps(T value, Op op, T* scratch) {
  const unsigned warps = thread_count<kX, kY, kZ>() / kWarpSize;
  const unsigned member = thread_position<kX, kY, kZ>();
  value = warp_combine(value, op);
  if (warps == 1) {
    return value;
  }
  T* partials = scratch + thread_position<!kX, !kY, !kZ>() * warps;
  block_barrier();
  if (member % kWarpSize == 0) {
    partials[member / kWarpSize] = value;
  }
  block_barrier();
  // Each lane takes one partial, and a second one of those above the power of two.
  const unsigned lanes = 1u << (31 - __clz(warps));
  const unsigned lane = member % lanes;
  value = partials[lane];
  if (lane + lanes < warps) {
    value = op(value, partials[lane + lanes]);
  }
  return warp_combine(value, op, lanes);
}

/// How the threads of a segment reach each other.
enum class Reach { Alone, Warps, Shared, KnownAtLaunch };

template <bool kX, bool kY, bool kZ>
NVF_FUNCTION constexpr Reach reach_in_block(unsigned x, unsigned y, unsigned z) {
  const unsigned members = (kX ? x : 1) * (kY ? y : 1) * (kZ ? z : 1);
  const bool rows_are_warps = kX && x % kWarpSize == 0;
  const bool is_whole_block = members == x * y * z;
  return members == 1                                                     ? Reach::Alone
         : rows_are_warps || (is_whole_block && members % kWarpSize == 0) ? Reach::Warps
                                                                          : Reach::Shared;
}

/// `kWarps`: known before launch that x is reduced and blockDim.x a multiple of the warp size.
template <bool kX, bool kY, bool kZ, bool kWarps>
constexpr Reach reach_of_block =
    kWarps                             ? Reach::Warps
    : kBlockX * kBlockY * kBlockZ != 0 ? reach_in_block<kX, kY, kZ>(kBlockX, kBlockY, kBlockZ)
                                       : Reach::KnownAtLaunch;

template <bool kX, bool kY, bool kZ, bool kWarps, typename T, typename Op>
NVF_FUNCTION T combine_in_block(T value, Op op, void* scratch) {
  constexpr Reach kReach = reach_of_block<kX, kY, kZ, kWarps>;
  T* slots = static_cast<T*>(scratch);
  // Other ways are no code: compilers also take their time for code that is never reached.
  if constexpr (kReach == Reach::Alone) {
    return value;
  } else if constexpr (kReach == Reach::Warps) {
    return combine_in_warps<kX, kY, kZ>(value, op, slots);
  } else if constexpr (kReach == Reach::Shared) {
    return combine_in_shared<kX, kY, kZ>(value, op, slots);
  } else {
    const Reach reach = reach_in_block<kX, kY, kZ>(block_size_x(), block_size_y(), block_size_z());
    return reach == Reach::Alone   ? value
           : reach == Reach::Warps ? combine_in_warps<kX, kY, kZ>(value, op, slots)
                                   : combine_in_shared<kX, kY, kZ>(value, op, slots);
  }
}

/// out = op(out, over the segment: read ? in : init)
template <bool kX, bool kY, bool kZ, bool kWarps, typename Op, typename T>
NVF_FUNCTION void block_reduce(
    T& out,
    typename Exactly<T>::Type in,
    typename Exactly<T>::Type init,
    bool read,
    void* scratch) {
  out = Op()(out, combine_in_block<kX, kY, kZ, kWarps>(read ? in : init, Op(), scratch));
}

template <bool kX, bool kY, bool kZ, bool kWarps, typename T, typename Count>
NVF_FUNCTION Welford<T, Count> merge_block(
    const Welford<T, Count>& out, const Welford<T, Count>& in, void* scratch) {
  using Weighted = WeightedWelford<T, Count>;
  const Weighted own = {in.mean, in.deviation, static_cast<T>(in.count), in.count};
  const Weighted all = combine_in_block<kX, kY, kZ, kWarps>(own, WelfordCombine(), scratch);
  return WelfordCombine()(out, Welford<T, Count>{all.mean, all.deviation, all.count});
}
/// The same as a function, compiled once. Its arguments are in registers.
template <bool kX, bool kY, bool kZ, bool kWarps, typename T, typename Count>
__device__ __noinline__ Welford<T, Count> merge_block_apart(
    Welford<T, Count> out, Welford<T, Count> in, void* scratch) {
  return merge_block<kX, kY, kZ, kWarps>(out, in, scratch);
}

/// The same for a Welford triple. Where threads meet in shared memory, a call costs nothing beside
/// its barriers.
template <bool kX, bool kY, bool kZ, bool kWarps, typename T, typename Count>
NVF_FUNCTION void block_reduce_welford(
    T& mean, T& deviation, Count& count, const Welford<T, Count>& in, bool read, void* scratch) {
  const Welford<T, Count> none = {T(0), T(0), Count(0)};
  const Welford<T, Count> own = read ? in : none;
  Welford<T, Count> all = {mean, deviation, count};
  if constexpr (reach_of_block<kX, kY, kZ, kWarps> == Reach::Shared) {
    all = merge_block_apart<kX, kY, kZ, kWarps>(all, own, scratch);
  } else {
    all = merge_block<kX, kY, kZ, kWarps>(all, own, scratch);
  }
  mean = all.mean;
  deviation = all.deviation;
  count = all.count;
}
