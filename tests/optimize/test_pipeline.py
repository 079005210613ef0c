"""All passes together: what is kept, recorded, dumped and refused."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch
from pass_case import after, check_results, defined, names_of

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    OptimizedFusion,
    ParallelType,
    Refusal,
    UserError,
    evaluate,
    optimization_passes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion

NAMES = [name for name, _ in optimization_passes()]


def definition(fd: FusionDefinition) -> None:
    x = fd.define_tensor([4, 8], dtype=DataType.BFloat16)
    scale = fd.define_scalar(DataType.Double)
    wide = fd.ops.cast(x, DataType.Float)
    total = fd.ops.sum(fd.ops.pow(wide, 2.0), [1], keepdim=True)
    again = fd.ops.sum(fd.ops.mul(wide, fd.ops.mul(wide, 1.0)), [1], keepdim=True)
    result = fd.ops.mul(fd.ops.add(fd.ops.div(wide, total), fd.ops.div(wide, again)), scale)
    fd.add_output(fd.ops.cast(result, DataType.BFloat16), x)
    fd.add_output(fd.ops.stride_order(fd.ops.squeeze(again, [1]), [0]))


def test_the_result_computes_what_the_definition_computes() -> None:
    fusion = defined(definition)
    optimized = fusion.optimize(verify=True)
    assert isinstance(optimized, OptimizedFusion)
    assert len(optimized.exprs()) < len(fusion.exprs())
    check_results(fusion, optimized, tolerance=1e-2)


def test_the_definition_stays_as_it_is() -> None:
    fusion = defined(definition)
    copy = fusion.clone()
    fusion.optimize()
    assert fusion == copy


def test_inputs_and_outputs_are_those_of_the_definition() -> None:
    fusion = defined(definition)
    optimized = fusion.optimize()
    assert names_of(optimized.inputs()) == names_of(fusion.inputs())
    assert names_of(optimized.outputs()) == names_of(fusion.outputs())
    for before, now in zip(fusion.outputs(), optimized.outputs(), strict=True):
        aliases = fusion.alias_of(before), optimized.alias_of(now)
        assert [alias and (alias[0].name(), alias[1]) for alias in aliases[:1]] == [
            alias and (alias[0].name(), alias[1]) for alias in aliases[1:]
        ]
        assert now.domain().stride_order() == before.domain().stride_order()
        assert now.memory_type() == before.memory_type()
    assert optimized.arguments() == [0, 1]


def test_outputs_with_axes_that_only_memory_has_stay_as_they_are() -> None:
    """Scales of blocks lie in whole tiles."""

    def quantized(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1], contiguity=True)
        rows = [fd.define_tensor([-1], contiguity=True, dtype=DataType.Int32) for _ in range(2)]
        codes, scales = fd.ops.nv_grouped_block_quantize(fd.ops.mul(x, 1.0), *rows)
        fd.add_output(codes)
        fd.add_output(scales)

    fusion = defined(quantized)
    optimized = fusion.optimize(verify=True)
    assert len(optimized.exprs()) < len(fusion.exprs())
    sizes = [[str(axis.extent()) for axis in each.outputs()[1].domain().allocation()]
             for each in (fusion, optimized)]  # fmt: skip
    assert sizes[0] == sizes[1]


def test_new_statements_have_the_line_of_what_they_stand_for() -> None:
    fusion = defined(definition)
    lines = {str(expr.location()) for expr in fusion.exprs()}
    assert {str(expr.location()) for expr in fusion.optimize().exprs()} <= lines


def test_passing_again_changes_nothing() -> None:
    optimized = defined(definition).optimize()
    again = optimized.optimize(record_passes=True)
    assert [record.text for record in again.passes] == ["(unchanged)\n"] * len(NAMES)


def test_passes_are_listed_with_time_and_text() -> None:
    passes = defined(definition).optimize(record_passes=True).passes
    assert [record.name for record in passes] == NAMES
    assert all(record.milliseconds >= 0 for record in passes)
    texts = {record.name: record.text for record in passes}
    assert texts["remove_empty"] == "(unchanged)\n"
    assert "%kernel_math" in texts["merge_equal_exprs"]
    assert all(record.text == "" for record in defined(definition).optimize().passes)


def test_until_is_the_last_pass_that_runs() -> None:
    fusion = defined(definition)
    for count, name in enumerate(NAMES, start=1):
        assert [record.name for record in fusion.optimize(until=name).passes] == NAMES[:count]


def test_single_passes_run_in_their_order() -> None:
    wanted = [NAMES[2], NAMES[0]]
    passes = defined(definition).optimize(passes=wanted).passes
    assert [record.name for record in passes] == [NAMES[0], NAMES[2]]


def test_one_pass_after_the_other_is_the_pipeline() -> None:
    fusion = defined(definition)
    single = fusion.optimize(passes=[])
    for name in NAMES:
        single.run_pass(name)
    assert single.print_math() == fusion.optimize().print_math()


CALLS: dict[str, Callable[[Fusion], object]] = {
    "until": lambda fusion: fusion.optimize(until="fold_cast"),
    "passes": lambda fusion: fusion.optimize(passes=["fold_cast"]),
    "run_pass": lambda fusion: fusion.optimize().run_pass("fold_cast"),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_unknown_pass_is_an_error_that_suggests_one(call: str) -> None:
    fusion = defined(definition)
    with pytest.raises(ValueError, match='There is no pass "fold_cast"') as error:
        CALLS[call](fusion)
    assert 'did you mean "fold_casts"?' in str(error.value)


def test_a_schedule_is_not_optimized() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.neg(fd.define_tensor([4, 8]))
        fd.add_output(y)
    y.split(0, 2)
    y.axis(0).parallelize(ParallelType.grid_x)
    with pytest.raises(UserError, match="take definitions, before they are scheduled"):
        fd.fusion.optimize()


def test_open_shapes_are_resolved_first() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        fd.add_output(fd.ops.reshape(x, [fd.define_scalar(DataType.Int), 4]))
    with pytest.raises(UserError, match="take definitions whose shapes are resolved"):
        fd.fusion.optimize()
    refusal = fd.fusion.try_optimize()
    assert isinstance(refusal, Refusal)
    assert isinstance(defined(definition).try_optimize(), OptimizedFusion)


def test_a_dump_shows_what_each_pass_changes() -> None:
    script = (
        "from nvfuser_direct import FusionDefinition\n"
        "with FusionDefinition() as fd:\n"
        "    fd.add_output(fd.ops.neg(fd.ops.mul(fd.define_tensor([8]), 1.0)))\n"
        "fd.fusion.optimize()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NVFUSER_DUMP": "pre_segmenter_logging"},
        capture_output=True,
        text=True,
        check=True,
    )
    shown = result.stdout
    assert "Before passes:" in shown
    assert "After fold_casts:\n(unchanged)\n" in shown
    changes = shown.partition("After simplify_pointwise:\n")[2].partition("After")[0]
    assert "- " in changes
    assert "+ " in changes


def test_random_numbers_are_those_of_the_definition() -> None:
    def random(fd: FusionDefinition) -> None:
        x = fd.define_tensor([8])
        fd.ops.uniform(0.0, 1.0, [8])  # nothing reads it
        fd.add_output(fd.ops.add(fd.ops.uniform(0.0, 1.0, [8]), fd.ops.mul(x, 1.0)))
        fd.add_output(fd.ops.uniform(0.0, 1.0, [8]))

    fusion = defined(random)
    optimized = fusion.optimize(verify=True)
    results = []
    for each in (fusion, optimized):
        torch.manual_seed(3)
        results.append(evaluate(each, [torch.zeros(8)]))
    for a, b in zip(*results, strict=True):
        assert torch.equal(a, b)


def test_each_pass_alone_keeps_the_results() -> None:
    for name in NAMES:
        check_results(defined(definition), after(name, definition), tolerance=1e-2)
