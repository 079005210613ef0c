"""A case of the suite: a fusion, its inputs, and the same in PyTorch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

BF16, HALF, FLOAT, INT = DataType.BFloat16, DataType.Half, DataType.Float, DataType.Int
EPS = 1e-5
TORCH = {BF16: torch.bfloat16, HALF: torch.float16, FLOAT: torch.float32}
SHORT = {BF16: "bf16", HALF: "f16", FLOAT: "f32"}
RTOL = {BF16: 1e-2, HALF: 2e-3, FLOAT: 1e-5}


@dataclass(frozen=True)
class Case:
    """One row of the suite.

    Attributes
    ----------
    name : str
        As in the table.
    define : callable
        ``define(fd)`` adds inputs, math and outputs.
    inputs : callable
        ``inputs(device)`` returns what a call takes.
    eager : callable
        ``eager(*inputs)`` returns a tensor or a tuple of them.
    rtol : float
        Largest difference from eager, relative to the largest element of each output.
    floor : str
        The bound of the score where it is not a copy of the same bytes.
    """

    name: str
    define: Callable[[FusionDefinition], None]
    inputs: Callable[[str], list[torch.Tensor]]
    eager: Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]
    rtol: float = 1e-2
    is_memory_bound: bool = True
    compares_values: bool = True  # not where random numbers are drawn
    floor: str = field(default="")


def randn(*shape: int, dtype: DataType = BF16) -> Callable[[str], torch.Tensor]:
    return lambda device: torch.randn(shape, device=device, dtype=TORCH[dtype])


def far_from_zero(*shape: int, dtype: DataType = BF16) -> Callable[[str], torch.Tensor]:
    """Data for statistics, with a mean of ten deviations: a variance that is a difference of large
    numbers shows."""
    return lambda device: torch.normal(10.0, 1.0, shape, device=device, dtype=TORCH[dtype])


def make(*tensors: Callable[[str], torch.Tensor]) -> Callable[[str], list[torch.Tensor]]:
    return lambda device: [tensor(device) for tensor in tensors]


class Math:
    """Shorthands for definitions: casts, broadcasts of rows and columns."""

    def __init__(self, fd: FusionDefinition, dtype: DataType = BF16) -> None:
        self.fd, self.ops, self.dtype = fd, fd.ops, dtype

    def tensor(self, *sizes: int, dtype: DataType | None = None) -> TensorView:
        return self.fd.define_tensor(list(sizes), contiguity=True, dtype=dtype or self.dtype)

    def wide(self, x: TensorView) -> TensorView:
        return self.ops.cast(x, FLOAT)

    def narrow(self, x: TensorView, dtype: DataType) -> TensorView:
        return x if dtype == FLOAT else self.ops.cast(x, dtype)

    def row(self, x: TensorView) -> TensorView:
        """[C] -> [1, C]"""
        return self.ops.broadcast(x, [True, False])

    def column(self, x: TensorView) -> TensorView:
        """[R] -> [R, 1]"""
        return self.ops.broadcast(x, [False, True])

    def mean(self, x: TensorView, size: int) -> TensorView:
        """Over the last of two dimensions: [R, C] -> [R, 1]"""
        return self.column(self.ops.mul(self.ops.sum(x, [1]), 1.0 / size))


def normalized(m: Math, wide: TensorView, cols: int) -> tuple[TensorView, TensorView]:
    """(x - mean) / std, and 1 / std; [R, C] and [R, 1]."""
    ops = m.ops
    centred = ops.sub(wide, m.mean(wide, cols))
    rstd = ops.rsqrt(ops.add(m.mean(ops.mul(centred, centred), cols), EPS))
    return ops.mul(centred, rstd), rstd
