"""Bytes of DRAM that the kernels of the suite move, beside the least they can.

    python benchmarks/dram_bytes.py                    all CUDA cases
    python benchmarks/dram_bytes.py --cases softmax    those whose names have one of the words

Nsight Compute counts one launch of each kernel of a call, after warm-up, with empty caches before
each kernel. The least is each input read once and each output written once. At the end of a kernel
the L2 still holds some of what was written (up to 60 MB on an H200), so fewer bytes may be counted.
Segments that PyTorch evaluates count as well. Clocks are left as they are. Some machines do not let
Nsight Compute read the counters; then the exit status is 2 and the reason is printed.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
# The kernel of `torch.cuda._sleep`, which stands before those of each case.
MARK = "spin_kernel"
WARM_UP = 3


@dataclass
class Traffic:
    """Bytes of a case.

    Attributes
    ----------
    least_read, least_written : int
        Each input once, each output once.
    kernels : list[tuple[str, float, float]]
        For each launch its name, the bytes that were read, and those that were written.
    """

    name: str
    least_read: int
    least_written: int
    kernels: list[tuple[str, float, float]] = field(default_factory=list)

    @property
    def read(self) -> float:
        return sum(read for _, read, _ in self.kernels)

    @property
    def written(self) -> float:
        return sum(written for *_, written in self.kernels)

    @property
    def ratio(self) -> float:
        return (self.read + self.written) / (self.least_read + self.least_written)


# ---- The process that is profiled ----------------------------------------------------------------


def run_cases(words: Sequence[str], report: Path) -> None:
    """Run each case once while the profiler counts, a mark before it; the report has the names and
    the least bytes."""
    import torch
    from cases import cuda_cases
    from suite import bytes_of, store_views

    from nvfuser_direct import FusionDefinition

    ran = []
    for case in cuda_cases():
        if not any(word in case.name for word in words):
            continue
        inputs = case.inputs("cuda")
        with FusionDefinition() as fd:
            case.define(fd)
            store_views(fd.fusion)
        for _ in range(WARM_UP):
            outputs = fd.execute(inputs)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        torch.cuda._sleep(1)
        fd.execute(inputs)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        ran.append((case.name, bytes_of(inputs), bytes_of(outputs)))
        del inputs, outputs
        torch.cuda.empty_cache()
    report.write_text(json.dumps(ran))


# ---- Nsight Compute ------------------------------------------------------------------------------


def find_profiler() -> str | None:
    """Nsight Compute on the path, or where its packages install it."""
    if found := shutil.which("ncu"):
        return found
    places = [*Path("/opt/nvidia/nsight-compute").glob("*/ncu"), Path("/usr/local/cuda/bin/ncu")]
    return next((str(place) for place in reversed(places) if place.exists()), None)


def counted_launches(output: str) -> list[tuple[str, float, float]]:
    """The launches in what the profiler printed: lines of CSV after those of the program. The first
    has the names of the columns, the second the units."""
    lines = output.splitlines()
    first = next((i for i, text in enumerate(lines) if text.startswith('"ID"')), None)
    if first is None:
        return []
    rows = csv.DictReader(io.StringIO("\n".join(lines[first:])))
    next(rows)
    return [(row["Kernel Name"], number(row[READ]), number(row[WRITTEN])) for row in rows]


def number(text: str) -> float:
    return float(text.replace(",", ""))


def dealt(
    launches: Iterable[tuple[str, float, float]], cases: Iterable[tuple[str, int, int]]
) -> list[Traffic]:
    """The launches of each case: those between its mark and the next."""
    traffic = [Traffic(*case) for case in cases]
    current = -1
    for launch in launches:
        if MARK in launch[0]:
            current += 1
        elif current >= 0:
            traffic[current].kernels.append(launch)
    return traffic


def profile(words: Sequence[str], profiler: str) -> list[Traffic]:
    """Raises RuntimeError with the reason where nothing was counted."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "cases.json")
        command = [profiler, "--csv", "--page", "raw", "--metrics", f"{READ},{WRITTEN}"]
        command += [
            "--print-units",
            "base",
            "--clock-control",
            "none",
            "--profile-from-start",
            "off",
        ]
        command += ["--target-processes", "application-only"]
        command += [sys.executable, __file__, "--report", str(report), "--cases", *words]
        # Kernels of a graph are counted as one launch.
        environment = os.environ | {"NVFUSER_DISABLE": "launch_graphs"}
        found = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
        launches = counted_launches(found.stdout)
        if not launches or not report.exists():
            said = [
                text for text in (found.stdout + found.stderr).splitlines() if "==ERROR==" in text
            ]
            raise RuntimeError("\n".join(said) or found.stdout[-2000:] + found.stderr[-2000:])
        return dealt(launches, json.loads(report.read_text()))


def line(case: Traffic) -> str:
    megabytes = (case.least_read, case.read, case.least_written, case.written)
    figures = "".join(f"{value / 1e6:10.1f}" for value in megabytes)
    return f"{case.name:40}{figures}{case.ratio:8.3f}{len(case.kernels):9}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)  # in the profiled process
    args = parser.parse_args()
    if args.report:
        run_cases(args.cases, args.report)
        return 0
    profiler = find_profiler()
    if profiler is None:
        print("Nsight Compute (ncu) is not on this machine: no bytes are counted")
        return 2
    try:
        traffic = profile(args.cases, profiler)
    except RuntimeError as error:
        print(f"Nsight Compute does not read the counters of this machine:\n{error}")
        return 2
    titles = "".join(f"{title:>10}" for title in ("least in", "read", "least out", "written"))
    print(f"{'MB':40}{titles}{'ratio':>8}{'kernels':>9}")
    for case in traffic:
        print(line(case))
    return 0


if __name__ == "__main__":
    sys.exit(main())
