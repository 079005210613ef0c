"""Values on their way through the transforms of axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import torch

from .. import _core
from .._torch_ops import filled
from .bits import bits_of

if TYPE_CHECKING:
    from .._core import TensorView
    from .._torch_ops import Scalar
    from .core import Evaluator


def extent_of(ev: Evaluator, axis: _core.IterDomain) -> int:
    return int(ev.scalar(axis.maybe_expanded_extent()))


def root_to_logical(
    ev: Evaluator,
    out: TensorView,
    value: torch.Tensor,
    fill: Scalar,
    keep_reductions: bool = False,
) -> torch.Tensor:
    """Take a value of the producer's shape through the transforms of `out`.

    Elements beyond the end of a split or a resize are `fill`. With `keep_reductions` the result
    has an axis for every axis of the logical domain, otherwise the reductions are left out.
    """
    root, logical = out.maybe_root(), out.logical()
    if not keep_reductions:
        root = _core.TensorDomain.no_reductions(root)
        logical = _core.TensorDomain.no_reductions(logical)
    axes = list(root)
    for expr in _core.exprs_between(root, logical):
        value, axes = _apply(ev, expr, value, axes, fill)
    order = [axes.index(axis) for axis in logical]
    return value.permute(order) if order != list(range(len(order))) else value


def _apply(
    ev: Evaluator,
    expr: _core.Expr,
    value: torch.Tensor,
    axes: list[_core.IterDomain],
    fill: Scalar,
) -> tuple[torch.Tensor, list[_core.IterDomain]]:
    """One transform of axes, on the value."""
    if isinstance(expr, _core.Split):
        at = axes.index(cast(_core.IterDomain, expr.input(0)))
        outer, inner = expr.outer(), expr.inner()
        sizes = [extent_of(ev, outer), extent_of(ev, inner)]
        value = pad(value, at, 0, math.prod(sizes) - value.shape[at], fill)
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
        left, right = int(ev.scalar(expr.left)), int(ev.scalar(expr.right))
        value = pad(value, at, left, right, fill)
        return value, [*axes[:at], expr.out, *axes[at + 1 :]]
    raise NotImplementedError(f"the evaluator does not know this transform: {expr}")


def pad(value: torch.Tensor, dim: int, left: int, right: int, fill: Scalar) -> torch.Tensor:
    """Grow (or crop, where negative) one dimension at both ends."""
    if left == 0 and right == 0:
        return value
    value = value.narrow(dim, max(-left, 0), value.shape[dim] - max(-left, 0) - max(-right, 0))

    def block(size: int) -> torch.Tensor:
        shape = list(value.shape)
        shape[dim] = size
        return filled(shape, fill, value.dtype, value.device)

    parts = [block(max(left, 0)), value, block(max(right, 0))]
    return torch.cat([bits_of(part) for part in parts], dim).view(value.dtype)
