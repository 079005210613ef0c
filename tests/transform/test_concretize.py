"""csrc/transform/concretization.cpp, concretize.cpp: dynamic shapes resolved, nothing executed."""

from __future__ import annotations

import re

import pytest
import torch

from nvfuser_direct import DataType, Fusion, FusionDefinition, _core, evaluate, segment


def define(fn):
    with FusionDefinition() as fd:
        fn(fd)
    return fd.fusion


def reshape_fusion(declared, num_sizes, after=lambda fd, y: y):
    """A tensor reshaped to sizes that are scalar inputs."""

    def fn(fd):
        x = fd.define_tensor(declared)
        fd.add_output(after(fd, fd.ops.reshape(x, fd.define_vector(num_sizes))))

    return define(fn)


def record(fusion, *args):
    inputs = [torch.empty(arg) if isinstance(arg, list) else arg for arg in args]
    return _core.find_concretization(fusion, inputs)


def reshape_record(shape, *new_shapes, declared=None):
    """The record of reshapes in a row."""
    declared = declared or [1 if size == 1 else -1 for size in shape]

    def fn(fd):
        y = fd.define_tensor(declared)
        for new_shape in new_shapes:
            y = fd.ops.reshape(y, fd.define_vector(len(new_shape)))
        fd.add_output(y)

    return record(define(fn), shape, *(size for new_shape in new_shapes for size in new_shape))


def concretized(fusion, *args):
    return _core.concretize(fusion, record(fusion, *args))


def math(fusion):
    """The lines of the math, without those of scalars and numbers of axes."""
    lines = fusion.print_math().split("%kernel_math {\n")[1].split("} // %kernel_math")[0]
    lines = re.sub(r"([bi]S)\d+", r"\1", lines.replace("\n   = ", " = "))
    return [line for line in lines.splitlines() if line.startswith("T")]


# ---- The record ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "new_shape", "text"),
    [
        ([2, 10, 40], [2, 10, 4, 10], "T1: split(2, 4)"),
        ([8, 12, 7, 9], [8, 3, 28, 9], "T1: split(1, 3), merge(2)"),
        (
            [3, 17, 80, 1],
            [51, 1, 2, 4, 10],
            "T1: squeeze(3), merge(0), split(1, 2), split(2, 4), broadcast(1)",
        ),
        ([1, 2, 1, 4], [1, 8, 1], "T1: squeeze(2), merge(1), broadcast(2)"),
        ([3, 4], [3, 4], "T1: identity"),
        ([3, 0], [0, 1, 7], "T1: empty[0, 1, n]"),
    ],
)
def test_a_record_prints_the_transforms(shape, new_shape, text) -> None:
    assert str(reshape_record(shape, new_shape)) == text


def test_an_ordinary_dimension_of_size_one_stays_in_the_index() -> None:
    """reshape.md 4.1"""
    found = reshape_record([1, 2, 1, 4], [1, 8, 1], declared=[-1] * 4)
    assert str(found) == "T1: merge(1), merge(1), broadcast(2)"


def test_the_last_dimension_goes_even_if_it_is_ordinary() -> None:
    """reshape.md 4.2"""
    assert str(reshape_record([1], [], declared=[-1])) == "T1: squeeze(0)"


def test_axes_of_size_one_are_part_of_the_record() -> None:
    def fn(fd):
        fd.add_output(fd.ops.full(fd.define_vector(2), 1.0, DataType.Float))

    fusion = define(fn)
    assert str(record(fusion, 1, 5)) == "?S0: broadcast; ?S1: iteration"
    assert record(fusion, 1, 5) == record(fusion, 1, 7)
    assert record(fusion, 1, 5) != record(fusion, 5, 1)


