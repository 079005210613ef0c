"""Expanded tensors, and tensors made of scalars, whose sizes only the inputs of a run tell."""

from __future__ import annotations

import pytest
import torch
from small_integers import values

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor


@pytest.mark.parametrize("size", [1, 5])
def test_expand_is_an_expansion_or_nothing(target, size) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.expand(x, [-1, fd.define_scalar(DataType.Int)])
        fd.add_output(y)
        fd.add_output(fd.ops.sum(y, [1]))
        fd.add_output(fd.ops.mul(y, y))
    x = values([3, size], target)
    out, total, square = fd.execute([x, 5])
    y = x.expand(3, 5)
    assert torch.equal(out, y)
    assert torch.equal(total, y.sum(1))
    assert torch.equal(square, y * y)


def test_expand_to_a_size_that_does_not_fit(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.expand(x, [fd.define_scalar(DataType.Int)]))
    with pytest.raises(RuntimeError, match=r"Mismatch in sizes when concretizing expand\."):
        fd.execute([values([4], target), 5])


@pytest.mark.parametrize("dtype", [DataType.Int, DataType.Index])
def test_a_kernel_of_its_own_expands_nothing(target, dtype) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.expand(x, [fd.define_scalar(dtype)]))
    executor = KernelExecutor()
    x = values([4], target)
    executor.compile(fd.fusion, [x, 4])
    assert torch.equal(executor.run([x, 4])[0], x)
    for size in (1, 3):
        with pytest.raises(RuntimeError, match="Mismatch in sizes when concretizing expand"):
            executor.run([values([size], target), 4])


def test_reshape_expand_reshape(target) -> None:
    """[x, 1, y], the 1 expanded by a scalar, and all of it flattened or cut anew."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.reshape(x, fd.define_vector(3))
        y = fd.ops.expand(y, [-1, fd.define_scalar(DataType.Int), -1])
        fd.add_output(fd.ops.reshape(y, fd.define_vector(2)))
    x = values([4, 3], target)
    for sizes, n, last in (
        ([4, 1, 3], 5, [20, 3]),
        ([4, 1, 3], 5, [4, 15]),
        ([2, 1, 6], 4, [6, 8]),
        ([2, 1, 6], 1, [6, 2]),
        ([2, 3, 2], 3, [12, 1]),
    ):
        (out,) = fd.execute([x, sizes, n, last])
        assert torch.equal(out, x.reshape(sizes).expand(-1, n, -1).reshape(last))


@pytest.mark.parametrize(("declared", "new_shape"), [([-1, 1], [12, 8]), ([1, -1], [3, 4, 8])])
def test_an_expanded_operand_is_materialized(target, declared, new_shape) -> None:
    shape, full = ([4, 1], [4, 24]) if declared[1] == 1 else ([1, 8], [12, 8])
    with FusionDefinition() as fd:
        x = fd.define_tensor(declared)
        y = fd.ops.expand(x, fd.define_vector(2))
        fd.add_output(fd.ops.reshape(y, fd.define_vector(len(new_shape))))
    x = values(shape, target)
    (out,) = fd.execute([x, full, new_shape])
    assert torch.equal(out, x.expand(full).reshape(new_shape))


def test_an_expanded_result_meets_another_tensor(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.expand(x, [fd.define_scalar(DataType.Int)]), z))
    for size in (1, 6):
        x, z = values([size], target), values([6], target, seed=1)
        assert torch.equal(fd.execute([x, z, 6])[0], x + z)


@pytest.mark.parametrize("sizes", [(3, 4), (1, 4), (3, 1), (1, 1), (0, 4)])
def test_full_of_scalar_sizes(target, sizes) -> None:
    with FusionDefinition() as fd:
        n, m = fd.define_vector(2)
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.full([n, m], 2.0, DataType.Float)
        fd.add_output(fd.ops.mul(y, x))
        fd.add_output(fd.ops.sum(y, [1]))
        fd.add_output(fd.ops.reshape(y, [fd.ops.mul(n, m)]))
    shape = [5 if size == 1 else size for size in sizes]
    x = values(shape, target)
    product, total, flat = fd.execute([*sizes, x])
    y = torch.full(sizes, 2.0, device=target)
    assert torch.equal(product, y * x)
    assert torch.equal(total, y.sum(1))
    assert torch.equal(flat, y.reshape(-1))


@pytest.mark.parametrize("n", [1, 2, 7])
def test_iota_of_scalar_length(target, n) -> None:
    with FusionDefinition() as fd:
        length = fd.define_scalar(DataType.Int)
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.add(fd.ops.iota(length), x))
    x = torch.arange(7 if n == 1 else n, device=target)
    assert torch.equal(fd.execute([n, x])[0], torch.arange(n, device=target) + x)


def test_expanding_what_is_expanded(target) -> None:
    """Only the second expand repeats: the first came out at size 1."""
    with FusionDefinition() as fd:
        y = fd.ops.expand(fd.define_tensor([-1, 1]), fd.define_vector(2))
        z = fd.ops.expand(y, fd.define_vector(2))
        fd.add_output(y)
        fd.add_output(z)
        fd.add_output(fd.ops.sum(z, [1]))
        fd.add_output(fd.ops.reshape(z, fd.define_vector(1)))
    for first, second in [((3, 1), (3, 5)), ((3, 5), (3, 5)), ((3, 1), (3, 1)), ((0, 1), (0, 4))]:
        x = torch.randn(first[0], 1, device=target)
        expanded = x.expand(first).expand(second)
        expected = [x.expand(first), expanded, expanded.sum(1), expanded.reshape(-1)]
        outputs = fd.execute([x, *first, *second, expanded.numel()])
        for output, reference in zip(outputs, expected, strict=True):
            torch.testing.assert_close(output, reference)
    with pytest.raises(RuntimeError, match="Mismatch in sizes when concretizing expand"):
        fd.execute([torch.randn(3, 1, device=target), 3, 2, 3, 4, 12])
