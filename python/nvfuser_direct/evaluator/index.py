"""Elements at positions that a tensor holds."""

from __future__ import annotations

import torch

from .. import _core
from .._core import BinaryOpType
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
    ev.store(expr.out, arg.index_select(expr.dim, _vector(ev, index)).squeeze(expr.dim))


@handles(_core.IndexSelectOp)
def index_select(ev: Evaluator, expr: _core.IndexSelectOp) -> None:
    arg, index = ev.operands(expr.arg, expr.index)
    ev.store(expr.out, arg.index_select(expr.dim, _vector(ev, index)))


def _vector(ev: Evaluator, index: torch.Tensor | int) -> torch.Tensor:
    """Positions in one dimension; the others have size 1."""
    return torch.as_tensor(index, device=ev.device).reshape(-1)


@handles(_core.GatherOp)
def gather(ev: Evaluator, expr: _core.GatherOp) -> None:
    arg, index = ev.operands(expr.arg, expr.index)
    if expr.exact_sizes:
        sizes = ev.shape(expr.out)
        arg = arg.expand(_with(sizes, expr.dim, arg.shape[expr.dim]))
        index = index.expand(sizes)
    ev.store(expr.out, arg.gather(expr.dim, index.long()))


def _with(sizes: list[int], dim: int, size: int) -> list[int]:
    return [*sizes[:dim], size, *sizes[dim + 1 :]]


@handles(_core.ScatterOp)
def scatter(ev: Evaluator, expr: _core.ScatterOp) -> None:
    arg, index, src = ev.operands(expr.arg, expr.index, expr.src)
    index = index.long()
    if isinstance(src, torch.Tensor):
        src = src.to(arg.dtype)
    else:
        src = torch.full(index.shape, src, dtype=arg.dtype, device=arg.device)
    if expr.accumulate:
        reduce = _REDUCE.get(expr.accumulate_op)
        if reduce is None:
            raise NotImplementedError(f"the evaluator does not combine with {expr.accumulate_op}")
        value = arg.scatter_reduce(expr.dim, index, src, reduce)
    else:
        value = arg.scatter(expr.dim, index, src)
    ev.store(expr.out, value)


@handles(_core.IndexPutAccumulateOp)
def index_put_accumulate(ev: Evaluator, expr: _core.IndexPutAccumulateOp) -> None:
    arg, index, value = ev.operands(expr.arg, expr.index, expr.value)
    ev.store(expr.out, arg.index_put((index.reshape(-1),), value.to(arg.dtype), accumulate=True))


@handles(_core.EmbeddingFwdOp)
def embedding(ev: Evaluator, expr: _core.EmbeddingFwdOp) -> None:
    arg, weight = ev.operands(expr.arg, expr.weight)
    max_norm = None if expr.max_norm is None else float(ev.scalar(expr.max_norm))
    value = torch.nn.functional.embedding(
        arg,
        weight if max_norm is None else weight.clone(),  # rows are scaled in place
        None if expr.padding_idx is None else int(ev.scalar(expr.padding_idx)),
        max_norm,
        float(ev.scalar(expr.norm_type)),
        bool(ev.scalar(expr.scale_grad_by_freq)),
        bool(ev.scalar(expr.sparse)),
    )
    ev.store(expr.out, value)