# reshape.md 6.2
SHARED = [
    ([3, 4], [4, 3], [2, 8], [4, 4]),
    ([3, 4], [4, 3], [3, 8], [4, 6]),
    ([1, 3333, 1], [3333], [1, 24, 1], [24]),
    ([3333], [1, 3333, 1], [24], [1, 24, 1]),
    ([3, 17, 80, 1], [51, 1, 2, 4, 10], [3, 17, 560, 1], [51, 1, 2, 4, 70]),
    ([2, 3, 12, 5], [1, 6, 1, 2, 6, 5, 1], [2, 3, 16, 5], [1, 6, 1, 2, 8, 5, 1]),
    ([1, 3333, 1], [1, 303, 11, 1], [1, 13332, 1], [1, 303, 44, 1]),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1, 8], [8, 1, 1, 48, 1, 8], [8, 2, 24, 1, 8]),
    ([3, 17, 80, 1, 9], [51, 1, 2, 4, 10, 9], [4, 18, 80, 1, 9], [72, 1, 2, 4, 10, 9]),
    ([22, 1, 23, 1], [506, 1], [23, 1, 22, 1], [506, 1]),
    ([22, 22, 3], [22, 11, 1, 1, 6], [22, 33, 2], [22, 11, 1, 1, 6]),
    ([1, 82362, 1, 4], [1, 7844, 1, 42], [1, 27454, 1, 2], [1, 7844, 1, 7]),
    ([19, 12, 7, 99], [19, 3, 2772], [19, 9, 8, 10], [19, 3, 240]),
]


@pytest.mark.parametrize(("shape", "new_shape", "other", "other_new"), SHARED)
def test_records_that_must_be_equal(shape, new_shape, other, other_new) -> None:
    first, second = reshape_record(shape, new_shape), reshape_record(other, other_new)
    assert first == second
    assert hash(first) == hash(second)


# reshape.md 6.3; where a row is marked there, by the same walk as everywhere else
DIFFERENT = [
    ([3, 4], [4, 3], [3, 4], [2, 6]),
    ([3, 4], [4, 3], [3, 4], [3, 4]),
    ([3, 4], [1, 12], [3, 4], [12, 1]),
    ([3, 17, 80, 1], [51, 1, 2, 4, 10], [3, 17, 240, 1], [51, 1, 2, 12, 10]),
    ([1, 3333, 1], [1, 303, 11, 1], [1, 6666, 1], [1, 606, 11, 1]),
    ([22, 24, 2], [22, 12, 1, 1, 4], [22, 22, 2], [22, 11, 1, 1, 4]),
    ([1, 7844, 1, 7], [1, 27454, 2], [1, 3922, 1, 7], [1, 13727, 2]),
    ([2, 3, 4], [6, 4], [2, 3, 4], [2, 12]),
    ([22, 1, 23, 1, 24], [506, 24], [22, 1, 23, 1, 24], [22, 552]),
]


@pytest.mark.parametrize(("shape", "new_shape", "other", "other_new"), DIFFERENT)
def test_records_that_must_differ(shape, new_shape, other, other_new) -> None:
    assert reshape_record(shape, new_shape) != reshape_record(other, other_new)


def test_records_of_reshapes_in_a_row() -> None:
    first = reshape_record([3, 4], [12], [1, 4, 3])
    assert first == reshape_record([5, 8], [40], [1, 4, 10])
    assert first != reshape_record([3, 4], [12], [4, 1, 3])
    assert first != reshape_record([3, 4], [12], [4, 3, 1])


def test_scalars_that_no_size_reads_are_not_looked_at() -> None:
    def fn(fd):
        x = fd.define_tensor([-1])
        factor = fd.define_scalar(DataType.Float)
        n = fd.define_scalar(DataType.Int)
        fd.add_output(fd.ops.mul(fd.ops.reshape(x, [n, -1]), factor))

    assert _core.internal.size_inputs(define(fn)) == [2]


# ---- The concretized fusion ----------------------------------------------------------------------


