"""Refusals of host programs: when a step is added, planned and run."""

from __future__ import annotations

import pytest
import torch
from programs import binary, chain, fusion_of, kernel_of, unary

from nvfuser_direct import DataType, FusionDefinition
from nvfuser_direct.host import HostProgram


def test_slots_that_are_not_there_are_refused() -> None:
    program = HostProgram()
    a = program.add_input()
    kernel = kernel_of(unary("sin"))
    for slot in (a + 1, -1):
        with pytest.raises(RuntimeError, match=f"There is no slot {slot}"):
            program.launch(kernel, [slot])
    with pytest.raises(RuntimeError, match="There is no slot 5"):
        program.add_output(5)
    assert program.num_slots == 1


def test_freed_slots_are_refused() -> None:
    program = HostProgram()
    a = program.add_input()
    kernel = kernel_of(unary("sin"))
    (b,) = program.launch(kernel, [a])
    program.free(b)
    for use in (
        lambda: program.launch(kernel, [b]),
        lambda: program.add_output(b),
        lambda: program.free(b),
        lambda: program.copy(a, b),
    ):
        with pytest.raises(RuntimeError, match=r"(?s)Slot s1 was freed.*freed by step 1"):
            use()


def test_arguments_and_outputs_cannot_be_freed() -> None:
    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    program.add_output(b)
    with pytest.raises(RuntimeError, match="slot s0 is an argument"):
        program.free(a)
    with pytest.raises(RuntimeError, match="slot s1 is an output"):
        program.free(b)


def test_the_number_of_slots_has_to_be_that_of_inputs() -> None:
    program = HostProgram()
    a = program.add_input()
    with pytest.raises(RuntimeError, match=r"(?s)one slot for every input.*expected: 2 slots"):
        program.launch(kernel_of(binary("add")), [a])


def test_types_and_ranks_are_checked_when_a_step_is_added() -> None:
    def vector(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1], contiguity=True)))

    def halves(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1], contiguity=True, dtype=DataType.Half)
        fd.add_output(fd.ops.neg(x))

    program = HostProgram()
    (b,) = program.launch(kernel_of(unary("sin")), [program.add_input()])
    with pytest.raises(RuntimeError, match=r"(?s)s1 does not fit input 0.*float tensor of rank 1"):
        program.launch(kernel_of(vector), [b])
    with pytest.raises(RuntimeError, match=r"(?s)s1 does not fit input 0.*half tensor"):
        program.evaluate(fusion_of(halves), [b])
    assert len(program.steps) == 1


def test_sizes_are_checked_when_they_are_known(rng: torch.Generator) -> None:
    program = HostProgram()
    a, b = program.add_input(), program.add_input()
    (c,) = program.launch(kernel_of(unary("sin")), [a])
    program.add_output(program.launch(kernel_of(binary("add")), [c, b])[0])
    program.run([torch.randn(4, 4, generator=rng), torch.randn(4, 4, generator=rng)])
    with pytest.raises(RuntimeError, match="Expected sizes to match: 5 vs 4"):
        program.run([torch.randn(4, 4, generator=rng), torch.randn(4, 5, generator=rng)])


def test_the_number_of_arguments_is_checked(rng: torch.Generator) -> None:
    with pytest.raises(RuntimeError, match="takes 1 arguments, but got 0"):
        chain("sin").run([])


def test_a_program_that_ran_cannot_be_changed(rng: torch.Generator) -> None:
    program = chain("sin")
    program.run([torch.randn(2, 2, generator=rng)])
    for change in (
        program.add_input,
        lambda: program.add_output(0),
        lambda: program.launch(kernel_of(unary("sin")), [0]),
        lambda: program.free(1),
        program.insert_frees,
    ):
        with pytest.raises(RuntimeError, match="was planned or run, and cannot be changed"):
            change()


def test_a_program_without_outputs_is_refused(rng: torch.Generator) -> None:
    program = HostProgram()
    program.launch(kernel_of(unary("sin")), [program.add_input()])
    with pytest.raises(RuntimeError, match="The program has no outputs"):
        program.run([torch.randn(2, 2, generator=rng)])


def test_inputs_come_before_steps() -> None:
    program = HostProgram()
    program.launch(kernel_of(unary("sin")), [program.add_input()])
    with pytest.raises(RuntimeError, match="add all inputs before the first step"):
        program.add_input()
