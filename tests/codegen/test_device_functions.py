"""Conversions, elementary functions and reductions of the device sources, in kernels that use them.

Everything runs on both targets; on CUDA the reductions take the paths through shuffles, shared
memory and the grid that their block shapes ask for.
"""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, ParallelType

HALF = {torch.float16: DataType.Half, torch.bfloat16: DataType.BFloat16}
BLOCK = [ParallelType.block_z, ParallelType.block_y, ParallelType.block_x]
GRID = [ParallelType.grid_z, ParallelType.grid_y, ParallelType.grid_x]


def execute(fd: FusionDefinition, inputs: list[torch.Tensor], target: str, runs: int = 1):
    """Outputs of each of `runs` launches of one kernel, on the CPU."""
    arguments = [t.to("cuda" if target == "cuda" else "cpu") for t in inputs]
    executor = KernelExecutor()
    executor.compile(fd.fusion, arguments)
    return [[out.cpu() for out in executor.run(arguments)] for _ in range(runs)]


def elementwise(op, x: torch.Tensor, dtype: DataType, target: str) -> torch.Tensor:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1], contiguity=True, dtype=dtype)
        out = op(fd, t)
        fd.add_output(out)
        out.split(0, 128)
        out.axis(0).parallelize(ParallelType.grid_x)
        out.axis(1).parallelize(ParallelType.block_x)
    return execute(fd, [x], target)[0][0]


# ---- 16-bit floats -------------------------------------------------------------------------------


