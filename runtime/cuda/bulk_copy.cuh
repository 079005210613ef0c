// Bulk copies: boxes of a tensor between global and shared memory, each one instruction of one
// thread. Compute capability 9.0 and above.
//
// Boxes that are loaded belong to groups. A group has a barrier in shared memory that completes a
// phase when the thread that loads has arrived, and all bytes that it announced before. Barriers
// are used in turn: group n has barrier n % kGroups, and is phase n / kGroups of it. All threads of
// the block count groups alike, so that no thread has to be told a number.
//
// provides: TensorMap BulkGroups bulk_load bulk_store bulk_store_wait fence_async_proxy
// requires: types thread_index vector phase_barrier
#pragma once

/// A tensor as the driver describes it to the hardware.
struct alignas(64) TensorMap {
  unsigned char bytes[128];

  /// It must be that of a kernel's parameter.
  NVF_FUNCTION unsigned long long address() const {
    return reinterpret_cast<unsigned long long>(this);
  }
};

/// Bulk copies behind a barrier see everything that this thread wrote to shared memory.
NVF_FUNCTION void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// `kGroups`: at most so many are under way, the one whose loads are being begun among them.
template <unsigned kGroups>
struct BulkGroups {
  unsigned first_barrier; // its address in shared memory
  unsigned committed;     // groups, since the kernel began
  unsigned waited;

  NVF_FUNCTION explicit BulkGroups(unsigned long long* barriers)
      : first_barrier(shared_address(barriers)), committed(0), waited(0) {
    if (begins_block()) { // all threads are here
#pragma unroll
      for (unsigned group = 0; group < kGroups; ++group) {
        init_barrier(barrier(group), 1);
      }
      fence_async_proxy();
    }
    __syncthreads();
  }
  BulkGroups(const BulkGroups&) = delete;
  BulkGroups& operator=(const BulkGroups&) = delete;

  /// One that computes: these come to loads that are not those of stages.
  NVF_FUNCTION static bool is_loading_thread() {
    return thread_position<true, true, true>() == 0;
  }
  NVF_FUNCTION unsigned barrier(unsigned group) const {
    return first_barrier + 8 * (group % kGroups);
  }

  /// The barrier of the next group, which completes after `bytes` more.
  NVF_FUNCTION unsigned expect(unsigned bytes) const {
    expect_bytes(barrier(committed), bytes);
    return barrier(committed);
  }

  /// The loads since the last commit are a group, even if there are none.
  NVF_FUNCTION void commit() {
    if (is_loading_thread()) {
      arrive_at_barrier(barrier(committed));
    }
    ++committed;
  }

  /// Wait until all groups but the `kYoungest` have arrived.
  template <unsigned kYoungest>
  NVF_FUNCTION void wait() {
    while (committed - waited > kYoungest) {
      wait_for_phase(barrier(waited), waited / kGroups, "a group of loads");
      ++waited;
    }
  }
};

// Coordinates count elements, the innermost axis first. `groups`: BulkGroups, or BulkStages.

template <unsigned kBytes, typename T, typename Groups>
NVF_FUNCTION void bulk_load(T* to, const TensorMap& map, const Groups& groups, int c0) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3}], [%2];"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(groups.expect(kBytes)), "r"(c0)
      : "memory");
}
template <unsigned kBytes, typename T, typename Groups>
NVF_FUNCTION void bulk_load(T* to, const TensorMap& map, const Groups& groups, int c0, int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(groups.expect(kBytes)), "r"(c0), "r"(c1)
      : "memory");
}
template <unsigned kBytes, typename T, typename Groups>
NVF_FUNCTION void bulk_load(
    T* to, const TensorMap& map, const Groups& groups, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5}], [%2];"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(groups.expect(kBytes)), "r"(c0), "r"(c1),
        "r"(c2)
      : "memory");
}
template <unsigned kBytes, typename T, typename Groups>
NVF_FUNCTION void bulk_load(
    T* to, const TensorMap& map, const Groups& groups, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(groups.expect(kBytes)), "r"(c0), "r"(c1),
        "r"(c2), "r"(c3)
      : "memory");
}
template <unsigned kBytes, typename T, typename Groups>
NVF_FUNCTION void bulk_load(
    T* to, const TensorMap& map, const Groups& groups, int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
      :
      : "r"(shared_address(to)), "l"(map.address()), "r"(groups.expect(kBytes)), "r"(c0), "r"(c1),
        "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// A box that is stored is waited for by the thread that began it.

NVF_FUNCTION void bulk_store_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

template <typename T>
NVF_FUNCTION void bulk_store(const TensorMap& map, const T* from, int c0) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%2}], [%1];"
               :
               : "l"(map.address()), "r"(shared_address(from)), "r"(c0)
               : "memory");
  bulk_store_commit();
}
template <typename T>
NVF_FUNCTION void bulk_store(const TensorMap& map, const T* from, int c0, int c1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
               :
               : "l"(map.address()), "r"(shared_address(from)), "r"(c0), "r"(c1)
               : "memory");
  bulk_store_commit();
}
template <typename T>
NVF_FUNCTION void bulk_store(const TensorMap& map, const T* from, int c0, int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];"
      :
      : "l"(map.address()), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
  bulk_store_commit();
}
template <typename T>
NVF_FUNCTION void bulk_store(const TensorMap& map, const T* from, int c0, int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];"
      :
      : "l"(map.address()), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
  bulk_store_commit();
}
template <typename T>
NVF_FUNCTION void bulk_store(
    const TensorMap& map, const T* from, int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], "
      "[%1];"
      :
      : "l"(map.address()), "r"(shared_address(from)), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
  bulk_store_commit();
}

/// Wait until the boxes have been read from shared memory; if not `kOnlyReads`, until they have
/// arrived as well.
template <bool kOnlyReads>
NVF_FUNCTION void bulk_store_wait() {
  if (kOnlyReads) {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  } else {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
