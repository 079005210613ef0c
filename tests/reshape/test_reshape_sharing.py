"""Which shapes share a compiled fusion."""

from __future__ import annotations

import itertools

import pytest
import torch
from reshape_cases import inferred, shape_id, whole_numbers

from nvfuser_direct import FusionDefinition, find_concretization

# Operand and new shapes, one behind the other, of two runs.
SHARED = [
    ([3, 4], [[4, 3]], [2, 8], [[4, 4]]),
    ([3, 4], [[4, 3]], [3, 8], [[4, 6]]),
    ([3, 4], [[4, 3]], [2, 6], [[4, 3]]),
    ([3, 4], [[12], [1, 4, 3]], [5, 8], [[40], [1, 4, 10]]),
    ([1, 3333, 1], [[-1]], [1, 24, 1], [[-1]]),
    ([3333], [[1, -1, 1]], [24], [[1, -1, 1]]),
    ([1, 1, 3333, 1], [[1, 1, 3333, 1]], [1, 1, 3333, 1], [[1, 1, -1, 1]]),
    ([3, 17, 80, 1], [[51, 1, 2, 4, -1]], [3, 17, 560, 1], [[51, 1, 2, 4, -1]]),
    ([2, 3, 12, 5], [[1, 6, 1, 2, -1, 5, 1]], [2, 3, 16, 5], [[1, 6, 1, 2, -1, 5, 1]]),
    ([1, 3333, 1], [[1, 303, -1, 1]], [1, 13332, 1], [[1, 303, -1, 1]]),
    ([8, 1, 1, 8, 1, 8], [[8, 2, -1, 1, 8]], [8, 1, 1, 48, 1, 8], [[8, 2, -1, 1, 8]]),
    ([3, 17, 80, 1, 9], [[-1, 1, 2, 4, 10, 9]], [4, 18, 80, 1, 9], [[-1, 1, 2, 4, 10, 9]]),
    ([22, 1, 23, 1], [[-1, 1]], [23, 1, 22, 1], [[-1, 1]]),
    ([22, 22, 3], [[22, 11, 1, 1, -1]], [22, 33, 2], [[22, 11, 1, 1, -1]]),
    ([1, 82362, 1, 4], [[1, 7844, 1, -1]], [1, 27454, 1, 2], [[1, 7844, 1, -1]]),
    ([19, 12, 7, 99], [[19, 3, -1]], [19, 9, 8, 10], [[19, 3, -1]]),
]

# The same for runs that differ; the last element: what the signature differs in.
DIFFERENT = [
    ([3, 4], [[4, 3]], [3, 4], [[2, 6]]),
    ([3, 4], [[4, 3]], [3, 4], [[3, 4]]),
    ([3, 4], [[12], [1, 4, 3]], [3, 4], [[12], [4, 1, 3]]),
    ([3, 4], [[12], [1, 4, 3]], [3, 4], [[12], [4, 3, 1]]),
    ([3, 17, 80, 1], [[51, 1, 2, -1, 10]], [3, 17, 240, 1], [[51, 1, 2, -1, 10]]),
    ([1, 3333, 1], [[1, -1, 11, 1]], [1, 6666, 1], [[1, -1, 11, 1]]),
    ([22, 24, 2], [[22, -1, 1, 1, 4]], [22, 22, 2], [[22, -1, 1, 1, 4]]),
    ([8, 1, 1, 8, 1, 8], [[8, -1, 4, 1, 8]], [8, 1, 1, 12, 1, 8], [[8, -1, 4, 1, 8]]),
    ([1, 7844, 1, 7], [[1, -1, 2]], [1, 3922, 1, 7], [[1, -1, 2]]),
    ([2, 3, 4], [[-1, 4]], [2, 3, 4], [[2, -1]]),
    ([22, 1, 23, 1, 24], [[-1, 24]], [22, 1, 23, 1, 24], [[22, -1]]),
]


