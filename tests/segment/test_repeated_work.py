"""Expensive functions of what is broadcast are computed once, by a segment of their own, where the
elements that read them are many."""

from __future__ import annotations

import pytest
import torch
from segment_runs import check_runs, define, plan_of, schedulers

from nvfuser_direct import DataType, segment

ROWS, COLUMNS = 512, 256


def random(*shape: int) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(sum(shape)))


def scaled_columns(fd, x, w):
    """Three expensive functions of one value for each column."""
    ops = fd.ops
    factor = ops.sigmoid(ops.sin(ops.erf(w)))
    return ops.mul(x, ops.broadcast(factor, [True, False]))


def rules(plan) -> set[str]:
    return {cut.rule for cut in plan.cuts}


def test_an_expensive_function_of_columns_is_computed_once() -> None:
    inputs = [random(ROWS, COLUMNS), random(COLUMNS)]
    plan = plan_of(scaled_columns, inputs)
    assert schedulers(plan) == ["pointwise", "pointwise"]
    assert rules(plan) == {"repeated"}
    assert "are computed once" in str(plan.cuts[0])
    check_runs(plan, inputs)


def test_few_elements_are_not_worth_a_kernel() -> None:
    inputs = [random(16, COLUMNS), random(COLUMNS)]
    plan = plan_of(scaled_columns, inputs)
    assert schedulers(plan) == ["pointwise"]
    check_runs(plan, inputs)


def test_the_sizes_of_a_call_decide() -> None:
    fd = define(scaled_columns, [random(ROWS, COLUMNS), random(COLUMNS)])
    w = random(COLUMNS)
    for rows, pieces in ((16, 1), (ROWS, 2), (16, 1)):
        x = random(rows, COLUMNS)
        (out,) = fd.execute([x, w])
        torch.testing.assert_close(out, x * torch.sigmoid(torch.sin(torch.erf(w))))
        assert len(fd.fec.last_pieces()) == pieces


def test_cheap_functions_are_computed_where_they_are_read() -> None:
    def build(fd, x, w):
        factor = fd.ops.add(fd.ops.mul(w, w), 1.0)
        return fd.ops.mul(x, fd.ops.broadcast(factor, [True, False]))

    inputs = [random(ROWS, COLUMNS), random(COLUMNS)]
    assert schedulers(plan_of(build, inputs)) == ["pointwise"]


def test_a_function_of_rows_is_shared_along_each_row() -> None:
    def build(fd, x, w):
        return fd.ops.mul(x, fd.ops.broadcast(fd.ops.sin(fd.ops.erf(w)), [False, True]))

    inputs = [random(8 * ROWS, 8 * COLUMNS), random(8 * ROWS)]
    assert schedulers(plan_of(build, inputs)) == ["pointwise"]


def test_statistics_of_rows_stay_with_the_rows() -> None:
    def build(fd, x):
        mean = fd.ops.mean(x, [1], keepdim=True)
        return fd.ops.mul(x, fd.ops.sin(fd.ops.erf(fd.ops.tanh(mean))))

    inputs = [random(ROWS, COLUMNS)]
    plan = plan_of(build, inputs)
    assert len(plan.groups) == 1
    check_runs(plan, inputs)


@pytest.mark.parametrize("reduced", [0, 1])
def test_a_reduction_reads_what_was_computed_once(reduced: int) -> None:
    def build(fd, x, w):
        return fd.ops.sum(scaled_columns(fd, x, w), [reduced])

    inputs = [random(ROWS, COLUMNS), random(COLUMNS)]
    plan = plan_of(build, inputs)
    assert schedulers(plan) == ["pointwise", "reduction"]
    assert rules(plan) == {"repeated"}
    check_runs(plan, inputs)


def test_functions_of_one_operand_share_a_segment() -> None:
    def build(fd, x, angles):
        ops = fd.ops
        cosine, sine = (ops.broadcast(f(angles), [True, False, False]) for f in (ops.cos, ops.sin))
        return ops.add(ops.mul(x, cosine), ops.mul(ops.mul(x, x), sine))

    inputs = [random(16, 64, 128), random(64, 128)]
    plan = plan_of(build, inputs)
    assert schedulers(plan) == ["pointwise", "pointwise"]
    assert len({edge.tensor.name() for edge in plan.edges}) == 2
    check_runs(plan, inputs)


def test_random_elements_that_are_broadcast_stay() -> None:
    def build(fd, x):
        noise = fd.ops.sin(fd.ops.erf(fd.ops.uniform(0.0, 1.0, [COLUMNS])))
        return fd.ops.mul(x, fd.ops.broadcast(noise, [True, False]))

    plan = plan_of(build, [random(ROWS, COLUMNS)])
    assert "repeated" not in rules(plan)


def test_a_gpu_has_more_work_to_do_before_a_kernel_is_worth_it() -> None:
    def build(fd, x, w):
        return fd.ops.cast(scaled_columns(fd, x, w), dtype=DataType.BFloat16)

    def groups(rows: int, columns: int) -> int:
        inputs = [torch.empty(rows, columns).bfloat16(), torch.empty(columns).bfloat16()]
        return len(segment(define(build, inputs).fusion, inputs, "cuda").groups)

    assert groups(ROWS, COLUMNS) == 1
    assert groups(64 * ROWS, 16 * COLUMNS) == 2
