"""prefetch_loads: loads of circular buffers run ahead of the loop that reads them."""

from __future__ import annotations

from pass_text import TX, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

NAME = "prefetch_loads"


def ahead(
    stages: int,
    prefetch: int,
    memory: MemoryType = MemoryType.shared,
    op: LoadStoreOpType = LoadStoreOpType.Set,
    *,
    own: bool = True,
) -> FusionDefinition:
    """A loop of 16 iterations reads rows that were loaded ahead, by each thread its `own` ones."""
    is_async = op is LoadStoreOpType.CpAsync
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 8, 4] if is_async else [16, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        loaded = x.cache_after(op)
        loaded.set_memory_type(memory)
        for tensor in (loaded, y) if own else (loaded,):
            tensor.axis(1).parallelize(TX)
        if is_async:
            loaded.axis(2).parallelize(ParallelType.vectorize)
        loaded.inline_at(1)
        loaded.circular_buffer(stages, prefetch)
    return fd


def test_the_first_loads_come_before_the_loop_and_all_others_in_it() -> None:
    check_pass(
        ahead(3, 2),
        NAME,
        """
        FOR k0 in 16:
          T2_s[(((k0 % 3) * 64) + tx)] = Set(T0_g[((k0 * 64) + tx)])
          T1_g[((k0 * 64) + tx)] = -T2_s[(((k0 % 3) * 64) + tx)];
        """,
        """
        FOR k0 in 16 Prolog of 3 stages to 2:
          T2_s[((k0 * 64) + tx)] = Set(T0_g[((k0 * 64) + tx)])
        FOR k1 in 16 Main of 3 stages to 16:
          T2_s[((((k1 + 2) % 3) * 64) + tx)] = Set(T0_g[(((k1 * 64) + tx) + 128)])
          T1_g[((k1 * 64) + tx)] = -T2_s[(((k1 % 3) * 64) + tx)];
        """,
    )


def test_a_barrier_stands_before_reads_of_what_other_threads_loaded() -> None:
    check_pass(
        ahead(3, 2, own=False),
        NAME,
        """
        FOR k0 in 16:
          T2_s[(((k0 % 3) * 64) + tx)] = Set(T0_g[((k0 * 64) + tx)])
          FOR k1 in 64:
            T1_g[((k0 * 64) + k1)] = -T2_s[(((k0 % 3) * 64) + k1)];
        """,
        """
        FOR k0 in 16 Prolog of 3 stages to 2:
          T2_s[((k0 * 64) + tx)] = Set(T0_g[((k0 * 64) + tx)])
        FOR k1 in 16 Main of 3 stages to 16:
          BLOCKSYNC(war_sync=false)
          T2_s[((((k1 + 2) % 3) * 64) + tx)] = Set(T0_g[(((k1 * 64) + tx) + 128)])
          FOR k2 in 64:
            T1_g[((k1 * 64) + k2)] = -T2_s[(((k1 % 3) * 64) + k2)];
        """,
    )


def test_a_buffer_in_registers_needs_no_barrier() -> None:
    check_pass(
        ahead(2, 1, MemoryType.local),
        NAME,
        """
        FOR k0 in 16:
          T2_l[(k0 % 2)] = Set(T0_g[((k0 * 64) + tx)])
          T1_g[((k0 * 64) + tx)] = -T2_l[(k0 % 2)];
        """,
        """
        FOR 0 in 16 Prolog of 2 stages to 1:
          T2_l[0] = Set(T0_g[tx])
        FOR k0 in 16 Main of 2 stages to 16:
          T2_l[((k0 + 1) % 2)] = Set(T0_g[(((k0 * 64) + tx) + 64)])
          T1_g[((k0 * 64) + tx)] = -T2_l[(k0 % 2)];
        """,
    )


def test_a_load_for_the_same_iteration_has_no_first_loads() -> None:
    check_pass(
        ahead(2, 0),
        NAME,
        """
        FOR k0 in 16:
          T2_s[(((k0 % 2) * 64) + tx)] = Set(T0_g[((k0 * 64) + tx)])
          T1_g[((k0 * 64) + tx)] = -T2_s[(((k0 % 2) * 64) + tx)];
        """,
        """
        FOR k0 in 16 Main of 2 stages to 16:
          T2_s[(((k0 % 2) * 64) + tx)] = Set(T0_g[((k0 * 64) + tx)])
          T1_g[((k0 * 64) + tx)] = -T2_s[(((k0 % 2) * 64) + tx)];
        """,
    )


def test_asynchronous_copies_are_committed_once_an_iteration_and_waited_for() -> None:
    check_pass(
        ahead(3, 2, op=LoadStoreOpType.CpAsync),
        NAME,
        """
        FOR k0 in 16:
          FOR k1 in 4 vectorized unrolled:
            T2_s[(((k0 % 3) * 32) + (tx * 4))] = CpAsync(T0_g[((k0 * 32) + (tx * 4))])
          FOR k2 in 4:
            T1_g[(((k0 * 32) + (tx * 4)) + k2)] = -T2_s[((((k0 % 3) * 32) + (tx * 4)) + k2)];
        """,
        """
        FOR k0 in 16 Prolog of 3 stages to 2:
          FOR k1 in 4 vectorized unrolled:
            T2_s[((k0 * 32) + (tx * 4))] = CpAsync(T0_g[((k0 * 32) + (tx * 4))])
          ASYNCCOMMIT(CpAsync)
        FOR k2 in 16 Main of 3 stages to 16:
          ASYNCWAIT(CpAsync, keep_stages=1)
          FOR k1 in 4 vectorized unrolled:
            T2_s[((((k2 + 2) % 3) * 32) + (tx * 4))] = CpAsync(T0_g[(((k2 * 32) + (tx * 4)) + 64)])
          ASYNCCOMMIT(CpAsync)
          FOR k3 in 4:
            T1_g[(((k2 * 32) + (tx * 4)) + k3)] = -T2_s[((((k2 % 3) * 32) + (tx * 4)) + k3)];
        ASYNCWAIT(CpAsync, keep_stages=0)
        """,
    )


def test_a_kernel_without_circular_buffers_stays() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        x.cache_after().inline_at(1)
        y.axis(1).parallelize(TX)
    check_unchanged(fd, NAME)
