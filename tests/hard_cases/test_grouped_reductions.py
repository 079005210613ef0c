"""Reductions that share barriers, and blocks that take turns."""

import re

import pytest
import torch
from hard_case import (
    BX,
    BY,
    BZ,
    TX,
    TY,
    TZ,
    VECTORIZE,
    Compiled,
    assert_same,
    check,
    count,
    cuda_text,
    lowered,
    numbers,
    par,
    statements,
)

from nvfuser_direct import (
    BlockReduction,
    BlockSerializeRelease,
    BlockSerializeWait,
    DataType,
    FusionDefinition,
    GridReduction,
    GroupedReductionOp,
    MemoryType,
    ParallelType,
)

pytestmark = pytest.mark.sanitize

GROUP = ParallelType.group
MATRICES = [((m, n),) for m, n in ((1, 1), (3, 4), (2, 33), (31, 127), (32, 32), (5, 999))]


# -- members of one shape --


def rows_of_two(types, is_grouped_first, dtype=DataType.Float):
    """Sum and maximum of the rows of a matrix; [m, n] -> [m, n / 32, 32]."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=dtype)
        total = fd.ops.sum(x, [1])
        largest = fd.ops.max(x, [1])
        fd.add_output(total)
        fd.add_output(largest)
        members = [total, largest]
        if is_grouped_first:
            fd.sched.group_reductions(members)
        for member in members[:1] if is_grouped_first else members:
            member.split(1, 32)
        fd.sched.transform_like(total)
        if is_grouped_first:
            partials = total.rfactor([1], members)
        else:
            partials = [member.rfactor([1]) for member in members]
            fd.sched.group_reductions(members)
            fd.sched.group_reductions(partials)
        fd.sched.transform_like(partials[0])
        par(partials[0], *types)
        fd.sched.parallelize_like(partials[0])
        fd.sched.inline_most()
    return fd


@pytest.mark.parametrize("is_grouped_first", [True, False])
@pytest.mark.parametrize("types", [(BX, None, TX), (TY, None, TX), (TX, None, BX), (TX, None, BY)])
def test_members_share_one_barrier(target, types, is_grouped_first):
    """Grouping after `rfactor` and before it."""
    fd = rows_of_two(types, is_grouped_first)
    kind = GridReduction if types[2] in (BX, BY) else BlockReduction
    assert count(lowered(fd.fusion), kind) == 1
    cuda_text(fd.fusion)
    check(fd, target, MATRICES, lambda x: (x.sum(1), x.amax(1)))


def test_member_types_are_mixed(target):
    """Dtypes, operations and identities differ."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        wide = fd.ops.sum(fd.ops.cast(x, DataType.Double), [1])
        small = fd.ops.min(x, [1])
        number = fd.ops.sum(fd.ops.cast(x, DataType.Int), [1])
        for out in (wide, small, number):
            fd.add_output(out)
            par(out, BX, TX)
        fd.sched.parallelize_like(wide)
        fd.sched.inline_most()
        fd.sched.group_reductions([small, wide, number])
        assert wide.definition().outs == [small, wide, number]
        assert [op.name for op in wide.definition().ops] == ["Min", "Add", "Add"]
    text = cuda_text(fd.fusion)
    assert text.count("block_reduce_group<") == 1
    assert "GroupCombine<ReduceMin, ReduceAdd, ReduceAdd>" in text
    shapes = [((m, n),) for m, n in ((1, 1), (3, 33), (31, 127), (2, 1000))]
    compiled = Compiled(fd)
    for ((m, n),) in shapes:
        x = numbers(m, n, device=target)
        assert_same(compiled(x), [x.double().sum(1), x.amin(1), x.long().sum(1)])


