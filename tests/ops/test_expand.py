"""csrc/ops/expand.cpp: dimensions of size one repeated."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType


def tensor(fd, shape, contiguity=True):
    return fd.define_tensor(shape, contiguity=contiguity)


def test_a_broadcast_dimension_expands(fd, math) -> None:
    assert math(fd.ops.expand(tensor(fd, [1, -1]), [4, -1])) == (
        "T1_g_float[bS2{1 ex 4}, iS3{i1}] = expand( T0_g_float[bS0{1}, iS1{i1}] )\n"
    )


def test_missing_leading_dimensions_are_added(fd, math) -> None:
    text = math(fd.ops.expand(tensor(fd, [-1]), [4, -1]))
    assert "broadcast( T0_g_float[iS0{i0}], flags = {true, false} )" in text
    assert "T2_g_float[bS3{1 ex 4}, iS4{i0}] = expand( " in text


def test_nothing_to_expand_is_a_copy(fd, math) -> None:
    assert "Set( " in math(fd.ops.expand(tensor(fd, [1, 3]), [1, 3]))


def test_a_symbolic_extent_is_replaced_by_the_size(fd, math) -> None:
    text = math(fd.ops.expand(tensor(fd, [-1]), [8]))
    assert text == "T1_g_float[iS1{8}] = Set( T0_g_float[iS0{i0}], cache_op=Streaming )\n"


def test_a_scalar_size_becomes_an_index(fd, math) -> None:
    n = fd.define_scalar(None, dtype=DataType.Int)
    text = math(fd.ops.expand(tensor(fd, [1]), [n]))
    assert "= __to_index(i0);" in text
    assert "bS1{1 ex ( __to_index(i0) )}" in text


def test_a_constant_extent_must_match(fd) -> None:
    with pytest.raises(RuntimeError, match=r"Invalid expand size, 4, for iS0\{3\}"):
        fd.ops.expand(tensor(fd, [3]), [4])


def test_an_expanded_dimension_keeps_its_size(fd) -> None:
    x = tensor(fd, [5], contiguity=[None])
    assert [str(v) for v in fd.ops.expand(x, [5]).shape()] == ["5"]
    with pytest.raises(RuntimeError, match=r"Expected sizes to match: 5 vs 6\."):
        fd.ops.expand(x, [6])


def test_a_symbolic_dimension_stays_undecided(fd, math) -> None:
    n = fd.define_scalar(None, dtype=DataType.Int)
    m = fd.define_scalar(None, dtype=DataType.Int)
    x = fd.ops.full([n], 1.0, DataType.Float)
    assert "expand( " in math(fd.ops.expand(x, [m]))


def test_fewer_sizes_than_dimensions_is_an_error(fd) -> None:
    with pytest.raises(RuntimeError, match="fewer dimensions"):
        fd.ops.expand(tensor(fd, [3, 4]), [4])


def test_a_size_below_minus_one_is_an_error(fd) -> None:
    with pytest.raises(
        RuntimeError,
        match=r"The value -2 at index 0 was neither symbolic\(-1\), zero_element\(0\), "
        r"broadcast\(1\), or static\(>1\)\.",
    ):
        fd.ops.expand(tensor(fd, [1]), [-2])


def test_a_scalar_size_is_not_negative(fd) -> None:
    with pytest.raises(RuntimeError, match="A size must not be negative, but is -3"):
        fd.ops.expand(tensor(fd, [1]), [fd.define_scalar(-3)])
