"""Elements at positions that a tensor holds."""

from __future__ import annotations

import torch

from .. import _core
from .._core import BinaryOpType
from .._torch_ops import converted, filled, widened
from .._torch_unsigned import flipped
from .bits import bits_of
from .core import Evaluator, handles

_REDUCE = {
    BinaryOpType.Add: "sum",
    BinaryOpType.Mul: "prod",
    BinaryOpType.Max: "amax",
    BinaryOpType.Min: "amin",
}


@handles(_core.SelectOp)
def select(ev: Evaluator, expr: _core.SelectOp) -> None:
    arg, index = ev.operands(expr.arg, expr.index)
    ev.store(expr.out, _selected(ev, arg, index, expr.dim).squeeze(expr.dim))


@handles(_core.IndexSelectOp)
def index_select(ev: Evaluator, expr: _core.IndexSelectOp) -> None:
    arg, index = ev.operands(expr.arg, expr.index)
    ev.store(expr.out, _selected(ev, arg, index, expr.dim))


def _selected(
    ev: Evaluator, arg: torch.Tensor, index: torch.Tensor | int, dim: int
) -> torch.Tensor:
    """The elements at positions of one dimension; the other dimensions of `index` have size 1."""
    positions = torch.as_tensor(index, device=ev.device).reshape(-1).long()
    return bits_of(arg).index_select(dim, positions).view(arg.dtype)


@handles(_core.GatherOp)
def gather(ev: Evaluator, expr: _core.GatherOp) -> None:
    arg, index = ev.operands(expr.arg, expr.index)
    if expr.exact_sizes:
        sizes = ev.shape(expr.out)
        arg = arg.expand(_with(sizes, expr.dim, arg.shape[expr.dim]))
        index = index.expand(sizes)
    ev.store(expr.out, bits_of(arg).gather(expr.dim, index.long()).view(arg.dtype))


def _with(sizes: list[int], dim: int, size: int) -> list[int]:
    return [*sizes[:dim], size, *sizes[dim + 1 :]]


@handles(_core.ScatterOp)
def scatter(ev: Evaluator, expr: _core.ScatterOp) -> None:
    arg, index, src = ev.operands(expr.arg, expr.index, expr.src)
    index = index.long()
    if isinstance(src, torch.Tensor):
        src = converted(src, arg.dtype)
    else:
        src = filled(index.shape, src, arg.dtype, arg.device)
    if expr.accumulate:
        value = _accumulated(expr, arg, index, src)
    else:
        value = bits_of(arg).scatter(expr.dim, index, bits_of(src)).view(arg.dtype)
    ev.store(expr.out, value)


def _accumulated(
    expr: _core.ScatterOp, arg: torch.Tensor, index: torch.Tensor, src: torch.Tensor
) -> torch.Tensor:
    reduce = _REDUCE.get(expr.accumulate_op)
    if reduce is None:
        raise NotImplementedError(f"the evaluator does not combine with {expr.accumulate_op}")
    if arg.dtype == torch.uint64:
        held = flipped if reduce in ("amax", "amin") else bits_of
        combined = held(bits_of(arg)).scatter_reduce(expr.dim, index, held(bits_of(src)), reduce)
        return held(combined).view(arg.dtype)
    return widened(arg).scatter_reduce(expr.dim, index, widened(src), reduce)


@handles(_core.IndexPutAccumulateOp)
def index_put_accumulate(ev: Evaluator, expr: _core.IndexPutAccumulateOp) -> None:
    arg, index, value = ev.operands(expr.arg, expr.index, expr.value)
    addend = converted(value, arg.dtype)
    if arg.dtype == torch.uint64:  # sums have the same bits, signed or not
        arg, addend = bits_of(arg), bits_of(addend)
    at = (index.reshape(-1).long(),)
    ev.store(expr.out, widened(arg).index_put(at, widened(addend), accumulate=True))


@handles(_core.EmbeddingFwdOp)
def embedding(ev: Evaluator, expr: _core.EmbeddingFwdOp) -> None:
    arg, weight = ev.operands(expr.arg, expr.weight)
    max_norm = None if expr.max_norm is None else float(ev.scalar(expr.max_norm))
    value = torch.nn.functional.embedding(
        arg.long(),
        weight if max_norm is None else weight.clone(),  # rows are scaled in place
        None if expr.padding_idx is None else int(ev.scalar(expr.padding_idx)),
        max_norm,
        float(ev.scalar(expr.norm_type)),
        bool(ev.scalar(expr.scale_grad_by_freq)),
        bool(ev.scalar(expr.sparse)),
    )
    ev.store(expr.out, value)
