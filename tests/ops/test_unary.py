"""csrc/ops/unary.cpp: operations on every element of one operand."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType

D = DataType

FLOAT = [
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
    "erfcinv",
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
REAL = ["erf", "erfc", "erfinv", "erfcinv", "lgamma"]
KEEP = ["abs", "ceil", "floor", "frac", "relu", "round", "silu", "trunc"]
TEST = ["isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal"]


def tensor(fd, dtype):
    return fd.define_tensor([-1, 4], contiguity=True, dtype=dtype)


@pytest.mark.parametrize("name", FLOAT)
@pytest.mark.parametrize(
    ("operand", "result"),
    [
        (D.Float, D.Float),
        (D.Double, D.Double),
        (D.Half, D.Float),
        (D.Int, D.Float),
        (D.Bool, D.Float),
    ],
)
def test_float_functions_turn_integers_and_halves_into_float(fd, name, operand, result) -> None:
    assert getattr(fd.ops, name)(tensor(fd, operand)).dtype() == result


@pytest.mark.parametrize("name", [name for name in FLOAT if name not in REAL])
def test_float_functions_keep_complex_numbers(fd, name) -> None:
    assert getattr(fd.ops, name)(tensor(fd, D.ComplexFloat)).dtype() == D.ComplexFloat


@pytest.mark.parametrize("name", [*KEEP, "set", "segment_set", "sign"])
@pytest.mark.parametrize("dtype", [D.Float, D.Half, D.Double, D.Int])
def test_keeping_functions_keep_the_dtype(fd, name, dtype) -> None:
    assert getattr(fd.ops, name)(tensor(fd, dtype)).dtype() == dtype


@pytest.mark.parametrize("name", TEST)
def test_tests_give_bool_and_do_not_cast(fd, math, name) -> None:
    out = getattr(fd.ops, name)(tensor(fd, D.Half))
    assert out.dtype() == D.Bool
    assert (
        math(out) == f"T1_g_bool[iS2{{i0}}, iS3{{4}}] = {name}(T0_g___half[iS0{{i0}}, iS1{{4}}]);\n"
    )


def test_every_function_takes_a_scalar(fd) -> None:
    x = fd.define_scalar(None, dtype=D.Double)
    for name in [*FLOAT, *KEEP, *TEST, "neg", "logical_not", "signbit", "set", "sign", "real"]:
        out = getattr(fd.ops, name)(x)
        assert not out.is_tensor(), name
        assert out.is_symbolic(), name


@pytest.mark.parametrize(
    ("operand", "result"), [(D.Half, D.Float), (D.Int32, D.Int32), (D.Double, D.Double)]
)
def test_neg_widens_halves_and_keeps_integers(fd, operand, result) -> None:
    assert fd.ops.neg(tensor(fd, operand)).dtype() == result


def test_abs_of_complex_is_real(fd) -> None:
    assert fd.ops.abs(tensor(fd, D.ComplexFloat)).dtype() == D.Float
    assert fd.ops.abs(tensor(fd, D.ComplexDouble)).dtype() == D.Double


def test_logical_not_casts_to_bool_first(fd, math) -> None:
    assert math(fd.ops.logical_not(tensor(fd, D.Float))) == (
        "T1_l_bool[iS2{i0}, iS3{4}] = __to_bool(T0_g_float[iS0{i0}, iS1{4}]);\n"
        "T2_g_bool[iS4{i0}, iS5{4}] = !T1_l_bool[iS2{i0}, iS3{4}];\n"
    )


def test_signbit_widens_its_operand_and_gives_bool(fd, math) -> None:
    text = math(fd.ops.signbit(tensor(fd, D.Half)))
    assert "__half2float" in text
    assert "T2_g_bool[iS4{i0}, iS5{4}] = signbit(" in text


def test_real_and_imag(fd, math) -> None:
    x = tensor(fd, D.ComplexDouble)
    assert fd.ops.real(x).dtype() == D.Double
    assert fd.ops.imag(x).dtype() == D.Double
    y = tensor(fd, D.Float)
    assert "Set( " in math(fd.ops.real(y))
    with pytest.raises(RuntimeError, match="imag not supported for non-complex tensors"):
        fd.ops.imag(y)


def test_bitwise_not(fd, math) -> None:
    assert fd.ops.bitwise_not(tensor(fd, D.Int32)).dtype() == D.Int32
    with pytest.raises(
        RuntimeError, match="input must have integral or boolean type, but got float"
    ):
        fd.ops.bitwise_not(tensor(fd, D.Float))
    of_bool = fd.ops.bitwise_not(tensor(fd, D.Bool))
    assert of_bool.dtype() == D.Bool
    text = math(of_bool)
    assert "__to_int64" in text
    assert "!" in text


def test_a_reduced_operand_loses_its_reduction_axes(fd, math) -> None:
    total = fd.ops.sum(tensor(fd, D.Float), [1])
    assert math(fd.ops.exp(total)).endswith(
        "T2_g_float[iS4{i0}] = expf(T1_l_float[iS2{i0}, rS3{4}]);\n"
    )


@pytest.mark.parametrize("name", [*REAL, "relu", "ceil", "round", "signbit", "sign"])
def test_functions_of_real_numbers_refuse_complex_ones(fd, name) -> None:
    with pytest.raises(RuntimeError, match="is not defined for complex numbers"):
        getattr(fd.ops, name)(tensor(fd, D.ComplexDouble))
