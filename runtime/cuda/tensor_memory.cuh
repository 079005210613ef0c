// Tensor memory, and groups of products of a block whose sum lies there: one thread begins them,
// and all threads go on (tcgen05.cuh). Compute capability 10.0. This has never run on hardware.
//
// Two blocks of a cluster may multiply together, a pair: a thread of the first one begins products
// that read the shared memory of both, and add to the tensor memory of both. Instructions then have
// cta_group::2, and both blocks allocate.
//
// Tensor memory has 128 lanes of 32-bit columns. An address has the lane in its upper half and the
// column in its lower half; warp w of four reaches lanes 32 w to 32 w + 31, a thread its own.
//
// provides: BlockTensorMemory TensorColumns tensor_memory_stored tensor_memory_seen
// provides: tensor_memory_load tensor_memory_store
// requires: types thread_index vector bulk_copy cluster_sync
#pragma once

/// Everything that this warp stored is in tensor memory, in front of a barrier of the block.
NVF_FUNCTION void tensor_memory_stored() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
/// Everything that others did in front of the barrier is seen by what follows.
NVF_FUNCTION void tensor_memory_seen() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// A pair of blocks: the first one waits here for the second one, before each group of products.
struct BlockPair {
  /// A thread of each block has come here, behind what its block did: it arrives at the barrier of
  /// the first one, which lies where `barrier` does.
  NVF_FUNCTION static void arrive(unsigned barrier) {
    asm volatile(
        "{\n"
        "  .reg .b32 first;\n"
        "  mapa.shared::cluster.u32 first, %0, 0;\n"
        "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [first];\n"
        "}"
        :
        : "r"(barrier)
        : "memory");
  }
  /// Wait until both have; what they did is seen.
  NVF_FUNCTION static void wait(unsigned barrier, unsigned phase) {
    const WaitBound bound;
    unsigned completed = 0;
    while (completed == 0) {
      asm volatile(
          "{\n"
          "  .reg .pred completed;\n"
          "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 completed, [%1], %2;\n"
          "  selp.u32 %0, 1, 0, completed;\n"
          "}"
          : "=r"(completed)
          : "r"(barrier), "r"(phase % 2)
          : "memory");
      bound.check(barrier, phase, "the other block of a pair");
    }
  }
  /// All threads of both blocks have come here.
  NVF_FUNCTION static void meet() {
    cluster_arrive();
    cluster_wait();
  }
};

/// The tensor memory of a block: `kColumns`, a power of two from 32 to 512, and the barrier in
/// shared memory at which groups of products arrive. `kBlocks`: that multiply together, 1 or 2.
template <unsigned kColumns, unsigned kBlocks = 1>
struct BlockTensorMemory {
  unsigned barrier;   // its address in shared memory
  unsigned first;     // the first column, of lane 0
  unsigned committed; // groups, since the kernel began
  unsigned waited;
  unsigned ready; // times that the pair was

  /// `memory`: of the barrier, of the address that the allocation tells, and of the pair's barrier.
  NVF_FUNCTION explicit BlockTensorMemory(unsigned long long* memory)
      : barrier(shared_address(memory)), first(0), committed(0), waited(0), ready(0) {
    if (is_first_warp()) {
      allocate(shared_address(memory + 1));
    }
    if (begins_block()) {
      init_barrier(barrier, 1);
      fence_async_proxy();
      if constexpr (kBlocks == 2) {
        init_barrier(barrier_of_pair(), kBlocks);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      }
    }
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    tensor_memory_seen();
    first = *reinterpret_cast<const volatile unsigned*>(memory + 1);
    if constexpr (kBlocks == 2) {
      BlockPair::meet(); // no block arrives at a barrier of one that has not begun
    }
  }
  NVF_FUNCTION ~BlockTensorMemory() {
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads(); // all have read what they need
    tensor_memory_seen();
    if constexpr (kBlocks == 2) {
      BlockPair::meet();
    }
    if (is_first_warp()) {
      deallocate();
    }
    if constexpr (kBlocks == 2) {
      BlockPair::meet(); // a block ends when the other one has returned its columns
    }
  }
  BlockTensorMemory(const BlockTensorMemory&) = delete;
  BlockTensorMemory& operator=(const BlockTensorMemory&) = delete;

