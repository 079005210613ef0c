"""csrc/ops/resize.cpp: slice, pad, cat, chunk, repeat, view_as_real."""

from __future__ import annotations

import math as numbers

import pytest
import torch
import torch.nn.functional as F

from nvfuser_direct import DataType, FusionDefinition, UserError, evaluate


def tensor(fd, shape, dtype=DataType.Float):
    return fd.define_tensor(shape, contiguity=True, dtype=dtype)


def extents(tv):
    return [str(extent) for extent in tv.shape()]


# -- slice ----------------------------------------------------------------------------------------


def test_slice_is_one_node_with_a_resize_per_changed_dimension(fd, math) -> None:
    y = fd.ops.slice(tensor(fd, [4, 10]), [0, 2], [4, 8])
    assert math(y) == (
        "T1_g_float[iS2{4}, iS4{6}rf] = slice( T0_g_float[iS0{4}, iS1{10}], "
        "{ {0, 4, 1} {2, 8, 1} } )\n"
    )
    assert y.has_root()
    resize = y.get_logical_domain()[1].definition()
    assert str(resize) == "Resize: iS3{10} by -2 and -2 -> iS4{6}rf\n"


def test_slice_of_everything_is_a_copy(fd, math) -> None:
    x = tensor(fd, [4, -1])
    assert "Set( " in math(fd.ops.slice(x, [0, 0], [4, x.size(1)]))
    assert "Set( " in math(fd.ops.slice(x, (0, 0), (9, x.size(1)), (1, 1)))


def test_type_of_a_sliced_dimension(fd) -> None:
    x = tensor(fd, [8, -1, 8, 8])
    start = fd.define_scalar(dtype=DataType.Int)
    y = fd.ops.slice(x, [3, 2, 0, start], [4, 5, 6, 8])
    one, symbolic, several, unknown = y.get_logical_domain()
    assert one.is_broadcast()
    assert symbolic.is_symbolic_axis()
    assert several.is_iteration()
    assert unknown.is_symbolic_axis()
    assert extents(y)[0] == "1"
    assert extents(y)[2] == "6"


def test_slice_of_provable_extent_one_is_a_broadcast(fd) -> None:
    x = tensor(fd, [-1])
    start = fd.define_scalar(dtype=DataType.Index)
    y = fd.ops.slice(x, [start], [fd.ops.add(start, 1)], manual_normalization=True)
    assert y.axis(0).is_broadcast()


def test_slice_takes_an_end_as_given_where_it_is_told_to(fd) -> None:
    x = tensor(fd, [-1, -1])
    y = fd.ops.slice(x, [0, 0], [1, 5], manual_normalization=True, clip_ends=False)
    assert extents(y) == ["1", "5"]
    assert y.axis(0).is_broadcast()
    clipped = fd.ops.slice(x, [0, 0], [1, 5], manual_normalization=True)
    assert all(axis.is_symbolic_axis() for axis in clipped.get_logical_domain())
    with pytest.raises(UserError, match="ends that are not clipped need manual_normalization"):
        fd.ops.slice(x, [0, 0], [1, 5], clip_ends=False)


def test_slice_clips_a_constant_end(fd) -> None:
    assert extents(fd.ops.slice(tensor(fd, [8]), [5], [100])) == ["3"]
    assert extents(fd.ops.slice(tensor(fd, [8]), [9], [100])) == ["0"]


@pytest.mark.parametrize(
    ("starts", "ends", "strides", "text"),
    [
        (
            [0],
            [1],
            [1, 1],
            r"Slice start_indices and strides don't match! Start Indices: 1 Strides: 2",
        ),
        ([0], [1], None, "Number of tensor dimensions does not match slice dimensions!"),
        (
            [0, 0],
            [1],
            None,
            r"Slice indexing attribute dimensions don't match! Start Indices: 2 End Indices: 1",
        ),
        (
            [0, -1],
            [1, 1],
            None,
            "Slice operation start_indices must be greater than or equal to 0. Start Indices: -1",
        ),
        (
            [0, 3],
            [1, 2],
            None,
            "Slice operation end_indices must be greater than or equal to start_indices. "
            "Start Indices: 3 End Indices: 2",
        ),
        (
            [0, 0],
            [1, 2],
            [1, 2],
            "nvFuser Limitation: All slice operation strides must be of const size 1.",
        ),
    ],
)
def test_slice_checks_its_lists(fd, starts, ends, strides, text) -> None:
    with pytest.raises(RuntimeError, match=text):
        fd.ops.slice(tensor(fd, [4, 4]), starts, ends, strides)


