"""exp(x - max(x)) is one fused multiply-add and one instruction for 2^x if nothing but its sum, and
quotients with that, reads it."""

from __future__ import annotations

import numpy
import pytest
import torch
from cuda_kernels import cuda_text, has_nvrtc

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    call_with_options,
    schedule,
)

INNER = SchedulerType.inner_persistent
DTYPES = {
    torch.bfloat16: DataType.BFloat16,
    torch.half: DataType.Half,
    torch.float32: DataType.Float,
}


def define(
    kind: str, dtype: torch.dtype = torch.bfloat16, out: DataType | None = None
) -> FusionDefinition:
    with FusionDefinition() as fd:
        ops = fd.ops
        along = [False, True]
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DTYPES[dtype])
        out = out or x.dtype()
        wide = ops.cast(x, DataType.Float)
        shifted = ops.sub(wide, ops.broadcast(ops.max(wide, [1]), along))
        powers = ops.exp(shifted)
        total = ops.sum(powers, [1])
        if kind == "softmax":
            fd.add_output(ops.cast(ops.div(powers, ops.broadcast(total, along)), out))
        elif kind == "softmax by a reciprocal":
            share = ops.broadcast(ops.reciprocal(total), along)
            fd.add_output(ops.cast(ops.mul(powers, share), out))
        elif kind == "softmax and its sum":
            fd.add_output(ops.cast(ops.div(powers, ops.broadcast(total, along)), out))
            fd.add_output(ops.cast(total, out))
        elif kind == "softmax and its powers":
            fd.add_output(ops.cast(ops.div(powers, ops.broadcast(total, along)), out))
            fd.add_output(ops.cast(powers, out))
        elif kind == "log softmax":
            fd.add_output(ops.cast(ops.sub(shifted, ops.broadcast(ops.log(total), along)), out))
        elif kind == "inverted":
            fd.add_output(ops.cast(ops.div(ops.broadcast(total, along), powers), out))
        elif kind == "of the whole":
            whole = ops.broadcast(ops.sum(powers, [0, 1]), [True, True])
            fd.add_output(ops.cast(ops.div(powers, whole), out))
    return fd


def scheduled(fd: FusionDefinition, columns: int, dtype: torch.dtype = torch.bfloat16) -> str:
    inputs = [torch.empty(4096, columns, dtype=dtype)]
    schedule.schedule(fd.fusion, INNER, inputs, "cuda")
    return cuda_text(fd.fusion)


@pytest.mark.parametrize("kind", ["softmax", "softmax by a reciprocal"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half], ids=str)
@pytest.mark.parametrize("columns", [512, 4096, 32768, 262144, 30001])
def test_a_softmax(kind: str, dtype: torch.dtype, columns: int) -> None:
    """However its row is kept, and whether its exponentials are."""
    text = scheduled(define(kind, dtype), columns, dtype)
    assert "approximate_exp_about(" in text
    assert "approximate_exp(" not in text


@pytest.mark.parametrize(
    "kind", ["softmax and its sum", "softmax and its powers", "log softmax", "inverted"]
)
def test_a_factor_that_would_be_seen(kind: str) -> None:
    assert "approximate_exp_about(" not in scheduled(define(kind), 4096)


def test_elements_of_32_bits_have_neighbours_at_any_size() -> None:
    fd = define("softmax", torch.float32, DataType.BFloat16)
    assert "approximate_exp_about(" not in scheduled(fd, 4096, torch.float32)


def test_exact_exponentials_have_no_factor() -> None:
    """A sum of cheap ones would have it alone."""
    fd = define("softmax", out=DataType.Float)
    assert "approximate_exp_about(" not in scheduled(fd, 4096)


def test_the_option_keeps_the_exact_form() -> None:
    text = call_with_options(lambda: scheduled(define("softmax"), 4096), [], ["approximate_math"])
    assert "approximate_exp" not in text


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_an_element_has_one_fused_multiply_add() -> None:
    fusion = define("softmax").fusion
    inputs = [torch.empty(1024, 1 << 15, dtype=torch.bfloat16)]
    params = schedule.schedule(fusion, INNER, inputs, "cuda")
    ptx = fusion.compile_cuda(DataType.Int32, maxrregcount=params.cparams.maxrregcount).ptx
    elements = params.batches_per_block_inner_reduction * params.unroll_factor_inner_reduction
    assert ptx.count("ex2.approx.ftz.f32") == ptx.count("fma.rn.f32") == 2 * elements
    assert "sub.f32" not in ptx


def power_about(x: numpy.ndarray, m: numpy.ndarray) -> numpy.ndarray:
    """``approximate_exp_about``; double holds products of floats, and rounds sums far later."""
    factor = numpy.where(numpy.abs(m) < 65536, numpy.float32(1.4426950408889634), numpy.float32(1))
    c = (m.astype(numpy.float32) * factor.astype(numpy.float32)).astype(numpy.float64)
    return numpy.exp2((x * factor.astype(numpy.float64) - c).astype(numpy.float32).astype(float))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half], ids=str)
def test_the_factor_is_that_of_the_maximum(dtype: torch.dtype) -> None:
    """For every maximum of 16 bits, and elements below it at distances that leave anything."""
    maxima = torch.arange(-(1 << 15), 1 << 15).short().view(dtype).double()
    maxima = maxima[maxima.isfinite()]
    generator = torch.Generator().manual_seed(3)
    below = 90 * torch.rand(maxima.shape, generator=generator, dtype=torch.float64)
    x = torch.minimum((maxima - below).to(dtype).double(), maxima)
    x, m = x.numpy(), maxima.numpy()
    with numpy.errstate(over="ignore", invalid="ignore"):
        own = power_about(m, m)
        found = power_about(x, m) / own
    assert abs(numpy.log2(own)).max() <= 1 / 256
    expected = numpy.exp(x - m)
    error = abs(found - expected) / (expected + 1e-38)
    assert (error <= (4 + 1.25 * abs(x - m)) * 2.0**-24).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.half], ids=str)
@pytest.mark.parametrize("offset", [0.0, 300.0, -60000.0, 1e6, -1e30])
@pytest.mark.parametrize("columns", [1000, 40000])
def test_values(target: str, dtype: torch.dtype, offset: float, columns: int) -> None:
    if dtype == torch.half and abs(offset) > 65504:
        pytest.skip("half has no such numbers")
    generator = torch.Generator().manual_seed(columns)
    x = (torch.randn(8, columns, generator=generator) * max(3.0, abs(offset) / 100) + offset).to(
        dtype
    )
    x[1] = offset
    x[2, 5] = float("nan")
    x[3] = float("-inf")
    x[4, ::3] = float("-inf")
    x[5, 11] = float("inf")
    x = x.to(target)
    fusion = define("softmax", dtype).fusion
    params = schedule.schedule(fusion, INNER, [x], "cuda")
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    (found,) = executor.run([x], params.lparams, params.cparams)
    expected = torch.softmax(x.double(), 1)
    rtol = 8e-3 if dtype == torch.bfloat16 else 1e-3
    atol = 1e-38 if dtype == torch.bfloat16 else 6e-8  # the least number of half
    torch.testing.assert_close(found.double(), expected, rtol=rtol, atol=atol, equal_nan=True)
