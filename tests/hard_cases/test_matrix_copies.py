"""Copies of fragments between shared memory and registers: ldmatrix and stmatrix."""

from __future__ import annotations

import pytest
import torch
from hard_case import SHARED, Compiled, cuda_text, lowered, statements
from translated import rebuilt

from nvfuser_direct import (
    BlockSync,
    DataType,
    Fusion,
    FusionDefinition,
    IterDomain,
    LoadStoreOp,
    LoadStoreOpType,
    MmaMacroArch,
    MmaMacroEncode,
    MmaOperand,
    ParallelType,
    TensorView,
    UserError,
    _core,
    translate_fusion,
)

pytestmark = pytest.mark.sanitize

A, B = MmaOperand.A, MmaOperand.B
ROWS = {A: 16, B: 8, None: 16}  # of a tile of an operand; None: of the result
COLUMNS = {A: 16, B: 16, None: 8}
SHAPES = [(16, 16), (33, 24), (1, 8), (70, 200)]
CP_ASYNC, LOAD, STORE = (
    LoadStoreOpType.cp_async,
    LoadStoreOpType.load_matrix,
    LoadStoreOpType.StMatrix,
)


def order(tensor: TensorView, *axes: int) -> None:
    tensor.reorder({axis: position for position, axis in enumerate(axes)})


def tiled(tensor: TensorView, operand: MmaOperand | None, *, swizzle: bool = True) -> None:
    """[rows, columns] -> [rows / tile, columns / tile, fragment], or the tile itself."""
    tensor.split(1, COLUMNS[operand])
    tensor.split(0, ROWS[operand])
    order(tensor, 0, 2, 1, 3)
    if swizzle:
        tensor.apply_mma_swizzle(operand)
    tensor.axis(0).parallelize(ParallelType.grid_y)
    tensor.axis(1).parallelize(ParallelType.grid_x)


def staged_tile(
    tile: TensorView, operand: MmaOperand | None, threads: int, *, transposed: bool = False
) -> None:
    """A tile in shared memory, loaded in pieces of 16 bytes."""
    tile.set_memory_type(SHARED)
    tiled(tile, operand, swizzle=False)
    if transposed:
        order(tile, 0, 1, 3, 2)
    tile.split(3, 16 // (4 if tile.dtype() == DataType.Float else 2))
    tile.merge(2, 3)
    tile.split(2, threads)
    tile.axis(3).parallelize(ParallelType.block_x)
    tile.axis(4).parallelize(ParallelType.vectorize)


def scheduled(
    operand: MmaOperand | None, *, transposed: bool = False, dtype: DataType = DataType.BFloat16
) -> tuple[FusionDefinition, TensorView, TensorView]:
    with FusionDefinition() as fd:
        strides = [0, 1] if transposed else [1, 0]
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype, stride_order=strides)
        y = fd.ops.set(x)
        fd.add_output(y)
        tile = x.cache_after(CP_ASYNC, propagate_allocation_domain=False)
        fragment = tile.cache_after(LOAD)
        staged_tile(tile, operand, 16, transposed=transposed)
        for tensor in (fragment, y):
            tiled(tensor, operand)
        fd.sched.inline_at(y, 2, selected_tensors=[fragment, tile])
    return fd, tile, fragment


def stored(
    *, transposed: bool = False, dtype: DataType = DataType.BFloat16
) -> tuple[FusionDefinition, TensorView]:
    """A copy through registers and shared memory, which the warp reads in another order."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        y = fd.ops.set(x)
        fd.add_output(y)
        registers = x.cache_after()
        staged = registers.cache_after(STORE)
        staged.set_memory_type(SHARED)
        tiled(staged, None, swizzle=False)
        blocks_y, blocks_x, row, column = staged.get_loop_domain()
        inner = [column, row] if transposed else [row, column]
        staged.set_allocation_domain([blocks_y, blocks_x, *inner], True)
        staged.apply_mma_swizzle()
        tiled(registers, None)
        tiled(y, None, swizzle=False)
        y.merge(2, 3)
        y.split(2, 32)
        y.axis(3).parallelize(ParallelType.block_x)
        fd.sched.inline_at(y, 2, selected_tensors=[registers, staged])
    return fd, staged


def stored_by_warpgroup(columns: int) -> tuple[FusionDefinition, TensorView]:
    """The same of 128 lanes, which hold 64 rows as the sum of wgmma: two matrices at once."""
    macro = MmaMacroEncode(MmaMacroArch.hopper, 64, columns, 16).mma_macro()
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        y = fd.ops.set(x)
        fd.add_output(y)
        registers = x.cache_after()
        staged = registers.cache_after(STORE)
        staged.set_memory_type(SHARED)
        for tensor in (registers, staged, y):
            tensor.split(1, columns)
            tensor.split(0, 64)
            order(tensor, 0, 2, 1, 3)
            tensor.axis(0).parallelize(ParallelType.grid_y)
            tensor.axis(1).parallelize(ParallelType.grid_x)
        staged.set_allocation_domain(staged.get_loop_domain(), True)
        for tensor in (registers, staged):
            tensor.apply_mma_swizzle(macro=macro)
        staged.axis(3).parallelize(ParallelType.serial)
        y.merge(2, 3)
        y.split(2, 128)
        y.axis(3).parallelize(ParallelType.block_x)
        fd.sched.inline_at(y, 2, selected_tensors=[registers, staged])
    return fd, staged


def boxed() -> FusionDefinition:
    """Boxes of 16 x 64 with swizzled pieces, of which fragments of 16 x 16 are loaded."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        y = fd.ops.set(x)
        fd.add_output(y)
        box = x.cache_after(LoadStoreOpType.tma)
        box.set_memory_type(SHARED)
        fragment = box.cache_after(LOAD)
        for tensor in (box, fragment, y):
            tensor.split(1, 64)
            tensor.split(0, 16)
            order(tensor, 0, 2, 1, 3)  # [rows / 16, columns / 64, 16, 64]
            tensor.axis(0).parallelize(ParallelType.grid_y)
            tensor.axis(1).parallelize(ParallelType.grid_x)
        box.split(3, 8)
        box.split(2, 8)
        box.swizzle(3, 4)
        for axis in range(2, 6):
            box.axis(axis).parallelize(ParallelType.tma)
        for tensor in (fragment, y):
            tensor.split(3, 16)
            order(tensor, 0, 1, 3, 2, 4)
            tensor.apply_mma_swizzle(A)
        fd.sched.inline_at(y, 2, selected_tensors=[fragment, box])
    return fd


