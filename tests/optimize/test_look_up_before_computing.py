"""Elements that are looked up in what is computed are computed alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "look_up_before_computing"


def matrix(fd: FusionDefinition) -> Any:
    return fd.define_tensor([4, 8])


def select(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.select(x, 3, 1)


def with_index(lookup: str, sizes: list[int]) -> Callable[[FusionDefinition, Any], Any]:
    def call(fd: FusionDefinition, x: Any) -> Any:
        return getattr(fd.ops, lookup)(x, fd.define_tensor(sizes, dtype=DataType.Int), 1)

    return call


LOOKUPS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "select": select,
    "index_select": with_index("index_select", [1]),
    "gather": with_index("gather", [4, 1]),
    "take_along_axis": with_index("take_along_axis", [4, 1]),
}
CHAINS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "neg": lambda fd, x: fd.ops.neg(x),
    "a chain": lambda fd, x: fd.ops.mul(fd.ops.add(fd.ops.sin(x), 1.0), 0.5),
    "a conversion": lambda fd, x: fd.ops.cast(x, DataType.BFloat16),
    "a square": lambda fd, x: fd.ops.mul(x, x),
}


@pytest.mark.parametrize("lookup", LOOKUPS)
@pytest.mark.parametrize("chain", CHAINS)
def test_the_element_alone_is_computed(chain: str, lookup: str) -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(LOOKUPS[lookup](fd, CHAINS[chain](fd, matrix(fd))))

    def expected(fd: FusionDefinition) -> None:
        fd.add_output(CHAINS[chain](fd, LOOKUPS[lookup](fd, matrix(fd))))

    check_pass(NAME, before, expected)


def test_two_operands_are_looked_up_in() -> None:
    def before(fd: FusionDefinition) -> None:
        x, y = matrix(fd), matrix(fd)
        fd.add_output(select(fd, fd.ops.exp(fd.ops.add(x, y))))

    def expected(fd: FusionDefinition) -> None:
        x, y = matrix(fd), matrix(fd)
        fd.add_output(fd.ops.exp(fd.ops.add(select(fd, x), select(fd, y))))

    check_pass(NAME, before, expected)


def test_a_whole_that_is_returned_is_computed_beside_the_element() -> None:
    def before(fd: FusionDefinition) -> None:
        value = fd.ops.exp(matrix(fd))
        fd.add_output(value)
        fd.add_output(select(fd, value))

    def expected(fd: FusionDefinition) -> None:
        x = matrix(fd)
        fd.add_output(fd.ops.exp(x))
        fd.add_output(fd.ops.exp(select(fd, x)))

    check_pass(NAME, before, expected)


def statistics(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.sum(x, [1])


def test_statistics_of_a_row_are_read_as_they_are() -> None:
    """The result has an axis of one element where the row was, or none."""

    def before(fd: FusionDefinition) -> None:
        x = matrix(fd)
        total = fd.ops.broadcast(statistics(fd, x), [False, True])
        value = fd.ops.sub(x, total)
        fd.add_output(select(fd, value))
        fd.add_output(LOOKUPS["take_along_axis"](fd, value))

    def expected(fd: FusionDefinition) -> None:
        x = matrix(fd)
        total = statistics(fd, x)
        fd.add_output(fd.ops.sub(select(fd, x), total))
        element = LOOKUPS["take_along_axis"](fd, x)
        fd.add_output(fd.ops.sub(element, fd.ops.broadcast(total, [False, True])))

    check_pass(NAME, before, expected)


def test_statistics_that_are_expanded_are_read_as_they_are() -> None:
    def before(fd: FusionDefinition) -> None:
        x = matrix(fd)
        total = fd.ops.broadcast_in_dim(statistics(fd, x), [4, 8], [0])
        fd.add_output(select(fd, fd.ops.sub(x, total)))

    def expected(fd: FusionDefinition) -> None:
        x = matrix(fd)
        fd.add_output(fd.ops.sub(select(fd, x), statistics(fd, x)))

    check_pass(NAME, before, expected)


def test_products_are_looked_up_in() -> None:
    """A library leaves its results in memory."""

    def before(fd: FusionDefinition) -> None:
        product = fd.ops.matmul(fd.define_tensor([4, 5]), fd.define_tensor([5, 8]))
        fd.add_output(select(fd, fd.ops.relu(product)))

    def expected(fd: FusionDefinition) -> None:
        product = fd.ops.matmul(fd.define_tensor([4, 5]), fd.define_tensor([5, 8]))
        fd.add_output(fd.ops.relu(select(fd, product)))

    check_pass(NAME, before, expected)


UNCHANGED: dict[str, Callable[[FusionDefinition, Any], list[Any]]] = {
    "an input": lambda fd, x: [fd.ops.exp(select(fd, x))],
    "several elements": lambda fd, x: [with_index("index_select", [3])(fd, fd.ops.exp(x))],
    "a sum": lambda fd, x: [
        fd.ops.select(fd.ops.exp(fd.ops.sum(fd.define_tensor([4, 8, 2]), [2])), 3, 1)
    ],
    "another order": lambda fd, x: [fd.ops.select(fd.ops.exp(fd.ops.permute(x, [1, 0])), 3, 1)],
    "a broadcast operand": lambda fd, x: [
        select(fd, fd.ops.add(x, fd.ops.broadcast(fd.define_tensor([8]), [True, False])))
    ],
    "random numbers": lambda fd, x: [
        select(fd, fd.ops.add(x, fd.ops.uniform(0.0, 1.0, [4, 8], dtype=DataType.Float)))
    ],
    "a boundary": lambda fd, x: [select(fd, fd.ops.segment_set(fd.ops.exp(x)))],
    "fewer rows": lambda fd, x: [
        with_index("gather", [2, 1])(
            fd, fd.ops.sub(x, fd.ops.broadcast(statistics(fd, x), [False, True]))
        )
    ],
}


@pytest.mark.parametrize("text", UNCHANGED)
def test_all_else_stays(text: str) -> None:
    def definition(fd: FusionDefinition) -> None:
        for out in UNCHANGED[text](fd, matrix(fd)):
            fd.add_output(out)

    check_unchanged(NAME, definition)


def test_an_input_that_is_updated_is_not_read_late() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = matrix(fd)
        fd.add_output(select(fd, fd.ops.neg(x)))
        fd.add_output(fd.ops.add(x, 1.0), x)

    check_unchanged(NAME, definition)


@pytest.mark.parametrize("keeps_all", [False, True])
def test_one_kernel_computes_rows_and_an_element_of_each(
    target: str, rng: torch.Generator, keeps_all: bool
) -> None:
    """The loss of a classifier: logarithms of a softmax, of which one element counts."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, 1], dtype=DataType.Int)
        highest = fd.ops.broadcast(fd.ops.max(x, [1]), [False, True])
        shifted = fd.ops.sub(x, highest)
        total = fd.ops.broadcast(fd.ops.sum(fd.ops.exp(shifted), [1]), [False, True])
        logarithms = fd.ops.sub(shifted, fd.ops.log(total))
        fd.add_output(fd.ops.neg(fd.ops.take_along_axis(logarithms, index, 1)))
        if keeps_all:
            fd.add_output(logarithms)
    for rows, cols in ((5, 300), (7, 1000)):
        data = torch.randn(rows, cols, generator=rng).to(target)
        labels = torch.randint(0, cols, (rows, 1), generator=rng).to(target)
        outs = fd.execute([data, labels])
        wanted = torch.log_softmax(data, 1)
        torch.testing.assert_close(outs[0], -wanted.gather(1, labels), atol=1e-5, rtol=1e-5)
        if keeps_all:
            torch.testing.assert_close(outs[1], wanted, atol=1e-5, rtol=1e-5)
        (piece,) = fd.fec.last_pieces()
        assert piece.way == "scheduled"


def test_many_lookups_in_a_long_chain_do_not_repeat_it_without_end() -> None:
    length = 100

    def expressions(lookups: int) -> int:
        with FusionDefinition() as fd:
            y = matrix(fd)
            for _ in range(length):
                y = fd.ops.sin(y)
            for row in range(lookups):
                fd.add_output(fd.ops.select(y, row % 4, 0))
            fd.add_output(y)
        return len(fd.fusion.optimize(passes=[NAME]).exprs())

    assert expressions(1) == 2 * length + 1  # the chain, a lookup, and the chain of its element
    assert expressions(50) <= 5 * (length + 50)
