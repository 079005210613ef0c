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
        """A tensor of the full shape, with broadcast dimensions, or of lower rank and broadcast."""
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
            st.sampled_from(
                ["unary", "unary", "binary", "binary", "where", "reduce", "reduce", "resize"]
                + ["scan", "random"]
            ),
            label="operation",
        )
        if kind == "resize":
            return self.resize(self.pick())
        if kind == "scan":
            return self.scan(self.pick())
        if kind == "random":
            return self.random(self.pick())
        if kind == "unary":
            return getattr(ops, self.draw(st.sampled_from(["neg", "abs", "set"])))(self.pick())
        if kind == "binary":
            name = self.draw(st.sampled_from(["add", "sub"]))
            return getattr(ops, name)(self.pick(), self.pick())
        if kind == "where":
            a, b = self.pick(), self.pick()
            return ops.where(ops.gt(a, b), a, b)
        return self.reduction(keepdim=True)

    def resize(self, tensor: TensorView) -> TensorView:
        """Elements at other positions of the same shape: shifted, or rotated."""
        ops = self.ops
        axes = tensor.get_logical_domain()
        dims = [i for i, n in enumerate(self.shape) if n > 1 and not axes[i].is_broadcast()]
        if not dims:
            return ops.set(tensor)
        dim = self.draw(st.sampled_from(dims), label="resized")
        extent = self.shape[dim]
        if self.draw(st.booleans(), label="shift"):
            by = self.draw(st.integers(1 - extent, extent - 1), label="by")
            widths = [0] * (2 * len(self.shape) - 2 * dim - 2) + [by, -by]
            return ops.pad(tensor, widths, 1 if self.dtype == DataType.Int else 1.0)
        by = self.draw(st.integers(1, extent - 1), label="by")
        starts, ends = [0] * len(self.shape), tensor.shape()
        front, back = list(ends), list(starts)
        front[dim] = back[dim] = by
        return ops.cat([ops.slice(tensor, back, ends), ops.slice(tensor, starts, front)], dim)

    def scan(self, tensor: TensorView) -> TensorView:
        ops = self.ops
        name = self.draw(st.sampled_from(["cumsum", "cummax", "cummin"]), label="scan")
        dim = self.draw(st.integers(0, len(self.shape) - 1), label="scanned")
        return getattr(ops, name)(ops.sign(tensor) if name == "cumsum" else tensor, dim)

    def random(self, tensor: TensorView) -> TensorView:
        """Random integers in the shape of a tensor."""
        ops = self.ops
        offset = self.draw(st.integers(0, 3), label="offset")
        numbers = ops.uniform(0.0, 8.0, tensor.shape(), rng_seed=7, rng_offset=offset)
        return ops.sub(tensor, ops.cast(ops.floor(numbers), self.dtype))

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
