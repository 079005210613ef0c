"""Products of Blackwell that two blocks of a cluster compute together.

No GPU that has them has run them: NVRTC compiles the kernels, and the CPU target runs the schedule.
"""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import has_nvrtc
from hard_case import BX, BY, BZ, SHARED, Compiled, par, statements
from product_types import BF16, E4M3, E5M2, HALF, INT8, TF32, TORCH, check_doubled_product
from translated import rebuilt

from nvfuser_direct import (
    BulkLoad,
    DataType,
    Fusion,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    MmaMacro,
    MmaMacroArch,
    MmaMacroEncode,
    ParallelType,
    TensorView,
    UserError,
    _core,
    schedule,
    translate_fusion,
)

BLACKWELL = "sm_100a"
M = 128  # rows of a block
LINE = 128  # bytes: a row of a box
SHAPES = [(256, 64, 64), (130, 70, 72), (1, 1, 8), (700, 129, 200)]


def macro_of(columns: int, dtype: DataType = BF16, blocks: int = 2) -> MmaMacro:
    arch = MmaMacroArch.blackwell_2cta if blocks == 2 else MmaMacroArch.blackwell_1cta
    depth = 32 // TORCH[dtype].itemsize
    return MmaMacroEncode(arch, blocks * M, columns, depth).mma_macro()


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def split_rows(tensor: TensorView, cluster: int) -> None:
    """[m, ..] -> [clusters, blocks of a cluster, M, ..]"""
    tensor.split(0, M)
    tensor.split(0, cluster)


def bind_blocks(tensor: TensorView, first: int) -> None:
    """[clusters, blocks of a cluster, blocks along n]"""
    par(tensor, *[None] * first, BY, BX, BZ)
    tensor.axis(first + 1).set_clustered_blocks()


