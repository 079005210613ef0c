"""Random numbers. Their distributions: tests/runtime/test_random.py."""

import pytest
import torch
from hard_case import BX, SHARED, SIZES, TX, UNROLL, check, cuda_text, like, par

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, evaluate

pytestmark = pytest.mark.sanitize


def stream(shape, seed=5, offset=2):
    """The numbers, by the evaluator."""
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.uniform(0, 1, list(shape), rng_seed=seed, rng_offset=offset))
    return evaluate(fd.fusion, [])[0]


def plus_random(rank):
    """x + uniform numbers in the shape of x."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1] * rank, contiguity=True)
        r = fd.ops.uniform(0, 1, x.shape(), rng_seed=5, rng_offset=2)
        y = fd.ops.add(x, r)
        fd.add_output(y)
    return fd, r, y


@pytest.mark.parametrize("factor", [1, 3, 4, 8])
def test_four_values_for_each_counter(target, factor):
    """Lanes are chosen by position, whatever an unrolled loop starts with."""
    fd, _, y = plus_random(1)
    with fd:
        y.split(0, factor)
        y.split(0, 32)
        par(y, BX, TX, UNROLL)
        like(y)
        fd.sched.inline_at(y, 2)
    source = cuda_text(fd.fusion)
    if factor == 4:  # the position over four is known outside of the loop, the lane is its index
        assert "% 4" not in source[source.index("__global__") :]
    check(fd, target, [[(n,)] for n in SIZES], lambda x: x + stream(x.shape).to(x.device))


def test_holes_take_no_counters(target):
    """Rows of 5 in tiles of 4 by 4; the numbers are those of the shape."""
    fd, r, y = plus_random(2)
    with fd:
        y.split(1, 4)
        y.split(0, 4)
        y.reorder({1: 2, 2: 1})
        par(y, None, BX, TX, UNROLL)
        like(y)
        r.set_memory_type(SHARED)
        fd.sched.inline_at(y, 2)
    cuda_text(fd.fusion)
    shapes = [[(m, n)] for m, n in ((1, 1), (4, 5), (7, 13), (33, 2))]
    check(fd, target, shapes, lambda x: x + stream(x.shape).to(x.device))


@pytest.mark.parametrize("shape", [[1], [1, 5], [5, 1], [1, 1, 3]])
def test_a_broadcast_that_is_split_is_no_position(target, shape):
    """Loops over a dimension of size one may have holes that no test excludes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True)
        r = fd.ops.uniform(0, 1, shape, rng_seed=5, rng_offset=2)
        e = fd.ops.add(fd.ops.eye(1, 3), 1.0)
        i = fd.ops.iota(1, 7, dtype=DataType.Int)
        y = fd.ops.neg(x)
        for tensor in (r, e, i):
            tensor.split(0, 2, inner_split=False)
        for tensor in (y, r, e, i):
            fd.add_output(tensor)
    cuda_text(fd.fusion)
    executor = KernelExecutor()
    arg = torch.zeros(4, device=target)
    executor.compile(fd.fusion, [arg])
    _, r, e, i = executor.run([arg])
    torch.testing.assert_close(r.cpu(), stream(shape), rtol=0, atol=0)
    assert e.tolist() == [[2, 1, 1]]
    assert i.tolist() == [7]


@pytest.mark.parametrize("is_recomputed", [False, True])
def test_computed_once_or_for_every_column(target, is_recomputed):
    """Inside of the loop over columns, or outside of it and for a second output."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        r = fd.ops.uniform(0, 1, [x.size(0)], rng_seed=5, rng_offset=2)
        y = fd.ops.add(x, fd.ops.broadcast(r, [False, True]))
        fd.add_output(y)
        if is_recomputed:
            y.reorder({0: 1, 1: 0})
            fd.sched.transform_like(y)
        else:
            fd.add_output(fd.ops.neg(r))
        fd.sched.inline_most()
    cuda_text(fd.fusion)

    def expected(x):
        numbers = stream(x.shape[:1]).to(x.device)
        return [x + numbers[:, None], -numbers][: 1 if is_recomputed else 2]

    check(fd, target, [[(m, n)] for m, n in ((1, 1), (13, 7), (4, 33))], expected)
