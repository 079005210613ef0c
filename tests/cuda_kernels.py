"""CUDA kernels in tests of every folder: their text, which NVRTC compiles without a GPU."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from nvfuser_direct import CompileParams, KernelExecutor, doctor_report

if TYPE_CHECKING:
    from nvfuser_direct import Fusion


@functools.cache
def has_nvrtc() -> bool:
    """Whether CUDA source can be compiled here."""
    return any(
        line.topic == "NVRTC" and not line.finding.startswith("none") for line in doctor_report()
    )


def cuda_text(fusion: Fusion) -> str:
    """The CUDA kernel of a scheduled fusion, which NVRTC has compiled where there is one."""
    if has_nvrtc():
        KernelExecutor().compile(fusion, [], compile_params=CompileParams(device="cuda:0"))
    return fusion.print_kernel(target="cuda")
