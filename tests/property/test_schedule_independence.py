"""A schedule never changes what is computed; what cannot be done is refused."""

import pytest
import torch
from hypothesis import event, given, note
from hypothesis import strategies as st
from profiles import cases
from random_fusions import FusionBuilder
from random_schedules import ScheduleBuilder

from nvfuser_direct import (
    FusionDefinition,
    InternalError,
    KernelExecutor,
    LoadStoreOpType,
    MemoryType,
    _core,
    evaluate,
)


def compare(outputs, expected):
    assert len(outputs) == len(expected)
    for out, ref in zip(outputs, expected, strict=True):
        assert list(out.shape) == list(ref.shape)
        torch.testing.assert_close(out.double(), ref.double(), rtol=1e-6, atol=0)


def run(fd, inputs, outcome):
    """Outputs of the scheduled fusion, or None where it is refused."""
    executor = KernelExecutor()
    try:
        executor.compile(fd.fusion, inputs)
        outputs = executor.run(inputs)
    except InternalError:
        raise
    except RuntimeError as error:
        if "does not compile" in str(error):  # the source that we generate is always legal
            raise
        outcome("refused: " + str(error).partition("\n")[0][:60])
        return None
    outcome("computed")
    return outputs


@cases(100)
@given(data=st.data())
def test_random_schedules_compute_the_same(data, outcome):
    program = FusionBuilder(data).build()
    expected = evaluate(program.fd.fusion.clone(), program.inputs, torch.float64)
    ScheduleBuilder(data, program.fd, program.is_symbolic).apply()
    note(program.fd.fusion.print_math())
    note(program.fd.fusion.print_transforms())
    outputs = run(program.fd, program.inputs, outcome)
    if outputs is not None:
        compare(outputs, expected)


@cases(10)
@given(data=st.data())
def test_unscheduled_fusions_compute_the_same(data):
    program = FusionBuilder(data).build()
    expected = evaluate(program.fd.fusion.clone(), program.inputs, torch.float64)
    note(program.fd.fusion.print_math())
    compare(program.fd.execute(program.inputs), expected)


@cases(30)
@given(data=st.data())
def test_both_targets_accept_the_same_schedules(data, outcome):
    """Without a GPU, by what lowering says: the headlines are the same."""
    program = FusionBuilder(data).build()
    ScheduleBuilder(data, program.fd, program.is_symbolic).apply()
    note(program.fd.fusion.print_transforms())
    headlines = []
    for target in ("cuda", "cpu"):
        try:
            program.fd.fusion.print_kernel(target=target)
            headlines.append(None)
        except InternalError:
            raise
        except RuntimeError as error:
            headlines.append(str(error).partition("\n")[0])
    assert headlines[0] == headlines[1]
    outcome("accepted" if headlines[0] is None else f"refused: {headlines[0]}")


@pytest.mark.parametrize("memory", ["registers", "shared"])
@cases(20)
@given(data=st.data())
def test_every_element_is_visited_once(memory, data, outcome):
    """The number of elements is counted through random transforms of a reduction."""
    draw = data.draw
    shape = draw(st.lists(st.integers(1, 40), min_size=1, max_size=3))
    is_symbolic = draw(st.booleans())
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1 if is_symbolic or n == 1 else n for n in shape], contiguity=True)
        total = fd.ops.sum(x, list(range(len(shape))))
        y = fd.ops.neg(total)
        fd.add_output(y)
        if memory == "shared":
            total.set_memory_type(MemoryType.shared)
    builder = ScheduleBuilder(data, fd, is_symbolic)
    with fd:
        for _ in range(draw(st.integers(1, 6))):
            builder.transform(total)
        builder.rfactor(total)
        builder.parallelize(total)
        fd.sched.inline_most()
    note(fd.fusion.print_transforms())
    outputs = run(fd, [torch.ones(shape)], outcome)
    if outputs is not None:
        assert outputs[0].item() == -torch.ones(shape).numel()


@cases(60)
@given(data=st.data())
def test_loading_ahead_computes_the_same(data, outcome):
    """Copies of an input are loaded ahead of whatever serial loop they are inlined into."""
    draw = data.draw
    shape = draw(st.lists(st.integers(1, 20), min_size=1, max_size=3))
    is_symbolic = draw(st.booleans())
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1 if is_symbolic else n for n in shape], contiguity=True)
        y = fd.ops.neg(x)
        if draw(st.booleans()):
            y = fd.ops.sum(y, [len(shape) - 1])
        fd.add_output(y)
        copies = [
            x.cache_after(draw(st.sampled_from([LoadStoreOpType.set, LoadStoreOpType.cp_async])))
        ]
        if draw(st.booleans()):
            copies.append(copies[0].cache_after())
        copies[0].set_memory_type(MemoryType.shared)
    builder = ScheduleBuilder(data, fd, is_symbolic)
    with fd:
        reference = copies[-1]
        for _ in range(draw(st.integers(0, 4))):
            builder.transform(reference)
        builder.attempt(lambda: fd.sched.transform_like(reference))
        if draw(st.booleans()):
            builder.transform(copies[0])
        if draw(st.booleans()):
            builder.parallelize(reference)
        for copy in reversed(copies):
            position = draw(st.integers(min(1, copy.ndims()), copy.ndims()))
            builder.attempt(lambda c=copy, p=position: c.inline_at(p, True))
        fd.sched.inline_most([t for t in builder.computed() if t not in copies])
        builder.load_ahead()
    note(fd.fusion.print_math())
    note(fd.fusion.print_transforms())
    ahead = [c.circular_buffer_options() for c in copies]
    note(str([o and (o.stages, o.prefetch) for o in ahead]))
    values = torch.randint(-4, 5, shape).float()
    expected = evaluate(fd.fusion.clone(), [values], torch.float64)
    outputs = _core.call_with_options(lambda: run(fd, [values], outcome), ["kernel_debug"], [])
    if outputs is not None:
        event("loaded ahead" if any(ahead) else "not loaded ahead")
        compare(outputs, expected)
