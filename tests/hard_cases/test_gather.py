"""Positions that a tensor holds (and those of other sections about them)."""

from __future__ import annotations

import pytest
import torch
from hard_case import (
    BX,
    GLOBAL,
    SHARED,
    TX,
    TY,
    UNROLL,
    UNSWITCH,
    VECTORIZE,
    Compiled,
    assert_same,
    count,
    cuda_text,
    guarded,
    like,
    lowered,
    numbers,
    par,
)

from nvfuser_direct import (
    BlockSync,
    DataType,
    FusionDefinition,
    UserError,
)


def positions(*shape: int, below: int, device: str, seed: int = 0) -> torch.Tensor:
    """Random positions in [0, below), in a guarded buffer."""
    generator = torch.Generator().manual_seed(seed + sum(shape) * 31)
    values = torch.randint(0, max(below, 1), shape, generator=generator)
    return guarded(values.to(device))


def distinct_positions(
    *shape: int, below: int, dim: int, device: str, seed: int = 0
) -> torch.Tensor:
    """Positions of which no two are equal along `dim`."""
    generator = torch.Generator().manual_seed(seed + sum(shape) * 31)
    sizes = [*shape]
    sizes[dim] = below
    order = torch.rand(sizes, generator=generator).argsort(dim)
    return guarded(order.narrow(dim, 0, shape[dim]).contiguous().to(device))


def source(fd: FusionDefinition) -> str:
    """The CUDA kernel, which compiles."""
    text = cuda_text(fd.fusion)
    return text[text.index("__global__") :]


def run(fd: FusionDefinition, *inputs: torch.Tensor) -> list[torch.Tensor]:
    source(fd)
    return Compiled(fd)(*inputs)


# ---- reading ----------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 4, 32])
def test_take_along_axis_with_merged_axes(target, factor):
    """The index of one axis is loaded, the other follows from the loops."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        y = fd.ops.take_along_axis(x, index, 1)
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, factor)
        par(y, BX, TX)
    source(fd)
    compiled = Compiled(fd)
    for m, n, k in ((1, 1, 1), (3, 7, 2), (5, 31, 40), (33, 2, 127)):
        x = numbers(m, n, device=target)
        index = positions(m, k, below=n, device=target)
        assert_same(compiled(x, index), [torch.take_along_dim(x, index, 1)])


def test_run_of_the_operand_does_not_contain_the_indexed_axis(target):
    """The merged loop is no contiguous run of x, though x is contiguous."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 6], contiguity=True)
        index = fd.define_tensor([4, 6], contiguity=True, dtype=DataType.Int)
        t = fd.ops.add(fd.ops.take_along_axis(x, index, 1), x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 8)
        par(t, BX, TX)
        like(t)
        fd.sched.inline_most()
    x, index = numbers(4, 6, device=target), positions(4, 6, below=6, device=target)
    assert_same(run(fd, x, index), [torch.take_along_dim(x, index, 1) + x])


