"""Outputs whose sizes follow from scalars: what no memory can hold is refused before a launch."""

from __future__ import annotations

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, UserError


def filled(rows: int, columns: int, transposed: bool) -> torch.Tensor:
    """A kernel of any size: `full([rows, columns], 1)`."""
    with FusionDefinition() as fd:
        sizes = [fd.define_scalar(None, dtype=DataType.Int) for _ in range(2)]
        out = fd.ops.full(sizes, 1.0, dtype=DataType.Float)
        fd.add_output(out)
        if transposed:
            out.set_allocation_domain([out.axis(1), out.axis(0)], True)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [rows, columns])
    (result,) = executor.run([rows, columns])
    return result


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("sizes", [(2**32, 2**32), (2**33, 2**31 + 1), (2**62, 4), (3, 2**60)])
def test_a_product_of_sizes_beyond_64_bits_is_refused(
    sizes: tuple[int, int], transposed: bool
) -> None:
    with pytest.raises(UserError, match="A tensor of this size cannot be addressed"):
        filled(*sizes, transposed)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("sizes", [(-5, 3), (-5, -3), (0, -1)])
def test_a_negative_size_is_refused(sizes: tuple[int, int], transposed: bool) -> None:
    with pytest.raises(UserError, match=r"A tensor cannot have the negative size -[15]"):
        filled(*sizes, transposed)


@pytest.mark.parametrize("transposed", [False, True])
def test_an_empty_tensor_may_have_any_other_size(transposed: bool) -> None:
    assert filled(0, 2**62, transposed).shape == (0, 2**62)


def test_an_allocation_that_fails_is_one_line() -> None:
    with pytest.raises(UserError) as error:
        filled(2**40, 2**10, transposed=False)
    assert "Cannot allocate an output" in str(error.value)
    assert len(str(error.value).splitlines()) == 1
