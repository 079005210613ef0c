"""Products of matrices that sum over one element."""

from __future__ import annotations

import pytest
import torch
from pass_case import check_pass, check_unchanged

from nvfuser_direct import DataType, FusionDefinition

NAME = "multiply_thin_matrices"
FLOATS = [DataType.Double, DataType.Float, DataType.Half, DataType.BFloat16]
SIGN_OF_ZERO = 1e-300  # libraries make a zero positive, or leave it as it is


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_column_times_a_row(dtype: DataType) -> None:
    def before(fd: FusionDefinition) -> None:
        a, b = fd.define_tensor([4, 1], dtype=dtype), fd.define_tensor([1, 5], dtype=dtype)
        fd.add_output(fd.ops.matmul(a, b))

    def expected(fd: FusionDefinition) -> None:
        a, b = fd.define_tensor([4, 1], dtype=dtype), fd.define_tensor([1, 5], dtype=dtype)
        is_narrow = dtype in (DataType.Half, DataType.BFloat16)
        if is_narrow:
            a, b = fd.ops.cast(a, DataType.Float), fd.ops.cast(b, DataType.Float)
        product = fd.ops.mul(a, b)
        fd.add_output(fd.ops.cast(product, dtype) if is_narrow else product)

    check_pass(NAME, before, expected, tolerance=SIGN_OF_ZERO)


def test_stacks_are_broadcast_together() -> None:
    def before(fd: FusionDefinition) -> None:
        a, b = fd.define_tensor([3, 1, 4, 1]), fd.define_tensor([2, 1, -1])
        fd.add_output(fd.ops.matmul(a, b))

    def expected(fd: FusionDefinition) -> None:
        a, b = fd.define_tensor([3, 1, 4, 1]), fd.define_tensor([2, 1, -1])
        fd.add_output(fd.ops.mul(a, fd.ops.broadcast(b, [True, False, False, False])))

    check_pass(NAME, before, expected, tolerance=SIGN_OF_ZERO)


def test_vectors_of_one_element() -> None:
    def before(fd: FusionDefinition) -> None:
        a, b, v = fd.define_tensor([4, 1]), fd.define_tensor([1, 5]), fd.define_tensor([1])
        fd.add_output(fd.ops.matmul(a, v))
        fd.add_output(fd.ops.matmul(v, b))
        fd.add_output(fd.ops.matmul(v, v))

    def expected(fd: FusionDefinition) -> None:
        a, b, v = fd.define_tensor([4, 1]), fd.define_tensor([1, 5]), fd.define_tensor([1])
        fd.add_output(fd.ops.mul(fd.ops.squeeze(a, [1]), fd.ops.squeeze(v, [0])))
        fd.add_output(fd.ops.mul(fd.ops.squeeze(v, [0]), fd.ops.squeeze(b, [0])))
        fd.add_output(fd.ops.mul(fd.ops.squeeze(v, [0]), fd.ops.squeeze(v, [0])))

    check_pass(NAME, before, expected, tolerance=SIGN_OF_ZERO)


def test_linear_without_bias() -> None:
    def before(fd: FusionDefinition) -> None:
        a, b, v = fd.define_tensor([2, 4, 1]), fd.define_tensor([5, 1]), fd.define_tensor([1])
        fd.add_output(fd.ops.linear(a, b))
        fd.add_output(fd.ops.linear(v, b))

    def expected(fd: FusionDefinition) -> None:
        a, b, v = fd.define_tensor([2, 4, 1]), fd.define_tensor([5, 1]), fd.define_tensor([1])
        fd.add_output(fd.ops.mul(a, fd.ops.squeeze(b, [1])))
        fd.add_output(fd.ops.mul(v, fd.ops.squeeze(b, [1])))

    check_pass(NAME, before, expected, tolerance=SIGN_OF_ZERO)


def test_sums_over_more_and_biases_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        a, b = fd.define_tensor([4, 2]), fd.define_tensor([2, 5])
        fd.add_output(fd.ops.matmul(a, b))
        thin, weight, bias = (fd.define_tensor(s) for s in ([4, 1], [5, 1], [5]))
        fd.add_output(fd.ops.linear(thin, weight, bias))

    check_unchanged(NAME, definition)


def test_an_outer_product_is_a_kernel(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        a, b = fd.define_tensor([-1, 1]), fd.define_tensor([1, -1])
        fd.add_output(fd.ops.exp(fd.ops.matmul(a, b)))
    a, b = torch.randn(37, 1, generator=rng), torch.randn(1, 65, generator=rng)
    [result] = fd.execute([a.to(target), b.to(target)])
    torch.testing.assert_close(
        result.cpu().double(), (a.double() @ b.double()).exp(), rtol=1e-5, atol=0
    )
    assert fd.fec.get_most_recent_scheduled_ir()
