"""Tuning: candidates are tried by measurement, the fastest takes the place of the automatic one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    ReductionParams,
    SchedulerType,
    TransposeParams,
    TuningReport,
    UserError,
)
from nvfuser_direct.tuning import Candidate, SegmentTuning, _are_equal
from nvfuser_direct.tuning_moves import neighbours_of

if TYPE_CHECKING:
    from pathlib import Path


def row_sums_of_squares() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.mul(x, x), [1]))
    return fd


def cut_in_two() -> FusionDefinition:
    """A sum, a product by a library, and a map."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.matmul(fd.ops.add(x, 1.0), x)
        fd.add_output(fd.ops.sum(fd.ops.relu(y), [0]))
    return fd


def test_the_table_has_every_candidate_and_results_stay_right(
    target: str, rng: torch.Generator
) -> None:
    fd = row_sums_of_squares()
    x = torch.rand(300, 1000, generator=rng).to(target)
    report = fd.tune([x], seconds=1.5, keep=False)
    assert isinstance(report, TuningReport)
    (found,) = report.segments
    assert found.candidates[0].what == "as scheduled automatically"
    assert len(found.candidates) > 2
    ran = [c for c in found.candidates if not c.verdict]
    assert all(0 < c.milliseconds < float("inf") for c in ran)
    assert all(c.milliseconds == float("inf") for c in found.candidates if c.verdict)
    assert found.best in ran
    assert found.gain >= 1.0
    text = str(report)
    assert all(c.what in text for c in found.candidates)
    assert text.count("(used)") == 1
    expected = (x.double() ** 2).sum(1)
    torch.testing.assert_close(fd.execute([x])[0].double(), expected, rtol=1e-5, atol=0)
    compile(report.schedules[0], "schedule", "exec")


def test_segments_get_their_own_inputs(target: str, rng: torch.Generator) -> None:
    fd = cut_in_two()
    x = torch.rand(65, 65, generator=rng).to(target)
    report = fd.tune([x], seconds=0.5, keep=False)
    assert [found.segment for found in report.segments] == [0, 2]
    expected = ((x.double() + 1) @ x.double()).relu().sum(0)
    torch.testing.assert_close(fd.execute([x])[0].double(), expected, rtol=1e-4, atol=0)


def test_inputs_that_are_written_into_keep_their_elements(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(x, 1.0), x)
    x = torch.zeros(1000, device=target)
    fd.tune([x], seconds=0.3, keep=False)
    assert bool((x == 2).all())  # runs of the fusion: one before the search, one after


def test_a_schedule_that_was_put_in_place_keeps_its_register_cap(
    target: str, rng: torch.Generator
) -> None:
    fd = row_sums_of_squares()
    x = torch.rand(30, 100, generator=rng).to(target)
    fd.execute([x])
    (piece,) = fd.fec.last_pieces()
    text = fd.fec.schedules([x])[0]
    cap = piece.params.cparams.maxrregcount
    line = f"# Registers: at most {cap}\n"
    assert (line in text) == (cap != CompileParams().maxrregcount)
    head, blank, body = text.replace(line, "").partition("\n\n")
    fd.fec.use_schedule(0, head + "\n# Registers: at most 48" + blank + body)
    fd.execute([x])
    assert "# Registers: at most 48\n" in fd.fec.schedules([x])[0]


# The beginning of each process of the tests below.
DEFINITION = """
import sys
import torch
from nvfuser_direct import FusionDefinition, KernelCache, KernelExecutor, UserError, schedule
from nvfuser_direct.tuning_moves import neighbours_of
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.sum(fd.ops.mul(x, x), [1]))
x = torch.ones(300, 1000, device=sys.argv[1])
def check():
    assert bool((fd.execute([x])[0] == 1000).all())
    (piece,) = fd.fec.last_pieces()
    return piece
piece = check()
"""
# Puts another schedule in place, whatever its speed.
USE_A_NEIGHBOUR = """
for move in neighbours_of(piece.params):
    try:
        fd.fec.use_params(0, move.params, [x])
    except UserError:
        continue
    break
assert check().way == "given"
"""
STORE = USE_A_NEIGHBOUR + "fd.fec.store_tuned(0, [x])\n"
SHOW = "print(piece.way, fd.fec.explain([x]).splitlines()[0])\n"


