"""Uniform numbers that are only compared with constants are integers in CUDA kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    evaluate,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion, TensorView

FLOAT = DataType.Float
STEP = 2.0**-24


def scheduled(
    build: Callable[[FusionDefinition, TensorView], TensorView], dtype: DataType = FLOAT
) -> Fusion:
    """A fusion that draws 4096 numbers, whose seed and offset are constants."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4096], contiguity=True, dtype=FLOAT)
        noise = fd.ops.uniform(0.0, 1.0, [4096], dtype=dtype, rng_seed=7, rng_offset=3)
        out = build(fd, noise)
        fd.add_output(fd.ops.where(out, x, 0.0) if out.dtype() == DataType.Bool else out)
    schedule.schedule(fd.fusion, SchedulerType.pointwise, [torch.empty(4096)], "cuda")
    return fd.fusion


def is_counted(build: Callable, dtype: DataType = FLOAT) -> bool:
    return "random_steps(" in cuda_text(scheduled(build, dtype))


COMPARISONS = ["lt", "le", "gt", "ge"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_with_constants_are_counted(name: str) -> None:
    assert is_counted(lambda fd, u: getattr(fd.ops, name)(u, 0.9))


@pytest.mark.parametrize(
    ("name", "bound", "text"),
    [
        ("lt", 0.9, "< 15099494u"),
        ("ge", 0.9, ">= 15099494u"),
        ("le", 0.9, "< 15099495u"),
        ("gt", 0.9, ">= 15099495u"),
        ("lt", 0.5, "< 8388608u"),
        ("le", 0.5, "< 8388609u"),
        ("lt", 1.5 * STEP, "< 2u"),
        ("le", 1.5 * STEP, "< 2u"),
        ("lt", 0.0, "< 0u"),
        ("le", 0.0, "< 1u"),
        ("le", -0.25, "< 0u"),
        ("gt", -0.25, ">= 0u"),
        ("lt", 1.0, "< 16777216u"),
        ("le", 7.0, "< 16777216u"),
        ("lt", float("inf"), "< 16777216u"),
        ("gt", float("-inf"), ">= 0u"),
    ],
)
def test_bounds_in_steps(name: str, bound: float, text: str) -> None:
    fusion = scheduled(lambda fd, u: getattr(fd.ops, name)(u, bound))
    assert text + ";" in fusion.print_kernel(target="cuda", comments=False)


def test_numbers_that_are_read_otherwise_are_floats() -> None:
    assert not is_counted(lambda fd, u: fd.ops.mul(u, 2.0))
    assert not is_counted(lambda fd, u: fd.ops.where(fd.ops.lt(u, 0.5), u, 0.0))
    assert not is_counted(lambda fd, u: fd.ops.eq(u, 0.5))
    assert not is_counted(lambda fd, u: fd.ops.lt(u, float("nan")))
    assert not is_counted(lambda fd, u: fd.ops.lt(u, 0.9), DataType.Double)
    assert not is_counted(lambda fd, u: fd.ops.lt(u, 0.9), DataType.BFloat16)


def test_a_second_comparison_is_counted_as_well() -> None:
    def build(fd, u):
        return fd.ops.logical_and(fd.ops.gt(u, 0.25), fd.ops.le(u, 0.75))

    assert is_counted(build)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("bound", [0.9, 0.5, 0.0, 1.0])
def test_the_same_elements_are_chosen(name: str, bound: float, target: str) -> None:
    fusion = scheduled(lambda fd, u: getattr(fd.ops, name)(u, bound))
    x = torch.ones(4096).to(target)
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    (found,) = executor.run([x])
    (expected,) = evaluate(fusion, [x])
    assert torch.equal(found, expected)
