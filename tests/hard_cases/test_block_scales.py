"""Products of Blackwell whose factors have a scale for each block of 32 elements.

No GPU that has them has run them: NVRTC compiles the kernels, and the CPU target runs the schedule.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import has_nvrtc
from hard_case import BX, BY, SHARED, TX, TY, Compiled, par, statements
from product_types import BF16, E4M3, E5M2, FP8, TORCH
from translated import rebuilt

from nvfuser_direct import (
    AsyncCommit,
    AsyncWait,
    BulkLoad,
    CacheOp,
    DataType,
    FenceAsyncProxy,
    Fusion,
    FusionDefinition,
    LoadStoreOp,
    LoadStoreOpType,
    MemoryType,
    MmaMacro,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOp,
    ParallelType,
    TensorView,
    UserError,
    _core,
    translate_fusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable

BLACKWELL = "sm_100a"
E8M0 = DataType.Float8_e8m0fnu
TENSOR = MemoryType.tensor
M = 128  # rows of the instruction
BLOCK = 32  # elements that have one scale, which an instruction sums
CHUNK = 4  # blocks whose scales are copied at once
SHAPES = [(128, 128, 128), (130, 140, 160), (1, 1, 32), (300, 129, 288)]


def macro_of(columns: int, arch: MmaMacroArch = MmaMacroArch.blackwell_1cta) -> MmaMacro:
    return MmaMacroEncode(arch, M, columns, BLOCK).mma_macro()


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def schedule_box(box: TensorView, block: ParallelType, rows: int) -> None:
    """[1, rows, k / 32, 32] -> [k / 128, 1, blocks, 4, rows.., pieces, 16 bytes], swizzled in lines
    of 128 bytes, which have four rows."""
    box.set_memory_type(SHARED)
    box.split(2, CHUNK)
    box.split(1, rows)  # [1, blocks, rows, k / 128, 4, 32]
    order(box, 3, 0, 1, 4, 2, 5)
    par(box, None, None, block)
    box.split(5, 16)
    box.split(4, 4)
    box.split(4, 2)
    box.swizzle(5, 7)
    for axis in range(3, 9):
        box.axis(axis).parallelize(ParallelType.tma)


def split_chunks(scales: TensorView, block: ParallelType, rows: int) -> None:
    """[1, rows, k / 32, 1] -> [k / 128, 1, 1, blocks, (2,) 32, 4, 4]"""
    scales.split(2, CHUNK)
    scales.split(1, rows)
    scales.split(2, 32)  # [1, blocks, rows / 32, 32, k / 128, 4, 1]
    if rows > M:
        scales.split(2, M // 32)
        order(scales, 5, 0, 7, 1, 2, 4, 3, 6)
    else:
        order(scales, 4, 0, 6, 1, 3, 2, 5)
    par(scales, None, None, None, block)


def schedule_scales(
    scales: TensorView, block: ParallelType, rows: int, *, is_first: bool, is_async: bool
) -> list[TensorView]:
    """In shared memory, and from there in tensor memory."""
    stored = (
        scales.cache_after(LoadStoreOpType.cp_async, CacheOp.all_levels)
        if is_async
        else scales.cache_after()
    )
    copied = stored.cache_after(LoadStoreOpType.StTMem)
    for tensor in (stored, copied):
        if is_first:
            order(tensor, 1, 0, 2, 3)
        split_chunks(tensor, block, rows)
    stored.set_memory_type(SHARED)
    copied.set_memory_type(TENSOR)
    for axis in range(4, len(copied.get_loop_domain())):
        copied.axis(axis).parallelize(ParallelType.mma)
    first = len(stored.get_loop_domain()) - 3
    stored.merge(first, first + 1)
    stored.axis(first).parallelize(TX)
    if is_async:
        stored.axis(first + 1).parallelize(ParallelType.vectorize)
    return [stored, copied]


def defined(
    dtype: DataType, dtype_b: DataType, scale: DataType = E8M0, block: int = BLOCK
) -> tuple[FusionDefinition, list[TensorView], TensorView]:
    """[m, 1, k / 32, 32] times [1, n, k / 32, 32], both times their scales, is [m, n]."""
    fd = FusionDefinition()
    with fd:
        tensors = []
        for type_of_factor, is_first in ((dtype, True), (dtype_b, False)):
            rows, flags = ([-1, 1], [True, None]) if is_first else ([1, -1], [None, True])
            tensors += [
                fd.define_tensor(
                    [*rows, -1, block], contiguity=[*flags, True, True], dtype=type_of_factor
                ),
                fd.define_tensor([*rows, -1, 1], contiguity=[*flags, True, None], dtype=scale),
            ]
        x, x_scale, w, w_scale = (fd.ops.cast(tensor, DataType.Float) for tensor in tensors)
        scaled = fd.ops.mul(fd.ops.mul(x, x_scale), fd.ops.mul(w_scale, w))
        total = fd.ops.sum(scaled, [2, 3])
    return fd, tensors, total


def multiplied(
    dtype: DataType = E4M3,
    dtype_b: DataType | None = None,
    *,
    columns: int = M,
    stages: int = 0,
    is_async: bool = False,
    is_specialized: bool = False,
) -> FusionDefinition:
    macro = macro_of(columns)
    fd, (x, x_scale, w, w_scale), total = defined(dtype, dtype_b or dtype)
    with fd:
        out = fd.ops.mul(total, 2.0)
        fd.add_output(out)
        total.set_mma_macro(macro)
        total.set_memory_type(TENSOR)
        sums = total.cache_after(LoadStoreOpType.LdTMem)
        a, b = (tensor.cache_after(LoadStoreOpType.tma) for tensor in (x, w))
        order(a, 1, 0, 2, 3)
        schedule_box(a, BY, M)
        schedule_box(b, BX, columns)
        scales = schedule_scales(x_scale, BY, M, is_first=True, is_async=is_async)
        scales += schedule_scales(w_scale, BX, columns, is_first=False, is_async=is_async)
        total.split(2, CHUNK)
        for tensor in (total, sums, out):
            tensor.split(1, columns)
            tensor.split(0, M)  # [blocks, M, blocks, columns, k / 128, 4, 32]
        order(total, 4, 5, 0, 2, 1, 3, 6)
        for tensor in (sums, out):
            order(tensor, 0, 2, 1, 3)
        for tensor in (total, sums, out):
            tensor.apply_mma_swizzle(macro=macro)
        par(total, None, None, BY, BX)
        for tensor in (sums, out):
            par(tensor, BY, BX)
        fd.sched.inline_at(total, 1, selected_tensors=[a, b, *scales])
        fd.sched.inline_at(out, 3, True, [sums])
        for box in (a, b):
            if is_specialized:
                fd.sched.warp_specialize(box, stages, stages - 1, TY)
            elif stages > 0:
                box.circular_buffer(stages)
    return fd


def factors(shape: tuple[int, int, int], *dtypes: DataType) -> list[torch.Tensor]:
    """Each factor in blocks, and its scales: powers of two."""
    rows, columns, depth = shape
    inputs = []
    for size, dtype in zip(([rows, 1], [1, columns]), dtypes, strict=True):
        blocks = [*size, -(-depth // BLOCK)]
        inputs.append(torch.randn(*blocks, BLOCK).to(TORCH[dtype]))
        exponents = torch.randint(-6, 7, [*blocks, 1])
        inputs.append(torch.exp2(exponents.float()).to(torch.float8_e8m0fnu))
    return inputs


def check(out: torch.Tensor, inputs: list[torch.Tensor]) -> None:
    """`out` is twice the product, in double precision."""
    x, x_scale, w, w_scale = (tensor.float().double() for tensor in inputs)
    a, b = (x * x_scale)[:, 0].flatten(1), (w * w_scale)[0].flatten(1)
    error = (out.double() - 2 * a @ b.t()).abs()
    assert (error <= 1e-5 * 2 * a.abs() @ b.abs().t() + 1e-6).all()


WAYS = {
    "whole": {},
    "broad": {"columns": 256},
    "ahead": {"stages": 3},
    "specialized": {"stages": 3, "is_specialized": True},
    "asynchronous": {"is_async": True},
}

# -- results: on the CPU --


@pytest.mark.parametrize("types", FP8)
@pytest.mark.parametrize("way", WAYS)
def test_products_are_those_of_scaled_blocks(way, types):
    run = Compiled(multiplied(*types, **WAYS[way]))
    for rows, columns, depth in SHAPES:
        # Scales are loaded four at once by asynchronous copies.
        whole = -(-depth // 128) * 128 if way == "asynchronous" else depth
        inputs = factors((rows, columns, whole), *types)
        (out,) = run(*inputs)
        check(out, inputs)


@pytest.mark.parametrize("way", WAYS)
def test_the_race_check_finds_no_race(way):
    depth = 256 if way == "asynchronous" else 288  # it loads four scales at once
    run, inputs = Compiled(multiplied(**WAYS[way])), factors((130, 140, depth), E4M3, E4M3)
    (out,) = _core.call_with_options(lambda: run(*inputs), ["kernel_debug"], [])
    check(out, inputs)


def test_scales_of_holes_are_finite():
    """An element behind the last block is 0 times a scale, and no scale is NaN there."""
    run, inputs = Compiled(multiplied()), factors((128, 128, 32), E4M3, E5M2)
    inputs[2] = inputs[2].float().to(torch.float8_e4m3fn)
    (out,) = run(*inputs)
    assert out.isfinite().all()
    check(out, inputs)


def test_a_product_without_instruction_is_evaluated():
    fd, _, total = defined(E4M3, E5M2)
    with fd:
        total.set_mma_macro(macro_of(M))
        total.set_mma_macro(MmaMacroEncode(MmaMacroArch.no_mma, 0, 0, 0).mma_macro())
        fd.add_output(total)
    inputs = factors((30, 20, 96), E4M3, E5M2)
    (out,) = fd.execute(inputs)
    check(2 * out, inputs)


# -- kernels --


def test_scales_are_copied_before_their_products():
    kernel = multiplied().fusion.lower(target=BLACKWELL)
    names = []
    for statement in statements(kernel):
        if isinstance(statement, MmaOp):
            names.append("multiply")
        elif isinstance(statement, BulkLoad):
            names.append("box")
        elif isinstance(statement, FenceAsyncProxy):
            names.append("fence")
        elif isinstance(statement, AsyncCommit | AsyncWait):
            names.append(f"{type(statement).__name__} {statement.async_op.name}")
        elif isinstance(statement, LoadStoreOp) and statement.op == LoadStoreOpType.StTMem:
            names.append("scales")
        elif isinstance(statement, LoadStoreOp) and statement.op == LoadStoreOpType.LdTMem:
            names.append("load")
    of_products = [name for name in names if "tma" not in name and name != "box"]
    begin, end = ["fence", "AsyncWait StTMem"], ["AsyncCommit LdTMem", "AsyncWait LdTMem"]
    of_first = [*begin, "scales", *end]  # before threads store those of the second factor
    assert of_products == [*of_first, *begin, "scales", "multiply", *end, "load"]


def test_scales_are_printed():
    fusion = multiplied().fusion
    boxes, scales = r"T\d+_s___e4m3.*,\n", r"T\d+_t___e8m0.*"
    assert re.search(rf"= mma\({2 * boxes}{scales},\n{scales}\)", str(fusion))
    source = fusion.print_kernel(target=BLACKWELL)
    body = source[source.index("__global__") :]
    for text in (
        "BlockTensorMemory<256> tensor_memory(",  # 128 columns of sums, 2 x 4 of scales
        "const ScaleColumns ",
        "tcgen05_copy_scales<1>(",
        "tcgen05_multiply_scaled<tcgen05_scaled_instruction(kFormatE4m3, kFormatE4m3, 128, 128)>(",
    ):
        assert text in body, text


def test_a_tile_of_256_columns_has_two_chunks():
    source = multiplied(columns=256).fusion.print_kernel(target=BLACKWELL)
    body = source[source.index("__global__") :]
    assert "tcgen05_copy_scales<1>(" in body
    assert "tcgen05_copy_scales<2>(" in body
    assert "BlockTensorMemory<512> tensor_memory(" in body  # 256, 4 and 8


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(
    ("way", "types"), [*((way, FP8[0]) for way in WAYS), *(("whole", types) for types in FP8[1:])]
)
def test_nvrtc_compiles_for_blackwell(way, types):
    made = multiplied(*types, **WAYS[way]).fusion.compile_cuda(architecture=BLACKWELL)
    assert made.cubin
    places = [
        made.ptx.rindex(instruction)
        for instruction in (
            "tcgen05.cp.cta_group::1.32x128b.warpx4",
            "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale",
            "tcgen05.commit.cta_group::1.mbarrier",
            "tcgen05.ld.sync.aligned.32x32b.x16",
        )
    ]
    assert places == sorted(places)
    assert "fence.proxy.async" in made.ptx


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_the_instruction_is_told_types_shape_and_scales():
    """PTX ISA, "Instruction descriptor" of kind::mxf8f6f4: e4m3 * e5m2, 128 x 256, e8m0 scales.
    The bytes of the scales are added: they are those of the block."""
    made = multiplied(E4M3, E5M2, columns=256).fusion.compile_cuda(architecture=BLACKWELL)
    descriptor = 0 << 7 | 1 << 10 | 256 // 8 << 17 | 1 << 23 | 128 // 128 << 27
    bytes_of_blocks = [block << 4 | block << 29 for block in range(CHUNK)]
    constants = {int(text) & 0xFFFFFFFF for text in re.findall(r"[ ,](-?\d+)[,;]", made.ptx)}
    assert any(descriptor | bits in constants for bits in bytes_of_blocks)


# -- printing, translating, serializing --


def test_the_schedule_is_translated():
    fd = multiplied(stages=2)
    text = translate_fusion(fd.fusion, schedule=True)
    assert "fd.ops.mul(fd.ops.cast(" in text
    again = rebuilt(text)
    kernels = [each.fusion.print_kernel(target=BLACKWELL, comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]


def test_a_serialized_fusion_keeps_its_scales():
    fd = multiplied()
    copy = Fusion.deserialize(fd.fusion.serialize())
    assert copy.digest() == fd.fusion.digest()
    (product,) = (expr for expr in copy.exprs() if isinstance(expr, MmaOp))
    assert product.a_scale.dtype() == product.b_scale.dtype() == E8M0
    assert product.inputs() == [product.a, product.b, product.a_scale, product.b_scale]


# -- refusals --


def refused(fd: FusionDefinition, headline: str, target: str = BLACKWELL) -> None:
    with pytest.raises(UserError, match=re.escape(headline)) as caught:
        fd.fusion.lower(target=target)
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in str(caught.value)


def refused_macro(total: TensorView, macro: MmaMacro, headline: str) -> None:
    with pytest.raises(UserError, match=re.escape(headline)) as caught:
        total.set_mma_macro(macro)
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in str(caught.value)


def test_other_gpus_do_not_have_the_instruction():
    for target in ("cuda", "sm_90a", "sm_120a"):
        refused(multiplied(), "The GPU has no", target)


def test_both_factors_have_scales():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1, BLOCK], dtype=E4M3)
        x_scale = fd.define_tensor([-1, 1, -1, 1], dtype=E8M0)
        w = fd.define_tensor([1, -1, -1, BLOCK], dtype=E4M3)
        a, a_scale, b = (fd.ops.cast(tensor, DataType.Float) for tensor in (x, x_scale, w))
        total = fd.ops.sum(fd.ops.mul(fd.ops.mul(a, a_scale), b), [2, 3])
        fd.add_output(total)
        headline = "Blackwell1CTA_128_128_32 does not multiply these factors by scales"
        refused_macro(total, macro_of(M), headline)


def test_other_instructions_have_no_scales():
    fd, _, total = defined(E4M3, E4M3)
    with fd:
        total.set_mma_macro(macro_of(M))
        hopper = MmaMacroEncode(MmaMacroArch.hopper, 64, M, BLOCK).mma_macro()
        headline = "Hopper_64_128_32 does not multiply these factors by scales"
        refused_macro(total, hopper, headline)
        pairs = MmaMacroEncode(MmaMacroArch.blackwell_2cta, 2 * M, M, BLOCK).mma_macro()
        headline = "Blackwell2CTA_256_128_32 does not multiply these factors by scales"
        refused_macro(total, pairs, headline)


@pytest.mark.parametrize("types", [(BF16, BF16), (E4M3, BF16)])
def test_scaled_factors_are_fp8(types):
    _, _, total = defined(*types)
    refused_macro(total, macro_of(M), "does not multiply tensors of these types")


def test_a_block_is_what_an_instruction_sums():
    _, _, total = defined(E4M3, E4M3, block=64)
    headline = "A factor has no scale for each block that an instruction sums"
    refused_macro(total, macro_of(M), headline)


def test_scales_have_the_shape_of_their_factor():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1, BLOCK], dtype=E4M3)
        w = fd.define_tensor([1, -1, -1, BLOCK], dtype=E4M3)
        x_scale, w_scale = (fd.define_tensor([-1, -1, -1, 1], dtype=E8M0) for _ in range(2))
        a, a_scale, b, b_scale = (
            fd.ops.cast(tensor, DataType.Float) for tensor in (x, x_scale, w, w_scale)
        )
        total = fd.ops.sum(fd.ops.mul(fd.ops.mul(a, a_scale), fd.ops.mul(b, b_scale)), [2, 3])
    headline = "A factor has no scale for each block that an instruction sums"
    refused_macro(total, macro_of(M), headline)


@pytest.mark.parametrize(
    ("scale", "block", "depth"), [(E4M3, 16, 64), (E8M0, 32, 64), (E8M0, 32, 32)]
)
def test_products_of_fp4_are_not_there(scale, block, depth):
    fp4 = DataType.Float4_e2m1fn
    _, _, total = defined(fp4, fp4, scale, block)
    macro = MmaMacroEncode(MmaMacroArch.blackwell_1cta, M, M, depth).mma_macro()
    refused_macro(
        total, macro, "Products of fp4 are not there: shared memory has an element in a byte"
    )


def test_columns_are_whole_chunks():
    for target in (BLACKWELL, "cpu"):
        refused(multiplied(columns=64), "A product by scales has no such number of columns", target)


def with_scales(change: Callable[[TensorView, TensorView], object]) -> FusionDefinition:
    """A product whose copies of scales `change` schedules otherwise: those of x in tensor memory,
    and in shared memory."""
    fd = multiplied()
    with fd:
        (product,) = (expr for expr in fd.fusion.exprs() if isinstance(expr, MmaOp))
        copied = product.a_scale
        change(copied, copied.definition().input(0))
    return fd


def test_scales_are_copied_to_tensor_memory():
    fd, _, total = defined(E4M3, E4M3)
    with fd:
        fd.add_output(fd.ops.mul(total, 2.0))
        total.set_mma_macro(macro_of(M))
        total.set_memory_type(TENSOR)
        total.cache_after(LoadStoreOpType.LdTMem)
        total.split(0, M)
        total.split(2, M)
        order(total, 4, 0, 2, 1, 3, 5)
        total.apply_mma_swizzle(macro=macro_of(M))
    refused(fd, "Scales of a product are not copied to tensor memory")


def test_scales_are_copied_from_shared_memory():
    fd = with_scales(lambda _, stored: stored.set_memory_type(MemoryType.local))
    for target in (BLACKWELL, "cpu"):
        refused(fd, "Scales are copied from shared memory to tensor memory", target)


def test_a_copy_of_scales_is_whole_chunks():
    fd = with_scales(lambda copied, _: copied.axis(-1).parallelize(ParallelType.serial))
    for target in (BLACKWELL, "cpu"):
        refused(fd, "A copy of scales to tensor memory is no chunk of them", target)


def test_a_copy_of_scales_is_of_one_thread():
    def bind(copied: TensorView, _: TensorView) -> None:
        copied.axis(1).parallelize(TX)

    refused(with_scales(bind), "A copy of scales to tensor memory is no chunk of them")


def test_only_products_read_scales_in_tensor_memory():
    fd = multiplied()
    with fd:
        (product,) = (expr for expr in fd.fusion.exprs() if isinstance(expr, MmaOp))
        fd.add_output(fd.ops.cast(product.a_scale, DataType.Float))
    refused(fd, "Scales in tensor memory are read by something that is no product")


def test_scales_lie_in_shared_memory_as_they_are_copied():
    def turn(_: TensorView, stored: TensorView) -> None:
        stored.reorder({-1: -2, -2: -1})

    for target in (BLACKWELL, "cpu"):
        refused(with_scales(turn), "Scales do not lie in shared memory as they are copied", target)
