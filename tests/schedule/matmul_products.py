"""Products, what follows them, and their operands: for the tests of the scheduler `matmul`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from nvfuser_direct import DataType, SchedulerType, call_with_options, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import FusionDefinition, TensorView

MATMUL = SchedulerType.matmul
BF16, HALF = torch.bfloat16, torch.float16


def fused(function: Callable[[], Any]) -> Any:
    return call_with_options(function, ["fuse_matmul"], [])


def always(function: Callable[[], Any]) -> Any:
    """By a kernel, whether it is faster or not."""
    return call_with_options(function, ["fuse_matmul"], ["matmul_expr_eval"])


def integers(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    """Small ones: sums of their products are exact in any order."""
    return torch.randint(-3, 4, shape).to(dtype)


def transposed(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    """A matrix whose columns are contiguous."""
    return integers(*reversed(shape), dtype=dtype).t()


def reserved(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    """Without memory that anything touches."""
    return torch.empty(shape, dtype=dtype)


# -- definitions --


def matmul(fd: FusionDefinition, a: TensorView, b: TensorView) -> TensorView:
    return fd.ops.matmul(a, b)


def linear(fd: FusionDefinition, a: TensorView, w: TensorView) -> TensorView:
    return fd.ops.linear(a, w)


def linear_relu(
    fd: FusionDefinition, a: TensorView, w: TensorView, bias: TensorView | None = None
) -> TensorView:
    return fd.ops.relu(fd.ops.linear(a, w, bias))


def linear_gelu(fd: FusionDefinition, a: TensorView, w: TensorView, bias: TensorView) -> TensorView:
    out = fd.ops.gelu(fd.ops.linear(a, w, bias))
    return fd.ops.cast(out, a.dtype())


def matmul_scaled(fd: FusionDefinition, a: TensorView, b: TensorView) -> TensorView:
    return fd.ops.mul(fd.ops.cast(fd.ops.matmul(a, b), DataType.Float), 0.5)


def linear_residual(
    fd: FusionDefinition, a: TensorView, w: TensorView, residual: TensorView
) -> list[TensorView]:
    """The product is an output as well."""
    out = fd.ops.linear(a, w)
    return [out, fd.ops.cast(fd.ops.add(fd.ops.relu(out), residual), a.dtype())]


def linear_rows(
    fd: FusionDefinition, a: TensorView, w: TensorView, column: TensorView, row: TensorView
) -> TensorView:
    """Operands of one dimension are computed before they are broadcast."""
    out = fd.ops.cast(fd.ops.linear(a, w), DataType.Float)
    scale = fd.ops.mul(fd.ops.cast(column, DataType.Float), 2.0)
    shift = fd.ops.neg(fd.ops.cast(row, DataType.Float))
    out = fd.ops.mul(out, fd.ops.broadcast(scale, [False, True]))
    return fd.ops.add(out, fd.ops.broadcast(shift, [True, False]))


# -- results --


def by_the_processor(fd: FusionDefinition, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The exact results. Not by the GPU's library: racecheck ends at its products on Hopper."""
    return evaluate(fd.fusion, inputs)


# -- layouts --

# For each operand: whether m or n is contiguous in memory, and not k.
LAYOUTS = {"m": (True, False), "n": (False, True), "m and n": (True, True)}


def stored(rows: int, k: int, is_turned: bool, dtype: torch.dtype = BF16) -> torch.Tensor:
    return (transposed if is_turned else integers)(rows, k, dtype=dtype)