def test_members_that_every_block_needs(target):
    """One barrier over blocks for both."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        total = fd.ops.sum(x, [1])
        largest = fd.ops.max(x, [1])
        fd.sched.group_reductions([total, largest])
        spread = fd.ops.mul(
            fd.ops.broadcast(total, [False, True]), fd.ops.broadcast(largest, [False, True])
        )
        y = fd.ops.sub(x, spread)
        fd.add_output(y)
        y.split(1, 8, inner_split=False)
        fd.sched.transform_like(y)
        partial = total.rfactor([2], [total, largest])[0]
        par(y, TX, BX)
        fd.sched.parallelize_like(y)
        par(partial, TX, BX)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    text = cuda_text(fd.fusion)
    assert text.count("grid_allreduce_group<") == 1
    shapes = [((m, n),) for m, n in ((1, 1), (3, 4), (2, 33), (31, 127))]
    check(
        fd,
        target,
        shapes,
        lambda x: x - x.sum(1, keepdim=True) * x.amax(1, keepdim=True),
    )


def test_a_group_without_threads(target):
    """There is nothing to share, and nothing changes."""
    fd = rows_of_two((BX, None, None), True)
    check(fd, target, MATRICES, lambda x: (x.sum(1), x.amax(1)))


def test_unlike_members_are_refused():
    """Dependent, or of another shape."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        largest = fd.ops.max(x, [1])
        total = fd.ops.sum(fd.ops.sub(x, fd.ops.broadcast(largest, [False, True])), [1])
        columns = fd.ops.sum(x, [0])
        other = fd.ops.sum(x, [1])
        bound = fd.ops.max(x, [1])
        plain = fd.ops.neg(x)
        for out in (total, columns, other, bound, plain):
            fd.add_output(out)
        with pytest.raises(RuntimeError, match="depend on each other cannot be grouped"):
            fd.sched.group_reductions([largest, total])
        with pytest.raises(RuntimeError, match="not alike"):
            fd.sched.group_reductions([largest, columns])
        with pytest.raises(RuntimeError, match="Only reductions can be grouped"):
            fd.sched.group_reductions([largest, plain])
        with pytest.raises(RuntimeError, match="given twice"):
            fd.sched.group_reductions([other, other])
        other.split(1, 4)
        with pytest.raises(RuntimeError, match="other transforms"):
            fd.sched.group_reductions([largest, other])
        bound.axis(0).parallelize(BX)
        with pytest.raises(RuntimeError, match="not alike"):
            fd.sched.group_reductions([largest, bound])


def test_grouping_after_inlining_may_be_too_late():
    """`a` stands in the loops of one member and of what depends on the other."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.neg(x)
        members = [fd.ops.sum(fd.ops.mul(a, x), [1]), fd.ops.sum(a, [1])]
        fd.add_output(fd.ops.sub(a, fd.ops.broadcast(members[0], [False, True])))
        fd.add_output(members[1])
        a.inline_at(2)
        with pytest.raises(RuntimeError, match="inlined deeper than a group of reductions allows"):
            fd.sched.group_reductions(members)
        assert not isinstance(members[0].definition(), GroupedReductionOp)
        fd.sched.reset_inlining(fd.fusion)
        fd.sched.group_reductions(members)
        assert isinstance(members[0].definition(), GroupedReductionOp)


def test_extents_must_be_provably_equal():
    """Equal by the math, or refused."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        a, b = fd.ops.sum(x, [1]), fd.ops.sum(y, [1])
        fd.add_output(a)
        fd.add_output(b)
        with pytest.raises(RuntimeError, match="may differ in size"):
            fd.sched.group_reductions([a, b])
        fd.add_output(fd.ops.add(x, y))
        fd.sched.group_reductions([a, b])
        assert isinstance(a.definition(), GroupedReductionOp)


def test_a_group_prints_its_members():
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        a, b = fd.ops.sum(x, [1]), fd.ops.max(x, [1])
        fd.add_output(a)
        fd.add_output(b)
        fd.sched.group_reductions([a, b])
    lines = str(a.definition()).splitlines()
    assert lines[0] == "GroupedReductionOp("
    assert lines[1].strip().startswith("T1_g_float[iS2{4}, rS3{8}] = reduction( T0_g_float[")
    assert lines[1].endswith("op = add, initial value = float(0) )")
    assert lines[3] == "allreduce = false )"


