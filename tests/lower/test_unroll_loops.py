"""Which loops are unrolled, how far, and which arrays stay in registers: code has a bound."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pytest
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
    UserError,
    _core,
    compile_cuda_source,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "codegen"))
from device_sources import assemble, nvrtc, sources_used

needs_nvrtc = pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
NOTE = "in local memory"


def source(fd: FusionDefinition) -> str:
    return fd.fusion.print_kernel(target="cuda")


def hints(fd: FusionDefinition) -> list[str]:
    """`all`, the number of iterations, or `none`, for every loop in the order of the kernel."""
    found = re.findall(r"(?:#pragma unroll( \d+)?\n\s*)?for \(", source(fd))
    marks = re.findall(r"(#pragma unroll(?: \d+)?\n\s*)?for \(", source(fd))
    return [
        count.strip() or ("all" if mark else "none")
        for count, mark in zip(found, marks, strict=True)
    ]


def run(fd: FusionDefinition, *inputs: torch.Tensor) -> torch.Tensor:
    executor = KernelExecutor()
    executor.compile(fd.fusion, list(inputs))
    return executor.run(list(inputs))[0]


def seconds_of_nvrtc(fd: FusionDefinition) -> float:
    """The time of this process: other processes do not count."""
    text = source(fd)
    whole = assemble("cuda", sources_used("cuda", text), text)
    start = time.process_time()
    compile_cuda_source(whole)
    return time.process_time() - start


def kept(size: int, *, shape: tuple[int, ...] = ()) -> FusionDefinition:
    """An array of `size` elements between two loops."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([*shape, size], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.exp(x)))
    return fd


def one_loop(size: int, parallel_type: ParallelType = ParallelType.serial) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([size], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(0).parallelize(parallel_type)
    return fd


# ---- Loops ---------------------------------------------------------------------------------------


def test_loops_that_count_elements_are_written_out() -> None:
    """A Welford divides by the count, which is a constant of each copy."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 14, 8], contiguity=True)
        mean, deviation, _ = fd.ops.welford(x, [1, 2])
        for result in (mean, deviation):
            fd.add_output(result)
        mean.axis(0).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(mean)
        fd.sched.inline_most()
    assert hints(fd) == ["all", "all"]


def test_loops_over_arrays_in_registers_are_unrolled_as_a_whole() -> None:
    assert hints(kept(200)) == ["all", "all"]


def test_a_short_loop_that_loads_is_unrolled() -> None:
    assert hints(one_loop(8)) == ["all"]


def test_a_long_loop_that_loads_is_unrolled_in_part() -> None:
    assert hints(one_loop(4096)) == ["64"]


@pytest.mark.parametrize(
    ("size", "statements", "expected"),
    [(4, 100, "all"), (8, 100, "4"), (4096, 20, "16"), (4096, 1000, "1")],
)
def test_a_few_loads_with_much_arithmetic_are_under_way_together(
    size: int, statements: int, expected: str
) -> None:
    """A loop that is not repeated would wait for memory in every iteration."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([size], contiguity=True)
        y = x
        for _ in range(statements):
            y = fd.ops.neg(y)
        fd.add_output(y)
        fd.sched.inline_most()
    assert hints(fd) == [expected]


def test_a_loop_of_unknown_length_is_left_to_the_compiler() -> None:
    assert hints(one_loop(-1)) == ["none"]


@pytest.mark.parametrize(("size", "expected"), [(100, "all"), (1000, "all"), (5000, "1024")])
def test_a_loop_bound_to_unroll_has_a_bound(size: int, expected: str) -> None:
    assert hints(one_loop(size, ParallelType.unroll)) == [expected]


@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("neg", DataType.Float, "all"),
        ("exp", DataType.Float, "all"),
        ("sin", DataType.Float, "64"),
        ("exp", DataType.Double, "128"),
        ("erfcinv", DataType.Double, "16"),
        ("exp", DataType.ComplexFloat, "8"),
    ],
)
def test_functions_count_as_much_as_their_code(name: str, dtype: DataType, expected: str) -> None:
    with FusionDefinition() as fd:
        y = getattr(fd.ops, name)(fd.define_tensor([1000], contiguity=True, dtype=dtype))
        fd.add_output(y)
        y.axis(0).parallelize(ParallelType.unroll)
    assert hints(fd) == [expected]


@pytest.mark.parametrize(("number", "expected"), [(2, "all"), (64, "4"), (200, "1")])
def test_choices_among_many_values_count_as_much_as_their_code(number: int, expected: str) -> None:
    with FusionDefinition() as fd:
        parts = [fd.define_tensor([2], contiguity=True) for _ in range(number)]
        y = fd.ops.cat(parts, 0)
        fd.add_output(y)
        y.split(0, 16)
        fd.sched.transform_like(y)
        fd.sched.inline_most()
    assert hints(fd)[-1] == expected


