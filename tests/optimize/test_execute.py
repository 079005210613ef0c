"""Fusions that have a kernel once passes have seen them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser_direct import DataType, FusionDefinition

if TYPE_CHECKING:
    from collections.abc import Callable


def symmetric(fd: FusionDefinition) -> Callable[[torch.Tensor], torch.Tensor]:
    x = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.add(x, fd.ops.permute(x, [1, 0])))
    return lambda x: x + x.T


def outer(fd: FusionDefinition) -> Callable[[torch.Tensor], torch.Tensor]:
    x = fd.ops.exp(fd.define_tensor([-1, 8], contiguity=True))
    product = fd.ops.mul(fd.ops.unsqueeze(x, 0), fd.ops.unsqueeze(x, 1))
    fd.add_output(fd.ops.sum(product, [2]))
    return lambda x: x.exp() @ x.exp().T


def causal_softmax(fd: FusionDefinition) -> Callable[[torch.Tensor], torch.Tensor]:
    x = fd.define_tensor([16, 16], contiguity=True)
    positions = fd.ops.iota(16, 0, 1, DataType.Int)
    is_seen = fd.ops.ge(fd.ops.unsqueeze(positions, 1), fd.ops.unsqueeze(positions, 0))
    fd.add_output(fd.ops.softmax(fd.ops.where(is_seen, x, float("-inf")), 1))
    mask = torch.ones(16, 16).triu(1).bool()
    return lambda x: x.masked_fill(mask.to(x.device), float("-inf")).softmax(1)


CASES = {"x + x.T": (symmetric, [16, 16]), "outer": (outer, [16, 8]),
         "causal softmax": (causal_softmax, [16, 16])}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_what_meets_itself_is_one_kernel(name: str, target: str, rng: torch.Generator) -> None:
    define, shape = CASES[name]
    with FusionDefinition() as fd:
        reference = define(fd)
    for _ in range(2):  # the second run finds the kernel
        x = torch.randn(shape, generator=rng).to(target)
        [result] = fd.execute([x])
        torch.testing.assert_close(result.double(), reference(x.double()), rtol=1e-5, atol=1e-5)
        assert fd.fec.get_most_recent_scheduled_ir(), "a kernel ran"
    assert fd.fec.is_compiled([x])


def test_arguments_of_lists_are_found_for_repeated_inputs(target: str) -> None:
    with FusionDefinition() as fd:
        sizes: Any = fd.define_vector(2)
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(fd.ops.add(x, fd.ops.permute(x, [1, 0])), sizes[1]))
    x = torch.randn(5, 5, device=target)
    [result] = fd.execute([[2, 3], x])
    torch.testing.assert_close(result, x + x.T + 3)
    assert fd.fec.get_most_recent_scheduled_ir()


def test_what_has_no_kernel_either_is_evaluated(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 4], contiguity=True)
        fd.add_output(fd.ops.matmul(x, fd.ops.permute(x, [1, 0])))
    x = torch.randn(4, 4, device=target)
    torch.testing.assert_close(fd.execute([x])[0], x @ x.T, rtol=1e-3, atol=1e-3)
    assert not fd.fec.get_most_recent_scheduled_ir()
