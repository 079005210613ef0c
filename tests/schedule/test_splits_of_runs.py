"""Reshapes whose merges and splits follow from the sizes of a run: the text of a definition and of
a schedule says them (csrc/ops/reshape.cpp), and a kernel takes no sizes for which a split leaves a
rest (csrc/lower/statements/size_conditions.cpp)."""

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


def sixteen_rows(fd, x):
    return fd.ops.reshape(x, [16, fd.ops.ceilDiv(x.size(0), 16)])


def columns(fd, x, count):
    return fd.ops.reshape(x, [fd.ops.div(x.size(0), count), count])


def rest_of_columns(fd, x, count):
    return fd.ops.reshape(x, [count, -1])


def rows_and_columns(fd, x, rows, cols):
    return fd.ops.reshape(x, [rows, cols])


def turned(fd, x, count):
    return fd.ops.reshape(x, [x.size(1), count, -1])


def kept_rows(fd, x):
    return fd.ops.reshape(x, [16, -1])


def kept_columns(fd, x):
    return fd.ops.reshape(x, [-1, 5])


def computed_rows(fd, x):
    return fd.ops.reshape(fd.ops.pad(x, [0, 0, 1, 1]), [16, 2, -1])


def one_dimension(fd, x):
    return fd.ops.reshape(x, [64])


def equal_parts(fd, x):
    return fd.ops.reshape(x, [-1, 8])


def halves(fd, x):
    return fd.ops.reshape(x, [2, fd.ops.ceilDiv(x.size(0), 2), x.size(1)])


def one_after_the_other(fd, x, count):
    rows = fd.ops.reshape(x, [count, -1])
    return fd.ops.reshape(fd.ops.relu(rows), [-1, rows.size(0)])


def with_a_new_dimension(fd, x, rows, cols):
    return fd.ops.reshape(x, [rows, 1, cols])


def size_of_another(fd, x, y):
    """A quotient of the sizes of `x` is what `y` is split by, so it is a constant for both."""
    quotient = fd.ops.ceilDiv(x.size(0), 4)
    parts = fd.ops.reshape(y, [quotient, -1])
    return fd.ops.add(fd.ops.reshape(x, [4, quotient]), fd.ops.permute(parts, [1, 0]))


CASES = [
    (sixteen_rows, [[64]]),
    (sixteen_rows, [[16]]),
    (kept_rows, [[16, 4, 5]]),
    (kept_rows, [[16, 20]]),
    (kept_columns, [[4, 4, 5]]),
    (computed_rows, [[14, 6]]),
    (one_dimension, [[16, 4]]),
    (equal_parts, [[64]]),
    (columns, [[640], 8]),
    (columns, [[640], 1]),
    (rest_of_columns, [[640], 5]),
    (rows_and_columns, [[640], 32, 20]),
    (rows_and_columns, [[8, 40], 4, 80]),
    (rows_and_columns, [[8, 40], 16, 20]),
    (rows_and_columns, [[8, 40], 320, 1]),
    (rows_and_columns, [[8, 1], 1, 8]),
    (rows_and_columns, [[2, 3, 4, 5], 8, 15]),
    (turned, [[6, 4], 3]),
    (halves, [[6, 7]]),
    (one_after_the_other, [[24, 5], 4]),
    (with_a_new_dimension, [[40], 8, 5]),
    (size_of_another, [[64], [64]]),
]
NAMES = [f"{build.__name__}-{args}" for build, args in CASES]


def define(build: Any, args: list[Any]) -> FusionDefinition:
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


@pytest.mark.parametrize(("build", "args"), CASES, ids=NAMES)
def test_the_schedule_runs_again_as_the_same_kernel(target, build, args) -> None:
    fusion = concretized(build, args)
    text = translate_fusion(fusion)
    assert translate_fusion(rebuilt(text)) == text
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
            assert again.print_kernel(params.cparams, kind, False) == scheduled.print_kernel(
                params.cparams, kind, False
            )
            executor = KernelExecutor()
            executor.compile(again, data)
            outs = executor.run(data, params.lparams, params.cparams)
            for out, reference in zip(outs, expected, strict=True):
                check_close(out, reference)
            ran += 1
    assert ran > 0


