"""How many segments shapes of fusions have, and what crosses between them."""

from __future__ import annotations

import pytest
import torch
from segment_runs import check_runs, define, plan_of, schedulers

from nvfuser_direct import DataType, FusionDefinition, segment

HALF, FLOAT, BF16 = DataType.Half, DataType.Float, DataType.BFloat16


def randn(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(shape, generator=generator).to(dtype)


def crossing(plan) -> list[str]:
    """The dtypes of what crosses."""
    return sorted({e.tensor.name(): e.tensor.dtype().name for e in plan.edges}.values())


# -- boundaries that must or must not appear --


def test_unrelated_chains_are_two() -> None:
    inputs = [randn(10, 20), randn(15)]
    plan = plan_of(lambda fd, a, b: [fd.ops.exp(fd.ops.neg(a)), fd.ops.exp(fd.ops.neg(b))], inputs)
    assert schedulers(plan) == ["pointwise", "pointwise"]
    assert plan.edges == []
    check_runs(plan, inputs)


def test_one_input_broadcast_in_two_ways_makes_two() -> None:
    inputs = [randn(4, 4), randn(3, 4, 4), randn(2, 8, 4, 4)]

    def build(fd, x, a, b):
        ops = fd.ops
        return [
            ops.add(ops.broadcast(x, [True, False, False]), a),
            ops.add(ops.broadcast(x, [True, True, False, False]), b),
        ]

    plan = plan_of(build, inputs)
    assert schedulers(plan) == ["pointwise", "pointwise"]
    check_runs(plan, inputs)


def test_segment_set_cuts() -> None:
    inputs = [randn(7, 9)]
    plan = plan_of(lambda fd, x: fd.ops.neg(fd.ops.segment_set(fd.ops.relu(x))), inputs)
    _, second = plan.groups
    assert [expr.op_name() for expr in second.exprs] == ["UnaryOp"]
    assert [cut.rule for cut in plan.cuts] == ["asked"]
    assert "segment_set asks for a cut" in str(plan.cuts[0])
    check_runs(plan, inputs)


def test_segment_set_that_is_an_output_and_is_read() -> None:
    inputs = [randn(7, 9)]

    def build(fd, x):
        kept = fd.ops.segment_set(x)
        return [kept, fd.ops.mul(kept, 2.0)]

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    check_runs(plan, inputs)


def test_two_segment_sets_of_one_value() -> None:
    inputs = [randn(7, 9)]

    def build(fd, x):
        value = fd.ops.exp(x)
        return fd.ops.add(fd.ops.segment_set(value), fd.ops.segment_set(value))

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    check_runs(plan, inputs)


def test_reduction_then_another_iteration_space() -> None:
    """The reduced rows and those of the last addition are not the same."""
    inputs = [randn(33, 16), randn(16), randn(20, 16)]

    def build(fd, x, y, z):
        ops = fd.ops
        return ops.add(ops.add(ops.max(ops.add(x, 1.0), [0]), y), z)

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    assert [cut.rule for cut in plan.cuts] == ["space"]
    assert plan.edges[0].tensor.rank() <= 2
    check_runs(plan, inputs)


def test_reduction_then_softmax_makes_two() -> None:
    inputs = [randn(32, 64, 8)]

    def build(fd, x):
        ops = fd.ops
        total = ops.sum(ops.add(x, 1.0), [2])
        shifted = ops.sub(total, ops.max(total, [1], keepdim=True))
        powers = ops.exp(shifted)
        return ops.div(powers, ops.sum(powers, [1], keepdim=True))

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    check_runs(plan, inputs, atol=1e-4, rtol=1e-4)


def test_two_reductions_in_a_row_are_two() -> None:
    inputs = [randn(2, 5)]
    plan = plan_of(lambda fd, x: fd.ops.sum(fd.ops.sum(fd.ops.add(x, 1.0), [-1]), [-1]), inputs)
    assert len(plan.groups) == 2
    assert [cut.rule for cut in plan.cuts] == ["pattern"]
    check_runs(plan, inputs)


def test_reductions_over_different_dims_of_one_input_are_at_most_two() -> None:
    inputs = [randn(40, 30)]
    plan = plan_of(lambda fd, x: [fd.ops.sum(x, [0]), fd.ops.sum(x, [1])], inputs)
    assert len(plan.groups) <= 2
    check_runs(plan, inputs, atol=1e-4)


def test_unrelated_reductions_run() -> None:
    inputs = [randn(40, 30), randn(20, 50)]
    plan = plan_of(lambda fd, x, y: [fd.ops.sum(x, [0]), fd.ops.sum(y, [1])], inputs)
    check_runs(plan, inputs, atol=1e-4)


def test_add_permute_mul_with_all_outputs_is_one() -> None:
    inputs = [randn(12, 20)]

    def build(fd, x):
        total = fd.ops.add(x, 1.0)
        turned = fd.ops.permute(total, [1, 0])
        return [total, turned, fd.ops.mul(turned, 2.0)]

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 1
    check_runs(plan, inputs)


def test_views_of_a_computed_value_share_a_segment_without_kernel() -> None:
    inputs = [randn(6, 4)]

    def build(fd, x):
        value = fd.ops.exp(x)
        return [fd.ops.reshape(value, [24]), fd.ops.reshape(value, [3, 8])]

    plan = plan_of(build, inputs, static_sizes=True)
    assert [group.kind for group in plan.groups] == ["kernel", "view"]
    assert {cut.rule for cut in plan.cuts} == {"view"}
    check_runs(plan, inputs)


def test_views_of_an_input_need_no_kernel() -> None:
    inputs = [randn(6, 4)]
    plan = plan_of(lambda fd, x: [fd.ops.permute(x, [1, 0]), fd.ops.exp(x)], inputs)
    assert sorted(group.kind for group in plan.groups) == ["kernel", "view"]
    check_runs(plan, inputs)


# -- what crosses --


def test_chains_of_inputs_are_no_edges() -> None:
    inputs = [randn(6, 4), randn(6, 4)]

    def build(fd, a, b):
        ops = fd.ops
        return ops.add(ops.exp(ops.neg(ops.sin(a))), ops.cos(b))

    plan = plan_of(build, inputs)
    assert schedulers(plan) == ["pointwise"]


def test_segment_set_behind_chains_of_inputs() -> None:
    inputs = [randn(6, 4, dtype=torch.float16), randn(6, 4, dtype=torch.float16)]

    def build(fd, a, b):
        ops = fd.ops
        chains = [ops.sin(ops.neg(ops.cast(x, FLOAT))) for x in (a, b)]
        return ops.segment_set(ops.add(*chains))

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 1


def test_cheap_value_of_an_input_is_computed_where_it_is_read() -> None:
    inputs = [randn(40, 30)]

    def build(fd, x):
        value = fd.ops.neg(x)
        return [fd.ops.sum(value, [0]), fd.ops.sum(value, [1])]

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    assert plan.edges == []
    check_runs(plan, inputs, atol=1e-4)


def test_reductions_read_the_narrow_type() -> None:
    inputs = [randn(40, 30, dtype=torch.bfloat16)]

    def build(fd, x):
        wide = fd.ops.cast(fd.ops.segment_set(x), FLOAT)
        return [fd.ops.sum(wide, [0]), fd.ops.sum(wide, [1])]

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 3
    assert crossing(plan) == ["BFloat16"]
    assert len(plan.edges) == 2
    check_runs(plan, inputs, atol=1e-3)


def test_reductions_squeeze_for_themselves() -> None:
    inputs = [randn(40, 1, 30)]

    def build(fd, x):
        flat = fd.ops.squeeze(fd.ops.segment_set(x), [1])
        return [fd.ops.sum(flat, [0]), fd.ops.sum(flat, [1])]

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 3
    assert {edge.tensor.rank() for edge in plan.edges} == {3}
    check_runs(plan, inputs, atol=1e-4)


def test_reductions_of_one_pattern_share_a_cast() -> None:
    inputs = [randn(40, 30, dtype=torch.bfloat16)]

    def build(fd, x):
        wide = fd.ops.cast(fd.ops.segment_set(x), FLOAT)
        return [fd.ops.sum(wide, [1]), fd.ops.max(wide, [1])]

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    assert sum(expr.op_name() == "UnaryOp" for g in plan.groups for expr in g.exprs) == 1
    check_runs(plan, inputs, atol=1e-3)


def test_constants_never_cross() -> None:
    inputs = [randn(40, 30)]

    def build(fd, x):
        ones = fd.ops.full([40, 30], 1.0, FLOAT)
        wide = fd.ops.add(x, ones)
        return [fd.ops.sum(wide, [0]), fd.ops.sum(fd.ops.mul(x, ones), [1])]

    plan = plan_of(build, inputs, static_sizes=True)
    made_by = {edge.tensor.definition().op_name() for edge in plan.edges}
    assert "FullOp" not in made_by
    check_runs(plan, inputs, atol=1e-4)


def test_sums_over_nested_dims_cross_without_reduced_axes() -> None:
    inputs = [randn(3, 17, 32).transpose(1, 2)]

    def build(fd, x):
        return fd.ops.sum(fd.ops.sum(fd.ops.sum(x, [2]), [0]), [0])

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 3
    check_runs(plan, inputs, atol=1e-4)


def test_sizes_of_another_input_arrive_where_they_are_needed() -> None:
    inputs = [randn(1), randn(5, 7)]

    def build(fd, x, y):
        rows = fd.ops.size(y, 0)
        return [fd.ops.exp(fd.ops.expand(x, [rows])), fd.ops.sum(y, [0, 1])]

    plan = plan_of(build, inputs)
    assert len(plan.groups) == 2
    check_runs(plan, inputs)


# -- aliases --


def test_in_place_update_is_one() -> None:
    inputs = [randn(6, 4)]
    with FusionDefinition() as fd:
        x = fd.define_tensor([6, 4])
        fd.add_output(fd.ops.add(x, 1.0), x)
    plan = segment(fd.fusion, inputs)
    assert len(plan.groups) == 1
    assert plan.late_updates == []
    check_runs(plan, inputs)


def test_earlier_segments_see_what_an_update_overwrites() -> None:
    inputs = [randn(6, 6)]
    with FusionDefinition() as fd:
        x = fd.define_tensor([6, 6])
        fd.add_output(fd.ops.add(x, 1.0), x)
        fd.add_output(fd.ops.sum(fd.ops.exp(x), [1]))
        fd.add_output(fd.ops.sum(x, [0]))
    plan = segment(fd.fusion, inputs)
    check_runs(plan, inputs)


def test_an_update_that_others_would_see_half_done_comes_last() -> None:
    inputs = [randn(6)]
    with FusionDefinition() as fd:
        x = fd.define_tensor([6])
        row = fd.ops.broadcast(x, [True, False])
        column = fd.ops.broadcast(x, [False, True])
        total = fd.ops.add(fd.ops.mul(column, 2.0), fd.ops.expand(row, [6, 6]))
        fd.add_output(total)
        fd.add_output(fd.ops.sum(total, [0]), x)
    plan = segment(fd.fusion, inputs)
    assert len(plan.late_updates) == 1
    check_runs(plan, inputs)


# -- products --


def test_a_product_is_evaluated_alone() -> None:
    inputs = [randn(16, 8), randn(8, 12), randn(12)]

    def build(fd, a, b, bias):
        ops = fd.ops
        return ops.relu(ops.add(ops.matmul(ops.mul(a, 2.0), b), bias))

    plan = plan_of(build, inputs)
    assert [group.kind for group in plan.groups] == ["kernel", "evaluated", "kernel"]
    assert {cut.rule for cut in plan.cuts} == {"library"}
    check_runs(plan, inputs, atol=1e-4)


def test_random_numbers_are_drawn_once() -> None:
    inputs = [randn(40, 30)]

    def build(fd, x):
        noise = fd.ops.uniform(0.0, 1.0, [40, 30], rng_seed=3, rng_offset=0)
        value = fd.ops.mul(x, noise)
        return [fd.ops.sum(value, [0]), fd.ops.sum(value, [1]), fd.ops.sum(noise, [0])]

    plan = plan_of(build, inputs, static_sizes=True)
    drawn = [expr for group in plan.groups for expr in group.exprs if expr.op_name() == "RNGOp"]
    assert len(drawn) == 1
    check_runs(plan, inputs, atol=1e-4)


@pytest.mark.parametrize("shapes", [([6, 4], [3, 8]), ([2, 3, 4], [2, 2, 6])], ids=str)
def test_reshapes_that_conflict_are_cut(shapes: tuple[list[int], list[int]]) -> None:
    inputs = [randn(24)]

    def build(fd, x):
        return [fd.ops.exp(fd.ops.reshape(x, shape)) for shape in shapes]

    plan = plan_of(build, inputs, static_sizes=True)
    assert len(plan.groups) > 1
    check_runs(plan, inputs)


def test_a_refined_reshape_is_no_conflict() -> None:
    inputs = [randn(24)]

    def build(fd, x):
        return [fd.ops.exp(fd.ops.reshape(x, shape)) for shape in ([2, 12], [2, 2, 6])]

    plan = plan_of(build, inputs, static_sizes=True)
    assert len(plan.groups) == 1
    check_runs(plan, inputs)


def test_a_cycle_of_reshapes_is_in_no_segment() -> None:
    inputs = [randn(4, 8)]

    def build(fd, x):
        back = fd.ops.reshape(fd.ops.reshape(x, [32]), [4, 8])
        return fd.ops.add(x, back)

    plan = plan_of(build, inputs, static_sizes=True)
    check_runs(plan, inputs)


def test_a_tensor_and_its_transpose() -> None:
    inputs = [randn(8, 8)]

    def build(fd, x):
        value = fd.ops.exp(x)
        return fd.ops.add(value, fd.ops.permute(value, [1, 0]))

    plan = plan_of(build, inputs)
    check_runs(plan, inputs)


def test_reductions_of_one_shape_are_one() -> None:
    """Long vertical chains of reductions over one pattern share a kernel."""
    inputs = [randn(12, 10, 8)]

    def build(fd, x):
        ops = fd.ops
        first = ops.sum(x, [0])
        second = ops.sum(ops.add(first, x), [0])
        third = ops.sum(ops.add(second, x), [0])
        fourth = ops.sum(third, [0])
        return ops.sum(ops.add(ops.add(fourth, third), third), [0])

    plan = plan_of(build, inputs)
    assert len(plan.groups) >= 2
    check_runs(plan, inputs, atol=1e-2)


def test_unused_inputs_are_no_inputs_of_groups() -> None:
    inputs = [randn(6, 4), randn(6, 4)]
    fd = define(lambda fd, a, b: fd.ops.exp(a), inputs)
    plan = segment(fd.fusion, inputs)
    assert [len(group.inputs) for group in plan.groups] == [1]
