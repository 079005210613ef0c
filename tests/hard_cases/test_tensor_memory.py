"""Tensor cores by hand: products of Blackwell with the sum in tensor memory.

No GPU that has them has run them: NVRTC compiles the kernels, and the CPU target runs the schedule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import has_nvrtc
from hard_case import BX, BY, SHARED, TY, par, statements
from product_types import BF16, E4M3, E5M2, HALF, INT8, TF32, TORCH, check_doubled_product
from translated import rebuilt

from nvfuser_direct import (
    AsyncCommit,
    AsyncWait,
    DataType,
    Fusion,
    FusionDefinition,
    KernelExecutor,
    LoadStoreOp,
    LoadStoreOpType,
    MemoryType,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOp,
    ParallelType,
    TensorView,
    UserError,
    _core,
    schedule,
    translate_fusion,
)

if TYPE_CHECKING:
    from nvfuser_direct import MmaMacro

BLACKWELL = "sm_100a"
TENSOR = MemoryType.tensor
TYPES = [
    *((BF16, BF16), (HALF, HALF), (E4M3, E4M3), (E4M3, E5M2), (E5M2, E5M2)),
    *((TF32, TF32), (INT8, INT8)),
]
M = 128  # rows of the instruction
LINE = 128  # bytes, in which a swizzle permutes pieces of 16
SHAPES = [(128, 64, 64), (130, 70, 72), (1, 1, 8), (300, 129, 200)]


def macro_of(columns: int, dtype: DataType = BF16) -> MmaMacro:
    """32 bytes of k, of each type."""
    depth = 32 // TORCH[dtype].itemsize
    return MmaMacroEncode(MmaMacroArch.blackwell_1cta, M, columns, depth).mma_macro()


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def schedule_box(
    box: TensorView, block: ParallelType, rows: int, width: int, boxes: int = 1
) -> None:
    """[1, rows, k] -> [k / box, 1, blocks, (boxes,) lines.., pieces, 16 bytes], swizzled in lines
    of 128 bytes."""
    size = TORCH[box.dtype()].itemsize
    box.set_memory_type(SHARED)
    box.split(2, width // size)
    box.split(1, rows * boxes)
    first = 3
    if boxes > 1:
        box.split(2, rows)
        order(box, 4, 0, 1, 2, 3, 5)
        first = 4
    else:
        order(box, 3, 0, 1, 2, 4)
    par(box, None, None, block)
    box.split(first + 1, 16 // size)
    box.split(first, LINE // width)
    box.split(first, width // 16)
    box.swizzle(first + 1, first + 3)
    for axis in range(first, len(box.get_loop_domain())):
        box.axis(axis).parallelize(ParallelType.tma)


def multiplied(
    dtype: DataType = BF16,
    dtype_b: DataType | None = None,
    *,
    columns: int = 64,
    width: int = LINE,
    stages: int = 0,
    is_specialized: bool = False,
    tiles: int = 1,
    boxes: int = 1,
    threads: ParallelType | None = None,
    sum_memory: MemoryType = TENSOR,
    keeps_copy: bool = False,
) -> FusionDefinition:
    """[m, 1, k] times [1, n, k] is [m, n]; a block has `tiles` tiles along n, from `boxes`. A copy
    of the sum may go to tensor memory and back once more."""
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
        total.set_memory_type(sum_memory)
        sums = total.cache_after(LoadStoreOpType.LdTMem)
        rows = [sums, out]
        if keeps_copy:
            kept = sums.cache_after(LoadStoreOpType.StTMem)
            kept.set_memory_type(TENSOR)
            rows += [kept, kept.cache_after(LoadStoreOpType.LdTMem)]
        a, b = (tensor.cache_after(LoadStoreOpType.tma) for tensor in (x, w))
        order(a, 1, 0, 2)
        schedule_box(a, BY, M, width)
        schedule_box(b, BX, columns * tiles // boxes, width, boxes)
        total.split(2, width // size)
        total.split(3, macro.k)
        for tensor in (total, *rows):
            tensor.split(1, columns * tiles)
            tensor.split(2, columns)
            tensor.split(0, M)  # [blocks, M, blocks, tiles, columns, ..]
        order(total, 5, 6, 0, 2, 3, 1, 4, 7)
        for tensor in rows:
            order(tensor, 0, 2, 3, 1, 4)
        for tensor in (total, *rows):
            tensor.apply_mma_swizzle(macro=macro)
        par(total, None, None, BY, BX, threads)
        for tensor in rows:
            par(tensor, BY, BX, threads)
        fd.sched.inline_at(total, 1, selected_tensors=[a, b])
        fd.sched.inline_at(out, 4, True, rows)
        for box in (a, b):
            if is_specialized:
                fd.sched.warp_specialize(box, stages, stages - 1, TY)
            elif stages > 0:
                box.circular_buffer(stages)
    return fd


def factors(
    shape: tuple[int, int, int], dtype: DataType, dtype_b: DataType | None = None
) -> list[torch.Tensor]:
    rows, columns, depth = shape
    x, w = torch.randn(rows, 1, depth), torch.randn(1, columns, depth)
    if dtype == INT8:
        x, w = 50 * x, 50 * w
    return [x.to(TORCH[dtype]), w.to(TORCH[dtype_b or dtype])]


def run_on_cpu(fd: FusionDefinition, inputs: list[torch.Tensor]) -> torch.Tensor:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)[0]


WAYS = {
    "whole": {},
    "tiles": {"tiles": 2, "columns": 32},
    "narrow": {"width": 32, "columns": 16},
    "middle": {"width": 64},
    "ahead": {"stages": 3},
    "specialized": {"stages": 3, "is_specialized": True},
    "kept": {"keeps_copy": True},
}

# -- results: on the CPU --


@pytest.mark.parametrize(
    ("way", "types"),
    [(way, types) for way in WAYS for types in TYPES if way != "kept" or types[0] != INT8],
)
def test_products_are_those_of_pytorch(way, types):
    fd = multiplied(*types, **WAYS[way])
    for rows, columns, depth in SHAPES:
        x, w = factors((rows, columns, -(-depth // 16) * 16), *types)
        check_doubled_product(run_on_cpu(fd, [x, w]), x[:, 0], w[0], types[0])


@pytest.mark.parametrize("way", ["whole", "ahead", "specialized"])
def test_the_race_check_finds_no_race(way):
    fd, (x, w) = multiplied(**WAYS[way]), factors((130, 70, 200), BF16)
    result = _core.call_with_options(lambda: run_on_cpu(fd, [x, w]), ["kernel_debug"], [])
    check_doubled_product(result, x[:, 0], w[0], BF16)


# -- kernels --


def test_one_thread_multiplies_and_all_wait():
    kernel = multiplied().fusion.lower(target=BLACKWELL)
    names = []
    for statement in statements(kernel):
        if isinstance(statement, MmaOp):
            names.append("multiply")
        elif isinstance(statement, AsyncCommit | AsyncWait):
            names.append(f"{type(statement).__name__} {statement.async_op.name}")
        elif isinstance(statement, LoadStoreOp) and statement.op == LoadStoreOpType.LdTMem:
            names.append("load")
    of_products = [name for name in names if "tma" not in name]
    assert of_products == [
        "AsyncWait StTMem",
        "multiply",
        "AsyncCommit LdTMem",
        "AsyncWait LdTMem",
        "load",
    ]


def test_tensor_memory_is_printed():
    fusion = multiplied().fusion
    assert re.search(r"T\d+_t_float\[.*\n +=.*mma\(", fusion.print_math())
    assert re.search(r"T\d+_l_float\[.*\n +=.*LdTMem\( T\d+_t_float", fusion.print_math())
    assert "_t[0] = mma(" in str(fusion.lower(target=BLACKWELL))


def test_no_condition_stands_around_a_copy_from_tensor_memory():
    """All lanes of a warp have to come to it, also where their row is a hole."""
    source = multiplied().fusion.print_kernel(target=BLACKWELL)
    lines = source[source.index("__global__") :].splitlines()
    (load,) = (line for line in lines if "tensor_memory_load<64>" in line)
    assert load.startswith("  tensor_memory_load"), "in no branch, and in no loop"


def test_tensors_lie_side_by_side_in_tensor_memory():
    source = multiplied(tiles=3, columns=32).fusion.print_kernel(target=BLACKWELL)
    assert "BlockTensorMemory<128> tensor_memory(" in source  # 96 columns: a power of two


def test_a_block_asks_for_the_columns_of_all_its_tensors():
    """Also of those that are allocated behind other statements."""
    source = multiplied(keeps_copy=True).fusion.print_kernel(target=BLACKWELL)
    assert "BlockTensorMemory<128> tensor_memory(" in source
    assert re.findall(r"const TensorColumns T\d+\(tensor_memory, (\d+)\);", source) == ["0", "64"]


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(
    ("way", "types"), [*((way, (BF16, BF16)) for way in WAYS), *(("whole", t) for t in TYPES[1:])]
)
def test_nvrtc_compiles_for_blackwell(way, types):
    made = multiplied(*types, **WAYS[way]).fusion.compile_cuda(architecture=BLACKWELL)
    assert made.cubin
    kind = {BF16: "f16", HALF: "f16", TF32: "tf32", INT8: "i8"}.get(types[0], "f8f6f4")
    for instruction in (
        "tcgen05.alloc.cta_group::1",
        "tcgen05.st.sync.aligned.32x32b.x1",
        f"tcgen05.mma.cta_group::1.kind::{kind}",
        "tcgen05.commit.cta_group::1.mbarrier",
        "tcgen05.ld.sync.aligned.32x32b.x16",
        "tcgen05.wait::ld",
        "tcgen05.dealloc.cta_group::1",
    ):
        assert instruction in made.ptx, instruction


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(
    ("types", "formats"),
    [
        ((BF16, BF16), (1, 1)),
        ((HALF, HALF), (0, 0)),
        ((E4M3, E5M2), (0, 1)),
        ((TF32, TF32), (2, 2)),
        ((INT8, INT8), (1, 1)),
    ],
)
def test_the_instruction_is_told_types_and_shape(types, formats):
    """PTX ISA, "Instruction descriptor" of kind::tf32, kind::f16, kind::f8f6f4 and kind::i8:
    f32 or s32 += a * b, 128 x 64."""
    ptx = multiplied(*types, columns=64).fusion.compile_cuda(architecture=BLACKWELL).ptx
    of_sum = 2 if types[0] == INT8 else 1
    descriptor = of_sum << 4 | formats[0] << 7 | formats[1] << 10 | 64 // 8 << 17 | 128 // 16 << 24
    assert re.search(rf"mov\.b32\s+%r\d+, {descriptor};", ptx)


# -- copies to tensor memory --


def kept_there(
    columns: int = 64,
    *,
    tiles: int = 1,
    op: LoadStoreOpType = LoadStoreOpType.StTMem,
    dtype: DataType = DataType.Float,
) -> FusionDefinition:
    """-exp(x); all tiles of exp(x) that a block has lie in tensor memory before any is read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        y = fd.ops.exp(x)
        y = y if dtype == y.dtype() else fd.ops.cast(y, dtype)
        out = fd.ops.neg(y)
        fd.add_output(out)
        kept = y.cache_after(op)
        kept.set_memory_type(TENSOR)
        again = kept.cache_after(LoadStoreOpType.LdTMem)
        for tensor in fd.fusion.tensors():
            if tensor.definition() is None:
                continue
            tensor.split(1, columns)
            tensor.split(1, tiles)
            tensor.split(0, M)
            order(tensor, 0, 2, 3, 1, 4)
            if columns % 16 == 0:
                tensor.apply_mma_swizzle(macro=macro_of(columns))
            par(tensor, BY, BX)
        fd.sched.inline_at(out, 2)
        fd.sched.inline_at(out, 4, selected_tensors=[again])
        fd.sched.inline_at(kept, 4, selected_tensors=[y])
    return fd


