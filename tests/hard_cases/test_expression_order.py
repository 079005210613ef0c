"""Expression sorting; a wrong order shows as a wrong value."""

import subprocess
import sys

import torch
from hard_case import SHARED, SIZES, check, lowered, statements

from nvfuser_direct import ForLoop, FusionDefinition, LoopKind


def serial_loops(fusion):
    """Number of loops that the kernel prints."""
    kernel = lowered(fusion)
    return sum(
        isinstance(s, ForLoop) and s.loop_kind != LoopKind.Hardware for s in statements(kernel)
    )


def test_interleaving_breaks_a_nest(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        x2 = fd.define_tensor([-1], contiguity=True)
        a, d = fd.ops.set(x), fd.ops.set(x2)
        t, u = fd.ops.neg(a), fd.ops.relu(d)
        fd.add_output(t)
        fd.add_output(u)
        d.set_memory_type(SHARED)
        a.inline_at(1)
    assert serial_loops(fd.fusion) == 3
    check(fd, target, [((n,), (33,)) for n in SIZES], lambda x, y: (-x, torch.relu(y)))


def test_depth_order_among_producers(target):
    """The producer with the shallower position first."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, 5], contiguity=True)
        y = fd.define_tensor([-1, -1, 5], contiguity=True)
        p, q = fd.ops.neg(x), fd.ops.relu(y)
        t = fd.ops.add(p, q)
        fd.add_output(t)
        p.inline_at(2)
        q.inline_at(3)
    shapes = [((i, j, 5), (i, j, 5)) for i, j in ((1, 1), (3, 4), (31, 2))]
    check(fd, target, shapes, lambda x, y: torch.relu(y) - x)


def test_depth_order_among_producers_swapped(target):
    """Independent of the order of definition."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1, 5], contiguity=True)
        y = fd.define_tensor([-1, -1, 5], contiguity=True)
        q, p = fd.ops.relu(y), fd.ops.neg(x)
        t = fd.ops.add(q, p)
        fd.add_output(t)
        p.inline_at(2)
        q.inline_at(3)
    shapes = [((i, j, 5), (i, j, 5)) for i, j in ((1, 1), (3, 4), (31, 2))]
    check(fd, target, shapes, lambda x, y: torch.relu(y) - x)


def test_merging_two_groups_may_create_a_cycle(target):
    """P and q may share a loop only if r stands in it or before it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 7], contiguity=True)
        p = fd.ops.neg(x)
        r = fd.ops.relu(p)
        q = fd.ops.add(p, r)
        fd.add_output(q)
        r.inline_at(1)
        p.inline_at(1)
    check(fd, target, [((n, 7),) for n in (1, 3, 33)], lambda x: -x + torch.relu(-x))


def test_zero_dim_tensors_tie_things_together(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([9], contiguity=True)
        w = fd.define_tensor([], contiguity=True)
        a = fd.ops.neg(x)
        s = fd.ops.sum(a, [0])
        z = fd.ops.mul(fd.ops.add(w, 1.0), 2.0)
        o1 = fd.ops.add(s, z)
        o2 = fd.ops.add(a, fd.ops.broadcast(z, [True]))
        fd.add_output(o1)
        fd.add_output(o2)
        fd.sched.inline_most()

    def reference(x, w):
        return -x.sum() + (w + 1) * 2, -x + (w + 1) * 2

    check(fd, target, [((9,), ())], reference)


def test_outputs_with_uses_and_independent_parts(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        o1 = fd.ops.neg(fd.ops.set(x))
        o2 = fd.ops.add(o1, 1.0)
        o3 = fd.ops.relu(fd.ops.set(y))
        for out in (o1, o3, o2):
            fd.add_output(out)
        fd.sched.inline_most()
    shapes = [((n,), (m, n)) for m, n in ((1, 1), (3, 4), (5, 33))]
    check(fd, target, shapes, lambda x, y: (-x, torch.relu(y), 1 - x))


def test_loop_dependency_is_global(target):
    """No tensor has all three loops, yet their order is one."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([3], contiguity=True)
        y = fd.define_tensor([3, 4], contiguity=True)
        z = fd.define_tensor([3, 4, 5], contiguity=True)
        t0 = fd.ops.neg(x)
        t1 = fd.ops.add(fd.ops.broadcast(t0, [False, True]), y)
        t2 = fd.ops.add(fd.ops.broadcast(t1, [False, False, True]), z)
        fd.add_output(t2)
        fd.sched.inline_most()
    check(
        fd,
        target,
        [((3,), (3, 4), (3, 4, 5))],
        lambda x, y, z: -x[:, None, None] + y[:, :, None] + z,
    )


def test_siblings_used_at_different_depths(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        mean, squares, n = fd.ops.welford(x, [1])
        centred = fd.ops.sub(x, fd.ops.broadcast(mean, [False, True]))
        fd.add_output(centred)
        fd.add_output(fd.ops.mul(squares, 2.0))
        fd.add_output(n)
        fd.sched.inline_most()

    def reference(x):
        mean = x.mean(1, keepdim=True)
        return (
            x - mean,
            ((x - mean) ** 2).sum(1) * 2,
            torch.full(x.shape[:1], x.shape[1], device=x.device),
        )

    check(fd, target, [((m, n),) for m, n in ((1, 1), (3, 31), (33, 5))], reference, rtol=1e-6)


def test_dead_expressions_are_dropped(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        fd.ops.exp(fd.ops.neg(y))
        fd.add_output(fd.ops.neg(x))
        fd.sched.inline_most()
    assert "exp(" not in fd.fusion.print_kernel(target=target)
    check(fd, target, [((5,), (7,))], lambda x, y: -x)


SCRIPT = """
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    xs = [fd.define_tensor([-1, 5], contiguity=True) for _ in range(4)]
    sums = [fd.ops.sum(fd.ops.neg(x), [1]) for x in xs]
    for s in reversed(sums):
        fd.add_output(fd.ops.relu(s))
    fd.sched.inline_most()
print(fd.fusion.print_kernel(target="cuda"), fd.fusion.print_kernel(target="cpu"))
"""


def test_determinism_across_processes():
    texts = [
        subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True).stdout
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    assert texts[0].strip()
