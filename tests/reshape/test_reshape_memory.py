"""When the result of a reshape lies in the memory of its operand, and when it is copied."""

from __future__ import annotations

import pytest
import torch
from reshape_cases import strided, ways, whole_numbers

from nvfuser_direct import DataType, FusionDefinition


def is_shared(out: torch.Tensor, x: torch.Tensor) -> bool:
    return out.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def check(fd: FusionDefinition, x: torch.Tensor, expected: torch.Tensor, shared: bool):
    """Run, and compare values, whether memory is shared, and whether there was a kernel."""
    (out,) = fd.execute([x])
    assert torch.equal(out, expected)
    assert is_shared(out, x) == shared
    assert ("scheduled" not in ways(fd)) == shared
    return out


def ordinary_strides(x: torch.Tensor) -> list[int]:
    """Strides of dimensions with more than one position."""
    return [stride for size, stride in zip(x.shape, x.stride(), strict=True) if size > 1]


CHAINS = [
    [[2, 12]],
    [[24]],
    [[6, 4]],
    [[2, 12], [24]],
    [[24], [4, 6], [4, 2, 3]],
    [[1, 2, 3, 1, 4]],
]


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize("chain", CHAINS, ids=str)
def test_contiguous_operands_are_shared(target, rng, chain, permuted) -> None:
    """reshape.md 8.1, "contiguous", "chains of such, followed by a permute" """
    x = whole_numbers([2, 3, 4], target, rng)
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1, -1, -1], contiguity=True)
        expected = x
        for shape in chain:
            y, expected = fd.ops.reshape(y, shape), expected.reshape(shape)
        order = list(reversed(range(expected.ndim)))
        if permuted:
            y, expected = fd.ops.permute(y, order), expected.permute(order)
        fd.add_output(y)
    out = check(fd, x, expected, shared=True)
    assert ordinary_strides(out) == ordinary_strides(expected)


def test_the_declared_contiguity_decides(target, rng) -> None:
    """reshape.md 8.1: (True, False, True), and "copied even if it happens to be contiguous" """
    x = whole_numbers([2, 3, 4], target, rng)
    for contiguity, shared in (([True, False, True], False), ([False, True, True], True)):
        with FusionDefinition() as fd:
            t = fd.define_tensor([-1, -1, -1], contiguity)
            fd.add_output(fd.ops.reshape(t, [2, 12]))
        check(fd, x, x.reshape(2, 12), shared)


def test_neighbours_in_memory_are_merged_in_place(target, rng) -> None:
    """reshape.md 8.1: memory order (1, 2, 0), strides (2, 20, 5), dims 1 and 2 adjacent"""
    storage = whole_numbers([3 * 20], target, rng)
    x = storage.as_strided([2, 3, 4], [2, 20, 5])
    with FusionDefinition() as fd:
        t = fd.define_tensor([2, 3, 4], [True, False, False], DataType.Float, False, [0, 2, 1])
        fd.add_output(fd.ops.reshape(t, [2, 12]))
    out = check(fd, x, x.reshape(2, 12), shared=True)
    assert out.stride() == (2, 5)


def test_a_shared_result_takes_the_strides_that_follow(target, rng) -> None:
    """reshape.md 8.1: `[2, 3, 4]` in memory order (1, 2, 0) has its 2 innermost"""
    x = whole_numbers([3, 4, 2], target, rng).permute(2, 0, 1)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.reshape(fd.from_pytorch(x), [2, 12]))
    out = check(fd, x, x.reshape(2, 12), shared=True)
    assert out.stride() == (1, 2)


def test_another_order_that_is_asked_for_is_a_copy(target, rng) -> None:
    """reshape.md 8.1: "contiguous; result asked column-major" """
    x = whole_numbers([2, 3, 4], target, rng)
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1, -1], contiguity=True), [2, 12])
        fd.add_output(fd.ops.stride_order(y, [0, 1]))
    out = check(fd, x, x.reshape(2, 12), shared=False)
    assert out.stride() == (1, 2)


@pytest.mark.parametrize(
    ("new", "shared"), [([20, -1], True), ([4, -1], False), ([40, 3], False), ([20, 6], True)]
)
def test_expanded_dimensions(target, rng, new, shared) -> None:
    """reshape.md 8.1: `[4, 5, 6]`, 6 expanded"""
    x = whole_numbers([4, 5, 1], target, rng).expand(4, 5, 6)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.reshape(fd.from_pytorch(x, static_sizes=True), new))
    out = check(fd, x, x.reshape(new), shared)
    if shared:
        assert out.stride() == (1, 0)


