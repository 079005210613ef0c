"""Random scheduled programs on the CPU take no time that their schedule does not explain.

    python tests/property/counted_programs.py --count 1000 --seed 0

compiles each program with `counting_compiler`, so that its kernel counts the iterations of all
loops, and compares them with the iterations that the schedule asks for: for every tensor the loops
around it, where a loop over a hardware index has as many iterations as are launched, if an axis of
the tensor or of the loops around it is bound to it; for each block, if its memory is the block's
own; and once the launched threads.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from random_programs import Report, argument_parser, run_arguments
from schedule_scripts import Lines
from scheduled_programs import make_script

from nvfuser_direct import (
    ExpressionEvaluator,
    KernelExecutor,
    MemoryType,
    ParallelType,
    TensorView,
    UserError,
    set_num_threads,
)

if TYPE_CHECKING:
    from nvfuser_direct import Fusion, IterDomain

COMPILER = Path(__file__).with_name("counting_compiler.py")
# Iterations of a kernel for each that its schedule asks for: a tensor may be initialized in a loop
# of its own, and stored in one more.
MOST = 4.0
DIMS = {
    ParallelType.grid_x: "gdimx", ParallelType.grid_y: "gdimy", ParallelType.grid_z: "gdimz",
    ParallelType.block_x: "bdimx", ParallelType.block_y: "bdimy", ParallelType.block_z: "bdimz",
}  # fmt: skip
GRID = (ParallelType.grid_x, ParallelType.grid_y, ParallelType.grid_z)


def known_sizes(fusion: Fusion, inputs: list[object]) -> ExpressionEvaluator:
    sizes = ExpressionEvaluator()
    for value, argument in zip(fusion.inputs(), inputs, strict=True):
        if isinstance(value, TensorView):
            axes = [axis for axis in value.get_logical_domain() if not axis.is_reduction()]
            for axis, size in zip(axes, argument.shape, strict=True):
                extent = axis.maybe_expanded_extent()
                if not extent.is_const():
                    sizes.bind(extent, size)
        else:
            sizes.bind(value, argument)
    return sizes


class Explained:
    """The iterations that a schedule asks for."""

    def __init__(self, fusion: Fusion, inputs: list[object], launch: object) -> None:
        self.sizes = known_sizes(fusion, inputs)
        self.launch = launch
        self.nests: dict[int, list[tuple[ParallelType, int]]] = {}

    def loop_of(self, axis: IterDomain) -> tuple[ParallelType, int]:
        kind = axis.parallel_type()
        extent = self.launched(kind) if kind in DIMS else self.sizes.evaluate(axis.extent())
        return kind, max(int(extent), 1)

    def launched(self, kind: ParallelType) -> int:
        return max(getattr(self.launch, DIMS[kind]), 1)

    def nest_of(self, tensor: TensorView) -> list[tuple[ParallelType, int]]:
        """The loops around a tensor: those it shares are its readers'."""
        if tensor.name() not in self.nests:
            own = [self.loop_of(tensor.axis(i)) for i in range(tensor.ndims())]
            position = tensor.compute_at_position()
            shared = [
                self.nest_of(reader)[: reader.max_producer_position()]
                for reader in (tensor.consumers() if position else [])
            ]
            around = max(shared, key=lambda loops: math.prod(n for _, n in loops), default=[])
            self.nests[tensor.name()] = around + own[position:] if around else own
        return self.nests[tensor.name()]

    def iterations_of(self, tensor: TensorView) -> int:
        nest = self.nest_of(tensor)
        repeats = 1
        if tensor.memory_type() != MemoryType.Global:  # every block has memory of its own
            bound = {kind for kind, _ in nest}
            repeats = math.prod(self.launched(kind) for kind in GRID if kind not in bound)
        return repeats * math.prod(n for _, n in nest)

    def iterations(self, fusion: Fusion) -> int:
        threads = math.prod(self.launched(kind) for kind in DIMS)
        made = [tensor for tensor in fusion.tensors() if not tensor.is_fusion_input()]
        return threads + sum(self.iterations_of(tensor) for tensor in made)


def report_of(seed: int, _target: str) -> Report:
    """Compile, run and count the program of a seed."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        script, _ = make_script(seed)
        lines = Lines(script.definition)
        names = [lines.name_of(value) for value in lines.fusion.inputs()]
        for call in script.calls:
            lines.execute(call)
        os.environ["CXX"] = f"{sys.executable} {COMPILER}"
        os.environ["COUNT_FILE"] = f"{folder}/count"
        set_num_threads(1)
        inputs = script.copies(names, "cpu")
        executor = KernelExecutor()
        try:
            executor.compile(lines.fusion, inputs)
            executor.run(inputs)
        except UserError:
            return Report(seed, "refused", "")
        explained = Explained(lines.fusion, inputs, executor.last_launch())
        asked = explained.iterations(lines.fusion)
        count = Path(f"{folder}/count")
        ratio = int(count.read_text()) / asked if count.exists() else 0.0  # nothing to launch for
    result = "kernel" if ratio <= MOST else "failed"
    return Report(seed, result, f"{ratio:.2f} iterations for each of {asked}")


def main() -> int:
    args = argument_parser(__doc__).parse_args()
    reports = run_arguments(args, report_of)
    failed = [report for report in reports if report.result == "failed"]
    for report in failed:
        print(f"seed {report.seed}: {report.text}")
    ratios = sorted(float(r.text.split()[0]) for r in reports if r.text and r.text[0].isdigit())
    print(f"{len(ratios)} kernels, {len(reports) - len(ratios)} refused schedules")
    if ratios:
        print(
            f"iterations for each that was asked for: at most {ratios[-1]}, "
            f"median {ratios[len(ratios) // 2]}"
        )
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