class Chain:
    """A definition of reshapes in a row, whose sizes are scalar inputs, with a kernel behind."""

    def __init__(self, declared: list[int], ranks: list[int]) -> None:
        with FusionDefinition() as fd:
            y = fd.define_tensor(declared, [None if size == 1 else True for size in declared])
            for rank in ranks:
                y = fd.ops.reshape(y, fd.define_vector(rank))
            fd.add_output(fd.ops.neg(y))
        self.fd = fd

    def run(self, x: torch.Tensor, new_shapes: list[list[int]]) -> None:
        """Compared with PyTorch."""
        sizes = [inferred(x.shape, shape) for shape in new_shapes]
        (out,) = self.fd.execute([x, *itertools.chain(*sizes)])
        assert torch.equal(out, -x.reshape(sizes[-1]))

    @property
    def specializations(self) -> int:
        return self.fd.fec.stats().specializations


def declared(shape: list[int]) -> list[int]:
    return [1 if size == 1 else -1 for size in shape]


@pytest.mark.parametrize(("shape", "new", "other", "other_new"), SHARED, ids=shape_id)
def test_shapes_that_share(target, rng, shape, new, other, other_new) -> None:
    """reshape.md 6.2: one compiled fusion serves both runs, and both are right."""
    chain = Chain(declared(shape), [len(s) for s in new])
    chain.run(whole_numbers(shape, target, rng), new)
    assert chain.specializations == 1
    chain.run(whole_numbers(other, target, rng), other_new)
    assert chain.specializations == 1


def record_of(shape: list[int], new_shapes: list[list[int]]) -> object:
    chain = Chain(declared(shape), [len(s) for s in new_shapes])
    sizes = [size for new in new_shapes for size in inferred(shape, new)]
    return find_concretization(chain.fd.fusion, [torch.empty(shape), *sizes])


@pytest.mark.parametrize(("shape", "new", "other", "other_new"), DIFFERENT, ids=shape_id)
def test_shapes_that_do_not_share(target, rng, shape, new, other, other_new) -> None:
    """reshape.md 6.3: two compiled fusions, and both runs are right.

    The sizes are scalars of the run, so the improvement that the rows with a star allow, which
    needs a constant of the definition, is not at work.
    """
    assert record_of(shape, new) != record_of(other, other_new)
    if [len(s) for s in new] != [len(s) for s in other_new]:
        return  # two definitions
    chain = Chain(declared(shape), [len(s) for s in new])
    chain.run(whole_numbers(shape, target, rng), new)
    chain.run(whole_numbers(other, target, rng), other_new)
    assert chain.specializations == 2


def test_squeezes_and_ranks_are_part_of_what_is_shared() -> None:
    """reshape.md 6.3, rows "squeezes" and "rank" """
    assert record_of([1, 3333, 1], [[3333]]) != record_of([1, 3333], [[3333]])
    assert record_of([3333], [[1, 3333, 1]]) != record_of([24], [[1, 24]])


# Where the right-hand size is a constant of the definition.
INNER_CONSTANTS = [
    ([3, 17, 80, 1], [3, 17, 240, 1], [51, 1, 2, -1, 10]),
    ([1, 3333, 1], [1, 6666, 1], [1, -1, 11, 1]),
    ([22, 24, 2], [22, 22, 2], [22, -1, 1, 1, 4]),
    ([8, 1, 1, 8, 1, 8], [8, 1, 1, 12, 1, 8], [8, -1, 4, 1, 8]),
    ([1, 7844, 1, 7], [1, 3922, 1, 7], [1, -1, 2]),
]


@pytest.mark.parametrize(("shape", "other", "new"), INNER_CONSTANTS, ids=shape_id)
def test_constants_of_the_definition(target, rng, shape, other, new) -> None:
    """reshape.md 6.1, "Allowed improvement": at most a fusion for each run, right for both."""
    with FusionDefinition() as fd:
        sizes = declared(shape)
        x = fd.define_tensor(sizes, [None if size == 1 else True for size in sizes])
        fd.add_output(fd.ops.neg(fd.ops.reshape(x, new)))
    for actual in (shape, other):
        x = whole_numbers(actual, target, rng)
        (out,) = fd.execute([x])
        assert torch.equal(out, -x.reshape(inferred(actual, new)))
    assert fd.fec.stats().specializations <= 2


