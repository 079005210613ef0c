"""Maps: each element of an output from one of each input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F

from cases.case import BF16, FLOAT, RTOL, SHORT, Case, Math, make, randn

if TYPE_CHECKING:
    from nvfuser_direct import DataType, FusionDefinition


def pointwise_fma(n: int, dtype: DataType = FLOAT) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        a, b = m.wide(m.tensor(-1)), m.wide(m.tensor(-1))
        fd.add_output(m.narrow(fd.ops.relu(fd.ops.add(fd.ops.mul(a, b), 1.0)), dtype))

    return Case(
        f"pointwise_fma_{SHORT[dtype]}",
        define,
        make(randn(n, dtype=dtype), randn(n, dtype=dtype)),
        lambda a, b: torch.relu(a * b + 1.0),
        rtol=RTOL[dtype] / 10 if dtype == FLOAT else RTOL[dtype],
    )


def bias_gelu(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x, b = m.tensor(-1, -1), m.tensor(-1)
        h = m.narrow(fd.ops.add(m.wide(x), m.row(m.wide(b))), dtype)
        h = m.wide(h)
        k = math.sqrt(2 / math.pi)
        u = fd.ops.mul(h, fd.ops.add(fd.ops.mul(fd.ops.mul(h, h), k * 0.044715), k))
        y = fd.ops.mul(fd.ops.mul(h, 0.5), fd.ops.add(fd.ops.tanh(u), 1.0))
        fd.add_output(m.narrow(y, dtype))

    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=dtype), randn(cols, dtype=dtype)),
        lambda x, b: F.gelu((x + b).float(), approximate="tanh").to(x.dtype),
        rtol=RTOL[dtype],
    )


def silu_mul(name: str, rows: int, cols: int, dtype: DataType = BF16) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        a, b = m.tensor(-1, -1), m.tensor(-1, -1)
        s = m.narrow(fd.ops.silu(m.wide(a)), dtype)
        fd.add_output(m.narrow(fd.ops.mul(m.wide(s), m.wide(b)), dtype))

    return Case(
        name,
        define,
        make(randn(rows, cols, dtype=dtype), randn(rows, cols, dtype=dtype)),
        lambda a, b: F.silu(a.float()).to(a.dtype) * b,
        rtol=RTOL[dtype],
    )


def scale_bias_relu_nhwc(n: int, c: int, h: int, w: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        x = fd.define_tensor(
            [-1, -1, -1, -1], contiguity=True, dtype=BF16, stride_order=[3, 0, 2, 1]
        )
        s, b = m.tensor(-1), m.tensor(-1)
        over = [True, False, True, True]
        y = m.narrow(fd.ops.mul(m.wide(x), m.wide(fd.ops.broadcast(s, over))), BF16)
        y = m.narrow(fd.ops.add(m.wide(y), m.wide(fd.ops.broadcast(b, over))), BF16)
        fd.add_output(fd.ops.stride_order(fd.ops.relu(y), [3, 0, 2, 1]))

    def inputs(device: str) -> list[torch.Tensor]:
        x = torch.randn(n, c, h, w, device=device, dtype=torch.bfloat16)
        return [
            x.to(memory_format=torch.channels_last),
            torch.randn(c, device=device, dtype=torch.bfloat16),
            torch.randn(c, device=device, dtype=torch.bfloat16),
        ]

    return Case(
        "scale_bias_relu_nhwc_bf16",
        define,
        inputs,
        lambda x, s, b: torch.relu(x * s.view(1, -1, 1, 1) + b.view(1, -1, 1, 1)),
    )
