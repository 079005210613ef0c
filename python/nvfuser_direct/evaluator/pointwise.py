"""One element of the result from one element of each operand."""

from __future__ import annotations

from .. import _core
from .._core import TensorView
from .._torch_ops import binary, ternary, unary
from .core import Evaluator, handles
from .domains import root_to_logical


@handles(_core.UnaryOp)
def unary_op(ev: Evaluator, expr: _core.UnaryOp) -> None:
    (arg,) = ev.operands(expr.arg)
    ev.store(expr.out, unary(expr.op, arg, expr.out.dtype()))


@handles(_core.BinaryOp)
def binary_op(ev: Evaluator, expr: _core.BinaryOp) -> None:
    lhs, rhs = ev.operands(expr.lhs, expr.rhs)
    ev.store(expr.out, binary(expr.op, lhs, rhs, expr.out.dtype()))


@handles(_core.TernaryOp)
def ternary_op(ev: Evaluator, expr: _core.TernaryOp) -> None:
    operands = ev.operands(expr.in1, expr.in2, expr.in3)
    ev.store(expr.out, ternary(expr.op, *operands))


@handles(_core.LoadStoreOp)
def load_store(ev: Evaluator, expr: _core.LoadStoreOp) -> None:
    assert isinstance(expr.out, TensorView)
    ev.store(expr.out, root_to_logical(ev, expr.out, ev[expr.arg], fill=0))


@handles(_core.WaitForPriorGridOp)
def wait_for_prior_grid(ev: Evaluator, expr: _core.WaitForPriorGridOp) -> None:
    ev.store(expr.out, ev[expr.ins[0]].clone())


@handles(_core.LaunchDependentGridOp)
def launch_dependent_grid(ev: Evaluator, expr: _core.LaunchDependentGridOp) -> None:
    ev.store(expr.out, ev[expr.ins[0]].clone())