def test_the_three_layers_of_a_reshape() -> None:
    fusion = reshape_fusion([-1, -1, -1, 1], 5)
    assert math(concretized(fusion, [3, 17, 80, 1], 51, 1, 2, 4, 10)) == [
        "T2_l_float[iS{i0}, iS{i1}, iS{i2}] = squeeze( T0_g_float[iS{i0}, iS{i1}, iS{i2}, "
        "bS{1}], flags = {false, false, false, true} )",
        "T3_l_float[iS{( i0 * i1 )}rf, iS{2}rf, iS{4}rf, "
        "iS{( ceilDiv(( ceilDiv(i2, 2) ), 4) )}rf] = reshape( "
        "T2_l_float[iS{i0}, iS{i1}, iS{i2}] )",
        "T1_g_float[iS{( i0 * i1 )}, bS{1}, iS{2}, iS{4}, "
        "iS{( ceilDiv(( ceilDiv(i2, 2) ), 4) )}] = broadcast( "
        "T3_l_float[iS{( i0 * i1 )}rf, iS{2}rf, iS{4}rf, "
        "iS{( ceilDiv(( ceilDiv(i2, 2) ), 4) )}rf], flags = {false, true, false, false, false} )",
    ]


def test_the_definition_stays_as_it_is() -> None:
    fusion = reshape_fusion([-1, -1], 2)
    before = fusion.print_math()
    result = concretized(fusion, [3, 4], 4, 3)
    assert fusion.print_math() == before
    assert _core.has_dynamic_shapes(fusion)
    assert not _core.has_dynamic_shapes(result)


def test_no_transforms_leave_a_copy() -> None:
    (line,) = math(concretized(reshape_fusion([-1, -1], 2), [3, 4], 3, 4))
    assert line.startswith("T1_g_float[iS{i0}, iS{i1}] = Set( ")


def test_an_empty_operand_is_not_read() -> None:
    (line,) = math(concretized(reshape_fusion([-1, -1], 3), [3, 0], 0, 1, 7))
    assert "bS" in line
    assert "= full(" in line


@pytest.mark.parametrize(("new_shape", "kinds"), [([12, 1], "ib"), ([3, 4], "ii"), ([1, 12], "bi")])
def test_readers_take_over_what_an_axis_is(new_shape, kinds) -> None:
    fusion = reshape_fusion([-1, -1], 2, after=lambda fd, y: fd.ops.neg(fd.ops.exp(y)))
    out = concretized(fusion, [4, 3], *new_shape).outputs()[0]
    assert "".join(str(axis)[0] for axis in out.get_logical_domain()) == kinds
    assert [flag is None for flag in out.get_contiguity()] == [kind == "b" for kind in kinds]


def test_a_reduction_of_a_broadcast_is_a_squeeze() -> None:
    """reshape.md 5"""
    fusion = reshape_fusion([-1, -1], 2, after=lambda fd, y: fd.ops.sum(y, [1]))
    lines = math(concretized(fusion, [4, 3], 12, 1))
    assert "squeeze(" in lines[-1]
    assert not any("reduction(" in line for line in lines)
    fusion = reshape_fusion([-1, -1], 2, after=lambda fd, y: fd.ops.sum(y, [0, 1]))
    lines = math(concretized(fusion, [4, 3], 12, 1))
    assert "squeeze(" in lines[-2]
    assert "reduction(" in lines[-1]


def test_a_part_of_size_one_is_a_broadcast() -> None:

    def fn(fd):
        x = fd.define_tensor([-1, 4], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.slice(x, [0, 0], [fd.define_scalar(DataType.Int), 4])))

    for stop, kind in ((1, "b"), (2, "i"), (0, "i")):
        out = concretized(define(fn), [5, 4], stop).outputs()[0]
        assert str(out.get_logical_domain()[0])[0] == kind


