"""Kernels that are made for some sizes of a run: no index is divided by such a size."""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_close, check_prints_as_python

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    UserError,
    schedule,
)

REDUCTION, TRANSPOSE = SchedulerType.reduction, SchedulerType.transpose

SUMS = [  # shape, dims, and the sizes that are fixed: of axes that are kept, then of the others
    ((39, 2993, 6, 19), [2], [0, 0, 19, 6]),
    ((32_766, 2, 10, 2), [0, 3], [2, 10, 0, 2]),
    ((2, 17_201, 4, 18), [1, 3], [0, 4, 0, 18]),
    ((161, 660, 3, 42), [0, 1, 3], [3, 0, 0, 42]),
    ((300, 7, 369), [2], []),  # both sides are one run of memory
    ((4000, 300, 300), [1], [0, 0, 0]),  # longer than what a kernel is made for
]


@pytest.mark.parametrize(("shape", "dims", "fixed"), SUMS, ids=str)
def test_short_axes_between_others_are_fixed(
    shape: tuple[int, ...], dims: list[int], fixed: list[int]
) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(shape), contiguity=True)
        fd.add_output(fd.ops.sum(x, dims))
    inputs = [torch.empty(shape)]
    params = schedule.compute_heuristics(fd.fusion, REDUCTION, inputs, "cuda")
    assert params.fixed_sizes == fixed
    params = schedule.compute_heuristics(fd.fusion, REDUCTION, inputs, "cpu")
    assert params.fixed_sizes == []


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize(("shape", "dims", "fixed"), SUMS[:4], ids=str)
def test_sums_of_fixed_sizes(
    shape: tuple[int, ...], dims: list[int], fixed: list[int], target: str
) -> None:
    if target == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    x = (torch.randn(shape, generator=torch.Generator().manual_seed(0)) + 3).to(target)
    with FusionDefinition() as fd:
        operand = fd.define_tensor([-1] * len(shape), contiguity=True)
        fd.add_output(fd.ops.sum(operand, dims))
    fusion = fd.fusion.clone()
    params = schedule.schedule(fusion, REDUCTION, [x], "cuda")
    assert params.fixed_sizes == fixed
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    torch.testing.assert_close(
        executor.run([x])[0].double(), x.double().sum(dims), rtol=1e-4, atol=1e-3
    )


def test_a_few_steps_of_a_column_are_loaded_at_once_and_not_tested() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * 4, contiguity=True)
        fd.add_output(fd.ops.sum(x, [2]))
    fusion = fd.fusion.clone()
    inputs = [torch.empty(39, 29_935, 6, 19)]
    assert schedule.schedule(fusion, REDUCTION, inputs, "cuda").unroll_factor_inner_reduction == 6
    cuda_text(fusion)
    text = fusion.print_kernel(target="cuda", comments=False)
    divisors = re.findall(r" [/%] (\w+)", re.sub(r"//.*", "", text))
    assert "19" in divisors
    assert "6" not in divisors
    conditions = re.findall(r"if \((.+)\) \{", text)
    assert conditions
    assert not any(re.search(r"< 6\b", condition) for condition in conditions)


def test_another_size_is_refused_at_launch() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * 4, contiguity=True)
        fd.add_output(fd.ops.sum(x, [2]))
    fusion = fd.fusion.clone()
    a, b = torch.randn(39, 2993, 6, 19), torch.randn(39, 2993, 6, 18)
    schedule.schedule(fusion, REDUCTION, [a], "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, [a])
    check_close(executor.run([a])[0], a.double().sum(2))
    with pytest.raises(UserError):
        executor.run([b])


@pytest.mark.parametrize("sizes", [[0, 0, 1, 0], [0, -3, 0, 0]], ids=str)
def test_a_size_of_less_than_two_is_refused(sizes: list[int]) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * 4, contiguity=True)
        fd.add_output(fd.ops.sum(x, [2]))
    inputs = [torch.empty(39, 2993, 6, 19)]
    params = schedule.compute_heuristics(fd.fusion, REDUCTION, inputs, "cuda")
    params.fixed_sizes = sizes
    with pytest.raises(UserError, match="a size that the kernel cannot be made for"):
        schedule.schedule(fd.fusion.clone(), REDUCTION, params)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize(
    ("shape", "dims", "widths"),
    [
        ((26, 2194, 2, 2), [0, 3, 1, 2], [8, 8]),  # 2 x 2 x 2194, and 2 x 2194 x 2
        ((9, 143, 5, 9, 210), [2, 0, 3, 4, 1], [2, 2]),  # 143 rows of an even number
        ((122, 77, 113), [1, 2, 0], [1, 2]),
    ],
    ids=str,
)
def test_vectors_run_through_all_of_short_dimensions(
    shape: tuple[int, ...], dims: list[int], widths: list[int], target: str
) -> None:
    if target == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(torch.float16)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1] * len(shape), contiguity=True, dtype=DataType.Half)
        fd.add_output(fd.ops.cast(fd.ops.neg(fd.ops.permute(t, dims)), DataType.Half))
    fusion = fd.fusion.clone()
    here = [x.to(target)]
    params = schedule.schedule(fusion, TRANSPOSE, here, "cuda")
    assert params.vector_widths == widths
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    assert torch.equal(executor.run(here)[0].cpu(), -x.permute(dims))
