"""Random definitions of 1 to 60 operations, written down as a list, so that the same one can be
made with its statements in another order."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import DataType, FusionDefinition, TensorView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIZES = [1, 2, 3, 4, 6, 8]
LARGEST = 2000  # elements


@dataclass
class Node:
    """An operation on earlier nodes."""

    apply: Callable[..., TensorView]
    operands: list[int]
    shape: tuple[int, ...]


@dataclass
class Spec:
    """A definition: inputs are its first nodes."""

    inputs: list[torch.Tensor]
    nodes: list[Node] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def build(self, order: Sequence[int] | None = None) -> tuple[FusionDefinition, dict[int, str]]:
        """The definition with its statements in `order`, and a name for every tensor number that
        does not depend on it: the node, and which of its tensors."""
        names: dict[int, str] = {}
        with FusionDefinition() as fd:
            made: dict[int, TensorView] = {}
            for i, x in enumerate(self.inputs):
                made[i] = fd.define_tensor(list(x.shape), dtype=DataType.Double)
                names[made[i].name()] = f"input {i}"
            first = len(self.inputs)
            for i in order if order is not None else range(len(self.nodes)):
                before = len(fd.fusion.vals())
                node = self.nodes[i]
                made[first + i] = node.apply(fd.ops, *(made[k] for k in node.operands))
                new = [v for v in fd.fusion.vals()[before:] if isinstance(v, TensorView)]
                for k, tensor in enumerate(new):
                    names[tensor.name()] = f"node {i}.{k}"
            for i in self.outputs:
                fd.add_output(made[i])
        return fd, names

    def shuffled(self, seed: int) -> list[int]:
        """An order of the nodes in which operands still come first."""
        rng = random.Random(seed)
        first = len(self.inputs)
        done: set[int] = set(range(first))
        rest = list(range(len(self.nodes)))
        order = []
        while rest:
            ready = [i for i in rest if all(k in done for k in self.nodes[i].operands)]
            chosen = rng.choice(ready)
            order.append(chosen)
            done.add(first + chosen)
            rest.remove(chosen)
        return order


class SpecMaker:
    """Draws one definition."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)

    def make(self, nodes: int) -> Spec:
        rank = self.random.randint(1, 3)
        self.base = tuple(self.random.choice(SIZES[1:]) for _ in range(rank))
        shapes = [self.base]
        for _ in range(self.random.randint(0, 2)):
            shapes.append(tuple(1 if self.random.random() < 0.3 else n for n in self.base))
        self.spec = Spec([self.randn(shape) for shape in shapes])
        self.shapes: list[tuple[int, ...]] = list(shapes)
        while len(self.spec.nodes) < nodes:
            kind = self.random.choices(
                ["unary", "binary", "reduce", "reduce_keep", "reshape", "permute", "cast",
                 "segment_set", "slice", "noise", "product"],
                [6, 6, 3, 4, 2, 2, 1, 0.4, 1, 0.3, 0.3],
            )[0]  # fmt: skip
            getattr(self, kind)()
        first = len(self.shapes) - len(self.spec.nodes)
        read = {k for node in self.spec.nodes for k in node.operands}
        ends = [i for i in range(first, len(self.shapes)) if i not in read]
        more = [i for i in range(first, len(self.shapes)) if self.random.random() < 0.05]
        self.spec.outputs = sorted({*ends, *more})
        return self.spec

    def randn(self, shape: Sequence[int]) -> torch.Tensor:
        return torch.randn(list(shape), generator=self.generator, dtype=torch.float64)

    def pick(self, wanted: Callable[[tuple[int, ...]], bool] = lambda _: True) -> int | None:
        fits = [i for i, shape in enumerate(self.shapes) if wanted(shape)]
        late = fits[-6:] if self.random.random() < 0.7 else fits
        return self.random.choice(late) if late else None

    def add(
        self, apply: Callable[..., TensorView], operands: list[int], shape: Sequence[int]
    ) -> None:
        self.spec.nodes.append(Node(apply, operands, tuple(shape)))
        self.shapes.append(tuple(shape))

    def unary(self) -> None:
        i = self.pick()
        name = self.random.choice(["neg", "sin", "cos", "tanh", "abs"])
        self.add(lambda ops, x: getattr(ops, name)(x), [i], self.shapes[i])

    def binary(self) -> None:
        i = self.pick()
        a = self.shapes[i]
        k = self.pick(
            lambda b: (
                len(a) == len(b) and all(m == n or 1 in (m, n) for m, n in zip(a, b, strict=True))
            )
        )
        name = self.random.choice(["add", "sub", "mul"])
        shape = [max(m, n) for m, n in zip(a, self.shapes[k], strict=True)]

        def apply(ops: Any, x: TensorView, y: TensorView) -> TensorView:
            return ops.sin(ops.mul(x, y)) if name == "mul" else getattr(ops, name)(x, y)

        if math.prod(shape) <= LARGEST:
            self.add(apply, [i, k], shape)

    def reduce(self, keepdim: bool = False) -> None:
        i = self.pick(lambda shape: len(shape) > 0)
        if i is None:
            return
        shape = self.shapes[i]
        dims = sorted(self.random.sample(range(len(shape)), self.random.randint(1, len(shape))))
        count = math.prod(shape[d] for d in dims)
        name = self.random.choice(["sum", "sum", "max"])

        def apply(ops: Any, x: TensorView) -> TensorView:
            if name == "max":
                return ops.max(x, dims, keepdim)
            return ops.div(ops.sum(x, dims, keepdim), float(count))

        if keepdim:
            rest = [1 if d in dims else n for d, n in enumerate(shape)]
        else:
            rest = [n for d, n in enumerate(shape) if d not in dims]
        self.add(apply, [i], rest)

    def reduce_keep(self) -> None:
        self.reduce(keepdim=True)

    def reshape(self) -> None:
        i = self.pick(lambda shape: len(shape) > 0 and 1 not in shape)
        if i is None:
            return
        shape = list(self.shapes[i])
        d = self.random.randrange(len(shape))
        if len(shape) > 1 and self.random.random() < 0.5:
            d = self.random.randrange(len(shape) - 1)
            wanted = [*shape[:d], shape[d] * shape[d + 1], *shape[d + 2 :]]
        else:
            factors = [f for f in (2, 3, 4) if shape[d] % f == 0 and shape[d] > f]
            if not factors or len(shape) > 3:
                return
            factor = self.random.choice(factors)
            wanted = [*shape[:d], shape[d] // factor, factor, *shape[d + 1 :]]
        self.add(lambda ops, x: ops.reshape(x, wanted), [i], wanted)

    def permute(self) -> None:
        i = self.pick(lambda shape: len(shape) > 1)
        if i is None:
            return
        order = list(range(len(self.shapes[i])))
        self.random.shuffle(order)
        self.add(lambda ops, x: ops.permute(x, order), [i], [self.shapes[i][d] for d in order])

    def cast(self) -> None:
        i = self.pick()

        def apply(ops: Any, x: TensorView) -> TensorView:
            return ops.cast(ops.cast(x, DataType.Float), DataType.Double)

        self.add(apply, [i], self.shapes[i])

    def segment_set(self) -> None:
        i = self.pick()
        self.add(lambda ops, x: ops.segment_set(x), [i], self.shapes[i])

    def slice(self) -> None:
        i = self.pick(lambda shape: any(n > 2 for n in shape))
        if i is None:
            return
        shape = list(self.shapes[i])
        d = self.random.choice([d for d, n in enumerate(shape) if n > 2])
        starts, ends = [0] * len(shape), list(shape)
        starts[d] = self.random.randint(0, 1)
        ends[d] = shape[d] - 1
        wanted = [e - s for s, e in zip(starts, ends, strict=True)]
        if 1 not in (wanted[d], 0):
            self.add(lambda ops, x: ops.slice(x, starts, ends), [i], wanted)

    def noise(self) -> None:
        i = self.pick()
        shape, offset = list(self.shapes[i]), len(self.spec.nodes)

        def apply(ops: Any, x: TensorView) -> TensorView:
            numbers = ops.uniform(
                0.0, 1.0, shape, rng_seed=7, rng_offset=offset, dtype=DataType.Double
            )
            return ops.mul(x, numbers)

        self.add(apply, [i], shape)

    def product(self) -> None:
        i = self.pick(lambda shape: len(shape) == 2 and 1 not in shape)
        if i is None:
            return
        rows, columns = self.shapes[i]
        if rows * rows * columns > LARGEST * 8:
            return

        def apply(ops: Any, x: TensorView) -> TensorView:
            return ops.div(ops.matmul(x, ops.permute(x, [1, 0])), float(columns))

        self.add(apply, [i], [rows, rows])


def make_spec(seed: int, most: int = 60) -> Spec:
    """The definition of a seed."""
    count = 1 + int(random.Random(seed).expovariate(1 / 14))
    return SpecMaker(seed).make(min(count, most))
