"""Definitions of the frontend's own tests, cut or written again from their IR."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
import torch
from cut_definitions import check_structure, copied, define, matrix, randn, reread, run_by_hand

from nvfuser import DataType, FusionDefinition

sys.path.insert(0, str(Path(__file__).parents[1] / "frontend"))
from old_scripts import SCRIPTS


def compare(found, expected, given, before) -> None:
    assert len(found) == len(expected)
    for own, reference in zip([*found, *given], [*expected, *before], strict=True):
        if isinstance(own, torch.Tensor):
            torch.testing.assert_close(own, reference, rtol=2e-5, atol=2e-5, equal_nan=True)


def check_again(fd: FusionDefinition, inputs: list, expected: list, before: list) -> None:
    """`segment`, and where that finds one kernel, the whole definition as one segment."""
    if fd.segment(inputs):
        check_structure(fd)
        for run in (fd.execute, lambda given: run_by_hand(fd, given)):
            given = copied(inputs)
            compare(run(given), expected, given, before)
        return
    assert fd._setup_segmentation(inputs) == 1
    whole = FusionDefinition()
    if not fd._segment_plan.groups:  # all outputs are inputs
        return
    indices = fd._build_segment(whole, 0)
    returned = fd._segment_plan.returned
    fd._finalize_segmentation()
    assert reread(repr(whole)).id() == whole.id()
    values = dict(zip(fd.inputs(), inputs, strict=True))
    sizes = [size for x in inputs if isinstance(x, torch.Tensor) for size in x.shape]
    values.update(zip(fd.extents(), sizes, strict=True))
    given = copied([values[indices[own]] for own in whole.inputs()])
    outputs = whole.execute(given)
    values.update({indices[own]: out for own, out in zip(whole.outputs(), outputs, strict=True)})
    compare([values[index] for index in returned], expected, [], [])


@pytest.mark.parametrize("name", SCRIPTS)
def test_old_scripts_in_segments(name, target, rng) -> None:
    """ "written again under a new object, `segment`, `execute`, compare" """
    script = SCRIPTS[name]
    if not script.check_values:
        return  # random numbers
    inputs = [x.to(target) if isinstance(x, torch.Tensor) else x for x in script.inputs(rng)]
    if not any(isinstance(x, torch.Tensor) for x in inputs):
        return  # nothing says where it runs

    def defined() -> FusionDefinition:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            with FusionDefinition() as fd:
                script.define(fd)
        return fd

    before = copied(inputs)
    expected = defined().execute(before)
    check_again(defined(), inputs, expected, before)


def check(build, inputs: list) -> FusionDefinition:
    before = copied(inputs)
    expected = define(build).execute(before)
    fd = define(build)
    check_again(fd, inputs, expected, before)
    return fd


def test_a_sum_of_a_slice_reshaped_into_broadcasts(target) -> None:
    """Extents of resolved dims"""

    def build(fd):
        x = matrix(fd)
        part = fd.ops.slice(x, [0, 0], [4, 6], [1, 1])
        cut = fd.ops.segment_set(fd.ops.exp(fd.ops.reshape(part, [4, 1, 6, 1])))
        return fd.ops.sum(cut, [0, 1])

    assert len(check(build, [randn(5, 7, target=target)]).segments) == 2


@pytest.mark.parametrize("lonely", [False, True], ids=["all padded", "one without pad"])
def test_concatenations_of_symbolic_sizes(target, lonely) -> None:
    """Sizes that exist only inside the operation"""

    def build(fd):
        tensors = [matrix(fd) for _ in range(1 if lonely else 3)]
        values = [fd.ops.segment_set(fd.ops.exp(t)) for t in tensors]
        return fd.ops.neg(fd.ops.cat(values, 1))

    shapes = [(4, n) for n in ((3,) if lonely else (3, 5, 1))]
    check(build, [randn(*shape, target=target) for shape in shapes])


def test_a_squeeze_of_a_reshape_that_resolves_in_a_run(target) -> None:
    """Sizes and strides of a resolved boundary value"""

    def build(fd):
        x = matrix(fd)
        sizes = fd.define_vector(3)
        value = fd.ops.reshape(fd.ops.exp(x), sizes)
        return fd.ops.neg(fd.ops.segment_set(fd.ops.squeeze(value, [1])))

    x = randn(4, 6, target=target)
    fd = define(build)
    assert len(fd.segment([x, 8, 1, 3])) == 2
    check_structure(fd)
    torch.testing.assert_close(fd.execute([x, 8, 1, 3])[0], -torch.exp(x).reshape(8, 3))


def test_an_empty_branch(target) -> None:
    """Outputs without definition"""

    def build(fd):
        x = matrix(fd)
        y = fd.define_tensor([0, -1], contiguity=True)
        joined = fd.ops.cat([fd.ops.exp(x), fd.ops.neg(y)], 0)
        return [fd.ops.segment_set(fd.ops.sin(joined)), fd.ops.sum(y, [0])]

    check(build, [randn(4, 6, target=target), randn(0, 6, target=target)])


def test_composite_operations_cut_inside(target) -> None:
    """A boundary value without a state"""

    def build(fd):
        x, y = matrix(fd, dtype=DataType.Half), matrix(fd)
        value = fd.ops.exp(x)  # in Float, inside the operation
        total = fd.ops.var(value, [0], 1, False)
        return fd.ops.add(y, fd.ops.broadcast(total, [True, False]))

    x = randn(300, 40, target=target, dtype=torch.float16)
    fd = check(build, [x, randn(7, 40, target=target)])
    states = 9
    private = {
        index
        for indices in fd.segment_index_space_maps.values()
        for index in indices.values()
        if index >= states
    }
    assert len(fd.segments) == 2
    assert private or all(index < states for index in fd.map_value_to_last_used_segment)
