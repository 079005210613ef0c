"""Random programs: fusions of 1 to 30 operations, run by kernels and compared with the evaluator.

    python tests/property/random_programs.py --count 10000 --seed 0 [--target cuda]

tries seeds 0 to 9999 on all cores. A seed makes the same program as long as the generator does.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import multiprocessing as mp
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from program_builder import Program, Unfit, Value, epsilon
from random_operations import OF_FINITE, Operations

from nvfuser_direct import UserError
from nvfuser_direct.evaluator import Evaluator

sys.path.insert(0, str(Path(__file__).parents[1] / "python_translate"))
from round_trip import check_round_trip, check_same_results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from multiprocessing.connection import Connection

MOST_NODES = 30
PATIENCE = 300  # seconds that one seed may take


# ---- Making --------------------------------------------------------------------------------------


def make_program(seed: int, operations: type[Operations] = Operations) -> Program:
    """The program of a seed."""
    builder = operations(seed)
    random = builder.random
    wanted = min(1 + int(random.expovariate(builder.end_rate)), MOST_NODES)
    names: list[str] = []
    with builder.fd:
        for _ in range(random.randint(1, 3)):
            builder.define_input()
        attempts = 0
        while len(names) < wanted and attempts < 20 * wanted:
            attempts += 1
            kind = random.choices(list(builder.kinds), list(builder.kinds.values()))[0]
            builder.begin(kind in OF_FINITE)
            with contextlib.suppress(Unfit):
                getattr(builder, kind)()
                names.append(kind)
        builder.finish()
        program = Program(seed, builder.fd, builder.inputs, wanted, names=names,
                          host_scalars=builder.host_scalars)  # fmt: skip
        choose_outputs(builder, program)
    return program


def choose_outputs(builder: Operations, program: Program) -> None:
    """Late results, some more, and now and then one that is written into an input."""
    random = builder.random
    computed = [v for v in builder.values if v.tensor.definition() is not None]
    if not computed:
        x = builder.values[-1]
        computed = [replace(x, tensor=builder.fd.ops.set(x.tensor))]
    program.outputs = [computed[-1]]
    for value in random.sample(computed, min(len(computed), random.choice([0, 0, 1, 2, 3]))):
        if all(value.tensor is not other.tensor for other in program.outputs):
            program.outputs.append(value)
    in_place = write_in_place(builder, program) if builder.chance(builder.in_place) else None
    if not program.written and builder.chance(0.05):  # an input, or an output once more
        program.outputs.append(builder.one_of(builder.values))
    for value in program.outputs:
        builder.fd.add_output(value.tensor, in_place if value is program.outputs[0] else None)


def write_in_place(builder: Operations, program: Program) -> Any:
    """The input that the first output is written into."""
    out = program.outputs[0]
    for index, value in builder.updatable:
        is_plain = builder.inputs[index].is_contiguous() and value.shape
        if is_plain and value.shape == out.shape and value.dtype == out.dtype:
            program.written.append((index, out))
            program.outputs.pop(0)
            program.outputs.insert(0, out)
            return value.tensor
    return None


# ---- Running -------------------------------------------------------------------------------------


@dataclass
class Report:
    """The outcome of a seed: "kernel", "evaluator", "refused", or what failed."""

    seed: int
    result: str
    text: str = ""
    nodes: int = 0
    kinds: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()  # headlines


def copy_to(value: Any, device: str) -> Any:
    """With the same strides, and everything between the elements; a number as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    storage = torch.empty(0, dtype=torch.uint8).set_(value.untyped_storage())
    flat = storage.clone().to(device).view(value.dtype)
    return flat.as_strided(value.shape, value.stride(), value.storage_offset())


def on_target(program: Program, target: str) -> list[Any]:
    """Copies of the inputs."""
    return [
        copy_to(value, "cpu" if index in program.host_scalars else target)
        for index, value in enumerate(program.inputs)
    ]


@dataclass(frozen=True)
class Slack:
    """How much two results may differ."""

    atol: float
    equal_nan: bool

    @staticmethod
    def of(value: Value) -> Slack:
        error = 4 * value.error + 16 * epsilon(value.dtype) * max(value.bound, 1.0)
        return Slack(0.0 if value.is_whole else error, not value.is_finite)

    def assert_close(self, result: torch.Tensor, reference: torch.Tensor, what: str) -> None:
        assert result.dtype == reference.dtype, f"{what}: {result.dtype}, {reference.dtype}"
        assert result.shape == reference.shape, f"{what}: {result.shape}, {reference.shape}"
        torch.testing.assert_close(
            result.cpu(),
            reference.cpu(),
            rtol=0,
            atol=self.atol,
            equal_nan=self.equal_nan,
            msg=lambda text: f"{what}: {text}",
        )


