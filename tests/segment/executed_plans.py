"""Random definitions through `fd.execute`, compared with the evaluator.

    python tests/segment/executed_plans.py --count 10000 --seed 0 [--target cuda] [--processes 8]

tries seeds 0 to 9999, on all cores unless told otherwise. Definitions have 1 to 60 operations with
several reductions and reshapes each (random_plans.py). The line at the end counts how segments ran:
kernels by scheduler, views, evaluations. Each definition is also made with its statements in
another order, and has to be cut and scheduled alike.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from random_plans import Spec, make_spec

from nvfuser_direct import FusionDefinition, SchedulerType
from nvfuser_direct.evaluator import Evaluator

sys.path.insert(0, str(Path(__file__).parents[1] / "property"))
from random_programs import Report, argument_parser, run_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

ATOL, RTOL = 1e-5, 1e-5  # float64, with casts to float32 and back


def runners_of(fd: FusionDefinition) -> list[str]:
    return [
        piece.way if piece.scheduler == SchedulerType.none else piece.scheduler.name
        for piece in fd.fec.last_pieces()
    ]


def refusals_of(fd: FusionDefinition) -> list[str]:
    return [
        f"{way}: {reason.splitlines()[0]}"
        for piece in fd.fec.last_pieces()
        for way, reason in piece.refused
    ]


def execute(spec: Spec, order: Sequence[int] | None, target: str) -> FusionDefinition:
    """Runs the definition, and compares its outputs."""
    fd, _ = spec.build(order)
    inputs = [x.to(target) for x in spec.inputs]
    expected = Evaluator(fd.fusion, inputs).outputs()
    found = fd.execute(inputs)
    assert len(found) == len(expected)
    for own, reference in zip(found, expected, strict=True):
        torch.testing.assert_close(own, reference, atol=ATOL, rtol=RTOL, equal_nan=True)
    for given, original in zip(inputs, spec.inputs, strict=True):
        assert torch.equal(given.cpu(), original), "an input was written"
    return fd


def segments_of(fd: FusionDefinition) -> list[tuple[str, str]]:
    params = [repr(piece.params) for piece in fd.fec.last_pieces()]
    return list(zip(runners_of(fd), params, strict=True))


def check_order(spec: Spec, fd: FusionDefinition, seed: int, target: str) -> None:
    """The segments do not depend on the order of statements."""
    other = execute(spec, spec.shuffled(seed), target)
    assert segments_of(fd) == segments_of(other), "another order of statements, other segments"


def report_of(seed: int, target: str) -> Report:
    """How the segments of a seed ran, or what went wrong."""
    spec = make_spec(seed)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fd = execute(spec, None, target)
            check_order(spec, fd, seed, target)
        runners, refusals = tuple(runners_of(fd)), tuple(refusals_of(fd))
        return Report(seed, "executed", "", len(spec.nodes), runners, refusals)
    except Exception as error:
        return Report(seed, "failed", f"{type(error).__name__}: {error}\n{spec.build()[0]!r}")


def summary(reports: Sequence[Report]) -> str:
    failed = [report for report in reports if report.result == "failed"]
    lines = [f"seed {report.seed}: {report.text}" for report in failed]
    refused = Counter(reason for report in reports for reason in report.refusals)
    lines += [f"{count} times refused by {reason}" for reason, count in refused.most_common()]
    runners = Counter(runner for report in reports for runner in report.kinds)
    segments = ", ".join(f"{name} {count}" for name, count in runners.most_common())
    lines.append(f"{runners.total()} segments: {segments}")
    lines.append(f"{len(reports)} definitions, {len(failed)} failed: {[r.seed for r in failed]}")
    return "\n".join(lines)


def main() -> int:
    reports = run_arguments(argument_parser(__doc__).parse_args(), report_of)
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
