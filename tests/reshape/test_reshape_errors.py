"""Refusals of reshapes: for which shapes, when, and in which words."""

from __future__ import annotations

import re

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition, define_scalar

COUNTS = "Total element counts across view operation must match"


def define(old: list[int], new: list[object]) -> FusionDefinition:
    """A reshape; "s" among the new sizes is a scalar input."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(old, [None if size == 1 else True for size in old])
        sizes = [fd.define_scalar(DataType.Int) if size == "s" else size for size in new]
        fd.add_output(fd.ops.reshape(x, sizes))
    return fd


STATIC = [
    ([2, 3], [7], COUNTS),
    ([2, 3], [4, -1], "Cannot infer the actual size of -1 output domain"),
    ([2, 3], [-1, -1], "Only one dimension can be inferred"),
    ([2, 3], [-1, -1], "A maximum of one value of -1 can be provided to reshape."),
    ([2, 0], [-1, -1], "Only one dimension can be inferred"),
    ([-1, 3], [-1, -1], "A maximum of one value of -1 can be provided to reshape."),
    ([2, 3], [-2, 3], "The value -2 at index 0 was neither symbolic(-1)"),
    ([-1, 3], [3, -5], "The value -5 at index 1 was neither symbolic(-1)"),
    ([2, 0], [3, 4], "Output shape must have at least one 0 when input shape does"),
    ([], [2], "Zero-dim tensors may only be reshaped to tensors with a single element"),
]


@pytest.mark.parametrize(("old", "new", "gist"), STATIC)
def test_errors_at_definition(old, new, gist) -> None:
    """reshape.md 9, rows "static", "found at definition" and "recording" """
    with pytest.raises(RuntimeError, match=re.escape(gist)):
        define(old, new)


DYNAMIC = [
    ([-1, -1], [3, 3], [2, 4], [], COUNTS),
    ([-1, -1], ["s", "s"], [2, 3], [7, 1], COUNTS),
    ([-1, -1], ["s", -1], [2, 3], [4], COUNTS),
    ([-1, -1], ["s", "s"], [2, 3], [-1, 6], "Values of -1 passed to reshape must be constant"),
    ([-1, -1], ["s", "s"], [2, 0], [3, 4], "Output shape must have at least one 0 when input"),
    ([], ["s"], [], [2], "Zero-dim tensors may only be reshaped to tensors with a single element"),
]


@pytest.mark.parametrize(("declared", "new", "shape", "sizes", "gist"), DYNAMIC)
def test_errors_of_a_run(target, declared, new, shape, sizes, gist) -> None:
    """reshape.md 9, rows "dynamic" """
    fd = define(declared, new)
    with pytest.raises(RuntimeError, match=gist):
        fd.execute([torch.zeros(shape, device=target), *sizes])


def test_the_texts_of_run_time_sizes() -> None:
    """reshape.md 9: the whole sentence about -1"""
    fd = define([-1, -1], ["s", "s"])
    gist = "Values of -1 passed to reshape must be constant at definition."
    with pytest.raises(RuntimeError, match=re.escape(gist)):
        fd.execute([torch.zeros(2, 3), -1, 6])


@pytest.mark.parametrize(
    ("old", "new", "inputs"), [([2, 3], [7], None), ([-1, -1], ["s"], [torch.zeros(2, 3), 7])]
)
def test_the_count_message_names_everything(old, new, inputs) -> None:
    """reshape.md 9 and 10.3: both counts, both shapes, operand, result or the Python line"""
    with pytest.raises(RuntimeError) as error:
        define(old, new).execute(inputs or [])
    text = str(error.value)
    assert f"{COUNTS}: 6 vs 7" in text
    assert "[2, 3] to [7]" in text
    assert "T0_g_float" in text
    assert "test_reshape_errors.py:" in text


def test_a_size_that_no_input_determines() -> None:
    """reshape.md 9: "Cannot evaluate the extent of .." """
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        unknown = define_scalar(DataType.Int)  # registered as no input
        fd.add_output(fd.ops.reshape(x, [unknown, -1]))
    gist = "Cannot evaluate the extent of an output domain of reshape"
    with pytest.raises(RuntimeError, match=gist):
        fd.execute([torch.zeros(2, 3)])


def test_the_old_spelling_names_both_ranks() -> None:
    """reshape.md 9: `original_shape` has the wrong rank; two -1 of the constant list form"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([2, 3])
        with pytest.raises(RuntimeError, match="has rank 1, but the operand has rank 2"):
            fd.ops.reshape(x, [6], [2, 3])
        with pytest.raises(RuntimeError, match="Only one dimension can by inferred"):
            fd.ops.reshape(x, [2, 3], [-1, -1])


def test_a_squeeze_of_a_dimension_that_came_out_larger(target) -> None:
    """reshape.md 9: `must concretize to IterType::Broadcast but found`"""
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1]), fd.define_vector(2))
        fd.add_output(fd.ops.squeeze(y, [1]))
    x = torch.randn(3, 4, device=target)
    assert torch.equal(fd.execute([x, 12, 1])[0], x.reshape(12))
    gist = "must concretize to IterType::Broadcast but found"
    with pytest.raises(RuntimeError, match=gist):
        fd.execute([x, 6, 2])


def test_an_expand_of_a_dimension_that_came_out_unequal(target) -> None:
    """reshape.md 9: `Mismatch in sizes when concretizing expand.`"""
    with FusionDefinition() as fd:
        y = fd.ops.reshape(fd.define_tensor([-1, -1]), fd.define_vector(2))
        fd.add_output(fd.ops.expand(y, [y.size(0), fd.define_scalar(DataType.Int)]))
    x = torch.randn(3, 4, device=target)
    assert torch.equal(fd.execute([x, 12, 1, 5])[0], x.reshape(12, 1).expand(12, 5))
    assert torch.equal(fd.execute([x, 4, 3, 3])[0], x.reshape(4, 3))
    with pytest.raises(RuntimeError, match=r"Mismatch in sizes when concretizing expand\."):
        fd.execute([x, 4, 3, 5])


@pytest.mark.parametrize(
    ("start", "end", "gist"),
    [
        (3, -1, "Invalid start_dim"),
        (0, 3, "Invalid end_dim"),
        (2, 1, "start_dim must be <= end_dim"),
    ],
)
def test_flatten_ranges(start, end, gist) -> None:
    """reshape.md 9: `flatten` range"""
    with FusionDefinition() as fd, pytest.raises(RuntimeError, match=gist):
        fd.ops.flatten(fd.define_tensor([2, 3, 4]), start, end)


def test_products_of_sizes_are_checked_for_overflow() -> None:
    """reshape.md 3: at definition and in a run"""
    with pytest.raises(RuntimeError, match="does not fit into 64 bits"):
        define([2**40, 2**40], [-1])
    fd = define([-1], ["s", "s", "s"])
    with pytest.raises(RuntimeError, match="64 bits"):
        fd.execute([torch.zeros(4), 2**40, 2**40, 1])


def test_a_size_of_zero_needs_an_empty_operand(target) -> None:
    """reshape.md 3 and 9: a 0 that arrives at run time has another number of elements"""
    fd = define([-1, -1], ["s", "s"])
    with pytest.raises(RuntimeError, match=f"{COUNTS}: 6 vs 0"):
        fd.execute([torch.zeros(2, 3, device=target), 0, 6])
