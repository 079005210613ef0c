"""The operations that random programs are made of: one method for each kind.

A method chooses operands, makes the operation and adds its result with bounds of size and error;
`Unfit` is raised where operands do not suit, before anything that is refused is made.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from program_builder import (
    FLOATS,
    INTEGERS,
    LARGEST,
    TORCH,
    D,
    Pool,
    Value,
    epsilon,
    limit_of,
    need,
)

from nvfuser_direct import DataType, ops

if TYPE_CHECKING:
    from collections.abc import Callable

# Smooth functions: name -> (bound of the result, largest slope), of the bound of the operand.
SMOOTH: dict[str, Callable[[float], tuple[float, float]]] = {
    "neg": lambda b: (b, 1.0),
    "abs": lambda b: (b, 1.0),
    "relu": lambda b: (b, 1.0),
    "set": lambda b: (b, 1.0),
    "segment_set": lambda b: (b, 1.0),
    "silu": lambda b: (b, 1.2),
    "gelu": lambda b: (b, 1.2),
    "tanh_gelu": lambda b: (b, 1.2),
    "leaky_relu": lambda b: (b, 1.0),
    "softplus": lambda b: (b + 1, 1.0),
    "sin": lambda b: (1.0, 1.0),
    "cos": lambda b: (1.0, 1.0),
    "tanh": lambda b: (1.0, 1.0),
    "sigmoid": lambda b: (1.0, 0.25),
    "erf": lambda b: (1.0, 1.2),
    "erfc": lambda b: (2.0, 1.2),
    "atan": lambda b: (1.6, 1.0),
    "asinh": lambda b: (b, 1.0),
}
STEEP = {"exp": math.exp, "expm1": math.exp, "exp2": lambda b: 2.0**b, "sinh": math.cosh,
         "cosh": math.cosh}  # fmt: skip
# Of 1 + |x|.
ABOVE_ONE: dict[str, Callable[[float], tuple[float, float]]] = {
    "log": lambda b: (b, 1.0),
    "log2": lambda b: (1.5 * b, 1.5),
    "log10": lambda b: (b, 0.5),
    "log1p": lambda b: (b, 1.0),
    "sqrt": lambda b: (b, 0.5),
    "rsqrt": lambda b: (1.0, 0.5),
    "reciprocal": lambda b: (1.0, 1.0),
    "lgamma": lambda b: (b * b, b + 1),
    "acosh": lambda b: (b, 1e9),  # its slope at 1 is infinite
}
ROUNDING = ["floor", "ceil", "round", "trunc", "frac", "sign", "abs", "neg", "relu", "set"]
QUESTIONS = ["isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def broadcast_shape(*shapes: list[int]) -> list[int]:
    try:
        return list(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        need(False)
        raise


class Operations(Pool):
    """Kinds of operations; `KINDS` at the end of the file lists them with their weights."""

    # -- one operand --

    def smooth(self) -> None:
        x, name = self.real(), self.one_of(list(SMOOTH))
        bound, slope = SMOOTH[name](x.bound)
        result = getattr(ops, name)(x.tensor)
        keeps = name in ("neg", "abs", "relu", "set", "segment_set") and x.is_whole
        self.add(result, x.shape, bound, slope * x.error, keeps)

    def steep(self) -> None:
        x, name = self.real(), self.one_of(list(STEEP))
        need(x.bound <= 5)
        size = STEEP[name](x.bound)
        self.add(getattr(ops, name)(x.tensor), x.shape, size, size * x.error)

    def above_one(self) -> None:
        x, name = self.real(), self.one_of(list(ABOVE_ONE))
        need(name not in ("acosh", "lgamma") or x.error == 0)
        bound, slope = ABOVE_ONE[name](x.bound + 1)
        start = 2.0 if name == "acosh" else 1.0
        shifted = ops.add(ops.abs(x.tensor), start)
        rounding = epsilon(shifted.dtype()) * (x.bound + 2)
        slope = min(slope, 10.0)
        self.add(getattr(ops, name)(shifted), x.shape, bound, slope * (x.error + rounding))

    def squashed(self) -> None:
        """Keeps numbers from growing."""
        x = self.real()
        self.add(ops.tanh(x.tensor), x.shape, 1.0, x.error)

    def rounding(self) -> None:
        x, name = self.whole(), self.one_of(ROUNDING)
        need(x.is_float or name not in ("floor", "ceil", "round", "trunc", "frac"))
        bound = {"frac": 0.0, "sign": 1.0}.get(name, x.bound)
        self.add(getattr(ops, name)(x.tensor), x.shape, bound, 0.0, True)

    def question(self) -> None:
        x = self.number()
        self.add(getattr(ops, self.one_of(QUESTIONS))(x.tensor), x.shape, 1.0, 0.0, True)

    def cast(self) -> None:
        x = self.pick()
        to = self.one_of(list(TORCH) if x.is_whole else list(FLOATS))
        need(not x.is_whole or to == D.Bool or x.bound <= limit_of(to))
        bound = 1.0 if to == D.Bool else x.bound
        self.add(ops.cast(x.tensor, to), x.shape, bound, x.error, x.is_whole)

    # -- two and more operands --

    def arithmetic(self) -> None:
        a, b = self.number(), self.number()
        name = self.one_of(["add", "sub", "mul", "maximum", "minimum", "add_alpha", "truediv"])
        shape = broadcast_shape(a.shape, b.shape)
        keeps = a.is_whole and b.is_whole and name != "truediv"
        more: list[Any] = []
        if name in ("maximum", "minimum"):
            bound, error = max(a.bound, b.bound), max(a.error, b.error)
        elif name == "mul":
            bound, error = a.bound * b.bound, a.bound * b.error + b.bound * a.error
        elif name == "truediv":
            need(a.is_float and b.is_float)
            divisor = ops.add(ops.abs(b.tensor), 1.0)
            rounding = epsilon(divisor.dtype()) * (b.bound + 1)
            error = a.error + a.bound * (b.error + rounding)
            self.add(ops.truediv(a.tensor, divisor), shape, a.bound, error)
            return
        else:
            factor = 2 if name == "add_alpha" else 1
            more = [factor] if name == "add_alpha" else []
            bound, error = a.bound + factor * b.bound, a.error + factor * b.error
        result = getattr(ops, name)(a.tensor, b.tensor, *more)
        self.add(result, shape, bound, error, keeps)

    def with_number(self) -> None:
        x = self.number()
        if self.scalars and self.chance(0.5):
            scalar, number = self.one_of(self.scalars)
        else:
            number = self.one_of([2, 3, -1, 0.5, 1.25])
            scalar = number
        need(x.is_float or isinstance(number, int))
        keeps = x.is_whole and isinstance(number, int)
        name = self.one_of(["add", "sub", "mul", "maximum", "minimum"])
        size = abs(number)
        bound = x.bound * size if name == "mul" else x.bound + size
        error = x.error * (size if name == "mul" else 1)
        operands = [x.tensor, scalar] if self.chance(0.5) else [scalar, x.tensor]
        self.add(getattr(ops, name)(*operands), x.shape, bound, error, keeps)

    def comparison(self) -> None:
        a, b = self.whole(), self.whole()
        shape = broadcast_shape(a.shape, b.shape)
        name = self.one_of(COMPARISONS)
        self.add(getattr(ops, name)(a.tensor, b.tensor), shape, 1.0, 0.0, True)

    def logical(self) -> None:
        a, b = (self.pick(lambda v: v.dtype == D.Bool) for _ in range(2))
        name = self.one_of(["logical_and", "logical_or", "bitwise_xor", "bitwise_and", "eq", "ne"])
        shape = broadcast_shape(a.shape, b.shape)
        self.add(getattr(ops, name)(a.tensor, b.tensor), shape, 1.0, 0.0, True)
        if self.chance(0.3):
            self.add(ops.logical_not(a.tensor), a.shape, 1.0, 0.0, True)

    def integer(self) -> None:
        a = self.pick(lambda v: v.dtype in INTEGERS)
        b = self.pick(lambda v: v.dtype in INTEGERS)
        name = self.one_of(["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "shift", "divide",
                            "bitwise_not"])  # fmt: skip
        if name == "shift":
            n = self.random.randint(0, 4)
            name = self.one_of(["bitwise_left_shift", "bitwise_right_shift", "logical_right_shift"])
            need(name != "logical_right_shift")  # of a negative number it is as large as the dtype
            bound = a.bound * 2**n if name == "bitwise_left_shift" else a.bound
            self.add(getattr(ops, name)(a.tensor, n), a.shape, bound, 0.0, True)
        elif name == "divide":
            n = self.random.randint(2, 5) * self.one_of([1, -1])
            name = self.one_of(["div", "mod", "fmod", "remainder"])
            self.add(getattr(ops, name)(a.tensor, n), a.shape, max(a.bound, 5), 0.0, True)
        elif name == "bitwise_not":
            self.add(ops.bitwise_not(a.tensor), a.shape, a.bound + 1, 0.0, True)
        else:
            shape = broadcast_shape(a.shape, b.shape)
            bound = 2 * max(a.bound, b.bound) + 2
            self.add(getattr(ops, name)(a.tensor, b.tensor), shape, bound, 0.0, True)

    def where(self) -> None:
        condition = self.pick(lambda v: v.dtype == D.Bool)
        a, b = self.pick(), self.pick()
        shape = broadcast_shape(condition.shape, a.shape, b.shape)
        result = ops.where(condition.tensor, a.tensor, b.tensor)
        keeps = a.is_whole and b.is_whole
        self.add(result, shape, max(a.bound, b.bound), max(a.error, b.error), keeps)

    def ternary(self) -> None:
        a, b, c = self.real(), self.real(), self.real()
        name = self.one_of(["lerp", "addcmul", "clamp", "threshold", "pow", "atan2"])
        if name == "clamp":
            self.add(ops.clamp(a.tensor, -1.5, 2.0), a.shape, min(a.bound, 2.0), a.error)
        elif name == "threshold":
            need(a.is_whole)
            self.add(ops.threshold(a.tensor, 0, -3), a.shape, a.bound + 3, 0.0, True)
        elif name == "pow":
            n = self.one_of([2, 3])
            slope = n * a.bound ** (n - 1)
            self.add(ops.pow(a.tensor, n), a.shape, a.bound**n, slope * a.error, a.is_whole)
        elif name == "atan2":
            shape = broadcast_shape(a.shape, b.shape)
            beside = ops.add(ops.abs(b.tensor), 1.0)
            rounding = epsilon(beside.dtype()) * (b.bound + 1)
            error = a.error + b.error + rounding
            self.add(ops.atan2(a.tensor, beside), shape, 1.6, error)
        else:
            shape = broadcast_shape(a.shape, b.shape, c.shape)
            factor = c.bound * (b.bound + a.bound)
            error = (
                2 * a.error + b.bound * c.error + c.bound * (b.error + a.error) + a.bound * c.error
            )
            extra = (2,) if name == "addcmul" else ()
            result = getattr(ops, name)(a.tensor, b.tensor, c.tensor, *extra)
            self.add(result, shape, a.bound + 2 * factor, 2 * error)

    def complex(self) -> None:
        """To complex numbers and back."""
        a = self.pick(lambda v: v.dtype in (D.Float, D.Double))
        b = self.pick(lambda v: v.dtype == a.dtype)
        shape = broadcast_shape(a.shape, b.shape)
        z = ops.complex(a.tensor, b.tensor)
        z = ops.mul(z, z) if self.chance(0.5) else ops.add(z, 1.5)
        size, error = a.bound + b.bound + 1.5, a.error + b.error
        parts = self.one_of([[ops.real], [ops.imag], [ops.abs], [ops.real, ops.imag]])
        for part in parts:
            self.add(part(z), shape, size * size, 2 * size * error)

    # -- reductions, scans, layers --

    def dims_of(self, x: Value) -> list[int]:
        count = self.random.randint(1, x.rank)
        return sorted(self.random.sample(range(x.rank), count))

    def reduced(self, x: Value, dims: list[int], keepdim: bool) -> tuple[list[int], int]:
        kept = [1 if i in dims else n for i, n in enumerate(x.shape)]
        shape = kept if keepdim else [n for i, n in enumerate(x.shape) if i not in dims]
        return shape, math.prod(x.shape[d] for d in dims)

    def reduction(self) -> None:
        x = self.with_rank()
        dims, keepdim = self.dims_of(x), self.chance(0.5)
        shape, n = self.reduced(x, dims, keepdim)
        name = self.one_of(["sum", "sum", "max", "min", "mean", "prod", "fmax", "fmin"])
        if name in ("max", "min", "fmax", "fmin"):
            need(n > 0)
            result = getattr(ops, name)(x.tensor, dims, keepdim)
            self.add(result, shape, x.bound, x.error, x.is_whole)
        elif name == "prod":
            need(x.is_whole and n <= 8)
            bound = max(x.bound, 1.0) ** n
            need(bound <= limit_of(x.dtype if x.is_float else D.Int))
            self.add(ops.prod(x.tensor, dims, keepdim), shape, bound, 0.0, True)
        elif name == "mean":
            need(x.is_float and n > 0)
            rounding = self.order_error(x, n) / n
            self.add(ops.mean(x.tensor, dims, keepdim), shape, x.bound, x.error + rounding)
        else:
            result = ops.sum(x.tensor, dims, keepdim)
            error = 0.0 if x.is_whole else n * x.error + self.order_error(x, n)
            self.add(result, shape, x.bound * n, error, x.is_whole)

    def order_error(self, x: Value, n: int) -> float:
        """Of a sum of n elements, in any order."""
        return epsilon(x.dtype) * x.bound * n * min(n, 16)

    def moments(self) -> None:
        x = self.pick(lambda v: v.dtype in (D.Float, D.Double) and v.rank > 0)
        dims, keepdim = self.dims_of(x), self.chance(0.5)
        shape, n = self.reduced(x, dims, keepdim)
        need(n > 1)
        slack = (x.error + self.order_error(x, n) / n) * 4 * (x.bound + 1)
        bound = 2 * x.bound**2
        axes = x.tensor.get_logical_domain()
        if self.chance(0.5) and not any(axes[d].has_expanded_extent() for d in dims):
            var, mean = ops.var_mean(x.tensor, dims, 1, keepdim)
            self.add(mean, shape, x.bound, slack)
        else:
            var = ops.var(x.tensor, dims, 1, keepdim)
        self.add(var, shape, bound, slack)

    def layer(self) -> None:
        x = self.pick(lambda v: v.dtype in (D.Float, D.Double) and v.rank > 0)
        dim = x.rank - 1
        n = x.shape[dim]
        need(n > 0 and x.bound <= 10)
        rounding = self.order_error(x, n) / n
        name = self.one_of(["softmax", "log_softmax", "rms_norm"])
        if name == "softmax":
            self.add(ops.softmax(x.tensor, dim), x.shape, 1.0, 2 * x.error + rounding)
        elif name == "log_softmax":
            bound = 2 * x.bound + math.log(n)
            self.add(ops.log_softmax(x.tensor, dim), x.shape, bound, 2 * x.error + rounding)
        else:  # of numbers that are not all small
            shifted = ops.add(ops.abs(x.tensor), 1.0)
            out, invstd = ops.rms_norm(shifted, 1)
            self.add(out, x.shape, x.bound + 1, 4 * (x.bound + 1) * (x.error + rounding))
            self.add(invstd, [*x.shape[:-1], 1], 1.0, 2 * (x.bound + 1) * (x.error + rounding))

    def scan(self) -> None:
        x = self.pick(lambda v: v.rank > 0 and v.dtype != D.Bool)
        dim = self.dim_of(x)
        n = x.shape[dim]
        need(not x.tensor.axis(dim).is_broadcast() or not x.tensor.axis(dim).has_expanded_extent())
        name = self.one_of(["cumsum", "cumsum", "cummax", "cummin"])
        result = getattr(ops, name)(x.tensor, dim)
        if name == "cumsum":
            error = 0.0 if x.is_whole else n * x.error + self.order_error(x, n)
            self.add(result, x.shape, x.bound * max(n, 1), error, x.is_whole)
        else:
            self.add(result, x.shape, x.bound, x.error, x.is_whole)

    # -- moving --

    def moved(self, x: Value, tensor: Any, shape: list[int]) -> None:
        """The same elements elsewhere."""
        if x.is_whole:
            self.add(tensor, shape, x.bound, 0.0, True, x.below)
            return
        need(math.prod(shape) <= LARGEST)
        self.values.append(Value(tensor, shape, x.bound, x.error))

    def permute(self) -> None:
        x = self.with_rank()
        order = self.random.sample(range(x.rank), x.rank)
        shape = [x.shape[i] for i in order]
        if self.chance(0.2):
            self.moved(x, ops.stride_order(x.tensor, order), list(x.shape))
        else:
            self.moved(x, ops.permute(x.tensor, order), shape)

    def broadcast(self) -> None:
        x = self.pick(lambda v: v.rank < 5)
        at = self.random.randint(0, x.rank)
        shape = [*x.shape[:at], 1, *x.shape[at:]]
        tensor = ops.unsqueeze(x.tensor, at)
        if self.chance(0.6):
            shape[at] = self.one_of([2, 3, 5])
            need(math.prod(shape) <= LARGEST)
            tensor = ops.expand(tensor, [shape[i] if i == at else -1 for i in range(len(shape))])
        self.moved(x, tensor, shape)

    def squeeze(self) -> None:
        x = self.with_rank()
        logical = [a for a in x.tensor.get_logical_domain() if not a.is_reduction()]
        dims = [
            i for i, a in enumerate(logical) if a.is_broadcast() and not a.has_expanded_extent()
        ]
        need(bool(dims))
        dim = self.one_of(dims)
        self.moved(x, ops.squeeze(x.tensor, [dim]), [n for i, n in enumerate(x.shape) if i != dim])

    def reshape(self) -> None:
        x = self.with_rank()
        start = self.random.randrange(x.rank)
        end = self.random.randrange(start, x.rank)
        merged = math.prod(x.shape[start : end + 1])
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

    def slice(self) -> None:
        x = self.with_rank()
        starts, ends = [], []
        for n in x.shape:
            a = self.random.randint(0, n) if self.chance(0.5) else 0
            starts.append(a)
            ends.append(self.random.randint(a, n) if self.chance(0.5) else n)
        shape = [e - s for s, e in zip(starts, ends, strict=True)]
        need(math.prod(shape) > 0 or self.chance(0.1))
        self.moved(x, ops.slice(x.tensor, starts, ends), shape)

    def pad(self) -> None:
        x = self.with_rank()
        widths, shape = [], list(x.shape)
        for dim in reversed(range(self.random.randrange(x.rank), x.rank)):
            left, right = (self.random.randint(-1, 2) for _ in range(2))
            need(shape[dim] + left + right >= 0 and shape[dim] + min(left, 0) + min(right, 0) >= 0)
            widths += [left, right]
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

        beside = [v for v in self.values if v.rank == x.rank and v.dtype == x.dtype and fits(v)]
        parts = [x] + [self.one_of(beside) for _ in range(self.random.randint(1, 2))]
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
                   if v.dtype == x.dtype and v.shape == list(index.shape)]  # fmt: skip
        if sources and self.chance(0.7):
            source = self.one_of(sources)
            src, bound, error, keeps = source.tensor, source.bound, source.error, source.is_whole
        else:
            src = True if x.dtype == D.Bool else 3.0 if x.is_float else 3
            bound, error, keeps = 3.0, 0.0, True
        result = ops.scatter(x.tensor, declared, src, dim)
        written = Value(x.tensor, x.shape, max(x.bound, bound), max(x.error, error),
                        x.is_whole and keeps)  # fmt: skip
        self.moved(written, result, list(x.shape))

    def search(self) -> None:
        x = self.pick(lambda v: v.is_whole and v.rank > 0 and v.dtype != D.Bool)
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
        name = self.one_of(["full", "iota", "eye", "arange", "zeros", "full_like"])
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
        else:
            extents: list[Any] = list(shape)
            if self.values and self.chance(0.5):  # symbolic extents
                like = self.pick()
                shape, extents = list(like.shape), like.tensor.shape()
            value = 0 if name == "zeros" else 2
            result = ops.zeros(extents, dtype) if name == "zeros" else ops.full(extents, 2, dtype)
            self.add(result, shape, float(value), 0.0, True)

    def draw(self) -> None:
        shape = self.new_shape()
        dtype = self.one_of(list(FLOATS))
        seed = {"rng_seed": self.random.randint(0, 99), "rng_offset": self.random.randint(0, 9)}
        if self.chance(0.6):
            result, bound = ops.uniform(-1.0, 2.0, shape, dtype=dtype, **seed), 2.0
        else:
            result, bound = ops.normal(0.0, 1.0, shape, dtype=dtype, **seed), 8.0
        self.add(result, shape, bound, 16 * epsilon(dtype))

    def product(self) -> None:
        a = self.pick(lambda v: v.dtype in (D.Float, D.Double) and v.rank == 2)
        b = self.pick(lambda v: v.dtype == a.dtype and v.rank == 2)
        need(a.shape[1] == b.shape[0] and a.shape[1] > 1)
        n = a.shape[1]
        bound = a.bound * b.bound * n
        error = n * (a.bound * b.error + b.bound * a.error) + epsilon(a.dtype) * bound * n
        self.add(ops.matmul(a.tensor, b.tensor), [a.shape[0], b.shape[1]], bound, error)


# Kinds and how often each is tried.
KINDS: dict[str, float] = {
    "smooth": 8, "steep": 2, "above_one": 3, "squashed": 2, "rounding": 4, "question": 1, "cast": 4,
    "arithmetic": 12, "with_number": 5, "comparison": 3, "logical": 2, "integer": 3, "where": 4,
    "ternary": 4, "complex": 1, "reduction": 9, "moments": 2, "layer": 1.5, "scan": 2, "permute": 4,
    "broadcast": 4, "squeeze": 2, "reshape": 4, "slice": 3, "pad": 2.5, "cat": 2, "repeat": 1,
    "triangle": 1, "look_up": 5, "search": 0.15, "create": 4, "draw": 2, "product": 0.2,
}  # fmt: skip
