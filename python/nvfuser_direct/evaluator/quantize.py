"""Block quantization.

NVFP4: blocks of 16, scale = amax / 6 (the largest fp4 number) in e4m3. MXFP8: blocks of 32, scale =
the smallest power of two that brings amax to 448 (the largest e4m3 number) or below.
"""

from __future__ import annotations

import torch

from .. import _core
from .._core import DataType
from .block_scales import padded_shape, to_tiles
from .core import Evaluator, handles
from .float4 import E2M1_MAX, rounded_e2m1

_E4M3_MAX = 448.0
_E4M3_TINY = 2.0**-6


def _blocks(value: torch.Tensor, size: int) -> torch.Tensor:
    if value.shape[-1] % size != 0:
        raise _core.UserError(
            f"Block quantization expects the innermost extent to be a multiple of the block size "
            f"{size}, but it is {value.shape[-1]}"
        )
    return value.float().unflatten(-1, (-1, size))


def _quantized(
    blocks: torch.Tensor, dtype: DataType, global_scale: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Numbers and scales."""
    amax = blocks.abs().amax(-1)
    if dtype == DataType.Float4_e2m1fn:
        factor = 1.0 if global_scale is None else global_scale.float()
        scales = (amax / E2M1_MAX * factor).clamp(_E4M3_TINY, _E4M3_MAX).to(torch.float8_e4m3fn)
        numbers = (blocks / (scales.float() / factor).unsqueeze(-1)).clamp(-E2M1_MAX, E2M1_MAX)
        return rounded_e2m1(numbers.flatten(-2)), scales
    # frexp: amax / 448 = m * 2^e with 0.5 <= m < 1; exactly 0.5 is the power of two below.
    mantissa, exponent = torch.frexp(amax / _E4M3_MAX)
    exponent = torch.where(mantissa == 0.5, exponent - 1, exponent)
    exponent = torch.where(amax == 0, torch.full_like(exponent, -127), exponent).clamp(-127, 127)
    numbers = torch.ldexp(blocks, -exponent.unsqueeze(-1)).clamp(-_E4M3_MAX, _E4M3_MAX)
    scales = (exponent + 127).to(torch.uint8).view(torch.float8_e8m0fnu)
    return numbers.flatten(-2).to(torch.float8_e4m3fn), scales


def _over_storage(scales: torch.Tensor, storage: torch.Tensor) -> torch.Tensor:
    """A tensor of the shape of `scales` whose storage is tiles of padded rows."""
    return storage.as_strided(scales.shape, (storage.shape[-1], 1))


def _tiled_groups(scales: torch.Tensor, begins: list[int], out_begins: list[int]) -> torch.Tensor:
    """Each group's scales in tiles, from row out_begins[g] of a storage with room for the worst."""
    rows, columns = scales.shape
    _, padded_columns = padded_shape(rows, columns)
    raw = torch.zeros(
        rows + 127 * len(begins), padded_columns, dtype=torch.uint8, device=scales.device
    )
    ends = [*begins[1:], rows]
    for begin, end, out_begin in zip(begins, ends, out_begins, strict=True):
        if end > begin:
            tiles = to_tiles(scales[begin:end]).view(torch.uint8)
            raw[out_begin : out_begin + len(tiles)] = tiles
    return _over_storage(scales, raw.view(scales.dtype))


@handles(_core.BlockQuantizationOp)
def block_quantization(ev: Evaluator, expr: _core.BlockQuantizationOp) -> None:
    global_scale = None if expr.global_scale is None else ev[expr.global_scale]
    blocks = _blocks(ev[expr.arg], expr.block_size)
    numbers, scales = _quantized(blocks, expr.quantized.dtype(), global_scale)
    if expr.swizzled:
        flat = scales.reshape(-1, scales.shape[-1])
        tiles = to_tiles(flat)
        scales = (
            _over_storage(flat, tiles).reshape(scales.shape)
            if scales.ndim != 2
            else (_over_storage(scales, tiles))
        )
    ev.store_exact(expr.quantized, numbers)
    ev.store_exact(expr.block_scales, scales)


@handles(_core.GroupedBlockQuantizationOp)
def grouped_block_quantization(ev: Evaluator, expr: _core.GroupedBlockQuantizationOp) -> None:
    global_scale = None if expr.global_scale is None else ev[expr.global_scale]
    blocks = _blocks(ev[expr.arg], expr.block_size)
    numbers, scales = _quantized(blocks, expr.quantized.dtype(), global_scale)
    begins, out_begins = ev[expr.input_offsets].tolist(), ev[expr.output_offsets].tolist()
    ev.store_exact(expr.quantized, numbers)
    ev.store_exact(expr.block_scales, _tiled_groups(scales, begins, out_begins))


@handles(_core.PreprocessGroupedMatmulInputSf)
def preprocess_grouped_matmul_input_sf(
    ev: Evaluator, expr: _core.PreprocessGroupedMatmulInputSf
) -> None:
    begins, out_begins = ev[expr.input_offsets].tolist(), ev[expr.output_offsets].tolist()
    ev.store_exact(expr.out, _tiled_groups(ev[expr.arg], begins, out_begins))
