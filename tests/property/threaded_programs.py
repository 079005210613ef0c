"""Many threads execute many fusions at once, with sizes that change from call to call.

    python tests/property/threaded_programs.py --threads 16 --fusions 50 --calls 1000

Every result is compared with PyTorch's. On the CPU, kernels are compiled by a script that notes
what it is given: no source is compiled twice. `--processes 2` lets as many of such processes begin
at once on one empty kernel cache.

Compiling takes nearly all of the time: every definition has kernels of its own for some of the
sizes. `--definitions` of the fusions differ; the others are equal to one of them, and ask for the
same kernels from caches of their own.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from nvfuser_direct import FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

SHAPES = ((1, 1), (1, 40), (7, 1), (5, 64), (33, 100), (64, 129), (128, 1000))
COMPILER = """#!/bin/sh
for word; do case "$word" in *.cpp) sha256sum < "$word" >> "$NOTED_SOURCES";; esac; done
exec {compiler} "$@"
"""


# ---- Fusions -------------------------------------------------------------------------------------


def map_of(fd: FusionDefinition, x: TensorView, number: float) -> TensorView:
    return fd.ops.relu(fd.ops.add(fd.ops.mul(x, number), 1.0))


def centred(fd: FusionDefinition, x: TensorView, number: float) -> TensorView:
    return fd.ops.sub(x, fd.ops.mul(fd.ops.sum(x, [1], keepdim=True), number))


def column_sums(fd: FusionDefinition, x: TensorView, number: float) -> TensorView:
    return fd.ops.sum(fd.ops.mul(x, number), [0])


def transposed(fd: FusionDefinition, x: TensorView, number: float) -> TensorView:
    return fd.ops.add(fd.ops.permute(x, [1, 0]), number)


def two_sums(fd: FusionDefinition, x: TensorView, number: float) -> TensorView:
    """Rows, and then columns: two kernels."""
    rows = fd.ops.div(x, fd.ops.add(fd.ops.sum(fd.ops.abs(x), [1], keepdim=True), number))
    return fd.ops.sub(rows, fd.ops.sum(rows, [0], keepdim=True))


def two_sums_of(x: torch.Tensor, number: float) -> torch.Tensor:
    rows = x / (x.abs().sum(1, keepdim=True) + number)
    return rows - rows.sum(0, keepdim=True)


KINDS: tuple[tuple[Callable[..., TensorView], Callable[..., torch.Tensor]], ...] = (
    (map_of, lambda x, number: torch.relu(x * number + 1.0)),
    (centred, lambda x, number: x - x.sum(1, keepdim=True) * number),
    (column_sums, lambda x, number: (x * number).sum(0)),
    (transposed, lambda x, number: x.t() + number),
    (two_sums, two_sums_of),
)


@dataclass
class Call:
    inputs: list[torch.Tensor]
    expected: torch.Tensor


@dataclass
class Task:
    """A fusion, and what its calls are."""

    name: str
    fd: FusionDefinition
    calls: list[Call]


def make_task(number: int, definitions: int, device: str) -> Task:
    """The data differ from those of equal definitions."""
    which = number % definitions
    define, reference = KINDS[which % len(KINDS)]
    constant = 1.0 + which
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(define(fd, x, constant))
    calls = []
    for shape in SHAPES:
        value = torch.randn(shape, generator=torch.Generator().manual_seed(number))
        calls.append(Call([value.to(device)], reference(value.double(), constant).float()))
    return Task(f"{define.__name__} {constant}", fd, calls)


# ---- One process ---------------------------------------------------------------------------------


def run_threads(tasks: list[Task], num_threads: int, num_calls: int) -> list[str]:
    """Call each fusion `num_calls` times, dealt over the threads; returns what went wrong."""
    failures: list[str] = []
    start = threading.Barrier(num_threads)

    def work(thread: int) -> None:
        choose = random.Random(thread)
        start.wait()
        for _ in range(num_calls * len(tasks) // num_threads):
            task = choose.choice(tasks)
            call = choose.choice(task.calls)
            try:
                (found,) = task.fd.execute(call.inputs)
                torch.testing.assert_close(found.cpu(), call.expected, rtol=1e-4, atol=1e-2)
            except Exception as error:  # any, of any thread, is a failure of the run
                failures.append(f"{task.name}, {tuple(call.inputs[0].shape)}: {error}")
                return

    threads = [threading.Thread(target=work, args=(i,)) for i in range(num_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def run_process(args: argparse.Namespace) -> int:
    torch.set_num_threads(1)
    tasks = [make_task(number, args.definitions, args.target) for number in range(args.fusions)]
    begin = time.perf_counter()
    failures = run_threads(tasks, args.threads, args.calls)
    seconds = time.perf_counter() - begin
    stats = [task.fd.fec.stats() for task in tasks]
    calls = sum(each.hits + each.misses for each in stats)
    compiled = sum(each.compiled for each in stats)
    print(
        f"{calls} calls of {len(tasks)} fusions, {compiled} kernels, {seconds:.1f} s, "
        f"{len(failures)} failures"
    )
    print("\n".join(failures[:5]))
    return int(bool(failures))


# ---- All processes -------------------------------------------------------------------------------


def run_processes(args: argparse.Namespace, folder: Path) -> int:
    compiler = os.environ.get("CXX") or shutil.which("c++") or "c++"
    script = folder / "compiler"
    script.write_text(COMPILER.format(compiler=compiler))
    script.chmod(0o755)
    words = ["--inner", "--target", args.target, "--threads", args.threads]
    words += ["--fusions", args.fusions, "--calls", args.calls]
    words += ["--definitions", args.definitions]
    processes = []
    for number in range(args.processes):
        environment = {
            **os.environ,
            "CXX": str(script),
            "NOTED_SOURCES": str(folder / f"sources{number}"),
            "NVFUSER_CACHE_DIR": str(folder / "cache"),
        }
        command = [sys.executable, __file__, *map(str, words)]
        processes.append(subprocess.Popen(command, env=environment))
    codes = [process.wait() for process in processes]
    for number in range(args.processes):
        noted = folder / f"sources{number}"
        sources = Counter(noted.read_text().split("\n")[:-1] if noted.exists() else [])
        again = sum(sources.values()) - len(sources)
        print(f"process {number}: {len(sources)} sources compiled, {again} of them again")
        codes.append(again)
    return int(any(codes))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--fusions", type=int, default=50)
    parser.add_argument("--calls", type=int, default=1000, help="of each fusion, on average")
    parser.add_argument("--definitions", type=int, default=10, help="that differ")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--inner", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inner:
        return run_process(args)
    with tempfile.TemporaryDirectory() as folder:
        return run_processes(args, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
