"""Host programs: several kernels and evaluations in one run, also of many threads."""

from __future__ import annotations

import threading

import pytest
import torch
from programs import binary, chain, fusion_of, kernel_of, matmul, matrix, rand, unary

from nvfuser_direct import DataType, FusionDefinition
from nvfuser_direct.host import HostProgram


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
