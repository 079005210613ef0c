"""define_tensor and compute_tensor_descriptor."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType, FusionDefinition, compute_tensor_descriptor


def axes(*args, **kwargs) -> list[str]:
    with FusionDefinition() as fd:
        tensor = fd.define_tensor(*args, **kwargs)
    return [str(axis) for axis in tensor.get_logical_domain()]


@pytest.mark.parametrize(
    ("sizes", "strides", "contiguity", "stride_order"),
    [
        ([2, 3, 4], [12, 4, 1], [True, True, True], [2, 1, 0]),
        ([2, 3, 4], [1, 8, 2], [True, True, True], [0, 2, 1]),
        ([2, 3, 4], [24, 4, 1], [False, True, True], [2, 1, 0]),
        ([2, 1, 4], [4, 4, 1], [True, None, True], [2, 1, 0]),
        ([2, 3, 4], [4, 0, 1], [True, None, True], [2, 1, 0]),
        ([], [], [], []),
        ([5], [2], [False], [0]),
    ],
)
def test_descriptor(sizes, strides, contiguity, stride_order) -> None:
    assert compute_tensor_descriptor(sizes, strides) == (contiguity, stride_order)


def test_descriptor_errors() -> None:
    with pytest.raises(
        RuntimeError, match=r"negative stride on tensor is not supported: strides\[1\]=-1"
    ):
        compute_tensor_descriptor([2, 3], [3, -1])
    with pytest.raises(RuntimeError, match="must have the same number of dimensions"):
        compute_tensor_descriptor([2, 3], [3])


def test_sizes() -> None:
    assert axes([-1, 0, 1, 7]) == ["iS0{i0}", "iS1{0}", "bS2{1}", "iS3{7}"]
    assert axes(shape=[]) == []


def test_none_makes_an_expanded_broadcast() -> None:
    assert axes([4, -1], [None, None]) == ["bS0{1 ex 4}", "bS1{1 ex i1}"]


def test_sizes_and_strides() -> None:
    assert axes([4, 1, 8], [8, 8, 1]) == ["iS0{i0}", "bS1{1}", "iS2{i2}"]
    assert axes(sizes=[4, 1], strides=[1, 1], static_sizes=True) == ["iS0{4}", "bS1{1}"]


def test_stride_order_makes_an_allocation_domain() -> None:
    with FusionDefinition() as fd:
        nhwc = fd.define_tensor([2, 3, 4, 5], contiguity=True, stride_order=[3, 0, 2, 1])
        rows = fd.define_tensor([2, 3], contiguity=True, stride_order=[1, 0])
    n, c, h, w = nhwc.get_logical_domain()
    assert nhwc.get_allocation_domain() == [n, h, w, c]
    assert not rows.has_allocation()


def test_contiguity_is_in_allocation_order() -> None:
    with FusionDefinition() as fd:
        tensor = fd.define_tensor([1, 5], contiguity=[True, None], stride_order=[0, 1])
    assert tensor.get_contiguity() == [True, None]


def test_old_spellings() -> None:
    assert axes(2) == ["iS0{i0}", "iS1{i1}"]
    assert axes(symbolic_sizes=[-1, 1], contiguous=[True, True]) == ["iS0{i0}", "bS1{1}"]
    assert axes(symbolic_sizes=[-1, 1], contiguity=[True, None]) == ["iS0{i0}", "bS1{1}"]
    with pytest.raises(RuntimeError, match="The value 5 at index 0 was neither broadcast"):
        axes(symbolic_sizes=[5], contiguous=[True])


def test_fp4_comes_in_pairs() -> None:
    with FusionDefinition() as fd:
        packed = fd.define_tensor([4, 8], dtype=DataType.Float4_e2m1fn_x2)
        like = fd.define_tensor([4, 8], [8, 1], dtype=DataType.Float4_e2m1fn_x2, static_sizes=True)
        with pytest.raises(RuntimeError, match=r"Invalid extent value\. "):
            fd.define_tensor([4, -1], dtype=DataType.Float4_e2m1fn_x2)
    for tensor in (packed, like):
        assert tensor.dtype() is DataType.Float4_e2m1fn
        assert [str(size) for size in tensor.shape()] == ["4", "16"]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        (
            {"shape": [-2]},
            r"The value -2 at index 0 was neither symbolic\(-1\), zero_element\(0\), "
            r"broadcast\(1\), or static\(>1\).",
        ),
        (
            {"shape": [4, 4], "contiguity": [True]},
            r"Length of contiguity argument \(1\) must match that of shape argument \(2\)",
        ),
        (
            {"shape": [4, 1], "contiguity": [True, True]},
            "The contiguity of a broadcast/reduction dimension must be None. The contiguity of a "
            "non-broadcast/reduction dimension must be true/false.",
        ),
        (
            {"shape": [4, 4], "stride_order": [0]},
            r"Length of stride_order argument \(1\) must be zero or match that of shape "
            r"argument \(2\)",
        ),
        (
            {"shape": [4, 4], "stride_order": [0, -3]},
            "defineTensor stride_order argument is out of range, expects >= -2, but got: -3",
        ),
        (
            {"shape": [4, 4], "stride_order": [0, 2]},
            "defineTensor stride_order argument is out of range, expects < 2",
        ),
        (
            {"shape": [4, 4], "stride_order": [1, -1]},
            "defineTensor got duplicated stride_order entries: ",
        ),
        ({"shape": [4], "is_cpu": True}, "CPU non-scalar tensor is not supported!"),
        (
            {"sizes": [4, 4], "strides": [1]},
            "The number of sizes does not match the number of strides.21",
        ),
        (
            {"sizes": [-4], "strides": [1]},
            "Size of -4 is not supported in nvFuser. Expected size >= 0.",
        ),
    ],
)
def test_errors(kwargs, message: str) -> None:
    with FusionDefinition() as fd, pytest.raises(RuntimeError, match=message):
        fd.define_tensor(**kwargs)
