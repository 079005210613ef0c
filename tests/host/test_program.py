"""Host programs: several kernels, evaluations, views and copies in one run."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition, PythonProfiler
from nvfuser_direct.host import HostProgram

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import Fusion, TensorView


def fusion_of(define: Callable[[FusionDefinition], None]) -> Fusion:
    with FusionDefinition() as fd:
        define(fd)
    return fd.fusion


def kernel_of(define: Callable[[FusionDefinition], None]) -> Fusion:
    """A fusion that is scheduled as one kernel."""
    fusion = fusion_of(define)
    nvf.schedule.trivial(fusion)
    return fusion


def matrix(fd: FusionDefinition) -> TensorView:
    return fd.define_tensor([-1, -1], contiguity=True)


def unary(name: str) -> Callable[[FusionDefinition], None]:
    def define(fd: FusionDefinition) -> None:
        fd.add_output(getattr(fd.ops, name)(matrix(fd)))

    return define


def binary(name: str) -> Callable[[FusionDefinition], None]:
    def define(fd: FusionDefinition) -> None:
        fd.add_output(getattr(fd.ops, name)(matrix(fd), matrix(fd)))

    return define


def matmul(fd: FusionDefinition) -> None:
    fd.add_output(fd.ops.matmul(matrix(fd), matrix(fd)))


def permute(fd: FusionDefinition) -> None:
    fd.add_output(fd.ops.permute(matrix(fd), [1, 0]))


def rand(target: str, rng: torch.Generator, *sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=rng).to(target)


def chain(*names: str) -> HostProgram:
    """One kernel for each name, each reading what the one before wrote."""
    program = HostProgram()
    slot = program.add_input()
    for name in names:
        (slot,) = program.launch(kernel_of(unary(name)), [slot])
    program.add_output(slot)
    return program


# ---- Running ------------------------------------------------------------------------------------


def test_one_kernel_is_the_program_of_one_step(target: str, rng: torch.Generator) -> None:
    program = chain("exp")
    x = rand(target, rng, 5, 7)
    (out,) = program.run([x])
    torch.testing.assert_close(out, torch.exp(x))


@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (64, 129), (0, 4)])
def test_a_chain_of_three_kernels_passes_tensors_on(
    target: str, rng: torch.Generator, sizes: tuple[int, int]
) -> None:
    program = chain("sin", "exp", "neg")
    x = rand(target, rng, *sizes)
    (out,) = program.run([x])
    torch.testing.assert_close(out, -torch.exp(torch.sin(x)))


def test_one_program_serves_many_sizes(target: str, rng: torch.Generator) -> None:
    program = chain("sin", "exp")
    for rows in (4, 9, 4, 17, 9):
        x = rand(target, rng, rows, 3)
        torch.testing.assert_close(program.run([x])[0], torch.exp(torch.sin(x)))
    assert program.num_plans == 3


def test_a_matmul_is_evaluated_between_two_kernels(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    a, b, c = (program.add_input() for _ in range(3))
    (scaled,) = program.launch(kernel_of(unary("sin")), [a])
    (product,) = program.evaluate(fusion_of(matmul), [scaled, b])
    (total,) = program.launch(kernel_of(binary("add")), [product, c])
    program.add_output(total)
    program.insert_frees()
    x, w, bias = (rand(target, rng, *s) for s in ((6, 8), (8, 4), (6, 4)))
    (out,) = program.run([x, w, bias])
    expected = torch.sin(x.double()) @ w.double() + bias
    torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=1e-5)


def test_several_outputs_keep_their_order_and_identity(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    (c,) = program.launch(kernel_of(unary("exp")), [b])
    for slot in (c, b, a, b):
        program.add_output(slot)
    x = rand(target, rng, 4, 4)
    outs = program.run([x])
    torch.testing.assert_close(outs[0], torch.exp(torch.sin(x)))
    torch.testing.assert_close(outs[1], torch.sin(x))
    assert outs[2] is x
    assert outs[3] is outs[1]


def test_numbers_are_arguments(target: str, rng: torch.Generator) -> None:
    def scale(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.mul(matrix(fd), fd.define_scalar(DataType.Double)))

    program = HostProgram()
    a, factor = program.add_input(), program.add_input()
    (b,) = program.launch(kernel_of(scale), [a, factor])
    (c,) = program.evaluate(fusion_of(scale), [b, factor])
    program.add_output(c)
    x = rand(target, rng, 3, 4)
    for value in (2.0, -0.5):
        torch.testing.assert_close(program.run([x, value])[0], x * value * value)
    assert program.num_plans == 1


def test_numbers_that_are_sizes_have_plans_of_their_own(target: str) -> None:
    def ones(fd: FusionDefinition) -> None:
        size = fd.define_scalar(DataType.Int)
        one = fd.define_scalar(1.0)
        fd.add_output(fd.ops.full([size, size], one, DataType.Float))

    program = HostProgram()
    n = program.add_input()
    (full,) = program.launch(kernel_of(ones), [n])
    (doubled,) = program.launch(kernel_of(binary("add")), [full, full])
    program.add_output(doubled)
    for size in (2, 5, 2):
        (out,) = program.run([size], device=target)
        assert out.device.type == target
        torch.testing.assert_close(out.cpu(), torch.full((size, size), 2.0))
    assert program.num_plans == 2


def test_a_kernel_updates_an_argument_in_place(target: str, rng: torch.Generator) -> None:
    def accumulate(fd: FusionDefinition) -> None:
        total, x = matrix(fd), matrix(fd)
        fd.add_output(fd.ops.add(total, x), total)

    program = HostProgram()
    total, a = program.add_input(), program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    program.launch(kernel_of(accumulate), [total, b])
    program.add_output(total)
    x, sums = rand(target, rng, 4, 6), rand(target, rng, 4, 6)
    expected = sums + torch.sin(x)
    (out,) = program.run([sums, x])
    assert out is sums
    torch.testing.assert_close(sums, expected)


def test_an_evaluation_updates_what_a_kernel_made(target: str, rng: torch.Generator) -> None:
    def accumulate(fd: FusionDefinition) -> None:
        total, x, w = matrix(fd), matrix(fd), matrix(fd)
        fd.add_output(fd.ops.add(total, fd.ops.matmul(x, w)), total)

    program = HostProgram()
    a, w = program.add_input(), program.add_input()
    (total,) = program.launch(kernel_of(unary("sin")), [a])
    program.evaluate(fusion_of(accumulate), [total, a, w])
    (out,) = program.launch(kernel_of(unary("neg")), [total])
    program.add_output(out)
    x, y = rand(target, rng, 5, 5), rand(target, rng, 5, 5)
    torch.testing.assert_close(
        program.run([x, y])[0], -(torch.sin(x) + x @ y), atol=1e-5, rtol=1e-5
    )


def test_kernels_with_workspaces_of_their_own(target: str, rng: torch.Generator) -> None:
    """A reduction over blocks has partial results and a counter in global memory."""

    def normalize(fd: FusionDefinition) -> None:
        x = matrix(fd)
        total = fd.ops.sum(x, [0, 1])
        fd.add_output(fd.ops.div(x, fd.ops.broadcast_in_dim(total, [1, 1], [])))

    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("exp")), [a])
    (c,) = program.launch(kernel_of(normalize), [b])
    (d,) = program.launch(kernel_of(normalize), [c])
    program.add_output(d)
    for _ in range(3):
        x = rand(target, rng, 70, 90)
        (out,) = program.run([x])
        e = torch.exp(x.double())
        torch.testing.assert_close(out.double(), e / e.sum(), atol=1e-7, rtol=1e-4)


# ---- Views --------------------------------------------------------------------------------------


def test_a_view_between_kernels_moves_nothing(target: str, rng: torch.Generator) -> None:
    def strided(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(fd.define_tensor([-1, -1], contiguity=False)))

    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    c = program.view(fusion_of(permute), [b])
    (d,) = program.launch(kernel_of(strided), [c])
    program.add_output(d)
    x = rand(target, rng, 4, 6)
    torch.testing.assert_close(program.run([x])[0], torch.exp(torch.sin(x).t()).contiguous())
    plan = program.plan([x])
    assert plan.slots[c].owner == b
    assert plan.slots[c].strides == [1, 6]


@pytest.mark.parametrize("is_argument", [True, False], ids=["of an argument", "of a result"])
def test_a_view_that_is_an_output_shares_memory(
    target: str, rng: torch.Generator, is_argument: bool
) -> None:
    program = HostProgram()
    base = program.add_input()
    if not is_argument:
        (base,) = program.launch(kernel_of(unary("sin")), [base])
    program.add_output(program.view(fusion_of(permute), [base]))
    program.add_output(base)
    x = rand(target, rng, 4, 6)
    turned, whole = program.run([x])
    assert turned.data_ptr() == whole.data_ptr()
    torch.testing.assert_close(turned, x.t() if is_argument else torch.sin(x).t())
    assert (whole is x) == is_argument


def test_a_view_outlives_its_argument(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    program.add_output(program.view(fusion_of(permute), [program.add_input()]))
    x = rand(target, rng, 100, 100)
    expected = x.t().clone()
    (out,) = program.run([x])
    del x
    junk = [torch.zeros(100, 100, device=target) for _ in range(8)]
    torch.testing.assert_close(out, expected)
    assert len(junk) == 8


def _slice(fd: FusionDefinition) -> None:
    fd.add_output(fd.ops.slice(matrix(fd), [1, 2], [3, 6]))


def _expand(fd: FusionDefinition) -> None:
    x = matrix(fd)
    wide = fd.ops.broadcast(x, [False, True, False])
    fd.add_output(fd.ops.expand(wide, [-1, 3, -1]))


def _split(fd: FusionDefinition) -> None:
    x = fd.define_tensor([4, 6], contiguity=True)
    fd.add_output(fd.ops.reshape(x, [2, 2, 3, 2]))


def _flatten(fd: FusionDefinition) -> None:
    x = fd.define_tensor([4, 6], contiguity=True)
    fd.add_output(fd.ops.reshape(x, [24]))


def _squeeze(fd: FusionDefinition) -> None:
    x = matrix(fd)
    wide = fd.ops.broadcast(x, [False, True, False])
    fd.add_output(fd.ops.permute(fd.ops.squeeze(wide, [1]), [1, 0]))


@pytest.mark.parametrize(
    ("define", "expected"),
    [
        (_slice, lambda x: x[1:3, 2:6]),
        (_expand, lambda x: x[:, None, :].expand(-1, 3, -1)),
        (_split, lambda x: x.view(2, 2, 3, 2)),
        (_flatten, lambda x: x.view(24)),
        (_squeeze, lambda x: x.t()),
    ],
    ids=["slice", "expand", "split", "flatten", "squeeze"],
)
def test_expressions_that_only_move_elements_are_views(
    target: str,
    rng: torch.Generator,
    define: Callable[[FusionDefinition], None],
    expected: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    program = HostProgram()
    slot = program.add_input()
    program.add_output(program.view(fusion_of(define), [slot]))
    x = rand(target, rng, 4, 6)
    (out,) = program.run([x])
    wanted = expected(x)
    assert out.shape == wanted.shape
    assert out.stride() == wanted.stride()
    assert out.data_ptr() == wanted.data_ptr()
    torch.testing.assert_close(out, wanted)


def test_a_reshape_that_strides_do_not_allow_is_no_view(rng: torch.Generator) -> None:
    def flatten(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 6], contiguity=False)
        fd.add_output(fd.ops.reshape(x, [24]))

    program = HostProgram()
    program.add_output(program.view(fusion_of(flatten), [program.add_input()]))
    program.plan([torch.randn(4, 6, generator=rng)])
    with pytest.raises(RuntimeError, match=r"(?s)This is no view.*merge of dimensions"):
        program.run([torch.randn(6, 4, generator=rng).t()])


@pytest.mark.parametrize("define", [unary("exp"), matmul], ids=["exp", "matmul"])
def test_what_computes_is_no_view(
    define: Callable[[FusionDefinition], None], rng: torch.Generator
) -> None:
    fusion = fusion_of(define)
    program = HostProgram()
    slots = [program.add_input() for _ in fusion.inputs()]
    program.add_output(program.view(fusion, slots))
    with pytest.raises(RuntimeError, match="This is no view"):
        program.run([torch.randn(4, 4, generator=rng) for _ in slots])


# ---- Memory -------------------------------------------------------------------------------------


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
    turned = program.view(fusion_of(permute), [b])
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
    turned = program.view(fusion_of(permute), [product])
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
    from nvfuser_direct.evaluator import steps

    kept: list[torch.Tensor] = []
    evaluate = steps.evaluate

    def evaluate_and_keep(fusion: Fusion, inputs: list[torch.Tensor], device: str) -> object:
        kept.extend(inputs)
        return evaluate(fusion, inputs, device)

    monkeypatch.setattr(steps, "evaluate", evaluate_and_keep)
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


# ---- Copies and allocations ---------------------------------------------------------------------


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


# ---- Mistakes -----------------------------------------------------------------------------------


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
    with pytest.raises(RuntimeError, match="Tried to bind to a value: 4 as 5"):
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


# ---- Looking at it ------------------------------------------------------------------------------


def test_a_program_prints_its_steps() -> None:
    program = HostProgram(3)
    a, b = program.add_input(), program.add_input()
    (c,) = program.launch(kernel_of(unary("sin")), [a])
    (d,) = program.evaluate(fusion_of(matmul), [c, b])
    e = program.view(fusion_of(permute), [d])
    (f,) = program.allocate(fusion_of(permute), [d])
    program.copy(e, f)
    program.add_output(f)
    program.insert_frees()
    assert str(program).splitlines() == [
        "program(s0, s1) {",
        "  s2 = launch nvfuser_none_f3_c0_r0_g0(s0)",
        "  s3 = evaluate(s2, s1) {MatmulOp}",
        "  free s2",
        "  s4 = view(s3) {LoadStoreOp}",
        "  s5 = allocate(s3) {T1_g_float[iS3{i1}, iS2{i0}]}",
        "  free s3",
        "  copy s4 to s5",
        "  free s4",
        "  return s5",
        "}",
    ]
    assert [type(step).__name__ for step in program.steps] == [
        "Launch", "Evaluate", "Free", "View", "Allocate", "Free", "Copy", "Free",
    ]  # fmt: skip
    assert program.steps[1].fusion == fusion_of(matmul)


def test_a_plan_prints_what_lies_where(rng: torch.Generator) -> None:
    def strided_neg(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1], contiguity=False)))

    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    c = program.view(fusion_of(permute), [b])
    (d,) = program.evaluate(fusion_of(strided_neg), [c])
    program.add_output(d)
    plan = program.plan([torch.randn(2, 3, generator=rng)])
    lines = str(plan).splitlines()
    assert lines[0].startswith("plan on cpu, workspace of 256 bytes, parameters of ")
    assert lines[1:] == [
        "  s0: float[2, 3] on cpu, argument",
        "  s1: float[2, 3] on cpu, workspace [0, 24)",
        "  s2: float[3, 2] on cpu, workspace [0, 24), a view of s1",
        "  s3: any shape, evaluated",
        "}",
    ]


def test_a_profile_has_every_step_that_computes(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    a, b = program.add_input(), program.add_input()
    (c,) = program.launch(kernel_of(unary("sin")), [a])
    (d,) = program.evaluate(fusion_of(matmul), [c, b])
    (e,) = program.launch(kernel_of(unary("neg")), [d])
    program.add_output(e)
    x, y = rand(target, rng, 4, 6), rand(target, rng, 6, 2)
    program.run([x, y])
    with PythonProfiler() as prof:
        program.run([x, y])
    profile = prof.profile
    assert profile.segments == 3
    assert [kernel.scheduler for kernel in profile.kernel_profiles] == ["none", "expr_eval", "none"]
    assert [kernel.segment_id for kernel in profile.kernel_profiles] == [0, 1, 2]
    assert profile.input_bytes == (4 * 6 + 6 * 2) * 4
    assert profile.output_bytes == 4 * 2 * 4


def test_threads_share_a_program(target: str, rng: torch.Generator) -> None:
    program = chain("sin", "exp", "neg")
    inputs = [rand(target, rng, rows, 7) for rows in (1, 2, 3, 50)]
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(20):
                x = inputs[(number + i) % len(inputs)]
                torch.testing.assert_close(program.run([x])[0], -torch.exp(torch.sin(x)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert program.num_plans == len(inputs)
