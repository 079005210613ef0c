"""A segment cannot do without some things: sizes that nothing it reads has, pads of its cats."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import CatOp, DataType, FusionDefinition, PadOp, segment

SIZES = [(4, 3), (1, 7), (33, 1), (0, 3)]


@pytest.mark.parametrize(("rows", "columns"), SIZES)
def test_size_of_an_axis_that_was_summed(rows: int, columns: int) -> None:
    """A sum has lost the axis whose size a later segment multiplies it by."""
    x, y = torch.randn(rows, columns), torch.randn(columns, columns)
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, -1], contiguity=True)
        b = fd.define_tensor([-1, -1], contiguity=True)
        sums = fd.ops.sum(a, [0])
        product = fd.ops.matmul(b, sums)
        size = fd.ops.cast(fd.ops.size(a, 0), dtype=DataType.Float)
        fd.add_output(fd.ops.add(fd.ops.mul(sums, size), fd.ops.neg(product)))
        fd.add_output(sums)
    plan = segment(fd.fusion, [x, y])
    assert len(plan.groups) > 1
    total = x.sum(0)
    out, found = fd.execute([x, y])
    torch.testing.assert_close(found, total, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(out, total * rows - y @ total, atol=1e-4, rtol=1e-4)


def define_padded_cat(fd: FusionDefinition, *, reads_pad: bool) -> None:
    """Log-softmax of rows and the exponentials beside it: what is padded belongs to other segments
    than the sum of their cat."""
    x = fd.define_tensor([-1, -1], contiguity=True)
    rows = fd.ops.broadcast(fd.ops.max(x, [0]), [True, False])
    shifted = fd.ops.sub(x, rows)
    total = fd.ops.broadcast(fd.ops.sum(fd.ops.exp(shifted), [0]), [True, False])
    width = fd.ops.size(x, 1)
    left = fd.ops.pad(fd.ops.exp(x), [0, width])
    right = fd.ops.pad(fd.ops.sub(shifted, fd.ops.log(total)), [width, 0])
    both = fd.ops.cat([left, right], dim=1, manual_padding=True)
    fd.add_output(fd.ops.sum(both, [1]))
    if reads_pad:
        fd.add_output(right)


@pytest.mark.parametrize("reads_pad", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(4, 3), (1, 7), (33, 1)])
def test_pads_stand_with_their_cat(rows: int, columns: int, reads_pad: bool) -> None:
    x = torch.randn(rows, columns)
    with FusionDefinition() as fd:
        define_padded_cat(fd, reads_pad=reads_pad)
    plan = segment(fd.fusion, [x])
    assert len(plan.groups) > 1
    cats = [group for group in plan.groups if any(isinstance(e, CatOp) for e in group.exprs)]
    assert len(cats) == 1
    assert sum(isinstance(e, PadOp) for e in cats[0].exprs) == 2
    logs = torch.log_softmax(x, 0)
    out, *padded = fd.execute([x])
    torch.testing.assert_close(out, x.exp().sum(1) + logs.sum(1), atol=1e-4, rtol=1e-4)
    if reads_pad:
        torch.testing.assert_close(padded[0], torch.nn.functional.pad(logs, (columns, 0)))
