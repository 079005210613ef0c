"""Thread and block axes as loops.

Most of these schedules are also legal on a GPU, and run there too: the point is that both agree.
"""

import os
import subprocess
import sys
import threading

import pytest
import torch
from hard_case import (
    BX,
    BY,
    GLOBAL,
    SHARED,
    SIZES,
    TX,
    TY,
    VECTORIZE,
    Compiled,
    assert_same,
    check,
    like,
    numbers,
    par,
)

from nvfuser_direct import DataType, FusionDefinition


def test_barrier_inside_a_thread_loop(target):
    """The thread axis stands outside of a serial loop that needs all threads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, -1], contiguity=True)
        a = fd.ops.set(x)
        a.set_memory_type(SHARED)
        t = fd.ops.neg(a)
        fd.add_output(t)
        for tensor in (a, t):
            tensor.split(0, 8)
            tensor.reorder({2: 0})
        par(a, None, TY, TX)
        par(t, None, TX, TY)
        a.inline_at(1)
    check(fd, target, [((64, n),) for n in (1, 3, 33)], lambda x: -x)


def test_registers_across_regions(target):
    """A register that lives across a barrier exists once per thread."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.define_tensor([-1, 64], contiguity=True)
        r = fd.ops.mul(y, 2.0)
        a = fd.ops.set(x)
        a.set_memory_type(SHARED)
        turned = fd.ops.neg(a)
        t = fd.ops.add(turned, r)
        fd.add_output(t)
        for tensor in (r, a, turned, t):
            tensor.split(1, 8)
        for tensor in (r, turned, t):
            par(tensor, BX, TY, TX)
        par(a, BX, TX, TY)
        for tensor in (r, a):
            tensor.inline_at(1)
        turned.inline_at(3)
    check(fd, target, [((m, 64), (m, 64)) for m in (1, 3, 33)], lambda x, y: -x + 2 * y)


def test_accumulators_across_barriers(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        a = fd.ops.set(x)
        a.set_memory_type(SHARED)
        s = fd.ops.sum(a, [0])
        fd.add_output(s)
        for tensor in (a, s):
            tensor.split(1, 8)
        par(a, None, TX, TY)
        par(s, None, TY, TX)
        a.inline_at(1)
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: x.sum(0))


def test_unused_thread_dims_run_once(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        total = fd.ops.sum(x, [0])
        y = fd.ops.add(z, fd.ops.broadcast(total, [True]))
        fd.add_output(y)
        par(y, TX)
        total.set_memory_type(SHARED)
    shapes = [((n,), (m,)) for m, n in ((1, 1), (33, 127), (129, 3))]
    check(fd, target, shapes, lambda x, z: z + x.sum())


def test_oversubscription(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        a = fd.ops.set(x)
        a.set_memory_type(SHARED)
        t, u = fd.ops.neg(a), fd.ops.relu(z)
        for tensor in (t, u):
            fd.add_output(tensor)
        for tensor in (a, t, u):
            par(tensor, TX)
    shapes = [((n,), (m,)) for m, n in ((1, 1), (33, 127), (129, 3), (1000, 999))]
    check(fd, target, shapes, lambda x, z: (-x, torch.relu(z)))


@pytest.mark.parametrize("is_all_reduced", [False, True])
def test_block_reduction_is_a_region(target, is_all_reduced):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 37], contiguity=True)
        s = fd.ops.sum(x, [1])
        broadcast = fd.ops.broadcast(s, [False, True]) if is_all_reduced else None
        y = fd.ops.mul(x, broadcast) if is_all_reduced else fd.ops.neg(s)
        fd.add_output(y)
        par(y, BX, *([TX] if is_all_reduced else []))
        like(y)
        par(s, BX, TX)
        fd.sched.inline_most()

    def reference(x):
        return x * x.sum(1, keepdim=True) if is_all_reduced else -x.sum(1)

    check(fd, target, [((m, 37),) for m in (1, 3, 33)], reference)


def test_grid_reduction_in_the_parallel_loop(target):
    """Combined in block order, whatever the workers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [0])
        fd.add_output(s)
        s.split(0, 32)
        s.split(0, 64, inner_split=False)
        partial = s.rfactor([1])
        par(partial, BX, None, TX)
        par(s, BX, TX)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    for n in SIZES:
        x = numbers(n, device=target)
        assert_same(compiled(x), [x.sum()])
    x = torch.randn(100_003, device=target)
    first = compiled(x)[0]
    assert all(torch.equal(compiled(x)[0], first) for _ in range(5))


def test_phases_between_grid_barriers(target):
    """Registers and shared memory live on across a grid barrier."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        a = fd.ops.set(x)
        kept = fd.ops.set(x)
        kept.set_memory_type(SHARED)
        total = fd.ops.sum(a, [0, 1])
        both = fd.ops.broadcast(total, [True, True])
        y = fd.ops.add(fd.ops.add(a, kept), both)
        fd.add_output(y)
        y.split(1, 8)
        fd.sched.transform_like(y)
        par(y, BX, TX, TY)
        fd.sched.parallelize_like(y)
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: 2 * x + x.sum())


