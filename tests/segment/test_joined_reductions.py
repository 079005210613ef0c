"""Groups whose reductions mirror each other run in one kernel, where a scheduler takes both."""

from __future__ import annotations

import torch
from segment_runs import check_plan, define

from nvfuser_direct import DataType, SchedulerType, segment

FLOAT = DataType.Float


def norm_backward(fd, x, dy, w):
    """The gradients of an RMS norm: those of its operand and of its weights."""
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


def test_sums_of_a_norm_backward_whose_rows_are_too_long_share_a_kernel() -> None:
    def of_half(fd, x, dy, w):
        wide = [fd.ops.cast(t, FLOAT) for t in (x, dy, w)]
        return [fd.ops.cast(t, DataType.BFloat16) for t in norm_backward(fd, *wide)]

    columns = 200_000
    inputs = [
        torch.randn(*s, dtype=torch.bfloat16) for s in ((4, columns), (4, columns), (columns,))
    ]
    plan = segment(define(of_half, inputs).fusion, inputs, "cuda")
    sums = [g for g in plan.groups if g.scheduler == SchedulerType.reduction]
    assert [len(g.outputs) for g in sums] == [2]
    check_plan(plan)


def test_sums_over_rows_and_columns_of_one_input_read_it_once() -> None:
    inputs = [torch.randn(512, 256)]
    fd = define(lambda fd, x: [fd.ops.sum(x, [0]), fd.ops.sum(x, [1])], inputs)
    plan = segment(fd.fusion, inputs, "cuda")
    assert [g.scheduler for g in plan.groups] == [SchedulerType.inner_outer_persistent]
    check_plan(plan)


def batch_norm(fd, x):
    ops = fd.ops
    scale = 1.0 / (40000 * 30)
    mean = ops.mul(ops.sum(x, [0, 2], True), scale)
    centred = ops.sub(x, mean)
    variance = ops.mul(ops.sum(ops.mul(centred, centred), [0, 2], True), scale)
    return ops.mul(centred, ops.rsqrt(ops.add(variance, 1e-5)))


def test_mean_and_variance_that_do_not_fit_on_chip_are_one_kernel_of_a_gpu() -> None:
    inputs = [torch.randn(40000, 2, 30)]
    fd = define(batch_norm, inputs)
    plan = segment(fd.fusion, inputs, "cuda")
    assert [g.scheduler for g in plan.groups] == [SchedulerType.reduction, SchedulerType.pointwise]
    check_plan(plan)
    on_processors = segment(fd.fusion, inputs, "cpu")
    assert len(on_processors.groups) == 3
