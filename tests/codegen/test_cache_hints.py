"""Cache hints of copies: which accesses of a kernel have one."""

from __future__ import annotations

import pytest
import torch
from cuda_kernels import cuda_text
from device_sources import nvrtc
from translated import rebuilt

from nvfuser_direct import (
    CacheHint,
    CacheOp,
    CompileParams,
    DataType,
    Fusion,
    FusionDefinition,
    KernelExecutor,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    UserError,
    translate_fusion,
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


# ---- hints of copies -----------------------------------------------------------------------------

HINTS = [CacheHint.evict_first, CacheHint.evict_last, CacheHint.no_allocate]


def hinted(
    hint: CacheHint, *, vector: int = 1, op: LoadStoreOpType = LoadStoreOpType.set
) -> FusionDefinition:
    """A matrix that is loaded and stored with a hint."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.set(x)
        fd.add_output(y)
        copy = x.cache_after(op).set_cache_hint(hint)
        if op is not LoadStoreOpType.set:
            copy.set_memory_type(MemoryType.shared)
        if hint is not CacheHint.no_allocate or op is LoadStoreOpType.set:
            y.set_cache_hint(hint)
        y.axis(0).parallelize(ParallelType.grid_x)
        copy.axis(0).parallelize(ParallelType.grid_x)
        if op is LoadStoreOpType.tma:
            copy.axis(1).parallelize(ParallelType.tma)
            y.axis(1).parallelize(ParallelType.block_x)
            fd.sched.inline_at(y, 1, selected_tensors=[copy])
            return fd
        for tensor in (copy, y):
            tensor.split(1, vector)
            tensor.axis(1).parallelize(ParallelType.block_x)
            if vector > 1:
                tensor.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(y, 2 if vector > 1 else -1)
    return fd


@pytest.mark.parametrize("vector", [1, 2, 4])
@pytest.mark.parametrize("hint", HINTS)
def test_loads_and_stores_have_hints(target: str, hint: CacheHint, vector: int) -> None:
    x = torch.randn(13, 64, device=target)
    fd = hinted(hint, vector=vector)
    assert torch.equal(fd.manual_execute([x])[0], x)
    text = fd.fusion.print_kernel(target="cuda")
    name = "".join(word.capitalize() for word in hint.name.split("_"))
    head = f"copy_hinted<{vector}, Hint::{name}, "
    assert f"{head}Memory::Registers, Memory::Global>(" in text
    assert f"{head}Memory::Global, Memory::Registers>(" in text
    assert "Hint" not in fd.fusion.print_kernel(target="cpu")


@pytest.mark.parametrize("op", [LoadStoreOpType.cp_async, LoadStoreOpType.tma])
@pytest.mark.parametrize("hint", HINTS[:2])
def test_asynchronous_copies_have_hints(target: str, hint: CacheHint, op: LoadStoreOpType) -> None:
    x = torch.randn(13, 64, device=target)
    fd = hinted(hint, op=op)
    if target == "cpu" or op is LoadStoreOpType.cp_async or has_bulk_copies():
        assert torch.equal(fd.manual_execute([x])[0], x)
    text = fd.fusion.print_kernel(target="cuda")
    assert ("bulk_load_hinted<" if op is LoadStoreOpType.tma else "cp_async_ca_hinted<4, ") in text


def has_bulk_copies() -> bool:
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= (9, 0)


def test_stores_of_boxes_have_hints() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        row = y.cache_before(LoadStoreOpType.tma)
        row.set_memory_type(MemoryType.shared)
        y.set_cache_hint(CacheHint.evict_first)
        y.axis(1).parallelize(ParallelType.tma)
        row.axis(1).parallelize(ParallelType.block_x)
        fd.sched.inline_at(y, 1, selected_tensors=[row])
    assert "bulk_store_hinted<Hint::EvictFirst>(" in cuda_text(fd.fusion)


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
@pytest.mark.parametrize(
    ("fd", "instructions"),
    [
        (hinted(HINTS[0], vector=4), ["ld.global.L2::cache_hint.v4.u32", "L2::evict_first"]),
        (hinted(HINTS[1], vector=2), ["st.global.L2::cache_hint.v2.u32", "L2::evict_last"]),
        (hinted(HINTS[2]), ["ld.global.L1::no_allocate.u32", "st.global.L1::no_allocate.u32"]),
        (
            hinted(HINTS[0], op=LoadStoreOpType.cp_async),
            ["cp.async.ca.shared.global.L2::cache_hint"],
        ),
        (hinted(HINTS[1], op=LoadStoreOpType.tma), ["complete_tx::bytes.L2::cache_hint"]),
    ],
    ids=["load", "store", "no_allocate", "cp_async", "tma"],
)
def test_ptx_has_the_hints(fd: FusionDefinition, instructions: list[str]) -> None:
    ptx = fd.fusion.compile_cuda(architecture="sm_90a").ptx
    for instruction in instructions:
        assert instruction in ptx


@pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")
def test_gpus_before_ampere_have_plain_copies() -> None:
    ptx = hinted(CacheHint.evict_first, vector=4).fusion.compile_cuda(architecture="sm_75").ptx
    assert "cache_hint" not in ptx
    assert "ld.global.v4.u32" in ptx


def test_hints_are_steps_of_a_schedule() -> None:
    fusion = hinted(CacheHint.evict_last, vector=2).fusion
    script = translate_fusion(fusion, schedule=True)
    assert script.count(".set_cache_hint(CacheHint.evict_last)") == 2
    kernels = [
        each.print_kernel(target="cuda", comments=False)
        for each in (fusion, rebuilt(script).fusion)
    ]
    assert kernels[0] == kernels[1]
    assert Fusion.deserialize(fusion.serialize()).serialize() == fusion.serialize()


def test_what_is_no_copy_has_no_hint() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.exp(x)
        fd.add_output(y)
        for tensor, found in ((x, "a tensor without definition"), (y, "a result of UnaryOp")):
            with pytest.raises(
                UserError,
                match=rf"(?s)A cache hint is for the result of a copy.*node: .*expected: .*"
                rf"found: .*{found}.*fix: .*cache_after",
            ):
                tensor.set_cache_hint(CacheHint.evict_first)


def test_asynchronous_copies_have_no_hint_about_the_first_cache() -> None:
    for op in (LoadStoreOpType.cp_async, LoadStoreOpType.tma):
        with pytest.raises(
            UserError,
            match=r"(?s)Asynchronous copies have no hint about the first-level cache.*node: .*"
            r"expected: .*found: .*fix: .*CacheOp\.Global",
        ):
            hinted(CacheHint.no_allocate, op=op)


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_a_hint_is_about_global_memory(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.exp(x)
        copy = fd.ops.set(y)
        fd.add_output(fd.ops.neg(copy))
        copy.set_cache_hint(CacheHint.evict_first)
    with pytest.raises(
        UserError,
        match=r"(?s)A copy with a cache hint touches no global memory.*node: .*expected: .*"
        r"found: .*Local memory.*fix: ",
    ):
        fd.fusion.lower(target=target)
