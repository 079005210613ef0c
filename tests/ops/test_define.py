"""csrc/ops/define.cpp: tensors and scalars that come from outside."""

from __future__ import annotations

import pytest

from nvfuser_direct import DataType, compute_tensor_descriptor, define_scalar, define_tensor

D = DataType


def test_sizes_say_what_a_dimension_is(fd) -> None:
    x = fd.define_tensor(shape=[-1, 0, 1, 5], contiguity=[True, True, None, True])
    assert str(x) == "T0_g_float[iS0{i0}, iS1{0}, bS2{1}, iS3{5}]"


def test_symbolic_sizes_have_successive_names(fd) -> None:
    assert str(fd.define_tensor([-1, -1, -1])) == "T0_g_float[iS0{i0}, iS1{i1}, iS2{i2}]"


def test_a_size_without_stride_is_an_expanded_broadcast(fd) -> None:
    x = fd.define_tensor(shape=[-1, 5], contiguity=[None, None])
    assert str(x) == "T0_g_float[bS0{1 ex i0}, bS1{1 ex 5}]"


def test_an_empty_shape_is_a_zero_dim_tensor(fd) -> None:
    assert fd.define_tensor(shape=[]).ndim == 0


def test_define_tensor_alone_registers_nothing(fd) -> None:
    x = define_tensor([2], contiguity=True)
    assert str(x) == "T0_l_float[iS0{2}]"
    assert fd.fusion.inputs() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"shape": [-2]},
            r"The value -2 at index 0 was neither symbolic\(-1\), zero_element\(0\), "
            r"broadcast\(1\), or static\(>1\)\.",
        ),
        (
            {"shape": [2, 3], "contiguity": [True]},
            r"Length of contiguity argument \(1\) must match that of shape argument \(2\)",
        ),
        (
            {"shape": [1], "contiguity": [True]},
            r"The contiguity of a broadcast/reduction dimension must be None\. The contiguity of a "
            r"non-broadcast/reduction dimension must be true/false\.",
        ),
        (
            {"shape": [2, 3], "stride_order": [0]},
            r"Length of stride_order argument \(1\) must be zero or match that of shape argument "
            r"\(2\)",
        ),
        (
            {"shape": [2, 3], "stride_order": [0, -3]},
            "defineTensor stride_order argument is out of range, expects >= -2, but got: -3",
        ),
        (
            {"shape": [2, 3], "stride_order": [0, 2]},
            "defineTensor stride_order argument is out of range, expects < 2",
        ),
        (
            {"shape": [2, 3], "stride_order": [1, 1]},
            "defineTensor got duplicated stride_order entries: 1, 1",
        ),
        ({"shape": [2], "is_cpu": True}, "CPU non-scalar tensor is not supported!"),
        (
            {"sizes": [2, 3], "strides": [1]},
            "The number of sizes does not match the number of strides",
        ),
        (
            {"sizes": [-2], "strides": [1]},
            r"Size of -2 is not supported in nvFuser\. Expected size >= 0\.",
        ),
        (
            {"shape": [2, -1], "dtype": DataType.Float4_e2m1fn_x2},
            r"Invalid extent value\.",
        ),
    ],
)
def test_wrong_definitions_are_errors(fd, arguments, message) -> None:
    with pytest.raises(RuntimeError, match=message):
        fd.define_tensor(**arguments)


def test_a_stride_order_makes_an_allocation_domain(fd) -> None:
    fd.add_output(fd.ops.exp(fd.define_tensor([2, 3, 4, 5], True, stride_order=[3, 0, 2, 1])))
    text = fd.fusion.print_transforms()
    assert "allocation domain: (iS0{2}, iS2{4}, iS3{5}, iS1{3})" in text


def test_a_row_major_stride_order_is_dropped(fd) -> None:
    fd.add_output(fd.ops.exp(fd.define_tensor([2, 3], True, stride_order=[1, 0])))
    assert "allocation domain" not in fd.fusion.print_transforms()


@pytest.mark.parametrize(
    ("sizes", "strides", "contiguity", "order"),
    [
        ([2, 3, 4], [12, 4, 1], [True, True, True], [2, 1, 0]),
        ([2, 3, 4], [1, 8, 2], [True, True, True], [0, 2, 1]),
        ([2, 3, 4], [24, 4, 1], [False, True, True], [2, 1, 0]),
        ([2, 1, 4], [4, 4, 1], [True, None, True], [2, 1, 0]),
        ([2, 3, 4], [4, 0, 1], [True, None, True], [2, 1, 0]),
        ([], [], [], []),
        ([4], [2], [False], [0]),
    ],
)
def test_strides_tell_contiguity_and_order(sizes, strides, contiguity, order) -> None:
    found = compute_tensor_descriptor(sizes, strides)
    assert (list(found[0]), list(found[1])) == (contiguity, order)


def test_a_negative_stride_is_an_error() -> None:
    with pytest.raises(
        RuntimeError, match=r"negative stride on tensor is not supported: strides\[1\]=-1"
    ):
        compute_tensor_descriptor([2, 3], [3, -1])
    with pytest.raises(
        RuntimeError,
        match="compute_tensor_descriptor: Sizes and strides must have the same number of "
        "dimensions",
    ):
        compute_tensor_descriptor([2, 3], [3])


def test_real_sizes_become_symbolic_unless_static(fd) -> None:
    x = fd.define_tensor(sizes=[2, 1], strides=[1, 1])
    y = fd.define_tensor(sizes=[2, 1], strides=[1, 1], static_sizes=True)
    assert str(x) == "T0_g_float[iS0{i0}, bS1{1}]"
    assert str(y).endswith("{2}, bS3{1}]")


def test_packed_numbers_are_unpacked(fd) -> None:
    x = fd.define_tensor([2, 3], contiguity=True, dtype=D.Float4_e2m1fn_x2)
    assert x.dtype() == D.Float4_e2m1fn
    assert [str(v) for v in x.shape()] == ["2", "6"]
    with pytest.raises(RuntimeError, match=r"Packed type .* must be unpacked when defining fusion"):
        define_scalar(dtype=D.Float4_e2m1fn_x2)


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (3, "3"), (2.0, "double(2)"), (1j, "std::complex<double>(0,1)")],
)
def test_a_constant_follows_its_python_type(fd, value, text) -> None:
    assert str(fd.define_scalar(value)) == text


def test_a_scalar_without_value_is_symbolic(fd) -> None:
    assert fd.define_scalar().is_symbolic()
    assert str(fd.define_scalar(None, dtype=D.Int)).startswith("i")
    assert len(fd.fusion.inputs()) == 2


def test_a_value_is_converted_to_the_dtype(fd) -> None:
    assert str(fd.define_scalar(2, dtype=D.Float)) == "float(2)"
    assert str(fd.define_scalar(True, dtype=D.Int)) == "1"
    with pytest.raises(
        (RuntimeError, ValueError),
        match="Scalar value is not compatible with the given data type float for value",
    ):
        fd.define_scalar(1j, dtype=D.Float)
    with pytest.raises(
        (RuntimeError, ValueError),
        match="Scalar value is not compatible with the given data type int64_t for value inf",
    ):
        fd.define_scalar(float("inf"), dtype=D.Int)
