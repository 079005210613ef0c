"""A call that raises an error changes nothing: no nodes, no constants, no numbers are used up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from documented import pointwise

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition, IterDomain, IterType, ParallelType, ops

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion, TensorView


def visible_state(fusion: Fusion) -> object:
    texts = [fusion.print_math(False), fusion.print_transforms()]
    return texts, [str(val) for val in fusion.vals()], [str(expr) for expr in fusion.all_exprs()]


def check_refused(fusion: Fusion, call: Callable[[], object], gist: str) -> None:
    before, copy = visible_state(fusion), fusion.clone()
    with pytest.raises(RuntimeError, match=gist):
        call()
    assert visible_state(fusion) == before
    assert fusion == copy


@pytest.mark.parametrize(
    ("gist", "call"),
    [
        ("Expected sizes to match", lambda a, b: ops.add_alpha(a, b, 2)),
        ("Expected sizes to match", lambda a, b: ops.lerp(a, b, 0.5)),
        ("Expected sizes to match", lambda a, b: ops.lstm(a, a, a, a, b)),
        ("Expected sizes to match", lambda a, b: ops.dropout_backward(a, b, 2.0)),
        ("Expected sizes to match", lambda a, b: ops.log_softmax_backward(a, b, 0)),
        ("Invalid expand size", lambda a, b: ops.expand(a, [4, 9])),
        ("out of boundary index 2", lambda a, b: ops.mean(a, [2])),
        ("expected scalars or numbers", lambda a, b: ops.tensor([1, 2, "three"])),
        ("neither symbolic", lambda a, b: nvf.define_tensor([4, -2])),
    ],
)
def test_an_operation(gist: str, call: Callable[[TensorView, TensorView], object]) -> None:
    with FusionDefinition() as fd:
        t0, t1 = fd.define_tensor([4, 8]), fd.define_tensor([4, 9])
        check_refused(fd.fusion, lambda: call(t0, t1), gist)


def test_an_operation_that_never_was_takes_no_numbers() -> None:
    def define(*, fails: bool) -> Fusion:
        with FusionDefinition() as fd:
            t0, t1 = fd.define_tensor([4, 8]), fd.define_tensor([4, 9])
            if fails:
                with pytest.raises(RuntimeError, match="Expected sizes to match"):
                    ops.lstm(t0, t0, t0, t0, t1)
            fd.add_output(ops.softmax(t0, 1))
        return fd.fusion

    assert define(fails=True) == define(fails=False)


def test_a_handle_from_within_a_refused_operation_stays_valid() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        made: list[TensorView] = []

        class Number:
            def __float__(self) -> float:
                made.append(ops.neg(t0))
                return 1.0

        with pytest.raises(RuntimeError, match="expected scalars or numbers"):
            ops.tensor([Number(), "two"])
        (taken_back,) = made
        assert taken_back.definition() is None
        assert taken_back not in fd.fusion.vals()
        fd.add_output(ops.exp(t0))
    assert str(taken_back).startswith("T1_l_float")
    assert "expf(T0_g_float" in fd.fusion.print_math()
    check_refused(fd.fusion, lambda: fd.fusion.add_output(taken_back), "was not found in the")


@pytest.mark.parametrize(
    ("gist", "call"),
    [
        ("requires that their iteration types match", lambda t: t.merge(0, 1)),
        ("does not fit in 64 bits", lambda t: t.flatten(1, 3)),
        ("out of boundary index 9", lambda t: t.broadcast(9, 7)),
        ("out of boundary index 9", lambda t: t.resize(9, 7, 7)),
        ("cannot be of type GatherScatter", lambda t: t.resize(0, 7, 7, IterType.GatherScatter)),
        (
            "requires that their iteration types match",
            lambda t: IterDomain.merge(t.axis(0), t.axis(1)),
        ),
        ("was not found in the active fusion", lambda t: IterDomain.split(t.axis(0), 2.5)),
        (
            "cannot be of type GatherScatter",
            lambda t: IterDomain.resize(t.axis(0), 7, 7, IterType.GatherScatter),
        ),
    ],
)
def test_a_scheduling_call(gist: str, call: Callable[[TensorView], object]) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([8, 2**31, 2**31, 2**31])
        t1 = fd.ops.sum(t0, [1, 2, 3])
        fd.add_output(t1)
    other = nvf.Fusion()
    guard = nvf.FusionGuard(other)
    check_refused(fd.fusion, lambda: call(t1), gist)
    assert other.vals() == []
    del guard


def test_a_propagation_that_fails_behind_the_first_tensor() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 8])
        t1 = fd.ops.sum(t0, [1])
        t2 = fd.ops.pad(t1, [1, 1])
        fd.add_output(t2)
    t0.resize(1, 1, 1)
    check_refused(fd.fusion, lambda: nvf.schedule.transform_like(t0), "axes can be resized")


def test_the_trivial_schedule_of_a_scheduled_fusion() -> None:
    fd, _, t1 = pointwise(4, 8)
    t1.axis(0).parallelize(ParallelType.grid_x)
    gist = "trivial: the fusion has a schedule already"
    check_refused(fd.fusion, lambda: nvf.schedule.trivial(fd.fusion), gist)
    with FusionDefinition() as inlined:
        t0 = inlined.define_tensor([4, 8])
        t1 = inlined.ops.neg(t0)
        inlined.add_output(inlined.ops.exp(t1))
    t1.inline_at(1)
    check_refused(inlined.fusion, lambda: nvf.schedule.trivial(inlined.fusion), gist)


def test_an_input_that_was_cached_before_it_was_one() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 8])
        t1 = fd.ops.neg(t0)
        fd.add_output(t1)
    cache = t1.cache_before()
    fd.fusion.add_input(cache)  # what computed it is cut off, and no step of a schedule any more
    assert "tv1 = fd.define_tensor" in nvf.translate_fusion(fd.fusion, schedule=True)
    assert fd.fusion.lower(target="cpu").inputs()[1].name() == cache.name()


def test_a_definition_of_an_input_in_a_fusion_that_is_not_active() -> None:
    outer = FusionDefinition()
    with outer, FusionDefinition() as inner:
        with pytest.raises(RuntimeError, match="Cannot register input"):
            outer.define_tensor([4], dtype=DataType.Half)
        assert inner.fusion.inputs() == []
