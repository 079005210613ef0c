"""KernelExecutor: outputs, targets, what is compiled and when, what is refused."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    ParallelType,
    SchedulerType,
    UserError,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nvfuser_direct import Fusion, TensorView

BX, TX = ParallelType.grid_x, ParallelType.block_x


def defined(define: Callable[[FusionDefinition], object], inline: bool = True) -> Fusion:
    with FusionDefinition() as fd:
        define(fd)
        if inline:
            schedule.inline_most()
    return fd.fusion


def run(define: Callable[[FusionDefinition], object], *args: object) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(defined(define), args)
    return executor.run(args)


def negate(fd: FusionDefinition) -> TensorView:
    t1 = fd.ops.neg(fd.define_tensor([-1, -1], contiguity=True))
    fd.add_output(t1)
    return t1


# ---- outputs -------------------------------------------------------------------------------------


def test_outputs_are_new_row_major_tensors(target: str) -> None:
    x = torch.randn(3, 5, device=target)
    (out,) = run(negate, x)
    assert torch.equal(out, -x)
    assert out.is_contiguous()
    assert out.device == x.device
    assert out.data_ptr() != x.data_ptr()


def test_an_output_outlives_everything_else(target: str) -> None:
    (out,) = run(negate, torch.ones(1000, 1000, device=target))
    gc.collect()
    assert float(out.sum()) == -1e6


@pytest.mark.parametrize(
    "dtype",
    [
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32,
        torch.bool, torch.complex64, torch.complex128,
    ],
)  # fmt: skip
def test_every_dtype_crosses_the_border(target: str, dtype: torch.dtype) -> None:
    from nvfuser_direct.pytorch_utils import torch_dtype_to_nvfuser_dtype

    def copy(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True, dtype=torch_dtype_to_nvfuser_dtype(dtype))
        fd.add_output(fd.ops.set(t0))

    x = torch.arange(7, device=target).to(dtype)
    (out,) = run(copy, x)
    assert out.dtype == dtype
    assert torch.equal(out.view(torch.uint8), x.view(torch.uint8))


def test_a_rank_zero_output_has_one_element(target: str) -> None:

    def total(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.sum(fd.define_tensor([-1], contiguity=True), [0]))

    (out,) = run(total, torch.ones(100, device=target))
    assert out.shape == ()
    assert float(out) == 100


def test_an_expanded_output_has_stride_zero(target: str) -> None:

    def expand(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1, 1], contiguity=[True, None])
        fd.add_output(fd.ops.expand(fd.ops.neg(t0), [-1, 4]))

    x = torch.randn(3, 1, device=target)
    (out,) = run(expand, x)
    assert out.shape == (3, 4)
    assert out.stride(1) == 0
    assert torch.equal(out, -x.expand(3, 4))


def test_an_allocation_domain_orders_the_memory(target: str) -> None:

    def transposed(fd: FusionDefinition) -> None:
        t1 = negate(fd)
        t1.set_allocation_domain([t1.axis(1), t1.axis(0)], True)

    x = torch.randn(3, 5, device=target)
    (out,) = run(transposed, x)
    assert out.stride() == (1, 3)
    assert torch.equal(out, -x)


def test_the_same_output_twice_is_one_tensor() -> None:

    def twice(fd: FusionDefinition) -> None:
        t1 = negate(fd)
        fd.add_output(t1)

    outs = run(twice, torch.ones(2, 2))
    assert len(outs) == 2
    assert outs[0] is outs[1]


def test_an_input_as_output_is_the_passed_object() -> None:

    def passed(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(t0))
        fd.add_output(t0)

    x = torch.ones(3)
    outs = run(passed, x)
    assert outs[1] is x


def test_an_aliased_output_is_written_in_place(target: str) -> None:
    def hidden(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True)
        t1 = fd.ops.add(t0, 1.0)
        fd.add_output(t1, t0)
        fd.add_output(fd.ops.neg(t1))

    x = torch.zeros(5, device=target)
    outs = run(hidden, x)
    assert len(outs) == 1
    assert torch.equal(x, torch.ones(5, device=target))
    assert torch.equal(outs[0], -x)


def test_a_visible_aliased_output_is_the_passed_object() -> None:
    def visible(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True)
        t1 = fd.ops.add(t0, 1.0)
        fd.add_output(t1, t0)
        fd.add_output(t1)

    x = torch.zeros(5)
    outs = run(visible, x)
    assert outs[0] is x
    assert torch.equal(x, torch.ones(5))


# ---- inputs --------------------------------------------------------------------------------------


def test_scalars_of_every_class(target: str) -> None:
    def scale(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True, dtype=DataType.ComplexFloat)
        flag = fd.define_scalar(DataType.Bool)
        number = fd.define_scalar(DataType.Double)
        z = fd.define_scalar(DataType.ComplexDouble)
        count = fd.define_scalar(DataType.Int)
        t1 = fd.ops.mul(fd.ops.mul(fd.ops.add(t0, z), number), count)
        fd.add_output(fd.ops.where(flag, t1, t0))

    x = torch.randn(4, dtype=torch.complex64, device=target)
    out = run(scale, x, True, 0.5, 1 + 2j, 3)[0]
    torch.testing.assert_close(out, (x + (1 + 2j)) * 1.5)
    assert torch.equal(run(scale, x, False, 0.5, 1 + 2j, 3)[0], x)


def test_new_scalar_values_need_no_new_plan() -> None:
    def scale(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.mul(t0, fd.define_scalar(DataType.Double)))

    executor = KernelExecutor()
    executor.compile(defined(scale))
    x = torch.ones(3)
    for value in (1.0, 2.0, 3.0):
        assert torch.equal(executor.run([x, value])[0], x * value)
    assert executor.num_plans() == 1


def test_a_host_scalar_tensor_is_read_at_every_run(target: str) -> None:
    def scale(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True)
        s = fd.define_tensor([], dtype=DataType.Float, is_cpu=True)
        fd.add_output(fd.ops.mul(t0, s))

    executor = KernelExecutor()
    x = torch.ones(3, device=target)
    s = torch.tensor(2.0)
    executor.compile(defined(scale), [x, s])
    assert float(executor.run([x, s])[0][0]) == 2
    s.fill_(3)
    assert float(executor.run([x, s])[0][0]) == 3


def test_nested_inputs_are_flattened_once() -> None:
    def scale(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1], contiguity=True)
        for value in fd.define_vector(2):
            t0 = fd.ops.mul(t0, value)
        fd.add_output(t0)

    assert float(run(scale, torch.ones(1), (2, 3))[0]) == 6


def test_numpy_arrays_are_inputs() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    (out,) = run(negate, x)
    assert isinstance(out, np.ndarray)
    np.testing.assert_array_equal(out, -x)
    x.flags.writeable = False
    np.testing.assert_array_equal(run(negate, x)[0], -x)


def test_tensors_that_require_grad_are_inputs() -> None:
    x = torch.ones(2, 2, requires_grad=True)
    (out,) = run(negate, x)
    assert not out.requires_grad
    assert torch.equal(out, -x.detach())
    assert torch.equal(run(negate, torch.nn.Parameter(x.detach()))[0], -x.detach())


def test_an_iterable_is_consumed_once() -> None:
    executor = KernelExecutor()
    executor.compile(defined(negate))
    x = torch.ones(2, 2)
    assert torch.equal(executor.run(iter([x]))[0], -x)


# ---- empty and odd sizes -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 0), (0, 5), (0, 0)])
def test_empty_outputs_launch_nothing(target: str, shape: tuple[int, int]) -> None:

    def scheduled(fd: FusionDefinition) -> None:
        t1 = negate(fd)
        t1.split(1, 4)
        t1.axis(0).parallelize(BX)
        t1.axis(1).parallelize(TX)

    (out,) = run(scheduled, torch.ones(shape, device=target))
    assert out.shape == shape


def test_a_reduction_over_nothing_writes_the_identity(target: str) -> None:

    def total(fd: FusionDefinition) -> None:
        t1 = fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), [1])
        fd.add_output(t1)
        t1.axis(0).parallelize(BX)
        t1.axis(1).parallelize(TX)

    (out,) = run(total, torch.ones(3, 0, device=target))
    assert torch.equal(out, torch.zeros(3, device=target))


# ---- what is compiled, and when ------------------------------------------------------------------


def test_new_sizes_compile_nothing() -> None:
    executor = KernelExecutor()
    executor.compile(defined(negate), [torch.ones(2, 2)])
    for n in (1, 2, 3, 2):
        x = torch.randn(n, n + 1)
        assert torch.equal(executor.run([x])[0], -x)
    assert executor.num_compiled() == 1
    assert executor.num_plans() == 3


def test_it_is_compiled_after_compile() -> None:
    executor = KernelExecutor()
    assert not executor.is_compiled()
    assert not executor.is_programmatic_dependent_launch_enabled()
    with pytest.raises(UserError, match=r"Cannot run fusion, it was not compiled\."):
        executor.run([torch.ones(2, 2)])
    executor.compile(defined(negate))
    assert executor.is_compiled()


def test_the_fusion_may_change_afterwards() -> None:
    fusion = defined(negate)
    executor = KernelExecutor()
    executor.compile(fusion)
    fusion.outputs()[0].split(0, 3)
    x = torch.randn(4, 5)
    assert torch.equal(executor.run([x])[0], -x)


def test_code_with_wide_indices_serves_small_sizes() -> None:
    executor = KernelExecutor()
    executor.compile(defined(negate), compile_params=CompileParams(device=torch.device("cpu")))
    executor.run([torch.ones(2, 2)])
    assert executor.num_compiled() == 1


def test_compiling_again_replaces_the_kernel() -> None:
    executor = KernelExecutor()
    executor.compile(defined(negate))

    def double(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.add(*[fd.define_tensor([-1, -1], contiguity=True)] * 2))

    executor.compile(defined(double))
    x = torch.randn(4, 5)
    assert torch.equal(executor.run([x])[0], x + x)


@pytest.mark.gpu
def test_one_executor_runs_on_both_targets() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    executor = KernelExecutor()
    executor.compile(defined(negate), [torch.ones(2, 2)])
    x = torch.randn(3, 4)
    assert torch.equal(executor.run([x.cuda()])[0].cpu(), -x)
    assert torch.equal(executor.run([x])[0], -x)
    assert executor.num_compiled() == 2


def test_the_name_tells_scheduler_and_ids() -> None:
    executor = KernelExecutor(1, 2, 3, 4)
    executor.compile(defined(negate), scheduler_type=SchedulerType.pointwise)
    assert executor.kernel_name() == "nvfuser_pointwise_f1_c2_r3_g4"
    assert "nvfuser_pointwise_f1_c2_r3_g4" in executor.kernel_source()


def test_fusions_without_kernel_are_refused() -> None:
    with pytest.raises(UserError, match=r"No output found for this kernel, aborting\."):
        KernelExecutor().compile(defined(lambda fd: fd.define_tensor([-1]), inline=False))


# ---- launch --------------------------------------------------------------------------------------


def rows_and_columns(fd: FusionDefinition) -> None:
    t1 = negate(fd)
    t1.axis(0).parallelize(BX)
    t1.axis(1).parallelize(TX)


def test_launch_dimensions_follow_sizes() -> None:
    executor = KernelExecutor()
    executor.compile(
        defined(rows_and_columns), compile_params=CompileParams(device=torch.device("cpu"))
    )
    for rows, columns in ((3, 7), (2, 64)):
        executor.run([torch.ones(rows, columns)])
        launch = executor.last_launch()
        assert (launch.gdimx, launch.bdimx) == (rows, columns)


def test_a_constraint_that_contradicts_is_an_error() -> None:
    executor = KernelExecutor()
    executor.compile(
        defined(rows_and_columns), compile_params=CompileParams(device=torch.device("cpu"))
    )
    executor.run([torch.ones(3, 7)], LaunchParams(3, -1, -1, 7, -1, -1))
    with pytest.raises(UserError, match="Tried to set gdimx from 4 to 3, but it was already set"):
        executor.run([torch.ones(3, 7)], LaunchParams(4, -1, -1, 7, -1, -1))


def test_more_threads_than_a_block_has_are_refused() -> None:
    executor = KernelExecutor()
    executor.compile(
        defined(rows_and_columns), compile_params=CompileParams(device=torch.device("cpu"))
    )
    with pytest.raises(UserError, match="Selected invalid number of threads for cuda: 1025"):
        executor.run([torch.ones(3, 1025)])


def test_more_shared_memory_than_there_is_is_refused() -> None:

    def staged(fd: FusionDefinition) -> None:
        from nvfuser_direct import MemoryType

        t0 = fd.define_tensor([-1, -1], contiguity=True)
        t1 = fd.ops.set(t0)
        t2 = fd.ops.set(t1)
        fd.add_output(t2)
        t1.set_memory_type(MemoryType.shared)
        for t in (t1, t2):
            t.axis(0).parallelize(BX)
        t1.inline_at(1) if hasattr(t1, "inline_at") else schedule.inline_at(t1, 1)

    executor = KernelExecutor()
    executor.compile(defined(staged, inline=False), [torch.ones(2, 8)])
    limit = 227 * 1024 // 4
    x = torch.randn(2, limit)
    assert torch.equal(executor.run([x])[0], x)
    with pytest.raises(
        UserError, match=r"The total shared memory allocation is larger than available memory\."
    ):
        executor.run([torch.randn(2, limit + 1)])


# ---- threads -------------------------------------------------------------------------------------


def test_threads_share_an_executor() -> None:
    executor = KernelExecutor()
    executor.compile(
        defined(rows_and_columns), compile_params=CompileParams(device=torch.device("cpu"))
    )
    failures = []

    def work(seed: int) -> None:
        for i in range(50):
            x = torch.full((64 + i % 5, 33 + seed), float(i))
            try:
                if not torch.equal(executor.run([x])[0], -x):
                    failures.append("wrong result")
            except Exception as error:
                failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert executor.num_compiled() == 1


def test_threads_compile_side_by_side() -> None:
    results = {}

    def work(n: int) -> None:
        def shifted(fd: FusionDefinition) -> None:
            fd.add_output(fd.ops.add(fd.define_tensor([-1], contiguity=True), float(n)))

        results[n] = float(run(shifted, torch.zeros(1))[0])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: float(n) for n in range(4)}


# ---- a warm second process -----------------------------------------------------------------------


@pytest.mark.parametrize("verify", ["0", "1"])  # by facts, and by the source
def test_the_second_process_compiles_nothing(tmp_path: Path, verify: str) -> None:
    code = """
import torch
from nvfuser_direct import FusionDefinition, KernelCache, KernelExecutor
with FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1], contiguity=True)))
executor = KernelExecutor()
executor.compile(fd.fusion, [torch.ones(3)])
assert torch.equal(executor.run([torch.ones(3)])[0], -torch.ones(3))
stats = KernelCache.instance().stats()
print(stats["hits"], stats["misses_absent"], stats["misses_corrupt"])
"""

    def start() -> str:
        variables = {"NVFUSER_CACHE_DIR": str(tmp_path), "NVFUSER_VERIFY_PASSES": verify}
        result = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=True,
        )
        return result.stdout.strip()

    assert start() == "0 1 0"
    assert start() == "1 0 0"
    (entry,) = tmp_path.rglob("*.kernel")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert start() == "0 0 1"
    assert start() == "1 0 0"
