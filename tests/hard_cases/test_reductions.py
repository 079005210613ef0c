"""Reductions."""

import math

import pytest
import torch
from hard_case import (
    BX,
    BY,
    GLOBAL,
    PAIRS,
    SHARED,
    SIZES,
    TX,
    TY,
    TZ,
    Compiled,
    assert_same,
    check,
    cuda_text,
    like,
    numbers,
    par,
    reduced_1d,
)

from nvfuser_direct import DataType, FusionDefinition

pytestmark = pytest.mark.sanitize


# -- identities and accumulation --


@pytest.mark.parametrize("op", ["max", "min"])
def test_nan_wins(target, op):
    """NaN in any position, for each tree shape."""
    compiled = Compiled(reduced_1d(op))
    for n, position in ((1, 0), (33, 0), (33, 32), (999, 500)):
        x = numbers(n, device=target)
        x[position] = math.nan
        assert compiled(x)[0].isnan()


@pytest.mark.parametrize("op", ["max", "min"])
def test_infinities(target, op):
    """The identities are infinite, not the largest finite numbers."""
    compiled = Compiled(reduced_1d(op))
    for n in (1, 33, 999):
        fill = -math.inf if op == "max" else math.inf
        x = torch.full((n,), fill, device=target)
        assert_same(compiled(x), [x[0]])


def test_half_is_accumulated_in_float(target):
    """Rounded once, at the end."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=DataType.Half)
        s = fd.ops.sum(fd.ops.cast(x, DataType.Float), [0])
        fd.add_output(fd.ops.cast(s, DataType.Half))
        s.split(0, 32)
        s.rfactor([0])
        s.axis(0).parallelize(TX)
        like(s)
        fd.sched.inline_most()
    x = torch.ones(6000, device=target, dtype=torch.float16)
    assert_same(Compiled(fd)(x), [x.float().sum().half()])


@pytest.mark.parametrize(
    ("dtype", "torch_dtype"), [(DataType.Int, torch.int64), (DataType.Int32, torch.int32)]
)
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min"])
def test_integer_reductions(target, dtype, torch_dtype, op):
    compiled = Compiled(reduced_1d(op, dtype))
    for n in (1, 33, 127):
        x = (torch.arange(n, device=target) * 7 % 5 - 6).to(torch_dtype)
        x = x.sign() if op == "prod" else x
        expected = {"sum": x.sum, "prod": x.prod, "max": x.amax, "min": x.amin}[op]()
        assert_same(compiled(x), [expected])


def test_bool_sum_is_promoted(target):
    compiled = Compiled(reduced_1d("sum", DataType.Bool))
    x = torch.arange(999, device=target) % 3 == 0
    (out,) = compiled(x)
    assert out.dtype == torch.int64
    assert out.item() == 333


@pytest.mark.parametrize("types", [(BX, None, TX), (TY, None, TX), (None, BX, TX)])
def test_complex_sums(target, types):
    compiled = Compiled(reduced_1d("sum", DataType.ComplexFloat, types))
    for n in (1, 33, 999):
        x = torch.complex(numbers(n, device=target), numbers(n, device=target, seed=1))
        assert_same(compiled(x), [x.sum()])


@pytest.mark.parametrize("types", [(BX, None, TX), (TY, None, TX), (BX, TX, None)])
def test_welford_merges_empty_sets(target, types):
    """Threads and blocks without elements count nothing."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        mean, squares, n = fd.ops.welford(x, [0])
        for out in (mean, squares, n):
            fd.add_output(out)
        mean.split(0, 32)
        mean.split(0, 4, inner_split=False)
        axis = types.index(None)
        (partial, *_) = mean.rfactor([axis], [mean, squares, n])
        par(partial, *types)
        par(mean, *[t for i, t in enumerate(types) if i != axis])
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()

    def reference(x):
        return x.mean(), x.var(correction=0) * x.numel(), torch.tensor(x.numel(), device=x.device)

    check(fd, target, [((n,),) for n in SIZES], reference, rtol=1e-5)


@pytest.mark.parametrize(
    ("types", "is_rfactored"),
    [
        ((BX, TY, None, TX), False),
        ((BX, None, TX, None), False),
        ((BX, TY, None, TX), True),
        ((BX, None, TX, None), True),
        ((None, BX, None, TX), True),  # over blocks a serial axis has to be factored out
    ],
)
def test_welford_of_narrow_floats(target, types, is_rfactored):
    """Float from the first element to the last step; a reader gets the rounded mean."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Half)
        mean, squares, n = fd.ops.welford(x, [1])
        fd.add_output(fd.ops.mul(mean, 2.0))
        fd.add_output(mean)
        fd.add_output(fd.ops.mul(squares, 1.0))
        fd.add_output(n)
        mean.split(1, 32)
        mean.split(1, 4, inner_split=False)
        partial = mean
        if is_rfactored:
            axis = types.index(None, 1)
            (partial, *_) = mean.rfactor([axis], [mean, squares, n])
            par(mean, *[t for i, t in enumerate(types) if i != axis])
        par(partial, *types)
        fd.sched.parallelize_like(partial)
        fd.sched.parallelize_like(mean)
        fd.sched.inline_most()

    def reference(x):
        mean = x.mean(1).half()
        count = torch.full((x.shape[0],), x.shape[1], device=x.device)
        return 2 * mean.float(), mean, x.var(1, correction=0) * x.shape[1], count

    cuda_text(fd.fusion)
    shapes = [((m, n),) for m, n in PAIRS if n > 1]
    check(fd, target, shapes, reference, rtol=2e-3, dtype=torch.float16)


# -- cases --


def test_mixed_axes_without_rfactor(target):
    """Each block reduction is combined into the accumulator."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        fd.add_output(s)
        s.split(1, 32)
        par(s, BX, None, TX)
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.sum(1))


