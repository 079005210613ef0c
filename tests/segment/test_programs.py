"""Segments as steps of a program: slots, what lies in the workspace, updates of inputs."""

from __future__ import annotations

import contextlib

import pytest
import torch
from random_plans import make_spec
from segment_runs import define, plan_of

from nvfuser_direct import (
    FusionDefinition,
    SchedulerType,
    UserError,
    evaluate,
    host,
    schedule,
    segment,
)


def program_of(plan, inputs) -> host.HostProgram:
    """Each piece as a kernel by its scheduler, else evaluated."""
    partition = host.partition_of(plan)
    program = host.HostProgram()
    slots = [program.add_input() for _ in plan.complete_fusion.inputs()]
    for piece in partition.pieces:
        slots += add_step(program, piece)
    for slot in partition.outputs:
        program.add_output(slot)
    assert slots == list(range(len(slots)))
    program.insert_frees()
    return program


def add_step(program: host.HostProgram, piece: host.Piece) -> list[int]:
    fusion = piece.fusion.clone()
    if piece.scheduler != SchedulerType.expr_eval:
        with contextlib.suppress(UserError):
            schedule.trivial(fusion)
            fusion.lower()
            return program.launch(fusion, piece.inputs)
    return program.evaluate(piece.fusion, piece.inputs)


def check(plan, inputs, atol: float = 1e-5) -> None:
    expected = evaluate(plan.complete_fusion, inputs)
    found = program_of(plan, inputs).run(inputs)
    assert len(found) == len(expected)
    for own, reference in zip(found, expected, strict=True):
        torch.testing.assert_close(own, reference, atol=atol, rtol=1e-5)


def test_slots_follow_the_order_of_pieces() -> None:
    inputs = [torch.randn(12, 8)]

    def build(fd, x):
        rows = fd.ops.sum(fd.ops.exp(x), [1])
        return [rows, fd.ops.sum(rows, [0])]

    plan = plan_of(build, inputs)
    partition = host.partition_of(plan)
    assert [piece.inputs for piece in partition.pieces] == [[0], [1]]
    assert partition.outputs == [1, 2]
    check(plan, inputs)


def test_a_product_between_maps() -> None:
    inputs = [torch.randn(16, 8), torch.randn(8, 12)]
    plan = plan_of(lambda fd, a, b: fd.ops.relu(fd.ops.matmul(fd.ops.exp(a), b)), inputs)
    assert len(host.partition_of(plan).pieces) == 3
    check(plan, inputs)


def test_what_is_read_by_segments_only_lies_in_the_workspace() -> None:
    inputs = [torch.randn(12, 8)]

    def build(fd, x):
        return fd.ops.sum(fd.ops.sum(x, [1]), [0])

    plan = plan_of(build, inputs)
    program = program_of(plan, inputs)
    memory = [slot.memory for slot in program.plan(inputs).slots]
    assert memory == ["argument", "workspace", "new tensor"]


def test_a_late_update_is_a_piece() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([6])
        row = fd.ops.broadcast(x, [True, False])
        total = fd.ops.add(fd.ops.broadcast(x, [False, True]), fd.ops.expand(row, [6, 6]))
        fd.add_output(fd.ops.sum(total, [0]), x)
        fd.add_output(total)
    given = torch.randn(6)
    expected = (given[:, None] + given[None, :]).sum(0)
    plan = segment(fd.fusion, [given])
    (update,) = plan.late_updates
    assert update.input is fd.fusion.inputs()[0]
    partition = host.partition_of(plan)
    assert partition.pieces[-1].inputs[1] == 0
    program_of(plan, [given]).run([given])
    torch.testing.assert_close(given, expected)


def test_an_input_that_is_an_output_comes_back() -> None:
    given = torch.randn(6)
    fd = define(lambda fd, x: [x, fd.ops.exp(x)], [given])
    plan = segment(fd.fusion, [given])
    assert host.partition_of(plan).outputs == [0, 1]
    same, power = program_of(plan, [given]).run([given])
    assert same.data_ptr() == given.data_ptr()
    torch.testing.assert_close(power, given.exp())


@pytest.mark.parametrize("first", range(2000, 2020, 10))
def test_random_definitions(first: int) -> None:
    for seed in range(first, first + 10):
        spec = make_spec(seed, most=20)
        fd, _ = spec.build()
        check(segment(fd.fusion, spec.inputs), spec.inputs)
