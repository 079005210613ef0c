"""Welfords whose elements a thread adds up about one of them: where kernels do it, and what comes
out for data far from zero, outliers, infinities and few elements.

The CPU target accumulates Floats in Doubles, so what a GPU computes in Floats is also tested with
the device source alone, compiled for the host.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from cuda_kernels import cuda_text
from device_sources import CXX, assemble, compile_cpu

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    ParallelType,
    concretize,
    find_concretization,
    schedule,
    segment,
)

if TYPE_CHECKING:
    from collections.abc import Callable

UNIT = 2.0**-24  # of rounding to Float


# ---- Where sums take the place of steps ----------------------------------------------------------


def welford_of_rows(*splits: int, dtype: DataType = DataType.Float, size: int = -1):
    """Serial loops over the rows, split from the right; a block for each column."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([size, -1], contiguity=True, dtype=dtype)
        results = fd.ops.welford(x, [0])
        for result in results:
            fd.add_output(result)
            for factor in splits:
                result.split(0, factor)
            result.axis(-1).parallelize(ParallelType.grid_x)
    return fd.fusion


def kernel_text(fusion, target: str) -> str:
    return cuda_text(fusion) if target == "cuda" else fusion.print_kernel(target="cpu")


both = pytest.mark.parametrize("on", ["cpu", "cuda"])


@both
def test_elements_of_a_constant_loop_are_added_up(on: str) -> None:
    text = kernel_text(welford_of_rows(size=64), on)
    assert text.count("_sums = {};") == 1
    assert "_sums.add(0, " in text
    assert "welford_add" not in text


@both
def test_each_iteration_of_a_loop_of_unknown_length_merges_a_set(on: str) -> None:
    lines = kernel_text(welford_of_rows(32), on).splitlines()
    indent = {
        name: next(len(line) - len(line.lstrip()) for line in lines if name in line)
        for name in ("_sums = {};", "_sums.merge_into(", "_sums.add(")
    }
    assert indent["_sums = {};"] == indent["_sums.merge_into("] < indent["_sums.add("]
    assert "welford_add" not in "\n".join(lines)


@both
def test_a_single_loop_of_unknown_length_takes_steps(on: str) -> None:
    assert "welford_add(" in kernel_text(welford_of_rows(), on)


@both
def test_few_elements_take_steps(on: str) -> None:
    assert "welford_add(" in kernel_text(welford_of_rows(2), on)


@pytest.mark.parametrize(("size", "form"), [(8, "<float, 1, 8>"), (9, "<float>")])
def test_a_set_that_never_moves_its_pivot_says_so(size: int, form: str) -> None:
    """The code that moves it is not compiled for each element."""
    assert f"ShiftedSums{form} T" in kernel_text(welford_of_rows(size=size), "cuda")


def test_a_set_in_floats_has_few_elements() -> None:
    """The loop of 64 is within the bound, both loops are not; in Doubles they are."""
    fusion = welford_of_rows(64, size=1024)
    cuda, cpu = (kernel_text(fusion, on).splitlines() for on in ("cuda", "cpu"))
    loops = {
        name: next(i for i, line in enumerate(lines) if "for (" in line)
        for name, lines in (("cuda", cuda), ("cpu", cpu))
    }
    sums = {
        name: next(i for i, line in enumerate(lines) if "_sums = {};" in line)
        for name, lines in (("cuda", cuda), ("cpu", cpu))
    }
    assert loops["cuda"] < sums["cuda"]
    assert loops["cpu"] > sums["cpu"]


@both
def test_elements_of_double_take_steps(on: str) -> None:
    assert "welford_add(" in kernel_text(welford_of_rows(size=64, dtype=DataType.Double), on)