def check_program(program: Program, target: str) -> str:
    """Compare, and say what ran it."""
    fusion = program.fd.fusion
    check_round_trip(fusion)
    has_tensor = any(
        isinstance(x, torch.Tensor) and i not in program.host_scalars
        for i, x in enumerate(program.inputs)
    )
    device = 0 if target == "cuda" and not has_tensor else None
    given = on_target(program, target)
    references = Evaluator(fusion, on_target(program, target)).outputs()
    if not program.written and target == "cpu":
        second = check_round_trip(fusion)
        check_same_results(fusion, second, on_target(program, target))
    try:
        results = program.fd.execute(given, device=device)
    except UserError:
        if program.written:  # an input that is read where it is already overwritten
            return "refused"
        raise
    if len(results) < len(program.outputs):  # what is written in place is not returned
        results = [given[program.written[0][0]], *results]
    compared = zip(program.outputs, results, references, strict=True)
    for i, (value, result, reference) in enumerate(compared):
        Slack.of(value).assert_close(result, reference, f"output {i}, {value.tensor}")
    return "kernel" if program.fd.fec.get_most_recent_scheduled_ir() else "evaluator"


def report_of(seed: int, target: str) -> Report:
    """Make, run and compare the program of a seed."""
    program: Program | None = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = make_program(seed)
            result = check_program(program, target)
        return Report(seed, result, "", len(program.names), tuple(program.names))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        if program is not None:
            text += f"\n{program.fd!r}"
        return Report(seed, "failed", text)


# ---- Many seeds ----------------------------------------------------------------------------------


def _work(
    cases: list[Any], target: str, report: Callable[[Any, str], Report], sender: Connection
) -> None:
    torch.set_num_threads(1)
    for case in cases:
        sender.send(report(case, target))
    sender.close()


def show_failure(report: Report) -> None:
    """At once: what runs for hours may be stopped."""
    if report.result == "failed":
        headline = report.text.partition("\n")[0]
        print(f"seed {report.seed} failed: {headline}", file=sys.stderr, flush=True)


def run_apart(
    cases: list[Any],
    target: str,
    report: Callable[[Any, str], Report],
    seconds: float | None = None,
) -> list[Report]:
    """In a process of its own, and in another one after a crash or a hang. Cases that
    did not begin after `seconds` are left out."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    reports: list[Report] = []
    rest = list(cases)
    context = mp.get_context("spawn")
    while rest and time.monotonic() < end:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(rest, target, report, sender))
        process.start()
        sender.close()
        with contextlib.suppress(EOFError):
            while rest and time.monotonic() < end and receiver.poll(PATIENCE):
                reports.append(receiver.recv())
                show_failure(reports[-1])
                rest = rest[1:]
        if process.is_alive() and rest:
            process.kill()
        process.join()
        if rest and time.monotonic() < end:
            reports.append(Report(rest[0], "failed", f"exit code {process.exitcode}"))
            rest = rest[1:]
    return reports


def run_seeds(
    seeds: Iterable[int],
    target: str,
    processes: int,
    report: Callable[[int, str], Report] = report_of,
    seconds: float | None = None,
) -> list[Report]:
    """Reports of all seeds, in their order; of those that `seconds` are enough for."""
    from concurrent.futures import ThreadPoolExecutor

    every = list(seeds)
    parts = [every[i::processes] for i in range(processes)]
    with ThreadPoolExecutor(processes) as pool:
        found = pool.map(lambda part: run_apart(part, target, report, seconds), parts)
        return sorted((r for part in found for r in part), key=lambda report: report.seed)


def summary(reports: list[Report]) -> str:
    results = Counter(report.result for report in reports)
    kinds = Counter(kind for report in reports for kind in report.kinds)
    sizes = sorted(report.nodes for report in reports if report.result != "failed")
    lines = [f"{report.seed}: {report.text}" for report in reports if report.result == "failed"]
    lines.append(f"{len(reports)} fusions: " + ", ".join(f"{n} {r}" for r, n in results.items()))
    if sizes:
        lines.append(f"operations: median {sizes[len(sizes) // 2]}, most {sizes[-1]}")
        lines.append("kinds: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))
    failing = [report.seed for report in reports if report.result == "failed"]
    lines.append(f"failing seeds: {failing}")
    return "\n".join(lines)


def argument_parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, help="begin no seed after that time")
    return parser


def run_arguments(
    args: argparse.Namespace, report: Callable[[int, str], Report] = report_of
) -> list[Report]:
    """Reports of the seeds that a command line asks for."""
    with tempfile.TemporaryDirectory() as cache:  # these kernels are not needed again
        os.environ["NVFUSER_CACHE_DIR"] = cache
        seeds = range(args.seed, args.seed + args.count)
        processes = min(args.processes, max(args.count, 1))
        return run_seeds(seeds, args.target, processes, report, args.seconds)


def main() -> int:
    reports = run_arguments(argument_parser(__doc__).parse_args())
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
