"""Random programs through the automatic schedulers: one that takes a fusion makes a kernel of it
that computes what the math says, and prints a schedule that makes the same kernel again.

    python tests/property/automatic_schedules.py --count 10000 --seed 0 [--target cuda]

tries seeds 0 to 9999 on all cores, and counts which schedulers took how many fusions.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from random_operations import KINDS
from random_programs import (
    Program,
    Report,
    Slack,
    argument_parser,
    make_program,
    on_target,
    run_arguments,
)
from scheduled_programs import KernelOperations

from nvfuser_direct import KernelExecutor, SchedulerType, schedule
from nvfuser_direct.evaluator import Evaluator

sys.path.insert(0, str(Path(__file__).parents[1] / "schedule"))
from scheduled_runs import check_prints_as_python

if TYPE_CHECKING:
    import torch

SCHEDULERS = {
    SchedulerType.reduction,
    SchedulerType.inner_persistent,
    SchedulerType.outer_persistent,
    SchedulerType.inner_outer_persistent,
}
WEIGHTS = dict.fromkeys(KINDS, 0.3) | {
    "binary": 10, "unary": 8, "cast": 5, "reduction": 25, "moments": 6, "softmax": 6,
    "normalization": 16, "broadcast": 4, "permute": 3, "reshape": 3, "squeeze": 2,
    "product": 0, "search": 0, "rows": 0,
}  # fmt: skip


class ReducingOperations(KernelOperations):
    """Few operations with many reductions: what a segment looks like."""

    end_rate = 0.35

    @property
    def kinds(self) -> dict[str, float]:
        return {kind: weight for kind, weight in WEIGHTS.items() if kind in KINDS}


def check_kernel(
    program: Program, scheduler: SchedulerType, scheduled_for: str, target: str
) -> None:
    """The schedule for one target is right on any."""
    fusion = program.fd.fusion.clone()
    params = schedule.schedule(fusion, scheduler, on_target(program, target), scheduled_for)
    check_prints_as_python(fusion)
    given: list[Any] = on_target(program, target)
    references = Evaluator(program.fd.fusion, on_target(program, target)).outputs()
    executor = KernelExecutor()
    executor.compile(fusion, given)
    results: list[torch.Tensor] = executor.run(given, params.lparams, params.cparams)
    if len(results) < len(program.outputs):  # what is written in place is not returned
        results = [given[program.written[0][0]], *results]
    compared = zip(program.outputs, results, references, strict=True)
    for i, (value, result, reference) in enumerate(compared):
        what = f"{scheduler.name} for {scheduled_for}, output {i}, {value.tensor}"
        Slack.of(value).assert_close(result, reference, what)


def report_of(seed: int, target: str) -> Report:
    """Make the program of a seed, and run it by each scheduler that takes it."""
    program: Program | None = None
    taken: list[str] = []
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = make_program(seed, ReducingOperations)
            for scheduled_for in ("cuda", "cpu"):
                inputs = on_target(program, target)
                found = schedule.find_compatible_schedulers(
                    program.fd.fusion, inputs, scheduled_for
                )
                for scheduler in found:
                    if scheduler in SCHEDULERS:
                        taken.append(scheduler.name)
                        check_kernel(program, scheduler, scheduled_for, target)
        result = "kernel" if taken else "refused"
        return Report(seed, result, "", len(program.names), tuple(taken))
    except Exception as error:
        text = f"{taken[-1:]} {type(error).__name__}: {error}"
        if program is not None:
            text += f"\n{program.fd!r}"
        return Report(seed, "failed", text)


def summary(reports: list[Report]) -> str:
    failed = [report for report in reports if report.result == "failed"]
    lines = [f"seed {report.seed}: {report.text}" for report in failed]
    results = Counter(report.result for report in reports)
    lines.append(f"{len(reports)} fusions: " + ", ".join(f"{n} {r}" for r, n in results.items()))
    taken = Counter(name for report in reports for name in report.kinds)
    lines.append("kernels: " + ", ".join(f"{name} {n}" for name, n in taken.most_common()))
    lines.append(f"failing seeds: {[report.seed for report in failed]}")
    return "\n".join(lines)


def main() -> int:
    reports = run_arguments(argument_parser(__doc__).parse_args(), report_of)
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
