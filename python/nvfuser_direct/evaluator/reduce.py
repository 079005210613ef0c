"""Fewer elements than were read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import torch

from .. import _core
from .._core import BinaryOpType, TensorView, Val
from .._torch_ops import filled, widened
from .._torch_unsigned import flipped
from .core import Evaluator, handles
from .domains import root_to_logical

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._torch_ops import Scalar


@handles(_core.ReductionOp)
def reduction(ev: Evaluator, expr: _core.ReductionOp) -> None:
    _reduce_one(ev, expr.out, expr.arg, expr.op, expr.init)


@handles(_core.GroupedReductionOp)
def grouped_reduction(ev: Evaluator, expr: _core.GroupedReductionOp) -> None:
    for member in zip(expr.outs, expr.args, expr.ops, expr.inits, strict=True):
        _reduce_one(ev, *member)


def _reduce_one(ev: Evaluator, out: Val, arg: Val, op: BinaryOpType, init: Val) -> None:
    tensor = cast(TensorView, out)
    identity = ev.scalar(init)
    value = root_to_logical(ev, tensor, ev[arg], fill=identity, keep_reductions=True)
    ev.store(out, reduce(op, value, reduced_dims(tensor), identity))


def reduced_dims(out: TensorView) -> list[int]:
    """Logical positions of the reduction axes."""
    return [i for i, axis in enumerate(out.logical()) if axis.is_reduction()]


def reduce(op: BinaryOpType, value: torch.Tensor, dims: list[int], init: Scalar) -> torch.Tensor:
    """Combine the elements along `dims`; `init` is the value of none."""
    if not dims:
        return value
    kept = [d for d in range(value.ndim) if d not in dims]
    # [kept.., reduced]: one axis, whatever the combiner offers.
    shape = [value.shape[d] for d in kept]
    count = math.prod(value.shape[d] for d in dims)
    flat = value.permute(kept + dims).reshape([*shape, count])
    if count == 0:
        return filled(shape, init, flat.dtype, flat.device)
    return _combine(op, widened(flat))


def _combine(op: BinaryOpType, values: torch.Tensor) -> torch.Tensor:
    """All elements of the last dimension, of which there is one at least."""
    if values.dtype == torch.uint64:
        return _combine_unsigned(op, values)
    is_bool = values.dtype == torch.bool
    if op == BinaryOpType.Add:
        return values.any(-1) if is_bool else values.sum(-1, dtype=values.dtype)
    if op == BinaryOpType.Mul:
        return values.all(-1) if is_bool else values.prod(-1, dtype=values.dtype)
    if op in (BinaryOpType.Max, BinaryOpType.LogicalOr):
        return values.any(-1) if is_bool else values.amax(-1)
    if op in (BinaryOpType.Min, BinaryOpType.LogicalAnd):
        return values.all(-1) if is_bool else values.amin(-1)
    if op == BinaryOpType.FMax:
        return _ignoring_nan(torch.amax, values, -math.inf)
    if op == BinaryOpType.FMin:
        return _ignoring_nan(torch.amin, values, math.inf)
    raise NotImplementedError(f"the evaluator does not reduce with {op}")


def _combine_unsigned(op: BinaryOpType, values: torch.Tensor) -> torch.Tensor:
    bits = values.view(torch.int64)
    if op in (BinaryOpType.Add, BinaryOpType.Mul):  # the same bits, signed or not
        return _combine(op, bits).view(torch.uint64)
    return flipped(_combine(op, flipped(bits))).view(torch.uint64)


def _ignoring_nan(
    combine: Callable[..., torch.Tensor], values: torch.Tensor, worst: float
) -> torch.Tensor:
    """The largest or smallest number of the last dimension; NaN where there is no number."""
    if not values.is_floating_point():
        return combine(values, -1)
    is_nan = values.isnan()
    return combine(values.masked_fill(is_nan, worst), -1).masked_fill(is_nan.all(-1), math.nan)


@handles(_core.WelfordOp)
def welford(ev: Evaluator, expr: _core.WelfordOp) -> None:
    out = cast(TensorView, expr.out_avg)
    like = ev[expr.in_avg]
    if like.itemsize <= 2:
        like = like.float()
    mean = root_to_logical(ev, out, like, fill=0, keep_reductions=True)

    def partial(val: Val) -> torch.Tensor:
        value = ev[val]
        if not isinstance(value, torch.Tensor):
            value = torch.full_like(like, value)
        value = value.to(mean.dtype)
        return root_to_logical(ev, out, value, fill=0, keep_reductions=True)

    # Elements beyond the end of a split count nothing.
    deviation, count = partial(expr.in_var), partial(expr.in_n)
    dims = reduced_dims(out)
    if dims:
        total = count.sum(dims, keepdim=True)
        divisor = total.clamp(min=1)
        total_mean = (count * mean).sum(dims, keepdim=True) / divisor
        total_deviation = (deviation + count * (mean - total_mean) ** 2).sum(dims)
        mean, count = total_mean.squeeze(dims), total.squeeze(dims)
        deviation = total_deviation
    ev.store(expr.out_avg, mean)
    ev.store(expr.out_var, deviation)
    ev.store(expr.out_n, count)
