"""Shared memory that several buffers use, and its banks."""

import os
import re
import subprocess
import sys

import pytest
import torch
from hard_case import BX, SHARED, TX, TY, Compiled, check, count, lowered, numbers, par

from nvfuser_direct import (
    Allocate,
    BlockReduction,
    BlockSync,
    FusionDefinition,
    MemoryType,
    ParallelType,
    UserError,
    _core,
)

pytestmark = pytest.mark.sanitize

TARGETS = ("cuda", "cpu")


def shared_bytes(kernel) -> int:
    """Dynamic shared memory of a kernel with constant sizes."""
    total = kernel.shared_bytes()
    return 0 if total is None else total.value()


def stages(
    num: int,
    extents=(-1, 64),
    *,
    swaps_threads: bool = True,
    is_inlined: bool = True,
    block=BX,
    dtypes=None,
):
    """x -> shared -> shared -> ... -> out, each stage reading what other threads wrote."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor(list(extents), contiguity=True)
        tensors = [x]
        for _ in range(num):
            tensors.append(fd.ops.add(tensors[-1], 1.0))
        fd.add_output(tensors[-1])
        for i, tensor in enumerate(tensors[1:]):
            tensor.split(1, 8)
            par(tensor, block, *((TX, TY) if i % 2 and swaps_threads else (TY, TX)))
        for tensor in tensors[1:-1]:
            tensor.set_memory_type(SHARED)
            if is_inlined:
                tensor.inline_at(1)
    return fd, tensors


def check_for_races(fd, shapes, reference) -> None:
    """Run on the CPU with every shared access checked."""
    _core.call_with_options(lambda: check(fd, "cpu", shapes, reference), ["kernel_debug"], [])


# -- after the last read, across a barrier --


@pytest.mark.parametrize("kind", TARGETS)
def test_every_second_stage_takes_the_memory_of_the_first(kind):
    """Stage i is read while stage i + 1 is written; two buffers serve all."""
    fd, _ = stages(6)
    kernel = lowered(fd.fusion, kind)
    assert count(kernel, Allocate) >= 5
    assert count(kernel, BlockSync) == 5
    assert shared_bytes(kernel) == 2 * 64 * 4


def test_stages_in_shared_memory(target):
    fd, _ = stages(6)
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: x + 6)


def test_stages_do_not_race():
    """The check knows bytes, not only buffers."""
    fd, _ = stages(6)
    check_for_races(fd, [((m, 64),) for m in (1, 33)], lambda x: x + 6)


def without_barriers(*, promotes: bool, num: int = 5, block=BX):
    """Every thread reads what it wrote itself: there is no barrier to overlay across."""
    fd, tensors = stages(num, swaps_threads=False, block=block)
    with fd:
        if promotes:
            for tensor in tensors[1:-1]:
                tensor.promote_reuse()
    return fd


@pytest.mark.parametrize("kind", TARGETS)
def test_no_reuse_without_a_barrier(kind):
    """Another thread may still read."""
    kernel = lowered(without_barriers(promotes=False).fusion, kind)
    assert count(kernel, BlockSync) == 0
    assert shared_bytes(kernel) == 4 * 64 * 4


@pytest.mark.parametrize("kind", TARGETS)
def test_promote_reuse_adds_the_barrier(kind):
    """One between the last use of a stage and the stage after the next."""
    kernel = lowered(without_barriers(promotes=True).fusion, kind)
    assert count(kernel, BlockSync) == 2
    assert shared_bytes(kernel) == 2 * 64 * 4


def test_promoted_stages(target):
    fd = without_barriers(promotes=True)
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: x + 5)


@pytest.mark.parametrize("block", [BX, None])
def test_promoted_stages_do_not_race(block):
    """Also where the stages stand in a serial loop."""
    fd = without_barriers(promotes=True, block=block)
    check_for_races(fd, [((m, 64),) for m in (1, 3, 33)], lambda x: x + 5)


def other_threads() -> FusionDefinition:
    """Bytes of the first buffer belong to other threads when the second one takes them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        y = fd.define_tensor([64, 2], contiguity=True)
        a, b = fd.ops.set(x), fd.ops.set(y)
        t, u = fd.ops.neg(a), fd.ops.neg(b)
        fd.add_output(t)
        fd.add_output(u)
        a.set_memory_type(SHARED)
        b.set_memory_type(SHARED)
        a.promote_reuse()
        for tensor in (a, b, t, u):
            par(tensor, TX)
    return fd


