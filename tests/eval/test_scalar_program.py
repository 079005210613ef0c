"""csrc/eval/scalar_program.cpp: instructions that compute what the evaluator computes."""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvfuser_direct import (
    DataType,
    ExpressionEvaluator,
    Fusion,
    FusionDefinition,
    FusionGuard,
    define_scalar,
    ops,
)
from nvfuser_direct._core.internal import ScalarProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nvfuser_direct import Val

INT, INT32, UINT64 = DataType.Int, DataType.Int32, DataType.UInt64
SMALLEST, LARGEST = -(2**63), 2**63 - 1


@pytest.fixture(autouse=True)
def fusion() -> Iterator[Fusion]:
    fusion = Fusion()
    guard = FusionGuard(fusion)
    yield fusion
    del guard


def symbols(*dtypes: DataType) -> list[Val]:
    return [define_scalar(dtype) for dtype in dtypes]


def test_a_program_prints_its_instructions() -> None:
    n, m = symbols(INT, INT)
    program = ScalarProgram([n, m], [ops.add(ops.ceil_div(n, 128), m), ops.ceil_div(n, 128)])
    assert str(program).splitlines() == [
        "r2 = 128",
        f"r3 = CeilDiv({n.to_inline_string()}, r2)",
        f"r4 = Add(r3, {m.to_inline_string()})",
    ]
    assert program.evaluate([1000, 5]) == [(13, "known"), (8, "known")]


def test_what_depends_on_something_unknown_is_unknown() -> None:
    n, m = symbols(INT, INT)
    program = ScalarProgram([n], [ops.add(n, m), ops.add(n, 1)])
    assert program.evaluate([3]) == [(None, "unknown"), (4, "known")]
    assert program.evaluate([None]) == [(None, "unknown"), (None, "unknown")]


def test_an_input_is_not_computed() -> None:
    (n,) = symbols(INT)
    doubled = ops.mul(n, 2)
    assert ScalarProgram([doubled], [ops.add(doubled, 1)]).evaluate([5]) == [(6, "known")]


def test_a_copy_of_a_scalar_is_its_operand() -> None:
    (n,) = symbols(INT)
    copy = ops.set(n)
    program = ScalarProgram([n], [ops.add(copy, 1)])
    assert program.evaluate([3]) == [(4, "known")]
    assert "set" not in str(program)


@pytest.mark.parametrize(
    ("dtype", "operation", "values"),
    [
        (INT, ops.add, (LARGEST, 1)),
        (INT, ops.sub, (SMALLEST, 1)),
        (INT, ops.mul, (2**32, 2**31)),
        (INT, ops.div, (SMALLEST, -1)),
        (INT, ops.ceil_div, (SMALLEST, -1)),
        (INT, ops.pow, (3, 40)),
        (INT32, ops.add, (2**31 - 1, 1)),
        (INT32, ops.mul, (2**16, 2**15)),
        (UINT64, ops.sub, (3, 4)),
        (UINT64, ops.mul, (2**63, 2)),
    ],
)
def test_integers_that_leave_their_range_say_so(
    dtype: DataType, operation: Callable[[Val, Val], Val], values: tuple[int, int]
) -> None:
    a, b = symbols(dtype, dtype)
    result = operation(a, b)
    evaluator = ExpressionEvaluator()
    evaluator.bind(a, values[0])
    evaluator.bind(b, values[1])
    program = ScalarProgram([a, b], [result, ops.gt(result, a)])
    (value, status), (_, status_of_reader) = program.evaluate(values)
    assert (value, status) == (evaluator.evaluate(result), "overflowed")
    assert status_of_reader == "overflowed"
    assert program.evaluate((4, 2))[0][1] == "known"


@pytest.mark.parametrize("operation", [ops.neg, ops.abs])
def test_the_smallest_integer_has_no_counterpart(operation: Callable[[Val], Val]) -> None:
    (n,) = symbols(INT)
    program = ScalarProgram([n], [operation(n)])
    assert program.evaluate([SMALLEST]) == [(SMALLEST, "overflowed")]
    assert program.evaluate([SMALLEST + 1]) == [(LARGEST, "known")]


