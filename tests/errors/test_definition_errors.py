"""Nodes, define_tensor, define_scalar and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from documented import Documented, check, in_fusion, scheduled, tensor

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition, ParallelType, define_scalar, define_tensor

if TYPE_CHECKING:
    from collections.abc import Callable


documented = Documented()

# ---- classes -------------------------------------------------------------------------------------


@documented("only supported with start = 0 and extent as a const int, but got a start of 0 and ext")
def vectorize_a_symbolic_axis() -> object:
    return scheduled(lambda fd, t0, t1: t1.axis(0).parallelize(ParallelType.vectorize))


@documented("Tried to access out of boundary index 2. total index: 2")
def axis_out_of_range() -> object:
    return scheduled(lambda fd, t0, t1: t1.axis(2))


@documented("Input index 1 is out of range", IndexError)
def input_out_of_range() -> object:
    return scheduled(lambda fd, t0, t1: t1.definition().input(1))


@documented("Output index 1 is out of range", IndexError)
def output_out_of_range() -> object:
    return scheduled(lambda fd, t0, t1: t1.definition().output(1))


# ---- define_tensor -------------------------------------------------------------------------------


@documented(
    "The value -2 at index 1 was neither symbolic(-1), zero_element(0), broadcast(1), or st"
)
def size_without_meaning() -> object:
    return in_fusion(lambda fd: define_tensor([4, -2]))


@documented("Size of -1 is not supported in nvFuser. Expected size >= 0.")
def negative_real_size() -> object:
    return in_fusion(lambda fd: define_tensor(sizes=[-1], strides=[1]))


@documented("Length of contiguity argument (1) must match that of shape argument (2)")
def contiguity_of_another_rank() -> object:
    return in_fusion(lambda fd: define_tensor([4, 4], contiguity=[True]))


@documented(
    "The contiguity of a broadcast/reduction dimension must be None. "
    "The contiguity of a non-broadcast/reduction dimension must be true/false."
)
def contiguity_of_a_broadcast() -> object:
    return in_fusion(lambda fd: define_tensor([4, 1], contiguity=[True, True]))


@documented("Length of stride_order argument (1) must be zero or match that of shape argument (2)")
def stride_order_of_another_rank() -> object:
    return in_fusion(lambda fd: define_tensor([4, 4], stride_order=[0]))


@documented("defineTensor stride_order argument is out of range, expects >= -2, but got: -3")
def stride_order_too_small() -> object:
    return in_fusion(lambda fd: define_tensor([4, 4], stride_order=[0, -3]))


@documented("defineTensor stride_order argument is out of range, expects < 2")
def stride_order_too_large() -> object:
    return in_fusion(lambda fd: define_tensor([4, 4], stride_order=[0, 2]))


@documented("defineTensor got duplicated stride_order entries: ")
def stride_order_twice() -> object:
    return in_fusion(lambda fd: define_tensor([4, 4], stride_order=[0, 0]))


@documented("The number of sizes does not match the number of strides.21")
def fewer_strides_than_sizes() -> object:
    return in_fusion(lambda fd: define_tensor(sizes=[4, 4], strides=[1]))


@documented("negative stride on tensor is not supported: strides[1]=-1")
def descriptor_of_a_negative_stride() -> object:
    return nvf.compute_tensor_descriptor([4, 4], [4, -1])


@documented("compute_tensor_descriptor: Sizes and strides must have the same number of dimensions")
def descriptor_of_fewer_strides() -> object:
    return nvf.compute_tensor_descriptor([4, 4], [4])


@documented("CPU non-scalar tensor is not supported!")
def host_tensor_with_a_rank() -> object:
    return in_fusion(lambda fd: define_tensor([4], is_cpu=True))


@documented("Invalid extent value.")
def packed_symbolic_size() -> object:
    return in_fusion(lambda fd: define_tensor([4, -1], dtype=DataType.Float4_e2m1fn_x2))


@documented("Packed type __e2m1_x2 must be unpacked when defining fusion")
def packed_scalar() -> object:
    return in_fusion(lambda fd: define_scalar(DataType.Float4_e2m1fn_x2))


# ---- Scalars, and texts of nodes -----------------------------------------------------------------


@documented("Scalar value is not compatible with the given data type int64_t for value ")
def complex_integer() -> object:
    return in_fusion(lambda fd: define_scalar(1 + 2j, DataType.Int))


@documented("Tensor op can not be printed inline")
def inline_text_of_a_tensor_operation() -> object:
    return scheduled(lambda fd, t0, t1: t1.definition().to_inline_string())


@documented("Printing inline computations involving values other than scalars is not currently sup")
def inline_text_of_a_tensor() -> object:
    return scheduled(lambda fd, t0, t1: t1.to_inline_string())


@documented("Merging IterDomains requires that their iteration types match. Outer: ")
def merge_an_iteration_with_a_reduction() -> object:
    def act(fd: FusionDefinition) -> None:
        fd.ops.sum(tensor(4, 8), [1]).merge(0, 1)

    return in_fusion(act)


@documented.cases
def test_gist(gist: str, kind: type[Exception], provoke: Callable[[], object]) -> None:
    check(gist, kind, provoke)
