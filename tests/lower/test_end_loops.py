"""Loops over what a block is dealt end with its last iteration: golden texts before and after, and
values where blocks have different numbers of iterations, or none."""

from __future__ import annotations

import pytest
import torch
from cuda_kernels import cuda_text
from pass_text import BX, TX, check_pass, check_unchanged

from nvfuser_direct import FusionDefinition, KernelExecutor, MemoryType, ParallelType


def rows_in_turn(blocks: int, *, shared: bool = False) -> FusionDefinition:
    """Rows minus their sums; a block takes rows in turn."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, 128], contiguity=True)
        total = fd.ops.sum(x, [1])
        y = fd.ops.sub(x, fd.ops.broadcast(total, [False, True]))
        fd.add_output(y)
        load = x.cache_after()
        if shared:
            load.set_memory_type(MemoryType.shared)
        total.split(1, 64)
        total.split(0, blocks)
        part = total.rfactor([2])
        fd.sched.transform_like(part)
        part.axis(1).parallelize(BX)
        part.axis(3).parallelize(TX)
        fd.sched.parallelize_like(part)
        fd.sched.inline_most()
    return fd


def test_a_loop_with_barriers_ends_where_the_block_has_no_row_left() -> None:
    text = cuda_text(rows_in_turn(24).fusion)
    assert "< ceilDiv(maximum(i0 - block_x, 0), 24);" in text
    assert "< i0" not in text


@pytest.mark.parametrize("shared", [False, True], ids=["registers", "shared memory"])
@pytest.mark.parametrize("rows", [0, 1, 5, 24, 25, 100])
def test_blocks_with_different_numbers_of_rows(target: str, rows: int, shared: bool) -> None:
    x = torch.arange(rows * 128, dtype=torch.float64).reshape(rows, 128) % 17
    executor = KernelExecutor()
    inputs = [x.float().to(target)]
    executor.compile(rows_in_turn(24, shared=shared).fusion, inputs)
    (found,) = executor.run(inputs)
    torch.testing.assert_close(found.cpu().double(), x - x.sum(1, keepdim=True))


def in_turn(step: int) -> FusionDefinition:
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, step)
        y.axis(1).parallelize(BX)
    return fd


def test_what_every_statement_tests_is_the_end() -> None:
    check_pass(
        in_turn(8),
        "end_loops",
        """
        FOR k0 in (ceilDiv(i0, 8)):
          IF (((k0 * 8) + bx) < i0):
            T1_g[((k0 * 8) + bx)] = -T0_g[((k0 * 8) + bx)];
        """,
        """
        FOR k0 in (ceilDiv(i0, 8)):
          T1_g[((k0 * 8) + bx)] = -T0_g[((k0 * 8) + bx)];
        """,
    )


def test_an_end_that_differs_among_threads_is_tested() -> None:
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(0, 8)
        y.axis(1).parallelize(TX)
    check_unchanged(fd, "end_loops")


def test_loops_that_address_registers_keep_their_number_of_iterations() -> None:
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([1000], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        load = x.cache_after()
        y.split(0, 40)
        fd.sched.transform_like(y)
        for t in (load, y):
            t.axis(1).parallelize(BX)
        load.axis(0).parallelize(ParallelType.unroll)
    check_unchanged(fd, "end_loops")


def chains(length: int) -> FusionDefinition:
    """Sums of rows, in chains of `length` vectors."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [1])
        fd.add_output(total)
        total.split(1, 8)
        total.split(1, length)
        chain = total.rfactor([2])
        total.rfactor([1])
        fd.sched.transform_like(chain)
        chain.axis(0).parallelize(BX)
        fd.sched.parallelize_like(chain)
        fd.sched.inline_most()
    return fd


def test_chains_of_a_processor_end_with_the_row() -> None:
    fusion = chains(32).fusion
    text = fusion.print_kernel(target="cpu", comments=False)
    assert "< minimum(ceilDiv(i1, 8) - " in text
    assert "minimum" not in cuda_text(fusion)


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 255, 256, 257, 600])
def test_rows_of_any_number_of_chains(target: str, columns: int) -> None:
    x = torch.arange(3 * columns, dtype=torch.float64).reshape(3, columns) % 17
    executor = KernelExecutor()
    inputs = [x.float().to(target)]
    executor.compile(chains(32).fusion, inputs)
    (found,) = executor.run(inputs)
    torch.testing.assert_close(found.cpu().double(), x.sum(1))


def columns_of_task(columns: int) -> FusionDefinition:
    """Sums of columns: a task has neighbouring ones, in steps of four."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [0])
        y = fd.ops.neg(total)
        fd.add_output(y)
        for tensor, axis in (total, 1), (y, 0):
            tensor.split(axis, columns)
            tensor.split(axis + 1, 4)
        total.reorder({0: 1, 1: 0})
        for tensor in (total, y):
            tensor.axis(0).parallelize(BX)
        fd.sched.inline_most()
    return fd


def test_loops_over_arrays_beyond_registers_end_with_the_last_element() -> None:
    """An array that lies in memory is addressed by any loop, one in registers by whole ones."""
    for columns, ends in (128, 0), (512, 2):
        text = columns_of_task(columns).fusion.print_kernel(target="cpu", comments=False)
        assert text.count(f"< minimum(i3, {columns // 4});") == ends


@pytest.mark.parametrize("columns", [0, 1, 4, 511, 512, 515, 1030])
def test_any_number_of_columns_in_memory(columns: int) -> None:
    x = torch.randn(5, columns)
    executor = KernelExecutor()
    executor.compile(columns_of_task(512).fusion, [x])
    (found,) = executor.run([x])
    torch.testing.assert_close(found, -x.sum(0))