def test_groups_are_evaluated_and_scheduled(target):
    """By the fallback evaluator and by `execute`."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a, b = fd.ops.sum(x, [1]), fd.ops.max(x, [1])
        fd.add_output(a)
        fd.add_output(b)
        fd.sched.group_reductions([b, a])
    x = numbers(5, 33, device=target)
    assert_same(fd.validate([x]), [x.sum(1), x.amax(1)])


# -- the lanes of a grouped axis --


def columns_by_lanes(types, lanes=4, op="sum"):
    """Reduce the rows of a matrix, `lanes` columns with one call: [m, n / lanes, lanes]."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        loaded = fd.ops.set(x)
        out = getattr(fd.ops, op)(loaded, [0])
        fd.add_output(out)
        kept = out.cache_before()
        kept.split(1, lanes)
        kept.split(0, 16)
        kept.reorder({2: 0})
        partial = kept.rfactor([1])
        fd.sched.transform_like(partial)
        par(kept, *types)  # n / lanes, 16, lanes
        fd.sched.parallelize_like(kept)
        for tensor in (loaded, out):
            tensor.axis(-1).parallelize(VECTORIZE)
        kept.axis(-1).parallelize(GROUP)
        fd.sched.inline_most()
    return fd


VECTOR_SHAPES = [((m, n),) for m, n in ((1, 4), (3, 8), (16, 32), (33, 128), (100, 240))]


@pytest.mark.parametrize("types", [(BX, TX), (TX, TY), (TX, BY), (BX, BY)])
def test_lanes_share_one_barrier(target, types):
    """One call, whose arguments are arrays in registers."""
    fd = columns_by_lanes(types)
    kind = GridReduction if types[1] is BY else BlockReduction
    found = [s for s in statements(lowered(fd.fusion)) if isinstance(s, kind)]
    (reduction,) = found
    assert len(reduction.outs) == 4
    assert len({out.view().name() for out in reduction.outs}) == 1
    text = cuda_text(fd.fusion)
    assert len(re.findall(r"_reduce_group<", text)) == 1
    check(fd, target, VECTOR_SHAPES, lambda x: x.sum(0))


def test_lanes_of_several_members(target):
    """Two reductions of four lanes are eight values."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 40], contiguity=True)
        a, b = fd.ops.sum(x, [0]), fd.ops.min(x, [0])
        fd.add_output(a)
        fd.add_output(b)
        for out in (a, b):
            out.split(1, 4)
            par(out, TX, BX, GROUP)
        fd.sched.group_reductions([a, b])
    text = cuda_text(fd.fusion)
    assert text.count("block_reduce_group<") == 1
    check(fd, target, [((m, 40),) for m in (1, 33, 127)], lambda x: (x.sum(0), x.amin(0)))


@pytest.mark.parametrize("is_for_all", [False, True])
@pytest.mark.parametrize("threads", [None, TX, TY])
def test_triples_of_lanes_share_the_barrier_of_blocks(target, threads, is_for_all):
    """Means and deviations of columns, [n / 32, m / 12 (blocks), 3 (threads), 4, 8, 4]: one
    reduction over blocks, one over threads for each lane, and one more of the last block."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        loaded = fd.ops.set(x)
        mean, deviation, count_ = fd.ops.welford(loaded, [0])
        if is_for_all:
            fd.add_output(fd.ops.sub(loaded, fd.ops.broadcast(mean, [True, False])))
        else:
            fd.add_output(mean)
            fd.add_output(deviation)
        mean.split(1, 4)
        mean.split(1, 8)
        mean.split(0, 4)
        mean.split(0, 3)
        mean.reorder({3: 0})
        serial = [2, 3] if threads is None else [3]
        (partial, *_) = mean.rfactor(serial, [mean, deviation, count_])
        fd.sched.transform_like(partial)
        par(partial, BY, BX, threads, None, TZ, None)
        fd.sched.parallelize_like(partial)
        for result in (mean, deviation, count_):
            result.axis(-1).parallelize(GROUP)
        fd.sched.inline_most()
    found = list(statements(lowered(fd.fusion)))
    assert [len(s.outs) for s in found if isinstance(s, GridReduction)] == [12]
    assert [len(s.work_buffers) for s in found if isinstance(s, GridReduction)] == [1]
    of_block = [len(s.outs) for s in found if isinstance(s, BlockReduction)]
    assert of_block == [3] * 4 * (0 if threads is None else 1 if is_for_all else 2)
    assert "_welford_group<" in cuda_text(fd.fusion)
    compiled = Compiled(fd)
    for m, n in ((1, 4), (12, 32), (13, 8), (100, 96), (257, 60)):
        x = numbers(m, n, device=target)
        exact = x.double()
        if is_for_all:
            expected = [exact - exact.mean(0)]
        else:
            expected = [exact.mean(0), exact.var(0, correction=0) * m]
        for own, other in zip(compiled(x), expected, strict=True):
            torch.testing.assert_close(own.double(), other, rtol=1e-5, atol=1e-4)


