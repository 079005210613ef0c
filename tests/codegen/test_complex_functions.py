"""Functions of complex numbers where they are hardest, against PyTorch on the CPU.

PyTorch follows annex G of the C standard there; where it does not, the test says what the standard
has instead. Constants are folded with the same functions as kernels compute.
"""

from __future__ import annotations

import math

import pytest
import torch
from complex_numbers import DTYPES, RTOL, as_parts, numbers, pairs_of_numbers, run
from cuda_kernels import cuda_text, has_nvrtc

from nvfuser_direct import DataType, FusionDefinition, evaluate

UNARY = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "rsqrt", "sigmoid", "silu", "sin", "sinh",
    "sqrt", "tan", "tanh",
]  # fmt: skip
BINARY = ["mul", "div", "pow"]


def ordinary(dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    """Numbers of all sizes, among them many near 1 and near the axes."""
    size = 10 ** torch.empty(2, 4000, dtype=torch.float64).uniform_(-9, 1.9, generator=rng)
    sign = torch.randint(0, 2, size.shape, generator=rng) * 2 - 1
    real, imag = size * sign
    real[:1000] = 1 + real[:1000] * 1e-2
    return torch.complex(real, imag).to(dtype)


def standard(name: str, z: torch.Tensor) -> torch.Tensor:
    """The function of PyTorch, but for what it has different from the standard."""
    if name == "silu":
        return torch.nn.functional.silu(z)
    if name == "neg":  # zeros change their signs
        return torch.complex(-z.real, -z.imag)
    if name == "acos":  # PyTorch subtracts arcsines from a right angle, which cancels
        turned = torch.acosh(z)
        return torch.complex(turned.imag.abs(), torch.copysign(turned.real, -z.imag))
    out = getattr(torch, name)(z)
    is_finite = z.real.isfinite() & z.imag.isfinite()
    if name == "log1p":  # like log(1 + z), which is not written with a product
        as_log = torch.log(torch.complex(1 + z.real, z.imag))
        return torch.where(is_finite, out, as_log)
    if name == "sigmoid":  # 1 / (1 + infinity)
        is_end = z.real == -math.inf
        return torch.where(is_end & out.real.isnan(), torch.zeros_like(out), out)
    return out


def is_extreme(z: torch.Tensor) -> torch.Tensor:
    """Whether a part is tiny or huge, so that products of it are too small or rounded."""
    sizes = as_parts(z).abs()
    return (sizes.isfinite() & (sizes != 0) & (sizes != 1)).any(-1)


def assert_same(
    name: str,
    found: torch.Tensor,
    expected: torch.Tensor,
    rtol: float,
    operands: list[torch.Tensor],
) -> None:
    """Equal values; equal signs of zeros and infinities where no NaN leaves them open."""
    found, expected = as_parts(found.cpu()), as_parts(expected)
    torch.testing.assert_close(found.abs(), expected.abs(), rtol=rtol, atol=0, equal_nan=True)
    is_open = expected.isnan().any(-1, keepdim=True)
    for operand in operands:
        is_open = is_open | as_parts(operand).isnan().any(-1, keepdim=True)
        # exp(-inf + iy), and what is made of it
        is_open = is_open | (operand.real.isinf() & (expected == 0).all(-1)).unsqueeze(-1)
        if name == "silu":  # a quotient: see test_complex_products.py
            is_open = is_open | ((expected == 0) & is_extreme(operand).unsqueeze(-1))
    if name == "pow":  # exp(-inf + i NaN)
        is_open = is_open | (expected == 0).all(-1, keepdim=True)
    differ = (found.signbit() != expected.signbit()) & ~is_open & ~expected.isnan()
    where = differ.any(-1)
    assert not where.any(), [o[where] for o in operands] + [found[where], expected[where]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_of_infinities_nans_and_signed_zeros(target, dtype) -> None:
    z = numbers(dtype)
    for name, found in zip(UNARY, run(UNARY, [z], target), strict=True):
        try:
            assert_same(name, found, standard(name, z), RTOL[dtype], [z])
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from None


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_infinities_nans_and_signed_zeros(target, dtype) -> None:
    """Those of huge numbers, where rounding decides, are in test_complex_products.py."""
    a, b = pairs_of_numbers(dtype)
    huge = as_parts(a).nan_to_num(0, 0, 0).max()
    is_open = (as_parts(a).abs() == huge).any(-1) | (as_parts(b).abs() == huge).any(-1)
    (found,) = run(["pow"], [a, b], target)
    # PyTorch itself has 1 for the number 0, but not for tensors.
    expected = torch.where(b == 0, torch.ones_like(b), torch.pow(a, b))
    operands = [a[~is_open], b[~is_open]]
    assert_same("pow", found.cpu()[~is_open], expected[~is_open], RTOL[dtype], operands)


@pytest.mark.parametrize("dtype", DTYPES)
def test_ordinary_numbers_of_all_sizes(target, dtype, rng) -> None:
    z = ordinary(dtype, rng)
    eps = torch.finfo(dtype).eps
    # log1p and expm1 of PyTorch lose digits near zero.
    names = [name for name in UNARY if name not in ("expm1", "log1p")]
    for name, found in zip(names, run(names, [z], target), strict=True):
        expected = standard(name, z.to(torch.complex128))
        error = (found.cpu().to(expected.dtype) - expected).abs()
        turns = 1 + z.abs() if name in ("exp", "exp2", "sigmoid", "silu") else 1
        assert bool((error <= 64 * eps * turns * expected.abs() + 4 * eps).all()), name


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_compile_for_cuda(dtype) -> None:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([-1], contiguity=True, dtype=DTYPES[dtype]) for _ in range(2))
        for name in UNARY:
            fd.add_output(getattr(fd.ops, name)(x))
        for name in BINARY:
            fd.add_output(getattr(fd.ops, name)(x, y))
    cuda_text(fd.fusion)


def test_constants_are_folded_as_kernels_compute(target) -> None:
    z = numbers(torch.complex128)[::4].contiguous()
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.ComplexDouble)
        for name in UNARY:
            fd.add_output(getattr(fd.ops, name)(x))
        constants = []
        for name in UNARY:
            for number in z.tolist():
                folded = getattr(fd.ops, name)(fd.define_scalar(number))
                dtype = DataType.Double if name == "abs" else DataType.ComplexDouble
                constants.append(fd.ops.full([1], folded, dtype))
        fd.add_output(fd.ops.cat([c for c in constants if c.dtype() == DataType.ComplexDouble]))
    computed = fd.execute([z.to(target)])[:-1]
    folded = evaluate(fd.fusion, [z.to(target)])[-1]  # scalars are the core's
    computed = torch.cat([c for c in computed if c.is_complex()])
    torch.testing.assert_close(folded, computed, rtol=1e-12, atol=0, equal_nan=True)
