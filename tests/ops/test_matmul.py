"""Products of matrices: shapes and errors of the definition, values against PyTorch."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition

SHAPES = [
    ((5,), (5,)),
    ((5,), (5, 7)),
    ((3, 5), (5,)),
    ((3, 5), (5, 7)),
    ((2, 3, 5), (5, 7)),
    ((2, 1, 3, 5), (4, 5, 7)),
    ((1, 3, 5), (6, 5, 7)),
    ((3, 1), (1, 7)),
    ((0, 5), (5, 7)),
    ((3, 0), (0, 7)),
    ((1,), (1, 7)),
]


@pytest.mark.parametrize(("shape_a", "shape_b"), SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_matmul(shape_a, shape_b, dtype, target, rng) -> None:
    a = torch.randn(shape_a, generator=rng).to(target, dtype)
    b = torch.randn(shape_b, generator=rng).to(target, dtype)
    with FusionDefinition() as fd:
        x, y = fd.from_pytorch(a), fd.from_pytorch(b)
        fd.add_output(fd.ops.matmul(x, y))
    (out,) = fd.execute([a, b])
    expected = torch.matmul(a, b)
    assert out.shape == expected.shape
    assert out.dtype == dtype
    torch.testing.assert_close(out, expected)


def test_matmul_reduces_k_last() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.ops.matmul(x, y)
        fd.add_output(z)
    assert [axis.is_reduction() for axis in z.logical()] == [False, False, True]
    assert z.ndim == 2
    node = z.definition()
    assert (node.a, node.b, node.out) == (x, y, z)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("shape", "weight"), [((2, 3, 5), (7, 5)), ((5,), (7, 5)), ((3, 5), (2, 7, 5))]
)
def test_linear(shape, weight, bias, target, rng) -> None:
    a = torch.randn(shape, generator=rng).to(target)
    w = torch.randn(weight, generator=rng).to(target)
    c = torch.randn(weight[:-1], generator=rng).to(target)
    inputs = [a, w, c] if bias else [a, w]
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.linear(*[fd.from_pytorch(t) for t in inputs]))
    (out,) = fd.execute(inputs)
    if len(weight) == 2:
        expected = torch.nn.functional.linear(*inputs)
    else:
        expected = torch.stack(
            [torch.nn.functional.linear(a, w[i], c[i] if bias else None) for i in range(weight[0])]
        )
    torch.testing.assert_close(out, expected)


def test_fused_multiply_sum(target, rng) -> None:
    a = torch.randn(4, 6, 8, generator=rng).to(target)
    b = torch.randn(4, 6, 8, generator=rng).to(target)
    with FusionDefinition() as fd:
        x, y = fd.from_pytorch(a), fd.from_pytorch(b)
        fd.add_output(fd.ops.fused_multiply_sum(x, y, [-1, 0]))
    (out,) = fd.execute([a, b])
    torch.testing.assert_close(out, (a * b).sum([0, 2]))


FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)


@pytest.mark.parametrize(("first", "second"), [FP8, FP8[::-1]])
def test_fused_multiply_sum_of_both_kinds_of_fp8(target, rng, first, second) -> None:
    a = torch.randn(4, 8, generator=rng).to(target).to(first)
    b = torch.randn(4, 8, generator=rng).to(target).to(second)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.fused_multiply_sum(fd.from_pytorch(a), fd.from_pytorch(b), [1]))
    (out,) = fd.execute([a, b])
    torch.testing.assert_close(out, (a.float() * b.float()).sum(1))


def test_grouped_mm_short_form(target, rng) -> None:
    offsets = torch.tensor([3, 3, 8], dtype=torch.int32, device=target)
    ranges = [(0, 3), (3, 3), (3, 8)]

    def run(m1: torch.Tensor, m2: torch.Tensor) -> torch.Tensor:
        with FusionDefinition() as fd:
            tensors = [fd.from_pytorch(t) for t in (m1, m2, offsets)]
            fd.add_output(fd.ops.grouped_mm(*tensors))
        (out,) = fd.execute([m1, m2, offsets])
        return out

    m1, m2 = (
        torch.randn(4, 8, generator=rng).to(target),
        torch.randn(8, 5, generator=rng).to(target),
    )
    torch.testing.assert_close(run(m1, m2), torch.stack([m1[:, b:e] @ m2[b:e] for b, e in ranges]))
    m1 = torch.randn(3, 4, 6, generator=rng).to(target)
    m2 = torch.randn(6, 8, generator=rng).to(target)
    expected = torch.cat([m1[i] @ m2[:, b:e] for i, (b, e) in enumerate(ranges)], 1)
    torch.testing.assert_close(run(m1, m2), expected)
    m1 = torch.randn(8, 6, generator=rng).to(target)
    m2 = torch.randn(3, 6, 4, generator=rng).to(target)
    expected = torch.cat([m1[b:e] @ m2[i] for i, (b, e) in enumerate(ranges)])
    torch.testing.assert_close(run(m1, m2), expected)


def test_grouped_mm_long_form(target, rng) -> None:
    m1 = torch.randn(8, 6, generator=rng).to(target)
    m2 = torch.randn(3, 6, 4, generator=rng).to(target)
    s1 = torch.rand(8, 1, generator=rng).to(target) + 0.5
    s2 = torch.rand(3, 1, 4, generator=rng).to(target) + 0.5
    offsets = torch.tensor([3, 3, 8], dtype=torch.int32, device=target)
    inputs = [m1, m2, offsets, s1, s2]
    with FusionDefinition() as fd:
        out, scale, gamma = fd.ops.grouped_mm(
            *[fd.from_pytorch(t) for t in inputs], dtype=DataType.Float
        )
        assert scale is None
        assert gamma is None
        fd.add_output(out)
    (result,) = fd.execute(inputs)
    ranges = [(0, 3), (3, 3), (3, 8)]
    expected = torch.cat([(m1[b:e] * s1[b:e]) @ (m2[i] * s2[i]) for i, (b, e) in enumerate(ranges)])
    torch.testing.assert_close(result, expected)


def test_grouped_mm_of_two_matrices_has_scales_for_each_group(target, rng) -> None:
    m1 = torch.randn(4, 8, generator=rng).to(target)
    m2 = torch.randn(8, 5, generator=rng).to(target)
    s1 = torch.rand(3, 4, 1, generator=rng).to(target) + 0.5
    s2 = torch.rand(3, 1, 5, generator=rng).to(target) + 0.5
    offsets = torch.tensor([3, 3, 8], dtype=torch.int32, device=target)
    inputs = [m1, m2, offsets, s1, s2]
    with FusionDefinition() as fd:
        operands = [fd.from_pytorch(t) for t in inputs]
        fd.add_output(fd.ops.grouped_mm(*operands, dtype=DataType.Float)[0])
    (result,) = fd.execute(inputs)
    ranges = [(0, 3), (3, 3), (3, 8)]
    expected = [(m1[:, b:e] * s1[g]) @ (m2[b:e] * s2[g]) for g, (b, e) in enumerate(ranges)]
    torch.testing.assert_close(result, torch.stack(expected))


GROUPED_SHAPES = [((8, 32), (32, 8)), ((3, 4, 16), (16, 32)), ((32, 16), (3, 16, 8))]


@pytest.mark.parametrize("shapes", GROUPED_SHAPES)
def test_grouped_mm_of_bfloat16_is_that_of_pytorch_and_does_not_wait(
    target, rng, shapes, monkeypatch
) -> None:
    grouped_mm = getattr(torch, "_grouped_mm", None)
    if grouped_mm is None:
        pytest.skip("this PyTorch has no grouped product")
    if target == "cuda" and torch.cuda.get_device_capability() < (9, 0):
        pytest.skip("PyTorch's grouped product needs Hopper")
    m1, m2 = (torch.randn(s, generator=rng).bfloat16().to(target) for s in shapes)
    m2 = m2.mT.contiguous().mT if target == "cuda" else m2
    offsets = torch.tensor([8, 8, 32], dtype=torch.int32, device=target)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.grouped_mm(*[fd.from_pytorch(t) for t in (m1, m2, offsets)]))
    expected = grouped_mm(m1, m2, offsets)
    with monkeypatch.context() as patch:
        for name in ("tolist", "item", "__int__"):  # which wait for the device
            patch.setattr(torch.Tensor, name, None)
        (result,) = fd.execute([m1, m2, offsets])
    assert torch.equal(result, expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("shapes", GROUPED_SHAPES)
def test_grouped_mm_of_bfloat16_runs_where_pytorch_forbids_to_wait_for_the_gpu(rng, shapes) -> None:
    if torch.cuda.get_device_capability() < (9, 0) or not hasattr(torch, "_grouped_mm"):
        pytest.skip("PyTorch's grouped product needs Hopper")
    m1, m2 = (torch.randn(s, generator=rng).bfloat16().cuda() for s in shapes)
    m2 = m2.mT.contiguous().mT
    offsets = torch.tensor([8, 8, 32], dtype=torch.int32, device="cuda")
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.grouped_mm(*[fd.from_pytorch(t) for t in (m1, m2, offsets)]))
    expected = torch._grouped_mm(m1, m2, offsets)
    torch.cuda.set_sync_debug_mode("error")
    try:
        with pytest.raises(RuntimeError, match="synchronizing"):  # the mode does its work
            offsets.tolist()
        for _ in range(2):  # the first run makes ready what the second one finds
            (result,) = fd.execute([m1, m2, offsets])
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert torch.equal(result, expected)


def test_grouped_mm_of_bfloat16_takes_any_layout(target, rng) -> None:
    offsets = torch.tensor([3, 3, 8], dtype=torch.int32, device=target)
    m1 = torch.randn(8, 7, generator=rng).bfloat16().to(target)
    m2 = torch.randn(3, 7, 5, generator=rng).bfloat16().to(target)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.grouped_mm(*[fd.from_pytorch(t) for t in (m1, m2, offsets)]))
    (result,) = fd.execute([m1, m2, offsets])
    expected = [
        m1[b:e].float() @ m2[i].float() for i, (b, e) in enumerate([(0, 3), (3, 3), (3, 8)])
    ]
    torch.testing.assert_close(result, torch.cat(expected).bfloat16())


def test_scaled_mm_with_row_and_column_scales(target, rng) -> None:
    a = torch.randn(4, 8, generator=rng).to(torch.float8_e4m3fn).to(target)
    b = torch.randn(8, 6, generator=rng).to(torch.float8_e4m3fn).to(target)
    s1 = torch.rand(4, 1, generator=rng).to(target)
    s2 = torch.rand(1, 6, generator=rng).to(target)
    bias = torch.randn(6, generator=rng).to(target)
    inputs = [a, b, s1, s2, bias]
    with FusionDefinition() as fd:
        x, y, p, q, c = [fd.from_pytorch(t) for t in inputs]
        out, _, _ = fd.ops.scaled_mm(x, y, p, q, bias=c, dtype=DataType.Float)
        fd.add_output(out)
    (result,) = fd.execute(inputs)
    torch.testing.assert_close(result, (a.float() * s1) @ (b.float() * s2) + bias)


ERRORS = [
    (
        "Expected inputs to be atleast 1D, got: 0 and 2",
        lambda fd: fd.ops.matmul(T(fd, 0), T(fd, 2)),
    ),
    (
        "Expected A and B dtypes to have the same dtype, got: float and __half",
        lambda fd: fd.ops.matmul(T(fd, 2), T(fd, 2, DataType.Half)),
    ),
    (
        "Expected A and B dtypes to have the same dtype, got: __e4m3 and __half",
        lambda fd: fd.ops.fused_multiply_sum(
            T(fd, 2, DataType.Float8_e4m3fn), T(fd, 2, DataType.Half), [1]
        ),
    ),
    (
        "K should be broadcast in both A and B, or neither.",
        lambda fd: fd.ops.matmul(fd.define_tensor([-1, 1]), T(fd, 2)),
    ),
    ("Input A must be at least 1D.", lambda fd: fd.ops.linear(T(fd, 0), T(fd, 2))),
    ("Input B must be at least 2D.", lambda fd: fd.ops.linear(T(fd, 2), T(fd, 1))),
    (
        "Input bias must be at least 1D.",
        lambda fd: fd.ops.linear(T(fd, 2), T(fd, 2), T(fd, 0)),
    ),
    (
        "Expected input and weight dtypes to have the same dtype, got: float and __half",
        lambda fd: fd.ops.linear(T(fd, 2), T(fd, 2, DataType.Half)),
    ),
    (
        "Expected bias to have the same dtype as A and B, got: __half and float",
        lambda fd: fd.ops.linear(T(fd, 2), T(fd, 2), T(fd, 1, DataType.Half)),
    ),
    (
        "K should be broadcast in both inputs and weights, or neither.",
        lambda fd: fd.ops.linear(fd.define_tensor([-1, 1]), T(fd, 2)),
    ),
    (
        "offsets needs to be 1-D for grouped mm",
        lambda fd: fd.ops.grouped_mm(T(fd, 2), T(fd, 2), T(fd, 2, DataType.Int)),
    ),
    (
        "If two 3D tensors, you should use bmm/matmul instead of grouped_mm",
        lambda fd: fd.ops.grouped_mm(T(fd, 3), T(fd, 3), T(fd, 1, DataType.Int)),
    ),
    (
        "output_block_scale_size must be greater than 0 when output_gamma is true",
        lambda fd: fd.ops.grouped_mm(
            T(fd, 2), T(fd, 3), T(fd, 1, DataType.Int), T(fd, 2), T(fd, 3), output_gamma=True
        ),
    ),
    (
        "beta argument requires bias to be present.",
        lambda fd: fd.ops.scaled_mm(T(fd, 2), T(fd, 2), T(fd, 2), T(fd, 2), beta=T(fd, 0)),
    ),
    (
        "output_block_scale is not yet supported",
        lambda fd: fd.ops.scaled_mm(
            T(fd, 2), T(fd, 2), T(fd, 2), T(fd, 2), output_block_scale_size=16
        ),
    ),
    (
        "output_gamma is not yet supported",
        lambda fd: fd.ops.scaled_mm(T(fd, 2), T(fd, 2), T(fd, 2), T(fd, 2), output_gamma=True),
    ),
    (
        "alpha cannot be null",
        lambda fd: fd.ops.cutlass_nvfp4_grouped_mm(
            T(fd, 2), T(fd, 3), T(fd, 2), T(fd, 3), None, T(fd, 2), T(fd, 1), T(fd, 1)
        ),
    ),
]


def T(fd: FusionDefinition, rank: int, dtype: DataType = DataType.Float):
    return fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype)


@pytest.mark.parametrize(("text", "call"), ERRORS, ids=[text[:40] for text, _ in ERRORS])
def test_errors(text, call, capsys) -> None:
    with pytest.raises(RuntimeError) as error, FusionDefinition() as fd:
        call(fd)
    assert text in str(error.value)


def test_repeated_elements_of_k_are_as_many_on_both_sides() -> None:
    with FusionDefinition() as fd:
        a = fd.ops.expand(fd.define_tensor([2, 1], contiguity=True), [2, 5])
        b = fd.ops.expand(fd.define_tensor([1, 3], contiguity=True), [7, 3])
        with pytest.raises(RuntimeError, match=r"Expected sizes to match: 5 vs 7\."):
            fd.ops.matmul(a, b)
