"""Inputs that are not read: they have sizes and strides, and memory that is reserved only."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class OnlyReserved(TorchFunctionMode):
    """While it is active, random tensors are not filled: those of a GPU's size cost nothing."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.randn:
            return torch.empty(*args, **kwargs)
        if func is torch.normal:
            return torch.empty(args[2], **kwargs)
        if func is torch.randint:
            return torch.empty(args[2], dtype=torch.int64, **kwargs)
        return func(*args, **kwargs)
