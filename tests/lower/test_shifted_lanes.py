"""Rows that begin in the middle of vectors, in loops shifted to where the vectors begin."""

from __future__ import annotations

import re

import pytest
import torch
from pass_text import check_refused

import nvfuser_direct
from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    IterType,
    KernelExecutor,
    MemoryType,
    ParallelType,
    TensorView,
    UserError,
    Val,
    translate_fusion,
)

GRID = ParallelType.grid_x
VECTOR = ParallelType.vectorize
TYPES = {torch.float16: DataType.Half, torch.float32: DataType.Float, torch.int8: DataType.Int32}


def shift(fd: FusionDefinition, tv: TensorView, width: int, index: Val | None = None) -> None:
    """Resize the rows of [rows, columns], one for each block, to where a vector begins."""
    ops = fd.ops
    columns = tv.axis(1).extent()
    row = fd.fusion.parallel_index(GRID) if index is None else index
    before = ops.mod(ops.mul(row, columns), width)
    positions = ops.mul(ops.ceilDiv(ops.add(columns, width - 1), width), width)
    behind = ops.sub(ops.sub(positions, columns), before)
    tv.resize(1, before, behind, IterType.Iteration)


def scaled_rows(
    dtype: DataType,
    width: int,
    *,
    columns: int = -1,
    rows_in_shared_memory: bool = False,
    rows_bound_to: ParallelType = GRID,
) -> FusionDefinition:
    """y = x * w, row by row. All loads and stores are vectors."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=dtype)
        w = fd.define_tensor([columns], contiguity=True, dtype=dtype)
        y = fd.ops.mul(x, fd.ops.broadcast(w, [True, False]))
        if dtype != DataType.Float:
            y = fd.ops.cast(y, dtype)
        fd.add_output(y)
        loads = [x.cache_after(), w.cache_after()]
        if rows_in_shared_memory:
            row = loads[0]
            row.set_memory_type(MemoryType.shared)
            loads.append(row.cache_after())
        y.cache_before()
        shift(fd, y, width)
        y.split(1, width)
        y.split(1, 4)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(rows_bound_to)
        y.axis(2).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(y)
        for tv in (*loads, y):
            tv.axis(-1).parallelize(VECTOR)
        fd.sched.inline_most()
    return fd


def without_comments(fusion: Fusion) -> str:
    return re.sub(r" *//.*", "", fusion.print_kernel(target="cuda"))


def values(*shape: int, dtype: torch.dtype, rng: torch.Generator) -> torch.Tensor:
    return torch.randn(*shape, generator=rng, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("columns", [1, 5, 7, 8, 13, 16, 23, 64, 101, 267])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("rows_in_shared_memory", [False, True])
def test_elements_of_rows_of_any_length(
    target: str,
    columns: int,
    dtype: torch.dtype,
    rows_in_shared_memory: bool,
    rng: torch.Generator,
) -> None:
    width = 16 // dtype.itemsize
    fd = scaled_rows(TYPES[dtype], width, rows_in_shared_memory=rows_in_shared_memory)
    x = values(11, columns, dtype=dtype, rng=rng).to(target)
    w = values(columns, dtype=dtype, rng=rng).to(target)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x, w])
    (found,) = executor.run([x, w])
    torch.testing.assert_close(found, x * w)


def test_accesses_are_vectors_but_at_the_ends_of_rows() -> None:
    text = scaled_rows(DataType.Half, 8).fusion.print_kernel(target="cuda")
    assert len(re.findall(r"load_vector<8, ", text)) == 1
    assert len(re.findall(r"load_unaligned<8, ", text)) == 1  # of weights, which all rows share
    assert len(re.findall(r"store_vector<8, ", text)) == 1


def test_a_shifted_schedule_is_printed_and_kept_as_bytes() -> None:
    fd = scaled_rows(DataType.Half, 8)
    text = translate_fusion(fd.fusion, schedule=True)
    assert "fd.fusion.parallel_index(ParallelType.grid_x)" in text
    namespace = dict(vars(nvfuser_direct))
    exec(text, namespace)
    with FusionDefinition() as again:
        namespace["nvfuser_fusion"](again)
    assert without_comments(again.fusion) == without_comments(fd.fusion)
    data = fd.fusion.serialize()
    loaded = Fusion.deserialize(data)
    assert loaded.serialize() == data
    assert "store_vector<8, " in loaded.print_kernel(target="cuda")


def test_rows_that_are_not_shifted_by_their_own_number_are_refused() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.cache_before()
        shift(fd, y, 4, fd.ops.mul(fd.fusion.parallel_index(GRID), 2))
        y.split(1, 4)
        fd.sched.transform_like(y)
        y.axis(0).parallelize(GRID)
        fd.sched.parallelize_like(y)
        y.axis(-1).parallelize(VECTOR)
    check_refused(
        fd,
        "check_vector_accesses",
        "The vectors of a shifted axis do not begin where those of memory do",
    )


def test_parts_of_a_row_are_not_bound_to_the_index_that_shifts_it() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        shift(fd, y, 4)
        y.axis(1).parallelize(GRID)
    with pytest.raises(UserError, match="Blocks that shift an axis differently"):
        fd.fusion.lower(target="cuda")


def test_the_threads_of_a_block_agree_on_a_shift() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        thread = fd.fusion.parallel_index(ParallelType.block_y)
        with pytest.raises(UserError, match="threads of a block cannot shift an axis differently"):
            shift(fd, y, 4, thread)
        block = fd.fusion.parallel_index(GRID)
        with pytest.raises(UserError, match="size of a resized axis differs between blocks"):
            y.resize(1, fd.ops.mod(block, 4), 0, IterType.Iteration)
        with pytest.raises(UserError, match="No block and no thread has an index"):
            fd.fusion.parallel_index(ParallelType.vectorize)