def test_slice_takes_integers_and_scalars_only(fd) -> None:
    with pytest.raises(RuntimeError, match="Unsupported iterable object type for define_vector!"):
        fd.ops.slice(tensor(fd, [4]), ["a"], [3])


# -- pad ------------------------------------------------------------------------------------------


def test_pad_has_the_innermost_dimension_first(fd, math) -> None:
    y = fd.ops.pad(tensor(fd, [4, 10]), [1, 2, 0, 3])
    assert math(y) == (
        "T1_g_float[iS3{7}rf, iS5{13}rf] = pad( T0_g_float[iS0{4}, iS1{10}], {0, 3, 1, 2} )\n"
    )


def test_pad_by_nothing_is_a_copy(fd, math) -> None:
    assert "Set( " in math(fd.ops.pad(tensor(fd, [4, 10]), [0, 0]))
    assert "Set( " in math(fd.ops.pad(tensor(fd, [4, 10]), []))


def test_pad_value_defaults_to_zero_of_the_dtype(fd) -> None:
    for dtype in (DataType.Float, DataType.Half, DataType.Int, DataType.Bool):
        y = fd.ops.pad(tensor(fd, [4], dtype), [1, 1])
        assert y.definition().value.dtype() == dtype


def test_pad_of_a_broadcast_is_an_iteration(fd) -> None:
    x = fd.define_tensor([1, 4], contiguity=[None, True])
    y = fd.ops.pad(fd.ops.expand(x, [3, 4]), [0, 0, 1, 1])
    assert y.axis(0).is_iteration()
    assert extents(y) == ["5", "4"]
    assert fd.ops.pad(x, [0, 0, 0, 2]).axis(0).is_iteration()


def test_pad_checks_its_widths_and_value(fd) -> None:
    x = tensor(fd, [4])
    with pytest.raises(
        RuntimeError, match="Number of pad widths must be at most twice the input dimension"
    ):
        fd.ops.pad(x, [1, 1, 1, 1])
    with pytest.raises(RuntimeError, match="even number of pad widths"):
        fd.ops.pad(x, [1])
    with pytest.raises(RuntimeError, match=r"Tensor arg and pad value must have the same dtype\."):
        fd.ops.pad(x, [1, 1], 1)


# -- cat ------------------------------------------------------------------------------------------


def test_cat_pads_each_operand_to_the_full_extent(fd, math) -> None:
    y = fd.ops.cat([tensor(fd, [2, 5]), tensor(fd, [3, 5])], 0)
    assert math(y).splitlines() == [
        "T2_l_float[iS5{5}rf, iS6{5}] = pad( T0_g_float[iS0{2}, iS1{5}], {0, 3, 0, 0} )",
        "T3_l_float[iS8{5}rf, iS9{5}] = pad( T1_g_float[iS2{3}, iS3{5}], {2, 0, 0, 0} )",
        "T4_g_float[iS10{5}, iS11{5}] = cat( T2_l_float[iS5{5}rf, iS6{5}], "
        "T3_l_float[iS8{5}rf, iS9{5}], 0 )",
    ]
    assert extents(y) == ["5", "5"]


def test_cat_of_symbolic_sizes_has_one_sum_of_all(fd, math) -> None:
    y = fd.ops.cat([tensor(fd, [-1]), tensor(fd, [-1]), tensor(fd, [-1])])
    padded = y.definition().inputs()
    assert {tv.size(0) for tv in padded} == {y.size(0)}
    assert y.size(0).to_inline_string() == "( ( i0 + i2 ) + i3 )"
    pads = [line.rpartition("{")[2] for line in math(y).splitlines() if "pad( " in line]
    assert pads == ["0, ( i2 + i3 )} )", "i0, i3} )", "( i0 + i2 ), 0} )"]


def test_cat_makes_as_many_sums_as_it_has_operands(fd) -> None:
    counts = []
    for n in (8, 16, 32):
        operands = [tensor(fd, [-1]) for _ in range(n)]
        before = len(fd.fusion.vals())
        fd.ops.cat(operands)
        counts.append(len(fd.fusion.vals()) - before)
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


