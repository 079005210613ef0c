"""Printed schedules of tensors whose axes or memory are not what their operation makes."""

from __future__ import annotations

import pytest
from schedule_round_trip import check_schedule_round_trip, kernel_source

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    IterDomain,
    MemoryType,
    ParallelType,
    translate_fusion,
)


def test_factored_reductions_that_update_an_input_are_printed() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        updated = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.sum(x, [0])
        fd.add_output(y, updated)
        assert y.get_loop_domain() == y.get_logical_domain()
        y.split(0, 4)
        y.rfactor([0])
    check_schedule_round_trip(fd.fusion)


@pytest.mark.parametrize("inner", [2, 3])
def test_padding_and_clusters_of_axes_that_are_merged_later_are_printed(inner: int) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, 256], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        y.split(1, 64)
        y.split(0, 4)  # [16, 4, 4, 64]
        if inner == 3:
            y.axis(3).parallelize(ParallelType.block_x)
            y.axis(3).pad_to_multiple_of_warp()
        else:
            y.axis(2).parallelize(ParallelType.grid_x)
            y.axis(2).set_clustered_blocks()
        y.merge(inner - 1, inner)
    check_schedule_round_trip(fd.fusion)
    setter = "pad_to_multiple_of_warp()" if inner == 3 else "set_clustered_blocks()"
    assert setter in translate_fusion(fd.fusion, schedule=True)


def test_memory_of_updates_that_differs_from_the_input_is_printed() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, stride_order=[0, 1])
        y = fd.ops.neg(x)
        fd.add_output(y, x)
        assert "set_allocation_domain" not in translate_fusion(fd.fusion, schedule=True)
        y.set_allocation_domain(y.get_logical_domain(), False)
    check_schedule_round_trip(fd.fusion)


def test_caches_that_nothing_reads_leave_the_order_of_results() -> None:
    # Only the first of the three results is used; a copy of the second leads to no output.
    with FusionDefinition() as fd:
        x = fd.define_tensor([13, 16], contiguity=True)
        mean, deviations, _ = fd.ops.welford(x, [1])
        fd.add_output(mean)
        mean.cache_before()
        deviations.cache_before()
    check_schedule_round_trip(fd.fusion)


def test_swizzles_of_reductions_that_are_factored_are_printed() -> None:
    # `swizzle` does not take reductions; what follows the schedule of another tensor may have them.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        t = fd.ops.neg(x)
        y = fd.ops.max(t, [0, 1])
        fd.add_output(y)
        t.split(1, 2)
        t.split(0, 2)
        t.swizzle(1, 3)
        fd.sched.transform_like(t)
        y.rfactor([0, 1, 2])
    check_schedule_round_trip(fd.fusion)


def test_siblings_that_follow_one_after_a_factoring_are_printed() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([3, 31, 4], contiguity=True)
        results = list(fd.ops.welford(x, [0, 2]))
        fd.add_output(results[1])
        results[2].reorder({2: 1})
        results[2].rfactor([0], results)
        results[2].split(0, 16)
    check_schedule_round_trip(fd.fusion)
    assert not kernel_source(fd.fusion, "cpu").startswith("refused")


def test_forks_of_inputs_that_are_outputs_are_printed() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=[False])
        fd.add_output(fd.ops.neg(x))
        fd.add_output(x)
        x.cache_fork()
    assert "tv2 = tv0.cache_fork()" in translate_fusion(fd.fusion, schedule=True)
    check_schedule_round_trip(fd.fusion)


def test_settings_of_tensors_whose_copies_are_taken_back_are_printed() -> None:
    # Printing takes the fork back: the output is in global memory then, and has no settings.
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, 32], contiguity=True)
        t = fd.ops.tanh(x)
        fd.add_output(fd.ops.neg(t))
        fd.add_output(t)
        t.cache_fork()
        t.set_memory_type(MemoryType.shared)
        t.promote_reuse()
    assert "tv1.promote_reuse()" in translate_fusion(fd.fusion, schedule=True)
    check_schedule_round_trip(fd.fusion)


def test_bindings_that_memory_inherits_are_printed() -> None:
    # `IterDomain.split` hands on what the axis is bound to.
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 6], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        rows, columns = y.get_logical_domain()
        rows.parallelize(ParallelType.grid_x)
        outer, inner = IterDomain.split(rows, 2)
        y.set_allocation_domain([columns, outer, inner], True)
    check_schedule_round_trip(fd.fusion)


@pytest.mark.parametrize("bound", [0, 1])
def test_bindings_of_resized_loops_are_printed(bound: int) -> None:
    # A merge hands on the binding of its outer axis, also where axes are made one by one.
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        t = fd.ops.neg(x)
        y = fd.ops.cat([t, t], 0)
        fd.add_output(y)
        y.split(0, 16)
        fd.sched.transform_like(y)
        t.axis(bound).parallelize(ParallelType.grid_x)
        t.merge(0, 1)
        t.axis(0).parallelize(ParallelType.block_x)
    check_schedule_round_trip(fd.fusion)


@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("loops", ["split", "merge", "reorder", "broadcast"])
def test_scatters_in_memory_made_of_their_axes_are_printed(is_split: bool, loops: str) -> None:
    # Memory is made of the axes of the result, loops of those of the positions: one by one.
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 6], contiguity=True)
        index = fd.define_tensor([2, 6], contiguity=True, dtype=DataType.Int)
        y = fd.ops.scatter(fd.ops.neg(x), index, 3.0, 0)
        fd.add_output(y)
        rows, columns = y.get_logical_domain()
        if is_split:
            outer, inner = IterDomain.split(columns, 2)
            y.set_allocation_domain([outer, rows, inner], True)
        else:
            y.set_allocation_domain([IterDomain.merge(rows, columns)], True)
        {
            "split": lambda: y.split(1, 4),
            "merge": lambda: y.merge(0, 1),
            "reorder": lambda: y.reorder({0: 1}),
            "broadcast": lambda: y.broadcast(1, 3),
        }[loops]()
    check_schedule_round_trip(fd.fusion)


def test_scatters_with_a_single_position_are_printed() -> None:
    # Their loops run over the positions, of which there is one where the result has two.
    with FusionDefinition() as fd:
        x = fd.define_tensor([5, 2], contiguity=True)
        index = fd.define_tensor([5, 1], contiguity=[True, None], dtype=DataType.Int)
        y = fd.ops.scatter(fd.ops.neg(x), index, 3.0, 1)
        fd.add_output(y)
        y.cache_before().split(0, 2)
    check_schedule_round_trip(fd.fusion)
    assert "set_loop_domain" not in translate_fusion(fd.fusion, schedule=True)


def test_scatters_in_memory_of_their_own_order_are_printed() -> None:
    # The allocation domain has the axes of the result; the loops run over the positions.
    with FusionDefinition() as fd:
        x = fd.define_tensor([5, 2], contiguity=True)
        index = fd.define_tensor([5, 1], contiguity=[True, None], dtype=DataType.Int)
        y = fd.ops.scatter(fd.ops.neg(x), index, 3.0, 1)
        fd.add_output(y)
        rows, columns = y.get_logical_domain()
        y.set_allocation_domain([columns, rows], True)
        y.merge(1, 0)
    check_schedule_round_trip(fd.fusion)
    assert "set_loop_domain" not in translate_fusion(fd.fusion, schedule=True)
