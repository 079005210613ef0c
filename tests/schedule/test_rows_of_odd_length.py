"""Rows that no vectors divide: their batches have no tests but the last one, and long ones are kept
in shared memory. Those of 16 bits begin between vectors here; else they would be shifted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import between_vectors, check_prints_as_python

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, SchedulerType, schedule

if TYPE_CHECKING:
    from nvfuser_direct import Fusion, ReductionParams

INNER = SchedulerType.inner_persistent
FLOAT = DataType.Float
TYPES = {torch.float16: DataType.Half, torch.bfloat16: DataType.BFloat16, torch.float32: FLOAT}


def rms_norm(columns: int, dtype: torch.dtype) -> FusionDefinition:
    """A norm of rows whose length the definition says; -1: it does not."""
    with FusionDefinition() as fd:
        ops = fd.ops
        x = fd.define_tensor([-1, columns], contiguity=True, dtype=TYPES[dtype])
        wide = ops.cast(x, FLOAT)
        squares = ops.sum(ops.mul(wide, wide), [1])
        scale = ops.broadcast(ops.rsqrt(ops.add(squares, 1e-5)), [False, True])
        fd.add_output(ops.cast(ops.mul(wide, scale), TYPES[dtype]))
    return fd


def expected(x: torch.Tensor) -> torch.Tensor:
    wide = x.double()
    return wide * torch.rsqrt((wide * wide).sum(1, keepdim=True) + 1e-5)


def scheduled(x: torch.Tensor, *, says_length: bool = True) -> tuple[Fusion, ReductionParams]:
    fusion = rms_norm(x.shape[1] if says_length else -1, x.dtype).fusion
    return fusion, schedule.schedule(fusion, INNER, [x], "cuda")


def random(rows: int, columns: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(rows, columns, dtype=torch.float64).to(dtype)


def check(fusion: Fusion, params: ReductionParams, x: torch.Tensor) -> None:
    executor = KernelExecutor()
    executor.compile(fusion, [x])
    (found,) = executor.run([x], params.lparams, params.cparams)
    rtol = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 1e-5}[x.dtype]
    torch.testing.assert_close(found.cpu().double(), expected(x).cpu(), rtol=rtol, atol=1e-5)


@pytest.mark.parametrize("columns", [8887, 1319, 523, 12423])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
def test_threads_of_a_known_length_are_a_constant(columns: int, dtype: torch.dtype) -> None:
    """So all batches but the last one are whole, and are not tested."""
    fusion, params = scheduled(torch.empty(4096, columns, dtype=dtype))
    threads, batches = params.lparams.bdimx, params.batches_per_block_inner_reduction
    assert params.static_bdimx
    assert threads % 32 == 0
    assert (batches - 1) * threads < columns <= batches * threads
    text = cuda_text(fusion)
    assert f"* {threads} < {columns}" in text
    assert not re.search(rf"thread_x < (?!{threads}\b)", text)
    check_prints_as_python(fusion)


def test_threads_of_an_unknown_length_follow_from_it() -> None:
    """One kernel serves all of them."""
    _, params = scheduled(torch.empty(4096, 8887, dtype=torch.float16), says_length=False)
    assert not params.static_bdimx


@pytest.mark.parametrize("columns", [8192, 4096])
def test_batches_that_divide_a_row_have_no_tests_anyway(columns: int) -> None:
    _, params = scheduled(torch.empty(4096, columns, dtype=torch.float16))
    assert not params.static_bdimx


@pytest.mark.parametrize(
    ("rows", "columns", "dtype"),
    [(512, 306809, torch.float16), (329, 180233, torch.float32), (337, 120539, torch.float32)],
    ids=str,
)
def test_blocks_of_a_cluster_have_whole_batches(
    rows: int, columns: int, dtype: torch.dtype
) -> None:
    """No element is compared with the end of a block, and with that of the row at most once."""
    fusion, params = scheduled(between_vectors(torch.empty(rows, columns, dtype=dtype)))
    vectors = -(-columns // params.unroll_factor_inner_reduction)
    batches, blocks = params.batches_per_block_inner_reduction, params.blocks_per_cluster
    assert params.static_bdimx
    assert (blocks - 1) * batches * params.lparams.bdimx < vectors
    assert vectors <= blocks * batches * params.lparams.bdimx
    conditions = re.findall(r"if \((.+)\) \{", cuda_text(fusion))
    assert conditions
    assert all(re.fullmatch(rf"[^<]+ < {columns}", condition) for condition in conditions)
    check_prints_as_python(fusion)


def test_blocks_in_registers_test_all_of_their_elements_at_once() -> None:
    """All blocks but the last one of a row run loops without tests."""
    fusion, params = scheduled(torch.empty(337, 120539))
    assert not params.keeps_rows_in_shared_memory
    last = (params.batches_per_block_inner_reduction - 1) * params.lparams.bdimx
    loops = re.split(rf"if \(i\d+ \+ {last} < 120539\) \{{", cuda_text(fusion))
    assert len(loops) == 3  # before and behind the exchange
    for text in loops[1:]:
        whole, tested = text.split("} else {")
        assert "if (" not in whole
        assert "< 120539) {" in tested


@pytest.mark.parametrize(
    ("rows", "columns", "dtype", "blocks"),
    [
        (1024, 30297, torch.bfloat16, 1),
        (487, 214789, torch.float16, 4),  # registers would take a cluster of 8
        (512, 306809, torch.float16, 8),
        (329, 180233, torch.float32, 8),
    ],
    ids=str,
)
def test_long_rows_are_kept_in_shared_memory(
    rows: int, columns: int, dtype: torch.dtype, blocks: int
) -> None:
    """Two blocks of a multiprocessor, where registers have room for one."""
    fusion, params = scheduled(between_vectors(torch.empty(rows, columns, dtype=dtype)))
    assert params.keeps_rows_in_shared_memory
    assert params.project_persistent_buffers
    assert params.blocks_per_cluster == blocks
    threads = params.lparams.bdimx
    bytes_of_part = params.batches_per_block_inner_reduction * threads * dtype.itemsize
    assert columns * dtype.itemsize <= bytes_of_part * blocks
    assert 2 * bytes_of_part < 228 * 1024
    assert 2 * threads * params.cparams.maxrregcount <= 64 * 1024
    loads = re.findall(
        r"T\d+_s\[.*\] = load_readonly\(T0\[|cp_async\w*<\d+>\(.*T0", cuda_text(fusion)
    )
    assert len(loads) == 1
    check_prints_as_python(fusion)


@pytest.mark.parametrize(
    ("rows", "columns", "dtype"),
    [
        (4096, 31761, torch.float32),  # as large in registers
        (8192, 8887, torch.float16),  # two rows fit in registers
        (512, 262144, torch.float16),  # has vectors
        (16, 30297, torch.bfloat16),  # no multiprocessor has two
    ],
    ids=str,
)
def test_other_rows_stay_in_registers(rows: int, columns: int, dtype: torch.dtype) -> None:
    _, params = scheduled(torch.empty(rows, columns, dtype=dtype))
    assert params.persistent_kernel
    assert not params.keeps_rows_in_shared_memory


def test_random_numbers_are_not_drawn_again() -> None:
    """A value that cannot be computed in each pass is kept as it was computed."""
    with FusionDefinition() as fd:
        ops = fd.ops
        x = fd.define_tensor([-1, 237533], contiguity=True, dtype=DataType.Half)
        noise = ops.uniform(0.0, 1.0, [x.size(0), x.size(1)], dtype=FLOAT)
        y = ops.mul(ops.cast(x, FLOAT), noise)
        total = ops.broadcast(ops.sum(y, [1]), [False, True])
        fd.add_output(ops.cast(ops.div(y, total), DataType.Half))
    inputs = [between_vectors(torch.empty(307, 237533, dtype=torch.float16))]
    params = schedule.compute_heuristics(fd.fusion, INNER, inputs, "cuda")
    assert params.blocks_per_cluster > 1
    assert params.keeps_rows_in_shared_memory
    assert not params.project_persistent_buffers


@pytest.mark.parametrize("shape", [(264, 30297), (33, 250_001)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_results_of_long_rows(target: str, shape: tuple[int, int], dtype: torch.dtype) -> None:
    x = between_vectors(random(*shape, dtype).to(target))
    fusion, params = scheduled(x)
    assert params.keeps_rows_in_shared_memory
    check(fusion, params, x)


@pytest.mark.parametrize("columns", [37, 71, 129, 523, 1289, 2411, 8887, 16607])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_results(target: str, columns: int, dtype: torch.dtype) -> None:
    x = random(5, columns, dtype).to(target)
    check(*scheduled(x), x)
