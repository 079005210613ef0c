"""Operations on elements that change nothing. Inputs have zeros of both signs, infinities, NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pass_case import after, check_pass, check_unchanged, defined, names_of

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

    Operation = Callable[[Any, TensorView], TensorView]

NAME = "simplify_pointwise"
FLOAT, INT, BOOL = DataType.Float, DataType.Int, DataType.Bool

NEUTRAL: dict[str, tuple[DataType, Operation]] = {
    "x * 1": (FLOAT, lambda ops, x: ops.mul(x, 1.0)),
    "1 * x": (FLOAT, lambda ops, x: ops.mul(1.0, x)),
    "x / 1": (FLOAT, lambda ops, x: ops.div(x, 1.0)),
    "x - 0": (FLOAT, lambda ops, x: ops.sub(x, 0.0)),
    "x + -0": (FLOAT, lambda ops, x: ops.add(x, -0.0)),
    "x ** 1": (FLOAT, lambda ops, x: ops.pow(x, 1.0)),
    "--x": (FLOAT, lambda ops, x: ops.neg(ops.neg(x))),
    "where(True, x, y)": (FLOAT, lambda ops, x: ops.where(True, x, ops.neg(x))),
    "a copy": (FLOAT, lambda ops, x: ops.set(x)),
    "a wait": (FLOAT, lambda ops, x: ops.wait_for_prior_grid([x, ops.neg(x)])),
    "a signal": (FLOAT, lambda ops, x: ops.launch_dependent_grid([x, ops.neg(x)])),
    "i + 0": (INT, lambda ops, x: ops.add(x, 0)),
    "i - 0": (INT, lambda ops, x: ops.sub(x, 0)),
    "i * 1": (INT, lambda ops, x: ops.mul(x, 1)),
    "i | 0": (INT, lambda ops, x: ops.bitwise_or(x, 0)),
    "i & -1": (INT, lambda ops, x: ops.bitwise_and(x, -1)),
    "i << 0": (INT, lambda ops, x: ops.bitwise_left_shift(x, 0)),
    "~~i": (INT, lambda ops, x: ops.bitwise_not(ops.bitwise_not(x))),
    "not not b": (BOOL, lambda ops, x: ops.logical_not(ops.logical_not(x))),
    "b and True": (BOOL, lambda ops, x: ops.logical_and(x, True)),
    "b or False": (BOOL, lambda ops, x: ops.logical_or(x, False)),
}


@pytest.mark.parametrize("text", NEUTRAL)
def test_a_neutral_operation_is_left_out(text: str) -> None:
    dtype, operation = NEUTRAL[text]

    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], dtype=dtype)
        fd.add_output(fd.ops.abs(operation(fd.ops, x)))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], dtype=dtype)
        fd.add_output(fd.ops.abs(x))

    check_pass(NAME, before, expected)


KEPT: dict[str, tuple[DataType, Operation]] = {
    "x + 0 makes 0 of -0": (FLOAT, lambda ops, x: ops.add(x, 0.0)),
    "x - -0 makes 0 of -0": (FLOAT, lambda ops, x: ops.sub(x, -0.0)),
    "0 - x makes 0 of 0": (FLOAT, lambda ops, x: ops.sub(0.0, x)),
    "x * 0 is NaN for infinities": (FLOAT, lambda ops, x: ops.mul(x, 0.0)),
    "1 / x": (FLOAT, lambda ops, x: ops.div(1.0, x)),
    "z * 1 has two products": (
        DataType.ComplexFloat,
        lambda ops, x: ops.mul(x, 1 + 0j),
    ),
}


@pytest.mark.parametrize("text", KEPT)
def test_what_may_change_a_value_stays(text: str) -> None:
    dtype, operation = KEPT[text]

    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4], dtype=dtype)
        fd.add_output(fd.ops.abs(operation(fd.ops, x)))

    assert after(NAME, definition).print_math() == defined(definition).print_math()


@pytest.mark.parametrize("name", ["abs", "relu", "floor", "ceil", "round", "trunc"])
def test_what_was_done_is_not_done_again(name: str) -> None:
    def before(fd: FusionDefinition) -> None:
        operation = getattr(fd.ops, name)
        fd.add_output(fd.ops.neg(operation(operation(fd.define_tensor([16])))))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.neg(getattr(fd.ops, name)(fd.define_tensor([16]))))

    check_pass(NAME, before, expected)


@pytest.mark.parametrize("exponent", [2, 2.0])
def test_a_square_is_a_product(exponent: float) -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.pow(fd.define_tensor([16]), exponent))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([16])
        fd.add_output(fd.ops.mul(x, x))

    check_pass(NAME, before, expected)


def test_scalars_of_constants_are_computed() -> None:
    def before(fd: FusionDefinition) -> None:
        kept = fd.ops.sub(fd.define_scalar(1.0), fd.define_scalar(0.25))
        scale = fd.ops.where(fd.ops.eq(kept, 0.0), 1.0, fd.ops.reciprocal(kept))
        fd.add_output(fd.ops.mul(fd.define_tensor([8]), scale))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.mul(fd.define_tensor([8]), 1.0 / 0.75))

    check_pass(NAME, before, expected)


def test_an_output_stays_where_it_is_a_neutral_operation() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.mul(x, 1.0))
        inner = fd.ops.exp(x)
        fd.add_output(fd.ops.div(inner, 1.0))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.set(x))
        fd.add_output(fd.ops.exp(x))

    check_pass(NAME, before, expected)
    outputs = names_of(defined(before).outputs())
    assert names_of(after(NAME, before).outputs()) == outputs


def test_copies_that_are_outputs_and_cuts_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.set(x))
        fd.add_output(fd.ops.neg(fd.ops.segment_set(x)))

    check_unchanged(NAME, definition)


def test_a_copy_of_an_input_that_is_written_in_place_stays() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.exp(fd.ops.set(x)))
        fd.add_output(fd.ops.neg(x), x)

    check_unchanged(NAME, definition)


def test_a_neutral_operation_that_broadcasts_stays() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([1, 4], contiguity=[None, True])
        y = fd.define_tensor([4, 4])
        fd.add_output(fd.ops.where(True, x, y))

    check_unchanged(NAME, definition)
