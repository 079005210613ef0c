"""ExpressionEvaluator: values of scalars on the host."""

from __future__ import annotations

import math

import pytest
import torch

from nvfuser_direct import (
    DataType,
    ExpressionEvaluator,
    Fusion,
    FusionGuard,
    define_scalar,
    ops,
)


@pytest.fixture(autouse=True)
def fusion():
    fusion = Fusion()
    guard = FusionGuard(fusion)
    yield fusion
    del guard


def symbol(dtype: DataType = DataType.Int):
    return define_scalar(dtype)


def constant(number):
    return define_scalar(number)


def test_integers_divide_as_in_c() -> None:
    n = symbol()
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, -7)
    assert evaluator.evaluate(ops.div(n, 2)) == -3
    assert evaluator.evaluate(ops.mod(n, 2)) == -1
    assert evaluator.evaluate(ops.remainder(n, 2)) == 1


def test_what_is_unknown_has_no_value() -> None:
    n, m = symbol(), symbol()
    total = ops.add(n, m)
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 3)
    assert evaluator.evaluate(total) is None
    evaluator.bind(m, 4)
    assert evaluator.evaluate(total) == 7


def test_results_have_the_type_of_the_expression() -> None:
    n, x, z = symbol(), symbol(DataType.Float), symbol(DataType.ComplexDouble)
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 5)
    evaluator.bind(x, 0.1)
    evaluator.bind(z, 1 + 2j)
    assert evaluator.evaluate(ops.lt(n, 6)) is True
    assert evaluator.evaluate(x) == 0.10000000149011612  # float, not double
    assert evaluator.evaluate(ops.mul(z, z)) == (1 + 2j) ** 2
    assert evaluator.evaluate(ops.abs(z)) == pytest.approx(math.sqrt(5))


def test_arithmetic_wraps_at_the_width_of_its_type() -> None:
    n = symbol(DataType.Int32)
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 2**31 - 1)
    assert evaluator.evaluate(ops.add(n, n)) == -2


def test_unsigned_numbers_beyond_int64_keep_their_value() -> None:
    n = symbol(DataType.UInt64)
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 2**64 - 1)
    assert evaluator.evaluate(n) == 2**64 - 1
    assert evaluator.evaluate(ops.cast(n, DataType.Double)) == float(2**64)
    assert evaluator.evaluate(ops.mul(n, 0.5)) == float(2**63)
    assert evaluator.evaluate(ops.gt(n, 1.0)) is True
    assert evaluator.evaluate(ops.signbit(n)) is False
    assert evaluator.evaluate(ops.cast(n, DataType.Int)) == -1


def test_integers_are_rounded_once() -> None:
    n = symbol()
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 2**62 + 2**38 + 1)  # as a double it would be a tie between two floats
    assert evaluator.evaluate(ops.cast(n, DataType.Float)) == float(2**62 + 2**39)


def test_the_smallest_integer_has_divisors() -> None:
    n = symbol()
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, -(2**63))
    assert evaluator.evaluate(ops.gcd(n, 12)) == 4


@pytest.mark.parametrize(
    ("dtype", "number", "count", "left", "right"),
    [
        (DataType.Int, -5, 64, 0, -1),
        (DataType.Int, -5, -1, 0, -1),
        (DataType.Int, 5, 2**62, 0, 0),
        (DataType.Int32, -5, 32, 0, -1),
        (DataType.UInt64, 2**64 - 1, 64, 0, 0),
        (DataType.Int, -5, 63, -(2**63), -1),
    ],
)
def test_shifts_out_of_the_width_move_every_bit_out(dtype, number, count, left, right) -> None:
    n, bits = symbol(dtype), symbol(dtype)
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, number)
    evaluator.bind(bits, count)
    assert evaluator.evaluate(ops.bitwise_left_shift(n, bits)) == left
    assert evaluator.evaluate(ops.bitwise_right_shift(n, bits)) == right


@pytest.mark.parametrize("number", [1.5 - 2j, 0j, 1e-12 + 1e-12j, -1 + 0.25j, 1e200 + 1e200j])
@pytest.mark.parametrize("name", ["exp2", "expm1", "log1p", "log2", "silu"])
def test_complex_functions_are_those_of_pytorch(name: str, number: complex) -> None:
    reference = getattr(torch, name, None) or getattr(torch.nn.functional, name)
    expected = reference(torch.tensor(number, dtype=torch.complex128))
    z = symbol(DataType.ComplexDouble)
    evaluator = ExpressionEvaluator()
    evaluator.bind(z, number)
    value = torch.tensor(evaluator.evaluate(getattr(ops, name)(z)), dtype=torch.complex128)
    torch.testing.assert_close(value, expected, equal_nan=True, rtol=1e-12, atol=1e-24)


def test_printing_a_scalar_leaves_its_value() -> None:
    n = symbol()
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 3)
    assert evaluator.evaluate(ops.print(n)) == 3


def test_only_the_side_that_is_taken_counts() -> None:
    n, m = symbol(), symbol()
    guarded = ops.where(ops.gt(m, 0), ops.div(n, m), 0)
    evaluator = ExpressionEvaluator()
    evaluator.bind(m, 0)
    assert evaluator.evaluate(guarded) == 0


def test_division_by_zero() -> None:
    n = symbol()
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 0)
    with pytest.raises(RuntimeError, match="Integer division by zero detected"):
        evaluator.evaluate(ops.mod(7, n))


def test_binding_twice() -> None:
    n = symbol()
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 3)
    evaluator.bind(n, 3)
    with pytest.raises(
        RuntimeError, match=r"Tried to bind to a value: i\d+\(which evaluated to 3\) as 4"
    ):
        evaluator.bind(n, 4)
    with pytest.raises(RuntimeError, match=r"\(which evaluated to 6\) as 7"):
        evaluator.bind(ops.mul(n, 2), 7)
    with pytest.raises(RuntimeError, match="Tried to bind to a constant value: 8 as 9"):
        evaluator.bind(constant(8), 9)


def test_any_depth() -> None:
    n = symbol()
    total = n
    for _ in range(20_000):
        total = ops.add(total, 1)
    evaluator = ExpressionEvaluator()
    evaluator.bind(n, 1)
    assert evaluator.evaluate(total) == 20_001
