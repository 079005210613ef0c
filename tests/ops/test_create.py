"""csrc/ops/create.cpp: tensors made from scalars."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType

D = DataType


def test_full_converts_its_value(fd, math) -> None:
    assert math(fd.ops.full([2, 1, 3], 2, D.Float)) == (
        "T0_g_float[iS0{2}, bS1{1}, iS2{3}] = full({2, 1, 3}, float(2));\n"
    )


def test_full_of_rank_zero(fd, math) -> None:
    assert math(fd.ops.full([], 1.5, D.Double)) == "T0_g_double[] = full({}double(1.5));\n"


def test_a_symbolic_size_stays_undecided(fd, math) -> None:
    n = fd.define_scalar(None, dtype=D.Int)
    assert "?S0{( __to_index(i0) )}" in math(fd.ops.full([n], 0.0, D.Float))


def test_a_constant_size_must_be_an_integer(fd) -> None:
    size = fd.define_scalar(2.5)
    with pytest.raises(
        RuntimeError,
        match="Expected int extent argument to factory function but found constant value",
    ):
        fd.ops.full([size], 0.0, D.Float)


def test_a_size_below_minus_one_is_an_error(fd) -> None:
    with pytest.raises(RuntimeError, match=r"The value -3 at index 1 was neither symbolic\(-1\)"):
        fd.ops.full([2, -3], 0.0, D.Float)


def test_zeros_and_ones(fd, math) -> None:
    x = fd.define_tensor([4], contiguity=True, dtype=D.Half)
    outs = [
        fd.ops.zeros([4], dtype=D.Int),
        fd.ops.ones([4], dtype=D.Bool),
        fd.ops.zeros_like(x),
        fd.ops.ones_like(x),
        fd.ops.full_like(x, 2.0),
    ]
    assert [o.dtype() for o in outs] == [D.Int, D.Bool, D.Half, D.Half, D.Half]
    text = math(*outs)
    assert [line.split("}, ")[1] for line in text.splitlines()] == [
        "0);",
        "true);",
        "__half(0));",
        "__half(1));",
        "__half(2));",
    ]


def test_iota_has_defaults(fd, math) -> None:
    assert math(fd.ops.iota(4)) == "T0_g_int64_t[iS0{4}] = iota(4, 0, 1, int64_t);\n"


@pytest.mark.parametrize("which", ["start", "step"])
def test_iota_parameters_have_the_class_of_the_dtype(fd, which) -> None:
    with pytest.raises(
        RuntimeError,
        match=f"iota: {which} dtype does not match specified dtype argument, should be int64_t "
        "but get double",
    ):
        fd.ops.iota(4, **{which: 1.5})


def test_iota_checks_its_constants(fd) -> None:
    with pytest.raises(RuntimeError, match="length must be integer, but get dtype double"):
        fd.ops.iota(4.0)
    with pytest.raises(RuntimeError, match=r"iota: length, start, step must be finite numbers\."):
        fd.ops.iota(4, float("inf"), 1.0, dtype=D.Float)
    with pytest.raises(RuntimeError, match=r"iota: step value must not equal zero\."):
        fd.ops.iota(4, 0, 0)


@pytest.mark.parametrize(
    ("start", "end", "step", "length"), [(0, 10, 3, 4), (10, 0, -5, 2), (0, 9, 3, 3), (0, 0, 1, 0)]
)
def test_arange_counts_its_elements(fd, start, end, step, length) -> None:
    assert str(fd.ops.arange(start, end, step).size(0)) == str(length)
