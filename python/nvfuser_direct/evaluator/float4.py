"""Float4_e2m1fn: numbers of 4 bits, two in a byte.

Inside the evaluator they are float32 numbers that the format can hold; tensors of the framework
hold packed pairs along the innermost dimension in memory, the first of a pair in the low half of
the byte.
"""

from __future__ import annotations

import torch

from .. import _core

E2M1_MAX = 6.0
# Magnitudes, by code.
_E2M1_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def paired_dim(val: _core.TensorView) -> int:
    """The dimension that pairs run along, of those a user sees.

    Raises
    ------
    UserError
        For a tensor without dimensions.
    """
    memory = _core.TensorDomain.no_reductions(val.maybe_allocation())
    if not memory:
        raise _core.UserError(f"A single fp4 number is no tensor outside of a fusion: {val}")
    axis: _core.Val = memory[-1]
    logical = _core.TensorDomain.no_reductions(val.logical())
    while axis not in logical:
        axis = axis.definition().inputs()[-1]  # what was split; the inner one of what was merged
    return logical.index(axis)


def to_e2m1_codes(value: torch.Tensor) -> torch.Tensor:
    """4-bit codes of the nearest fp4 numbers, ties to the even code; NaN becomes 6; uint8."""
    value = value.nan_to_num(nan=E2M1_MAX)
    magnitude = value.abs().clamp(max=E2M1_MAX).contiguous()
    points = torch.tensor(_E2M1_VALUES, device=value.device)
    midpoints = (points[1:] + points[:-1]) / 2
    above = torch.bucketize(magnitude, midpoints, right=False)  # a tie: the lower code
    is_tie = magnitude == midpoints[above.clamp(max=len(midpoints) - 1)]
    codes = above + (is_tie & (above % 2 == 1)).to(above.dtype)
    return (codes | (torch.signbit(value).to(codes.dtype) << 3)).to(torch.uint8)


def pack_e2m1(codes: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Pairs of codes along `dim` in bytes, the first in the low half: dtype float4_e2m1fn_x2.

    Raises
    ------
    UserError
        If the size of the dimension is odd.
    """
    if codes.shape[dim] % 2 != 0:
        raise _core.UserError(
            "An output of dtype __e2m1 needs an even size in its innermost dimension: "
            f"{codes.shape[dim]} in dimension {dim} of {list(codes.shape)}"
        )
    codes = codes.movedim(dim, -1)
    pairs = (codes[..., 0::2] | (codes[..., 1::2] << 4)).contiguous()
    return pairs.view(torch.float4_e2m1fn_x2).movedim(-1, dim)


def unpack_e2m1(packed: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The numbers of packed pairs, in float32; twice as many along `dim`."""
    raw = packed.view(torch.uint8).movedim(dim, -1)
    codes = torch.stack([raw & 0xF, raw >> 4], -1).flatten(-2).movedim(-1, dim)
    values = torch.tensor(_E2M1_VALUES, device=packed.device)[(codes & 7).long()]
    return torch.where(codes >= 8, -values, values)


def rounded_e2m1(value: torch.Tensor) -> torch.Tensor:
    """The nearest fp4 numbers, in float32; what is beyond 6 becomes 6, and so does NaN."""
    codes = to_e2m1_codes(value.float())
    points = torch.tensor(_E2M1_VALUES, device=value.device)
    magnitude = points[(codes & 7).long()]
    return torch.where(codes >= 8, -magnitude, magnitude)
