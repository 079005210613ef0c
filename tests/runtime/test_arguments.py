"""Arguments of a run: every check of the arguments, and its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    KernelExecutor,
    ParallelType,
    UserError,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView


def compiled(define: Callable[[FusionDefinition], TensorView]) -> KernelExecutor:
    """An executor for the tensor that `define` returns, for CPU tensors."""
    with FusionDefinition() as fd:
        fd.add_output(define(fd))
        schedule.inline_most()
    executor = KernelExecutor()
    executor.compile(fd.fusion, [], compile_params=CompileParams(device="cpu"))
    return executor


def raises(text: str) -> pytest.RaisesExc:
    return pytest.raises(UserError, match=re.escape(text))


def one_tensor(fd: FusionDefinition) -> TensorView:
    return fd.ops.neg(fd.define_tensor([-1, -1], contiguity=True))


def tensor_and_scalar(fd: FusionDefinition) -> TensorView:
    t0 = fd.define_tensor([-1], contiguity=True)
    return fd.ops.mul(t0, fd.define_scalar(DataType.Double))


# ---- number, kind, dtype, rank, device -----------------------------------------------------------


def test_too_few_inputs() -> None:
    with raises("KernelArgumentHolder contains less argument than kernel's input."):
        compiled(tensor_and_scalar).run([torch.ones(3)])


def test_too_many_inputs() -> None:
    with raises("KernelArgumentHolder contains more arguments than kernel's inputs."):
        compiled(one_tensor).run([torch.ones(3, 3), 1.0])


def test_a_scalar_for_a_tensor() -> None:
    with raises(
        "Expected input 0, T0_g_float[iS0{i0}, iS1{i1}], to be an at::Tensor but got scalar 2"
    ):
        compiled(one_tensor).run([2])


def test_a_tensor_for_a_scalar() -> None:
    with pytest.raises(
        UserError, match=r"Expected input 1, d\d+, to be a scalar but got float tensor of rank 1"
    ):
        compiled(tensor_and_scalar).run([torch.ones(3), torch.ones(3)])


def test_another_dtype() -> None:
    with raises(
        "Expected input 0, T0_g_float[iS0{i0}, iS1{i1}], to be bound to a tensor of dtype float, "
        "but got a tensor of dtype double"
    ):
        compiled(one_tensor).run([torch.ones(3, 3, dtype=torch.double)])


def test_another_rank() -> None:
    with raises("to be bound to a tensor of rank 2, but got a tensor of rank 3"):
        compiled(one_tensor).run([torch.ones(3, 3, 3)])


@pytest.mark.parametrize(
    ("dtype", "value", "printed"),
    [
        (DataType.Double, 2 + 1j, "(2,1)"),
        (DataType.Double, 2, "2"),
        (DataType.Int, 2.5, "2.5"),
        (DataType.Bool, 1, "1"),
        (DataType.Int, True, "true"),
        (DataType.Int32, 2**40, "1099511627776"),
        (DataType.UInt64, -1, "-1"),
        (DataType.Int, 2**63, "9223372036854775808"),
    ],
)
def test_a_scalar_of_the_wrong_class_or_out_of_range(
    dtype: DataType, value: object, printed: str
) -> None:
    def define(fd: FusionDefinition) -> TensorView:
        t0 = fd.define_tensor([-1], contiguity=True)
        return fd.ops.where(
            fd.ops.gt(t0, 0.0), t0, fd.ops.cast(fd.define_scalar(dtype), DataType.Float)
        )

    with pytest.raises(UserError) as error:
        compiled(define).run([torch.ones(3), value])
    assert f"Scalar value {printed} is not compatible with the expected data type: " in str(
        error.value
    )


def test_what_is_neither_tensor_nor_number() -> None:
    with raises("Cannot convert provided py::handle to a PolymorphicValue."):
        compiled(one_tensor).run(["text"])


@pytest.mark.gpu
def test_tensors_on_two_devices() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")

    def define(fd: FusionDefinition) -> TensorView:
        t0 = fd.define_tensor([-1], contiguity=True)
        return fd.ops.add(t0, fd.define_tensor([-1], contiguity=True))

    executor = compiled(define)
    with raises("to be bound to a CUDA or meta tensor, but got a tensor on device cpu"):
        executor.run([torch.ones(3, device="cuda"), torch.ones(3)])


# ---- sizes ---------------------------------------------------------------------------------------


def test_a_static_size_must_be_met() -> None:
    executor = compiled(lambda fd: fd.ops.neg(fd.define_tensor([4, -1], contiguity=True)))
    with raises("Tried to bind to a constant value: 4 as 5"):
        executor.run([torch.ones(5, 2)])


def test_minus_one_is_not_broadcast_and_both_axes_are_named() -> None:

    def define(fd: FusionDefinition) -> TensorView:
        t0 = fd.define_tensor([-1], contiguity=True)
        return fd.ops.add(t0, fd.define_tensor([-1], contiguity=True))

    with pytest.raises(UserError) as error:
        compiled(define).run([torch.ones(1), torch.ones(7)])
    text = str(error.value)
    assert "Tried to bind to a value: 1 as 7" in text
    assert "dimension 0 of input 0, T0_g_float" in text
    assert "dimension 0 of input 1, T1_g_float" in text


def test_a_broadcast_dimension_has_size_one() -> None:
    executor = compiled(lambda fd: fd.ops.neg(fd.define_tensor([1, -1], contiguity=[None, True])))
    with raises("Tried to bind to a constant value: 1 as 2"):
        executor.run([torch.ones(2, 2)])


# ---- strides -------------------------------------------------------------------------------------


def expanded(fd: FusionDefinition) -> TensorView:
    return fd.ops.neg(fd.define_tensor(sizes=[4, 3], strides=[0, 1]))


def test_an_expanded_dimension_has_stride_zero() -> None:
    executor = compiled(expanded)
    x = torch.arange(3.0)
    assert torch.equal(executor.run([x.expand(4, 3)])[0], -x.expand(4, 3))
    with raises("should be an expanded broadcasting, but it does not have stride"):
        executor.run([torch.ones(4, 3)])


def test_contiguity_flags_are_held_against_strides() -> None:
    executor = compiled(one_tensor)
    x = torch.arange(24.0).reshape(4, 6)
    with raises("to have contiguous dimension 0 (in allocation order), but its stride is 6"):
        executor.run([x[:, :3]])
    with raises("to have contiguous dimension 1 (in allocation order), but its stride is 2"):
        executor.run([x[:, ::2]])
    with raises("to have contiguous dimension 1"):
        executor.run([x.t()])


def test_strides_of_axes_of_size_one_mean_nothing() -> None:
    executor = compiled(one_tensor)
    for x in (torch.ones(4, 6)[1:2], torch.ones(4, 6)[:, 3:4].as_strided((4, 1), (1, 77))):
        assert torch.equal(executor.run([x])[0], -x)


def test_strides_of_an_empty_tensor_mean_nothing() -> None:
    (out,) = compiled(one_tensor).run([torch.ones(0, 6).as_strided((0, 6), (1, 1))])
    assert out.shape == (0, 6)


def test_any_stride_is_read_where_the_flag_is_false() -> None:
    executor = compiled(lambda fd: fd.ops.neg(fd.define_tensor([-1, -1], contiguity=False)))
    x = torch.arange(24.0).reshape(4, 6)
    for view in (x, x.t(), x[::2, 1::2], x[:, :1].expand(4, 3)):
        assert torch.equal(executor.run([view])[0], -view)


def test_memory_in_another_order() -> None:
    """The flags stand in allocation order."""

    def define(fd: FusionDefinition) -> TensorView:
        return fd.ops.neg(
            fd.define_tensor([-1, -1, -1], contiguity=[True] * 3, stride_order=[2, 0, 1])
        )

    executor = compiled(define)
    x = torch.arange(24.0).reshape(2, 4, 3).transpose(1, 2)
    assert torch.equal(executor.run([x])[0], -x)
    with raises("to have contiguous dimension"):
        executor.run([x.contiguous()])


# ---- vector access -------------------------------------------------------------------------------


def vectorized(contiguity: bool | list[bool]) -> KernelExecutor:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=contiguity)
        t1 = fd.ops.neg(t0)
        fd.add_output(t1)
        load = t0.cache_after()
        t1.split(1, 4)
        t1.axis(0).parallelize(ParallelType.grid_x)
        t1.axis(1).parallelize(ParallelType.block_x)
        schedule.transform_like(t1)
        schedule.parallelize_like(t1)
        load.axis(2).parallelize(ParallelType.vectorize)
        schedule.inline_most()
    executor = KernelExecutor()
    executor.compile(fd.fusion, [], compile_params=CompileParams(device="cpu"))
    return executor


def test_vectors_are_aligned_and_divide_sizes() -> None:
    executor = vectorized([False, True])
    x = torch.randn(6, 16)
    assert torch.equal(executor.run([x])[0], -x)
    impossible = r"Vectorization of T0_g_float.* with word size 4 not possible "
    with pytest.raises(UserError, match=impossible + r"as the memory address is not aligned\."):
        executor.run([torch.randn(6 * 16 + 1)[1:].view(6, 16)])
    with pytest.raises(UserError, match=impossible + r"due to invalid stride\."):
        executor.run([torch.randn(6, 18)[:, :16]])
    with pytest.raises(UserError, match=r"Vectorization of .* by 4 needs a multiple of it"):
        executor.run([torch.randn(6, 18)])


def test_strides_that_are_never_stepped_along_need_no_alignment() -> None:
    executor = vectorized([False, True])
    x = torch.randn(1, 18)[:, :16]
    assert torch.equal(executor.run([x])[0], -x)
    row = torch.randn(16).expand(5, 16)
    assert torch.equal(executor.run([row])[0], -row)
