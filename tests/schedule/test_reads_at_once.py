"""Loads that are under way at once: elements that are chosen from several tensors, tiles that are
not whole, and operands that rows share."""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import has_nvrtc
from machine_code import entry_body, instructions
from scheduled_runs import check_runs, define, scheduled

from nvfuser_direct import DataType, Fusion, FusionDefinition, KernelExecutor, SchedulerType

RESIZE, TRANSPOSE = SchedulerType.resize, SchedulerType.transpose

needs_nvrtc = pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")


def randoms(shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def body_of(fusion: Fusion) -> list[str]:
    """The kernel's PTX."""
    return instructions(entry_body(fusion.compile_cuda(DataType.Int32).ptx))


# -- elements that are chosen --


def padded_cat(parts: list[torch.Tensor]) -> FusionDefinition:
    """A cat of constant sizes, as `fd.execute` makes them of dimensions that are resized."""
    with FusionDefinition() as fd:
        tensors = [fd.from_pytorch(part, static_sizes=True) for part in parts]
        fd.add_output(fd.ops.pad(fd.ops.cat(tensors, 1), [5, 6]))
    return fd


CATS = [(3001, (127, 41)), (1025, (64, 33, 7)), (4096, (24, 5)), (777, (3, 900))]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("rows", "widths"), CATS, ids=str)
def test_values_of_cats_of_odd_rows(
    rows: int, widths: tuple[int, ...], dtype: torch.dtype, target: str
) -> None:
    parts = [randoms((rows, width), dtype, i) for i, width in enumerate(widths)]
    check_runs(padded_cat(parts), RESIZE, parts, target)


@needs_nvrtc
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
@pytest.mark.parametrize(("rows", "widths"), [(300_001, (127, 41)), (300_000, (127, 42))], ids=str)
def test_chosen_elements_are_read_without_branches(
    rows: int, widths: tuple[int, ...], dtype: torch.dtype
) -> None:
    """A load has a predicate. All of a thread come before its first store, unless a vector that is
    stored has eight."""
    parts = [torch.empty(rows, width, dtype=dtype) for width in widths]
    fusion, params = scheduled(padded_cat(parts), RESIZE, parts, "cuda")
    body = body_of(fusion)
    loads = [i for i, text in enumerate(body) if "ld.global.nc" in text]
    assert all(body[i].startswith("@p ld.global.nc") for i in loads)
    assert len(loads) == params.unroll_factor_inner * params.vectorization_factor >= 8
    if params.vectorization_factor < 8:
        assert loads[-1] < next(i for i, text in enumerate(body) if "st.global" in text)


# -- tiles that are not whole --


@needs_nvrtc
@pytest.mark.parametrize("shape", [(1000, 1023), (700, 1130), (122, 57, 113)], ids=str)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_a_part_of_a_tile_is_loaded_before_it_is_stored(
    shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    dims = [*range(1, len(shape)), 0]
    a = randoms(shape, dtype)
    fd = define(lambda fd, x: fd.ops.cast(fd.ops.neg(fd.ops.permute(x, dims)), x.dtype()), [a])
    fusion, params = scheduled(fd, TRANSPOSE, [a], "cuda")
    if params.tile_parts:
        return  # a tile of runs
    text = fusion.print_kernel(target="cuda", comments=False)
    assert not re.search(r"_s\[.*\] = load_readonly", text)
    assert "Memory::Shared>(&" not in text.split("__syncthreads")[0].replace("copy_vector", "")
    executor = KernelExecutor()
    executor.compile(fusion, [a])
    assert torch.equal(executor.run([a])[0], -a.permute(dims))


# -- operands that rows share --


def rotary(inputs: list[torch.Tensor]) -> FusionDefinition:
    heads, seq, dim = inputs[0].shape
    with FusionDefinition() as fd:
        ops, half = fd.ops, dim // 2
        x, cos, sin = (fd.from_pytorch(each, static_sizes=True) for each in inputs)
        first = ops.slice(x, [0, 0, 0], [heads, seq, half])
        second = ops.slice(x, [0, 0, half], [heads, seq, dim])
        over = [True, False, False]
        a = ops.mul(x, ops.broadcast(cos, over))
        turned = ops.cat([ops.cast(ops.neg(second), x.dtype()), first], 2)
        b = ops.mul(turned, ops.broadcast(sin, over))
        fd.add_output(ops.cast(ops.add(a, b), x.dtype()))
    return fd


@pytest.mark.parametrize(
    ("heads", "seq", "dim", "rows", "heads_first"),
    [
        (32, 49_591, 64, 4, True),  # 25 MB of cosines and sines
        (32, 4096, 128, 1, False),  # 4 MB
        (3, 300_000, 64, 2, True),
        (1, 300_000, 64, 1, False),  # none is read again
        (32, 64, 64, 1, False),  # too few threads otherwise
    ],
)
def test_rows_share_what_a_thread_has_loaded(
    heads: int, seq: int, dim: int, rows: int, heads_first: bool
) -> None:
    shapes = [(heads, seq, dim), (seq, dim), (seq, dim)]
    inputs = [torch.empty(shape) for shape in shapes]
    _, params = scheduled(rotary(inputs), RESIZE, inputs, "cuda")
    assert params.unroll_factor_outer == rows
    assert params.flip_grid_binding == heads_first


@pytest.mark.parametrize("heads", [1, 5, 32])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_values_of_rotary_embeddings(heads: int, dtype: torch.dtype, target: str) -> None:
    shapes = [(heads, 3001, 24), (3001, 24), (3001, 24)]
    inputs = [randoms(shape, dtype, i) for i, shape in enumerate(shapes)]
    check_runs(rotary(inputs), RESIZE, inputs, target)
