"""csrc/ops/create.cpp: tensors made from scalars."""

from __future__ import annotations

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    evaluate,
)
from nvfuser_direct.pytorch_utils import nvfuser_dtype_to_torch_dtype

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


def test_eye(fd, math) -> None:
    assert math(fd.ops.eye(3), fd.ops.eye(2, 1, D.Int), fd.ops.eye(4, D.Half)) == (
        "T0_g_float[iS0{3}, iS1{3}] = eye(3, float);\n"
        "T1_g_int64_t[iS2{2}, bS3{1}] = eye(2, int64_t);\n"
        "T2_g___half[iS4{4}, iS5{4}] = eye(4, __half);\n"
    )


def test_eye_checks_its_sizes(fd) -> None:
    with pytest.raises(
        RuntimeError,
        match="Expected int extent argument to factory function but found constant value",
    ):
        fd.ops.eye(2.5)


@pytest.mark.parametrize("dtype", [D.Float, D.Half, D.Int, D.Bool, D.ComplexDouble])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (1, 4), (5, 3), (3, 5), (33, 33)])
def test_eye_has_ones_on_the_diagonal(target, shape, dtype) -> None:
    with FusionDefinition() as fd:
        n = fd.define_scalar(None, dtype=D.Int)
        fd.add_output(fd.ops.eye(*shape, dtype))
        fd.add_output(fd.ops.eye(n, shape[1], dtype=dtype))
    device = 0 if target == "cuda" else None
    expected = torch.eye(*shape, dtype=nvfuser_dtype_to_torch_dtype(dtype))
    for outputs in (fd.execute([shape[0]], device=device), evaluate(fd.fusion, [shape[0]])):
        for out in outputs:
            torch.testing.assert_close(out.cpu(), expected, rtol=0, atol=0)


def test_tensor_of_given_elements(fd, math) -> None:
    x = fd.define_scalar(None, dtype=D.Double)
    assert math(fd.ops.tensor([[1, 2], [3, 4]]), fd.ops.tensor([x, 2.0]), fd.ops.tensor(True)) == (
        "T0_g_int64_t[iS0{2}, iS1{2}] = TensorConstruct({1, 2, 3, 4})\n"
        "T1_g_double[iS2{2}] = TensorConstruct({d0, double(2)})\n"
        "T2_g_bool[] = TensorConstruct({true})\n"
    )


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([], "has at least one element"),
        ([[1, 2], [3]], "lists beside each other differ in length or depth"),
        ([1, [2]], "lists beside each other differ in length or depth"),
        ([[1], 2], "lists beside each other differ in depth"),
    ],
)
def test_tensor_needs_a_full_box_of_elements(fd, array, message) -> None:
    with pytest.raises(RuntimeError, match=message):
        fd.ops.tensor(array)


def test_tensor_values(target) -> None:
    many = [[(7 * i + j) % 23 - 0.5 for j in range(19)] for i in range(17)]
    with FusionDefinition() as fd:
        x = fd.define_scalar(None, dtype=D.Double)
        fd.add_output(fd.ops.tensor([[1, 2, 3], [4, 5, 6]]))
        fd.add_output(fd.ops.tensor([[x, 1.5], [fd.ops.mul(x, 2.0), fd.ops.mul(x, -0.5)]], D.Half))
        fd.add_output(fd.ops.add(fd.ops.tensor(many), 1.0))
        fd.add_output(fd.ops.tensor([1 + 2j, 3]))
        fd.add_output(fd.ops.tensor(2.5))
    expected = [
        torch.tensor([[1, 2, 3], [4, 5, 6]]),
        torch.tensor([[3.0, 1.5], [6.0, -1.5]]).half(),
        torch.tensor(many, dtype=torch.float64) + 1,
        torch.tensor([1 + 2j, 3], dtype=torch.complex128),
        torch.tensor(2.5, dtype=torch.float64),
    ]
    device = 0 if target == "cuda" else None
    for outputs in (fd.execute([3.0], device=device), evaluate(fd.fusion, [3.0])):
        for out, value in zip(outputs, expected, strict=True):
            torch.testing.assert_close(out.cpu(), value, rtol=0, atol=0)


def test_very_large_tensors_are_evaluated() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.tensor(list(range(2000))))
    with pytest.raises(RuntimeError, match="TensorConstruct has no kernel form"):
        fd.fusion.lower()
    assert torch.equal(fd.execute([])[0].cpu(), torch.arange(2000))


def test_kernels_of_given_elements_compile_for_cuda() -> None:
    with FusionDefinition() as fd:
        n = fd.define_scalar(None, dtype=D.Int)
        for dtype in (D.Float, D.Half, D.Int, D.Bool, D.ComplexFloat):
            fd.add_output(fd.ops.eye(n, 4, dtype))
            fd.add_output(fd.ops.tensor([[0, 1, 1], [n, 0, 1]], dtype))
    cuda_text(fd.fusion)


@pytest.mark.parametrize(
    "call",
    [
        lambda ops: ops.full([2, -1], 1.0, D.Float),
        lambda ops: ops.zeros([-1]),
        lambda ops: ops.uniform(0.0, 1.0, [-1]),
        lambda ops: ops.iota(-5),
        lambda ops: ops.eye(3, -1),
    ],
)
def test_a_negative_size_is_an_error(fd, call) -> None:
    with pytest.raises(RuntimeError, match=r"A size must not be negative, but is -\d\n"):
        call(fd.ops)


def test_a_range_of_large_integers_is_exact(fd) -> None:
    assert str(fd.ops.arange(2**60, 2**60 + 3).size(0)) == "3"
    assert str(fd.ops.arange(2**60 + 7, 2**60, -2).size(0)) == "4"
    assert str(fd.ops.arange(-(2**62), 2**62 - 1, 2**61).size(0)) == "4"
    assert str(fd.ops.arange(5, 5).size(0)) == "0"
    with pytest.raises(RuntimeError, match="does not fit into 64 bits"):
        fd.ops.arange(-(2**63), 2**63 - 1)


def test_a_range_of_floats_is_finite(fd) -> None:
    with pytest.raises(RuntimeError, match=r"arange: start, end, step must be finite numbers\."):
        fd.ops.arange(0.0, float("inf"), 1.0, D.Double)
    with pytest.raises(RuntimeError, match="does not fit into 64 bits"):
        fd.ops.arange(0.0, 1e300, 1.0, D.Double)


def test_a_complex_fill_value_warns_where_it_loses_a_part(fd) -> None:
    with pytest.warns(UserWarning, match="imaginary part"):
        fd.ops.full([2], 1j, D.Float)