def nest(*extents: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor(list(extents), contiguity=True)
        fd.add_output(fd.ops.neg(x))
    return fd


def test_inner_loops_come_first() -> None:
    assert hints(nest(92, 5, 3)) == ["4", "all", "all"]
    assert hints(nest(92, 64, 3)) == ["1", "16", "all"]


def test_more_unrolled_loops_mean_less_of_each() -> None:
    """The code of the whole kernel has a bound."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1000], contiguity=True)
        for i in range(16):
            y = fd.ops.add(x, float(i))
            fd.add_output(y)
            y.axis(0).parallelize(ParallelType.unroll)
    assert set(hints(fd)) == {"256"}


# ---- Arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [255, 256, 1000])
def test_an_array_that_does_not_fit_into_registers_is_spilled(target: str, size: int) -> None:
    fd = kept(size)
    assert (NOTE in source(fd)) == (size > 255)
    x = torch.linspace(-1, 1, size, device=target)
    torch.testing.assert_close(run(fd, x), -x.exp())


def test_of_arrays_that_live_together_the_largest_is_spilled(target: str) -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([150], contiguity=True)
        b = fd.define_tensor([120], contiguity=True)
        first, second = fd.ops.exp(a), fd.ops.neg(b)
        fd.add_output(fd.ops.add(fd.ops.sum(second), fd.ops.sum(first)))
        fd.add_output(fd.ops.neg(first))
        fd.add_output(fd.ops.neg(second))
    inputs = [torch.linspace(-1, 1, n, device=target) for n in (150, 120)]
    torch.testing.assert_close(run(fd, *inputs), inputs[0].exp().sum() - inputs[1].sum())
    (note,) = [line for line in source(fd).splitlines() if NOTE in line]
    assert "[150];" in note


def test_what_is_read_for_the_last_time_makes_room() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([200], contiguity=True)
        for _ in range(4):
            x = fd.ops.exp(x)
        fd.add_output(x)
    assert source(fd).count("[200];") == 3
    assert NOTE not in source(fd)


def test_small_arrays_that_make_too_much_code_together_are_spilled() -> None:
    with FusionDefinition() as fd:
        a = fd.define_tensor([120], contiguity=True)
        b = fd.define_tensor([100], contiguity=True)
        row = fd.ops.broadcast(fd.ops.exp(a), [False, True])
        column = fd.ops.broadcast(fd.ops.exp(b), [True, False])
        fd.add_output(fd.ops.add(row, column))
        fd.sched.inline_most([row, column])
    assert NOTE in source(fd)


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_what_a_thread_has_no_memory_for_is_refused(target: str) -> None:
    with pytest.raises(UserError) as error:
        kept(7813).fusion.print_kernel(target=target)
    text = str(error.value)
    assert "Tensors in registers are too large for a thread" in text
    assert "expected: at most 16384 bytes for each thread" in text
    assert "found:    31252 bytes, 31252 of them for the 7813 elements of this tensor" in text
    assert "fix:      inline it deeper, bind its axes to threads, or put it in shared mem" in text


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_constant_shared_memory_beyond_the_limit_is_refused_by_lowering(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([60_000], contiguity=True)
        staged = fd.ops.exp(x)
        staged.set_memory_type(MemoryType.shared)
        fd.add_output(fd.ops.neg(staged))
    with pytest.raises(UserError) as error:
        fd.fusion.lower(target=target)
    text = str(error.value)
    assert "The total shared memory allocation is larger than available memory." in text
    assert "expected: at most 232448 bytes for a block" in text
    assert "found:    240000 bytes, 240000 of them for this tensor" in text


# ---- The compiler --------------------------------------------------------------------------------


@needs_nvrtc
@pytest.mark.parametrize("size", [255, 1000, 4096])
def test_arrays_compile_in_a_short_time(size: int) -> None:
    assert seconds_of_nvrtc(kept(size)) < 2


@needs_nvrtc
def test_constant_loops_compile_in_a_short_time() -> None:
    """Divisions by constants tempt a compiler to unroll all of them."""
    with FusionDefinition() as fd:
        value = fd.define_tensor([20, 32], contiguity=True)
        for _ in range(8):
            value = fd.ops.neg(value)
            value.set_memory_type(MemoryType.Global)
        fd.add_output(fd.ops.set(value))
        for tensor in fd.fusion.tensors():
            if tensor.definition() is not None:
                tensor.merge(0)
                tensor.split(0, 7)
                tensor.split(0, 23)
                tensor.merge(0)
                tensor.split(1, 2)
    assert seconds_of_nvrtc(fd) < 2


# ---- Sizes that are not constant -----------------------------------------------------------------


def test_a_fusion_without_schedule_is_told_so() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.exp(x)))
    with pytest.raises(UserError) as error:
        fd.fusion.lower()
    text = str(error.value)
    assert "The fusion has no schedule, and a tensor in registers needs a constant size" in text
    assert "fix:      fd.sched.inline_most() computes each tensor where it is read; " in text


def test_a_schedule_that_was_not_propagated_is_told_so() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(fd.ops.exp(x))
        fd.add_output(y)
        y.merge(0)
        y.split(0, 128)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
        fd.sched.inline_most()
    with pytest.raises(UserError) as error:
        fd.fusion.lower()
    text = str(error.value)
    assert "has no share of the schedule of its reader" in text
    assert "expected: the transforms of T2" in text
    assert "fix:      fd.sched.transform_like(reference)" in text


def negated(number: int) -> FusionDefinition:
    """`number` loops whose lengths are not constant."""
    with FusionDefinition() as fd:
        for _ in range(number):
            fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1], contiguity=True)))
    _core.schedule.trivial(fd.fusion)
    return fd


def test_few_loops_of_unknown_length_are_left_to_the_compiler() -> None:
    assert hints(negated(30)) == ["none"] * 30


def test_of_many_loops_of_unknown_length_none_is_repeated() -> None:
    assert hints(negated(100)) == ["1"] * 100
