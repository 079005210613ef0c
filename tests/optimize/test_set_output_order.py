"""Outputs lie in memory as the inputs that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from pass_case import after, check_pass, check_unchanged, defined

from nvfuser_direct import FusionDefinition, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView

NAME = "set_output_order"
CHANNELS_LAST = [3, 0, 2, 1]  # strides of [n, c, h, w], from the smallest on


def channels_last(fd: FusionDefinition, sizes: list[int] | None = None) -> Any:
    return fd.define_tensor(sizes or [2, 3, 4, 5], contiguity=True, stride_order=CHANNELS_LAST)


def per_channel(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.broadcast(x, [True, False, True, True])


def order_of(tensor: TensorView) -> list[int]:
    return tensor.domain().stride_order()


OPERATIONS: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "elements": lambda fd, x: fd.ops.mul(fd.ops.exp(x), 2.0),
    "channels": lambda fd, x: fd.ops.add(per_channel(fd, fd.define_tensor([3])), x),
    "a part": lambda fd, x: fd.ops.slice(x, [0, 0, 1, 0], [2, 3, 4, 5]),
    "a sum that is subtracted": lambda fd, x: fd.ops.sub(
        x, fd.ops.sum(x, [2, 3], keepdim=True)
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", OPERATIONS)
def test_channels_last_stay_last(text: str) -> None:
    def definition(fd: FusionDefinition) -> None:
        fd.add_output(OPERATIONS[text](fd, channels_last(fd)))

    (output,) = after(NAME, definition).outputs()
    assert order_of(output) == CHANNELS_LAST


def test_the_input_with_most_axes_decides_then_the_first() -> None:
    def definition(fd: FusionDefinition) -> None:
        x, y = (
            fd.define_tensor([4, 5], contiguity=True),
            fd.define_tensor([4, 5], contiguity=True, stride_order=[0, 1]),
        )
        column = fd.define_tensor([5], contiguity=True)
        fd.add_output(fd.ops.add(x, y))
        fd.add_output(fd.ops.add(y, x))
        fd.add_output(fd.ops.add(fd.ops.broadcast(column, [True, False]), y))

    outputs = after(NAME, definition).outputs()
    assert [order_of(output) for output in outputs] == [[], [], [0, 1]]


def test_new_axes_are_outside() -> None:
    def definition(fd: FusionDefinition) -> None:
        x = fd.define_tensor([4, 5], contiguity=True, stride_order=[0, 1])
        fd.add_output(fd.ops.exp(fd.ops.expand(fd.ops.unsqueeze(x, 2), [-1, -1, 3])))

    (output,) = after(NAME, definition).outputs()
    assert order_of(output) == [0, 1, 2]


STAY: dict[str, Callable[[FusionDefinition, Any], Any]] = {
    "an order that was asked for": lambda fd, x: fd.ops.stride_order(x, [3, 2, 1, 0]),
    "a permutation": lambda fd, x: fd.ops.permute(x, [0, 2, 3, 1]),
    "a reshape": lambda fd, x: fd.ops.exp(fd.ops.reshape(x, [2, 3, 20])),
    "what is behind it": lambda fd, x: fd.ops.exp(fd.ops.permute(x, [0, 2, 3, 1])),
    "parts of numbers": lambda fd, x: fd.ops.view_as_real(fd.ops.complex(x, x)),
    "a matrix product": lambda fd, x: fd.ops.matmul(x, fd.ops.permute(x, [0, 1, 3, 2])),
    "one axis": lambda fd, x: fd.ops.sum(x, [0, 1, 2]),
}


@pytest.mark.parametrize("text", STAY)
def test_other_outputs_lie_as_they_did(text: str) -> None:
    def definition(fd: FusionDefinition) -> None:
        fd.add_output(STAY[text](fd, channels_last(fd)))

    check_unchanged(NAME, definition)


def test_updates_lie_as_what_they_overwrite() -> None:
    def definition(fd: FusionDefinition) -> None:
        x, y = channels_last(fd), fd.define_tensor([2, 3, 4, 5], contiguity=True)
        fd.add_output(fd.ops.add(x, y), y)

    check_unchanged(NAME, definition)


def test_an_order_is_asked_for_once() -> None:
    def before(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(channels_last(fd)))

    def expected(fd: FusionDefinition) -> None:
        y = fd.ops.exp(channels_last(fd))
        axes = y.domain().logical()
        y.set_allocation_domain([axes[i] for i in (0, 2, 3, 1)], True)
        fd.add_output(y)

    check_pass(NAME, before, expected)


def test_results_have_the_strides_of_pytorch(rng: torch.Generator) -> None:
    x = torch.randn(2, 3, 4, 5, generator=rng).to(memory_format=torch.channels_last)
    scale = torch.randn(3, generator=rng)

    def definition(fd: FusionDefinition) -> None:
        t = fd.ops.mul(fd.from_pytorch(x), per_channel(fd, fd.from_pytorch(scale)))
        fd.add_output(fd.ops.relu(t))

    fusion = defined(definition).optimize(verify=True)
    expected = (x * scale[None, :, None, None]).relu()
    [result] = evaluate(fusion, [x, scale])
    assert torch.equal(result, expected)
    assert result.stride() == expected.stride()
