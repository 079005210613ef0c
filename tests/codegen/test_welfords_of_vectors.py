"""Welfords of the lanes of a vector have as many elements: one share merges them all."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from cuda_kernels import cuda_text
from device_sources import CXX, assemble, compile_cpu

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    SchedulerType,
    schedule,
)

if TYPE_CHECKING:
    from pathlib import Path

    from nvfuser_direct import Fusion

LANES = 4


def of_columns() -> Fusion:
    """As the scheduler of reductions has it for a GPU: threads have vectors of columns."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        for result in fd.ops.welford(x, [0]):
            fd.add_output(result)
    inputs = [torch.empty(1 << 16, 64)]
    schedule.schedule(fd.fusion, SchedulerType.reduction, inputs, "cuda")
    return fd.fusion


def test_lanes_are_merged_with_one_share() -> None:
    text = cuda_text(of_columns())
    assert f"welford_merge_alike<{LANES}>(T" in text
    assert "welford_merge(" not in text


def test_iterations_with_many_loads_have_one_copy() -> None:
    """A compiler leaves the loads of a second copy behind the sums of the first."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1 << 20, 64], contiguity=True)
        for result in fd.ops.welford(x, [0]):
            fd.add_output(result)
    inputs = [torch.empty(1 << 20, 64)]
    schedule.schedule(fd.fusion, SchedulerType.reduction, inputs, "cuda")
    text = cuda_text(fd.fusion)
    assert text.count("load_vector<4") > 0
    (hint,) = re.findall(r"#pragma unroll (\d+)", text)
    assert hint == "1"


HOST_CODE = """
constexpr int kSize = 4;
extern "C" void merge_each(
    float* mean, float* deviation, int64_t* count, const float* other_mean,
    const float* other_deviation, const int64_t* other_count) {
  for (int i = 0; i < kSize; ++i) {
    welford_merge(
        mean[i], deviation[i], count[i],
        Welford<float, int64_t>{other_mean[i], other_deviation[i], other_count[i]});
  }
}
extern "C" void merge_alike(
    float* mean, float* deviation, int64_t* count, const float* other_mean,
    const float* other_deviation, const int64_t* other_count) {
  welford_merge_alike<kSize>(mean, deviation, count, other_mean, other_deviation, other_count);
}
"""


@pytest.mark.parametrize("count", [0, 1, 7, 1 << 30])
@pytest.mark.parametrize("other_count", [0, 1, 8])
def test_one_share_changes_no_bit(
    count: int, other_count: int, tmp_path: Path, rng: torch.Generator
) -> None:
    if CXX is None:
        pytest.skip("no C++ compiler")
    library = compile_cpu(assemble("cpu", ["welford"], HOST_CODE), tmp_path)
    moments = [torch.randn(LANES, generator=rng).numpy() for _ in range(4)]
    moments[1], moments[3] = np.abs(moments[1]), np.abs(moments[3])
    if count == 0:
        moments[0][:], moments[1][:] = 0, 0
    if other_count == 0:
        moments[2][:], moments[3][:] = 0, 0
    results = []
    for function in (library.merge_each, library.merge_alike):
        mean, deviation, other_mean, other_deviation = (each.copy() for each in moments)
        counts = np.full(LANES, count, dtype=np.int64)
        others = np.full(LANES, other_count, dtype=np.int64)
        arrays = (mean, deviation, counts, other_mean, other_deviation, others)
        function(*(array.ctypes.data_as(ctypes.c_void_p) for array in arrays))
        results.append([mean, deviation, counts])
    for each, alike in zip(*results, strict=True):
        np.testing.assert_array_equal(each, alike)
    assert results[0][2].tolist() == [count + other_count] * LANES


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("rows", [1, 33, 4097, 100_003])
def test_statistics_of_columns(
    rows: int, dtype: torch.dtype, target: str, rng: torch.Generator
) -> None:
    """Vectors of 2 to 8 columns, whole sets and parts of them; the mean is ten deviations."""
    x = (torch.randn(rows, 64, generator=rng, dtype=torch.float64) + 10).to(dtype)
    with FusionDefinition() as fd:
        wide = fd.ops.cast(
            fd.from_pytorch(x), DataType.Double if dtype == torch.float64 else DataType.Float
        )
        for result in fd.ops.welford(wide, [0]):
            fd.add_output(result)
    mean, deviation, count = fd.execute([x.to(target)])
    exact = x.double()
    assert count.tolist() == [rows] * 64
    torch.testing.assert_close(mean.cpu().double(), exact.mean(0), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        deviation.cpu().double(),
        exact.var(0, correction=0) * rows,
        rtol=1e-4,
        atol=1e-6 * rows + 1e-4,
    )
