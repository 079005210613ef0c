"""prefetch_loads: loads of circular buffers run ahead of the loop that reads them."""

from __future__ import annotations

from pass_text import BX, TX, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType, TensorView

NAME = "prefetch_loads"


def ahead(
    stages: int,
    prefetch: int,
    memory: MemoryType = MemoryType.shared,
    op: LoadStoreOpType = LoadStoreOpType.Set,
) -> FusionDefinition:
    """A loop of 16 iterations reads rows that are loaded ahead."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64, 4], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        loaded = x.cache_after(op)
        loaded.set_memory_type(memory)
        for tensor in (loaded, y):
            tensor.axis(1).parallelize(TX)
        if op is LoadStoreOpType.CpAsync:
            loaded.axis(2).parallelize(ParallelType.vectorize)
        loaded.inline_at(1)
        loaded.circular_buffer(stages, prefetch)
    return fd


def test_the_first_loads_come_before_the_loop_and_all_others_in_it() -> None:
    check_pass(ahead(3, 2), NAME, """
        FOR k0 in 16:
          FOR k1 in 4:
            T2_s[((((k0 % 3) * 256) + (tx * 4)) + k1)] = Set(T0_g[(((k0 * 256) + (tx * 4)) + k1)])
          FOR k2 in 4:
            T1_g[(((k0 * 256) + (tx * 4)) + k2)] = -T2_s[((((k0 % 3) * 256) + (tx * 4)) + k2)];
        """, """
        FOR k0 in 16 Prolog of 3 stages to 2:
          FOR k1 in 4:
            T2_s[(((k0 * 256) + (tx * 4)) + k1)] = Set(T0_g[(((k0 * 256) + (tx * 4)) + k1)])
        FOR k2 in 16 Main of 3 stages to 16:
          FOR k1 in 4:
            T2_s[(((((k2 + 2) % 3) * 256) + (tx * 4)) + k1)] = Set(T0_g[((((k2 * 256) + (tx * 4)) + k1) + 512)])
          FOR k3 in 4:
            T1_g[(((k2 * 256) + (tx * 4)) + k3)] = -T2_s[((((k2 % 3) * 256) + (tx * 4)) + k3)];
        """)


def test_a_buffer_in_registers_needs_no_barrier() -> None:
    check_pass(ahead(2, 1, MemoryType.local), NAME, """
        FOR k0 in 16:
          FOR k1 in 4:
            T2_l[(((k0 % 2) * 4) + k1)] = Set(T0_g[(((k0 * 256) + (tx * 4)) + k1)])
          FOR k2 in 4:
            T1_g[(((k0 * 256) + (tx * 4)) + k2)] = -T2_l[(((k0 % 2) * 4) + k2)];
        """, """
        FOR 0 in 16 Prolog of 2 stages to 1:
          FOR k0 in 4:
            T2_l[k0] = Set(T0_g[((tx * 4) + k0)])
        FOR k1 in 16 Main of 2 stages to 16:
          FOR k0 in 4:
            T2_l[((((k1 + 1) % 2) * 4) + k0)] = Set(T0_g[((((k1 * 256) + (tx * 4)) + k0) + 256)])
          FOR k2 in 4:
            T1_g[(((k1 * 256) + (tx * 4)) + k2)] = -T2_l[(((k1 % 2) * 4) + k2)];
        """)


def test_a_load_for_the_same_iteration_has_no_first_loads() -> None:
    check_pass(ahead(2, 0), NAME, """
        FOR k0 in 16:
          FOR k1 in 4:
            T2_s[((((k0 % 2) * 256) + (tx * 4)) + k1)] = Set(T0_g[(((k0 * 256) + (tx * 4)) + k1)])
          FOR k2 in 4:
            T1_g[(((k0 * 256) + (tx * 4)) + k2)] = -T2_s[((((k0 % 2) * 256) + (tx * 4)) + k2)];
        """, """
        FOR k0 in 16 Main of 2 stages to 16:
          FOR k1 in 4:
            T2_s[((((k0 % 2) * 256) + (tx * 4)) + k1)] = Set(T0_g[(((k0 * 256) + (tx * 4)) + k1)])
          FOR k2 in 4:
            T1_g[(((k0 * 256) + (tx * 4)) + k2)] = -T2_s[((((k0 % 2) * 256) + (tx * 4)) + k2)];
        """)


def test_asynchronous_copies_are_committed_once_an_iteration_and_waited_for() -> None:
    check_pass(ahead(3, 2, op=LoadStoreOpType.CpAsync), NAME, """
        FOR k0 in 16:
          FOR k1 in 4 vectorized unrolled:
            T2_s[(((k0 % 3) * 256) + (tx * 4))] = CpAsync(T0_g[((k0 * 256) + (tx * 4))], cache_op=AllLevels)
          FOR k2 in 4:
            T1_g[(((k0 * 256) + (tx * 4)) + k2)] = -T2_s[((((k0 % 3) * 256) + (tx * 4)) + k2)];
        """, """
        FOR k0 in 16 Prolog of 3 stages to 2:
          FOR k1 in 4 vectorized unrolled:
            T2_s[((k0 * 256) + (tx * 4))] = CpAsync(T0_g[((k0 * 256) + (tx * 4))], cache_op=AllLevels)
          ASYNCCOMMIT(CpAsync)
        FOR k2 in 16 Main of 3 stages to 16:
          ASYNCWAIT(CpAsync, keep_stages=1)
          FOR k1 in 4 vectorized unrolled:
            T2_s[((((k2 + 2) % 3) * 256) + (tx * 4))] = CpAsync(T0_g[(((k2 * 256) + (tx * 4)) + 512)], cache_op=AllLevels)
          ASYNCCOMMIT(CpAsync)
          FOR k3 in 4:
            T1_g[(((k2 * 256) + (tx * 4)) + k3)] = -T2_s[((((k2 % 3) * 256) + (tx * 4)) + k3)];
        ASYNCWAIT(CpAsync, keep_stages=0)
        """)


def test_a_kernel_without_circular_buffers_stays() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        x.cache_after().inline_at(1)
        y.axis(1).parallelize(TX)
    check_unchanged(fd, NAME)
