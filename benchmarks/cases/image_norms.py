"""Norms of images: statistics over several axes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from cases.case import BF16, EPS, FLOAT, Case, Math, far_from_zero, make, normalized, randn

if TYPE_CHECKING:
    from nvfuser_direct import FusionDefinition


def batchnorm(name: str, n: int, c: int, h: int, w: int, *, channels_last: bool) -> Case:
    order = {"stride_order": [3, 0, 2, 1]} if channels_last else {}

    def define(fd: FusionDefinition) -> None:
        m, ops = Math(fd), fd.ops
        x = fd.define_tensor([n, c, h, w], contiguity=True, dtype=BF16, **order)
        weight, bias = m.tensor(c, dtype=FLOAT), m.tensor(c, dtype=FLOAT)
        over = [True, False, True, True]
        wide = m.wide(x)
        scale = 1.0 / (n * h * w)
        mean = ops.broadcast(ops.mul(ops.sum(wide, [0, 2, 3]), scale), over)
        centred = ops.sub(wide, mean)
        var = ops.mul(ops.sum(ops.mul(centred, centred), [0, 2, 3]), scale)
        rstd = ops.broadcast(ops.rsqrt(ops.add(var, EPS)), over)
        y = ops.mul(ops.mul(centred, rstd), ops.broadcast(weight, over))
        y = m.narrow(ops.add(y, ops.broadcast(bias, over)), BF16)
        fd.add_output(ops.stride_order(y, [3, 0, 2, 1]) if channels_last else y)

    def inputs(device: str) -> list[torch.Tensor]:
        x = far_from_zero(n, c, h, w)(device)
        memory = torch.channels_last if channels_last else torch.contiguous_format
        return [
            x.to(memory_format=memory),
            torch.randn(c, device=device),
            torch.randn(c, device=device),
        ]

    return Case(
        name,
        define,
        inputs,
        lambda x, weight, bias: F.batch_norm(x, None, None, weight, bias, True, 0.1, EPS),
        floor="0.667: all data is read before the first element is known" if channels_last else "",
    )


def groupnorm(n: int, c: int, h: int, w: int, groups: int) -> Case:
    size = c // groups * h * w

    def define(fd: FusionDefinition) -> None:
        m, ops = Math(fd), fd.ops
        x = m.tensor(n, c, h, w)
        weight, bias = m.tensor(c), m.tensor(c)
        over = [True, False, True, True]
        rows = m.wide(ops.reshape(x, [n * groups, size]))
        y, _ = normalized(m, rows, size)
        y = ops.reshape(y, [n, c, h, w])
        y = ops.mul(y, ops.broadcast(m.wide(weight), over))
        y = ops.add(y, ops.broadcast(m.wide(bias), over))
        fd.add_output(m.narrow(ops.silu(y), BF16))

    return Case(
        "groupnorm_fwd_bf16",
        define,
        make(far_from_zero(n, c, h, w), randn(c), randn(c)),
        lambda x, weight, bias: F.silu(F.group_norm(x, groups, weight, bias, EPS)),
    )
