"""Writing at positions that a tensor holds."""

from __future__ import annotations

import re

import pytest
import torch
from hard_case import BX, GLOBAL, TX, Compiled, assert_same, count, lowered, numbers, par
from test_gather import distinct_positions, positions, run, source

from nvfuser_direct import BlockSync, DataType, FusionDefinition, GridSync, UserError


def scheduled_scatter(fd, arg, index, src, dim, factor=32):
    """A scatter whose copy and writes are spread over threads and blocks."""
    copy = fd.ops.set(arg)
    out = fd.ops.scatter(copy, index, src, dim)
    for t in (copy, out):
        while t.ndims() > 1:
            t.merge(0, 1)
        t.split(0, factor)
        par(t, BX, TX)
        t.set_memory_type(GLOBAL)
    return out


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("scalar", [False, True])
def test_scatter_loops_over_the_positions(target, dim, scalar):
    """A copy, a barrier, then the writes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        src = fd.define_scalar(3.0) if scalar else fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(scheduled_scatter(fd, x, index, src, dim))
    assert count(lowered(fd.fusion), GridSync) == 1
    source(fd)
    compiled = Compiled(fd)
    for m, n, p, q in ((1, 1, 1, 1), (7, 9, 4, 5), (5, 31, 5, 3), (33, 2, 30, 2)):
        x, src = numbers(m, n, device=target), numbers(m, n, device=target, seed=1)
        index = distinct_positions(p, q, below=x.shape[dim], dim=dim, device=target)
        if scalar:
            assert_same(compiled(x, index), [x.scatter(dim, index, 3.0)])
        else:
            assert_same(compiled(x, index, src), [x.scatter(dim, index, src)])


def test_scatter_with_exact_sizes_keeps_its_other_loops(target):
    """Beside the scattered dimension the loops are those of the result."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([6, 40], contiguity=True)
        index = fd.define_tensor([6, 5], contiguity=True, dtype=DataType.Int)
        src = fd.define_tensor([6, 5], contiguity=True)
        copy = fd.ops.neg(x)
        out = fd.ops.scatter(copy, index, fd.ops.mul(src, 2.0), 1)
        z = fd.ops.neg(out)
        fd.add_output(z)
        assert out.get_loop_domain()[0] == out.get_logical_domain()[0]
        for t in (copy, out):
            t.set_memory_type(GLOBAL)
        par(copy, BX, TX)
        par(out, BX)
        par(z, BX, TX)
        fd.sched.inline_most()
        assert copy.compute_at_position() == 0
        assert out.compute_at_position() == 0
    x, src = numbers(6, 40, device=target), numbers(6, 5, device=target, seed=1)
    index = distinct_positions(6, 5, below=40, dim=1, device=target)
    assert_same(run(fd, x, index, src), [-(-x).scatter(1, index, 2 * src)])


def test_result_of_a_scatter_is_read_after_a_barrier(target):
    """Also where the threads of the reader have the axes of the writer."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        index = fd.define_tensor([64], contiguity=True, dtype=DataType.Int)
        copy = fd.ops.set(x)
        out = fd.ops.scatter(copy, index, fd.ops.neg(x), 0)
        z = fd.ops.add(out, x)
        fd.add_output(z)
        for t in fd.fusion.tensors():
            if t.definition() is not None:
                par(t, TX)
        for t in (copy, out):
            t.set_memory_type(GLOBAL)
        fd.sched.inline_most()
    assert count(lowered(fd.fusion), BlockSync) == 2
    x = numbers(64, device=target)
    index = distinct_positions(64, below=64, dim=0, device=target)
    assert_same(run(fd, x, index), [x.scatter(0, index, -x) + x])


def test_one_thread_scatters_what_no_axis_spreads(target):
    """The block is there for another tensor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        copy = fd.ops.set(x)
        out = fd.ops.scatter(copy, index, 7.0, 0)
        fd.add_output(out)
        copy.set_memory_type(GLOBAL)
        copy.split(0, 32)
        par(copy, BX, TX)
    text = source(fd)
    assert "thread_x == 0" in text
    compiled = Compiled(fd)
    for n, k in ((1, 1), (100, 13)):
        x = numbers(n, device=target)
        index = positions(k, below=n, device=target)
        assert_same(compiled(x, index), [x.scatter(0, index, 7.0)])


def test_scatter_of_a_scatter_shares_memory(target):
    """One buffer from the first copy to the last write."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        other = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        first = scheduled_scatter(fd, x, index, 5.0, 0)
        second = fd.ops.scatter(first, other, 6.0, 0)
        second.split(0, 32)
        par(second, BX, TX)
        fd.add_output(second)
    kernel = lowered(fd.fusion)
    assert count(kernel, GridSync) == 2
    assert "T3" not in re.sub(r"//.*", "", source(fd))
    x = numbers(50, device=target)
    index, other = positions(9, below=50, device=target), positions(7, below=50, device=target)
    expected = x.scatter(0, index, 5.0).scatter(0, other, 6.0)
    assert_same(Compiled(fd)(x, index, other), [expected])


def test_writes_out_of_range_are_left_out(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(scheduled_scatter(fd, x, index, 7.0, 0))
    x = numbers(5, device=target)
    index = torch.tensor([-1, 5, 1 << 40, (1 << 32) + 2, 3], device=target)
    assert_same(run(fd, x, index), [x.scatter(0, index[4:], 7.0)])


def test_scatter_in_place(target):
    """The input is the memory that is scattered into."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        src = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(scheduled_scatter(fd, x, index, src, 0), x)
    source(fd)
    assert count(lowered(fd.fusion), GridSync) == 0  # the copy is there already
    x, src = numbers(9, 4, device=target), numbers(3, 4, device=target, seed=1)
    index = distinct_positions(3, 4, below=9, dim=0, device=target)
    expected = x.scatter(0, index, src)
    Compiled(fd)(x, index, src)
    assert_same([x], [expected])


@pytest.mark.parametrize("reader", ["source", "sum"])
def test_scatter_in_place_beside_another_reader_is_refused(reader):
    """No axis tells which reader comes before an element is overwritten."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        src = fd.ops.neg(x) if reader == "source" else 1.0
        fd.add_output(scheduled_scatter(fd, x, index, src, 0), x)
        if reader == "sum":
            fd.add_output(fd.ops.add(x, 1.0))
    with pytest.raises(UserError, match="updated in place while another thread may still read it"):
        fd.fusion.print_kernel()


def test_update_in_place_of_what_is_gathered_is_refused():
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        index = fd.define_tensor([8], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.add(fd.ops.take_along_axis(x, index, 0), x), x)
    with pytest.raises(UserError, match="updated in place while another thread may still read it"):
        fd.fusion.print_kernel()


def test_a_scatter_needs_memory_of_its_own():
    """An input, or a tensor that others read, is not overwritten."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        index = fd.define_tensor([4], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.scatter(x, index, 1.0, 0))
    with pytest.raises(UserError, match="A scatter overwrites the memory of its operand"):
        fd.fusion.print_kernel()
    with FusionDefinition() as fd:
        x = fd.define_tensor([8], contiguity=True)
        index = fd.define_tensor([4], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.scatter(fd.ops.set(x), index, 1.0, 0))
    with pytest.raises(UserError, match="A scatter needs global memory"):
        fd.fusion.print_kernel()
