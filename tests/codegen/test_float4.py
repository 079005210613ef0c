"""fp4 in kernels: two elements in a byte of global memory, one in a byte elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import device_sources
import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    UserError,
    UserNotImplementedError,
)

if TYPE_CHECKING:
    from nvfuser_direct import TensorView

FP4 = DataType.Float4_e2m1fn
MAGNITUDES = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
WIDE = {
    DataType.Float: torch.float32,
    DataType.Double: torch.float64,
    DataType.Half: torch.float16,
    DataType.BFloat16: torch.bfloat16,
}

needs_nvrtc = pytest.mark.skipif(device_sources.nvrtc() is None, reason="no NVRTC")


def pack(codes: torch.Tensor) -> torch.Tensor:
    """Codes 0 to 15 in pairs, the first in the low half."""
    low, high = codes.to(torch.uint8).unflatten(-1, (-1, 2)).unbind(-1)
    return (low | high << 4).contiguous().view(torch.float4_e2m1fn_x2)


def unpack(packed: torch.Tensor) -> torch.Tensor:
    """The codes of pairs."""
    raw = packed.cpu().contiguous().view(torch.uint8)
    return torch.stack([raw & 15, raw >> 4], -1).flatten(-2)


def numbers_of(codes: torch.Tensor) -> torch.Tensor:
    """float32 numbers of codes."""
    magnitude = MAGNITUDES[(codes & 7).long()]
    return torch.where(codes >= 8, -magnitude, magnitude)


def nearest_codes(value: torch.Tensor) -> torch.Tensor:
    """The definition: the nearest number, of two the one of the even code; NaN is 6."""
    value = value.float()  # Double is rounded to Float first, as everywhere
    distance = (value.nan_to_num(nan=6.0).abs().clamp(max=6).unsqueeze(-1) - MAGNITUDES).abs()
    is_best = distance == distance.amin(-1, keepdim=True)
    order = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])  # even codes first
    codes = torch.where(is_best, order, 8).argmin(-1)
    signs = (torch.signbit(value) & ~value.isnan()).int() << 3
    return (codes | signs).to(torch.uint8)


def random_pairs(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    raw = torch.randint(0, 256, shape, generator=generator, dtype=torch.int32)
    return raw.to(torch.uint8).view(torch.float4_e2m1fn_x2)


def fp4_tensor(fd: FusionDefinition, rank: int, contiguity: bool = True) -> TensorView:
    return fd.define_tensor([-1] * rank, contiguity=contiguity, dtype=FP4)


def schedule_stores(tensors: list[TensorView], width: int) -> None:
    """[n] -> blocks, threads, `width` neighbours."""
    for tensor in tensors:
        while tensor.ndims() > 1:
            tensor.merge(0, 1)
        tensor.split(0, width)
        tensor.split(0, 32)
        tensor.axis(0).parallelize(ParallelType.grid_x)
        tensor.axis(1).parallelize(ParallelType.block_x)


def run(fd: FusionDefinition, inputs: list[torch.Tensor], target: str) -> list[torch.Tensor]:
    """Compile for CUDA too, where this machine can; then run."""
    if device_sources.nvrtc() is not None:
        cuda_text(fd.fusion)
    executor = KernelExecutor()
    inputs = [x.to(target) for x in inputs]
    executor.compile(fd.fusion, inputs)
    return [x.cpu() for x in executor.run(inputs)]


def quantize(value: torch.Tensor, dtype: DataType, width: int, target: str) -> torch.Tensor:
    """`value` cast to fp4 and stored in vectors."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * value.ndim, contiguity=True, dtype=dtype)
        y = fd.ops.cast(x, dtype=FP4)
        fd.add_output(y)
        converted = y.cache_before()
        schedule_stores([converted, y], width)
        y.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(converted, 2)
    (result,) = run(fd, [value], target)
    assert result.dtype == torch.float4_e2m1fn_x2
    return result


