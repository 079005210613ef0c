"""Fusions in which reshapes once went wrong."""

from __future__ import annotations

import itertools

import pytest
import torch
from reshape_cases import whole_numbers

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    ParallelType,
    concretize,
    find_concretization,
)


def specializations(fd: FusionDefinition) -> int:
    return fd.fec.stats().specializations


def test_a_size_of_the_operand_beside_scalars(target, rng) -> None:
    """reshape.md 10.2: `x [3, 4]` to `[x.size(0), 2, 2]`"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a, b = fd.define_vector(2)
        fd.add_output(fd.ops.neg(fd.ops.reshape(x, [x.size(0), a, b])))
    for shape, sizes, count in (([3, 4], (2, 2), 1), ([5, 6], (2, 3), 1), ([3, 6], (3, 2), 2)):
        x = whole_numbers(shape, target, rng)
        assert torch.equal(fd.execute([x, *sizes])[0], -x.reshape(shape[0], *sizes))
        assert specializations(fd) == count


def test_sizes_known_only_through_a_third_tensor(target, rng) -> None:
    """reshape.md 10.2: "that tensor also added to a third of the same shape" """
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        y, z = fd.define_tensor([-1, -1]), fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.add(fd.ops.reshape(x, y.shape()), 1.0))
        fd.add_output(fd.ops.add(y, z))
    x, y, z = (whole_numbers(s, target, rng) for s in ([4, 3], [2, 6], [2, 6]))
    first, second = fd.execute([x, y, z])
    assert torch.equal(first, x.reshape(2, 6) + 1)
    assert torch.equal(second, y + z)


@pytest.mark.parametrize(
    ("shape", "new", "other"),
    [
        ([4, 3], [3, 4], [3, 4]),
        ([4, 3], [12, 1], [12, 5]),
        ([4, 3], [4, 3], [4, 3]),
        ([4, 6], [4, 2, 3], [4, 2, 3]),
    ],
)
def test_an_operand_that_is_matched_or_broadcast(target, rng, shape, new, other) -> None:
    """reshape.md 10.2: scalar sizes, then add with a tensor"""
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1] * len(shape)), fd.define_vector(len(new)))
        fd.add_output(fd.ops.add(y, fd.define_tensor([-1] * len(other))))
    x, z = whole_numbers(shape, target, rng), whole_numbers(other, target, rng)
    assert torch.equal(fd.execute([x, *new, z])[0], x.reshape(new) + z)


@pytest.mark.parametrize(
    "chain",
    [
        [[3, 4], [12]],
        [[3, 1, 4], [12, 1]],
        [[12], [3, 4]],
        [[1, 2, 1, 3, 2], [3, 4]],
    ],
    ids=str,
)
def test_chains_of_dynamic_reshapes(target, rng, chain) -> None:
    """reshape.md 10.2: chains from `[4, 3]`"""
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1, -1])
        for shape in chain:
            y = fd.ops.reshape(y, fd.define_vector(len(shape)))
        fd.add_output(fd.ops.neg(y))
    x = whole_numbers([4, 3], target, rng)
    assert torch.equal(fd.execute([x, *itertools.chain(*chain)])[0], -x.reshape(chain[-1]))


def test_pad_behind_a_dynamic_reshape(target, rng) -> None:
    """reshape.md 10.2: `[4,3]` to `[3,4]`, padded by 1 everywhere to `[5,6]`"""
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1]), fd.define_vector(2))
        fd.add_output(fd.ops.pad(y, [1, 1, 1, 1]))
    x = whole_numbers([4, 3], target, rng)
    (out,) = fd.execute([x, 3, 4])
    assert torch.equal(out, torch.nn.functional.pad(x.reshape(3, 4), [1, 1, 1, 1]))


def test_sums_and_welford_over_a_dimension_that_came_out_one(target, rng) -> None:
    """reshape.md 10.2: "value unchanged; variance 0, count 1" """
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1]), fd.define_vector(2))
        fd.add_output(fd.ops.sum(y, [1]))
        for result in fd.ops.welford(y, [1]):
            fd.add_output(result)
    x = whole_numbers([7], target, rng)
    total, mean, squares, count = fd.execute([x, 7, 1])
    assert torch.equal(total, x)
    assert torch.equal(mean, x)
    assert squares.abs().max() == 0
    assert (count == 1).all()


def test_expand_of_a_one_that_a_reshape_made(target, rng) -> None:
    """reshape.md 10.2: `[x, 1, y]`, the 1 expanded by a scalar, then reshaped again"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        a, one, b = fd.define_vector(3)
        y = fd.ops.reshape(x, [a, one, b])
        n = fd.define_scalar(DataType.Int)
        y = fd.ops.expand(y, [-1, n, -1])
        fd.add_output(fd.ops.reshape(y, [fd.ops.mul(a, n), b]))
    x = whole_numbers([4, 6], target, rng)
    (out,) = fd.execute([x, 3, 1, 8, 5])
    assert torch.equal(out, x.reshape(3, 1, 8).expand(3, 5, 8).reshape(15, 8))


