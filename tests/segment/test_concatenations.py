"""A concatenation is computed with the pads that say where its parts begin."""

from __future__ import annotations

import torch

from nvfuser_direct import FusionDefinition, segment

ROWS, HALF = 12, 16


def turned_and_summed() -> FusionDefinition:
    """Halves exchanged, as rotary embeddings do, between products and row sums."""
    with FusionDefinition() as fd:
        x, w = (fd.define_tensor([n, 2 * HALF], contiguity=True) for n in (ROWS, 2 * HALF))
        y = fd.ops.linear(x, w)
        first = fd.ops.slice(y, [0, 0], [ROWS, HALF])
        second = fd.ops.slice(y, [0, HALF], [ROWS, 2 * HALF])
        turned = fd.ops.mul(fd.ops.cat([fd.ops.neg(second), first], 1), x)
        total = fd.ops.sum(fd.ops.mul(turned, turned), [1], keepdim=True)
        fd.add_output(fd.ops.div(turned, total))
    return fd


def inputs_on(device: str) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = ((ROWS, 2 * HALF), (2 * HALF, 2 * HALF))
    return [torch.rand(shape, generator=generator).to(device) + 0.1 for shape in shapes]


def test_no_cut_separates_a_concatenation_from_its_pads(target: str) -> None:
    plan = segment(turned_and_summed().fusion, inputs_on(target))
    for group in plan.groups:
        kinds = [expr.op_name() for expr in group.fusion.exprs()]
        assert ("CatOp" in kinds) == ("PadOp" in kinds)


def test_sums_of_what_was_concatenated(target: str) -> None:
    x, w = inputs_on(target)
    (found,) = turned_and_summed().execute([x, w])
    y = x.double() @ w.double().t()
    turned = torch.cat([-y[:, HALF:], y[:, :HALF]], 1) * x
    expected = turned / (turned * turned).sum(1, keepdim=True)
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=1e-6)
