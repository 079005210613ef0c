"""The suite's CUDA cases where there is no GPU: inputs have the sizes of the suite, and no memory
that anything touches."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from nvfuser_direct import FusionDefinition, concretize, find_concretization

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import cases
import suite
from cases.reserved import OnlyReserved

if TYPE_CHECKING:
    import torch

    from nvfuser_direct import Fusion

__all__ = ["SPILLED_BYTES", "OnlyReserved", "cases", "optimized"]

# Bytes that a thread spills, for a few instructions once for a row, where it keeps 64 elements in
# 64 registers.
SPILLED_BYTES = {"softmax_fwd_bf16_4096x32768": 4, "softmax_fwd_bf16_1024x262144": 8}


def optimized(
    name: str, *, target: str = "cuda", stores_views: bool = False
) -> tuple[Fusion, list[torch.Tensor]]:
    """The fusion of a case as ``fd.execute`` schedules it, and what it takes."""
    of_target = cases.cuda_cases() if target == "cuda" else cases.cpu_cases()
    (case,) = [case for case in of_target if case.name == name]
    with OnlyReserved():
        inputs = case.inputs("cpu")
    fd = FusionDefinition()
    with fd:
        case.define(fd)
    fusion = concretize(fd.fusion, find_concretization(fd.fusion, inputs)).optimize()
    if stores_views:
        suite.store_views(fusion)
    return fusion, [inputs[i] for i in fusion.arguments()]
