"""The benchmark suite: its cases agree with PyTorch, and its tools say what they found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import FusionDefinition

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import suite
from cases.image_norms import batchnorm, groupnorm
from cases.random_cases import random_cases
from cases.softmax import cross_entropy
from cases.sums import total

if TYPE_CHECKING:
    from cases import Case

BENCHMARKS = Path(suite.__file__).parent
SMALL = [
    batchnorm("batchnorm", 3, 4, 5, 7, channels_last=False),
    batchnorm("batchnorm_nhwc", 3, 4, 5, 7, channels_last=True),
    groupnorm(2, 8, 3, 5, 4),
    cross_entropy(17, 33),
]


def random_small_cases() -> list[Case]:
    """One of each kind."""
    kinds = {}
    for case in random_cases(80, seed=11, least_bytes=1 << 12, most_bytes=1 << 15):
        kinds.setdefault(case.name.partition("x")[0].rstrip("0123456789"), case)
    return list(kinds.values())


@pytest.mark.parametrize("case", [*SMALL, *random_small_cases()], ids=lambda case: case.name)
def test_cases_agree_with_eager(case: Case, target: str) -> None:
    torch.manual_seed(0)
    inputs = case.inputs(target)
    with FusionDefinition() as fd:
        case.define(fd)
    found, eager = fd.execute(inputs), suite.as_tuple(case.eager(*inputs))
    assert [t.shape for t in found] == [t.shape for t in eager]
    if not case.compares_values:
        return
    # Eager PyTorch rounds on its way (a group's mean to bfloat16): either may be the better one.
    wide = [x.double() if x.is_floating_point() else x for x in inputs]
    exact = [e.to(t.dtype) for e, t in zip(suite.as_tuple(case.eager(*wide)), found, strict=True)]
    errors = [suite.largest_error(found, reference) for reference in (eager, exact)]
    assert min(errors) <= case.rtol


def test_random_cases_depend_on_the_seed_alone() -> None:
    names = [case.name for case in random_cases(50, seed=3)]
    assert names == [case.name for case in random_cases(50, seed=3)]
    assert names != [case.name for case in random_cases(50, seed=4)]


def test_wrong_values_are_seen() -> None:
    right = torch.ones(5)
    assert suite.largest_error([right], [right]) == 0.0
    assert suite.largest_error([right * 2], [right]) == 1.0
    assert suite.largest_error([right * float("nan")], [right]) == float("inf")
    assert suite.largest_error([right], [torch.ones(4)]) == float("inf")


def test_kernels_alone_have_a_score_of_their_own() -> None:
    times = {"copy": 0.14, "ours": 0.16, "copy kernel": 0.13, "kernel": 0.12}
    row = suite.Row("softmax", milliseconds=times, counts=True)
    assert row.score == pytest.approx(0.875)
    assert row.kernel_score == pytest.approx(0.13 / 0.12)
    assert suite.summary([row])["geometric_mean_of_kernels"] == pytest.approx(0.13 / 0.12)
    assert len(suite.line(row, []).split()) == len(suite.header([]).split()) - 3  # units, and "by"

    del times["kernel"], times["copy kernel"]  # without --kernels
    assert row.kernel_score is None
    assert suite.summary([row])["geometric_mean_of_kernels"] is None


def test_a_tuned_case_is_measured_before_and_afterwards(target: str) -> None:
    case = total("sum", (64, 96), [1])
    row = suite.measure(case, target, [], repeats=2, tune_seconds=0.2)
    assert row.verdict == ""
    assert {"copy", "ours", "tuned"} <= row.milliseconds.keys()
    assert len(row.tuning) == 1
    assert "times as fast" in row.tuning[0]
    assert f"tuned {row.score_of('tuned'):.2f}  {row.tuning[0]}" in suite.line(row, [])
    assert suite.summary([row])["geometric_mean_tuned"] == pytest.approx(row.score_of("tuned"))


def test_two_runs_are_compared(tmp_path: Path) -> None:
    def run(name: str, **scores: float | None) -> Path:
        rows = [
            {"name": case, "score": score, "verdict": "" if score else "WRONG"}
            for case, score in scores.items()
        ]
        path = tmp_path / name
        path.write_text(json.dumps({"rows": rows}))
        return path

    def compare(before: Path, after: Path) -> tuple[int, str]:
        command = [sys.executable, str(BENCHMARKS / "compare.py"), str(before), str(after)]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        return found.returncode, found.stdout

    before = run("before.json", softmax=0.8, rope=0.9)
    assert compare(before, run("faster.json", softmax=0.88, rope=0.9))[0] == 0
    status, text = compare(before, run("slower.json", softmax=0.7, rope=None, scan=0.5))
    assert status == 1
    assert "slower" in text
    assert "WRONG" in text
    assert "new" in text
    assert "gone" in compare(before, run("gone.json", softmax=0.8))[1]
