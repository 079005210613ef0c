"""Plans hold what all evaluations of one fusion have in common: it is found once for many runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .. import _core
from .._core import DataType, TensorView, Val

if TYPE_CHECKING:
    from collections.abc import Sequence


class Layout(NamedTuple):
    """How a tensor lies in memory, packed."""

    order: list[int]  # positions of its axes, from the outermost one to the innermost one
    expanded: set[int]  # positions of axes that are one element

    def strides(self, shape: Sequence[int]) -> list[int]:
        """Those of a tensor of a shape; expanded axes have stride 0."""
        strides = [0] * len(shape)
        step = 1
        for at in reversed(self.order):
            if at not in self.expanded:
                strides[at] = step
                step *= max(shape[at], 1)
        return strides


def layout_of(output: TensorView) -> Layout | None:
    """That of the allocation domain; None for tiles and pairs, which code lays out itself."""
    axes = _core.TensorDomain.no_reductions(output.logical())
    allocated = _core.TensorDomain.no_reductions(output.maybe_allocation())
    if set(allocated) != set(axes) or output.dtype() == DataType.Float4_e2m1fn:
        return None
    expanded = {at for at, axis in enumerate(axes) if axis.has_expanded_extent()}
    return Layout([axes.index(axis) for axis in allocated], expanded)


class EvaluationPlan:
    """The facts of a fusion that its evaluations need; made before the fusion changes again.

    Parameters
    ----------
    fusion : Fusion
        The fusion that is evaluated.
    """

    def __init__(self, fusion: _core.Fusion) -> None:
        self.fusion = fusion
        self.inputs: list[Val] = fusion.inputs()
        self.outputs = fusion.outputs()
        self.exprs = fusion.exprs()
        self.last_reads = _last_reads(self.exprs, self.outputs)
        self.bound_sizes = [
            _bound_sizes(val) if isinstance(val, TensorView) else [] for val in self.inputs
        ]
        """By input: for each dimension the symbol that gets its size, or None."""
        self.input_positions = {val: i for i, val in enumerate(self.inputs)}
        self.layouts = [layout_of(output) for output in self.outputs]


def _bound_sizes(tensor: TensorView) -> list[Val | None]:
    extents = [
        axis.maybe_expanded_extent() for axis in _core.TensorDomain.no_reductions(tensor.logical())
    ]
    return [
        extent if extent.is_symbolic() and extent.definition() is None else None
        for extent in extents
    ]


def _last_reads(
    exprs: Sequence[_core.Expr], outputs: Sequence[TensorView]
) -> dict[int, list[TensorView]]:
    """By position of an expression: the tensors that nothing behind it reads."""
    last: dict[TensorView, int] = {}
    for i, expr in enumerate(exprs):
        for val in (*expr.inputs(), *expr.outputs()):
            if isinstance(val, TensorView):
                last[val] = i
    for output in outputs:
        last.pop(output, None)
    ends: dict[int, list[TensorView]] = {}
    for tensor, i in last.items():
        ends.setdefault(i, []).append(tensor)
    return ends
