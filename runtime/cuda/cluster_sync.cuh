// Barrier over the blocks of a cluster, and exchanges of values between them. Compute
// capability 9.0 and above.
//
// provides: ClusterTurns
// requires: types vector thread_index phase_barrier
#pragma once

NVF_FUNCTION void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
/// The same of a thread that has written nothing that others read: it does not wait until what it
/// wrote is seen.
NVF_FUNCTION void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
NVF_FUNCTION void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/// Position of this block in its cluster.
NVF_FUNCTION unsigned block_of_cluster() {
  unsigned block = 0;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(block));
  return block;
}

/// The address of what lies at `address`, in the shared memory of a block of the cluster.
NVF_FUNCTION unsigned address_in_block(unsigned block, unsigned address) {
  unsigned remote = 0;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(block));
  return remote;
}

/// Write 1, 2 or a multiple of 4 words, aligned to as many as one message has, to another block: to
/// where `address` lies in this one. Its barrier that lies where `barrier` does gets these bytes.
template <unsigned kWords>
NVF_FUNCTION void send_to_block(
    unsigned block, unsigned address, const unsigned (&words)[kWords], unsigned barrier) {
  const unsigned to = address_in_block(block, address);
  const unsigned there = address_in_block(block, barrier);
  if constexpr (kWords == 1) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %2, [%1];"
                 :
                 : "r"(to), "r"(there), "r"(words[0])
                 : "memory");
  } else if constexpr (kWords == 2) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%2, %3}, [%1];"
        :
        : "r"(to), "r"(there), "r"(words[0]), "r"(words[1])
        : "memory");
  } else {
    static_assert(kWords % 4 == 0, "messages have 1, 2 or 4 words");
#pragma unroll
    for (unsigned i = 0; i < kWords; i += 4) {
      asm volatile(
          "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32"
          " [%0], {%2, %3, %4, %5}, [%1];"
          :
          : "r"(to + 4 * i), "r"(there), "r"(words[i]), "r"(words[i + 1]), "r"(words[i + 2]),
            "r"(words[i + 3])
          : "memory");
    }
  }
}

/// Turns at which the blocks of a cluster exchange values. A turn is: send to the memory of all
/// blocks, wait until what they sent is in the own memory, read it. Every thread of the cluster
/// takes every turn. A barrier in each block counts the bytes, so that no thread waits for stores
/// that belong to no turn, as those of results: a barrier of the whole cluster would.
///
/// No block sends to one that has not begun: before the first turn all of them wait, having arrived
/// when the kernel began. Nor to one that has ended: a block ends after it has got all of its last
/// turn. Memory and barrier of turn i are used again in turn i + 2: a thread that sends then has
/// got what all blocks sent in turn i + 1, which they did after they had read that of turn i.
/// Some threads of a block may wait for the others at its barrier instead.
struct ClusterTurns {
  unsigned turn;
  unsigned barriers; // the address of the first of two

  NVF_FUNCTION ClusterTurns() : turn(0) {
    __shared__ unsigned long long memory[2];
    barriers = shared_address(memory);
    if (begins_block()) {
      init_barrier(barriers, 1);
      init_barrier(barriers + 8, 1);
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads(); // the threads of this block wait at the barriers as well
    cluster_arrive_relaxed();
  }
  NVF_FUNCTION ~ClusterTurns() {
    if (turn == 0) {
      cluster_wait();
    }
  }
  ClusterTurns(const ClusterTurns&) = delete;
  ClusterTurns& operator=(const ClusterTurns&) = delete;

  /// The barrier of the present turn.
  NVF_FUNCTION unsigned barrier() const {
    return barriers + turn % 2 * 8;
  }
  /// Before a turn in which the block gets `bytes`; which of the two halves of the memory they are
  /// sent to.
  NVF_FUNCTION unsigned begin(unsigned bytes) const {
    if (thread_position<true, true, true>() == 0) {
      expect_bytes(barrier(), bytes);
      arrive_at_barrier(barrier());
    }
    return turn % 2;
  }
  /// Before a thread sends: all blocks have begun.
  NVF_FUNCTION void wait_for_others() const {
    if (turn == 0) {
      cluster_wait();
    }
  }
  /// Wait for what all blocks send in this turn.
  NVF_FUNCTION void meet() const {
    wait_for_phase(barrier(), turn / 2, "a turn of the cluster");
  }
  NVF_FUNCTION void end() {
    ++turn;
  }
};
