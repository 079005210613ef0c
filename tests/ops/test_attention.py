"""Scaled dot product attention: values and gradients against PyTorch, and the documented errors."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from nvfuser_direct import DataType, FusionDefinition

DTYPES = [torch.float32, torch.bfloat16]


def attend(q, k, v, bias=None, mask=None, **options):
    inputs = [t for t in (q, k, v, bias, mask) if t is not None]
    with FusionDefinition() as fd:
        named = {id(t): fd.from_pytorch(t) for t in inputs}
        results = fd.ops.sdpfa_fwd(
            *[named[id(t)] for t in (q, k, v)],
            bias=None if bias is None else named[id(bias)],
            mask=None if mask is None else named[id(mask)],
            **options,
        )
        for result in results:
            fd.add_output(result)
    return fd.execute(inputs)


def draw(rng, target, dtype, *shape):
    return torch.randn(shape, generator=rng).to(target, dtype)


def tolerance(dtype):
    return {"rtol": 2e-2, "atol": 2e-2} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_forward(dtype, is_causal, scale, target, rng) -> None:
    q, k, v = (draw(rng, target, dtype, 2, 3, n, 16) for n in (9, 9, 9))
    out, logsumexp, seed, offset = attend(q, k, v, is_causal=is_causal, scale=scale)
    expected = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal, scale=scale)
    torch.testing.assert_close(out, expected, **tolerance(dtype))
    scores = q.float() @ k.float().mT * (scale or 1 / math.sqrt(16))
    if is_causal:
        scores = scores.masked_fill(~torch.ones_like(scores, dtype=torch.bool).tril(), -torch.inf)
    torch.testing.assert_close(logsumexp, torch.logsumexp(scores, -1), rtol=1e-2, atol=1e-2)
    assert logsumexp.dtype == torch.float32
    assert seed.shape == (2,)
    assert seed.dtype == offset.dtype == torch.uint64


def test_other_extents_and_leading_dimensions(target, rng) -> None:
    q = draw(rng, target, torch.float32, 2, 5, 3, 8, 16)
    k = draw(rng, target, torch.float32, 2, 5, 3, 12, 16)
    v = draw(rng, target, torch.float32, 2, 5, 3, 12, 6)
    out, logsumexp, *_ = attend(q, k, v)
    torch.testing.assert_close(out, F.scaled_dot_product_attention(q, k, v), rtol=1e-4, atol=1e-5)
    assert logsumexp.shape == (2, 5, 3, 8)


def test_bias_and_mask(target, rng) -> None:
    q, k, v = (draw(rng, target, torch.float32, 2, 3, n, 16) for n in (8, 12, 12))
    bias = draw(rng, target, torch.float32, 1, 3, 8, 12)
    mask = (torch.rand(2, 1, 8, 12, generator=rng) > 0.3).to(target)
    mask[..., 0] = True
    out, *_ = attend(q, k, v, bias=bias)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(2, 3, 8, 12))
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)
    out, *_ = attend(q, k, v, mask=mask)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)
    out, *_ = attend(q, k, v, bias=bias, mask=mask)
    both = bias.masked_fill(~mask, -torch.inf)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=both)
    torch.testing.assert_close(out, expected, rtol=1e-4, atol=1e-5)


def backward(q, k, v, grad, dropout, is_causal):
    with FusionDefinition() as fd:
        x, y, z, g = (fd.from_pytorch(t) for t in (q, k, v, grad))
        out, logsumexp, seed, offset = fd.ops.sdpfa_fwd(
            x, y, z, dropout_p=dropout, is_causal=is_causal
        )
        fd.add_output(out)
        for result in fd.ops.sdpfa_bwd(
            g, x, y, z, out, logsumexp, dropout, is_causal, seed, offset, None
        ):
            fd.add_output(result)
    return fd.execute([q, k, v, grad])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_causal", [False, True])
def test_gradients(dtype, is_causal, target, rng) -> None:
    q, k, v, grad = (draw(rng, target, dtype, 2, 3, 8, 16) for _ in range(4))
    _, *grads = backward(q, k, v, grad, 0.0, is_causal)
    leaves = [t.clone().requires_grad_() for t in (q, k, v)]
    F.scaled_dot_product_attention(*leaves, is_causal=is_causal).backward(grad)
    for actual, leaf in zip(grads, leaves, strict=True):
        torch.testing.assert_close(actual, leaf.grad, **tolerance(dtype))


def test_gradients_see_the_dropout_of_the_forward_pass(target, rng) -> None:
    """The output is linear in value: its gradient says which weights were kept."""
    q, k, v, grad = (draw(rng, target, torch.float32, 1, 2, 6, 6) for _ in range(4))
    v = torch.eye(6, device=target).expand(1, 2, 6, 6).contiguous()
    out, _, _, grad_value = backward(q, k, v, grad, 0.5, False)
    # With the unit matrix for value, out is the matrix of weights after dropout.
    torch.testing.assert_close(grad_value, out.mT @ grad, rtol=1e-4, atol=1e-5)
    assert (out == 0).any()


def T(fd: FusionDefinition, rank: int, dtype: DataType = DataType.Float):
    return fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype)


def bwd(fd, rank: int = 4, lse: int = 3):
    return fd.ops.sdpfa_bwd(
        *[T(fd, rank) for _ in range(5)], T(fd, lse), 0.0, False,
        T(fd, 1, DataType.UInt64), T(fd, 0, DataType.UInt64), None,
    )  # fmt: skip


ERRORS = [
    (
        "Expected dropout to be a real-valued scalar.",
        lambda fd: fd.ops.sdpfa_fwd(T(fd, 4), T(fd, 4), T(fd, 4), dropout_p=True),
    ),
    (
        "Expected is_causal to be a scalar boolean.",
        lambda fd: fd.ops.sdpfa_fwd(T(fd, 4), T(fd, 4), T(fd, 4), is_causal=1.5),
    ),
    (
        "Expected scale to be a real-valued scalar.",
        lambda fd: fd.ops.sdpfa_fwd(T(fd, 4), T(fd, 4), T(fd, 4), scale=1j),
    ),
    ("Expect Q/K/V to be either 4D or 5D.", lambda fd: bwd(fd, 6, 5)),
    (
        "Expected logsumexp to have one less dimension than Q/K/V: 4 vs 4",
        lambda fd: bwd(fd, 4, 4),
    ),
    (
        "to have one dtype and rank",
        lambda fd: fd.ops.sdpfa_fwd(T(fd, 4), T(fd, 4), T(fd, 4, DataType.Half)),
    ),
    (
        "to have at least 4 dimensions",
        lambda fd: fd.ops.sdpfa_fwd(T(fd, 3), T(fd, 3), T(fd, 3)),
    ),
]


@pytest.mark.parametrize(("text", "call"), ERRORS, ids=[text[:40] for text, _ in ERRORS])
def test_errors(text, call, capsys) -> None:
    with pytest.raises(RuntimeError) as error, FusionDefinition() as fd:
        call(fd)
    assert text in str(error.value)
