"""csrc/ops/binary.cpp: operations on the elements of two operands."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType

D = DataType

DEFAULT = ["add", "sub", "mul", "div", "fmod", "remainder", "mod", "pow", "minimum", "maximum"]
COMPARE = ["eq", "ne", "lt", "le", "gt", "ge"]


def tensor(fd, dtype, shape=(-1,)):
    return fd.define_tensor(list(shape), contiguity=True, dtype=dtype)


@pytest.mark.parametrize("name", DEFAULT)
def test_arithmetic_keeps_integers_and_widens_halves(fd, name) -> None:
    function = getattr(fd.ops, name)
    assert function(tensor(fd, D.Int32), tensor(fd, D.Int32)).dtype() == D.Int32
    assert function(tensor(fd, D.Half), tensor(fd, D.Half)).dtype() == D.Float


@pytest.mark.parametrize("name", ["truediv", "atan2"])
def test_float_functions_turn_integers_into_float(fd, name) -> None:
    assert getattr(fd.ops, name)(tensor(fd, D.Int), tensor(fd, D.Int)).dtype() == D.Float


@pytest.mark.parametrize("name", COMPARE)
@pytest.mark.parametrize("dtype", [D.Half, D.Int, D.Double])
def test_comparisons_give_bool(fd, name, dtype) -> None:
    assert getattr(fd.ops, name)(tensor(fd, dtype), 1).dtype() == D.Bool


@pytest.mark.parametrize("name", ["logical_and", "logical_or"])
def test_logical_operations_cast_to_bool(fd, math, name) -> None:
    text = math(getattr(fd.ops, name)(tensor(fd, D.Float), tensor(fd, D.Int)))
    assert text.count("__to_bool(") == 2


def test_every_mix_of_tensors_and_scalars(fd) -> None:
    x = tensor(fd, D.Float)
    s = fd.define_scalar(None, dtype=D.Double)
    for name in [*DEFAULT, *COMPARE, "truediv", "atan2", "nextafter"]:
        function = getattr(fd.ops, name)
        assert function(x, x).is_tensor()
        assert function(x, s).is_tensor()
        assert function(s, x).is_tensor()
        assert not function(s, s).is_tensor()
        assert function(2.0, x).is_tensor()


def test_scalar_arithmetic_is_not_folded(fd) -> None:
    assert fd.ops.add(1, 2).definition() is not None


@pytest.mark.parametrize("name", ["gcd", "bitwise_left_shift", "bitwise_right_shift", "ceilDiv"])
def test_integer_functions_reject_other_types(fd, name) -> None:
    function = getattr(fd.ops, name)
    assert function(tensor(fd, D.Int), 2).dtype() == D.Int
    with pytest.raises(
        RuntimeError, match="input must have integral type, but got float and int64_t"
    ):
        function(tensor(fd, D.Float), 2)
    with pytest.raises(
        RuntimeError, match="input must have integral type, but got bool and int64_t"
    ):
        function(tensor(fd, D.Bool), 2)


@pytest.mark.parametrize(("dtype", "text"), [(D.Half, "__half"), (D.Int, "int64_t")])
def test_nextafter_needs_single_or_double_precision(fd, dtype, text) -> None:
    with pytest.raises(
        RuntimeError,
        match=f"Promoted type must be single or double precision float but found {text}",
    ):
        fd.ops.nextafter(tensor(fd, dtype), tensor(fd, dtype))


def test_complex_needs_parts_of_one_type(fd) -> None:
    x = tensor(fd, D.Float)
    assert fd.ops.complex(x, x).dtype() == D.ComplexFloat
    y = tensor(fd, D.Double)
    assert fd.ops.complex(y, y).dtype() == D.ComplexDouble
    with pytest.raises(
        RuntimeError, match=r"real and imag data type should be same in complex\(\)\."
    ):
        fd.ops.complex(x, y)


def test_scaled_sums_are_made_of_their_parts(fd, math) -> None:
    x = tensor(fd, D.Float)
    assert math(fd.ops.add_alpha(x, x, 2.0)) == (
        "T1_l_float[iS1{i0}] = T0_g_float[iS0{i0}] * double(2);\n"
        "T2_g_float[iS2{i0}] = T0_g_float[iS0{i0}] + T1_l_float[iS1{i0}];\n"
    )


@pytest.mark.parametrize(
    "name", ["lt", "ge", "minimum", "maximum", "mod", "fmod", "remainder", "atan2"]
)
def test_what_needs_an_order_refuses_complex_numbers(fd, name) -> None:
    function = getattr(fd.ops, name)
    z = tensor(fd, D.ComplexFloat)
    for operands in ((z, z), (z, 1.0), (2.0, z), (tensor(fd, D.Float), 1j)):
        with pytest.raises(RuntimeError, match="is not defined for complex numbers"):
            function(*operands)
    assert fd.ops.eq(z, 1.0).dtype() == D.Bool