def run_in_process(target: str, text: str, folder: Path, **environment: str) -> str:
    environment |= {"NVFUSER_CACHE_DIR": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", DEFINITION + text, target],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_other_processes_use_what_tuning_found(target: str, tmp_path: Path) -> None:
    assert run_in_process(target, SHOW, tmp_path).startswith("scheduled ")
    run_in_process(target, STORE, tmp_path)
    assert run_in_process(target, SHOW, tmp_path).startswith(
        "given segment 0: schedule found by tuning"
    )
    clear = "KernelCache.tuned().clear()\n"
    run_in_process(target, clear, tmp_path)
    assert run_in_process(target, SHOW, tmp_path).startswith("scheduled ")


def test_records_are_for_runs_with_the_same_decisions(target: str, tmp_path: Path) -> None:
    run_in_process(target, STORE, tmp_path)
    other = (
        "fd.execute([torch.ones(3, 7, device=sys.argv[1])])\n"
        "(other,) = fd.fec.last_pieces()\n"
        "assert other.params != piece.params\n"
        "print(other.way)\n"
    )
    assert run_in_process(target, other, tmp_path) == "scheduled"


def test_damaged_records_are_no_records(target: str, tmp_path: Path) -> None:
    run_in_process(target, STORE, tmp_path)
    paths = list(tmp_path.glob("*/*.tuned"))
    assert len(paths) == 2  # the record, and the mark that there is one for these decisions
    for path in paths:
        whole = path.read_bytes()
        path.write_bytes(whole[:-3])
        assert run_in_process(target, SHOW, tmp_path).startswith("scheduled ")
        path.write_bytes(whole)


def test_nothing_is_kept_unless_tuning_is_asked_for(target: str, tmp_path: Path) -> None:
    run_in_process(target, "fd.tune([x], seconds=1, keep=False)\n" + USE_A_NEIGHBOUR, tmp_path)
    assert not list(tmp_path.glob("*/*.tuned"))


def test_texts_of_segments_are_read_from_files(target: str, tmp_path: Path) -> None:
    folder = tmp_path / "schedules"
    folder.mkdir()
    save = f"open({str(folder / 'sum.py')!r}, 'w').write(fd.fec.schedules([x])[0])\n"
    run_in_process(target, USE_A_NEIGHBOUR + save, tmp_path / "first")
    found = run_in_process(target, SHOW, tmp_path / "other", NVFUSER_SCHEDULES=str(folder))
    assert found.startswith("given segment 0: schedule of the user")


def test_what_was_tuned_is_tuned_again_from_the_start(target: str, tmp_path: Path) -> None:
    run_in_process(target, STORE, tmp_path)
    again = "print(fd.tune([x], seconds=0, keep=False).segments[0].candidates[0].what)\n"
    assert run_in_process(target, again, tmp_path) == "as scheduled automatically"


def test_reports_are_saved_as_files(tmp_path: Path) -> None:
    best = Candidate("as scheduled automatically", ReductionParams(), 0.5)
    report = TuningReport([SegmentTuning(3, [best], best, "# a schedule\n")])
    (path,) = report.save(tmp_path / "new" / "folder")
    assert path.name == "segment_3_reduction.py"
    assert path.read_text() == "# a schedule\n"
    assert report.schedules == ["# a schedule\n"]
    assert str(report).startswith("segment 3: reduction, 0.5000 -> 0.5000 ms, 1 candidates")


def test_a_segment_with_its_automatic_schedule_is_not_stored(target: str) -> None:
    fd = row_sums_of_squares()
    fd.execute([torch.ones(3, 5, device=target)])
    with pytest.raises(UserError, match="has its automatic schedule"):
        fd.fec.store_tuned(0)


def test_params_of_another_scheduler_are_refused_where_it_takes_no_such_segment(
    target: str,
) -> None:
    fd = row_sums_of_squares()
    x = torch.ones(3, 5, device=target)
    fd.execute([x])
    with pytest.raises(UserError):
        fd.fec.use_params(0, TransposeParams(), [x])
    assert fd.execute([x])[0].tolist() == [5.0, 5.0, 5.0]


def test_schedules_that_rewrite_the_math_can_be_put_back(target: str, rng: torch.Generator) -> None:
    """Moments of rows are a Welford in the schedule of a reduction."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        mean = fd.ops.mul(fd.ops.sum(x, [0]), 1 / 500)
        centred = fd.ops.sub(x, fd.ops.broadcast(mean, [True, False]))
        fd.add_output(mean)
        fd.add_output(fd.ops.sum(fd.ops.mul(centred, centred), [0]))
    x = (torch.rand(500, 6, generator=rng) + 10).to(target)
    expected = fd.execute([x])
    for number, text in enumerate(fd.fec.schedules([x])):
        if "Decisions" in text:
            fd.fec.use_schedule(number, text, [x])
    for again, before in zip(fd.execute([x]), expected, strict=True):
        torch.testing.assert_close(again, before)


def test_neighbours_differ_in_one_decision(target: str) -> None:
    fd = row_sums_of_squares()
    fd.execute([torch.ones(300, 1000, device=target)])
    (piece,) = fd.fec.last_pieces()
    assert piece.params.scheduler_type == SchedulerType.reduction
    moves = list(neighbours_of(piece.params))
    assert len({move.what for move in moves}) == len(moves) > 3
    assert all(move.params != piece.params for move in moves)


def test_blocks_keep_their_threads_below_what_a_gpu_takes() -> None:
    params = ReductionParams()
    params.lparams.bdimx = 512
    params.lparams.bdimy = 2
    shapes = {
        (move.params.lparams.bdimx, move.params.lparams.bdimy)
        for move in neighbours_of(params)
        if move.what.startswith("block ")
    }
    assert shapes == {(256, 2), (512, 1), (1024, 1), (256, 4)}


@pytest.mark.parametrize(
    ("found", "expected", "is_equal"),
    [
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0001]), True),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]), False),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.tensor([float("nan")]), torch.tensor([0.0]), False),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), False),
        (torch.tensor([1j]), torch.tensor([1.00001j]), True),
        (torch.empty(0), torch.empty(0), True),
        (torch.empty(0), torch.empty(1), False),
    ],
)
def test_candidates_may_round_otherwise_and_nothing_else(
    found: torch.Tensor, expected: torch.Tensor, is_equal: bool
) -> None:
    assert _are_equal([found], [expected]) is is_equal


def test_a_negative_time_is_refused() -> None:
    with pytest.raises(UserError, match="at least 0"):
        row_sums_of_squares().tune([torch.ones(3, 3)], seconds=-1)


def test_a_fusion_without_kernels_has_nothing_to_tune(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.matmul(x, x))
    report = fd.tune([torch.ones(4, 4, device=target)], seconds=0.1)
    assert report.segments == []
    assert "nothing to tune" in str(report)