def test_which_loop_is_parallel(target):
    """Several grid axes, one of them reduced."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [0])
        fd.add_output(s)
        other = fd.ops.neg(z)
        fd.add_output(other)
        par(s, BX, BY)
        par(other, BY)
    shapes = [((m, n), (k,)) for m, n, k in ((1, 1, 1), (3, 4, 9), (33, 31, 2))]
    check(fd, target, shapes, lambda x, z: (x.sum(0), -z))


def test_shared_buffer_is_of_the_block(target):
    """Values that another block left there do not matter."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 33], contiguity=True)
        s = fd.ops.sum(x, [1])
        s.set_memory_type(SHARED)
        y = fd.ops.neg(s)
        fd.add_output(y)
        for tensor in (s, y):
            tensor.split(0, 4)
            par(tensor, BX)
        s.inline_at(1)
    check(fd, target, [((m, 33),) for m in (1, 3, 33, 129)], lambda x: -x.sum(1))


def test_reads_at_the_end_of_an_allocation(target):
    """No byte outside of it is touched; NaN guards show what is used."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(fd.ops.exp(x), [0])
        fd.add_output(s)
        loaded = x.cache_after()
        s.split(0, 4)
        s.split(0, 32)
        partial = s.rfactor([0, 2])
        fd.sched.transform_like(partial)
        par(partial, None, TX)
        fd.sched.parallelize_like(partial)
        loaded.axis(-1).parallelize(VECTORIZE)
        fd.sched.inline_most()
    check(fd, target, [((4 * k,),) for k in (1, 3, 33, 250)], lambda x: x.exp().sum(), rtol=1e-5)


def test_integer_traps(target):
    """The lowest number by -1, shifts by the width and more."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        y = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.div(x, y))
        fd.add_output(fd.ops.mod(x, y))
        fd.add_output(fd.ops.bitwise_left_shift(x, y))
    lowest = torch.iinfo(torch.int64).min
    x = torch.tensor([lowest, 5, 7], device=target)
    y = torch.tensor([-1, 64, 1], device=target)
    quotient, remainder, _ = Compiled(fd)(x, y)
    assert quotient[1:].tolist() == [0, 7]
    assert remainder.tolist()[1:] == [5, 0]


def test_nan_and_infinity(target):
    """No fast-math."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.sub(x, x))
        fd.add_output(fd.ops.isnan(x))
        fd.add_output(fd.ops.maximum(x, 0.0) if hasattr(fd.ops, "maximum") else fd.ops.relu(x))
    x = torch.tensor([1.0, torch.inf, -torch.inf, torch.nan, -0.0], device=target)
    difference, is_nan, _ = Compiled(fd)(x)
    assert_same([difference, is_nan], [x - x, x.isnan()])


def test_memory_for_expansion(target):
    """1024 threads with 64 floats each, alive across a barrier."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1024, 64], contiguity=True)
        a = fd.ops.mul(x, 2.0)
        s = fd.ops.sum(x, [1, 2])
        y = fd.ops.add(a, fd.ops.broadcast(s, [False, True, True]))
        fd.add_output(y)
        par(y, BX, TX)
        like(y)
        par(s, BX, TX)
        a.inline_at(1)
    check(fd, target, [((2, 1024, 64),)], lambda x: 2 * x + x.sum((1, 2), keepdim=True))


def test_uniform_values_are_not_hoisted_too_far(target):
    """Index parts of threads stay within the threads' loop."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, -1], contiguity=[False, False, True])
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 8)
        par(t, BX, TX)
    shapes = [(s,) for s in ((1, 1, 1), (2, 3, 4), (5, 31, 3))]
    check(fd, target, shapes, lambda x: -x)


def test_several_python_threads():
    """Executors called at once."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        par(t, BX, TX)
    compiled = Compiled(fd)
    compiled(torch.ones(2, 2))
    failures = []

    def work(seed):
        for i in range(20):
            x = numbers(17 + seed, 5 + i, device="cpu", seed=seed)
            if not torch.equal(compiled(x)[0], -x):
                failures.append((seed, i))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


SCRIPT = """
import torch
from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType as P
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    s = fd.ops.sum(x, [0, 1])
    y = fd.ops.sub(x, fd.ops.broadcast(s, [True, True]))
    fd.add_output(y)
    y.axis(0).parallelize(P.grid_x)
    y.axis(1).parallelize(P.block_x)
    fd.sched.transform_like(y)
    fd.sched.parallelize_like(y)
x = torch.sin(torch.arange(40 * 30.0)).reshape(40, 30)
ke = KernelExecutor()
ke.compile(fd.fusion, [x])
print(ke.run([x])[0].double().abs().sum().item().hex())
"""


def test_results_do_not_depend_on_the_number_of_workers():
    """One worker, two, and more than there are cores."""
    results = set()
    for workers in ("1", "2", "16"):
        environment = {**os.environ, "NVFUSER_NUM_THREADS": workers}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], check=True, capture_output=True, env=environment
        )
        results.add(done.stdout)
    assert len(results) == 1


def test_global_intermediate_of_blocks(target):
    """Each phase is one loop over blocks."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        a = fd.ops.add(x, 1.0)
        a.set_memory_type(GLOBAL)
        t = fd.ops.permute(a, [1, 0])
        fd.add_output(t)
        for tensor in (a, t):
            par(tensor, BX, TX)
    shapes = [((m, n),) for m, n in ((1, 1), (3, 4), (33, 31))]
    check(fd, target, shapes, lambda x: x.t() + 1)
