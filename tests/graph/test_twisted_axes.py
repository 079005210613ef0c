"""A tensor that meets a reshape of itself with axes in other places: their numbers differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import FusionDefinition, KernelExecutor, schedule

if TYPE_CHECKING:
    from collections.abc import Callable


def defined(build: Callable, shape: list[int], *, is_symbolic: bool = False) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1] * len(shape) if is_symbolic else shape, contiguity=True)
        fd.add_output(build(fd.ops, fd.ops.exp(x)))
    return fd


def transposed(ops, x):
    return ops.sub(x, ops.permute(ops.reshape(x, [8, 12]), [1, 0]))


def two_of_three(ops, x):
    return ops.sub(x, ops.permute(ops.reshape(x, [5, 2, 4]), [1, 0, 2]))


def turned(ops, x):
    return ops.sub(x, ops.permute(ops.reshape(x, [4, 2, 5]), [1, 2, 0]))


def through_a_vector(ops, x):
    flat = ops.neg(ops.reshape(x, [96]))
    return ops.sub(x, ops.permute(ops.reshape(flat, [8, 12]), [1, 0]))


def of_rows(ops, x):
    """The rows are [3, 4] in one term, and [4, 3] in the other."""
    left = ops.reshape(x, [8, 3, 4])
    return ops.sub(left, ops.permute(ops.reshape(x, [8, 4, 3]), [0, 2, 1]))


def in_both_orders(ops, x):
    return ops.sub(ops.reshape(x, [96]), ops.reshape(ops.permute(x, [1, 0]), [96]))


TWISTED = {
    "transposed": (transposed, [12, 8], lambda x: x - x.reshape(8, 12).t()),
    "two of three": (two_of_three, [2, 5, 4], lambda x: x - x.reshape(5, 2, 4).permute(1, 0, 2)),
    "turned": (turned, [2, 5, 4], lambda x: x - x.reshape(4, 2, 5).permute(1, 2, 0)),
    "through a vector": (through_a_vector, [12, 8], lambda x: x + x.reshape(8, 12).t()),
    "in both orders": (in_both_orders, [12, 8], lambda x: x.reshape(96) - x.t().reshape(96)),
    "of rows": (
        of_rows,
        [8, 12],
        lambda x: x.reshape(8, 3, 4) - x.reshape(8, 4, 3).permute(0, 2, 1),
    ),
}


@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize("kind", TWISTED)
def test_it_is_evaluated(target: str, kind: str, is_symbolic: bool) -> None:
    build, shape, reference = TWISTED[kind]
    x = torch.randn(shape)
    (own,) = defined(build, shape, is_symbolic=is_symbolic).execute([x.to(target)])
    torch.testing.assert_close(own.cpu(), reference(x.exp()))


@pytest.mark.parametrize("kind", TWISTED)
def test_no_schedule_of_one_kernel_takes_it(kind: str) -> None:
    build, shape, _ = TWISTED[kind]
    with pytest.raises(NotImplementedError, match="together with its own reshape") as error:
        schedule.trivial(defined(build, shape).fusion)
    assert "two different parts of" in str(error.value)
    with pytest.raises(RuntimeError, match="An axis follows in two ways") as error:
        defined(build, shape).fusion.lower()
    assert "pass it as two inputs" in str(error.value)


def test_two_inputs_are_the_way_out(target: str) -> None:
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor([12, 8], contiguity=True) for _ in range(2))
        reshaped = fd.ops.reshape(fd.ops.exp(y), [8, 12])
        fd.add_output(fd.ops.sub(x, fd.ops.permute(reshaped, [1, 0])))
    x = torch.randn(12, 8, device=target)
    executor = KernelExecutor()
    executor.compile(fd.fusion, [x, x])
    expected = x - x.exp().reshape(8, 12).t()
    torch.testing.assert_close(executor.run([x, x]), [expected])


def and_back(*ways):
    def build(ops, x):
        y = x
        for shape in (*ways, [2, 3, 4]):
            y = ops.reshape(ops.neg(y), shape)
        return ops.sub(x, y)

    return build


STRAIGHT = [
    and_back([24]), and_back([6, 4]), and_back([2, 12]), and_back([2, 12], [24], [6, 4]),
    and_back([4, 6]), and_back([3, 8], [4, 6], [8, 3]),
]  # fmt: skip


@pytest.mark.parametrize("is_symbolic", [False, True])
@pytest.mark.parametrize("number", range(len(STRAIGHT)))
def test_what_comes_back_to_its_place_is_no_twist(
    target: str, number: int, is_symbolic: bool
) -> None:
    fd = defined(STRAIGHT[number], [2, 3, 4], is_symbolic=is_symbolic)
    x = torch.randn(2, 3, 4, device=target)
    (own,) = fd.execute([x])
    assert fd.fec.get_most_recent_scheduled_ir()  # by a kernel
    reshapes = sum("reshape" in str(expr) for expr in fd.fusion.exprs())
    torch.testing.assert_close(own, (1 - (-1) ** reshapes) * x.exp())
