"""Operations on elements: one element of the result from one element of each operand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from program_builder import (
    FLOATS,
    INTEGERS,
    TORCH,
    D,
    Pool,
    epsilon,
    limit_of,
    need,
)

from nvfuser_direct import ops

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
# Functions of 1 + |x|.
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
# For numbers in [-0.9, 0.9]: bound of the result, largest slope.
INSIDE_ONE = {"asin": (1.2, 2.3), "acos": (2.7, 2.3), "atanh": (1.5, 5.3), "erfinv": (1.2, 3.5),
              "erfcinv": (1.2, 3.5), "tan": (1.3, 2.6)}  # fmt: skip
ROUNDING = ["floor", "ceil", "round", "trunc", "frac", "sign", "abs", "neg", "relu", "set"]
QUESTIONS = ["isfinite", "isinf", "isnan", "isneginf", "isposinf", "isreal"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


def broadcast_shape(*shapes: list[int]) -> list[int]:
    try:
        return list(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        need(False)
        raise


class Elementwise(Pool):
    """Kinds of operations; `KINDS` in random_operations.py lists them with their weights."""

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

    def inside_one(self) -> None:
        x, name = self.real(), self.one_of(list(INSIDE_ONE))
        bound, slope = INSIDE_ONE[name]
        inner = ops.mul(ops.tanh(x.tensor), 0.9)
        if name == "erfcinv":  # of (0, 2)
            inner = ops.add(inner, 1.0)
        rounding = 4 * epsilon(inner.dtype())
        self.add(getattr(ops, name)(inner), x.shape, bound, slope * (x.error + rounding))

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
        if x.is_float and x.is_whole and self.chance(0.2):
            need(x.bound < limit_of(x.dtype) / 4)
            apart_from_zero = ops.add(x.tensor, 0.5)
            self.add(ops.signbit(apart_from_zero), x.shape, 1.0, 0.0, True)
            return
        self.add(getattr(ops, self.one_of(QUESTIONS))(x.tensor), x.shape, 1.0, 0.0, True)

    def cast(self) -> None:
        x = self.pick()
        to = self.one_of(list(TORCH) if x.is_whole else list(FLOATS))
        need(not x.is_whole or to == D.Bool or x.bound <= limit_of(to))
        need(x.is_finite or to == D.Bool or to in FLOATS)
        if x.is_whole and x.is_finite and x.is_float and x.bound <= 8 and self.chance(0.3):
            eight_bits = ops.cast(x.tensor, self.one_of([D.Float8_e4m3fn, D.Float8_e5m2]))
            self.add(ops.cast(eight_bits, D.Float), x.shape, x.bound, 0.0, True)
            return
        bound = 1.0 if to == D.Bool else x.bound
        self.add(ops.cast(x.tensor, to), x.shape, bound, x.error, x.is_whole)

    # -- two and more operands --

    def arithmetic(self) -> None:
        a, b = self.number(), self.number()
        name = self.one_of(["add", "sub", "mul", "maximum", "minimum", "add_alpha", "sub_alpha",
                            "truediv"])  # fmt: skip
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
            factor = 2 if name.endswith("_alpha") else 1
            more = [factor] if name.endswith("_alpha") else []
            bound, error = a.bound + factor * b.bound, a.error + factor * b.error
        result = getattr(ops, name)(a.tensor, b.tensor, *more)
        self.add(result, shape, bound, error, keeps)

    def with_number(self) -> None:
        x = self.number()
        if self.scalars and self.chance(0.4):
            scalar, number = self.one_of(self.scalars)
        elif self.chance(0.2):
            scalar, number = self.whole_scalar(5)
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
                            "ceil_div", "bitwise_not"])  # fmt: skip
        if name == "shift":
            n = self.random.randint(0, 4)
            name = self.one_of(["bitwise_left_shift", "bitwise_right_shift", "logical_right_shift"])
            # Shifted without its sign, a negative number is as large as the dtype.
            tensor = ops.abs(a.tensor) if name == "logical_right_shift" else a.tensor
            bound = a.bound * 2**n if name == "bitwise_left_shift" else a.bound
            self.add(getattr(ops, name)(tensor, n), a.shape, bound, 0.0, True)
        elif name == "ceil_div":
            n = self.random.randint(1, 5)
            self.add(ops.ceil_div(ops.abs(a.tensor), n), a.shape, a.bound + 1, 0.0, True)
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
        a, b = (self.pick(lambda v: v.is_number or v.dtype == D.Bool) for _ in range(2))
        shape = broadcast_shape(condition.shape, a.shape, b.shape)
        result = ops.where(condition.tensor, a.tensor, b.tensor)
        keeps = a.is_whole and b.is_whole
        self.add(result, shape, max(a.bound, b.bound), max(a.error, b.error), keeps)

    def ternary(self) -> None:
        a, b, c = self.real(), self.real(), self.real()
        name = self.one_of(["lerp", "addcmul", "clamp", "threshold", "pow", "atan2", "nextafter"])
        if name == "clamp":
            self.add(ops.clamp(a.tensor, -1.5, 2.0), a.shape, min(a.bound, 2.0), a.error)
        elif name == "threshold":
            need(a.is_whole)
            self.add(ops.threshold(a.tensor, 0, -3), a.shape, a.bound + 3, 0.0, True)
        elif name == "pow":
            n = self.one_of([2, 3])
            slope = n * a.bound ** (n - 1)
            self.add(ops.pow(a.tensor, n), a.shape, a.bound**n, slope * a.error, a.is_whole)
        elif name == "nextafter":
            need(a.is_whole and b.is_whole and a.dtype == b.dtype)
            need(a.dtype in (D.Float, D.Double))
            shape = broadcast_shape(a.shape, b.shape)
            self.add(ops.nextafter(a.tensor, b.tensor), shape, a.bound + 1)
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

    def gradient(self) -> None:
        """The gradient of an activation."""
        dy, x = self.real(), self.real()
        shape = broadcast_shape(dy.shape, x.shape)
        name = self.one_of(["gelu_backward", "tanh_gelu_backward", "tanh_backward"])
        slope, curvature = 1.2, 1.2
        if name == "tanh_backward":  # of tanh(x), and of other numbers
            need(x.bound <= 3)
            slope, curvature = 1 + x.bound**2, 2 * x.bound
        result = getattr(ops, name)(dy.tensor, x.tensor)
        error = slope * dy.error + curvature * dy.bound * x.error
        # The derivative has the precision of x. Near its zeros it is a difference of larger terms.
        rounding = 4 * max(epsilon(dy.dtype), epsilon(x.dtype)) * dy.bound * slope
        self.add(result, shape, slope * dy.bound, error + rounding)

    def dropped(self) -> None:
        """Dropout with probability 0: random draws are not comparable."""
        x = self.real()
        kept, mask = ops.dropout(x.tensor, 0.0)
        self.add(mask, x.shape, 1.0, 0.0, True)
        self.add(kept, x.shape, x.bound, x.error)
        if self.chance(0.5):
            self.add(ops.dropout_backward(x.tensor, mask, 2.0), x.shape, 2 * x.bound, 2 * x.error)

    def gates(self) -> None:
        """The gates of a long short-term memory: five operands of one shape."""
        cell = self.real()
        parts = [self.pick(lambda v: v.dtype == cell.dtype and v.shape == cell.shape)
                 for _ in range(4)]  # fmt: skip
        new, hidden = ops.lstm(cell.tensor, *(v.tensor for v in parts))
        error = cell.error + (cell.bound + 1) * sum(v.error for v in parts)
        rounding = 4 * epsilon(cell.dtype) * (cell.bound + 1)
        self.add(new, cell.shape, cell.bound + 1, error + rounding)
        self.add(hidden, cell.shape, 1.0, 2 * (error + rounding))

    def complex(self) -> None:
        """To complex numbers and back."""
        a = self.pick(lambda v: v.dtype in (D.Float, D.Double))
        b = self.pick(lambda v: v.dtype == a.dtype)
        shape = broadcast_shape(a.shape, b.shape)
        z = ops.complex(a.tensor, b.tensor)
        size, error = a.bound + b.bound + 1.5, a.error + b.error
        name = self.one_of(["mul", "add", "sub", "neg", "permute", "sum"])
        if name in ("mul", "sub"):
            z = getattr(ops, name)(z, z)
        elif name == "add":
            z = ops.add(z, 1.5)
        elif name == "neg":
            z = ops.neg(z)
        elif name == "permute":
            z, shape = ops.permute(z, list(reversed(range(len(shape))))), shape[::-1]
        elif shape:  # one dimension less
            n = shape.pop()
            z = ops.sum(z, [len(shape)])
            error = n * error + epsilon(a.dtype) * size * n * min(n, 16)
            size *= max(n, 1)
        if self.chance(0.2):
            self.add(ops.view_as_real(z), [*shape, 2], size * size, 2 * size * error)
            return
        parts = self.one_of([[ops.real], [ops.imag], [ops.abs], [ops.real, ops.imag]])
        for part in parts:
            self.add(part(z), shape, size * size, 2 * size * error)
