"""Slices of what is computed from an input are taken of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "slice_before_computing"

CHAINS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "neg": lambda fd, x: fd.ops.neg(x),
    "a chain": lambda fd, x: fd.ops.mul(fd.ops.add(fd.ops.sin(x), 1.0), 0.5),
    "a conversion": lambda fd, x: fd.ops.cast(x, DataType.BFloat16),
    "a square": lambda fd, x: fd.ops.mul(x, x),
}


def part(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.slice(x, [1, 0], [3, 8])


@pytest.mark.parametrize("chain", CHAINS)
def test_the_part_alone_is_computed(chain: str) -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(part(fd, CHAINS[chain](fd, fd.define_tensor([4, 8]))))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(CHAINS[chain](fd, part(fd, fd.define_tensor([4, 8]))))

    check_pass(NAME, before, expected)


def test_a_whole_that_others_read_is_computed_beside_the_part() -> None:
    def before(fd: FusionDefinition) -> None:
        value = fd.ops.neg(fd.define_tensor([4, 8]))
        fd.add_output(part(fd, value))
        fd.add_output(fd.ops.sum(value, [0]))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.neg(part(fd, x)))
        fd.add_output(fd.ops.sum(fd.ops.neg(x), [0]))

    check_pass(NAME, before, expected)


def test_two_parts_are_computed_apart() -> None:
    def before(fd: FusionDefinition) -> None:
        value = fd.ops.exp(fd.define_tensor([4, 8]))
        fd.add_output(fd.ops.slice(value, [0, 0], [4, 3]))
        fd.add_output(fd.ops.slice(value, [0, 2], [4, 8]))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.exp(fd.ops.slice(x, [0, 0], [4, 3])))
        fd.add_output(fd.ops.exp(fd.ops.slice(x, [0, 2], [4, 8])))

    check_pass(NAME, before, expected)


UNCHANGED: dict[str, Callable[[FusionDefinition, Any], list[Any]]] = {
    "a slice of an input": lambda fd, x: [fd.ops.exp(part(fd, x))],
    "a slice of an output": lambda fd, x: (lambda y: [y, part(fd, y)])(fd.ops.exp(x)),
    "two operands": lambda fd, x: [part(fd, fd.ops.add(x, fd.define_tensor([4, 8])))],
    "a broadcast operand": lambda fd, x: [part(fd, fd.ops.add(x, fd.define_tensor([4, 1])))],
    "another order": lambda fd, x: [
        fd.ops.slice(fd.ops.exp(fd.ops.permute(x, [1, 0])), [1, 0], [3, 4])
    ],
    "a sum": lambda fd, x: [
        fd.ops.slice(fd.ops.exp(fd.ops.sum(fd.define_tensor([4, 8, 2]), [2])), [1, 0], [3, 8])
    ],
}


@pytest.mark.parametrize("text", UNCHANGED)
def test_all_else_stays(text: str) -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        for out in UNCHANGED[text](fd, x):
            fd.add_output(out)

    check_unchanged(NAME, definition)


def test_an_input_that_is_updated_is_not_read_late() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(part(fd, fd.ops.neg(x)))
        fd.add_output(fd.ops.add(x, 1.0), x)

    check_unchanged(NAME, definition)


def test_one_kernel_reads_the_part(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.slice(fd.ops.exp(fd.ops.neg(x)), [1, 2], [5, 7]))
    data = torch.randn(9, 11, generator=rng).to(target)
    for shape in ((9, 11), (5, 7)):
        given = data[: shape[0], : shape[1]].contiguous()
        (out,) = fd.execute([given])
        torch.testing.assert_close(out, torch.exp(-given)[1:5, 2:7])
    (piece,) = fd.fec.last_pieces()
    assert piece.way == "scheduled"
