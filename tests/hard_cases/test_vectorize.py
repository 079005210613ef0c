"""Vectors: widths, alignment, what is refused."""

import pytest
import torch
from hard_case import (
    BX,
    GLOBAL,
    SHARED,
    TX,
    VECTORIZE,
    Compiled,
    assert_same,
    check,
    count,
    guarded,
    lowered,
    numbers,
    par,
    statements,
)

from nvfuser_direct import DataType, ForLoop, FusionDefinition, LoopKind, UserError


def copied(width=4, shape=(-1,), dtype=DataType.Float, contiguity=True):
    """A copy whose innermost axis is a vector: [.., n / width, width]."""
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor(list(shape), contiguity=contiguity, dtype=dtype)
        t = fd.ops.set(x)
        fd.add_output(t)
        t.split(-1, width)
        t.axis(-1).parallelize(VECTORIZE)
    return fd


@pytest.mark.parametrize("width", [1, 2, 4])
def test_legal_widths(target, width):
    check(copied(width), target, [((width * k,),) for k in (1, 3, 31, 250)], lambda x: x)


@pytest.mark.parametrize(
    ("dtype", "width"), [(DataType.Float, 3), (DataType.Float, 8), (DataType.Double, 4)]
)
@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_illegal_widths(dtype, width, kind):
    """1, 2, 4, 8 or 16 bytes; the same on both targets."""
    fd = copied(width, dtype=dtype)
    with pytest.raises(RuntimeError, match=r"[Vv]ector"):
        fd.fusion.print_kernel(target=kind)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_vectorized_arithmetic_is_refused(kind):
    """The statement is a copy."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        fd.add_output(t)
        t.split(0, 4)
        t.axis(1).parallelize(VECTORIZE)
    with pytest.raises(RuntimeError, match=r"[Vv]ector"):
        fd.fusion.print_kernel(target=kind)


def test_vectorized_axis_that_is_not_innermost_in_memory():
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        t = fd.ops.set(x)
        fd.add_output(t)
        t.reorder({0: 1})
        t.axis(1).parallelize(VECTORIZE)
    with pytest.raises(RuntimeError, match=r"[Vv]ector"):
        lowered(fd.fusion)


def test_vectorized_symbolic_axis():
    """The width is a constant."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.set(x)
        fd.add_output(t)
        with pytest.raises(RuntimeError, match="extent as a const int"):
            t.axis(0).parallelize(VECTORIZE)


def test_merged_rows_may_be_vectors(target):
    """196 elements divide by 4 although rows of 14 do not."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([14, 14], contiguity=True)
        t = fd.ops.set(x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 4)
        t.axis(1).parallelize(VECTORIZE)
    check(fd, target, [((14, 14),)], lambda x: x)


def test_padded_rows_may_not_be_vectors(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([14, 14], contiguity=[False, True])
        t = fd.ops.set(x)
        fd.add_output(t)
        t.merge(0, 1)
        t.split(0, 4)
        t.axis(1).parallelize(VECTORIZE)
    x = guarded(numbers(14, 14, device=target), (16, 1))
    with pytest.raises(UserError, match="Vectorization needs an extent that the width divides"):
        Compiled(fd)(x)


def test_split_that_does_not_divide_below_a_vector(target):
    """Refused at the latest before the launch, with the tensor and the width."""
    fd = copied(4, shape=(-1, -1))
    compiled = Compiled(fd)
    x = numbers(3, 8, device=target)
    assert_same(compiled(x), [x])
    with pytest.raises(RuntimeError, match=r"T0|T1"):
        compiled(numbers(3, 7, device=target))


def test_misaligned_base_address(target):
    compiled = Compiled(copied(4))
    base = torch.arange(133.0, device=target)
    assert_same(compiled(base[4:132]), [base[4:132]])
    with pytest.raises(RuntimeError, match=r"Vectorization of .* not possible"):
        compiled(base[1:129])


def test_stride_that_is_no_multiple_of_the_vector(target):
    fd = copied(2, shape=(-1, -1), contiguity=[False, True])
    compiled = Compiled(fd)
    x = guarded(numbers(3, 6, device=target), (8, 1))
    assert_same(compiled(x), [x])
    with pytest.raises(RuntimeError, match=r"Vectorization of .* not possible"):
        compiled(guarded(numbers(3, 6, device=target), (7, 1)))


def test_strides_of_unit_dimensions_do_not_matter(target):
    fd = copied(2, shape=(-1, -1), contiguity=[False, True])
    x = guarded(numbers(1, 6, device=target), (7, 1))
    assert_same(Compiled(fd)(x), [x])


def test_vectors_through_registers(target):
    """The cache stops left of its lanes, the arithmetic runs over them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
        (t,) = fd.fusion.outputs()
        loaded = x.cache_after()
        t.cache_before()
        t.split(0, 4)
        t.split(0, 32)
        fd.sched.transform_like(t)
        par(t, BX, TX)
        fd.sched.parallelize_like(t)
        loaded.axis(2).parallelize(VECTORIZE)
        t.axis(2).parallelize(VECTORIZE)
        fd.sched.inline_most()
        assert loaded.compute_at_position() == 2
    check(fd, target, [((4 * k,),) for k in (1, 3, 31, 250)], lambda x: -x)


