"""csrc/ops/reshape.cpp and reshape_walk.cpp: the walk from one shape to another as nodes."""

from __future__ import annotations

import re

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition


def tensor(fd, shape, contiguity=True):
    return fd.define_tensor(shape, contiguity=contiguity)


def walk(fd, old, new):
    """The walk of a reshape whose dimensions of size one are broadcasts."""
    return read_walk(fd, fd.ops.reshape(tensor(fd, old), new))


def read_walk(fd, out):
    """Squeezed dimensions, transforms and new dimensions of a reshape, read from its nodes."""
    fd.add_output(out)
    squeezes, transforms, broadcasts = [], [], []
    for expr in fd.fusion.exprs():
        text = str(expr)
        flags = re.search(r"flags = \{([^}]*)\}", text)
        positions = [
            i for i, flag in enumerate(flags[1].split(", ") if flags else []) if flag == "true"
        ]
        if "= squeeze(" in text:
            squeezes = positions
        elif "= broadcast(" in text:
            broadcasts = positions
        elif "= reshape(" in text:
            transforms = read_transforms(expr.output(0), fd)
    return squeezes, transforms, broadcasts


def read_transforms(out, fd):
    """Positions and factors of the merges and splits between root and logical domain."""
    working = [str(i) for i in out.get_root_domain()]
    block = fd.fusion.print_transforms().split("  root domain: ")[1].split("  logical domain: ")[0]
    steps = []
    for line in block.splitlines()[1:]:
        if merge := re.match(r"    Merge: (.+) and (.+) -> (.+)", line):
            at = working.index(merge[1])
            assert working[at + 1] == merge[2]
            working[at : at + 2] = [merge[3]]
            steps.append(("merge", at))
        else:
            split = re.match(r"    (Outer split|Split): (.+) by factor (\d+) -> (.+), (.+)", line)
            at = working.index(split[2])
            working[at : at + 1] = [split[4], split[5]]
            kind = "split" if split[1] == "Outer split" else "inner split"
            steps.append((kind, at, int(split[3])))
    assert working == [str(i) for i in out.get_logical_domain()]
    return steps


def merge(position):
    return ("merge", position)


def split(position, factor):
    return ("split", position, factor)


WALKS = [
    ([2, 10, 40], [2, 10, 4, 10], [], [split(2, 4)], []),
    ([8, 12, 7, 9], [8, 3, 28, 9], [], [split(1, 3), merge(2)], []),
    ([3, 4, 5], [5, 3, 4], [], [merge(0), merge(0), split(0, 5), split(1, 3)], []),
    ([3, 17, 80, 1], [51, 1, 2, 4, 10], [3], [merge(0), split(1, 2), split(2, 4)], [1]),
    ([1, 2, 1, 4], [1, 8, 1], [2], [merge(1)], [2]),
    ([5, 1, 3], [5, 3, 1], [1], [], [2]),
    ([1, 27454, 1, 2], [1, 7844, 1, 7], [2], [merge(1), split(1, 7844)], [2]),
    ([2, 3, 4], [2, 12], [], [merge(1)], []),
    ([4, 3], [3, 4], [], [merge(0), split(0, 3)], []),
    ([128], [32, 4], [], [split(0, 32)], []),
    ([3, 4], [1, 12], [], [merge(0)], [0]),
    ([2, 3, 4], [24, 1, 1], [], [merge(0), merge(0)], [1, 2]),
    ([6], [1, 2, 1, 3, 1], [], [split(0, 2)], [0, 2, 4]),
    ([1, 333], [1, 1, 1, 111, 1, 3], [], [split(1, 111)], [1, 2, 4]),
    ([1, 333, 1], [1, 37, 9], [2], [split(1, 37)], []),
    ([5, 1], [1, 5], [1], [], [0]),
    ([6, 1, 1, 2], [2, 1, 6], [1, 2], [split(0, 2), merge(1)], [1]),
    (
        [1, 19, 1, 12, 7, 1, 99],
        [1, 19, 1, 3, 2772],
        [5],
        [split(3, 3), merge(4), merge(4)],
        [],
    ),
    ([8, 1, 1, 8, 1, 8], [8, 2, 4, 1, 8], [1, 2, 4], [split(1, 2)], [3]),
    ([2, 3, 4, 5], [1, 6, 1, 2, 2, 5, 1], [], [merge(0), split(1, 2)], [0, 2, 6]),
    ([22, 22, 2], [22, 11, 1, 1, 4], [], [split(1, 11), merge(2)], [2, 3]),
    (
        [37, 9, 7, 6, 10],
        [333, 2, 2, 3, 35],
        [],
        [merge(0), merge(1), split(1, 2), merge(2), split(2, 2), split(3, 3)],
        [],
    ),
    ([5, 10, 12], [2, 25, 3, 4], [], [merge(0), split(0, 2), split(2, 3)], []),
    ([22, 1, 23, 1], [-1, 1], [1], [merge(0)], []),
    ([1, 1], [], [0, 1], [], []),
    ([], [1, 1], [], [], [0, 1]),
]