@pytest.mark.parametrize(
    ("build", "args", "steps"),
    [
        (sixteen_rows, [[64]], '"split(0, 16)"'),
        (rows_and_columns, [[8, 40], 16, 20], '"merge(0)", "split(0, 16)"'),
        (rows_and_columns, [[8, 40], 4, 80], '"split(0, 4)", "merge(1)"'),
        (turned, [[6, 4], 3], '"merge(0)", "split(0, 4)", "split(1, 3)"'),
        (halves, [[6, 7]], '"split(0, 2)"'),
    ],
)
def test_the_text_says_the_steps(build, args, steps) -> None:
    assert f", steps=[{steps}])" in translate_fusion(concretized(build, args))


def test_reshapes_that_follow_from_their_sizes_have_no_steps() -> None:
    assert "steps" not in translate_fusion(concretized(rows_and_columns, [[8, 40], 320, 1]))
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32])
        y = fd.define_tensor([6, 4])
        for out in (
            fd.ops.reshape(x, [-1, 16]),
            fd.ops.reshape(x, [x.size(0), 4, 8]),
            fd.ops.reshape(y, [3, 8]),
            fd.ops.flatten(x),
            sixteen_rows(fd, x),
        ):
            fd.add_output(out)
    text = translate_fusion(fd.fusion)
    assert text.count("fd.ops.reshape(") == 5
    assert "steps" not in text


def test_sizes_with_another_number_of_elements_are_refused(target) -> None:
    fusion = concretized(sixteen_rows, [[64]])
    data = torch.randn(64, device=target)
    for text in (False, True):
        scheduled = fusion.clone()
        params = schedule.schedule(scheduled, SchedulerType.pointwise, [data], target)
        source = translate_fusion(scheduled, schedule=True)
        executor = KernelExecutor()
        executor.compile(rebuilt(source) if text else scheduled, [data])
        settings = (params.lparams, params.cparams)
        for count in (64, 48, 16):
            x = torch.randn(count, device=target)
            (out,) = executor.run([x], *settings)
            torch.testing.assert_close(out, -x.reshape(16, -1), rtol=0, atol=0)
        with pytest.raises(UserError, match="has another number of elements") as error:
            executor.run([torch.randn(63, device=target)], *settings)
        message = str(error.value)
        for part in ("node:", "expected:", "found:", "made at", "fix:"):
            assert part in message


@pytest.mark.parametrize(
    ("build", "args", "others", "size"),
    [
        (sixteen_rows, [16], [[32], [8]], 16),
        (kept_rows, [16, 4, 5], [[32, 4, 5], [8, 4, 10]], 16),
        (kept_rows, [16, 20], [[32, 20], [20, 16]], 16),
        (kept_columns, [4, 4, 5], [[4, 4, 10]], 5),
    ],
)
@pytest.mark.parametrize("is_text", [False, True])
def test_a_kept_size_that_the_shape_says_is_the_size_of_all_runs(
    target, build, args, others, size, is_text
) -> None:
    fusion = concretized(build, [args])
    data = torch.randn(args, device=target)
    params = schedule.schedule(fusion, SchedulerType.pointwise, [data], target)
    if is_text:
        fusion = rebuilt(translate_fusion(fusion, schedule=True))
    executor = KernelExecutor()
    executor.compile(fusion, [data])
    settings = (params.lparams, params.cparams)
    (out,) = executor.run([data], *settings)
    (reference,) = evaluate(define(build, [args]).fusion, [data])
    check_close(out, reference)
    for other in others:
        with pytest.raises(UserError, match=f"bind to a constant value: {size} as") as error:
            executor.run([torch.randn(other, device=target)], *settings)
        message = str(error.value)
        for part in ("node:", "expected:", "found:", "made at", "fix:"):
            assert part in message


@pytest.mark.parametrize(
    ("build", "args", "same", "other"),
    [
        (computed_rows, [14, 6], [14, 8], [30, 6]),
        (one_dimension, [16, 4], [4, 16], [16, 8]),
        (equal_parts, [64], [64], [128]),
    ],
)
@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize("is_output", [False, True])
def test_a_computed_size_that_the_shape_says_is_the_size_of_all_runs(
    target, build, args, same, other, is_text, is_output
) -> None:
    """Whether what reads the reshape says it as well, or the reshape is the result."""
    with FusionDefinition() as fd:
        x = fd.ops.neg(fd.define_tensor([-1] * len(args), contiguity=True))
        reshaped = build(fd, x)
        fd.add_output(reshaped if is_output else fd.ops.exp(reshaped))
    data = torch.randn(args, device=target)
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, [data]))
    assert Fusion.deserialize(fusion.serialize()).serialize() == fusion.serialize()
    scheduler, *_ = schedule.find_compatible_schedulers(fusion, [data], target)
    params = schedule.schedule(fusion, scheduler, [data], target)
    if is_text:
        fusion = rebuilt(translate_fusion(fusion, schedule=True))
    executor = KernelExecutor()
    executor.compile(fusion, [data])
    settings = (params.lparams, params.cparams)
    for shape in (args, same):
        given = torch.randn(shape, device=target)
        (out,) = executor.run([given], *settings)
        (reference,) = evaluate(fd.fusion, [given])
        check_close(out, reference)
    refusal = "has another number of elements|Expected sizes to match"
    with pytest.raises(UserError, match=refusal) as error:
        executor.run([torch.randn(other, device=target)], *settings)
    for part in ("node:", "expected:", "found:", "made at", "fix:"):
        assert part in str(error.value)