def test_an_expanded_axis_is_materialized_where_it_is_touched() -> None:
    """reshape.md 4.3, 8"""

    def fn(fd):
        x = fd.define_tensor([-1, -1, 1], contiguity=[True, True, None])
        y = fd.ops.expand(x, [-1, -1, fd.define_scalar(DataType.Int)])
        fd.add_output(fd.ops.reshape(y, fd.define_vector(2)))

    touched = concretized(define(fn), [4, 5, 1], 6, 40, 3).outputs()[0]
    assert "bS" not in str(touched)
    kept = concretized(define(fn), [4, 5, 1], 6, 20, 6).outputs()[0]
    assert kept.get_logical_domain()[1].has_expanded_extent()


def test_a_constant_stays_constant_downstream() -> None:
    fusion = reshape_fusion([-1, -1], 3, after=lambda fd, y: fd.ops.neg(y))
    out = concretized(fusion, [6, 5], 2, 3, 5).outputs()[0]
    assert str(out.shape()[0]) == "2"


def test_a_fusion_without_dynamic_shapes_has_an_empty_record() -> None:
    def fn(fd):
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))

    fusion = define(fn)
    assert not _core.has_dynamic_shapes(fusion)
    assert str(record(fusion, [3])) == ""
    assert _core.concretize(fusion, record(fusion, [3])) == fusion


@pytest.mark.parametrize(
    ("shape", "new_shape", "text"),
    [([4, 3], [-2, -6], "a negative size"), ([0], [0, -5], "The value -5 at index 1")],
)
def test_negative_sizes_are_no_shape(shape, new_shape, text):
    with pytest.raises(RuntimeError, match=text):
        reshape_record(shape, new_shape, declared=[-1] * len(shape))


def test_minus_one_of_an_empty_operand_is_zero():
    assert "empty[0, 0]" in str(reshape_record([0], [0, -1], declared=[-1]))


def test_a_resize_of_a_reshaped_axis_has_the_size_that_follows_from_its_operand() -> None:
    """[i0 / i1, i1] comes out as [1, i0]: what is padded is i0 then, not i1."""

    def fn(fd):
        x = fd.define_tensor([-1], contiguity=True)
        other = fd.define_tensor([-1], contiguity=True)
        size = other.size(0)
        y = fd.ops.reshape(x, [fd.ops.div(x.size(0), size), size])
        fd.add_output(fd.ops.sin(fd.ops.pad(y, [2, 3])))
        fd.add_output(fd.ops.neg(other))

    fusion = concretized(define(fn), [4], [4])
    assert Fusion.deserialize(fusion.serialize()).serialize() == fusion.serialize()
    padded, *_ = (tensor for tensor in fusion.tensors() if tensor.has_root())
    _, columns = padded.get_logical_domain()
    assert "{( i0 + 5 )}" in str(columns)


@pytest.mark.parametrize("rows", [32, 8])
@pytest.mark.parametrize("is_reshape_first", [False, True])
def test_operands_of_a_cat_have_sizes_that_follow_from_their_own_operands(
    rows, is_reshape_first
) -> None:
    """Each pads by what the other one has, which is written in two ways."""

    def fn(fd):
        x, y = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
        operands = [fd.ops.reshape(x, [16, -1]), y]
        fd.add_output(fd.ops.cat(operands if is_reshape_first else operands[::-1], 1))

    fusion = concretized(define(fn), [rows, 8], [16, 5])
    assert Fusion.deserialize(fusion.serialize()).serialize() == fusion.serialize()
    inputs = [torch.randn(rows, 8), torch.randn(16, 5)]
    for group in segment(fusion, inputs).groups:
        bytes_of_group = group.fusion.serialize()
        assert Fusion.deserialize(bytes_of_group).serialize() == bytes_of_group
    parts = [inputs[0].reshape(16, -1), inputs[1]]
    (out,) = evaluate(fusion, inputs)
    expected = torch.cat(parts if is_reshape_first else parts[::-1], 1)
    torch.testing.assert_close(out, expected, rtol=0, atol=0)
