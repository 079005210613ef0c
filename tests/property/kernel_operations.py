"""Operations of programs whose schedules are random: shapes that have much in common."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from program_builder import LARGEST
from random_operations import KINDS, Operations

if TYPE_CHECKING:
    import torch

    from nvfuser_direct import DataType, TensorView

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 33, 64, 65]
# More of what axes take part in, and little of what has no kernel.
WEIGHTS = KINDS | {
    "reduction": 20, "moments": 5, "scan": 4, "look_up": 6, "pad": 4, "slice": 4, "cat": 4,
    "product": 0, "search": 0, "rows": 0, "smooth": 5, "rounding": 3, "question": 0.5,
    "gates": 0.3, "create": 3,
}  # fmt: skip


def has_aligned_rows(seed: int) -> bool:
    """Whether inputs have rows of multiples of 16 bytes without gaps, as bulk copies need them."""
    return random.Random(f"aligned {seed}").random() < 0.4


class KernelOperations(Operations):
    """Shapes have much in common, so that tensors share loops."""

    end_rate = 0.2
    in_place = 0.2
    may_be_aligned = False

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.shape = [self.one_of(EXTENTS) for _ in range(self.one_of([1, 1, 2, 2, 2, 3, 3]))]
        while math.prod(self.shape) > LARGEST:
            self.shape.pop()
        self.is_aligned = self.may_be_aligned and has_aligned_rows(seed)
        if self.is_aligned:
            self.shape = [*self.shape[-2:], self.one_of([8, 16, 32, 64])]
        if self.chance(0.04):
            self.shape[self.random.randrange(len(self.shape))] = 0

    @property
    def kinds(self) -> dict[str, float]:
        return WEIGHTS

    def laid_out(self, shape: list[int]) -> tuple[list[int], Any]:
        return (shape, lambda t: t) if self.is_aligned else super().laid_out(shape)

    def declare(self, tensor: torch.Tensor, dtype: DataType) -> TensorView:
        if not self.is_aligned:
            return super().declare(tensor, dtype)
        return self.fd.define_tensor(
            sizes=list(tensor.shape),
            strides=list(tensor.stride()),
            dtype=dtype,
            static_sizes=self.is_static,
        )

    def new_shape(self) -> list[int]:
        kind = self.random.random()
        if self.is_aligned and kind < 0.8:
            return list(self.shape)
        if kind < 0.2:
            return super().new_shape()
        shape = list(self.shape)
        if kind < 0.45:
            shape[self.random.randrange(len(shape))] = 1
        return shape[1:] if kind < 0.3 else shape


class BoxedOperations(KernelOperations):
    """Many inputs have rows that boxes can be loaded of."""

    may_be_aligned = True
