"""Errors of PyTorch while a fusion is evaluated, as errors about the expression."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

# Each of ours is also what was raised; anything else that is a RuntimeError becomes a UserError.
_COUNTERPARTS = {
    NotImplementedError: _core.UserNotImplementedError,
    IndexError: _core.UserIndexError,
    ValueError: _core.UserValueError,
    TypeError: _core.UserTypeError,
    KeyError: _core.UserNotImplementedError,  # a DataType that PyTorch has not
}


@contextmanager
def naming(expr: _core.Expr) -> Iterator[None]:
    """Errors of PyTorch and Python inside become errors that name `expr`.

    The project's own errors stay as they are, and so does running out of memory.
    """
    import torch

    try:
        yield
    except (_core.UserError, _core.InternalError, torch.OutOfMemoryError):
        raise
    except (RuntimeError, ArithmeticError, *_COUNTERPARTS) as error:
        kinds = (ours for theirs, ours in _COUNTERPARTS.items() if isinstance(error, theirs))
        raise next(kinds, _core.UserError)(_report(expr, error)) from error


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
