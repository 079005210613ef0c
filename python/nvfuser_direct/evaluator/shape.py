"""The same elements under another shape."""

from __future__ import annotations

from .. import _core
from .core import Evaluator, handles


@handles(_core.BroadcastOp)
def broadcast(ev: Evaluator, expr: _core.BroadcastOp) -> None:
    value = ev[expr.arg]
    for dim, is_new in enumerate(expr.flags):
        if is_new:
            value = value.unsqueeze(dim)
    ev.store(expr.out, value)


@handles(_core.SqueezeOp)
def squeeze(ev: Evaluator, expr: _core.SqueezeOp) -> None:
    # An expanded dimension has equal elements: any one of them stands for all.
    value = ev[expr.arg]
    removed = [dim for dim, flag in enumerate(expr.flags) if flag]
    if any(value.shape[dim] == 0 for dim in removed):  # expanded to nothing: any element will do
        value = value.new_zeros([1 if d in removed else n for d, n in enumerate(value.shape)])
    index = tuple(0 if flag else slice(None) for flag in expr.flags)
    ev.store(expr.out, value[index])


@handles(_core.ExpandOp)
def expand(ev: Evaluator, expr: _core.ExpandOp) -> None:
    ev.store(expr.out, ev[expr.arg].expand(ev.shape(expr.out)))


@handles(_core.ReshapeOp)
def reshape(ev: Evaluator, expr: _core.ReshapeOp) -> None:
    ev.store(expr.out, ev[expr.arg].reshape(ev.shape(expr.out)))
