"""Cheap forms of functions: where they are printed, and how far off they are."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    call_with_options,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion, TensorView

FLOAT, BF16, HALF = DataType.Float, DataType.BFloat16, DataType.Half
NAMES = ["exp", "exp2", "sigmoid", "silu"]


def scheduled(
    build: Callable[[FusionDefinition, TensorView], list[TensorView]], x: torch.Tensor
) -> Fusion:
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1], contiguity=True, dtype=FLOAT)
        for out in build(fd, t):
            fd.add_output(out)
    schedule.schedule(fd.fusion, SchedulerType.pointwise, [x], "cuda")
    return fd.fusion


def fusion_of(build: Callable) -> Fusion:
    return scheduled(build, torch.empty(4096))


def is_approximate(build: Callable) -> bool:
    return re.search(r"approximate_\w+\(", cuda_text(fusion_of(build))) is not None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [BF16, HALF])
def test_what_is_rounded_to_16_bits_is_approximate(name: str, dtype: DataType) -> None:
    def build(fd, x):
        y = fd.ops.mul(getattr(fd.ops, name)(x), 2.0)
        return [fd.ops.cast(y, dtype)]

    assert is_approximate(build)


@pytest.mark.parametrize("name", NAMES)
def test_floats_are_exact(name: str) -> None:
    assert not is_approximate(lambda fd, x: [getattr(fd.ops, name)(x)])


def test_a_second_output_sees_the_float() -> None:
    def build(fd, x):
        y = fd.ops.exp(x)
        return [fd.ops.cast(y, BF16), fd.ops.neg(y)]

    assert not is_approximate(build)


def test_comparisons_and_jumps_see_the_float() -> None:
    def compared(fd, x):
        y = fd.ops.exp(x)
        return [fd.ops.cast(fd.ops.where(fd.ops.gt(y, 1.5), y, 0.0), BF16)]

    assert not is_approximate(compared)
    for name in ("floor", "ceil", "trunc", "round", "frac"):
        assert not is_approximate(
            lambda fd, x, name=name: [fd.ops.cast(getattr(fd.ops, name)(fd.ops.exp(x)), BF16)]
        )
    assert not is_approximate(lambda fd, x: [fd.ops.cast(fd.ops.exp(x), DataType.Int)])


def test_integers_and_doubles_are_exact() -> None:
    def build(fd, x):
        return [fd.ops.cast(fd.ops.exp(fd.ops.cast(x, DataType.Double)), BF16)]

    assert not is_approximate(build)


def test_the_option_keeps_exact_forms() -> None:
    def text() -> str:
        return fusion_of(lambda fd, x: [fd.ops.cast(fd.ops.exp(x), BF16)]).print_kernel(
            target="cuda"
        )

    assert "approximate_exp(" in text()
    assert "expf(" in call_with_options(text, [], ["approximate_math"])


def test_processors_have_exact_forms() -> None:
    fusion = fusion_of(lambda fd, x: [fd.ops.cast(fd.ops.exp(x), BF16)])
    assert "expf(" in fusion.print_kernel(target="cpu")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("dtype", "bits"), [(torch.bfloat16, 8), (torch.float16, 11)], ids=["bfloat16", "float16"]
)
def test_results_are_correctly_rounded_but_for_near_ties(
    name: str, dtype: torch.dtype, bits: int, target: str, rng: torch.Generator
) -> None:
    """Over all exponents of the result; infinities and NaN stay what they are."""
    uniform = torch.rand(1 << 16, generator=rng) * 2 - 1
    special = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan])
    x = torch.cat([uniform * 100, uniform, uniform * 1e-3, special])
    to = {torch.bfloat16: BF16, torch.float16: HALF}[dtype]
    arguments = [x.to(target)]
    fusion = scheduled(lambda fd, t: [fd.ops.cast(getattr(fd.ops, name)(t), to)], arguments[0])
    executor = KernelExecutor()
    executor.compile(fusion, arguments)
    (found,) = (out.cpu() for out in executor.run(arguments))
    exact = {
        "exp": torch.exp,
        "exp2": torch.exp2,
        "sigmoid": torch.sigmoid,
        "silu": torch.nn.functional.silu,
    }[name](x.double())
    expected = exact.to(dtype)
    finite = expected.isfinite() & exact.isfinite()
    assert torch.equal(found.isnan(), exact.isnan())
    # Half a unit of the rounding, and the error before it; near the smallest numbers results flush.
    smallest = 2.0**-14 if dtype == torch.float16 else 2.0**-116
    normal = finite & (exact.abs() >= smallest)
    error = ((found.double() - exact).abs() / exact.abs())[normal]
    assert error.max() <= 2.0**-bits + 2.0**-16
    assert found[finite & ~normal].abs().max() <= smallest