KEPT = {"one": {}, "narrow": {"columns": 16}, "tiles": {"tiles": 3, "columns": 32}}


@pytest.mark.parametrize("way", KEPT)
def test_tensor_memory_keeps_what_is_stored(way):
    fd = kept_there(**KEPT[way])
    for rows, columns in [(128, 64), (130, 70), (1, 1), (300, 129)]:
        x = torch.randn(rows, columns)
        for options in ([], ["kernel_debug"]):
            result = _core.call_with_options(lambda x=x: run_on_cpu(fd, [x]), options, [])
            torch.testing.assert_close(result.double(), -x.double().exp())


def test_all_tiles_are_stored_before_one_is_loaded():
    source = kept_there(tiles=3, columns=32).fusion.print_kernel(target=BLACKWELL)
    assert "BlockTensorMemory<128> tensor_memory(" in source  # 96 columns: a power of two
    assert source.index("tensor_memory_store<32>(") < source.index("tensor_memory_load<32>(")
    body = source[
        source.index("tensor_memory_store<32>(") : source.index("tensor_memory_load<32>(")
    ]
    assert "for (" in body, "in a loop of their own"


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("way", KEPT)
def test_nvrtc_compiles_stores_for_blackwell(way):
    made = kept_there(**KEPT[way]).fusion.compile_cuda(architecture=BLACKWELL)
    assert made.cubin
    stored = made.ptx.index("tcgen05.st.sync.aligned.32x32b.x16.b32")
    seen = made.ptx.index("tcgen05.wait::st.sync.aligned", stored)
    assert seen < made.ptx.index("tcgen05.ld.sync.aligned.32x32b.x16", seen)
    assert "tcgen05.mma" not in made.ptx