def test_cat_with_a_rest_has_the_size_of_the_whole(fd) -> None:
    x = tensor(fd, [-1])
    k = fd.define_scalar(DataType.Index)
    rest = fd.ops.slice(x, [k], [x.size(0)], manual_normalization=True)
    y = fd.ops.cat([fd.ops.full([k], 0.0, DataType.Float), rest])
    assert y.size(0) == x.size(0)


def test_cat_of_one_tensor_is_a_copy(fd, math) -> None:
    assert "Set( " in math(fd.ops.cat([tensor(fd, [4])]))


def test_cat_with_provably_empty_tensors_is_a_copy(fd, math) -> None:
    assert "Set( T0" in math(fd.ops.cat([tensor(fd, [4]), tensor(fd, [0])]))


def test_cat_takes_padded_operands(fd, math) -> None:
    a = fd.ops.pad(tensor(fd, [2]), [0, 3])
    b = fd.ops.pad(tensor(fd, [3]), [2, 0])
    text = math(fd.ops.cat([a, b], 0, manual_padding=True))
    assert text.count("pad( ") == 2
    with pytest.raises(
        RuntimeError, match=r"Expected all inputs to be padded when manual_padding is True\."
    ):
        fd.ops.cat([a, tensor(fd, [5])], 0, manual_padding=True)


def test_cat_checks_its_operands(fd) -> None:
    x = tensor(fd, [4])
    with pytest.raises(RuntimeError, match="No input tensor given"):
        fd.ops.cat([])
    with pytest.raises(RuntimeError, match="Can't concatenate tensors with different data types"):
        fd.ops.cat([x, tensor(fd, [4], DataType.Half)])
    with pytest.raises(RuntimeError, match=r"Unexpected number of dimensions: .*, expected: 1"):
        fd.ops.cat([x, tensor(fd, [4, 4])])
    with pytest.raises(RuntimeError, match="Invalid dimension to cat: 1"):
        fd.ops.cat([x, x], 1)


# -- chunk, repeat, view_as_real ------------------------------------------------------------------


@pytest.mark.parametrize(("size", "chunks"), [(10, 3), (10, 4), (4, 7), (0, 2), (1, 1)])
def test_chunks_are_those_of_torch(fd, size, chunks) -> None:
    parts = fd.ops.chunk(tensor(fd, [3, size]), chunks, -1)
    expected = torch.empty(3, size).chunk(chunks, -1)
    sizes = [int(str(part.size(1))) for part in parts]
    assert sizes == [part.shape[1] for part in expected if size or part is expected[0]]


def test_chunk_needs_a_constant_extent_and_a_positive_number(fd) -> None:
    with pytest.raises(RuntimeError, match="must be a constant"):
        fd.ops.chunk(tensor(fd, [-1]), 2)
    with pytest.raises(RuntimeError, match="the number of chunks must be positive, but got 0"):
        fd.ops.chunk(tensor(fd, [4]), 0)


def test_repeat_multiplies_extents(fd, math) -> None:
    x = fd.define_tensor([1, 3, -1], contiguity=[None, True, True])
    y = fd.ops.repeat(x, [4, 2, 1])
    assert " = repeat( T0" in math(y)
    assert extents(y)[:2] == ["4", "6"]
    assert y.axis(0).is_iteration()
    assert y.definition().repeats == [4, 2, 1]
    assert "Set( " in math(fd.ops.repeat(x, [1, 1, 1]))


def test_repeat_checks_its_numbers(fd) -> None:
    with pytest.raises(
        RuntimeError, match="expected one number for each of 2 dimensions, but got 1"
    ):
        fd.ops.repeat(tensor(fd, [2, 3]), [2])
    with pytest.raises(RuntimeError, match="a dimension is repeated at least once, but got 0"):
        fd.ops.repeat(tensor(fd, [2, 3]), [1, 0])


def test_view_as_real_has_a_dimension_of_components(fd, math) -> None:
    y = fd.ops.view_as_real(tensor(fd, [3], DataType.ComplexFloat))
    assert y.dtype() == DataType.Float
    assert extents(y) == ["3", "2"]
    assert "view_as_scalar( T0_g_std::complex<float>[iS0{3}], vS2{2} )" in math(y)
    with pytest.raises(RuntimeError, match="must be complex, but has type float"):
        fd.ops.view_as_real(tensor(fd, [3]))


