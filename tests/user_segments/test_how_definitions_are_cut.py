"""Which way a cut is made: whole first, by rules of what goes together, and in which types."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from cut_definitions import check_cut, check_structure, constant, define, matrix, randn

from nvfuser import DataType, FusionDefinition, SchedulerType
from nvfuser_direct import _core

HALF, FLOAT, BF16 = DataType.Half, DataType.Float, DataType.BFloat16
# segmentation.md 8.1, as far as the names are those of schedulers of the package
PRIORITY = [
    SchedulerType.expr_eval,
    SchedulerType.no_op,
    SchedulerType.matmul,
    SchedulerType.reduction,
    SchedulerType.resize,
    SchedulerType.transpose,
    SchedulerType.pointwise,
    SchedulerType.inner_persistent,
    SchedulerType.outer_persistent,
    SchedulerType.inner_outer_persistent,
]


def rows(fd: FusionDefinition) -> Any:
    return fd.ops.sum(matrix(fd), [1])


def softmax(fd: FusionDefinition) -> Any:
    x = matrix(fd)
    value = fd.ops.exp(fd.ops.sub(x, fd.ops.max(x, [1], keepdim=True)))
    return fd.ops.div(value, fd.ops.sum(value, [1], keepdim=True))


def transposed(fd: FusionDefinition) -> Any:
    return fd.ops.exp(fd.ops.permute(matrix(fd), [1, 0]))


def product(fd: FusionDefinition) -> Any:
    return fd.ops.matmul(matrix(fd), matrix(fd))


def sliced(fd: FusionDefinition) -> Any:
    return fd.ops.exp(fd.ops.slice(matrix(fd), [0, 1], [4, 9]))


FIRST = {
    SchedulerType.expr_eval: product,
    SchedulerType.reduction: rows,
    SchedulerType.resize: sliced,
    SchedulerType.transpose: transposed,
    SchedulerType.pointwise: lambda fd: fd.ops.exp(matrix(fd)),
    SchedulerType.inner_persistent: softmax,
}


@pytest.mark.parametrize("kind", FIRST, ids=str)
def test_the_first_scheduler_that_takes_all_does(target, kind) -> None:
    """One segment, by the first yes in the order of priority"""
    fd = define(FIRST[kind])
    inputs = [randn(512, 512, target=target) for _ in fd.inputs()]
    assert fd.segment(inputs) == []
    fd._setup_schedule(inputs)
    takers = fd.sched.find_compatible_schedulers()
    fd._drop_schedule()
    assert takers[0] == kind
    known = [taker for taker in takers if taker in PRIORITY]
    assert known == sorted(known, key=PRIORITY.index)
    fd.execute(inputs, profile=True)
    (kernel,) = fd.profile().kernel_profiles
    assert kernel.scheduler == str(kind).rsplit(".", 1)[-1]


def test_a_segment_set_disables_the_first_try(target) -> None:
    """ "If the fusion has no `segment_set`" """

    def build(fd):
        return fd.ops.neg(fd.ops.segment_set(fd.ops.exp(matrix(fd))))

    fd = check_cut(build, [randn(8, 8, target=target)], 2)
    fd.execute([randn(8, 8, target=target)])
    assert all(len(segment._complete_entry().fec.last_pieces()) == 1 for segment in fd.segments)


# -- 8.3 --


def names_of(segment: FusionDefinition) -> set[str]:
    """The operations that a segment has statements of."""
    return {part.split("(")[0] for part in repr(segment).split("fd.ops.")[1:]}


def holder(fd: FusionDefinition, operation: str) -> set[str]:
    """The operations of the one segment that has the given one."""
    (segment,) = (s for s in fd.segments if operation in names_of(s))
    return names_of(segment)


def test_a_cat_has_its_pads(target) -> None:
    """ "`cat` with its pads" """

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        joined = fd.ops.cat([fd.ops.segment_set(fd.ops.exp(x)), y], 1)
        return [joined, fd.ops.sum(joined, [0])]

    fd = check_cut(build, [randn(5, 3, target=target), randn(5, 4, target=target)])
    assert "pad" in holder(fd, "cat")
    assert not any("pad" in names_of(s) and "cat" not in names_of(s) for s in fd.segments)


def test_boundaries_carry_the_narrow_type(target) -> None:
    """ "Chains of up-casts and down-casts with their neighbours" """

    def build(fd):
        x = fd.define_tensor([-1, -1, -1], contiguity=True, dtype=HALF)
        narrow = fd.ops.cast(fd.ops.sum(fd.ops.exp(fd.ops.cast(x, FLOAT)), [2]), HALF)
        wide = fd.ops.cast(narrow, FLOAT)
        return fd.ops.sum(fd.ops.mul(wide, wide), [0])

    x = randn(6, 7, 8, target=target, dtype=torch.float16)
    fd = check_cut(build, [x], 2, atol=1e-2, rtol=1e-2)
    (crosses,) = (line for line in repr(fd.segments[1]).splitlines() if "define_tensor" in line)
    assert "dtype=DataType.Half" in crosses
    assert "cast" in names_of(fd.segments[1])


LOOKUPS = ["select", "index_select", "gather", "take_along_axis"]


def looked_up(fd: FusionDefinition, lookup: str, value: Any) -> Any:
    """One element of each row, at a position that is an input."""
    if lookup == "select":
        return fd.ops.select(value, fd.define_scalar(dtype=DataType.Int), 1)
    sizes = [1] if lookup == "index_select" else [-1, 1]
    return getattr(fd.ops, lookup)(value, fd.define_tensor(sizes, dtype=DataType.Int), 1)


def position(lookup: str, rows: int, target: str) -> Any:
    if lookup == "select":
        return 2
    return torch.full([1] if lookup == "index_select" else [rows, 1], 2, device=target)


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_a_lookup_of_one_element_goes_with_its_producer(target, lookup) -> None:
    """ "a lookup of one element .. with its **producer**, because its result
    is smaller": what crosses to the product is one element of each row"""

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        element = looked_up(fd, lookup, fd.ops.exp(fd.ops.mul(x, y)))
        if lookup == "select":
            element = fd.ops.broadcast(element, [False, True])
        return fd.ops.matmul(fd.ops.neg(element), fd.define_tensor([1, -1]))

    inputs = [randn(40, 30, target=target), randn(40, 30, target=target)]
    inputs += [position(lookup, 40, target), randn(1, 5, target=target)]
    fd = check_cut(build, inputs, 2, atol=1e-4, rtol=1e-4)
    assert {"exp", "neg", lookup} <= names_of(fd.segments[0])
    assert "matmul" in names_of(fd.segments[1])
    assert "shape=[-1, 1]" in repr(fd.segments[1]), "what crosses"