def test_everything_expanded_is_right(target, rng) -> None:
    """reshape.md 8.1: "all three expanded | right values; sharing not required" """
    x = whole_numbers([1, 1, 1], target, rng).expand(4, 5, 6)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.reshape(fd.from_pytorch(x, static_sizes=True), [20, -1]))
    assert torch.equal(fd.execute([x])[0], x.reshape(20, -1))


@pytest.mark.parametrize(
    ("stops", "new", "shared"),
    [
        ([2, 2, 5], [2, 10], True),
        ([2, 2, 5], [4, 5], False),
        ([2, 3, 5], [6, 5], True),
        ([2, 3, 5], [30], True),
    ],
)
def test_slices(target, rng, stops, new, shared) -> None:
    """reshape.md 8.1: slices of `[2, 3, 5]`; "full-range slice | any merge" """
    x = whole_numbers([2, 3, 5], target, rng)
    with FusionDefinition() as fd:
        t = fd.define_tensor([2, 3, 5], contiguity=True)
        fd.add_output(fd.ops.reshape(fd.ops.slice(t, [0, 0, 0], stops), new))
    a, b, c = stops
    check(fd, x, x[:a, :b, :c].reshape(new), shared)


def test_splits_never_need_a_copy(target, rng) -> None:
    """reshape.md 8.1: "Splits never need a copy of an ordinary dim" """
    x = strided([4, 6], target, rng)
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.reshape(fd.define_tensor([4, 6], contiguity=False), [2, 2, 3, 2]))
    out = check(fd, x, x.reshape(2, 2, 3, 2), shared=True)
    assert out.stride() == x.reshape(2, 2, 3, 2).stride()


def test_a_dynamic_reshape_is_a_view_where_it_can_be(target, rng) -> None:
    """reshape.md 8.1 of a reshape that is resolved when it runs"""
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(t, fd.define_vector(2)))
    x = whole_numbers([4, 6], target, rng)
    for shape in ([3, 8], [24, 1], [6, 4]):
        (out,) = fd.execute([x, *shape])
        assert torch.equal(out, x.reshape(shape))
        assert is_shared(out, x)
        assert "scheduled" not in ways(fd)


@pytest.mark.parametrize("new", [[6, 4], [24], [2, 12], [3, 2, 4]], ids=str)
def test_only_the_logical_order_counts(target, rng, new) -> None:
    """reshape.md 8.2: a transposed operand, with a kernel anyway and without"""
    x = whole_numbers([6, 4], target, rng).t()
    for has_kernel in (False, True):
        with FusionDefinition() as fd:
            t = fd.from_pytorch(x)
            fd.add_output(fd.ops.reshape(fd.ops.neg(t) if has_kernel else t, new))
        expected = -x.reshape(new) if has_kernel else x.reshape(new)
        assert torch.equal(fd.execute([x])[0], expected)
        assert ways(fd).count("scheduled") <= 1


def test_a_kernel_reads_through_the_strides(target, rng) -> None:
    """reshape.md 8.2: "no such copy is made when a kernel runs anyway" """
    x = whole_numbers([4, 6], target, rng).t()
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.ops.reshape(fd.from_pytorch(x), [4, 6])))
    assert torch.equal(fd.execute([x])[0], -x.reshape(4, 6))
    assert ways(fd) == ["scheduled"]


def test_a_reshape_inside_a_kernel_is_free(target, rng) -> None:
    """reshape.md 8.3: one kernel, no tensor for the reshape"""
    x = whole_numbers([4, 6], target, rng)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.exp(fd.ops.reshape(fd.ops.neg(t), [fd.ops.mul(t.size(0), 2), -1])))
    (out,) = fd.execute([x])
    torch.testing.assert_close(out, torch.exp(-x.reshape(8, 3)))
    assert ways(fd) == ["scheduled"]


def test_vectors_survive_a_reshape(target, rng) -> None:
    """reshape.md 8.3: "when the vector lies inside the innermost unchanged or divisible part" """
    x = whole_numbers([32, 64, 256], target, rng)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1, 256], contiguity=True)
        y = fd.ops.reshape(fd.ops.neg(t), [fd.ops.mul(t.size(0), t.size(1)), 256])
        fd.add_output(fd.ops.exp(y))
    (out,) = fd.execute([x])
    torch.testing.assert_close(out, torch.exp(-x).reshape(-1, 256))
    (piece,) = fd.fec.last_pieces()
    assert piece.params.vectorization_factor > 1
