"""Random tensors without seed in definitions that are cut: one state for all segments of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from programs import matrix, rand

import nvfuser_direct as nvf
from nvfuser_direct import FusionDefinition, SchedulerType, evaluate
from nvfuser_direct.evaluator.steps import EvaluatedFusion
from nvfuser_direct.host import HostProgram

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView


def dropout(fd: FusionDefinition, x: TensorView) -> TensorView:
    return fd.ops.where(fd.ops.lt(fd.ops.rand_like(x), 0.75), x, 0.0)


def alternating(fd: FusionDefinition) -> None:
    """The random tensors of the two segments come by turns."""
    x = matrix(fd)
    draws = [fd.ops.rand_like(x) for _ in range(4)]
    fd.ops.rand_like(x)  # which nothing reads: it takes no numbers
    first = fd.ops.segment_set(fd.ops.add(fd.ops.add(x, draws[0]), draws[2]))
    fd.add_output(first)
    fd.add_output(fd.ops.add(fd.ops.mul(first, draws[3]), draws[1]))


def layers(fd: FusionDefinition) -> None:
    """Three segments that differ in nothing but their numbers."""
    x = matrix(fd)
    for _ in range(3):
        x = fd.ops.segment_set(dropout(fd, fd.ops.sin(x)))
    fd.add_output(x)


def around_a_product(fd: FusionDefinition) -> None:
    x, y = dropout(fd, matrix(fd)), dropout(fd, matrix(fd))
    fd.add_output(x)
    fd.add_output(dropout(fd, fd.ops.matmul(x, y)))


def two_patterns(fd: FusionDefinition) -> None:
    x = matrix(fd)
    rows = fd.ops.sum(dropout(fd, x), [1], keepdim=True)
    columns = fd.ops.sum(dropout(fd, fd.ops.mul(x, rows)), [0], keepdim=True)
    # A kernel that keeps rows may sum columns as well, but not sum rows of what those give.
    fd.add_output(fd.ops.sum(dropout(fd, fd.ops.mul(x, columns)), [1]))


DEFINITIONS = [alternating, layers, around_a_product, two_patterns]


@pytest.mark.parametrize("define", DEFINITIONS)
@pytest.mark.parametrize("size", [1, 7, 64])
def test_segments_draw_as_the_whole_would(
    define: Callable[[FusionDefinition], None], size: int, target: str, rng: torch.Generator
) -> None:
    with FusionDefinition() as fd:
        define(fd)
    inputs = [rand(target, rng, size, size) for _ in fd.fusion.inputs()]
    for _ in range(2):
        torch.manual_seed(3)
        wanted = evaluate(fd.fusion, inputs)
        behind = torch.rand(2, device=target)
        torch.manual_seed(3)
        got = fd.execute(inputs)
        assert torch.equal(torch.rand(2, device=target), behind)  # as many numbers were drawn
        for a, b in zip(got, wanted, strict=True):
            torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
    assert len(fd.fec.last_pieces()) > 1
    fd.validate(inputs)


def test_equal_segments_with_other_numbers_share_a_kernel(
    target: str, rng: torch.Generator
) -> None:
    with FusionDefinition() as fd:
        layers(fd)
    fd.execute([rand(target, rng, 5, 6)])
    assert len(fd.fec.last_pieces()) == 3
    assert fd.fec.stats().compiled == 1


def test_calls_draw_anew(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as fd:
        alternating(fd)
    x = rand(target, rng, 8, 8)
    assert not torch.equal(fd.execute([x])[0], fd.execute([x])[0])


def test_several_random_tensors_are_scheduled(target: str, rng: torch.Generator) -> None:
    """They used to be one kernel by the trivial schedule."""
    with FusionDefinition() as fd:
        two_patterns(fd)
    fd.execute([rand(target, rng, 16, 16)])
    assert all(piece.scheduler != SchedulerType.none for piece in fd.fec.last_pieces())


def test_steps_of_a_program_draw_behind_each_other(target: str, rng: torch.Generator) -> None:
    with FusionDefinition() as one:
        x = matrix(one)
        one.add_output(one.ops.add(x, one.ops.rand_like(x)))
    with FusionDefinition() as both:
        x = matrix(both)
        x = both.ops.add(x, both.ops.rand_like(x))
        both.add_output(both.ops.add(x, both.ops.rand_like(x)))
    kernel = one.fusion.clone()
    nvf.schedule.trivial(kernel)
    program = HostProgram()
    (slot,) = program.launch(kernel, [program.add_input()])
    program.add_output(program.evaluate(one.fusion, [slot])[0])
    x = rand(target, rng, 4, 5)
    torch.manual_seed(4)
    (got,) = program.run([x])
    torch.manual_seed(4)
    (wanted,) = evaluate(both.fusion, [x])
    torch.testing.assert_close(got, wanted)


def test_a_step_gets_seed_and_offsets() -> None:
    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(fd.ops.rand_like(x))
        fd.add_output(fd.ops.rand_like(x))
    x = torch.empty(3, 4)
    evaluated = EvaluatedFusion(fd.fusion)
    first, second = evaluated.evaluate([x], "cpu", 5, [8, 2])
    again, _ = evaluated.evaluate([x], "cpu", 5, [2, 0])
    assert torch.equal(second, again)
    assert not torch.equal(first, second)
