"""Sums and products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.nn.functional as F

from cases.case import BF16, FLOAT, RTOL, Case, Math, make, randn

if TYPE_CHECKING:
    from nvfuser_direct import DataType, FusionDefinition


def total(name: str, shape: tuple[int, ...], dims: list[int], dtype: DataType = FLOAT) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd, dtype)
        x = m.tensor(*[-1] * len(shape), dtype=dtype)
        fd.add_output(m.narrow(fd.ops.sum(m.wide(x), dims), dtype))

    return Case(
        name,
        define,
        make(randn(*shape, dtype=dtype)),
        lambda x: x.float().sum(dims).to(x.dtype),
        rtol=max(RTOL[dtype], 1e-4),
    )


def matmul(n: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        fd.add_output(fd.ops.linear(m.tensor(-1, -1), m.tensor(-1, -1)))

    return Case(
        f"matmul_bf16_{n}",
        define,
        make(randn(n, n), randn(n, n)),
        F.linear,
        is_memory_bound=False,
    )


def matmul_bias_gelu(n: int) -> Case:
    def define(fd: FusionDefinition) -> None:
        m = Math(fd)
        y = fd.ops.linear(m.tensor(-1, -1), m.tensor(-1, -1))
        h = fd.ops.add(m.wide(y), m.row(m.wide(m.tensor(-1))))
        fd.add_output(m.narrow(fd.ops.tanh_gelu(h), BF16))

    return Case(
        f"matmul_bias_gelu_bf16_{n}",
        define,
        make(randn(n, n), randn(n, n), randn(n)),
        lambda a, w, b: F.gelu((F.linear(a, w) + b).float(), approximate="tanh").to(a.dtype),
        is_memory_bound=False,
    )