def test_lanes_of_a_split_that_does_not_divide(target):
    """Lanes that are holes combine registers only."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        cached = fd.ops.set(x)
        out = fd.ops.sum(cached, [0])
        fd.add_output(out)
        out.split(1, 4)
        fd.sched.transform_like(out)
        par(out, TX, BX)
        fd.sched.parallelize_like(out)
        out.axis(-1).parallelize(GROUP)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    check(fd, target, [((m, n),) for m, n in ((1, 1), (33, 7), (64, 101))], lambda x: x.sum(0))
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        out = fd.ops.sum(x, [0])
        fd.add_output(out)
        out.split(1, 4)
        par(out, TX, BX, GROUP)
    with pytest.raises(RuntimeError, match="lanes of a grouped axis are not in range together"):
        fd.fusion.lower()


def test_grouped_axes_of_other_tensors_are_refused():
    """Only what a reduction keeps is grouped, and nothing is inlined into it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.axis(1).parallelize(GROUP)
    with pytest.raises(RuntimeError, match="Only an axis that a reduction keeps can be grouped"):
        fd.fusion.lower()
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        y = fd.ops.neg(x)
        s = fd.ops.sum(y, [0])
        fd.add_output(s)
        s.axis(1).parallelize(GROUP)
        s.reorder({1: 0})
        fd.sched.transform_like(s)
        fd.sched.inline_most()
        assert y.compute_at_position() == 0


def test_group_is_copied_to_reductions_only():
    """Like the other types that say what one instruction does."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        a, b = fd.ops.sum(x, [0]), fd.ops.max(x, [0])
        y = fd.ops.add(a, b)
        fd.add_output(y)
        par(a, TX, GROUP)
        fd.sched.parallelize_like(a)
        types = [axis.parallel_type() for tensor in (b, y) for axis in tensor.loop()]
        assert types == [TX, ParallelType.serial, ParallelType.serial]
        fd.sched.parallelize_like(a, selected_parallel_types={GROUP})
        assert b.axis(1).parallel_type() == GROUP
        assert y.axis(0).parallel_type() == ParallelType.serial


# -- entered again in a loop --


@pytest.mark.parametrize("is_grouped", [False, True])
@pytest.mark.parametrize("is_all_reduce", [False, True])
def test_grid_reductions_entered_again(target, is_grouped, is_all_reduce):
    """Lanes in a serial loop; every entrance has its own part of the buffers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        loaded = fd.ops.set(x)
        total = fd.ops.sum(loaded, [0])
        others = [fd.ops.max(loaded, [0])] if is_grouped else []
        members = [total, *others]
        if is_all_reduce:
            y = fd.ops.sub(x, fd.ops.broadcast(total, [True, False]))
            fd.add_output(y)
        for member in others if is_all_reduce else members:
            fd.add_output(member)
        if is_grouped:
            fd.sched.group_reductions(members)
        reference = y if is_all_reduce else total
        axis = reference.ndims() - 1
        reference.split(axis, 4)
        reference.split(axis, 8)
        reference.reorder({axis: 0})  # serial, rows, 8, 4
        fd.sched.transform_like(reference)
        par(reference, None, BX, TX)
        fd.sched.parallelize_like(reference)
        total.axis(-1).parallelize(GROUP)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    shapes = [((m, n),) for m, n in ((1, 4), (3, 64), (33, 128), (64, 160))]
    compiled = Compiled(fd)
    for ((m, n),) in shapes:
        x = numbers(m, n, device=target)
        expected = [x - x.sum(0)] if is_all_reduce else [x.sum(0)]
        expected += [x.amax(0)] if is_grouped else []
        for _ in range(2):  # counters are as they were
            assert_same(compiled(x), expected)