LOST = """
import sys
sys.path[:] = {path!r}
from hard_case import Compiled, numbers
from test_memory_reuse import other_threads
try:
    Compiled(other_threads())(numbers(64, device="cpu"), numbers(64, 2, device="cpu"))
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("has_barriers", [True, False])
def test_a_lost_barrier_between_overlaid_buffers_is_found(has_barriers, tmp_path):
    """Threads race on bytes that two buffers share."""
    assert shared_bytes(lowered(other_threads().fusion)) == 64 * 2 * 4
    compiled = Compiled(other_threads())
    inputs = [numbers(64, device="cpu"), numbers(64, 2, device="cpu")]
    _core.call_with_options(lambda: compiled(*inputs), ["kernel_debug"], [])
    source = compiled.executor.kernel_source()
    file = tmp_path / "kernel.cpp"
    assert "race.barrier();" in source
    file.write_text(source if has_barriers else source.replace("race.barrier();", ""))
    done = subprocess.run(
        [sys.executable, "-c", LOST.format(path=sys.path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "NVFUSER_EXTERNAL_SRC": str(file)},
    )
    assert ("Threads race on shared memory" in done.stdout) == (not has_barriers)


def test_promote_reuse_is_for_shared_memory():
    with FusionDefinition() as fd:
        x = fd.define_tensor([4], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(fd.ops.neg(y))
        with pytest.raises(RuntimeError, match="promote_reuse is for tensors in shared memory"):
            y.promote_reuse()
        y.set_memory_type(MemoryType.shared)
        assert y.promote_reuse() is y
        y.promote_reuse(flag=False)
    assert lowered(fd.fusion).shared_bytes().value() == 16


@pytest.mark.parametrize("kind", TARGETS)
def test_small_buffers_find_room_in_a_large_one(kind):
    """Sizes need not be equal."""
    kernel = lowered(large_then_small().fusion, kind)
    assert shared_bytes(kernel) == 1024 * 4


def large_then_small() -> FusionDefinition:
    """A large buffer is dead when two small ones are alive together."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1024], contiguity=True)
        v = fd.define_tensor([256], contiguity=True)
        w = fd.define_tensor([256], contiguity=True)
        a = fd.ops.set(x)
        big = fd.ops.neg(a)
        b, c = fd.ops.set(v), fd.ops.set(w)
        small = fd.ops.add(b, c)
        fd.add_output(big)
        fd.add_output(small)
        for tensor in (a, b, c):
            tensor.set_memory_type(SHARED)
        a.promote_reuse()
        for tensor in (a, b, c, big, small):
            tensor.split(0, 64)
            par(tensor, None, TX)
    return fd


def test_large_then_small(target):

    def reference(x, v, w):
        return -x, v + w

    check(large_then_small(), target, [((1024,), (256,), (256,))], reference)
    if target == "cpu":
        check_for_races(large_then_small(), [((1024,), (256,), (256,))], reference)


# -- a life extends over the loops that the buffer outlives --


def read_in_a_loop() -> FusionDefinition:
    """`a` is written before a loop that reads it; `c` is written and read in the loop."""
    with FusionDefinition() as fd:
        v = fd.define_tensor([64], contiguity=True)
        x = fd.define_tensor([-1, 64], contiguity=True)
        a = fd.ops.set(v)
        b = fd.ops.broadcast(a, [True, False])
        d = fd.ops.add(b, x)
        c = fd.ops.set(d)
        t = fd.ops.neg(c)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        c.set_memory_type(SHARED)
        a.split(0, 8)
        par(a, TY, TX)
        for tensor in (b, d, c, t):
            tensor.split(1, 8)
        for tensor in (b, d, c):
            par(tensor, None, TX, TY)
            tensor.inline_at(1)
        par(t, None, TY, TX)
    return fd


@pytest.mark.parametrize("kind", TARGETS)
def test_what_a_loop_reads_lives_through_it(kind):
    assert shared_bytes(lowered(read_in_a_loop().fusion, kind)) == 2 * 64 * 4


def test_read_in_a_loop(target):
    check(read_in_a_loop(), target, [((64,), (m, 64)) for m in (1, 3, 33)], lambda v, x: -(v + x))


@pytest.mark.parametrize("kind", TARGETS)
def test_stages_in_a_serial_loop(kind):
    """Around the loop, the first stage waits for the last one's readers."""
    fd, _ = stages(6, block=None)
    kernel = lowered(fd.fusion, kind)
    assert shared_bytes(kernel) < 5 * 64 * 4


def test_stages_in_a_serial_loop_run(target):
    fd, _ = stages(6, block=None)
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: x + 6)
    if target == "cpu":
        check_for_races(fd, [((m, 64),) for m in (1, 3, 33)], lambda x: x + 6)


# -- the scratch of reductions --


