"""separate_roles: threads that only load run the loads of circular buffers, and nothing else."""

from __future__ import annotations

from pass_text import BX, TX, check_pass, check_unchanged, text_around

from nvfuser_direct import (
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    Pipelined,
    WarpSpecialized,
)

NAME = "separate_roles"
ROW = "BULKLOAD(T0_g_float[iS0{64}, iS1{64}], box 1 x 64 at ((bx * 8) + k0), 0)"


def ahead(kind: Pipelined | WarpSpecialized, *, exchanges: bool = False) -> FusionDefinition:
    """Blocks read rows of 64 columns, each of which one thread loads two rows ahead. `exchanges`:
    each thread stores what all others computed."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, 64], contiguity=True)
        negated = fd.ops.neg(x)
        y = fd.ops.set(negated) if exchanges else negated
        fd.add_output(y)
        rows = x.cache_after(LoadStoreOpType.tma)
        rows.set_memory_type(MemoryType.shared)
        for tensor in {rows, negated, y}:
            tensor.split(0, 8)
            tensor.axis(0).parallelize(BX)
        rows.axis(2).parallelize(ParallelType.tma)
        negated.axis(2).parallelize(TX)
        if exchanges:
            negated.set_memory_type(MemoryType.shared)
        fd.sched.inline_at(y, 2, selected_tensors=[rows, negated] if exchanges else [rows])
        rows.circular_buffer(3, 2, kind)
    return fd


def test_loads_go_to_a_thread_of_their_own() -> None:
    check_pass(
        ahead(WarpSpecialized(TX)),
        NAME,
        """
        FOR k0 in 8 Main of 3 stages to 8:
          ASYNCWAIT(Set, keep_stages=2)
          IF (tx == 0):
            T2_s[((k0 % 3) * 64)] = ROW
          ASYNCCOMMIT(CpAsyncBulk)
          ASYNCWAIT(CpAsyncBulk, keep_stages=0)
          T1_g[(((bx * 512) + (k0 * 64)) + tx)] = -T2_s[(((k0 % 3) * 64) + tx)];
          ASYNCCOMMIT(Set)
        """.replace("ROW", ROW),
        """
        IF (tx >= 0):
          FOR k0 in 8 ComputeWarp of 3 stages to 8:
            ASYNCWAIT(CpAsyncBulk, keep_stages=0)
            T1_g[(((bx * 512) + (k0 * 64)) + tx)] = -T2_s[(((k0 % 3) * 64) + tx)];
            ASYNCCOMMIT(Set)
        ELSE:
          IF (tx == -128):
            FOR k0 in 8 AsyncWarp of 3 stages to 8:
              ASYNCWAIT(Set, keep_stages=2)
              T2_s[((k0 % 3) * 64)] = ROW
              ASYNCCOMMIT(CpAsyncBulk)
        """.replace("ROW", ROW),
    )


def test_barriers_of_the_block_are_of_the_threads_that_compute() -> None:
    fd = ahead(WarpSpecialized(TX), exchanges=True)
    text = text_around(fd, NAME)[1]
    computes, _, loads = text.partition("ELSE")
    assert "BLOCKSYNC" in computes
    assert "BLOCKSYNC" not in loads


def test_threads_that_compute_and_load_keep_both() -> None:
    check_unchanged(ahead(Pipelined(uses_mbarrier_for_war=True)), NAME)


def test_without_hardware_threads_one_order_is_enough() -> None:
    check_unchanged(ahead(WarpSpecialized(TX)), NAME, target="cpu")
