"""Pad, slice and cat. Inputs lie between NaNs, so that a read outside of them shows."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from hard_case import (
    BX,
    GLOBAL,
    SHARED,
    TX,
    UNROLL,
    UNSWITCH,
    assert_same,
    check,
    cuda_text,
    execute,
    lengths,
    numbers,
    par,
)

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    UserError,
    evaluate,
    schedule,
)

# -- pad: two conditions --------------------------------------------------------------------------


@pytest.mark.parametrize("extent", [9, -1], ids=["static", "symbolic"])
@pytest.mark.parametrize("parallel_type", [None, UNSWITCH, UNROLL])
@pytest.mark.parametrize("widths", [[2, 3], [0, 5], [4, 0], [-2, 3], [3, -2], [-1, -1]])
def test_pad_guards_the_load_by_the_operand(target, extent, parallel_type, widths):
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent], contiguity=True)
        y = fd.ops.pad(x, widths, 7.0)
        fd.add_output(y)
        y.split(0, 4)
        par(y, BX, parallel_type)
    shapes = [[[9]]] if extent == 9 else lengths(3)
    check(fd, target, shapes, lambda x: F.pad(x, widths, value=7.0))
    if max(widths) > 0:
        assert "?" in cuda_text(fd.fusion)
    elif extent == 9:  # nothing is padded, which is proven for constants
        assert "?" not in cuda_text(fd.fusion)


@pytest.mark.parametrize("parallel_type", [None, UNSWITCH, UNROLL])
def test_lower_bounds_of_an_unswitched_pad(target, parallel_type):
    with FusionDefinition() as fd:
        x = fd.define_tensor([9], contiguity=True)
        x_c = fd.ops.set(x)
        y = fd.ops.pad(x_c, [1, 1])
        z = fd.ops.set(y)
        fd.add_output(z)
        z.split(0, 4)
        schedule.transform_like(z)
        schedule.inline_most()
        z.axis(1).parallelize(parallel_type or z.axis(1).parallel_type())
    assert len(x_c.get_loop_domain()) == 2
    check(fd, target, [[[9]]], lambda x: F.pad(x, [1, 1]))


def test_pad_value_is_not_read_from_holes(target):
    """NaN and infinity beside the operand, and as the padded value."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.pad(x, [1, 2, 3, 0], math.inf))
        fd.add_output(fd.ops.pad(x, [1, 2]))
    x = numbers(5, 7, device=target)
    assert_same(execute(fd, [x]), [F.pad(x, [1, 2, 3, 0], value=math.inf), F.pad(x, [1, 2])])


@pytest.mark.parametrize("shape", [(3, 4), (7, 5), (1, 1), (2, 33)])
@pytest.mark.parametrize("inner", [3, 4, 5])
def test_padded_axis_in_a_merge_is_guarded_before_the_division(target, shape, inner):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        x_c = fd.ops.set(x)
        y = fd.ops.pad(x_c, [1, 0, 2, 1])
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, inner)
        schedule.transform_like(y)
        schedule.inline_most()
    assert len(x_c.get_loop_domain()) == 2
    check(fd, target, [[shape]], lambda x: F.pad(x, [1, 0, 2, 1]))


@pytest.mark.parametrize("left", [1, 3, 9])
def test_resized_merge_is_guarded_before_the_division(target, left):
    """-1 / n is 0, which looks like row 0; the guard is on the index before it is divided."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.permute(x, [1, 0])
        fd.add_output(y)
        y.merge(0, 1)
        y.resize(0, left, 2)
        y.split(0, 4)
        par(y, None, UNROLL)
    check(fd, target, [[(3, 4)], [(7, 5)], [(1, 1)], [(2, 33)]], lambda x: x.T)
    assert ">= 0" in cuda_text(fd.fusion)


# -- slice: offsets -------------------------------------------------------------------------------


@pytest.mark.parametrize("extent", [20, -1])
@pytest.mark.parametrize(("start", "stop"), [(0, 5), (3, 20), (4, 17), (0, 1), (19, 20), (7, 7)])
def test_slice_reads_at_its_offset(target, extent, start, stop):
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent, 3], contiguity=True)
        y = fd.ops.slice(x, [start, 1], [stop, 3])
        fd.add_output(fd.ops.neg(y))
    x = numbers(20, 3, device=target)
    assert_same(execute(fd, [x]), [-x[start:stop, 1:3]])


@pytest.mark.parametrize("is_negated", [False, True])
@pytest.mark.parametrize(("start", "stop"), [(3, 5), (6, 9), (-1, 2)])
def test_slice_of_positions_that_are_not_there_is_refused(target, start, stop, is_negated):
    """Without normalization positions are taken as given; also in a copy and in a view."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 3], contiguity=True)
        ends = [fd.define_scalar(dtype=DataType.Int) for _ in range(2)]
        zero, three = (fd.define_scalar(n, dtype=DataType.Int) for n in (0, 3))
        y = fd.ops.slice(x, [ends[0], zero], [ends[1], three], manual_normalization=True)
        fd.add_output(fd.ops.neg(y) if is_negated else y)
    given = [numbers(4, 3, device=target), start, stop]
    text = "A slice takes positions of dimension 0 of T0.* that it does not have"
    for run in (fd.execute, lambda args: evaluate(fd.fusion, args)):
        with pytest.raises(UserError, match=text):
            run(given)
    given[1:] = [1, 3]
    assert_same(fd.execute(given), [-given[0][1:3] if is_negated else given[0][1:3]])


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7, 9])
def test_normalized_slices_of_slices_take_what_is_there(target, rows):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.slice(x, [2, 0], [7, 60])
        fd.add_output(fd.ops.neg(fd.ops.slice(y, [1, 1], [3, 5])))
    x = numbers(rows, 4, device=target)
    assert_same(fd.execute([x]), [-x[2:7, :60][1:3, 1:5]])