def test_other_sizes_have_other_kernels_where_the_shape_says_a_constant(target) -> None:
    fd = define(sixteen_rows, [[16]])
    for count in (16, 32, 16, 0, 160):
        x = torch.randn(count, device=target)
        (out,) = fd.execute([x])
        torch.testing.assert_close(out, -x.reshape(16, -1 if count else 0), rtol=0, atol=0)


def test_a_reshape_that_is_known_to_fit_has_no_condition(target) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 32], contiguity=True)
        y = fd.ops.reshape(fd.ops.reshape(x, [-1, 16]), [-1, 8])
        fd.add_output(fd.ops.neg(y))
    data = torch.randn(3, 32, device=target)
    schedule.schedule(fd.fusion, SchedulerType.pointwise, [data], target)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [data])
    (out,) = executor.run([data])
    torch.testing.assert_close(out, -data.reshape(-1, 8), rtol=0, atol=0)


# ---- In the place of automatic schedules ---------------------------------------------------------


def test_a_printed_schedule_takes_the_place_of_the_automatic_one(target) -> None:
    fd = define(sixteen_rows, [[64]])

    def run(count: int) -> None:
        x = torch.randn(count, device=target)
        (out,) = fd.execute([x])
        torch.testing.assert_close(out, -x.reshape(16, -1), rtol=0, atol=0)

    run(64)
    data = [torch.randn(64, device=target)]
    for segment, text in enumerate(fd.fec.schedules(data)):
        assert 'steps=["split(0, 16)"]' in text
        fd.fec.use_schedule(segment, text)
    run(64)
    assert "schedule of the user" in fd.fec.explain(data)
    for count in (64, 160, 16, 32, 0, 4096):
        run(count)
    with pytest.raises(UserError, match="Total element counts"):
        fd.execute([torch.randn(65, device=target)])


# ---- Steps by hand -------------------------------------------------------------------------------


def test_steps_of_a_definition_are_taken() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1])
        rest = fd.ops.ceilDiv(fd.ops.mul(x.size(0), x.size(1)), 3)
        y = fd.ops.reshape(x, [3, rest], steps=["merge(0)", "split(0, 3)"])
        z = fd.ops.reshape(y, [3, rest], steps=[])
        fd.add_output(z)
    data = torch.randn(4, 6)
    (out,) = evaluate(fd.fusion, [data])
    torch.testing.assert_close(out, data.reshape(3, 8), rtol=0, atol=0)


def test_two_lists_are_the_shapes_of_older_programs() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([1, 1])
        fd.add_output(fd.ops.reshape(x, [1, 1], []))
    (out,) = evaluate(fd.fusion, [torch.ones(1, 1)])
    assert out.size() == ()


@pytest.mark.parametrize(
    ("shape", "steps", "headline"),
    [
        ([3, 2], ["splits(0, 3)"], '"splits\\(0, 3\\)" is no step of a reshape'),
        ([3, 2], ["split(0,3)"], '"split\\(0,3\\)" is no step of a reshape'),
        ([3, 2], ["split(1, 3)"], "do not lead to its shape"),
        ([3, 2], ["split(0, 0)"], "do not lead to its shape"),
        ([3], ["merge(0)"], "do not lead to its shape"),
        ([3], ["split(0, 3)"], "do not lead to its shape"),
        ([4, 2], ["split(0, 3)"], "do not make the sizes of its shape"),
        ([3, -1], ["split(0, 3)"], "do not make the sizes of its shape"),
        ([3], [], "do not make the sizes of its shape"),
    ],
)
def test_steps_that_do_not_fit_are_refused(shape, steps, headline) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1])
        with pytest.raises(UserError, match=headline) as error:
            fd.ops.reshape(x, shape, steps=steps)
        fd.add_output(x)
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in str(error.value)
