"""Hints to keep tensors together, and to cut behind them."""

from __future__ import annotations

import pytest
import torch
from segment_runs import check_runs, define

from nvfuser_direct import FusionDefinition, UserError, segment


def two_chains() -> tuple[FusionDefinition, list]:
    """Two sums over the same axes of different inputs, which nothing connects, and a product."""
    tensors = []
    with FusionDefinition() as fd:
        x, y = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        squares = fd.ops.mul(x, x)
        rows = fd.ops.sum(squares, [1])
        scaled = fd.ops.mul(x, fd.ops.broadcast(rows, [False, True]))
        columns = fd.ops.sum(fd.ops.mul(y, scaled), [0])
        fd.add_output(scaled)
        fd.add_output(columns)
        tensors += [squares, rows, scaled, columns]
    return fd, tensors


def matrices(target: str = "cpu", rows: int = 33, columns: int = 20) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(rows)
    return [torch.randn(rows, columns, generator=generator).to(target) for _ in range(2)]


def expected_of(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    x, y = (t.double() for t in inputs)
    scaled = x * (x * x).sum(1, keepdim=True)
    return [scaled, (y * scaled).sum(0)]


def check(found: list[torch.Tensor], inputs: list[torch.Tensor]) -> None:
    for own, expected in zip(found, expected_of(inputs), strict=True):
        torch.testing.assert_close(own.double(), expected, rtol=1e-4, atol=1e-4)


def test_a_hint_cuts_what_one_kernel_could_do() -> None:
    inputs = matrices()[:1]
    made = {}

    def build(fd, x):
        made["exp"] = fd.ops.exp(x)
        return fd.ops.neg(made["exp"])

    fd = define(build, inputs)
    assert segment(fd.fusion, inputs).is_whole
    plan = segment(fd.fusion, inputs, cut_behind=[made["exp"]])
    assert not plan.is_whole
    assert [len(group.exprs) for group in plan.groups] == [1, 1]
    assert [cut.rule for cut in plan.cuts] == ["asked"]
    assert "where a hint asks for a cut" in str(plan.cuts[0])
    assert "test_hints.py" in plan.explain()
    check_runs(plan, inputs)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_what_a_hint_cuts_is_not_joined_again(target: str) -> None:
    """On a GPU one kernel could keep rows and sum columns"""
    fd, (_, _, scaled, _) = two_chains()
    plan = segment(fd.fusion, matrices(), target, cut_behind=[scaled])
    assert len(plan.groups) == 2
    assert [cut.rule for cut in plan.cuts] == ["asked"]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_segment_set_between_reductions_of_one_pattern_cuts(target: str) -> None:
    """One kernel could compute the mean and what follows from it"""

    def build(fd, x):
        mean = fd.ops.segment_set(fd.ops.mul(fd.ops.sum(x, [1], keepdim=True), 0.05))
        return fd.ops.sum(fd.ops.abs(fd.ops.sub(x, mean)), [1])

    inputs = matrices()[:1]
    plan = segment(define(build, inputs).fusion, inputs, target)
    assert len(plan.groups) == 2
    assert "asked" in {cut.rule for cut in plan.cuts}


def test_what_a_hint_keeps_together_is_printed() -> None:
    inputs = matrices()[:1]
    made = {}

    def build(fd, x):
        made["sum"] = fd.ops.sum(fd.ops.mul(x, 2.0), [1])
        made["max"] = fd.ops.max(fd.ops.neg(x), [1])
        return [made["sum"], made["max"]]

    fd = define(build, inputs)
    plan = segment(fd.fusion, inputs, keep_together=[[made["sum"], made["max"]]])
    assert [group.kept_together for group in plan.groups] == [[made["sum"], made["max"]]]
    assert "kept together, as a hint asks: T" in plan.explain()
    check_runs(plan, inputs)


def test_what_two_segments_compute_is_joined_with_all_between_them() -> None:
    """Behind a segment_set there is a segment of its own; hints join what it separates."""
    inputs = matrices()[:1]
    made = {}

    def build(fd, x):
        made["first"] = fd.ops.exp(x)
        made["last"] = fd.ops.neg(fd.ops.relu(fd.ops.segment_set(made["first"])))
        return made["last"]

    fd = define(build, inputs)
    assert len(segment(fd.fusion, inputs).groups) == 2
    plan = segment(fd.fusion, inputs, keep_together=[[made["first"], made["last"]]])
    assert len(plan.groups) == 1
    assert plan.groups[0].kept_together == [made["first"], made["last"]]
    check_runs(plan, inputs)


def test_what_no_scheduler_takes_together_is_an_error() -> None:
    inputs = matrices()[:1]
    made = {}

    def build(fd, x):
        made["columns"] = fd.ops.sum(x, [0])
        made["all"] = fd.ops.sum(fd.ops.sub(x, made["columns"]), [1])
        return made["all"]

    fd = define(build, inputs)
    with pytest.raises(UserError) as error:
        segment(fd.fusion, inputs, keep_together=[[made["columns"], made["all"]]])
    text = str(error.value)
    assert "no scheduler takes the tensors that are to be kept together" in text
    assert "test_hints.py" in text
    assert "reduction: Un-mapped multi-reduction" in text
    assert "keep fewer of them together" in text


def test_hints_that_cannot_all_be_met_are_an_error() -> None:
    inputs = matrices()[:1]
    made = {}

    def build(fd, x):
        made["exp"] = fd.ops.exp(x)
        made["relu"] = fd.ops.relu(made["exp"])
        made["neg"] = fd.ops.neg(made["relu"])
        return made["neg"]

    fd = define(build, inputs)
    together = [made["exp"], made["neg"]]
    with pytest.raises(UserError, match="hints ask for a cut between tensors") as error:
        segment(fd.fusion, inputs, keep_together=[together], cut_behind=[made["relu"]])
    assert "a cut behind T" in str(error.value)
    plan = segment(fd.fusion, inputs, keep_together=[together[:1]], cut_behind=[made["relu"]])
    assert len(plan.groups) == 2
    fd.execute(inputs)
    fd.fec.cut_behind([made["relu"]])
    fd.fec.keep_together(together)
    with pytest.raises(UserError, match="hints ask for a cut between tensors"):
        fd.execute(inputs)
    fd.fec.forget_hints()
    fd.execute(inputs)
    assert len(fd.fec.last_pieces()) == 1


def test_a_product_is_not_kept_with_what_reads_it() -> None:
    inputs = [torch.randn(8, 8), torch.randn(8, 8)]
    made = {}

    def build(fd, x, y):
        made["product"] = fd.ops.matmul(x, y)
        made["exp"] = fd.ops.exp(made["product"])
        return made["exp"]

    fd = define(build, inputs)
    with pytest.raises(UserError, match="that are to be kept together"):
        segment(fd.fusion, inputs, keep_together=[[made["product"], made["exp"]]])


def test_inputs_and_single_tensors_are_passed_over() -> None:
    inputs = matrices()
    fd, (squares, *_) = two_chains()
    before = segment(fd.fusion, inputs)
    for hint in ([], [squares], [*fd.fusion.inputs()]):
        assert segment(fd.fusion, inputs, keep_together=[hint]).is_cut_like(before)


# -- in runs --


def test_runs_follow_hints(target: str) -> None:
    inputs = matrices(target)
    fd, (_, rows, scaled, _) = two_chains()
    check(fd.execute(inputs), inputs)
    number = len(fd.fec.last_pieces())
    fd.fec.cut_behind([scaled])
    check(fd.execute(inputs), inputs)
    assert "where a hint asks for a cut" in fd.fec.explain(inputs)
    fd.fec.forget_hints()
    check(fd.execute(inputs), inputs)
    assert len(fd.fec.last_pieces()) == number
    assert "a hint asks" not in fd.fec.explain(inputs)
    fd.fec.keep_together([rows, scaled])
    check(fd.execute(inputs), inputs)
    assert "kept together, as a hint asks" in fd.fec.explain(inputs)


def test_a_run_says_what_is_kept_together_where_all_is_one_kernel(target: str) -> None:
    x = matrices(target)[0]
    with FusionDefinition() as fd:
        value = fd.ops.exp(fd.define_tensor([-1, -1]))
        result = fd.ops.neg(value)
        fd.add_output(result)
    (before,) = fd.execute([x])
    fd.fec.keep_together([value, result])
    assert torch.equal(fd.execute([x])[0], before)
    assert "kept together, as a hint asks: T1" in fd.fec.explain([x])
    assert len(fd.fec.last_pieces()) == 1


def test_a_run_says_what_no_scheduler_takes_together(target: str) -> None:
    inputs = matrices(target)[:1]
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        columns = fd.ops.sum(x, [0])
        rows = fd.ops.sum(fd.ops.sub(x, columns), [1])
        fd.add_output(rows)
    (before,) = fd.execute(inputs)
    fd.fec.keep_together([columns, rows])
    with pytest.raises(UserError, match="that are to be kept together"):
        fd.execute(inputs)
    fd.fec.forget_hints()
    assert torch.equal(fd.execute(inputs)[0], before)


def test_hints_hold_for_all_sizes(target: str) -> None:
    fd, (_, _, scaled, _) = two_chains()
    first = matrices(target)
    check(fd.execute(first), first)
    fd.fec.cut_behind([scaled])
    for rows, columns in ((1, 1), (7, 300), (0, 5)):
        inputs = matrices(target, rows, columns)
        check(fd.execute(inputs), inputs)


def test_tensors_of_another_definition_are_refused() -> None:
    fd, _ = two_chains()
    other, (squares, *_) = two_chains()
    fd.execute(matrices())
    for call in (fd.fec.keep_together, fd.fec.cut_behind):
        with pytest.raises(UserError, match="A hint speaks of tensors of the definition"):
            call([squares])
    assert other is not fd