@both
def test_partial_results_are_merged_as_before(on: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        mean, deviation, count = fd.ops.welford(x, [0])
        for result in (mean, deviation, count):
            fd.add_output(result)
        mean.split(0, 16)
        mean.rfactor([1], [mean, deviation, count])
        fd.sched.inline_most()
    text = kernel_text(fd.fusion, on)
    assert "_sums.add(0, " in text
    assert "welford_merge(" in text


@both
def test_columns_have_sets_of_their_own(on: str) -> None:
    """The loop over columns is inside of the one over rows."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 8], contiguity=True)
        for result in fd.ops.welford(x, [0]):
            fd.add_output(result)
    text = kernel_text(fd.fusion, on)
    assert "welford_add" not in text


@both
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(4099, 1030), (4096, 1024)], ids=str)
def test_automatic_kernels_take_no_steps(on: str, axis: int, shape: tuple[int, int]) -> None:
    """Loops whose ends are tested apart have the step in both parts."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        for result in fd.ops.welford(x, [axis]):
            fd.add_output(result)
    inputs = [torch.empty(shape)]
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, inputs)).optimize()
    texts = []
    for group in segment(fusion, inputs, on).groups:
        part = group.fusion.clone()
        schedule.schedule(part, group.scheduler, group.params)
        texts.append(kernel_text(part, on))
    assert "_sums = {};" in texts[0]
    assert all("welford_add(" not in text for text in texts)


# ---- What comes out ------------------------------------------------------------------------------

FAR = {"around 0": 0.0, "around 10": 10.0, "around 1,000": 1e3, "around 10,000": 1e4}


def shapes_of_loops() -> dict[str, tuple[int, ...]]:
    return {"steps": (), "sets of 8": (8,), "sets of 32": (32,), "sets of 100": (100,)}


def welford(x: torch.Tensor, splits: tuple[int, ...], target: str) -> list[torch.Tensor]:
    """Mean, deviation and count of the columns."""
    fusion = welford_of_rows(*splits)
    inputs = [x.to(target)]
    kernel = KernelExecutor()
    kernel.compile(fusion, inputs)
    return [result.cpu() for result in kernel.run(inputs)]


of_each_shape = pytest.mark.parametrize("splits", shapes_of_loops().values(), ids=shapes_of_loops())


@of_each_shape
@pytest.mark.parametrize("rows", [1, 2, 7, 64, 1000])
@pytest.mark.parametrize("center", FAR.values(), ids=FAR)
def test_moments_far_from_zero(
    splits: tuple[int, ...], rows: int, center: float, target: str, rng: torch.Generator
) -> None:
    x = torch.randn(rows, 5, generator=rng) + center
    mean, deviation, count = welford(x, splits, target)
    exact = x.double()
    assert count.tolist() == [rows] * 5
    # Each step rounds the mean; the errors of n steps add up to some sqrt(n) of them.
    steps = 1 if splits else rows
    torch.testing.assert_close(
        mean.double(), exact.mean(0), rtol=(16 + 2 * steps**0.5) * UNIT, atol=1e-6
    )
    expected = exact.var(0, correction=0) * rows
    # Means are rounded to units of the center.
    rounding = rows * (4 * UNIT * center) ** 2
    torch.testing.assert_close(
        deviation.double(), expected, rtol=1e-5 + 64 * UNIT * center, atol=rounding + 1e-6
    )


@of_each_shape
def test_an_outlier_that_comes_first(
    splits: tuple[int, ...], target: str, rng: torch.Generator
) -> None:
    """It is the pivot of the elements behind it, which are far from it."""
    x = torch.randn(1000, 5, generator=rng)
    x[0] = 1e4
    mean, deviation, _ = welford(x, splits, target)
    exact = x.double()
    torch.testing.assert_close(mean.double(), exact.mean(0), rtol=1e-5, atol=0)
    torch.testing.assert_close(
        deviation.double(), exact.var(0, correction=0) * 1000, rtol=1e-5, atol=0
    )


@of_each_shape
def test_equal_elements_have_no_deviation(splits: tuple[int, ...], target: str) -> None:
    x = torch.tensor([0.0, 0.1, 1e4, -3e38, 1e-40]).repeat(64, 1)
    mean, deviation, _ = welford(x, splits, target)
    assert torch.equal(mean, x[0])
    assert torch.equal(deviation, torch.zeros(5))


@of_each_shape
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("position", [0, 1, 50])
def test_elements_that_are_no_numbers(
    splits: tuple[int, ...], value: float, position: int, target: str, rng: torch.Generator
) -> None:
    x = torch.randn(100, 3, generator=rng)
    x[position, 1] = value
    mean, deviation, count = welford(x, splits, target)
    assert not mean[1].isfinite()
    assert deviation[1].isnan()
    assert deviation[[0, 2]].isfinite().all()
    assert mean[[0, 2]].isfinite().all()
    assert count.tolist() == [100] * 3


@of_each_shape
def test_no_elements(splits: tuple[int, ...], target: str) -> None:
    mean, deviation, count = welford(torch.empty(0, 3), splits, target)
    for result in (mean, deviation, count):
        assert torch.equal(result.double(), torch.zeros(3, dtype=torch.double))


