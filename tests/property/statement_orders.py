"""Plans do not depend on the order in which statements were written, nor on what was taken back.

    python tests/property/statement_orders.py --count 3000 --seed 0 [--target cuda]

tries seeds 0 to 2999 on all cores: each definition as it was made, with its statements in another
order, and as its bytes say it. Passes make the same fusion of all of them, byte for byte, which is
cut into the same segments with the same params. Nothing is compiled.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from random_programs import (
    Report,
    argument_parser,
    make_program,
    on_target,
    run_arguments,
    summary,
)

from nvfuser_direct import (
    Fusion,
    UserError,
    concretize,
    find_concretization,
    has_dynamic_shapes,
    segment,
    translate_fusion,
)

sys.path.insert(0, str(Path(__file__).parents[1] / "segment"))
sys.path.insert(0, str(Path(__file__).parents[1] / "schedule"))
from random_plans import make_spec
from scheduled_runs import rebuilt

if TYPE_CHECKING:
    from collections.abc import Iterator


def orders_of(seed: int) -> tuple[list[Fusion], list[Any]]:
    """One definition in several orders, and its inputs."""
    if seed % 2:
        spec = make_spec(seed)
        shuffles = [spec.shuffled(k) for k in range(2)]
        fusions = [spec.build(order)[0].fusion for order in (None, *shuffles)]
        return [*fusions, Fusion.deserialize(fusions[0].serialize())], spec.inputs
    program = make_program(seed)
    fusion, inputs = program.fd.fusion, on_target(program, "cpu")
    if has_dynamic_shapes(fusion):
        fusion = concretize(fusion, find_concretization(fusion, inputs))
        written = fusion  # what sizes decided is not said in Python
    else:
        written = rebuilt(translate_fusion(fusion))
    return [written, Fusion.deserialize(written.serialize())], inputs


def plan_of(fusion: Fusion, inputs: list[Any], target: str) -> Iterator[Any]:
    """All that decides how the fusion runs, without numbers and names."""
    optimized = fusion.optimize()
    yield optimized.serialize(), optimized.arguments()
    try:
        plan = segment(optimized, [inputs[i] for i in optimized.arguments()], target)
    except UserError as error:
        yield str(error).partition("\n")[0]
        return
    for group in plan.groups:
        yield group.kind, group.scheduler, repr(group.params), group.fusion.serialize()
    yield [cut.rule for cut in plan.cuts]


def report_of(seed: int, target: str) -> Report:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fusions, inputs = orders_of(seed)
            first, *others = [list(plan_of(fusion, inputs, target)) for fusion in fusions]
            for i, other in enumerate(others):
                assert other[0] == first[0], f"order {i + 1}: passes make another fusion"
                assert other == first, f"order {i + 1}: another plan"
        return Report(seed, "same plans")
    except Exception as error:
        return Report(seed, "failed", f"{type(error).__name__}: {error}")


def main() -> int:
    reports = run_arguments(argument_parser(__doc__).parse_args(), report_of)
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