def test_operand_is_not_inlined_past_the_indexed_axis(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        cached = fd.ops.neg(x)
        y = fd.ops.take_along_axis(cached, index, 1)
        z = fd.ops.neg(y)
        fd.add_output(z)
        with pytest.raises(UserError, match="Maximum allowed value:1"):
            cached.inline_at(2)
        fd.sched.inline_most()
        assert cached.compute_at_position() == 1
        assert y.compute_at_position() == 2
        cached.set_memory_type(SHARED)
    source(fd)
    compiled = Compiled(fd)
    for m, n, k in ((1, 1, 1), (3, 7, 2), (5, 31, 40)):
        x = numbers(m, n, device=target)
        index = positions(m, k, below=n, device=target)
        assert_same(compiled(x, index), [torch.take_along_dim(x, index, 1)])


def test_inlining_stops_at_an_axis_merged_with_the_indexed_one(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        cached = fd.ops.neg(x)
        y = fd.ops.take_along_axis(cached, index, 1)
        fd.add_output(y)
        for t in (cached, y):
            t.merge(0, 1)
            t.split(0, 16)
        fd.sched.inline_most()
        assert cached.compute_at_position() == 0
        cached.set_memory_type(GLOBAL)
    x, index = numbers(5, 7, device=target), positions(5, 3, below=7, device=target)
    assert_same(run(fd, x, index), [-torch.take_along_dim(x, index, 1)])


@pytest.mark.parametrize("exact", [True, False])
def test_any_thread_may_read_any_element(target, exact):
    """A barrier, though another expression maps the axes of index and operand."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        index = fd.define_tensor([64], contiguity=True, dtype=DataType.Int)
        cached = fd.ops.set(x)
        read = fd.ops.take_along_axis if exact else fd.ops.gather
        y = fd.ops.add(read(cached, index, 0), cached)
        fd.add_output(y)
        cached.set_memory_type(SHARED)
        par(y, TX)
        fd.sched.parallelize_like(y)
        for t in fd.fusion.tensors():
            if t.definition() is not None:
                par(t, TX)
    assert count(lowered(fd.fusion), BlockSync) == 1
    x, index = numbers(64, device=target), positions(64, below=64, device=target)
    assert_same(run(fd, x, index), [x[index] + x])


def test_registers_of_other_threads_cannot_be_indexed():
    """An error that names the tensor and the way out."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        index = fd.define_tensor([64], contiguity=True, dtype=DataType.Int)
        y = fd.ops.take_along_axis(fd.ops.set(x), index, 0)
        fd.add_output(y)
        for t in fd.fusion.tensors():
            if t.definition() is not None:
                par(t, TX)
    with pytest.raises(UserError, match="read by other threads than those that computed it"):
        fd.fusion.print_kernel()


def test_a_loop_shared_by_another_way_does_not_make_registers_visible(target):
    """Operand and result are in one loop, by what is inlined in both."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        index = fd.define_tensor([64], contiguity=True, dtype=DataType.Int)
        cached = fd.ops.set(x)
        operand = fd.ops.neg(cached)
        y = fd.ops.sub(fd.ops.gather(operand, index, 0), fd.ops.abs(cached))
        fd.add_output(y)
        for t in fd.fusion.tensors():
            if t.definition() is not None:
                par(t, TX)
        fd.sched.inline_most()
        assert operand.compute_at_position() == 0
    with pytest.raises(UserError, match="read by other threads than those that computed it"):
        fd.fusion.print_kernel()
    operand.set_memory_type(SHARED)
    x, index = numbers(64, device=target), positions(64, below=64, device=target)
    assert_same(run(fd, x, index), [-x[index] - x.abs()])


def test_registers_of_the_reading_thread_can_be_indexed(target):
    """The thread owns all elements along the indexed axis."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 5], contiguity=True)
        index = fd.define_tensor([-1, 3], contiguity=True, dtype=DataType.Int)
        cached = fd.ops.set(x)
        y = fd.ops.take_along_axis(cached, index, 1)
        fd.add_output(y)
        for t in (cached, y):
            t.split(0, 32)
            par(t, BX, TX)
        cached.inline_at(2)
    source(fd)
    compiled = Compiled(fd)
    for m in (1, 31, 33, 100):
        x, index = numbers(m, 5, device=target), positions(m, 3, below=5, device=target)
        assert_same(compiled(x, index), [torch.take_along_dim(x, index, 1)])


@pytest.mark.parametrize("memory", [SHARED, GLOBAL])
def test_gather_of_an_intermediate_with_smaller_positions(target, memory):
    """Positions of smaller extents read only a corner."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        cached = fd.ops.neg(x)
        y = fd.ops.gather(cached, index, 1)
        fd.add_output(y)
        cached.set_memory_type(memory)
        cached.split(1, 8)
        y.split(1, 4)
        par(cached, None, None, TX)
        par(y, None, None, TX)
    assert count(lowered(fd.fusion), BlockSync) == 1
    source(fd)
    compiled = Compiled(fd)
    for (m, n), (p, q) in (((1, 1), (1, 1)), ((7, 9), (4, 30)), ((33, 5), (2, 3))):
        x, index = numbers(m, n, device=target), positions(p, q, below=n, device=target)
        assert_same(compiled(x, index), [-x.gather(1, index)])


def test_positions_of_larger_extents_are_refused(target):
    """Before the launch, since there is nothing to read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.gather(x, index, 1))
    with pytest.raises(UserError, match=r"Dimension 0 of T1.* is larger than that of T0"):
        Compiled(fd)(numbers(3, 4, device=target), positions(4, 4, below=4, device=target))


def test_positions_along_an_empty_dimension_are_refused(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.gather(x, index, 1))
    compiled = Compiled(fd)
    empty = torch.zeros(3, 0, device=target)
    with pytest.raises(UserError, match="has no element"):
        compiled(empty, positions(3, 2, below=1, device=target))
    none = torch.zeros(3, 0, dtype=torch.int64, device=target)
    assert compiled(empty, none)[0].shape == (3, 0)
    assert compiled(numbers(3, 4, device=target), none)[0].shape == (3, 0)


@pytest.mark.parametrize("dtype", [DataType.Int, DataType.Int32])
def test_positions_are_computed_under_the_predicate_of_their_reader(target, dtype):
    """The value in a hole is not used as an address."""
    torch_dtype = torch.int64 if dtype == DataType.Int else torch.int32
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=dtype)
        wrapped = fd.ops.sub(fd.ops.mul(index, index), 1)
        y = fd.ops.index_select(x, wrapped, 0)
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 128)
        y.split(0, 3)
        par(y, BX, None, TX)
        like(y)
        fd.sched.inline_most()
    source(fd)
    compiled = Compiled(fd)
    for m, n in ((1, 1), (3, 5), (4, 130)):
        x = numbers(20, n, device=target)
        index = guarded(torch.arange(1, m + 1, device=target).to(torch_dtype))
        assert_same(compiled(x, index), [x[index.long() ** 2 - 1]])