def softmax_like(columns: int) -> FusionDefinition:
    """Two reductions over a block; the row is kept in shared memory between them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True)
        row = fd.ops.set(x)
        m = fd.ops.max(row, [1])
        d = fd.ops.sub(row, fd.ops.broadcast(m, [False, True]))
        s = fd.ops.sum(d, [1])
        kept = fd.ops.set(d)
        y = fd.ops.add(kept, fd.ops.broadcast(s, [False, True]))
        fd.add_output(y)
        row.set_memory_type(SHARED)
        kept.set_memory_type(SHARED)
        par(y, BX, TX)
        fd.sched.parallelize_like(y)
        fd.sched.inline_at(y, 1)
    return fd


@pytest.mark.parametrize("kind", TARGETS)
def test_scratch_is_shared_and_overlays(kind):
    """A reduction contains the barrier that separates the two rows."""
    kernel = lowered(softmax_like(128).fusion, kind)
    assert count(kernel, BlockReduction) == 2
    assert shared_bytes(kernel) <= 3 * 128 * 4


def test_scratch_of_reductions(target):

    def reference(x):
        d = x - x.amax(1, keepdim=True)
        return d + d.sum(1, keepdim=True)

    shapes = [((m, 128),) for m in (1, 3, 33)]
    check(softmax_like(128), target, shapes, reference)
    if target == "cpu":
        check_for_races(softmax_like(128), shapes, reference)


def around_a_reduction(threads: int) -> FusionDefinition:
    """One row is dead when a reduction ends, another one is alive from then on."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4 * threads], contiguity=True)
        a = fd.ops.set(x)
        s = fd.ops.sum(a, [1])
        b = fd.ops.add(x, fd.ops.broadcast(s, [False, True]))
        c = fd.ops.set(b)
        out = fd.ops.neg(c)
        fd.add_output(out)
        a.set_memory_type(SHARED)
        c.set_memory_type(SHARED)
        out.split(1, threads)
        fd.sched.transform_like(out)
        s.rfactor([1])
        par(out, BX, None, TX)
        fd.sched.parallelize_like(out)
        fd.sched.inline_at(out, 1)
    return fd


@pytest.mark.parametrize("kind", TARGETS)
def test_a_reduction_separates_buffers(kind):
    """Its own barrier is one to overlay across; lanes of a single warp need none."""
    row = 4 * 128 * 4
    assert shared_bytes(lowered(around_a_reduction(128).fusion, kind)) == row + 128 * 4
    assert shared_bytes(lowered(around_a_reduction(32).fusion, kind)) == 2 * (4 * 32 * 4)


@pytest.mark.parametrize("threads", [32, 128])
def test_around_a_reduction(target, threads):

    def reference(x):
        return -(x + x.sum(1, keepdim=True))

    check(around_a_reduction(threads), target, [((3, 4 * threads),)], reference)
    if target == "cpu":
        check_for_races(around_a_reduction(threads), [((3, 4 * threads),)], reference)


# -- sizes that are known at launch --


def dynamic_stages(num: int = 4) -> FusionDefinition:
    """Stages of a size that is a symbol."""
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([-1], contiguity=True)]
        for _ in range(num):
            tensors.append(fd.ops.add(tensors[-1], 1.0))
        fd.add_output(tensors[-1])
        for tensor in tensors[1:-1]:
            tensor.set_memory_type(SHARED)
        for i, tensor in enumerate(tensors[1:]):
            tensor.split(0, 8 if i % 2 else 16)
            par(tensor, None, TX)
    return fd


def test_equal_symbols_overlay(target):
    """Whatever the size is."""
    fd = dynamic_stages()
    text = lowered(fd.fusion).shared_bytes().to_inline_string()
    assert text.count("i0") <= 2
    check(fd, target, [((n,),) for n in (1, 33, 127, 1000)], lambda x: x + 4)
    if target == "cpu":
        check_for_races(fd, [((n,),) for n in (1, 33, 1000)], lambda x: x + 4)


