"""A later process takes plans from the disk: it neither cuts, schedules nor lowers a fusion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = """
import sys
import torch
from nvfuser_direct import DataType, FusionDefinition

case, target, sizes, show = sys.argv[1], sys.argv[2], eval(sys.argv[3]), sys.argv[4]


def rows_then_columns(fd, x):
    rows = fd.ops.sum(fd.ops.exp(x), [1], keepdim=True)
    fd.add_output(fd.ops.sum(fd.ops.sin(rows), [0]))


def product(fd, x):
    y = fd.ops.matmul(fd.ops.sin(x), fd.ops.permute(x, [1, 0]))
    fd.add_output(fd.ops.permute(fd.ops.neg(y), [1, 0]))
    fd.add_output(fd.ops.permute(x, [1, 0]))


def layers(fd, x):
    for _ in range(4):
        x = fd.ops.segment_set(fd.ops.where(fd.ops.lt(fd.ops.rand_like(x), 0.5), fd.ops.sin(x), x))
    fd.add_output(x)


def rows_stated_first(fd, x):
    rows = fd.ops.sum(fd.ops.exp(x), [1], keepdim=True)
    columns = fd.ops.sum(fd.ops.sin(x), [0], keepdim=True)
    fd.add_output(fd.ops.sum(fd.ops.sin(rows), [0]))
    fd.add_output(fd.ops.sum(fd.ops.exp(columns), [1]))


def rows_stated_last(fd, x):
    columns = fd.ops.sum(fd.ops.sin(x), [0], keepdim=True)
    rows = fd.ops.sum(fd.ops.exp(x), [1], keepdim=True)
    last = fd.ops.sum(fd.ops.exp(columns), [1])
    fd.add_output(fd.ops.sum(fd.ops.sin(rows), [0]))
    fd.add_output(last)


def whole(fd, x):
    fd.add_output(fd.ops.exp(x))
    fd.add_output(fd.ops.sin(fd.ops.neg(x)))


def updated(fd, x):
    sums = fd.ops.sum(x, [0])
    fd.add_output(fd.ops.sum(fd.ops.mul(x, sums), [1]))
    fd.add_output(fd.ops.add(x, 1.0), x)


def updated_by_views(fd, x):
    rows = fd.ops.sum(x, [1], keepdim=True)
    fd.add_output(fd.ops.sum(fd.ops.mul(rows, x), [0]))
    fd.add_output(fd.ops.permute(fd.ops.permute(x, [1, 0]), [1, 0]), x)
    fd.add_output(fd.ops.add(x, rows), x)


def updated_whole(fd, x):
    y = fd.ops.add(x, 1.0)
    fd.add_output(y, x)
    fd.add_output(fd.ops.mul(y, 2.0))


with FusionDefinition() as fd:
    globals()[case](fd, fd.define_tensor([-1, -1], contiguity=True))
for m, n in sizes:
    torch.manual_seed(0)
    data = torch.randn(m, n).to(target)
    torch.manual_seed(1)
    for output in [*fd.execute([data]), data]:
        print(output.shape, output.stride(), output.double().sum().item())
print(fd.fec.stats().compiled, fd.fec.stats().runtimes)
if show == "explain":
    print(fd.fec.explain([data]))
    print(fd.fec.schedules([data]))
    print([(piece.way, piece.scheduler) for piece in fd.fec.last_pieces()])
