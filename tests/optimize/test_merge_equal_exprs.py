"""Expressions that compute the same."""

from __future__ import annotations

import torch
from pass_case import after, check_pass, check_unchanged, defined, names_of

from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    Val,
    concretize,
    find_concretization,
)


def test_the_same_operation_on_the_same_operands_is_done_once() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        first = fd.ops.sum(fd.ops.exp(x), [1])
        second = fd.ops.sum(fd.ops.exp(x), [1])
        fd.add_output(fd.ops.mul(first, second))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        total = fd.ops.sum(fd.ops.exp(x), [1])
        fd.add_output(fd.ops.mul(total, total))

    check_pass("merge_equal_exprs", before, expected)


def test_which_of_two_outputs_stays_follows_from_their_order() -> None:
    def as_made(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        for out in [fd.ops.exp(x), fd.ops.exp(x)]:
            fd.add_output(out)

    def the_last_first(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        for out in reversed([fd.ops.exp(x), fd.ops.exp(x)]):
            fd.add_output(out)

    for definition in (as_made, the_last_first):
        first, second = after("merge_equal_exprs", definition).outputs()
        assert second.definition().input(0) == first


def test_equal_constants_are_equal_operands() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.add(fd.ops.mul(x, 2.0), fd.ops.mul(x, 2.0)))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        twice = fd.ops.mul(x, 2.0)
        fd.add_output(fd.ops.add(twice, twice))

    check_pass("merge_equal_exprs", before, expected)


def test_zeros_of_both_signs_are_different_constants() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([8])
        fd.add_output(fd.ops.add(x, 0.0))
        fd.add_output(fd.ops.add(x, -0.0))

    check_unchanged("merge_equal_exprs", definition)


def test_all_results_of_an_operation_are_merged() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        _, mean = fd.ops.var_mean(x, [1], 0)
        var, _ = fd.ops.var_mean(x, [1], 0)
        fd.add_output(fd.ops.add(mean, var))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        var, mean = fd.ops.var_mean(x, [1], 0)
        fd.add_output(fd.ops.add(mean, var))

    check_pass("merge_equal_exprs", before, expected)


def test_equal_outputs_are_computed_once_and_both_stay() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.exp(x))
        fd.add_output(fd.ops.exp(x))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        first = fd.ops.exp(x)
        fd.add_output(first)
        fd.add_output(fd.ops.set(first))

    check_pass("merge_equal_exprs", before, expected)
    outputs = names_of(defined(before).outputs())
    assert names_of(after("merge_equal_exprs", before).outputs()) == outputs


def test_an_output_takes_over_the_definition_of_an_equal_tensor() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        inner = fd.ops.exp(x)
        fd.add_output(fd.ops.neg(inner))
        fd.add_output(fd.ops.exp(x))

    def expected(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        result = fd.ops.exp(x)
        fd.add_output(fd.ops.neg(result))
        fd.add_output(result)

    check_pass("merge_equal_exprs", before, expected)


def test_an_output_keeps_its_strides() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 8])
        fd.add_output(fd.ops.neg(fd.ops.set(x)))
        fd.add_output(fd.ops.stride_order(x, [0, 1]))

    fusion = after("merge_equal_exprs", definition)
    assert fusion.outputs()[1].domain().stride_order() == [0, 1]


def test_random_tensors_stay_apart() -> None:
    def definition(fd: FusionDefinition) -> None:
        for _ in range(2):
            fd.add_output(fd.ops.uniform(0.0, 1.0, [4], rng_seed=7, rng_offset=0))

    check_unchanged("merge_equal_exprs", definition)


def test_boundaries_behind_one_value_are_one() -> None:
    def before(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.neg(fd.ops.segment_set(x)))
        fd.add_output(fd.ops.exp(fd.ops.segment_set(x)))

    def expected(fd: FusionDefinition) -> None:
        kept = fd.ops.segment_set(fd.define_tensor([4]))
        fd.add_output(fd.ops.neg(kept))
        fd.add_output(fd.ops.exp(kept))

    check_pass("merge_equal_exprs", before, expected)


def test_boundaries_that_are_returned_stay() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4])
        fd.add_output(fd.ops.exp(fd.ops.segment_set(x)))
        fd.add_output(fd.ops.segment_set(x))

    check_unchanged("merge_equal_exprs", definition)


def test_types_and_axes_of_results_count() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 4])
        fd.add_output(fd.ops.cast(x, DataType.Half))
        fd.add_output(fd.ops.cast(x, DataType.BFloat16))
        fd.add_output(fd.ops.sum(x, [0]))
        fd.add_output(fd.ops.sum(x, [1]))
        fd.add_output(fd.ops.permute(x, [1, 0]))
        fd.add_output(fd.ops.permute(x, [0, 1]))

    check_unchanged("merge_equal_exprs", definition)


def test_sizes_that_are_computed_alike_are_one_value() -> None:
    """Their bytes do not tell how often they were computed, so nothing may depend on it."""

    def concatenated(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.define_tensor([-1], contiguity=True)
        for parts in ([fd.ops.sin(x), y], [fd.ops.cos(x), y], [y, x]):
            fd.add_output(fd.ops.cat(parts, 0))

    def sizes(fusion: Fusion) -> list[Val]:
        return [out.get_logical_domain()[0].extent() for out in fusion.outputs()]

    fusion = defined(concatenated)
    fusion = concretize(fusion, find_concretization(fusion, [torch.empty(3), torch.empty(4)]))
    alike, also_alike, _ = sizes(fusion)
    assert alike is not also_alike
    optimized = fusion.optimize(passes=["merge_equal_exprs"], verify=True)
    alike, also_alike, otherwise = sizes(optimized)
    assert alike is also_alike
    assert alike is not otherwise
