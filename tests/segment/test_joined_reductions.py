"""Groups whose reductions mirror each other run in one kernel, where a scheduler takes both."""

from __future__ import annotations

import torch
from segment_runs import check_plan, define

from nvfuser_direct import DataType, SchedulerType, segment

FLOAT = DataType.Float


def norm_backward(fd, x, dy, w):
    """Of an RMS norm: the gradients of its operand and of its weights."""
    ops = fd.ops
    scale = ops.rsqrt(ops.add(ops.mean(ops.mul(x, x), [1], True), 1e-5))
    normal = ops.mul(x, scale)
    weighted = ops.mul(dy, ops.broadcast(w, [True, False]))
    shared = ops.mul(normal, ops.mean(ops.mul(weighted, normal), [1], True))
    return [
        ops.mul(ops.sub(weighted, shared), scale),
        ops.sum(ops.mul(dy, normal), [0]),
        ops.sum(dy, [0]),
    ]


def test_a_norm_backward_is_one_kernel_of_a_gpu() -> None:
    inputs = [torch.randn(512, 256), torch.randn(512, 256), torch.randn(256)]
    plan = segment(define(norm_backward, inputs).fusion, inputs, "cuda")
    assert [g.scheduler for g in plan.groups] == [SchedulerType.inner_outer_persistent]
    check_plan(plan)


def test_sums_over_rows_and_columns_that_keep_nothing_stay_apart() -> None:
    inputs = [torch.randn(512, 256)]
    fd = define(lambda fd, x: [fd.ops.sum(x, [0]), fd.ops.sum(x, [1])], inputs)
    plan = segment(fd.fusion, inputs, "cuda")
    assert len(plan.groups) == 2
