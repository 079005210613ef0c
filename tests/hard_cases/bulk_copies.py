"""Schedules whose tiles are bulk copies, for tests of several files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hard_case import BX, SHARED, TX, par

from nvfuser_direct import DataType, FusionDefinition, LoadStoreOpType, ParallelType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nvfuser_direct import TensorView

TMA = LoadStoreOpType.tma
BULK = ParallelType.tma


def tile(tensor: TensorView, boxes: Sequence[int]) -> None:
    """[n0, n1] -> [tiles, box0, box1], the tiles bound to blocks."""
    rank = len(boxes)
    for axis in reversed(range(rank)):
        tensor.split(axis, boxes[axis])
    tensor.reorder({2 * axis: axis for axis in range(rank)})
    for _ in range(rank - 1):
        tensor.merge(0, 1)
    tensor.axis(0).parallelize(BX)


def bind_threads(tensor: TensorView, threads: int = 64) -> None:
    """[tiles, box0, box1] -> [tiles, serial, threads]"""
    while len(tensor.get_loop_domain()) > 2:
        tensor.merge(1, 2)
    tensor.split(1, threads)
    par(tensor, None, None, TX)


def bind_box(tensor: TensorView, first: int = 1) -> None:
    """All axes from `first` on are a box."""
    for axis in range(first, len(tensor.get_loop_domain())):
        tensor.axis(axis).parallelize(BULK)


def loaded(boxes: Sequence[int], dtype: DataType = DataType.Float) -> FusionDefinition:
    """-x, whose tiles are loaded as boxes; x, if it is not Float."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(boxes), contiguity=True, dtype=dtype)
        y = fd.ops.neg(x) if dtype == DataType.Float else fd.ops.set(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        tile(y, boxes)
        tile(a, boxes)
        bind_box(a)
        bind_threads(y)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
    return fd


def stored(boxes: Sequence[int], dtype: DataType = DataType.Float) -> FusionDefinition:
    """-x, whose tiles are stored as boxes; x, if it is not Float."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(boxes), contiguity=True, dtype=dtype)
        y = fd.ops.neg(x) if dtype == DataType.Float else fd.ops.set(x)
        fd.add_output(y)
        s = y.cache_before(TMA)
        s.set_memory_type(SHARED)
        tile(y, boxes)
        bind_box(y)
        tile(s, boxes)
        s.set_allocation_domain(s.get_loop_domain(), True)
        bind_threads(s)
        fd.sched.inline_at(y, 1, selected_tensors=[s])
    return fd
