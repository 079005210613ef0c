"""Tensors that are computed with their first consumer."""

import pytest
import torch
from hard_case import BX, SHARED, TX, TY, check, cuda_text, lowered, par, statements

from nvfuser_direct import (
    BinaryOp,
    DataType,
    ForLoop,
    FusionDefinition,
    KernelExecutor,
    LoadStoreOpType,
    LoopKind,
    UnaryOp,
    _core,
)


def softmax(columns=-1, memory_type=None):
    """A row of registers or shared memory that a maximum and a difference read."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, columns], contiguity=True)
        m = fd.ops.broadcast(fd.ops.max(x, [1]), [False, True])
        e = fd.ops.exp(fd.ops.sub(x, m))
        total = fd.ops.broadcast(fd.ops.sum(e, [1]), [False, True])
        y = fd.ops.div(e, total)
        fd.add_output(y)
        cached = x.cache_after()
        if memory_type is not None:
            cached.set_memory_type(memory_type)
        fd.sched.inline_most()
    return fd, cached


def test_a_row_is_loaded_in_the_loop_of_the_first_reduction(target):
    """Stored for the row, computed along with the maximum."""
    fd, cached = softmax(columns=77)
    with fd:
        assert cached.compute_at_position() == 1
        before = len([s for s in statements(lowered(fd.fusion)) if isinstance(s, ForLoop)])
        cached.compute_with(-1)
        assert (cached.compute_at_position(), cached.compute_with_position()) == (1, 2)
        assert str(cached).endswith("ca_pos( 1 ) compute_with( 2 )")
        for consumer in cached.consumers():
            assert consumer.maybe_max_producer_position() == 2
        (reduction,) = [t for t in cached.consumers() if t.has_reduction()]
        assert str(reduction).endswith("produce_pos( 1 ) maybe_produce_pos( 2 )")
    kernel = lowered(fd.fusion)
    loops = [s for s in statements(kernel) if isinstance(s, ForLoop)]
    assert len(loops) == before - 1
    inner = [loop for loop in loops if not any(isinstance(s, ForLoop) for s in loop.body)]
    (shared,) = [loop for loop in inner if any("max(" in str(s) for s in loop.body)]
    assert [s for s in shared.body if f"= Set( T{fd.fusion.inputs()[0].name()}_g" in str(s)]
    (tensor,) = [t for t in kernel.tensors() if t.compute_with_position() > 0]
    (first,) = tensor.compute_with_consumers()
    assert f"ca_pos( 1 ) compute_with( T{first.name()}, 2 )" in str(tensor)
    cuda_text(fd.fusion)
    check(fd, target, [((m, 77),) for m in (1, 3, 33)], lambda x: torch.softmax(x, 1), rtol=1e-6)


@pytest.mark.parametrize("memory_type", [None, SHARED])
def test_computing_with_a_parallel_reduction(target, memory_type):
    """The shared loop is the serial one of a reduction across threads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 101], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.sub(x, fd.ops.broadcast(s, [False, True]))
        fd.add_output(y)
        cached = x.cache_after()
        if memory_type is not None:
            cached.set_memory_type(memory_type)
        s.split(1, 32)
        partial = s.rfactor([1])
        fd.sched.transform_like(partial)
        par(partial, BX, None, TX)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
        assert cached.compute_at_position() == 1
        cached.compute_with(-1)
    text = cuda_text(fd.fusion)
    assert text.count("for (nvfuser_index_t") == 2
    check(fd, target, [((m, 101),) for m in (1, 3, 33)], lambda x: x - x.sum(1, keepdim=True))


