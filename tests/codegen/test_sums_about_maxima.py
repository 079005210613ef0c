"""Exponentials that a sum about their maximum reads are cheap ones; all others are exact."""

from __future__ import annotations

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    TensorView,
    call_with_options,
    schedule,
)

INNER = SchedulerType.inner_persistent


def sum_of_powers(
    fd: FusionDefinition, x: TensorView, of_maximum: TensorView, scale: float = 1.0
) -> TensorView:
    largest = fd.ops.broadcast(fd.ops.max(of_maximum, [1]), [False, True])
    shifted = fd.ops.sub(x, largest)
    return fd.ops.sum(fd.ops.exp(fd.ops.mul(shifted, scale) if scale != 1.0 else shifted), [1])


def define(kind: str, dtype: DataType = DataType.Float) -> FusionDefinition:
    with FusionDefinition() as fd:
        ops = fd.ops
        stored = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        x = ops.cast(stored, DataType.Float) if dtype != DataType.Float else stored
        if kind == "about the maximum":
            fd.add_output(ops.log(sum_of_powers(fd, x, x)))
        elif kind == "about another maximum":
            fd.add_output(sum_of_powers(fd, x, ops.neg(x)))
        elif kind == "scaled":
            fd.add_output(sum_of_powers(fd, x, x, 3.0))
        elif kind == "returned":
            largest = ops.broadcast(ops.max(x, [1]), [False, True])
            powers = ops.exp(ops.sub(x, largest))
            fd.add_output(powers)
            fd.add_output(ops.sum(powers, [1]))
    return fd


def text_of(kind: str, columns: int, dtype: torch.dtype = torch.float32) -> str:
    name = DataType.BFloat16 if dtype == torch.bfloat16 else DataType.Float
    fusion = define(kind, name).fusion
    schedule.schedule(fusion, INNER, [torch.empty(4096, columns, dtype=dtype)], "cuda")
    return cuda_text(fusion)


@pytest.mark.parametrize(
    ("columns", "dtype"),
    [(1024, torch.float32), (16384, torch.bfloat16), (128000, torch.bfloat16), (300001, None)],
    ids=["kept", "kept as stored", "in chunks", "read again"],
)
def test_sums_about_their_maximum(columns: int, dtype: torch.dtype | None) -> None:
    """However the row is kept, and in how many steps the maximum is found."""
    assert "approximate_exp(" in text_of("about the maximum", columns, dtype or torch.float32)


@pytest.mark.parametrize("kind", ["about another maximum", "scaled", "returned"])
def test_other_exponentials_are_exact(kind: str) -> None:
    assert "approximate_exp(" not in text_of(kind, 1024)


def test_the_option_keeps_the_exact_form() -> None:
    text = call_with_options(lambda: text_of("about the maximum", 1024), [], ["approximate_math"])
    assert "approximate_exp(" not in text


@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0])
def test_the_sum_is_as_exact_as_its_elements(target: str, spread: float) -> None:
    """Within four units in the last place of the sum."""
    generator = torch.Generator().manual_seed(int(spread))
    x = (torch.randn(64, 3000, generator=generator) * spread).to(target)
    fusion = define("about the maximum").fusion
    params = schedule.schedule(fusion, INNER, [x], "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    (found,) = executor.run([x], params.lparams, params.cparams)
    sums = (x.double() - x.double().amax(1, keepdim=True)).exp().sum(1)
    ulp = 2.0**-23
    assert ((found.double() - sums.log()).abs() <= 4 * ulp * sums.log().clamp(min=1.0)).all()
