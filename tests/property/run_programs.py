"""Fusions whose schedules copy runs: rows of multiples of 16 bytes, and integers that are updated.

An update is a sum, minimum or maximum of an input and a tensor of integers, which is written into
that input; `RunCalls` let bulk copies combine both in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from program_builder import INTEGERS, D, Value
from tile_programs import TileOperations

from nvfuser_direct import ops

if TYPE_CHECKING:
    from nvfuser_direct import DataType

UPDATES = ["add", "minimum", "maximum"]


class RunOperations(TileOperations):
    """Whole rows; half of the programs end with an update."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.is_turned = False
        self.updates = self.chance(0.5)
        self.in_place = 0.0

    def define_input(self) -> None:
        dtypes: list[DataType] = [D.Float, D.Float, D.Half, D.Double, D.Int32, D.Int32, D.Int]
        self.new_input(self.one_of(dtypes), self.new_shape())

    def finish(self) -> None:
        if not self.updates:
            return
        fits = [v for v in self.values if v.shape == self.shape and v.is_whole and v.is_number]
        found = [v for v in fits if v.is_finite]  # no integer is infinite
        stored = found[-1] if found else self.new_input(D.Int32, list(self.shape))
        if stored.dtype not in INTEGERS or stored.tensor.is_fusion_input():
            dtype = self.one_of(list(INTEGERS))
            tensor = ops.neg(ops.cast(stored.tensor, dtype=dtype))
            stored = self.add(tensor, self.shape, stored.bound, 0.0, is_whole=True)
        self.updated = self.new_input(stored.dtype, list(self.shape))
        operands = [self.updated.tensor, stored.tensor]
        result = getattr(ops, self.one_of(UPDATES))(*self.random.sample(operands, 2))
        self.add(result, self.shape, self.updated.bound + stored.bound, 0.0, is_whole=True)
        self.in_place = 1.0

    @property
    def updatable(self) -> list[tuple[int, Value]]:
        if not self.updates:
            return []
        return [(i, value) for i, value in self.tensor_inputs if value is self.updated]
