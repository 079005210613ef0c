"""Block quantization: layouts, scales and errors."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition

E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def unpacked(packed: torch.Tensor) -> torch.Tensor:
    """Numbers of packed pairs, low half first."""
    raw = packed.cpu().contiguous().view(torch.uint8).int()
    return E2M1[torch.stack([raw & 15, raw >> 4], -1).flatten(-2).long()]


def storage_of(tensor: torch.Tensor) -> torch.Tensor:
    """The bytes that a tensor lies in, also those that it does not show."""
    raw = torch.empty(0, dtype=torch.uint8, device=tensor.device)
    return raw.set_(tensor.untyped_storage()).cpu()


def quantize(x: torch.Tensor, *more: torch.Tensor, **options: object) -> list[torch.Tensor]:
    with FusionDefinition() as fd:
        tensors = [fd.from_pytorch(t) for t in (x, *more)]
        for out in fd.ops.nv_block_quantize(*tensors, **options):
            fd.add_output(out)
    return fd.execute([x, *more])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(16,), (3, 32), (2, 5, 64), (0, 16)])
def test_nvfp4(shape, dtype, target, rng) -> None:
    x = torch.randn(shape, generator=rng).to(target, dtype)
    quantized, scales = quantize(x)
    assert quantized.dtype == torch.float4_e2m1fn_x2
    assert scales.dtype == torch.float8_e4m3fn
    assert list(scales.shape) == [*shape[:-1], shape[-1] // 16]
    blocks = x.cpu().float().unflatten(-1, (-1, 16))
    expected_scales = (blocks.abs().amax(-1) / 6).clamp(2.0**-6, 448).to(torch.float8_e4m3fn)
    assert torch.equal(scales.cpu().view(torch.uint8), expected_scales.view(torch.uint8))
    scaled = blocks / expected_scales.float().unsqueeze(-1)
    numbers = unpacked(quantized).reshape(blocks.shape)
    # Each number is a nearest one of the format.
    error = (numbers - scaled.clamp(-6, 6)).abs()
    best = (scaled.clamp(-6, 6).unsqueeze(-1) - E2M1).abs().amin(-1)
    torch.testing.assert_close(error, best, rtol=0, atol=1e-6)


def test_ties_go_to_the_even_code(target) -> None:
    x = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, -0.25, -5.0, 6, 0, 1, 2, 3, 4, 6.0])
    quantized, scales = quantize(x.to(target))
    assert scales.float().cpu().tolist() == [1.0]
    expected = [0.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0, -0.0, -4.0, 6, 0, 1, 2, 3, 4, 6]
    assert unpacked(quantized).tolist() == expected


def test_nvfp4_with_global_scale(target, rng) -> None:
    x = torch.randn(4, 64, generator=rng).to(target)
    factor = (448 * 6 / x.abs().max()).reshape(())
    _, scales = quantize(x, factor)
    blocks = x.unflatten(-1, (-1, 16))
    expected = (blocks.abs().amax(-1) / 6 * factor).clamp(2.0**-6, 448).to(torch.float8_e4m3fn)
    assert torch.equal(scales.view(torch.uint8), expected.view(torch.uint8))


@pytest.mark.parametrize("rows", [128, 256, 5])
def test_swizzled_scales(rows, target, rng) -> None:
    x = torch.randn(rows, 128, generator=rng).to(target)
    _, plain = quantize(x)
    _, tiled = quantize(x, swizzle_block_scales=True)
    assert tiled.shape == plain.shape
    data = storage_of(tiled)
    flat = plain.cpu().view(torch.uint8)
    for r in range(rows):
        for c in range(8):
            tile = (r // 128) * 2 + c // 4
            at = tile * 512 + (r % 32) * 16 + (r % 128) // 32 * 4 + c % 4
            assert data[at] == flat[r, c]


def test_mxfp8(target, rng) -> None:
    x = (torch.randn(3, 64, generator=rng) * 1000).to(target)
    x[0, :32] = 0
    quantized, scales = quantize(x, block_size=32, dtype=DataType.Float8_e4m3fn)
    assert scales.dtype == torch.float8_e8m0fnu
    power = scales.float().cpu()
    amax = x.cpu().unflatten(-1, (-1, 32)).abs().amax(-1)
    assert (amax <= 448 * power).all()
    nonzero = amax > 0
    assert (amax[nonzero] > 448 * power[nonzero] / 2).all()
    restored = quantized.cpu().float().unflatten(-1, (-1, 32)) * power.unsqueeze(-1)
    torch.testing.assert_close(restored.flatten(-2), x.cpu(), rtol=0.0625, atol=1.0)


def test_grouped(target, rng) -> None:
    x = torch.randn(7, 64, generator=rng).to(target)
    begins = torch.tensor([0, 3], dtype=torch.int32, device=target)
    out_begins = torch.tensor([0, 128], dtype=torch.int32, device=target)
    with FusionDefinition() as fd:
        tensors = [fd.from_pytorch(t) for t in (x, begins, out_begins)]
        for out in fd.ops.nv_grouped_block_quantize(*tensors):
            fd.add_output(out)
    quantized, scales = fd.execute([x, begins, out_begins])
    plain_quantized, plain = quantize(x)
    assert torch.equal(quantized.view(torch.uint8), plain_quantized.view(torch.uint8))
    data = storage_of(scales)
    flat = plain.cpu().view(torch.uint8)
    for r in range(7):
        row = r if r < 3 else 128 + r - 3
        for c in range(4):
            at = row // 128 * 512 + (row % 32) * 16 + (row % 128) // 32 * 4 + c
            assert data[at] == flat[r, c]


def test_scales_of_groups_are_read_where_their_offsets_say(target, rng) -> None:
    """The rows that fill up the tiles of a group are in the storage, if not in the shape."""
    groups, k, n = 3, 64, 16
    ends, sizes = [0, 3, 203, 210], [3, 200, 7]
    x = torch.randn(ends[-1], k, generator=rng).to(target)
    weight = torch.randn(groups * n, k, generator=rng).to(target)
    begins = torch.tensor(ends[:-1], dtype=torch.int32, device=target)
    scale_begins = torch.tensor([0, 128, 384], dtype=torch.int32, device=target)
    problem_sizes = torch.tensor([[m, n, k] for m in sizes], dtype=torch.int32, device=target)
    alpha = torch.tensor([1.0, 2.0, 0.5], device=target)
    weight_codes, weight_scales = quantize(weight)
    mat2 = weight_codes.reshape(groups, n, k // 2).mT
    scale2 = torch.zeros(groups, 128, 4, device=target).to(torch.float8_e4m3fn)
    for group in range(groups):
        for r in range(n):
            scale2.view(torch.uint8)[group].flatten()[r * 16 : r * 16 + 4] = weight_scales[
                group * n + r
            ].view(torch.uint8)
    inputs = [x, mat2, scale2, alpha, problem_sizes, begins, scale_begins]
    with FusionDefinition() as fd:
        a, b, q, f, shapes, rows, scale_rows = (fd.from_pytorch(t) for t in inputs)
        codes, scales = fd.ops.nv_grouped_block_quantize(a, rows, scale_rows)
        fd.add_output(
            fd.ops.cutlass_nvfp4_grouped_mm(codes, b, scales, q, f, shapes, rows, scale_rows)
        )
        fd.add_output(scales)
    out, scales = fd.execute(inputs)
    assert scales.untyped_storage().nbytes() >= (384 + 128) * k // 16
    a_codes, a_scales = quantize(x)
    left = unpacked(a_codes.cpu()) * a_scales.cpu().float().repeat_interleave(16, 1)
    right = unpacked(weight_codes.cpu()) * weight_scales.cpu().float().repeat_interleave(16, 1)
    expected = [
        left[ends[g] : ends[g + 1]] @ right[g * n : (g + 1) * n].T * alpha[g].cpu()
        for g in range(groups)
    ]
    torch.testing.assert_close(out.cpu(), torch.cat(expected).bfloat16())


def test_fp4_goes_through_the_border(target) -> None:
    codes = torch.arange(256, dtype=torch.int32).to(torch.uint8).to(target)
    packed = codes.view(torch.float4_e2m1fn_x2)
    with FusionDefinition() as fd:
        x = fd.from_pytorch(packed)
        y = fd.ops.cast(x, dtype=DataType.Float)
        fd.add_output(y)
        fd.add_output(fd.ops.cast(fd.ops.mul(y, 1.0), dtype=DataType.Float4_e2m1fn))
    numbers, again = fd.execute([packed])
    assert numbers.shape == (512,)
    assert torch.equal(numbers.cpu(), unpacked(packed))
    assert torch.equal(again.view(torch.uint8), codes)


def T(fd: FusionDefinition, rank: int, dtype: DataType = DataType.Float):
    return fd.define_tensor([-1] * rank, contiguity=True, dtype=dtype)


ERRORS = [
    (
        "Block quantization expects floating point input but got int64_t",
        lambda fd: fd.ops.nv_block_quantize(T(fd, 2, DataType.Int)),
    ),
    (
        "Block quantization does not support zero-dimensional tensors",
        lambda fd: fd.ops.nv_block_quantize(T(fd, 0)),
    ),
    (
        "Currently only output data type of Float4_e2m1fn or Float8_e4m3fn is supported",
        lambda fd: fd.ops.nv_block_quantize(T(fd, 2), dtype=DataType.Half),
    ),
    (
        "Block size must be 16 for Float4_e2m1fn, got 32",
        lambda fd: fd.ops.nv_block_quantize(T(fd, 2), block_size=32),
    ),
    (
        "Block size must be 32 for Float8_e4m3fn, got 16",
        lambda fd: fd.ops.nv_block_quantize(T(fd, 2), dtype=DataType.Float8_e4m3fn),
    ),
    (
        "Grouped block quantization expects a matrix",
        lambda fd: fd.ops.nv_grouped_block_quantize(
            T(fd, 3), T(fd, 1, DataType.Int), T(fd, 1, DataType.Int)
        ),
    ),
]


@pytest.mark.parametrize(("text", "call"), ERRORS, ids=[text[:40] for text, _ in ERRORS])
def test_errors(text, call, capsys) -> None:
    with pytest.raises(RuntimeError) as error, FusionDefinition() as fd:
        call(fd)
    assert text in str(error.value)


def test_blocks_divide_the_innermost_dimension() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 20], contiguity=True)
        with pytest.raises(RuntimeError, match="Blocks of 16 elements do not divide a dimension"):
            fd.ops.nv_block_quantize(x)
