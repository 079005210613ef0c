"""Rows that are too short for vectors along them: on a processor, the lanes are rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    schedule,
    segment,
)

if TYPE_CHECKING:
    from nvfuser_direct import ReductionParams

LANES = {torch.float32: 16, torch.bfloat16: 32, torch.float64: 8}
NVF = {
    torch.float32: DataType.Float,
    torch.bfloat16: DataType.BFloat16,
    torch.float64: DataType.Double,
}
LONGEST = 48


def define_softmax(fd: FusionDefinition, dtype: torch.dtype = torch.float32) -> None:
    x = fd.define_tensor([-1, -1], contiguity=True, dtype=NVF[dtype])
    wide = fd.ops.cast(x, DataType.Float) if dtype.itemsize < 4 else x
    powers = fd.ops.exp(fd.ops.sub(wide, fd.ops.max(wide, [1], keepdim=True)))
    result = fd.ops.div(powers, fd.ops.sum(powers, [1], keepdim=True))
    fd.add_output(fd.ops.cast(result, NVF[dtype]))


def params_for(fd: FusionDefinition, x: torch.Tensor) -> ReductionParams:
    (group,) = segment(fd.fusion, [x], "cpu").groups
    return group.params


@pytest.mark.parametrize("dtype", LANES)
@pytest.mark.parametrize("columns", [1, 2, 10, LONGEST])
def test_lanes_are_rows(columns: int, dtype: torch.dtype) -> None:
    with FusionDefinition() as fd:
        define_softmax(fd, dtype)
    params = params_for(fd, torch.empty(10_000, columns, dtype=dtype))
    assert params.vectorize_iter_dom
    assert params.unroll_factor_iter_dom == LANES[dtype]
    assert params.lparams.gdimx == -(-10_000 // (LANES[dtype] * params.iterations_per_task))


@pytest.mark.parametrize(("rows", "columns"), [(10_000, LONGEST + 1), (15, 10)])
def test_long_rows_and_few_rows_have_vectors_along_them(rows: int, columns: int) -> None:
    with FusionDefinition() as fd:
        define_softmax(fd)
    params = params_for(fd, torch.empty(rows, columns))
    assert not params.vectorize_iter_dom
    assert params.unroll_factor_inner_reduction == 16


@pytest.mark.parametrize("dtype", LANES)
@pytest.mark.parametrize("rows", [32, 33, 1001])
@pytest.mark.parametrize("columns", [1, 3, 10, LONGEST])
def test_softmax_of_short_rows(rows: int, columns: int, dtype: torch.dtype) -> None:
    with FusionDefinition() as fd:
        define_softmax(fd, dtype)
    x = torch.randn(rows, columns, dtype=dtype)
    (result,) = fd.execute([x])
    assert fd.fec.last_pieces()[0].params.vectorize_iter_dom
    torch.testing.assert_close(result, torch.softmax(x.double(), 1).to(dtype))


def test_results_of_elements_and_of_rows_from_one_kernel() -> None:
    """Statistics, a norm, and the row's sum, which is stored; rows are two axes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1, -1], contiguity=True)
        var, mean = fd.ops.var_mean(x, [2, 3], 0, keepdim=True)
        fd.add_output(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5))))
        fd.add_output(fd.ops.sum(x, [2, 3]))
    x = torch.randn(37, 11, 3, 5)
    norm, total = fd.execute([x])
    (piece,) = fd.fec.last_pieces()
    assert piece.scheduler == SchedulerType.inner_persistent
    assert piece.params.vectorize_iter_dom
    torch.testing.assert_close(norm, torch.nn.functional.layer_norm(x, (3, 5)))
    torch.testing.assert_close(total, x.sum([2, 3]))


