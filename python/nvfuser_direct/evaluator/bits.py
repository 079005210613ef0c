"""Elements that are only moved or compared, in types that PyTorch does this with."""

from __future__ import annotations

import torch

from .._torch_ops import widened
from .._torch_unsigned import flipped


def bits_of(value: torch.Tensor) -> torch.Tensor:
    """The same bits in a type that every operation moves, on every device."""
    dtype = value.dtype
    if dtype.is_floating_point and dtype.itemsize == 1:
        return value.view(torch.uint8)
    return value.view(torch.int64) if dtype == torch.uint64 else value


def ordered(value: torch.Tensor) -> torch.Tensor:
    """Numbers of the same order in a type that has one."""
    if value.dtype == torch.bool:
        return value.to(torch.uint8)
    return flipped(bits_of(value)) if value.dtype == torch.uint64 else widened(value)