def test_all_results_of_the_first_expression(target):
    """Welford's three."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 33], contiguity=True)
        a = fd.ops.neg(x)
        w = fd.ops.welford(a, [1])
        centered = fd.ops.sub(a, fd.ops.broadcast(w[0], [False, True]))
        fd.add_output(centered)
        par(centered, TX)
        fd.sched.parallelize_like(centered)
        fd.sched.inline_most()
        assert a.compute_at_position() == 1
        a.compute_with(-1)
    kernel = lowered(fd.fusion)
    (tensor,) = [t for t in kernel.tensors() if t.compute_with_position() > 0]
    assert len(tensor.compute_with_consumers()) == 3
    assert [t.definition().op_name() for t in tensor.compute_with_consumers()] == ["WelfordOp"] * 3
    cuda_text(fd.fusion)
    reference = lambda x: -x - (-x).mean(1, keepdim=True)  # noqa: E731
    check(fd, target, [((m, 33),) for m in (1, 3, 33)], reference, rtol=1e-6)


def test_consumers_are_protected_until_lowering():
    """Any of them may be the one."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        a = fd.ops.neg(x)
        t, u = fd.ops.exp(a), fd.ops.relu(a)
        fd.add_output(t)
        fd.add_output(u)
        a.compute_with(2)
        for consumer in (t, u):
            with pytest.raises(RuntimeError, match=r"within max producer position\. Axis = 0"):
                consumer.split(0, 2)
        with pytest.raises(RuntimeError, match="within compute at position"):
            a.merge(0)
        a.clear_compute_position()
        assert a.compute_with_position() == 0
        assert not t.is_inlined()
        t.split(0, 2)
        with pytest.raises(RuntimeError, match=r"Invalid inline position for T1: 2\. Maximum "):
            a.compute_with(2)
        a.compute_with(-1, best_effort=True)
        assert a.compute_with_position() == 0
        with pytest.raises(RuntimeError, match="Invalid inline position for T0: 1"):
            x.compute_with(1)


def test_deeper_inlining_replaces_it():
    """The first consumer also shares the loops that all consumers share."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        a = fd.ops.neg(x)
        y = fd.ops.exp(a)
        fd.add_output(y)
        a.compute_with(1)
        assert str(a).endswith("compute_with( 1 )")
        a.inline_at(2)
        assert a.compute_with_position() == 0
        a.compute_with(2)
        assert str(a).endswith("ca_pos( 2 )")
        assert str(y).endswith("produce_pos( 2 )")


@pytest.mark.parametrize("is_buffered_first", [True, False])
def test_not_with_circular_buffering(is_buffered_first):
    """A buffer is loaded ahead of all its readers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 8], contiguity=True)
        a = fd.ops.set(x)
        fd.add_output(fd.ops.exp(a))
        a.inline_at(1)
        steps = [lambda: a.circular_buffer(2), lambda: a.compute_with(2)]
        first, second = steps if is_buffered_first else reversed(steps)
        first()
        with pytest.raises(RuntimeError, match="A circular buffer cannot be computed with its"):
            second()


def test_a_clone_computes_with_the_same(target):
    fd, cached = softmax(columns=33)
    with fd:
        cached.compute_with(-1)
        copy = fd.fusion.clone()
    assert copy.print_math() == fd.fusion.print_math()


def test_several_tensors_and_their_producers(target):
    """Chains of tensors, each with its first consumer."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 40], contiguity=True)
        a = fd.ops.neg(x)
        b = fd.ops.relu(a)
        low, high = fd.ops.min(a, [1]), fd.ops.max(b, [1])
        span = fd.ops.broadcast(fd.ops.sub(high, low), [False, True])
        y = fd.ops.mul(fd.ops.add(a, b), span)
        fd.add_output(y)
        par(y, TY)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
        assert a.compute_at_position() == b.compute_at_position() == 1
        a.compute_with(-1)
        b.compute_with(-1)
    kernel = lowered(fd.fusion)
    loops = [
        s for s in statements(kernel) if isinstance(s, ForLoop) and s.loop_kind != LoopKind.Hardware
    ]
    assert any({UnaryOp, BinaryOp} <= {type(s) for s in statements(loop.body)} for loop in loops)
    cuda_text(fd.fusion)

    def reference(x):
        a = -x
        b = torch.relu(a)
        return (a + b) * (b.amax(1) - a.amin(1))[:, None]

    check(fd, target, [((m, 40),) for m in (1, 3, 33)], reference)


@pytest.mark.parametrize("op", [LoadStoreOpType.set, LoadStoreOpType.cp_async])
def test_threads_of_the_reader_alone_write_no_shared_memory(op):
    """Each would write all rows there; the tensor is computed before its reader."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([33, 8], contiguity=True, dtype=DataType.Int32)
        y = fd.ops.neg(fd.ops.repeat(x, [3, 1]))
        fd.add_output(y)
        row = x.cache_after(op)
        row.set_memory_type(SHARED)
        y.split(0, 16)
        fd.sched.transform_like(y)
        for tensor in (y, y.definition().input(0)):
            tensor.axis(1).parallelize(TX)
        row.compute_with(-1, True)
    given = torch.randint(-99, 99, (33, 8), dtype=torch.int32)

    def run():
        executor = KernelExecutor()
        executor.compile(fd.fusion, [given])
        return executor.run([given])

    (result,) = _core.call_with_options(run, ["kernel_debug"], [])
    assert torch.equal(result, -given.repeat(3, 1))