def test_offsets_of_both_kinds_in_one_expression(target):
    """Through a slice, a pad and a merge."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.pad(fd.ops.slice(x, [2, 1], [7, 6]), [3, 1, 0, 2], -1.0)
        z = fd.ops.slice(y, [1, 2], [6, 8])
        fd.add_output(z)
        for t in (y, z):
            t.merge(0, 1)
            t.split(0, 5)
        y.set_memory_type(GLOBAL)
        z.definition().input(0).definition().input(0).set_memory_type(GLOBAL)

    def reference(x):
        return F.pad(x[2:7, 1:6], [3, 1, 0, 2], value=-1.0)[1:6, 2:8]

    check(fd, target, [[(9, 8)], [(7, 6)]], reference)


@pytest.mark.parametrize("extent", [30, -1])
def test_two_slices_of_one_tensor_keep_their_offsets(target, extent):
    with FusionDefinition() as fd:
        x = fd.define_tensor([extent], contiguity=True)
        a = fd.ops.slice(x, [0], [15])
        b = fd.ops.slice(x, [15], [30])
        y = fd.ops.add(fd.ops.mul(a, 10.0), b)
        fd.add_output(y)
        y.split(0, 4)
        schedule.transform_like(y)
        schedule.inline_most()
    check(fd, target, [[[30]]], lambda x: x[:15] * 10 + x[15:])


def test_slice_of_a_cached_tensor_does_not_crop_its_loops(target):
    """Both slices read the cache, which has all elements."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        x_c = fd.ops.set(x)
        a = fd.ops.slice(x_c, [0], [15])
        b = fd.ops.slice(x_c, [15], [30])
        y = fd.ops.add(fd.ops.mul(a, 10.0), b)
        fd.add_output(y)
        y.split(0, 4)
        par(y, None, TX)
        schedule.transform_like(y)
        schedule.parallelize_like(y)
        schedule.inline_most()
        x_c.set_memory_type(SHARED)
    check(fd, target, [[[30]]], lambda x: x[:15] * 10 + x[15:])


def test_resized_axis_is_no_run_of_the_operand(target):
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 10], contiguity=True)
        y = fd.ops.slice(x, [0, 2], [4, 8])
        fd.add_output(y)
        y.merge(0, 1)
        y.split(0, 5)
        par(y, BX, TX)
    check(fd, target, [[(4, 10)]], lambda x: x[:, 2:8])


# -- cat ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(5, 7), (1, 1), (0, 3), (3, 0), (129, 64)])
@pytest.mark.parametrize("parallel_type", [None, UNROLL])
def test_cat_reads_one_operand_under_its_range_test(target, sizes, parallel_type):
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], contiguity=True)
        b = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.cat([a, b])
        fd.add_output(y)
        y.split(0, 4)
        schedule.transform_like(y)
        schedule.inline_most()
        par(y, BX, parallel_type)
    check(fd, target, [[[n] for n in sizes]], lambda a, b: torch.cat([a, b]))
    cuda_text(fd.fusion)


