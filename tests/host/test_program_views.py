"""Views in host programs: tensors in the memory of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from programs import fusion_of, kernel_of, matmul, matrix, permute, rand, unary

from nvfuser_direct import FusionDefinition
from nvfuser_direct.host import HostProgram

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_view_between_kernels_moves_nothing(target: str, rng: torch.Generator) -> None:
    def strided(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.exp(fd.define_tensor([-1, -1], contiguity=False)))

    program = HostProgram()
    a = program.add_input()
    (b,) = program.launch(kernel_of(unary("sin")), [a])
    (c,) = program.view(fusion_of(permute), [b])
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
    program.add_output(program.view(fusion_of(permute), [base])[0])
    program.add_output(base)
    x = rand(target, rng, 4, 6)
    turned, whole = program.run([x])
    assert turned.data_ptr() == whole.data_ptr()
    torch.testing.assert_close(turned, x.t() if is_argument else torch.sin(x).t())
    assert (whole is x) == is_argument


def test_a_view_outlives_its_argument(target: str, rng: torch.Generator) -> None:
    program = HostProgram()
    program.add_output(program.view(fusion_of(permute), [program.add_input()])[0])
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
    program.add_output(program.view(fusion_of(define), [slot])[0])
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
    program.add_output(program.view(fusion_of(flatten), [program.add_input()])[0])
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
    program.add_output(program.view(fusion, slots)[0])
    with pytest.raises(RuntimeError, match="This is no view"):
        program.run([torch.randn(4, 4, generator=rng) for _ in slots])
