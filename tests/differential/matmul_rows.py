"""Rows of products of matrices, attention and block quantization."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from case import FLOATS, WIDE, Case, Operation, Refusal, Samples, exact
from float4 import e2m1_codes, packed, unpacked
from pointwise_rows import given

from nvfuser_direct import DataType

SLACK = {torch.float16: 2e-2, torch.bfloat16: 1.5e-1, torch.float32: 2e-5, torch.float64: 1e-9}
LOW = (torch.float16, torch.bfloat16)


def case(name: str, build: Any, runs: list[Any], expected: Any, result: Any = None) -> Case:
    """`expected` is computed in double precision and rounded to `result`."""

    def rounded(*operands: Any) -> Any:
        wanted = result or operands[0].dtype
        wide = [t if isinstance(t, float | int) else exact(t) for t in operands]
        return expected(*wide).to(wanted)

    dtype = result or runs[0][0].dtype
    slack = SLACK.get(dtype, 2e-5)
    return Case(name, build, runs, rounded, rtol=slack, atol=slack)


def matmul_cases(s: Samples) -> list[Case]:
    def build(ops: Any, a: Any, b: Any) -> Any:
        return ops.matmul(a, b)

    return [
        case("matrices", build, [
            [s.tensor(5, 7), s.tensor(7, 3)],
            [s.tensor(7, 5).T, s.tensor(3, 7).T],
            [s.tensor(0, 7), s.tensor(7, 3)],
            [s.tensor(5, 0), s.tensor(0, 3)],
            [s.tensor(65, 130)[:, ::2], s.tensor(65, 33)],
        ], torch.matmul),
        case("vectors", build, [[s.tensor(9), s.tensor(9)]], torch.matmul),
        case("vector and matrix", build, [[s.tensor(9), s.tensor(9, 4)]], torch.matmul),
        case("batches", build, [[s.tensor(2, 1, 5, 7), s.tensor(3, 7, 4)]], torch.matmul),
        case("K is 1", build, [[s.tensor(5, 1), s.tensor(1, 4)]], torch.matmul),
    ]  # fmt: skip


def linear_cases(s: Samples) -> list[Case]:
    def expected(x: Any, w: Any, b: Any = None) -> Any:
        return torch.nn.functional.linear(x, w, b)

    return [
        case("weight", lambda ops, x, w: ops.linear(x, w),
             [[s.tensor(5, 7), s.tensor(3, 7)], [s.tensor(7, 5).T, s.tensor(7, 3).T]], expected),
        case("bias", lambda ops, x, w, b: ops.linear(x, w, b),
             [[s.tensor(2, 5, 7), s.tensor(3, 7), s.tensor(3)]], expected),
        case("vector", lambda ops, x, w: ops.linear(x, w), [[s.tensor(7), s.tensor(3, 7)]],
             expected),
    ]  # fmt: skip


def grouped_mm_cases(s: Samples) -> list[Case]:
    ends = torch.tensor([3, 3, 8], dtype=torch.int32)

    def columns(a: Any, b: Any, offsets: torch.Tensor) -> torch.Tensor:
        return torch.cat([a[g] @ b[:, i:j] for g, (i, j) in enumerate(groups(offsets))], 1)

    def groups(offsets: torch.Tensor) -> list[tuple[int, int]]:
        return list(itertools.pairwise([0, *[int(end) for end in offsets.tolist()]]))

    def build(ops: Any, a: Any, b: Any, offsets: Any) -> Any:
        return ops.grouped_mm(a, b, offsets)

    return [
        case("groups of K", build, [[s.tensor(4, 8), s.tensor(8, 5), ends]],
             lambda a, b, o: torch.stack([a[:, i:j] @ b[i:j] for i, j in groups(o)])),
        case("groups of rows", build, [[s.tensor(8, 6), s.tensor(3, 6, 4), ends]],
             lambda a, b, o: torch.cat([a[i:j] @ b[g] for g, (i, j) in enumerate(groups(o))])),
        case("groups of columns", build, [[s.tensor(3, 4, 6), s.tensor(6, 8), ends]], columns),
    ]  # fmt: skip


def scaled_mm_cases(s: Samples) -> list[Case]:
    def scale(*shape: int) -> torch.Tensor:
        return s.tensor(*shape, low=0.5, high=1.5, dtype=torch.float32)

    a, b = s.tensor(5, 32), s.tensor(32, 3)
    return [
        case("scales of rows and columns",
             lambda ops, *t: ops.scaled_mm(*t, dtype=DataType.Float)[0],
             [[a, b, scale(5, 1), scale(1, 3)]], lambda a, b, p, q: (a * p) @ (b * q),
             torch.float32),
        case("bias and factors",
             lambda ops, a, b, p, q, f, c, g: ops.scaled_mm(
                 a, b, p, q, alpha=f, bias=c, beta=g, dtype=DataType.Float)[0],
             [[a, b, scale(5, 1), scale(1, 3), scale(), scale(3), scale()]],
             lambda a, b, p, q, f, c, g: (a * p) @ (b * q) * f + c * g, torch.float32),
    ]  # fmt: skip


# ---- Four bits -----------------------------------------------------------------------------------


def fp4_mm_cases(s: Samples) -> list[Case]:
    """All scales are 1, so that their layout does not matter; test_quantize has layouts."""
    groups, k, n = 2, 32, 4
    rows = torch.tensor([0, 3], dtype=torch.int32)
    a = packed(s.positions(8, k, below=16))
    b = packed(s.positions(groups, n, k, below=16)).transpose(-1, -2)
    one = torch.ones(128 * 2, 4).to(torch.float8_e4m3fn)
    ones = torch.ones(groups, 128, 4).to(torch.float8_e4m3fn)
    alpha = s.tensor(groups, low=0.5, high=1.5, dtype=torch.float32)
    sizes = torch.tensor([[3, n, k], [5, n, k]], dtype=torch.int32)
    scale_rows = torch.tensor([0, 128], dtype=torch.int32)

    def expected(a: Any, b: Any, p: Any, q: Any, f: Any, *_: Any) -> torch.Tensor:
        left, right = unpacked(a), unpacked(b.transpose(-1, -2)).transpose(-1, -2)
        parts = [left[:3] @ right[0] * f[0].double(), left[3:] @ right[1] * f[1].double()]
        return torch.cat(parts).to(torch.bfloat16)

    return [
        Case("scales of 1", lambda ops, *t: ops.cutlass_nvfp4_grouped_mm(*t),
             [[a, b, one, ones, alpha, sizes, rows, scale_rows]], expected, as_given=True)
    ]  # fmt: skip


def block_quantize_cases(s: Samples) -> list[Case]:
    def fp4(x: torch.Tensor, factor: float = 1.0) -> list[torch.Tensor]:
        blocks = x.float().unflatten(-1, (-1, 16))
        most = blocks.abs().amax(-1)
        scales = (most / 6 * factor).clamp(2.0**-6, 448).to(torch.float8_e4m3fn)
        scaled = blocks.double() / (scales.double() / factor).unsqueeze(-1)
        return [packed(e2m1_codes(scaled.flatten(-2))), scales]

    def fp8(x: torch.Tensor) -> list[torch.Tensor]:
        blocks = x.double().unflatten(-1, (-1, 32))
        most = blocks.abs().amax(-1)
        power = torch.exp2(torch.ceil(torch.log2(most / 448)))
        scaled = blocks / power.unsqueeze(-1)
        data = scaled.flatten(-2).float().to(torch.float8_e4m3fn)
        return [data, power.float().to(torch.float8_e8m0fnu)]

    # Multiples of 1/4 below 6 in blocks whose largest is 6: scales are 1 and quotients are exact.
    grid = torch.round(s.tensor(5, 48, dtype=torch.float64) * 4) / 4
    grid[:, ::16] = 6.0
    exactly = grid.to(s.dtype)
    runs = [[s.tensor(3, 32)], [s.tensor(0, 16)], [exactly], [s.tensor(64, 5).T]]
    wide = [[s.tensor(3, 64)], [s.tensor(32, 2).T * 100]]
    return [
        Case("fp4", lambda ops, x: ops.nv_block_quantize(x), runs, fp4),
        Case("fp8", lambda ops, x: ops.nv_block_quantize(
            x, block_size=32, dtype=DataType.Float8_e4m3fn), wide, fp8),
    ]  # fmt: skip


def grouped_quantize_cases(s: Samples) -> list[Case]:
    first = block_quantize_cases(s)[0]
    rows = torch.tensor([0, 3], dtype=torch.int32)
    scale_rows = torch.tensor([0, 128], dtype=torch.int32)

    def check(results: list[torch.Tensor], inputs: list[Any]) -> None:
        assert first.expected is not None
        data, scales = first.expected(inputs[0])
        assert torch.equal(results[0].view(torch.uint8), data.view(torch.uint8))
        assert results[1].dtype == torch.float8_e4m3fn
        assert results[1].shape == scales.shape
        assert_tiled(results[1], scales, [(0, 3, 0), (3, 7, 128)])

    return [
        Case("two groups", lambda ops, *t: ops.nv_grouped_block_quantize(*t),
             [[s.tensor(7, 64), rows, scale_rows]], check=check)
    ]  # fmt: skip


def assert_tiled(
    tiled: torch.Tensor, plain: torch.Tensor, groups: list[tuple[int, int, int]]
) -> None:
    """Rows [begin, end) of `plain` lie from row `first` on, in tiles of 128 x 4."""
    data = torch.empty(0, dtype=torch.uint8).set_(tiled.untyped_storage())
    codes, tiles = plain.contiguous().view(torch.uint8), math.ceil(plain.shape[1] / 4)
    for begin, end, first in groups:
        for row in range(begin, end):
            at = first + row - begin
            for column in range(plain.shape[1]):
                tile = at // 128 * tiles + column // 4
                inside = at % 32 * 16 + at % 128 // 32 * 4 + column % 4
                assert data[tile * 512 + inside] == codes[row, column]


def scale_layout_cases(s: Samples) -> list[Case]:
    rows = torch.tensor([0, 3], dtype=torch.int32)
    scale_rows = torch.tensor([0, 128], dtype=torch.int32)

    def check(results: list[torch.Tensor], inputs: list[Any]) -> None:
        assert results[0].shape == inputs[0].shape
        assert_tiled(results[0], inputs[0], [(0, 3, 0), (3, 9, 128)])

    return [
        Case("two groups", lambda ops, *t: ops.preprocess_grouped_matmul_input_sf(*t),
             [[s.tensor(9, 6), rows, scale_rows]], check=check)
    ]  # fmt: skip


# ---- Attention -----------------------------------------------------------------------------------


def attention(q: Any, k: Any, v: Any, is_causal: bool) -> tuple[torch.Tensor, torch.Tensor]:
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if is_causal:
        visible = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = torch.where(visible, scores, -math.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


def attention_inputs(s: Samples) -> list[torch.Tensor]:
    return [s.tensor(2, 3, n, 8, low=-1.0, high=1.0) for n in (5, 7, 7)]


def sdpfa_fwd_cases(s: Samples) -> list[Case]:
    def make(is_causal: bool) -> Case:
        def expected(q: Any, k: Any, v: Any) -> Any:
            out, logsumexp = attention(exact(q), exact(k), exact(v), is_causal)
            return [out.to(q.dtype), logsumexp.float()]

        slack = SLACK[s.dtype]
        return Case(
            f"causal {is_causal}",
            lambda ops, *t: ops.sdpfa_fwd(*t, is_causal=is_causal)[:2],
            [attention_inputs(s)], expected, rtol=slack, atol=slack,
        )  # fmt: skip

    return [make(False), make(True)]


def sdpfa_bwd_cases(s: Samples) -> list[Case]:
    q, k, v = attention_inputs(s)
    dy = s.tensor(2, 3, 5, 8, low=-1.0, high=1.0)

    def expected(dy: Any, q: Any, k: Any, v: Any) -> Any:
        leaves = [exact(t).requires_grad_() for t in (q, k, v)]
        attention(*leaves, False)[0].backward(exact(dy))
        return [leaf.grad.to(q.dtype) for leaf in leaves]

    def build(ops: Any, dy: Any, q: Any, k: Any, v: Any) -> Any:
        out, logsumexp, seed, offset = ops.sdpfa_fwd(q, k, v, dropout_p=0.0, is_causal=False)
        return ops.sdpfa_bwd(dy, q, k, v, out, logsumexp, 0.0, False, seed, offset, None)

    slack = max(SLACK[s.dtype], 1e-6)  # logsumexp is a Float
    return [
        Case("after the forward pass", build, [[dy, q, k, v]], expected, rtol=slack, atol=slack)
    ]


def rows() -> list[Operation]:
    def mixed(name: str, text: str) -> Refusal:
        return Refusal(
            text,
            lambda fd: getattr(fd.ops, name)(given(fd, 2), given(fd, 2, DataType.Half)),
        )

    e4m3 = (torch.float8_e4m3fn,)
    return [
        Operation("matmul", matmul_cases, FLOATS, [
            Refusal("Expected inputs to be atleast 1D, got: 0 and 2",
                    lambda fd: fd.ops.matmul(given(fd, 0), given(fd, 2))),
            mixed("matmul", "Expected A and B dtypes to have the same dtype, got: float and"),
        ]),
        Operation("linear", linear_cases, FLOATS, [
            mixed("linear", "Expected input and weight dtypes to have the same dtype"),
            Refusal("Input A must be at least 1D.",
                    lambda fd: fd.ops.linear(given(fd, 0), given(fd, 2)))]),
        Operation("grouped_mm", grouped_mm_cases, FLOATS, [
            Refusal("offsets needs to be 1-D for grouped mm",
                    lambda fd: fd.ops.grouped_mm(given(fd, 2), given(fd, 2),
                                                 given(fd, 2, DataType.Int32)))]),
        Operation("scaled_mm", scaled_mm_cases, (*e4m3, *LOW)),
        Operation("cutlass_nvfp4_grouped_mm", fp4_mm_cases, (torch.float32,)),
        Operation("nv_block_quantize", block_quantize_cases, (torch.float32, *LOW), [
            Refusal("Block quantization expects floating point input but got int64_t",
                    lambda fd: fd.ops.nv_block_quantize(given(fd, 2, DataType.Int))),
            Refusal("Block size must be 16 for Float4_e2m1fn, got 32",
                    lambda fd: fd.ops.nv_block_quantize(given(fd, 2), block_size=32))]),
        Operation("nv_grouped_block_quantize", grouped_quantize_cases, (torch.float32, *LOW)),
        Operation("preprocess_grouped_matmul_input_sf", scale_layout_cases, e4m3),
        Operation("sdpfa_fwd", sdpfa_fwd_cases, (*LOW, *WIDE)),
        Operation("sdpfa_bwd", sdpfa_bwd_cases, (*LOW, *WIDE)),
    ]  # fmt: skip
