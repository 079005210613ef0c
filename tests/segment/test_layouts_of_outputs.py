"""An allocation domain is a part of a definition: it is no schedule, and cuts keep it."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import FusionDefinition, SchedulerType


@pytest.mark.parametrize("sizes", [(300, 500), (64, 1), (1, 7), (0, 5)])
def test_a_stored_transpose_has_a_scheduler(
    target: str, rng: torch.Generator, sizes: tuple[int, int]
) -> None:
    with FusionDefinition() as fd:
        y = fd.ops.permute(fd.define_tensor([-1, -1], [True, True]), [1, 0])
        fd.add_output(y)
    y.set_allocation_domain(y.get_logical_domain(), True)
    x = torch.randn(*sizes, generator=rng).to(target)
    (got,) = fd.execute([x])
    assert torch.equal(got, x.t())
    assert got.is_contiguous()
    (piece,) = fd.fec.last_pieces()
    assert piece.scheduler != SchedulerType.none


def test_a_cut_definition_keeps_the_layout_of_an_output(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], [True, True])
        rows = fd.ops.exp(fd.ops.div(x, fd.ops.sum(x, [1], keepdim=True)))
        columns = fd.ops.sum(rows, [0], keepdim=True)
        y = fd.ops.div(rows, fd.ops.sum(columns, [1], keepdim=True))
        fd.add_output(y)
    y.set_allocation_domain(list(reversed(y.get_logical_domain())), True)
    x = (1 + torch.rand(33, 65, generator=rng)).to(target)
    (got,) = fd.execute([x])
    assert len(fd.fec.last_pieces()) > 1
    rows = (x.double() / x.double().sum(1, keepdim=True)).exp()
    torch.testing.assert_close(got.double(), rows / rows.sum(), rtol=1e-5, atol=1e-7)
    assert got.t().is_contiguous()