def test_different_symbols_overlay_by_their_maximum(target):
    """The smaller lies in the larger, whichever that is."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        a, b = fd.ops.set(x), fd.ops.set(y)
        t, u = fd.ops.neg(a), fd.ops.relu(b)
        fd.add_output(t)
        fd.add_output(u)
        a.set_memory_type(SHARED)
        b.set_memory_type(SHARED)
        a.promote_reuse()
        for tensor in (t, u):
            par(tensor, TX)
    kernel = lowered(fd.fusion)
    assert re.search(r"\b(f?max)\b", kernel.shared_bytes().to_inline_string())
    shapes = [((n,), (k,)) for n, k in ((1, 1), (33, 5), (127, 129), (1000, 999))]
    check(fd, target, shapes, lambda x, y: (-x, torch.relu(y)))
    if target == "cpu":
        check_for_races(fd, shapes, lambda x, y: (-x, torch.relu(y)))


# -- banks --


def transpose(padding: int = 0, *, is_swizzled: bool = False, width: int = 1):
    """A 32 x 32 transpose through shared memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        t = fd.ops.permute(x, [1, 0])
        fd.add_output(t)
        a = x.cache_after()
        a.set_memory_type(SHARED)
        if padding:
            a.split(1, 32 + padding)
            a.set_allocation_domain(a.get_loop_domain(), True)
            a.merge(1, 2)
            a.split(1, 32)
            a.axis(2).parallelize(TX)
        elif is_swizzled:
            a.swizzle(0, 1)
            a.set_allocation_domain(a.get_loop_domain(), True)
            a.axis(1).parallelize(TX)
        elif width > 1:
            a.split(1, width)
            par(a, None, TX, ParallelType.vectorize)
        else:
            a.axis(1).parallelize(TX)
        t.axis(1).parallelize(TX)
    return fd


def ways(fd, **sizes) -> dict[str, int]:
    """Ways of the write and the read of the only shared tensor."""
    found = lowered(fd.fusion).bank_conflicts(sizes=sizes)
    return {"write" if c.is_write else "read": c.ways for c in found}


def test_transpose_without_padding_has_all_conflicts():
    """A column of 32 words lies in one bank."""
    assert ways(transpose()) == {"write": 1, "read": 32}


def test_xor_swizzle_has_no_conflicts():
    assert ways(transpose(is_swizzled=True)) == {"write": 1, "read": 1}


def test_padding_has_no_conflicts(target):
    assert ways(transpose(padding=1)) == {"write": 1, "read": 1}
    check(transpose(padding=1), target, [((32, 32),)], lambda x: x.t())


def strided(stride: int, dtype, *, vector: int = 1) -> FusionDefinition:
    """32 threads write `vector` elements each, `stride` elements apart."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, stride], contiguity=True, dtype=dtype)
        a = fd.ops.set(x)
        t = fd.ops.set(a)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        for tensor in (a, t):
            tensor.split(1, vector)
            par(tensor, TX)
        if vector > 1:
            a.axis(2).parallelize(ParallelType.vectorize)
            t.axis(2).parallelize(ParallelType.vectorize)
    return fd


@pytest.mark.parametrize(
    ("stride", "dtype", "vector", "expected"),
    [
        (1, "Float", 1, 1),
        (2, "Float", 1, 2),
        (3, "Float", 1, 1),
        (4, "Float", 1, 4),
        (32, "Float", 1, 32),
        (1, "Half", 1, 1),  # two threads share a word
        (2, "Half", 1, 1),
        (4, "Half", 1, 2),
        (1, "Double", 1, 1),  # phases of 16 threads
        (2, "Double", 1, 2),
        (4, "Float", 4, 1),  # phases of 8 threads
        (8, "Float", 4, 2),
        (64, "Float", 4, 8),
        (2, "Float", 2, 1),
        (8, "Half", 8, 1),
    ],
)
def test_strides_and_vectors(stride, dtype, vector, expected):
    """Non-unit strides, and the phases of wide accesses."""
    from nvfuser_direct import DataType

    found = lowered(strided(stride, getattr(DataType, dtype), vector=vector).fusion)
    conflicts = found.bank_conflicts()
    assert {c.ways for c in conflicts} == {expected}
    assert {c.is_write for c in conflicts} == {True, False}


def test_sizes_come_from_inputs_or_by_name():
    """Sizes that indices depend on."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, -1], contiguity=True)
        a = fd.ops.set(x)
        fd.add_output(fd.ops.neg(a))
        a.set_memory_type(SHARED)
        for tensor in (a, fd.fusion.outputs()[0]):
            par(tensor, TX)
    kernel = lowered(fd.fusion)
    assert [c.ways for c in kernel.bank_conflicts([torch.randn(32, 8)])] == [8, 8]
    name = x.axis(1).extent().to_inline_string()
    assert [c.ways for c in kernel.bank_conflicts(sizes={name: 5})] == [1, 1]
    with pytest.raises(UserError, match="is not known"):
        kernel.bank_conflicts()


DUMP = """
import sys
sys.path[:] = {path!r}
from hard_case import Compiled, numbers
from test_memory_reuse import transpose
Compiled(transpose())(numbers(32, 32, device="cpu"))
"""


def test_the_dump_prints_conflicts():
    """NVFUSER_DUMP=bank_conflict"""
    script = DUMP.format(path=sys.path)
    environment = {**os.environ, "NVFUSER_DUMP": "bank_conflict"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=environment,
    )
    assert "is read, 4 bytes a thread, 32 ways: " in done.stdout
    assert "is written, 4 bytes a thread, no conflict: " in done.stdout
