"""Random chains of operations whose sizes are scalar inputs, each run with several sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from hypothesis import given, note
from hypothesis import strategies as st
from profiles import cases

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

MAX_ELEMENTS = 5000
KINDS = ("reshape", "reshape", "infer", "expand", "sum", "pad", "slice", "add", "relu", "permute")


@dataclass
class Step:
    """An operation; what it needs beside its operand is drawn for each run."""

    kind: str
    rank: int  # of the operand
    new_rank: int


def draw_steps(draw: Any, rank: int) -> list[Step]:
    steps = []
    for _ in range(draw(st.integers(1, 5), label="steps")):
        kind = draw(st.sampled_from(KINDS), label="kind")
        new_rank = rank
        if kind in ("reshape", "infer"):
            new_rank = draw(st.integers(1, 4), label="new rank")
        elif kind == "sum" and rank > 1:
            new_rank = rank - 1
        steps.append(Step(kind, rank, new_rank))
        rank = new_rank
    return steps


def define(fd: FusionDefinition, declared: list[int], steps: list[Step]) -> None:
    y = fd.define_tensor(declared)
    for step in steps:
        y = define_step(fd, step, y)
        if step.kind != "relu":
            fd.add_output(y)
    fd.add_output(fd.ops.relu(y))


def define_step(fd: FusionDefinition, step: Step, y: TensorView) -> TensorView:
    ops = fd.ops
    match step.kind:
        case "reshape":
            return ops.reshape(y, fd.define_vector(step.new_rank))
        case "infer":
            return ops.reshape(y, [-1, *fd.define_vector(step.new_rank - 1)])
        case "expand":
            return ops.expand(y, fd.define_vector(step.rank))
        case "sum":
            return ops.sum(y, [0], keepdim=step.new_rank == step.rank)
        case "pad":
            return ops.pad(y, [1, 0, 0, 1][: 2 * step.rank])
        case "slice":
            stops = [fd.define_scalar(DataType.Int), *y.shape()[1:]]
            return ops.slice(y, [0] * step.rank, stops)
        case "add":
            return ops.add(y, fd.define_tensor([-1] * step.rank))
        case "permute":
            return ops.permute(y, [*range(1, step.rank), 0])
        case _:
            return ops.relu(y)


class Run:
    """Inputs of one run, and what PyTorch makes of them."""

    def __init__(self, draw: Any, declared: list[int]) -> None:
        self.draw = draw
        sizes = st.sampled_from([1, 2, 3, 4, 6, 8, 12, 0])
        shape = [1 if size == 1 else draw(sizes, label="size") for size in declared]
        self.y = self.tensor(shape)
        self.args: list[Any] = [self.y]
        self.outputs: list[torch.Tensor] = []

    def tensor(self, shape: list[int]) -> torch.Tensor:
        count = math.prod(shape)
        return (torch.arange(count).remainder(17) - 8).float().reshape(shape)

    def factors(self, count: int, rank: int) -> list[int]:
        """A shape of `count` elements."""
        shape = []
        for _ in range(rank - 1):
            divisors = [d for d in range(1, count + 1) if count % d == 0] if count else [0, 1, 5]
            shape.append(self.draw(st.sampled_from(divisors), label="factor"))
            count = count // shape[-1] if shape[-1] else 0
        shape.append(count)
        return self.draw(st.permutations(shape), label="shape")

    def step(self, step: Step) -> None:
        self.y = self.apply(step, self.y)
        if step.kind != "relu":
            self.outputs.append(self.y)

    def apply(self, step: Step, y: torch.Tensor) -> torch.Tensor:
        match step.kind:
            case "reshape" | "infer":
                shape = self.factors(y.numel(), step.new_rank)
                if step.kind == "infer" and 0 in shape[1:]:
                    shape[0] = 0
                self.args += shape if step.kind == "reshape" else shape[1:]
                return y.reshape(shape)
            case "expand":
                shape = []
                for size in y.shape:
                    may_grow = size == 1 and max(y.numel(), math.prod(shape)) < MAX_ELEMENTS // 8
                    grown = self.draw(st.sampled_from([1, 2, 5]), label="expanded to")
                    shape.append(grown if may_grow else size)
                self.args += shape
                return y.expand(shape)
            case "sum":
                return y.sum(0, keepdim=step.new_rank == step.rank)
            case "pad":
                return torch.nn.functional.pad(y, [1, 0, 0, 1][: 2 * step.rank])
            case "slice":
                stop = self.draw(st.integers(0, y.shape[0]), label="stop")
                self.args.append(stop)
                return y[:stop]
            case "add":
                self.args.append(self.tensor(list(y.shape)))
                return y + self.args[-1]
            case "permute":
                return y.permute([*range(1, step.rank), 0])
            case _:
                return y.relu()


@given(data=st.data())
@cases(60)
def test_random_chains(data: st.DataObject, outcome: Callable[[str], None]) -> None:
    declared = data.draw(st.lists(st.sampled_from([-1, -1, 1]), min_size=1, max_size=3), "declared")
    steps = draw_steps(data.draw, len(declared))
    with FusionDefinition() as fd:
        define(fd, declared, steps)
    note(repr(fd))
    for _ in range(data.draw(st.integers(1, 3), "runs")):
        run = Run(data.draw, declared)
        for step in steps:
            run.step(step)
        run.outputs.append(run.y.relu())
        if any(output.numel() > MAX_ELEMENTS for output in run.outputs):
            outcome("refused: too large")
            continue
        note(f"inputs: {[arg if isinstance(arg, int) else list(arg.shape) for arg in run.args]}")
        outputs = fd.execute(run.args)
        for output, expected in zip(outputs, run.outputs, strict=True):
            torch.testing.assert_close(output, expected, rtol=0, atol=0)
        outcome("compared")
