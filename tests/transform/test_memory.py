"""set_memory_type, set_allocation_domain, set_loop_domain."""

from __future__ import annotations

import pytest
from loop_text import loops

from nvfuser_direct import DataType, FusionDefinition, MemoryType, UserError

GLOBAL = MemoryType.Global


@pytest.fixture
def tensors():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=True)
        t = fd.ops.neg(x)
        y = fd.ops.sum(t, [2])
        fd.add_output(y)
        yield x, t, y


def test_memory_of_inputs_and_outputs_is_global(tensors):
    x, t, y = tensors
    for tensor in (x, y):
        with pytest.raises(UserError, match="Tried to set an input or output to the fusion to a"):
            tensor.set_memory_type(MemoryType.shared)
        tensor.set_memory_type(GLOBAL)
    t.set_memory_type(MemoryType.shared)
    assert str(t).startswith("T1_s_float[")


def test_allocation_domain_may_be_the_loop_domain(tensors):
    _, t, y = tensors
    t.split(0, 4)
    t.set_allocation_domain(t.get_loop_domain(), True)
    assert t.get_allocation_domain() == t.get_loop_domain()
    assert t.get_contiguity() == [True, True, None, True]
    y.split(2, 8)
    y.set_allocation_domain(y.get_loop_domain(), False)
    assert y.get_contiguity() == [False, None, None, None]


def test_loop_domain_may_be_any_cover_of_the_logical_domain(tensors):
    """In both directions; size-1 broadcasts come and go."""
    _, t, _ = tensors
    t.split(0, 4).split(3, 2).merge(1, 3)
    scheduled = t.get_loop_domain()
    t.set_loop_domain(t.get_logical_domain())
    assert loops(t) == "ii0 b1 ii2"
    t.set_loop_domain([axis for axis in scheduled if not axis.is_broadcast()])
    assert len(t.get_loop_domain()) == 3


@pytest.mark.parametrize(
    ("positions", "fault"),
    [
        ([0, 1, 2], "S.* is not covered"),  # the last axis is missing
        ([0, 2, 3], "S.* is not covered"),  # half of the split
        ([0, 1, 1, 2, 3], "is given twice"),
    ],
)
@pytest.mark.parametrize("setter", ["set_loop_domain", "set_allocation_domain"])
def test_partial_and_double_covers_are_refused(tensors, positions, fault, setter):
    _, t, _ = tensors
    t.split(0, 4)
    axes = [t.axis(position) for position in positions]
    before = str(t)
    arguments = [axes] if setter == "set_loop_domain" else [axes, True]
    with pytest.raises(UserError, match=f"domain does not cover the logical domain.*{fault}"):
        getattr(t, setter)(*arguments)
    assert str(t) == before
    assert not t.has_allocation()


def test_an_axis_and_its_parts_overlap(tensors):
    _, t, _ = tensors
    whole = t.axis(0)
    t.split(0, 4)
    with pytest.raises(UserError, match="overlaps another axis"):
        t.set_loop_domain([whole, *t.get_loop_domain()])


def test_foreign_axes_are_refused(tensors):
    _, t, y = tensors
    with pytest.raises(UserError, match="is not reached from the logical domain"):
        t.set_loop_domain(y.get_loop_domain())


def test_loops_may_be_set_with_axes_that_broadcast_inserted(tensors):
    _, t, _ = tensors
    t.broadcast(1, 3)
    t.split(1, 2)
    outermost_last = [*t.get_loop_domain()[1:], t.axis(0)]
    t.set_loop_domain(outermost_last)
    assert t.get_loop_domain() == outermost_last
    with pytest.raises(UserError, match="is not covered"):
        t.set_loop_domain(outermost_last[1:])


def test_loops_of_a_scatter_cover_its_positions():
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 6])
        index = fd.define_tensor([2, 6], dtype=DataType.Int)
        y = fd.ops.scatter(fd.ops.neg(x), index, 3.0, 0)
        fd.add_output(y)
        positions, columns = y.get_loop_domain()
        y.split(0, 2)
        y.set_loop_domain([columns, positions])
        assert y.get_loop_domain() == [columns, positions]
        fault = r"does not cover the positions exactly: .*\{4\} is not reached from the"
        with pytest.raises(UserError, match=f"{fault} positions, or overlaps another axis"):
            y.set_loop_domain(y.get_logical_domain())
        y.set_allocation_domain(list(reversed(y.get_logical_domain())), True)
        with pytest.raises(UserError, match="The allocation domain does not cover the logical"):
            y.set_allocation_domain([columns, positions], True)


def test_reductions_have_loops_but_no_memory(tensors):
    _, _, y = tensors
    rows, one, _ = y.get_loop_domain()
    with pytest.raises(UserError, match="is not covered"):
        y.set_loop_domain([rows, one])
    y.set_allocation_domain([one, rows], True)
    assert y.get_contiguity() == [None, True]


def test_loop_domains_of_inlined_tensors_are_protected(tensors):
    _, t, y = tensors
    t.inline_at(1)
    for tensor in (t, y):
        with pytest.raises(UserError, match="Cannot set the loop domain of an inlined tensor"):
            tensor.set_loop_domain(tensor.get_loop_domain())
