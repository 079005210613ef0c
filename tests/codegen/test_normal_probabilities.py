"""0.5 * (1 + erf(x * sqrt(1/2))) is one polynomial and one instruction for 2^x where nothing but
products with it is rounded to 16 bits: a gelu of BFloat16 or Half."""

from __future__ import annotations

import ctypes
import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from cuda_kernels import cuda_text
from device_sources import CXX, compile_cpu, runtime_files

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
    from pathlib import Path

    from nvfuser_direct import Fusion, TensorView

NARROW = {torch.bfloat16: DataType.BFloat16, torch.float16: DataType.Half}
NAME = "approximate_normal_cdf("
RELATIVE = 2.0**-12.9  # of the probability, from FITTED on
FITTED = -4.2


def scheduled(
    build: Callable[[FusionDefinition, TensorView], TensorView],
    x: torch.Tensor,
    to: DataType = DataType.BFloat16,
) -> Fusion:
    with FusionDefinition() as fd:
        narrow = fd.define_tensor([-1], contiguity=True, dtype=NARROW[x.dtype])
        result = build(fd, fd.ops.cast(narrow, DataType.Float))
        fd.add_output(fd.ops.cast(result, to))
    schedule.schedule(fd.fusion, SchedulerType.pointwise, [x], "cuda")
    return fd.fusion


def text_of(build: Callable, to: DataType = DataType.BFloat16) -> str:
    return cuda_text(scheduled(build, torch.empty(4096, dtype=torch.bfloat16), to))


# ---- Where ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", NARROW.values(), ids=str)
def test_a_gelu_that_is_rounded(to: DataType) -> None:
    """Its parts are not printed."""
    text = text_of(lambda fd, x: fd.ops.gelu(x), to)
    assert NAME in text
    assert "erff(" not in text
    assert "0.707" not in text


def test_products_keep_a_relative_error() -> None:
    def build(fd: FusionDefinition, x: TensorView) -> TensorView:
        return fd.ops.div(fd.ops.neg(fd.ops.mul(fd.ops.gelu(x), x)), 3.0)

    assert NAME in text_of(build)


def added(fd: FusionDefinition, x: TensorView) -> TensorView:
    return fd.ops.add(fd.ops.gelu(x), x)


def in_denominator(fd: FusionDefinition, x: TensorView) -> TensorView:
    probability = fd.ops.mul(fd.ops.add(fd.ops.erf(fd.ops.mul(x, math.sqrt(0.5))), 1.0), 0.5)
    return fd.ops.div(x, probability)


def backward(fd: FusionDefinition, x: TensorView) -> TensorView:
    return fd.ops.gelu_backward(x, x)


def other_factor(fd: FusionDefinition, x: TensorView) -> TensorView:
    return fd.ops.mul(x, fd.ops.mul(fd.ops.add(fd.ops.erf(fd.ops.mul(x, 0.7)), 1.0), 0.5))


def erf_read_again(fd: FusionDefinition, x: TensorView) -> TensorView:
    erf = fd.ops.erf(fd.ops.mul(x, math.sqrt(0.5)))
    return fd.ops.mul(erf, fd.ops.mul(fd.ops.add(erf, 1.0), 0.5))


@pytest.mark.parametrize(
    "build",
    [added, in_denominator, backward, other_factor, erf_read_again],
    ids=lambda f: f.__name__,
)
def test_all_others_are_exact(build: Callable) -> None:
    """A sum may cancel; other functions are other functions."""
    text = text_of(build)
    assert NAME not in text
    assert "erff(" in text


def test_floats_and_the_option_keep_the_exact_form() -> None:
    def gelu(fd: FusionDefinition, x: TensorView) -> TensorView:
        return fd.ops.gelu(x)

    assert NAME not in text_of(gelu, DataType.Float)
    assert NAME not in call_with_options(lambda: text_of(gelu), [], ["approximate_math"])
    fusion = scheduled(gelu, torch.empty(4096, dtype=torch.bfloat16))
    assert NAME not in fusion.print_kernel(target="cpu")


# ---- How far off ---------------------------------------------------------------------------------


def exact_probability(x: np.ndarray) -> np.ndarray:
    tail = torch.special.log_ndtr(-torch.from_numpy(np.abs(x))).exp().numpy()
    return np.where(x > 0, 1 - tail, tail)


@pytest.mark.skipif(CXX is None, reason="needs a C++ compiler")
def test_the_polynomial_over_its_whole_range(tmp_path: Path) -> None:
    """The device function, with the host's 2^x, over all numbers of three digits and more."""
    source = runtime_files("cuda")["approximate"]
    function = re.search(r"NVF_FUNCTION float approximate_normal_cdf.*?\n}\n", source, re.DOTALL)
    assert function is not None
    code = f"""
#include <cmath>
#include <cstdint>
#define NVF_FUNCTION static inline
static inline float __fmaf_rn(float a, float b, float c) {{ return fmaf(a, b, c); }}
static inline float approximate_exp2(float x) {{ return exp2f(x); }}
{function.group()}
extern "C" void probabilities(const float* x, float* out, int64_t n) {{
  for (int64_t i = 0; i < n; ++i) out[i] = approximate_normal_cdf(x[i]);
}}
"""
    x = np.concatenate([np.linspace(-40, 40, 1_000_001), 10.0 ** np.linspace(-30, 30, 10_001)])
    x = x.astype(np.float32)
    found = np.empty_like(x)
    pointer = ctypes.POINTER(ctypes.c_float)
    compile_cpu(code, tmp_path).probabilities(
        x.ctypes.data_as(pointer), found.ctypes.data_as(pointer), ctypes.c_int64(x.size)
    )
    exact = exact_probability(x.astype(np.float64))
    error = np.abs(found - exact)
    fitted, beyond = x >= FITTED, (x >= -5) & (x < FITTED)
    assert (error[fitted] / exact[fitted]).max() <= RELATIVE + 2.0**-20
    assert (error[beyond] / exact[beyond]).max() <= 2.0**-9.9
    assert error[x < -5].max() < 3e-10


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_gelu_of_every_number_of_16_bits(dtype: torch.dtype, target: str) -> None:
    """Half a unit of the rounding, and the error before it."""
    bits = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16)
    x = bits.view(dtype)
    executor = KernelExecutor()
    fusion = scheduled(lambda fd, t: fd.ops.gelu(t), x, NARROW[dtype])
    arguments = [x.to(target)]
    executor.compile(fusion, arguments)
    (found,) = (out.cpu().double() for out in executor.run(arguments))
    value = x.double()
    exact = value * torch.from_numpy(exact_probability(value.numpy()))
    exact = torch.where(value == -math.inf, math.nan, exact)  # as PyTorch has it
    assert torch.equal(found.isnan(), exact.isnan())
    unit = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}[dtype]
    smallest = {torch.bfloat16: 2.0**-126, torch.float16: 2.0**-14}[dtype]
    finite = exact.isfinite() & (exact.abs() <= torch.finfo(dtype).max)
    near = finite & (value >= FITTED) & (exact.abs() >= smallest)
    error = (found - exact).abs()
    # The exact form has the absolute error of an erf near 1 in Floats, and beyond nothing else.
    of_erf = value.abs() * 2.0**-24
    assert (error - of_erf <= (unit + RELATIVE + 2.0**-20) * exact.abs())[near].all()
    assert error[finite & ~near].max() <= 3e-7
    assert torch.equal(found[exact == math.inf], exact[exact == math.inf])
