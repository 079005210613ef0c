"""Repeated elements as views."""

from __future__ import annotations

import pytest
import torch
from pass_case import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition

NAME = "repeat_by_expanding"


@pytest.mark.parametrize("dtype", [DataType.Float, DataType.Int, DataType.BFloat16])
def test_a_repetition_is_expanded_and_merged(dtype: DataType) -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 5], dtype=dtype)
        fd.add_output(fd.ops.repeat(x, [2, 3]))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 5], dtype=dtype)
        wide = fd.ops.broadcast(x, [True, False, True, False])
        fd.add_output(fd.ops.reshape(fd.ops.expand(wide, [2, -1, 3, -1]), [8, 15]))

    check_pass(NAME, before, expected)


def test_dimensions_that_are_not_repeated_stay() -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.repeat(fd.define_tensor([4, 5]), [1, 3]))

    def expected(fd: FusionDefinition) -> None:
        wide = fd.ops.broadcast(fd.define_tensor([4, 5]), [False, True, False])
        fd.add_output(fd.ops.reshape(fd.ops.expand(wide, [-1, 3, -1]), [4, 15]))

    check_pass(NAME, before, expected)


def test_a_tensor_behind_itself_is_a_repetition() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.ops.exp(fd.define_tensor([4, 5]))
        fd.add_output(fd.ops.cat([x, x, x], 0))

    def expected(fd: FusionDefinition) -> None:
        x = fd.ops.exp(fd.define_tensor([4, 5]))
        wide = fd.ops.expand(fd.ops.broadcast(x, [True, False, False]), [3, -1, -1])
        fd.add_output(fd.ops.reshape(wide, [12, 5]))

    check_pass(NAME, before, expected)


def test_other_concatenations_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x, y = fd.define_tensor([4, 5]), fd.define_tensor([4, 5])
        fd.add_output(fd.ops.cat([x, y], 0))
        fd.add_output(fd.ops.cat([x, fd.ops.pad(x, [0, 0, 0, 1])], 0))

    check_unchanged(NAME, definition)


def test_a_dimension_of_one_element_is_left_to_repeat() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([1, 5])
        fd.add_output(fd.ops.repeat(x, [3, 1]))

    check_unchanged(NAME, definition)


@pytest.mark.parametrize("shape", [(1,), (7, 3), (2, 1, 5), (0, 4)])
def test_any_size_is_repeated(target: str, rng: torch.Generator, shape: tuple[int, ...]) -> None:
    x = torch.randn(shape, generator=rng)
    repeats = [2 + i for i in range(len(shape))]
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.mul(fd.ops.repeat(fd.ops.neg(fd.from_pytorch(x)), repeats), 2.0))
    fusion = fd.fusion.optimize(verify=True)
    assert ("repeat(" in fusion.print_math()) == (1 in shape)
    with FusionDefinition() as again:
        again.add_output(again.ops.repeat(again.from_pytorch(x), repeats))
    for each, expected in ((fd, -2 * x.repeat(repeats)), (again, x.repeat(repeats))):
        [result] = each.execute([x.to(target)])
        assert torch.equal(result.cpu(), expected)
