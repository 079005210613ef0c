"""Numbers in definitions: constants of every type, scalars of NumPy, ints of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    BinaryOpType,
    DataType,
    ExpressionEvaluator,
    FusionDefinition,
    KernelExecutor,
    UserError,
    UserValueError,
    highest_value,
    lowest_value,
    ops,
    reduction_identity,
    schedule,
)


@pytest.fixture
def fd() -> Any:
    with FusionDefinition() as definition:
        yield definition


# Types, and values at the ends of what they hold.
CONSTANTS: list[tuple[DataType, list[Any]]] = [
    (DataType.Bool, [False, True]),
    (DataType.Char, [-(2**7), 2**7 - 1]),
    (DataType.Short, [-(2**15), 2**15 - 1]),
    (DataType.Int32, [-(2**31), 2**31 - 1]),
    (DataType.Int, [-(2**63), 2**63 - 1]),
    (DataType.Index, [-(2**63), 2**63 - 1]),
    (DataType.Byte, [0, 2**8 - 1]),
    (DataType.UInt16, [0, 2**16 - 1]),
    (DataType.UInt32, [0, 2**32 - 1]),
    (DataType.UInt64, [0, 2**63, 2**64 - 1]),
    (DataType.Double, [1e308, -1e-308, float("inf")]),
    (DataType.Float, [0.5, float("-inf")]),
    (DataType.Half, [65504.0]),
    (DataType.BFloat16, [0.5]),
    (DataType.Float8_e4m3fn, [448.0]),
    (DataType.Float8_e5m2, [57344.0]),
    (DataType.Float8_e8m0fnu, [2.0]),
    (DataType.ComplexFloat, [1 + 2j]),
    (DataType.ComplexDouble, [1e308 - 2j]),
]


@pytest.mark.parametrize(("dtype", "values"), CONSTANTS, ids=lambda x: getattr(x, "name", ""))
def test_constants_of_every_type_have_their_value(
    fd: FusionDefinition, dtype: DataType, values: list[Any]
) -> None:
    for value in values:
        constant = fd.define_scalar(value, dtype=dtype)
        assert constant.dtype() == dtype
        assert constant.value() == value


def test_ints_that_only_unsigned_64_bits_hold_are_unsigned(fd: FusionDefinition) -> None:
    assert fd.define_scalar(2**63 - 1).dtype() == DataType.Int
    assert fd.define_scalar(2**63).dtype() == DataType.UInt64
    assert fd.define_scalar(2**64 - 1).value() == 2**64 - 1


def test_large_ints_are_rounded_to_floating_point(fd: FusionDefinition) -> None:
    assert fd.define_scalar(2**63, DataType.Double).value() == 2.0**63
    assert fd.define_scalar(-(2**70), DataType.Double).value() == -(2.0**70)
    assert fd.define_scalar(2**63 + 1, DataType.Float).value() == 2.0**63


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (2**64, None),
        (-(2**63) - 1, None),
        (2**64, DataType.UInt64),
        (2**63, DataType.Int),
        (2**63, DataType.Int32),
        (float("nan"), DataType.Int),
        (1j, DataType.Double),
    ],
)
def test_what_a_type_cannot_hold_is_refused(
    fd: FusionDefinition, value: Any, dtype: DataType | None
) -> None:
    with pytest.raises(UserValueError, match="Scalar value is not compatible with the given data"):
        fd.define_scalar(value, dtype=dtype)


INTEGERS = {
    DataType.Char: (-(2**7), 2**7 - 1),
    DataType.Short: (-(2**15), 2**15 - 1),
    DataType.Int32: (-(2**31), 2**31 - 1),
    DataType.Int: (-(2**63), 2**63 - 1),
    DataType.Index: (-(2**63), 2**63 - 1),
    DataType.Byte: (0, 2**8 - 1),
    DataType.UInt16: (0, 2**16 - 1),
    DataType.UInt32: (0, 2**32 - 1),
    DataType.UInt64: (0, 2**64 - 1),
}


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_constants_never_wrap(fd: FusionDefinition, dtype: DataType) -> None:
    lowest, highest = INTEGERS[dtype]
    for value in (lowest - 1, highest + 1, float(highest) + 1.0, -1e300):
        with pytest.raises(UserValueError, match="Scalar value is not compatible") as error:
            fd.define_scalar(value, dtype)
        assert f"expected: an integer from {lowest} to {highest}" in str(error.value)
    assert fd.define_scalar(float(lowest), dtype).value() == lowest


def test_the_number_that_does_not_fit_is_named(fd: FusionDefinition) -> None:
    with pytest.raises(UserValueError) as error:
        fd.define_scalar(2**40, DataType.Int32)
    assert str(error.value) == (
        "Scalar value is not compatible with the given data type int for value 1099511627776\n"
        "  node:     a constant of type int\n"
        "  expected: an integer from -2147483648 to 2147483647\n"
        "  found:    1099511627776\n"
        "  fix:      give a number that fits, or a data type that holds it"
    )


def test_fractions_of_integer_constants_are_dropped(fd: FusionDefinition) -> None:
    assert fd.define_scalar(3.7, DataType.Int32).value() == 3
    assert fd.define_scalar(-0.5, DataType.Byte).value() == 0
    assert fd.define_scalar(3 + 0j, DataType.Int).value() == 3


def test_integers_that_are_bound_never_wrap(fd: FusionDefinition) -> None:
    symbol = fd.define_scalar(DataType.Int32)
    with pytest.raises(UserValueError, match="for value 1099511627776"):
        ExpressionEvaluator().bind(symbol, 2**40)


@pytest.mark.parametrize("name", ["add", "mul", "gt", "eq", "bitwise_and", "where"])
@pytest.mark.parametrize("number", [2**40, 2**40 + 3, 2**31, -(2**31) - 2])
def test_ints_beside_a_tensor_have_its_width(target: str, name: str, number: int) -> None:
    x = torch.arange(4, dtype=torch.int32, device=target)
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], dtype=DataType.Int32)
        operands = (t0, number) if name != "where" else (fd.ops.gt(t0, 1), t0, number)
        t1 = getattr(fd.ops, name)(*operands)
        fd.add_output(t1)
    wrapped = torch.tensor(number).to(x)
    expected = (
        torch.where(x > 1, x, wrapped) if name == "where" else getattr(torch, name)(x, number)
    )
    assert t1.dtype() == (DataType.Bool if name in ("gt", "eq") else DataType.Int32)
    assert torch.equal(fd.execute([x])[0], expected)
    assert torch.equal(fd.fusion.evaluate([x])[0], expected)


def test_constants_beside_a_tensor_keep_their_value(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1], dtype=DataType.Int32)
    rhs = fd.ops.add(x, 2**40).definition().rhs
    assert rhs.dtype() == DataType.Int
    assert rhs.value() == 2**40


def test_operands_take_large_ints(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], dtype=DataType.UInt64)
        fd.add_output(fd.ops.bitwise_xor(x, 2**64 - 1))
    x = torch.tensor([0, 5], dtype=torch.uint64, device=target)
    (out,) = fd.execute([x])
    assert out.tolist() == [2**64 - 1, 2**64 - 6]


def test_unsigned_constants_are_printed_as_they_are(fd: FusionDefinition) -> None:
    x = fd.define_tensor([-1], dtype=DataType.UInt64)
    fd.add_output(fd.ops.add(x, fd.define_scalar(2**64 - 1, DataType.UInt64)))
    assert "define_scalar(18446744073709551615, dtype=DataType.UInt64)" in repr(fd)


@pytest.mark.parametrize(
    ("number", "dtype"),
    [
        (np.bool_(True), DataType.Bool),
        (np.int8(3), DataType.Int),
        (np.int64(-3), DataType.Int),
        (np.uint64(2**64 - 1), DataType.UInt64),
        (np.float16(1.5), DataType.Double),
        (np.float32(1.5), DataType.Double),
        (np.float64(1.5), DataType.Double),
        (np.complex64(1j), DataType.ComplexDouble),
    ],
)
def test_scalars_of_numpy_are_numbers(fd: FusionDefinition, number: Any, dtype: DataType) -> None:
    constant = fd.define_scalar(number)
    assert constant.dtype() == dtype
    assert constant.value() == number
    tensor = fd.define_tensor([-1], dtype=DataType.ComplexDouble)
    assert fd.ops.add(tensor, number).dtype() == DataType.ComplexDouble


@pytest.mark.parametrize(
    "value", ["3", b"3", [1], torch.tensor(2.0), torch.tensor(2), np.array(2.0)], ids=repr
)
def test_what_is_no_number_is_no_constant(fd: FusionDefinition, value: Any) -> None:
    with pytest.raises(TypeError):
        fd.define_scalar(value)
    x = fd.define_tensor([-1])
    with pytest.raises(TypeError):
        fd.ops.add(x, value)


def test_scalars_of_numpy_are_inputs(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1])
        n = fd.define_scalar(DataType.Int)
        factor = fd.define_scalar(DataType.Double)
        fd.add_output(fd.ops.mul(fd.ops.add(x, n), factor))
    x = torch.arange(4.0, device=target)
    (out,) = fd.execute([x, np.int32(2), np.float32(0.5)])
    torch.testing.assert_close(out, (x + 2) * 0.5)
    assert fd.validate([x, np.int64(2), np.float16(0.5)])[0].tolist() == out.tolist()


LARGE, SMALL = 2**63 + 5, 1000


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda x, n, _m: ops.bitwise_xor(x, n), lambda x: x ^ LARGE),
        (lambda x, n, _m: ops.mul(x, n), lambda x: x * LARGE % 2**64),
        (lambda x, n, m: ops.bitwise_or(x, ops.mod(n, m)), lambda x: x | LARGE % SMALL),
        (lambda x, n, m: ops.bitwise_or(x, ops.maximum(n, m)), lambda x: x | LARGE),
        (lambda x, n, _m: ops.bitwise_or(x, ops.neg(n)), lambda x: x | 2**64 - LARGE),
        (lambda x, n, _m: ops.sub(ops.add(x, n), 7), lambda x: (x + LARGE - 7) % 2**64),
        (lambda x, n, _m: ops.maximum(x, n), lambda x: max(x, LARGE)),
        (lambda x, n, m: ops.where(ops.lt(x, n), n, m), lambda x: LARGE if x < LARGE else SMALL),
        (lambda x, _n, _m: ops.neg(ops.bitwise_not(x)), lambda x: (x + 1) % 2**64),
        (lambda x, n, m: ops.where(ops.eq(x, n), n, m), lambda _: SMALL),
        (lambda x, n, m: ops.where(ops.gt(n, m), x, n), lambda x: x),
        (lambda _x, n, _m: ops.full([3], n, DataType.UInt64), lambda _: LARGE),
        (
            lambda _x, n, _m: ops.cast(ops.full([3], n, DataType.UInt64), DataType.Int),
            lambda _: 5 - 2**63,
        ),
    ],
)
def test_unsigned_inputs_take_large_ints(target: str, compute: Any, expected: Any) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], dtype=DataType.UInt64)
        n, m = fd.define_scalar(DataType.UInt64), fd.define_scalar(DataType.UInt64)
        fd.add_output(compute(x, n, m))
    numbers = [0, 5, 2**64 - 1]
    inputs = [torch.tensor(numbers, dtype=torch.uint64, device=target), LARGE, SMALL]
    for (out,) in (fd.execute(inputs), fd.fusion.evaluate(inputs)):
        assert out.tolist() == [expected(number) for number in numbers]
    schedule.trivial(fd.fusion)
    cuda_text(fd.fusion)


def test_large_unsigned_inputs_have_no_other_type() -> None:
    """Also after a run with the int of the same bits, whose plan is not that of this one."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1])
        fd.add_output(fd.ops.add(x, fd.define_scalar(DataType.Int)))
    executor = KernelExecutor()
    executor.compile(fd.fusion)
    x = torch.ones(2)
    assert executor.run([x, -1])[0].tolist() == [0, 0]
    text = "Scalar value 18446744073709551615 is not compatible with the expected data type: int64"
    with pytest.raises(UserError, match=text):
        executor.run([x, 2**64 - 1])
    with pytest.raises(UserError, match="An integer argument does not fit into 64 bits"):
        executor.run([x, 2**64])


