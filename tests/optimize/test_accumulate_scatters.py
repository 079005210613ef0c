"""Numbers that are counted by adding up rows with one element each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import check_pass, check_unchanged, defined

from nvfuser_direct import BinaryOpType, DataType, FusionDefinition, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "accumulate_scatters"
INTEGERS = [DataType.Int, DataType.Int32]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_rows_with_one_element_are_counted(dtype: DataType) -> None:
    def before(fd: FusionDefinition) -> None:
        index = fd.define_tensor([6, 1], dtype=DataType.Int)
        table = fd.ops.scatter(fd.ops.full([6, 2], 0, dtype), index, 3, 1)
        fd.add_output(fd.ops.sum(table, [0]))

    def expected(fd: FusionDefinition) -> None:
        index = fd.define_tensor([6, 1], dtype=DataType.Int)
        zeros = fd.ops.full([2], 0, DataType.Int)
        positions = fd.ops.squeeze(index, [1])
        fd.add_output(fd.ops.scatter(zeros, positions, 3, 0, BinaryOpType.Add))

    check_pass(NAME, before, expected)


OTHERS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "real numbers": lambda fd, i: fd.ops.sum(
        fd.ops.scatter(fd.ops.full([6, 2], 0.0, DataType.Float), i, 1.0, 1), [0]
    ),
    "rows that begin with ones": lambda fd, i: fd.ops.sum(
        fd.ops.scatter(fd.ops.full([6, 2], 1, DataType.Int), i, 3, 1), [0]
    ),
    "sums of rows": lambda fd, i: fd.ops.sum(
        fd.ops.scatter(fd.ops.full([6, 2], 0, DataType.Int), i, 1, 1), [1]
    ),
    "maxima": lambda fd, i: fd.ops.max(
        fd.ops.scatter(fd.ops.full([6, 2], 0, DataType.Int), i, 1, 1), [0]
    ),
}


@pytest.mark.parametrize("text", OTHERS)
def test_other_sums_stay(text: str) -> None:
    def definition(fd: FusionDefinition) -> None:
        fd.add_output(OTHERS[text](fd, fd.define_tensor([6, 1], dtype=DataType.Int)))

    check_unchanged(NAME, definition)


def test_two_elements_of_a_row_may_be_one() -> None:
    def definition(fd: FusionDefinition) -> None:
        index = fd.define_tensor([6, 2], dtype=DataType.Int)
        table = fd.ops.scatter(fd.ops.full([6, 2], 0, DataType.Int), index, 1, 1)
        fd.add_output(fd.ops.sum(table, [0]))

    check_unchanged(NAME, definition)


def test_fewer_positions_than_rows_count_too(rng: torch.Generator) -> None:
    def counting(fd: FusionDefinition) -> None:
        index = fd.define_tensor([-1, 1], dtype=DataType.Int)
        table = fd.ops.scatter(fd.ops.full([50, 7], 0, DataType.Int), index, 1, 1)
        fd.add_output(fd.ops.sum(table, [0]))

    fusion = defined(counting).optimize(verify=True)
    index = torch.randint(0, 7, (40, 1), generator=rng)
    [result] = evaluate(fusion, [index])
    assert torch.equal(result, torch.bincount(index.flatten(), minlength=7))
