"""CPU kernels: which reads a compiler may move under masks (docs/decisions.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nvfuser_direct import FusionDefinition, MemoryType, ParallelType

if TYPE_CHECKING:
    from collections.abc import Callable


def text_of(define: Callable[[FusionDefinition], None]) -> str:
    with FusionDefinition() as fd:
        define(fd)
    return fd.fusion.print_kernel(target="cpu", comments=False)


def test_an_operand_of_a_pad_is_guarded() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.pad(x, [3, 4]))

    assert "T0[guarded(" in text_of(define)


def test_both_values_of_where_are_read() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.where(fd.ops.gt(x, 0.0), x, 1.0))
        fd.sched.inline_most()

    text = text_of(define)
    assert "= select<float>(" in text
    assert "guarded" not in text


def blocks(fd: FusionDefinition, memory_type: MemoryType) -> None:
    """Rows of blocks that the extent need not fill."""
    x = fd.define_tensor([-1], contiguity=True)
    copy = fd.ops.neg(x)
    out = fd.ops.exp(copy)
    fd.add_output(out)
    copy.set_memory_type(memory_type)
    out.split(0, 16)
    out.axis(0).parallelize(ParallelType.grid_x)
    fd.sched.transform_like(out)
    fd.sched.parallelize_like(out)
    copy.inline_at(1 if memory_type == MemoryType.shared else 2)


@pytest.mark.parametrize(
    ("memory_type", "is_guarded"), [(MemoryType.local, False), (MemoryType.shared, True)]
)
def test_what_a_branch_stores_alone_may_be_masked(
    memory_type: MemoryType, is_guarded: bool
) -> None:
    text = text_of(lambda fd: blocks(fd, memory_type))
    assert "if (" in text
    assert ("T0[guarded(" in text) == is_guarded


def test_a_condition_outside_of_a_loop_guards_nothing() -> None:
    def define(fd: FusionDefinition) -> None:
        blocks(fd, MemoryType.shared)
        out = fd.fusion.outputs()[0]
        out.split(1, 16)
        out.axis(1).parallelize(ParallelType.unswitch)
        fd.sched.transform_like(out)
        fd.sched.parallelize_like(out)

    inside, outside = text_of(define).split("} else {")[:2]
    assert "T0[guarded(" not in inside
    assert "T0[guarded(" in outside


def test_one_test_for_a_short_loop_stays_a_branch() -> None:
    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [1])
        fd.add_output(total)
        total.split(1, 8)
        partial = total.rfactor([1])
        partial.axis(2).parallelize(ParallelType.unswitch)
        fd.sched.inline_most()

    inside, outside = text_of(define).split("} else {")[:2]
    assert "keep_branch();" in inside
    assert "T0[guarded(" not in inside
    assert "T0[guarded(" in outside
