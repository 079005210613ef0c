"""Vectors along resized axes."""

import pytest
import torch
import torch.nn.functional as F
from hard_case import (
    BX,
    TX,
    UNROLL,
    VECTORIZE,
    Compiled,
    assert_same,
    check,
    cuda_text,
    numbers,
    par,
)

from nvfuser_direct import FusionDefinition, schedule


def vectorized_load(fd, x, resized):
    """`resized`, read from x four elements at a time."""
    y = fd.ops.add(resized, 1.0)
    fd.add_output(y)
    for t in (resized, y):
        while t.ndim > 1 and len(t.get_loop_domain()) > 1:
            t.merge(0, 1)
        t.split(0, 4)
        t.split(0, 8)
        par(t, BX, TX)
    resized.axis(-1).parallelize(VECTORIZE)
    schedule.inline_most()


@pytest.mark.parametrize("extent", [64, -1])
@pytest.mark.parametrize(("start", "stop"), [(4, 60), (0, 32), (8, 64)])
def test_vectorized_slice(target, extent, start, stop):
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent], contiguity=True)
        vectorized_load(fd, x, fd.ops.slice(x, [start], [stop]))
    check(fd, target, [[[64]]], lambda x: x[start:stop] + 1)
    assert "load_vector<4" in cuda_text(fd.fusion)


@pytest.mark.parametrize("extent", [64, -1])
@pytest.mark.parametrize("widths", [[4, 8], [0, 4], [4, -8]])
def test_vectorized_pad(target, extent, widths):
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent], contiguity=True)
        vectorized_load(fd, x, fd.ops.pad(x, widths, 5.0))
    check(
        fd,
        target,
        [[[64]], [[32]]][: 1 if extent == 64 else 2],
        lambda x: F.pad(x, widths, value=5.0) + 1,
    )
    text = cuda_text(fd.fusion)
    assert "load_vector<4" in text
    assert "fill_vector<4" in text


def test_vectorized_store_of_a_cat(target):
    """Operands are chosen lane by lane, and stored together."""
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], contiguity=True)
        b = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.cat([a, b])
        fd.add_output(y)
        y_c = y.cache_before()
        y.split(0, 4)
        y.split(0, 32)
        schedule.transform_like(y)
        par(y, BX, TX)
        schedule.parallelize_like(y)
        y.axis(2).parallelize(VECTORIZE)
        y_c.axis(2).parallelize(UNROLL)
        schedule.inline_most()
    shapes = [[[5], [7]], [[4], [8]], [[129], [131]]]
    check(fd, target, shapes, lambda a, b: torch.cat([a, b]))
    assert "store_vector<4" in cuda_text(fd.fusion)


@pytest.mark.parametrize("left", [4, 3])
def test_vectorized_load_of_padded_loops(target, left):
    """The cache has the loops of the pad; its vectors start with the operand's."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        y = fd.ops.pad(x, [left, 8 - left])
        fd.add_output(y)
        x_c = x.cache_after()
        y.split(0, 4)
        y.split(0, 8)
        schedule.transform_like(y)
        par(y, BX, TX)
        schedule.parallelize_like(y)
        x_c.axis(2).parallelize(VECTORIZE)
        schedule.inline_most()
    if left == 3:
        with pytest.raises(RuntimeError, match="Vectorization needs an offset"):
            fd.fusion.lower()
        return
    check(fd, target, [[[64]]], lambda x: F.pad(x, [left, 8 - left]))
    assert "load_vector<4" in cuda_text(fd.fusion)


def test_vectorized_slice_of_an_outer_dimension(target):
    """The innermost extent must divide; the rows start where they start."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        vectorized_load(fd, x, fd.ops.slice(x, [3, 0], [7, 1 << 40]))
    check(fd, target, [[(9, 8)], [(8, 20)]], lambda x: x[3:7] + 1)
    compiled = Compiled(fd)
    with pytest.raises(RuntimeError, match="multiple"):
        compiled(numbers(9, 6, device=target))


@pytest.mark.parametrize(("start", "stop"), [(1, 61), (4, 63), (4, 62)])
def test_vectorized_slice_needs_divisible_bounds(start, stop):
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        vectorized_load(fd, x, fd.ops.slice(x, [start], [stop]))
    with pytest.raises(RuntimeError, match="Vectorization needs an"):
        fd.fusion.lower()


def test_vectorized_pad_checks_symbolic_sizes_at_launch(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        vectorized_load(fd, x, fd.ops.pad(x, [4, 8]))
    compiled = Compiled(fd)
    compiled(numbers(16, device=target))
    with pytest.raises(RuntimeError, match="multiple"):
        compiled(numbers(18, device=target))


def test_unvectorizable_stride_outside_of_a_slice(target):
    """X[:, :8] of rows of 10 elements."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True])
        vectorized_load(fd, x, fd.ops.slice(x, [0, 0], [1 << 40, 8]))
    compiled = Compiled(fd)
    wide = numbers(5, 12, device=target)
    assert_same(compiled(wide), [wide[:, :8] + 1])
    with pytest.raises(RuntimeError, match=r"(?i)stride|multiple|align"):
        compiled(numbers(5, 10, device=target))
