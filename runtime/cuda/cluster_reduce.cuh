// Reduction over threads of a block and over the blocks of its cluster.
//
// Threads of a block that agree in the dimensions that are not reduced form a segment. Each segment
// sends what it has to every block of the cluster, in one message; every block combines the values
// of all blocks in the same order and has the same result. Of a segment of whole warps, the first
// warp sends and waits, and the others wait for it.
//
// Scratch, in the shared memory of each block: one value per thread, with which threads of the
// block combine; then, for each of two turns (cluster_sync.cuh), [block of the cluster][segment].
//
// provides: cluster_reduce cluster_reduce_welford
// requires: types thread_index shuffle vector reduce_ops welford block_reduce cluster_sync
#pragma once

/// The values that every segment of a cluster sends.
template <typename T>
struct ClusterParts {
  static constexpr unsigned kWords = (sizeof(T) + 3) / 4;
  static constexpr unsigned kSent = kWords <= 2 ? kWords : (kWords + 3) / 4 * 4;
  unsigned* first;
  unsigned segments;
  unsigned barrier; // which counts them

  NVF_FUNCTION unsigned* at(unsigned block, unsigned segment) const {
    return first + (block * segments + segment) * kSent;
  }
  NVF_FUNCTION void send(unsigned to_block, unsigned segment, T value) const {
    unsigned words[kSent] = {};
    memcpy(words, &value, sizeof(T));
    send_to_block(to_block, shared_address(at(block_of_cluster(), segment)), words, barrier);
  }
  NVF_FUNCTION T received(unsigned block, unsigned segment) const {
    const unsigned* from = at(block, segment);
    unsigned words[kWords];
#pragma unroll
    for (unsigned i = 0; i < kWords; ++i) {
      words[i] = from[i];
    }
    T value;
    memcpy(&value, words, sizeof(T));
    return value;
  }
};

/// Segments of `warps` whole warps. `slots`: one for each warp, and one for the result; others for
/// the next turn.
template <unsigned kBlocks, typename T, typename Op>
NVF_FUNCTION T combine_in_first_warp(
    T value,
    T none,
    Op op,
    T* slots,
    unsigned warps,
    unsigned member,
    unsigned segment,
    const ClusterParts<T>& parts,
    const ClusterTurns& turns) {
  const unsigned lane = member % kWarpSize;
  const bool is_first = member < kWarpSize;
  value = warp_combine(value, op);
  if (warps > 1) {
    if (lane == 0) {
      slots[member / kWarpSize] = value;
    }
    block_barrier();
  }
  turns.wait_for_others();
  if (is_first) {
    if (warps > 1) {
      value = warp_combine(lane < warps ? slots[lane] : none, op);
    }
    if (lane < kBlocks) {
      parts.send(lane, segment, value);
    }
    turns.meet();
    value = warp_combine(lane < kBlocks ? parts.received(lane, segment) : none, op);
  }
  if (warps > 1) {
    if (member == 0) {
      slots[warps] = value;
    }
    block_barrier();
    value = slots[warps];
  }
  return value;
}

/// Other segments: each thread waits.
template <unsigned kBlocks, typename T, typename Op>
NVF_FUNCTION T combine_what_blocks_send(
    T value,
    Op op,
    unsigned member,
    unsigned members,
    unsigned segment,
    const ClusterParts<T>& parts,
    const ClusterTurns& turns) {
  turns.wait_for_others();
  for (unsigned block = member; block < kBlocks; block += members) {
    parts.send(block, segment, value);
  }
  turns.meet();
  value = parts.received(0, segment);
  for (unsigned block = 1; block < kBlocks; ++block) {
    value = op(value, parts.received(block, segment));
  }
  return value;
}

/// `none`: combined with any value, it leaves that. `kBlocks`: of the cluster.
template <unsigned kBlocks, bool kX, bool kY, bool kZ, typename T, typename Op>
NVF_FUNCTION T combine_in_cluster(T value, T none, Op op, void* scratch, ClusterTurns& turns) {
  const unsigned threads = thread_count<true, true, true>();
  const unsigned members = thread_count<kX, kY, kZ>();
  const unsigned member = thread_position<kX, kY, kZ>();
  const unsigned segments = thread_count<!kX, !kY, !kZ>();
  const unsigned segment = thread_position<!kX, !kY, !kZ>();
  const bool rows_are_warps = kX && block_size_x() % kWarpSize == 0;
  const bool is_in_warps = rows_are_warps || (segments == 1 && members % kWarpSize == 0);
  const unsigned skipped = (threads * sizeof(T) + 15) / 16 * 16;
  const unsigned half = kBlocks * segments * ClusterParts<T>::kSent;
  auto* words = reinterpret_cast<unsigned*>(static_cast<char*>(scratch) + skipped);
  T* slots = static_cast<T*>(scratch);
  if (!is_in_warps && members > 1) {
    value = combine_in_shared<kX, kY, kZ>(value, op, slots);
  }
  const unsigned turn = turns.begin(4 * half);
  const ClusterParts<T> parts = {words + turn * half, segments, turns.barrier()};
  if (is_in_warps) {
    const unsigned warps = members / kWarpSize;
    T* of_turn = slots + (turn * segments + segment) * (warps + 1);
    value = combine_in_first_warp<kBlocks>(
        value, none, op, of_turn, warps, member, segment, parts, turns);
  } else {
    value = combine_what_blocks_send<kBlocks>(value, op, member, members, segment, parts, turns);
  }
  turns.end();
  return value;
}

/// out = op(out, over the segments of the cluster: read ? in : init)
template <unsigned kBlocks, bool kX, bool kY, bool kZ, typename Op, typename T>
NVF_FUNCTION void cluster_reduce(
    T& out,
    typename Exactly<T>::Type in,
    typename Exactly<T>::Type init,
    bool read,
    void* scratch,
    ClusterTurns& turns) {
  out = Op()(
      out, combine_in_cluster<kBlocks, kX, kY, kZ>(read ? in : init, init, Op(), scratch, turns));
}

/// The same for a Welford triple.
template <unsigned kBlocks, bool kX, bool kY, bool kZ, typename T, typename Count>
NVF_FUNCTION void cluster_reduce_welford(
    T& mean,
    T& deviation,
    Count& count,
    const Welford<T, Count>& in,
    bool read,
    void* scratch,
    ClusterTurns& turns) {
  using Weighted = WeightedWelford<T, Count>;
  const Weighted none = {T(0), T(0), T(0), Count(0)};
  const Weighted own = {in.mean, in.deviation, static_cast<T>(in.count), in.count};
  const Weighted all = combine_in_cluster<kBlocks, kX, kY, kZ>(
      read ? own : none, none, WelfordCombine(), scratch, turns);
  welford_merge(mean, deviation, count, Welford<T, Count>{all.mean, all.deviation, all.count});
}
