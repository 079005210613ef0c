"""Kernels of the CPU target that check themselves, changed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import DataType, KernelExecutor, _core

if TYPE_CHECKING:
    from pathlib import Path

    from nvfuser_direct import FusionDefinition

TORCH = {
    DataType.Float: torch.float32,
    DataType.BFloat16: torch.bfloat16,
    DataType.Int32: torch.int32,
}


def debugged(function):
    return _core.call_with_options(function, ["kernel_debug"], [])


def inputs_of(fd: FusionDefinition) -> list[torch.Tensor]:
    """Random tensors; axes of unknown size have 32 positions."""
    inputs = []
    for tensor in fd.fusion.inputs():
        extents = [axis.extent() for axis in tensor.get_logical_domain()]
        shape = [extent.value() if extent.is_const() else 32 for extent in extents]
        inputs.append((8 * torch.randn(shape)).to(TORCH[tensor.dtype()]))
    return inputs


def source_with_checks(fd: FusionDefinition) -> str:
    executor = KernelExecutor()
    debugged(lambda: executor.compile(fd.fusion, inputs_of(fd)))
    return executor.kernel_source()


def races_of(fd: FusionDefinition, source: str, tmp_path: Path) -> str:
    """The races that a run of the fusion with this kernel finds; empty: none."""
    file = tmp_path / "kernel.cpp"
    file.write_text(source)
    executor = KernelExecutor()
    inputs = inputs_of(fd)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NVFUSER_EXTERNAL_SRC", str(file))
        executor.compile(fd.fusion, inputs)
        try:
            executor.run(inputs)
        except RuntimeError as error:
            return str(error)
    return ""
