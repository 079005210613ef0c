"""Unswitched loops: range tests in front of them, and the branch for the rest."""

import pytest
import torch.nn.functional as F
from hard_case import (
    BX,
    PAIRS,
    SHARED,
    SIZES,
    TX,
    UNROLL,
    UNSWITCH,
    check,
    like,
    lowered,
    par,
    statements,
)

from nvfuser_direct import FusionDefinition, IfThenElse


@pytest.mark.parametrize("parallel_type", [UNROLL, UNSWITCH])
def test_hoisted_predicates_of_every_axis_inside(target, parallel_type):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.neg(fd.ops.set(x))
        fd.add_output(t)
        t.split(1, 3)
        t.split(0, 2)
        t.reorder({1: 2})
        par(t, None, None, parallel_type)
        like(t)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: -x)


def test_else_branch_is_omitted_where_nothing_iterates(target):
    """One visit by each thread needs no second body."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, 128)
        t.split(0, 1)
        par(t, BX, UNSWITCH, TX)
    kernel = lowered(fd.fusion)
    assert not any(isinstance(s, IfThenElse) and s.else_body for s in statements(kernel))
    check(fd, target, [((n,),) for n in SIZES], lambda x: -x)


def test_else_branch_stays_where_statements_differ_in_their_tests(target):
    """The surroundings of a pad are stored where there is nothing to load."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.pad(fd.ops.set(x), [1, 1], 7.0)
        z = fd.ops.set(y)
        fd.add_output(z)
        z.split(0, 128)
        z.split(0, 1)
        fd.sched.transform_like(z)
        fd.sched.inline_most()
        par(z, BX, UNSWITCH, TX)
    check(fd, target, [((n,),) for n in SIZES], lambda x: F.pad(x, [1, 1], value=7.0))


def test_else_branch_stays_where_a_loop_iterates(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, 4)
        t.split(0, 1)
        par(t, BX, UNSWITCH)
    check(fd, target, [((n,),) for n in SIZES], lambda x: -x)


def test_barrier_inside_an_unswitched_loop(target):
    """No barrier under a condition that threads decide differently."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.neg(s)
        fd.add_output(y)
        s.split(1, 32)
        s.split(0, 2)
        partial = s.rfactor([2])
        y.split(0, 2)
        par(partial, BX, UNSWITCH, None, TX)
        par(s, BX, UNSWITCH, TX)
        par(y, BX, UNSWITCH)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: -x.sum(1))


def test_thread_predicate_inside_unswitch(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.add(s, 1.0)
        fd.add_output(y)
        y.split(0, 4)
        y.split(0, 1)
        fd.sched.transform_like(y)
        par(y, BX, UNSWITCH)
        fd.sched.parallelize_like(y)
        s.axis(3).parallelize(TX)
        s.inline_at(1)
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.sum(1) + 1)


@pytest.mark.parametrize("memory_type", [None, SHARED])
def test_allocation_inside_both_branches(target, memory_type):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        a = fd.ops.set(x)
        if memory_type is not None:
            a.set_memory_type(memory_type)
        t = fd.ops.neg(a)
        fd.add_output(t)
        t.split(0, 4)
        t.split(0, 2)
        fd.sched.transform_like(t)
        par(t, BX, UNSWITCH)
        fd.sched.parallelize_like(t)
        a.inline_at(2)
    check(fd, target, [((n,),) for n in SIZES], lambda x: -x)


def test_nested_unroll_does_not_multiply_branches(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(fd.ops.set(x))
        fd.add_output(t)
        t.split(0, 32)
        t.split(0, 2)
        t.split(0, 1)
        t.split(0, 2)
        par(t, BX, UNROLL, UNSWITCH, UNROLL, TX)
        like(t)
        fd.sched.inline_most()
    kernel = lowered(fd.fusion)
    # One for each of the two loops over the same axes, which are nests of their own.
    assert sum(isinstance(s, IfThenElse) and bool(s.else_body) for s in statements(kernel)) <= 2
    check(fd, target, [((n,),) for n in SIZES], lambda x: -x)
