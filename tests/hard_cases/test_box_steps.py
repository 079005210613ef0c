"""Boxes of bulk copies that take every second, third, .. position of an axis."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
import torch
from bulk_copies import TMA, bind_box
from hard_case import (
    BX,
    BY,
    SHARED,
    TX,
    Compiled,
    check,
    cuda_text,
    lowered,
    numbers,
    par,
    refusal,
    statements,
)
from translated import rebuilt

from nvfuser_direct import BulkLoad, DataType, Fusion, FusionDefinition, _core, translate_fusion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import TensorView

pytestmark = pytest.mark.sanitize

COLUMNS = 32  # of a box
# Rows that are whole tiles, or none; fewer than a step; columns beyond a box.
SHAPES = [(1, 4), (2, 32), (15, 36), (16, 32), (17, 64), (48, 8), (101, 100)]


def boxed(
    split: Callable[[TensorView], None],
    box_axes: int = 2,
    *,
    shape: Sequence[int] = (-1, -1),
    op: str = "neg",
    dtype: DataType = DataType.Float,
    inlined: int | None = None,
    stages: int = 0,
) -> FusionDefinition:
    """op(x), of boxes that are the innermost axes that `split` leaves; one box a turn, unless it is
    `inlined` elsewhere."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(shape), contiguity=True, dtype=dtype)
        y = fd.ops.sum(x, [0]) if op == "sum" else getattr(fd.ops, op)(x)
        fd.add_output(y)
        box = x.cache_after(TMA)
        box.set_memory_type(SHARED)
        for tensor in (box, y):
            split(tensor)
        first = len(box.get_loop_domain()) - box_axes
        bind_box(box, first)
        y.axis(-1).parallelize(TX)
        fd.sched.inline_at(y, first if inlined is None else inlined, selected_tensors=[box])
        if stages:
            box.circular_buffer(stages)
    return fd


def in_steps(tensor: TensorView, rows: int, step: int) -> None:
    """[rows, columns] -> [tiles, tiles, step, rows, COLUMNS]: a box has every `step`th row."""
    tensor.split(1, COLUMNS)
    tensor.split(0, rows * step)
    tensor.split(1, step)
    tensor.reorder({3: 1, 2: 2, 1: 3})
    par(tensor, BY, BX)


def loaded(rows: int, step: int, **options: object) -> FusionDefinition:
    return boxed(functools.partial(in_steps, rows=rows, step=step), **options)


def load_of(fd: FusionDefinition) -> BulkLoad:
    (load,) = [s for s in statements(lowered(fd.fusion)) if isinstance(s, BulkLoad)]
    return load


@pytest.mark.parametrize(("rows", "step"), [(8, 2), (5, 3), (4, 8), (128, 2), (1, 2)])
def test_every_row_is_in_one_box(target, rows, step):
    check(loaded(rows, step), target, [(shape,) for shape in SHAPES], lambda x: -x)


@pytest.mark.parametrize(
    ("dtype", "torch_dtype"),
    [
        (DataType.Byte, torch.uint8),
        (DataType.BFloat16, torch.bfloat16),
        (DataType.Int, torch.int64),
    ],
)
def test_steps_count_elements_of_any_size(target, dtype, torch_dtype):
    fd = loaded(8, 2, op="set", dtype=dtype)
    shapes = [(1, 16), (16, 32), (37, 48)]
    check(fd, target, [(shape,) for shape in shapes], lambda x: x, dtype=torch_dtype)


def test_the_load_has_the_steps():
    fd = loaded(8, 2)
    load = load_of(fd)
    assert load.box == [COLUMNS, 8]
    assert load.steps == [1, 2]
    assert "box 8 x 32 in steps of 2 x 1 at " in str(load)
    assert "bulk_load<1024>(" in cuda_text(fd.fusion)  # the bytes that arrive


def test_boxes_of_all_steps_lie_one_behind_the_other(target):
    """A box for even rows, and one for odd rows."""
    check(loaded(8, 2, inlined=2), target, [(shape,) for shape in SHAPES], lambda x: -x)


def test_boxes_in_steps_are_loaded_ahead(target):
    check(loaded(8, 4, stages=3), target, [(shape,) for shape in SHAPES], lambda x: -x)


