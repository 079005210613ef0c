"""PyTorch is optional: what needs it says so where it is missing."""

from __future__ import annotations

import importlib.util
import sys

from ._core import UserNotImplementedError

HOW_TO_INSTALL = "pip install torch, version 2.11 or newer"


def has_pytorch() -> bool:
    """Whether PyTorch is installed."""
    return sys.modules.get("torch") is not None or importlib.util.find_spec("torch") is not None


def require_pytorch(what: str) -> None:
    """Raise a UserNotImplementedError, "`what` needs PyTorch", where it is not installed."""
    if not has_pytorch():
        raise UserNotImplementedError(
            f"{what} needs PyTorch, which is not installed: {HOW_TO_INSTALL}."
        )
