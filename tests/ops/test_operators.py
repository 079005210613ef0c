"""python_direct/operators.cpp: operators on values, and questions that have no answer yet."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
import torch

from nvfuser_direct import BinaryOp, DataType, FusionDefinition, IterDomain, TensorView, Val

D = DataType

SAME = {
    "add": (operator.add, "add"),
    "sub": (operator.sub, "sub"),
    "mul": (operator.mul, "mul"),
    "truediv": (operator.truediv, "truediv"),
    "floordiv": (operator.floordiv, "floor_divide"),
    "mod": (operator.mod, "remainder"),
    "pow": (operator.pow, "pow"),
    "lt": (operator.lt, "lt"),
    "le": (operator.le, "le"),
    "gt": (operator.gt, "gt"),
    "ge": (operator.ge, "ge"),
}
BITS = {
    "and": (operator.and_, "bitwise_and"),
    "or": (operator.or_, "bitwise_or"),
    "xor": (operator.xor, "bitwise_xor"),
    "lshift": (operator.lshift, "bitwise_left_shift"),
    "rshift": (operator.rshift, "bitwise_right_shift"),
}


def outputs_of(define: Any, inputs: list[Any]) -> list[torch.Tensor]:
    """Run what `define` makes of the inputs: tensors like them, and scalars for numbers."""
    with FusionDefinition() as fd:
        handles = [
            fd.from_pytorch(x) if isinstance(x, torch.Tensor) else fd.define_scalar(scalar_type(x))
            for x in inputs
        ]
        for out in define(fd, *handles):
            fd.add_output(out)
    return fd.execute(inputs)


def scalar_type(x: float) -> DataType:
    return D.Int if isinstance(x, int) else D.Double


@pytest.mark.parametrize("dtype", [D.Float, D.Int, D.Half])
@pytest.mark.parametrize("name", SAME)
def test_an_operator_is_a_function_of_ops(fd: FusionDefinition, name: str, dtype: DataType) -> None:
    apply, function = SAME[name]
    x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
    row = fd.define_tensor([-1], contiguity=True, dtype=dtype)
    scalar = fd.define_scalar(D.Int)
    same = getattr(fd.ops, function)
    pairs = [(x, x), (x, row), (x, 3), (x, scalar), (scalar, x), (scalar, scalar), (scalar, 3)]
    for a, b in pairs:
        made, expected = apply(a, b), same(a, b)
        assert type(made) is type(expected)
        assert made.dtype() == expected.dtype()
        assert type(made.definition()) is type(expected.definition())
    for number in (3, 2.0):
        for handle in (x, scalar):
            mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
            function = getattr(fd.ops, mirrored.get(name, ""), same)
            sides = (handle, number) if name in mirrored else (number, handle)
            assert apply(number, handle).dtype() == function(*sides).dtype()


@pytest.mark.parametrize("name", BITS)
def test_operators_on_bits(fd: FusionDefinition, name: str) -> None:
    apply, function = BITS[name]
    x = fd.define_tensor([-1], contiguity=True, dtype=D.Int)
    same = getattr(fd.ops, function)
    for a, b in [(x, x), (x, 3), (3, x)]:
        made, expected = apply(a, b), same(a, b)
        assert made.same_definition(expected) or made.dtype() == expected.dtype()
    (out,) = outputs_of(lambda fd, x: [apply(x, 2)], [torch.arange(8)])
    assert out.tolist() == [apply(i, 2) for i in range(8)]


def test_values_of_operators_are_pythons(target: str) -> None:
    x = torch.tensor([-7.5, -2.0, -0.0, 0.3, 1.0, 9.25], device=target)
    i = torch.tensor([-7, -4, 0, 3, 4, 9], device=target)

    def define(fd: FusionDefinition, x: TensorView, i: TensorView, s: Val) -> list[TensorView]:
        # fmt: off
        return [x + 1, 1 - x, x * 2.0, 2.0 / (x + 10), x / i, x // 2, x % 3, 2**x, abs(x), -x, +x,
                x < 1, x >= 1, x > s, s >= x, i // 2, i % 3, 20 // (i + 30), i / 2, ~i, x * s,
                s * x, s // 2 * x, (i > 0) & (i < 9)]
        # fmt: on

    def expected() -> list[torch.Tensor]:
        s = 2.5
        # fmt: off
        return [x + 1, 1 - x, x * 2.0, 2.0 / (x + 10), x / i, x // 2, x % 3, 2**x, abs(x), -x, +x,
                x < 1, x >= 1, x > s, s >= x, i // 2, i % 3, 20 // (i + 30), i / 2, ~i, x * s,
                s * x, s // 2 * x, (i > 0) & (i < 9)]
        # fmt: on

    for out, reference in zip(outputs_of(define, [x, i, 2.5]), expected(), strict=True):
        torch.testing.assert_close(out, reference, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64])
def test_floor_division_rounds_down(target: str, dtype: torch.dtype) -> None:
    values = [-9, -8, -7, -1, 1, 2, 7, 8, 9]
    divisors = [-3, -2, -1, 1, 2, 3, 4]
    a = torch.tensor(values, dtype=dtype, device=target).repeat_interleave(len(divisors))
    b = torch.tensor(divisors, dtype=dtype, device=target).repeat(len(values))
    (out,) = outputs_of(lambda fd, x, y: [x // y], [a, b])
    assert out.dtype == dtype
    assert torch.equal(out, a // b)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_floor_division_does_not_wrap(target: str, dtype: torch.dtype) -> None:
    ends = [torch.iinfo(dtype).min, torch.iinfo(dtype).min + 1, torch.iinfo(dtype).max]
    divisors = [-7, -3, 3, 7, *ends]
    a = torch.tensor(ends, dtype=dtype, device=target).repeat_interleave(len(divisors))
    b = torch.tensor(divisors, dtype=dtype, device=target).repeat(len(ends))
    (out,) = outputs_of(lambda fd, x, y: [x // y], [a, b])
    assert torch.equal(out, a // b)


def test_floor_division_of_floats_is_exact(target: str) -> None:
    a = torch.tensor([1.0, -1.0, 1.0, 6.0, 0.0, 5.0, -5.0, 1.0, -1.0], device=target)
    b = torch.tensor([0.1, 0.1, -0.1, 0.2, 0.0, 0.0, 0.0, math.inf, math.inf], device=target)
    (out,) = outputs_of(lambda fd, x, y: [x // y], [a, b])
    torch.testing.assert_close(out, a // b, rtol=0, atol=0, equal_nan=True)


def test_a_quotient_of_a_size_is_one_division(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1, 8], contiguity=True)
    half = x.size(0) // 2
    quarter = half // 2
    assert half.definition().rhs.value() == 2
    assert half.definition().lhs is x.size(0)
    assert quarter.definition().lhs is half
    assert (x.size(1) // 3).evaluate() == 2
    free = fd.define_scalar(D.Int)
    assert not isinstance((free // 2).definition(), BinaryOp)  # it may be negative
    assert (free // 2).dtype() == D.Int


def test_sizes_are_computed_with_operators(target: str) -> None:
    x = torch.arange(12.0, device=target).reshape(6, 2)
    define = lambda fd, x: [fd.ops.reshape(x, [x.size(0) // 2, 2 * x.size(1)])]  # noqa: E731
    (out,) = outputs_of(define, [x])
    assert torch.equal(out, x.reshape(3, 4))


def test_matrices_multiply() -> None:
    a, b = torch.randn(3, 4), torch.randn(4, 5)
    (out,) = outputs_of(lambda fd, a, b: [a @ b], [a, b])
    torch.testing.assert_close(out, a @ b)


def test_in_place_operators_make_new_values(fd: FusionDefinition) -> None:
    x = y = fd.define_tensor([-1], contiguity=True)
    y += 1
    assert y is not x
    assert y.definition().lhs is x


@pytest.mark.parametrize("number", [np.float32(2), np.int64(2), np.float64(2)])
def test_numbers_of_numpy_are_operands_on_both_sides(fd: FusionDefinition, number: Any) -> None:
    x = fd.define_tensor([-1], contiguity=True)
    for made in (x * number, number * x, number - x, number < x):
        assert isinstance(made, TensorView)


@pytest.mark.parametrize("other", ["2", None, [2], object()])
def test_what_is_no_operand_is_an_error(fd: FusionDefinition, other: object) -> None:
    x = fd.define_tensor([-1], contiguity=True)
    for a, b in [(x, other), (other, x), (x.size(0), other)]:
        with pytest.raises(TypeError):
            operator.add(a, b)
    with pytest.raises(TypeError, match="unsupported operand"):
        operator.add(x.axis(0), 1)
    with pytest.raises(TypeError, match="unsupported operand"):
        operator.matmul(x, 2)


def test_handles_are_equal_only_to_themselves(fd: FusionDefinition) -> None:
    x, y = fd.define_tensor([-1], contiguity=True), fd.define_tensor([-1], contiguity=True)
    two = fd.define_scalar(2)
    assert x == x
    assert x != y
    assert (two == 2) is False
    assert x in [y, x]
    assert x not in [y]
    assert {x: "x", y: "y"}[y] == "y"
    assert len({x, y, x}) == 2
    assert fd.ops.eq(x, y).dtype() == D.Bool


@pytest.mark.parametrize(
    ("ask", "way_out"),
    [
        (bool, r"ops\.where"),
        (lambda x: 1 if x else 2, r"ops\.where"),
        (lambda x: x < 1 < 2 and x, r"ops\.where"),
        (len, r"x\.size\(0\)"),
        (list, r"x\.shape\(\)"),
        (lambda x: 1 in x, r"x\.shape\(\)"),
        (lambda x: x[0], r"ops\.slice"),
        (lambda x: x[1:2, None], r"ops\.select"),
    ],
)
def test_what_a_definition_cannot_know_is_an_error(
    fd: FusionDefinition, ask: Any, way_out: str
) -> None:
    x = fd.define_tensor([-1, -1], contiguity=True)
    with pytest.raises(TypeError, match=way_out):
        ask(x)
    is_about_parts = way_out != r"ops\.where"
    for scalar in (x.size(0), fd.define_scalar(3)):
        with pytest.raises(TypeError, match="define_vector" if is_about_parts else way_out):
            ask(scalar)
    if is_about_parts:
        with pytest.raises(TypeError, match=r"axis\.extent\(\)"):
            ask(x.axis(0))


def test_axes_and_expressions_have_a_truth(fd: FusionDefinition) -> None:
    x = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
    axis = x.axis(0)
    assert isinstance(axis, IterDomain)
    assert axis
    assert x.domain()
    assert x.definition()


def test_operators_know_the_line_that_made_their_results(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1], contiguity=True)
    made = x + 1
    assert made.location()[0].endswith("test_operators.py")


def test_a_tensor_is_no_list_of_tensors(fd: FusionDefinition) -> None:
    with pytest.raises(TypeError):
        fd.ops.cat(fd.define_tensor([-1, -1], contiguity=True))


def test_a_refused_operator_leaves_nothing_behind(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1], contiguity=True, dtype=D.ComplexFloat)
    before = len(fd.fusion.vals())
    with pytest.raises(RuntimeError):
        operator.lt(x, 2.5)
    assert len(fd.fusion.vals()) == before