def test_stores_are_translated():
    fd = kept_there()
    text = translate_fusion(fd.fusion, schedule=True)
    assert "cache_after(LoadStoreOpType.StTMem)" in text
    kernels = [
        each.fusion.print_kernel(target=BLACKWELL, comments=False) for each in (fd, rebuilt(text))
    ]
    assert kernels[0] == kernels[1]


# -- printing, translating, serializing --


def test_the_schedule_is_translated():
    fd = multiplied(stages=3)
    text = translate_fusion(fd.fusion, schedule=True)
    assert "set_memory_type(MemoryType.tensor)" in text
    assert "cache_after(LoadStoreOpType.LdTMem)" in text
    again = rebuilt(text)
    kernels = [each.fusion.print_kernel(target=BLACKWELL, comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]


def test_a_serialized_fusion_keeps_its_memory():
    fd = multiplied()
    copy = Fusion.deserialize(fd.fusion.serialize())
    assert copy.digest() == fd.fusion.digest()
    assert TENSOR in [tensor.memory_type() for tensor in copy.tensors()]


def test_the_layout_of_the_sum_is_a_row_for_each_lane():
    lines = schedule.fragment_layout(macro=macro_of(16)).splitlines()
    assert len(lines) == M
    assert lines[0].split() == [f"0.{column}" for column in range(16)]
    assert lines[127].split() == [f"127.{column}" for column in range(16)]


# -- refusals --


def check_refused(fd: FusionDefinition, headline: str, target: str = BLACKWELL) -> None:
    with pytest.raises(UserError, match=re.escape(headline)) as caught:
        fd.fusion.lower(target=target)
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in str(caught.value)


def test_the_sum_lies_in_tensor_memory():
    check_refused(
        multiplied(sum_memory=MemoryType.local), "The sum of tcgen05 does not lie in tensor memory"
    )


def test_only_copies_read_tensor_memory():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=BF16)
        w = fd.define_tensor([1, -1, -1], contiguity=[None, True, True], dtype=BF16)
        a, b = (fd.ops.cast(tensor, DataType.Float) for tensor in (x, w))
        total = fd.ops.sum(fd.ops.mul(a, b), [2])
        fd.add_output(fd.ops.neg(total))
        total.set_mma_macro(macro_of(64))
        total.set_memory_type(TENSOR)
    check_refused(fd, "Tensor memory is read by something that is no copy from there")