@pytest.mark.parametrize("form", ["numbers", "scalars"])
@pytest.mark.parametrize(
    ("shape", "expanded", "new"), [([4, 1, 8], [4, 3, 8], [12, 8]), ([1, 8], [12, 8], [3, 4, 8])]
)
def test_expanded_dimensions_are_materialized(target, rng, shape, expanded, new, form) -> None:
    """reshape.md 10.2: expand, then reshape"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1 if n == 1 else -1 for n in shape])
        y = fd.ops.expand(x, expanded)
        fd.add_output(fd.ops.reshape(y, fd.define_vector(len(new)) if form == "scalars" else new))
    x = whole_numbers(shape, target, rng)
    (out,) = fd.execute([x, *(new if form == "scalars" else [])])
    assert torch.equal(out, x.expand(expanded).reshape(new))


def test_an_expanded_dimension_flattened_and_summed(target, rng) -> None:
    """reshape.md 10.2: `[a, b, 1→8]` flattened over the last two, summed"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, 1], [True, True, None])
        y = fd.ops.flatten(fd.ops.expand(x, [-1, -1, 8]), 1, 2)
        fd.add_output(fd.ops.sum(y, [1]))
    x = whole_numbers([3, 5, 1], target, rng)
    assert torch.equal(fd.execute([x])[0], x.expand(3, 5, 8).flatten(1).sum(1))


