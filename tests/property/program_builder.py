"""A random fusion of any operations, with what is known about each of its values.

Kernels and the evaluator compute in different orders. So that a difference means a mistake, every
value has a bound of its size and of its error:

- A value without error holds integers that its dtype has exactly. Operations that jump (comparing,
  rounding, sorting, dividing integers) read only such values.
- Other operations are smooth. The error of a result follows from those of its operands; an
  operation is not made if the error would become large.
- Some inputs have infinities and NaN among their elements. They come out at the same places; the
  bounds are those of all other elements. A tensor without any of them is `is_finite`.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import DataType, FusionDefinition, TensorDomain, ops

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nvfuser_direct import IterDomain, TensorView, Val

D = DataType
FLOATS = {
    D.Double: (torch.float64, 2.0**-52, 2.0**52),
    D.Float: (torch.float32, 2.0**-23, 2.0**23),
    D.Half: (torch.float16, 2.0**-10, 2.0**10),
    D.BFloat16: (torch.bfloat16, 2.0**-7, 2.0**7),
}
INTEGERS = {
    D.Int: (torch.int64, 2.0**60),
    D.Int32: (torch.int32, 2.0**30),
}
# Moved and cast; nothing is computed with them.
SMALL_INTEGERS = {D.Short: (torch.int16, 2.0**15 - 1), D.Char: (torch.int8, 2.0**7 - 1)}
LIMITS = {d: t[-1] for d, t in (FLOATS | INTEGERS | SMALL_INTEGERS).items()} | {D.Bool: 1.0}
TORCH = {d: t[0] for d, t in (FLOATS | INTEGERS | SMALL_INTEGERS).items()} | {D.Bool: torch.bool}
OF_INPUTS = TORCH | {D.UInt64: torch.uint64}  # unsigned ones are updated, and nothing else
LARGEST = 3000  # elements of a tensor
ERROR = 0.02  # largest error of a value, but for dtypes of few digits


class Unfit(Exception):
    """The operation does not suit its operands."""


def need(condition: bool) -> None:
    if not condition:
        raise Unfit


@dataclass
class Value:
    """A tensor of the fusion. `bound` and `error` are absolute; `below` is for positions."""

    tensor: TensorView
    shape: list[int]
    bound: float
    error: float = 0.0
    is_whole: bool = False  # integers, without error
    below: int | None = None  # if it is a position: in [0, below)
    is_finite: bool = True  # has no infinities and no NaN

    @property
    def dtype(self) -> DataType:
        return self.tensor.dtype()

    @property
    def axes(self) -> list[IterDomain]:
        """Those of `shape`."""
        return TensorDomain.no_reductions(self.tensor.get_logical_domain())

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_number(self) -> bool:
        return self.is_float or self.dtype in INTEGERS

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)


@dataclass
class Program:
    """A fusion, its inputs, and how much each output may differ."""

    seed: int
    fd: FusionDefinition
    inputs: list[Any]
    nodes: int
    outputs: list[Value] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    written: list[tuple[int, Value]] = field(default_factory=list)  # (input, value) in place
    host_scalars: set[int] = field(default_factory=set)  # inputs that stay on the host


def limit_of(dtype: DataType) -> float:
    """Up to which every integer is one of the dtype."""
    return LIMITS[dtype]


def epsilon(dtype: DataType) -> float:
    return FLOATS[dtype][1] if dtype in FLOATS else 0.0


class Pool:
    """Values to read, inputs, and the making of both. `Operations` add what is computed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.values: list[Value] = []
        self.inputs: list[Any] = []
        self.tensor_inputs: list[tuple[int, Value]] = []
        self.host_scalars: set[int] = set()
        self.scalars: list[tuple[Val, int | float]] = []
        self.fd = FusionDefinition()
        self.is_static = self.random.random() < 0.4
        self.read: list[Value] = []  # by the operation at hand
        self.needs_finite = False

    def begin(self, needs_finite: bool) -> None:
        """The next operation, which reads no infinities and no NaN if it `needs_finite`."""
        self.read = []
        self.needs_finite = needs_finite

    # -- choosing --

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, choices: Sequence[Any]) -> Any:
        return self.random.choice(choices)

    def pick(self, fits: Any = None) -> Value:
        """A value, late ones rather; `fits` says which may be taken."""
        found = [v for v in self.values if self.is_readable(v) and (fits is None or fits(v))]
        need(bool(found))
        back = min(int(self.random.expovariate(0.4)), len(found) - 1)
        return self.reading(found[-1 - back])

    def is_readable(self, value: Value) -> bool:
        return value.is_finite or not self.needs_finite

    def reading(self, value: Value) -> Value:
        """The results of the operation at hand follow its operands."""
        self.read.append(value)
        return value

    def whole(self) -> Value:
        return self.pick(lambda v: v.is_whole and v.is_number)

    def real(self) -> Value:
        return self.pick(lambda v: v.is_float)

    def number(self) -> Value:
        return self.pick(lambda v: v.is_number)

    def with_rank(self, least: int = 1) -> Value:
        return self.pick(lambda v: v.rank >= least)

    def dim_of(self, value: Value) -> int:
        need(value.rank > 0)
        return self.random.randrange(value.rank)

    # -- adding --

    def add(
        self,
        tensor: TensorView,
        shape: Sequence[int],
        bound: float,
        error: float = 0.0,
        is_whole: bool = False,
        below: int | None = None,
    ) -> Value:
        """A result. One that is not whole gets the rounding error of its dtype."""
        dtype = tensor.dtype()
        need(math.prod(shape) <= LARGEST)
        if dtype == D.Bool:
            bound, error, is_whole = 1.0, 0.0, True
        if is_whole:
            need(error == 0 and bound <= limit_of(dtype))
        else:
            need(dtype in FLOATS)
            error += 8 * epsilon(dtype) * max(bound, 1.0)
            largest = max(ERROR, 32 * epsilon(dtype))
            need(error <= largest * max(bound, 1.0) and bound <= 1e4)
        return self.append(Value(tensor, list(shape), bound, error, is_whole, below))

    def append(self, value: Value) -> Value:
        value.is_finite = not value.is_float or all(v.is_finite for v in self.read)
        self.values.append(value)
        return value

    # -- inputs --

    def extent(self) -> int:
        return self.one_of([1, 1, 2, 3, 4, 5, 7, 8, 16, 31, 33, 0 if self.chance(0.1) else 6])

    def new_shape(self) -> list[int]:
        """New, or that of a value, or one that broadcasts with it."""
        if self.values and self.chance(0.7):
            shape = list(self.pick().shape)
            if shape and self.chance(0.3):
                shape[self.random.randrange(len(shape))] = 1
            return shape[1:] if self.chance(0.2) else shape
        shape = [self.extent() for _ in range(self.one_of([0, 1, 1, 2, 2, 3, 4]))]
        while math.prod(shape) > LARGEST:
            shape.pop()
        return shape

    def laid_out(self, shape: list[int]) -> tuple[list[int], Any]:
        """Shape of what is filled, and a function from it to a view of the wanted shape."""
        kind = self.random.random()
        if kind < 0.5 or not shape:
            return shape, lambda t: t
        if kind < 0.6:  # not aligned
            return [math.prod(shape) + 1], lambda t: t[1:].view(shape)
        if kind < 0.75:
            order = self.random.sample(range(len(shape)), len(shape))
            return [shape[i] for i in order], lambda t: t.permute(
                [order.index(i) for i in range(len(shape))]
            )
        if kind < 0.9:
            dim = self.random.randrange(len(shape))
            larger = [2 * n + 1 if i == dim else n for i, n in enumerate(shape)]
            return (
                larger,
                lambda t: (
                    t.narrow(dim, 1, 2 * shape[dim])
                    .unflatten(dim, (shape[dim], 2))
                    .select(dim + 1, 0)
                ),
            )
        dim = self.random.randrange(len(shape))
        one = [1 if i == dim else n for i, n in enumerate(shape)]
        return one, lambda t: t.expand(shape)

    def define_input(self) -> None:
        if self.chance(0.2):
            self.define_scalar()
        dtypes = [D.Float, D.Float, D.Float, D.Double, D.Half, D.BFloat16, D.Int, D.Int32, D.Bool]
        small = list(SMALL_INTEGERS)
        self.new_input(self.one_of(small if self.chance(0.05) else dtypes), self.new_shape())

    def new_input(self, dtype: DataType, shape: list[int]) -> Value:
        filled, view = self.laid_out(shape)
        is_whole = dtype not in FLOATS or self.chance(0.4)
        if is_whole:
            low, bound = (0, 1) if dtype == D.Bool else (-5, 5)
            values = torch.randint(low, bound + 1, filled, generator=self.generator)
        else:
            bound = 2
            values = torch.rand(filled, generator=self.generator, dtype=torch.float64) * 4 - 2
        is_finite = dtype not in FLOATS or self.needs_finite or self.chance(0.9)
        if not is_finite:
            values = self.with_special_values(values)
        tensor = view(values.to(OF_INPUTS[dtype]))
        if not shape and self.inputs and self.chance(0.5):
            declared = self.fd.define_tensor([], [], dtype=dtype, is_cpu=True)
            self.host_scalars.add(len(self.inputs))
        else:
            declared = self.declare(tensor, dtype)
        self.inputs.append(tensor)
        value = Value(declared, list(shape), float(bound), 0.0, is_whole, None, is_finite)
        self.values.append(value)
        self.tensor_inputs.append((len(self.inputs) - 1, value))
        return self.reading(value)

    def with_special_values(self, values: torch.Tensor) -> torch.Tensor:
        special = torch.tensor([math.nan, math.inf, -math.inf, -0.0], dtype=torch.float64)
        which = torch.randint(0, len(special), values.shape, generator=self.generator)
        is_special = torch.rand(values.shape, generator=self.generator) < 0.2
        return torch.where(is_special, special[which], values.double())

    def declare(self, tensor: torch.Tensor, dtype: DataType) -> TensorView:
        if self.chance(0.3) and 1 not in tensor.shape:  # nothing is known but the rank
            rank = tensor.ndim
            return self.fd.define_tensor([-1] * rank, contiguity=[False] * rank, dtype=dtype)
        return self.fd.define_tensor(
            sizes=list(tensor.shape),
            strides=list(tensor.stride()),
            dtype=dtype,
            static_sizes=self.is_static,
        )

    def whole_scalar(self, largest: int) -> tuple[Any, int]:
        """An integer in [0, largest]: a scalar input, a size of a tensor, or a constant."""
        fits = [(s, n) for s, n in self.scalars if isinstance(n, int) and n <= largest]
        kind = self.random.random()
        if fits and kind < 0.4:
            return self.one_of(fits)
        sized = [(v, dim) for v in self.values for dim, n in enumerate(v.shape) if n <= largest]
        if sized and kind < 0.6:
            value, dim = self.one_of(sized)
            return ops.size(value.tensor, dim), value.shape[dim]
        number = self.random.randint(0, largest)
        return number, number

    def define_scalar(self) -> None:
        is_float = self.chance(0.5)
        number: Any = self.random.uniform(-2, 2) if is_float else self.random.randint(1, 4)
        scalar = self.fd.define_scalar(None, dtype=D.Double if is_float else D.Int)
        self.inputs.append(number)
        self.scalars.append((scalar, number))

    def positions(self, shape: list[int], below: int) -> Value:
        """Numbers in [0, below): computed ones if there are, else an input."""
        found = [v for v in self.values if v.below is not None and v.below <= below]
        found = [v for v in found if v.shape == shape]
        if found and self.chance(0.7):
            return self.one_of(found)
        need(below > 0)
        whole = [v for v in self.values if v.is_whole and v.shape == shape and v.dtype == D.Int]
        if whole and self.chance(0.6):
            tensor = ops.remainder(self.one_of(whole).tensor, below)
            return self.add(tensor, shape, float(below), 0.0, True, below)
        dtype = self.one_of([D.Int, D.Int, D.Int32])
        tensor = torch.randint(0, below, shape, generator=self.generator).to(TORCH[dtype])
        declared = self.declare(tensor, dtype)
        self.inputs.append(tensor)
        return self.add(declared, shape, float(below), 0.0, True, below)
