"""`fd.fec.explain`, `schedules` and `use_schedule`: look at automatic schedules, and edit them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import pytest
import torch

import nvfuser_direct
from nvfuser_direct import (
    DataType,
    FusionDefinition,
    MemoryType,
    ParallelType,
    PythonProfiler,
    UserError,
)

if TYPE_CHECKING:
    from pathlib import Path

HERE = os.path.basename(__file__)


def sums_of_sums(target: str, rows: int = 33, columns: int = 70) -> tuple[FusionDefinition, Any]:
    """Two reductions over different axes: two segments."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.sum(fd.ops.exp(x), [1]), [0]))
    data = torch.randn(rows, columns, device=target)
    check_sums(fd, data)
    return fd, data


def check_sums(fd: FusionDefinition, data: torch.Tensor) -> None:
    (out,) = fd.execute([data])
    torch.testing.assert_close(out.double(), data.double().exp().sum(), rtol=1e-5, atol=1e-6)


def scaled(target: str, size: int = 1000) -> tuple[FusionDefinition, torch.Tensor]:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.mul(fd.define_tensor([-1], contiguity=True), 2.0))
    data = torch.randn(size, device=target)
    check_scaled(fd, data)
    return fd, data


def check_scaled(fd: FusionDefinition, data: torch.Tensor) -> None:
    torch.testing.assert_close(fd.execute([data])[0], data * 2)


