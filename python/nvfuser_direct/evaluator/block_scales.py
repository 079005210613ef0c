"""Scales of blocks: their layouts, and numbers times their scales.

A tile of 128 rows and 4 columns is stored as 32 rows of 16: the scale of row r and column c is
element (r % 32) * 16 + (r // 32) * 4 + c. Tiles of one row of tiles are neighbours.
"""

from __future__ import annotations

import torch

_ROWS, _COLUMNS = 128, 4
_TILED_DTYPES = (torch.float8_e4m3fn, torch.float8_e8m0fnu)


def padded_shape(rows: int, columns: int) -> tuple[int, int]:
    """Whole tiles."""
    return -(-rows // _ROWS) * _ROWS, -(-columns // _COLUMNS) * _COLUMNS


def to_tiles(scales: torch.Tensor) -> torch.Tensor:
    """Scales [rows, columns] in tiles: [padded rows, padded columns], filled with zeros."""
    rows, columns = scales.shape
    padded_rows, padded_columns = padded_shape(rows, columns)
    plain = scales.new_zeros(padded_rows * padded_columns, dtype=torch.uint8)
    plain = plain.view(padded_rows, padded_columns)
    plain[:rows, :columns] = scales.view(torch.uint8)
    tiles = plain.view(padded_rows // _ROWS, 4, 32, padded_columns // _COLUMNS, _COLUMNS)
    tiled = tiles.permute(0, 3, 2, 1, 4).reshape(padded_rows, padded_columns)
    return tiled.view(scales.dtype)


def from_tiles(tiled: torch.Tensor, rows: int, columns: int, first_row: int = 0) -> torch.Tensor:
    """The inverse of `to_tiles`.

    Parameters
    ----------
    tiled : torch.Tensor
        Scales in tiles. Its storage counts, not its shape: that of quantized scales is without the
        rows and columns that fill up tiles, of each group.
    rows, columns : int
        Shape of the result.
    first_row : int
        Where its tiles begin, in rows of the storage: a multiple of 128.
    """
    padded_rows, padded_columns = padded_shape(rows, columns)
    begin, count = first_row * padded_columns, padded_rows * padded_columns
    flat = _stored(tiled, begin + count)[begin : begin + count]
    tiles = flat.view(padded_rows // _ROWS, padded_columns // _COLUMNS, 32, 4, _COLUMNS)
    plain = tiles.permute(0, 3, 2, 1, 4).reshape(padded_rows, padded_columns)
    return plain[:rows, :columns].contiguous().view(tiled.dtype)


def _stored(tiled: torch.Tensor, count: int) -> torch.Tensor:
    """The bytes of `tiled`, and those behind it if it has fewer than `count`."""
    raw = tiled.view(torch.uint8)
    if raw.numel() >= count:
        return raw.contiguous().reshape(-1)
    length = raw.untyped_storage().nbytes() - raw.storage_offset()
    return raw.as_strided((length,), (1,), raw.storage_offset())


def scaled(mat: torch.Tensor, scale: torch.Tensor, dim: int, first_row: int = 0) -> torch.Tensor:
    """`mat` in float32 times its scales, of which there is one for each block along `dim`.

    Scales of fp8 types are in tiles of [rows, blocks], rows being the other of the last two
    dimensions, from `first_row` on; others are plain and are repeated to the shape of `mat`.
    """
    value = mat.float()
    if scale.dtype in _TILED_DTYPES and mat.ndim == 2:
        rows, size = value.shape[-1 if dim == -2 else -2], value.shape[dim]
        blocks = -(-size // (16 if scale.dtype == torch.float8_e4m3fn else 32))
        scale = from_tiles(scale, rows, blocks, first_row)
        scale = scale.t() if dim == -2 else scale
    factor = scale.float()
    for axis in range(-min(factor.ndim, value.ndim), 0):
        have, want = factor.shape[axis], value.shape[axis]
        if have not in (1, want):
            factor = factor.repeat_interleave(-(-want // have), axis).narrow(axis, 0, want)
    return value * factor