def test_broadcast_lanes(target):
    """One element for all lanes."""
    with FusionDefinition() as fd:
        c = fd.define_tensor([-1], contiguity=True)
        x = fd.define_tensor([-1, 8], contiguity=True)
        t = fd.ops.add(fd.ops.broadcast(c, [False, True]), x)
        fd.add_output(t)
        loaded = x.cache_after()
        t.cache_before()
        t.split(1, 4)
        fd.sched.transform_like(t)
        par(t, TX)
        fd.sched.parallelize_like(t)
        for tensor in (loaded, t):
            tensor.axis(2).parallelize(VECTORIZE)
        fd.sched.inline_most()
    check(fd, target, [((m,), (m, 8)) for m in (1, 3, 33)], lambda c, x: c[:, None] + x)


def test_vectorize_is_copied_only_where_asked(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.neg(x))
        (t,) = fd.fusion.outputs()
        loaded, computed = x.cache_after(), t.cache_before()
        t.split(0, 4)
        fd.sched.transform_like(t)
        t.axis(1).parallelize(VECTORIZE)
        fd.sched.parallelize_like(t, -1, [loaded], {VECTORIZE})
        assert loaded.axis(1).parallel_type() == VECTORIZE
        assert computed.axis(1).parallel_type() != VECTORIZE
        fd.sched.inline_most()
    check(fd, target, [((4 * k,),) for k in (1, 33)], lambda x: -x)


@pytest.mark.parametrize(
    ("dtype", "torch_dtype", "width"),
    [
        (DataType.BFloat16, torch.bfloat16, 8),
        (DataType.Half, torch.float16, 4),
        (DataType.Bool, torch.bool, 16),
        (DataType.ComplexFloat, torch.complex64, 2),
        (DataType.Double, torch.float64, 2),
        (DataType.Int32, torch.int32, 4),
    ],
)
def test_vectors_of_other_types(target, dtype, torch_dtype, width):
    compiled = Compiled(copied(width, dtype=dtype))
    for k in (1, 3, 33):
        x = torch.arange(width * k, device=target) % 7
        x = x.to(torch_dtype)
        assert_same(compiled(x), [x])


