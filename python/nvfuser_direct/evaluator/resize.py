"""Parts of tensors, borders around them, and tensors behind each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from .. import _core
from .._torch_ops import filled
from .core import Evaluator, handles

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch


def _check_extents(expr: _core.Expr, extents: Sequence[int]) -> None:
    if any(extent < 0 for extent in extents):
        raise _core.UserError(f"A size is negative: {list(extents)} of {expr}")


@handles(_core.SliceOp)
def slice_(ev: Evaluator, expr: _core.SliceOp) -> None:
    arg: torch.Tensor = ev[expr.arg]
    starts, stops = ([int(ev.scalar(val)) for val in vals] for vals in (expr.starts, expr.stops))
    for dim, (start, stop, size) in enumerate(zip(starts, stops, arg.shape, strict=True)):
        if start < 0 or size < stop > start:
            raise _core.UserError(
                f"A slice takes positions of dimension {dim} of {expr.arg} that it does not have: "
                f"{start} to {stop} of {size}"
            )
    ev.store(expr.out, arg[tuple(map(slice, starts, stops))])


@handles(_core.PadOp)
def pad(ev: Evaluator, expr: _core.PadOp) -> None:
    arg: torch.Tensor = ev[expr.arg]
    widths = [int(ev.scalar(width)) for width in expr.widths]
    pairs = list(zip(widths[::2], widths[1::2], strict=True))
    extents = [size + left + right for size, (left, right) in zip(arg.shape, pairs, strict=True)]
    _check_extents(expr, extents)
    out = filled(extents, ev.scalar(expr.value), arg.dtype, arg.device)
    # The part of the operand that is left, as positions of the operand and of the result.
    spans = [
        (max(0, -left), min(size, extent - left))
        for size, extent, (left, _) in zip(arg.shape, extents, pairs, strict=True)
    ]
    if all(start < stop for start, stop in spans):
        source = tuple(slice(start, stop) for start, stop in spans)
        target = tuple(
            slice(start + left, stop + left)
            for (start, stop), (left, _) in zip(spans, pairs, strict=True)
        )
        out[target] = arg[source]
    ev.store(expr.out, out)


def _begin_of(ev: Evaluator, padded: _core.Val, dim: int) -> int:
    """First position of an operand of a cat; schedules may copy it after the pad."""
    definition = padded.definition()
    while isinstance(definition, _core.LoadStoreOp):
        definition = definition.arg.definition()
    return int(ev.scalar(cast(_core.PadOp, definition).widths[2 * dim]))


@handles(_core.CatOp)
def cat(ev: Evaluator, expr: _core.CatOp) -> None:
    # Each operand is padded to the extent of the result: only its own range counts.
    out = ev[expr.args[0]].clone()
    for arg in expr.args[1:]:
        begin = _begin_of(ev, arg, expr.dim)
        length = out.shape[expr.dim] - begin
        out.narrow(expr.dim, begin, length).copy_(ev[arg].narrow(expr.dim, begin, length))
    ev.store(expr.out, out)


@handles(_core.RepeatOp)
def repeat(ev: Evaluator, expr: _core.RepeatOp) -> None:
    ev.store(expr.out, ev[expr.arg].repeat(expr.repeats))


@handles(_core.ViewAsScalar)
def view_as_scalar(ev: Evaluator, expr: _core.ViewAsScalar) -> None:
    import torch

    ev.store(expr.out, torch.view_as_real(ev[expr.arg].resolve_conj()))