def test_a_cast_to_a_type_that_cannot_hold_the_number_overflows() -> None:
    n, x = symbols(INT, DataType.Double)
    narrow, whole = ops.cast(n, INT32), ops.cast(x, INT)
    program = ScalarProgram([n, x], [narrow, whole])
    assert program.evaluate([2**31, 2.75]) == [(-(2**31), "overflowed"), (2, "known")]
    assert program.evaluate([5, math.nan])[1][1] == "overflowed"


def test_division_by_zero_has_no_value_and_counts_only_where_it_is_read() -> None:
    n, m = symbols(INT, INT)
    quotient = ops.div(n, m)
    is_divided = ops.gt(m, 0)
    guarded = ops.where(is_divided, quotient, 7)
    both = ops.logical_and(is_divided, ops.gt(quotient, 1))
    either = ops.logical_or(ops.eq(m, 0), ops.gt(quotient, 1))
    program = ScalarProgram([n, m], [quotient, ops.add(quotient, 1), guarded, both, either])
    assert program.evaluate([6, 0]) == [
        (None, "divided by zero"),
        (None, "divided by zero"),
        (7, "known"),
        (False, "known"),
        (True, "known"),
    ]
    assert [value for value, _ in program.evaluate([6, 2])] == [3, 4, 3, True, True]


def test_any_depth() -> None:
    (n,) = symbols(INT)
    total = n
    for _ in range(20_000):
        total = ops.add(total, n)
    assert ScalarProgram([n], [total]).evaluate([3]) == [(60_003, "known")]


def test_equal_expressions_are_computed_once() -> None:
    (n,) = symbols(INT)
    outputs = [ops.mul(ops.add(n, 1), 4) for _ in range(50)]
    assert len(str(ScalarProgram([n], outputs)).splitlines()) == 4


# ---- Random expressions -------------------------------------------------------------------------

DTYPES = [INT, INT, INT, INT32, UINT64, DataType.Bool, DataType.Double, DataType.Float]
DTYPES += [DataType.ComplexDouble]
UNARY = [ops.neg, ops.abs, ops.logical_not, ops.ceil, ops.floor, ops.relu, ops.set]
BINARY = [ops.add, ops.sub, ops.mul, ops.div, ops.mod, ops.ceil_div, ops.maximum, ops.minimum]
BINARY += [ops.eq, ops.ne, ops.lt, ops.le, ops.gt, ops.ge, ops.logical_and, ops.logical_or]
BINARY += [ops.pow, ops.gcd, ops.remainder, ops.fmod, ops.bitwise_xor, ops.bitwise_left_shift]
NUMBERS = [0, 1, -1, 2, 3, 7, 32, 128, 1000, 2**31 - 1, 2**31, 2**62, SMALLEST, LARGEST]


def numbers_of(dtype: DataType) -> st.SearchStrategy[Any]:
    if dtype == DataType.Bool:
        return st.booleans()
    if dtype in (DataType.Double, DataType.Float):
        return st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.75, 1e30, math.inf, math.nan])
    if dtype == DataType.ComplexDouble:
        return st.sampled_from([0j, 1j, 2 - 3j])
    low, high = {INT: (SMALLEST, LARGEST), INT32: (-(2**31), 2**31 - 1), UINT64: (0, 2**64 - 1)}[
        dtype
    ]
    near = [number for number in NUMBERS if low <= number <= high]
    return st.one_of(st.sampled_from(near), st.integers(0, 300).filter(lambda n: n >= low))