def same_numbers(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Bit for bit, but a NaN is a NaN."""
    ints = torch.int16 if a.element_size() == 2 else torch.int32
    return torch.equal(a.isnan(), b.isnan()) and torch.equal(
        a[~a.isnan()].view(ints), b[~b.isnan()].view(ints)
    )


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_every_16_bit_number_widens_exactly(dtype: torch.dtype, target: str) -> None:
    x = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    result = elementwise(lambda fd, t: fd.ops.cast(t, dtype=DataType.Float), x, HALF[dtype], target)
    assert same_numbers(result, x.float())


@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_narrowing_rounds_to_nearest_even(
    dtype: torch.dtype, target: str, rng: torch.Generator
) -> None:
    numbers = torch.arange(0, 2**15 - 1, dtype=torch.int32).to(torch.int16).view(dtype).float()
    numbers = numbers[numbers.isfinite()].double()
    middle = (numbers[1:] + numbers[:-1]) / 2  # ties, exact in float
    ties = middle.float()
    above = torch.nextafter(ties, torch.tensor(math.inf))
    below = torch.nextafter(ties, torch.tensor(-math.inf))
    bits = torch.randint(-(2**31), 2**31, (1 << 16,), generator=rng, dtype=torch.int64)
    anything = bits.to(torch.int32).view(torch.float32)
    edges = torch.tensor([65504.0, 65519.0, 65520.0, 65536.0, 1e-45, 2.0**-25, 3.4e38, math.inf])
    x = torch.cat([ties, above, below, edges])
    x = torch.cat([x, -x, anything, torch.tensor([0.0, -0.0, math.nan])])
    result = elementwise(lambda fd, t: fd.ops.cast(t, dtype=HALF[dtype]), x, DataType.Float, target)
    assert same_numbers(result, x.to(dtype))


# ---- Elementary functions ------------------------------------------------------------------------

SPECIAL = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -2.0, math.inf, -math.inf, math.nan])


@pytest.mark.parametrize(
    ("name", "low", "high", "ulps"),
    [
        ("exp", -104.0, 89.0, 2),
        ("exp2", -151.0, 129.0, 2),
        ("expm1", -20.0, 89.0, 2),
        ("sin", -30.0, 30.0, 2),
        ("cos", -30.0, 30.0, 2),
        ("tan", -30.0, 30.0, 4),
        ("sinh", -90.0, 90.0, 4),
        ("cosh", -90.0, 90.0, 4),
        ("asin", -1.1, 1.1, 4),
        ("acos", -1.1, 1.1, 4),
        ("atan", -30.0, 30.0, 4),
        ("asinh", -1e9, 1e9, 4),
        ("acosh", 0.0, 1e9, 4),
        ("atanh", -1.1, 1.1, 4),
        ("tanh", -12.0, 12.0, 3),
        ("erf", -5.0, 5.0, 3),
        ("sigmoid", -80.0, 20.0, 4),
    ],
)
def test_a_float_function_is_accurate(
    name: str, low: float, high: float, ulps: int, target: str, rng: torch.Generator
) -> None:
    uniform = torch.rand(1 << 16, generator=rng) * (high - low) + low
    x = torch.cat([uniform, uniform * 1e-3, SPECIAL])
    result = elementwise(lambda fd, t: getattr(fd.ops, name)(t), x, DataType.Float, target)
    assert_within(result, getattr(torch, name)(x.double()), ulps)


def any_magnitude(rng: torch.Generator) -> torch.Tensor:
    """Positive numbers, as many of each exponent; others near one, and subnormal ones."""
    bits = torch.randint(1, 0x7F800000, (1 << 16,), generator=rng, dtype=torch.int64)
    near_one = 0.5 + 1.5 * torch.rand(1 << 16, generator=rng)
    return torch.cat([bits.to(torch.int32).view(torch.float32), near_one])


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p"])
def test_logarithms_are_accurate_for_every_magnitude(
    name: str, target: str, rng: torch.Generator
) -> None:
    x = torch.cat([any_magnitude(rng), SPECIAL])
    if name == "log1p":
        x = torch.cat([x, -torch.rand(1 << 16, generator=rng)])
    result = elementwise(lambda fd, t: getattr(fd.ops, name)(t), x, DataType.Float, target)
    assert_within(result, getattr(torch, name)(x.double()), 2)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine_are_accurate_for_every_magnitude(
    name: str, target: str, rng: torch.Generator
) -> None:
    quarters = torch.arange(1, 1 << 16, dtype=torch.float64) * (math.pi / 2)
    x = torch.cat([any_magnitude(rng), quarters.float()])
    x = torch.cat([x, -x, SPECIAL])
    result = elementwise(lambda fd, t: getattr(fd.ops, name)(t), x, DataType.Float, target)
    exact = getattr(torch, name)(x.double())
    assert_within(result, exact, 2)
    zeros = exact == 0
    assert torch.equal(result[zeros].signbit(), exact[zeros].signbit())


def test_a_power_is_accurate_and_has_the_values_of_c(target: str, rng: torch.Generator) -> None:
    bases = any_magnitude(rng)
    exponents = (torch.rand(bases.numel(), generator=rng) - 0.5) * 8
    whole = torch.tensor([2.0, 3.0, -3.0, 2.5, 2.0**24, 2.0**24 + 2, 1e-40, -1e-40, 3e38])
    pairs = torch.cartesian_prod(*[torch.cat([SPECIAL, whole, -whole])] * 2)
    x, y = torch.cat([bases, pairs[:, 0]]), torch.cat([exponents, pairs[:, 1]])
    with FusionDefinition() as fd:
        operands = [fd.define_tensor([-1], contiguity=True) for _ in range(2)]
        fd.add_output(fd.ops.pow(*operands))
    result = execute(fd, [x, y], target)[0][0]
    exact = torch.pow(x.double(), y.double())
    assert_within(result, exact, 4 if target == "cuda" else 1)
    assert torch.equal(result.signbit()[~exact.isnan()], exact.signbit()[~exact.isnan()])


def assert_within(result: torch.Tensor, exact: torch.Tensor, ulps: int) -> None:
    """Each result within `ulps` units in the last place; subnormal ones within their spacing."""
    expected = exact.float()
    finite = expected.isfinite()
    assert same_numbers(result[~finite], expected[~finite])
    scale = expected.abs().clamp(min=2.0**-126)
    spacing = (torch.nextafter(scale, torch.tensor(math.inf)) - scale).double()
    error = ((result.double() - exact).abs() / spacing)[finite]
    assert error.max() <= ulps


# ---- Reductions over threads ---------------------------------------------------------------------

#: Threads along (z, y, x): whole warps, rows that are not, odd sizes, a single warp.
SHAPES = [(1, 1, 32), (1, 1, 256), (1, 4, 64), (1, 16, 16), (2, 3, 5), (3, 7, 11), (1, 1, 100)]
SHAPES += [(1, 32, 4), (2, 4, 96)]
SUBSETS = [axes for count in (1, 2, 3) for axes in itertools.combinations(range(3), count)]


def reduce_over(op: str, axes: tuple[int, ...], parallel: list[ParallelType], size: int = -1):
    with FusionDefinition() as fd:
        t = fd.define_tensor([size] * 3, contiguity=True)
        out = getattr(fd.ops, op)(t, list(axes))
        fd.add_output(out)
        for axis, parallel_type in enumerate(parallel):
            out.axis(axis).parallelize(parallel_type)
    return fd


@pytest.mark.parametrize("axes", SUBSETS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_threads_reduce_in_segments_of_any_shape(
    shape: tuple[int, ...], axes: tuple[int, ...], target: str, rng: torch.Generator
) -> None:
    x = torch.randint(-100, 100, shape, generator=rng).float()  # sums are exact
    for op, reference in (("sum", torch.sum), ("max", torch.amax)):
        ((result,),) = execute(reduce_over(op, axes, BLOCK), [x], target)
        assert torch.equal(result, reference(x, dim=axes))


def test_a_nan_wins_in_max_and_min_of_threads(target: str) -> None:
    x = torch.zeros(2, 3, 32)
    x[1, 2, 7] = math.nan
    for op in ("max", "min"):
        ((result,),) = execute(reduce_over(op, (2,), BLOCK), [x], target)
        assert result.isnan().sum() == 1
        assert result[1, 2].isnan()


def test_two_reductions_in_a_row_do_not_disturb_each_other(
    target: str, rng: torch.Generator
) -> None:
    x = torch.randn(64, 96, generator=rng)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        largest = fd.ops.max(t, [1])
        row_max = fd.ops.broadcast(largest, [False, True])
        powers = fd.ops.exp(fd.ops.sub(t, row_max))
        total = fd.ops.sum(powers, [1])
        row_sum = fd.ops.broadcast(total, [False, True])
        out = fd.ops.div(powers, row_sum)
        fd.add_output(out)
        shifted = powers.definition().input(0)
        for tensor in (largest, row_max, shifted, powers, total, row_sum, out):
            tensor.axis(0).parallelize(ParallelType.grid_x)
            tensor.axis(1).parallelize(ParallelType.block_x)
    ((result,),) = execute(fd, [x], target)
    torch.testing.assert_close(result, torch.softmax(x, 1))


@pytest.mark.parametrize("length", [1, 5, 64, 100, 1000])
def test_welford_ignores_threads_without_elements(
    length: int, target: str, rng: torch.Generator
) -> None:
    x = torch.randn(3, length, generator=rng) + 1000.0
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        mean, deviation, count = fd.ops.welford(t, [1])
        fd.add_output(mean)
        fd.add_output(deviation)
        mean.split(1, 64)
        partial = mean.rfactor([1], [mean, deviation, count])
        for tensor in (mean, deviation, count, *partial):
            tensor.axis(0).parallelize(ParallelType.grid_x)
            tensor.axis(-1).parallelize(ParallelType.block_x)
    ((mean_of, deviation_of),) = execute(fd, [x], target)
    exact = x.double()
    torch.testing.assert_close(mean_of.double(), exact.mean(1), rtol=1e-6, atol=0)
    torch.testing.assert_close(
        deviation_of.double(), exact.var(1, correction=0) * length, rtol=1e-3, atol=1e-3
    )


# ---- Reductions over blocks ----------------------------------------------------------------------


@pytest.mark.parametrize("axes", SUBSETS, ids=str)
def test_blocks_reduce_in_segments_and_the_same_again(
    axes: tuple[int, ...], target: str, rng: torch.Generator
) -> None:
    x = torch.randint(-100, 100, (3, 5, 7), generator=rng).float()
    runs = execute(reduce_over("sum", axes, GRID), [x], target, runs=3)
    for (result,) in runs:
        assert torch.equal(result, x.sum(axes))


@pytest.mark.parametrize("threads", [32, 96, 100])
def test_a_sum_over_blocks_and_threads_does_not_depend_on_arrival(
    threads: int, target: str, rng: torch.Generator
) -> None:
    x = torch.randn(40, threads, generator=rng)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        out = fd.ops.sum(t, [0, 1])
        fd.add_output(out)
        out.axis(0).parallelize(ParallelType.grid_x)
        out.axis(1).parallelize(ParallelType.block_x)
    runs = execute(fd, [x], target, runs=5)
    torch.testing.assert_close(runs[0][0], x.sum())
    assert all(torch.equal(result, runs[0][0]) for (result,) in runs)


def test_columns_of_threads_are_reduced_over_blocks(target: str, rng: torch.Generator) -> None:
    x = torch.randint(-9, 9, (13, 4, 33), generator=rng).float()
    parallel = [ParallelType.grid_x, ParallelType.grid_y, ParallelType.block_x]
    runs = execute(reduce_over("sum", (0,), parallel), [x], target, runs=2)
    for (result,) in runs:
        assert torch.equal(result, x.sum(0))


def test_every_block_gets_the_result_that_all_need(target: str, rng: torch.Generator) -> None:
    x = torch.randn(6, 64, generator=rng)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(t, [0, 1])
        out = fd.ops.sub(t, fd.ops.broadcast(total, [True, True]))
        fd.add_output(out)
        for tensor in (total, out):
            tensor.axis(0).parallelize(ParallelType.grid_x)
            tensor.axis(1).parallelize(ParallelType.block_x)
    runs = execute(fd, [x], target, runs=3)
    for (result,) in runs:
        torch.testing.assert_close(result, x - x.sum())
