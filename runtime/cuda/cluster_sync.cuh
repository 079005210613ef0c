// Barrier over the blocks of a cluster, and stores into their shared memory. Compute capability 9.0
// and above.
//
// provides: ClusterTurns
// requires: types vector
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

/// Write to the shared memory of another block: where `address` lies in this one.
NVF_FUNCTION void store_in_block(unsigned block, unsigned address, unsigned word) {
  asm volatile(
      "{\n"
      "  .reg .b32 remote;\n"
      "  mapa.shared::cluster.u32 remote, %0, %1;\n"
      "  st.shared::cluster.u32 [remote], %2;\n"
      "}"
      :
      : "r"(address), "r"(block), "r"(word)
      : "memory");
}

/// Turns at which the blocks of a cluster exchange values. A turn is: store into the memory of the
/// others, wait for all of them, read the own memory. Every thread of the cluster takes every turn.
///
/// No block writes to one that has not begun: before the first turn all of them wait, having
/// arrived when the kernel began. Nor to one that has ended: a block ends after the barrier of its
/// last turn, and nothing is stored behind that. Memory that turn i reads is overwritten in turn i
/// + 2, where the memory alternates: a thread that stores there has passed the barrier of turn i +
/// 1, at which every reader of turn i arrived after it had read. One barrier a turn is enough.
struct ClusterTurns {
  unsigned turn;

  NVF_FUNCTION ClusterTurns() : turn(0) {
    cluster_arrive();
  }
  NVF_FUNCTION ~ClusterTurns() {
    if (turn == 0) {
      cluster_wait();
    }
  }
  ClusterTurns(const ClusterTurns&) = delete;
  ClusterTurns& operator=(const ClusterTurns&) = delete;

  /// Before the stores of a turn; which of the two halves of the memory they go to.
  NVF_FUNCTION unsigned begin() {
    if (turn == 0) {
      cluster_wait();
    }
    return turn++ % 2;
  }
  /// After them: all stores of the cluster are seen.
  NVF_FUNCTION void meet() {
    cluster_arrive();
    cluster_wait();
  }
};