def values(shape: tuple[int, int], device: str, *, transposed: bool = False) -> torch.Tensor:
    if transposed:
        return torch.randn(shape[::-1], device=device).bfloat16().t()
    return torch.randn(shape, device=device).bfloat16()


def copies(fd: FusionDefinition, target: str = "cuda") -> list[LoadStoreOpType]:
    found = statements(lowered(fd.fusion, target))
    return [s.op for s in found if isinstance(s, LoadStoreOp) and s.op in (LOAD, STORE)]


def refused(fd: FusionDefinition, headline: str) -> None:
    for target in ("cpu", "cuda"):
        with pytest.raises(UserError, match=headline):
            lowered(fd.fusion, target)


# -- results --


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("operand", [A, B, None])
def test_fragments_hold_what_the_tile_does(target, operand, transposed):
    run = Compiled(scheduled(operand, transposed=transposed)[0])
    for shape in SHAPES:
        x = values(shape[::-1] if transposed else shape, target, transposed=transposed)
        (out,) = run(x)
        assert torch.equal(out, x)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_tile_holds_what_fragments_do(target, transposed):
    run = Compiled(stored(transposed=transposed)[0])
    for shape in [*SHAPES, (5, 3)]:
        x = values(shape, target)
        (out,) = run(x)
        assert torch.equal(out, x)


def test_fragments_of_a_swizzled_box(target):
    """Holes that a bulk copy fills are zeros; its rows lie in different banks."""
    fd = boxed()
    assert "load_matrix<4, " in cuda_text(fd.fusion)
    run = Compiled(fd)
    for shape in [(16, 64), (33, 72), (1, 8)]:
        x = values(shape, target)
        (out,) = run(x)
        assert torch.equal(out, x)
    conflicts = lowered(fd.fusion, "cuda").bank_conflicts([values((33, 72), "cpu")])
    assert {c.ways for c in conflicts if not c.is_write} == {1}


@pytest.mark.parametrize("is_store", [False, True])
def test_the_race_check_finds_no_race(is_store) -> None:
    fd = stored()[0] if is_store else scheduled(A)[0]
    x = values((33, 24), "cpu")
    run = Compiled(fd)
    (out,) = _core.call_with_options(lambda: run(x), ["kernel_debug"], [])
    assert torch.equal(out, x)


# -- the kernel --


@pytest.mark.parametrize(("operand", "count"), [(A, 4), (B, 2), (None, 2)])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_warp_loads_a_fragment_with_one_instruction(operand, count, transposed):
    fd, *_ = scheduled(operand, transposed=transposed)
    assert copies(fd) == [LOAD]
    assert copies(fd, "cpu") == []
    trans = ".trans" if transposed else ""
    assert f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16" in fd.fusion.compile_cuda().ptx


@pytest.mark.parametrize("transposed", [False, True])
def test_a_warp_stores_a_fragment_with_one_instruction(transposed):
    fd, _ = stored(transposed=transposed)
    assert copies(fd) == [STORE]
    assert copies(fd, "cpu") == []
    trans = ".trans" if transposed else ""
    assert f"stmatrix.sync.aligned.m8n8.x2{trans}.shared.b16" in fd.fusion.compile_cuda().ptx


