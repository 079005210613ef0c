"""The worked examples of segmentation, with their texts, maps and tables."""

from __future__ import annotations

import torch
from cut_definitions import check_cut, check_structure, define, maps, matrix, randn, run_by_hand

from nvfuser import FusionDefinition
from nvfuser.segmentation import ArgumentManager


def reduced_and_subtracted(fd: FusionDefinition):
    t0 = fd.define_tensor([-1, -1], contiguity=True)
    t1 = fd.define_tensor([-1, -1], contiguity=True)
    t2 = fd.ops.max(t0, [1])
    t3 = fd.ops.broadcast(t2, [False, True])
    t4 = fd.ops.sub(t1, t3)
    return fd.ops.exp(t4)


MATRIX = "dtype=DataType.Float, is_cpu=False"
REDUCTION = """
def nvfuser_fusion_id{id}(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], {matrix})
    T1 = fd.ops.max(T0, dims=[1], keepdim=False, dtype=DataType.Null)
    T2 = fd.ops.broadcast(T1, is_broadcast_dim=[False, True])
    fd.add_output(T2)

"""
TAIL = """
def nvfuser_fusion_id{id}(fd : FusionDefinition) -> None :
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], {matrix})
    T1 = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], {matrix})
    T2 = fd.ops.sub(T0, T1)
    T3 = fd.ops.exp(T2)
    fd.add_output(T3)

"""


def test_reduction_broadcast_pointwise(target) -> None:
    """Texts, inputs, outputs, maps and last uses"""
    inputs = [randn(2, 32, target=target), randn(2, 128, target=target)]
    fd = define(reduced_and_subtracted)
    assert fd.id() == 0
    first, second = fd.segment(inputs)
    assert repr(first) == REDUCTION.format(id=1, matrix=MATRIX)
    assert repr(second) == TAIL.format(id=2, matrix=MATRIX)
    assert (first.inputs(), first.outputs()) == ([0], [2])
    assert (second.inputs(), second.outputs()) == ([0, 1], [3])
    assert maps(fd) == [{0: 0, 2: 3}, {0: 1, 1: 3, 3: 5}]
    assert fd.map_value_to_last_used_segment == {0: 0, 1: 1, 3: 1}
    x, y = inputs
    torch.testing.assert_close(fd.execute(inputs)[0], torch.exp(y - x.amax(1, keepdim=True)))


def test_the_table_of_a_run() -> None:
    """The table has these values at the start and behind each segment"""
    inputs = [randn(2, 32), randn(2, 128)]
    fd = define(reduced_and_subtracted)
    segments = fd.segment(inputs)
    manager = ArgumentManager(fd, inputs)
    extents = {-1: 2, -2: 32, -3: 2, -4: 128}
    assert manager.values == {0: inputs[0], 1: inputs[1], **extents}
    manager.put(0, segments[0].execute(manager.arguments(0)))
    assert set(manager.values) == {1, 3, *extents}
    manager.put(1, segments[1].execute(manager.arguments(1)))
    assert set(manager.values) == {5, *extents}
    assert len(manager.outputs()) == 1


def test_a_kept_dimension_has_other_original_indices(target) -> None:
    """segmentation.md 6.1, last paragraph, for max and for sum"""
    for op in ("max", "sum"):

        def build(fd: FusionDefinition, op: str = op):
            t0, t1 = matrix(fd), matrix(fd)
            t2 = getattr(fd.ops, op)(t0, [-1], True)
            return fd.ops.add(t1, t2)

        fd = check_cut(build, [randn(2, 32, target=target), randn(2, 128, target=target)], 2)
        assert maps(fd) == [{0: 0, 2: 2}, {0: 1, 1: 2, 2: 3}]


def softmax_like(fd: FusionDefinition):
    t0 = fd.define_tensor([-1, -1], contiguity=True)
    t1 = fd.ops.max(t0, [1])
    t2 = fd.ops.broadcast(t1, [False, True])
    t3 = fd.ops.sub(t0, t2)
    t4 = fd.ops.exp(t3)
    t5 = fd.ops.sum(t4, [1])
    t6 = fd.ops.broadcast(t5, [False, True])
    return fd.ops.div(t4, t6)


def test_a_row_that_fits_on_chip_is_one_kernel(target) -> None:
    """`[128, 1024]`, and the state that is left: none"""
    x = randn(128, 1024, target=target)
    fd = define(softmax_like)
    assert fd.segment([x]) == []
    for name in ("segments", "segment_index_space_maps", "map_value_to_last_used_segment"):
        assert not hasattr(fd, name)
    torch.testing.assert_close(fd.execute([x])[0], torch.softmax(x, 1))


def test_a_row_that_does_not_fit_is_cut(target) -> None:
    """A row of 2**24 floats; every piece is accepted, and maps keep the rules

    The cut is another one than in the example: where a row-wide result is cheap it is computed
    again from the input instead of crossing, so that less memory moves.
    """
    x = randn(1, 2**24, target=target)
    fd = define(softmax_like)
    segments = fd.segment([x])
    assert len(segments) >= 2
    check_structure(fd)
    manager = ArgumentManager(fd, [x])
    for position, segment in enumerate(segments):
        given = manager.arguments(position)
        segment._setup_schedule(given)
        segment.sched.schedule(segment.sched.find_compatible_schedulers()[0])
        segment._finalize_schedule(given)
        manager.put(position, segment.execute(given))
    torch.testing.assert_close(fd.execute([x])[0], torch.softmax(x, 1), atol=1e-6, rtol=1e-3)


EXPAND = """    T0 = fd.define_tensor(shape=[1], contiguity=[None], {matrix})
    S1 = fd.define_scalar(None, dtype=DataType.Int)
    V2 = fd.define_vector([S1], dtype=DataType.Int)
    T3 = fd.ops.expand(T0, shape=V2)
    T4 = fd.ops.exp(T3)
    fd.add_output(T4)
"""


def test_an_extent_from_elsewhere(target) -> None:
    """The size of a tensor that the piece does not have"""

    def build(fd: FusionDefinition):
        t0 = fd.define_tensor([1], contiguity=[None])
        t1 = fd.define_tensor([-1, -1], contiguity=True)
        s2 = fd.ops.size(t1, 0)
        t4 = fd.ops.expand(t0, [s2])
        t5 = fd.ops.exp(t4)
        t6 = fd.ops.sum(t1, [0, 1])
        return [t5, t6]

    inputs = [randn(1, target=target), randn(3, 4, target=target)]
    fd = check_cut(build, inputs, 2)
    (piece,) = (segment for segment in fd.segments if "expand" in repr(segment))
    assert repr(piece).split("None :\n")[1].rstrip("\n") + "\n" == EXPAND.format(matrix=MATRIX)
    assert fd.segment_index_space_maps[piece] == {0: 0, 1: -2, 4: 5}
    outputs = run_by_hand(fd, inputs)
    torch.testing.assert_close(outputs[0], torch.exp(inputs[0]).expand(3))