@pytest.mark.parametrize("new", [[-1, 4], [-1, 2, 8]])
def test_an_inner_constant_shares_over_the_outer_size(target, rng, new) -> None:
    """reshape.md 6.1, "Allowed improvement", where the operand is one dimension of any size."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 16], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.reshape(x, new)))
    for rows in (3, 5, 8):
        x = whole_numbers([rows, 16], target, rng)
        assert torch.equal(fd.execute([x])[0], -x.reshape(new))
    assert fd.fec.stats().specializations == 1


def test_a_sequence_of_shapes(target, rng) -> None:
    """reshape.md 6.4, first table: the number of compiled fusions after each run.

    The row with -1 as a scalar shares with the row above it.
    """
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * 4, contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.reshape(x, fd.define_vector(4))))
    sequence = [
        ([8, 12, 7, 9], [8, 12, 7, 9], 1),
        ([8, 12, 7, 5], [8, 12, 7, 5], 1),
        ([8, 12, 7, 9], [8, 3, 4, 63], 2),
        ([8, 12, 7, 9], [8, 3, 28, 9], 3),
        ([8, 12, 7, 5], [8, 3, 28, 5], 3),
        ([8, 15, 7, 9], [8, 3, 35, 9], 3),
        ([8, 0, 7, 9], [7, 8, 0, 9], 4),
        ([8, 0, 7, 9], [7, 8, -1, 9], 4),
        ([8, 0, 7, 9], [7, 8, 0, 0], 5),
        ([8, 0, 7, 9], [47, 0, 13, 0], 6),
    ]
    for shape, new, count in sequence:
        x = whole_numbers(shape, target, rng)
        (out,) = fd.execute([x, *new])
        sizes = [0 if size == -1 else size for size in new]
        assert torch.equal(out, -x.reshape(sizes) if x.numel() else x.new_zeros(sizes))
        assert fd.fec.stats().specializations == count
    stats = fd.fec.stats()
    fd.execute([x, *sequence[-1][1]])
    assert fd.fec.stats().compiled == stats.compiled, "a known signature compiles nothing"


def test_a_sequence_of_shapes_with_a_reader(target, rng) -> None:
    """reshape.md 6.4, second table"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        other = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.reshape(x, other.shape()), other))
    for shape, new, count in (([3, 4], [3, 4], 1), ([3, 4], [4, 3], 2), ([2, 6], [4, 3], 2)):
        x, other = whole_numbers(shape, target, rng), whole_numbers(new, target, rng)
        assert torch.equal(fd.execute([x, other])[0], x.reshape(new) + other)
        assert fd.fec.stats().specializations == count


def test_scalars_that_no_size_reads_are_not_in_the_key(target, rng) -> None:
    """reshape.md 6.1: the values of only those scalars that can influence the resolution"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        rows, factor = fd.define_vector(2)
        fd.add_output(fd.ops.mul(fd.ops.reshape(x, [rows, -1]), factor))
    x = whole_numbers([4, 6], target, rng)
    for factor in (2, 3, 5):
        assert torch.equal(fd.execute([x, 3, factor])[0], x.reshape(3, 8) * factor)
    stats = fd.fec.stats()
    assert (stats.specializations, stats.misses) == (1, 1)


def test_zero_extents_and_broadcasts_of_other_operations(target, rng) -> None:
    """reshape.md 6.1: broadcast or iteration, per dimension, of slices, pads and new tensors"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        stop, width = fd.define_vector(2)
        part = fd.ops.slice(x, [0, 0], [stop, x.size(1)])
        fd.add_output(fd.ops.add(fd.ops.pad(part, [0, width]), 1.0))
    x = whole_numbers([5, 4], target, rng)
    for stop, width, count in ((1, 0, 1), (1, 2, 1), (3, 0, 2), (4, 1, 2)):
        (out,) = fd.execute([x, stop, width])
        expected = torch.nn.functional.pad(x[:stop], [0, width]) + 1
        assert torch.equal(out, expected)
        assert fd.fec.stats().specializations == count
