"""promote_reuse: a barrier ends the life of a buffer that asks for it."""

from __future__ import annotations

from pass_text import TX, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, MemoryType

NAME = "promote_reuse"


def buffers(*, promotes: bool, in_loop: bool = False) -> FusionDefinition:
    """Each thread reads what it wrote: no barrier is needed but for the memory of others."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 64] if in_loop else [64], contiguity=True)
        first = fd.ops.set(x)
        middle = fd.ops.neg(first)
        second = fd.ops.exp(middle)
        y = fd.ops.neg(second)
        fd.add_output(y)
        for buffer in (first, second):
            buffer.set_memory_type(MemoryType.shared)
        for tensor in (first, middle, second, y):
            tensor.axis(-1).parallelize(TX)
        if in_loop:
            for tensor in (second, middle, first):
                tensor.inline_at(1)
        if promotes:
            first.promote_reuse()
    return fd


def test_a_barrier_stands_before_the_next_buffer_is_written() -> None:
    check_pass(
        buffers(promotes=True),
        NAME,
        """
        T1_s[tx] = Set(T0_g[tx])
        T2_l[0] = -T1_s[tx];
        T3_s[tx] = expf(T2_l[0]);
        T4_g[tx] = -T3_s[tx];
        """,
        """
        T1_s[tx] = Set(T0_g[tx])
        T2_l[0] = -T1_s[tx];
        BLOCKSYNC(war_sync=true)
        T3_s[tx] = expf(T2_l[0]);
        T4_g[tx] = -T3_s[tx];
        """,
    )


def test_in_a_loop_another_one_stands_at_its_end() -> None:
    check_pass(
        buffers(promotes=True, in_loop=True),
        NAME,
        """
        FOR k0 in 4:
          T1_s[tx] = Set(T0_g[((k0 * 64) + tx)])
          T2_l[0] = -T1_s[tx];
          T3_s[tx] = expf(T2_l[0]);
          T4_g[((k0 * 64) + tx)] = -T3_s[tx];
        """,
        """
        FOR k0 in 4:
          T1_s[tx] = Set(T0_g[((k0 * 64) + tx)])
          T2_l[0] = -T1_s[tx];
          BLOCKSYNC(war_sync=true)
          T3_s[tx] = expf(T2_l[0]);
          T4_g[((k0 * 64) + tx)] = -T3_s[tx];
          BLOCKSYNC(war_sync=true)
        """,
    )


def test_nothing_is_added_for_buffers_that_do_not_ask() -> None:
    check_unchanged(buffers(promotes=False), NAME)


def test_no_barrier_is_added_where_one_stands_already() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        first = fd.ops.set(x)
        second = fd.ops.neg(first)
        third = fd.ops.exp(second)
        y = fd.ops.neg(third)
        fd.add_output(y)
        for buffer in (first, second, third):
            buffer.set_memory_type(MemoryType.shared)
        for tensor in (first, third, y):  # one thread computes `second`
            tensor.axis(0).parallelize(TX)
        first.promote_reuse()
    check_unchanged(fd, NAME)
