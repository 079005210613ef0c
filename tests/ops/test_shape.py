"""csrc/ops/shape.cpp: broadcast, squeeze, permute, stride_order."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType


def tensor(fd, shape, contiguity=True):
    return fd.define_tensor(shape, contiguity=contiguity)


def test_broadcast_inserts_dimensions(fd, math) -> None:
    assert math(fd.ops.broadcast(tensor(fd, [-1]), [True, False])) == (
        "T1_g_float[bS1{1}, iS2{i0}] = broadcast( T0_g_float[iS0{i0}], flags = {true, false} )\n"
    )


def test_broadcast_without_new_dimensions_is_the_operand(fd) -> None:
    x = tensor(fd, [-1])
    assert fd.ops.broadcast(x, [False]) is x


def test_broadcast_needs_one_false_per_dimension(fd) -> None:
    with pytest.raises(
        RuntimeError,
        match="Invalid broadcast, number of false entries in is_broadcast_dim expected to be 1 "
        "but received 2",
    ):
        fd.ops.broadcast(tensor(fd, [-1]), [False, False])


def test_broadcast_in_dim_is_broadcast_and_expand(fd, math) -> None:
    text = math(fd.ops.broadcast_in_dim(tensor(fd, [-1]), [2, 3, -1], [-1]))
    assert "broadcast( T0_g_float[iS0{i0}], flags = {true, true, false} )" in text
    assert "T2_g_float[bS4{1 ex 2}, bS5{1 ex 3}, iS6{i0}] = expand( " in text


def test_broadcast_in_dim_checks_its_dimensions(fd) -> None:
    x = tensor(fd, [-1, -1])
    with pytest.raises(RuntimeError, match=r"nonbroadcast_dim \(0\) is specified more than once\."):
        fd.ops.broadcast_in_dim(x, [2, 3], [0, 0])
    with pytest.raises(RuntimeError, match="broadcast_in_dim"):
        fd.ops.broadcast_in_dim(x, [2, 3], [0])
    with pytest.raises(RuntimeError, match="broadcast_in_dim"):
        fd.ops.broadcast_in_dim(x, [2], [0, 1])


def test_squeeze_removes_dimensions(fd, math) -> None:
    assert math(fd.ops.squeeze(tensor(fd, [1, -1, 1]), [0, -1])) == (
        "T1_g_float[iS3{i1}] = squeeze( T0_g_float[bS0{1}, iS1{i1}, bS2{1}], "
        "flags = {true, false, true} )\n"
    )


def test_squeeze_of_nothing_is_a_copy(fd, math) -> None:
    assert "Set( " in math(fd.ops.squeeze(tensor(fd, [1]), []))


@pytest.mark.parametrize(
    ("dims", "message"),
    [
        ([1], r"Can not squeeze non-broadcasting dimension\(s\)\."),
        ([2], "Refusing to squeeze expanded IterDomain bS2{1 ex 5}"),
        ([3], "Squeeze dim is outside of Tensor size!"),
        ([-4], "Squeeze dim is outside of Tensor size!"),
        (
            [0, 1, 2, 0],
            r"The dims to squeeze must be <= the number of dims of the input tensor\.",
        ),
    ],
)
def test_squeeze_checks_its_dimensions(fd, dims, message) -> None:
    x = tensor(fd, [1, -1, 5], contiguity=[None, True, None])
    with pytest.raises(RuntimeError, match=message):
        fd.ops.squeeze(x, dims)


def test_an_expanded_dimension_is_squeezed_on_request(fd) -> None:
    x = tensor(fd, [5, -1], contiguity=[None, True])
    assert fd.ops.squeeze(x, [0], squeeze_expanded=True).ndim == 1


def test_permute_has_a_root_domain(fd, math) -> None:
    out = fd.ops.permute(tensor(fd, [2, 3, 4]), [2, 0, -2])
    assert out.has_root()
    assert [str(i) for i in out.get_root_domain()] == ["iS3{2}", "iS4{3}", "iS5{4}"]
    assert math(out) == (
        "T1_g_float[iS5{4}, iS3{2}, iS4{3}] = "
        "Set.Permute( T0_g_float[iS0{2}, iS1{3}, iS2{4}], cache_op=Streaming )\n"
    )


def test_permute_of_nothing_is_a_copy(fd) -> None:
    assert not fd.ops.permute(tensor(fd, [2, 3]), []).has_root()


def test_permute_checks_its_dimensions(fd) -> None:
    x = tensor(fd, [2, 3])
    with pytest.raises(
        RuntimeError,
        match="Operator permute expects `dims` argument to have the same length as input!",
    ):
        fd.ops.permute(x, [0])
    with pytest.raises(RuntimeError, match="duplicated"):
        fd.ops.permute(x, [0, 0])
    with pytest.raises((RuntimeError, IndexError), match="out of boundary index 2"):
        fd.ops.permute(x, [0, 2])


def test_stride_order_makes_an_allocation_domain(fd) -> None:
    out = fd.ops.stride_order(tensor(fd, [2, 3, 4]), [0, 2, -2])
    fd.add_output(out)
    text = fd.fusion.print_transforms()
    assert "allocation domain: (iS4{3}, iS5{4}, iS3{2})" in text
    assert "contiguity: t t t" in text


def test_stride_order_checks_its_entries(fd) -> None:
    x = tensor(fd, [2, 3])
    with pytest.raises(
        RuntimeError,
        match="Operator stride_order expects `stride_order` argument to have the same length as "
        "input!",
    ):
        fd.ops.stride_order(x, [0])
    for order, message in (([0, 0], "duplicated"), ([0, 2], "out of range"), ([0, -3], "range")):
        with pytest.raises(RuntimeError, match=message):
            fd.ops.stride_order(x, order)
    assert fd.ops.stride_order(x, []).ndim == 2


def test_transpose_unsqueeze_and_expand_as(fd) -> None:
    x = tensor(fd, [2, 3])
    assert [str(v) for v in fd.ops.transpose(x, 0, 1).shape()] == ["3", "2"]
    assert [str(v) for v in fd.ops.unsqueeze(x, -1).shape()] == ["2", "3", "1"]
    row = fd.ops.unsqueeze(tensor(fd, [3]), 0)
    assert [str(v) for v in fd.ops.expand_as(row, x).shape()] == ["2", "3"]


def test_size_and_shape_make_no_node(fd) -> None:
    x = tensor(fd, [-1, 5], contiguity=[True, None])
    assert str(fd.ops.size(x, -1)) == "5"
    assert [str(v) for v in fd.ops.shape(x)] == ["i0", "5"]
    assert fd.fusion.all_exprs() == []


def test_a_size_must_be_an_integer(fd) -> None:
    n = fd.define_scalar(None, dtype=DataType.Double)
    with pytest.raises(RuntimeError, match="A size must be an integer"):
        fd.ops.expand(tensor(fd, [1]), [n])


def test_broadcast_dims_in_any_order_are_positions(fd, math) -> None:
    x = tensor(fd, [3, 4])
    text = math(fd.ops.broadcast_in_dim(x, [4, 2, 3], [2, 0]))
    assert "T1_l_float[iS3{4}, iS2{3}] = Set.Permute( T0_g_float[iS0{3}, iS1{4}]" in text
    assert "T3_g_float[iS7{4}, bS8{1 ex 2}, iS9{3}] = expand( " in text


@pytest.mark.parametrize(
    "call",
    [
        lambda ops, x: ops.sum(x, 2),
        lambda ops, x: ops.permute(x, [0, 2]),
        lambda ops, x: ops.transpose(x, 0, -3),
        lambda ops, x: ops.unsqueeze(x, 4),
        lambda ops, x: ops.broadcast_in_dim(x, [3, 4], [0, 2]),
        lambda ops, x: ops.select(x, 0, 2),
        lambda ops, x: ops.cumsum(x, 2),
        lambda ops, x: ops.topk(x, 1, 2),
        lambda ops, x: ops.argsort(x, -3),
        lambda ops, x: ops.chunk(x, 2, 2),
        lambda ops, x: ops.welford(x, [2]),
    ],
)
def test_a_dimension_out_of_range_names_the_tensor(fd, call) -> None:
    x = tensor(fd, [3, 4])
    with pytest.raises(RuntimeError) as error:
        call(fd.ops, x)
    assert "Tried to access out of boundary index" in str(error.value)
    assert "node:     T0_g_float[iS0{3}, iS1{4}], made at test_shape.py:" in str(error.value)


def test_a_tensor_is_no_size(fd) -> None:
    x = tensor(fd, [3])
    with pytest.raises(RuntimeError, match="A size must be an integer, but got a tensor of type"):
        fd.ops.expand(tensor(fd, [1]), [x])
    with pytest.raises(RuntimeError, match="A size must be an integer, but got a dimension of"):
        fd.ops.full([x.axis(0)], 1.0, DataType.Float)