@pytest.mark.parametrize(("old", "new", "squeezes", "transforms", "broadcasts"), WALKS)
def test_the_walk_is_the_documented_one(fd, old, new, squeezes, transforms, broadcasts) -> None:
    assert walk(fd, old, new) == (squeezes, transforms, broadcasts)


@pytest.mark.parametrize(("old", "new", "squeezes", "transforms", "broadcasts"), WALKS)
def test_the_result_has_the_sizes_asked_for(fd, old, new, squeezes, transforms, broadcasts) -> None:
    del squeezes, transforms, broadcasts
    out = fd.ops.reshape(tensor(fd, old), new)
    sizes = [int(str(v)) for v in out.shape()]
    assert [a for a, b in zip(sizes, new, strict=True) if b != -1] == [b for b in new if b != -1]


def ordinary(fd, shape):
    """A tensor whose dimensions are ordinary even where their size is 1."""
    return fd.ops.expand(tensor(fd, [-1] * len(shape)), shape)


@pytest.mark.parametrize(
    ("old", "new", "squeezes", "transforms", "broadcasts"),
    [
        ([1, 2, 1, 4], [1, 8, 1], [], [merge(1), merge(1)], [2]),
        ([5, 1, 3], [5, 3, 1], [], [merge(0)], [2]),
        ([5, 1, 3], [5, 1, 3], [], [], []),
        ([5, 1], [5], [], [merge(0)], []),
        ([1, 5], [5], [], [merge(0)], []),
        ([5, 1, 3], [15], [], [merge(0), merge(0)], []),
        ([1], [], [0], [], []),
        ([1, 1], [], [0, 1], [], []),
    ],
)
def test_an_ordinary_dimension_of_size_one_is_merged_or_kept(
    fd, old, new, squeezes, transforms, broadcasts
) -> None:
    assert read_walk(fd, fd.ops.reshape(ordinary(fd, old), new)) == (
        squeezes,
        transforms,
        broadcasts,
    )


def test_equal_shapes_are_a_copy(fd, math) -> None:
    assert "Set( " in math(fd.ops.reshape(tensor(fd, [2, 3]), [2, -1]))


def test_a_touched_dimension_is_marked_and_a_kept_one_is_not(fd, math) -> None:
    assert math(fd.ops.reshape(tensor(fd, [2, 3, 4]), [2, 12])) == (
        "T1_g_float[iS3{2}, iS6{12}rf] = reshape( T0_g_float[iS0{2}, iS1{3}, iS2{4}] )\n"
    )


def test_a_touched_expanded_dimension_is_materialized(fd) -> None:
    x = tensor(fd, [4, 5, 6], contiguity=[True, True, None])
    touched = fd.ops.reshape(x, [40, 3])
    assert [str(i) for i in touched.get_root_domain()] == ["iS3{4}rf", "iS4{5}rf", "iS5{6}rf"]
    kept = fd.ops.reshape(x, [20, 6])
    assert str(kept.get_logical_domain()[1]).endswith("{1 ex 6}")