@pytest.mark.parametrize(
    "types",
    [(TX, TY, TZ), (TY, TX, TZ), (TZ, TX, TY), (TX, TZ, TY)],
    ids=lambda types: "-".join(str(t).split(".")[-1] for t in types),
)
@pytest.mark.parametrize("axes", [[0], [1], [0, 2], [1, 2], [0, 1, 2]])
def test_several_thread_dims(target, types, axes):
    """Segments, sizes that are no powers of two."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([5, 3, 7], contiguity=True)
        s = fd.ops.sum(x, axes)
        fd.add_output(s)
        par(s, *types)
    check(fd, target, [((5, 3, 7),)], lambda x: x.sum(axes))


def test_unused_thread_dims(target):
    """One thread of an unused dimension contributes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        z = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(x, [0])
        other = fd.ops.neg(z)
        fd.add_output(s)
        fd.add_output(other)
        s.split(0, 4, inner_split=False)
        s.rfactor([1]).axis(0).parallelize(BX)
        par(s, BX)
        par(other, TX)
    shapes = [((n,), (64,)) for n in (1, 3, 33, 999)]
    check(fd, target, shapes, lambda x, z: (x.sum(), -z))


def test_different_extents_of_one_type(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([128], contiguity=True)
        y = fd.define_tensor([192], contiguity=True)
        m, s = fd.ops.max(x, [0]), fd.ops.sum(y, [0])
        fd.add_output(m)
        fd.add_output(s)
        par(m, BX)
        par(s, BX)
    check(fd, target, [((128,), (192,))], lambda x, y: (x.amax(), y.sum()))


def test_masked_lanes(target):
    """Infinite and NaN elements that the mask leaves out."""
    with FusionDefinition() as fd:
        mask = fd.define_tensor([-1], contiguity=True, dtype=DataType.Bool)
        x = fd.define_tensor([-1], contiguity=True)
        s = fd.ops.sum(fd.ops.where(mask, x, 0.0), [0])
        fd.add_output(s)
        s.split(0, 32)
        par(s, None, TX)
        like(s)
        fd.sched.inline_most()
    compiled = Compiled(fd)
    for n in SIZES:
        x = numbers(n, device=target)
        mask = torch.arange(n, device=target) % 2 == 0
        x[~mask] = math.inf
        assert_same(compiled(mask, x), [x[mask].sum()])


@pytest.mark.parametrize("columns", [1, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("with_rows", [False, True])
def test_warp_reductions(target, columns, with_rows):
    """Rows of `ty` do not mix, padded lanes add nothing."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.sub(x, fd.ops.broadcast(s, [False, True]))
        fd.add_output(y)
        for tensor in (s, y):
            tensor.split(0, 4)
            tensor.axis(2).parallelize(TX)
            tensor.axis(2).pad_to_multiple_of_warp()
            par(tensor, BX, TY if with_rows else None)
        fd.sched.transform_like(y)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    check(fd, target, [((m, columns),) for m in (1, 3, 33)], lambda x: x - x.sum(1, keepdim=True))


def test_padding_twice(target):
    """Two tensors padded on one type."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([20], contiguity=True)
        y = fd.define_tensor([50], contiguity=True)
        s, t = fd.ops.sum(x, [0]), fd.ops.sum(y, [0])
        for tensor in (s, t):
            fd.add_output(tensor)
            tensor.axis(0).parallelize(TX)
            tensor.axis(0).pad_to_multiple_of_warp()
    check(fd, target, [((20,), (50,))], lambda x, y: (x.sum(), y.sum()))


@pytest.mark.parametrize("op", ["sum", "prod", "max"])
def test_expanded_axes(target, op):
    """Each copy of the element counts."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None])
        e = fd.ops.expand(x, [-1, 7])
        fd.add_output(getattr(fd.ops, op)(e, [1]))
        fd.sched.inline_most()
    compiled = Compiled(fd)
    x = torch.tensor([[1.0], [2.0], [-1.0]], device=target)
    e = x.expand(3, 7)
    expected = {"sum": e.sum, "prod": e.prod, "max": e.amax}[op](1)
    assert_same(compiled(x), [expected])


@pytest.mark.parametrize("keepdim", [False, True])
def test_trivial_reductions(target, keepdim):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1], contiguity=[True, None])
        s = fd.ops.sum(x, [1], keepdim)
        fd.add_output(fd.ops.neg(s))
        fd.sched.inline_most()
    check(fd, target, [((n, 1),) for n in (1, 3, 33)], lambda x: -x.sum(1, keepdim=keepdim))


@pytest.mark.parametrize("memory_type", [SHARED, GLOBAL])
def test_accumulators_outside_registers(target, memory_type):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        s = fd.ops.sum(x, [0])
        s.set_memory_type(memory_type)
        t = fd.ops.neg(s)
        fd.add_output(t)
        par(s, None, TX)
        t.split(0, 4)
        par(t, None, TX)
    check(fd, target, [((m, 32),) for m in (1, 3, 33)], lambda x: -x.sum(0))


def test_output_and_intermediate(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        y = fd.ops.sub(x, fd.ops.broadcast(s, [False, True]))
        fd.add_output(s)
        fd.add_output(y)
        s.cache_before()
        y.split(1, 32)
        fd.sched.transform_like(y)
        par(y, BX, None, TX)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    check(
        fd,
        target,
        [((m, n),) for m, n in PAIRS],
        lambda x: (x.sum(1), x - x.sum(1, keepdim=True)),
    )


@pytest.mark.parametrize("rows", [BX, None])
def test_unused_siblings(target, rows):
    """Only the deviation is used; the others need no room for all rows."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        _, squares, _ = fd.ops.welford(x, [1])
        fd.add_output(fd.ops.cast(squares, DataType.Double))
        squares.split(1, 32)
        par(squares, rows, None, TX)
        fd.sched.inline_most()

    def reference(x):
        return x.var(1, correction=0) * x.shape[1]

    check(fd, target, [((m, n),) for m, n in PAIRS], reference, rtol=1e-5)


def test_determinism(target):
    """Bitwise equal over repeated runs."""
    compiled = Compiled(reduced_1d())
    x = torch.randn(100_003, device=target)
    first = compiled(x)[0]
    for _ in range(5):
        assert torch.equal(compiled(x)[0], first)


def test_two_reductions_of_different_axes(target):
    """Right, or refused; never wrong."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        rows, columns = fd.ops.sum(x, [1]), fd.ops.sum(x, [0])
        fd.add_output(rows)
        fd.add_output(columns)
        par(rows, BX, TX)
        par(columns, BX, TX)
    shapes = [((m, n),) for m, n in ((1, 1), (3, 4), (33, 31))]
    check(fd, target, shapes, lambda x: (x.sum(1), x.sum(0)))


@pytest.mark.parametrize("memory_type", [None, SHARED])
def test_persistent_buffers(target, memory_type):
    """The row stays on chip, holes and vectors included."""
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
    check(fd, target, [((m, 101),) for m in (1, 3, 33)], lambda x: x - x.sum(1, keepdim=True))


def test_softmax(target):
    """Two dependent reductions and two uses of the row."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 77], contiguity=True)
        m = fd.ops.broadcast(fd.ops.max(x, [1]), [False, True])
        e = fd.ops.exp(fd.ops.sub(x, m))
        total = fd.ops.broadcast(fd.ops.sum(e, [1]), [False, True])
        y = fd.ops.div(e, total)
        fd.add_output(y)
        x.cache_after()
        y.split(1, 32)
        fd.sched.transform_like(y)
        par(y, BX, None, TX)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most()
    check(fd, target, [((m, 77),) for m in (1, 3, 33)], lambda x: torch.softmax(x, 1), rtol=1e-6)


def test_full_reduction_of_a_matrix_to_all_types(target):
    """Any mix of parallel dimensions."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [0, 1])
        fd.add_output(s)
        s.split(1, 8)
        s.split(1, 2, inner_split=False)
        s.split(0, 4)
        s.split(0, 3, inner_split=False)
        # [3, m / 12, 4, 2, n / 16, 8]
        s.rfactor([1, 4])
        par(s, BX, TY, BY, TX)
        fd.sched.parallelize_like(s)
        fd.sched.inline_most()
    check(fd, target, [((m, n),) for m, n in PAIRS], lambda x: x.sum())


# -- what threads out of range read --


def rows_then_threads(op: str) -> FusionDefinition:
    """Each thread has the results of all rows, and the threads of a warp combine them, one for each
    row: the others have none to read."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([3, 8], contiguity=True)
        total = getattr(fd.ops, op)(x, [0, 1])
        fd.add_output(total)
        total.rfactor([1])
        par(total, TX)
        total.axis(0).pad_to_multiple_of_warp()
    return fd


@pytest.mark.parametrize("op", ["sum", "max"])
def test_threads_out_of_range_read_no_partial_result(target, op):
    compiled = Compiled(rows_then_threads(op))
    for seed in range(3):
        x = numbers(3, 8, device=target, seed=seed)
        assert_same(compiled(x), [getattr(x.double(), op)()])


def test_a_partial_result_in_registers_is_read_under_the_condition_of_its_thread():
    text = cuda_text(rows_then_threads("sum").fusion)
    assert ", (thread_x < 3) ? T2[thread_x] : 0.0f, 0.0f, thread_x < 3, " in text