def test_group_norm(target, rng) -> None:
    """reshape.md 10.2: `[n, c, h, w]` in groups of 32 channels and back, against float64"""
    n, c, h, w = 2, 64, 7, 5
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * 4, contiguity=True)
        groups = fd.ops.div(x.size(1), 32)
        y = fd.ops.reshape(x, [x.size(0), groups, 32, x.size(2), x.size(3)])
        var, mean = fd.ops.var_mean(y, [2, 3, 4], correction=0, keepdim=True)
        y = fd.ops.mul(fd.ops.sub(y, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5)))
        fd.add_output(fd.ops.reshape(y, x.shape()))
    x = torch.randn(n, c, h, w, generator=rng).to(target)
    expected = torch.nn.functional.group_norm(x.double(), c // 32).float()
    torch.testing.assert_close(fd.execute([x])[0], expected, atol=1e-5, rtol=1e-4)


def test_both_results_of_a_split_keep_their_link(target, rng) -> None:
    """reshape.md 10.2: `n → [32, n/32]` of two inputs, one behind a kernel boundary, multiplied"""
    with FusionDefinition() as fd:
        x, y = fd.define_tensor([-1], contiguity=True), fd.define_tensor([-1], contiguity=True)
        rows = fd.define_scalar(DataType.Int)
        left = fd.ops.segment_set(fd.ops.exp(fd.ops.reshape(x, [rows, -1])))
        fd.add_output(fd.ops.mul(left, fd.ops.reshape(y, [rows, -1])))
    x, y = whole_numbers([96], target, rng), whole_numbers([96], target, rng)
    (out,) = fd.execute([x, y, 32])
    torch.testing.assert_close(out, torch.exp(x).reshape(32, 3) * y.reshape(32, 3))


def test_constants_behind_a_slice_stay_constants(target, rng) -> None:
    """reshape.md 10.2: constant sizes behind `slice`, then broadcast dims, then sum"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.reshape(fd.ops.slice(x, [0, 0], [4, 6]), [4, 3, 2])
        assert [size.is_const_int() for size in y.shape()] == [True] * 3
        y = fd.ops.broadcast(y, [True, False, False, False])
        fd.add_output(fd.ops.sum(y, [1, 2]))
    x = whole_numbers([5, 7], target, rng)
    (out,) = fd.execute([x])
    assert torch.equal(out, x[:4, :6].reshape(1, 4, 3, 2).sum([1, 2]))


def test_a_reshape_that_is_undone_meets_the_original(target, rng) -> None:
    """reshape.md 10.2: "no endless walk" """
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        flat = fd.ops.reshape(x, [fd.ops.mul(x.size(0), x.size(1))])
        fd.add_output(fd.ops.add(x, fd.ops.reshape(flat, x.shape())))
    x = whole_numbers([4, 8], target, rng)
    assert torch.equal(fd.execute([x])[0], 2 * x)


def test_two_cuts_of_one_dimension_in_one_kernel(target, rng) -> None:
    """reshape.md 10.2: "scheduled by hand in one kernel" through the graph of merges and splits

    Both outputs are looped over as the one dimension that they were cut from.
    """
    with FusionDefinition() as fd:
        x = fd.define_tensor([24], contiguity=True)
        y = fd.ops.sin(x)
        outs = [fd.ops.neg(fd.ops.reshape(y, shape)) for shape in ([6, 4], [3, 8])]
        for out in outs:
            fd.add_output(out)
        for out in outs:
            out.merge(0)
            out.axis(0).parallelize(ParallelType.block_x)
    x = whole_numbers([24], target, rng)
    first, second = fd.manual_execute([x])
    torch.testing.assert_close(first, -torch.sin(x).reshape(6, 4))
    torch.testing.assert_close(second, -torch.sin(x).reshape(3, 8))


def test_a_squeezed_dimension_of_a_dynamic_reshape_as_an_output(target, rng) -> None:
    """reshape.md 10.2: "resolved as broadcast, allocation sizes and strides right" """
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1], contiguity=True), fd.define_vector(3))
        fd.add_output(fd.ops.neg(fd.ops.squeeze(y, [1])))
        fd.add_output(fd.ops.neg(y))
    x = whole_numbers([4, 6], target, rng)
    squeezed, whole = fd.execute([x, 8, 1, 3])
    assert torch.equal(squeezed, -x.reshape(8, 3))
    assert squeezed.stride() == (3, 1)
    assert torch.equal(whole, -x.reshape(8, 1, 3))
    assert whole.is_contiguous()


def test_a_reshaped_index(target, rng) -> None:
    """reshape.md 10.2: `int64` index `[5, 5]` to `[25]`, the result reshaped"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        flat = fd.ops.reshape(index, [fd.ops.mul(index.size(0), index.size(1))])
        rows = fd.ops.index_select(x, flat, 0)
        fd.add_output(fd.ops.reshape(rows, [index.size(0), index.size(1), x.size(1)]))
    x = whole_numbers([9, 4], target, rng)
    index = torch.randint(0, 9, (5, 5), generator=rng).to(target)
    assert torch.equal(fd.execute([x, index])[0], x[index])


def test_every_dynamic_reshape_is_analysed_beside_a_static_one() -> None:
    """reshape.md 10.3: "one static reshape among dynamic ones ended the analysis of the rest" """
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fixed = fd.define_tensor([4, 6])
        fd.add_output(fd.ops.reshape(fixed, [24]))
        first = fd.ops.reshape(x, fd.define_vector(1))
        fd.add_output(first)
        fd.add_output(fd.ops.reshape(fd.ops.reshape(fixed, [6, 4]), [3, 8]))
        fd.add_output(fd.ops.reshape(x, fd.define_vector(3)))
    inputs = [torch.empty(4, 6), torch.empty(4, 6), 24, 2, 2, 6]
    found = find_concretization(fd.fusion, inputs)
    assert str(found).count(";") == 1
    resolved = concretize(fd.fusion, found)
    assert "?S" not in resolved.print_math()
    out = fd.execute([torch.ones(4, 6), torch.ones(4, 6), 24, 2, 2, 6])
    assert [list(t.shape) for t in out] == [[24], [24], [3, 8], [2, 2, 6]]
