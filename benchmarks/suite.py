"""The suite: the usual fusions, each through `fd.execute`.

    python benchmarks/suite.py                         all cases of this machine's target
    python benchmarks/suite.py --cases softmax rope    those whose names have one of the words
    python benchmarks/suite.py --target cpu --quick    no compiled peers, few repetitions
    python benchmarks/suite.py --random 200 --seed 3   shapes that are not in the table
    python benchmarks/suite.py --tune 5                also with the schedules that `fd.tune` finds
    python benchmarks/suite.py --json results.json     the table as data, for benchmarks/compare.py

A score is the time of a copy that reads and writes the same bytes, divided by the time of the
kernel: 1 is a copy. Both are measured in one run, on data that no cache holds: where inputs are
smaller than that, calls take turns over several sets. Results are compared with eager PyTorch. With
--kernels the column "kernel" is the time of a call whose launches are all in the queue when the GPU
comes to it, and "alone" the score of such times: the copy's by ours. The column "by" has the
scheduler of each segment; "view" and "evaluated" are segments without a kernel. With --tune each
case is tuned for so many seconds after its first measurement, and measured again: "tuned".
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import torch
from cases import Case, cpu_cases, cuda_cases
from cases.random_cases import random_cases

from nvfuser_direct import FusionDefinition, LoadStoreOp, SchedulerType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import Fusion, PieceReport

EAGER, COMPILE, MAX_AUTOTUNE = "eager", "compile", "max-autotune"
PEERS = (EAGER, COMPILE, MAX_AUTOTUNE)
L2_BYTES = {"cuda": 60 << 20, "cpu": 64 << 20}
ENQUEUE_CYCLES = 400_000  # of a GPU: longer than a host takes for a call
BEYOND_CACHES = 4  # data of one turn over all sets of inputs, in sizes of the cache
# Calls before those that are measured: they compile, and the next ones of a GPU still take longer.
WARM_UP = {"cuda": 10, "cpu": 3}
# A call of a GPU takes a fraction of a millisecond, and a host that is busy delays some of them.
REPEATS, QUICK_REPEATS = 20, {"cuda": 20, "cpu": 5}


@dataclass
class Row:
    """The measurements of a case.

    Attributes
    ----------
    megabytes : float
        Inputs read once, outputs written once.
    milliseconds : dict[str, float]
        By what ran: "copy", "ours", "tuned", and the peers; of the GPU alone: "copy kernel",
        "kernel".
    error : float
        Largest difference from eager, relative to the largest element.
    verdict : str
        Empty where all is well; "WRONG", or why there is no kernel.
    """

    name: str
    megabytes: float = 0.0
    scheduler: str = ""
    params: str = ""
    refused: list[str] = field(default_factory=list)  # better ways, with reasons
    tuning: list[str] = field(default_factory=list)  # what it changed last, of each segment
    milliseconds: dict[str, float] = field(default_factory=dict)
    compile_ms: float = 0.0
    error: float = 0.0
    verdict: str = ""
    floor: str = ""
    counts: bool = False  # in the mean

    @property
    def score(self) -> float | None:
        return self.score_of("ours")

    def score_of(self, who: str) -> float | None:
        if who not in self.milliseconds:
            return None
        return self.milliseconds["copy"] / self.milliseconds[who]

    @property
    def kernel_score(self) -> float | None:
        """The score of the kernels alone: no host."""
        if "kernel" not in self.milliseconds:
            return None
        return self.milliseconds["copy kernel"] / self.milliseconds["kernel"]

    @property
    def best_peer(self) -> float | None:
        return max((s for p in PEERS if (s := self.score_of(p)) is not None), default=None)


# ---- Running -------------------------------------------------------------------------------------


def as_tuple(result: Any) -> tuple[torch.Tensor, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def bytes_of(tensors: Sequence[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def largest_error(found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> float:
    """Relative to the largest element; infinite where shapes or NaNs differ."""
    worst = 0.0
    for own, reference in zip(found, expected, strict=True):
        if own.shape != reference.shape or own.dtype != reference.dtype:
            return math.inf
        # In parts: float64 copies of the largest tensors do not fit beside them.
        scale, difference = 1e-30, 0.0
        for a, b in zip(
            own.flatten().split(1 << 26), reference.flatten().split(1 << 26), strict=True
        ):
            scale = max(scale, b.double().abs().max().item())
            part = (a.double() - b.double()).abs().max().item()
            difference = max(difference, math.inf if math.isnan(part) else part)
        worst = max(worst, difference / scale)
    return worst


def runner_of(piece: PieceReport) -> str:
    """The name of the scheduler of a segment, or of the other way in which it runs."""
    return piece.way if piece.scheduler == SchedulerType.none else piece.scheduler.name


def store_views(fusion: Fusion) -> None:
    """Ask for the memory of outputs that are inputs in another order: else they are views of them,
    and cost nothing."""
    for output in fusion.outputs():
        definition = output.definition()
        if isinstance(definition, LoadStoreOp) and definition.arg.is_fusion_input():
            output.set_allocation_domain(output.get_logical_domain(), True)


def ours(case: Case, inputs: Sequence[Any], row: Row) -> FusionDefinition | None:
    """The definition, which has run; None, with the reason in `row`, where nothing runs it."""
    with FusionDefinition() as fd:
        case.define(fd)
        store_views(fd.fusion)
    start = time.perf_counter()
    try:
        fd.execute(inputs)
    except RuntimeError as error:
        row.verdict = "does not run: " + str(error).partition("\n")[0]
        return None
    row.compile_ms = (time.perf_counter() - start) * 1e3
    pieces = fd.fec.last_pieces()
    row.scheduler = " + ".join(runner_of(piece) for piece in pieces)
    row.params = "".join(repr(piece.params) for piece in pieces if piece.params is not None)
    row.refused = [
        f"{way}: {reason.splitlines()[0]}" for piece in pieces for way, reason in piece.refused
    ]
    return fd


def tuned(fd: FusionDefinition, inputs: Sequence[Any], seconds: float, row: Row) -> None:
    """Leave `fd` with the fastest schedules that are found, and what they change in `row`."""
    report = fd.tune(inputs, seconds=seconds, keep=False)
    row.tuning = [
        f"{found.best.what}: {found.gain:.2f} times as fast ({len(found.candidates)} tried)"
        for found in report.segments
    ]


def peer(case: Case, name: str) -> Callable[..., Any]:
    if name == EAGER:
        return case.eager
    torch._dynamo.reset()
    mode = None if name == COMPILE else "max-autotune-no-cudagraphs"
    return torch.compile(case.eager, mode=mode, dynamic=False)


def timed(function: Callable[[int], object], target: str, repeats: int) -> float:
    """Median milliseconds of a call; the argument counts calls."""
    times = []
    for i in range(repeats + WARM_UP[target]):
        if target == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            function(i)
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        else:
            begin = time.perf_counter()
            function(i)
            times.append((time.perf_counter() - begin) * 1e3)
    return median(times[WARM_UP[target] :])


def kernel_time(function: Callable[[int], object], repeats: int) -> float:
    """Median milliseconds of a call while the stream is busy until all of it is enqueued: kernels,
    copies and the gaps between them, without the host.

    A profiler would tell the kernels apart, and make every launch after it slower.
    """
    times = []
    for i in range(repeats + 2):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(ENQUEUE_CYCLES)
        start.record()
        function(i)
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return median(times[2:])


def copy_of(total_bytes: int, target: str) -> Callable[[int], object]:
    """A copy that reads and writes so many bytes."""
    source = torch.empty(max(total_bytes // 2, 1), dtype=torch.uint8, device=target)
    source.zero_()
    destination = torch.empty_like(source)
    return lambda _: destination.copy_(source)


def measure(
    case: Case,
    target: str,
    peers: Sequence[str],
    repeats: int,
    *,
    kernels: bool = False,
    tune_seconds: float = 0.0,
) -> Row:
    row = Row(case.name, floor=case.floor)
    torch.manual_seed(0)
    inputs = case.inputs(target)
    fd = ours(case, inputs, row)
    expected = as_tuple(case.eager(*inputs))
    total_bytes = bytes_of(inputs) + bytes_of(expected)
    row.megabytes = total_bytes / 1e6
    if fd is not None:
        found = fd.execute(inputs)
        row.error = largest_error(found, expected) if case.compares_values else 0.0
        if row.error > case.rtol:
            row.verdict = "WRONG"
        del found
    del expected
    # So many sets of inputs that none is in a cache when its turn comes.
    wanted = BEYOND_CACHES * L2_BYTES[target]
    sets = [inputs] + [case.inputs(target) for _ in range(min(7, wanted // max(total_bytes, 1)))]

    copy = copy_of(total_bytes, target)
    row.milliseconds["copy"] = timed(copy, target, repeats)
    if kernels:
        row.milliseconds["copy kernel"] = kernel_time(copy, repeats)
    del copy  # and its memory
    if fd is not None:

        def call(i: int) -> Sequence[torch.Tensor]:
            return fd.execute(sets[i % len(sets)])

        row.milliseconds["ours"] = timed(call, target, repeats)
        if kernels:
            row.milliseconds["kernel"] = kernel_time(call, repeats)
        if tune_seconds:
            tuned(fd, inputs, tune_seconds, row)
            row.milliseconds["tuned"] = timed(call, target, repeats)
    for name in peers:
        function = peer(case, name)
        try:
            row.milliseconds[name] = timed(
                lambda i, f=function: f(*sets[i % len(sets)]), target, repeats
            )
        except Exception as error:  # a peer that cannot: a fact about it, not about us
            print(f"  {name}: {type(error).__name__}: {str(error).partition(chr(10))[0]}")
    row.counts = case.is_memory_bound and fd is not None and row.verdict != "WRONG"
    return row


# ---- The table -----------------------------------------------------------------------------------


def text_of(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def header(peers: Sequence[str]) -> str:
    names = "".join(f"{name:>13}" for name in peers)
    return (
        f"{'case':40} {'MB':>6} {'copy ms':>8} {'ours ms':>8} {'kernel':>8}{names} {'score':>6} "
        f"{'alone':>6} {'peer':>6}  by"
    )


def line(row: Row, peers: Sequence[str]) -> str:
    times = "".join(f"{text_of(row.milliseconds.get(name)):>13}" for name in peers)
    score = row.score_of("tuned")
    tuning = [] if score is None else [f"tuned {score:.2f}", *row.tuning]
    notes = "  ".join(note for note in (row.scheduler, *tuning, row.verdict, *row.refused) if note)
    return (
        f"{row.name:40} {row.megabytes:6.0f} {text_of(row.milliseconds.get('copy')):>8} "
        f"{text_of(row.milliseconds.get('ours')):>8} {text_of(row.milliseconds.get('kernel')):>8}"
        f"{times} {text_of(row.score, 2):>6} {text_of(row.kernel_score, 2):>6} "
        f"{text_of(row.best_peer, 2):>6}  {notes}"
    )


def geometric_mean(scores: Sequence[float]) -> float | None:
    return math.exp(sum(map(math.log, scores)) / len(scores)) if scores else None


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """The mean over memory-bound cases that have a kernel, and the peers' over the same."""
    counted = [row for row in rows if row.counts]
    peers = [row.best_peer for row in counted]
    compiled = [row.milliseconds.get(COMPILE) for row in counted]
    return {
        "cases": len(rows),
        "kernels": len(counted),
        "geometric_mean": geometric_mean([row.score for row in counted if row.score]),
        "geometric_mean_tuned": geometric_mean(
            [score for row in counted if (score := row.score_of("tuned"))]
        ),
        "geometric_mean_of_kernels": geometric_mean(
            [row.kernel_score for row in counted if row.kernel_score]
        ),
        "geometric_mean_of_best_peers": geometric_mean([p for p in peers if p is not None])
        if None not in peers
        else None,
        "mean_over_compile": geometric_mean(
            [c / row.milliseconds["ours"] for row, c in zip(counted, compiled, strict=True) if c]
        ),
        "lowest": min((row.score or 0.0 for row in counted), default=None),
        "below_best_peer": [
            row.name for row in counted if row.score and row.score < 0.95 * (row.best_peer or 0)
        ],
        "wrong": [row.name for row in rows if row.verdict == "WRONG"],
    }


