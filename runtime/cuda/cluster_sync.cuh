// Barrier over the blocks of a cluster, and exchanges of values between them. Compute
// capability 9.0 and above.
//
// provides: ClusterTurns
// requires: types vector thread_index phase_barrier
#pragma once

NVF_FUNCTION void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
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

/// Write to the shared memory of another block: where `address` lies in this one. Its barrier that
/// lies where `barrier` does gets these bytes.
NVF_FUNCTION void send_to_block(unsigned block, unsigned address, unsigned word, unsigned barrier) {
  asm volatile(
      "{\n"
      "  .reg .b32 remote, remote_barrier;\n"
      "  mapa.shared::cluster.u32 remote, %0, %2;\n"
      "  mapa.shared::cluster.u32 remote_barrier, %1, %2;\n"
      "  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32"
      " [remote], %3, [remote_barrier];\n"
      "}"
      :
      : "r"(address), "r"(barrier), "r"(block), "r"(word)
      : "memory");
}

/// Turns at which the blocks of a cluster exchange values. A turn is: send to the memory of all
/// blocks, wait until what they sent is in the own memory, read it. Every thread of the cluster
/// takes every turn. A barrier in each block counts the bytes, so that nobody waits for stores that
/// belong to no turn, as those of results: a barrier of the whole cluster would.
///
/// No block sends to one that has not begun: before the first turn all of them wait, having arrived
/// when the kernel began. Nor to one that has ended: a block ends after it has got all of its last
/// turn. Memory and barrier of turn i are used again in turn i + 2: a thread that sends then has
/// got what all warps sent in turn i + 1, which they did after they had read that of turn i.
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
    cluster_arrive();
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
  NVF_FUNCTION unsigned begin(unsigned bytes) {
    if (turn == 0) {
      cluster_wait();
    }
    if (thread_position<true, true, true>() == 0) {
      expect_bytes(barrier(), bytes);
      arrive_at_barrier(barrier());
    }
    return turn % 2;
  }
  /// Wait for what all blocks send in this turn, which ends it.
  NVF_FUNCTION void meet() {
    wait_for_phase(barrier(), turn / 2, "a turn of the cluster");
    ++turn;
  }
};
