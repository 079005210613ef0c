"""Shapes that every kind of fusion is tried with, and how definitions of them are made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Operand and result; -1 is inferred.
SHAPES: list[tuple[list[int], list[int]]] = [
    ([1, 19, 1, 12, 7, 1, 99], [1, 19, 1, 3, 2772]),
    ([1, 19, 1, 12, 7, 1, 99], [1, 19, -1, 3, 2772]),
    ([19, 12, 7, 99], [19, 3, 2772]),
    ([3, 17, 80, 1], [51, 1, 2, 4, 10]),
    ([3, 17, 80, 1], [51, 1, 2, 4, -1]),
    ([3, 17, 80, 1], [51, 2, 4, 1, 10]),
    ([3, 17, 80, 1, 9], [51, 1, 2, 4, 10, 9]),
    ([3, 17, 80, 1, 9], [-1, 1, 2, 4, 10, 9]),
    ([3, 17, 80, 1, 9], [51, 2, 4, 1, 10, 9]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 5, 1]),
    ([2, 3, 4, 5], [1, 6, 1, -1, 2, 5, 1]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 5]),
    ([22, 22, 2], [22, 11, 1, 1, 4]),
    ([22, 22, 2], [22, -1, 1, 1, 4]),
    ([22, 1, 22, 1], [484]),
    ([22, 1, 22, 1], [-1]),
    ([37, 9, 7, 6, 10], [333, 2, 2, 3, 35]),
    ([37, 9, 7, 6, 10], [333, 2, -1, 3, 35]),
    ([1, 1, 3333, 1], [1, 1, 3333, 1]),
    ([1, 1, 3333, 1], [1, 1, -1, 1]),
    ([1, 3333, 1], [3333]),
    ([1, 3333, 1], [-1]),
    ([1, 3333, 1], [1, 303, 11, 1]),
    ([1, 3333, 1], [1, 303, -1, 1]),
    ([1, 333], [1, 1, 1, 111, 1, 3]),
    ([1, 333, 1], [1, 37, 9]),
    ([1, 27454, 1, 2], [1, 7844, 1, 7]),
    ([1, 27454, 1, 2], [1, 7844, 1, -1]),
    ([1, 7844, 1, 7], [1, 27454, 2]),
    ([1, 7844, 1, 7], [1, -1, 2]),
    ([1, 27454, 2], [1, 7844, 7]),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1, 8]),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1, -1]),
]

# Operand and result, after a sum over the operand's last dimension.
REDUCED_SHAPES = [
    ([19, 12, 7, 99], [19, 3, 28]),
    ([3, 17, 80, 1, 9], [51, 1, 2, 4, 10]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 1]),
    ([22, 22, 2], [22, 11, 1, 1, 2]),
    ([37, 9, 7, 6, 10], [333, 2, 21]),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1]),
]

EMPTY_SHAPES = [
    ([2, 3, 0, 5], [6, 0, 5]),
    ([2, 3, 0, 5], [0, 7, 0]),
    ([2, 3, 0, 5], [0, -1, 0]),
    ([0, 1, 2, 3, 4], [5, 0]),
]


def shape_id(shape: object) -> str:
    """Names of test cases."""
    return "x".join(map(str, shape)) if isinstance(shape, list) else str(shape)


def inferred(shape: Sequence[int], new_shape: Sequence[int]) -> list[int]:
    """`new_shape` with the size that its -1 stands for; 0 if there are no elements."""
    others = math.prod(size for size in new_shape if size != -1)
    rest = math.prod(shape) // others if others else 0
    return [rest if size == -1 else size for size in new_shape]


def whole_numbers(shape: Sequence[int], target: str, rng: torch.Generator) -> torch.Tensor:
    """Values whose sums are exact in any order."""
    return torch.randint(-4, 5, tuple(shape), generator=rng).to(torch.float32).to(target)


def strided(shape: Sequence[int], target: str, rng: torch.Generator) -> torch.Tensor:
    """A tensor whose elements have gaps between them in every dimension."""
    larger = whole_numbers([2 * size for size in shape], target, rng)
    return larger[tuple(slice(None, None, 2) for _ in shape)]


def declare(fd: FusionDefinition, x: torch.Tensor, form: str) -> Any:
    """An input like `x`: `constant` sizes, `symbolic` ones in which 1 is a broadcast, or `open`
    ones in which it is an ordinary dimension."""
    if form == "constant":
        return fd.from_pytorch(x, static_sizes=True)
    sizes = [-1 if form == "open" or size != 1 else 1 for size in x.shape]
    flag = x.is_contiguous()
    return fd.define_tensor(sizes, [None if size == 1 else flag for size in sizes])


def run(x: torch.Tensor, form: str, build: Callable[[Any, Any], Any]) -> torch.Tensor:
    """The output of a fusion of one input."""
    with FusionDefinition() as fd:
        fd.add_output(build(fd, declare(fd, x, form)))
    (out,) = fd.execute([x])
    return out


def ways(fd: FusionDefinition) -> list[str]:
    """How the pieces of the last run were computed: "view", "scheduled", .."""
    return [piece.way for piece in fd.fec.last_pieces()]
