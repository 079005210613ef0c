"""Tensor cores by hand: fragments in registers, and an instruction, or a loop nest, for a tile."""

from __future__ import annotations

import pytest
import torch
from hard_case import SHARED, Compiled, cuda_text, lowered, statements
from translated import rebuilt

from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    MemoryType,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOp,
    MmaOperand,
    ParallelType,
    TensorView,
    UserError,
    _core,
    equal_up_to_numbering,
    schedule,
    translate_fusion,
)

pytestmark = pytest.mark.sanitize

MACRO = MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro()
BITS = 3 << 48 | 16 << 32 | 8 << 16 | 16  # of MACRO
A, B = MmaOperand.A, MmaOperand.B
TORCH = {DataType.BFloat16: torch.bfloat16, DataType.Half: torch.float16}
SHAPES = [(16, 8, 16), (17, 9, 15), (1, 1, 1), (5, 30, 50), (64, 3, 33), (40, 24, 48)]


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def defined(
    dtype: DataType = DataType.BFloat16,
    *,
    is_sum: bool = True,
    shape: tuple[int, int, int] = (-1, -1, -1),
) -> tuple[FusionDefinition, TensorView, TensorView, TensorView]:
    """[m, k] times [n, k] is [m, n]: the definition, both factors, and the sum."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([shape[0], shape[2]], contiguity=True, dtype=dtype)
        w = fd.define_tensor([shape[1], shape[2]], contiguity=True, dtype=dtype)
        a = fd.ops.broadcast(x, [False, True, False])
        b = fd.ops.broadcast(w, [True, False, False])
        total = (
            fd.ops.sum(fd.ops.mul(a, b), [2]) if is_sum else fd.ops.fused_multiply_sum(a, b, [2])
        )
        fd.add_output(fd.ops.mul(total, 2.0))
    return fd, a, b, total


def multiplied(
    dtype: DataType = DataType.BFloat16,
    *,
    is_sum: bool = True,
    shape: tuple[int, int, int] = (-1, -1, -1),
) -> tuple[FusionDefinition, TensorView, TensorView, TensorView]:
    """The same with a schedule: a warp for each tile of the result."""
    fd, a, b, total = defined(dtype, is_sum=is_sum, shape=shape)
    with fd:
        total.set_mma_macro(MACRO)
        # [k / 16, m / 16 or n / 8, 1, fragment]
        for factor, operand, axes in ((a, A, (0, 2, 1)), (b, B, (1, 2, 0))):
            order(factor, *axes)
            factor.split(1, 16)
            factor.split(0, 16 if operand == A else 8)
            order(factor, 2, 0, 4, 1, 3)
            factor.apply_mma_swizzle(operand)
            factor.axis(1).parallelize(ParallelType.grid_y if operand == A else ParallelType.grid_x)
        total.split(2, 16)
        (out,) = fd.fusion.outputs()
        for tensor in (total, out):
            tensor.split(1, 8)
            tensor.split(0, 16)
        order(total, 4, 0, 2, 1, 3, 5)
        order(out, 0, 2, 1, 3)
        for tensor in (total, out):
            tensor.apply_mma_swizzle()
        total.axis(1).parallelize(ParallelType.grid_y)
        total.axis(2).parallelize(ParallelType.grid_x)
        out.axis(0).parallelize(ParallelType.grid_y)
        out.axis(1).parallelize(ParallelType.grid_x)
        fd.sched.inline_at(total, 1, selected_tensors=[a, b])
    return fd, a, b, total


def factors(shape: tuple[int, int, int], dtype: DataType, device: str) -> list[torch.Tensor]:
    rows, columns, depth = shape
    return [torch.randn(size, depth, device=device).to(TORCH[dtype]) for size in (rows, columns)]


# -- results --


@pytest.mark.parametrize("dtype", TORCH)
@pytest.mark.parametrize("is_sum", [True, False])
def test_products_are_those_of_pytorch(target, dtype, is_sum):
    """Over sizes that divide nothing, holes are zeros."""
    run = Compiled(multiplied(dtype, is_sum=is_sum)[0])
    for shape in SHAPES:
        x, w = factors(shape, dtype, target)
        (out,) = run(x, w)
        torch.testing.assert_close(out, 2 * (x.float() @ w.float().t()), rtol=1e-5, atol=1e-4)


def test_nothing_beyond_a_factor_is_multiplied(target):
    """Infinities behind the last row would make NaNs of zeros."""
    memory = torch.full((4, 64), float("inf"), device=target, dtype=torch.bfloat16)
    memory[0, :34] = 1
    x, w = memory[0, :17].view(1, 17), memory[0, 17:34].view(1, 17)
    (out,) = Compiled(multiplied()[0])(x, w)
    assert out.item() == 34


def test_the_cpu_adds_in_the_order_of_k() -> None:
    x, w = factors((16, 8, 40), DataType.BFloat16, "cpu")
    (out,) = Compiled(multiplied()[0])(x, w)
    expected = torch.zeros(16, 8)
    for k in range(40):
        expected += x[:, k].float()[:, None] * w[:, k].float()[None, :]
    assert torch.equal(out, 2 * expected)


def test_the_race_check_finds_no_race() -> None:
    x, w = factors((33, 9, 40), DataType.BFloat16, "cpu")
    run = Compiled(multiplied()[0])
    (out,) = _core.call_with_options(lambda: run(x, w), ["kernel_debug"], [])
    torch.testing.assert_close(out, 2 * (x.float() @ w.float().t()), rtol=1e-5, atol=1e-4)


# -- the kernel --


@pytest.mark.parametrize(("dtype", "types"), [(DataType.BFloat16, "bf16"), (DataType.Half, "f16")])
def test_a_warp_multiplies_with_one_instruction(dtype, types):
    fd, a, b, _ = multiplied(dtype)
    (product,) = [s for s in statements(lowered(fd.fusion)) if isinstance(s, MmaOp)]
    assert product.macro == BITS
    assert {a.memory_type(), b.memory_type()} == {MemoryType.local}
    assert f"mma_m16n8k16_{types}(" in cuda_text(fd.fusion)
    (element,) = [s for s in statements(lowered(fd.fusion, "cpu")) if isinstance(s, MmaOp)]
    assert element.macro == 0


@pytest.mark.parametrize(("dtype", "types"), [(DataType.BFloat16, "bf16"), (DataType.Half, "f16")])
def test_nvrtc_compiles_the_instruction(dtype, types):
    texts = multiplied(dtype)[0].fusion.compile_cuda()
    assert f"mma.sync.aligned.m16n8k16.row.col.f32.{types}.{types}.f32" in texts.ptx


def test_no_condition_stands_around_the_instruction():
    """One condition around all that reads the sum does not take the instruction in."""
    fd, *_ = multiplied(shape=(16, 6, 16))
    text = cuda_text(fd.fusion)
    assert "\n  mma_m16n8k16_bf16(" in text
    assert "\n  if (" in text


def test_the_schedule_is_translated():
    fd, *_ = multiplied(is_sum=False)
    text = translate_fusion(fd.fusion, schedule=True)
    assert "set_mma_macro(MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro())" in text
    again = rebuilt(text)
    kernels = [each.fusion.print_kernel(target="cuda", comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]


def test_a_product_that_is_an_output_is_translated():
    """The tensor that `cache_before` made computes it."""
    fd, _, _, total = defined()
    with fd:
        fd.add_output(total)
        total.cache_before().set_mma_macro(MACRO)
    again = rebuilt(translate_fusion(fd.fusion, schedule=True))
    assert equal_up_to_numbering(again.fusion, fd.fusion)
    (product,) = (expr for expr in again.fusion.exprs() if isinstance(expr, MmaOp))
    assert product.macro == BITS


def test_a_serialized_fusion_names_the_instruction():
    fd, *_ = multiplied()
    copy = Fusion.deserialize(fd.fusion.serialize())
    assert copy.digest() == fd.fusion.digest()
    (total,) = (expr for expr in copy.exprs() if isinstance(expr, MmaOp))
    assert total.macro == BITS


# -- fragments --


def test_the_layout_of_fragments_is_that_of_the_hardware():
    """The formulas of the PTX ISA for mma.m16n8k16; lane = 4 g + t."""
    held = {
        A: lambda lane, i: (lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2),
        B: lambda lane, i: (lane // 4, 8 * (i // 2) + 2 * (lane % 4) + i % 2),
        None: lambda lane, i: (lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2),
    }
    for operand, registers in ((A, 8), (B, 4), (None, 4)):
        rows = schedule.fragment_layout(operand).splitlines()
        table = [row.split() for row in rows]
        for lane in range(32):
            for i in range(registers):
                row, column = held[operand](lane, i)
                assert table[row][column] == f"{lane}.{i}"


def test_axes_of_a_fragment_are_parts_of_the_tile():
    _, a, _, total = multiplied()
    assert [axis.extent().evaluate() for axis in a.get_loop_domain()[-4:]] == [32, 2, 2, 2]
    kinds = [axis.parallel_type() for axis in total.get_loop_domain()[-4:]]
    assert kinds == [ParallelType.block_x, *[ParallelType.mma] * 3]


# -- refusals --


def refused(fd: FusionDefinition, headline: str) -> None:
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError, match=headline) as error:
            fd.fusion.lower(target=target)
        for part in ("expected:", "found:", "fix:"):
            assert part in str(error.value)


def test_a_tile_of_other_extents_has_no_fragments():
    _, a, _, _ = defined()
    a.split(2, 8)
    assert "m of 16" in str(schedule.find_wrong_mma_swizzle(a, A))
    with pytest.raises(UserError, match="no fragment of the instruction") as error:
        a.apply_mma_swizzle(A)
    assert "axis m of 16 elements at position 2" in str(error.value)


def test_a_factor_with_the_layout_of_the_other_one_is_refused():
    fd, a, b, total = defined()
    total.set_mma_macro(MACRO)
    order(a, 1, 0, 2)
    a.split(2, 16)
    a.split(1, 8)
    order(a, 0, 1, 3, 2, 4)
    a.apply_mma_swizzle(B)
    order(b, 0, 1, 2)
    b.split(2, 16)
    b.split(1, 8)
    order(b, 0, 1, 3, 2, 4)
    b.apply_mma_swizzle(B)
    total.split(2, 16)
    total.split(1, 8)
    total.split(0, 16)
    order(total, 0, 2, 4, 1, 3, 5)
    total.apply_mma_swizzle()
    refused(fd, "The axes of the first factor are no fragment of the instruction")


def test_a_factor_in_shared_memory_is_refused():
    fd, a, _, _ = multiplied()
    a.set_memory_type(SHARED)
    refused(fd, "A factor of an instruction of tensor cores does not lie in registers")


def test_lanes_are_all_threads_along_x():
    fd, *_ = multiplied()
    (out,) = fd.fusion.outputs()
    with fd:
        scaled = out.cache_before()
        scaled.axis(-1).parallelize(ParallelType.serial)
    out.axis(2).parallelize(ParallelType.serial)
    out.merge(2, 3)
    out.axis(2).parallelize(ParallelType.block_x)
    scaled.set_memory_type(SHARED)
    refused(fd, "The threads of a block are not the warps that multiply")


def test_an_axis_bound_to_mma_belongs_to_a_sum():
    fd, *_ = multiplied()
    (out,) = fd.fusion.outputs()
    out.axis(-1).parallelize(ParallelType.mma)
    refused(fd, "An axis is bound to mma, but no instruction computes its tensor")


def test_all_axes_of_the_instruction_are_bound_to_mma():
    fd, _, _, total = multiplied()
    total.axis(-1).parallelize(ParallelType.serial)
    refused(fd, "The axes bound to mma are not those of the instruction")


@pytest.mark.parametrize(
    "macro",
    [
        MmaMacroEncode(MmaMacroArch.hopper, 64, 256, 4),
        MmaMacroEncode(MmaMacroArch.ampere, 16, 16, 16),
        MmaMacroEncode(MmaMacroArch.blackwell_2cta, 256, 48, 16),
    ],
)
def test_other_instructions_are_not_there_yet(macro):
    _, _, _, total = defined()
    with pytest.raises(NotImplementedError, match="Kernels have no instruction") as error:
        total.set_mma_macro(macro.mma_macro())
    assert "Ampere_16_8_16" in str(error.value)


def test_other_types_are_not_there_yet():
    with FusionDefinition() as fd:
        a = fd.define_tensor([16, 8, 16], contiguity=True)
        b = fd.define_tensor([16, 8, 16], contiguity=True)
        total = fd.ops.fused_multiply_sum(a, b, [2])
        fd.add_output(total)
    with pytest.raises(NotImplementedError, match="does not multiply tensors of these types"):
        total.set_mma_macro(MACRO)


def test_only_a_sum_of_products_has_a_macro():
    _, a, _, _ = defined()
    assert schedule.find_wrong_mma_macro(a, MACRO) is not None
    with pytest.raises(UserError, match="Only a sum of products is computed by tensor cores"):
        a.set_mma_macro(MACRO)
