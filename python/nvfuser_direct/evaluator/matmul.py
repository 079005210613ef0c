"""Products of matrices, through PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import torch

from .. import _core
from .._core import DataType, TensorView
from .block_scales import scaled
from .core import Evaluator, handles

if TYPE_CHECKING:
    from collections.abc import Callable


def _optional(ev: Evaluator, val: _core.Val | None) -> torch.Tensor | None:
    return None if val is None else ev[val]


@handles(_core.MatmulOp)
def matmul(ev: Evaluator, expr: _core.MatmulOp) -> None:
    ev.store(expr.out, torch.matmul(ev[expr.a], ev[expr.b]))


@handles(_core.LinearOp)
def linear(ev: Evaluator, expr: _core.LinearOp) -> None:
    a, weight, bias = ev[expr.a], ev[expr.b], _optional(ev, expr.bias)
    if weight.ndim == 2 and (bias is None or bias.ndim == 1):
        ev.store(expr.out, torch.nn.functional.linear(a, weight, bias))
        return
    # [*_w, N, K]: one product for each of the leading dimensions.
    rows = a.reshape(-1, a.shape[-1])
    out = torch.matmul(rows, weight.transpose(-1, -2))
    if bias is not None:
        out = out + bias.unsqueeze(-2)
    ev.store(expr.out, out.reshape([*weight.shape[:-2], *a.shape[:-1], weight.shape[-2]]))


@handles(_core.MmaOp)
def mma(ev: Evaluator, expr: _core.MmaOp) -> None:
    out = cast(TensorView, expr.out)
    dtype = ev.torch_dtype(out.dtype())
    dims = [i for i, axis in enumerate(out.logical()) if axis.is_reduction()]

    def factor(value: _core.Val, scale: _core.Val | None) -> torch.Tensor:
        factor = ev[value].to(dtype)
        return factor if scale is None else factor * ev[scale].to(dtype)

    product = factor(expr.a, expr.a_scale) * factor(expr.b, expr.b_scale)
    ev.store(out, product.sum(dims))


def _epilogue(
    product: torch.Tensor,
    alpha: torch.Tensor | None,
    bias: torch.Tensor | None,
    beta: torch.Tensor | None,
) -> torch.Tensor:
    """alpha * product + beta * bias; a factor of one dimension has an element for each group."""

    def factor(value: torch.Tensor) -> torch.Tensor:
        return value.reshape([*value.shape, *([1] * (product.ndim - value.ndim))])

    if alpha is not None:
        product = product * factor(alpha)
    if bias is not None:
        addend = bias.float()
        product = product + (addend if beta is None else addend * factor(beta))
    return product


def _ranges(offsets: torch.Tensor) -> list[tuple[int, int]]:
    """[begin, end) of each group, from where the groups end."""
    ends = [int(end) for end in offsets.tolist()]
    return list(zip([0, *ends[:-1]], ends, strict=True))


@handles(_core.GroupedMmaOp)
def grouped_mma(ev: Evaluator, expr: _core.GroupedMmaOp) -> None:
    _refuse_scaled_results(expr)
    factors = (ev[expr.mat1], ev[expr.mat2])
    scales = (_optional(ev, expr.scale1), _optional(ev, expr.scale2))
    epilogue = [_optional(ev, val) for val in (expr.alpha, expr.bias, expr.beta)]
    product = _torch_grouped_mm(expr, factors)
    if product is not None and scales[0] is None:
        out = product(*factors, offs=ev[expr.offsets].to(torch.int32))
    else:
        compute = ev.override or _wide(factors[0].dtype)
        out = _grouped_product(factors, scales, _ranges(ev[expr.offsets]), compute)
    ev.store(expr.out, _epilogue(out, *epilogue))


def _wide(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32


def _torch_grouped_mm(
    expr: _core.GroupedMmaOp, factors: tuple[torch.Tensor, torch.Tensor]
) -> Callable[..., torch.Tensor] | None:
    """PyTorch's own grouped product, which asks the device for nothing, where it takes these."""
    known = getattr(torch.nn.functional, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
    is_plain = expr.alpha is None and expr.bias is None and expr.out.dtype() == DataType.BFloat16
    if known is None or not is_plain or any(mat.dtype != torch.bfloat16 for mat in factors):
        return None
    device = factors[0].device
    if device.type == "cuda" and torch.cuda.get_device_capability(device) < (9, 0):
        return None
    return known if all(_has_aligned_lines(mat) for mat in factors) else None


def _has_aligned_lines(mat: torch.Tensor) -> bool:
    """Whether rows or columns are packed and every one begins at a multiple of 16 bytes."""
    rows, columns = mat.stride()[-2:]
    if columns == 1 and rows >= max(1, mat.shape[-1]):
        line = rows
    elif rows == 1 and columns >= max(1, mat.shape[-2]):
        line = columns
    else:
        return False
    steps = (line, *mat.stride()[:-2])
    return all(step * mat.itemsize % 16 == 0 for step in steps) and mat.data_ptr() % 16 == 0


def _grouped_product(
    factors: tuple[torch.Tensor, torch.Tensor],
    scales: tuple[torch.Tensor | None, torch.Tensor | None],
    ranges: list[tuple[int, int]],
    compute: torch.dtype,
) -> torch.Tensor:
    """A product for each group; of two matrices, which have K in groups, a stack of products."""
    mat1, mat2 = factors
    are_matrices = mat1.ndim == mat2.ndim == 2

    def wide(mat: torch.Tensor, scale: torch.Tensor | None, dim: int, group: int) -> torch.Tensor:
        if scale is not None:  # of two matrices, scales are for each group
            mat = scaled(mat, scale[group] if are_matrices else scale, dim)
        return mat.to(compute)

    if are_matrices:
        products = [
            wide(mat1, scales[0], -1, g)[:, b:e] @ wide(mat2, scales[1], -2, g)[b:e]
            for g, (b, e) in enumerate(ranges)
        ]
        return torch.stack(products)
    mat1, mat2 = wide(mat1, scales[0], -1, 0), wide(mat2, scales[1], -2, 0)
    if mat1.ndim == 3:
        out = mat1.new_zeros(mat1.shape[1], mat2.shape[1])
        for group, (b, e) in enumerate(ranges):
            out[:, b:e] = mat1[group] @ mat2[:, b:e]
        return out
    out = mat1.new_zeros(mat1.shape[0], mat2.shape[2])
    for group, (b, e) in enumerate(ranges):
        out[b:e] = mat1[b:e] @ mat2[group]
    return out


@handles(_core.ScaledMmaOp)
def scaled_mma(ev: Evaluator, expr: _core.ScaledMmaOp) -> None:
    _refuse_scaled_results(expr)
    mat1 = scaled(ev[expr.mat1], ev[expr.scale1], dim=-1)
    mat2 = scaled(ev[expr.mat2], ev[expr.scale2], dim=-2)
    operands = [_optional(ev, val) for val in (expr.alpha, expr.bias, expr.beta)]
    ev.store(expr.out, _epilogue(torch.matmul(mat1, mat2), *operands))


@handles(_core.CutlassNvfp4GroupedMmaOp)
def nvfp4_grouped_mma(ev: Evaluator, expr: _core.CutlassNvfp4GroupedMmaOp) -> None:
    mat1, mat2, alpha = ev[expr.mat1], ev[expr.mat2], ev[expr.alpha]
    scale1, scale2 = ev[expr.scale1], ev[expr.scale2]
    sizes = ev[expr.problem_sizes].tolist()
    rows = ev[expr.expert_offsets].tolist()
    scale_rows = ev[expr.sf_offsets].tolist()
    out = torch.zeros(mat1.shape[0], mat2.shape[2], device=mat1.device)
    for group, (m, _n, _k) in enumerate(sizes):
        begin, scale_begin = int(rows[group]), int(scale_rows[group])
        a = scaled(mat1[begin : begin + int(m)], scale1, dim=-1, first_row=scale_begin)
        b = scaled(mat2[group], scale2[group], dim=-2)
        out[begin : begin + int(m)] = alpha[group] * (a @ b)
    ev.store(expr.out, out)


def _refuse_scaled_results(expr: _core.GroupedMmaOp | _core.ScaledMmaOp) -> None:
    if expr.out_block_scale is not None:
        raise NotImplementedError(f"the evaluator does not quantize products: {expr}")
