"""Axes that were merged and lie in memory as one are indexed as one, without a division."""

from __future__ import annotations

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType

BX, TX, TY = (
    ParallelType.grid_x, ParallelType.block_x, ParallelType.block_y,
)  # fmt: skip


def column_sums(sizes: list[int], *, is_symbolic: bool = False) -> FusionDefinition:
    """Over all axes but the last; [R / (19 * 8), 19 (grid), 8 (threads), C / 8, 8]."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(sizes) if is_symbolic else sizes, contiguity=True)
        loaded = fd.ops.set(x)
        total = fd.ops.sum(loaded, list(range(len(sizes) - 1)))
        fd.add_output(total)
        for _ in range(len(sizes) - 2):
            total.merge(0)
        total.split(1, 8)
        total.split(0, 8)
        total.split(0, 19)
        partial = total.rfactor([0])
        fd.sched.transform_like(partial)
        for axis, kind in ((1, BX), (2, TY), (3, TX)):
            partial.axis(axis).parallelize(kind)
        fd.sched.parallelize_like(partial)
        fd.sched.inline_most()
    return fd


SIZES = ([256, 112, 112, 64], [3, 6, 10, 16], [50, 48, 8], [4, 12, 20, 7, 24])


@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_an_address_takes_no_division(sizes: list[int], is_symbolic: bool) -> None:
    """Also where sizes are constants that have divisors in common with the splits."""
    text = cuda_text(column_sums(sizes, is_symbolic=is_symbolic).fusion)
    statements = [line.partition("//")[0] for line in text.partition("{\n")[2].splitlines()]
    assert any("T0[" in line for line in statements)
    assert [line for line in statements if " / " in line or "%" in line] == []


@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize("sizes", SIZES[1:], ids=str)
def test_it_is_the_address_of_the_element(
    sizes: list[int], is_symbolic: bool, target: str, rng: torch.Generator
) -> None:
    x = torch.randint(-9, 9, sizes, generator=rng).float().to(target)
    executor = KernelExecutor()
    executor.compile(column_sums(sizes, is_symbolic=is_symbolic).fusion, [x])
    assert torch.equal(executor.run([x])[0], x.flatten(0, -2).sum(0))


@pytest.mark.parametrize("order", [(0, 2, 1), (2, 1, 0), (1, 0, 2)], ids=str)
def test_axes_that_lie_apart_are_indexed_apart(
    order: tuple[int, ...], target: str, rng: torch.Generator
) -> None:
    """The merged axes are neighbours in the definition, but not in the memory of the input."""
    x = torch.randint(-9, 9, (12, 20, 16), generator=rng).float().permute(order)
    with FusionDefinition() as fd:
        t = fd.define_tensor(list(x.shape), list(x.stride()))
        out = fd.ops.neg(t)
        fd.add_output(out)
        out.merge(0)
        out.merge(0)
        out.split(0, 96)
        out.axis(0).parallelize(BX)
        out.axis(1).parallelize(TX)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x.to(target)])
    assert torch.equal(executor.run([x.to(target)])[0].cpu(), -x)
