"""Dynamic shapes and scalars."""

import pytest
import torch
from hard_case import BX, BY, SIZES, TX, Compiled, assert_same, check, numbers, par

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LaunchParams,
    UserError,
    _core,
)


def test_dynamic_reshape(target):
    """Types go through later reshapes, pads and reductions; patterns are shared."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        n = fd.define_scalar(DataType.Int)
        y = fd.ops.reshape(x, [n, -1])
        fd.add_output(fd.ops.sum(fd.ops.pad(y, [1, 1]), [1]))
        fd.add_output(fd.ops.reshape(fd.ops.neg(y), [-1, 1, n]))
    patterns = set()
    for sizes, rows in (((4, 6), 8), ((2, 12), 8), ((4, 6), 24), ((4, 6), 1), ((1, 5), 5)):
        x = numbers(*sizes, device=target)
        y = x.reshape(rows, -1)
        padded = torch.nn.functional.pad(y, (1, 1))
        assert_same(fd.execute([x, rows]), [padded.sum(1), -y.reshape(-1, 1, rows)])
        patterns.add(str(_core.find_concretization(fd.fusion, [x, rows])))
    assert len(patterns) == 3


def test_symbolic_expand(target):
    """An identity or an expansion; readers change accordingly."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.expand(x, [fd.define_scalar(DataType.Int)])
        fd.add_output(fd.ops.sum(y, [0]))
        fd.add_output(fd.ops.neg(y))
    for size, n in ((1, 7), (7, 7), (1, 1)):
        x = numbers(size, device=target)
        y = x.expand(n)
        assert_same(fd.execute([x, n]), [y.sum(0), -y])


def test_symbolic_size_is_no_broadcast(target):
    """A size of 1 where another tensor has 7 is a mismatch, found before the launch."""
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
    with FusionDefinition() as fd:
        v = fd.define_tensor([1], contiguity=[None])
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(v, x))
        fd.add_output(fd.ops.add(v, y))
    shapes = [((1,), (n,), (m,)) for m, n in ((1, 1), (3, 31), (33, 2))]
    check(fd, target, shapes, lambda v, x, y: (v + x, v + y))


def test_equal_extents_are_one_symbol(target):
    """A constant of one tensor holds for all that map."""
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
    """Not divisible unless proven; 0 is refused before the launch."""
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
    with pytest.raises(UserError, match="Integer division by zero detected"):
        executor.run([numbers(33, device=target), 0])


def test_one_kernel_for_many_sizes(target):
    """Only what was baked in keys the kernel."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(x, [1]))
    compiled = Compiled(fd)
    for m in SIZES[:6]:
        x = numbers(m, m + 1, device=target)
        assert_same(compiled(x), [x.sum(1)])


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_empty_tensors(target, shape):
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
    """As in C, for both signs."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.div(x, 3))
        fd.add_output(fd.ops.mod(x, 3))
    x = torch.arange(-7, 8, device=target)
    expected = torch.div(x, 3, rounding_mode="trunc"), torch.fmod(x, 3)
    assert_same(Compiled(fd)(x), expected)


def test_constants_are_weak(target):
    """A double constant does not widen a float tensor."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.mul(x, 0.1))
    x = torch.arange(33.0, device=target)
    (out,) = Compiled(fd)(x)
    assert out.dtype == torch.float32
    assert_same([out], [x * 0.1])


def test_scalar_inputs_are_computed_alike(target):
    """Host and device evaluate the same expression."""
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
    """User math keeps its type whatever the index type."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        size = fd.ops.cast(fd.ops.size(x, 0), DataType.Int)
        fd.add_output(fd.ops.add(x, fd.ops.mul(size, 1 << 33)))
    x = torch.arange(5, device=target)
    assert_same(Compiled(fd)(x), [x + 5 * (1 << 33)])


def test_iota_beyond_32_bits(target):
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.iota(fd.define_scalar(7), fd.define_scalar(1 << 33)))
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
    x = numbers(3, device=target)
    expected = torch.arange(7, device=target) + (1 << 33)
    assert_same(Compiled(fd)(x), [expected, -x])


def test_launch_constraint_that_contradicts(target):
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
    """The maximum is launched, the smaller axis is tested."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        t, u = fd.ops.neg(x), fd.ops.relu(y)
        for tensor in (t, u):
            fd.add_output(tensor)
            par(tensor, TX)
    shapes = [((n,), (m,)) for m, n in ((1, 1), (33, 127), (1000, 3), (5, 999))]
    check(fd, target, shapes, lambda x, y: (-x, torch.relu(y)))


@pytest.mark.parametrize(
    ("types", "dims"),
    [
        ((BX, TX), (-1, -1, -1, 256, -1, -1)),
        ((BX, TX), (20, -1, -1, 192, -1, -1)),
        ((TX, BX), (200, -1, -1, -1, -1, -1)),
        ((BX, TX), (-1, 3, -1, -1, 2, -1)),
    ],
)
def test_more_threads_than_an_axis_has(target, types, dims):
    """Fixed before compilation, so the axis is tested; unused dimensions have one owner."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, 128)
        par(t, *types)
    constraint = LaunchParams(*dims)
    executor = KernelExecutor()
    for n in (999, 128, 1):
        x = numbers(n, device=target)
        if not executor.is_compiled():
            executor.compile(fd.fusion, [x], constraint)
        assert_same(executor.run([x], constraint), [-x])
        launch = executor.last_launch()
        launched = (
            *(launch.gdimx, launch.gdimy, launch.gdimz),
            *(launch.bdimx, launch.bdimy, launch.bdimz),
        )
        assert all(have == want for have, want in zip(launched, dims, strict=True) if want > 0)


