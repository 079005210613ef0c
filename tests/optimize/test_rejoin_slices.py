"""Parts of one tensor that are computed with alike and concatenated again."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from pass_case import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "rejoin_slices"


def parts(fd: FusionDefinition, x: Any, *cuts: int) -> list[Any]:
    """Columns of a matrix [4, 8], cut at some positions."""
    ends = [0, *cuts, 8]
    return [fd.ops.slice(x, [0, begin], [4, end]) for begin, end in itertools.pairwise(ends)]


CHAINS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "exp": lambda fd, x: fd.ops.exp(x),
    "a chain": lambda fd, x: fd.ops.mul(fd.ops.add(fd.ops.sin(x), 1.0), 0.5),
    "a conversion": lambda fd, x: fd.ops.cast(x, DataType.BFloat16),
    "a square": lambda fd, x: fd.ops.mul(x, x),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("cuts", [(3,), (1, 4, 6)])
def test_parts_are_a_whole(chain: str, cuts: tuple[int, ...]) -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.cat([CHAINS[chain](fd, part) for part in parts(fd, x, *cuts)], 1))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(CHAINS[chain](fd, fd.define_tensor([4, 8])))

    check_pass(NAME, before, expected)


def test_parts_without_operations_are_the_tensor() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.exp(fd.ops.cat(parts(fd, x, 5), 1)))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(fd.define_tensor([4, 8])))

    check_pass(NAME, before, expected)


def test_several_operands_are_cut_alike() -> None:
    def before(fd: FusionDefinition) -> None:
        x, y, rows = fd.define_tensor([4, 8]), fd.define_tensor([4, 8]), fd.define_tensor([4, 1])
        sums = [fd.ops.add(a, b) for a, b in zip(parts(fd, x, 5), parts(fd, y, 5), strict=True)]
        fd.add_output(fd.ops.cat([fd.ops.mul(each, rows) for each in sums], 1))

    def expected(fd: FusionDefinition) -> None:
        x, y, rows = fd.define_tensor([4, 8]), fd.define_tensor([4, 8]), fd.define_tensor([4, 1])
        fd.add_output(fd.ops.mul(fd.ops.add(x, y), rows))

    check_pass(NAME, before, expected)


DIFFERENT: dict[str, Callable[[FusionDefinition, Any, Any, Any], list[Any]]] = {
    "order": lambda fd, x, a, b: [b, a],
    "operations": lambda fd, x, a, b: [fd.ops.exp(a), fd.ops.sin(b)],
    "numbers": lambda fd, x, a, b: [fd.ops.mul(a, 2.0), fd.ops.mul(b, 3.0)],
    "a part is missing": lambda fd, x, a, b: [a, fd.ops.slice(b, [0, 1], [4, 3])],
    "a part twice": lambda fd, x, a, b: [a, b, b],
    "dimension": lambda fd, x, a, b: [fd.ops.slice(x, [0, 0], [2, 8]), x],
    "another tensor": lambda fd, x, a, b: [a, fd.ops.slice(fd.ops.exp(x), [0, 5], [4, 8])],
    "operands in another order": lambda fd, x, a, b: [fd.ops.sub(a, 1.0), fd.ops.sub(1.0, b)],
}


@pytest.mark.parametrize("text", DIFFERENT)
def test_what_differs_stays(text: str) -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        operands = DIFFERENT[text](fd, x, *parts(fd, x, 5))
        fd.add_output(fd.ops.cat(operands, 0 if text == "dimension" else 1))

    check_unchanged(NAME, definition)


def test_what_others_read_stays() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        a, b = (fd.ops.exp(part) for part in parts(fd, x, 5))
        fd.add_output(fd.ops.cat([a, b], 1))
        fd.add_output(fd.ops.neg(a))

    check_unchanged(NAME, definition)


def test_a_vector_that_each_part_has_whole_is_not_cut() -> None:
    def definition(fd: FusionDefinition) -> None:
        x, row = fd.define_tensor([4, 8]), fd.define_tensor([4, 4])
        fd.add_output(fd.ops.cat([fd.ops.add(part, row) for part in parts(fd, x, 4)], 1))

    check_unchanged(NAME, definition)