def test_other_tensors_do_not_lie_in_tensor_memory():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
        x.cache_after().set_memory_type(TENSOR)
    for target in (BLACKWELL, "cuda", "cpu"):
        check_refused(fd, "Only sums of tcgen05 products, and copies with StTMem, lie", target)


def test_copies_to_tensor_memory_are_of_floats_in_registers():
    headline = "LoadStoreOpType.StTMem copies from registers to tensor memory"
    check_refused(kept_there(dtype=DataType.Half), headline)
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
        x.cache_after(LoadStoreOpType.StTMem).set_memory_type(TENSOR)
    check_refused(fd, headline)


def test_copies_to_tensor_memory_have_whole_tiles():
    check_refused(kept_there(columns=8), "A copy to tensor memory has no such columns")
    check_refused(kept_there(columns=8), "A copy to tensor memory has no such columns", "cpu")


def test_other_gpus_have_no_tensor_memory():
    for target in ("cuda", "sm_90a", "sm_120a"):
        check_refused(kept_there(), "The GPU has no tensor memory", target)


def test_other_gpus_do_not_have_the_instruction():
    for target in ("cuda", "sm_90a", "sm_120a"):
        check_refused(multiplied(), "The GPU has no instruction Blackwell1CTA_128_64_16", target)


def test_one_gpu_of_the_family_multiplies_integers():
    multiplied(INT8, INT8).fusion.lower(target=BLACKWELL)
    headline = "The GPU has no instruction Blackwell1CTA_128_64_32 for int8_t"
    check_refused(multiplied(INT8, INT8), headline, "sm_103a")


def test_a_block_has_as_many_threads_as_lanes():
    check_refused(
        multiplied(tiles=2, threads=TY), "A block has more threads than tensor memory has lanes"
    )


def test_a_block_has_512_columns():
    check_refused(
        multiplied(tiles=3, columns=256, boxes=3), "Tensor memory has not so many columns"
    )


@pytest.mark.parametrize("columns", [8, 24, 272])
def test_other_shapes_are_no_instructions(columns):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=BF16)
        total = fd.ops.sum(fd.ops.mul(x, x), [2])
        fd.add_output(total)
        with pytest.raises(UserError, match="Kernels have no instruction Blackwell1CTA_128_"):
            total.set_mma_macro(macro_of(columns))