def schedule_box(box: TensorView, columns: int, cluster: int, *, is_first: bool) -> None:
    """[m, 1, k] or [1, n, k] -> [k / line, clusters, blocks, blocks, 1, rows, line], swizzled. An
    axis of one element is split as that of the other factor."""
    size = TORCH[box.dtype()].itemsize
    box.set_memory_type(SHARED)
    box.split(2, LINE // size)
    box.split(1, columns)
    split_rows(box, cluster)  # [clusters, blocks, M, blocks, columns, k / line, line]
    rows, other = (2, 4) if is_first else (4, 2)
    order(box, 5, 0, 1, 3, other, rows, 6)
    bind_blocks(box, 1)
    box.split(6, 16 // size)
    box.split(5, 8)
    box.swizzle(6, 7)
    for axis in range(5, 9):
        box.axis(axis).parallelize(ParallelType.tma)


def multiplied(
    dtype: DataType = BF16,
    dtype_b: DataType | None = None,
    *,
    columns: int = 64,
    stages: int = 0,
    is_specialized: bool = False,
    cluster: int = 2,
    wide: int = 1,
) -> FusionDefinition:
    """[m, 1, k] times [1, n, k] is [m, n]; a box of the second factor has `wide` tiles."""
    macro, size = macro_of(columns, dtype), TORCH[dtype].itemsize
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=dtype)
        w = fd.define_tensor([1, -1, -1], contiguity=[None, True, True], dtype=dtype_b or dtype)
        summed = DataType.Int32 if dtype == INT8 else DataType.Float
        a, b = (x, w) if dtype == TF32 else (fd.ops.cast(tensor, summed) for tensor in (x, w))
        total = fd.ops.sum(fd.ops.mul(a, b), [2], dtype=summed)
        out = fd.ops.mul(total, 2 if dtype == INT8 else 2.0)
        fd.add_output(out)
        total.set_mma_macro(macro)
        total.set_memory_type(MemoryType.tensor)
        sums = total.cache_after(LoadStoreOpType.LdTMem)
        a, b = (tensor.cache_after(LoadStoreOpType.tma) for tensor in (x, w))
        for box in (a, b):
            schedule_box(box, columns * wide, cluster, is_first=box is a)
        total.split(2, LINE // size)
        total.split(3, macro.k)
        for tensor in (total, sums, out):
            tensor.split(1, columns * wide)
            if wide > 1:
                tensor.split(2, columns)
            split_rows(tensor, cluster)
        if wide > 1:  # [clusters, blocks, M, blocks, tiles, columns, k / line, line / k, k]
            order(total, 6, 7, 0, 1, 3, 4, 2, 5, 8)
            for tensor in (sums, out):
                order(tensor, 0, 1, 3, 4, 2, 5)
        else:
            order(total, 5, 6, 0, 1, 3, 2, 4, 7)
            for tensor in (sums, out):
                order(tensor, 0, 1, 3, 2, 4)
        for tensor, first in ((total, 2), (sums, 0), (out, 0)):
            tensor.apply_mma_swizzle(macro=macro)
            bind_blocks(tensor, first)
        fd.sched.inline_at(total, 1, selected_tensors=[a, b])
        fd.sched.inline_at(out, 4, True, [sums])
        for box in (a, b):
            if is_specialized:
                fd.sched.warp_specialize(box, stages, stages - 1, ParallelType.block_y)
            elif stages > 0:
                box.circular_buffer(stages)
    return fd


def factors(
    shape: tuple[int, int, int], dtype: DataType, dtype_b: DataType | None = None
) -> list[torch.Tensor]:
    rows, columns, depth = shape
    depth = -(-depth // 16) * 16
    x, w = torch.randn(rows, 1, depth), torch.randn(1, columns, depth)
    if dtype == INT8:
        x, w = 50 * x, 50 * w
    return [x.to(TORCH[dtype]), w.to(TORCH[dtype_b or dtype])]


WAYS = {
    "whole": {},
    "narrow": {"columns": 32},
    "broad": {"columns": 256},
    "ahead": {"stages": 3},
    "specialized": {"stages": 3, "is_specialized": True},
}

# -- results: on the CPU --


TYPES = [(BF16, BF16), (HALF, HALF), (E4M3, E5M2), (TF32, TF32), (INT8, INT8)]


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("way", WAYS)
def test_products_are_those_of_pytorch(way, types):
    run = Compiled(multiplied(*types, **WAYS[way]))
    for shape in SHAPES:
        x, w = factors(shape, *types)
        (out,) = run(x, w)
        check_doubled_product(out, x[:, 0], w[0], types[0])


@pytest.mark.parametrize("way", ["whole", "ahead", "specialized"])
def test_the_race_check_finds_no_race(way):
    run, (x, w) = Compiled(multiplied(**WAYS[way])), factors((300, 70, 200), BF16)
    (out,) = _core.call_with_options(lambda: run(x, w), ["kernel_debug"], [])
    check_doubled_product(out, x[:, 0], w[0], BF16)


# -- kernels --


def kernel_text(fd: FusionDefinition) -> str:
    text = fd.fusion.print_kernel(target=BLACKWELL)
    return text[text.index("__global__") :]


def test_each_block_loads_its_rows_and_half_of_the_columns():
    kernel = multiplied(columns=64).fusion.lower(target=BLACKWELL)
    loads = [s for s in statements(kernel) if isinstance(s, BulkLoad)]
    assert [load.box for load in loads] == [[64, 128], [64, 32]]
    of_rows, of_columns = (load.coordinates[1].to_inline_string() for load in loads)
    assert "blockIdx.z * 64" in of_columns
    assert "blockIdx.x" in of_rows
    assert "blockIdx.x" in of_columns
    for load in loads:  # to the beginning of the box, in each block
        assert load.out.index().to_inline_string() == "0"


def test_a_thread_of_the_first_block_waits_for_the_second_one():
    text = kernel_text(multiplied())
    assert "BlockTensorMemory<64, 2> tensor_memory(tensor_memory_barrier);" in text
    steps = ["bulk_groups.wait<0>();", "tensor_memory_stored();", "__syncthreads();"]
    steps += ["tensor_memory_seen();", "tensor_memory.await_pair();", "tcgen05_multiply<16, "]
    steps += ["tensor_memory.commit();", "tensor_memory.wait<0>();", "tensor_memory_load<64>("]
    places, begin = [], text.index("for (")
    for step in steps:
        begin = text.index(step, begin)
        places.append(begin)
    assert places == sorted(places)
    assert ", 256, 64), 2>(" in text


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(
    ("way", "types"),
    [*((way, (BF16, BF16)) for way in WAYS), *(("whole", types) for types in TYPES[1:])],
)
def test_nvrtc_compiles_for_blackwell(way, types):
    made = multiplied(*types, **WAYS[way]).fusion.compile_cuda(architecture=BLACKWELL)
    assert made.cubin
    kind = {BF16: "f16", HALF: "f16", TF32: "tf32", INT8: "i8"}.get(types[0], "f8f6f4")
    for instruction in (
        "tcgen05.alloc.cta_group::2",
        "tcgen05.relinquish_alloc_permit.cta_group::2",
        f"tcgen05.mma.cta_group::2.kind::{kind}",
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster",
        "mbarrier.arrive.release.cluster.shared::cluster",
        "tcgen05.dealloc.cta_group::2",
    ):
        assert instruction in made.ptx, instruction
    assert "cta_group::1" not in made.ptx


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_the_instruction_is_told_the_rows_of_both_blocks():
    """PTX ISA, "Instruction descriptor": f32 += bf16 * bf16, 256 x 64."""
    ptx = multiplied().fusion.compile_cuda(architecture=BLACKWELL).ptx
    descriptor = 1 << 4 | 1 << 7 | 1 << 10 | 64 // 8 << 17 | 256 // 16 << 24
    assert re.search(rf"mov\.b32\s+%r\d+, {descriptor};", ptx)


def test_a_block_has_the_layout_of_its_own_rows():
    layouts = [schedule.fragment_layout(macro=macro_of(32, blocks=blocks)) for blocks in (1, 2)]
    assert layouts[0] == layouts[1]


def test_the_schedule_is_translated_and_serialized():
    fd = multiplied(stages=3)
    text = translate_fusion(fd.fusion, schedule=True)
    assert "blackwell_2cta" in text.lower() or "Blackwell2CTA" in text
    kernels = [
        each.fusion.print_kernel(target=BLACKWELL, comments=False) for each in (fd, rebuilt(text))
    ]
    assert kernels[0] == kernels[1]
    assert Fusion.deserialize(fd.fusion.serialize()).digest() == fd.fusion.digest()


# -- refusals --


def refused(fd: FusionDefinition, headline: str, target: str = BLACKWELL) -> None:
    with pytest.raises(UserError, match=re.escape(headline)) as caught:
        fd.fusion.lower(target=target)
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in str(caught.value)


@pytest.mark.parametrize("cluster", [1, 4])
def test_a_pair_is_a_cluster_of_two(cluster):
    for target in (BLACKWELL, "cpu"):
        refused(
            multiplied(cluster=cluster),
            "Two blocks that multiply together do not share the second factor alone",
            target,
        )


def test_other_gpus_do_not_have_the_instruction():
    for target in ("cuda", "sm_90a", "sm_120a"):
        refused(multiplied(), "The GPU has no instruction Blackwell2CTA_256_64_16", target)


def test_a_box_of_the_second_factor_is_one_tile():
    """Half of two tiles is not half of each."""
    for target in (BLACKWELL, "cpu"):
        refused(
            multiplied(columns=32, wide=2),
            "A box of the second factor of a pair of blocks is not one tile",
            target,
        )


@pytest.mark.parametrize("columns", [16, 48, 288])
def test_other_shapes_are_no_instructions(columns):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=BF16)
        total = fd.ops.sum(fd.ops.mul(x, x), [2])
        fd.add_output(total)
        with pytest.raises(UserError, match="Kernels have no instruction Blackwell2CTA_256_"):
            total.set_mma_macro(macro_of(columns))