def dequantize(packed: torch.Tensor, dtype: DataType, width: int, target: str) -> torch.Tensor:
    """`packed` read in vectors (or singly) and cast."""
    with FusionDefinition() as fd:
        x = fp4_tensor(fd, packed.ndim)
        y = fd.ops.cast(x, dtype=dtype)
        fd.add_output(y)
        loaded = x.cache_after()
        schedule_stores([loaded, y], width)
        if width > 1:
            loaded.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(loaded, 2)
    (result,) = run(fd, [packed], target)
    return result


# ---- conversions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", WIDE, ids=lambda d: d.name)
def test_every_code_becomes_its_number(dtype: DataType, target: str) -> None:
    codes = torch.arange(16).repeat(2)
    result = dequantize(pack(codes), dtype, 8, target)
    assert torch.equal(result, numbers_of(codes).to(WIDE[dtype]))
    assert torch.equal(result.signbit(), codes >= 8)  # also of zeros


@pytest.mark.parametrize("dtype", WIDE, ids=lambda d: d.name)
def test_numbers_are_rounded_to_nearest_even_and_saturate(dtype: DataType, target: str) -> None:
    middle = (MAGNITUDES[1:] + MAGNITUDES[:-1]) / 2
    points = torch.cat([MAGNITUDES, middle, torch.tensor([7.0, 100.0, 448.0, torch.inf])])
    points = points.to(WIDE[dtype])
    near = [
        torch.nextafter(points, torch.full_like(points, limit)) for limit in (torch.inf, -torch.inf)
    ]
    value = torch.cat([points, *near, torch.randn(1000).to(points.dtype) * 3])
    value = torch.cat([value, -value, torch.full((2,), torch.nan, dtype=value.dtype)])
    value[-1] = -value[-1]
    assert torch.equal(unpack(quantize(value, dtype, 2, target)), nearest_codes(value))


def test_constants(target: str) -> None:
    values = [0.3, -1.75, 5.0, 1e9, torch.nan, -0.0]
    with FusionDefinition() as fd:
        for value in values:
            y = fd.ops.full([64], value, FP4)
            fd.add_output(y)
            constant = y.cache_before()
            schedule_stores([constant, y], 8)
            y.axis(2).parallelize(ParallelType.vectorize)
            fd.sched.inline_at(constant, 2)
        fd.add_output(fd.ops.set(fd.define_tensor([-1], contiguity=True)))
    *results, _ = run(fd, [torch.zeros(2)], target)
    for value, result in zip(values, results, strict=True):
        assert unpack(result).unique().tolist() == nearest_codes(torch.tensor([value])).tolist()


def test_scalar_inputs_are_rounded(target: str) -> None:
    with FusionDefinition() as fd:
        scale = fd.define_scalar(dtype=FP4)
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.mul(x, scale))
    (result,) = fd.execute([2.6, torch.ones(3, device=target)])
    assert result.tolist() == [3.0] * 3


# ---- loads and stores ----------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
def test_loads_of_any_width(width: int, target: str) -> None:
    packed = random_pairs(3, 80)
    result = dequantize(packed, DataType.Float, width, target)
    assert torch.equal(result, numbers_of(unpack(packed)))


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
def test_stores_of_any_width(width: int, target: str) -> None:
    codes = torch.randint(0, 16, (3, 160))
    result = quantize(numbers_of(codes), DataType.Float, width, target)
    assert result.shape == (3, 80)
    assert torch.equal(unpack(result), codes)


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("through", ["memory", "registers", "shared"])
def test_vectorized_copies(through: str, width: int, target: str) -> None:
    packed = random_pairs(5, 96)
    with FusionDefinition() as fd:
        x = fp4_tensor(fd, 2)
        y = fd.ops.set(x)
        fd.add_output(y)
        tensors = [y]
        if through != "memory":
            tensors.append(x.cache_after())
        if through == "shared":
            tensors[1].set_memory_type(MemoryType.shared)
        schedule_stores(tensors, width)
        for tensor in tensors:
            tensor.axis(2).parallelize(ParallelType.vectorize)
        if through == "registers":
            fd.sched.inline_at(tensors[1], 2)
    (result,) = run(fd, [packed], target)
    assert torch.equal(result.view(torch.uint8), packed.view(torch.uint8))


