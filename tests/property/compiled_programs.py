"""Kernels of random scheduled programs take NVRTC no longer than their bound; no GPU is needed.

    python tests/property/compiled_programs.py --count 400 --seed 5200000

makes the programs of `scheduled_programs.py` for the same seeds, and compiles each without running
it. It prints how long NVRTC took at most and in the middle, and the seeds of the slowest. A kernel
that takes more than two seconds of processor time, or that NVRTC refuses, has failed.
"""

from __future__ import annotations

import sys
import time
import warnings
from functools import partial

from random_programs import Report, argument_parser, run_arguments
from schedule_scripts import FAULTS, Lines
from scheduled_programs import MAKERS, make_script

from nvfuser_direct import DataType, UserError, _core

MOST_SECONDS = 2.0
SHOWN = 10


def report_of(seed: int, _target: str, kind: str = "plain") -> Report:
    """Make, schedule, lower and compile the program of a seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script, _ = make_script(seed, kind)
        lines = Lines(script.definition)
        for call in script.calls:
            lines.execute(call)
        index_type = DataType.Int32 if script.has_narrow_indices else DataType.Int
        try:
            source = lines.fusion.compile_cuda(index_type).source
        except UserError as error:
            is_fault = any(fault in str(error) for fault in FAULTS)
            return Report(seed, "failed" if is_fault else "refused", str(error))
    start = time.process_time()
    _core.compile_cuda_source(source)
    seconds = time.process_time() - start
    text = f"{seconds:.3f} s for {len(source)} characters"
    return Report(seed, "kernel" if seconds <= MOST_SECONDS else "failed", text)


def seconds_of(report: Report) -> float:
    """Those of a program that has a kernel; else 0."""
    words = report.text.split()
    return float(words[0]) if words[1:2] == ["s"] else 0.0


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--kind", choices=list(MAKERS), default="plain")
    args = parser.parse_args()
    reports = run_arguments(args, partial(report_of, kind=args.kind))
    failed = [report for report in reports if report.result == "failed"]
    slowest = sorted((r for r in reports if seconds_of(r) > 0), key=seconds_of, reverse=True)
    for report in slowest[:SHOWN]:
        print(f"seed {report.seed}: {report.text}")
    refused = sum(report.result == "refused" for report in reports)
    print(f"{len(slowest)} kernels, {refused} refused schedules, {len(failed)} failed")
    if slowest:
        middle = seconds_of(slowest[len(slowest) // 2])
        print(f"NVRTC: at most {seconds_of(slowest[0]):.3f} s, median {middle:.3f} s")
    print(f"failing seeds: {[report.seed for report in failed]}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
