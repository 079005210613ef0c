"""Fusions that move elements: transposes, cats, slices and pads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from cases.case import BF16, FLOAT, RTOL, Case, Math, make, randn

if TYPE_CHECKING:
    from nvfuser_direct import DataType, FusionDefinition


def transpose(n: int, dtype: DataType = FLOAT) -> Case:
    def define(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.permute(Math(fd, dtype).tensor(-1, -1), [1, 0]))

    return Case(
        "transpose_f32",
        define,
        make(randn(n, n, dtype=dtype)),
        lambda a: a.t().contiguous(),
        rtol=0.0,
    )


def transpose_add(name: str, n: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        a, b = m.tensor(-1, -1), m.tensor(-1, -1)
        y = fd.ops.add(m.wide(fd.ops.permute(a, [1, 0])), m.wide(b))
        fd.add_output(m.narrow(y, dtype))

    square = randn(n, n, dtype=dtype)
    return Case(name, define, make(square, square), lambda a, b: a.t() + b, rtol=RTOL[dtype])


def rope(name: str, batch: int, heads: int, seq: int, dim: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m, ops = Math(fd, dtype), fd.ops
        half = dim // 2
        q = m.tensor(batch, heads, seq, dim)
        cos, sin = m.tensor(seq, dim), m.tensor(seq, dim)
        first = ops.slice(q, [0, 0, 0, 0], [batch, heads, seq, half])
        second = ops.slice(q, [0, 0, 0, half], [batch, heads, seq, dim])
        rotated = ops.cat([m.narrow(ops.neg(m.wide(second)), dtype), first], dim=3)
        over = [True, True, False, False]
        a = m.narrow(ops.mul(m.wide(q), m.wide(ops.broadcast(cos, over))), dtype)
        b = m.narrow(ops.mul(m.wide(rotated), m.wide(ops.broadcast(sin, over))), dtype)
        fd.add_output(m.narrow(ops.add(m.wide(a), m.wide(b)), dtype))

    def eager(q: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        first, second = q.chunk(2, -1)
        return q * cos + torch.cat([-second, first], -1) * sin

    return Case(
        name,
        define,
        make(
            randn(batch, heads, seq, dim, dtype=dtype),
            randn(seq, dim, dtype=dtype),
            randn(seq, dim, dtype=dtype),
        ),
        eager,
        rtol=RTOL[dtype],
    )


def cat_pad(name: str, rows: int, first: int, second: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        a, b = m.tensor(rows, first), m.tensor(rows, second)
        fd.add_output(fd.ops.pad(fd.ops.cat([a, b], dim=1), [64, 64]))

    return Case(
        name,
        define,
        make(randn(rows, first, dtype=dtype), randn(rows, second, dtype=dtype)),
        lambda a, b: F.pad(torch.cat([a, b], 1), (64, 64)),
        rtol=0.0,
    )