@of_each_shape
def test_squares_that_overflow(splits: tuple[int, ...], target: str) -> None:
    """Means stay; a sum of squares beyond the range of Float is infinite."""
    x = torch.tensor([1e25, 3e25, 2e25, 2e25]).repeat(16).unsqueeze(1)
    mean, deviation, _ = welford(x, splits, target)
    torch.testing.assert_close(mean, torch.tensor([2e25]))
    assert deviation.tolist() == [float("inf")]


# ---- The device source in Floats -----------------------------------------------------------------

HOST_CODE = """
extern "C" void moments(const float* x, int n, float* mean, float* deviation) {
  ShiftedSums<float> sums = {};
  for (int i = 0; i < n; ++i) {
    sums.add(0, x[i]);
  }
  int64_t count = 0;
  sums.merge_into(0, *mean, *deviation, count);
}
"""


@pytest.fixture(scope="module")
def in_floats(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[np.ndarray], tuple[float, float]]:
    """Mean and sum of squared deviations of one set."""
    if CXX is None:
        pytest.skip("no C++ compiler")
    source = assemble("cpu", ["shifted_sums"], HOST_CODE)
    function = compile_cpu(source, tmp_path_factory.mktemp("sums")).moments

    def call(x: np.ndarray) -> tuple[float, float]:
        x = np.ascontiguousarray(x, dtype=np.float32)
        mean, deviation = ctypes.c_float(), ctypes.c_float()
        pointer = x.ctypes.data_as(ctypes.c_void_p)
        function(pointer, ctypes.c_int(x.size), ctypes.byref(mean), ctypes.byref(deviation))
        return mean.value, deviation.value

    return call


def random_of(rng: torch.Generator, n: int) -> np.ndarray:
    return torch.randn(n, generator=rng).numpy()


@pytest.mark.parametrize("n", [2, 4, 8, 9, 32, 33, 64, 128])
@pytest.mark.parametrize("center", FAR.values(), ids=FAR)
def test_a_set_in_floats(n: int, center: float, in_floats, rng: torch.Generator) -> None:
    """Differences from a pivot are small numbers: far from zero the deviation is as good."""
    for _ in range(50):
        x = random_of(rng, n) + np.float32(center)
        exact = x.astype(np.float64)
        mean, deviation = in_floats(x)
        assert abs(mean - exact.mean()) <= 2 * UNIT * max(abs(center), 4)
        expected = exact.var() * n
        assert abs(deviation - expected) <= 64 * UNIT * expected


@pytest.mark.parametrize("n", [2, 4, 8, 9, 32, 33, 64, 128])
@pytest.mark.parametrize("size", [10.0, 1e4, 1e8])
def test_an_outlier_as_pivot_in_floats(n: int, size: float, in_floats, rng) -> None:
    """At most 3 bits are lost to it."""
    for _ in range(50):
        x = random_of(rng, n)
        x[0] = size * (1 + abs(x[0]))
        exact = x.astype(np.float64)
        mean, deviation = in_floats(x)
        assert abs(mean - exact.mean()) <= 256 * UNIT * np.abs(exact).mean()
        assert abs(deviation - exact.var() * n) <= 512 * UNIT * exact.var() * n


@pytest.mark.parametrize("n", [1, 8, 9, 33, 100])
@pytest.mark.parametrize("position", [0, 1, 8, 99])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_what_is_no_number_in_floats(n: int, position: int, value, in_floats, rng) -> None:
    x = random_of(rng, n)
    x[min(position, n - 1)] = value
    mean, deviation = in_floats(x)
    assert not np.isfinite(mean)
    assert np.isnan(deviation)


@pytest.mark.parametrize("n", [2, 8, 9, 33, 100])
def test_squares_that_overflow_in_floats(n: int, in_floats, rng) -> None:
    x = np.float32(1e25) * (1 + np.arange(n, dtype=np.float32))
    mean, deviation = in_floats(x)
    assert mean == pytest.approx(x.astype(np.float64).mean(), rel=1e-6)
    assert deviation == np.inf


def test_one_element_and_none_in_floats(in_floats) -> None:
    assert in_floats(np.array([3.5])) == (3.5, 0.0)
    assert in_floats(np.array([])) == (0.0, 0.0)
