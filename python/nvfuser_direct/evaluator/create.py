"""Elements from scalars."""

from __future__ import annotations

import torch

from .. import _core
from .._torch_ops import filled
from .core import FLOATS, Evaluator, handles


@handles(_core.FullOp)
def full(ev: Evaluator, expr: _core.FullOp) -> None:
    shape = [int(ev.scalar(extent)) for extent in expr.shape]
    dtype = ev.torch_dtype(expr.out.dtype())
    ev.store(expr.out, filled(shape, ev.scalar(expr.fill_value), dtype, ev.device))


@handles(_core.IotaOp)
def iota(ev: Evaluator, expr: _core.IotaOp) -> None:
    length = int(ev.scalar(expr.length))
    # Computed as start + i * step in 64 bits, not as a range with an end.
    dtype = torch.float64 if expr.out.dtype() in FLOATS else torch.int64
    start, step = (filled([], ev.scalar(x), dtype, ev.device) for x in (expr.start, expr.step))
    ev.store(expr.out, torch.arange(length, dtype=dtype, device=ev.device) * step + start)


@handles(_core.EyeOp)
def eye(ev: Evaluator, expr: _core.EyeOp) -> None:
    sizes = [int(ev.scalar(extent)) for extent in (expr.rows, expr.columns)]
    ev.store(expr.out, torch.eye(*sizes, device=ev.device))


@handles(_core.TensorConstruct)
def tensor(ev: Evaluator, expr: _core.TensorConstruct) -> None:
    elements = [ev.scalar(element) for element in expr.elements]
    dtype = ev.torch_dtype(expr.out.dtype())
    value = torch.tensor(elements, dtype=dtype, device=ev.device)
    ev.store(expr.out, value.reshape(ev.shape(expr.out)))