def test_wide_loads_and_stores_move_words() -> None:
    with FusionDefinition() as fd:
        x = fp4_tensor(fd, 1)
        y = fd.ops.set(x)
        fd.add_output(y)
        loaded = x.cache_after()
        schedule_stores([loaded, y], 8)
        for tensor in (loaded, y):
            tensor.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(loaded, 2)
    text = fd.fusion.print_kernel(target="cuda")
    assert re.search(r"load_vector<8, Cache::ReadOnly>\(&T\d\[0\], T0\.pairs\(.*\)\);", text)
    assert re.search(r"store_vector<8, Cache::\w+>\(T\d\.pairs\(.*\), &T\d\[0\]\);", text)


@pytest.mark.parametrize("op", ["set", "relu", "abs", "neg"])
def test_operations_that_keep_the_type(op: str, target: str) -> None:
    codes = torch.arange(16).repeat(4)
    with FusionDefinition() as fd:
        y = getattr(fd.ops, op)(fp4_tensor(fd, 1))
        if y.dtype() != FP4:
            y = fd.ops.cast(y, dtype=FP4)
        fd.add_output(y)
        y.cache_before()
        tensors = [t for t in fd.fusion.tensors() if not t.is_fusion_input()]
        schedule_stores(tensors, 4)
        y.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(y, 2)
        fd.sched.inline_most([t for t in tensors if t is not y])
    (result,) = run(fd, [pack(codes)], target)
    expected = numbers_of(codes) if op == "set" else getattr(torch, op)(numbers_of(codes))
    assert torch.equal(numbers_of(unpack(result)), expected)


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("types", [("grid_x", "block_x"), ("block_x", "grid_x")])
def test_extrema_over_blocks_and_threads(types: tuple[str, str], op: str, target: str) -> None:
    """Partial results have whole bytes, although fp4 in memory has none."""
    packed = random_pairs(32, 6)
    with FusionDefinition() as fd:
        y = getattr(fd.ops, op)(fp4_tensor(fd, 2), [0, 1])
        fd.add_output(fd.ops.cast(y, dtype=DataType.Float))
        reduced = next(t for t in fd.fusion.tensors() if t.has_reduction())
        for axis, name in enumerate(types):
            reduced.axis(axis).parallelize(getattr(ParallelType, name))
        fd.sched.parallelize_like(reduced)
        fd.sched.inline_most()
    (result,) = run(fd, [packed], target)
    assert y.dtype() == FP4
    assert result.item() == getattr(numbers_of(unpack(packed)), op)().item()


def test_vectors_that_are_filled(target: str) -> None:
    packed = random_pairs(5, 24)
    with FusionDefinition() as fd:
        y = fd.ops.pad(fp4_tensor(fd, 2), [16, 8], fd.define_scalar(1.5, dtype=FP4))
        fd.add_output(y)
        y.split(1, 8)
        y.axis(0).parallelize(ParallelType.block_x)
        y.axis(2).parallelize(ParallelType.vectorize)
    (result,) = run(fd, [packed], target)
    expected = torch.nn.functional.pad(packed.view(torch.uint8), [8, 4], value=0x33)
    assert torch.equal(result.view(torch.uint8), expected)
    assert "fill_vector<8, Memory::" in fd.fusion.print_kernel()


def test_a_part_of_the_outer_dimension(target: str) -> None:
    packed = random_pairs(7, 24)
    with FusionDefinition() as fd:
        x = fp4_tensor(fd, 2)
        y = fd.ops.slice(x, [1, 0], [6, 48])
        fd.add_output(y)
        y.split(1, 16)
        y.axis(0).parallelize(ParallelType.block_x)
        y.axis(2).parallelize(ParallelType.vectorize)
    (result,) = run(fd, [packed], target)
    assert torch.equal(result.view(torch.uint8), packed.view(torch.uint8)[1:6])