def test_more_threads_than_a_reduction_has(target):
    """Absent threads contribute the identity; the sum over blocks is that of its blocks."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.max(x, [1])
        fd.add_output(s)
        s.split(1, 32)
        s.split(1, 4, inner_split=False)
        partial = s.rfactor([2])
        fd.sched.transform_like(partial)
        par(partial, BY, BX, None, TX)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    constraint = LaunchParams(6, -1, 2, 96, 2, -1)
    executor = KernelExecutor()
    for m, n in ((3, 127), (1, 1), (2, 999)):
        x = -numbers(m, n, device=target).abs() - 1
        if not executor.is_compiled():
            executor.compile(fd.fusion, [x], constraint)
        assert_same(executor.run([x], constraint), [x.amax(1)])


def test_fewer_threads_than_an_axis_has(target):
    """The rebinding error, also before compilation."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, 128)
        par(t, BX, TX)
    executor = KernelExecutor()
    x = numbers(999, device=target)
    constraint = LaunchParams(-1, -1, -1, 64, -1, -1)
    executor.compile(fd.fusion, [x], constraint)
    text = "Tried to set bdimx from 64 to 128, but it was already set and new value does not match"
    with pytest.raises(RuntimeError, match=text):
        executor.run([x], constraint)


def test_a_larger_launch_of_code_that_tests_nothing(target):
    """The kernel was compiled for blocks as large as the axis."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, 128)
        par(t, BX, TX)
    executor = KernelExecutor()
    x = numbers(999, device=target)
    executor.compile(fd.fusion, [x])
    with pytest.raises(RuntimeError, match="Tried to set bdimx from 256 to 128"):
        executor.run([x], LaunchParams(-1, -1, -1, 256, -1, -1))
    with pytest.raises(RuntimeError, match="Tried to set gdimy from 2 to 1"):
        executor.run([x], LaunchParams(-1, 2, -1, -1, -1, -1))


def test_expanded_to_nothing(target):
    """An expanded axis of size 0 has no memory; nothing is read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4], contiguity=[None, True])
        fd.add_output(fd.ops.relu(x))
    row = torch.ones(1, 4, device=target)
    for n in (3, 0):
        assert_same(fd.execute([row.expand(n, 4)]), [row.expand(n, 4)])
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4], contiguity=[None, True])
        fd.add_output(fd.ops.relu(x))
        fd.add_output(fd.ops.sum(x, [0]))
    for n in (3, 0):
        values = row.expand(n, 4)
        assert_same(fd.execute([values]), [values, values.sum(0)])


@pytest.mark.parametrize("rows", [0, 3])
def test_surroundings_of_an_expanded_dimension_that_may_be_empty(target, rows):
    """`pad` tests whether its operand has an element there, and reads none otherwise."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4], contiguity=[None, True])
        fd.add_output(fd.ops.pad(x, [0, 0, 1, 2], 7.0))
    executor = KernelExecutor()
    values = numbers(1, 4, device=target).expand(rows, 4)
    executor.compile(fd.fusion, [values])
    expected = torch.nn.functional.pad(values, [0, 0, 1, 2], value=7.0)
    assert_same(executor.run([values]), [expected])


def test_an_element_of_an_empty_expanded_dimension_is_not_read(target):
    """An element that no test keeps from being read is refused, not read from nowhere."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 4], contiguity=[None, True])
        fd.add_output(fd.ops.sum(x, [0]))
    executor = KernelExecutor()
    row = numbers(1, 4, device=target)
    executor.compile(fd.fusion, [row.expand(3, 4)])
    assert_same(executor.run([row.expand(3, 4)]), [3 * row[0]])
    with pytest.raises(UserError, match="An expanded dimension of size 0 has no element"):
        executor.run([row.expand(0, 4)])


def test_an_open_reshape_is_refused_wherever_a_kernel_is_made():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.reshape(x, [4, -1]))
    texts = set()
    for make in (
        lambda: KernelExecutor().compile(fd.fusion, [torch.ones(4, 4)]),
        lambda: fd.fusion.lower(target="cpu"),
        lambda: fd.fusion.print_kernel(target="cpu"),
    ):
        with pytest.raises(UserError, match="a reshape that is not resolved yet") as error:
            make()
        texts.add(str(error.value))
    assert len(texts) == 1