@pytest.mark.parametrize("keeps_rows", [False, True], ids=["element", "rows"])
@pytest.mark.parametrize("lookup", ["select", "index_select", "take_along_axis"])
def test_a_lookup_goes_with_the_rows_that_it_reads(target, lookup, keeps_rows) -> None:
    """One kernel computes a softmax and an element of each row, as the loss
    of a classifier has it"""

    def build(fd):
        rows = softmax(fd)
        element = fd.ops.neg(fd.ops.log(looked_up(fd, lookup, rows)))
        return [element, rows] if keeps_rows else element

    inputs = [randn(40, 300, target=target), position(lookup, 40, target)]
    check_cut(build, inputs, 1, atol=1e-4, rtol=1e-4)


def test_a_lookup_of_what_is_reduced_waits_for_it(target) -> None:
    """No scheduler takes both: what another thread sums lies in memory before
    any position of it is read"""

    def build(fd):
        total = fd.ops.sum(fd.ops.exp(matrix(fd)), [0])
        index = fd.define_tensor([1], dtype=DataType.Int)
        return fd.ops.neg(fd.ops.index_select(total, index, 0))

    inputs = [randn(40, 30, target=target), torch.tensor([2], device=target)]
    fd = check_cut(build, inputs, 2, atol=1e-4, rtol=1e-4)
    assert "neg" in holder(fd, "index_select")


def test_a_pad_goes_with_its_consumer(target) -> None:
    """ "a `pad` with its **consumer**, because its result is larger" """

    def build(fd):
        value = fd.ops.segment_set(fd.ops.exp(matrix(fd)))
        return fd.ops.neg(fd.ops.pad(value, [1, 1, 2, 2]))

    fd = check_cut(build, [randn(5, 6, target=target)], 2)
    assert "neg" in holder(fd, "pad")
    assert "pad" not in names_of(fd.segments[0])


def test_outputs_do_not_keep_their_readers_apart(target) -> None:
    """ "any producer with any of its direct consumers, also through a
    fusion output" """

    def build(fd):
        first = fd.ops.exp(matrix(fd))
        second = fd.ops.neg(first)
        return [first, second, fd.ops.sum(second, [1])]

    check_cut(build, [randn(5, 6, target=target)], 1)


# -- 8.4 --


def test_what_is_set_aside_is_copied_into_its_readers(target) -> None:
    """ "Forwarded chains are copied into their readers; scalars needed by a
    group are recomputed in it, or become integer inputs where they are extents" """

    def build(fd):
        x = matrix(fd, 3)
        factor = fd.define_scalar(dtype=DataType.Double)
        squared = fd.ops.mul(factor, factor)
        value = fd.ops.abs(fd.ops.neg(x))
        return [fd.ops.mul(fd.ops.sum(value, [dim]), squared) for dim in (0, 1)]

    fd = check_cut(build, [randn(40, 30, 20, target=target), 1.5], 2, atol=1e-4, rtol=1e-4)
    for segment in fd.segments:
        assert {"neg", "abs", "mul", "sum"} <= names_of(segment)
        assert sorted(fd.segment_index_space_maps[segment][i] for i in segment.inputs()) == [0, 1]


