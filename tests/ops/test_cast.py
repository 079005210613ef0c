"""csrc/ops/cast.cpp: conversions of the dtype."""

from __future__ import annotations

import warnings

import pytest

from nvfuser_direct import DataType

D = DataType


def test_a_cast_to_the_same_type_is_a_copy(fd, math) -> None:
    x = fd.define_tensor([4], contiguity=True)
    assert math(fd.ops.cast(x, D.Float)) == (
        "T1_g_float[iS1{4}] = Set( T0_g_float[iS0{4}], cache_op=Streaming )\n"
    )


@pytest.mark.parametrize(
    ("source", "target"),
    [(D.Float8_e4m3fn, D.Int), (D.Int, D.Float8_e5m2), (D.Float8_e4m3fn, D.Float8_e5m2)],
)
def test_a_pair_without_conversion_is_rejected(fd, source, target) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=source)
    with pytest.raises(RuntimeError, match=r"Illegal Cast value from  DataType: .* to DataType: "):
        fd.ops.cast(x, target)


def test_dropping_the_imaginary_part_warns(fd) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=D.ComplexFloat)
    with pytest.warns(UserWarning, match="imaginary part"):
        assert fd.ops.cast(x, D.Float).dtype() == D.Float


def test_a_scalar_is_cast_by_a_node(fd) -> None:
    out = fd.ops.cast(2, D.Float)
    assert str(out.definition()).strip() == f"{out} = __to_float(2);"


def test_bitcast_keeps_the_size(fd, math) -> None:
    x = fd.define_tensor([4], contiguity=True)
    with pytest.raises(RuntimeError, match="BitCast only works for types of the same size"):
        fd.ops.bitcast(D.Double, x)
    assert "bit_cast(" in math(fd.ops.bitcast(D.Int32, x))


def test_whether_a_complex_number_is_nonzero_drops_nothing(fd) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=D.ComplexFloat)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fd.ops.cast(x, D.Bool)
        fd.ops.logical_not(x)