def test_positions_with_a_broadcast_axis(target):
    """The positions are repeated along an axis of the operand."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, 1], contiguity=[True, None], dtype=DataType.Int)
        y = fd.ops.take_along_axis(x, index, 0)
        fd.add_output(fd.ops.neg(y))
        fd.sched.inline_most()
    source(fd)
    compiled = Compiled(fd)
    for m, n, k in ((1, 1, 1), (5, 3, 7)):
        x, index = numbers(m, n, device=target), positions(k, 1, below=m, device=target)
        assert_same(compiled(x, index), [-x[index[:, 0]]])


@pytest.mark.parametrize("dim", [0, 1])
def test_index_select_with_shared_positions(target, dim):
    """Positions in shared memory, of one dimension in two."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        y = fd.ops.index_select(x, index, dim)
        fd.add_output(y)
        cached = index.cache_after()
        cached.set_memory_type(SHARED)
        par(cached, TX)
        par(y, None, TX)
        y.definition().input(1).inline_at(2)
    assert count(lowered(fd.fusion), BlockSync) == (1 if dim == 0 else 0)
    source(fd)
    compiled = Compiled(fd)
    for m, n, k in ((1, 1, 1), (5, 31, 7), (33, 2, 40)):
        x = numbers(m, n, device=target)
        index = positions(k, below=x.shape[dim], device=target)
        assert_same(compiled(x, index), [x.index_select(dim, index)])


@pytest.mark.parametrize("kind", ["index_select", "take_along_axis", "select"])
def test_lanes_along_an_axis_that_is_not_indexed(target, kind):
    """One position for all lanes, neighbours in memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        if kind == "index_select":
            index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
            y = fd.ops.index_select(x, index, 0)
        elif kind == "select":
            index = fd.define_scalar(dtype=DataType.Int)
            y = fd.ops.broadcast(fd.ops.select(x, index, 0), [True, False])
        else:
            index = fd.define_tensor([-1, 1], contiguity=[True, None], dtype=DataType.Int)
            y = fd.ops.take_along_axis(x, index, 0)
        out = fd.ops.set(y)
        fd.add_output(out)
        out.split(1, 4)
        out.split(1, 32)
        fd.sched.transform_like(out)
        rows = y if kind != "select" else y.definition().input(0)
        par(out, BX, None, TX)
        fd.sched.parallelize_like(out)
        out.axis(-1).parallelize(VECTORIZE)
        rows.axis(-1).parallelize(VECTORIZE)
        fd.sched.inline_most()
    assert "load_vector<4" in source(fd)
    compiled = Compiled(fd)
    for m, n, k in ((1, 4, 1), (5, 132, 7), (3, 512, 2)):
        x = guarded(numbers(m, n, device=target))
        index = positions(k, below=m, device=target)
        if kind == "select":
            assert_same(compiled(x, int(index[0])), [x[index[0]][None]])
        else:
            argument = index if kind == "index_select" else guarded(index[:, None].contiguous())
            assert_same(compiled(x, argument), [x[index]])
    with pytest.raises(UserError, match="divisible"):
        compiled(numbers(3, 6, device=target), 0 if kind == "select" else argument)


@pytest.mark.parametrize("kind", ["index_select", "take_along_axis", "gather"])
def test_lanes_along_the_indexed_axis_are_refused(kind):
    """Elements at four positions are no neighbours."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        if kind == "index_select":
            index = fd.define_tensor([64], contiguity=True, dtype=DataType.Int)
        else:
            index = fd.define_tensor([8, 64], contiguity=True, dtype=DataType.Int)
        y = getattr(fd.ops, kind)(x, index, 1)
        fd.add_output(y)
        y.split(1, 4)
        y.axis(-1).parallelize(VECTORIZE)
    with pytest.raises(UserError, match="vectorized"):
        fd.fusion.print_kernel()


