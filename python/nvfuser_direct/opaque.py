"""Code that torch.compile does not look into.

A compiled function that runs a fusion is split around the call (a *graph break*): the call happens
as it is written, and what stands before and after it is compiled. To trace into this package would
be wrong, since its work is done by an extension that PyTorch cannot see.

Functions carry the mark that ``torch.compiler.disable`` leaves, and their code is registered as to
be skipped together with all it calls; a wrapper around them would cost time at every call.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from types import CodeType

_T = TypeVar("_T")

_REASON = "fusions are run by nvfuser_direct, not traced"
_pending: list[CodeType] = []  # not yet registered with PyTorch


def opaque(target: _T) -> _T:
    """Decorator of functions and classes: torch.compile traces neither them nor what they call."""
    if not inspect.isclass(target):
        _mark(target)
    else:
        for member in vars(target).values():
            functions = (member.fget, member.fset) if isinstance(member, property) else (member,)
            for function in functions:
                if inspect.isfunction(function):
                    _mark(function)
    register()
    return target


def _mark(function: object) -> None:
    assert inspect.isfunction(function)
    function._torchdynamo_disable = True  # type: ignore[attr-defined]
    function._torchdynamo_disable_msg = _REASON  # type: ignore[attr-defined]
    _pending.append(function.__code__)


def register() -> None:
    """Tell PyTorch, once it is imported, which code it skips."""
    torch = sys.modules.get("torch")
    core = getattr(getattr(torch, "_C", None), "_dynamo", None)
    if not _pending or core is None:
        return
    frames = core.eval_frame
    if hasattr(frames, "set_code_exec_strategy"):
        skip = frames._FrameAction.SKIP
        strategy = frames._FrameExecStrategy(skip, skip)
        while _pending:
            frames.set_code_exec_strategy(_pending.pop(), strategy)
