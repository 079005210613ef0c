"""How soon a process launches a kernel: the first one, which compiles it, and later ones.

    python benchmarks/second_process.py [--target cuda] [--processes 5]

Each process defines the same fusion and calls `execute`. The time runs from the call until it
returns, which is when the kernel is launched (on the CPU: when it has run, on 4096 elements);
imports, the inputs and the start of CUDA are before it. Spans of the last process say where its
time went: `plan fusion` has all of a first call but its launch, and the others are within it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = {
    "pointwise": "fd.ops.relu(fd.ops.add(fd.ops.mul(x, 2.0), 1.0))",
    "softmax": "fd.ops.softmax(x, 1)",
    "row sums": "fd.ops.sum(x, [1])",
    "2 segments": "fd.ops.sum(fd.ops.sin(fd.ops.sum(fd.ops.exp(x), [1], keepdim=True)), [0])",
    "5 segments": "functools.reduce(lambda x, _: fd.ops.segment_set(fd.ops.sin(x)), range(5), x)",
}

PROCESS = """
import functools, sys, time
import torch
from nvfuser_direct import FusionDefinition

target, case = sys.argv[1:]
inputs = [torch.randn(64, 64, device=target)]
torch.relu(inputs[0]).sum().item()  # PyTorch's own first use of the device
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(eval(case))
begin = time.perf_counter()
fd.execute(inputs)
print(1e3 * (time.perf_counter() - begin))
begin = time.perf_counter()
fd.execute(inputs)
print(1e3 * (time.perf_counter() - begin))
"""


def run_process(target: str, case: str, folder: str) -> tuple[list[float], dict[str, float]]:
    """Milliseconds of two calls in a process of their own, and those of its spans."""
    trace = Path(folder, "trace.json")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NVFUSER_VERIFY_PASSES", "NVFUSER_DUMP", "NVFUSER_KERNEL_CACHE")
    }
    environment |= {"NVFUSER_CACHE_DIR": folder + "/cache", "NVFUSER_TRACE": str(trace)}
    result = subprocess.run(
        [sys.executable, "-c", PROCESS, target, case],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    spans: dict[str, float] = {}
    for event in json.loads(trace.read_text()):
        spans[event["name"]] = spans.get(event["name"], 0.0) + event["dur"] / 1e3
    return [float(line) for line in result.stdout.split()], spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--processes", type=int, default=5, help="after the first one")
    args = parser.parse_args()
    print("ms from the call of execute until its return: the first call of a process\n")
    print(f"{'case':12s} {'first process':>14s} {'later: median':>14s} {'least':>8s} {'most':>8s}")
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            (first, _), _ = run_process(args.target, case, folder)
            later = [run_process(args.target, case, folder) for _ in range(args.processes)]
        times = [calls[0] for calls, _ in later]
        print(
            f"{name:12s} {first:14.1f} {statistics.median(times):14.2f} "
            f"{min(times):8.2f} {max(times):8.2f}"
        )
        spans = sorted(later[-1][1].items(), key=lambda span: -span[1])
        print("   " + ", ".join(f"{span} {ms:.2f}" for span, ms in spans[:12]))


if __name__ == "__main__":
    main()