def test_axes_are_integers_of_any_kind(fd: FusionDefinition) -> None:
    x = fd.define_tensor([2, 3])
    for dim in (1, True, np.int64(1)):  # True is the int 1
        reduced = fd.ops.sum(x, dim)
        assert [axis.is_reduction() for axis in reduced.get_logical_domain()] == [False, True]


@pytest.mark.parametrize("value", [1, True, np.int64(1)], ids=repr)
def test_enumerations_are_no_integers(fd: FusionDefinition, value: Any) -> None:
    x = fd.define_tensor([2, 3])
    with pytest.raises(TypeError):
        fd.ops.cast(x, value)
    with pytest.raises(TypeError):
        fd.define_tensor([2], dtype=value)
    with pytest.raises(TypeError):
        x.axis(0).parallelize(value)


def test_limits_and_identities_of_unsigned_types_are_not_negative() -> None:
    assert (lowest_value(DataType.UInt64), highest_value(DataType.UInt64)) == (0, 2**64 - 1)
    assert reduction_identity(BinaryOpType.Min, DataType.UInt64) == 2**64 - 1


def test_the_evaluator_of_scalars_takes_large_ints(fd: FusionDefinition) -> None:
    scalar = fd.define_scalar(DataType.UInt64)
    evaluator = ExpressionEvaluator()
    evaluator.bind(scalar, 2**63 + 5)
    assert evaluator.evaluate(scalar) == 2**63 + 5


def test_vectors_have_no_negative_size(fd: FusionDefinition) -> None:
    assert fd.define_vector(0) == []
    with pytest.raises(ValueError, match="at least 0"):
        fd.define_vector(-1)


def test_inputs_have_a_type(fd: FusionDefinition) -> None:
    with pytest.raises(UserError, match="An input cannot have the data type null_type"):
        fd.define_tensor([2], dtype=DataType.Null)
    with pytest.raises(UserError, match="An input cannot have the data type null_type"):
        fd.define_scalar(DataType.Null)
