"""Kernels of a plan that wait for the grid before them, which may be that of another segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from segment_runs import check_runs, plan_of

if TYPE_CHECKING:
    from nvfuser_direct import Fusion


def operands_of_wait(fusion: Fusion) -> list[str]:
    (wait,) = (expr for expr in fusion.exprs() if expr.op_name() == "WaitForPriorGridOp")
    return [tensor.name() for tensor in wait.ins]


def test_what_another_segment_computes_is_no_older_tensor() -> None:
    inputs = [torch.randn(7, 9), torch.randn(7, 9)]

    def build(fd, x, w):
        kept = fd.ops.neg(fd.ops.segment_set(fd.ops.exp(w)))
        return fd.ops.add(fd.ops.wait_for_prior_grid([x, kept]), kept)

    plan = plan_of(build, inputs)
    _, second = plan.groups
    assert len(operands_of_wait(second.fusion)) == 1
    check_runs(plan, inputs)


def test_arguments_stay_older_than_the_first_segment() -> None:
    inputs = [torch.randn(7, 9), torch.randn(7, 9)]

    def build(fd, x, w):
        late = fd.ops.add(fd.ops.wait_for_prior_grid([x, w]), w)
        return fd.ops.neg(fd.ops.segment_set(late))

    plan = plan_of(build, inputs)
    first, _ = plan.groups
    assert len(operands_of_wait(first.fusion)) == 2
    check_runs(plan, inputs)
