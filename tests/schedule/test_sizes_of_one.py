"""csrc/transform/redefine.cpp: dimensions that have one element by the sizes of a run are
broadcasts, and the definition and its printed schedule say so."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from scheduled_runs import check_close, check_prints_as_python, rebuilt

from nvfuser_direct import (
    DataType,
    Fusion,
    FusionDefinition,
    KernelExecutor,
    SchedulerType,
    UserError,
    concretize,
    evaluate,
    find_concretization,
    schedule,
    translate_fusion,
)

INDEX = DataType.Index


def first_column(fd, x):
    return fd.ops.slice(x, [0, 0], [60, 1])


def columns_between(fd, x, start, stop):
    return fd.ops.slice(x, [0, start], [60, stop])


def given_columns_between(fd, x, start, stop):
    return fd.ops.slice(x, [2, start], [x.size(0), stop], manual_normalization=True)


def part_of_a_part(fd, x, stop):
    return fd.ops.slice(fd.ops.slice(x, [0, 0], [60, stop]), [2, 0], [5, stop])


def part_that_meets_the_whole(fd, x, stop):
    return fd.ops.mul(fd.ops.slice(x, [0, 0], [x.size(0), stop]), x)


def cropped(fd, x, left, right):
    return fd.ops.pad(x, [left, right])


def cropped_and_padded(fd, x, left, right):
    return fd.ops.pad(x, [left, right, 1, 2], 3.0)


def stacked(fd, x, y):
    return fd.ops.cat([x, y], 0)


def filled(fd, x, size):
    return fd.ops.add(x, fd.ops.full([x.size(0), size], 2.0, DataType.Float))


def filled_like(fd, x):
    return fd.ops.mul(x, fd.ops.full([x.size(0), x.size(1)], 2.0, DataType.Float))


def counted(fd, x, size):
    return fd.ops.add(x, fd.ops.iota(size, 3, 2, DataType.Int))


def unit_matrix(fd, x, size):
    return fd.ops.add(x, fd.ops.eye(size, size, DataType.Float))


def drawn(fd, x, size):
    noise = fd.ops.uniform(0.0, 1.0, [x.size(0), size], rng_seed=7, rng_offset=size)
    return fd.ops.add(x, noise)


def size_in_the_math(fd, x, stop):
    part = fd.ops.slice(x, [0, 0], [60, stop])
    twos = fd.ops.full([part.size(0), part.size(1)], 2.0, DataType.Float)
    return fd.ops.mul(fd.ops.add(part, twos), fd.ops.cast(part.size(1), DataType.Float))


X = [64, 31]
CASES = [
    (first_column, [X]),
    (first_column, [[64, 1]]),
    (first_column, [[1, 1]]),
    (columns_between, [X, 3, 4]),
    (columns_between, [X, -3, -2]),
    (columns_between, [X, 30, 99]),
    (columns_between, [[64, 1], 0, 5]),
    (given_columns_between, [X, 5, 6]),
    (part_that_meets_the_whole, [X, 1]),
    (cropped, [X, -20, -10]),
    (cropped, [[64, 1], 0, 0]),
    (cropped, [[64, 0], 0, 1]),
    (cropped_and_padded, [X, 2, -32]),
    (stacked, [[1, 7], [0, 7]]),
    (stacked, [[0, 7], [1, 7]]),
    (filled, [X, 1]),
    (filled_like, [[64, 1]]),
    (counted, [X, 1]),
    (unit_matrix, [X, 1]),
    (drawn, [X, 1]),
    (size_in_the_math, [X, 1]),
]
NAMES = [f"{build.__name__}-{args}" for build, args in CASES]


def define(build: Any, args: list[Any]) -> FusionDefinition:
    """A reader behind it makes it a kernel."""
    with FusionDefinition() as fd:
        operands = [
            fd.define_tensor([-1] * len(arg), contiguity=True)
            if isinstance(arg, list)
            else fd.define_scalar(dtype=DataType.Int)
            for arg in args
        ]
        fd.add_output(fd.ops.neg(build(fd, *operands)))
    return fd


def inputs_for(args: list[Any], target: str = "cpu") -> list[Any]:
    return [torch.randn(arg, device=target) if isinstance(arg, list) else arg for arg in args]


def concretized(build: Any, args: list[Any]) -> Fusion:
    fusion = define(build, args).fusion
    return concretize(fusion, find_concretization(fusion, inputs_for(args)))


def broadcasts(fusion: Fusion) -> list[list[bool]]:
    return [
        [axis.is_broadcast() for axis in tensor.get_logical_domain()] for tensor in fusion.tensors()
    ]


def line_with(fusion: Fusion, call: str) -> str:
    (line,) = (line.strip() for line in translate_fusion(fusion).splitlines() if call in line)
    return line


@pytest.mark.parametrize(("build", "args"), CASES, ids=NAMES)
def test_the_schedule_runs_again_as_the_same_kernel(target, build, args) -> None:
    fusion = concretized(build, args)
    assert broadcasts(rebuilt(translate_fusion(fusion))) == broadcasts(fusion)
    data = inputs_for(args, target)
    expected = evaluate(fusion, data)
    ran = 0
    for kind in ("cuda", "cpu"):
        for scheduler in schedule.find_compatible_schedulers(fusion, data, kind):
            if scheduler in (SchedulerType.no_op, SchedulerType.expr_eval):
                continue
            scheduled = fusion.clone()
            params = schedule.schedule(scheduled, scheduler, data, kind)
            check_prints_as_python(scheduled)
            text = translate_fusion(scheduled, schedule=True)
            again = rebuilt(text)
            assert translate_fusion(again, schedule=True) == text
            executor = KernelExecutor()
            executor.compile(again, data)
            for out, reference in zip(
                executor.run(data, params.lparams, params.cparams), expected, strict=True
            ):
                check_close(out, reference)
            ran += 1
    assert ran > 0


@pytest.mark.parametrize(
    ("build", "args", "call", "text"),
    [
        (first_column, [X], "slice", "end_indices=[c2, 1], strides=[1, 1], manual_norm"),
        (first_column, [X], "slice", "clip_ends=False)"),
        (first_column, [[60, 2]], "slice", "clip_ends=False)"),
        (given_columns_between, [X, 5, 6], "add(c", "= fd.ops.add("),
        (cropped, [X, -20, -10], "pad(", "pad_widths=["),
        (filled, [X, 1], "full(", "shape=[c1, 1]"),
        (counted, [X, 1], "iota(", "length=1"),
        (unit_matrix, [X, 1], "eye(", "eye(1, 1, "),
        (drawn, [X, 1], "uniform(", ", 1], "),
    ],
)
def test_the_text_says_that_a_size_is_one(build, args, call, text) -> None:
    assert text in line_with(concretized(build, args), call)


def test_a_part_of_a_part_is_a_broadcast_again() -> None:
    fusion = concretized(part_of_a_part, [X, 1])
    again = rebuilt(translate_fusion(fusion))
    assert broadcasts(again) == broadcasts(fusion)
    data = torch.randn(64, 31)
    (out,) = evaluate(again, [data, 1])
    torch.testing.assert_close(out, -data[2:5, :1])


def test_other_sizes_stay_as_they_are_written() -> None:
    assert "clip_ends" not in translate_fusion(define(first_column, [X]).fusion)
    for args in ([X, 0, 2], [X, 3, 3]):
        fusion = concretized(columns_between, args)
        assert "clip_ends" not in translate_fusion(fusion)


def test_a_part_of_one_element_that_is_the_whole_is_a_copy() -> None:
    """Its rows are an ordinary dimension, which stays one."""
    lines = concretized(first_column, [[64, 1]]).print_math()
    assert "= slice(" in lines
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1])
        y = fd.ops.slice(x, [0, 0], [x.size(0), fd.define_scalar(dtype=DataType.Int)])
        fd.add_output(fd.ops.neg(y))
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, [torch.empty(4, 1), 3]))
    assert "= Set(" in fusion.print_math()
    assert "slice" not in fusion.print_math()


def test_the_largest_element_alone_is_a_broadcast() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        values, places = fd.ops.topk(x, fd.define_scalar(dtype=DataType.Int), 1)
        fd.add_output(values)
        fd.add_output(places)
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, [torch.empty(4, 9), 1]))
    assert all(out.axis(1).is_broadcast() for out in fusion.outputs())
    assert "= fd.ops.topk(tv0, 1, dim=1" in line_with(fusion, "topk(")
    assert broadcasts(rebuilt(translate_fusion(fusion))) == broadcasts(fusion)


def test_statements_that_are_made_anew_keep_their_line() -> None:
    fusion = concretized(first_column, [X])
    line = first_column.__code__.co_firstlineno + 1
    source = fusion.outputs()[0].definition().input(0)
    assert source.definition().location() == (__file__, line)


# ---- In the place of automatic schedules ---------------------------------------------------------


def run_with_sizes(fd: FusionDefinition, data: torch.Tensor) -> None:
    part, whole = fd.execute([data])
    torch.testing.assert_close(part, -data[:60, :1], rtol=0, atol=0)
    torch.testing.assert_close(whole, data.relu(), rtol=0, atol=0)


@pytest.mark.parametrize("rows", [64, 1])
def test_a_printed_schedule_takes_the_place_of_the_automatic_one(target, rows) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.slice(x, [0, 0], [60, 1])))
        fd.add_output(fd.ops.relu(x))
    data = torch.randn(rows, 31, device=target)
    run_with_sizes(fd, data)
    for segment, text in enumerate(fd.fec.schedules([data])):
        fd.fec.use_schedule(segment, text)
    run_with_sizes(fd, data)
    assert "schedule of the user" in fd.fec.explain([data])
    for shape in ([rows, 31], [rows, 30], [rows, 1], [70, 31], [1, 1], [2, 2], [5, 0], [0, 31]):
        run_with_sizes(fd, torch.randn(shape, device=target))
        run_with_sizes(fd, data)


def test_a_printed_schedule_by_itself_refuses_sizes_that_it_is_not_for(target) -> None:
    fusion = concretized(first_column, [X])
    data = torch.randn(64, 31, device=target)
    scheduled = fusion.clone()
    schedule.schedule(scheduled, SchedulerType.resize, [data], target)
    executor = KernelExecutor()
    executor.compile(rebuilt(translate_fusion(scheduled, schedule=True)), [data])
    (out,) = executor.run([data])
    torch.testing.assert_close(out, -data[:60, :1])
    with pytest.raises(UserError, match=r"A slice takes positions of dimension 1 of T0"):
        executor.run([torch.randn(64, 0, device=target)])


@pytest.mark.parametrize("shape", [(16, 1, 7), (4, 1, 1), (1, 1, 1)])
def test_a_slice_that_cuts_nothing_off_has_the_schedule_of_what_is_read_beside_it(
    target, shape
) -> None:
    """Its axis of one element is resized by nothing, which makes no axis where it is repeated."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1, -1], contiguity=[True, None, True], dtype=DataType.Int32)
        own = fd.ops.bitwise_or(x, x)
        stop = fd.ops.minimum(x.size(2), x.size(1))
        column = fd.ops.slice(own, [0, 0, 0], [x.size(0), 1, stop], manual_normalization=True)
        turned = fd.ops.permute(own, [1, 0, 2])
        repeated = fd.ops.broadcast(turned, [False, False, False, True])
        fd.add_output(column)
        fd.add_output(fd.ops.expand(repeated, [1, shape[0], shape[2], 2]))
        fd.add_output(turned)
    data = torch.randint(0, 9, shape, dtype=torch.int32, device=target)
    found = fd.execute([data])
    repeated_data = data.permute(1, 0, 2)[..., None].expand(1, shape[0], shape[2], 2)
    for own_result, wanted in zip(
        found, [data[:, :, :1], repeated_data, data.permute(1, 0, 2)], strict=True
    ):
        assert torch.equal(own_result, wanted)
