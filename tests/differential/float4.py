"""Numbers of four bits: a sign, two bits of exponent, one of mantissa (e2m1)."""

from __future__ import annotations

import torch

# By their codes, the sign bit last.
MAGNITUDES = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def e2m1_codes(x: torch.Tensor) -> torch.Tensor:
    """Nearest codes, of two equally near ones the even one; NaN becomes 6."""
    table = torch.tensor(MAGNITUDES, dtype=torch.float64)
    bounded = x.double().nan_to_num(nan=6.0).clamp(-6.0, 6.0)
    distance = (bounded.abs().unsqueeze(-1) - table).abs()
    # An odd code is a little farther away than an even one at the same distance.
    distance = distance + (torch.arange(8) % 2) * 1e-12
    return distance.argmin(-1) + 8 * torch.signbit(bounded).long()


def numbers_of(codes: torch.Tensor) -> torch.Tensor:
    """float64"""
    signed = torch.tensor([*MAGNITUDES, *[-x for x in MAGNITUDES]], dtype=torch.float64)
    return signed[codes]


def nearest(x: torch.Tensor) -> torch.Tensor:
    """The nearest numbers, in the dtype of `x`."""
    return numbers_of(e2m1_codes(x)).to(x.dtype)


def packed(codes: torch.Tensor) -> torch.Tensor:
    """Pairs along the last dimension, the first in the low half."""
    low, high = codes.unflatten(-1, (-1, 2)).unbind(-1)
    return (low + 16 * high).to(torch.uint8).view(torch.float4_e2m1fn_x2)


def unpacked(pairs: torch.Tensor) -> torch.Tensor:
    raw = pairs.view(torch.uint8).contiguous().long()
    return numbers_of(torch.stack([raw & 15, raw >> 4], -1).flatten(-2))
