// Reduction over threads of a block and over the blocks of its cluster.
//
// Threads of a block that agree in the dimensions that are not reduced form a segment. Each segment
// sends what it has to every block of the cluster, one value for each of its warps if it consists
// of whole ones; every block combines all of them in the same order and has the same result.
//
// Scratch, in the shared memory of each block: one value per thread, for segments that are no whole
// warps; then, for each of two turns (cluster_sync.cuh), [block of the cluster][segment][warp].
//
// provides: cluster_reduce cluster_reduce_welford
// requires: types thread_index shuffle vector reduce_ops welford block_reduce cluster_sync
#pragma once

/// The values that every segment (or warp) of a cluster sends.
template <typename T>
struct ClusterParts {
  static constexpr unsigned kWords = (sizeof(T) + 3) / 4;
  unsigned* first;
  unsigned parts_of_block;
  unsigned barrier; // which counts them

  NVF_FUNCTION unsigned* at(unsigned block, unsigned part) const {
    return first + (block * parts_of_block + part) * kWords;
  }
  NVF_FUNCTION void send(unsigned to_block, unsigned part, T value) const {
    unsigned words[kWords] = {};
    memcpy(words, &value, sizeof(T));
    const unsigned address = shared_address(at(block_of_cluster(), part));
#pragma unroll
    for (unsigned i = 0; i < kWords; ++i) {
      send_to_block(to_block, address + 4 * i, words[i], barrier);
    }
  }
  NVF_FUNCTION T received(unsigned block, unsigned part) const {
    const unsigned* from = at(block, part);
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

/// The values, and `none`, in their order.
template <unsigned kCount, typename T, typename Op>
NVF_FUNCTION T combine_values(const T (&values)[kCount], T none, Op op) {
#pragma unroll
  for (unsigned i = 0; i < kCount; ++i) {
    none = op(none, values[i]);
  }
  return none;
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
  const unsigned warps = is_in_warps ? members / kWarpSize : 1; // that send, of a segment
  if (is_in_warps) {
    value = warp_combine(value, op);
  } else if (members > 1) {
    value = combine_in_shared<kX, kY, kZ>(value, op, static_cast<T*>(scratch));
  }
  const unsigned skipped = (threads * sizeof(T) + 15) / 16 * 16;
  const unsigned half = kBlocks * segments * warps * ClusterParts<T>::kWords;
  auto* words = reinterpret_cast<unsigned*>(static_cast<char*>(scratch) + skipped);
  words += turns.begin(4 * half) * half;
  const ClusterParts<T> parts = {words, segments * warps, turns.barrier()};
  const unsigned first_part = segment * warps;
  if (is_in_warps) {
    if (member % kWarpSize < kBlocks) {
      parts.send(member % kWarpSize, first_part + member / kWarpSize, value);
    }
  } else {
    for (unsigned block = member; block < kBlocks; block += members) {
      parts.send(block, first_part, value);
    }
  }
  turns.meet();
  if (is_in_warps) {
    // Lane w combines what warp w of every block sent: no index has to be divided.
    const unsigned lane = member % kWarpSize;
    value = none;
    if (lane < warps) {
      T values[kBlocks];
#pragma unroll
      for (unsigned block = 0; block < kBlocks; ++block) {
        values[block] = parts.received(block, first_part + lane);
      }
      value = combine_values(values, none, op);
    }
    return warp_combine(value, op);
  }
  value = parts.received(0, first_part);
  for (unsigned block = 1; block < kBlocks; ++block) {
    value = op(value, parts.received(block, first_part));
  }
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
