"""Random fusions: operations on small integers, so that results are exact in any order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from hypothesis import strategies as st

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from nvfuser_direct import TensorView

EXTENTS = st.sampled_from([1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33])
DTYPES = {
    DataType.Float: torch.float32,
    DataType.Double: torch.float64,
    DataType.Int: torch.int64,
}
LARGEST = 8192  # elements of an iteration space


@dataclass
class Program:
    """A fusion and inputs for it."""

    fd: FusionDefinition
    inputs: list[torch.Tensor]
    is_symbolic: bool


class FusionBuilder:
    """Draws one fusion; the tensors of `pool` have the dimensions of `shape` or broadcasts."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.inputs: list[torch.Tensor] = []
        self.pool: list[TensorView] = []

    def build(self) -> Program:
        self.shape = self.draw(st.lists(EXTENTS, min_size=1, max_size=3), label="shape")
        while math.prod(self.shape) > LARGEST:
            self.shape.pop()
        self.is_symbolic = self.draw(st.booleans(), label="symbolic")
        self.dtype = self.draw(
            st.sampled_from([DataType.Float, DataType.Float, DataType.Double, DataType.Int])
        )
        with FusionDefinition() as fd:
            self.fd, self.ops = fd, fd.ops
            for _ in range(self.draw(st.integers(1, 3), label="inputs")):
                self.pool.append(self.define_input())
            for _ in range(self.draw(st.integers(1, 6), label="operations")):
                self.pool.append(self.operation())
            self.add_outputs()
        return Program(fd, self.inputs, self.is_symbolic)

    def pick(self) -> TensorView:
        # Late tensors more often: fusions become deep rather than wide.
        from_end = self.draw(st.integers(0, len(self.pool) - 1), label="operand")
        return self.pool[-1 - from_end]

    def define_input(self) -> TensorView:
        """Of the full shape, with broadcast dimensions, or of lower rank and broadcast."""
        rank = len(self.shape)
        missing = self.draw(
            st.lists(st.integers(0, rank - 1), unique=True, max_size=rank - 1), label="missing"
        )
        is_lower = self.draw(st.booleans(), label="lower rank")
        kept = [i for i in range(rank) if i not in missing]
        dims = kept if is_lower else list(range(rank))
        sizes = [1 if i in missing else self.shape[i] for i in dims]
        self.inputs.append(self.values(sizes))
        declared = [
            -1 if self.is_symbolic and i not in missing else size
            for i, size in zip(dims, sizes, strict=True)
        ]
        tensor = self.fd.define_tensor(declared, contiguity=True, dtype=self.dtype)
        if is_lower and missing:
            tensor = self.ops.broadcast(tensor, [i in missing for i in range(rank)])
        return tensor

    def values(self, sizes: list[int]) -> torch.Tensor:
        generator = torch.Generator().manual_seed(len(self.inputs))
        return torch.randint(-3, 4, sizes, generator=generator).to(DTYPES[self.dtype])

    def operation(self) -> TensorView:
        ops = self.ops
        kind = self.draw(
            st.sampled_from(["unary", "unary", "binary", "binary", "where", "reduce", "reduce"]),
            label="operation",
        )
        if kind == "unary":
            return getattr(ops, self.draw(st.sampled_from(["neg", "abs", "set"])))(self.pick())
        if kind == "binary":
            name = self.draw(st.sampled_from(["add", "sub"]))
            return getattr(ops, name)(self.pick(), self.pick())
        if kind == "where":
            a, b = self.pick(), self.pick()
            return ops.where(ops.gt(a, b), a, b)
        return self.reduction(keepdim=True)

    def reduction(self, keepdim: bool) -> TensorView:
        rank = len(self.shape)
        axes = self.draw(
            st.lists(st.integers(0, rank - 1), unique=True, min_size=1), label="reduced"
        )
        name = self.draw(st.sampled_from(["sum", "sum", "max", "min"]))
        return getattr(self.ops, name)(self.pick(), sorted(axes), keepdim)

    def add_outputs(self) -> None:
        last = self.pool[-1]
        kind = self.draw(
            st.sampled_from(["as is", "as is", "permuted", "flattened", "reduced", "two"]),
            label="output",
        )
        if kind == "permuted":
            last = self.ops.permute(last, self.draw(st.permutations(range(len(self.shape)))))
        elif kind == "flattened" and not self.is_symbolic:
            sizes = [size.value() for size in last.shape()]
            last = self.ops.reshape(last, [math.prod(sizes)])
        elif kind == "reduced":
            last = self.reduction(keepdim=False)
        elif kind == "two":
            self.fd.add_output(self.ops.neg(self.pick()))
        if last.is_fusion_input() or last.definition() is None:
            last = self.ops.set(last)
        self.fd.add_output(last)