def cases_of(args: argparse.Namespace) -> list[Case]:
    if args.random:
        every = random_cases(args.random, args.seed)
    else:
        every = cuda_cases() if args.target == "cuda" else cpu_cases()
    return [case for case in every if any(word in case.name for word in args.cases)]


def print_summary(found: dict[str, Any]) -> None:
    print(
        f"geometric mean of {found['kernels']} of {found['cases']} cases: "
        f"{text_of(found['geometric_mean'])}, of kernels alone: "
        f"{text_of(found['geometric_mean_of_kernels'])}, of their best peers: "
        f"{text_of(found['geometric_mean_of_best_peers'])}, over torch.compile: "
        f"{text_of(found['mean_over_compile'])}; lowest {text_of(found['lowest'], 2)}"
    )
    if found["geometric_mean_tuned"] is not None:
        print(f"geometric mean tuned: {text_of(found['geometric_mean_tuned'])}")
    for name in found["below_best_peer"]:
        print(f"more than 5 % below its best peer: {name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    here = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--target", choices=["cpu", "cuda"], default=here)
    parser.add_argument("--cases", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=[EAGER, COMPILE])
    parser.add_argument(
        "--quick", action="store_true", help="no compiled peers; 5 repetitions on a CPU"
    )
    parser.add_argument("--kernels", action="store_true", help="also the time of the GPU alone")
    parser.add_argument("--random", type=int, metavar="COUNT", help="cases of random shapes")
    parser.add_argument("--seed", type=int, default=0, help="of random shapes")
    parser.add_argument(
        "--tune", type=float, default=0.0, metavar="SECONDS", help="tune each case so long"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--params", action="store_true", help="print what the scheduler decided")
    args = parser.parse_args()
    peers = [EAGER] if args.quick else args.peers
    repeats = QUICK_REPEATS[args.target] if args.quick else REPEATS

    rows = []
    print(header(peers), flush=True)
    for case in cases_of(args):
        kernels = args.kernels and args.target == "cuda"
        rows.append(
            measure(case, args.target, peers, repeats, kernels=kernels, tune_seconds=args.tune)
        )
        print(line(rows[-1], peers), flush=True)
        if args.params:
            print(rows[-1].params)
        if args.target == "cuda":
            torch.cuda.empty_cache()
    found = summary(rows)
    print_summary(found)
    if args.json:
        name = torch.cuda.get_device_name() if args.target == "cuda" else "cpu"
        data = {
            "device": name,
            "summary": found,
            "rows": [
                asdict(row) | {"score": row.score, "kernel_score": row.kernel_score} for row in rows
            ],
        }
        args.json.write_text(json.dumps(data, indent=1))
    return 1 if found["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
