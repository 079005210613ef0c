"""Where the tensors of a host program lie, and how long."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from programs import binary, chain, fusion_of, kernel_of, matmul, matrix, permute, rand, unary

from nvfuser_direct import FusionDefinition
from nvfuser_direct.evaluator.steps import EvaluatedFusion
from nvfuser_direct.host import HostProgram


def test_intermediates_share_a_workspace(target: str, rng: torch.Generator) -> None:
    program = chain("sin", "exp", "neg", "cos", "abs")
    x = rand(target, rng, 100, 10)  # 4,000 bytes
    plan = program.plan([x])
    places = [slot for slot in plan.slots if slot.memory == "workspace"]
    assert [place.bytes for place in places] == [4000] * 4
    # Two are in use at once: the one that is read and the one that is written.
    assert plan.workspace_bytes == 2 * 4096
    assert [place.workspace_offset for place in places] == [0, 4096, 0, 4096]
    torch.testing.assert_close(program.run([x])[0], torch.abs(torch.cos(-torch.exp(torch.sin(x)))))


def test_a_tensor_that_is_read_later_keeps_its_place(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    (c,) = program.launch(kernel_of(unary("exp")), [b])
    (d,) = program.launch(kernel_of(unary("neg")), [c])
    (e,) = program.launch(kernel_of(binary("add")), [b, d])
    program.add_output(e)
    x = rand(target, rng, 16, 16)
    plan = program.plan([x])
    offsets = {plan.slots[slot].workspace_offset for slot in (b, c, d)}
    assert len(offsets) == 3
    torch.testing.assert_close(program.run([x])[0], torch.sin(x) - torch.exp(torch.sin(x)))


def test_a_view_keeps_its_base_in_place(target: str, rng: torch.Generator) -> None:
    def strided(fd: FusionDefinition) -> None:
        x = fd.define_tensor([-1, -1], contiguity=False)
        fd.add_output(fd.ops.add(x, matrix(fd)))

    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    (turned,) = program.view(fusion_of(permute), [b])
    (c,) = program.launch(kernel_of(unary("exp")), [a])
    (d,) = program.launch(kernel_of(unary("neg")), [c])
    (e,) = program.launch(kernel_of(strided), [turned, d])
    program.add_output(e)
    program.insert_frees()
    x = rand(target, rng, 8, 8)
    torch.testing.assert_close(program.run([x])[0], torch.sin(x).t() - torch.exp(x))


def test_random_programs_do_what_their_steps_say(target: str, rng: torch.Generator) -> None:
    """Steps that read random slots, with frees: a place that is given away too early shows."""
    kernels = {name: kernel_of(unary(name)) for name in ("sin", "neg", "abs")}
    add = kernel_of(binary("add"))
    for _ in range(10):
        program = HostProgram()
        slots = [program.add_input()]
        x = rand(target, rng, 33, 5)
        values = [x]
        for _ in range(12):
            first, second, kind = (int(i) for i in torch.randint(0, 1000, (3,), generator=rng))
            i, k = first % len(slots), second % len(slots)
            if kind % 2:
                slots += program.launch(add, [slots[i], slots[k]])
                values.append(values[i] + values[k])
            else:
                name = ("sin", "neg", "abs")[kind % 3]
                slots += program.launch(kernels[name], [slots[i]])
                values.append(getattr(torch, name)(values[i]))
        outputs = [len(slots) - 1, len(slots) // 2]
        for i in outputs:
            program.add_output(slots[i])
        program.insert_frees()
        for out, i in zip(program.run([x]), outputs, strict=True):
            torch.testing.assert_close(out, values[i], atol=1e-5, rtol=1e-5)


def test_a_result_of_an_evaluation_is_freed_behind_its_last_reader(
    target: str, rng: torch.Generator
) -> None:
    def strided_matmul(fd: FusionDefinition) -> None:
        x = matrix(fd)
        turned = fd.define_tensor([-1, -1], contiguity=False)
        fd.add_output(fd.ops.matmul(x, turned))

    program = HostProgram()
    a, b = program.add_input(), program.add_input()
    (product,) = program.evaluate(fusion_of(matmul), [a, b])
    (turned,) = program.view(fusion_of(permute), [product])
    (second,) = program.evaluate(fusion_of(strided_matmul), [a, turned])
    program.free(turned)
    program.free(product)
    (out,) = program.launch(kernel_of(unary("neg")), [second])
    program.add_output(out)
    x, y = rand(target, rng, 4, 4), rand(target, rng, 4, 4)
    torch.testing.assert_close(program.run([x, y])[0], -(x @ (x @ y).t()), atol=1e-5, rtol=1e-5)


def test_an_evaluator_that_keeps_its_inputs_keeps_their_memory(
    target: str, rng: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[torch.Tensor] = []
    evaluate = EvaluatedFusion.evaluate

    def evaluate_and_keep(
        fusion: EvaluatedFusion, inputs: list[torch.Tensor], *others: Any
    ) -> object:
        kept.extend(inputs)
        return evaluate(fusion, inputs, *others)

    monkeypatch.setattr(EvaluatedFusion, "evaluate", evaluate_and_keep)
    program = HostProgram()
    a, b = program.add_input(), program.add_input()
    (c,) = program.launch(kernel_of(unary("sin")), [a])
    program.add_output(program.evaluate(fusion_of(matmul), [c, b])[0])
    x, y = rand(target, rng, 50, 50), rand(target, rng, 50, 50)
    program.run([x, y])
    expected = torch.sin(x)
    program = None
    junk = [torch.zeros(50, 50, device=target) for _ in range(8)]
    torch.testing.assert_close(kept[0], expected)
    assert kept[1] is y
    assert len(junk) == 8


@pytest.mark.parametrize("is_strided", [False, True], ids=["dense", "strided"])
def test_a_copy_fills_an_argument(target: str, rng: torch.Generator, is_strided: bool) -> None:
    program = HostProgram()
    a, goal = program.add_input(), program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    program.copy(b, goal)
    program.add_output(goal)
    x = rand(target, rng, 4, 6)
    place = torch.zeros(6, 4, device=target).t() if is_strided else torch.zeros_like(x)
    (out,) = program.run([x, place])
    assert out is place
    torch.testing.assert_close(place, torch.sin(x))


def test_an_allocated_tensor_is_filled_by_a_copy(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    a = program.add_input()
    (place,) = program.allocate(fusion_of(unary("neg")), [a])
    program.copy(a, place)
    (b,) = program.launch(kernel_of(unary("exp")), [place])
    program.add_output(b)
    x = rand(target, rng, 4, 6)
    torch.testing.assert_close(program.run([x])[0], torch.exp(x))
    assert program.plan([x]).slots[place].memory == "workspace"


def test_a_copy_between_shapes_is_refused(rng: torch.Generator) -> None:
    program = HostProgram()
    a, b = program.add_input(), program.add_input()
    program.copy(a, b)
    program.add_output(b)
    program.run([torch.randn(2, 3, generator=rng), torch.zeros(2, 3)])
    with pytest.raises(RuntimeError, match=r"(?s)copy: the two tensors differ.*float\[3, 2\]"):
        program.run([torch.randn(2, 3, generator=rng), torch.zeros(3, 2)])
