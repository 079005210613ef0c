"""Elements at random positions, of tensors with random shapes, under random schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from hypothesis import event, given, note
from hypothesis import strategies as st
from profiles import cases
from random_fusions import FusionBuilder
from random_schedules import GLOBAL, ScheduleBuilder
from test_schedule_independence import compare, run

from nvfuser_direct import DataType, ScatterOp, TensorDomain, evaluate

if TYPE_CHECKING:
    from nvfuser_direct import Fusion, TensorView


class PositionsBuilder(FusionBuilder):
    """Half of the operations read or write at positions that an input holds."""

    def operation(self) -> TensorView:
        if self.draw(st.booleans(), label="without positions"):
            return super().operation()
        tensor = self.pick()
        axes = TensorDomain.no_reductions(tensor.get_logical_domain())
        sizes = [1 if axis.is_broadcast() else n for axis, n in zip(axes, self.shape, strict=True)]
        dim = self.draw(st.integers(0, len(sizes) - 1), label="dim")
        kind = self.draw(
            st.sampled_from(["gather", "take_along_axis", "index_select", "select", "scatter"]),
            label="positions",
        )
        return getattr(self, kind)(tensor, sizes, dim)

    def gather(self, tensor: TensorView, sizes: list[int], dim: int) -> TensorView:
        shape = [*sizes]
        shape[dim] = self.shape[dim]
        return self.ops.gather(tensor, self.positions(shape, sizes[dim]), dim)

    def take_along_axis(self, tensor: TensorView, sizes: list[int], dim: int) -> TensorView:
        is_repeated = [
            self.draw(st.booleans(), label="repeated") and i != dim for i in range(len(sizes))
        ]
        shape = [1 if repeated else n for repeated, n in zip(is_repeated, self.shape, strict=True)]
        return self.ops.take_along_axis(tensor, self.positions(shape, sizes[dim]), dim)

    def index_select(self, tensor: TensorView, sizes: list[int], dim: int) -> TensorView:
        return self.ops.index_select(tensor, self.positions([self.shape[dim]], sizes[dim]), dim)

    def select(self, tensor: TensorView, sizes: list[int], dim: int) -> TensorView:
        position = self.draw(st.integers(0, sizes[dim] - 1), label="position")
        row = self.ops.select(tensor, position, dim)
        return self.ops.broadcast(row, [i == dim for i in range(len(sizes))])

    def scatter(self, tensor: TensorView, sizes: list[int], dim: int) -> TensorView:
        """Every element has at most one writer: no position is repeated along `dim`."""
        shape = [self.draw(st.integers(1, n), label="written") for n in sizes]
        generator = torch.Generator().manual_seed(len(self.inputs))
        full = [*shape]
        full[dim] = sizes[dim]
        order = torch.rand(full, generator=generator).argsort(dim).narrow(dim, 0, shape[dim])
        index = self.define(order.contiguous(), DataType.Int)
        src = (
            self.define(self.values(shape), self.dtype)
            if self.draw(st.booleans(), label="tensor source")
            else self.draw(st.integers(-3, 3), label="source")
        )
        return self.ops.scatter(self.ops.set(tensor), index, src, dim)

    def positions(self, shape: list[int], below: int) -> TensorView:
        generator = torch.Generator().manual_seed(len(self.inputs))
        values = torch.randint(0, below, shape, generator=generator)
        dtype = self.draw(st.sampled_from([DataType.Int, DataType.Int32]))
        index = self.define(
            values.to(torch.int32 if dtype == DataType.Int32 else values.dtype), dtype
        )
        is_computed = self.draw(st.booleans(), label="computed positions")
        return self.ops.abs(self.ops.neg(index)) if is_computed else index

    def define(self, values: torch.Tensor, dtype: DataType) -> TensorView:
        self.inputs.append(values)
        sizes = [-1 if self.is_symbolic and n != 1 else n for n in values.shape]
        contiguity = [None if n == 1 else True for n in sizes]
        return self.fd.define_tensor(sizes, contiguity=contiguity, dtype=dtype)


def keep_scattered_in_global_memory(fusion: Fusion) -> None:
    for expr in fusion.exprs():
        if isinstance(expr, ScatterOp):
            for tensor in (expr.arg, expr.out):
                if not tensor.is_fusion_output():
                    tensor.set_memory_type(GLOBAL)


@cases(60)
@given(data=st.data())
def test_random_schedules_compute_the_same(data, outcome):
    program = PositionsBuilder(data).build()
    expected = evaluate(program.fd.fusion.clone(), program.inputs, torch.float64)
    ScheduleBuilder(data, program.fd, program.is_symbolic).apply()
    with program.fd:
        keep_scattered_in_global_memory(program.fd.fusion)
    note(program.fd.fusion.print_math())
    note(program.fd.fusion.print_transforms())
    outputs = run(program.fd, program.inputs, outcome)
    if outputs is not None:
        compare(outputs, expected)


@cases(40)
@given(data=st.data())
def test_unscheduled_fusions_compute_the_same(data):
    program = PositionsBuilder(data).build()
    expected = evaluate(program.fd.fusion.clone(), program.inputs, torch.float64)
    note(program.fd.fusion.print_math())
    outputs = program.fd.execute(program.inputs)
    event("computed" if program.fd.fec.is_compiled(program.inputs) else "evaluated")
    compare(outputs, expected)