@pytest.mark.parametrize("columns", [1, 2, 7, LONGEST])
def test_reductions_of_short_rows(columns: int) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.mul(x, x), [1]))
        fd.add_output(fd.ops.max(x, [1]))
    x = torch.randn(1003, columns)
    total, largest = fd.execute([x])
    (piece,) = fd.fec.last_pieces()
    assert piece.scheduler == SchedulerType.reduction
    assert piece.params.vectorize_iter_dom
    torch.testing.assert_close(total, (x * x).sum(1))
    assert torch.equal(largest, x.amax(1))


def test_rows_with_gaps_between_them() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True])
        fd.add_output(fd.ops.sum(x, [1]))
    x = torch.randn(500, 16)[:, :9]
    torch.testing.assert_close(fd.execute([x])[0], x.sum(1))


def test_rows_that_are_updated() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sub(x, fd.ops.sum(x, [1], keepdim=True)), x)
    x = torch.randn(777, 6)
    expected = x - x.sum(1, keepdim=True)
    fd.execute([x])
    torch.testing.assert_close(x, expected)


def test_the_schedule_computes_the_same_for_a_gpu() -> None:
    """It lowers there, though no scheduler chooses it."""
    with FusionDefinition() as fd:
        define_softmax(fd)
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, SchedulerType.inner_persistent, params_for(fd, torch.empty(100, 10)))
    assert "__global__" in fusion.print_kernel(target="cuda")


# -- on a GPU --


def gpu_params(rows: int, columns: int, dtype: torch.dtype) -> ReductionParams:
    with FusionDefinition() as fd:
        define_softmax(fd, dtype)
    inputs = [torch.empty(rows, columns, dtype=dtype)]
    return schedule.compute_heuristics(fd.fusion, SchedulerType.inner_persistent, inputs, "cuda")


@pytest.mark.parametrize("columns", range(1, 65))
def test_odd_rows_share_a_warp_of_a_gpu(columns: int) -> None:
    """Rows of a power of two of threads, all of which have elements: they need no barrier."""
    params = gpu_params(100_000, columns, torch.bfloat16)
    if params.vectorize_inner_reduction:
        assert columns % 2 == 0
        return
    threads = params.lparams.bdimx
    assert threads in (1, 2, 4, 8)
    assert threads == 8 or columns < 8 or -(-columns // -(-columns // 8)) != 8
    batches = params.batches_per_block_inner_reduction
    assert -(-columns // batches) == threads
    assert threads * params.lparams.bdimy == 128


@pytest.mark.parametrize(("rows", "columns"), [(1000, 37), (100_000, 67)])
def test_few_rows_and_long_rows_have_a_warp_of_a_gpu(rows: int, columns: int) -> None:
    assert gpu_params(rows, columns, torch.bfloat16).lparams.bdimx >= 32


@pytest.mark.parametrize("columns", [1, 3, 9, 17, 33, 37, 63])
def test_odd_rows_of_a_gpus_schedule(target: str, columns: int) -> None:
    x = torch.randn(5000, columns)
    with FusionDefinition() as fd:
        define_softmax(fd)
    inputs = [torch.empty(100_000, columns)]
    scheduler = SchedulerType.inner_persistent
    params = schedule.compute_heuristics(fd.fusion, scheduler, inputs, "cuda")
    schedule.schedule(fd.fusion, scheduler, params)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x.to(target)])
    found = executor.run([x.to(target)])[0]
    torch.testing.assert_close(found.cpu(), x.double().softmax(1).float(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("columns", "threads"), [(5, 8), (37, 8), (63, 8), (67, 32)])
def test_sums_of_odd_rows_share_a_warp_of_a_gpu(target: str, columns: int, threads: int) -> None:
    x = torch.randn(5000, columns)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), [1]))
    inputs = [torch.empty(100_000, columns)]
    params = schedule.compute_heuristics(fd.fusion, SchedulerType.reduction, inputs, "cuda")
    assert params.lparams.bdimx == threads
    schedule.schedule(fd.fusion, SchedulerType.reduction, params)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x.to(target)])
    found = executor.run([x.to(target)])[0]
    torch.testing.assert_close(found.cpu(), x.double().sum(1).float(), rtol=1e-5, atol=1e-5)
