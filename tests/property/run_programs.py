"""Fusions whose schedules copy runs: rows of multiples of 16 bytes, and integers that are updated.

An update is a sum, minimum or maximum of an input and a tensor of integers, or a sum of Doubles,
which is written into that input; `RunCalls` let bulk copies combine both in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from program_builder import INTEGERS, D, Value, epsilon, limit_of
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
        self.needs_finite = True
        stored = found[-1] if found else self.new_input(D.Int32, list(self.shape))
        kind = self.one_of(["signed", "signed", "unsigned", "Double"])
        operand = getattr(self, f"{kind}_operand".lower())(stored)
        self.updated = self.new_input(operand.dtype, list(self.shape))
        operands = self.random.sample([self.updated.tensor, operand.tensor], 2)
        name = "add" if operand.dtype == D.Double else self.one_of(UPDATES)
        tensor, bound = getattr(ops, name)(*operands), self.updated.bound + operand.bound
        is_whole, error = operand.is_whole and self.updated.is_whole, operand.error
        rounding = 0.0 if is_whole else 8 * epsilon(operand.dtype) * bound
        self.append(Value(tensor, list(self.shape), bound, error + rounding, is_whole))
        self.in_place = 1.0

    def signed_operand(self, stored: Value) -> Value:
        if stored.dtype in INTEGERS and not stored.tensor.is_fusion_input():
            return stored
        dtype = self.one_of([d for d in INTEGERS if stored.bound <= limit_of(d)])
        tensor = ops.neg(ops.cast(stored.tensor, dtype=dtype))
        return self.add(tensor, self.shape, stored.bound, 0.0, is_whole=True)

    def unsigned_operand(self, stored: Value) -> Value:
        """Negative integers are large ones."""
        signed = self.signed_operand(stored)
        tensor = ops.cast(signed.tensor, dtype=D.UInt64)
        return self.append(Value(tensor, list(self.shape), 2.0**64, 0.0, is_whole=True))

    def double_operand(self, stored: Value) -> Value:
        tensor = ops.mul(ops.cast(stored.tensor, dtype=D.Double), 0.75)
        bound = 0.75 * stored.bound
        error = 8 * epsilon(D.Double) * max(bound, 1.0)
        return self.append(Value(tensor, list(self.shape), bound, error))

    @property
    def updatable(self) -> list[tuple[int, Value]]:
        if not self.updates:
            return []
        return [(i, value) for i, value in self.tensor_inputs if value is self.updated]
