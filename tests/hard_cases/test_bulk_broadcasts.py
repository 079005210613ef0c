"""Bulk copies that are broadcasts: the box is that of the input, as new dimensions of size one have
no place in memory."""

from __future__ import annotations

import pytest
from bulk_copies import BULK
from hard_case import BX, BY, SHARED, TX, TY, check, cuda_text, par
from translated import rebuilt

from nvfuser_direct import FusionDefinition, TensorView, UserError, translate_fusion

pytestmark = pytest.mark.sanitize

BOX = (16, 32)
SHAPES = [((16, 32), (2,)), ((17, 36), (3,)), ((3, 100), (1,)), ((40, 64), (5,))]


def tiled(tensor: TensorView) -> None:
    """[rows, columns, planes] -> [rows / 16, columns / 32, planes, 16, 32]"""
    tensor.split(1, BOX[1])
    tensor.split(0, BOX[0])
    tensor.reorder({0: 0, 2: 1, 4: 2, 1: 3, 3: 4})
    par(tensor, BY, BX)


def added(*, computes: bool = False, is_local: bool = False) -> tuple[FusionDefinition, TensorView]:
    """x[rows, columns, 1] + y[1, 1, planes]"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        source = fd.ops.neg(x) if computes else x
        box = fd.ops.broadcast(source, [False, False, True])
        row = fd.ops.broadcast(y, [True, True, False])
        out = fd.ops.add(box, row)
        fd.add_output(out)
        if not is_local:
            box.set_memory_type(SHARED)
        for tensor in (box, row, out):
            tiled(tensor)
        par(out, None, None, None, TY, TX)
        par(box, None, None, None, BULK, BULK)
        fd.sched.inline_at(out, 2, selected_tensors=[box])
        fd.sched.inline_most([row])
    return fd, box


def test_a_broadcast_of_an_input_is_loaded_as_a_box(target):
    fd, _ = added()
    check(fd, target, SHAPES, lambda x, y: x[:, :, None] + y)
    assert "bulk_load<2048>(" in cuda_text(fd.fusion)


def test_its_schedule_prints_as_python():
    fd, _ = added()
    text = fd.fusion.print_kernel(target="cuda", comments=False)
    again = rebuilt(translate_fusion(fd.fusion, schedule=True)).fusion
    assert again.print_kernel(target="cuda", comments=False) == text


def test_broadcasts_of_computed_tensors_are_no_boxes():
    fd, _ = added(computes=True)
    with pytest.raises(UserError, match="A bulk copy is one between global and shared memory"):
        fd.fusion.print_kernel(target="cuda")


def test_broadcasts_in_registers_are_no_boxes():
    fd, _ = added(is_local=True)
    with pytest.raises(UserError, match="An axis is bound to tma, but its tensor is no bulk copy"):
        fd.fusion.print_kernel(target="cuda")
