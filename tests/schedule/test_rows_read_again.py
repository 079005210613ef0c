"""Rows that are read again in each pass, since no block and no cluster holds them. The params are
those of such rows; what they schedule runs on rows of a few elements, and on rows of several times
what a block reads at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from scheduled_runs import check_prints_as_python, define

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    SchedulerType,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import ReductionParams, TensorView

INNER = SchedulerType.inner_persistent
LONG_ROW = 3_000_000
SHAPES = [(132, 5), (1, 2), (200, 4100), (3, 30_001)]
TOLERANCES = {torch.float32: (2e-5, 2e-5), torch.bfloat16: (1.6e-2, 3e-2)}


def softmax(fd: FusionDefinition, x: TensorView) -> TensorView:
    powers = fd.ops.exp(fd.ops.sub(x, fd.ops.max(x, [1], keepdim=True)))
    return fd.ops.div(powers, fd.ops.sum(powers, [1], keepdim=True))


def norm_of_sum(fd: FusionDefinition, x: TensorView, y: TensorView) -> list[TensorView]:
    """With a second input, and the sum as an output."""
    total = fd.ops.add(x, y)
    var, mean = fd.ops.var_mean(total, [1], correction=0, keepdim=True)
    rstd = fd.ops.rsqrt(fd.ops.add(var, 1e-5))
    return [total, fd.ops.mul(fd.ops.sub(total, mean), rstd)]


def params_of_long_rows(
    build: Callable, inputs: Sequence[torch.Tensor], columns: int
) -> ReductionParams:
    """Those of rows whose length has the same vectors as `columns`."""
    length = LONG_ROW + columns % 8
    rows = [torch.empty(132, length, dtype=x.dtype) for x in inputs]  # no element is touched
    params = schedule.compute_heuristics(define(build, rows).fusion, INNER, rows, "cuda")
    assert params.project_persistent_buffers
    assert not params.persistent_kernel
    return params


def run(build: Callable, inputs: Sequence[torch.Tensor], target: str) -> list[torch.Tensor]:
    here = [x.to(target) for x in inputs]
    rows, columns = inputs[0].shape
    params = params_of_long_rows(build, inputs, columns)
    params.lparams = LaunchParams(rows, 1, 1, params.lparams.bdimx, 1, 1)
    fusion = define(build, here).fusion
    schedule.schedule(fusion, INNER, params)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    return executor.run(here, params.lparams, params.cparams)


def check(found: torch.Tensor, expected: torch.Tensor) -> None:
    rtol, atol = TOLERANCES[found.dtype]
    torch.testing.assert_close(found.cpu().double(), expected, rtol=rtol, atol=atol)


def random(*shape: int, dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", list(TOLERANCES), ids=str)
def test_softmax_of_rows_that_are_read_again(
    target: str, shape: tuple[int, int], dtype: torch.dtype
) -> None:
    x = random(*shape, dtype=dtype)
    (found,) = run(softmax, [x], target)
    check(found, x.double().softmax(1))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_norms_of_rows_that_are_read_again(target: str, shape: tuple[int, int]) -> None:
    x, y = (random(*shape, dtype=torch.float32, seed=seed) for seed in (0, 1))
    total, normal = run(norm_of_sum, [x, y], target)
    exact = x.double() + y.double()
    check(total, exact)
    check(normal, torch.nn.functional.layer_norm(exact, exact.shape[1:]))
