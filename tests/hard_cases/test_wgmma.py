"""Tensor cores by hand: warpgroups that multiply from swizzled shared memory, or a loop nest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from hard_case import BX, BY, SHARED, TX, TY, Compiled, cuda_text, lowered, par, statements
from product_types import BF16, E4M3, FP8, HALF, INT8, TF32, TORCH
from translated import rebuilt

from nvfuser_direct import (
    AsyncCommit,
    AsyncWait,
    DataType,
    Fusion,
    FusionDefinition,
    LoadStoreOpType,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOp,
    MmaOperand,
    ParallelType,
    TensorView,
    UserError,
    _core,
    schedule,
    translate_fusion,
)

if TYPE_CHECKING:
    from nvfuser_direct import MmaMacro

pytestmark = pytest.mark.sanitize

TMA = ParallelType.tma
M = 64  # rows of the instruction
GROUPS = 2  # warpgroups of a block
LINE = 128  # bytes, in which a swizzle permutes pieces of 16
PIECE = 16  # bytes
SHAPES = [(128, 32, 64), (130, 33, 72), (1, 1, 8), (65, 40, 200), (300, 9, 16)]


def macro_of(columns: int, dtype: DataType = BF16) -> MmaMacro:
    """32 bytes of k, of each type."""
    depth = 32 // TORCH[dtype].itemsize
    return MmaMacroEncode(MmaMacroArch.hopper, M, columns, depth).mma_macro()


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def schedule_box(box: TensorView, block: ParallelType, rows: int, width: int, size: int) -> None:
    """[1, rows, k] -> [k / box, 1, blocks, lines.., pieces, 16 bytes], swizzled in lines of 128."""
    box.set_memory_type(SHARED)
    box.split(2, width // size)
    box.split(1, rows)
    order(box, 3, 0, 1, 2, 4)
    par(box, None, None, block)
    box.split(4, PIECE // size)  # [.., rows, pieces, 16 bytes]
    box.split(3, LINE // width)  # rows of a line
    box.split(3, width // 16)  # as many lines as pieces
    box.swizzle(4, 6)
    for axis in range(3, len(box.get_loop_domain())):
        box.axis(axis).parallelize(TMA)


def multiplied(
    dtype: DataType = BF16,
    dtype_b: DataType | None = None,
    *,
    columns: int = 16,
    width: int = 128,
    stages: int = 0,
    is_specialized: bool = False,
    is_swizzled: bool = True,
    rows_of_b: int | None = None,
    tiles: int = 1,
) -> tuple[FusionDefinition, TensorView, TensorView, TensorView]:
    """[m, 1, k] times [1, n, k] is [m, n]: a block has two warpgroups, with `tiles` for each."""
    macro, size = macro_of(columns, dtype), TORCH[dtype].itemsize
    rows_of_a = GROUPS * tiles * M
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=dtype)
        w = fd.define_tensor([1, -1, -1], contiguity=[None, True, True], dtype=dtype_b or dtype)
        of_sum = DataType.Int32 if dtype == INT8 else DataType.Float
        a, b = (fd.ops.cast(tensor, of_sum) for tensor in (x, w)) if dtype != TF32 else (x, w)
        total = fd.ops.sum(fd.ops.mul(a, b), [2], dtype=of_sum)
        fd.add_output(fd.ops.mul(total, 2 if dtype == INT8 else 2.0))
        total.set_mma_macro(macro)
        a, b = (tensor.cache_after(LoadStoreOpType.tma) for tensor in (x, w))
        order(a, 1, 0, 2)
        for box, block, rows in ((a, BY, rows_of_a), (b, BX, rows_of_b or columns)):
            if is_swizzled:
                schedule_box(box, block, rows, width, size)
            else:
                box.set_memory_type(SHARED)
                box.split(2, width // size)
                box.split(1, rows)
                order(box, 3, 0, 1, 2, 4)
                par(box, None, None, block, TMA, TMA)
        (out,) = fd.fusion.outputs()
        total.split(2, width // size)
        total.split(3, macro.k)
        for tensor in (total, out):
            tensor.split(1, columns)
            tensor.split(0, rows_of_a)
            tensor.split(1, M)
            tensor.split(1, tiles)  # [blocks, warpgroups, tiles, M, blocks, columns, ..]
        order(total, 6, 7, 0, 4, 1, 2, 3, 5, 8)
        order(out, 0, 4, 1, 2, 3, 5)
        for tensor in (total, out):
            tensor.apply_mma_swizzle(macro=macro)
        par(total, None, None, BY, BX, TY)
        par(out, BY, BX, TY)
        fd.sched.inline_at(total, 1, selected_tensors=[a, b])
        for box in (a, b):
            if is_specialized:
                fd.sched.warp_specialize(box, stages, stages - 1, TY)
            elif stages > 0:
                box.circular_buffer(stages)
    return fd, a, b, total


def factors(
    shape: tuple[int, int, int], dtype: DataType, device: str, dtype_b: DataType | None = None
) -> list[torch.Tensor]:
    rows, columns, depth = shape
    x = torch.randn(rows, 1, depth, device=device)
    w = torch.randn(1, columns, depth, device=device)
    if dtype == INT8:
        return [(40 * t).clamp(-128, 127).to(torch.int8) for t in (x, w)]
    return [x.to(TORCH[dtype]), w.to(TORCH[dtype_b or dtype])]


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    if x.dtype == torch.int8:  # exact in double
        return (2 * (x[:, 0].double() @ w[0].double().t())).int()
    return 2 * (x[:, 0].float() @ w[0].float().t())


def sum_of_sizes(x: torch.Tensor, w: torch.Tensor) -> float:
    """The largest sum of the absolute values of the terms of an element."""
    return product(x.float().abs(), w.float().abs()).max().item()


# -- results --


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize("width", [128, 64, 32])
def test_products_are_those_of_pytorch(target, dtype, width):
    """Over sizes that divide nothing: the hardware fills holes with zeros."""
    run = Compiled(multiplied(dtype, width=width)[0])
    for shape in SHAPES:
        x, w = factors(shape, dtype, target)
        (out,) = run(x, w)
        torch.testing.assert_close(out, product(x, w), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("types", FP8)
@pytest.mark.parametrize("width", [128, 32])
def test_products_of_fp8_are_those_of_pytorch(target, types, width):
    """A GPU may keep fewer bits of each product than a Float has."""
    run = Compiled(multiplied(*types, width=width)[0])
    for rows, columns, depth in SHAPES:
        x, w = factors((rows, columns, 2 * depth), types[0], target, types[1])
        (out,) = run(x, w)
        expected = product(x, w)
        error = 1e-5 if target == "cpu" else 1e-2
        atol = error * sum_of_sizes(x, w)  # a sum may be far smaller than its terms
        torch.testing.assert_close(out, expected, rtol=error, atol=atol)


@pytest.mark.parametrize("width", [128, 32])
def test_products_of_integers_are_exact(target, width):
    run = Compiled(multiplied(INT8, width=width)[0])
    for rows, columns, depth in SHAPES:
        x, w = factors((rows, columns, 2 * depth), INT8, target)
        (out,) = run(x, w)
        assert out.dtype == torch.int32
        assert torch.equal(out, product(x, w))


@pytest.mark.parametrize("width", [128, 64])
def test_a_gpu_multiplies_the_tf32_of_a_float(target, width):
    """It leaves out the 13 lowest bits of each factor; the CPU target multiplies all."""
    run = Compiled(multiplied(TF32, width=width)[0])
    for shape in SHAPES:
        x, w = factors(shape, TF32, target)
        (out,) = run(x, w)
        expected = product(x.cpu(), w.cpu()).to(target)
        error = 1e-5 if target == "cpu" else 4e-3
        atol = error * sum_of_sizes(x, w)  # a sum may be far smaller than its terms
        torch.testing.assert_close(out, expected, rtol=error, atol=atol)


@pytest.mark.parametrize("columns", [8, 24, 128, 256])
def test_tiles_have_any_multiple_of_eight_columns(target, columns):
    run = Compiled(multiplied(columns=columns)[0])
    for shape in ((128, columns, 64), (67, columns + 3, 136)):
        x, w = factors(shape, BF16, target)
        (out,) = run(x, w)
        torch.testing.assert_close(out, product(x, w), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("is_specialized", [False, True])
@pytest.mark.parametrize("stages", [2, 3])
def test_boxes_are_loaded_ahead(target, stages, is_specialized):
    run = Compiled(multiplied(stages=stages, is_specialized=is_specialized)[0])
    for shape in SHAPES:
        x, w = factors(shape, BF16, target)
        (out,) = run(x, w)
        torch.testing.assert_close(out, product(x, w), rtol=1e-5, atol=1e-3)


def test_a_warpgroup_multiplies_several_tiles(target):
    fd, *_ = multiplied(columns=32, tiles=2, stages=2)
    run = Compiled(fd)
    for shape in ((256, 32, 128), (300, 70, 72)):
        x, w = factors(shape, BF16, target)
        (out,) = run(x, w)
        torch.testing.assert_close(out, product(x, w), rtol=1e-5, atol=1e-3)
    assert " * 16], wgmma_descriptor<128>(" in cuda_text(fd.fusion)  # registers of a tile
    assert waits_of(fd) == ["fence", "product", "commit", "wait 0"]


def test_nothing_beyond_a_factor_is_multiplied(target):
    """Infinities behind the last row would make NaNs of zeros."""
    memory = torch.full((4, 64), float("inf"), device=target, dtype=torch.bfloat16)
    memory[0, :8], memory[2, :8] = 1, 1
    x, w = memory[0, :8].view(1, 1, 8), memory[2, :8].view(1, 1, 8)
    (out,) = Compiled(multiplied()[0])(x, w)
    assert out.item() == 16


def test_the_cpu_adds_in_the_order_of_k() -> None:
    x, w = factors((64, 16, 40), BF16, "cpu")
    (out,) = Compiled(multiplied()[0])(x, w)
    expected = torch.zeros(64, 16)
    for k in range(40):
        expected += x[:, 0, k].float()[:, None] * w[0, :, k].float()[None, :]
    assert torch.equal(out, 2 * expected)


@pytest.mark.parametrize("is_specialized", [False, True])
def test_the_race_check_finds_no_race(is_specialized) -> None:
    x, w = factors((70, 9, 200), BF16, "cpu")
    run = Compiled(multiplied(stages=3, is_specialized=is_specialized)[0])
    (out,) = _core.call_with_options(lambda: run(x, w), ["kernel_debug"], [])
    torch.testing.assert_close(out, product(x, w), rtol=1e-5, atol=1e-3)


# -- the kernel --


def waits_of(fd: FusionDefinition, target: str = "cuda") -> list[str]:
    """Statements about products, and the products, in order."""
    names = []
    for statement in statements(lowered(fd.fusion, target)):
        if isinstance(statement, MmaOp):
            names.append("product" if statement.macro else "element")
        elif isinstance(statement, AsyncCommit):
            names += ["commit"] if statement.async_op == LoadStoreOpType.load_matrix else []
        elif isinstance(statement, AsyncWait):
            if statement.async_op == LoadStoreOpType.StMatrix:
                names.append("fence")
            elif statement.async_op == LoadStoreOpType.load_matrix:
                names.append(f"wait {statement.keep_stages}")
    return names


@pytest.mark.parametrize("stages", [0, 3])
def test_products_are_a_group_that_is_waited_for(stages):
    fd, *_ = multiplied(stages=stages)
    assert waits_of(fd) == ["fence", "product", "commit", "wait 0"]
    assert waits_of(fd, "cpu") == ["element"]


@pytest.mark.parametrize("width", [128, 64, 32])
def test_descriptors_tell_the_swizzle_of_boxes(width):
    fd, *_ = multiplied(width=width)
    text = cuda_text(fd.fusion)
    assert text.count(f"wgmma_descriptor<{width}>(") == 2
    assert "wgmma_m64n16k16_bf16(&T" in text


@pytest.mark.parametrize("types", FP8)
def test_nvrtc_compiles_the_instruction_of_fp8(types):
    texts = multiplied(*types)[0].fusion.compile_cuda()
    a, b = ("e4m3" if dtype == E4M3 else "e5m2" for dtype in types)
    assert f"wgmma.mma_async.sync.aligned.m64n16k32.f32.{a}.{b}" in texts.ptx


@pytest.mark.parametrize(
    ("dtype", "text"), [(INT8, "m64n16k32.s32.s8.s8"), (TF32, "m64n16k8.f32.tf32.tf32")]
)
def test_nvrtc_compiles_the_instructions_of_int8_and_tf32(dtype, text):
    texts = multiplied(dtype)[0].fusion.compile_cuda()
    assert f"wgmma.mma_async.sync.aligned.{text}" in texts.ptx


@pytest.mark.parametrize("dtype", [INT8, TF32])
def test_schedules_of_int8_and_tf32_are_translated(dtype):
    fd, *_ = multiplied(dtype, stages=3)
    again = rebuilt(translate_fusion(fd.fusion, schedule=True))
    kernels = [each.fusion.print_kernel(target="cuda", comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]


@pytest.mark.parametrize(("dtype", "types"), [(BF16, "bf16"), (HALF, "f16")])
@pytest.mark.parametrize("is_specialized", [False, True])
def test_nvrtc_compiles_the_instruction_without_local_memory(dtype, types, is_specialized):
    fd, *_ = multiplied(dtype, columns=256, stages=3, is_specialized=is_specialized)
    texts = fd.fusion.compile_cuda()
    assert f"wgmma.mma_async.sync.aligned.m64n256k16.f32.{types}.{types}" in texts.ptx
    assert ".local" not in texts.ptx


def test_the_schedule_is_translated():
    fd, *_ = multiplied(stages=3)
    text = translate_fusion(fd.fusion, schedule=True)
    assert "set_mma_macro(MmaMacroEncode(MmaMacroArch.hopper, 64, 16, 16).mma_macro())" in text
    again = rebuilt(text)
    kernels = [each.fusion.print_kernel(target="cuda", comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]


def test_a_serialized_fusion_names_the_instruction():
    fd, *_ = multiplied()
    copy = Fusion.deserialize(fd.fusion.serialize())
    assert copy.digest() == fd.fusion.digest()
    (total,) = (expr for expr in copy.exprs() if isinstance(expr, MmaOp))
    assert total.macro == 4 << 48 | 64 << 32 | 16 << 16 | 16


# -- fragments --


@pytest.mark.parametrize("columns", [8, 64])
def test_the_layout_of_the_sum_is_that_of_the_hardware(columns):
    """The formula of the PTX ISA for wgmma.m64nNk16; lane = 32 w + 4 g + t."""
    rows = schedule.fragment_layout(macro=macro_of(columns)).splitlines()
    table = [row.split() for row in rows]
    for lane in range(128):
        for i in range(columns // 2):
            row = 16 * (lane // 32) + lane % 32 // 4 + 8 * (i // 2 % 2)
            column = 8 * (i // 4) + 2 * (lane % 4) + i % 2
            assert table[row][column] == f"{lane}.{i}"


def test_axes_of_the_sum_are_parts_of_the_tile():
    *_, total = multiplied(columns=32)
    assert [axis.extent().evaluate() for axis in total.get_loop_domain()[-5:]] == [128, 4, 2, 2, 16]
    kinds = [axis.parallel_type() for axis in total.get_loop_domain()[-5:]]
    assert kinds == [TX, *[ParallelType.mma] * 4]


# -- refusals --


def refused(fd: FusionDefinition, headline: str) -> None:
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError, match=headline) as error:
            fd.fusion.lower(target=target)
        for part in ("expected:", "found:", "fix:"):
            assert part in str(error.value)


def test_the_second_factor_has_no_fragments():
    _, _, b, _ = multiplied()
    refusal = schedule.find_wrong_mma_swizzle(b, MmaOperand.B, macro_of(16))
    assert "Hopper_64_16_16 has no fragments of the second factor" in str(refusal)
    with pytest.raises(UserError, match="has no fragments of the second factor"):
        schedule.fragment_layout(MmaOperand.B, macro_of(16))


def test_a_factor_without_swizzle_is_refused():
    fd, *_ = multiplied(width=32, is_swizzled=False)
    refused(fd, "A factor of wgmma lies in shared memory without a swizzle")


def test_a_factor_that_no_bulk_copy_brings_is_refused():
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, 16], contiguity=True, dtype=BF16)
        w = fd.define_tensor([16, 16], contiguity=True, dtype=BF16)
        a = fd.ops.broadcast(x, [False, True, False])
        b = fd.ops.broadcast(w, [True, False, False])
        total = fd.ops.sum(fd.ops.mul(a, b), [2])
        fd.add_output(total)
        total.set_mma_macro(macro_of(16))
        total.apply_mma_swizzle(macro=macro_of(16))
    refused(fd, "A factor of wgmma is not brought to shared memory by a bulk copy")


def test_a_tile_that_is_no_part_of_a_box_is_refused():
    """16 columns may lie in two boxes of 24."""
    fd, *_ = multiplied(columns=16, rows_of_b=24)
    refused(fd, "A tile of wgmma is no part of the box that its factor lies in")


def test_lanes_are_all_threads_along_x():
    fd, *_ = multiplied()
    (out,) = fd.fusion.outputs()
    with fd:
        copy = out.cache_before()
    copy.set_memory_type(SHARED)
    out.merge(4, 5)  # more threads than a warpgroup has lanes
    out.axis(4).parallelize(TX)
    refused(fd, "The threads of a block are not the warps that multiply")


@pytest.mark.parametrize(
    "macro",
    [
        MmaMacroEncode(MmaMacroArch.hopper, 64, 12, 16),
        MmaMacroEncode(MmaMacroArch.hopper, 64, 264, 16),
        MmaMacroEncode(MmaMacroArch.hopper, 64, 128, 4),
        MmaMacroEncode(MmaMacroArch.hopper, 128, 128, 16),
    ],
)
def test_other_instructions_are_not_there(macro):
    *_, total = multiplied()
    with pytest.raises(NotImplementedError, match="Kernels have no instruction") as error:
        total.set_mma_macro(macro.mma_macro())
    assert "Hopper_64_N_16" in str(error.value)


def test_the_depth_of_an_instruction_is_32_bytes():
    *_, total = multiplied()
    with pytest.raises(
        NotImplementedError, match="does not multiply tensors of these types"
    ) as error:
        total.set_mma_macro(MmaMacroEncode(MmaMacroArch.hopper, 64, 16, 32).mma_macro())
    assert "Float8_e4m3fn or Float8_e5m2" in str(error.value)


def test_integers_have_fewer_shapes():
    *_, total = multiplied(INT8)
    with pytest.raises(UserError, match="Hopper_64_40_32 does not multiply integers"):
        total.set_mma_macro(macro_of(40, INT8))
