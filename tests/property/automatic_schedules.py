"""Random programs through the automatic schedulers: one that takes a fusion makes a kernel of it
that computes what the math says, and prints a schedule that makes the same kernel again.

    python tests/property/automatic_schedules.py --count 10000 --seed 0 [--target cuda] [--lower]

tries seeds 0 to 9999 on all cores, and counts which schedulers took how many fusions. With --lower
kernels are printed for both targets, and none is compiled: for many seeds.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernel_operations import KernelOperations
from random_operations import KINDS
from random_programs import (
    Program,
    Report,
    Slack,
    argument_parser,
    copy_to,
    make_program,
    on_target,
    run_arguments,
)

from nvfuser_direct import (
    KernelExecutor,
    SchedulerType,
    concretize,
    evaluate,
    find_concretization,
    has_dynamic_shapes,
    schedule,
    segment,
    translate_fusion,
)
from nvfuser_direct.evaluator import Evaluator

sys.path.insert(0, str(Path(__file__).parents[1] / "schedule"))
sys.path.insert(0, str(Path(__file__).parents[1] / "segment"))
from random_plans import make_spec
from scheduled_runs import check_prints_as_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import torch

    from nvfuser_direct import Fusion, TensorView

WITHOUT_KERNEL = {SchedulerType.no_op, SchedulerType.expr_eval}
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


class SmallPrograms(KernelOperations):
    """Few operations of all kinds."""

    end_rate = 0.35


GENERATORS = (ReducingOperations, SmallPrograms, KernelOperations)


@dataclass(frozen=True)
class Subject:
    """A fusion that schedulers are asked about.

    Attributes
    ----------
    inputs : callable
        Copies of what it is called with, on a target.
    compare : callable
        Compares what a kernel returned for such copies with the math.
    is_written : bool
        Whether its math is all there is: printed, it is the same fusion. Passes know more, such as
        sizes that are equal by operations that are gone.
    """

    fusion: Fusion
    inputs: Callable[[str], list[Any]]
    compare: Callable[[list[torch.Tensor], list[Any], str], None]
    is_written: bool = True


def subject_of_program(program: Program) -> Subject:
    """Every other one behind the passes from fusion to fusion."""
    fusion = program.fd.fusion
    if has_dynamic_shapes(fusion):
        fusion = concretize(fusion, find_concretization(fusion, on_target(program, "cpu")))
    order = list(range(len(program.inputs)))
    if program.seed % 2 == 0:
        fusion = fusion.optimize()
        order = fusion.arguments()

    def inputs(target: str) -> list[Any]:
        copies = on_target(program, target)
        return [copies[i] for i in order]

    def compare(results: list[torch.Tensor], given: list[Any], what: str) -> None:
        if len(results) < len(program.outputs):  # what is written in place is not returned
            results = [given[order.index(program.written[0][0])], *results]
        references = Evaluator(program.fd.fusion, on_target(program, "cpu")).outputs()
        compared = zip(program.outputs, results, references, strict=True)
        for i, (value, result, reference) in enumerate(compared):
            Slack.of(value).assert_close(result, reference, f"{what}, output {i}, {value.tensor}")

    return Subject(fusion, inputs, compare, is_written=program.seed % 2 == 1)


def in_memory_order(tensor: TensorView, value: torch.Tensor) -> torch.Tensor:
    """The value with strides as a kernel stores the tensor."""
    logical = [axis for axis in tensor.get_logical_domain() if not axis.is_reduction()]
    order = [logical.index(axis) for axis in tensor.maybe_allocation() if axis in logical]
    back = [order.index(i) for i in range(len(order))]
    return value.permute(order).contiguous().permute(back)


def subjects_of_plan(seed: int) -> Iterator[Subject]:
    """The groups that a definition is cut into."""
    spec = make_spec(seed)
    fd, _ = spec.build()
    plan = segment(fd.fusion, spec.inputs)
    values = dict(zip(plan.complete_fusion.inputs(), spec.inputs, strict=True))
    for group in plan.groups:
        given = [values[val] for val in group.inputs]
        expected = evaluate(group.fusion, given)
        made = dict.fromkeys(group.fusion.outputs())
        laid_out = map(in_memory_order, made, expected)
        values.update(zip(group.outputs, laid_out, strict=True))

        def inputs(target: str, given: list[Any] = given) -> list[Any]:
            return [copy_to(value, target) for value in given]

        def compare(
            results: list[torch.Tensor],
            _: list[Any],
            what: str,
            expected: list[torch.Tensor] = expected,
        ) -> None:
            for result, reference in zip(results, expected, strict=True):
                Slack(1e-5, equal_nan=True).assert_close(result, reference, what)

        if group.kind == "kernel":
            yield Subject(group.fusion, inputs, compare)


def subjects_of(seed: int) -> Iterator[Subject]:
    kind = seed % (len(GENERATORS) + 1)
    if kind == len(GENERATORS):
        yield from subjects_of_plan(seed)
    else:
        yield subject_of_program(make_program(seed, GENERATORS[kind]))


def check_kernel(
    subject: Subject, scheduler: SchedulerType, scheduled_for: str, target: str | None
) -> None:
    """The schedule for one target is right on any; `target`: where it runs, if it does."""
    fusion = subject.fusion.clone()
    params = schedule.schedule(fusion, scheduler, subject.inputs(target or "cpu"), scheduled_for)
    if subject.is_written:
        check_prints_as_python(fusion)
    else:
        for kind in ("cuda", "cpu"):
            fusion.print_kernel(target=kind)
    if target is not None:
        given = subject.inputs(target)
        executor = KernelExecutor()
        executor.compile(fusion, given)
        results = executor.run(given, params.lparams, params.cparams)
        subject.compare(results, given, f"{scheduler.name} for {scheduled_for}")


def report_of(seed: int, target: str, *, runs: bool = True) -> Report:
    """Make the fusions of a seed, and run them by each scheduler that takes them."""
    taken: list[str] = []
    asked: Subject | None = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for subject in subjects_of(seed):
                asked = subject
                for scheduled_for in ("cuda", "cpu"):
                    found = schedule.find_compatible_schedulers(
                        subject.fusion, subject.inputs(target), scheduled_for
                    )
                    for scheduler in found:
                        if scheduler not in WITHOUT_KERNEL:
                            taken.append(scheduler.name)
                            on = target if runs else None
                            check_kernel(subject, scheduler, scheduled_for, on)
        return Report(seed, "kernel" if taken else "refused", kinds=tuple(taken))
    except Exception as error:
        text = f"{taken[-1:]} {type(error).__name__}: {error}"
        if asked is not None:
            text += f"\n{translate_fusion(asked.fusion)}"
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
    parser = argument_parser(__doc__)
    parser.add_argument("--lower", action="store_true", help="print kernels, compile none")
    args = parser.parse_args()
    reports = run_arguments(args, functools.partial(report_of, runs=not args.lower))
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
