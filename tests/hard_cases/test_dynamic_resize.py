"""Bounds of slice, pad and cat that are known when the fusion runs, and
what fd.execute makes of many of them at once."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from hard_case import assert_same, execute, numbers

from nvfuser_direct import DataType, FusionDefinition, MemoryType, UserError

BOUNDS = [(-5, 4), (2, -3), (-4, -1), (3, 3), (5, 2), (0, 100), (100, 200), (-100, 3), (0, 1)]


@pytest.mark.parametrize("extent", [9, -1])
def test_symbolic_bounds_of_a_slice(target, extent):
    """Negative, clipped, empty, and of one element."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent], contiguity=True)
        start = fd.define_scalar(None, dtype=DataType.Int)
        stop = fd.define_scalar(None, dtype=DataType.Int)
        fd.add_output(fd.ops.neg(fd.ops.slice(x, [start], [stop])))
    x = numbers(9, device=target)
    for begin, end in BOUNDS:
        assert_same(execute(fd, [x, begin, end]), [-x[begin:end]])


def test_symbolic_widths_of_a_pad(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        widths = [fd.define_scalar(None, dtype=DataType.Int) for _ in range(4)]
        fd.add_output(fd.ops.pad(x, widths, 3.0))
    x = numbers(6, 5, device=target)
    for amounts in itertools.product((-2, 0, 3), (0, -3), (1, -3), (0, 2)):
        assert_same(execute(fd, [x, *amounts]), [F.pad(x, amounts, value=3.0)])


def test_pad_of_a_broadcast_is_an_iteration(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, -1], contiguity=[None, True])
        y = fd.ops.pad(x, [0, 0, 1, 2], -3.0)
        fd.add_output(y)
        fd.add_output(fd.ops.pad(fd.ops.expand(x, [4, -1]), [0, 1, 2, 0]))
    assert y.axis(0).is_iteration()
    x = numbers(1, 7, device=target)
    assert_same(
        execute(fd, [x]),
        [F.pad(x, [0, 0, 1, 2], value=-3.0), F.pad(x.expand(4, -1), [0, 1, 2, 0])],
    )


def test_slice_of_one_element_is_a_broadcast(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 8], contiguity=True)
        y = fd.ops.slice(x, [0, 3], [1 << 40, 4])
        fd.add_output(fd.ops.add(x, y))
    assert y.axis(1).is_broadcast()
    x = numbers(5, 8, device=target)
    assert_same(execute(fd, [x]), [x + x[:, 3:4]])