def test_lanes_with_a_position_each_are_refused():
    """The lanes run along another axis, but have positions of their own."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 64], contiguity=True)
        index = fd.define_tensor([8, 64], contiguity=True, dtype=DataType.Int)
        y = fd.ops.take_along_axis(x, index, 0)
        fd.add_output(y)
        y.split(1, 4)
        y.axis(-1).parallelize(VECTORIZE)
    with pytest.raises(UserError, match="read at different positions"):
        fd.fusion.print_kernel()


@pytest.mark.parametrize("parallel_type", [UNROLL, UNSWITCH])
def test_positions_in_unswitched_loops(target, parallel_type):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Int)
        y = fd.ops.neg(fd.ops.take_along_axis(x, fd.ops.add(index, 1), 1))
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 64)
        y.split(0, 4)
        par(y, BX, parallel_type, TX)
        like(y)
        fd.sched.inline_most()
    source(fd)
    compiled = Compiled(fd)
    for m, n, k in ((1, 2, 1), (5, 31, 40), (33, 2, 127)):
        x = numbers(m, n, device=target)
        index = positions(m, k, below=n - 1, device=target)
        assert_same(compiled(x, index), [-torch.take_along_dim(x, index + 1, 1)])


def test_select_of_an_inlined_row(target):
    """The position is the same for all threads, the element is another thread's."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        cached = fd.ops.neg(x)
        row = fd.ops.select(cached, 1, 1)
        fd.add_output(row)
        fd.add_output(fd.ops.add(cached, fd.ops.broadcast(row, [False, True])))
        cached.set_memory_type(SHARED)
        for t in fd.fusion.tensors():
            if t.definition() is not None and t.ndims() == 2:
                par(t, BX, TX)
            elif t.definition() is not None:
                par(t, BX)
        fd.sched.inline_at(row, 1)
    assert count(lowered(fd.fusion), BlockSync) >= 1
    source(fd)
    compiled = Compiled(fd)
    for m, n in ((1, 2), (5, 31), (33, 3)):
        x = numbers(m, n, device=target)
        assert_same(compiled(x), [-x[:, 1], -x - x[:, 1:2]])


def test_reads_out_of_range_take_the_nearest_element(target):
    """No position leaves the memory of the operand."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.index_select(x, index, 0))
    x = numbers(5, device=target)
    index = torch.tensor([-1, 5, 1 << 40, -(1 << 40), (1 << 32) + 2, 2], device=target)
    assert_same(Compiled(fd)(x, index), [x[[0, 4, 4, 0, 4, 2]]])


def test_operand_and_positions_are_one_tensor(target):
    """A permutation applied to itself."""
    with FusionDefinition() as fd:
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.gather(index, index, 0))
        fd.sched.inline_most()
    index = distinct_positions(31, below=31, dim=0, device=target)
    assert_same(run(fd, index), [index[index]])


def test_gather_of_a_reduction(target):
    """The result of a reduction in a block is read at any position."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        total = fd.ops.sum(x, [1])
        y = fd.ops.index_select(total, index, 0)
        fd.add_output(y)
        total.set_memory_type(SHARED)
        par(total, TY, TX)
        par(y, TX)
    source(fd)
    compiled = Compiled(fd)
    for m, n, k in ((1, 1, 1), (5, 31, 40), (8, 3, 7)):
        x = numbers(m, n, device=target)
        index = positions(k, below=m, device=target)
        assert_same(compiled(x, index), [x.sum(1)[index]])
