"""Quotients that are products with a reciprocal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import check_pass, check_unchanged, defined

from nvfuser_direct import DataType, FusionDefinition, call_with_options, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "use_reciprocals"
TOLERANCE = 3.0e-7  # 2.5 units in the last place of a Float


def row(fd: FusionDefinition, values: Any) -> Any:
    return fd.ops.broadcast(values, [False, True])


ROWS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "sum of exponentials of a softmax": lambda fd, x: fd.ops.sum(
        fd.ops.exp(fd.ops.sub(x, row(fd, fd.ops.max(x, [1])))), [1]
    ),
    "something and an epsilon": lambda fd, x: fd.ops.add(fd.ops.mean(fd.ops.mul(x, x), [1]), 1e-5),
    "variance and an epsilon": lambda fd, x: fd.ops.add(fd.ops.var(x, [1], 0), 1e-5),
    "numbers that were Half": lambda fd, x: fd.ops.cast(
        fd.ops.cast(fd.ops.max(x, [1]), DataType.Half), DataType.Float
    ),
    "hyperbolic cosines": lambda fd, x: fd.ops.cosh(fd.ops.sum(x, [1])),
}


@pytest.mark.parametrize("text", ROWS)
def test_a_row_is_divided_by_one_number_and_multiplied_by_its_reciprocal(text: str) -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.div(x, row(fd, ROWS[text](fd, x))))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.mul(x, row(fd, fd.ops.reciprocal(ROWS[text](fd, x)))))

    check_pass(NAME, before, expected, tolerance=TOLERANCE)


def test_quotients_by_one_row_share_a_reciprocal() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        divisor = row(fd, fd.ops.cosh(fd.ops.sum(x, [1])))
        fd.add_output(fd.ops.div(x, divisor))
        fd.add_output(fd.ops.div(fd.ops.exp(x), divisor))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        factor = row(fd, fd.ops.reciprocal(fd.ops.cosh(fd.ops.sum(x, [1]))))
        fd.add_output(fd.ops.mul(x, factor))
        fd.add_output(fd.ops.mul(fd.ops.exp(x), factor))

    check_pass(NAME, before, expected, tolerance=TOLERANCE)


def test_roots_are_inverted_as_they_are_computed() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.div(x, fd.ops.sqrt(x)))
        fd.add_output(fd.ops.div(x, row(fd, fd.ops.sqrt(fd.ops.sum(x, [1])))))
        fd.add_output(fd.ops.reciprocal(fd.ops.sqrt(x)))
        fd.add_output(fd.ops.div(1.0, fd.ops.sqrt(fd.ops.exp(x))))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.mul(x, fd.ops.rsqrt(x)))
        fd.add_output(fd.ops.mul(x, row(fd, fd.ops.rsqrt(fd.ops.sum(x, [1])))))
        fd.add_output(fd.ops.rsqrt(x))
        fd.add_output(fd.ops.rsqrt(fd.ops.exp(x)))

    check_pass(NAME, before, expected, tolerance=TOLERANCE)


@pytest.mark.parametrize("number", [4.0, 3.0, 0.1, -7.0, 1e30])
def test_constants_are_inverted(number: float) -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.div(fd.define_tensor([16]), number))

    def expected(fd: FusionDefinition) -> None:
        factor = 1.0 / torch.tensor(number).double().item()
        fd.add_output(fd.ops.mul(fd.define_tensor([16]), factor))

    check_pass(NAME, before, expected, tolerance=TOLERANCE)


def sums_of_magnitudes(fd: FusionDefinition) -> None:
    x = fd.define_tensor([2, 2])
    fd.add_output(fd.ops.div(x, row(fd, fd.ops.sum(fd.ops.abs(x), [1]))))


def test_a_divisor_that_may_have_no_finite_reciprocal_stays() -> None:
    check_unchanged(NAME, sums_of_magnitudes)
    [result] = evaluate(
        defined(sums_of_magnitudes).optimize(), [torch.full([2, 2], 2.0**-140)]
    )  # 1 / 2^-139 is infinite
    assert torch.equal(result, torch.full([2, 2], 0.5))


def test_fast_math_divides_by_any_row_once() -> None:
    fusion = defined(sums_of_magnitudes)
    optimized = call_with_options(lambda: fusion.optimize(passes=[NAME]), ["fast_math"], [])
    names = [str(getattr(expr, "op", "")) for expr in optimized.exprs()]
    assert any("Reciprocal" in name for name in names)
    assert not any("Div" in name for name in names)


def test_other_quotients_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        y = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.div(x, fd.ops.cosh(y)))  # as many divisors as quotients
        fd.add_output(fd.ops.div(x, 0.0))
        fd.add_output(fd.ops.div(x, 1e-40))
        fd.add_output(fd.ops.div(2.0, fd.ops.cosh(y)))
        z = fd.define_tensor([4, 8], dtype=DataType.Double)
        fd.add_output(fd.ops.div(z, row(fd, fd.ops.cosh(fd.ops.sum(z, [1])))))
        fd.add_output(fd.ops.div(z, 3.0))
        i = fd.define_tensor([4, 8], dtype=DataType.Int)
        fd.add_output(fd.ops.div(i, 3))

    check_unchanged(NAME, definition)


def test_a_softmax_is_as_near_as_before(rng: torch.Generator) -> None:
    def softmax(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.softmax(fd.define_tensor([64, 512]), 1))

    fusion = defined(softmax)
    optimized = fusion.optimize(verify=True)
    assert any("Reciprocal" in str(getattr(expr, "op", "")) for expr in optimized.exprs())
    x = torch.randn(64, 512, generator=rng) * 20
    [result] = evaluate(optimized, [x])
    exact = torch.softmax(x.double(), 1)
    assert ((result - exact).abs() <= 1e-6 * exact + 1e-12).all()
