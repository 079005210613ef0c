"""Steps of a schedule are values: a primitive with its arguments, which can be applied again."""

from __future__ import annotations

import inspect

import pytest

from nvfuser_direct import (
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    Pipelined,
    SwizzleType,
    TensorView,
    UserError,
)
from nvfuser_direct import schedule as sched
from nvfuser_direct._core.internal import schedule_primitives


@pytest.fixture
def pair() -> tuple[FusionDefinition, TensorView, TensorView]:
    """Two tensors of the same shape, one computed from the other."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 16, 64], contiguity=True)
        first = fd.ops.neg(x)
        second = fd.ops.exp(first)
        fd.add_output(second)
    return fd, first, second


def last(tensor: TensorView) -> object:
    return tensor.recorded_steps()[-1]


def test_a_step_has_all_arguments_with_their_types(pair) -> None:
    _, _, second = pair
    second.split(0, 4, inner_split=False)
    step = last(second)
    assert (step.primitive, step.tensor) == ("split", second)
    assert list(step.arguments) == ["axis", "factor", "inner_split"]
    assert step.arguments["axis"] == 0
    assert step.arguments["factor"].value() == 4
    assert step.arguments["inner_split"] is False
    assert "test_recorded_steps.py:" in step.location


def test_arguments_are_statements_and_enumerators_themselves(pair) -> None:
    _, first, second = pair
    second.swizzle(SwizzleType.CyclicShift, 0, 1)
    assert last(second).arguments["swizzle_type"] is SwizzleType.CyclicShift
    sched.parallelize_like(second, -1, [first], {ParallelType.block_x})
    assert last(second).arguments == {
        "pos": -1,
        "selected_tensors": [first],
        "selected_parallel_types": [ParallelType.block_x],
        "propagate_padding": True,
    }
    axes = first.get_loop_domain()
    first.set_loop_domain([axes[1], axes[0], axes[2]])
    assert last(first).arguments["new_loop_domain"][0] is axes[1]


def test_arguments_that_the_text_leaves_out_are_there(pair) -> None:
    _, first, second = pair
    cache = first.cache_after(cached_uses=[second.definition()])
    step = last(first)
    assert str(step) == "cache_after()"
    assert step.arguments["op_type"] is LoadStoreOpType.Set
    assert step.arguments["cached_uses"] == [second.definition()]
    cache.set_memory_type(MemoryType.shared)
    cache.inline_at(1)
    cache.circular_buffer(4, 2, Pipelined())
    assert str(last(cache)) == "circular_buffer(4, 2)"
    assert last(cache).arguments["type"] == Pipelined()


def test_texts_are_derived_from_the_arguments(pair) -> None:
    _, first, second = pair
    second.merge(0, 1)
    second.reorder({0: 1})
    second.resize(0, 1, 2)
    second.swizzle1d(1, ParallelType.mesh_x)
    second.set_contiguity([True, False, True])
    sched.transform_like(first, [second])
    assert [str(step) for step in second.recorded_steps()] == [
        "merge(0, 1)",
        "reorder({0: 1})",
        "resize(0, 1, 2)",
        "swizzle1d(1, DIDx)",
        "set_contiguity([True, False, True])",
    ]
    assert str(last(first)) == f"transform_like([T{second.name()}])"
    assert [str(step) for step in first.recorded_steps()] == [t for t, _ in first.schedule_steps()]


def test_steps_applied_to_another_tensor_lead_to_the_same_axes(pair) -> None:
    _, first, second = pair
    second.split(2, 8).merge(0, 1).reorder({0: -1}).split(0, 2, inner_split=False)
    for step in second.recorded_steps():
        assert step.apply_to(first) == []
    assert [text for text, _ in first.schedule_steps()] == [t for t, _ in second.schedule_steps()]
    extents = [[str(axis.extent()) for axis in t.get_loop_domain()] for t in (first, second)]
    assert extents[0] == extents[1]


def test_applying_a_step_returns_the_tensors_it_makes(pair) -> None:
    fd, first, _ = pair
    first.cache_after()
    (made,) = last(first).apply_to(first)
    assert made.definition().arg is first
    assert made in fd.fusion.tensors()


def test_a_step_that_its_primitive_refuses_is_an_error(pair) -> None:
    _, first, second = pair
    second.split(2, 8).merge(2, 3)
    with pytest.raises(UserError):
        last(second).apply_to(first)  # which has three axes


def test_a_step_of_another_fusion_is_an_error(pair) -> None:
    _, _, second = pair
    second.split(0, 4)
    with FusionDefinition() as other:
        x = other.define_tensor([16], contiguity=True)
        copy = other.ops.neg(x)
        other.add_output(copy)
    with pytest.raises(UserError):
        last(second).apply_to(copy)


def test_a_copy_of_a_fusion_has_the_steps_with_its_own_statements(pair) -> None:
    fd, first, second = pair
    sched.transform_like(second, [first])
    axes = second.get_loop_domain()
    second.set_loop_domain([axes[0], axes[2], axes[1]])
    copy = fd.fusion.clone()
    again = next(t for t in copy.tensors() if t.name() == second.name())
    like, domain = again.recorded_steps()
    assert like.arguments["selected_tensors"][0] in copy.tensors()
    assert domain.arguments["new_loop_domain"] == again.get_loop_domain()


def test_parameters_are_called_as_those_of_the_function(pair) -> None:
    """A name in `arguments` is a keyword of the Python call."""
    _, _, second = pair
    second.split(0, 4).merge(0, 1)
    for step in second.recorded_steps():
        text = inspect.getdoc(getattr(TensorView, step.primitive)) or ""
        for name in step.arguments:
            assert name in text, (step.primitive, name)


def test_every_primitive_is_a_function_of_that_name() -> None:
    for name in schedule_primitives():
        assert hasattr(TensorView, name) or hasattr(sched, name), name
