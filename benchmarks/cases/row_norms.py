"""Norms of rows, and their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from cases.case import (
    BF16,
    EPS,
    FLOAT,
    RTOL,
    SHORT,
    Case,
    Math,
    far_from_zero,
    make,
    normalized,
    randn,
)

if TYPE_CHECKING:
    from nvfuser_direct import DataType, FusionDefinition


def rmsnorm(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x, w = m.tensor(-1, cols), m.tensor(cols)
        wide = m.wide(x)
        rstd = fd.ops.rsqrt(fd.ops.add(m.mean(fd.ops.mul(wide, wide), cols), EPS))
        y = fd.ops.mul(fd.ops.mul(wide, rstd), m.row(m.wide(w)))
        fd.add_output(m.narrow(y, dtype))

    def eager(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        wide = x.float()
        rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        return (wide * rstd * w.float()).to(x.dtype)

    return Case(
        name,
        define,
        make(far_from_zero(rows, cols, dtype=dtype), randn(cols, dtype=dtype)),
        eager,
        rtol=RTOL[dtype],
    )


def layernorm(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x = m.tensor(-1, cols)
        w, b = m.tensor(cols), m.tensor(cols)
        y, _ = normalized(m, m.wide(x), cols)
        y = fd.ops.add(fd.ops.mul(y, m.row(m.wide(w))), m.row(m.wide(b)))
        fd.add_output(m.narrow(y, dtype))

    vector = randn(cols, dtype=dtype)
    return Case(
        name,
        define,
        make(far_from_zero(rows, cols, dtype=dtype), vector, vector),
        lambda x, w, b: F.layer_norm(x, (cols,), w, b, EPS),
        rtol=RTOL[dtype],
    )


def layernorm_bwd(rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x, dy, w = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols)
        xhat, rstd = normalized(m, m.wide(x), cols)
        g = m.wide(dy)
        a = fd.ops.mul(g, m.row(m.wide(w)))
        inner = fd.ops.add(m.mean(a, cols), fd.ops.mul(xhat, m.mean(fd.ops.mul(a, xhat), cols)))
        fd.add_output(m.narrow(fd.ops.mul(rstd, fd.ops.sub(a, inner)), dtype))
        fd.add_output(m.narrow(fd.ops.sum(fd.ops.mul(g, xhat), [0]), dtype))
        fd.add_output(m.narrow(fd.ops.sum(g, [0]), dtype))

    def eager(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        wide, g = x.float(), dy.float()
        centred = wide - wide.mean(-1, keepdim=True)
        rstd = torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + EPS)
        xhat = centred * rstd
        a = g * w.float()
        inner = a.mean(-1, keepdim=True) + xhat * (a * xhat).mean(-1, keepdim=True)
        dx = rstd * (a - inner)
        return dx.to(x.dtype), (g * xhat).sum(0).to(x.dtype), g.sum(0).to(x.dtype)

    return Case(
        f"layernorm_bwd_{SHORT[dtype]}_{rows}x{cols}",
        define,
        make(
            far_from_zero(rows, cols, dtype=dtype),
            randn(rows, cols, dtype=dtype),
            randn(cols, dtype=dtype),
        ),
        eager,
        rtol=max(RTOL[dtype], 1e-4),
    )


def rmsnorm_bwd(rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x, dy, w = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols)
        wide, g = m.wide(x), m.wide(dy)
        rstd = fd.ops.rsqrt(fd.ops.add(m.mean(fd.ops.mul(wide, wide), cols), EPS))
        xhat = fd.ops.mul(wide, rstd)
        a = fd.ops.mul(g, m.row(m.wide(w)))
        inner = fd.ops.mul(xhat, m.mean(fd.ops.mul(a, xhat), cols))
        fd.add_output(m.narrow(fd.ops.mul(rstd, fd.ops.sub(a, inner)), dtype))
        fd.add_output(m.narrow(fd.ops.sum(fd.ops.mul(g, xhat), [0]), dtype))

    def eager(x: torch.Tensor, dy: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        wide, g = x.float(), dy.float()
        rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)
        xhat = wide * rstd
        a = g * w.float()
        dx = rstd * (a - xhat * (a * xhat).mean(-1, keepdim=True))
        return dx.to(x.dtype), (g * xhat).sum(0).to(x.dtype)

    return Case(
        f"rmsnorm_bwd_{SHORT[dtype]}_{rows}x{cols}",
        define,
        make(
            far_from_zero(rows, cols, dtype=dtype),
            randn(rows, cols, dtype=dtype),
            randn(cols, dtype=dtype),
        ),
        eager,
        rtol=max(RTOL[dtype], 1e-4),
    )


def add_layernorm(rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x, r, w, b = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols), m.tensor(cols)
        total = m.narrow(fd.ops.add(m.wide(x), m.wide(r)), dtype)
        fd.add_output(total)
        y, _ = normalized(m, m.wide(total), cols)
        y = fd.ops.add(fd.ops.mul(y, m.row(m.wide(w))), m.row(m.wide(b)))
        fd.add_output(m.narrow(y, dtype))

    def eager(
        x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, b: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        total = x + r
        return total, F.layer_norm(total, (cols,), w, b, EPS)

    return Case(
        f"add_layernorm_{SHORT[dtype]}_{rows}x{cols}",
        define,
        make(
            far_from_zero(rows, cols, dtype=dtype),
            randn(rows, cols, dtype=dtype),
            randn(cols, dtype=dtype),
            randn(cols, dtype=dtype),
        ),
        eager,
        rtol=RTOL[dtype],
    )


def dropout_add_layernorm(rows: int, cols: int, dtype: DataType = BF16) -> Case:
    keep = 0.9

    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x, r, w, b = m.tensor(-1, cols), m.tensor(-1, cols), m.tensor(cols), m.tensor(cols)
        wide = m.wide(x)
        noise = fd.ops.uniform(0.0, 1.0, [x.size(0), x.size(1)], dtype=FLOAT)
        dropped = fd.ops.mul(fd.ops.where(fd.ops.lt(noise, keep), wide, 0.0), 1.0 / keep)
        y, _ = normalized(m, fd.ops.add(dropped, m.wide(r)), cols)
        y = fd.ops.add(fd.ops.mul(y, m.row(m.wide(w))), m.row(m.wide(b)))
        fd.add_output(m.narrow(y, dtype))

    return Case(
        f"dropout_add_layernorm_{SHORT[dtype]}_{rows}x{cols}",
        define,
        make(
            randn(rows, cols, dtype=dtype),
            randn(rows, cols, dtype=dtype),
            randn(cols, dtype=dtype),
            randn(cols, dtype=dtype),
        ),
        lambda x, r, w, b: F.layer_norm(F.dropout(x, 1 - keep) + r, (cols,), w, b, EPS),
        compares_values=False,
    )
