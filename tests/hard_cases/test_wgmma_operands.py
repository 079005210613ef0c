"""Operands of products of warpgroups beside boxes of rows of k: a first factor in registers, also
loaded as matrices from a box, and factors of 16 bits whose rows run along m or n."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import has_nvrtc
from hard_case import BX, BY, SHARED, TY, Compiled, cuda_text, lowered, par, statements
from product_types import BF16, E4M3, E5M2, HALF, INT8, TF32, TORCH, check_doubled_product
from translated import rebuilt

from nvfuser_direct import (
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
SHAPES = [(128, 64, 64), (136, 40, 72), (8, 8, 8), (72, 96, 200), (304, 8, 16)]

STRAIGHT, TRANSPOSED, REGISTERS = "straight", "transposed", "registers"
# In registers, where ldmatrix brings it from a box, straight or transposed.
MATRICES, TURNED_MATRICES = "matrices", "turned matrices"
IN_REGISTERS = (REGISTERS, MATRICES, TURNED_MATRICES)


def macro_of(columns: int, dtype: DataType = BF16) -> MmaMacro:
    """32 bytes of k, of each type."""
    depth = 32 // TORCH[dtype].itemsize
    return MmaMacroEncode(MmaMacroArch.hopper, M, columns, depth).mma_macro()


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def swizzle_rows(box: TensorView, width: int, size: int) -> None:
    """[.., rows, width / size]: pieces of 16 bytes, permuted in lines of 128 bytes."""
    box.split(-1, PIECE // size)
    box.split(-3, LINE // width)
    box.split(-4, width // PIECE)
    box.swizzle(-4, -2)


def split_rows(
    tensor: TensorView, axis: int, row: int, boxes: int = 1, tiles: int = 1, *, is_box: bool = False
) -> int:
    """[rows] -> [blocks, (tiles,) (boxes,) row] for a box; else a tile is the merge of the last
    two. Axes of one element are left out. Returns the number of axes."""
    tensor.split(axis, row)
    if boxes > 1:
        tensor.split(axis, boxes)
        if not is_box:
            tensor.merge(axis + 1, axis + 2)
    if tiles > 1:
        tensor.split(axis, tiles)
    return 2 + int(boxes > 1 and is_box) + int(tiles > 1)


def schedule_box(
    box: TensorView, block: ParallelType, place: str, width: int, row: int, boxes: int, tiles: int
) -> None:
    """[1, rows, k] -> [k / depth, 1, blocks, (tiles,) (boxes of a tile,) box]: rows of k, or a row
    for each position of k."""
    size = TORCH[box.dtype()].itemsize
    box.set_memory_type(SHARED)
    box.split(2, LINE // size)
    last = split_rows(box, 1, row, boxes, tiles, is_box=True)  # position of the row
    of_box = (last, last + 2) if place == STRAIGHT else (last + 2, last)
    order(box, last + 1, 0, 1, *range(2, last), *of_box)
    par(box, None, None, block)
    swizzle_rows(box, width, size)
    for axis in range(last + 1, len(box.get_loop_domain())):
        box.axis(axis).parallelize(TMA)


def schedule_registers(
    factor: TensorView, macro: MmaMacro, row: int, boxes: int, is_nested: bool
) -> None:
    """[m, 1, k] -> [k / depth, k / 32 bytes, 1, blocks, warpgroups, fragment]."""
    order(factor, 1, 0, 2)
    factor.split(2, LINE * macro.k // 32)
    factor.split(3, macro.k)
    if is_nested:
        factor.split(1, GROUPS * M)
        factor.split(2, M)
    else:
        split_rows(factor, 1, row, boxes, GROUPS)
    # [1, blocks, warpgroups, 64, k / depth, k / 32 bytes, 32 bytes]
    order(factor, 4, 5, 0, 1, 2, 3, 6)
    factor.apply_mma_swizzle(MmaOperand.A, macro)
    par(factor, None, None, None, BY, TY)


def place_of_box(place: str) -> str:
    """How the box lies that a factor is, or that its fragments are loaded from."""
    return TRANSPOSED if place in (TRANSPOSED, TURNED_MATRICES) else STRAIGHT


def loaded_box(tensor: TensorView) -> TensorView:
    """A copy that lies in the order of its loops, whatever that of the tensor is."""
    return tensor.cache_after(LoadStoreOpType.tma, propagate_allocation_domain=False)


def defined_as(fd: FusionDefinition, axes: list[int], place: str, dtype: DataType) -> TensorView:
    """[m, 1, k] or [1, n, k]; k is innermost in memory, or outermost."""
    flags = [None if axis == 1 else True for axis in axes]
    if place_of_box(place) != TRANSPOSED:
        return fd.define_tensor(axes, contiguity=flags, dtype=dtype)
    order_in_memory = [2 - i for i in range(3)]  # of k, ..
    contiguity = [flags[i] for i in order_in_memory]
    return fd.define_tensor(axes, contiguity=contiguity, dtype=dtype, stride_order=[0, 1, 2])


def multiplied(
    dtype: DataType = BF16,
    a: str = STRAIGHT,
    b: str = STRAIGHT,
    *,
    columns: int = 64,
    row_of_b: int | None = None,
    width: int = LINE,
    stages: int = 0,
    is_specialized: bool = False,
    has_prologue: bool = False,
    is_nested: bool = False,
    inlines_b: bool = True,
) -> tuple[FusionDefinition, TensorView, TensorView, TensorView]:
    """[m, 1, k] times [1, n, k] is [m, n]. The definition, both factors and the sum."""
    macro, size = macro_of(columns, dtype), TORCH[dtype].itemsize
    of_sum = DataType.Int32 if dtype == INT8 else DataType.Float
    row_of_a = width // size if place_of_box(a) == TRANSPOSED else M
    row_of_b = row_of_b or (width // size if b == TRANSPOSED else columns)
    boxes_of_a, boxes_of_b = M // row_of_a, max(columns // row_of_b, 1)
    with FusionDefinition() as fd:
        x = defined_as(fd, [-1, 1, -1], a, dtype)
        w = defined_as(fd, [1, -1, -1], b, dtype)
        boxes = []
        computed = []  # in registers, before the first factor
        if has_prologue:
            computed = [fd.ops.cast(x, DataType.Float)]
            computed.append(fd.ops.neg(computed[0]))
        first = fd.ops.cast(computed[-1], dtype) if has_prologue else x
        factors = (first, w) if dtype == TF32 else (fd.ops.cast(t, of_sum) for t in (first, w))
        total = fd.ops.sum(fd.ops.mul(*factors), [2], dtype=of_sum)
        fd.add_output(fd.ops.mul(total, 2 if dtype == INT8 else 2.0))
        total.set_mma_macro(macro)
        if a == REGISTERS:
            factor = first if has_prologue else x.cache_after()
            for tensor in (*computed, factor):
                schedule_registers(tensor, macro, row_of_a, boxes_of_a, is_nested)
        else:
            factor = box_of_a = loaded_box(x)
            if a in IN_REGISTERS:
                factor = box_of_a.cache_after(LoadStoreOpType.load_matrix)
                schedule_registers(factor, macro, row_of_a, boxes_of_a, is_nested)
            order(box_of_a, 1, 0, 2)
            width_of_a = width if place_of_box(a) == TRANSPOSED else LINE
            schedule_box(box_of_a, BY, place_of_box(a), width_of_a, row_of_a, boxes_of_a, GROUPS)
            boxes.append(box_of_a)
        box = loaded_box(w)
        width_of_b = width if b == TRANSPOSED else LINE
        schedule_box(box, BX, b, width_of_b, row_of_b, boxes_of_b, 1)
        (out,) = fd.fusion.outputs()
        total.split(2, LINE // size)
        total.split(3, macro.k)
        for tensor in (total, out):
            split_rows(tensor, 1, row_of_b, boxes_of_b)
            if row_of_b > columns:
                tensor.split(2, columns)
            split_rows(tensor, 0, row_of_a, boxes_of_a, GROUPS)
        if row_of_b > columns:  # [blocks, warpgroups, 64, blocks, tiles, columns, ..]
            order(total, 6, 7, 0, 3, 1, 4, 2, 5, 8)
            order(out, 0, 3, 1, 4, 2, 5)
        else:  # [blocks, warpgroups, 64, blocks, columns, k / depth, k / 32 bytes, 32 bytes]
            order(total, 5, 6, 0, 3, 1, 2, 4, 7)
            order(out, 0, 3, 1, 2, 4)
        for tensor in (total, out):
            tensor.apply_mma_swizzle(macro=macro)
        par(total, None, None, BY, BX, TY)
        par(out, BY, BX, TY)
        boxes += [box] if inlines_b else []
        fd.sched.inline_at(total, 1, selected_tensors=boxes)
        if a in IN_REGISTERS:
            fd.sched.inline_at(total, 2, selected_tensors=[factor])
            if computed:
                fd.sched.inline_at(factor, -1, selected_tensors=computed)
        for loaded in boxes:
            if is_specialized:
                fd.sched.warp_specialize(loaded, stages, stages - 1, TY)
            elif stages > 0:
                loaded.circular_buffer(stages)
    return fd, factor, box, total


def factors(
    shape: tuple[int, int, int], dtype: DataType, device: str, a: str = STRAIGHT, b: str = STRAIGHT
) -> list[torch.Tensor]:
    """k of as many bytes for each type, at least 16."""
    rows, columns, depth = shape
    depth = max(1, 2 // TORCH[dtype].itemsize) * depth
    made = []
    for size, place, dim in ((rows, a, 1), (columns, b, 0)):
        values = torch.randn(size, depth, device=device)
        values = (40 * values).clamp(-128, 127) if dtype == INT8 else values
        values = values.to(TORCH[dtype])
        is_turned = place_of_box(place) == TRANSPOSED
        values = values.t().contiguous().t() if is_turned else values
        made.append(values.unsqueeze(dim))
    return made


def check_products(target: str, dtype: DataType, a: str, b: str, **options: object) -> None:
    run = Compiled(multiplied(dtype, a, b, **options)[0])
    for shape in SHAPES:
        x, w = factors(shape, dtype, target, a, b)
        (out,) = run(x, w)
        left = -x if options.get("has_prologue") else x
        check_doubled_product(out, left[:, 0], w[0], dtype)


# -- results --


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (TRANSPOSED, STRAIGHT),
        (STRAIGHT, TRANSPOSED),
        (TRANSPOSED, TRANSPOSED),
        (REGISTERS, STRAIGHT),
        (REGISTERS, TRANSPOSED),
    ],
)
def test_operands_lie_in_any_order(target, dtype, a, b):
    """Over sizes that divide nothing: the hardware fills holes with zeros."""
    check_products(target, dtype, a, b)


@pytest.mark.parametrize("width", [128, 64, 32])
@pytest.mark.parametrize("columns", [64, 128, 256])
def test_a_tile_consists_of_several_transposed_boxes(target, width, columns):
    check_products(target, BF16, TRANSPOSED, TRANSPOSED, width=width, columns=columns)


@pytest.mark.parametrize("columns", [16, 48])
def test_narrow_tiles_have_narrow_boxes(target, columns):
    """A row of 32 bytes has 16 columns."""
    check_products(target, BF16, STRAIGHT, TRANSPOSED, width=32, columns=columns)


@pytest.mark.parametrize("dtype", [TF32, INT8, E4M3, E5M2])
def test_the_first_factor_of_any_type_may_be_in_registers(target, dtype):
    check_products(target, dtype, REGISTERS, STRAIGHT)


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize("a", [MATRICES, TURNED_MATRICES])
def test_the_first_factor_is_loaded_as_matrices(target, a, dtype):
    check_products(target, dtype, a, STRAIGHT)


@pytest.mark.parametrize("width", [64, 32])
def test_matrices_of_a_fragment_lie_in_several_boxes(target, width):
    check_products(target, BF16, TURNED_MATRICES, STRAIGHT, width=width)


@pytest.mark.parametrize("is_specialized", [False, True])
@pytest.mark.parametrize(
    ("a", "b"), [(TRANSPOSED, TRANSPOSED), (REGISTERS, STRAIGHT), (MATRICES, TRANSPOSED)]
)
def test_boxes_are_loaded_ahead(target, a, b, is_specialized):
    check_products(target, BF16, a, b, stages=3, is_specialized=is_specialized)


def test_the_first_factor_is_computed_in_registers(target):
    check_products(target, BF16, REGISTERS, STRAIGHT, has_prologue=True, stages=2)


@pytest.mark.parametrize(("a", "b"), [(REGISTERS, TRANSPOSED), (TRANSPOSED, STRAIGHT)])
def test_nothing_beyond_a_factor_is_multiplied(target, a, b):
    """NaNs behind the last row would make NaNs of zeros."""
    run = Compiled(multiplied(BF16, a, b)[0])
    shape = (8, 8)
    memory = torch.full((4, 4096), float("nan"), device=target, dtype=torch.bfloat16)
    memory[::2, :64] = 1
    x, w = (
        memory[row, :64].view(shape).t() if place == TRANSPOSED else memory[row, :64].view(shape)
        for row, place in ((0, a), (2, b))
    )
    (out,) = run(x.unsqueeze(1), w.unsqueeze(0))
    assert torch.equal(out, torch.full(shape, 16.0, device=target))


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [(TRANSPOSED, TRANSPOSED, BF16), (REGISTERS, STRAIGHT, INT8), (MATRICES, STRAIGHT, BF16)],
)
def test_the_race_check_finds_no_race(a, b, dtype) -> None:
    x, w = factors((72, 8, 200), dtype, "cpu", a, b)
    run = Compiled(multiplied(dtype, a, b, stages=3)[0])
    (out,) = _core.call_with_options(lambda: run(x, w), ["kernel_debug"], [])
    check_doubled_product(out, x[:, 0], w[0], dtype)


# -- the kernel --


def function_of(text: str) -> str:
    """The function of the instruction that a kernel calls."""
    (name,) = set(re.findall(r"\bwgmma_m64\w+", text))
    return name


def operands_of(ptx: str) -> list[str]:
    """The operands behind the sum of each instruction, registers without numbers."""
    found = re.findall(r"wgmma\.mma_async\S+ \{[^}]*\}, ([^;]*);", ptx)
    (text,) = {re.sub(r"%\w+", "%", operands) for operands in found}
    return [part.strip() for part in re.split(r",(?![^{]*\})", text)]


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(
    ("a", "b", "flags"),
    [
        (STRAIGHT, STRAIGHT, ["0", "0"]),
        (TRANSPOSED, STRAIGHT, ["1", "0"]),
        (STRAIGHT, TRANSPOSED, ["0", "1"]),
        (TRANSPOSED, TRANSPOSED, ["1", "1"]),
    ],
)
def test_the_instruction_is_told_which_factors_are_transposed(a, b, flags):
    fd, *_ = multiplied(BF16, a, b)
    texts = fd.fusion.compile_cuda()
    first, second, adds, *options = operands_of(texts.ptx)
    assert [first, second, adds] == ["%", "%", "adds"]
    assert options == ["1", "1", *flags]
    assert ".local" not in texts.ptx


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(
    ("dtype", "b", "options"),
    [
        (BF16, STRAIGHT, ["1", "1", "0"]),
        (HALF, TRANSPOSED, ["1", "1", "1"]),
        (TF32, STRAIGHT, ["1", "1"]),
        (E4M3, STRAIGHT, ["1", "1"]),
        (INT8, STRAIGHT, []),
    ],
)
def test_the_instruction_reads_four_registers(dtype, b, options):
    """A fence stands behind what computes them, in front of each instruction."""
    fd, *_ = multiplied(dtype, REGISTERS, b)
    texts = fd.fusion.compile_cuda()
    held, second, adds, *found = operands_of(texts.ptx)
    assert [held, second, adds] == ["{%, %, %, %}", "%", "adds"]
    assert found == options
    fences = re.findall(r"wgmma\.fence\.sync\.aligned;\s*wgmma\.mma_async", texts.ptx)
    assert len(fences) == texts.ptx.count("wgmma.mma_async")
    assert ".local" not in texts.ptx


@pytest.mark.parametrize(
    ("width", "columns", "between"), [(128, 256, 8192), (64, 64, 4096), (32, 16, 2048)]
)
def test_descriptors_tell_where_the_next_box_begins(width, columns, between):
    """64 rows of k, one for each position, of the width of the swizzle."""
    fd, *_ = multiplied(BF16, STRAIGHT, TRANSPOSED, width=width, columns=columns)
    text = cuda_text(fd.fusion)
    assert text.count(f"wgmma_descriptor<{width}, {between}>(") == 1
    assert text.count("wgmma_descriptor<128>(") == 1
    assert function_of(text) == f"wgmma_m64n{columns}k16_bf16_straight_transposed"


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(("width", "kind"), [(128, 1), (64, 2), (32, 3)])
def test_descriptors_have_the_fields_of_the_hardware(width, kind):
    """Bits 62 and 63: the swizzle. From bit 32 on: between 8 positions of k; from bit 16: between
    boxes of 64 positions; both in units of 16 bytes."""
    fd, *_ = multiplied(BF16, STRAIGHT, TRANSPOSED, width=width)
    bits = kind << 62 | (8 * width // 16) << 32 | (64 * width // 16) << 16
    signed = bits - (1 << 64) if bits >> 63 else bits
    assert f", {signed};" in fd.fusion.compile_cuda().ptx


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize(("a", "turns"), [(MATRICES, ""), (TURNED_MATRICES, ".trans")])
def test_one_instruction_of_a_warp_loads_four_matrices(a, turns):
    """A lane of warp w says where one of the 16 rows from 16 w on begins, of either half of k."""
    fd, *_ = multiplied(BF16, a, STRAIGHT)
    ptx = fd.fusion.compile_cuda().ptx
    loads = re.findall(r"ldmatrix\.\S+", ptx)
    assert set(loads) == {f"ldmatrix.sync.aligned.m8n8.x4{turns}.shared.b16"}
    assert len(loads) == ptx.count("wgmma.mma_async")
    held, *_ = operands_of(ptx)
    assert held == "{%, %, %, %}"
    assert ".local" not in ptx


def test_lanes_hold_the_first_factor():
    fd, factor, *_ = multiplied(BF16, REGISTERS)
    text = cuda_text(fd.fusion)
    assert text.count("wgmma_descriptor<") == 1
    assert "wgmma_m64n64k16_bf16_registers(&T" in text
    assert [axis.extent().evaluate() for axis in factor.get_loop_domain()[-4:]] == [128, 2, 2, 2]
    (element,) = [s for s in statements(lowered(fd.fusion, "cpu")) if isinstance(s, MmaOp)]
    assert element.macro == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (TRANSPOSED, TRANSPOSED),
        (REGISTERS, STRAIGHT),
        (REGISTERS, TRANSPOSED),
        (MATRICES, STRAIGHT),
    ],
)
def test_the_schedule_is_translated_and_serialized(a, b):
    fd, *_ = multiplied(BF16, a, b, stages=3)
    again = rebuilt(translate_fusion(fd.fusion, schedule=True))
    kernels = [each.fusion.print_kernel(target="cuda", comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]
    copy = Fusion.deserialize(fd.fusion.serialize())
    assert copy.digest() == fd.fusion.digest()


# -- fragments --


@pytest.mark.parametrize("dtype", [TF32, BF16, INT8])
def test_the_layout_of_the_first_factor_is_that_of_the_hardware(dtype):
    """The formulas of the PTX ISA for A of wgmma.m64nNk8, k16 and k32; lane = 32 w + 4 g + t."""
    held = 4 // TORCH[dtype].itemsize  # neighbours along k in a register
    rows = schedule.fragment_layout(MmaOperand.A, macro_of(64, dtype)).splitlines()
    table = [row.split() for row in rows]
    for lane in range(128):
        for i in range(4 * held):
            register = i // held
            row = 16 * (lane // 32) + lane % 32 // 4 + 8 * (register % 2)
            column = 4 * held * (register // 2) + held * (lane % 4) + i % held
            assert table[row][column] == f"{lane}.{i}"


# -- refusals --


def refused(fd: FusionDefinition, headline: str) -> None:
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError, match=headline) as error:
            fd.fusion.lower(target=target)
        for part in ("node:", "expected:", "found:", "fix:"):
            assert part in str(error.value)


@pytest.mark.parametrize("dtype", [TF32, INT8])
def test_only_matrices_of_16_bits_are_loaded(dtype):
    fd, *_ = multiplied(dtype, MATRICES, STRAIGHT)
    refused(fd, "A copy of matrices has elements of 16 bits")


@pytest.mark.parametrize("dtype", [TF32, INT8, E4M3])
def test_only_factors_of_16_bits_are_transposed(dtype):
    """The hardware transposes no others."""
    fd, *_ = multiplied(dtype, STRAIGHT, TRANSPOSED, columns=128)
    refused(fd, "A transposed factor of wgmma has no elements of 16 bits")


def test_a_tile_that_is_narrower_than_a_transposed_box_is_refused():
    """32 columns would begin in the middle of the swizzle's pattern."""
    fd, *_ = multiplied(BF16, STRAIGHT, TRANSPOSED, columns=32, row_of_b=64)
    refused(fd, "A tile of wgmma is not made of the boxes of its transposed factor")


def test_boxes_of_a_tile_lie_one_behind_the_other():
    """[1, blocks, boxes, k / 64, box] of a factor that is loaded as a whole."""
    fd, _, box, _ = multiplied(BF16, STRAIGHT, TRANSPOSED, columns=128, inlines_b=False)
    box.reorder({0: 3})
    refused(fd, "Boxes of a transposed factor of wgmma do not follow each other along n")


def test_registers_of_the_first_factor_are_loops():
    fd, factor, *_ = multiplied(BF16, REGISTERS)
    factor.axis(-1).parallelize(ParallelType.block_z)
    refused(fd, "Registers of a fragment are bound to")


def test_the_fragment_of_another_tile_is_refused():
    fd, *_ = multiplied(BF16, REGISTERS, is_nested=True)
    refused(fd, "A fragment is of another tile than the instruction multiplies")