def in_blocks_of(
    threads: int, scale: float = 2.0, vectorized: bool = False, memory: MemoryType | None = None
) -> Any:
    """The definition of `scaled`, scheduled by hand."""

    def define(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.mul(x, scale)
        fd.add_output(y)
        if memory is not None:
            y.set_memory_type(memory)
        if vectorized:
            copy = x.cache_after()
            copy.split(0, 4)
            copy.axis(1).parallelize(ParallelType.vectorize)
            y.split(0, 4)
            fd.sched.inline_most()
            return
        y.split(0, threads)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(ParallelType.block_x)

    return define


# ---- explain -------------------------------------------------------------------------------------


def test_it_says_what_runs_each_segment_and_why_it_was_cut(target: str) -> None:
    fd, data = sums_of_sums(target)
    text = fd.fec.explain([data])
    first, second = text.split("segment 1: ")
    assert first.startswith("segment 0: reduction, 2 expressions, makes T2")
    assert re.search(r"kernel nvfuser_reduction_f0_c0_r0_g0, as machine code nvfuser_\w+", first)
    assert re.search(r"grid \d+ x 1 x 1, block ", first)
    assert f"({HERE}:" in first
    assert "cut at" not in first
    assert second.startswith("reduction, 1 expression, makes T")
    assert re.search(rf"cut at T2 \({HERE}:\d+\): .*needs another reduction pattern", second)
    assert "not pointwise: " not in first  # it is not asked: an earlier one takes it
    assert "not no_op: " in first


def test_it_says_why_a_segment_has_no_kernel(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.neg(fd.ops.matmul(fd.ops.neg(x), y)))
    inputs = [torch.randn(4, 5, device=target), torch.randn(5, 3, device=target)]
    torch.testing.assert_close(fd.execute(inputs)[0], inputs[0] @ inputs[1])
    text = fd.fec.explain(inputs)
    assert text.count("segment ") == 3
    assert re.search(r"segment 1: evaluated by PyTorch, 1 expression, makes T3", text)
    assert re.search(r"tried: trivial: .*", text)
    product = fd.fec.schedules(inputs)[1]
    assert product.startswith("# Segment 1 of 3: evaluated by PyTorch\n")
    assert "fd.ops.matmul(" in product
    with pytest.raises(UserError, match="Segment 1 runs without a kernel, and has no schedule"):
        fd.fec.use_schedule(1, product)


def test_what_was_not_executed_cannot_be_explained(target: str) -> None:
    fd, data = scaled(target)
    for ask in (fd.fec.explain, fd.fec.schedules):
        with pytest.raises(UserError, match="Expected input 0"):
            ask([data[None]])
        with pytest.raises(UserError, match="Fusion is not compiled!"):
            ask([torch.randn(10**7, device=target)])


# ---- schedules -----------------------------------------------------------------------------------


def test_texts_of_segments_run_by_themselves(target: str) -> None:
    fd, data = sums_of_sums(target)
    values = [data]
    texts = fd.fec.schedules([data])
    assert len(texts) == 2
    for i, text in enumerate(texts):
        assert text.startswith(f"# Segment {i} of 2: kernel nvfuser_reduction_f0_c0_r0_g{i}\n")
        assert re.search(rf"^# Decisions: {target} reduction [0-9a-f]{{8}}$", text, re.MULTILINE)
        namespace = dict(vars(nvfuser_direct))
        exec(text, namespace)
        with FusionDefinition() as alone:
            namespace["nvfuser_fusion"](alone)
        values = alone.manual_execute(values)
    assert torch.equal(values[0], fd.execute([data])[0])


# ---- use_schedule --------------------------------------------------------------------------------


def test_the_same_schedule_makes_the_same_kernel(target: str) -> None:
    fd, data = sums_of_sums(target)

    def lines() -> list[str]:
        # Names and comments tell where a kernel comes from.
        text = re.sub(r"nvfuser_\w+|//.*", "", fd.fec.get_cuda_kernel([data]))
        return [line.rstrip() for line in text.splitlines()]

    before = lines()
    for i, text in enumerate(fd.fec.schedules([data])):
        fd.fec.use_schedule(i, text)
    check_sums(fd, data)
    assert lines() == before
    assert "segment 1: schedule of the user" in fd.fec.explain([data])


def test_an_edited_schedule_takes_the_place_of_the_automatic_one(target: str) -> None:
    fd, data = scaled(target)
    text = fd.fec.schedules([data])[0]
    edited = text[: text.index("fd.add_output")] + (
        "fd.add_output(tv1)\n"
        "    tv1.split(0, 96)\n"
        "    tv1.axis(0).parallelize(ParallelType.grid_x)\n"
        "    tv1.axis(1).parallelize(ParallelType.block_x)\n"
    )
    fd.fec.use_schedule(0, edited)
    check_scaled(fd, data)
    assert fd.fec.last_launches()[0].bdimx == 96
    for size in (1, 997, 1001):  # those that share the decisions
        check_scaled(fd, torch.randn(size, device=target))
    check_scaled(fd, data)
    assert fd.fec.last_launches()[0].bdimx == 96
    fd.fec.use_schedule(0, in_blocks_of(64))
    check_scaled(fd, data)
    assert fd.fec.last_launches()[0].bdimx == 64
    fd.fec.use_schedule(0, None)
    check_scaled(fd, data)
    assert fd.fec.schedules([data])[0] == text


def test_a_schedule_may_be_behind_the_same_math_in_another_order(target: str) -> None:
    """As the text of another process is, which has its plan from disk."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        values = [fd.define_scalar(0.5, dtype=DataType.Float) for _ in range(2)]
        left = fd.ops.mul(fd.ops.exp(x), values[0])
        fd.add_output(fd.ops.add(left, fd.ops.mul(fd.ops.sin(x), values[1])))
    data = torch.randn(1000, device=target)
    fd.execute([data])

    def reordered(fd: FusionDefinition) -> None:
        x = fd.define_tensor(shape=[-1], contiguity=[True])
        value = fd.define_scalar(0.5, dtype=DataType.Float)
        right = fd.ops.mul(fd.ops.sin(x), value)
        out = fd.ops.add(fd.ops.mul(fd.ops.exp(x), value), right)
        fd.add_output(out)
        out.split(0, 96)
        fd.sched.transform_like(out)
        fd.sched.inline_most()
        out.axis(0).parallelize(ParallelType.grid_x)
        out.axis(1).parallelize(ParallelType.block_x)

    fd.fec.use_schedule(0, reordered)
    (out,) = fd.execute([data])
    torch.testing.assert_close(out, data.exp() * 0.5 + data.sin() * 0.5)
    assert "segment 0: schedule of the user" in fd.fec.explain([data])


def test_other_decisions_keep_their_schedule(target: str) -> None:
    fd, small = scaled(target, 8)
    large = torch.randn(1 << 20, device=target)
    check_scaled(fd, large)
    fd.fec.use_schedule(0, in_blocks_of(96), inputs=[small])
    check_scaled(fd, small)
    assert fd.fec.last_launches()[0].bdimx == 96
    check_scaled(fd, large)
    assert fd.fec.last_launches()[0].bdimx != 96


def test_sizes_that_it_cannot_be_launched_with_run_as_before(target: str) -> None:
    fd, data = scaled(target, 1000)
    fd.fec.use_schedule(0, in_blocks_of(0, vectorized=True))
    check_scaled(fd, data)
    assert "schedule of the user" in fd.fec.explain([data])
    with pytest.warns(UserWarning, match=r"<schedule of segment 0> does not run with these sizes"):
        check_scaled(fd, data[:997].clone())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_scaled(fd, data[:997].clone())
        check_scaled(fd, data)


def test_another_computation_is_refused_and_nothing_changes(target: str) -> None:
    fd, data = scaled(target)
    text = fd.fec.schedules([data])[0]
    with pytest.raises(UserError, match="for another computation than the segment's") as error:
        fd.fec.use_schedule(0, in_blocks_of(96, scale=3.0))
    assert "<schedule of segment 0>" in str(error.value)
    assert "+     tv1 = fd.ops.mul(tv0, 3.0" in str(error.value)
    check_scaled(fd, data)
    assert fd.fec.schedules([data])[0] == text


def test_a_schedule_that_cannot_be_lowered_is_refused(target: str) -> None:
    fd, data = sums_of_sums(target)
    text = fd.fec.schedules([data])[0]
    wrong = text[: text.index("fd.add_output(tv2)")] + (
        "fd.add_output(tv2)\n    tv1.axis(1).parallelize(ParallelType.block_x)\n"
    )
    with pytest.raises(UserError, match="T1"):
        fd.fec.use_schedule(0, wrong)
    check_sums(fd, data)
    assert fd.fec.schedules([data])[0] == text


def test_mistakes_in_texts_say_where_they_are(target: str) -> None:
    fd, _ = scaled(target)
    with pytest.raises(SyntaxError) as syntax:
        fd.fec.use_schedule(0, "def nvfuser_fusion(fd):\n    tv0 = = 1\n")
    assert syntax.value.filename == "<schedule of segment 0>"
    with pytest.raises(UserError, match="found:    no function"):
        fd.fec.use_schedule(0, "x = 1\n")
    with pytest.raises(UserError, match="The segment id is not valid: there are 1 segments"):
        fd.fec.use_schedule(1, in_blocks_of(96))
    with pytest.raises(UserError, match="The segment id is not valid: segments are numbered from"):
        fd.fec.use_schedule(-1, in_blocks_of(96))
    with pytest.raises(TypeError, match=r"A schedule is a text .* or None, but got int"):
        fd.fec.use_schedule(0, 5)  # type: ignore[arg-type]
    with FusionDefinition() as fresh:
        fresh.add_output(fresh.ops.neg(fresh.define_tensor([-1])))
    cache = fresh._make_executor_cache()
    with pytest.raises(UserError, match="execute the fusion"):
        cache.use_schedule(0, in_blocks_of(96))


# ---- NVFUSER_SCHEDULES ---------------------------------------------------------------------------

OTHER_PROCESS = """
import sys
import torch
from nvfuser_direct import DataType, FusionDefinition
with FusionDefinition() as fd:
    fd.add_output(fd.ops.mul(fd.define_tensor([-1], contiguity=True), 2.0))
data = torch.randn(1000, device=sys.argv[1])
(out,) = fd.execute([data])
assert torch.equal(out, data * 2)
print(fd.fec.explain([data]).splitlines()[0] if sys.argv[2:] else fd.fec.last_launches()[0].bdimx)
"""


def run_process_with(
    folder: Path, target: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, target, *arguments],
        env=os.environ | {"NVFUSER_SCHEDULES": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def run_with(folder: Path, target: str) -> str:
    result = run_process_with(folder, target)
    return result.stdout.strip() or result.stderr


def test_another_process_takes_schedules_from_a_folder(target: str, tmp_path: Path) -> None:
    fd, data = scaled(target)
    fd.fec.use_schedule(0, in_blocks_of(96))
    check_scaled(fd, data)
    text = fd.fec.schedules([data])[0]
    file = tmp_path / "scaled.py"
    file.write_text(text)
    assert run_with(tmp_path, target) == "96"
    explained = run_process_with(tmp_path, target, "explain").stdout
    assert explained.startswith(f"segment 0: schedule of the user in {file}, 1 expression")
    file.write_text(re.sub("^# Decisions: .*$", "# Decisions: cuda resize 0", text, flags=re.M))
    assert run_with(tmp_path, target) != "96"
    file.write_text(re.sub("^# Decisions: .*$", "", text, flags=re.M))
    assert run_with(tmp_path, target) == "96"
    file.write_text(text.replace("2.0", "3.0"))  # of another fusion
    assert run_with(tmp_path, target) not in ("96", "")


def test_a_schedule_for_other_decisions_is_told(target: str, tmp_path: Path) -> None:
    fd, data = scaled(target)
    fd.fec.use_schedule(0, in_blocks_of(96))
    check_scaled(fd, data)
    text = fd.fec.schedules([data])[0]
    (line,) = re.findall("^# Decisions: (.*)$", text, flags=re.M)
    other = line[:-1] + ("0" if line[-1] != "0" else "1")
    file = tmp_path / "scaled.py"

    def news(decisions: str) -> str:
        file.write_text(text.replace(line, decisions))
        return run_process_with(tmp_path, target).stderr

    assert news(line) == ""
    told = news(other)
    assert f'{file}, for decisions "{other}"' in told
    assert f'These sizes have the decisions "{line}"' in told
    assert news("tpu resize 0") == ""  # of another device


def test_a_folder_of_schedules_that_is_none_is_an_error(tmp_path: Path) -> None:
    assert "NVFUSER_SCHEDULES names no folder" in run_with(tmp_path / "none", "cpu")


# ---- dumps and profiles --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "pattern"),
    [
        ("scheduler_params", r"===== Reduction Parameters ========\n(.|\n)*===== Reduction Param"),
        ("scheduler_verbose", r"Scheduler _no_op_ \*\*\*rejected\*\*\* because : .*\n"),
        ("scheduler_verbose", r"segment 1: reduction\n"),
        ("segmented_fusion", r"Segmented_Fusion\{ \ngroups: \n  reduction\{"),
    ],
)
def test_dumps_of_schedulers(option: str, pattern: str) -> None:
    code = (
        "import torch\nfrom nvfuser_direct import FusionDefinition\n"
        "with FusionDefinition() as fd:\n"
        "    x = fd.define_tensor([-1, -1], contiguity=True)\n"
        "    fd.add_output(fd.ops.sum(fd.ops.sum(x, [1]), [0]))\n"
        "for _ in range(2):\n"
        "    fd.execute([torch.ones(4, 5)])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"NVFUSER_DUMP": option},
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(pattern, result.stdout), result.stdout
    assert "without effect" not in result.stderr


def test_a_profile_has_an_entry_for_each_segment(target: str) -> None:
    fd, data = sums_of_sums(target)
    with PythonProfiler() as profiler:
        check_sums(fd, data)
    profile = profiler.profile
    assert profile.segments == 2
    assert [kernel.scheduler for kernel in profile.kernel_profiles] == ["reduction"] * 2
    assert [kernel.segment_id for kernel in profile.kernel_profiles] == [0, 1]