def test_reductions_of_the_operand_are_gone(fd) -> None:
    total = fd.ops.sum(tensor(fd, [2, 3, 5]), [1])
    assert [str(v) for v in fd.ops.reshape(total, [10]).shape()] == ["10"]


@pytest.mark.parametrize(
    ("old", "new", "sizes"),
    [
        ([2, 3, 0, 5], [6, 0, 5], ["6", "0", "5"]),
        ([2, 3, 0, 5], [0, 7, 0], ["0", "7", "0"]),
        ([2, 3, 0, 5], [0, -1, 0], ["0", "0", "0"]),
        ([0, 1, 2, 3, 4], [5, 0], ["5", "0"]),
    ],
)
def test_an_empty_operand_gives_zeros_without_reading_it(fd, math, old, new, sizes) -> None:
    out = fd.ops.reshape(tensor(fd, old), new)
    assert [str(v) for v in out.shape()] == sizes
    text = math(out)
    assert "= full({" in text
    assert "T0" not in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ([2, 3], [7], "Total element counts across view operation must match.* 6 vs 7"),
        ([2, 3], [4, -1], "Cannot infer the actual size of -1 output domain"),
        ([2, 3], [-1, -1], "A maximum of one value of -1 can be provided to reshape"),
        ([2, 3], [-1, -1], "Only one dimension can be inferred"),
        ([2, 0], [-1, -1], "Only one dimension can be inferred"),
        ([-1, 3], [-1, -1], "A maximum of one value of -1 can be provided to reshape"),
        ([2, 0], [3, 4], "Output shape must have at least one 0 when input shape does"),
        ([], [2], "Zero-dim tensors may only be reshaped to tensors with a single element"),
        ([2, 3], [-2, 3], r"The value -2 at index 0 was neither symbolic\(-1\)"),
        ([2, 0], [0, -7], r"The value -7 at index 1 was neither symbolic\(-1\)"),
    ],
)
def test_wrong_sizes_are_errors(fd, old, new, message) -> None:
    with pytest.raises(RuntimeError, match=message):
        fd.ops.reshape(tensor(fd, old), new)


def test_the_count_message_lists_both_shapes_and_the_tensor(fd) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)\[2, 3\] to \[7\].*T0_g_float"):
        fd.ops.reshape(tensor(fd, [2, 3]), [7])


@pytest.mark.parametrize(
    ("old", "new", "transforms", "sizes"),
    [
        ([-1, -1], [-1], [merge(0)], ["( i0 * i1 )"]),
        ([-1, 32], [-1, 8], [merge(0), ("inner split", 0, 8)], ["( i0 * 4 )", "8"]),
        ([-1, 8], [8, -1], [merge(0), split(0, 8)], ["8", "i0"]),
        ([4, -1], [2, -1], [split(0, 2), merge(1)], ["2", "( i1 * 2 )"]),
        ([1, -1, 1], [-1], [], ["i1"]),
    ],
)
def test_symbolic_sizes_that_follow_from_the_operand_are_decided(
    fd, old, new, transforms, sizes
) -> None:
    _, found, _ = walk(fd, old, new)
    assert found == transforms
    assert [v.to_inline_string() for v in fd.fusion.outputs()[0].shape()] == sizes


def test_kept_symbolic_sizes_are_recognized(fd, math) -> None:
    x = tensor(fd, [-1, 32])
    out = fd.ops.reshape(x, [x.size(0), 4, 8])
    assert math(out) == (
        "T1_g_float[iS2{i0}, iS4{4}rf, iS5{8}rf] = reshape( T0_g_float[iS0{i0}, iS1{32}] )\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ([-1, 6], [5, -1], "[?S4{5}rf, ?S5{( ( i0 * 6 ) / 5 )}rf]"),
        ([-1], [2, 3], "[?S2{2}rf, ?S3{3}rf]"),
        ([-1, 3], [3, 3], "[?S4{3}rf, ?S5{3}rf]"),
    ],
)
def test_sizes_that_only_the_inputs_tell_are_symbolic(fd, math, old, new, text) -> None:
    assert text in math(fd.ops.reshape(tensor(fd, old), new))


