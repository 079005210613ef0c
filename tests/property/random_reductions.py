"""Operations that read many elements for one: reductions, scans, layers and products."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from program_builder import LARGEST, D, Pool, Value, epsilon, limit_of, need

from nvfuser_direct import BinaryOpType, ops

if TYPE_CHECKING:
    from nvfuser_direct import TensorView


class Reductions(Pool):
    """Kinds of operations; `KINDS` in random_operations.py lists them with their weights."""

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

    def sum_to(self) -> None:
        """The sum over what another shape lacks."""
        x = self.with_rank()
        shape = [1 if self.chance(0.4) else n for n in x.shape][self.random.randint(0, x.rank) :]
        n = x.numel // max(math.prod(shape), 1)
        error = 0.0 if x.is_whole else n * x.error + self.order_error(x, n)
        self.add(ops.sum_to(x.tensor, shape), shape, x.bound * max(n, 1), error, x.is_whole)

    def is_repeated(self, x: Value, dims: list[int]) -> bool:
        """Whether memory has one element for several: what is counted has to be there."""
        return any(x.axes[d].has_expanded_extent() for d in dims)

    def order_error(self, x: Value, n: int) -> float:
        """The error of a sum of n elements, in any order."""
        return epsilon(x.dtype) * x.bound * n * min(n, 16)

    def moments(self) -> None:
        x = self.pick(lambda v: v.dtype in (D.Float, D.Double) and v.rank > 0)
        dims, keepdim = self.dims_of(x), self.chance(0.5)
        shape, n = self.reduced(x, dims, keepdim)
        need(n > 1)
        slack = (x.error + self.order_error(x, n) / n) * 4 * (x.bound + 1)
        bound = 2 * x.bound**2
        name = self.one_of(["var", "var_mean", "standard_deviation", "welford"])
        if name in ("var_mean", "welford"):
            need(not self.is_repeated(x, dims))
        if name == "var":
            self.add(ops.var(x.tensor, dims, 1, keepdim), shape, bound, slack)
        elif name == "var_mean":
            var, mean = ops.var_mean(x.tensor, dims, 1, keepdim)
            self.add(mean, shape, x.bound, slack)
            self.add(var, shape, bound, slack)
        elif name == "standard_deviation":  # |sqrt(a) - sqrt(b)| <= sqrt(|a - b|)
            result = ops.standard_deviation(x.tensor, dims, 1, keepdim)
            self.add(result, shape, 2 * x.bound, math.sqrt(slack))
        else:
            shape, _ = self.reduced(x, dims, False)
            mean, deviations, _ = ops.welford(x.tensor, dims)
            self.add(mean, shape, x.bound, slack)
            self.add(deviations, shape, n * bound, n * slack)

    # -- layers --

    def softmax(self) -> None:
        x = self.pick(lambda v: v.dtype in (D.Float, D.Double) and v.rank > 0)
        dim = self.dim_of(x)
        n = x.shape[dim]
        need(n > 0 and x.bound <= 10)
        error = 2 * x.error + self.order_error(x, n) / n
        if self.chance(0.5):
            y = self.add(ops.softmax(x.tensor, dim), x.shape, 1.0, error)
            backward = ops.softmax_backward
        else:
            bound = 2 * x.bound + math.log(n)
            y = self.add(ops.log_softmax(x.tensor, dim), x.shape, bound, error)
            backward = ops.log_softmax_backward
        if self.chance(0.4):
            dy = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape)
            slope = 2 * n * dy.bound
            error = slope * y.error + (n + 1) * dy.error + self.order_error(dy, n)
            gradient = backward(dy.tensor, y.tensor, dim)
            self.add(gradient, x.shape, (n + 1) * dy.bound, error)

    def normalization(self) -> None:
        """With an epsilon that keeps the divisor away from 0."""
        x = self.pick(lambda v: v.dtype in (D.Float, D.Double) and v.rank > 0 and v.numel > 0)
        need(x.bound <= 10)
        name = self.one_of(["rms_norm", "layer_norm", "layer_norm", "batch_norm", "instance_norm"])
        if name == "rms_norm" or name == "layer_norm":
            self.layer_norm(name, x)
        else:
            self.channel_norm(name, x)

    def parameter(self, x: Value, shape: list[int]) -> Value | None:
        """A weight or a bias of a layer, or none."""
        if self.chance(0.4):
            return None
        fits = [v for v in self.values if v.dtype == x.dtype and v.shape == shape and v.bound <= 10]
        fits = [v for v in fits if self.is_readable(v)]
        return self.reading(self.one_of(fits)) if fits else self.new_input(x.dtype, shape)

    def normalized(self, x: Value, n: int, weight: Value | None, bias: Value | None) -> list[float]:
        """Bounds and errors: of the result, of statistics."""
        statistics = 4 * (x.bound + 1) * (x.error + self.order_error(x, n) / n)
        factor, slack = (weight.bound, weight.error) if weight else (1.0, 0.0)
        bound, error = 2 * x.bound, 4 * (x.bound + 1) * statistics
        bound, error = bound * factor, error * factor + bound * slack
        if bias is not None:
            bound, error = bound + bias.bound, error + bias.error
        return [bound, error, statistics]

    def layer_norm(self, name: str, x: Value) -> None:
        count = self.random.randint(1, x.rank)
        need(not self.is_repeated(x, list(range(x.rank - count, x.rank))))
        inner = x.shape[x.rank - count :]
        n, kept = math.prod(inner), [*x.shape[: x.rank - count], *([1] * count)]
        weight = self.parameter(x, inner)
        bias = self.parameter(x, inner) if name == "layer_norm" else None
        bound, error, statistics = self.normalized(x, n, weight, bias)
        w, b = (None if v is None else v.tensor for v in (weight, bias))
        has_gradient = self.chance(0.4)
        if name == "rms_norm":
            out, invstd = ops.rms_norm(x.tensor, count, w, 1.0)
            if has_gradient:
                dy, bounds = self.gradient_of_norm(x, weight, statistics)
                first, second = ops.rms_norm_backward(dy.tensor, x.tensor, count, invstd, w)
                self.add_gradients(x, inner, dy, [first, second, None], bounds)
        else:
            out, mean, invstd = ops.layer_norm(x.tensor, count, w, b, 1.0)
            self.add(mean, kept, x.bound, statistics)
            if has_gradient:
                dy, bounds = self.gradient_of_norm(x, weight, statistics)
                found = ops.layer_norm_backward(dy.tensor, x.tensor, count, mean, invstd, w,
                                                bias is not None)  # fmt: skip
                self.add_gradients(x, inner, dy, list(found), bounds)
        self.add(invstd, kept, 1.0, statistics)
        self.add(out, x.shape, bound, error)

    def gradient_of_norm(
        self, x: Value, weight: Value | None, statistics: float
    ) -> tuple[Value, tuple[float, float]]:
        """A gradient of the result, and bound and error of one of the operand."""
        dy = self.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape and v.bound <= 10)
        factor, slack = (weight.bound, weight.error) if weight else (1.0, 0.0)
        size = (2 * x.bound + 1) ** 2
        bound = 3 * dy.bound * factor * size
        error = 3 * size * (factor * dy.error + dy.bound * slack)
        error += 8 * dy.bound * factor * size * (statistics + 16 * epsilon(x.dtype))
        return dy, (bound, error)

    def add_gradients(
        self,
        x: Value,
        inner: list[int],
        dy: Value,
        gradients: list[Any],
        bounds: tuple[float, float],
    ) -> None:
        """Gradients of the operand and of parameters of the shape `inner`."""
        bound, error = bounds
        of_operand, *of_parameters = gradients
        rows = x.numel // math.prod(inner)
        for gradient in of_parameters:
            if gradient is not None:
                slack = rows * error + self.order_error(dy, rows) * (2 * x.bound + 1)
                self.add(gradient, inner, rows * bound, slack)
        self.add(of_operand, x.shape, bound, error)

    def channel_norm(self, name: str, x: Value) -> None:
        """Batches and channels first; with `channels_last` these are last."""
        need(x.rank >= (2 if name == "batch_norm" else 3))
        channels_last = self.chance(0.3)
        at = x.rank - 1 if channels_last else 1
        apart = [at] if name == "batch_norm" else [0, at]
        inner, kept = [x.shape[at]], [x.shape[d] for d in apart]
        n = x.numel // math.prod(kept)
        need(not self.is_repeated(x, [d for d in range(x.rank) if d not in apart]))
        weight, bias = self.parameter(x, inner), self.parameter(x, inner)
        bound, error, statistics = self.normalized(x, n, weight, bias)
        w, b = (None if v is None else v.tensor for v in (weight, bias))
        forward, backward = getattr(ops, name), getattr(ops, name + "_backward")
        out, mean, invstd = forward(x.tensor, w, b, eps=1.0, channels_last=channels_last)
        self.add(mean, kept, x.bound, statistics)
        self.add(invstd, kept, 1.0, statistics)
        self.add(out, x.shape, bound, error)
        if self.chance(0.3):
            dy, bounds = self.gradient_of_norm(x, weight, statistics)
            found = backward(dy.tensor, x.tensor, w, mean, invstd, True, channels_last)
            self.add_gradients(x, inner, dy, list(found), bounds)

    # -- scans --

    def scan(self) -> None:
        x = self.pick(lambda v: v.rank > 0 and v.is_number)
        dim = self.dim_of(x)
        n = x.shape[dim]
        need(not x.axes[dim].has_expanded_extent())
        name = self.one_of(["cumsum", "cumsum", "cummax", "cummin", "cumprod", "scan"])
        if name == "scan":
            with_start = ops.scan(x.tensor, dim, BinaryOpType.Max, -1.0 if x.is_float else -1)
            self.add(with_start, x.shape, max(x.bound, 1.0), x.error, x.is_whole)
            return
        result = getattr(ops, name)(x.tensor, dim)
        if name == "cumprod":
            need(x.is_whole and n <= 8)
            self.add(result, x.shape, max(x.bound, 1.0) ** n, 0.0, True)
        elif name == "cumsum":
            error = 0.0 if x.is_whole else n * x.error + self.order_error(x, n)
            self.add(result, x.shape, x.bound * max(n, 1), error, x.is_whole)
        else:
            self.add(result, x.shape, x.bound, x.error, x.is_whole)

    # -- products --

    def product(self) -> None:
        a = self.pick(lambda v: v.dtype in (D.Float, D.Double) and v.rank > 0 and v.bound <= 100)
        k = a.shape[-1]
        need(k > 1)
        name = self.one_of(["matmul", "linear", "fused_multiply_sum"])
        if name == "fused_multiply_sum":
            b = self.factor(a, list(a.shape), -1)
            dims = self.dims_of(a)
            need(not any(v.axes[d].is_broadcast() for v in (a, b) for d in dims))
            shape, n = self.reduced(a, dims, False)
            self.add_product(ops.fused_multiply_sum(a.tensor, b.tensor, dims), shape, a, b, n)
        elif name == "matmul":
            n = self.one_of([1, 3, 8])
            shape = [k, n] if self.chance(0.7) else [k]
            b = self.factor(a, shape, 0)
            self.add_product(ops.matmul(a.tensor, b.tensor), [*a.shape[:-1], *shape[1:]], a, b, k)
        else:
            n = self.one_of([1, 3, 8])
            b = self.factor(a, [n, k], -1)
            self.add_product(ops.linear(a.tensor, b.tensor), [*a.shape[:-1], n], a, b, k)

    def factor(self, a: Value, shape: list[int], k_axis: int) -> Value:
        """The other operand, of `shape`; both or neither repeat one number along K."""
        is_repeated = a.axes[-1].is_broadcast()

        def fits(v: Value) -> bool:
            is_alike = v.dtype == a.dtype and v.shape == shape and v.bound <= 100
            return is_alike and v.axes[k_axis].is_broadcast() == is_repeated

        if any(fits(v) and self.is_readable(v) for v in self.values):
            return self.pick(fits)
        need(math.prod(shape) <= LARGEST)
        b = self.new_input(a.dtype, shape)
        need(fits(b))
        return b

    def add_product(self, result: TensorView, shape: list[int], a: Value, b: Value, n: int) -> None:
        bound = a.bound * b.bound * n
        error = n * (a.bound * b.error + b.bound * a.error) + epsilon(a.dtype) * bound * n
        self.add(result, shape, bound, error)