@st.composite
def random_expressions(draw: st.DrawFn) -> tuple[list[Val], list[Any], list[Val]]:
    """Inputs, their values (None: unknown), and everything that is computed from them."""
    dtypes = draw(st.lists(st.sampled_from(DTYPES), min_size=1, max_size=5))
    inputs = symbols(*dtypes)
    values = [draw(st.one_of(numbers_of(d), numbers_of(d), st.none())) for d in dtypes]
    known = list(inputs)
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["unary", "binary", "binary", "binary", "where", "cast"]))
        operands = [draw(st.sampled_from(known)) for _ in range(3)]
        try:
            if kind == "unary":
                result = draw(st.sampled_from(UNARY))(operands[0])
            elif kind == "binary":
                constant = draw(st.one_of(st.none(), st.sampled_from([0, 1, 2, 7, 128, -3])))
                other = operands[1] if constant is None else constant
                result = draw(st.sampled_from(BINARY))(operands[0], other)
            elif kind == "where":
                result = ops.where(ops.ne(operands[0], 0), operands[1], operands[2])
            else:
                result = ops.cast(operands[0], draw(st.sampled_from(DTYPES)))
        except RuntimeError:
            continue  # no such operation on these types
        known.append(result)
    return inputs, values, known


def is_same(found: Any, expected: Any) -> bool:
    if isinstance(expected, complex) or isinstance(found, complex):
        return repr(complex(found)) == repr(complex(expected))
    if isinstance(expected, float):
        return repr(found) == repr(expected)
    return type(found) is type(expected) and found == expected


@contextmanager
def new_fusion() -> Iterator[None]:
    """Each case of a property has one of its own."""
    guard = FusionGuard(Fusion())
    try:
        yield
    finally:
        del guard


@given(data=st.data())
def test_programs_compute_what_the_evaluator_computes(data: st.DataObject) -> None:
    with new_fusion():
        inputs, values, outputs = data.draw(random_expressions())
        results = ScalarProgram(inputs, outputs).evaluate(values)
        for output, (found, status) in zip(outputs, results, strict=True):
            check_result(output, evaluated(inputs, values, output), found, status)


def evaluated(inputs: list[Val], values: list[Any], output: Val) -> Any:
    """The answer of the evaluator for `output`: a value, None, or the error of a division by 0."""
    evaluator = ExpressionEvaluator()
    for val, value in zip(inputs, values, strict=True):
        if value is not None:
            evaluator.bind(val, value)
    try:
        return evaluator.evaluate(output)
    except RuntimeError as error:
        assert "Integer division by zero" in str(error)
        return error


def check_result(output: Val, expected: Any, found: Any, status: str) -> None:
    if isinstance(expected, RuntimeError):
        assert (found, status) == (None, "divided by zero")
    elif expected is None:
        assert (found, status) == (None, "unknown")
    else:
        assert is_same(found, expected), f"{output.to_inline_string()}: {found}, {expected}"
        assert status in ("known", "overflowed")


EXACT: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
}


@given(data=st.data())
def test_overflow_is_found_exactly(data: st.DataObject) -> None:
    """Against integers of any size: the first step out of the range counts, and no other."""
    with new_fusion():
        values = [data.draw(numbers_of(INT)) for _ in range(3)]
        inputs = symbols(INT, INT, INT)
        exact = [(val, value, False) for val, value in zip(inputs, values, strict=True)]
        for _ in range(data.draw(st.integers(1, 6))):
            name = data.draw(st.sampled_from(sorted(EXACT)))
            (a, x, x_wrapped), (b, y, y_wrapped) = (
                data.draw(st.sampled_from(exact)) for _ in range(2)
            )
            value = EXACT[name](x, y)
            wrapped = (value + 2**63) % 2**64 - 2**63
            has_wrapped = x_wrapped or y_wrapped or wrapped != value
            exact.append((getattr(ops, name)(a, b), wrapped, has_wrapped))
        results = ScalarProgram(inputs, [val for val, _, _ in exact]).evaluate(values)
        for (found, status), (_, expected, has_wrapped) in zip(results, exact, strict=True):
            assert (found, status) == (expected, "overflowed" if has_wrapped else "known")


def test_sizes_of_a_definition_are_programs() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
        rows, columns = x.logical()[0].extent(), x.logical()[1].extent()
        elements = ops.mul(rows, columns)
    assert ScalarProgram([rows, columns], [elements]).evaluate([6, 7]) == [(42, "known")]
