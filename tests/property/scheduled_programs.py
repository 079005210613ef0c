"""Random programs with random schedules: whatever is lowered computes what the math says.

    python tests/property/scheduled_programs.py --count 10000 --seed 0 [--target cuda]

tries seeds 0 to 9999 on all cores, and counts which schedules and calls were refused. A failing
seed prints a program that shows it; with --shorten, one without any line that it does not need.
"""

from __future__ import annotations

import math
import random
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from program_builder import LARGEST
from random_operations import KINDS, Operations
from random_programs import (
    Report,
    Slack,
    argument_parser,
    make_program,
    run_apart,
    run_arguments,
)
from schedule_calls import ScheduleCalls
from schedule_scripts import Lines, Output, Script, failure_of, run_script, shortened

from nvfuser_direct import DataType, TensorView

sys.path.insert(0, str(Path(__file__).parents[1] / "python_translate"))
from round_trip import lines_of

EXTENTS = [1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 33, 64, 65]
# More of what axes take part in, and little of what has no kernel.
WEIGHTS = KINDS | {
    "reduction": 20, "moments": 5, "scan": 4, "look_up": 6, "pad": 4, "slice": 4, "cat": 4,
    "product": 0, "search": 0, "rows": 0, "smooth": 5, "rounding": 3, "question": 0.5,
    "gates": 0.3, "create": 3,
}  # fmt: skip


def has_aligned_rows(seed: int) -> bool:
    """Whether inputs have rows of multiples of 16 bytes without gaps, as bulk copies need them."""
    return random.Random(f"aligned {seed}").random() < 0.4


class KernelOperations(Operations):
    """Shapes have much in common, so that tensors share loops."""

    end_rate = 0.2
    in_place = 0.2
    may_be_aligned = False

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.shape = [self.one_of(EXTENTS) for _ in range(self.one_of([1, 1, 2, 2, 2, 3, 3]))]
        while math.prod(self.shape) > LARGEST:
            self.shape.pop()
        self.is_aligned = self.may_be_aligned and has_aligned_rows(seed)
        if self.is_aligned:
            self.shape = [*self.shape[-2:], self.one_of([8, 16, 32, 64])]
        if self.chance(0.04):
            self.shape[self.random.randrange(len(self.shape))] = 0

    @property
    def kinds(self) -> dict[str, float]:
        return WEIGHTS

    def laid_out(self, shape: list[int]) -> tuple[list[int], Any]:
        return (shape, lambda t: t) if self.is_aligned else super().laid_out(shape)

    def declare(self, tensor: torch.Tensor, dtype: DataType) -> TensorView:
        if not self.is_aligned:
            return super().declare(tensor, dtype)
        return self.fd.define_tensor(
            sizes=list(tensor.shape),
            strides=list(tensor.stride()),
            dtype=dtype,
            static_sizes=self.is_static,
        )

    def new_shape(self) -> list[int]:
        kind = self.random.random()
        if self.is_aligned and kind < 0.8:
            return list(self.shape)
        if kind < 0.2:
            return super().new_shape()
        shape = list(self.shape)
        if kind < 0.45:
            shape[self.random.randrange(len(shape))] = 1
        return shape[1:] if kind < 0.3 else shape


class BoxedOperations(KernelOperations):
    """Many inputs have rows that boxes can be loaded of."""

    may_be_aligned = True


def make_script(seed: int, *, has_boxes: bool = False) -> tuple[Script, tuple[str, ...]]:
    """The scheduled program of a seed, and what its schedule was refused."""
    program = make_program(seed, BoxedOperations if has_boxes else KernelOperations)
    definition = tuple(lines_of(program.fd.fusion))
    lines = Lines(definition)
    names = [lines.name_of(value) for value in lines.fusion.inputs()]
    added = [line for line in definition if line.startswith("fd.add_output(")]
    written = {id(value): names[index] for index, value in program.written}
    outputs = {
        line: Output(Slack.of(value), written.get(id(value)))
        for line, value in zip(added, program.outputs, strict=True)
    }
    calls = ScheduleCalls(random.Random(f"schedule {seed}"), lines)
    calls.box_rate = 0.7 if has_boxes and has_aligned_rows(seed) else 0.1
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
    )
    return script, tuple(calls.refusals)


def report_of(seed: int, target: str) -> Report:
    """Make, schedule, run and compare the program of a seed."""
    script = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script, refusals = make_script(seed, has_boxes=True)
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


def shortest(seed: int, target: str) -> str:
    """A program for a failing seed, without any line that the failure does not need."""
    script, _ = make_script(seed, has_boxes=True)

    def find_apart(candidate: Script) -> str | None:
        return run_apart([candidate], target, report_of_script)[0].text or None

    failure = find_apart(script)
    if failure is None:
        return f"seed {seed} does not fail"
    is_crash = failure.startswith("exit code")
    find = find_apart if is_crash else lambda candidate: failure_of(candidate, target)
    script = shortened(script, failure, find)
    return f"seed {seed}: {find(script)}\n\n{script.text()}"


def main() -> int:
    parser = argument_parser(__doc__)
    parser.add_argument("--shorten", action="store_true", help="shorten the script of each failure")
    args = parser.parse_args()
    reports = run_arguments(args, report_of)
    failing = [report.seed for report in reports if report.result == "failed"]
    print(summary(reports))
    if args.shorten:
        print(*[shortest(seed, args.target) for seed in failing], sep="\n\n")
    return int(bool(failing))


if __name__ == "__main__":
    sys.exit(main())