def test_filler_of_a_cat_is_not_combined(target):
    """Infinities and NaN of the operands stay where they are."""
    with FusionDefinition() as fd:
        a = fd.define_tensor([-1], contiguity=True)
        b = fd.define_tensor([-1], contiguity=True)
        c = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.cat([a, b, c]))
    inputs = [
        torch.full((n,), value, device=target)
        for n, value in ((3, math.inf), (4, math.nan), (2, -math.inf))
    ]
    assert_same(execute(fd, inputs), [torch.cat(inputs)])


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_merged_cat_of_three(target, dim):
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([-1, -1, -1], contiguity=True) for _ in range(3)]
        y = fd.ops.cat([fd.ops.neg(t) for t in tensors], dim)
        fd.add_output(y)
        y.merge(0, 1).merge(0, 1).split(0, 32)
        schedule.transform_like(y)
        schedule.inline_most()
        par(y, BX, TX)
        for t in tensors:
            negated = t.uses()[0].output(0)
            if negated.compute_at_position() == 0:
                negated.set_memory_type(GLOBAL)
    for sizes in ((2, 3, 4), (1, 1, 1), (5, 0, 2)):
        shapes = [[3, 4, 5] for _ in sizes]
        for shape, n in zip(shapes, sizes, strict=True):
            shape[dim] = n
        check(fd, target, [shapes], lambda *xs: torch.cat([-x for x in xs], dim))


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("number", [2, 3, 5, 20])
def test_a_cat_of_inputs_reads_the_one_that_has_the_element(target, number, dim):
    """Nothing is padded; of three and more operands the address is chosen, and read once."""
    with FusionDefinition() as fd:
        tensors = [fd.define_tensor([-1, -1, -1], contiguity=True) for _ in range(number)]
        y = fd.ops.cat(tensors, dim)
        fd.add_output(y)
        y.merge(0, 1).merge(0, 1).split(0, 32)
        schedule.transform_like(y)
        schedule.inline_most()
        par(y, BX, TX)
    text = cuda_text(fd.fusion)
    assert text.count("load_readonly(") == (1 if number > 2 else 2)
    assert "0.0f" not in text
    for sizes in ([2, 3, 1, 4, 5], [0, 0, 1, 0, 7], [1, 1, 1, 1, 1]):
        shapes = [[3, 4, 5] for _ in range(number)]
        for i, shape in enumerate(shapes):
            shape[dim] = sizes[i % len(sizes)]
        check(fd, target, [shapes], lambda *xs: torch.cat(xs, dim))


@pytest.mark.parametrize("number", [2, 4])
def test_a_cat_of_inputs_that_are_broadcast_strided_or_computed(target, number, rng):
    with FusionDefinition() as fd:
        column = fd.define_tensor([-1, 1], contiguity=[False, None])
        strided = [fd.define_tensor([-1, -1], contiguity=False) for _ in range(number - 1)]
        y = fd.ops.cat([column, *strided], 1)
        fd.add_output(y)
        fd.add_output(fd.ops.cat([fd.ops.neg(t) for t in strided] + [strided[0]], 1))
        fd.add_output(fd.ops.cat([strided[0], strided[0], strided[0]], 0))
    inputs = [torch.randn(6, 1, generator=rng).to(target)[::2]]
    inputs += [torch.randn(9, 6, generator=rng).to(target).t()[::2, ::2] for _ in strided]
    results = fd.execute(inputs)
    rest = inputs[1:]
    assert_same(
        results,
        [
            torch.cat(inputs, 1),
            torch.cat([-x for x in rest] + [rest[0]], 1),
            torch.cat([rest[0]] * 3, 0),
        ],
    )


def test_what_surrounds_an_operand_of_a_cat_is_read_where_it_is_part_of_the_result(target):
    """Operands that were padded by hand, with more than what their neighbours fill."""
    with FusionDefinition() as fd:
        a = fd.define_tensor([2], contiguity=True)
        b = fd.define_tensor([2], contiguity=True)
        c = fd.define_tensor([2], contiguity=True)
        padded = [fd.ops.pad(x, [n, 6 - n]) for n, x in ((0, a), (3, b), (5, c))]
        fd.add_output(fd.ops.cat(padded, 0, manual_padding=True))
    check(
        fd,
        target,
        [[[2], [2], [2]]],
        lambda a, b, c: torch.cat([a, a.new_zeros(1), b, c, c.new_zeros(1)]),
    )


def test_a_cat_beside_an_update_of_its_operand(target):
    with FusionDefinition() as fd:
        xs = [fd.define_tensor([-1], contiguity=True) for _ in range(3)]
        fd.add_output(fd.ops.cat(xs, 0))
        fd.add_output(fd.ops.add(xs[0], 1.0), xs[0])
    inputs = [torch.arange(float(n), device=target) for n in (5, 3, 4)]
    expected = torch.cat(inputs)
    (result, *_) = fd.execute(inputs)
    assert_same([result, inputs[0]], [expected, torch.arange(5.0, device=target) + 1])
