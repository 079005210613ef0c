"""Errors of PyTorch while a fusion is evaluated, as errors about the expression."""

from __future__ import annotations

from pathlib import Path

from .. import _core

# Each of ours is also what was raised; anything else that is a RuntimeError becomes a UserError.
_COUNTERPARTS = {
    NotImplementedError: _core.UserNotImplementedError,
    IndexError: _core.UserIndexError,
    ValueError: _core.UserValueError,
    TypeError: _core.UserTypeError,
    KeyError: _core.UserNotImplementedError,  # a DataType that PyTorch has not
}


class Naming:
    """Context: errors of PyTorch and Python inside become errors that name an expression.

    The project's own errors stay as they are, and so does running out of memory.
    """

    def __init__(self, expr: _core.Expr) -> None:
        self._expr = expr

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if not isinstance(error, Exception) or _says_what_is_wrong(error):
            return
        kinds = (ours for theirs, ours in _COUNTERPARTS.items() if isinstance(error, theirs))
        raise next(kinds, _core.UserError)(_report(self._expr, error)) from error


def _says_what_is_wrong(error: Exception) -> bool:
    import torch

    if isinstance(error, (_core.UserError, _core.InternalError, torch.OutOfMemoryError)):
        return True
    return not isinstance(error, (RuntimeError, ArithmeticError, *_COUNTERPARTS))


def _report(expr: _core.Expr, error: Exception) -> str:
    place = expr.location()
    made_at = f", made at {Path(place[0]).name}:{place[1]}" if place else ""
    text = " ".join(str(expr).split()).rstrip(";")
    dtypes = ", ".join(str(val.dtype()) for val in expr.inputs())
    reason = str(error).split("\n", maxsplit=1)[0]
    return (
        "Cannot evaluate this expression through PyTorch\n"
        f"  node:     {text}{made_at}\n"
        f"  expected: an operation that PyTorch has for these operands: {dtypes}\n"
        f"  found:    {type(error).__name__}: {reason}\n"
        "  fix:      pass inputs that fit, cast the operands to another dtype, or execute the "
        "fusion if it has a kernel"
    )
