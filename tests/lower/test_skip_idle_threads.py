"""Loops over threads that all stay idle: which are passed over on the CPU, and what stays."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import FusionDefinition, KernelExecutor, MemoryType, ParallelType

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

BX, TX = ParallelType.grid_x, ParallelType.block_x
BLOCKS, THREADS = 4, 8
GUARD = re.compile(r"if \((.*)\) \{\n\s+(?:NVF_INDEPENDENT\n\s+)?for \(threadIdx\.x")


def on_fixed_grid(tensor: TensorView) -> None:
    tensor.split(0, THREADS)
    tensor.split(0, BLOCKS)
    tensor.axis(1).parallelize(BX)
    tensor.axis(2).parallelize(TX)


def negated(schedule: Callable[[TensorView], None]) -> FusionDefinition:
    with FusionDefinition() as fd:
        out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
        fd.add_output(out)
        schedule(out)
    return fd


def guards(fd: FusionDefinition, target: str = "cpu") -> list[str]:
    """Conditions in front of loops over threads."""
    return GUARD.findall(fd.fusion.print_kernel(target=target))


def run(fd: FusionDefinition, *inputs: torch.Tensor) -> list[torch.Tensor]:
    executor = KernelExecutor()
    executor.compile(fd.fusion, inputs)
    return executor.run(inputs)


def test_blocks_that_a_fixed_grid_has_too_many_pass() -> None:
    (guard,) = guards(negated(on_fixed_grid))
    assert re.fullmatch(r"blockIdx\.x \* 8 \+ i\d+ \* 32 < i0", guard)


def test_hardware_threads_are_not_asked_twice() -> None:
    text = negated(on_fixed_grid).fusion.print_kernel(target="cuda")
    assert text.count("if (") == 1


def test_a_grid_that_fits_asks_nothing() -> None:
    def schedule(out: TensorView) -> None:
        out.split(0, THREADS)
        out.axis(0).parallelize(BX)
        out.axis(1).parallelize(TX)

    assert guards(negated(schedule)) == []


def test_a_test_that_all_threads_answer_alike_stays_inside() -> None:
    with FusionDefinition() as fd:
        out = fd.ops.neg(fd.define_tensor([-1, THREADS], contiguity=True))
        fd.add_output(out)
        out.split(0, BLOCKS)
        out.axis(1).parallelize(BX)
        out.axis(2).parallelize(TX)
    assert guards(fd) == []


def test_a_test_that_divides_by_a_size_stays_inside() -> None:
    with FusionDefinition() as fd:
        out = fd.ops.neg(fd.define_tensor([-1, -1], contiguity=True))
        fd.add_output(out)
        out.split(1, THREADS)
        out.merge(0, 1)
        out.split(0, BLOCKS)
        out.axis(1).parallelize(BX)
        out.axis(2).parallelize(TX)
    text = fd.fusion.print_kernel(target="cpu")
    assert "modulo(" in text
    assert " + threadIdx.x < i1) {" in text
    assert guards(fd) == []


def block_sums() -> FusionDefinition:
    """Threads write a register of their own, idle or not, and combine it in the block."""
    with FusionDefinition() as fd:
        out = fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), [1])
        fd.add_output(out)
        out.split(1, THREADS)
        partial = out.rfactor([1])
        for tensor in (partial, out):
            tensor.split(0, BLOCKS)
            tensor.axis(1).parallelize(BX)
            tensor.axis(-1).parallelize(TX)
        partial.inline_at(2)
    return fd


def padded() -> FusionDefinition:
    """The surroundings of a pad are written where its operand has no elements."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        out = fd.ops.pad(x, [3, 30])
        fd.add_output(out)
        on_fixed_grid(out)
    return fd


def through_shared_memory() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        tile = fd.ops.exp(x)
        out = fd.ops.neg(tile)
        fd.add_output(out)
        on_fixed_grid(out)
        on_fixed_grid(tile)
        tile.set_memory_type(MemoryType.shared)
        tile.inline_at(2)
    return fd


SIZES = [1, 7, 8, 9, 31, 32, 33, 100]


@pytest.mark.parametrize("size", SIZES)
def test_every_element_is_computed(target: str, size: int, rng: torch.Generator) -> None:
    x = torch.randn(size, generator=rng).to(target)
    torch.testing.assert_close(run(negated(on_fixed_grid), x), [-x])
    torch.testing.assert_close(run(through_shared_memory(), x), [-x.exp()])


@pytest.mark.parametrize("size", SIZES)
def test_surroundings_of_a_pad_are_written(target: str, size: int, rng: torch.Generator) -> None:
    x = torch.randn(size, generator=rng).to(target)
    torch.testing.assert_close(run(padded(), x), [torch.nn.functional.pad(x, (3, 30))])


@pytest.mark.parametrize("size", SIZES)
def test_idle_threads_of_a_reduction_count_as_identities(
    target: str, size: int, rng: torch.Generator
) -> None:
    x = torch.randn(3, size, generator=rng).to(target)
    torch.testing.assert_close(run(block_sums(), x), [x.sum(1)])


def test_what_the_first_thread_alone_reads_is_computed_by_it_alone() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        near, far = fd.ops.exp(x), fd.ops.neg(x)
        total = fd.ops.add(near, fd.ops.set(far))
        fd.add_output(total)
        fd.add_output(fd.ops.abs(x))
        fd.fusion.outputs()[1].axis(0).parallelize(TX)
        far.set_memory_type(MemoryType.shared)
        fd.sched.inline_most()
    text = fd.fusion.print_kernel(target="cpu")
    before = text[: text.index("expf(")]
    assert before.rstrip().endswith("T1[threadIdx.x] =")
    assert "if (threadIdx.x == 0)" in before
    assert "for (threadIdx.x" not in before


def test_a_tensor_in_shared_memory_is_computed_in_the_block_that_reads_it() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        tile = fd.ops.exp(x)
        fd.add_output(fd.ops.neg(tile))
        other = fd.ops.abs(x)
        fd.add_output(other)
        tile.set_memory_type(MemoryType.shared)
        other.axis(0).parallelize(BX)
        tile.inline_at(1)
    for target in ("cpu", "cuda"):
        text = fd.fusion.print_kernel(target=target)
        first = re.search(r"block(Idx\.|_)x == 0\)", text)
        assert first is not None, text
        assert first.start() < text.index("expf("), text
