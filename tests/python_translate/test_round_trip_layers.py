"""Products, attention, quantization and layers: their translations build equal fusions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from round_trip import check_round_trip, check_same_results

from nvfuser_direct import DataType, FusionDefinition, ops

FP8 = torch.float8_e4m3fn


def round_trip(build: Callable[..., object], *inputs: torch.Tensor, random: bool = False) -> None:
    with FusionDefinition() as fd:
        results = build(*[fd.from_pytorch(t) for t in inputs])
        for result in results if isinstance(results, tuple) else (results,):
            if result is not None:
                fd.add_output(result)
    again = check_round_trip(fd.fusion)
    if not random:
        check_same_results(fd.fusion, again, inputs)


def test_products() -> None:
    a, b = torch.randn(2, 3, 5), torch.randn(5, 7)
    round_trip(ops.matmul, a, b)
    round_trip(ops.matmul, a[0, 0], b)
    round_trip(ops.linear, a, b.t().contiguous())
    round_trip(ops.linear, a, b.t().contiguous(), torch.randn(7))
    round_trip(lambda x, y: ops.fused_multiply_sum(x, y, [0, 2]), a, a)
    round_trip(lambda x, y: ops.fusedMultiplySum(x, y, [1]), a.half(), a.half())


def test_grouped_products() -> None:
    offsets = torch.tensor([3, 8], dtype=torch.int32)
    m1, m2 = torch.randn(8, 6), torch.randn(2, 6, 4)
    s1, s2 = torch.rand(8, 1), torch.rand(2, 1, 4)
    groups = (m1, m2, offsets)
    round_trip(ops.grouped_mm, *groups)
    round_trip(lambda *t: ops.grouped_mm(*t, dtype=DataType.Float), *groups, s1, s2)
    round_trip(
        lambda a, b, o, s, t, f, g: ops.grouped_mm(a, b, o, s, t, None, f, g, DataType.Half),
        *groups, s1, s2, torch.randn(8, 4), torch.tensor(0.5),
    )  # fmt: skip
    round_trip(ops.grouped_mm, torch.randn(4, 8), torch.randn(8, 5), offsets)


def test_scaled_results_are_translated() -> None:
    with FusionDefinition() as fd:
        matrices = [fd.define_tensor([-1] * rank, contiguity=True) for rank in (2, 3)]
        offsets = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int32)
        scales = [fd.define_tensor([-1] * rank, contiguity=True) for rank in (2, 3)]
        for options in (
            {"output_block_scale_size": 16},
            {"output_block_scale_size": 32, "output_block_scale_dtype": DataType.Float8_e8m0fnu},
            {"output_block_scale_size": 16, "output_gamma": True, "dtype": DataType.Half},
        ):
            for out in ops.grouped_mm(*matrices, offsets, *scales, **options):
                if out is not None:
                    fd.add_output(out)
    check_round_trip(fd.fusion)


def test_scaled_products() -> None:
    a, b = torch.randn(4, 8).to(FP8), torch.randn(8, 6).to(FP8)
    scales = (torch.rand(4, 1), torch.rand(1, 6))
    round_trip(ops.scaled_mm, a, b, *scales)
    round_trip(
        lambda *t: ops.scaled_mm(*t[:4], t[4], t[5], t[6], dtype=DataType.Float),
        a, b, *scales, torch.tensor(2.0), torch.randn(6), torch.tensor(0.5),
    )  # fmt: skip


def test_nvfp4_groups() -> None:
    with FusionDefinition() as fd:
        ranks = (2, 3, 2, 3, 1, 2, 1, 1)
        dtypes = [DataType.Float4_e2m1fn] * 2 + [DataType.Float8_e4m3fn] * 2 + [DataType.Float]
        dtypes += [DataType.Int32] * 3
        tensors = [
            fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype)
            for rank, dtype in zip(ranks, dtypes, strict=True)
        ]
        fd.add_output(ops.cutlass_nvfp4_grouped_mm(*tensors))
        fd.add_output(ops.cutlass_nvfp4_grouped_mm(*tensors, dtype=DataType.Half))
    check_round_trip(fd.fusion)


@pytest.mark.parametrize("dropout", [0.0, 0.25])
def test_attention(dropout: float) -> None:
    q, k, v = torch.randn(2, 4, 8, 16), torch.randn(2, 4, 12, 16), torch.randn(2, 4, 12, 16)
    bias, mask = torch.randn(2, 1, 8, 12), torch.rand(2, 1, 8, 12) > 0.3
    is_random = dropout > 0

    def forward(*t):
        return ops.sdpfa_fwd(*t, dropout_p=dropout, is_causal=True)

    def both(q, k, v, grad):
        out, logsumexp, seed, offset = ops.sdpfa_fwd(q, k, v, dropout_p=dropout, scale=0.3)
        return ops.sdpfa_bwd(grad, q, k, v, out, logsumexp, dropout, False, seed, offset, 0.3)

    round_trip(forward, q, k, v, random=is_random)
    round_trip(forward, q, k, v, bias, mask, random=is_random)
    round_trip(both, q, k, v, torch.randn(2, 4, 8, 16), random=is_random)


def test_quantization() -> None:
    x = torch.randn(256, 64)
    offsets = [torch.tensor([0, 3], dtype=torch.int32), torch.tensor([0, 128], dtype=torch.int32)]
    factor = torch.tensor(3.0)
    fp8 = {"block_size": 32, "dtype": DataType.Float8_e4m3fn}
    round_trip(ops.nv_block_quantize, x)
    round_trip(ops.nv_block_quantize, x, factor)
    round_trip(lambda t: ops.nv_block_quantize(t, swizzle_block_scales=True), x)
    round_trip(lambda t: ops.nv_block_quantize(t, **fp8), x)
    round_trip(ops.nv_grouped_block_quantize, x[:7].contiguous(), *offsets)
    round_trip(ops.nv_grouped_block_quantize, x[:7].contiguous(), *offsets, factor)
    round_trip(ops.preprocess_grouped_matmul_input_sf, x[:7].to(FP8).contiguous(), *offsets)


def test_layers() -> None:
    x, weight, bias, mean = torch.randn(4, 5, 9), torch.randn(5), torch.randn(5), torch.randn(5)
    var = torch.rand(5) + 0.5
    rows = torch.randn(3, 9)
    norm = torch.randn(9)
    round_trip(ops.batch_norm, x, weight, bias, mean, var)
    round_trip(lambda *t: ops.batch_norm(*t, training=False), x, weight, bias, mean, var)
    round_trip(ops.instance_norm, x, weight, bias, mean, var)
    round_trip(ops.batch_norm_backward, x, x, weight, mean, var)
    round_trip(ops.instance_norm_backward, x, x, weight, torch.randn(4, 5), torch.rand(4, 5))
    stats = (rows.mean(-1, keepdim=True), rows.var(-1, keepdim=True))
    round_trip(
        lambda d, x, m, s, w: ops.layer_norm_backward(d, x, 1, m, s, w), rows, rows, *stats, norm
    )
    round_trip(lambda d, x, s, w: ops.rms_norm_backward(d, x, 1, s, w), rows, rows, stats[1], norm)
    round_trip(ops.gelu_backward, rows, rows)
    round_trip(ops.tanh_gelu_backward, rows, rows)
    round_trip(ops.tanh_backward, rows, rows)
    round_trip(lambda *t: ops.softmax_backward(*t, 1), rows, rows)
    round_trip(lambda *t: ops.log_softmax_backward(*t, 0), rows, rows)
    round_trip(lambda t: ops.dropout(t, 0.3), rows, random=True)
    round_trip(lambda *t: ops.dropout_backward(*t, 1.5), rows, rows > 0)
    round_trip(ops.lstm, rows, rows, rows, rows, rows)
    round_trip(lambda t: ops.sum_to(t, [5, 1]), x)
