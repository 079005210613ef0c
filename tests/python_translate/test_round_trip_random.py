"""Random fusions: executing the translation defines the same fusion, which computes the same."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import torch
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from round_trip import check_round_trip, check_same_results

from nvfuser_direct import DataType, FusionDefinition, TensorView, Val, ops, translate_fusion

if TYPE_CHECKING:
    from collections.abc import Callable

IS_NIGHT = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
SETTINGS = settings(
    max_examples=1500 if IS_NIGHT else 150,
    derandomize=not IS_NIGHT,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)

DTYPES = {
    DataType.Float: torch.float32,
    DataType.Half: torch.float16,
    DataType.Double: torch.float64,
    DataType.Int: torch.int64,
    DataType.Int32: torch.int32,
}
EXTENTS = st.sampled_from([1, 2, 3, 4, 6])
NUMBERS = st.one_of(st.integers(-3, 3), st.floats(width=32), st.booleans())


class Builder:
    """Draws a fusion of sizes below 7. `pool` and `scalars` hold what operations may read."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.inputs: list[Any] = []
        self.pool: list[TensorView] = []
        self.scalars: list[Val] = []

    def build(self) -> FusionDefinition:
        with FusionDefinition() as fd:
            self.fd = fd
            for _ in range(self.draw(st.integers(1, 3), label="inputs")):
                self.define_input()
            for _ in range(self.draw(st.integers(1, 8), label="operations")):
                self.operation()
            self.add_outputs()
        return fd

    def one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def tensor(self) -> TensorView:
        return self.pool[-1 - self.draw(st.integers(0, len(self.pool) - 1), label="operand")]

    def scalar(self) -> Any:
        from_pool = self.scalars and self.draw(st.booleans(), label="symbolic operand")
        return self.one_of(*self.scalars) if from_pool else self.draw(NUMBERS, label="number")

    def define_input(self) -> None:
        if self.draw(st.integers(0, 3), label="kind") == 0:
            dtype = self.one_of(DataType.Double, DataType.Int, DataType.Float)
            self.scalars.append(self.fd.define_scalar(dtype))
            self.inputs.append(2)
            if self.pool:
                return
        sizes = self.draw(st.lists(EXTENTS, max_size=4), label="sizes")
        dtype = self.one_of(*DTYPES)
        memory_order = self.draw(st.permutations(range(len(sizes))), label="memory order")
        values = torch.arange(math.prod(sizes)).reshape([sizes[i] for i in memory_order])
        values = values.to(DTYPES[dtype]).permute(
            [memory_order.index(i) for i in range(len(sizes))]
        )
        if sizes and self.draw(st.booleans(), label="expanded"):
            dim = self.draw(st.integers(0, len(sizes) - 1))
            values = values.narrow(dim, 0, 1).expand(sizes)
        is_static = self.draw(st.booleans(), label="static")
        self.inputs.append(values)
        self.pool.append(
            self.fd.define_tensor(
                list(values.shape), list(values.stride()), dtype=dtype, static_sizes=is_static
            )
        )

    def operation(self) -> None:
        kinds = [
            "unary",
            "binary",
            "where",
            "cast",
            "reduce",
            "shape",
            "shape",
            "create",
            "arithmetic",
        ]
        try:
            result = getattr(self, self.one_of(*kinds))()
        except (RuntimeError, TypeError):
            return  # these operands do not go together
        for value in result if isinstance(result, tuple) else (result,):
            (self.pool if value.is_tensor() else self.scalars).append(value)

    def unary(self) -> Any:
        name = self.one_of("neg", "abs", "relu", "exp", "floor", "isnan", "set", "segment_set")
        return getattr(ops, name)(self.tensor())

    def binary(self) -> Any:
        name = self.one_of("add", "sub", "mul", "truediv", "maximum", "lt", "eq", "gcd")
        return getattr(ops, name)(
            *self.one_of(
                (self.tensor(), self.tensor()),
                (self.tensor(), self.scalar()),
                (self.scalar(), self.tensor()),
            )
        )

    def arithmetic(self) -> Any:
        """On sizes, numbers and scalar inputs."""
        name = self.one_of("add", "mul", "ceilDiv", "div")
        sizes = [self.one_of(3, *self.scalars, *self.tensor().shape()) for _ in range(2)]
        return getattr(ops, name)(*sizes)

    def where(self) -> Any:
        a = self.tensor()
        return ops.where(ops.gt(a, self.scalar()), a, self.scalar())

    def cast(self) -> Any:
        return ops.cast(self.tensor(), self.one_of(*DTYPES))

    def reduce(self) -> Any:
        arg = self.tensor()
        dims = self.draw(
            st.lists(st.integers(0, max(arg.rank() - 1, 0)), unique=True, min_size=1), label="dims"
        )
        name = self.one_of("sum", "prod", "max", "fmin", "var_mean", "welford")
        if name == "welford":
            return ops.welford(arg, dims)
        keepdim = self.draw(st.booleans(), label="keepdim")
        if name == "var_mean":
            return ops.var_mean(arg, dims, 0, keepdim)
        return getattr(ops, name)(arg, dims, keepdim)

    def shape(self) -> Any:
        arg = self.tensor()
        rank = arg.rank()
        kind = self.one_of("permute", "order", "broadcast", "squeeze", "expand", "flatten", "split")
        if kind == "permute":
            return ops.permute(arg, self.draw(st.permutations(range(rank))))
        if kind == "order":
            return ops.stride_order(arg, self.draw(st.permutations(range(rank))))
        if kind == "broadcast":
            return ops.unsqueeze(arg, self.draw(st.integers(0, rank)))
        if kind == "squeeze":
            return ops.squeeze(arg, [self.draw(st.integers(0, max(rank - 1, 0)))], True)
        if kind == "expand":
            sizes = [self.one_of(size, -1, 4, *self.scalars) for size in arg.shape()]
            return ops.expand(arg, sizes)
        start = self.draw(st.integers(0, max(rank - 1, 0)))
        end = self.draw(st.integers(start, max(rank - 1, 0)))
        if kind == "flatten":
            return ops.flatten(arg, start, end)
        return ops.reshape(arg, [*arg.shape()[:start], -1, 2, *arg.shape()[end + 1 :]])

    def create(self) -> Any:
        sizes = [self.one_of(1, 3, *self.tensor().shape(), *self.scalars) for _ in range(2)]
        dtype = self.one_of(*DTYPES)
        if self.draw(st.booleans(), label="iota"):
            return ops.iota(sizes[0], self.scalar(), 2, dtype)
        return ops.full(sizes, self.scalar(), dtype)

    def add_outputs(self) -> None:
        outputs = self.draw(
            st.lists(st.sampled_from(self.pool), min_size=1, max_size=3), label="outputs"
        )
        for output in [*outputs, self.pool[-1]]:
            target = self.one_of(None, None, *self.pool[:3])
            try:
                self.fd.add_output(output, target)
            except RuntimeError:
                self.fd.add_output(output)


@given(data=st.data())
@SETTINGS
def test_random_fusions(data: st.DataObject, outcome: Callable[[str], None]) -> None:
    builder = Builder(data)
    fd = builder.build()
    note(translate_fusion(fd.fusion))
    second = check_round_trip(fd.fusion)
    if any(fd.fusion.alias_of(output) for output in fd.fusion.outputs()):
        return
    try:
        check_same_results(fd.fusion, fd.fusion, builder.inputs)
    except (RuntimeError, TypeError, ValueError) as error:  # as of a bool that is negated
        outcome("refused: " + str(error).partition("\n")[0][:60])
        return
    check_same_results(fd.fusion, second, builder.inputs)
    outcome("compared")
