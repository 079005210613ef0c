"""Tuning: candidates are tried by measurement, the fastest takes the place of the automatic one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    KernelCache,
    KernelExecutor,
    ReductionParams,
    SchedulerType,
    TuningReport,
    UserError,
    schedule,
)
from nvfuser_direct.tuning import _are_equal
from nvfuser_direct.tuning_moves import neighbours_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nvfuser_direct import Fusion, HeuristicParams, PieceReport


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


def with_params(piece: PieceReport, params: HeuristicParams) -> Fusion:
    fusion = piece.fusion
    schedule.schedule(fusion, params.scheduler_type, params)
    return fusion


def legal_neighbours(piece: PieceReport, args: list[torch.Tensor]) -> Iterator[HeuristicParams]:
    """Other schedules of a segment that have kernels."""
    for move in neighbours_of(piece.params):
        try:
            KernelExecutor().compile(with_params(piece, move.params), args)
        except UserError:
            continue
        yield move.params


@pytest.fixture
def own_records() -> Path:
    """The folder of this process, without the records of other tests."""
    folder = Path(KernelCache.tuned().folder)
    for path in folder.glob("*/*.tuned"):
        path.unlink()
    return folder


def test_the_table_has_every_candidate_and_results_stay_right(
    target: str, rng: torch.Generator, own_records: Path
) -> None:
    fd = row_sums_of_squares()
    x = torch.rand(300, 1000, generator=rng).to(target)
    report = fd.tune([x], seconds=1.5)
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


def test_segments_get_their_own_inputs(
    target: str, rng: torch.Generator, own_records: Path
) -> None:
    fd = cut_in_two()
    x = torch.rand(65, 65, generator=rng).to(target)
    report = fd.tune([x], seconds=0.5)
    assert [found.segment for found in report.segments] == [0, 2]
    expected = ((x.double() + 1) @ x.double()).relu().sum(0)
    torch.testing.assert_close(fd.execute([x])[0].double(), expected, rtol=1e-4, atol=0)


def test_inputs_that_are_written_into_keep_their_elements(target: str, own_records: Path) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(x, 1.0), x)
    x = torch.zeros(1000, device=target)
    fd.tune([x], seconds=0.3)
    runs = x[0].item()  # those of `tune` on the user's own tensor: one before, one after
    assert runs == 2
    assert bool((x == runs).all())


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


SECOND_PROCESS = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.sum(fd.ops.mul(x, x), [1]))
x = torch.ones(300, 1000, device={target!r})
assert bool((fd.execute([x])[0] == 1000).all())
print(fd.fec.last_pieces()[0].way)
"""


def run_in_second_process(target: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", SECOND_PROCESS.format(target=target)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


def test_other_processes_use_what_tuning_found(
    target: str, tmp_path: Path, own_records: Path
) -> None:
    fd = row_sums_of_squares()
    x = torch.ones(300, 1000, device=target)
    fd.execute([x])
    (piece,) = fd.fec.last_pieces()
    environment = {"NVFUSER_CACHE_DIR": str(own_records)}
    assert run_in_second_process(target, **environment) == "scheduled"
    report = fd.tune([x], seconds=0)
    (found,) = report.segments
    assert len(found.candidates) == 1  # no time to look further
    assert run_in_second_process(target, **environment) == "scheduled"

    scheduled = with_params(piece, next(legal_neighbours(piece, [x])))
    fd.fec.use_fusion(0, scheduled, "tuning", [x])
    fd.fec.store_tuned(0, scheduled, [x])
    assert run_in_second_process(target, **environment) == "given"
    fd.execute([x])
    report.segments[0].schedule = fd.fec.schedules([x])[0]
    (path,) = report.save(tmp_path / "schedules")
    assert path.suffix == ".py"
    other = {"NVFUSER_CACHE_DIR": str(tmp_path), "NVFUSER_SCHEDULES": str(path.parent)}
    assert run_in_second_process(target, **other) == "given"


def test_records_of_other_decisions_do_not_count(target: str, own_records: Path) -> None:
    """A record is for sizes that are scheduled alike: others are scheduled automatically."""
    fd = row_sums_of_squares()
    x = torch.ones(300, 1000, device=target)
    fd.execute([x])
    (piece,) = fd.fec.last_pieces()
    scheduled = with_params(piece, next(legal_neighbours(piece, [x])))
    fd.fec.store_tuned(0, scheduled, [x])
    other = row_sums_of_squares()
    other.execute([torch.ones(3, 7, device=target)])
    (piece_of_other,) = other.fec.last_pieces()
    assert piece_of_other.params != piece.params
    assert piece_of_other.way == "scheduled"


def test_damaged_records_are_no_records(target: str, own_records: Path) -> None:
    fd = row_sums_of_squares()
    x = torch.ones(300, 1000, device=target)
    fd.execute([x])
    (piece,) = fd.fec.last_pieces()
    fd.fec.store_tuned(0, with_params(piece, next(legal_neighbours(piece, [x]))), [x])
    (path,) = own_records.glob("*/*.tuned")
    path.write_bytes(path.read_bytes()[:-3])
    again = row_sums_of_squares()
    assert bool((again.execute([x])[0] == 1000).all())
    assert again.fec.last_pieces()[0].way == "scheduled"


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