"""

# Spans of work that a plan on disk saves.
WORK = ("summarize", "decide", "schedule", "lower", "compile", "print")


@dataclass
class Process:
    lines: list[str]
    spans: list[str]

    @property
    def worked(self) -> list[str]:
        return [span for span in self.spans if span.startswith(WORK)]


def run(folder: Path, case: str, target: str, sizes: str, show: str = "") -> Process:
    trace = folder / "trace.json"
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NVFUSER_VERIFY_PASSES", "NVFUSER_DUMP", "NVFUSER_KERNEL_CACHE")
    }
    environment |= {"NVFUSER_CACHE_DIR": str(folder / "cache"), "NVFUSER_TRACE": str(trace)}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, case, target, sizes, show],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    spans = [event["name"] for event in json.loads(trace.read_text())]
    return Process(result.stdout.splitlines(), spans)


CASES = ["rows_then_columns", "product", "layers", "updated", "updated_by_views"]


@pytest.mark.parametrize("case", CASES)
def test_a_later_process_does_none_of_the_work(case: str, target: str, tmp_path: Path) -> None:
    first = run(tmp_path, case, target, "[(5, 7)]")
    assert {"summarize", "decide"} <= set(first.worked)
    second = run(tmp_path, case, target, "[(5, 7)]")
    assert second.worked == []
    assert "read plan" in second.spans
    assert second.lines[:-1] == first.lines[:-1]


@pytest.mark.parametrize("case", ["rows_then_columns", "whole", "updated"])
def test_new_sizes_are_decided_and_use_kernels_that_are_there(
    case: str, target: str, tmp_path: Path
) -> None:
    run(tmp_path, case, target, "[(60, 70)]")
    later = run(tmp_path, case, target, "[(60, 74)]")
    assert "read plan" not in later.spans
    assert not [span for span in later.worked if span.startswith(("lower", "compile", "print"))]


@pytest.mark.parametrize("case", ["whole", "updated_whole"])
def test_what_is_not_cut_is_decided_again_and_keeps_its_names(
    case: str, target: str, tmp_path: Path
) -> None:
    first = run(tmp_path, case, target, "[(5, 7)]", "explain")
    second = run(tmp_path, case, target, "[(5, 7)]", "explain")
    assert "read plan" not in second.spans
    assert second.lines == first.lines
    later = run(tmp_path, case, target, "[(5, 7)]")
    assert not [span for span in later.worked if span.startswith(("lower", "compile", "print"))]


def test_sizes_with_equal_plans_share_a_runtime(target: str, tmp_path: Path) -> None:
    first = run(tmp_path, "rows_then_columns", target, "[(60, 70), (60, 74)]")
    second = run(tmp_path, "rows_then_columns", target, "[(60, 70), (60, 74)]")
    assert second.worked == []
    assert second.lines[:-1] == first.lines[:-1]
    assert second.lines[-1].split()[1] == "1"


def without_numbers(process: Process) -> list[str]:
    """A fusion that was read is numbered anew, which the nodes of refusals show."""
    return [re.sub(r"^(  tried: .*?) \(.*", r"\1", line) for line in process.lines]


@pytest.mark.parametrize("case", CASES)
def test_what_a_plan_lacks_is_found_again(case: str, target: str, tmp_path: Path) -> None:
    first = run(tmp_path, case, target, "[(5, 7)]", "explain")
    second = run(tmp_path, case, target, "[(5, 7)]", "explain")
    assert without_numbers(second) == without_numbers(first)


def test_a_plan_is_for_any_order_of_statements(target: str, tmp_path: Path) -> None:
    """The same definition with its statements in another order runs by it, and explains itself."""
    (tmp_path / "alone").mkdir()
    alone = run(tmp_path / "alone", "rows_stated_last", target, "[(5, 7)]", "explain")
    run(tmp_path, "rows_stated_first", target, "[(5, 7)]")
    assert run(tmp_path, "rows_stated_last", target, "[(5, 7)]").worked == []
    later = run(tmp_path, "rows_stated_last", target, "[(5, 7)]", "explain")
    assert without_numbers(later) == without_numbers(alone)


def test_other_sizes_are_planned(target: str, tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    alone = run(tmp_path / "alone", "rows_then_columns", target, "[(5, 7), (300, 2), (5, 7)]")
    run(tmp_path, "rows_then_columns", target, "[(5, 7)]")
    later = run(tmp_path, "rows_then_columns", target, "[(5, 7), (300, 2), (5, 7)]")
    assert later.lines[:-1] == alone.lines[:-1]
    assert "decide" in later.worked


def test_damaged_plans_are_made_anew(tmp_path: Path) -> None:
    first = run(tmp_path, "product", "cpu", "[(5, 7)]")
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    for path in files:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0x40
        path.write_bytes(bytes(data))
    second = run(tmp_path, "product", "cpu", "[(5, 7)]")
    assert "decide" in second.worked
    assert second.lines == first.lines


def test_options_of_a_call_are_a_part_of_the_key(tmp_path: Path) -> None:
    run(tmp_path, "product", "cpu", "[(5, 7)]")
    os.environ["NVFUSER_DISABLE"] = "greedy_scheduler"
    try:
        assert "decide" in run(tmp_path, "product", "cpu", "[(5, 7)]").worked
    finally:
        del os.environ["NVFUSER_DISABLE"]
