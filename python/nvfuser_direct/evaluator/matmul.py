"""Products of matrices, through PyTorch."""

from __future__ import annotations

from typing import cast

import torch

from .. import _core
from .._core import TensorView
from .block_scales import scaled
from .core import Evaluator, handles


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
    ev.store(out, (ev[expr.a].to(dtype) * ev[expr.b].to(dtype)).sum(dims))


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
    mat1, mat2 = ev[expr.mat1], ev[expr.mat2]
    compute = ev.override or (torch.float64 if mat1.dtype == torch.float64 else torch.float32)
    if expr.scale1 is not None:
        mat1 = scaled(mat1, ev[expr.scale1], dim=-1)
        mat2 = scaled(mat2, ev[expr.scale2], dim=-2)
    mat1, mat2 = mat1.to(compute), mat2.to(compute)
    ranges = _ranges(ev[expr.offsets])
    if mat1.ndim == 2 and mat2.ndim == 2:
        out = torch.stack([mat1[:, b:e] @ mat2[b:e] for b, e in ranges])
    elif mat1.ndim == 3:
        out = mat1.new_zeros(mat1.shape[1], mat2.shape[1])
        for group, (b, e) in enumerate(ranges):
            out[:, b:e] = mat1[group] @ mat2[:, b:e]
    else:
        out = mat1.new_zeros(mat1.shape[0], mat2.shape[2])
        for group, (b, e) in enumerate(ranges):
            out[b:e] = mat1[b:e] @ mat2[group]
    operands = [_optional(ev, val) for val in (expr.alpha, expr.bias, expr.beta)]
    ev.store(expr.out, _epilogue(out, *operands))


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
        padded = -(-int(m) // 128) * 128
        a = scaled(mat1[begin : begin + int(m)], scale1[scale_begin : scale_begin + padded], dim=-1)
        b = scaled(mat2[group], scale2[group], dim=-2)
        out[begin : begin + int(m)] = alpha[group] * (a @ b)
    ev.store(expr.out, out)


def _refuse_scaled_results(expr: _core.GroupedMmaOp | _core.ScaledMmaOp) -> None:
    if expr.out_block_scale is not None:
        raise NotImplementedError(f"the evaluator does not quantize products: {expr}")
