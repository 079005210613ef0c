"""A segment by itself says how large everything is that it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    concretize,
    find_concretization,
    segment,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def joined_twice(fd: FusionDefinition) -> list[Any]:
    """The size of the second cat is a sum over the input, and its operand lies between."""
    x = fd.define_tensor([-1], contiguity=True)
    once = fd.ops.cat([x, fd.ops.neg(x)], 0)
    return [fd.ops.cat([once, fd.ops.neg(once)], 0), once]


def padded_behind_a_boundary(fd: FusionDefinition) -> list[Any]:
    x = fd.define_tensor([-1], contiguity=True)
    once = fd.ops.segment_set(fd.ops.exp(fd.ops.pad(x, [1, 2])))
    return [fd.ops.exp(fd.ops.pad(once, [3, 4]))]


def merged_behind_a_boundary(fd: FusionDefinition) -> list[Any]:
    x = fd.define_tensor([-1], contiguity=True)
    pairs = fd.ops.segment_set(fd.ops.exp(fd.ops.reshape(x, [-1, 3])))
    return [fd.ops.neg(fd.ops.reshape(pairs, [-1]))]


def of_constant_size(fd: FusionDefinition) -> list[Any]:
    """The result of the reshape has 9 elements, however many there are of rows and columns."""
    x = fd.define_tensor([-1, -1], contiguity=True)
    flat = fd.ops.reshape(x, [9])
    return [fd.ops.neg(fd.ops.segment_set(fd.ops.pad(flat, [2, 1])))]


DEFINITIONS = [joined_twice, padded_behind_a_boundary, merged_behind_a_boundary, of_constant_size]


@pytest.mark.parametrize("build", DEFINITIONS, ids=lambda build: build.__name__)
def test_segments_are_written_and_read(
    target: str, rng: torch.Generator, build: Callable[[FusionDefinition], list[Any]]
) -> None:
    with FusionDefinition() as fd:
        for out in build(fd):
            fd.add_output(out)
    rank = fd.fusion.inputs()[0].ndim
    x = torch.randn((3,) * rank if rank == 2 else (9,), generator=rng).to(target)
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, [x]))
    groups = segment(fusion, [x]).groups
    assert len(groups) > 1
    for group in groups:
        data = group.fusion.serialize()
        assert Fusion.deserialize(data).serialize() == data
    assert Fusion.deserialize(fusion.serialize()).digest() == fusion.digest()
    expected = REFERENCES[build.__name__](x)
    for out, reference in zip(fd.execute([x]), expected, strict=True):
        torch.testing.assert_close(out, reference)


def test_sizes_that_a_number_of_the_run_decides_do_not_read_themselves(
    target: str, rng: torch.Generator
) -> None:
    """The column has as many rows as `x`, and as `rows` says; a slice and pads name the latter.

    No scheduler takes the three together, so each segment says its sizes by its own operands.
    """
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        rows, one = (fd.define_scalar(dtype=DataType.Int) for _ in range(2))
        column = fd.ops.reshape(x, [rows, one])
        fd.add_output(fd.ops.slice(column, [0, 0], [100, 1]))
        fd.add_output(fd.ops.cat([column, column], 0))
    values = torch.randn(7, generator=rng).to(target)
    first, joined = fd.execute([values, 7, 1])
    torch.testing.assert_close(first, values[:, None], rtol=0, atol=0)
    torch.testing.assert_close(joined, torch.cat([values, values])[:, None], rtol=0, atol=0)


def pad(x: torch.Tensor, *widths: int) -> torch.Tensor:
    return torch.nn.functional.pad(x, widths)


REFERENCES: dict[str, Callable[[torch.Tensor], list[torch.Tensor]]] = {
    "joined_twice": lambda x: [torch.cat([x, -x, -x, x]), torch.cat([x, -x])],
    "padded_behind_a_boundary": lambda x: [pad(pad(x, 1, 2).exp(), 3, 4).exp()],
    "merged_behind_a_boundary": lambda x: [-x.exp()],
    "of_constant_size": lambda x: [-pad(x.flatten(), 2, 1)],
}
