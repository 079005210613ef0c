"""Fusions that one function of PyTorch computes, called on the tensors of a run as they are.

A call takes what is usual: tensors of PyTorch of the operands' dtypes, no autocast. The evaluator
computes all else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch

from .. import _core
from .._core import DataType, TensorView
from .._torch_ops import converted
from ..pytorch_utils import nvfuser_dtype_to_torch_dtype
from .errors import Naming
from .stored import in_layout_of, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .._core import Val
    from .plan import EvaluationPlan, Layout


_MATMUL: Callable[..., torch.Tensor] = torch.matmul
_LINEAR: Callable[..., torch.Tensor] = torch.nn.functional.linear
_PLAIN = (torch.Tensor, torch.nn.Parameter)  # classes that do not decide what functions do


class DirectCall:
    """The only expression of a fusion, as a function that makes a new tensor of tensors."""

    def __init__(
        self,
        expr: _core.Expr,
        function: Callable[..., torch.Tensor],
        operands: list[tuple[int, torch.dtype]],
        dtype: torch.dtype,
        layout: Layout,
    ) -> None:
        self._expr = expr
        self._function = function
        self._operands = operands  # position among the inputs, and dtype
        self._dtype = dtype
        self._layout = layout
        self._last: tuple[torch.Size, tuple[int, ...]] = (torch.Size(), ())
        """Sizes of a result, and the strides that it has then; they seldom change."""

    def try_on(self, inputs: list[Any]) -> torch.Tensor | None:
        """The result; None where the evaluator has to compute it."""
        is_recorded = False
        args = []
        for position, dtype in self._operands:
            arg = inputs[position]
            if type(arg) not in _PLAIN or arg.dtype is not dtype:
                return None
            is_recorded = is_recorded or arg.requires_grad
            args.append(arg)
        if torch.is_autocast_enabled(args[0].device.type):
            return None
        with Naming(self._expr):
            if is_recorded:
                with torch.no_grad():
                    result = self._function(*args)
            else:
                result = self._function(*args)
            if result.dtype is not self._dtype or not self._has_layout(result):
                result = in_layout_of(self._layout, converted(result, self._dtype))
        return plain(result)

    def _has_layout(self, result: torch.Tensor) -> bool:
        shape, strides = self._last
        if result.shape != shape:
            shape, strides = result.shape, tuple(self._layout.strides(result.shape))
            self._last = (shape, strides)
        return bool(result.stride() == strides)


def find_direct_call(plan: EvaluationPlan) -> DirectCall | None:
    """How a fusion is computed by one call, if it is.

    Parameters
    ----------
    plan : EvaluationPlan
        The plan of the fusion that is evaluated.
    """
    if len(plan.exprs) != 1 or len(plan.outputs) != 1:
        return None
    (expr,), (output,), (layout,) = plan.exprs, plan.outputs, plan.layouts
    function = _function_of(expr)
    is_all = output == expr.output(0) and plan.fusion.alias_of(output) is None
    if function is None or layout is None or not is_all:
        return None
    if any(val.dtype() == DataType.Float4_e2m1fn for val in expr.inputs()):  # pairs, no numbers
        return None
    operands = [
        (plan.input_positions[val], nvfuser_dtype_to_torch_dtype(val.dtype()))
        for val in expr.inputs()
    ]
    dtype = nvfuser_dtype_to_torch_dtype(output.dtype())
    return DirectCall(expr, function, operands, dtype, layout)


def _function_of(expr: _core.Expr) -> Callable[..., torch.Tensor] | None:
    """A function of all operands that computes what the evaluator does, in new memory."""
    if isinstance(expr, _core.MatmulOp):
        return _MATMUL
    if isinstance(expr, _core.LinearOp):
        is_plain = _rank(expr.b) == 2 and (expr.bias is None or _rank(expr.bias) == 1)
        return _LINEAR if is_plain else None
    return None


def _rank(operand: Val) -> int:
    return len(_core.TensorDomain.no_reductions(cast(TensorView, operand).logical()))
