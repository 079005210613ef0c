"""csrc/ops/bitwise.cpp: operations on the bits of integers."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType

D = DataType


@pytest.mark.parametrize(
    ("name", "symbol"), [("bitwise_and", "&&"), ("bitwise_or", "||"), ("bitwise_xor", "!=")]
)
def test_two_bools_make_a_logical_operation(fd, math, name, symbol) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=D.Bool)
    out = getattr(fd.ops, name)(x, x)
    assert out.dtype() == D.Bool
    assert f" {symbol} " in math(out)


@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor"])
def test_integers_are_promoted(fd, name) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=D.Int32)
    b = fd.define_tensor([4], contiguity=True, dtype=D.Bool)
    y = fd.define_tensor([4], contiguity=True)
    function = getattr(fd.ops, name)
    assert function(x, b).dtype() == D.Int32
    with pytest.raises(
        RuntimeError, match=f"Integer or boolean input is required for {name} but found float"
    ):
        function(x, y)


@pytest.mark.parametrize("dtype", [D.Int, D.Int32])
def test_logical_right_shift_is_made_of_parts(fd, math, dtype) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=dtype)
    text = math(fd.ops.logical_right_shift(x, 3))
    assert text.count(">> ") == 1
    assert text.count("signbit(") == 1
    assert "where(" in text
    assert f" >= {64 if dtype == D.Int else 32};" in text


def test_logical_right_shift_of_unsigned_integers_is_a_shift(fd, math) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=D.UInt64)
    out = fd.ops.logical_right_shift(x, x)
    assert out.dtype() == D.UInt64
    text = math(out)
    assert text.count(">> ") == 1
    assert "where(" not in text


def test_logical_right_shift_needs_integers(fd) -> None:
    x = fd.define_tensor([4], contiguity=True)
    with pytest.raises(
        RuntimeError, match="input must have integral type, but got float and int64_t"
    ):
        fd.ops.logical_right_shift(x, 3)