def test_views_that_begin_inside_of_their_memory(target: str) -> None:
    packed = random_pairs(9, 16).to(target)[3::2, 4:12]
    with FusionDefinition() as fd:
        x = fd.from_pytorch(packed)
        y = fd.ops.cast(x, dtype=DataType.Float)
        fd.add_output(y)
        loaded = x.cache_after()
        schedule_stores([loaded, y], 8)
        loaded.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(loaded, 2)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [packed])
    (result,) = executor.run([packed])
    assert torch.equal(result.cpu(), numbers_of(unpack(packed)))


# ---- what is refused -----------------------------------------------------------------------------


def test_a_single_element_is_not_stored() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.set(fp4_tensor(fd, 1))
        fd.add_output(y)
    text = "A single fp4 element cannot be stored to global memory"
    with pytest.raises(UserNotImplementedError, match=text) as error:
        fd.fusion.lower()
    assert "vectorized by 2, 4, 8, 16 or 32" in str(error.value)


def test_a_fusion_without_a_schedule_is_computed_all_the_same(target: str) -> None:
    packed = random_pairs(4, 8)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.set(fp4_tensor(fd, 2)))
    (result,) = fd.execute([packed.to(target)])
    assert torch.equal(result.cpu().view(torch.uint8), packed.view(torch.uint8))


def test_vectors_have_whole_bytes_and_at_most_16() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.set(fp4_tensor(fd, 1))
        fd.add_output(y)
        y.split(0, 64)
        y.axis(1).parallelize(ParallelType.vectorize)
    with pytest.raises(UserError, match="Vector width is not supported") as error:
        fd.fusion.lower()
    assert "64 elements of 4 bits" in str(error.value)


def test_strides_count_elements() -> None:
    packed = random_pairs(4, 6)[:, :4]  # rows of 8 elements, 12 apart
    with FusionDefinition() as fd:
        x = fd.from_pytorch(packed)
        y = fd.ops.cast(x, dtype=DataType.Float)
        fd.add_output(y)
        loaded = x.cache_after()
        schedule_stores([loaded, y], 8)
        loaded.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(loaded, 2)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [packed])
    with pytest.raises(UserError, match="not possible due to invalid stride"):
        executor.run([packed])


def test_addresses_are_aligned_to_the_bytes_of_a_vector() -> None:
    packed = random_pairs(40)[1:33]
    with FusionDefinition() as fd:
        x = fp4_tensor(fd, 1)
        y = fd.ops.set(x)
        fd.add_output(y)
        schedule_stores([y], 8)
        y.axis(2).parallelize(ParallelType.vectorize)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [packed])
    with pytest.raises(UserError, match="memory address is not aligned") as error:
        executor.run([packed])
    assert "divisible by 4 bytes" in str(error.value)


def test_asynchronous_copies_are_refused() -> None:
    with FusionDefinition() as fd:
        x = fp4_tensor(fd, 1)
        fd.add_output(fd.ops.cast(x, dtype=DataType.Float))
        copy = x.cache_after(LoadStoreOpType.cp_async)
        copy.set_memory_type(MemoryType.shared)
        copy.split(0, 8)
        copy.axis(1).parallelize(ParallelType.vectorize)
    with pytest.raises(UserNotImplementedError, match=r"cp\.async cannot take pairs of fp4 apart"):
        fd.fusion.lower()


@needs_nvrtc
def test_eight_elements_are_one_load() -> None:
    with FusionDefinition() as fd:
        x = fp4_tensor(fd, 1)
        y = fd.ops.cast(x, dtype=DataType.BFloat16)
        fd.add_output(y)
        loaded, converted = x.cache_after(), y.cache_before()
        schedule_stores([loaded, converted, y], 8)
        for tensor in (loaded, y):
            tensor.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(y, 2)
        fd.sched.inline_at(loaded, 2)
    assert "load_vector<8" in cuda_text(fd.fusion)