def test_readers_of_a_dynamic_reshape_are_symbolic_where_nothing_else_decides(fd) -> None:
    x = tensor(fd, [-1])
    y = fd.ops.reshape(x, [2, -1])
    types = [str(axis)[0] for axis in fd.ops.neg(y).get_logical_domain()]
    assert types == ["?", "?"]
    both = fd.ops.add(y, tensor(fd, [-1, -1]))
    assert [str(axis)[0] for axis in both.get_logical_domain()] == ["i", "i"]
    both = fd.ops.add(y, tensor(fd, [1, 1], contiguity=[None, None]))
    assert [str(axis)[0] for axis in both.get_logical_domain()] == ["?", "?"]


def test_the_old_spelling_repeats_the_sizes_of_the_operand(fd) -> None:
    x = tensor(fd, [2, 3])
    assert [str(v) for v in fd.ops.reshape(x, [2, 3], [6]).shape()] == ["6"]
    with pytest.raises(RuntimeError, match="Only one dimension can by inferred"):
        fd.ops.reshape(x, [2, 3], [-1, -1])
    with pytest.raises(RuntimeError, match="original_shape has rank 1, but the operand has rank 2"):
        fd.ops.reshape(x, [6], [2, 3])
    with pytest.raises(RuntimeError, match="original_shape says 3 for dimension 0"):
        fd.ops.reshape(x, [3, 2], [6])


def test_flatten_merges_a_range(fd) -> None:
    x = tensor(fd, [-1, 3, 4])
    assert [str(v) for v in fd.ops.flatten(x, 1, -1).shape()] == ["i0", "12"]
    assert fd.ops.flatten(x).ndim == 1
    assert fd.ops.flatten(x, 1, 1) is x


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (2, 1, "start_dim must be <= end_dim"),
        (3, -1, "Invalid start_dim"),
        (0, 3, "Invalid end_dim"),
        (-4, -1, "Invalid start_dim"),
    ],
)
def test_a_flatten_range_is_checked(fd, start, end, message) -> None:
    with pytest.raises(RuntimeError, match=message):
        fd.ops.flatten(tensor(fd, [2, 3, 4]), start, end)


def test_the_element_count_may_not_overflow(fd) -> None:
    with pytest.raises(RuntimeError, match="does not fit into 64 bits"):
        fd.ops.reshape(tensor(fd, [2**40, 2**40]), [-1])


def test_the_original_shape_holds_sizes(fd) -> None:
    x = tensor(fd, [-1, -1])
    with pytest.raises(RuntimeError, match="original_shape says -2 for dimension 0"):
        fd.ops.reshape(x, [-2, -3], [6])
    with pytest.raises(RuntimeError, match="does not fit into 64 bits"):
        fd.ops.reshape(x, [2**40, 2**40], [2**20, -1])


@pytest.mark.parametrize("dtype", [DataType.Double, DataType.Float, DataType.Int32])
def test_any_real_scalar_is_a_size(target, dtype) -> None:
    x = torch.randn(6, 4, device=target)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, -1], contiguity=True)
        rows = fd.define_scalar(None, dtype=dtype)
        half = fd.ops.truediv(fd.ops.size(t, 0), 2)
        assert half.dtype() == DataType.Float
        fd.add_output(fd.ops.reshape(t, [rows, -1]))
        fd.add_output(fd.ops.reshape(t, [half, 8]))
        fd.add_output(fd.ops.reshape(t, [fd.define_scalar(-1.0), fd.define_scalar(3.0)]))
    for number in (2, 24):
        out = fd.execute([x, number if dtype == DataType.Int32 else float(number)])
        assert torch.equal(out[0], x.reshape(number, -1))
        assert torch.equal(out[1], x.reshape(3, 8))
        assert torch.equal(out[2], x.reshape(-1, 3))


def test_a_complex_scalar_is_no_size(fd) -> None:
    t = fd.define_tensor([-1], contiguity=True)
    with pytest.raises(RuntimeError, match="A size must be an integer, but got a scalar of type"):
        fd.ops.reshape(t, [fd.define_scalar(2j), -1])
