"""Fusions that schedules of Hopper suit: tensors of one shape, whose rows bulk copies can load.

Operations on elements, reductions of rows that are broadcast again, and now and then a transpose at
the end; `TileCalls` schedule them.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from kernel_operations import KernelOperations
from program_builder import LARGEST, D, need

from nvfuser_direct import ops

if TYPE_CHECKING:
    from nvfuser_direct import DataType

WEIGHTS = {
    "smooth": 6, "squashed": 2, "above_one": 1, "rounding": 2, "cast": 2, "arithmetic": 8,
    "with_number": 2, "comparison": 1, "where": 2, "ternary": 2, "row_reduction": 5,
}  # fmt: skip
ROWS = [1, 2, 3, 5, 7, 8, 13, 16, 31, 33, 64]
GRID_RATE = 0.05  # of programs that wait for the grid before theirs, or let the next one begin
COLUMNS = [8, 16, 24, 32, 40, 64, 72, 128, 200, 256, 264]


class TileOperations(KernelOperations):
    """Sizes are mostly known: stages of boxes, and rows in registers, need them."""

    in_place = 0.05

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.is_static = self.chance(0.8)
        self.is_aligned = True
        self.is_turned = self.chance(0.25)
        self.of_grids = random.Random(f"grids {seed}")
        self.shape = [self.one_of(ROWS), self.one_of(COLUMNS)]
        if self.chance(0.25):
            self.shape = [self.one_of([1, 2, 3, 5]), *self.shape]
        while math.prod(self.shape) > LARGEST:
            self.shape[-2] = max(self.shape[-2] // 2, 1)
            if self.shape[-2] == 1:
                self.shape[0] = 1

    @property
    def kinds(self) -> dict[str, float]:
        return {**WEIGHTS, "row_reduction": 0.5} if self.is_turned else WEIGHTS

    def new_shape(self) -> list[int]:
        kind = self.random.random()
        if kind < 0.85:
            return list(self.shape)
        return [1] * (len(self.shape) - 1) + self.shape[-1:]

    def define_input(self) -> None:
        dtypes: list[DataType] = [D.Float, D.Float, D.Float, D.BFloat16, D.Half, D.Double, D.Int32]
        narrow: list[DataType] = [D.Bool, D.Char, D.Short]
        dtype = self.one_of(narrow if self.chance(0.05) else dtypes)
        x = self.new_input(dtype, self.new_shape())
        if self.of_grids.random() < GRID_RATE:
            self.moved(x, ops.wait_for_prior_grid([x.tensor]), x.shape)

    def row_reduction(self) -> None:
        x = self.pick(lambda v: v.shape == self.shape and v.is_float)
        dim, keepdim = len(self.shape) - 1, self.chance(0.8)
        shape, n = self.reduced(x, [dim], keepdim)
        name = self.one_of(["sum", "max", "min", "mean", "welford"])
        rounding = self.order_error(x, n)
        if name in ("max", "min"):
            result = getattr(ops, name)(x.tensor, [dim], keepdim)
            self.add(result, shape, x.bound, x.error, x.is_whole)
        elif name == "sum":
            error = 0.0 if x.is_whole else n * x.error + rounding
            self.add(ops.sum(x.tensor, [dim], keepdim), shape, x.bound * n, error, x.is_whole)
        elif name == "mean":
            result = ops.mean(x.tensor, [dim], keepdim)
            self.add(result, shape, x.bound, x.error + rounding / n)
        else:
            need(x.dtype in (D.Float, D.Double) and x.is_finite)
            slack = (x.error + rounding / n) * 4 * (x.bound + 1)
            mean, squares, _ = ops.welford(x.tensor, [dim])
            kept = shape[:dim]
            self.add(mean, kept, x.bound, slack)
            self.add(squares, kept, n * 2 * x.bound**2, n * slack)

    def finish(self) -> None:
        """The last result of all rows, transposed; or one behind which another grid may begin."""
        if self.of_grids.random() < GRID_RATE:
            x = self.reading(self.values[-1])
            self.moved(x, ops.launch_dependent_grid([x.tensor]), x.shape)
        if not self.is_turned:
            return
        found = [v for v in self.values if v.shape == self.shape and v.tensor.definition()]
        if found:
            x, rank = found[-1], len(self.shape)
            order = [*range(rank - 2), rank - 1, rank - 2]
            self.reading(x)
            self.moved(x, ops.permute(x.tensor, order), [x.shape[i] for i in order])
