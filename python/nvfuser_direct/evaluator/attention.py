"""Scaled dot product attention: flash attention where PyTorch has it, the formula elsewhere.

The formula keeps softmax(q k^T) as a matrix. Its dropout mask is a function of the philox seed that
the forward pass returns, so the backward pass finds the same one.
"""

from __future__ import annotations

import math

import torch

from .. import _core
from .core import Evaluator, handles

_MAX_FLASH_HEAD = 256


def _uses_flash(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, is_causal: bool
) -> bool:
    head = query.shape[-1]
    # Flash attention aligns the last row with the last column, and we the first with the first.
    if is_causal and query.shape[-2] != key.shape[-2]:
        return False
    return (
        query.is_cuda
        and query.dtype in (torch.float16, torch.bfloat16)
        and head == value.shape[-1]
        and head % 8 == 0
        and head <= _MAX_FLASH_HEAD
        and min(query.numel(), key.numel()) > 0
    )


def _as_4d(tensor: torch.Tensor) -> torch.Tensor:
    """[N.., H, L, E] with one leading dimension."""
    return tensor.reshape([-1, *tensor.shape[-3:]])


def _weights(
    query: torch.Tensor,
    key: torch.Tensor,
    scale: float,
    is_causal: bool,
    bias: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
) -> torch.Tensor:
    """Exponents of the softmax, in the precision that they are summed in."""
    compute = torch.promote_types(query.dtype, torch.float32)
    scores = query.to(compute) @ key.to(compute).transpose(-1, -2) * scale
    if bias is not None:
        scores = scores + bias.to(compute)
    if is_causal:
        visible = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~visible, -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores


def _kept(shape: torch.Size, seed: torch.Tensor, dropout: float) -> torch.Tensor:
    """Factors of dropout: 0, or 1 / (1 - p)."""
    generator = torch.Generator(seed.device)
    generator.manual_seed(int(seed.view(torch.int64)[0]))
    drawn = torch.rand(shape, generator=generator, device=seed.device)
    return (drawn >= dropout).to(drawn.dtype) / (1 - dropout)


def _new_seed(device: torch.device, is_drawn: bool) -> torch.Tensor:
    seed = torch.zeros(2, dtype=torch.int64, device=device)
    if is_drawn:
        seed[0] = torch.randint(2**62, (), device=device)
    return seed.view(torch.uint64)


def _scalars(
    ev: Evaluator, expr: _core.SdpaFwdOp | _core.SdpaBwdOp, head: int
) -> tuple[float, bool, float]:
    scale = 1 / math.sqrt(head) if expr.scale is None else float(ev.scalar(expr.scale))
    return float(ev.scalar(expr.dropout_p)), bool(ev.scalar(expr.is_causal)), scale


@handles(_core.SdpaFwdOp)
def sdpa_fwd(ev: Evaluator, expr: _core.SdpaFwdOp) -> None:
    query, key, value = ev[expr.query], ev[expr.key], ev[expr.value]
    dropout, is_causal, scale = _scalars(ev, expr, query.shape[-1])
    if _uses_flash(query, key, value, is_causal) and expr.bias is None and expr.mask is None:
        out, logsumexp, _, _, _, _, seed, offset, _ = (
            torch.ops.aten._scaled_dot_product_flash_attention(
                _as_4d(query), _as_4d(key), _as_4d(value), dropout, is_causal, scale=scale
            )
        )
        out = out.reshape([*query.shape[:-1], value.shape[-1]])
        logsumexp = logsumexp.reshape(query.shape[:-1])
    else:
        bias = None if expr.bias is None else ev[expr.bias]
        mask = None if expr.mask is None else ev[expr.mask]
        scores = _weights(query, key, scale, is_causal, bias, mask)
        logsumexp = torch.logsumexp(scores, -1)
        weights = torch.exp(scores - logsumexp.unsqueeze(-1)).nan_to_num(nan=0.0)
        seed = _new_seed(query.device, dropout > 0)
        offset = torch.zeros((), dtype=torch.uint64, device=query.device)
        if dropout > 0:
            weights = weights * _kept(weights.shape, seed, dropout)
        out = weights @ value.to(weights.dtype)
    for val, result in zip(expr.outputs(), (out, logsumexp, seed, offset), strict=True):
        ev.store(val, result)


@handles(_core.SdpaBwdOp)
def sdpa_bwd(ev: Evaluator, expr: _core.SdpaBwdOp) -> None:
    grad, query, key, value = (ev[v] for v in expr.inputs()[:4])
    out, logsumexp, seed = ev[expr.out], ev[expr.logsumexp], ev[expr.philox_seed]
    dropout, is_causal, scale = _scalars(ev, expr, query.shape[-1])
    if _uses_flash(query, key, value, is_causal):
        grads = torch.ops.aten._scaled_dot_product_flash_attention_backward(
            *(_as_4d(x) for x in (grad, query, key, value, out)),
            logsumexp.reshape([-1, *logsumexp.shape[-2:]]),
            None,
            None,
            query.shape[-2],
            key.shape[-2],
            dropout,
            is_causal,
            seed,
            ev[expr.philox_offset],
            scale=scale,
        )
        shapes = (query.shape, key.shape, value.shape)
        results = tuple(g.reshape(shape) for g, shape in zip(grads, shapes, strict=True))
    else:
        results = _formula_bwd(
            (grad, query, key, value, out), logsumexp, seed, dropout, is_causal, scale
        )
    for val, result in zip(expr.outputs(), results, strict=True):
        ev.store(val, result)


def _formula_bwd(
    tensors: tuple[torch.Tensor, ...],
    logsumexp: torch.Tensor,
    seed: torch.Tensor,
    dropout: float,
    is_causal: bool,
    scale: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    compute = torch.promote_types(tensors[1].dtype, torch.float32)
    grad, query, key, value, out = (x.to(compute) for x in tensors)
    scores = _weights(query, key, scale, is_causal)
    weights = torch.exp(scores - logsumexp.unsqueeze(-1).to(compute)).nan_to_num(nan=0.0)
    grad_weights = grad @ value.transpose(-1, -2)
    used = weights
    if dropout > 0:
        kept = _kept(weights.shape, seed, dropout).to(compute)
        used, grad_weights = weights * kept, grad_weights * kept
    grad_scores = weights * (grad_weights - (grad * out).sum(-1, keepdim=True))
    return (
        grad_scores @ key * scale,
        grad_scores.transpose(-1, -2) @ query * scale,
        used.transpose(-1, -2) @ grad,
    )
