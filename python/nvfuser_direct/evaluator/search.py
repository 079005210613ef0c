"""Elements that depend on all elements along one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .. import _core
from .._core import BinaryOpType
from .._torch_ops import binary
from .core import Evaluator, handles

if TYPE_CHECKING:
    from .._core import DataType

# PyTorch adds and multiplies 16-bit floats in a wider type; here every step is rounded.
_ROUNDED_BY_STEP = (torch.float16, torch.bfloat16)


@handles(_core.ScanOp)
def scan(ev: Evaluator, expr: _core.ScanOp) -> None:
    value, dim = ev[expr.arg], expr.dim
    size = value.shape[dim]
    if size > 0:
        # [init, arg[0], ..]: the running values after the first one are the results.
        init = torch.full_like(value.narrow(dim, 0, 1), ev.scalar(expr.init))
        running = _running(expr.op, torch.cat([init, value], dim), dim, expr.out.dtype())
        value = running.narrow(dim, 1, size)
    ev.store(expr.out, value)


def _running(op: BinaryOpType, value: torch.Tensor, dim: int, dtype: DataType) -> torch.Tensor:
    is_sum_or_product = op in (BinaryOpType.Add, BinaryOpType.Mul)
    if value.dtype == torch.bool or (is_sum_or_product and value.dtype in _ROUNDED_BY_STEP):
        return _by_step(op, value, dim, dtype)
    if op == BinaryOpType.Add:
        return torch.cumsum(value, dim, dtype=value.dtype)
    if op == BinaryOpType.Mul:
        return torch.cumprod(value, dim, dtype=value.dtype)
    if op == BinaryOpType.Max:
        return torch.cummax(value, dim).values
    if op == BinaryOpType.Min:
        return torch.cummin(value, dim).values
    return _by_step(op, value, dim, dtype)


def _by_step(op: BinaryOpType, value: torch.Tensor, dim: int, dtype: DataType) -> torch.Tensor:
    running = list(value.unbind(dim))
    for i in range(1, len(running)):
        running[i] = binary(op, running[i - 1], running[i], dtype).to(value.dtype)
    return torch.stack(running, dim)


@handles(_core.TopKOp)
def topk(ev: Evaluator, expr: _core.TopKOp) -> None:
    arg = ev[expr.arg]
    ordered = arg.to(torch.uint8) if arg.dtype == torch.bool else arg
    values, indices = torch.topk(
        ordered, int(ev.scalar(expr.k)), expr.dim, expr.largest, expr.sorted
    )
    ev.store(expr.values, values)
    ev.store(expr.indices, indices)


@handles(_core.ArgsortOp)
def argsort(ev: Evaluator, expr: _core.ArgsortOp) -> None:
    indices = torch.argsort(
        ev[expr.arg], dim=expr.dim, descending=expr.descending, stable=expr.stable
    )
    ev.store(expr.out, indices)
