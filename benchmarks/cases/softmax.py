"""Softmax, its gradient, and the loss that is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from cases.case import BF16, INT, RTOL, SHORT, TORCH, Case, Math, make, randn

if TYPE_CHECKING:
    from nvfuser_direct import DataType, FusionDefinition


def softmax(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        wide = m.wide(m.tensor(-1, cols))
        e = fd.ops.exp(fd.ops.sub(wide, m.column(fd.ops.max(wide, [1]))))
        fd.add_output(m.narrow(fd.ops.div(e, m.column(fd.ops.sum(e, [1]))), dtype))

    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=dtype)),
        lambda x: torch.softmax(x.float(), -1).to(x.dtype),
        rtol=RTOL[dtype],
    )


def softmax_bwd(rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        g, y = m.wide(m.tensor(-1, cols)), m.wide(m.tensor(-1, cols))
        total = m.column(fd.ops.sum(fd.ops.mul(g, y), [1]))
        fd.add_output(m.narrow(fd.ops.mul(y, fd.ops.sub(g, total)), dtype))

    def eager(g: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        wide_g, wide_y = g.float(), y.float()
        total = (wide_g * wide_y).sum(-1, keepdim=True)
        return (wide_y * (wide_g - total)).to(g.dtype)

    return Case(
        f"softmax_bwd_{SHORT[dtype]}_{rows}x{cols}",
        define,
        make(randn(rows, cols, dtype=dtype), randn(rows, cols, dtype=dtype)),
        eager,
        rtol=RTOL[dtype],
    )


def cross_entropy(rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x, target = m.tensor(-1, cols), m.tensor(-1, dtype=INT)
        wide = m.wide(x)
        largest = fd.ops.max(wide, [1])
        e = fd.ops.exp(fd.ops.sub(wide, m.column(largest)))
        logsum = fd.ops.add(fd.ops.log(fd.ops.sum(e, [1])), largest)
        chosen = fd.ops.squeeze(fd.ops.take_along_axis(x, m.column(target), 1), [1])
        loss = fd.ops.sub(logsum, m.wide(chosen))
        fd.add_output(fd.ops.mul(fd.ops.sum(loss, [0]), 1.0 / rows))

    def inputs(device: str) -> list[torch.Tensor]:
        return [
            torch.randn(rows, cols, device=device, dtype=TORCH[dtype]),
            torch.randint(0, cols, (rows,), device=device),
        ]

    return Case(
        f"cross_entropy_fwd_{SHORT[dtype]}_{rows}x{cols}",
        define,
        inputs,
        lambda x, target: F.cross_entropy(x.float(), target),
        rtol=1e-4,
    )
