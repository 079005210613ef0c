"""Printed schedules: the text, that it runs again, and that every primitive has one."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from printed_schedules import SCHEDULES, define_x, grouped, scheduled
from round_trip import rebuilt
from schedule_round_trip import check_schedule_round_trip, kernel_source

from nvfuser_direct import (
    CacheOp,
    Fusion,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    equal_up_to_numbering,
    evaluate,
    translate_fusion,
)
from nvfuser_direct._core.internal import schedule_primitives

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPOSITORY = Path(__file__).resolve().parent.parent.parent
EXAMPLES = REPOSITORY / "examples" / "schedules"


def schedule_lines(fusion: Fusion) -> list[str]:
    """The lines behind the math."""
    lines = [line[4:] for line in translate_fusion(fusion, schedule=True).splitlines()[1:]]
    last = max(i for i, line in enumerate(lines) if line.startswith("fd.add_output("))
    return lines[last + 1 :]


# ---- Examples ------------------------------------------------------------------------------------


def example_runs() -> Iterator[Any]:
    for path in sorted(EXAMPLES.glob("*.py")):
        if path.stem != "harness":
            yield pytest.param(path.stem, id=path.stem)


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


@pytest.mark.parametrize("name", list(example_runs()))
def test_examples_run_again_from_their_text(name: str, examples: Callable[[str], Any]) -> None:
    example, harness = examples(name), examples("harness")
    for sizes in example.SIZES:
        fd = harness.scheduled(example, sizes)
        again = check_schedule_round_trip(fd.fusion)
    arguments = example.inputs(*sizes, device="cpu")
    for a, b in zip(fd.manual_execute(arguments), again.manual_execute(arguments), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


# ---- Primitives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_primitives(schedule: Callable[[FusionDefinition], None]) -> None:
    check_schedule_round_trip(scheduled(schedule).fusion)


def steps_of(fusion: Fusion) -> set[str]:
    return {step.primitive for t in fusion.tensors() for step in t.recorded_steps()}


def test_the_schedules_use_every_primitive() -> None:
    tested: set[str] = set()
    for schedule in SCHEDULES:
        tested |= steps_of(scheduled(schedule).fusion)
    not_of_math = {"clear_reduction_iter_domains"}  # of tensors that no definition makes
    assert set(schedule_primitives()) - tested == not_of_math


# ---- The text ------------------------------------------------------------------------------------


def test_the_text_of_a_schedule() -> None:
    with FusionDefinition() as fd:
        x = define_x(fd)
        fd.add_output(total := fd.ops.sum(x, [1]))
        row = x.cache_after()
        total.split(1, 32)
        partial = total.rfactor([1])
        fd.sched.transform_like(partial, [row])
        row.set_memory_type(MemoryType.shared)
        for tensor in (total, partial, row):
            tensor.axis(0).parallelize(ParallelType.grid_x)
            tensor.axis(-1).parallelize(ParallelType.block_x)
        fd.sched.inline_most([partial])
    assert schedule_lines(fd.fusion) == [
        "# Caches and factored reductions",
        "tv2 = tv0.cache_after()",
        "tv1.split(1, 32)",
        "tv3 = tv1.rfactor([1])",
        "# tv1",
        "tv1.axis(0).parallelize(ParallelType.grid_x)",
        "tv1.axis(1).parallelize(ParallelType.block_x)",
        "# tv2, cache of tv0",
        "tv2.split(1, 32)",
        "tv2.set_memory_type(MemoryType.shared)",
        "tv2.axis(0).parallelize(ParallelType.grid_x)",
        "tv2.axis(2).parallelize(ParallelType.block_x)",
        "# tv3, partial result of tv1",
        "tv3.axis(0).parallelize(ParallelType.grid_x)",
        "tv3.axis(2).parallelize(ParallelType.block_x)",
        "# Positions, consumers first",
        "tv3.inline_at(1)",
    ]


def test_members_of_enumerations_have_their_python_names() -> None:
    with FusionDefinition() as fd:
        x = define_x(fd)
        fd.add_output(y := fd.ops.neg(x))
        x.cache_after(LoadStoreOpType.cp_async, CacheOp.all_levels)
        x.cache_after(cache_op=CacheOp.Global)
        y.cache_before(LoadStoreOpType.tma).set_memory_type(MemoryType.symmetric)
    assert [line for line in schedule_lines(fd.fusion) if "#" not in line] == [
        "tv2 = tv0.cache_after(LoadStoreOpType.cp_async, cache_op=CacheOp.all_levels)",
        "tv3 = tv0.cache_after(cache_op=CacheOp.Global)",  # global is a word of the language
        "tv4 = tv1.cache_before(LoadStoreOpType.tma)",
        "tv4.set_memory_type(MemoryType.symmetric)",
    ]
    check_schedule_round_trip(fd.fusion)


def test_caches_that_compute_factored_and_grouped_reductions_are_printed() -> None:
    with FusionDefinition() as fd:
        x = define_x(fd)
        s, m = fd.ops.sum(x, [1]), fd.ops.max(x, [1])
        fd.add_output(s)
        fd.add_output(m)
        s.split(1, 16)
        fd.sched.transform_like(s)
        partial, _ = s.rfactor([1]), m.rfactor([1])
        partial.cache_before()
        partial.cache_before()
        fd.sched.group_reductions([s, m])
        s.cache_before()
    made = [line for line in schedule_lines(fd.fusion) if re.match(r"tv\d+ = ", line)]
    assert made == [
        "tv3 = tv1.rfactor([1])",
        "tv4 = tv2.rfactor([1])",
        "tv5 = tv3.cache_before()",
        "tv6 = tv3.cache_before()",
        "tv7 = tv1.cache_before()",
    ]
    check_schedule_round_trip(fd.fusion)


def test_an_unscheduled_fusion_has_no_lines_behind_the_math() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.sum(define_x(fd), [1]))
    assert translate_fusion(fd.fusion, schedule=True) == repr(fd)


def test_edited_text_still_works() -> None:
    with FusionDefinition() as fd:
        fd.add_output(y := fd.ops.neg(define_x(fd)))
        y.merge(0, 1)
        y.split(0, 128)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)
    edited = translate_fusion(fd.fusion, schedule=True).replace("split(0, 128)", "split(0, 64)")
    more = "tv2 = tv0.cache_after()", "tv2.set_memory_type(MemoryType.Global)"
    again = rebuilt(edited + "".join(f"    {line}\n" for line in more))
    x = torch.randn(7, 100)
    (out,) = again.manual_execute([x])
    torch.testing.assert_close(out, -x)
    assert "64" in kernel_source(again.fusion, "cuda")


# ---- The math of a scheduled fusion --------------------------------------------------------------


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_math_of_a_scheduled_fusion_is_printed(
    schedule: Callable[[FusionDefinition], None],
) -> None:
    fd = scheduled(schedule)
    math = rebuilt(repr(fd))
    assert len(math.fusion.inputs()) == len(fd.fusion.inputs())
    assert repr(math).count("rfactor") == 0


def test_factored_and_grouped_reductions_are_whole_in_the_math() -> None:
    fd = scheduled(grouped)
    math = rebuilt(translate_fusion(fd.fusion)).fusion
    with FusionDefinition() as plain:
        x = define_x(plain)
        ops = plain.ops
        a, b, c = ops.sum(x, [1]), ops.max(x, [1]), ops.sum(ops.exp(x), [1])
        plain.add_output(ops.add(ops.add(a, b), c))
    assert equal_up_to_numbering(math, plain.fusion)
    x = torch.randn(3, 5)
    (expected,) = evaluate(plain.fusion, [x])
    torch.testing.assert_close(evaluate(math, [x])[0], expected, rtol=0, atol=0)


def test_caches_are_copies_in_the_math() -> None:
    with FusionDefinition() as fd:
        x = define_x(fd)
        fd.add_output(fd.ops.neg(x))
        x.cache_after()
    assert [line.strip() for line in repr(fd).splitlines()[2:]] == [
        "tv1 = fd.ops.cast(tv0, dtype=DataType.Float)",
        "tv2 = fd.ops.neg(tv1)",
        "fd.add_output(tv2)",
    ]


# ---- Repro scripts -------------------------------------------------------------------------------


def test_a_script_runs_the_schedule_in_a_fresh_process(tmp_path: Path) -> None:
    with FusionDefinition() as fd:
        fd.add_output(y := fd.ops.sum(x := define_x(fd), [1]))
        x.cache_after().set_memory_type(MemoryType.shared)
        y.split(1, 16)
        partial = y.rfactor([1])
        y.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.parallelize_like(y)
        fd.sched.inline_most([partial])
    script = fd.repro_script_for([torch.ones(4, 100)], schedule=True)
    assert "from nvfuser_direct import FusionDefinition, DataType, MemoryType, Paral" in script
    assert script.endswith("fd.manual_execute(inputs)\n")
    path = tmp_path / "repro.py"
    path.write_text(script + "print(fd.fusion.print_kernel(target='cpu', comments=False))\n")
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == kernel_source(fd.fusion, "cpu").strip()


def test_a_script_without_a_schedule_runs_the_math_automatically() -> None:
    with FusionDefinition() as fd:
        fd.add_output(y := fd.ops.sum(define_x(fd), [1]))
        y.split(1, 16)
        y.rfactor([1])
    script = fd.repro_script_for([torch.ones(4, 100)])
    assert "rfactor" not in script
    assert script.endswith("\nfd.execute(inputs)\n")
    exec(script, {})


# ---- Errors --------------------------------------------------------------------------------------


def test_what_reads_a_factored_reduction_by_itself_is_an_error() -> None:
    with FusionDefinition() as fd:
        fd.add_output(y := fd.ops.sum(define_x(fd), [1]))
        y.split(1, 16)
        fd.add_output(y.rfactor([1]))
    with pytest.raises(RuntimeError, match="Translation to Python: unhandled"):
        translate_fusion(fd.fusion, schedule=True)


def test_what_reads_the_producer_of_an_output_by_itself_is_an_error() -> None:
    with FusionDefinition() as fd:
        fd.add_output(y := fd.ops.exp(define_x(fd)))
        fd.add_output(fd.ops.neg(y.cache_before()))
    with pytest.raises(NotImplementedError, match="Translation to Python: unhandled"):
        translate_fusion(fd.fusion, schedule=True)