def test_slice_of_an_expanded_dimension(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        wide = fd.ops.broadcast_in_dim(x, [6, fd.ops.size(x, 0)], [1])
        fd.add_output(fd.ops.slice(wide, [1, 2], [4, 5]))
    x = numbers(7, device=target)
    assert_same(execute(fd, [x]), [x.expand(6, -1)[1:4, 2:5]])


def test_size_of_a_part_must_match(target):
    """A part whose size only a run knows is a broadcast if that is 1."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4], contiguity=True)
        stop = fd.define_scalar(None, dtype=DataType.Int)
        part = fd.ops.slice(x, [0, 0], [stop, 4])
        fd.add_output(fd.ops.add(part, x))
    x = numbers(3, 4, device=target)
    assert_same(execute(fd, [x, 3]), [x + x])
    assert_same(execute(fd, [x, 1]), [x[:1] + x])
    for size in (0, 2):
        with pytest.raises(RuntimeError, match="Expected sizes to match"):
            fd.execute([x, size])


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (0, 0), (2, 1)])
def test_cat_with_an_empty_part_is_the_other_part(target, sizes):
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1, 4], contiguity=True)
        b = fd.define_tensor([-1, 4], contiguity=True)
        fd.add_output(fd.ops.cat([a, b]))
    a, b = (numbers(n, 4, device=target) for n in sizes)
    assert_same(execute(fd, [a, b]), [torch.cat([a, b])])


# -- what fd.execute runs -------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 5, 64, 129])
def test_mixed_resizes_of_one_tensor(target, n):
    """Slices of a cat, pads of reductions, results of extents 0 and 1."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([3, -1], contiguity=True)
        y = fd.define_tensor([3, -1], contiguity=True)
        both = fd.ops.cat([x, fd.ops.mul(y, 2.0), fd.ops.neg(x)], 1)
        size = fd.ops.size(x, 1)
        middle = fd.ops.slice(both, [0, 1], [2, fd.ops.sub(size, 1)])
        sums = fd.ops.sum(both, [0])
        fd.add_output(both)
        fd.add_output(middle)
        fd.add_output(fd.ops.pad(sums, [2, 1], -1.0))
        fd.add_output(fd.ops.sum(fd.ops.pad(x, [1, 1, 2, 2], 1.0), [1]))
        fd.add_output(fd.ops.slice(x, [0, 0], [0, 3]))
        fd.add_output(fd.ops.add(fd.ops.slice(x, [1, 0], [2, size]), x))

    x, y = (numbers(3, n, device=target, seed=seed) for seed in range(2))
    both = torch.cat([x, y * 2, -x], 1)
    assert_same(
        execute(fd, [x, y]),
        [
            both,
            both[:2, 1 : n - 1],
            F.pad(both.sum(0), [2, 1], value=-1.0),
            F.pad(x, [1, 1, 2, 2], value=1.0).sum(1),
            x[:0, :3],
            x[1:2] + x,
        ],
    )


@pytest.mark.parametrize("repeats", [(1, 3), (2, 1), (3, 2), (1, 1)])
@pytest.mark.parametrize("shape", [(4, 5), (1, 6)])
def test_repeat(target, repeats, shape):
    """The position in the operand is the remainder."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([shape[0] if shape[0] == 1 else -1, -1])
        fd.add_output(fd.ops.neg(fd.ops.repeat(fd.ops.add(x, 1.0), repeats)))
    x = numbers(*shape, device=target)
    assert_same(execute(fd, [x]), [-(x + 1).repeat(*repeats)])


def test_chunks(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([10, 7], contiguity=True)
        for part in fd.ops.chunk(x, 3, 1):
            fd.add_output(fd.ops.neg(part))
    x = numbers(10, 7, device=target)
    assert_same(execute(fd, [x]), [-part for part in x.chunk(3, 1)])


@pytest.mark.parametrize(
    "dtype", [DataType.Half, DataType.BFloat16, DataType.Int, DataType.Bool, DataType.Double]
)
def test_types(target, dtype):
    torch_dtype = {
        DataType.Half: torch.float16,
        DataType.BFloat16: torch.bfloat16,
        DataType.Int: torch.int64,
        DataType.Bool: torch.bool,
        DataType.Double: torch.float64,
    }[dtype]
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=dtype)
        fd.add_output(fd.ops.pad(x, [1, 2]))
        fd.add_output(fd.ops.cat([x, fd.ops.slice(x, [1], [3])]))
    x = numbers(9, device=target, dtype=torch_dtype)
    assert_same(execute(fd, [x]), [F.pad(x, [1, 2]), torch.cat([x, x[1:3]])])


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_broadcast_and_what_repeats_it_are_resized_alike_or_refused(target, repeats):
    """Their loops correspond, so they have to be as long."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[True, None])
        y = fd.ops.broadcast(
            fd.ops.neg(fd.ops.squeeze(x, [1], squeeze_expanded=True)), [False, True]
        )
        z = fd.ops.mul(y, x)
        out = fd.ops.pad(z, [1, 0, 0, 0], 2.0)
        fd.add_output(out)
        out.merge(0, 1)
        fd.sched.transform_like(out)
        for tensor in fd.fusion.tensors():
            tensor.set_memory_type(MemoryType.Global)
    x = numbers(33, 1, device=target).expand(33, repeats)
    if repeats == 1:
        assert_same(execute(fd, [x]), [F.pad(-x * x, [1, 0], value=2.0)])
    else:
        with pytest.raises(UserError, match="Expected sizes to match"):
            execute(fd, [x])
