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


OF_SUMS = (
    "unroll_factor_inner_reduction", "unroll_factor_top_of_vectorization",
    "unroll_factor_iter_dom", "blocks_per_reduction",
)  # fmt: skip
OF_ROWS = ("unroll_factor_inner_reduction", "batches_per_block_inner_reduction")
OF_TURNS = ("blocks_per_reduction", "circular_buffer_stages", "unroll_factor_outer_reduction")


def described(params: HeuristicParams) -> dict[str, object]:
    names = {
        SchedulerType.pointwise: (
            "break_point", "vectorization_factor", "unroll_factor_outer", "unroll_factor_inner",
        ),
        SchedulerType.transpose: ("tile_size1", "tile_size2", "vectorize_factor1"),
        SchedulerType.reduction: OF_SUMS,
        SchedulerType.inner_persistent: OF_ROWS,
        SchedulerType.inner_outer_persistent: (*OF_ROWS, *OF_TURNS),
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


def of_inner_sum(lanes: int, unroll: int, threads: int, blocks: int = 1) -> dict[str, object]:
    return dict(zip(OF_SUMS, (lanes, unroll, 1, blocks), strict=True)) | {"block": (threads, 1)}


def of_outer_sum(lanes: int, unroll: int, block: tuple[int, int], blocks: int) -> dict[str, object]:
    return dict(zip(OF_SUMS, (unroll, 1, lanes, blocks), strict=True)) | {"block": block}


def of_row(lanes: int, batches: int, threads: int, rows: int = 1) -> dict[str, object]:
    return dict(zip(OF_ROWS, (lanes, batches), strict=True)) | {"block": (threads, rows)}


def of_backward(lanes: int, batches: int, warps: int, blocks: int) -> dict[str, object]:
    return of_row(lanes, batches, 32, warps) | dict(zip(OF_TURNS, (blocks, 2, 11), strict=True))


CHOICES = {
    "pointwise_fma_f32": of_map(4, (128, 1), inner=2),
    "bias_gelu_bf16": of_map(8, (128, 1), outer=4, break_point=1),
    "silu_mul_bf16": of_map(8, (128, 1), inner=2),
    "scale_bias_relu_nhwc_bf16": of_map(8, (8, 16), outer=4, break_point=3),
    "transpose_add_bf16": of_tile(128, 8, 512),
    "transpose_f32": of_tile(64, 4, 512),
    "sum_inner_f32": of_inner_sum(4, 8, 256),
    "sum_all_f32": of_inner_sum(4, 8, 256, 1056),
    "sum_outer_f32": of_outer_sum(4, 8, (32, 8), 4),
    "sum_outer_bf16_skinny": of_outer_sum(8, 8, (32, 8), 264),
    "rmsnorm_fwd_bf16_32768x4096": of_row(8, 4, 128),
    "rmsnorm_fwd_bf16_8192x16384": of_row(8, 4, 512),
    "rmsnorm_fwd_bf16_2048x65536": of_row(8, 8, 1024),
    "softmax_fwd_bf16_1024x262144": of_row(8, 1, 1024),
    "layernorm_fwd_bf16_32768x4096": of_row(8, 4, 128),
    "layernorm_fwd_bf16_32768x768": of_row(8, 3, 32, 4),
    "layernorm_fwd_bf16_8192x16384": of_row(8, 8, 256),
    "softmax_fwd_bf16_32768x4096": of_row(8, 4, 128),
    "softmax_fwd_bf16_4096x32768": of_row(8, 8, 512),
    "softmax_bwd_bf16_16384x4096": of_row(8, 2, 256),
    "add_layernorm_bf16_16384x4096": of_row(8, 2, 256),
    "dropout_add_layernorm_bf16_16384x4096": of_row(8, 2, 256),
    "layernorm_bwd_bf16_16384x4096": of_backward(8, 2, 8, 264),
    "rmsnorm_bwd_bf16_16384x4096": of_backward(8, 2, 8, 264),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choices_for_the_suite(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (case,) = [case for case in cases.cuda_cases() if case.name == name]
    assert described(chosen(case, monkeypatch)) == CHOICES[name]


# -- the model: what of a multiprocessor is in use --

SMS, REGISTERS, THREADS = 132, 64 * 1024, 2048
OTHER_REGISTERS = 32  # for everything but what a thread keeps


@pytest.mark.parametrize(
    ("name", "streams", "kept"),
    [
        ("rmsnorm_fwd_bf16_32768x4096", 1, 1),
        ("rmsnorm_fwd_bf16_8192x16384", 1, 1),
        ("layernorm_fwd_bf16_32768x768", 1, 1),
        ("softmax_fwd_bf16_32768x4096", 1, 1),
        ("softmax_fwd_bf16_4096x32768", 1, 1),
        ("softmax_bwd_bf16_16384x4096", 2, 2),
        ("add_layernorm_bf16_16384x4096", 2, 1),
    ],
)
def test_rows_have_enough_loads_in_flight(
    name: str, streams: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All loads of a row stand before its first use. `kept`: floats for each of its elements."""
    (case,) = [case for case in cases.cuda_cases() if case.name == name]
    params = chosen(case, monkeypatch)
    threads = params.lparams.bdimx * params.lparams.bdimy
    elements = params.batches_per_block_inner_reduction * params.unroll_factor_inner_reduction
    registers = min(OTHER_REGISTERS + kept * elements, REGISTERS // threads)
    blocks = min(THREADS // threads, REGISTERS // (registers * threads))
    kilobytes = blocks * threads * streams * elements * 2 / 1024
    waves = params.lparams.gdimx / (blocks * SMS)
    assert registers >= kept * elements + 24, f"{registers} registers"
    assert kilobytes >= 40, f"{kilobytes} KB in flight on a multiprocessor"
    assert waves >= 6, f"{waves} waves"
