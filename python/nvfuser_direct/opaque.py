"""Code that torch.compile does not look into.

A compiled function that runs a fusion is split around the call (a *graph break*): the call happens
as it is written, and what stands before and after it is compiled. To trace into this package would
be wrong, since its work is done by an extension that PyTorch cannot see.

Functions carry the mark that ``torch.compiler.disable`` leaves, and their code is registered as to
be skipped together with all it calls; a wrapper around them would cost time at every call.

Methods of the extension have a type of their own, which PyTorch calls without the object that they
belong to. As instance methods, which it knows from other extensions, they are called as written.
"""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, TypeVar

from . import _core

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

_T = TypeVar("_T")

_REASON = "fusions are run by nvfuser_direct, not traced"
_pending: list[CodeType] = []  # not yet registered with PyTorch
_are_methods_bound = False


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
    _bind_methods()
    frames = core.eval_frame
    if hasattr(frames, "set_code_exec_strategy"):
        skip = frames._FrameAction.SKIP
        strategy = frames._FrameExecStrategy(skip, skip)
        while _pending:
            frames.set_code_exec_strategy(_pending.pop(), strategy)


def _bind_methods() -> None:
    """Make instance methods of the extension's methods, once."""
    global _are_methods_bound
    if _are_methods_bound:
        return
    _are_methods_bound = True
    import ctypes  # PyTorch has imported it

    as_instance_method = ctypes.pythonapi.PyInstanceMethod_New
    as_instance_method.restype = ctypes.py_object
    as_instance_method.argtypes = [ctypes.py_object]
    for cls, name, method in _methods():
        setattr(cls, name, as_instance_method(method))


def _methods() -> Iterator[tuple[type, str, object]]:
    kind = type(vars(_core.KernelExecutor)["run"])
    for cls in [*vars(_core).values(), *vars(_core.host).values()]:
        if inspect.isclass(cls):
            for name, member in list(vars(cls).items()):
                if type(member) is kind and not name.startswith("__"):
                    yield cls, name, member
