"""Fewer elements than were read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import torch

from .. import _core
from .._core import BinaryOpType, TensorView, Val
from .core import Evaluator, handles
from .domains import root_to_logical

if TYPE_CHECKING:
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
        return _without_nan(flat, -math.inf).amax(-1)
    if op == BinaryOpType.FMin:
        return _without_nan(flat, math.inf).amin(-1)
    raise NotImplementedError(f"the evaluator does not reduce with {op}")


def _without_nan(values: torch.Tensor, replacement: float) -> torch.Tensor:
    import torch

    return torch.nan_to_num(values, nan=replacement, posinf=math.inf, neginf=-math.inf)


@handles(_core.WelfordOp)
def welford(ev: Evaluator, expr: _core.WelfordOp) -> None:
    out = cast(TensorView, expr.out_avg)
    mean = root_to_logical(ev, out, ev[expr.in_avg], fill=0, keep_reductions=True)
    like = ev[expr.in_avg]

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
