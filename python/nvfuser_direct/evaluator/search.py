"""Elements that depend on all elements along one dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .. import _core
from .._core import BinaryOpType
from .._torch_ops import binary, converted, widened
from .bits import bits_of, ordered
from .core import Evaluator, handles

if TYPE_CHECKING:
    from .._core import DataType


@handles(_core.ScanOp)
def scan(ev: Evaluator, expr: _core.ScanOp) -> None:
    value, dim = ev[expr.arg], expr.dim
    size = value.shape[dim]
    if size > 0:
        if _is_sum_or_product(expr.op) and value.is_floating_point() and value.itemsize <= 2:
            value = value.float()  # each result is rounded once, when it is stored
        # [init, arg[0], ..]: the running values after the first one are the results.
        init = torch.full_like(value.narrow(dim, 0, 1), ev.scalar(expr.init))
        running = _running(expr.op, torch.cat([init, value], dim), dim, expr.out.dtype())
        value = running.narrow(dim, 1, size)
    ev.store(expr.out, value)


def _is_sum_or_product(op: BinaryOpType) -> bool:
    return op in (BinaryOpType.Add, BinaryOpType.Mul)


def _running(op: BinaryOpType, value: torch.Tensor, dim: int, dtype: DataType) -> torch.Tensor:
    # PyTorch adds and multiplies narrow integers in a wider type; here every step wraps around.
    is_wrapped = _is_sum_or_product(op) and value.itemsize <= 2
    if is_wrapped or value.dtype in (torch.bool, torch.uint64):
        return _by_step(op, value, dim, dtype)
    if op == BinaryOpType.Add:
        return torch.cumsum(value, dim, dtype=value.dtype)
    if op == BinaryOpType.Mul:
        return torch.cumprod(value, dim, dtype=value.dtype)
    if op == BinaryOpType.Max:
        return torch.cummax(widened(value), dim).values
    if op == BinaryOpType.Min:
        return torch.cummin(widened(value), dim).values
    return _by_step(op, value, dim, dtype)


def _by_step(op: BinaryOpType, value: torch.Tensor, dim: int, dtype: DataType) -> torch.Tensor:
    running = list(value.unbind(dim))
    for i in range(1, len(running)):
        running[i] = converted(binary(op, running[i - 1], running[i], dtype), value.dtype)
    return torch.stack(running, dim)


@handles(_core.TopKOp)
def topk(ev: Evaluator, expr: _core.TopKOp) -> None:
    arg = ev[expr.arg]
    k = int(ev.scalar(expr.k))
    indices = torch.topk(ordered(arg), k, expr.dim, expr.largest, expr.sorted).indices
    ev.store(expr.values, bits_of(arg).gather(expr.dim, indices).view(arg.dtype))
    ev.store(expr.indices, indices)


@handles(_core.ArgsortOp)
def argsort(ev: Evaluator, expr: _core.ArgsortOp) -> None:
    indices = torch.argsort(
        ordered(ev[expr.arg]), dim=expr.dim, descending=expr.descending, stable=expr.stable
    )
    ev.store(expr.out, indices)
