// Stages of circular buffers that the blocks of a cluster fill together: each loads parts of boxes,
// and sends them to the same place in all blocks. Compute capability 9.0 and above.
//
// A stage is that of BulkStages, but for two things. Warps that have read it say so in all blocks,
// since all of them write to it. And its bytes come from all blocks, perhaps before the thread that
// loads for this block has announced them: until it has arrived, the phase does not complete.
//
// provides: ClusterStages bulk_load_part
// requires: types vector bulk_copy bulk_stages cluster_sync
#pragma once

/// `kBlocks` of a cluster.
template <unsigned kBarriers, unsigned kBlocks>
struct ClusterStages : BulkStages<kBarriers> {
  using Stages = BulkStages<kBarriers>;

  /// No block arrives at the barriers of one that has not begun.
  NVF_FUNCTION explicit ClusterStages(unsigned long long* barriers) : Stages(barriers, kBlocks) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cluster_arrive();
    cluster_wait();
  }
  /// Nor at those of one that has ended.
  NVF_FUNCTION ~ClusterStages() {
    cluster_arrive();
    cluster_wait();
  }

  /// The warp has read a stage: a lane for each block says so there. A release for the cluster
  /// would wait until all that the warp ever stored is seen by the GPU; here nothing has to be
  /// seen, only what was read must have been.
  NVF_FUNCTION void arrive_empty() {
    __syncwarp();
    unsigned lane = 0;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    if (lane < kBlocks) {
      asm volatile(
          "{\n"
          "  .reg .b32 remote;\n"
          "  mapa.shared::cluster.u32 remote, %0, %1;\n"
          "  mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
          "}"
          :
          : "r"(this->empty(this->handed_back)), "r"(lane)
          : "memory");
    }
    ++this->handed_back;
  }

  /// The barrier of the next stage, which completes after `bytes` more from each block.
  NVF_FUNCTION unsigned expect_parts(unsigned bytes) const {
    return this->expect(bytes * kBlocks);
  }
  /// Blocks that a part is sent to, a bit for each.
  NVF_FUNCTION static unsigned short all_blocks() {
    return (1u << kBlocks) - 1;
  }
};

template <unsigned kBytes, typename T, typename Stages>
NVF_FUNCTION void bulk_load_part(T* to, const TensorMap& map, const Stages& stages, int c0) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4}], [%2], %3;"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(stages.expect_parts(kBytes)),
        "h"(Stages::all_blocks()), "r"(c0)
      : "memory");
}
template <unsigned kBytes, typename T, typename Stages>
NVF_FUNCTION void bulk_load_part(
    T* to, const TensorMap& map, const Stages& stages, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(stages.expect_parts(kBytes)),
        "h"(Stages::all_blocks()), "r"(c0), "r"(c1)
      : "memory");
}
template <unsigned kBytes, typename T, typename Stages>
NVF_FUNCTION void bulk_load_part(
    T* to, const TensorMap& map, const Stages& stages, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5, %6}], [%2], %3;"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(stages.expect_parts(kBytes)),
        "h"(Stages::all_blocks()), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}
template <unsigned kBytes, typename T, typename Stages>
NVF_FUNCTION void bulk_load_part(
    T* to, const TensorMap& map, const Stages& stages, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5, %6, %7}], [%2], %3;"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(stages.expect_parts(kBytes)),
        "h"(Stages::all_blocks()), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}
template <unsigned kBytes, typename T, typename Stages>
NVF_FUNCTION void bulk_load_part(
    T* to, const TensorMap& map, const Stages& stages, int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%4, %5, %6, %7, %8}], [%2], %3;"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(stages.expect_parts(kBytes)),
        "h"(Stages::all_blocks()), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}
