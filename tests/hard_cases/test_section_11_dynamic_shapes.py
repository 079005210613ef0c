"""Hard cases, section 11: dynamic shapes and scalars, as far as reshapes are static."""

import pytest
import torch
from hard_case import BX, SIZES, TX, Compiled, assert_same, check, numbers, par

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, LaunchParams


def test_symbolic_size_is_no_broadcast(target):
    """11.02: a size of 1 where another tensor has 7 is a mismatch, found before the launch."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(x, y))
    compiled = Compiled(fd)
    x, y = numbers(7, device=target), numbers(7, device=target, seed=1)
    assert_same(compiled(x, y), [x + y])
    with pytest.raises(RuntimeError, match="Tried to bind to a"):
        compiled(numbers(1, device=target), y)


def test_broadcast_with_two_partners_in_separate_nests(target):
    """11.03"""
    with FusionDefinition() as fd:
        v = fd.define_tensor([1], contiguity=[None])
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(v, x))
        fd.add_output(fd.ops.add(v, y))
    shapes = [((1,), (n,), (m,)) for m, n in ((1, 1), (3, 31), (33, 2))]
    check(fd, target, shapes, lambda v, x, y: (v + x, v + y))


def test_equal_extents_are_one_symbol(target):
    """11.04: a constant of one tensor holds for all that map."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, 6], contiguity=True)
        t = fd.ops.add(fd.ops.set(x), y)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 3)
        fd.sched.transform_like(t)
        fd.sched.inline_at(t, 1)
    check(fd, target, [((m, 6), (m, 6)) for m in (1, 3, 33)], lambda x, y: x + y)


def test_symbolic_split_factor(target):
    """11.05: not divisible unless proven; 0 is refused before the launch."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        n = fd.define_scalar(DataType.Int)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, n)
        par(t, BX, TX)
    executor = KernelExecutor()
    for size in (1, 33, 999):
        for factor in (1, 3, 32, 100):
            x = numbers(size, device=target)
            if not executor.is_compiled():
                executor.compile(fd.fusion, [x, factor])
            assert_same(executor.run([x, factor]), [-x])
    with pytest.raises(RuntimeError):
        executor.run([numbers(33, device=target), 0])


def test_one_kernel_for_many_sizes(target):
    """11.06: only what was baked in keys the kernel."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
    compiled = Compiled(fd)
    for m in SIZES[:6]:
        x = numbers(m, m + 1, device=target)
        assert_same(compiled(x), [x.sum(1)])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_empty_tensors(target, shape):
    """11.09"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(shape), contiguity=True)
        last = len(shape) - 1
        fd.add_output(fd.ops.neg(x))
        fd.add_output(fd.ops.sum(x, [last]))
        fd.add_output(fd.ops.prod(x, [last]))
        fd.add_output(fd.ops.max(x, [last]))

    def reference(x):
        sizes = x.shape[:-1]
        largest = x.amax(-1) if x.shape[-1] else x.new_full(sizes, -torch.inf)
        return -x, x.sum(-1), x.prod(-1), largest

    check(fd, target, [(shape,)], reference)


def test_division_truncates(target):
    """11.10: as in C, for both signs."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.div(x, 3))
        fd.add_output(fd.ops.mod(x, 3))
    x = torch.arange(-7, 8, device=target)
    expected = torch.div(x, 3, rounding_mode="trunc"), torch.fmod(x, 3)
    assert_same(Compiled(fd)(x), expected)


def test_constants_are_weak(target):
    """11.10: a double constant does not widen a float tensor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.mul(x, 0.1))
    x = torch.arange(33.0, device=target)
    (out,) = Compiled(fd)(x)
    assert out.dtype == torch.float32
    assert_same([out], [x * 0.1])


def test_scalar_inputs_are_computed_alike(target):
    """11.10: host and device evaluate the same expression."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        n = fd.define_scalar(DataType.Int)
        shift = fd.ops.sub(fd.ops.div(n, 4), fd.ops.mod(n, 4))
        fd.add_output(fd.ops.add(x, shift))
    executor = KernelExecutor()
    x = torch.arange(5, device=target)
    executor.compile(fd.fusion, [x, 7])
    for n in (7, -7, 0, 1 << 40):
        shift = int(n / 4) - (n - 4 * int(n / 4))
        assert_same(executor.run([x, n]), [x + shift])


def test_sizes_as_data_are_64_bit(target):
    """11.11: user math keeps its type whatever the index type."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        size = fd.ops.cast(fd.ops.size(x, 0), DataType.Int)
        fd.add_output(fd.ops.add(x, fd.ops.mul(size, 1 << 33)))
    x = torch.arange(5, device=target)
    assert_same(Compiled(fd)(x), [x + 5 * (1 << 33)])


def test_iota_beyond_32_bits(target):
    """11.11"""
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.iota(fd.define_scalar(7), fd.define_scalar(1 << 33)))
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
    x = numbers(3, device=target)
    expected = torch.arange(7, device=target) + (1 << 33)
    assert_same(Compiled(fd)(x), [expected, -x])


def test_launch_constraint_that_contradicts(target):
    """11.14"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, 128)
        par(t, BX, TX)
    x = numbers(999, device=target)
    executor = KernelExecutor()
    constraint = LaunchParams(-1, -1, -1, 64, -1, -1)
    executor.compile(fd.fusion, [x])
    with pytest.raises(RuntimeError, match="Tried to set"):
        executor.run([x], constraint)


def test_symbolic_extents_of_one_thread_dim(target):
    """11.14: the maximum is launched, the smaller axis is tested."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        t, u = fd.ops.neg(x), fd.ops.relu(y)
        for tensor in (t, u):
            fd.add_output(tensor)
            par(tensor, TX)
    shapes = [((n,), (m,)) for m, n in ((1, 1), (33, 127), (1000, 3), (5, 999))]
    check(fd, target, shapes, lambda x, y: (-x, torch.relu(y)))
