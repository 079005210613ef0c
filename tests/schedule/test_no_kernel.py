"""The schedulers of fusions that need no kernel, or one thread."""

from __future__ import annotations

import pytest
import torch
from scheduled_runs import check_runs, define

from nvfuser_direct import DataType, FusionDefinition, PlainParams, SchedulerType, schedule

EXPR_EVAL, NO_OP = SchedulerType.expr_eval, SchedulerType.no_op

FIRST = [True, False, False, False]
VIEWS = {
    "permute": lambda ops, x: ops.permute(x, [1, 0, 2]),
    "broadcast": lambda ops, x: ops.broadcast(x, [False, True, False, False]),
    "slice": lambda ops, x: ops.slice(x, [0, 1, 0], [2, 3, 8]),
    "expand": lambda ops, x: ops.expand(ops.broadcast(x, FIRST), [3, 2, 4, 8]),
    "split": lambda ops, x: ops.reshape(x, [2, 4, 2, 4]),
    "merge": lambda ops, x: ops.reshape(x, [8, 8]),
    "several": lambda ops, x: ops.permute(ops.broadcast(x, FIRST), [3, 1, 0, 2]),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_need_no_kernel(view: str) -> None:
    x = torch.ones(2, 4, 8)
    fd = FusionDefinition()
    with fd:
        fd.add_output(VIEWS[view](fd.ops, fd.define_tensor([2, 4, 8], contiguity=True)))
    assert schedule.find_compatible_schedulers(fd.fusion, [x])[0] is EXPR_EVAL
    params = schedule.compute_heuristics(fd.fusion, EXPR_EVAL, [x])
    assert isinstance(params, PlainParams)
    assert params.scheduler_type is EXPR_EVAL


def can_evaluate(build, *inputs: torch.Tensor) -> tuple[bool, str]:
    fd = define(build, inputs)
    return schedule.can_schedule(fd.fusion, EXPR_EVAL, inputs)


def test_single_expressions_of_libraries_are_evaluated() -> None:
    x = torch.ones(8, 8)
    assert can_evaluate(lambda fd, x: fd.ops.matmul(x, x), x)[0]
    assert can_evaluate(lambda fd, x: fd.ops.topk(x, 2)[0], x)[0]
    assert can_evaluate(lambda fd, x: fd.ops.cumsum(x, 1), x)[0]


def test_what_needs_a_kernel_is_not_evaluated() -> None:
    x = torch.ones(8, 8)
    text = "Scheduler _expr_eval_ ***rejected*** because : Fusion must contain only a single"
    for build in (
        lambda fd, x: fd.ops.exp(x),
        lambda fd, x: fd.ops.matmul(fd.ops.exp(x), x),
        lambda fd, x: fd.ops.reshape(fd.ops.permute(x, [1, 0]), [-1]),
    ):
        can, why = can_evaluate(build, x)
        assert not can
        assert why.startswith(text)
    fd = FusionDefinition()
    with fd:  # rows of 8 elements, 16 apart
        fd.add_output(fd.ops.reshape(fd.define_tensor([8, 8], [False, True]), [64]))
    assert not schedule.can_schedule(fd.fusion, EXPR_EVAL, [torch.ones(8, 16)[:, :8]])[0]


def test_an_update_of_an_input_is_no_view() -> None:
    fd = FusionDefinition()
    with fd:
        a, b = (fd.define_tensor([-1], contiguity=True) for _ in range(2))
        fd.add_output(fd.ops.set(b), a)
    assert not schedule.can_schedule(fd.fusion, EXPR_EVAL, [torch.ones(4), torch.ones(4)])[0]


@pytest.mark.parametrize("shape", [(), (1, 1), (0, 7)], ids=str)
def test_outputs_of_one_element_or_none(target: str, shape: tuple[int, ...]) -> None:
    x = torch.rand(shape, generator=torch.Generator().manual_seed(0))
    fd = FusionDefinition()
    with fd:
        sizes = [1 if n == 1 else -1 for n in shape]
        fd.add_output(fd.ops.exp(fd.define_tensor(sizes, contiguity=True)))
    assert NO_OP in schedule.find_compatible_schedulers(fd.fusion, [x])
    check_runs(fd, NO_OP, [x], target)


@pytest.mark.parametrize("shape", [(0, 7), (7, 0)], ids=str)
def test_a_norm_of_no_elements_is_one_segment(target: str, shape: tuple[int, ...]) -> None:
    x = torch.rand(shape)
    fd = FusionDefinition()
    with fd:
        rows = fd.define_tensor([-1, -1], contiguity=True)
        centered = fd.ops.sub(rows, fd.ops.max(rows, [1], keepdim=True))
        fd.add_output(fd.ops.div(centered, fd.ops.sum(centered, [1], keepdim=True)))
    (result,) = fd.execute([x.to(target)])
    assert result.shape == x.shape
    assert [piece.scheduler for piece in fd.fec.last_pieces()] == [NO_OP]
    assert fd.fec.compilations() == ["first run"]


def test_what_a_result_of_no_elements_is_computed_from_may_be_reduced(target: str) -> None:
    """Along an axis outside of the empty one, and along another inside of it."""
    x = torch.rand(2, 2, 0, 5, dtype=torch.float64)
    fd = FusionDefinition()
    with fd:
        tensor = fd.define_tensor([-1] * 4, contiguity=True, dtype=DataType.Double)
        fd.add_output(fd.ops.mul(fd.ops.mean(tensor, [1, 3], keepdim=True), tensor))
    check_runs(fd, NO_OP, [x], target)
    (result,) = fd.execute([x.to(target)])
    assert result.shape == x.shape
    assert not any(piece.refused for piece in fd.fec.last_pieces())


@pytest.mark.parametrize("shape", [(7, 0), (0, 0)], ids=str)
def test_rows_of_no_elements_are_reduced(target: str, shape: tuple[int, ...]) -> None:
    x = torch.rand(shape, dtype=torch.float64)
    fd = FusionDefinition()
    with fd:
        rows = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Double)
        fd.add_output(fd.ops.sum(fd.ops.exp(rows), [0]))
    (result,) = fd.execute([x.to(target)])
    assert result.shape == (0,)
    assert not any(piece.refused for piece in fd.fec.last_pieces())


