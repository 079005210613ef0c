"""Products of warps by tensor cores for all types that they multiply: fragments in registers, and
an instruction, or a loop nest, for a tile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import has_nvrtc
from hard_case import BX, BY, Compiled, cuda_text, lowered, statements
from product_types import BF16, E4M3, E5M2, FP8, HALF, INT8, TF32, TORCH, check_doubled_product
from translated import rebuilt

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOp,
    MmaOperand,
    TensorView,
    UserError,
    _core,
    schedule,
    translate_fusion,
)

if TYPE_CHECKING:
    from nvfuser_direct import MmaMacro

pytestmark = pytest.mark.sanitize

A, B = MmaOperand.A, MmaOperand.B
TYPES = [(BF16, BF16), (HALF, HALF), (TF32, TF32), (INT8, INT8), *FP8]
INSTRUCTIONS = {  # PTX
    (BF16, BF16): "m16n8k16.row.col.f32.bf16.bf16.f32",
    (HALF, HALF): "m16n8k16.row.col.f32.f16.f16.f32",
    (TF32, TF32): "m16n8k8.row.col.f32.tf32.tf32.f32",
    (INT8, INT8): "m16n8k32.row.col.s32.s8.s8.s32",
    (E4M3, E4M3): "m16n8k32.row.col.f32.e4m3.e4m3.f32",
    (E4M3, E5M2): "m16n8k32.row.col.f32.e4m3.e5m2.f32",
    (E5M2, E4M3): "m16n8k32.row.col.f32.e5m2.e4m3.f32",
    (E5M2, E5M2): "m16n8k32.row.col.f32.e5m2.e5m2.f32",
}
SHAPES = [(16, 8, 32), (17, 9, 15), (1, 1, 1), (5, 30, 50), (64, 3, 33), (40, 24, 96)]


def macro_of(dtype: DataType) -> MmaMacro:
    """32 bytes of k, of each type."""
    return MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 32 // TORCH[dtype].itemsize).mma_macro()


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def multiplied(
    dtype: DataType, dtype_b: DataType
) -> tuple[FusionDefinition, TensorView, TensorView, TensorView]:
    """[m, k] times [n, k] is [m, n]: a warp for each tile of the result. The definition, both
    factors, and the sum."""
    macro = macro_of(dtype)
    of_sum = DataType.Int32 if dtype == INT8 else DataType.Float
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        w = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype_b)
        a = fd.ops.broadcast(x, [False, True, False])
        b = fd.ops.broadcast(w, [True, False, False])
        factors = (a, b) if dtype == TF32 else (fd.ops.cast(t, of_sum) for t in (a, b))
        total = fd.ops.sum(fd.ops.mul(*factors), [2], dtype=of_sum)
        fd.add_output(fd.ops.mul(total, 2 if dtype == INT8 else 2.0))
        total.set_mma_macro(macro)
        # [k / depth, m / 16 or n / 8, 1, fragment]
        for factor, operand, axes in ((a, A, (0, 2, 1)), (b, B, (1, 2, 0))):
            order(factor, *axes)
            factor.split(1, macro.k)
            factor.split(0, 16 if operand == A else 8)
            order(factor, 2, 0, 4, 1, 3)
            factor.apply_mma_swizzle(operand, macro)
            factor.axis(1).parallelize(BY if operand == A else BX)
        total.split(2, macro.k)
        (out,) = fd.fusion.outputs()
        for tensor in (total, out):
            tensor.split(1, 8)
            tensor.split(0, 16)
        order(total, 4, 0, 2, 1, 3, 5)
        order(out, 0, 2, 1, 3)
        for tensor in (total, out):
            tensor.apply_mma_swizzle(macro=macro)
        for tensor, first in ((total, 1), (out, 0)):
            tensor.axis(first).parallelize(BY)
            tensor.axis(first + 1).parallelize(BX)
        fd.sched.inline_at(total, 1, selected_tensors=[a, b])
    return fd, a, b, total


def factors(
    shape: tuple[int, int, int], types: tuple[DataType, DataType], device: str
) -> list[torch.Tensor]:
    rows, columns, depth = shape
    made = [torch.randn(size, depth, device=device) for size in (rows, columns)]
    if types[0] == INT8:
        return [(40 * t).clamp(-128, 127).to(torch.int8) for t in made]
    return [t.to(TORCH[dtype]) for t, dtype in zip(made, types, strict=True)]


# -- results --


@pytest.mark.parametrize("types", TYPES)
def test_products_are_those_of_pytorch(target, types):
    """Over sizes that divide nothing, holes are zeros."""
    run = Compiled(multiplied(*types)[0])
    for shape in SHAPES:
        x, w = factors(shape, types, target)
        (out,) = run(x, w)
        assert out.dtype == (torch.int32 if types[0] == INT8 else torch.float32)
        check_doubled_product(out, x, w, types[0])


@pytest.mark.parametrize("types", [(TF32, TF32), (E4M3, E5M2)])
def test_nothing_beyond_a_factor_is_multiplied(target, types):
    """NaNs behind the last row would make NaNs of zeros."""
    memory = torch.full((256,), float("nan"), device=target)
    memory[:34] = 1
    x, w = (
        memory[first : first + 17].to(TORCH[dtype]).view(1, 17)
        for first, dtype in zip((0, 17), types, strict=True)
    )
    (out,) = Compiled(multiplied(*types)[0])(x, w)
    assert out.item() == 34


def test_the_cpu_multiplies_all_bits_of_a_float() -> None:
    x, w = factors((16, 8, 40), (TF32, TF32), "cpu")
    (out,) = Compiled(multiplied(TF32, TF32)[0])(x, w)
    expected = torch.zeros(16, 8)
    for k in range(40):
        expected += x[:, k][:, None] * w[:, k][None, :]
    torch.testing.assert_close(out, 2 * expected, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("types", [(TF32, TF32), (INT8, INT8), (E5M2, E4M3)])
def test_the_race_check_finds_no_race(types) -> None:
    x, w = factors((33, 9, 40), types, "cpu")
    run = Compiled(multiplied(*types)[0])
    (out,) = _core.call_with_options(lambda: run(x, w), ["kernel_debug"], [])
    check_doubled_product(out, x, w, types[0])


# -- the kernel --


@pytest.mark.parametrize("types", TYPES)
def test_a_warp_multiplies_with_one_instruction(types):
    fd, *_ = multiplied(*types)
    (product,) = [s for s in statements(lowered(fd.fusion)) if isinstance(s, MmaOp)]
    assert product.macro == 3 << 48 | 16 << 32 | 8 << 16 | macro_of(types[0]).k
    assert f"mma_m16n8k{macro_of(types[0]).k}_" in cuda_text(fd.fusion)
    (element,) = [s for s in statements(lowered(fd.fusion, "cpu")) if isinstance(s, MmaOp)]
    assert element.macro == 0


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("types", TYPES)
def test_nvrtc_compiles_the_instruction(types):
    texts = multiplied(*types)[0].fusion.compile_cuda()
    names = set(re.findall(r"mma\.sync\.aligned\.(\S+)", texts.ptx))
    assert names == {INSTRUCTIONS[types]}
    assert ".local" not in texts.ptx


@pytest.mark.parametrize("types", TYPES)
def test_the_schedule_is_translated(types):
    fd, *_ = multiplied(*types)
    text = translate_fusion(fd.fusion, schedule=True)
    depth = macro_of(types[0]).k
    assert f"set_mma_macro(MmaMacroEncode(MmaMacroArch.ampere, 16, 8, {depth}).mma_macro())" in text
    again = rebuilt(text)
    kernels = [each.fusion.print_kernel(target="cuda", comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]


# -- fragments --


@pytest.mark.parametrize("dtype", [TF32, INT8, BF16])
def test_the_layout_of_fragments_is_that_of_the_hardware(dtype):
    """The formulas of the PTX ISA for m16n8k8 of tf32, m16n8k32 and m16n8k16; lane = 4 g + t."""
    held = 4 // TORCH[dtype].itemsize  # neighbours along k in a register

    def place_in_a(lane: int, i: int) -> tuple[int, int]:
        register = i // held
        row = lane // 4 + 8 * (register % 2)
        return row, 4 * held * (register // 2) + held * (lane % 4) + i % held

    def place_in_b(lane: int, i: int) -> tuple[int, int]:
        return lane // 4, 4 * held * (i // held) + held * (lane % 4) + i % held

    def place_in_sum(lane: int, i: int) -> tuple[int, int]:
        return lane // 4 + 8 * (i // 2), 2 * (lane % 4) + i % 2

    for operand, place, registers in (
        (A, place_in_a, 4 * held),
        (B, place_in_b, 2 * held),
        (None, place_in_sum, 4),
    ):
        rows = schedule.fragment_layout(operand, macro_of(dtype)).splitlines()
        table = [row.split() for row in rows]
        for lane in range(32):
            for i in range(registers):
                row, column = place(lane, i)
                assert table[row][column] == f"{lane}.{i}"


# -- refusals --


@pytest.mark.parametrize("types", [(TF32, TF32), (INT8, INT8), (E4M3, E4M3)])
def test_the_depth_of_an_instruction_is_32_bytes(types):
    *_, total = multiplied(*types)
    with pytest.raises(NotImplementedError, match="does not multiply tensors of these types"):
        total.set_mma_macro(macro_of(BF16))


def test_a_gpu_without_fp8_is_refused():
    fd, *_ = multiplied(E4M3, E4M3)
    with pytest.raises(UserError, match="has no instruction Ampere_16_8_32") as error:
        fd.fusion.lower(target="sm_80")
    for part in ("compute capability 8.9 or above", "found:    8.0", "fix:"):
        assert part in str(error.value)
    multiplied(INT8, INT8)[0].fusion.lower(target="sm_80")


def test_a_tile_of_another_type_has_no_fragments():
    """A tile [16, 16] of 16 bits is no tile [16, 32] of 8 bits."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([16, 16], contiguity=True, dtype=INT8)
        out = fd.ops.set(x)
        fd.add_output(out)
    refusal = schedule.find_wrong_mma_swizzle(out, A, macro_of(INT8))
    assert "axis k of 32 elements at position 1" in str(refusal)
    with pytest.raises(UserError, match="no fragment of the instruction"):
        out.apply_mma_swizzle(A, macro_of(INT8))
