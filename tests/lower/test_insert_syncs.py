"""insert_syncs: threads wait where one reads what another wrote, or overwrites what it reads."""

from __future__ import annotations

from pass_text import BX, TX, bound, check_pass, check_refused, check_unchanged

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

NAME = "insert_syncs"


def through(memory: MemoryType, *, rounds: bool = False) -> FusionDefinition:
    """Columns that thread x wrote are read by all: y = neg(copy)."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 64], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.set_memory_type(memory)
        copy.axis(1).parallelize(TX)
        if not rounds:
            copy.axis(0).parallelize(BX)
            y.axis(0).parallelize(BX)
        copy.inline_at(1)
    return fd


def test_a_read_of_shared_memory_waits_for_the_threads_that_wrote_it() -> None:
    check_pass(
        through(MemoryType.shared),
        NAME,
        """
        T1_s[tx] = Set(T0_g[((bx * 64) + tx)])
        FOR k0 in 64:
          T2_g[((bx * 64) + k0)] = -T1_s[k0];
        """,
        """
        T1_s[tx] = Set(T0_g[((bx * 64) + tx)])
        BLOCKSYNC(war_sync=false)
        FOR k0 in 64:
          T2_g[((bx * 64) + k0)] = -T1_s[k0];
        """,
    )


def test_a_write_in_the_next_iteration_waits_for_the_readers_of_this_one() -> None:
    check_pass(
        through(MemoryType.shared, rounds=True),
        NAME,
        """
        FOR k0 in 4:
          T1_s[tx] = Set(T0_g[((k0 * 64) + tx)])
          FOR k1 in 64:
            T2_g[((k0 * 64) + k1)] = -T1_s[k1];
        """,
        """
        FOR k0 in 4:
          T1_s[tx] = Set(T0_g[((k0 * 64) + tx)])
          BLOCKSYNC(war_sync=false)
          FOR k1 in 64:
            T2_g[((k0 * 64) + k1)] = -T1_s[k1];
          BLOCKSYNC(war_sync=true)
        """,
    )


def test_a_read_of_what_another_block_wrote_waits_for_the_grid() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.set_memory_type(MemoryType.Global)
        copy.axis(0).parallelize(BX)
    check_pass(
        fd,
        NAME,
        """
        T1_g[bx] = Set(T0_g[bx])
        FOR k0 in 64:
          T2_g[k0] = -T1_g[k0];
        """,
        """
        T1_g[bx] = Set(T0_g[bx])
        GRIDSYNC({x})
        FOR k0 in 64:
          T2_g[k0] = -T1_g[k0];
        """,
    )


def test_a_thread_waits_for_its_asynchronous_copies_before_the_barrier() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 64, 4], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.definition().arg.cache_after(LoadStoreOpType.CpAsync)
        cached = copy.definition().arg
        cached.set_memory_type(MemoryType.shared)
        for tensor in (cached, copy, y):
            tensor.axis(0).parallelize(BX)
        cached.axis(1).parallelize(TX)
        cached.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_most([copy])
        cached.inline_at(1)
    check_pass(
        fd,
        NAME,
        """
        FOR k0 in 4 vectorized unrolled:
          T3_s[(tx * 4)] = CpAsync(T0_g[((bx * 256) + (tx * 4))])
        FOR k1 in 64:
          FOR k2 in 4:
            T1_l[0] = Set(T3_s[((k1 * 4) + k2)])
            T2_g[(((bx * 256) + (k1 * 4)) + k2)] = -T1_l[0];
        """,
        """
        FOR k0 in 4 vectorized unrolled:
          T3_s[(tx * 4)] = CpAsync(T0_g[((bx * 256) + (tx * 4))])
        ASYNCCOMMIT(CpAsync)
        ASYNCWAIT(CpAsync, keep_stages=0)
        BLOCKSYNC(war_sync=false)
        FOR k1 in 64:
          FOR k2 in 4:
            T1_l[0] = Set(T3_s[((k1 * 4) + k2)])
            T2_g[(((bx * 256) + (k1 * 4)) + k2)] = -T1_l[0];
        """,
    )


def test_threads_that_read_what_they_wrote_do_not_wait() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 64], contiguity=True)
        copy = fd.ops.set(x)
        y = fd.ops.neg(copy)
        fd.add_output(y)
        copy.set_memory_type(MemoryType.shared)
        bound(fd, y, BX, TX)
    check_unchanged(fd, NAME)


def test_registers_of_another_thread_cannot_be_read() -> None:
    check_refused(
        through(MemoryType.local),
        NAME,
        "(?s)read by other threads than those that computed it.*T1.*T2",
    )
