"""A plan never depends on which shape came first.

    python tests/property/shape_orders.py --count 200 --seed 0 [--target cuda]

tries seeds 0 to 199 on all cores. A definition of open sizes is executed with several shapes, in
one order, in another one, and each shape by a definition of its own. For each shape all three are
cut, scheduled and launched alike, and compute the same bits.
"""

from __future__ import annotations

import os
import random
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any

import torch

if __name__ == "__main__":
    os.environ["NVFUSER_VERIFY_PASSES"] = "0"

from random_programs import Report, argument_parser, run_arguments, summary

from nvfuser_direct import FusionDefinition, SchedulerType

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import TensorView

Shape = tuple[int, int]
Operation = tuple[str, int, int, int]  # its name, two operands, a number

SIZES = (1, 2, 7, 8, 33, 64, 100, 129, 1000, 3000)
LARGEST = 200_000  # elements
NUM_SHAPES = 5
UNARY = ("neg", "sin", "exp", "relu")


def draw_shapes(choose: random.Random) -> list[Shape]:
    shapes: set[Shape] = set()
    while len(shapes) < NUM_SHAPES:
        rows, columns = choose.choice(SIZES), choose.choice(SIZES)
        if rows * columns <= LARGEST:
            shapes.add((rows, columns))
    return sorted(shapes)


def draw_operations(choose: random.Random) -> list[Operation]:
    """Operand 0 is the matrix, 1 a row, and 2 + i the result of operation i."""
    names = choose.choices(
        ["unary", "binary", "centred", "softmax", "rows", "turned", "joined"],
        [5, 5, 3, 2, 1, 1, 1],
        k=choose.randint(1, 7),
    )
    return [
        (name, choose.randrange(i + 2), choose.randrange(i + 2), choose.randrange(4))
        for i, name in enumerate(names)
    ]


def apply(fd: FusionDefinition, operation: Operation, values: Sequence[TensorView]) -> TensorView:
    """A result of the shape of the matrix."""
    ops = fd.ops
    name, first, second, number = operation
    x, y, dim = values[first], values[second], number % 2
    if name == "unary":
        return getattr(ops, UNARY[number])(x)
    if name == "binary":
        return ops.add(x, y) if number < 2 else ops.mul(ops.sin(x), y)
    if name == "centred":
        return ops.sub(x, ops.mul(ops.sum(x, [dim], keepdim=True), 0.01))
    if name == "softmax":
        powers = ops.exp(ops.sub(x, ops.max(x, [dim], keepdim=True)))
        return ops.div(powers, ops.sum(powers, [dim], keepdim=True))
    if name == "rows":
        return ops.mul(x, ops.sum(ops.abs(values[0]), [0, 1], keepdim=True))
    if name == "turned":
        return ops.permute(ops.neg(ops.permute(ops.add(x, values[0]), [1, 0])), [1, 0])
    padded = ops.pad(ops.add(x, values[0]), [1, 0])
    return ops.slice(padded, [0, 0], values[0].shape())


def define(operations: Sequence[Operation], outputs: Sequence[int]) -> FusionDefinition:
    with FusionDefinition() as fd:
        values = [fd.define_tensor([-1, -1], contiguity=True), fd.define_tensor([1, -1])]
        for operation in operations:
            values.append(apply(fd, operation, values))
        for i in outputs:
            fd.add_output(values[i + 2])
    return fd


# Params that are shown are those of the run that compiled; each run computes its own grid.
GRID = re.compile(r"Grid(x|Dim\.\w)( = |: )-?\d+")


def plan_of(fd: FusionDefinition) -> list[tuple[str, ...]]:
    """How the last run was cut, scheduled and launched."""
    pieces = [
        (piece.way if piece.scheduler == SchedulerType.none else piece.scheduler.name,
         GRID.sub("", repr(piece.params)))
        for piece in fd.fec.last_pieces()
    ]  # fmt: skip
    return [*pieces, *((str(launch),) for launch in fd.fec.last_launches())]


class Case:
    """A definition, and inputs of each shape."""

    def __init__(self, seed: int, target: str) -> None:
        choose = random.Random(seed)
        self.operations = draw_operations(choose)
        last = len(self.operations) - 1
        self.outputs = sorted({last, choose.randint(0, last)})
        shapes = draw_shapes(choose)
        self.orders = [choose.sample(shapes, NUM_SHAPES) for _ in range(2)]
        generator = torch.Generator().manual_seed(seed)
        self.inputs = {
            (rows, columns): [
                torch.randn(rows, columns, generator=generator).to(target),
                torch.randn(1, columns, generator=generator).to(target),
            ]
            for rows, columns in shapes
        }

    def define(self) -> FusionDefinition:
        return define(self.operations, self.outputs)

    def runs(self, fd_for: Callable[[], FusionDefinition], shapes: Sequence[Shape]) -> dict:
        """The plan and the outputs of each shape."""
        found: dict[Shape, tuple[Any, list[torch.Tensor]]] = {}
        for shape in shapes:
            fd = fd_for()
            outputs = fd.execute(self.inputs[shape])
            found[shape] = (plan_of(fd), outputs)
        return found


def check(seed: int, target: str) -> None:
    case = Case(seed, target)
    alone = case.runs(case.define, sorted(case.inputs))
    for order in case.orders:
        fd = case.define()
        together = case.runs(lambda fd=fd: fd, order)
        for shape, (plan, outputs) in together.items():
            assert plan == alone[shape][0], f"{shape} in the order {order}: another plan"
            for own, reference in zip(outputs, alone[shape][1], strict=True):
                torch.testing.assert_close(own, reference, rtol=0, atol=0, equal_nan=True)


def report_of(seed: int, target: str) -> Report:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(seed, target)
        return Report(seed, "same plans")
    except Exception as error:
        return Report(
            seed, "failed", f"{type(error).__name__}: {error}\n{Case(seed, target).define()!r}"
        )


def main() -> int:
    reports = run_arguments(argument_parser(__doc__).parse_args(), report_of)
    print(summary(reports))
    return int(any(report.result == "failed" for report in reports))


if __name__ == "__main__":
    sys.exit(main())
