"""The documented shapes, through every kind of fusion around a reshape.

With reductions and normalizations every shape is tried in one form, and all shapes together in all
of them; with NVFUSER_TEST_RESHAPE=all every shape in every form.
"""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any

import pytest
import torch
from reshape_cases import (
    REDUCED_SHAPES,
    SHAPES,
    declare,
    inferred,
    run,
    shape_id,
    strided,
    whole_numbers,
)

from nvfuser_direct import FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

FORMS = ["constant", "symbolic", "open"]
ALL = pytest.mark.parametrize(("shape", "new"), SHAPES, ids=shape_id)
ALL_FORMS = pytest.mark.parametrize("form", FORMS)
WAYS = list(itertools.product(FORMS, (whole_numbers, strided)))
CASES = [
    (shape, new, *way)
    for i, (shape, new) in enumerate(SHAPES)
    for k, way in enumerate(WAYS)
    if os.environ.get("NVFUSER_TEST_RESHAPE") == "all" or k == i % len(WAYS)
]


def case_id(value: object) -> str:
    return getattr(value, "__name__", None) or shape_id(value)


SOME = pytest.mark.parametrize(("shape", "new", "form", "make"), CASES, ids=case_id)


@ALL_FORMS
@ALL
def test_between_pointwise_operations(target, rng, shape, new, form) -> None:
    """reshape.md 10.1: a pointwise producer and consumer; contiguous and strided operands"""
    for make in (whole_numbers, strided):
        x = make(shape, target, rng)
        out = run(x, form, lambda fd, t: fd.ops.neg(fd.ops.reshape(fd.ops.add(t, 1.0), new)))
        assert torch.equal(out, -(x + 1).reshape(new))


@ALL_FORMS
@ALL
def test_beside_an_operand_that_is_broadcast(target, rng, shape, new, form) -> None:
    """reshape.md 10.1: an implicit broadcast of the second operand"""
    x = whole_numbers(shape, target, rng)
    result = inferred(shape, new)
    bias = whole_numbers([1] * (len(result) - 1) + result[-1:], target, rng)
    with FusionDefinition() as fd:
        t = declare(fd, x, form)
        y = fd.ops.reshape(fd.ops.mul(t, 2.0), new)
        fd.add_output(fd.ops.add(y, declare(fd, bias, "symbolic")))
    assert torch.equal(fd.execute([x, bias])[0], (x * 2).reshape(new) + bias)


@SOME
def test_before_a_reduction(target, rng, shape, new, form, make) -> None:
    """reshape.md 10.1: a reduction after, over the last and over all but the last dimension"""
    x = make(shape, target, rng)
    last = len(new) - 1
    for dims in ([last], list(range(last)) or [0]):
        out = run(x, form, lambda fd, t: fd.ops.sum(fd.ops.reshape(t, new), dims))  # noqa: B023
        assert torch.equal(out, x.reshape(new).sum(dims))


@pytest.mark.parametrize("make", [whole_numbers, strided])
@pytest.mark.parametrize("form", [*FORMS, "scalars"])
@pytest.mark.parametrize(("shape", "new"), REDUCED_SHAPES, ids=shape_id)
def test_after_a_reduction(target, rng, shape, new, form, make) -> None:
    """reshape.md 10.1: "After a reduction of the last dim" """
    x = make(shape, target, rng)
    with FusionDefinition() as fd:
        t = declare(fd, x, "symbolic" if form == "scalars" else form)
        sizes = fd.define_vector(len(new)) if form == "scalars" else new
        total = fd.ops.sum(t, [len(shape) - 1])
        fd.add_output(fd.ops.neg(fd.ops.reshape(total, sizes)))
    (out,) = fd.execute([x, *(new if form == "scalars" else [])])
    assert torch.equal(out, -x.sum(-1).reshape(new))


def normalized(fd: FusionDefinition, t: Any) -> Any:
    """Values minus their mean over the last dimension, in two passes over a row."""
    last = t.ndim - 1
    return fd.ops.sub(t, fd.ops.mean(t, [last], keepdim=True))


def reference(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(-1, keepdim=True)


ORDERS: dict[str, tuple[Callable[..., Any], Callable[..., torch.Tensor]]] = {
    "before": (
        lambda fd, t, new: fd.ops.reshape(normalized(fd, t), new),
        lambda x, new: reference(x).reshape(new),
    ),
    "after": (
        lambda fd, t, new: normalized(fd, fd.ops.reshape(t, new)),
        lambda x, new: reference(x.reshape(new)),
    ),
}


@pytest.mark.parametrize("order", ORDERS)
@SOME
def test_around_a_normalization(target, rng, shape, new, form, make, order) -> None:
    """reshape.md 10.1: a normalization before and after; against float64"""
    build, expected = ORDERS[order]
    x = make(shape, target, rng)
    out = run(x, form, lambda fd, t: build(fd, t, new))
    torch.testing.assert_close(out, expected(x.double(), new).float(), atol=1e-5, rtol=1e-5)
