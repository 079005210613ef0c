"""A scheduler takes a fusion, and what it decides cannot be applied: no error of the user."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import FusionDefinition, PointwiseParams, SchedulerType, UserError, schedule
from nvfuser_direct._core import internal


def sums(target: str) -> tuple[FusionDefinition, list[torch.Tensor]]:
    inputs = [torch.randn(33, 40).to(target)]
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.exp(x), [1]))
    return fd, inputs


def test_the_next_way_takes_what_a_schedule_fails_for(target: str) -> None:
    """The pointwise scheduler raises an error where it is made to schedule a sum."""
    fd, inputs = sums(target)
    with pytest.raises(UserError, match="no support for reduction ops"):
        schedule.schedule(fd.fusion.clone(), SchedulerType.pointwise, PointwiseParams())
    report = internal.report_of_piece(fd.fusion, inputs, PointwiseParams())
    assert report.way == "trivial"
    assert report.scheduler == SchedulerType.none
    ((name, reason),) = report.refused
    assert name == "pointwise"
    assert "no support for reduction ops" in reason


def test_params_that_are_right_are_used(target: str) -> None:
    fd, inputs = sums(target)
    params = schedule.compute_heuristics(fd.fusion, SchedulerType.reduction, inputs)
    report = internal.report_of_piece(fd.fusion, inputs, params)
    assert report.scheduler == SchedulerType.reduction
    assert report.refused == []


def test_a_user_gets_the_error_and_keeps_the_schedule(target: str) -> None:
    fd, inputs = sums(target)
    (before,) = fd.execute(inputs)
    with pytest.raises(UserError, match="no support for reduction ops"):
        fd.fec.use_params(0, PointwiseParams(), inputs)
    (after,) = fd.execute(inputs)
    assert torch.equal(before, after)
    assert fd.fec.last_pieces()[0].scheduler == SchedulerType.reduction
