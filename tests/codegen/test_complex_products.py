"""Products, quotients and powers of complex numbers with infinite, huge and tiny parts.

Where a product of parts overflows or underflows, the result depends on which of them the compiler
rounds before it adds them: no result is the only right one, and PyTorch's differ between its
kernels for vectors and for single elements. Each result has to be one of those that rounding
allows; where there is only one, it is PyTorch's.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from complex_numbers import (
    DTYPES,
    RTOL,
    Pair,
    is_among,
    is_settled,
    numbers,
    pairs_of_numbers,
    products,
    quotients,
    run,
    split,
)

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of overflows


def assert_all(is_right: np.ndarray, *context: np.ndarray | Pair) -> None:
    if not is_right.all():
        wrong = np.flatnonzero(~is_right)[:5]
        raise AssertionError([[np.asarray(c)[..., i].tolist() for c in context] for i in wrong])


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_are_those_that_rounding_allows(target: str, dtype: torch.dtype) -> None:
    a, b = pairs_of_numbers(dtype)
    found = split(run(["mul"], [a, b], target)[0])
    pytorchs = split(a * b)
    settled = 0
    for own, theirs, results in zip(found, pytorchs, products(split(a), split(b)), strict=True):
        assert_all(is_among(own, results, RTOL[dtype]), split(a), split(b), own, np.array(results))
        is_one = is_settled(results, RTOL[dtype])
        assert_all(~is_one | is_among(own, [theirs], RTOL[dtype]), split(a), split(b), own, theirs)
        settled += int(is_one.sum())
    assert settled > 0.95 * 2 * a.numel()


@pytest.mark.parametrize("dtype", DTYPES)
def test_quotients_are_those_that_rounding_allows(target: str, dtype: torch.dtype) -> None:
    """Values are PyTorch's; it has another formula, which gives some zeros the other sign."""
    a, b = pairs_of_numbers(dtype)
    found = split(run(["div"], [a, b], target)[0])
    pytorchs = split(a / b)
    for own, theirs, results in zip(found, pytorchs, quotients(split(a), split(b)), strict=True):
        assert_all(is_among(own, results, RTOL[dtype]), split(a), split(b), own, np.array(results))
        is_same = is_among(np.abs(own), [np.abs(theirs)], RTOL[dtype])
        assert_all(is_same, split(a), split(b), own, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_zeros_of_silu_have_the_signs_that_rounding_allows(target: str, dtype: torch.dtype) -> None:
    z = numbers(dtype)
    found = split(run(["silu"], [z], target)[0])
    below = split(1 + torch.exp(-z))
    for own, results in zip(found, quotients(split(z), below), strict=True):
        is_zero = own == 0
        is_right = is_among(own, results, RTOL[dtype])
        assert_all(~is_zero | is_right, split(z), own, np.array(results))


def recovered(a: Pair, b: Pair, product: Pair) -> Pair:
    """The product, but infinite if a factor is, as annex G of the C standard has it."""

    def corner(z: Pair, is_infinite: np.ndarray) -> Pair:
        at_corner = [np.copysign(np.isinf(part), part) for part in z]
        beside = [np.where(np.isnan(part), np.copysign(0, part), part) for part in z]
        return tuple(np.where(is_infinite, c, d) for c, d in zip(at_corner, beside, strict=True))

    is_a, is_b = (np.isinf(z[0]) | np.isinf(z[1]) for z in (a, b))
    is_lost = (is_a | is_b) & np.isnan(product[0]) & np.isnan(product[1])
    direction = [sums[0] for sums in products(corner(a, is_a), corner(b, is_b))]
    real, imag = (np.where(is_lost, np.inf * d, p) for d, p in zip(direction, product, strict=True))
    return real, imag


def exponentials(real: np.ndarray, imag: np.ndarray, found: Pair) -> np.ndarray:
    """Where `found` may be exp(real + i imag), both of them known up to rounding."""
    x, y = real.astype(np.float64), imag.astype(np.float64)
    own = [part.astype(np.float64) for part in found]
    error = (8 + np.abs(x) + np.abs(y)) * 4 * np.finfo(real.dtype).eps
    size = np.exp(x)
    largest, smallest = np.finfo(real.dtype).max, np.finfo(real.dtype).tiny
    is_right = np.zeros(x.shape, dtype=bool)
    modulus = np.hypot(*own)
    is_turned = error > 0.1  # the angle is lost in rounding: a circle is what is left
    # A point, a circle, zero, infinity.
    distance = np.hypot(own[0] - size * np.cos(y), own[1] - size * np.sin(y))
    is_right |= (distance <= error * size + smallest) & ~is_turned
    is_right |= (np.abs(modulus - size) <= 1e-3 * size) & is_turned & np.isfinite(y)
    is_right |= (modulus == 0) & (size <= 4 * smallest) & ~np.isnan(x)
    is_infinite = np.isinf(own[0]) | np.isinf(own[1]) | (np.isnan(own[0]) & np.isnan(own[1]))
    is_right |= is_infinite & (size >= largest / 4) & ~np.isnan(x)
    # Not a number: from an infinite angle, or from what is none already.
    is_nan = np.isnan(own[0]) | np.isnan(own[1])
    is_right |= is_nan & (np.isnan(x) | ~np.isfinite(y))
    is_right |= (modulus == 0) & (x == -np.inf)
    return is_right


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_are_exponentials_of_a_product_that_rounding_allows(
    target: str, dtype: torch.dtype
) -> None:
    base, exponent = pairs_of_numbers(dtype)
    found = split(run(["pow"], [base, exponent], target)[0])
    reals, imags = products(split(exponent), split(torch.log(base)))
    is_right = ((exponent == 0).numpy()) & (found[0] == 1) & (found[1] == 0)
    for real in reals:
        for imag in imags:
            product = recovered(split(exponent), split(torch.log(base)), (real, imag))
            is_right |= exponentials(*product, found)
    assert_all(is_right, split(base), split(exponent), found, np.array(reals), np.array(imags))
