"""Every pointwise operation of a kernel gives what PyTorch gives, special values included."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch

from nvfuser_direct import (
    DataType,
    ExpressionEvaluator,
    FusionDefinition,
    KernelExecutor,
    ParallelType,
)

TORCH_TO_NVF = {
    torch.bool: DataType.Bool,
    torch.int32: DataType.Int32,
    torch.int64: DataType.Int,
    torch.uint64: DataType.UInt64,
    torch.float16: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
    torch.float32: DataType.Float,
    torch.float64: DataType.Double,
    torch.complex64: DataType.ComplexFloat,
    torch.complex128: DataType.ComplexDouble,
}

REAL = [torch.float32, torch.float64]
LOW = [torch.float16, torch.bfloat16]
COMPLEX = [torch.complex64, torch.complex128]
INTEGER = [torch.int32, torch.int64]

REAL_VALUES = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -7.25, 0.1, 1e-3, -1e-3, 12.5,
    -20.75, 87.0, 1e-30, 1e30, math.inf, -math.inf, math.nan,
]  # fmt: skip
INTEGER_VALUES = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    7,
    -7,
    12,
    -12,
    31,
    63,
    64,
    100,
    -100,
    2**31 - 1,
    -(2**31),
]
COMPLEX_PARTS = [0.0, 1.0, -1.0, 0.5, -0.25, 2.0, -3.0]


def values_of(dtype: torch.dtype) -> torch.Tensor:
    if dtype.is_complex:
        parts = [complex(re, im) for re in COMPLEX_PARTS for im in COMPLEX_PARTS]
        return torch.tensor(parts, dtype=dtype)
    if dtype.is_floating_point:
        return torch.tensor(REAL_VALUES, dtype=torch.float64).to(dtype)
    if dtype == torch.bool:
        return torch.tensor([False, True])
    return torch.tensor(INTEGER_VALUES, dtype=dtype)


def pairs_of(dtype: torch.dtype) -> list[torch.Tensor]:
    values = values_of(dtype)
    left, right = torch.meshgrid(values, values, indexing="ij")
    return [left.flatten(), right.flatten()]


def run(op: Callable[..., object], inputs: list[torch.Tensor], target: str) -> torch.Tensor:
    """One kernel with one operation on tensors of one dimension."""
    with FusionDefinition() as fd:
        arguments = [
            fd.define_tensor([-1], contiguity=True, dtype=TORCH_TO_NVF[t.dtype]) for t in inputs
        ]
        out = op(fd, *arguments)
        fd.add_output(out)
        out.split(0, 32)
        out.axis(0).parallelize(ParallelType.grid_x)
        out.axis(1).parallelize(ParallelType.block_x)
    device = "cuda" if target == "cuda" else "cpu"
    arguments = [t.to(device) for t in inputs]
    executor = KernelExecutor()
    executor.compile(fd.fusion, arguments)
    (result,) = executor.run(arguments)
    return result.cpu()


def check(result: torch.Tensor, expected: torch.Tensor) -> None:
    assert result.dtype == expected.dtype
    torch.testing.assert_close(result, expected, equal_nan=True)
    if expected.dtype.is_floating_point:  # zeros keep their sign
        zero = expected == 0
        assert torch.equal(torch.signbit(result[zero]), torch.signbit(expected[zero]))


# ---- Unary ---------------------------------------------------------------------------------------

FLOAT_FUNCTIONS = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "erf",
    "erfc",
    "erfinv",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
KEPT_FUNCTIONS = ["abs", "ceil", "floor", "frac", "relu", "round", "trunc"]
COMPLEX_FUNCTIONS = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "reciprocal",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize("name", FLOAT_FUNCTIONS + KEPT_FUNCTIONS + ["neg"])
def test_a_real_function_is_the_one_of_pytorch(name: str, dtype: torch.dtype, target: str) -> None:
    x = values_of(dtype)
    if name in ("cos", "sin", "tan"):
        x = x[~(x.abs() > 1e4)]  # argument reduction of huge numbers differs between libraries
    result = run(lambda fd, t: getattr(fd.ops, name)(t), [x], target)
    reference = getattr(torch, "special", torch) if name in ("erfinv",) else torch
    expected = getattr(reference, name)(x)
    if name in ("exp", "expm1", "cosh", "sinh"):  # PyTorch's own vector code is a little off there
        torch.testing.assert_close(result, expected, equal_nan=True)
        return
    check(result, expected)


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_silu_is_x_times_sigmoid(dtype: torch.dtype, target: str) -> None:
    x = values_of(dtype)
    x = x[x != -math.inf]  # a NaN by the formula, which PyTorch's vector code does not always give
    result = run(lambda fd, t: fd.ops.silu(t), [x], target)
    torch.testing.assert_close(result, torch.nn.functional.silu(x), equal_nan=True)


@pytest.mark.parametrize("dtype", REAL, ids=str)
def test_erfcinv_inverts_erfc(dtype: torch.dtype, target: str) -> None:
    y = torch.tensor([1e-30, 1e-6, 0.1, 0.5, 0.9, 1.0, 1.25, 1.9, 1.999], dtype=dtype)
    result = run(lambda fd, t: fd.ops.erfcinv(t), [y], target)
    torch.testing.assert_close(torch.erfc(result.double()).to(dtype), y, rtol=2e-5, atol=0)
    edges = torch.tensor([0.0, 2.0, -1.0, 3.0], dtype=dtype)
    expected = torch.tensor([math.inf, -math.inf, math.nan, math.nan], dtype=dtype)
    check(run(lambda fd, t: fd.ops.erfcinv(t), [edges], target), expected)


@pytest.mark.parametrize("dtype", LOW, ids=str)
@pytest.mark.parametrize("name", [*KEPT_FUNCTIONS, "silu"])
def test_a_function_of_16_bit_floats_is_rounded_once(
    name: str, dtype: torch.dtype, target: str
) -> None:
    x = values_of(dtype)
    x = x[x != -math.inf] if name == "silu" else x
    result = run(lambda fd, t: getattr(fd.ops, name)(t), [x], target)
    reference = torch.nn.functional.silu if name == "silu" else getattr(torch, name)
    check(result, reference(x.float()).to(dtype))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", [*COMPLEX_FUNCTIONS, "neg", "abs", "real", "imag"])
def test_a_complex_function_is_the_one_of_pytorch(
    name: str, dtype: torch.dtype, target: str
) -> None:
    x = values_of(dtype)
    x = x[(x.abs() != 0) & (x.abs() != 1) & (x.imag != 0)]  # off poles and branch cuts
    result = run(lambda fd, t: getattr(fd.ops, name)(t), [x], target)
    wide = x.to(torch.complex128)
    reference = getattr(torch, name)(wide)
    tolerance = 3e-5 if dtype == torch.complex64 else 1e-9
    expected = reference.to(result.dtype)
    torch.testing.assert_close(result, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.parametrize("name", ["sin", "cos", "sinh", "cosh"])
def test_a_complex_function_stays_on_the_axes_where_it_overflows(name: str, target: str) -> None:
    parts = [0.0, -0.0, 1.0, -3.0, 1e4, -1e4]
    pairs = [(re, im) for re in parts for im in parts if re == 0 or im == 0]
    x = torch.tensor([complex(re, im) for re, im in pairs], dtype=torch.complex128)
    result = run(lambda fd, t: getattr(fd.ops, name)(t), [x], target)
    expected = torch.stack([getattr(torch, name)(z) for z in x])
    torch.testing.assert_close(result, expected)


def test_the_complex_logarithm_of_large_numbers_stays_finite(target: str) -> None:
    x = torch.tensor([1e200j, -1e200 + 1e200j, 3 - 4j, 1e-9 + 1j], dtype=torch.complex128)
    result = run(lambda fd, t: fd.ops.log1p(t), [x], target)
    torch.testing.assert_close(result, torch.log1p(x), rtol=1e-12, atol=0)


def test_the_complex_exponential_of_infinities_is_the_one_of_c(target: str) -> None:
    """Zero and infinity win over an angle that is none."""
    angles = [0.0, 2.0, math.inf, -math.inf, math.nan]
    x = torch.tensor([complex(re, im) for re in (-math.inf, math.inf) for im in angles])
    x = x.to(torch.complex128)
    result = run(lambda fd, t: fd.ops.exp(t), [x], target)
    expected = torch.stack([torch.exp(z) for z in x])
    torch.testing.assert_close(result, expected, equal_nan=True)


@pytest.mark.parametrize("exponent", [-1, -2, -1 + 1j, 1j, 1, 2, 0.5, 1 + 1j])
def test_complex_powers_of_zero_and_infinity_are_those_of_pytorch(
    exponent: complex, target: str
) -> None:
    a = torch.tensor([0j, complex(0, -0.0), complex(math.inf, 0), 1j], dtype=torch.complex128)
    b = torch.full_like(a, exponent)
    result = run(lambda fd, s, t: fd.ops.pow(s, t), [a, b], target)
    torch.testing.assert_close(result, torch.pow(a, b), equal_nan=True)


def test_the_complex_logarithm_near_minus_one_keeps_its_digits(target: str) -> None:
    x = torch.tensor([-1 + 1e-30j, -1 - 1e-12j, -1.5 + 1e-9j, -0.999999 + 1e-9j])
    x = x.to(torch.complex128)
    result = run(lambda fd, t: fd.ops.log1p(t), [x], target)
    torch.testing.assert_close(result, torch.log(1 + x), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
@pytest.mark.parametrize("name", ["abs", "neg", "bitwise_not", "ceil", "floor", "relu", "trunc"])
def test_an_integer_function_is_the_one_of_pytorch(
    name: str, dtype: torch.dtype, target: str
) -> None:
    x = values_of(dtype)
    check(run(lambda fd, t: getattr(fd.ops, name)(t), [x], target), getattr(torch, name)(x))


@pytest.mark.parametrize("dtype", REAL + LOW + INTEGER, ids=str)
@pytest.mark.parametrize("name", ["isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal"])
def test_a_question_about_a_number(name: str, dtype: torch.dtype, target: str) -> None:
    x = values_of(dtype)
    check(run(lambda fd, t: getattr(fd.ops, name)(t), [x], target), getattr(torch, name)(x))


@pytest.mark.parametrize("dtype", REAL + INTEGER, ids=str)
def test_signbit_sees_negative_zero(dtype: torch.dtype, target: str) -> None:
    x = values_of(dtype)
    x = x[~x.isnan()] if dtype.is_floating_point else x
    check(run(lambda fd, t: fd.ops.signbit(t), [x], target), torch.signbit(x))


# ---- Binary --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL, ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sub",
        "mul",
        "div",
        "atan2",
        "fmod",
        "remainder",
        "pow",
        "nextafter",
        "minimum",
        "maximum",
    ],
)
def test_a_real_operation_is_the_one_of_pytorch(name: str, dtype: torch.dtype, target: str) -> None:
    a, b = pairs_of(dtype)
    if name in ("fmod", "remainder"):  # PyTorch's vector code gives up on quotients beyond
        keep = ~((a / b).abs() > 1e18)
        a, b = a[keep], b[keep]
    result = run(lambda fd, s, t: getattr(fd.ops, name)(s, t), [a, b], target)
    expected = getattr(torch, name)(a, b)
    if name in ("fmod", "remainder"):  # the sign of a zero differs between PyTorch's own paths
        torch.testing.assert_close(result, expected, equal_nan=True)
    elif name in ("minimum", "maximum"):  # of zeros of unlike sign either is the result
        torch.testing.assert_close(result, expected, equal_nan=True, rtol=0, atol=0)
    else:
        check(result, expected)


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
@pytest.mark.parametrize(
    "name",
    [
        "add",
        "sub",
        "mul",
        "fmod",
        "remainder",
        "gcd",
        "minimum",
        "maximum",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
    ],
)
def test_an_integer_operation_is_the_one_of_pytorch(
    name: str, dtype: torch.dtype, target: str
) -> None:
    a, b = pairs_of(dtype)
    keep = torch.ones_like(a, dtype=torch.bool)
    if name in ("fmod", "remainder"):
        keep = (b != 0) & (b != -1)
    elif name == "gcd":
        keep = (a > -(2**31)) & (b > -(2**31))
    a, b = a[keep], b[keep]
    result = run(lambda fd, s, t: getattr(fd.ops, name)(s, t), [a, b], target)
    check(result, getattr(torch, name)(a, b))


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
def test_integer_division_truncates_and_never_traps(dtype: torch.dtype, target: str) -> None:
    a, b = pairs_of(dtype)
    quotient = run(lambda fd, s, t: fd.ops.div(s, t), [a, b], target)
    rest = run(lambda fd, s, t: fd.ops.mod(s, t), [a, b], target)
    is_defined = (b != 0) & ~((a == torch.iinfo(dtype).min) & (b == -1))
    a, b, quotient, rest = (t[is_defined] for t in (a, b, quotient, rest))
    check(quotient, torch.div(a, b, rounding_mode="trunc"))
    check(rest, torch.fmod(a, torch.where(b == -1, 1, b)))


@pytest.mark.parametrize("name", ["div", "mod"])
@pytest.mark.parametrize("divisor", [0, 2**32, -(2**40)])
def test_a_constant_divisor_that_is_zero_in_the_type_is_defined(
    name: str, divisor: int, target: str
) -> None:
    x = values_of(torch.int32)
    result = run(lambda fd, t: getattr(fd.ops, name)(t, divisor), [x], target)
    assert torch.equal(result, torch.full_like(x, -1) if name == "div" else x)


@pytest.mark.parametrize("name", ["div", "mod"])
def test_a_bool_divided_by_false_is_defined(name: str, target: str) -> None:
    a, b = torch.tensor([False, True, False, True]), torch.tensor([False, False, True, True])
    result = run(lambda fd, s, t: getattr(fd.ops, name)(s, t), [a, b], target)
    assert result.tolist() == (
        [True, True, False, True] if name == "div" else [False, True, False, False]
    )


def test_a_power_of_two_that_does_not_fit_wraps(target: str) -> None:
    x = torch.tensor([0, 5, 2**63, 2**63 + 1, 2**64 - 1], dtype=torch.uint64)
    result = run(lambda fd, t: fd.ops.bitceil(t), [x], target)
    assert result.tolist() == [1, 8, 2**63, 0, 0]


@pytest.mark.parametrize("dtype", [DataType.Double, DataType.Half, DataType.Bool], ids=str)
def test_powers_of_two_are_for_integers(dtype: DataType) -> None:
    with FusionDefinition() as fd:
        x, n = fd.define_tensor([4], dtype=dtype), fd.define_scalar(dtype)
        for operand in (x, n):
            with pytest.raises(RuntimeError, match="input must have integral type, but got"):
                fd.ops.bitceil(operand)


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
def test_integer_power_is_repeated_multiplication(dtype: torch.dtype, target: str) -> None:
    a, b = pairs_of(dtype)
    small = (b >= 0) & (b < 70)
    a, b = a[small], b[small]
    check(run(lambda fd, s, t: fd.ops.pow(s, t), [a, b], target), torch.pow(a, b))


@pytest.mark.parametrize("exponent", [-3, -2, -1, 0, 1, 2, 3, 4, 0.5, 2.5])
def test_power_with_a_constant_exponent(exponent: float, target: str) -> None:
    x = values_of(torch.float32)
    x = x[x > 0] if exponent != int(exponent) else x
    result = run(lambda fd, t: fd.ops.pow(t, float(exponent)), [x], target)
    torch.testing.assert_close(result, torch.pow(x, exponent), equal_nan=True)


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_a_shift_by_the_width_or_more_is_defined(
    name: str, dtype: torch.dtype, target: str
) -> None:
    a, b = pairs_of(dtype)
    width = torch.iinfo(dtype).bits
    result = run(lambda fd, s, t: getattr(fd.ops, name)(s, t), [a, b], target)
    inside = (b >= 0) & (b < width)
    check(result[inside], getattr(torch, name)(a[inside], b[inside]))
    beyond = 0 if name == "bitwise_left_shift" else torch.where(a < 0, -1, 0)[~inside]
    assert torch.equal(result[~inside], torch.zeros_like(result[~inside]) + beyond)


@pytest.mark.parametrize("dtype", [*INTEGER, torch.uint64], ids=str)
def test_a_rounded_up_quotient_of_the_largest_numbers_does_not_wrap(
    dtype: torch.dtype, target: str
) -> None:
    most = torch.iinfo(dtype).max
    pairs = [(a, b) for a in (most, most - 1, 0, 1) for b in (1, 2, 7, most)]
    a, b = (torch.tensor(side, dtype=dtype) for side in zip(*pairs, strict=True))
    result = run(lambda fd, s, t: fd.ops.ceilDiv(s, t), [a, b], target)
    assert result.tolist() == [-(-a // b) for a, b in pairs]


@pytest.mark.parametrize("dtype", REAL + INTEGER, ids=str)
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_a_comparison_is_the_one_of_pytorch(name: str, dtype: torch.dtype, target: str) -> None:
    a, b = pairs_of(dtype)
    result = run(lambda fd, s, t: getattr(fd.ops, name)(s, t), [a, b], target)
    check(result, getattr(torch, name)(a, b))


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "pow", "eq", "ne"])
def test_a_complex_operation_is_the_one_of_pytorch(
    name: str, dtype: torch.dtype, target: str
) -> None:
    a, b = pairs_of(dtype)
    keep = (a.abs() != 0) & (b.abs() != 0) & (a.imag != 0)
    a, b = a[keep], b[keep]
    result = run(lambda fd, s, t: getattr(fd.ops, name)(s, t), [a, b], target)
    tolerance = 1e-4 if dtype == torch.complex64 else 1e-10
    torch.testing.assert_close(result, getattr(torch, name)(a, b), rtol=tolerance, atol=tolerance)


# ---- Ternary -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL + LOW + INTEGER, ids=str)
def test_where_selects_and_never_multiplies(dtype: torch.dtype, target: str) -> None:
    a, b = pairs_of(dtype)
    mask = torch.arange(len(a)) % 2 == 0
    result = run(lambda fd, m, s, t: fd.ops.where(m, s, t), [mask, a, b], target)
    check(result, torch.where(mask, a, b))


@pytest.mark.parametrize("dtype", REAL + LOW, ids=str)
def test_clamp_keeps_nan(dtype: torch.dtype, target: str) -> None:
    x = values_of(dtype)
    check(run(lambda fd, t: fd.ops.clamp(t, -1.0, 2.5), [x], target), torch.clamp(x, -1.0, 2.5))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("bounds", [(math.nan, 1.0), (-1.0, math.nan), (2.0, -1.0)], ids=str)
def test_clamp_takes_nan_and_crossed_bounds_as_pytorch_does(
    bounds: tuple[float, float], dtype: torch.dtype, target: str
) -> None:
    x = values_of(dtype)
    check(run(lambda fd, t: fd.ops.clamp(t, *bounds), [x], target), torch.clamp(x, *bounds))


@pytest.mark.parametrize("bounds", [(math.nan, 1.0), (-1.0, math.nan), (2.0, -1.0)], ids=str)
@pytest.mark.parametrize("number", [0.5, math.nan, 7.0])
def test_clamped_scalars_are_clamped_elements(number: float, bounds: tuple[float, float]) -> None:
    with FusionDefinition() as fd:
        n = fd.define_scalar(DataType.Double)
        clamped = fd.ops.clamp(n, *bounds)
        fd.add_output(fd.ops.full([1], clamped, DataType.Double))
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, number)
    expected = torch.clamp(torch.tensor([number], dtype=torch.float64), *bounds)
    check(fd.execute([number])[0].cpu(), expected)
    check(torch.tensor([evaluator.evaluate(clamped)], dtype=torch.float64), expected)


def test_threshold_replaces_what_is_not_above(target: str) -> None:
    x = values_of(torch.float32)
    result = run(lambda fd, t: fd.ops.threshold(t, 0.5, -3.0), [x], target)
    check(result, torch.nn.functional.threshold(x, 0.5, -3.0))


def test_lerp_goes_from_start_to_end(target: str) -> None:
    a = torch.tensor([0.0, 1.0, -2.0, 5.0])
    b = torch.tensor([1.0, 3.0, 2.0, 5.0])
    w = torch.tensor([0.25, 0.5, 1.0, 0.75])
    check(run(lambda fd, s, e, t: fd.ops.lerp(s, e, t), [a, b, w], target), torch.lerp(a, b, w))


@pytest.mark.parametrize("outer", ["sin", "cos"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_of_an_arc_tangent(outer: str, dtype: torch.dtype, target: str) -> None:
    """g++ knows formulas for these, which lose NaN."""
    x = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -3.5, 1e30], dtype=dtype)
    with FusionDefinition() as fd:
        fd.add_output(getattr(fd.ops, outer)(fd.ops.atan(fd.from_pytorch(x))))
    (result,) = fd.execute([x.to(target)])
    check(result.cpu(), getattr(torch, outer)(torch.atan(x)))


# ---- Casts ---------------------------------------------------------------------------------------

ALL = [torch.bool, *INTEGER, *LOW, *REAL, *COMPLEX]


@pytest.mark.parametrize("to", ALL, ids=str)
@pytest.mark.parametrize("of", ALL, ids=str)
@pytest.mark.filterwarnings("ignore:.*imaginary")
def test_a_cast_is_the_one_of_pytorch(of: torch.dtype, to: torch.dtype, target: str) -> None:
    if of == to:
        pytest.skip("no cast")
    x = values_of(of)
    if of.is_floating_point and to in INTEGER:
        x = x[x.isfinite() & (x.abs() < 2**31)]
    result = run(lambda fd, t: fd.ops.cast(t, dtype=TORCH_TO_NVF[to]), [x], target)
    check(result, x.to(to))


@pytest.mark.parametrize("to", INTEGER, ids=str)
@pytest.mark.parametrize("of", REAL, ids=str)
def test_a_float_that_no_integer_can_hold_saturates(
    of: torch.dtype, to: torch.dtype, target: str
) -> None:
    x = torch.tensor([1e30, -1e30, math.inf, -math.inf, math.nan], dtype=of)
    low, high = torch.iinfo(to).min, torch.iinfo(to).max
    nan = 0 if (of, to) == (torch.float32, torch.int32) else low
    result = run(lambda fd, t: fd.ops.cast(t, dtype=TORCH_TO_NVF[to]), [x], target)
    assert result.tolist() == [high, low, high, low, nan]
