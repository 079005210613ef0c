"""Views that undo each other, follow each other, or change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import after, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, equal_up_to_numbering, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion

    View = Callable[[Any, Any], Any]

NAME = "cancel_views"

NOTHING: dict[str, View] = {
    "squeeze of a broadcast": lambda ops, x: ops.squeeze(
        ops.broadcast(x, [False, True, False]), [1]
    ),
    "permutation and its inverse": lambda ops, x: ops.permute(ops.permute(x, [1, 0]), [1, 0]),
}


@pytest.mark.parametrize("text", NOTHING)
def test_what_changes_nothing_is_left_out(text: str) -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(NOTHING[text](fd.ops, fd.define_tensor([4, 6]))))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(fd.define_tensor([4, 6])))

    check_pass(NAME, before, expected)


JOINED: dict[str, tuple[View, View]] = {
    "broadcasts": (
        lambda ops, x: ops.broadcast(
            ops.broadcast(x, [False, True, False]), [True, False, False, False, True]
        ),
        lambda ops, x: ops.broadcast(x, [True, False, True, False, True]),
    ),
    "a part of a broadcast": (
        lambda ops, x: ops.squeeze(ops.broadcast(x, [True, False, False, True]), [0]),
        lambda ops, x: ops.broadcast(x, [False, False, True]),
    ),
    "permutations": (
        lambda ops, x: ops.permute(
            ops.permute(ops.broadcast(x, [False, False, True]), [1, 2, 0]), [1, 2, 0]
        ),
        lambda ops, x: ops.permute(ops.broadcast(x, [False, False, True]), [2, 0, 1]),
    ),
    "expansions": (
        lambda ops, x: ops.expand(
            ops.expand(ops.broadcast(x, [True, True, False, False]), [1, 3, 4, 6]), [2, 3, 4, 6]
        ),
        lambda ops, x: ops.expand(ops.broadcast(x, [True, True, False, False]), [2, 3, 4, 6]),
    ),
}


@pytest.mark.parametrize("text", JOINED)
def test_views_that_follow_each_other_are_one(text: str) -> None:
    two, one = JOINED[text]

    def before(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(two(fd.ops, fd.define_tensor([4, 6]))))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(one(fd.ops, fd.define_tensor([4, 6]))))

    check_pass(NAME, before, expected)


def test_squeezes_are_joined_and_undone_by_a_broadcast() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([1, 4, 1], contiguity=[None, True, None])
        y = fd.ops.squeeze(fd.ops.squeeze(x, [0]), [1])
        fd.add_output(fd.ops.exp(y))
        fd.add_output(fd.ops.neg(fd.ops.broadcast(y, [True, False, True])))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([1, 4, 1], contiguity=[None, True, None])
        fd.add_output(fd.ops.exp(fd.ops.squeeze(x, [0, 2])))
        fd.add_output(fd.ops.neg(x))

    check_pass(NAME, before, expected)


def test_a_reduction_that_keeps_its_axes_loses_them_again() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 6])
        fd.add_output(fd.ops.squeeze(fd.ops.sum(x, [1], keepdim=True), [1]))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.sum(fd.define_tensor([4, 6]), [1]))

    check_pass(NAME, before, expected)


def test_other_views_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 6])
        fd.add_output(fd.ops.pad(x, [1, -1, 0, 0]))  # the shape of x, shifted
        fd.add_output(fd.ops.slice(x, [1, 0], [4, 6]))
        fd.add_output(fd.ops.permute(x, [1, 0]))
        fd.add_output(fd.ops.reshape(x, [6, 4]))
        fd.add_output(fd.ops.broadcast(fd.ops.sum(x, [0]), [True, False]))

    check_unchanged(NAME, definition)


def test_an_expanded_dimension_that_is_squeezed_is_not_brought_back_as_it_was() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.ops.expand(fd.define_tensor([1, 4], contiguity=[None, True]), [3, 4])
        y = fd.ops.squeeze(x, [0], squeeze_expanded=True)
        fd.add_output(fd.ops.exp(fd.ops.broadcast(y, [True, False])))

    fusion = after(NAME, definition)
    [result] = fusion.outputs()
    assert [size.value() for size in result.shape()] == [1, 4]


def test_an_expansion_to_a_size_that_others_give_is_left_out() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([4, 6], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.expand(x, [4, 6]), fd.ops.neg(y)))
        fd.add_output(fd.ops.add(x, y))
    fusion = fd.fusion.optimize(passes=["unify_extents", "simplify_pointwise", NAME], verify=True)
    kinds = {type(expr).__name__ for expr in fusion.exprs()}
    assert kinds == {"UnaryOp", "BinaryOp"}
    x, y = torch.randn(4, 6), torch.randn(4, 6)
    for found, was in zip(evaluate(fusion, [x, y]), evaluate(fd.fusion, [x, y]), strict=True):
        assert torch.equal(found, was)


def test_an_output_keeps_its_place_and_becomes_a_copy() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 6])
        fd.add_output(fd.ops.squeeze(fd.ops.broadcast(x, [True, False, False]), [0]))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.set(fd.define_tensor([4, 6])))

    check_pass(NAME, before, expected)


def test_the_first_output_stays_in_any_order_of_statements() -> None:
    """Two squeezes of one tensor, of which each may stand for the other."""

    def defined(first: int) -> Callable[[FusionDefinition], None]:
        def define(fd: FusionDefinition) -> None:
            x = fd.ops.neg(fd.ops.broadcast(fd.define_tensor([4]), [True, False]))
            made: dict[int, Any] = {}
            for i in (first, 1 - first):
                made[i] = fd.ops.squeeze(x, [0])
            fd.add_output(fd.ops.div(made[0], 1.0))
            fd.add_output(made[1])

        return define

    def optimized(first: int) -> Fusion:
        with FusionDefinition() as fd:
            defined(first)(fd)
        return fd.fusion.optimize()

    assert equal_up_to_numbering(optimized(0), optimized(1))
