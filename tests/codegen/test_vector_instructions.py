"""A vector access is one instruction: what the CUDA compiler makes of copies, for every dtype.

Indices have 64 bits here. A store that is written as an assignment of a struct is taken apart then.
"""

from __future__ import annotations

import re

import pytest
from device_sources import assemble, nvrtc, sources_used

from nvfuser_direct import (
    CacheOp,
    DataType,
    FusionDefinition,
    MemoryType,
    ParallelType,
    compile_cuda_source,
)

BEYOND = getattr(CacheOp, "global")
GLOBAL = MemoryType.Global

pytestmark = pytest.mark.skipif(nvrtc() is None, reason="no NVRTC")

BITS = {
    DataType.Bool: 8,
    DataType.Byte: 8,
    DataType.Char: 8,
    DataType.Short: 16,
    DataType.UInt16: 16,
    DataType.Int32: 32,
    DataType.UInt32: 32,
    DataType.Int: 64,
    DataType.UInt64: 64,
    DataType.Half: 16,
    DataType.BFloat16: 16,
    DataType.Float: 32,
    DataType.Double: 64,
    DataType.Float8_e4m3fn: 8,
    DataType.Float8_e5m2: 8,
    DataType.Float8_e8m0fnu: 8,
    DataType.Float4_e2m1fn: 4,
    DataType.ComplexFloat: 64,
    DataType.ComplexDouble: 128,
}
# Bytes of an access: its type in PTX.
TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}
# The name of a hint in the instructions of a load and of a store.
HINTS = {
    CacheOp.unspecified: (".nc", ""),  # nothing writes the input
    CacheOp.all_levels: (".nc", ""),
    CacheOp.streaming: (".cs", ".cs"),
    BEYOND: (".cg", ".cg"),
}


def widths() -> list[tuple[DataType, int]]:
    """Every dtype with all numbers of lanes that are an access of at most 16 bytes."""
    return [
        (dtype, n)
        for dtype, bits in BITS.items()
        for n in (2, 4, 8, 16, 32)
        if 8 <= n * bits <= 128
    ]


def accesses(fd: FusionDefinition) -> list[str]:
    """The accesses to memory in the PTX of a kernel, in its order."""
    text = fd.fusion.print_kernel(comments=False)
    source = assemble("cuda", sources_used("cuda", text), text)
    ptx = compile_cuda_source(source, architecture="compute_90").decode()
    return [name for name in re.findall(r"\b(?:ld|st)\.[.\w]+", ptx) if ".param" not in name]


def moved(
    dtype: DataType,
    lanes: int,
    *,
    hint: CacheOp = CacheOp.unspecified,
    through: MemoryType = MemoryType.local,
) -> FusionDefinition:
    """Vectors of a tensor with strides are loaded, kept, copied in registers, kept, and stored.

    The caches have the hint; `ops.set` streams.
    """
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True], dtype=dtype)
        copied = fd.ops.set(x)
        y = fd.ops.set(copied)
        fd.add_output(y)
        loaded = x.cache_after(cache_op=hint)
        kept = copied.cache_after(cache_op=hint)
        loaded.set_memory_type(through)
        kept.set_memory_type(through)
        for tensor in (loaded, copied, kept, y):
            tensor.split(1, lanes)
            tensor.axis(0).parallelize(ParallelType.grid_x)
            tensor.axis(1).parallelize(ParallelType.block_x)
        in_registers = (copied, kept) if through is MemoryType.local else ()
        for tensor in {loaded, copied, kept, y}.difference(in_registers):
            tensor.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(y, 2)
    return fd


@pytest.mark.parametrize(("dtype", "lanes"), widths())
def test_an_access_to_global_memory_is_one_instruction(dtype: DataType, lanes: int) -> None:
    width = TYPES[lanes * BITS[dtype] // 8]
    assert accesses(moved(dtype, lanes)) == [f"ld.global.nc.{width}", f"st.global.cs.{width}"]


@pytest.mark.parametrize(("dtype", "lanes"), [(d, n) for d, n in widths() if BITS[d] >= 8])
def test_an_access_to_shared_memory_is_one_instruction(dtype: DataType, lanes: int) -> None:
    width = TYPES[lanes * BITS[dtype] // 8]
    assert accesses(moved(dtype, lanes, through=MemoryType.shared)) == [
        *(f"ld.global.nc.{width}", f"st.shared.{width}"),
        *(f"ld.shared.{width}", f"st.shared.{width}"),
        *(f"ld.shared.{width}", f"st.global.cs.{width}"),
    ]


@pytest.mark.parametrize(("dtype", "lanes"), widths())
@pytest.mark.parametrize("hint", HINTS)
def test_a_hint_is_part_of_that_instruction(dtype: DataType, lanes: int, hint: CacheOp) -> None:
    """Copies from global to global memory, and one from registers."""
    width = TYPES[lanes * BITS[dtype] // 8]
    load, store = HINTS[hint]
    assert accesses(moved(dtype, lanes, hint=hint, through=GLOBAL)) == [
        *(f"ld.global{load}.{width}", f"st.global{store}.{width}"),
        *(f"ld.global.cs.{width}", f"st.global{store}.{width}"),
        *(f"ld.global.cs.{width}", f"st.global.cs.{width}"),
    ]


@pytest.mark.parametrize(("dtype", "lanes"), widths())
def test_the_surroundings_of_a_pad_are_stored_in_one_instruction(
    dtype: DataType, lanes: int
) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True, dtype=dtype)
        y = fd.ops.pad(x, [lanes, lanes])
        fd.add_output(y)
        y.split(1, lanes)
        y.axis(2).parallelize(ParallelType.vectorize)
    stores = [name for name in accesses(fd) if name.startswith("st.")]
    assert set(stores) == {f"st.global.{TYPES[lanes * BITS[dtype] // 8]}"}
