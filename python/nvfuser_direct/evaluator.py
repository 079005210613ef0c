"""The fallback evaluator: runs a fusion's expressions through PyTorch.

It serves where there is no kernel, and as the reference that results are compared with. Schedules
do not change what it computes: caches, factored reductions and permuted copies are expressions like
any other.

A tensor is held with the shape of its logical domain without reductions. Where an expression's
result has a root domain, the value passes through the transforms between root and logical domain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from . import _core
from ._core import BinaryOpType, DataType, TensorView, Val
from ._torch_ops import Scalar, Value, binary, scalar_cast, ternary, unary
from .pytorch_utils import nvfuser_dtype_to_torch_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import torch

_FLOATS = {
    DataType.Double,
    DataType.Float,
    DataType.Half,
    DataType.BFloat16,
    DataType.Float8_e4m3fn,
    DataType.Float8_e5m2,
    DataType.Float8_e8m0fnu,
}


class Evaluator:
    """The values of one fusion for one set of inputs.

    Parameters
    ----------
    fusion : Fusion
        What to evaluate; scheduled or not.
    inputs : sequence
        Tensors and Python numbers, in the order of ``fusion.inputs()``.
    dtype_override : torch.dtype, optional
        Compute all real floating point in this type, and complex numbers in its complex
        counterpart; for references use ``torch.float64``.
    """

    def __init__(
        self,
        fusion: _core.Fusion,
        inputs: Sequence[Value],
        dtype_override: torch.dtype | None = None,
    ) -> None:
        import torch

        self._torch = torch
        self._fusion = fusion
        self._override = dtype_override
        self._values: dict[Val, Value] = {}
        self._device = next(
            (x.device for x in inputs if isinstance(x, torch.Tensor) and x.ndim > 0),
            torch.device("cpu"),
        )
        with torch.no_grad():
            self._bind_inputs(inputs)
            for expr in fusion.exprs():
                if expr.output(0) not in self._values:
                    self._run(expr)

    # -- results --

    def __getitem__(self, val: Val) -> Value:
        """The value of a tensor or scalar."""
        if isinstance(val, TensorView):
            return self._values[val]
        return self.scalar(val)

    def outputs(self) -> list[torch.Tensor]:
        """The value of every output, hidden ones included."""
        return [self._values[val] for val in self._fusion.outputs()]

    def shape(self, tensor: TensorView) -> list[int]:
        """The sizes a user sees."""
        return [int(self.scalar(extent)) for extent in tensor.shape()]

    def scalar(self, val: Val) -> Scalar:
        """The value of a scalar, computed when first asked for."""
        if val in self._values:
            return self._values[val]
        if val.is_const():
            return val.value()
        definition = val.definition()
        if definition is None:
            raise _core.UserError(f"{val} has no value: no input or size of an input binds it")
        self._run(definition)
        return self._values[val]

    # -- inputs --

    def _bind_inputs(self, inputs: Sequence[Value]) -> None:
        vals = self._fusion.inputs()
        if len(vals) != len(inputs):
            raise _core.UserError(
                "KernelArgumentHolder contains less argument than kernel's input."
                if len(inputs) < len(vals)
                else f"Expected {len(vals)} inputs, got {len(inputs)}."
            )
        for val, value in zip(vals, inputs, strict=True):
            if isinstance(val, TensorView):
                self._bind_tensor(val, value)
            else:
                self._values[val] = value

    def _bind_tensor(self, val: TensorView, tensor: torch.Tensor) -> None:
        if val.dtype() == DataType.Float4_e2m1fn:
            raise NotImplementedError(f"the evaluator has no arithmetic on fp4: {val}")
        if not isinstance(tensor, self._torch.Tensor):
            tensor = self._torch.from_dlpack(tensor)
        axes = _core.TensorDomain.no_reductions(val.logical())
        if len(axes) != tensor.ndim:
            raise _core.UserError(f"Expected {val} to have rank {len(axes)}, got {tensor.ndim}.")
        for axis, size in zip(axes, tensor.shape, strict=True):
            extent = axis.maybe_expanded_extent()
            is_free = extent.is_symbolic() and extent.definition() is None
            if is_free and self._values.setdefault(extent, size) != size:
                raise _core.UserError(
                    f"Tried to bind to a value: {extent} is {self._values[extent]}, "
                    f"but {val} has size {size} there"
                )
        self._values[val] = tensor.to(self._torch_dtype(val.dtype()))

    # -- types --

    def _torch_dtype(self, dtype: DataType) -> torch.dtype:
        """The type values of `dtype` are held in."""
        if self._override is not None:
            if dtype in _FLOATS:
                return self._override
            if dtype in (DataType.ComplexFloat, DataType.ComplexDouble):
                return self._override.to_complex()
        return nvfuser_dtype_to_torch_dtype(dtype)

    def _store(self, val: Val, value: Value) -> None:
        if isinstance(val, TensorView):
            if not isinstance(value, self._torch.Tensor):
                value = self._torch.tensor(value, device=self._device)
            dtype = self._torch_dtype(val.dtype())
            self._values[val] = value if value.dtype == dtype else value.to(dtype)
        else:
            self._values[val] = scalar_cast(value, val.dtype())

    # -- expressions --

    def _run(self, expr: _core.Expr) -> None:
        handler = _HANDLERS.get(type(expr))
        if handler is None:
            raise NotImplementedError(f"the evaluator does not know this expression: {expr}")
        handler(self, expr)

    def _operands(self, *vals: Val) -> list[Value]:
        """Values of the operands, tensors of one rank."""
        return [self[val] for val in vals]

    def _unary(self, expr: _core.UnaryOp) -> None:
        (arg,) = self._operands(expr.arg)
        self._store(expr.out, unary(expr.op, arg, expr.out.dtype()))

    def _binary(self, expr: _core.BinaryOp) -> None:
        lhs, rhs = self._operands(expr.lhs, expr.rhs)
        self._store(expr.out, binary(expr.op, lhs, rhs, expr.out.dtype()))

    def _ternary(self, expr: _core.TernaryOp) -> None:
        operands = self._operands(expr.in1, expr.in2, expr.in3)
        self._store(expr.out, ternary(expr.op, *operands))

    def _load_store(self, expr: _core.LoadStoreOp) -> None:
        value = self[expr.arg]
        if isinstance(expr.out, TensorView):
            value = self._root_to_logical(expr.out, value, fill=0)
        self._store(expr.out, value)

    def _broadcast(self, expr: _core.BroadcastOp) -> None:
        value = self[expr.arg]
        for dim, is_new in enumerate(expr.flags):
            if is_new:
                value = value.unsqueeze(dim)
        self._store(expr.out, value)

    def _squeeze(self, expr: _core.SqueezeOp) -> None:
        # An expanded dimension has equal elements: any one of them stands for all.
        index = tuple(0 if removed else slice(None) for removed in expr.flags)
        self._store(expr.out, self[expr.arg][index])

    def _expand(self, expr: _core.ExpandOp) -> None:
        self._store(expr.out, self[expr.arg].expand(self.shape(expr.out)))

    def _reshape(self, expr: _core.ReshapeOp) -> None:
        self._store(expr.out, self[expr.arg].reshape(self.shape(expr.out)))

    def _full(self, expr: _core.FullOp) -> None:
        shape = [int(self.scalar(extent)) for extent in expr.shape]
        value = self._torch.full(
            shape,
            self.scalar(expr.fill_value),
            dtype=self._torch_dtype(expr.out.dtype()),
            device=self._device,
        )
        self._store(expr.out, value)

    def _iota(self, expr: _core.IotaOp) -> None:
        length = int(self.scalar(expr.length))
        # Computed as start + i * step in 64 bits, not as a range with an end.
        is_float = expr.out.dtype() in _FLOATS
        positions = self._torch.arange(
            length,
            dtype=self._torch.float64 if is_float else self._torch.int64,
            device=self._device,
        )
        self._store(expr.out, positions * self.scalar(expr.step) + self.scalar(expr.start))

    # -- reductions --

    def _reduction(self, expr: _core.ReductionOp) -> None:
        out = cast(TensorView, expr.out)
        value = self._root_to_logical(
            out, self[expr.arg], fill=self.scalar(expr.init), keep_reductions=True
        )
        dims = self._reduced_dims(out)
        self._store(expr.out, self._reduce(expr.op, value, dims, self.scalar(expr.init)))

    @staticmethod
    def _reduced_dims(out: TensorView) -> list[int]:
        return [i for i, axis in enumerate(out.logical()) if axis.is_reduction()]

    def _reduce(
        self, op: BinaryOpType, value: torch.Tensor, dims: list[int], init: Scalar
    ) -> torch.Tensor:
        torch = self._torch
        if not dims:
            return value
        kept = [d for d in range(value.ndim) if d not in dims]
        # [kept.., reduced]: one axis, whatever the combiner offers.
        shape = [value.shape[d] for d in kept]
        count = math.prod(value.shape[d] for d in dims)
        flat = value.permute(kept + dims).reshape([*shape, count])
        if count == 0:
            return torch.full(shape, init, dtype=flat.dtype, device=flat.device)
        is_bool = flat.dtype == torch.bool
        if op == BinaryOpType.Add:
            return flat.any(-1) if is_bool else flat.sum(-1, dtype=flat.dtype)
        if op == BinaryOpType.Mul:
            return flat.all(-1) if is_bool else flat.prod(-1, dtype=flat.dtype)
        if op in (BinaryOpType.Max, BinaryOpType.LogicalOr):
            return flat.any(-1) if is_bool else flat.amax(-1)
        if op in (BinaryOpType.Min, BinaryOpType.LogicalAnd):
            return flat.all(-1) if is_bool else flat.amin(-1)
        if op == BinaryOpType.FMax:
            return torch.nan_to_num(flat, nan=-math.inf).amax(-1)
        if op == BinaryOpType.FMin:
            return torch.nan_to_num(flat, nan=math.inf).amin(-1)
        raise NotImplementedError(f"the evaluator does not reduce with {op}")

    def _welford(self, expr: _core.WelfordOp) -> None:
        out = cast(TensorView, expr.out_avg)
        mean = self._root_to_logical(out, self[expr.in_avg], fill=0, keep_reductions=True)
        like = self[expr.in_avg]

        def partial(val: Val) -> torch.Tensor:
            value = self[val]
            if not isinstance(value, self._torch.Tensor):
                value = self._torch.full_like(like, value)
            value = value.to(mean.dtype)
            return self._root_to_logical(out, value, fill=0, keep_reductions=True)

        # Elements beyond the end of a split count nothing.
        deviation, count = partial(expr.in_var), partial(expr.in_n)
        dims = self._reduced_dims(out)
        if dims:
            total = count.sum(dims, keepdim=True)
            divisor = total.clamp(min=1)
            total_mean = (count * mean).sum(dims, keepdim=True) / divisor
            total_deviation = (deviation + count * (mean - total_mean) ** 2).sum(dims)
            mean, count = total_mean.squeeze(dims), total.squeeze(dims)
            deviation = total_deviation
        self._store(expr.out_avg, mean)
        self._store(expr.out_var, deviation)
        self._store(expr.out_n, count)

    # -- domains --

    def _extent(self, axis: _core.IterDomain) -> int:
        return int(self.scalar(axis.maybe_expanded_extent()))

    def _root_to_logical(
        self,
        out: TensorView,
        value: torch.Tensor,
        fill: Scalar,
        keep_reductions: bool = False,
    ) -> torch.Tensor:
        """Take a value of the producer's shape through the transforms of `out`.

        What lies beyond the end of a split or a resize is `fill`. With `keep_reductions` the result
        has an axis for every axis of the logical domain, otherwise the reductions are left out.
        """
        root, logical = out.maybe_root(), out.logical()
        if not keep_reductions:
            root = _core.TensorDomain.no_reductions(root)
            logical = _core.TensorDomain.no_reductions(logical)
        axes = list(root)
        for expr in _core.exprs_between(root, logical):
            value, axes = self._apply(expr, value, axes, fill)
        order = [axes.index(axis) for axis in logical]
        return value.permute(order) if order != list(range(len(order))) else value

    def _apply(
        self,
        expr: _core.Expr,
        value: torch.Tensor,
        axes: list[_core.IterDomain],
        fill: Scalar,
    ) -> tuple[torch.Tensor, list[_core.IterDomain]]:
        """One transform of axes, on the value."""
        if isinstance(expr, _core.Split):
            at = axes.index(cast(_core.IterDomain, expr.input(0)))
            outer, inner = expr.outer(), expr.inner()
            sizes = [self._extent(outer), self._extent(inner)]
            value = self._pad(value, at, 0, math.prod(sizes) - value.shape[at], fill)
            value = value.reshape([*value.shape[:at], *sizes, *value.shape[at + 1 :]])
            return value, [*axes[:at], outer, inner, *axes[at + 1 :]]
        if isinstance(expr, _core.Merge):
            outer_at, inner_at = axes.index(expr.outer()), axes.index(expr.inner())
            order = [i for i in range(len(axes)) if i != inner_at]
            at = order.index(outer_at)
            order.insert(at + 1, inner_at)
            value = value.permute(order)
            size = value.shape[at] * value.shape[at + 1]
            value = value.reshape([*value.shape[:at], size, *value.shape[at + 2 :]])
            axes = [axes[i] for i in order]
            return value, [*axes[:at], expr.out, *axes[at + 2 :]]
        if isinstance(expr, _core.Resize):
            at = axes.index(cast(_core.IterDomain, expr.input(0)))
            left, right = int(self.scalar(expr.left)), int(self.scalar(expr.right))
            value = self._pad(value, at, left, right, fill)
            return value, [*axes[:at], expr.out, *axes[at + 1 :]]
        raise NotImplementedError(f"the evaluator does not know this transform: {expr}")

    def _pad(
        self, value: torch.Tensor, dim: int, left: int, right: int, fill: Scalar
    ) -> torch.Tensor:
        """Grow (or crop, where negative) one dimension at both ends."""
        if left == 0 and right == 0:
            return value
        value = value.narrow(dim, max(-left, 0), value.shape[dim] - max(-left, 0) - max(-right, 0))

        def block(size: int) -> torch.Tensor:
            shape = list(value.shape)
            shape[dim] = size
            return self._torch.full(shape, fill, dtype=value.dtype, device=value.device)

        parts = [block(max(left, 0)), value, block(max(right, 0))]
        return self._torch.cat(parts, dim)


_HANDLERS: dict[type, Callable[[Evaluator, Any], None]] = {
    _core.UnaryOp: Evaluator._unary,
    _core.BinaryOp: Evaluator._binary,
    _core.TernaryOp: Evaluator._ternary,
    _core.LoadStoreOp: Evaluator._load_store,
    _core.BroadcastOp: Evaluator._broadcast,
    _core.SqueezeOp: Evaluator._squeeze,
    _core.ExpandOp: Evaluator._expand,
    _core.ReshapeOp: Evaluator._reshape,
    _core.FullOp: Evaluator._full,
    _core.IotaOp: Evaluator._iota,
    _core.ReductionOp: Evaluator._reduction,
    _core.WelfordOp: Evaluator._welford,
}


def flatten_inputs(inputs: Iterable[Any]) -> list[Any]:
    """`inputs` with one level of lists and tuples opened: how vectors of scalars are passed."""
    flat: list[Any] = []
    for item in inputs:
        if isinstance(item, list | tuple):
            flat.extend(item)
        else:
            flat.append(item)
    return flat


def evaluate(
    fusion: _core.Fusion,
    inputs: Iterable[Any],
    dtype_override: torch.dtype | None = None,
) -> list[torch.Tensor]:
    """Evaluate a fusion with PyTorch; inputs are only read.

    Parameters
    ----------
    fusion : Fusion
        What to evaluate; scheduled or not.
    inputs : iterable
        Tensors and Python numbers, in the order of ``fusion.inputs()``.
    dtype_override : torch.dtype, optional
        Compute all floating point in this type; for references use ``torch.float64``.

    Returns
    -------
    list[torch.Tensor]
        The visible outputs.
    """
    evaluator = Evaluator(fusion, flatten_inputs(inputs), dtype_override)
    hidden = [(fusion.alias_of(val) or (None, False))[1] for val in fusion.outputs()]
    return [v for v, is_hidden in zip(evaluator.outputs(), hidden, strict=True) if not is_hidden]
