"""Random definitions: statements of many kinds, of which each is valid.

Shapes are constant and known here, so that arguments can be chosen to fit. Literals are written in
place or spelled out at random, constants have all types, and results may be outputs several times.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from nvfuser import DataType, FusionDefinition, Scalar, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

UNARY = (
    "abs neg exp sin cos tanh sigmoid relu silu floor ceil trunc round erf atan set sign".split()
)
BINARY = "add sub mul minimum maximum atan2".split()
COMPARISONS = "eq ne lt le gt ge".split()


@dataclass
class Known:
    """A tensor and what is known of it."""

    handle: Tensor
    shape: tuple[int, ...]
    is_bool: bool = False


class RandomDefinition:
    """Writes statements to a definition; equal seeds write equal ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.shapes: list[tuple[int, ...]] = []  # of the inputs
        self.orders: list[list[int] | None] = []
        self.tensors: list[Known] = []

    def write(self, fd: FusionDefinition) -> None:
        """All statements."""
        choose = self.random
        for _ in range(choose.randint(1, 3)):
            self._input(fd)
        for _ in range(choose.randint(1, 14)):
            step = choose.choice(self._STEPS)
            step(self, fd, choose.choice(self.tensors))
        for known in choose.sample(self.tensors, min(len(self.tensors), choose.randint(1, 3))):
            self._output(fd, known)

    def inputs(self) -> list[torch.Tensor]:
        """Inputs that fit."""
        rng = torch.Generator().manual_seed(self.random.randint(0, 2**31))
        return [torch.randn(shape, generator=rng) for shape in self.shapes]

    def _input(self, fd: FusionDefinition) -> None:
        choose = self.random
        shape = tuple(choose.choice([1, 2, 3, 5, 8]) for _ in range(choose.randint(0, 4)))
        form = choose.randint(0, 3)
        declared = [size if size == 1 or form == 1 else -1 for size in shape]
        if form == 0:
            handle = fd.define_tensor(list(declared), contiguity=True)
        elif form == 1:
            handle = fd.define_tensor(
                shape=declared, contiguity=[None if n == 1 else True for n in shape]
            )
        elif form == 2:
            handle = fd.from_pytorch(torch.empty(shape), static_sizes=choose.random() < 0.5)
            if not shape:
                fd.ops.set(handle)
        else:
            handle = fd.define_tensor(symbolic_sizes=declared, contiguous=[True] * len(shape))
        self.shapes.append(shape)
        self._add(handle, shape)

    def _output(self, fd: FusionDefinition, known: Known) -> None:
        order = list(range(len(known.shape)))
        if order and self.random.random() < 0.2:
            self.random.shuffle(order)
            fd.add_output(known.handle, stride_order=order)
        else:
            fd.add_output(known.handle)

    def _add(self, handle: Any, shape: tuple[int, ...], is_bool: bool = False) -> None:
        assert isinstance(handle, Tensor)
        assert handle.ndim == len(shape), (handle, shape)
        self.tensors.append(Known(handle, shape, is_bool))

    def _scalar(self, fd: FusionDefinition) -> Scalar:
        choose = self.random
        value = choose.choice([0.0, -0.0, 1, 2.5, 3, -7, 1e-5, 1e20, 1 / 3, 123456.0, True])
        if choose.random() < 0.3:
            return fd.define_scalar(value, choose.choice([DataType.Float, DataType.Double]))
        return fd.define_scalar(value)

    def _shape(self, fd: FusionDefinition, sizes: list[int]) -> Any:
        """A list, tuple or vector of constants."""
        form = self.random.randint(0, 4)
        if form == 0:
            return tuple(sizes)
        if form == 1:
            return fd.define_vector(list(sizes))
        if form == 2:
            return fd.define_vector([fd.define_scalar(size) for size in sizes])
        if form == 3:
            return [fd.define_scalar(n) if self.random.random() < 0.5 else n for n in sizes]
        return list(sizes)

    # -- steps --

    def _unary(self, fd: FusionDefinition, known: Known) -> None:
        handle = self._number(fd, known)
        self._add(getattr(fd.ops, self.random.choice(UNARY))(handle), known.shape)

    def _number(self, fd: FusionDefinition, known: Known) -> Tensor:
        return fd.ops.cast(known.handle, DataType.Float) if known.is_bool else known.handle

    def _binary_scalar(self, fd: FusionDefinition, known: Known) -> None:
        operands: list[Any] = [self._number(fd, known), self._scalar(fd)]
        self.random.shuffle(operands)
        name = self.random.choice(BINARY + COMPARISONS)
        self._add(getattr(fd.ops, name)(*operands), known.shape, name in COMPARISONS)

    def _binary_tensor(self, fd: FusionDefinition, known: Known) -> None:
        like = [other for other in self.tensors if other.shape == known.shape]
        other = self.random.choice(like)
        name = self.random.choice(BINARY + COMPARISONS)
        out = getattr(fd.ops, name)(self._number(fd, known), self._number(fd, other))
        self._add(out, known.shape, name in COMPARISONS)

    def _where(self, fd: FusionDefinition, known: Known) -> None:
        condition = fd.ops.gt(self._number(fd, known), self._scalar(fd))
        self._add(fd.ops.where(condition, self._number(fd, known), self._scalar(fd)), known.shape)

    def _cast(self, fd: FusionDefinition, known: Known) -> None:
        dtype = self.random.choice([DataType.Float, DataType.Double, DataType.Half])
        self._add(fd.ops.cast(known.handle, dtype=dtype), known.shape)

    def _reduce(self, fd: FusionDefinition, known: Known) -> None:
        if not known.shape:
            return
        choose = self.random
        rank = len(known.shape)
        dims = choose.sample(range(rank), choose.randint(1, rank))
        keepdim = choose.random() < 0.5
        written = [dim - rank if choose.random() < 0.3 else dim for dim in dims]
        handle = self._number(fd, known)
        name = choose.choice(["sum", "max", "min", "prod"])
        out = getattr(fd.ops, name)(handle, written, keepdim)
        kept = [1 if i in dims else n for i, n in enumerate(known.shape)]
        shape = kept if keepdim else [n for i, n in enumerate(known.shape) if i not in dims]
        self._add(out, tuple(shape))

    def _variance(self, fd: FusionDefinition, known: Known) -> None:
        if not known.shape:
            return
        dim = self.random.randrange(len(known.shape))
        shape = known.shape[:dim] + known.shape[dim + 1 :]
        correction = self.random.randint(0, 1)
        if any(
            known is one for one in self.tensors[: len(self.shapes)]
        ):  # an input, which is not expanded
            var, mean = fd.ops.var_mean(known.handle, [dim], correction=correction)
            self._add(self.random.choice([var, mean]), shape)
        else:
            handle = fd.ops.cast(known.handle, DataType.Float)
            self._add(fd.ops.var(handle, [dim], correction), shape)

    def _broadcast(self, fd: FusionDefinition, known: Known) -> None:
        if len(known.shape) > 4:
            return
        place = self.random.randint(0, len(known.shape))
        flags = [False] * len(known.shape)
        flags.insert(place, True)
        shape = list(known.shape)
        shape.insert(place, 1)
        self._add(fd.ops.broadcast(known.handle, flags), tuple(shape))

    def _broadcast_in_dim(self, fd: FusionDefinition, known: Known) -> None:
        if len(known.shape) > 3:
            return
        shape = [4, *known.shape]
        dims = list(range(1, len(shape)))
        written = self._shape(fd, shape)
        self._add(fd.ops.broadcast_in_dim(known.handle, written, dims), tuple(shape))

    def _reshape(self, fd: FusionDefinition, known: Known) -> None:
        sizes = list(known.shape)
        if not sizes:
            return
        joined = [sizes[0] * sizes[1], *sizes[2:]] if len(sizes) > 1 else [*sizes, 1]
        self._add(fd.ops.reshape(known.handle, self._shape(fd, joined)), tuple(joined))

    def _permute(self, fd: FusionDefinition, known: Known) -> None:
        dims = list(range(len(known.shape)))
        self.random.shuffle(dims)
        shape = tuple(known.shape[dim] for dim in dims)
        self._add(fd.ops.permute(known.handle, dims), shape)

    def _slice(self, fd: FusionDefinition, known: Known) -> None:
        if not known.shape:
            return
        starts = [self.random.randrange(n) for n in known.shape]
        ends = [self.random.randint(start, n) for start, n in zip(starts, known.shape, strict=True)]
        if any(start == end for start, end in zip(starts, ends, strict=True)):
            return
        out = fd.ops.slice(known.handle, self._shape(fd, starts), self._shape(fd, ends))
        self._add(out, tuple(b - a for a, b in zip(starts, ends, strict=True)), known.is_bool)

    def _pad(self, fd: FusionDefinition, known: Known) -> None:
        if not known.shape or known.is_bool:
            return
        left, right = self.random.randint(0, 2), self.random.randint(0, 2)
        handle = fd.ops.cast(known.handle, DataType.Float)
        value = self.random.choice([None, fd.define_scalar(1.5)])
        out = fd.ops.pad(handle, [left, right], value)
        self._add(out, (*known.shape[:-1], known.shape[-1] + left + right))

    def _cat(self, fd: FusionDefinition, known: Known) -> None:
        if not known.shape or max(known.shape) > 40:
            return
        dim = self.random.randrange(len(known.shape))
        handle = fd.ops.cast(known.handle, DataType.Float)
        shape = list(known.shape)
        shape[dim] *= 2
        self._add(fd.ops.cat([handle, fd.ops.neg(handle)], dim), tuple(shape))

    def _full(self, fd: FusionDefinition, known: Known) -> None:
        written = self._shape(fd, list(known.shape))
        value = fd.define_scalar(self.random.choice([0.5, 2.0]))
        self._add(fd.ops.full(written, value, DataType.Float), known.shape)

    def _sizes(self, fd: FusionDefinition, known: Known) -> None:
        if not known.shape:
            return
        dim = self.random.randrange(len(known.shape))
        size = self.random.choice(
            [
                lambda: fd.ops.size(known.handle, dim),
                lambda: known.handle.shape()[dim],
                lambda: fd.ops.tensor_sizes(known.handle)[dim],
            ]
        )()
        self._add(fd.ops.mul(self._number(fd, known), size), known.shape)

    _STEPS: tuple[Callable[[Any, FusionDefinition, Known], None], ...] = (
        _unary,
        _unary,
        _binary_scalar,
        _binary_scalar,
        _binary_tensor,
        _where,
        _cast,
        _reduce,
        _variance,
        _broadcast,
        _broadcast_in_dim,
        _reshape,
        _permute,
        _slice,
        _pad,
        _cat,
        _full,
        _sizes,
    )
