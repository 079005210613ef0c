"""Random fusions under random schedules: what holds for every one of them."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from loop_text import all_loops

from nvfuser_direct import FusionDefinition, IdMappingMode, UserError
from nvfuser_direct.idm import IdModel


def _add_operation(fd, pool, rand):
    tensor = rand.choice(pool)
    rank = tensor.rank()
    axis = rand.randrange(rank) if rank else None
    sizes = [tensor.size(i).value() for i in range(rank)]
    kind = rand.choice(
        ["neg", "add", "sum", "normalize", "broadcast", "permute", "reshape", "welford", "squeeze"]
    )
    if kind == "neg" or axis is None:
        pool.append(fd.ops.neg(tensor))
    elif kind == "add":
        pool.append(fd.ops.add(tensor, rand.choice([t for t in pool if t.rank() == rank])))
    elif kind == "sum":
        pool.append(fd.ops.sum(tensor, [axis]))
    elif kind == "normalize":
        total = fd.ops.sum(tensor, [axis])
        pool.append(fd.ops.sub(tensor, fd.ops.broadcast(total, [i == axis for i in range(rank)])))
    elif kind == "broadcast" and rank < 4:
        pool.append(fd.ops.broadcast(tensor, [i == axis for i in range(rank + 1)]))
    elif kind == "permute":
        pool.append(fd.ops.permute(tensor, rand.sample(range(rank), rank)))
    elif kind == "reshape" and None not in sizes:
        pool.append(fd.ops.reshape(tensor, [*sizes[:axis], math.prod(sizes[axis:])]))
    elif kind == "welford":
        pool.extend(fd.ops.welford(tensor, [axis])[:2])
    elif kind == "squeeze" and 1 in sizes:
        pool.append(fd.ops.squeeze(tensor, [sizes.index(1)]))


def _define(fd, rand):
    shape = [rand.choice([2, 3, 4, 6, -1]) for _ in range(rand.randint(1, 3))]
    pool = []
    for _ in range(rand.randint(1, 3)):
        sizes = [1 if rand.random() < 0.25 else size for size in shape]
        pool.append(fd.ops.set(fd.define_tensor(sizes, contiguity=True)))
    for _ in range(rand.randint(2, 12)):
        try:
            _add_operation(fd, pool, rand)
        except UserError:  # sizes that do not go together
            continue
    for tensor in rand.sample(pool, min(len(pool), 2)):
        fd.add_output(fd.ops.set(tensor))


def _transform(tensor, rand):
    for _ in range(rand.randint(0, 5)):
        size = tensor.ndims()
        if size == 0:
            return
        axes = [rand.randrange(size), rand.randrange(size)]
        try:
            match rand.choice(["split", "merge", "reorder"]):
                case "split":
                    tensor.split(axes[0], rand.choice([1, 2, 3, 4, 8]), rand.random() < 0.7)
                case "merge":
                    tensor.merge(*axes)
                case "reorder":
                    tensor.reorder({axes[0]: axes[1]})
        except UserError:  # the same axis twice, a reduction with another axis
            continue


@pytest.mark.parametrize("seed", range(100))
def test_propagation_and_inlining(seed):
    """Both are idempotent, every graph is closed, and no loop drives two axes of one tensor."""
    rand = random.Random(seed)
    with FusionDefinition() as fd:
        _define(fd, rand)
        tensors = fd.fusion.tensors()
        reference = rand.choice(tensors)
        _transform(reference, rand)
        before = all_loops(fd)
        try:
            fd.sched.transform_like(reference)
        except UserError as error:
            assert "iteration types match" in str(error)
            assert all_loops(fd) == before
            return
        once = all_loops(fd)
        fd.sched.transform_like(reference)
        assert all_loops(fd) == once
        fd.sched.inline_most()
        positions = [t.compute_at_position() for t in tensors]
        fd.sched.inline_most()
        assert [t.compute_at_position() for t in tensors] == positions
        model = IdModel(fd.fusion, build_graphs=True, validate=True)
        loops = model.maybe_build_graph(IdMappingMode.loop).disjoint_val_sets()
        for tensor in tensors:
            for axis0, axis1 in itertools.combinations(tensor.get_loop_domain(), 2):
                assert not loops.strict_are_mapped(axis0, axis1)