# -- 8.7 --


def lowered(run: Any) -> Any:
    return _core.call_with_options(run, ("io_to_lower_precision",), ())


def sum_and_add(fd: FusionDefinition, dtype: DataType) -> tuple[Any, Any]:
    x, y = matrix(fd), matrix(fd)
    total = fd.ops.broadcast(fd.ops.sum(x, [0]), [True, False])
    shifted = fd.ops.add(total, y)
    return fd.ops.cast(shifted, dtype), shifted


def read_types(fd: FusionDefinition) -> list[set[str]]:
    """By segment: types of the inputs that earlier segments made."""
    made: set[int] = set()
    found = []
    for segment in fd.segments:
        indices = fd.segment_index_space_maps[segment]
        lines = [line for line in repr(segment).splitlines() if "define_tensor" in line]
        types = {}
        for line in lines:
            own = int(line.split("=")[0].strip()[1:])
            types[own] = line.split("dtype=DataType.")[1].split(",")[0]
        found.append({types[own] for own in types if indices[own] in made})
        made |= {indices[own] for own in segment.outputs()}
    return found


@pytest.mark.parametrize(("dtype", "name"), [(HALF, "Half"), (BF16, "BFloat16")], ids=str)
def test_a_segment_stores_what_crosses_in_the_type_of_the_output(target, dtype, name) -> None:
    """ "stored in that type (cast down by the writer, up by the
    reader)"; "all edges `Half`" """
    fd = define(lambda fd: sum_and_add(fd, dtype)[0])
    inputs = [randn(33, 20, target=target), randn(36, 20, target=target)]
    lowered(lambda: fd.segment(inputs))
    check_structure(fd)
    assert read_types(fd) == [set(), {name}]
    stored = inputs[0].double().sum(0).to(getattr(torch, name.lower())).double()
    (out,) = lowered(lambda: fd.execute(inputs))
    assert out.dtype == stored.to(out.dtype).dtype
    torch.testing.assert_close(out.double(), stored + inputs[1].double(), rtol=2e-2, atol=5e-2)
    fd.segment(inputs)
    assert read_types(fd) == [set(), {"Float"}], "off by default"


def test_what_leads_to_a_float_output_is_stored_as_float(target) -> None:
    """ "the edge into that output stays `Float`" """

    def build(fd):
        narrow, shifted = sum_and_add(fd, HALF)
        return [narrow, fd.ops.sum(fd.ops.mul(shifted, shifted), [0])]

    fd = define(build)
    inputs = [randn(33, 20, target=target), randn(36, 20, target=target)]
    lowered(lambda: fd.segment(inputs))
    check_structure(fd)
    assert set().union(*read_types(fd)) == {"Float"}


def test_an_output_that_is_read_keeps_its_type(target) -> None:
    """ "nor for an original output" """

    def build(fd):
        x, y = matrix(fd), matrix(fd)
        total = fd.ops.sum(x, [0], keepdim=True)
        return [total, fd.ops.cast(fd.ops.mul(total, y), HALF)]

    fd = define(build)
    inputs = [randn(33, 20, target=target), randn(36, 20, target=target)]
    lowered(lambda: fd.segment(inputs))
    assert set().union(*read_types(fd)) == {"Float"}
    total, _ = fd.execute(inputs)
    torch.testing.assert_close(total, inputs[0].sum(0, keepdim=True), atol=1e-4, rtol=1e-4)


def test_halves_of_a_byte_cross_as_bytes(target) -> None:
    """ "Results do not depend on the cut"; rows of odd length have no place
    for halves of bytes"""

    def build(fd):
        narrow = fd.ops.cast(fd.ops.relu(matrix(fd)), DataType.Float4_e2m1fn)
        kept = fd.ops.segment_set(narrow)
        return fd.ops.sum(fd.ops.cast(kept, FLOAT), [1])

    fd = check_cut(build, [randn(5, 7, target=target)], 2)
    assert read_types(fd) == [set(), {"Float8_e4m3fn"}]


def test_outputs_of_two_types_are_an_error(target) -> None:
    """ "Outputs of both types in one fusion are an error with this option";
    10: "the definition is usable as if it had not been called" """

    def build(fd):
        narrow, shifted = sum_and_add(fd, HALF)
        return [narrow, fd.ops.cast(fd.ops.add(shifted, constant(fd, 1.0)), BF16)]

    fd = define(build)
    inputs = [randn(33, 20, target=target), randn(36, 20, target=target)]
    with pytest.raises(RuntimeError, match="io_to_lower_precision"):
        lowered(lambda: fd.segment(inputs))
    assert not hasattr(fd, "segments")
    assert len(fd.execute(inputs)) == 2
    assert len(fd.segment(inputs)) == 2