@pytest.mark.parametrize("columns", [8, 64, 200])
def test_warps_of_a_warpgroup_store_rows_of_their_own(target, columns):
    fd, _ = stored_by_warpgroup(columns)
    assert "store_matrix<2, /*transposed=*/false>(" in cuda_text(fd.fusion)
    run = Compiled(fd)
    for shape in [(64, columns), (70, 24), (1, 8), (200, 2 * columns + 8)]:
        x = values(shape, target)
        (out,) = run(x)
        assert torch.equal(out, x)


@pytest.mark.parametrize(("loops", "count"), [(0, 4), (1, 2), (2, 1)])
def test_axes_that_are_loops_are_copied_by_instructions_of_their_own(target, loops, count):
    fd, _, fragment = scheduled(A)
    for axis in range(3, 3 + loops):
        fragment.axis(axis).parallelize(ParallelType.serial)
    assert f"load_matrix<{count}, " in cuda_text(fd.fusion)
    x = values((33, 24), target)
    (out,) = Compiled(fd)(x)
    assert torch.equal(out, x)


def test_two_tiles_are_loaded_at_once(target):
    """An axis in front of the lanes counts matrices likewise."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        y = fd.ops.set(x)
        fd.add_output(y)
        tile = x.cache_after(CP_ASYNC)
        fragment = tile.cache_after(LOAD)
        staged_tile(tile, A, 32)  # 16 x 16: two tiles of the second factor
        for tensor in (fragment, y):
            tensor.split(1, 16)
            tensor.split(0, 16)
            tensor.split(1, 8)
            order(tensor, 0, 3, 1, 2, 4)
            tensor.apply_mma_swizzle(B)
            tensor.axis(0).parallelize(ParallelType.grid_y)
            tensor.axis(1).parallelize(ParallelType.grid_x)
        fragment.axis(2).parallelize(ParallelType.mma)
        fd.sched.inline_at(y, 2, selected_tensors=[fragment, tile])
    assert "load_matrix<4, " in cuda_text(fd.fusion)
    x = values((33, 24), target)
    (out,) = Compiled(fd)(x)
    assert torch.equal(out, x)


@pytest.mark.parametrize("is_store", [False, True])
def test_lanes_wait_for_rows_that_others_write(is_store):
    """By its axes a lane loads elements of its own; but the instruction reads rows."""
    fd, *_ = stored() if is_store else scheduled(A)
    for target in ("cpu", "cuda"):
        assert any(isinstance(s, BlockSync) for s in statements(lowered(fd.fusion, target)))


@pytest.mark.parametrize("is_store", [False, True])
def test_text_and_bytes_keep_the_copies(is_store):
    fd = stored()[0] if is_store else scheduled(B)[0]
    text = translate_fusion(fd.fusion, schedule=True)
    again = rebuilt(text)
    copy = Fusion.deserialize(fd.fusion.serialize())
    assert translate_fusion(again.fusion, schedule=True) == text
    for fusion in (fd.fusion, again.fusion, copy):
        assert ("store_matrix<" if is_store else "load_matrix<") in cuda_text(fusion)


def test_rows_of_matrices_meet_in_banks():
    """Rows of a tile of 16 columns of 16 bits are 32 bytes apart: every fourth is in one bank."""
    fd, *_ = scheduled(A)
    (conflict,) = [
        c
        for c in lowered(fd.fusion, "cuda").bank_conflicts([values((64, 64), "cpu")])
        if not c.is_write
    ]
    assert (conflict.bytes, conflict.ways) == (16, 2)


# -- refusals --


def test_a_fragment_comes_from_shared_memory():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        y = fd.ops.set(x)
        fd.add_output(y)
        fragment = x.cache_after(LOAD)
        for tensor in (fragment, y):
            tiled(tensor, A)
        fd.sched.inline_at(y, 2, selected_tensors=[fragment])
    refused(fd, "A copy of matrices is between shared memory and registers")


def test_holes_of_the_tile_are_filled():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.BFloat16)
        y = fd.ops.set(x)
        fd.add_output(y)
        tile = x.cache_after()
        fragment = tile.cache_after(LOAD)
        staged_tile(tile, A, 16)
        for tensor in (fragment, y):
            tiled(tensor, A)
        fd.sched.inline_at(y, 2, selected_tensors=[fragment, tile])
    refused(fd, "load_matrix copies whole tiles, whose holes are not filled with zeros")


def test_elements_have_16_bits():
    fd, *_ = scheduled(A, dtype=DataType.Float)
    refused(fd, "A copy of matrices has elements of 16 bits")


def test_the_innermost_axes_are_a_fragment():
    fd, _, fragment = scheduled(A)
    fragment.axis(-1).parallelize(ParallelType.serial)
    refused(fd, "Registers of a copy of matrices are not bound to mma")


def test_rows_lie_side_by_side():
    """Where the tile is stored by columns of pieces of four, half a row is elsewhere."""
    fd, staged = stored()
    *outer, row, column = staged.maybe_allocation()
    half, piece = IterDomain.split(column, 4)
    staged.set_allocation_domain([*outer, half, row, piece], True)
    refused(fd, "Rows of matrices do not lie in shared memory as the instruction copies them")
