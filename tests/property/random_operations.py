"""The operations that random programs are made of: one method for each kind.

A method chooses operands, makes the operation and adds its result with bounds of size and error;
`Unfit` is raised where operands do not suit, before anything that is refused is made.

Left out: what has results of other dtypes than these (quantization, products of scaled blocks,
`bitcast`), operations that draw numbers which cannot be drawn again (`rand_like`,
`randn_like`), attention, which is PyTorch's own on all paths, and `print`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from program_builder import FLOATS, LARGEST, D, Value, epsilon, need
from random_elementwise import Elementwise
from random_reductions import Reductions

from nvfuser_direct import ops

if TYPE_CHECKING:
    from nvfuser_direct import DataType


class Operations(Elementwise, Reductions):
    """Kinds of operations; `KINDS` at the end of the file lists them with their weights."""

    end_rate = 0.12  # how soon programs end
    in_place = 0.08  # how often an output is written into an input

    @property
    def kinds(self) -> dict[str, float]:
        return KINDS

    def finish(self) -> None:
        """Add what a program ends with."""

    @property
    def updatable(self) -> list[tuple[int, Value]]:
        """Inputs, with their numbers, that an output may be written into."""
        return self.tensor_inputs

    # -- moving --

    def moved(self, x: Value, tensor: Any, shape: list[int]) -> None:
        """The same elements elsewhere."""
        if x.is_whole:
            self.add(tensor, shape, x.bound, 0.0, True, x.below)
            return
        need(math.prod(shape) <= LARGEST)
        self.append(Value(tensor, shape, x.bound, x.error))

    def permute(self) -> None:
        x = self.with_rank()
        order = self.random.sample(range(x.rank), x.rank)
        shape = [x.shape[i] for i in order]
        if self.chance(0.2):
            self.moved(x, ops.stride_order(x.tensor, order), list(x.shape))
        elif self.chance(0.2):
            a, b = order[0], order[-1]
            shape = list(x.shape)
            shape[a], shape[b] = shape[b], shape[a]
            self.moved(x, ops.transpose(x.tensor, a, b), shape)
        else:
            self.moved(x, ops.permute(x.tensor, order), shape)

    def broadcast(self) -> None:
        x = self.pick(lambda v: v.rank < 5)
        if self.chance(0.3):
            self.broadcast_to_shape(x)
            return
        at = self.random.randint(0, x.rank)
        shape = [*x.shape[:at], 1, *x.shape[at:]]
        tensor = ops.unsqueeze(x.tensor, at)
        if self.chance(0.6):
            shape[at] = self.one_of([2, 3, 5])
            need(math.prod(shape) <= LARGEST)
            tensor = ops.expand(tensor, [shape[i] if i == at else -1 for i in range(len(shape))])
        self.moved(x, tensor, shape)

    def broadcast_to_shape(self, x: Value) -> None:
        if self.chance(0.5):
            like = self.pick(lambda v: v.rank == x.rank)
            fits = [n == m or n == 1 for n, m in zip(x.shape, like.shape, strict=True)]
            axes = [axis.is_broadcast() for axis in x.axes]
            same = [n == m for n, m in zip(x.shape, like.shape, strict=True)]
            need(all(fits) and all(s or a for s, a in zip(same, axes, strict=True)))
            self.moved(x, ops.expand_as(x.tensor, like.tensor), list(like.shape))
            return
        places = sorted(self.random.sample(range(x.rank + 1), x.rank))
        shape = [self.one_of([1, 2, 3])] * (x.rank + 1)
        for at, n in zip(places, x.shape, strict=True):
            shape[at] = n
        need(math.prod(shape) <= LARGEST)
        self.moved(x, ops.broadcast_in_dim(x.tensor, shape, places), shape)

    def squeeze(self) -> None:
        x = self.with_rank()
        dims = [i for i, a in enumerate(x.axes) if a.is_broadcast() and not a.has_expanded_extent()]
        need(bool(dims))
        dim = self.one_of(dims)
        self.moved(x, ops.squeeze(x.tensor, [dim]), [n for i, n in enumerate(x.shape) if i != dim])

    def reshape(self) -> None:
        x = self.with_rank()
        start = self.random.randrange(x.rank)
        end = self.random.randrange(start, x.rank)
        merged = math.prod(x.shape[start : end + 1])
        if not self.is_static and self.chance(0.4):
            self.reshape_by_size(x)
            return
        shape = [*x.shape[:start], merged, *x.shape[end + 1 :]]
        if self.is_static and self.chance(0.5) and merged > 1:
            sizes = [e.is_const() for e in x.tensor.shape()]
            need(all(sizes) and x.numel > 0)
            factors = [f for f in range(2, merged + 1) if merged % f == 0]
            factor = self.one_of(factors)
            shape = [*x.shape[:start], merged // factor, factor, *x.shape[end + 1 :]]
            self.moved(x, ops.reshape(x.tensor, shape), shape)
        else:
            self.moved(x, ops.flatten(x.tensor, start, end), shape)

    def reshape_by_size(self, x: Value) -> None:
        """Split a dimension in two, one of them a scalar or a constant, the other what is left."""
        dim = self.dim_of(x)
        inner, n = self.whole_scalar(8)
        need(n > 0 and x.shape[dim] % n == 0 and x.numel > 0)
        outer: list[Any] = [x.tensor.size(i) for i in range(x.rank)]
        rest = x.shape[dim] // n
        parts, sizes = ([-1, inner], [rest, n]) if self.chance(0.5) else ([inner, -1], [n, rest])
        result = ops.reshape(x.tensor, [*outer[:dim], *parts, *outer[dim + 1 :]])
        self.moved(x, result, [*x.shape[:dim], *sizes, *x.shape[dim + 1 :]])

    def slice(self) -> None:
        x = self.with_rank()
        if self.chance(0.15):
            self.chunk(x)
            return
        starts, ends, shape = [], [], []
        for n in x.shape:
            start = end = None
            first, last = 0, n
            if self.chance(0.5):
                start, first = self.whole_scalar(n)
            if self.chance(0.5):
                end, last = self.whole_scalar(n)
                need(last >= first)
            starts.append(first if start is None else start)
            ends.append(n if end is None else end)
            shape.append(last - first)
        need(math.prod(shape) > 0 or self.chance(0.1))
        self.moved(x, ops.slice(x.tensor, starts, ends), shape)

    def chunk(self, x: Value) -> None:
        dim = self.dim_of(x)
        n = x.shape[dim]
        need(n > 0 and x.axes[dim].extent().is_const())
        need(not x.axes[dim].is_broadcast())
        count = self.one_of([2, 3])
        width = -(-n // count)
        for i, part in enumerate(ops.chunk(x.tensor, count, dim)):
            shape = list(x.shape)
            shape[dim] = min(width, n - i * width)
            self.moved(x, part, shape)

    def pad(self) -> None:
        x = self.with_rank()
        widths: list[Any] = []
        shape = list(x.shape)
        for dim in reversed(range(self.random.randrange(x.rank), x.rank)):
            left, right = (self.random.randint(-1, 2) for _ in range(2))
            need(shape[dim] + left + right >= 0 and shape[dim] + min(left, 0) + min(right, 0) >= 0)
            widths += [left, right]
            if self.chance(0.15):
                widths[-1], right = self.whole_scalar(3)
            shape[dim] += left + right
        need(math.prod(shape) <= LARGEST and x.dtype != D.Bool)
        value = self.one_of([None, 2])
        value = float(value) if value is not None and x.is_float else value
        result = ops.pad(x.tensor, widths, value)
        self.moved(Value(x.tensor, x.shape, max(x.bound, 2), x.error, x.is_whole), result, shape)

    def cat(self) -> None:
        x = self.with_rank()
        dim = self.dim_of(x)

        def fits(v: Value) -> bool:
            others = [v.shape[i] == n for i, n in enumerate(x.shape) if i != dim]
            return all(others)

        count = self.random.randint(1, 2)
        alike = [self.pick(lambda v: v.rank == x.rank and v.dtype == x.dtype and fits(v))
                 for _ in range(count)]  # fmt: skip
        parts = [x, *alike]
        shape = list(x.shape)
        shape[dim] = sum(v.shape[dim] for v in parts)
        result = ops.cat([v.tensor for v in parts], dim)
        keeps = all(v.is_whole for v in parts)
        need(math.prod(shape) <= LARGEST)
        joined = Value(x.tensor, x.shape, max(v.bound for v in parts),
                       max(v.error for v in parts), keeps)  # fmt: skip
        self.moved(joined, result, shape)

    def repeat(self) -> None:
        x = self.with_rank()
        counts = [self.one_of([1, 1, 2, 3]) for _ in x.shape]
        shape = [n * c for n, c in zip(x.shape, counts, strict=True)]
        need(math.prod(shape) <= LARGEST)
        self.moved(x, ops.repeat(x.tensor, counts), shape)

    def triangle(self) -> None:
        x = self.with_rank(2)
        need(x.dtype != D.Bool)
        self.moved(x, ops.triu(x.tensor, self.random.randint(-2, 2)), list(x.shape))

    # -- looking up --

    def look_up(self) -> None:
        x = self.with_rank()
        dim = self.dim_of(x)
        n = x.shape[dim]
        need(n > 0)
        name = self.one_of(["index_select", "gather", "take_along_axis", "select", "scatter"])
        shape = list(x.shape)
        if name == "select":
            self.moved(x, ops.select(x.tensor, self.random.randrange(n), dim),
                       shape[:dim] + shape[dim + 1 :])  # fmt: skip
        elif name == "index_select":
            shape[dim] = self.one_of([1, 3, 6])
            index = self.positions([shape[dim]], n)
            self.moved(x, ops.index_select(x.tensor, index.tensor, dim), shape)
        elif name == "scatter":
            self.scatter(x, dim)
        else:
            shape[dim] = self.one_of([1, 2, n, n + 2])
            need(math.prod(shape) <= LARGEST)
            index = self.positions(shape, n)
            self.moved(x, getattr(ops, name)(x.tensor, index.tensor, dim), shape)

    def scatter(self, x: Value, dim: int) -> None:
        """Each position once: those of a sorted tensor, or of an input that is a permutation."""
        keys = torch.rand(x.shape, generator=self.generator).argsort(dim)
        count = self.random.randint(1, x.shape[dim])
        index = keys.narrow(dim, 0, count).contiguous()
        declared = self.declare(index, D.Int)
        self.inputs.append(index)
        sources = [v for v in self.values
                   if v.dtype == x.dtype and v.shape == list(index.shape)
                   and self.is_readable(v)]  # fmt: skip
        if sources and self.chance(0.7):
            source = self.reading(self.one_of(sources))
            src, bound, error, keeps = source.tensor, source.bound, source.error, source.is_whole
        else:
            src = True if x.dtype == D.Bool else 3.0 if x.is_float else 3
            bound, error, keeps = 3.0, 0.0, True
        result = ops.scatter(x.tensor, declared, src, dim)
        written = Value(x.tensor, x.shape, max(x.bound, bound), max(x.error, error),
                        x.is_whole and keeps)  # fmt: skip
        self.moved(written, result, list(x.shape))

    def rows(self) -> None:
        """Rows of a table, and rows that are added to."""
        table = self.pick(lambda v: v.rank > 0 and v.is_float and v.shape[0] > 0)
        n = table.shape[0]
        if self.chance(0.5):
            need(table.rank == 2)
            shape = [self.one_of([1, 3, 5]) for _ in range(self.random.randint(1, 2))]
            index = self.positions(shape, n)
            result = ops.embedding_fwd(index.tensor, table.tensor)
            self.moved(table, result, [*shape, table.shape[1]])
            return
        count = self.one_of([1, 3])
        index = self.positions([count], n)
        shape = [count, *table.shape[1:]]
        addends = self.pick(lambda v: v.dtype == table.dtype and v.shape == shape)
        result = ops.index_put_accumulate(table.tensor, index.tensor, addends.tensor)
        bound = table.bound + count * addends.bound
        error = table.error + count * addends.error
        self.add(result, table.shape, bound, error, table.is_whole and addends.is_whole)

    def search(self) -> None:
        x = self.pick(lambda v: v.is_whole and v.is_number and v.rank > 0)
        dim = self.dim_of(x)
        n = x.shape[dim]
        if self.chance(0.5):
            order = ops.argsort(x.tensor, dim, self.chance(0.5), True)
            self.add(order, x.shape, float(max(n, 1)), 0.0, True, max(n, 1))
        else:
            need(n > 0)
            k = self.random.randint(1, n)
            shape = [k if i == dim else size for i, size in enumerate(x.shape)]
            values, _ = ops.topk(x.tensor, k, dim, self.chance(0.5), True)
            self.add(values, shape, x.bound, 0.0, True)

    # -- making --

    def create(self) -> None:
        shape = self.new_shape()
        dtype: DataType = self.one_of([D.Float, D.Double, D.Int, D.Half])
        name = self.one_of(["full", "iota", "eye", "arange", "zeros", "ones", "full_like",
                            "zeros_like", "ones_like", "tensor"])  # fmt: skip
        if name == "iota":
            n = self.one_of([1, 3, 8, 33])
            start, step = (1.0, 2.0) if dtype in FLOATS else (1, 2)
            self.add(ops.iota(n, start, step, dtype), [n], 2.0 * n + 1, 0.0, True)
        elif name == "arange":
            self.add(ops.arange(0, 12, 2, D.Int), [6], 12.0, 0.0, True)
        elif name == "eye":
            n, m = self.random.randint(1, 6), self.random.randint(1, 6)
            self.add(ops.eye(n, m, dtype), [n, m], 1.0, 0.0, True)
        elif name == "full_like":
            x = self.number()
            self.add(ops.full_like(x.tensor, 3), x.shape, 3.0, 0.0, True)
        elif name in ("zeros_like", "ones_like"):
            x = self.number()
            self.add(getattr(ops, name)(x.tensor), x.shape, 1.0, 0.0, True)
        elif name == "tensor":
            rows, columns = self.random.randint(1, 3), self.random.randint(1, 3)
            items = [[self.whole_scalar(5)[0] for _ in range(columns)] for _ in range(rows)]
            self.add(ops.tensor(items, D.Int), [rows, columns], 5.0, 0.0, True)
        else:
            extents: list[Any] = list(shape)
            if self.values and self.chance(0.5):  # symbolic extents
                like = self.pick()
                shape, extents = list(like.shape), like.tensor.shape()
            result = (
                ops.full(extents, 2, dtype)
                if name == "full"
                else getattr(ops, name)(extents, dtype)
            )
            self.add(result, shape, 2.0, 0.0, True)

    def draw(self) -> None:
        shape = self.new_shape()
        dtype = self.one_of(list(FLOATS))
        seed = {"rng_seed": self.random.randint(0, 99), "rng_offset": self.random.randint(0, 9)}
        if self.chance(0.2):
            name, bound = self.one_of([("rand", 1.0), ("randn", 8.0)])
            result = getattr(ops, name)(shape, dtype, seed["rng_seed"], seed["rng_offset"])
        elif self.chance(0.6):
            result, bound = ops.uniform(-1.0, 2.0, shape, dtype=dtype, **seed), 2.0
        else:
            result, bound = ops.normal(0.0, 1.0, shape, dtype=dtype, **seed), 8.0
        self.add(result, shape, bound, 16 * epsilon(dtype))


# Kinds and how often each is tried.
KINDS: dict[str, float] = {
    "smooth": 8, "steep": 2, "above_one": 3, "inside_one": 1.5, "squashed": 2, "rounding": 4,
    "question": 1.5, "cast": 4, "arithmetic": 12, "with_number": 5, "comparison": 3, "logical": 2,
    "integer": 3, "where": 4, "ternary": 4, "gradient": 1.5, "dropped": 0.4, "gates": 0.6,
    "complex": 1, "reduction": 9, "sum_to": 1, "moments": 2, "softmax": 1, "normalization": 1.5,
    "scan": 2, "permute": 4, "broadcast": 4, "squeeze": 2, "reshape": 4, "slice": 3, "pad": 2.5,
    "cat": 2, "repeat": 1, "triangle": 1, "look_up": 5, "rows": 0.15, "search": 0.15, "create": 4,
    "draw": 2, "product": 0.3,
}  # fmt: skip
# Infinities and NaN come out of these as the order of computing says.
OF_FINITE = {"moments", "softmax", "normalization", "product", "complex", "search", "gates"}