def test_reduction_of_vector_lanes(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        s = fd.ops.sum(x, [1])
        fd.add_output(s)
        loaded = x.cache_after()
        s.split(1, 4)
        lanes = s.rfactor([2])
        fd.sched.transform_like(lanes)
        loaded.axis(2).parallelize(VECTORIZE)
        fd.sched.inline_most()
    check(fd, target, [((m, 4 * k),) for m, k in ((1, 1), (3, 8), (33, 31))], lambda x: x.sum(1))


def test_welford_over_vector_lanes(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        mean, squares, n = fd.ops.welford(x, [1])
        for out in (mean, squares, n):
            fd.add_output(out)
        loaded = x.cache_after()
        mean.split(1, 4)
        (lanes, *_) = mean.rfactor([2], [mean, squares, n])
        fd.sched.transform_like(lanes)
        loaded.axis(2).parallelize(VECTORIZE)
        fd.sched.inline_most()

    def reference(x):
        return x.mean(1), x.var(1, correction=0) * 32, torch.full(x.shape[:1], 32, device=x.device)

    check(fd, target, [((m, 32),) for m in (1, 3, 33)], reference, rtol=1e-6)


def test_vectorized_shared_memory(target):
    """Registers to shared memory and back."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        t = fd.ops.set(x)
        fd.add_output(t)
        stored = x.cache_after()
        stored.set_memory_type(SHARED)
        loaded = stored.cache_after()
        t.split(1, 4)
        fd.sched.transform_like(t)
        par(t, BX, TX)
        fd.sched.parallelize_like(t)
        for tensor in (stored, loaded, t):
            tensor.axis(2).parallelize(VECTORIZE)
        fd.sched.inline_most()
    assert any(
        isinstance(s, ForLoop) and s.loop_kind == LoopKind.Vector
        for s in statements(lowered(fd.fusion))
    )
    assert count(lowered(fd.fusion), ForLoop) > 0
    check(fd, target, [((m, 64),) for m in (1, 3, 33)], lambda x: x)


@pytest.mark.parametrize("size", [4, 8])
@pytest.mark.parametrize("memory_type", [None, SHARED])
def test_lanes_are_neighbours_on_both_sides(target, size, memory_type):
    """A transposed read of shared memory, or of an array of registers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([size, size], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.permute(a, [1, 0])
        fd.add_output(t)
        if memory_type is not None:
            a.set_memory_type(memory_type)
        if size > 4:
            t.split(1, 4)
        t.axis(-1).parallelize(VECTORIZE)
    if size == 4:  # a whole axis of lanes is laid out innermost
        check(fd, target, [((size, size),)], lambda x: x.t())
        return
    with pytest.raises(UserError, match="A vectorized axis is not innermost and contiguous"):
        fd.fusion.lower(target=target)


@pytest.mark.parametrize("factors", [(32,), (8,), (64, 16)])
def test_vectors_of_what_another_split_stored(target, factors):
    """Parts of the stored axis that hold whole vectors."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.neg(fd.ops.set(a))
        fd.add_output(t)
        a.set_memory_type(SHARED)
        (copy,) = t.producers()
        for tensor in (a, copy, t):
            tensor.split(0, 512)
        for factor in factors:
            a.split(-1, factor)
        for tensor in (copy, t):
            tensor.split(-1, 4)
            par(tensor, BX, TX)
        copy.axis(-1).parallelize(VECTORIZE)
        par(a, BX, *[None] * len(factors), TX)
        a.inline_at(1)
        copy.inline_at(2)
    check(fd, target, [((n,),) for n in (1, 4, 512, 1000, 2048)], lambda x: -x)


def test_vectors_across_the_parts_of_a_stored_axis():
    """Six elements are no two vectors of four."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([48], contiguity=True)
        a = fd.ops.set(x)
        t = fd.ops.set(a)
        fd.add_output(t)
        a.set_memory_type(SHARED)
        a.split(0, 6)
        t.split(0, 4)
        par(a, None, TX)
        par(t, TX, VECTORIZE)
    with pytest.raises(UserError, match="A vectorized axis is not innermost"):
        fd.fusion.lower()


@pytest.mark.parametrize("kinds", [(None, None), (TX, BX), (BX, None)])
def test_loops_inside_of_a_vectorized_axis_are_refused(kinds):
    """Loops of any kind: one vector access is one statement."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 16], contiguity=True)
        t = fd.ops.set(x)
        fd.add_output(t)
        t.split(1, 4)
        t.reorder({2: 0})
        par(t, VECTORIZE, *kinds)
    with pytest.raises(UserError, match="A vectorized axis has a loop inside"):
        lowered(fd.fusion)


def test_vectors_written_into_the_memory_of_a_scatter(target):
    """The launch checks the tensor that has the memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        index = fd.define_tensor([-1], contiguity=True, dtype=DataType.Int)
        a = fd.ops.set(x)
        fd.add_output(fd.ops.scatter(a, index, 3.0, 0))
        a.set_memory_type(GLOBAL)
        a.split(0, 4)
        a.axis(1).parallelize(VECTORIZE)
    x = numbers(8, device=target)
    index = torch.tensor([1, 6], device=target)
    assert_same(Compiled(fd)(x, index), [x.scatter(0, index, 3.0)])


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_lanes_over_parts_of_a_broadcast(target, parts):
    """Merged inside of an axis, its parts repeat elements: lanes are no neighbours."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 64], contiguity=[None, True])
        t = fd.ops.set(x)
        fd.add_output(t)
        t.split(0, parts)
        t.merge(0, 1)
        t.merge(1, 0)
        t.split(0, 2)
        t.axis(1).parallelize(VECTORIZE)
    if parts > 1:
        with pytest.raises(UserError, match=r"[Vv]ector"):
            lowered(fd.fusion)
    else:
        check(fd, target, [((1, 64),)], lambda x: x)


def test_swizzled_lanes_are_refused():
    """Neighbours are apart before the swizzle, where one may exist and the other not."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        t = fd.ops.neg(fd.ops.set(x))
        fd.add_output(t)
        copy = t.cache_before()
        copy = copy.cache_after()
        for tensor in (copy, copy.producers()[0]):
            tensor.set_memory_type(SHARED)
            tensor.swizzle(0, 1)
        copy.split(1, 4)
        copy.axis(2).parallelize(VECTORIZE)
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError, match="lanes of a vectorized axis are swizzled"):
            fd.fusion.lower(target=target)


def widened_lanes(width, contiguity, memory_type=None):
    """Lanes of half as many elements as the loop has that they share."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, width], contiguity=contiguity)
        z = fd.define_tensor([2, width], contiguity=True)
        loaded = fd.ops.set(x)
        if memory_type is not None:
            loaded.set_memory_type(memory_type)
        total = fd.ops.add(loaded, z)
        y = fd.ops.set(total)
        fd.add_output(y)
        for tensor in (loaded, total, y):
            tensor.merge(0)
            tensor.split(0, 2, inner_split=False)
        fd.sched.inline_at(y, 1)
        assert loaded.axis(1).extent().value() == width // 2
        loaded.axis(1).parallelize(VECTORIZE)
    return fd


@pytest.mark.parametrize("memory_type", [None, SHARED])
@pytest.mark.parametrize("width", [2, 4])
def test_lanes_that_a_shared_loop_widens(target, width, memory_type):
    """The loop counts, and not the axis, which may have one element."""
    fd = widened_lanes(width, True, memory_type)
    check(fd, target, [((1, width), (2, width))], lambda x, z: x + z)
    assert f"load_vector<{width}" in fd.fusion.print_kernel(target="cuda")


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
@pytest.mark.parametrize("width", [2, 4])
def test_widened_lanes_that_are_no_neighbours_in_memory(kind, width):
    with pytest.raises(UserError, match="A vectorized axis is not innermost and contiguous"):
        widened_lanes(width, [None, False]).fusion.print_kernel(target=kind)


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
@pytest.mark.parametrize("extent", [1, 8])
def test_an_inlined_axis_that_is_vectorized_afterwards(kind, extent):
    """An axis of one element is inlined into a loop over more."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, extent], contiguity=True)
        z = fd.define_tensor([4, 8], contiguity=True)
        loaded = fd.ops.set(x)
        fd.add_output(fd.ops.add(loaded, z))
        fd.sched.inline_most()
        loaded.axis(1).parallelize(VECTORIZE)
    with pytest.raises(UserError) as error:
        fd.fusion.print_kernel(target=kind)
    text = str(error.value)
    assert "A vectorized axis cannot be inlined" in text
    assert "expected: a compute-at position left of the axis, at most 1" in text
    assert "found:    compute-at position 2: one loop over" in text
    assert "fix:      bind the axis to ParallelType.vectorize before inlining" in text


@pytest.mark.parametrize("kind", ["cuda", "cpu"])
def test_a_tensor_that_is_inlined_into_lanes(kind):
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 8], contiguity=True)
        y = fd.ops.set(fd.ops.exp(x))
        fd.add_output(y)
        y.split(1, 4)
        fd.sched.transform_like(y)
        fd.sched.inline_most()
        y.axis(2).parallelize(VECTORIZE)
    with pytest.raises(UserError) as error:
        fd.fusion.print_kernel(target=kind)
    text = str(error.value)
    assert "A tensor is inlined into the lanes of a vectorized axis" in text
    assert "found:    compute-at position 3" in text
    assert "or clear_compute_position() and inline_at(2) for that tensor" in text


def test_lanes_of_a_cat_of_slices(target):
    """An axis is made of slices of an axis that is equal to it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 16], contiguity=True)
        first = fd.ops.slice(x, [0, 0], [4, 8])
        second = fd.ops.slice(x, [0, 8], [4, 16])
        y = fd.ops.add(fd.ops.cat([fd.ops.neg(second), first], dim=1), x)
        fd.add_output(y)
        y.cache_before()
        y.split(1, 4)
        fd.sched.transform_like(y)
        par(y, BX, TX)
        fd.sched.parallelize_like(y)
        y.axis(2).parallelize(VECTORIZE)
        fd.sched.inline_most()
    check(fd, target, [((4, 16),)], lambda x: torch.cat([-x[:, 8:], x[:, :8]], 1) + x)