# -- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("widths", [[1, 2], [-1, 3], [2, -1, 0, -2], [-2, -1, 1, 1], [-5, 2]])
@pytest.mark.parametrize("dtype", [DataType.Float, DataType.Int, DataType.ComplexFloat])
def test_evaluated_pads_are_those_of_torch(widths, dtype) -> None:
    torch_dtype = {
        DataType.Float: torch.float32,
        DataType.Int: torch.int64,
        DataType.ComplexFloat: torch.complex64,
    }[dtype]
    x = torch.arange(12).reshape(3, 4).to(torch_dtype)
    value = {DataType.Float: 1.5, DataType.Int: 7, DataType.ComplexFloat: 2 - 1j}[dtype]
    with FusionDefinition() as fd:
        arg = tensor(fd, [-1, -1], dtype)
        fd.add_output(fd.ops.pad(arg, widths, value))
    expected = torch.full(
        [n + a for n, a in zip((3, 4), (sum(widths[2:]), sum(widths[:2])), strict=True)],
        value,
        dtype=torch_dtype,
    )
    left, top = widths[0], widths[2] if len(widths) > 2 else 0
    for i in range(expected.shape[0]):
        for j in range(expected.shape[1]):
            if 0 <= i - top < 3 and 0 <= j - left < 4:
                expected[i, j] = x[i - top, j - left]
    for outputs in (evaluate(fd.fusion, [x]), fd.execute([x])):
        torch.testing.assert_close(outputs[0], expected)


def test_negative_size_is_an_error() -> None:
    with FusionDefinition() as fd:
        x = tensor(fd, [-1])
        fd.add_output(fd.ops.pad(x, [-3, -3]))
    assert fd.execute([torch.ones(6)])[0].shape == (0,)
    with pytest.raises(RuntimeError, match=r"(?i)negative"):
        evaluate(fd.fusion, [torch.ones(5)])
    with pytest.raises(RuntimeError, match=r"(?i)negative"):
        fd.execute([torch.ones(5)])


def test_view_as_real_values() -> None:
    with FusionDefinition() as fd:
        x = tensor(fd, [-1], DataType.ComplexFloat)
        fd.add_output(fd.ops.view_as_real(x))
    x = torch.randn(5, dtype=torch.complex64)
    assert torch.equal(fd.execute([x])[0], torch.view_as_real(x))


def test_evaluated_cat_reads_no_filler() -> None:
    with FusionDefinition() as fd:
        a, b = tensor(fd, [-1]), tensor(fd, [-1])
        fd.add_output(fd.ops.cat([a, b]))
    inputs = [torch.tensor([numbers.inf, 1.0]), torch.tensor([numbers.nan, 2.0, 3.0])]
    torch.testing.assert_close(evaluate(fd.fusion, inputs)[0], torch.cat(inputs), equal_nan=True)
    torch.testing.assert_close(fd.execute(inputs)[0], torch.cat(inputs), equal_nan=True)
    assert F.pad(torch.ones(1), [1, 1]).shape == (3,)


def test_a_pad_may_not_cut_off_more_than_there_is(fd) -> None:
    assert extents(fd.ops.pad(tensor(fd, [5]), [-3, -2])) == ["0"]
    with pytest.raises(RuntimeError, match="A size must not be negative, but is -1"):
        fd.ops.pad(tensor(fd, [5]), [-3, -3])


@pytest.mark.parametrize("kind", ["float", "tensor"])
def test_positions_and_widths_are_integer_scalars(fd, kind) -> None:
    x = tensor(fd, [5])
    wrong = fd.define_scalar(1.5) if kind == "float" else x
    with pytest.raises(RuntimeError, match="A position must be an integer, but got a "):
        fd.ops.slice(x, [wrong], [3])
    with pytest.raises(RuntimeError, match="A width must be an integer, but got a "):
        fd.ops.pad(x, [0, wrong])


def test_more_chunks_than_a_number_of_64_bits_leaves_room_for(fd) -> None:
    assert len(fd.ops.chunk(tensor(fd, [3]), 2**63 - 1)) == 3
    assert [extents(part) for part in fd.ops.chunk(tensor(fd, [0]), 4)] == [["0"]]