  NVF_FUNCTION static void allocate(unsigned address) {
    if constexpr (kBlocks == 2) {
      asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;"
                   :
                   : "r"(address), "n"(kColumns)
                   : "memory");
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
    } else {
      asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;"
                   :
                   : "r"(address), "n"(kColumns)
                   : "memory");
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
    }
  }
  NVF_FUNCTION void deallocate() const {
    if constexpr (kBlocks == 2) {
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;"
                   :
                   : "r"(first), "n"(kColumns)
                   : "memory");
    } else {
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;"
                   :
                   : "r"(first), "n"(kColumns)
                   : "memory");
    }
  }
  NVF_FUNCTION unsigned barrier_of_pair() const {
    return barrier + 16;
  }

  NVF_FUNCTION static bool is_first_warp() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z) < 32;
  }
  /// The thread that begins products is one that computes, and tells the barrier of them.
  NVF_FUNCTION static bool begins_products() {
    return thread_position<true, true, true>() == 0 && (kBlocks == 1 || block_of_cluster() == 0);
  }

  /// Behind a barrier of the block: the thread that begins products waits for the other block.
  NVF_FUNCTION void await_pair() {
    if (thread_position<true, true, true>() == 0) {
      BlockPair::arrive(barrier_of_pair());
    }
    if (begins_products()) {
      BlockPair::wait(barrier_of_pair(), ready);
    }
    ++ready;
  }

  /// The products since the last commit are a group, which arrives at the barriers of all blocks
  /// that multiply.
  NVF_FUNCTION void commit() {
    if (kBlocks == 2 && begins_products()) {
      const unsigned short both = 3;
      asm volatile(
          "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
          " [%0], %1;"
          :
          : "r"(barrier), "h"(both)
          : "memory");
    } else if (kBlocks == 1 && begins_products()) {
      asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                   :
                   : "r"(barrier)
                   : "memory");
    }
    ++committed;
  }
  /// Wait until all groups have arrived.
  template <unsigned kYoungest>
  NVF_FUNCTION void wait() {
    static_assert(kYoungest == 0, "one barrier tells one group from the next");
    while (committed != waited) {
      wait_for_phase(barrier, waited, "a group of products");
      ++waited;
    }
    tensor_memory_seen();
  }
};

/// A tensor in tensor memory: columns from `offset` on, of all lanes.
struct TensorColumns {
  unsigned first;

  template <unsigned kColumns, unsigned kBlocks>
  NVF_FUNCTION TensorColumns(const BlockTensorMemory<kColumns, kBlocks>& memory, unsigned offset)
      : first(memory.first + offset) {}
  NVF_FUNCTION unsigned column(unsigned index) const {
    return first + index;
  }
};

/// The same column in the lanes of this warp.
NVF_FUNCTION unsigned in_lanes_of_warp(unsigned column) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return column + (thread / 32 % 4 << 21); // 32 lanes for each warp
}

/// The same value in the lane of each thread.
NVF_FUNCTION void tensor_memory_store(unsigned column, float value) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};"
               :
               : "r"(in_lanes_of_warp(column)), "r"(__float_as_uint(value))
               : "memory");
}

/// The same of a sum of integers.
NVF_FUNCTION void tensor_memory_store(unsigned column, int value) {
  tensor_memory_store(column, __int_as_float(value));
}

NVF_FUNCTION void begin_store_of_16(unsigned column, const float* from) {
  asm volatile(
      "tcgen05.st.sync.aligned.32x32b.x16.b32 "
      "[%0], {%1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16};"
      :
      : "r"(in_lanes_of_warp(column)), "f"(from[0]), "f"(from[1]), "f"(from[2]), "f"(from[3]),
        "f"(from[4]), "f"(from[5]), "f"(from[6]), "f"(from[7]), "f"(from[8]), "f"(from[9]),
        "f"(from[10]), "f"(from[11]), "f"(from[12]), "f"(from[13]), "f"(from[14]), "f"(from[15])
      : "memory");
}

/// Columns of this thread's lane, a multiple of 16, which it may load at once.
template <unsigned kColumns>
NVF_FUNCTION void tensor_memory_store(unsigned column, const float* from) {
#pragma unroll
  for (unsigned i = 0; i < kColumns; i += 16) {
    begin_store_of_16(column + i, from + i);
  }
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

#define NVF_LOAD_16(TYPE, CONSTRAINT)                                                    \
  NVF_FUNCTION void begin_load_of_16(TYPE* to, unsigned column) {                        \
    asm volatile(                                                                        \
        "tcgen05.ld.sync.aligned.32x32b.x16.b32 "                                        \
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];" \
        : "=" CONSTRAINT(to[0]), "=" CONSTRAINT(to[1]), "=" CONSTRAINT(to[2]),           \
          "=" CONSTRAINT(to[3]), "=" CONSTRAINT(to[4]), "=" CONSTRAINT(to[5]),           \
          "=" CONSTRAINT(to[6]), "=" CONSTRAINT(to[7]), "=" CONSTRAINT(to[8]),           \
          "=" CONSTRAINT(to[9]), "=" CONSTRAINT(to[10]), "=" CONSTRAINT(to[11]),         \
          "=" CONSTRAINT(to[12]), "=" CONSTRAINT(to[13]), "=" CONSTRAINT(to[14]),        \
          "=" CONSTRAINT(to[15])                                                         \
        : "r"(in_lanes_of_warp(column))                                                  \
        : "memory");                                                                     \
  }
NVF_LOAD_16(float, "f")
NVF_LOAD_16(int, "r")
#undef NVF_LOAD_16

/// Columns of this thread's lane, a multiple of 16, of floats or of integers.
template <unsigned kColumns, typename T>
NVF_FUNCTION void tensor_memory_load(T* to, unsigned column) {
#pragma unroll
  for (unsigned i = 0; i < kColumns; i += 16) {
    begin_load_of_16(to + i, column + i);
  }
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
