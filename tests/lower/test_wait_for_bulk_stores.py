"""wait_for_bulk_stores: what is stored stays until it has been read."""

from __future__ import annotations

from pass_text import TX, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType

NAME = "wait_for_bulk_stores"


def stored(threads: ParallelType | None = TX) -> FusionDefinition:
    """Rows of 64, each of which is a box that is stored."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        row = y.cache_before(LoadStoreOpType.tma)
        row.set_memory_type(MemoryType.shared)
        y.axis(1).parallelize(ParallelType.tma)
        if threads is not None:
            row.axis(1).parallelize(threads)
        fd.sched.inline_at(y, 1, selected_tensors=[row])
    return fd


def test_the_thread_that_stores_waits_before_the_barrier_of_the_next_row() -> None:
    check_pass(
        stored(),
        NAME,
        """
        FOR k0 in 16:
          T2_s[tx] = -T0_g[((k0 * 64) + tx)];
          FENCEASYNCPROXY()
          BLOCKSYNC(war_sync=false)
          T1_g_float[iS4{16}, iB5{64}] produce_pos(1) = BULKSTORE(T2_s[0], box 1 x 64 at k0, 0)
          BLOCKSYNC(war_sync=true)
        """,
        """
        FOR k0 in 16:
          T2_s[tx] = -T0_g[((k0 * 64) + tx)];
          FENCEASYNCPROXY()
          BLOCKSYNC(war_sync=false)
          T1_g_float[iS4{16}, iB5{64}] produce_pos(1) = BULKSTORE(T2_s[0], box 1 x 64 at k0, 0)
          BULKSTOREWAIT(only_reads=true)
          BLOCKSYNC(war_sync=true)
        BULKSTOREWAIT(only_reads=false)
        """,
    )


def test_a_kernel_without_stores_is_as_it_was() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([16, 64], contiguity=True)))
    check_unchanged(fd, NAME)
