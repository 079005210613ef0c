"""How many segments fusions with reductions, reshapes and slices have, and which schedulers."""

from __future__ import annotations

import pytest
import torch
from segment_runs import check_runs, define, plan_of, schedulers

from nvfuser_direct import DataType, SegmentedFusion, segment

HALF, FLOAT = DataType.Half, DataType.Float
SETS = [[0], [0, 1], [0, 1, 2], [-1], [-1, -2], [-1, -2, -3], [0, 2, 4], [1, 3]]
PERSISTENT = {"inner_persistent", "outer_persistent"}


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).to(dtype)


def grouped(fd, x):
    """[2, 128, 16, 16] of Half as [2, 32, 4, 16, 16] of Float."""
    return fd.ops.reshape(fd.ops.cast(x, FLOAT), [2, 32, 4, 16, 16])


@pytest.mark.parametrize("dims", SETS, ids=str)
def test_a_sum_behind_a_reshape_is_one(dims: list[int]) -> None:
    inputs = [randn(2, 128, 16, 16, dtype=torch.half)]
    plan = plan_of(lambda fd, x: fd.ops.sum(grouped(fd, x), dims), inputs, static_sizes=True)
    assert schedulers(plan) == ["reduction"]
    check_runs(plan, inputs, atol=1e-2, rtol=1e-4)


@pytest.mark.parametrize("dims", SETS, ids=str)
def test_a_normalization_behind_a_reshape_is_one(dims: list[int]) -> None:
    inputs = [randn(2, 128, 16, 16, dtype=torch.half).abs() + 1]

    def build(fd, x):
        y = grouped(fd, x)
        return fd.ops.cast(fd.ops.div(y, fd.ops.sum(y, dims, keepdim=True)), HALF)

    plan = plan_of(build, inputs, static_sizes=True)
    assert len(plan.groups) == 1
    assert set(schedulers(plan)) <= PERSISTENT
    check_runs(plan, inputs, atol=1e-3, rtol=2e-3)


def test_a_group_norm_is_at_most_two() -> None:
    inputs = [randn(2, 128, 16, 16, dtype=torch.half), randn(128), randn(128)]

    def build(fd, x, w, b):
        ops = fd.ops
        y = grouped(fd, x)
        centered = ops.sub(y, ops.mean(y, [2, 3, 4], True))
        variance = ops.mean(ops.mul(centered, centered), [2, 3, 4], True)
        normal = ops.mul(centered, ops.rsqrt(ops.add(variance, 1e-5)))
        flat = ops.reshape(normal, [2, 128, 16, 16])
        flags = [True, False, True, True]
        return ops.add(ops.mul(flat, ops.broadcast(w, flags)), ops.broadcast(b, flags))

    plan = plan_of(build, inputs, static_sizes=True)
    assert len(plan.groups) <= 2
    check_runs(plan, inputs, atol=1e-4)


def softmax(fd, x):
    ops = fd.ops
    powers = ops.exp(ops.sub(x, ops.max(x, [1], keepdim=True)))
    return ops.div(powers, ops.sum(powers, [1], keepdim=True))


def test_a_softmax_whose_rows_fit_is_one() -> None:
    inputs = [randn(16, 1024)]
    plan = plan_of(softmax, inputs)
    assert schedulers(plan) == ["inner_persistent"]
    check_runs(plan, inputs)


def concrete_axes(plan: SegmentedFusion) -> list[int]:
    """Dimensions with elements of each tensor that crosses."""
    return [
        sum(not (axis.is_broadcast() or axis.is_reduction()) for axis in axes)
        for axes in (edge.tensor.get_logical_domain() for edge in plan.edges)
    ]


def test_a_softmax_whose_rows_do_not_fit_stores_only_statistics() -> None:
    inputs = [torch.empty(2, 2**22)]
    plan = plan_of(softmax, inputs)
    assert schedulers(plan) == ["reduction", "reduction", "pointwise"]
    assert {cut.rule for cut in plan.cuts} == {"on_chip"}
    assert concrete_axes(plan) == [1] * len(plan.edges)
    assert "does not fit on chip" in plan.explain()


