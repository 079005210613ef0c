"""Fusions and programs that tests of host programs are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

import nvfuser_direct as nvf
from nvfuser_direct import FusionDefinition
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
