"""cache_after, cache_before, cache_fork: copies between a tensor and its neighbors."""

from __future__ import annotations

import pytest
from loop_text import loops

from nvfuser_direct import (
    CacheOp,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    UserError,
)

GLOBAL = MemoryType.Global


def chain():
    """x -> y -> z"""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.neg(x)
        z = fd.ops.exp(y)
        fd.add_output(z)
    return fd, x, y, z


def test_cache_after_redirects_all_uses():
    fd, x, y, _ = chain()
    with fd:
        other = fd.ops.abs(x)
        fd.add_output(other)
        copy = x.cache_after()
        assert copy.producers() == [x]
        assert copy.consumers() == [y, other]
        assert x.consumers() == [copy]
        assert copy.memory_type() == MemoryType.local
        assert str(copy.definition()).endswith("cache_op=Streaming )\n")


def test_cache_after_of_some_uses():
    fd, x, y, _ = chain()
    with fd:
        other = fd.ops.abs(x)
        fd.add_output(other)
        copy = x.cache_after(cached_uses=[other.definition()])
        assert copy.consumers() == [other]
        assert x.consumers() == [y, copy]
        with pytest.raises(UserError, match="cached_uses is not among the use of the TensorView"):
            x.cache_after(cached_uses=[x.consumers()[0].uses()[0]])


def test_cache_after_replays_the_domain():
    fd, _, y, _ = chain()
    with fd:
        y.reorder({0: 1})
        y.set_allocation_domain(y.get_loop_domain(), True)
        y.split(0, 4)
        y.axis(1).parallelize(ParallelType.block_x)
        copy = y.cache_after()
        assert loops(copy) == loops(y) == "i(i1/4) i4.threadIdx.x ii0"
        logical = copy.get_logical_domain()
        assert copy.get_allocation_domain() == [logical[1], logical[0]]
        plain = y.cache_after(propagate_allocation_domain=False)
        assert loops(plain) == "ii0 ii1"
        assert not plain.has_allocation()


def test_cache_of_a_laid_out_input():
    """An NHWC input."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([2, 3, 4, 5], contiguity=True, stride_order=[3, 0, 2, 1])
        fd.add_output(fd.ops.neg(x))
        copy = x.cache_after()
        n, c, h, w = copy.get_logical_domain()
        assert copy.get_allocation_domain() == [n, h, w, c]


def test_cache_before_hands_the_schedule_to_the_producer():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        fd.add_output(s)
        s.split(1, 32)
        s.split(0, 4)
        scheduled = s.get_loop_domain()
        producer = s.cache_before()
        assert producer.get_loop_domain() == scheduled
        assert loops(s) == "i(i0/4) i4"
        assert s.producers() == [producer]
        assert fd.fusion.outputs() == [s]
        assert s.memory_type() == GLOBAL
        assert producer.memory_type() == MemoryType.local


def test_cache_before_keeps_the_layout_of_the_output():
    fd, _, _, z = chain()
    with fd:
        rows, columns = z.get_logical_domain()
        z.set_allocation_domain([columns, rows], False)
        producer = z.cache_before()
        rows, columns = z.get_logical_domain()
        assert z.get_allocation_domain() == [columns, rows]
        assert z.get_contiguity() == [False, False]
        rows, columns = producer.get_logical_domain()
        assert producer.get_allocation_domain() == [columns, rows]
        assert producer.get_contiguity() == [True, True]


def test_cache_fork_separates_an_output_from_its_uses():
    fd, _, y, z = chain()
    with fd:
        fd.add_output(y)
        output = y.cache_fork()
        assert fd.fusion.outputs() == [z, output]
        assert y.consumers() == [z, output]
        assert output.memory_type() == GLOBAL
        assert y.memory_type() == MemoryType.local
        with pytest.raises(UserError, match="must be an output with subsequent uses"):
            y.cache_fork()


def test_cache_fork_leaves_inputs_as_they_lie():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=[False])
        fd.add_output(fd.ops.neg(x))
        fd.add_output(x)
        x.cache_fork()
        assert x.get_contiguity() == [False]


def test_what_caching_refuses():
    fd, x, y, z = chain()
    with fd:
        with pytest.raises(UserError, match=r"Error adding cacheAfter T2.* no further uses"):
            z.cache_after()
        with pytest.raises(UserError, match=r"Error adding cacheBefore T0.* on an input"):
            x.cache_before()
        with pytest.raises(UserError, match=r"cp.async only takes .ca or .cg. as cache operator"):
            x.cache_after(LoadStoreOpType.cp_async, CacheOp.streaming)
        with pytest.raises(UserError, match=r"Only Set and CpAsync take a cache operator."):
            x.cache_after(LoadStoreOpType.load_matrix, CacheOp.all_levels)
        y.inline_at(1)
        for act in (y.cache_after, y.cache_before, z.cache_before):
            with pytest.raises(UserError, match="Caching computed-at tensors is not allowed"):
                act()
