"""Cache hints of copies: which accesses of a kernel have one."""

from __future__ import annotations

import pytest
import torch
from device_sources import nvrtc

from nvfuser_direct import (
    CacheOp,
    CompileParams,
    DataType,
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
)

BEYOND = CacheOp.Global
OTHERS = [CacheOp.unspecified, CacheOp.all_levels, CacheOp.streaming]
DTYPES = {
    DataType.Float: torch.float32,
    DataType.Double: torch.float64,
    DataType.Half: torch.float16,
    DataType.Int: torch.int64,
    DataType.Bool: torch.bool,
    DataType.ComplexDouble: torch.complex128,
}


def copied(
    cache_op: CacheOp,
    dtype: DataType = DataType.Float,
    memory: MemoryType = MemoryType.local,
    vector: int = 1,
) -> FusionDefinition:
    """A matrix that is copied from global memory by 32 threads, and then out."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True, dtype=dtype)
        y = fd.ops.set(x)
        fd.add_output(y)
        copy = x.cache_after(cache_op=cache_op)
        copy.set_memory_type(memory)
        for tensor in (copy, y):
            tensor.split(1, vector)
            tensor.axis(0).parallelize(ParallelType.grid_x)
            tensor.axis(1).parallelize(ParallelType.block_x)
        if vector > 1:
            copy.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(y, 2 if vector > 1 else -1)
    return fd


def test_a_copy_past_the_first_cache_says_so_for_single_elements_too() -> None:
    assert "load_vector<1, Cache::Global>(&T2, &T0[" in copied(BEYOND).fusion.print_kernel()
    assert "load_vector<2, Cache::Global>(" in copied(BEYOND, vector=2).fusion.print_kernel()


@pytest.mark.parametrize("cache_op", OTHERS)
def test_the_other_hints_are_those_of_a_plain_access_or_of_vectors(cache_op: CacheOp) -> None:
    assert "Cache::" not in copied(cache_op).fusion.print_kernel()
    name = "Streaming" if cache_op is CacheOp.streaming else "ReadOnly"
    if cache_op is not CacheOp.all_levels:
        assert f"Cache::{name}" in copied(cache_op, vector=2).fusion.print_kernel()


def test_the_cpu_has_no_use_for_hints() -> None:
    for vector in (1, 2):
        assert "Cache" not in copied(BEYOND, vector=vector).fusion.print_kernel(target="cpu")


@pytest.mark.parametrize("memory", [MemoryType.local, MemoryType.shared])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_are_copied(target: str, dtype: DataType, memory: MemoryType) -> None:
    x = torch.arange(192, device=target).remainder(7).reshape(3, 64).to(DTYPES[dtype])
    assert torch.equal(copied(BEYOND, dtype, memory).manual_execute([x])[0], x)


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
@pytest.mark.parametrize("memory", [MemoryType.local, MemoryType.shared])
@pytest.mark.parametrize("dtype", DTYPES)
def test_hints_compile_for_cuda(dtype: DataType, memory: MemoryType) -> None:
    """Also where there is no GPU."""
    params = CompileParams(device=torch.device("cuda:0"))
    fusion = copied(BEYOND, dtype, memory).fusion
    KernelExecutor().compile(fusion, [], compile_params=params)
