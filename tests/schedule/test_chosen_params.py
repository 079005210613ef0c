"""What schedulers choose for the cases of the suite, whose speed was measured on a GPU. It needs
none: inputs are not touched, and their sizes are those of the suite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import FusionDefinition, SchedulerType, schedule

if TYPE_CHECKING:
    from nvfuser_direct import HeuristicParams

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import cases


def chosen(case: cases.Case, monkeypatch: pytest.MonkeyPatch) -> HeuristicParams:
    """By the first scheduler that makes a kernel, for a GPU; memory of inputs is only reserved."""
    monkeypatch.setattr(torch, "randn", torch.empty)
    inputs = case.inputs("cpu")
    fd = FusionDefinition()
    with fd:
        case.define(fd)
    without_kernel = (SchedulerType.expr_eval, SchedulerType.no_op)
    found = schedule.find_compatible_schedulers(fd.fusion, inputs, "cuda")
    (first, *_) = [scheduler for scheduler in found if scheduler not in without_kernel]
    return schedule.compute_heuristics(fd.fusion, first, inputs, "cuda")


def described(params: HeuristicParams) -> dict[str, object]:
    names = {
        SchedulerType.pointwise: (
            "break_point", "vectorization_factor", "unroll_factor_outer", "unroll_factor_inner",
        ),
        SchedulerType.transpose: ("tile_size1", "tile_size2", "vectorize_factor1"),
    }[params.scheduler_type]  # fmt: skip
    block = (params.lparams.bdimx, params.lparams.bdimy)
    return {name: getattr(params, name) for name in names} | {"block": block}


def of_map(
    lanes: int, block: tuple[int, int], inner: int = 1, outer: int = 1, break_point: int = 0
) -> dict[str, object]:
    return {
        "break_point": break_point,
        "vectorization_factor": lanes,
        "unroll_factor_outer": outer,
        "unroll_factor_inner": inner,
        "block": block,
    }


def of_tile(edge: int, lanes: int, threads: int) -> dict[str, object]:
    return {
        "tile_size1": edge,
        "tile_size2": edge,
        "vectorize_factor1": lanes,
        "block": (threads, 1),
    }


CHOICES = {
    "pointwise_fma_f32": of_map(4, (128, 1), inner=2),
    "bias_gelu_bf16": of_map(8, (128, 1), outer=2, break_point=1),
    "silu_mul_bf16": of_map(8, (128, 1), inner=2),
    "scale_bias_relu_nhwc_bf16": of_map(8, (8, 16), outer=4, break_point=3),
    "transpose_add_bf16": of_tile(128, 8, 512),
    "transpose_f32": of_tile(64, 4, 512),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choices_for_the_suite(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = [case for case in cases.cuda_cases() if case.name == name]
    assert described(chosen(case, monkeypatch)) == CHOICES[name]