def test_steps_over_a_whole_axis(target):
    """No tile ends within the tensor, so that a step need not divide it: 11 rows are 4 and 7."""

    def split(tensor: TensorView) -> None:
        tensor.split(2, COLUMNS)
        tensor.split(1, 3)  # [n, 4, 3, tiles, COLUMNS]
        tensor.reorder({3: 1, 2: 2, 1: 3})
        par(tensor, BY, BX)

    fd = boxed(split, shape=(-1, 11, -1))
    assert load_of(fd).steps[:2] == [1, 3]
    check(fd, target, [((n, 11, m),) for n in (1, 3) for m in (4, 32, 100)], lambda x: -x)


def test_steps_along_two_axes(target):
    """Every second row of every third plane."""

    def split(tensor: TensorView) -> None:
        tensor.split(2, COLUMNS)
        tensor.split(1, 8)
        tensor.split(2, 2)
        tensor.split(0, 6)
        tensor.split(1, 3)  # [planes, 2, 3, rows, 4, 2, columns, COLUMNS]
        tensor.reorder({3: 1, 6: 2, 2: 3, 5: 4, 1: 5, 4: 6})
        tensor.merge(0, 1)
        tensor.merge(0, 1)
        par(tensor, BX)

    fd = boxed(split, box_axes=3, shape=(-1, -1, -1))
    assert load_of(fd).steps == [1, 2, 3]
    check(fd, target, [(s,) for s in ((1, 1, 4), (7, 9, 36), (12, 8, 32))], lambda x: -x)


def test_holes_of_boxes_in_steps_are_zeros(target):
    """A sum over all of a box reads its holes; NaNs lie behind the tensor."""

    def split(tensor: TensorView) -> None:
        tensor.split(1, COLUMNS)
        tensor.split(0, 16)
        tensor.split(1, 2)  # [tiles, 8, 2, columns, COLUMNS]
        tensor.reorder({3: 0, 0: 1, 2: 2, 1: 3})
        par(tensor, BX)

    check(boxed(split, op="sum"), target, [(shape,) for shape in SHAPES], lambda x: x.sum(0))


def test_the_race_check_finds_no_race():
    run = Compiled(loaded(8, 2, stages=3))
    x = numbers(50, 36, device="cpu")
    (out,) = _core.call_with_options(lambda: run(x), ["kernel_debug"], [])
    assert torch.equal(out, -x)


def test_the_schedule_is_translated_and_serialized():
    fd = loaded(8, 2)
    again = rebuilt(translate_fusion(fd.fusion, schedule=True))
    kernels = [each.fusion.print_kernel(target="cuda", comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]
    assert Fusion.deserialize(fd.fusion.serialize()).digest() == fd.fusion.digest()


# -- refusals --


def test_steps_are_at_most_8():
    text = refusal(loaded(4, 9).fusion)
    assert text.startswith("A box takes no steps of this size along an axis\n")
    assert "at most 8" in text


def test_a_box_counts_what_it_steps_over():
    text = refusal(loaded(129, 2).fusion)
    assert text.startswith("A box has more than 256 elements along an axis\n")
    assert "258 along" in text


def test_a_tile_has_whole_steps():
    """Row 15 of 15 would be a hole of the tile, but it is the first row of the next tile."""

    def split(tensor: TensorView) -> None:
        tensor.split(1, COLUMNS)
        tensor.split(0, 15)
        tensor.split(1, 2)
        tensor.reorder({3: 1, 2: 2, 1: 3})
        par(tensor, BX)

    text = refusal(boxed(split).fusion)
    assert text.startswith("A box in steps would reach beyond its tile\n")


def test_neighbours_are_innermost():
    def split(tensor: TensorView) -> None:
        tensor.split(1, 64)
        tensor.split(2, 2)
        tensor.reorder({0: 2, 1: 0, 3: 1, 2: 3})  # [tiles, 2, rows, every second column]
        tensor.split(2, 8)
        par(tensor, BX)

    text = refusal(boxed(split).fusion)
    assert text.startswith("A box takes neighbours along its innermost axis\n")


def test_stores_have_no_steps():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        staged = y.cache_before(TMA)
        staged.set_memory_type(SHARED)
        for tensor in (staged, y):
            in_steps(tensor, 8, 2)
        staged.set_allocation_domain(staged.get_loop_domain(), True)
        bind_box(y, 3)
        par(staged, None, None, None, None, TX)
        fd.sched.inline_at(y, 3, selected_tensors=[staged])
    assert refusal(fd.fusion).startswith("A bulk copy stores neighbours along an axis\n")
