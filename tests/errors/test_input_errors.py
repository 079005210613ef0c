"""Inputs and launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from documented import Documented, check, in_fusion, pointwise, run, scheduled, tensor

import nvfuser_direct as nvf
from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    KernelExecutor,
    MemoryType,
    ParallelType,
)

if TYPE_CHECKING:
    from collections.abc import Callable


documented = Documented()

# ---- inputs and launches -------------------------------------------------------------------------


def two_inputs() -> FusionDefinition:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        d0 = fd.define_scalar(DataType.Double)
        fd.add_output(fd.ops.mul(t0, d0))
    return fd


@documented("Expected input 0, T0_g_float[iS0{i0}, iS1{i1}], to be an at::Tensor but got scalar 1")
def scalar_for_a_tensor() -> object:
    return run(two_inputs(), [1.0, 2.0])


@documented(", to be a scalar but got float tensor of rank 1")
def tensor_for_a_scalar() -> object:
    return run(two_inputs(), [torch.ones(2, 2), torch.ones(2)])


@documented("to be bound to a tensor of dtype float, but got a tensor of dtype double")
def wrong_dtype() -> object:
    return run(two_inputs(), [torch.ones(2, 2, dtype=torch.float64), 1.0])


@documented("to be bound to a tensor of rank 2, but got a tensor of rank 1")
def wrong_rank() -> object:
    return run(two_inputs(), [torch.ones(2), 1.0])


@documented("nvfuser only supports cuda or meta device, found: ")
def wrong_device() -> object:
    return run(two_inputs(), [torch.ones(2, 2, device="meta"), 1.0])


@documented("is not compatible with the expected data type: double.")
def wrong_class_of_a_scalar() -> object:
    return run(two_inputs(), [torch.ones(2, 2), True])


@documented("Scalar value (2,1) is not compatible with the expected data type: double.")
def complex_for_a_double() -> object:
    return run(two_inputs(), [torch.ones(2, 2), 2 + 1j])


@documented("KernelArgumentHolder contains less argument than kernel's input.")
def too_few_inputs() -> object:
    return run(two_inputs(), [torch.ones(2, 2)])


@documented("Tried to bind to a constant value: 4 as 5")
def another_static_size() -> object:
    return run(pointwise(4)[0], [torch.ones(5)])


@documented("Tried to bind to a value: 4 as 5")
def sizes_that_differ() -> object:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.add(fd.define_tensor([-1]), fd.define_tensor([-1])))
    return run(fd, [torch.ones(4), torch.ones(5)])


@documented("should be an expanded broadcasting, but it does not have stride ")
def expanded_dimension_with_memory() -> object:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, -1], contiguity=[None, True])
        fd.add_output(fd.ops.neg(t0))
    return run(fd, [torch.ones(4, 3)])


@documented("The total shared memory allocation is larger than available memory.")
def too_much_shared_memory() -> object:
    fd, t0, t1 = pointwise()
    with fd:
        t0.cache_after().set_memory_type(MemoryType.shared)
        t1.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.parallelize_like(t1)
        fd.sched.inline_at(t1, 1, True)
    return run(fd, [torch.ones(2, 1 << 20)])


def vectorized() -> FusionDefinition:
    fd, t0, t1 = pointwise()
    with fd:
        load = t0.cache_after()
        t1.split(1, 4)
        fd.sched.transform_like(t1)
        load.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(t1, 2, True)
    return fd


@documented("with word size 4 not possible as the memory address is not aligned.")
def misaligned_address() -> object:
    return run(vectorized(), [torch.ones(9)[1:].reshape(2, 4)])


@documented("with word size 4 not possible due to invalid stride.")
def misaligned_rows() -> object:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=[False, True])
        t1 = fd.ops.neg(t0)
        fd.add_output(t1)
        load = t0.cache_after()
        t1.split(1, 4)
        fd.sched.transform_like(t1)
        load.axis(2).parallelize(ParallelType.vectorize)
        fd.sched.inline_at(t1, 2, True)
    return run(fd, [torch.ones(2, 5)[:, :4]])


@documented("Compilation with int32 is requested but int64 is required for the arguments")
def narrow_indices_for_a_large_tensor() -> object:
    params = CompileParams(index_type=DataType.Int32, device="cpu")
    large = torch.empty(1, dtype=torch.float32).expand(1 << 32)
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=[None])
        fd.add_output(fd.ops.sum(t0, [0]))
    return KernelExecutor().compile(fd.fusion, [large], compile_params=params)


@documented("was not found in the active fusion.")
def node_of_another_fusion() -> object:
    foreign = in_fusion(lambda fd: tensor(4))
    return in_fusion(lambda fd: fd.ops.neg(foreign))


@documented("Integer division by zero detected")
def size_divided_by_zero() -> object:
    with FusionDefinition() as fd:
        n = fd.define_scalar(DataType.Int)
        t0 = fd.define_tensor([-1])
        length = fd.ops.div(t0.size(0), n)
        fd.add_output(fd.ops.full([length], 1.0, DataType.Float))
        fd.add_output(fd.ops.neg(t0))
    return run(fd, [0, torch.ones(4)])


@documented("(): incompatible function arguments.", TypeError)
def wrong_type_of_an_argument() -> object:
    return scheduled(lambda fd, t0, t1: t1.merge("a", "b"))


# ---- On a GPU ------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_too_many_cooperative_blocks() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        t1 = fd.ops.sum(t0, [0])
        t2 = fd.ops.neg(fd.ops.broadcast(t1, [True]))
        fd.add_output(fd.ops.add(t0, t2))
        t1.split(0, 32)
        t1.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.transform_like(t1)
        fd.sched.parallelize_like(t1)
    with pytest.raises(RuntimeError, match="Wanted to launch a cooperative kernel, however the nu"):
        fd.manual_execute([torch.ones(1 << 22, device="cuda")])


@pytest.mark.gpu
def test_tensors_on_two_kinds_of_devices() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.add(fd.define_tensor([-1]), fd.define_tensor([-1])))
    with pytest.raises(RuntimeError, match="a CUDA or meta tensor, but got a tensor on device cpu"):
        fd.execute([torch.ones(4, device="cuda"), torch.ones(4)])
    with FusionDefinition() as fd:
        t0, t1 = fd.define_tensor([-1]), fd.define_tensor([], is_cpu=True)
        fd.add_output(fd.ops.add(t0, t1))
    with pytest.raises(RuntimeError, match="to be bound to a CPU or meta scalar tensor, but got"):
        fd.execute([torch.ones(4, device="cuda"), torch.tensor(1.0, device="cuda")])


# ---- All of them ---------------------------------------------------------------------------------


def test_an_error_has_the_rest_of_the_report() -> None:
    """Node, expected, found, line and way out stand around the gist."""
    with pytest.raises(nvf.UserError) as raised:
        run(pointwise(4)[0], [torch.ones(5)])
    text = str(raised.value)
    for part in ("node: ", "expected: ", "found: ", "fix: ", "documented.py:"):
        assert part in text


def test_numpy_values_that_are_no_numbers() -> None:
    with pytest.raises(RuntimeError, match="Cannot convert provided py::handle"):
        run(two_inputs(), [torch.ones(2, 2), np.datetime64("2020")])


@documented.cases
def test_gist(gist: str, kind: type[Exception], provoke: Callable[[], object]) -> None:
    check(gist, kind, provoke)
