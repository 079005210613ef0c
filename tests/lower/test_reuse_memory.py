"""reuse_memory: every shared buffer has its place; buffers whose lives do not meet overlay."""

from __future__ import annotations

import re

from pass_text import BX, TX, check_pass, check_refused, check_unchanged, text_around

from nvfuser_direct import FusionDefinition, MemoryType

NAME = "reuse_memory"


def chain_of_buffers(promotes: bool, size: int = 64) -> FusionDefinition:
    """Two buffers, of which the second one is written after the last read of the first."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([size], contiguity=True)
        first = fd.ops.set(x)
        middle = fd.ops.neg(first)
        second = fd.ops.exp(middle)
        y = fd.ops.neg(second)
        fd.add_output(y)
        for buffer in (first, second):
            buffer.set_memory_type(MemoryType.shared)
        for tensor in (first, second):
            tensor.axis(0).parallelize(TX)
        middle.axis(0).parallelize(TX)
        y.axis(0).parallelize(TX)
        if promotes:
            first.promote_reuse()
    return fd


def places(fd: FusionDefinition) -> dict[str, int]:
    """Addresses of the buffers, in bytes."""
    found = re.findall(r"buffer=(T\d+).*address=(\d+)", text_around(fd, NAME)[1])
    return {name: int(address) for name, address in found}


def test_a_buffer_gets_an_address() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        copy = fd.ops.set(x)
        fd.add_output(fd.ops.neg(copy))
        copy.set_memory_type(MemoryType.shared)
    check_pass(
        fd,
        NAME,
        """
        T1_s: 64
        FOR k0 in 64 unrolled:
          T1_s[k0] = Set(T0_g[k0])
        FOR k1 in 64:
          T2_g[k1] = -T1_s[k1];
        """,
        """
        T1_s: 64, address=0
        FOR k0 in 64 unrolled:
          T1_s[k0] = Set(T0_g[k0])
        FOR k1 in 64:
          T2_g[k1] = -T1_s[k1];
        """,
        storage=True,
    )


def test_buffers_without_a_barrier_between_them_lie_side_by_side() -> None:
    assert sorted(places(chain_of_buffers(promotes=False)).values()) == [0, 256]


def test_buffers_that_a_barrier_separates_overlay_each_other() -> None:
    assert sorted(places(chain_of_buffers(promotes=True)).values()) == [0, 0]


def test_the_launch_learns_how_much_shared_memory_a_block_needs() -> None:
    for promotes, bytes_needed in ((False, 512), (True, 256)):
        kernel = chain_of_buffers(promotes).fusion.lower(until=NAME)
        assert kernel.shared_bytes().value() == bytes_needed


def test_the_scratch_of_a_reduction_over_threads_has_a_place() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        y.axis(0).parallelize(BX)
        y.axis(1).parallelize(TX)
    kernel = fd.fusion.lower(until=NAME)
    assert kernel.shared_bytes().value() > 0


def test_more_than_a_block_has_is_refused() -> None:
    check_refused(chain_of_buffers(promotes=False, size=2**20), NAME, "total shared memory")


def test_a_kernel_without_shared_memory_stays() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.exp(x)))
    check_unchanged(fd, NAME)
    assert fd.fusion.lower(until=NAME).shared_bytes() is None
