"""Random programs with random schedules: whatever is lowered computes what the math says.

    python tests/property/scheduled_programs.py --count 10000 --seed 0 [--target cuda]

tries seeds 0 to 9999 on all cores, and counts which schedules and calls were refused. A failing
seed prints a program that shows it; with --shorten, one without any line that it does not need.
Most CPU kernels are compiled without optimization, which takes most of the time otherwise; with
--optimize all are compiled as usual, unless CXX names a compiler.
"""

from __future__ import annotations

import os
import platform
import random
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kernel_operations import BoxedOperations, KernelOperations, has_aligned_rows
from product_calls import ProductCalls
from product_programs import ProductOperations
from random_programs import (
    Report,
    Slack,
    argument_parser,
    make_program,
    run_apart,
    run_arguments,
)
from run_calls import RunCalls
from run_programs import RunOperations
from schedule_calls import ScheduleCalls
from schedule_scripts import Lines, Output, Script, failure_of, run_script, shortened
from tile_calls import TileCalls
from tile_programs import TileOperations

sys.path.insert(0, str(Path(__file__).parents[1] / "python_translate"))
from round_trip import lines_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Maker:
    """The choices that a script is made with."""

    operations: type[KernelOperations]
    calls: type[ScheduleCalls]


MAKERS = {
    "plain": Maker(KernelOperations, ScheduleCalls),  # few boxes
    "boxes": Maker(BoxedOperations, ScheduleCalls),  # many inputs and steps suit them
    "tiles": Maker(TileOperations, TileCalls),  # whole schedules of bulk copies and clusters
    "runs": Maker(RunOperations, RunCalls),  # the same without descriptions, and updates
    "products": Maker(ProductOperations, ProductCalls),  # of matrices, by tensor cores
}
# How often each is drawn.
RATES = {"plain": 0.02, "boxes": 0.31, "tiles": 0.43, "runs": 0.15, "products": 0.09}


def make_script(seed: int, kind: str = "plain") -> tuple[Script, tuple[str, ...]]:
    """The scheduled program of a seed, and what its schedule was refused."""
    program = make_program(seed, MAKERS[kind].operations)
    definition = tuple(lines_of(program.fd.fusion))
    lines = Lines(definition)
    names = [lines.name_of(value) for value in lines.fusion.inputs()]
    added = [line for line in definition if line.startswith("fd.add_output(")]
    written = {id(value): names[index] for index, value in program.written}
    outputs = {
        line: Output(Slack.of(value), written.get(id(value)))
        for line, value in zip(added, program.outputs, strict=True)
    }
    calls = MAKERS[kind].calls(random.Random(f"schedule {seed}"), lines)
    calls.box_rate = 0.7 if kind == "boxes" and has_aligned_rows(seed) else 0.1
    try:
        calls.choose()
    except Exception as error:  # before there is a script to show
        shown = "\n".join([*definition, *calls.made])
        raise AssertionError(f"{type(error).__name__}: {error}\n{shown}") from error
    script = Script(
        definition=definition,
        calls=tuple(calls.made),
        inputs=dict(zip(names, program.inputs, strict=True)),
        host_scalars=frozenset(names[index] for index in program.host_scalars),
        outputs=outputs,
        finds_races=seed % 3 == 0,
        has_narrow_indices=seed % 2 == 0,
        gpu=calls.gpu,
    )
    return script, tuple(calls.refusals)


def kind_of(seed: int, kinds: Sequence[str] = tuple(RATES)) -> str:
    rates = [RATES[kind] for kind in kinds]
    return random.Random(f"kind {seed}").choices(kinds, rates)[0]


def report_of(
    seed: int, target: str, kinds: Sequence[str] = tuple(RATES), *, finds_races: bool = False
) -> Report:
    """Make, schedule, run and compare the program of a seed."""
    script = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script, refusals = make_script(seed, kind_of(seed, kinds))
            script = replace(script, finds_races=finds_races or script.finds_races)
            refused = run_script(script, target)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return Report(seed, "failed", text if script is None else f"{text}\n\n{script.text()}")
    return Report(
        seed, "kernel" if refused is None else "refused", refused or "", refusals=refusals
    )


# ---- Many seeds ----------------------------------------------------------------------------------


def summary(reports: list[Report]) -> str:
    failed = [report for report in reports if report.result == "failed"]
    lines = [f"seed {report.seed}: {report.text}" for report in failed]
    results = Counter(report.result for report in reports)
    lines.append(f"{len(reports)} fusions: " + ", ".join(f"{n} {r}" for r, n in results.items()))
    schedules = Counter(report.text for report in reports if report.result == "refused")
    calls = Counter(text for report in reports for text in report.refusals)
    for title, counts in (("refused schedules", schedules), ("refused calls", calls)):
        lines.append(f"{title}: {sum(counts.values())}")
        lines += [f"{n:7} {text}" for text, n in counts.most_common()]
    lines.append(f"failing seeds: {[report.seed for report in failed]}")
    return "\n".join(lines)


def report_of_script(script: Script, target: str) -> Report:
    """`text` is what is wrong, if anything."""
    return Report(0, "checked", failure_of(script, target) or "")


def shortest(seed: int, target: str, kind: str) -> str:
    """A program for a failing seed, without any line that the failure does not need."""
    script, _ = make_script(seed, kind)

    def find_apart(candidate: Script) -> str | None:
        return run_apart([candidate], target, report_of_script)[0].text or None

    failure = find_apart(script)
    if failure is None:
        return f"seed {seed} does not fail"
    is_crash = failure.startswith("exit code")
    find = find_apart if is_crash else lambda candidate: failure_of(candidate, target)
    script = shortened(script, failure, find)
    return f"seed {seed}: {find(script)}\n\n{script.text()}"


QUICK_OPTIONS = "-O0 -g0 -pipe -nostartfiles -nodefaultlibs -fno-use-linker-plugin -lgcc"


def use_quick_compiler() -> None:
    """For CPU kernels of this process, and of those that it starts."""
    # Compilers begin faster for a processor with few registers.
    march = " -march=x86-64" if platform.machine() == "x86_64" else ""
    os.environ.setdefault("QUICK_OPTIONS", QUICK_OPTIONS + march)
    os.environ.setdefault("CXX", f"sh {Path(__file__).with_name('quick_compiler.sh')}")


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--optimize", action="store_true", help="compile CPU kernels as usual")
    parser.add_argument("--shorten", action="store_true", help="shorten the script of each failure")
    parser.add_argument("--kind", choices=list(MAKERS), nargs="+", default=tuple(RATES))
    parser.add_argument("--races", action="store_true", help="check all CPU kernels, not a third")
    args = parser.parse_args()
    if not args.optimize:
        use_quick_compiler()
    reports = run_arguments(args, partial(report_of, kinds=args.kind, finds_races=args.races))
    failing = [report.seed for report in reports if report.result == "failed"]
    print(summary(reports))
    if args.shorten:
        print(
            *[shortest(seed, args.target, kind_of(seed, args.kind)) for seed in failing],
            sep="\n\n",
        )
    return int(bool(failing))


if __name__ == "__main__":
    sys.exit(main())