# -- blocks take turns --


def serial_sum(types=(BX, BZ), vector=4):
    """Columns over the blocks of z, `vector` elements of each thread in a loop."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        loaded = fd.ops.set(x)
        out = fd.ops.sum(loaded, [0])
        fd.add_output(out)
        out.split(1, vector)
        out.split(1, 32)
        out.split(0, 8, inner_split=False)
        partial = out.rfactor([1])
        fd.sched.transform_like(partial)
        out.definition().request_serial_grid_reduction()
        par(partial, BZ, None, BX, TX)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    return fd


def test_blocks_take_turns(target):
    """One wait and one release around the loop over the elements of a thread."""
    fd = serial_sum()
    kernel = lowered(fd.fusion)
    assert count(kernel, BlockSerializeWait) == count(kernel, BlockSerializeRelease) == 1
    assert not kernel.is_cooperative()
    text = cuda_text(fd.fusion)
    wait, reduce, release = (
        text.index(name)
        for name in ("block_serialize_wait<", "serial_grid_reduce<", "block_serialize_release<")
    )
    assert wait < text.index("for (", wait) < reduce < release
    shapes = [((m, n),) for m, n in ((1, 1), (3, 4), (33, 31), (64, 512), (100, 1000))]
    check(fd, target, shapes, lambda x: x.sum(0))


def test_turns_are_deterministic(target):
    """In the order of blocks, so bitwise equal; and the turns begin anew in each run."""
    compiled = Compiled(serial_sum())
    x = torch.randn(1000, 333, device=target)
    first = compiled(x)[0]
    torch.testing.assert_close(first, x.sum(0), rtol=1e-4, atol=1e-3)
    for _ in range(5):
        assert torch.equal(compiled(x)[0], first)


def test_serial_reduction_of_what_threads_reduced(target):
    """Columns of a block, and dependents in the last block."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.max(x, [1])
        y = fd.ops.mul(s, 2.0)
        fd.add_output(y)
        s.split(1, 64)
        s.split(1, 4, inner_split=False)
        partial = s.rfactor([2])
        s.definition().request_serial_grid_reduction()
        fd.sched.transform_like(partial)
        par(partial, TY, BX, None, TX)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    cuda_text(fd.fusion)
    check(fd, target, [((m, n),) for m, n in ((1, 1), (3, 65), (7, 999))], lambda x: 2 * x.amax(1))


def test_no_turns_where_all_blocks_wait():
    """A barrier over blocks in a section would never be passed."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.sub(x, fd.ops.broadcast(s, [False, True]))
        fd.add_output(y)
        s.definition().request_serial_grid_reduction()
        par(y, TX, BX)
        fd.sched.parallelize_like(y)
        s.inline_at(1)
    with pytest.raises(RuntimeError, match="result in the last block only"):
        fd.fusion.lower()


def test_no_turns_around_a_barrier_over_blocks():
    """The same on both targets, of which one has no turns."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=True)
        total = fd.ops.sum(x, [2])
        fd.add_output(fd.ops.neg(total))
        total.definition().request_serial_grid_reduction()
        total.set_memory_type(MemoryType.Global)
        par(total, None, BY, BX)
        total.inline_at(1)
    for name in ("cuda", "cpu"):
        with pytest.raises(RuntimeError, match="cannot take turns here"):
            fd.fusion.lower(target=name)