@pytest.mark.parametrize(
    ("shape", "dims"),
    [((0, 7), [0]), ((7, 0), [1]), ((2, 3, 0, 5), [0, 2]), ((0, 7), [1]), ((5, 0, 4), [0])],
    ids=str,
)
def test_moments_of_no_elements_are_not_kept_on_chip(
    target: str, shape: tuple[int, ...], dims: list[int]
) -> None:
    x = torch.rand(shape, dtype=torch.float64)
    fd = FusionDefinition()
    with fd:
        tensor = fd.define_tensor([-1] * len(shape), contiguity=True, dtype=DataType.Double)
        fd.add_output(fd.ops.standard_deviation(tensor, dims))
    for kind in ("cpu", "cuda"):
        taken = schedule.find_compatible_schedulers(fd.fusion, [x], kind)
        assert not {SchedulerType.inner_persistent, SchedulerType.outer_persistent} & set(taken)
    (result,) = fd.execute([x.to(target)])
    assert result.shape == x.std(dims).shape
    assert result.isnan().all()


def test_reasons_of_no_op() -> None:
    text = "Scheduler _no_op_ ***rejected*** because : "
    for build, why in (
        (lambda fd, x: fd.ops.exp(x), "output has a concrete dimension"),
        (lambda fd, x: fd.ops.sum(x, [0]), "reduction of non-zero elements is not supported"),
    ):
        x = torch.ones(5)
        fd = define(build, [x])
        assert schedule.can_schedule(fd.fusion, NO_OP, [x]) == (False, text + why)
