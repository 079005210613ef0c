"""Groups that no scheduler takes fall apart into some that schedulers take: none of these
definitions runs by the trivial schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from segment_runs import check_runs, plan_of, schedulers

if TYPE_CHECKING:
    from collections.abc import Callable


def reshaped_beside_a_sum(fd: Any, x: Any) -> list[Any]:
    y = fd.ops.sin(x)
    shared = fd.ops.reshape(y, [3, 2, 2, 3])
    return [fd.ops.sum(fd.ops.sin(y), [0]), shared, fd.ops.tanh(fd.ops.cos(shared))]


def reshape_that_later_segments_read(fd: Any, x: Any) -> list[Any]:
    y = fd.ops.squeeze(x, [1])
    shared = fd.ops.reshape(y, [8, 2, 3])
    return [fd.ops.sum(y, [0, 1]), fd.ops.sum(fd.ops.exp(shared), [0, 2])]


def sums_with_and_without_an_axis_of_size_1(fd: Any, x: Any) -> list[Any]:
    y = fd.ops.neg(x)
    z = fd.ops.cos(y)
    return [fd.ops.sum(y, [1]), z, fd.ops.sum(fd.ops.squeeze(z, [0]), [0])]


def sums_over_either_axis(fd: Any, x: Any) -> list[Any]:
    y = fd.ops.reshape(x, [2, 2, 4])
    z = fd.ops.cos(fd.ops.sin(y))
    return [y, z, fd.ops.sum(z, [1]), fd.ops.sum(y, [0])]


def value_read_off_a_row(fd: Any, x: Any, one: Any) -> list[Any]:
    y = fd.ops.tanh(one)
    return [fd.ops.squeeze(fd.ops.neg(y), [0]), fd.ops.sum(fd.ops.sub(x, y), [0])]


def reshape_beside_an_axis_of_size_1(fd: Any, x: Any) -> Any:
    return fd.ops.sum(fd.ops.reshape(x, [1, 2, 3, 6]), [3])


def expanded_axis_that_a_reshape_merges(fd: Any, x: Any) -> Any:
    wide = fd.ops.expand(fd.ops.broadcast(fd.ops.sin(x), [True, False]), [2, 6])
    return fd.ops.sum(fd.ops.reshape(wide, [12]), [0])


def axis_that_reshapes_make_in_two_ways(fd: Any, x: Any) -> list[Any]:
    first = fd.ops.reshape(fd.ops.sin(x), [12])
    second = fd.ops.reshape(fd.ops.reshape(fd.ops.reshape(x, [12]), [4, 3]), [12])
    both = fd.ops.add(second, first)
    return [both, fd.ops.sum(both, [0])]


def broadcast_that_is_an_output(fd: Any, x: Any, row: Any) -> list[Any]:
    scaled = fd.ops.div(row, 2.0)
    wide = fd.ops.broadcast(scaled, [True, False])
    return [scaled, wide, fd.ops.add(wide, x)]


CASES: dict[Callable, list[list[int]]] = {
    reshaped_beside_a_sum: [[3, 4, 3]],
    reshape_that_later_segments_read: [[8, 1, 6]],
    sums_with_and_without_an_axis_of_size_1: [[1, 4]],
    sums_over_either_axis: [[4, 4]],
    value_read_off_a_row: [[6], [1]],
    reshape_beside_an_axis_of_size_1: [[1, 6, 6]],
    expanded_axis_that_a_reshape_merges: [[6]],
    axis_that_reshapes_make_in_two_ways: [[2, 6]],
    broadcast_that_is_an_output: [[2, 4], [4]],
}


@pytest.mark.parametrize("build", CASES, ids=lambda build: build.__name__)
def test_refused_groups_are_cut(build: Callable) -> None:
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(s, generator=generator, dtype=torch.float64) for s in CASES[build]]
    plan = plan_of(build, inputs, static_sizes=True)
    kernels = [group.scheduler.name for group in plan.groups if group.kind == "kernel"]
    assert "none" not in kernels, schedulers(plan)
    check_runs(plan, inputs)


def test_an_axis_of_size_1_stays_in_the_kernel_of_its_reshape() -> None:
    inputs = [torch.randn(1, 6, 6)]
    plan = plan_of(reshape_beside_an_axis_of_size_1, inputs, static_sizes=True)
    assert schedulers(plan) == ["reduction"]


def test_a_shape_beside_a_sum_is_one_more_segment() -> None:
    inputs = [torch.randn(3, 4, 3)]
    plan = plan_of(reshaped_beside_a_sum, inputs, static_sizes=True)
    assert sorted(schedulers(plan)) == ["pointwise", "reduction"]
    assert {cut.rule for cut in plan.cuts} == {"space"}