def test_statistics_that_do_not_fit_give_what_softmax_gives() -> None:
    """The plan for large rows, run with small ones: sizes are symbols."""
    plan = plan_of(softmax, [torch.empty(2, 2**22)])
    check_runs(plan, [randn(3, 50)])


def test_a_long_chain_of_reductions_over_two_patterns_is_two() -> None:
    inputs = [randn(30, 20, 10)]

    def build(fd, x):
        ops = fd.ops
        first = ops.sum(x, [0])
        second = ops.sum(ops.add(first, x), [0])
        third = ops.sum(ops.add(second, x), [0])
        fourth = ops.sum(third, [0])
        return ops.sum(ops.add(ops.add(fourth, third), third), [0])

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    assert set(schedulers(plan)) <= PERSISTENT
    check_runs(plan, inputs, rtol=1e-4, atol=10.0)


def test_reductions_of_different_results_over_the_same_dims_share_a_kernel() -> None:
    inputs = [randn(30, 20, 10).abs() + 1]

    def build(fd, x):
        ops = fd.ops
        root = ops.rsqrt(ops.add(x, 1.0))
        total = ops.sum(ops.rsqrt(root), [0])
        return [ops.sum(x, [0]), ops.sum(root, [0]), ops.sum(total, [0])]

    plan = plan_of(build, inputs)
    assert schedulers(plan) == ["reduction", "reduction"]
    assert [cut.rule for cut in plan.cuts] == ["pattern"]
    check_runs(plan, inputs, atol=1e-3)


def test_a_sum_that_is_an_output_and_divides_its_rows_is_one() -> None:
    inputs = [randn(33, 100).abs() + 1]

    def build(fd, x):
        rows = fd.ops.sum(x, [1])
        return [rows, fd.ops.div(x, fd.ops.broadcast(rows, [False, True]))]

    plan = plan_of(build, inputs)
    assert schedulers(plan) == ["inner_persistent"]
    check_runs(plan, inputs, atol=1e-3)


@pytest.mark.parametrize(
    ("first", "second"),
    [(([6, 4], 0, 24), ([3, 8], 12, 36)), (([2, 12], 0, 24), ([4, 9], 0, 36))],
    ids=["two slices", "a slice and the whole"],
)
def test_reshapes_of_slices_that_conflict_are_cut(first: tuple, second: tuple) -> None:
    inputs = [randn(36)]

    def build(fd, x):
        parts = []
        for shape, start, end in (first, second):
            part = x if end - start == 36 else fd.ops.slice(x, [start], [end])
            parts.append(fd.ops.exp(fd.ops.reshape(part, shape)))
        return parts

    plan = plan_of(build, inputs, static_sizes=True)
    assert len(plan.groups) > 1
    check_runs(plan, inputs)


def test_a_rotary_embedding_is_one() -> None:
    inputs = [randn(8, 32, 64), randn(32, 64), randn(32, 64)]

    def build(fd, x, c, s):
        ops = fd.ops
        first = ops.slice(x, [0, 0, 0], [8, 32, 32])
        second = ops.slice(x, [0, 0, 32], [8, 32, 64])
        turned = ops.cat([ops.neg(second), first], 2)
        flags = [True, False, False]
        return ops.add(
            ops.mul(x, ops.broadcast(c, flags)), ops.mul(turned, ops.broadcast(s, flags))
        )

    plan = plan_of(build, inputs, static_sizes=True)
    assert schedulers(plan) == ["resize"]
    check_runs(plan, inputs)


def test_a_slice_of_what_is_computed_lies_in_memory() -> None:
    inputs = [randn(16, 64), randn(16, 40)]

    def build(fd, x, y):
        ops = fd.ops
        return ops.mul(ops.slice(ops.exp(ops.add(x, 1.0)), [0, 10], [16, 50]), y)

    plan = plan_of(build, inputs, static_sizes=True)
    assert schedulers(plan) == ["pointwise", "resize"]
    assert [cut.rule for cut in plan.cuts] == ["lookup"]
    check_runs(plan, inputs)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_targets_are_asked_for(target: str) -> None:
    inputs = [randn(64, 512)]
    plan = segment(define(softmax, inputs).fusion, inputs, target)
    assert schedulers(plan) == ["inner_persistent"]
