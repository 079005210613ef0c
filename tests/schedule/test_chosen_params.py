"""The params that schedulers choose for the cases of the suite, whose speed was measured on a GPU.
It needs none: inputs are not touched, and their sizes are those of the suite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from cuda_kernels import has_nvrtc
from suite_kernels import SPILLED_BYTES, cases, optimized

from nvfuser_direct import (
    CompileParams,
    DataType,
    KernelExecutor,
    SchedulerType,
    schedule,
    segment,
)

if TYPE_CHECKING:
    from nvfuser_direct import CostEstimate, Fusion, HeuristicParams


def chosen(name: str) -> HeuristicParams:
    """By the first scheduler that makes one kernel, for a GPU."""
    fusion, inputs = optimized(name)
    without_kernel = (SchedulerType.expr_eval, SchedulerType.no_op)
    found = schedule.find_compatible_schedulers(fusion, inputs, "cuda")
    (first, *_) = [scheduler for scheduler in found if scheduler not in without_kernel]
    return schedule.compute_heuristics(fusion, first, inputs, "cuda")


# -- pieces --

ROWS, SUMS, MAP = "inner_persistent", "reduction", "pointwise"
PIECES = {
    "bias_gelu_bf16": [MAP],
    "silu_mul_bf16": [MAP],
    "pointwise_fma_f32": [MAP],
    "scale_bias_relu_nhwc_bf16": [MAP],
    "rmsnorm_fwd_bf16_32768x4096": [ROWS],
    "rmsnorm_fwd_bf16_8192x16384": [ROWS],
    "rmsnorm_fwd_bf16_2048x65536": [ROWS],
    "layernorm_fwd_bf16_32768x4096": [ROWS],
    "layernorm_fwd_bf16_32768x768": [ROWS],
    "layernorm_fwd_bf16_8192x16384": [ROWS],
    "layernorm_bwd_bf16_16384x4096": ["inner_outer_persistent"],
    "rmsnorm_bwd_bf16_16384x4096": ["inner_outer_persistent"],
    "softmax_fwd_bf16_32768x4096": [ROWS],
    "softmax_fwd_bf16_4096x32768": [ROWS],
    "softmax_fwd_bf16_1024x262144": [ROWS],
    "softmax_bwd_bf16_16384x4096": [ROWS],
    "add_layernorm_bf16_16384x4096": [ROWS],
    "dropout_add_layernorm_bf16_16384x4096": [ROWS],
    "cross_entropy_fwd_bf16_8192x128256": [ROWS, SUMS],
    "batchnorm_train_nchw_bf16": [ROWS],
    "batchnorm_train_nhwc_bf16": [SUMS, MAP],
    "groupnorm_fwd_bf16": [ROWS, "expr_eval"],  # and a view
    "transpose_add_bf16": ["transpose"],
    "transpose_f32": ["expr_eval"],  # a view
    "sum_inner_f32": [SUMS],
    "sum_outer_f32": [SUMS],
    "sum_all_f32": [SUMS],
    "sum_outer_bf16_skinny": [SUMS],
    "rope_bf16": ["resize"],
    "cat_slice_pad_bf16": ["resize"],
    "matmul_bias_gelu_bf16_8192": ["expr_eval", MAP],
    "matmul_bf16_8192": ["expr_eval"],
}


def test_every_case_is_here() -> None:
    assert set(PIECES) == {case.name for case in cases.cuda_cases()}


@pytest.mark.parametrize("name", PIECES)
def test_schedulers_of_the_suite(name: str) -> None:
    groups = segment(*optimized(name), "cuda").groups
    assert [group.scheduler.name for group in groups] == PIECES[name]


# -- params --

OF_SUMS = (
    "unroll_factor_inner_reduction", "unroll_factor_top_of_vectorization",
    "unroll_factor_iter_dom", "blocks_per_reduction",
)  # fmt: skip
OF_ROWS = (
    "unroll_factor_inner_reduction", "batches_per_block_inner_reduction",
    "project_persistent_buffers",
)  # fmt: skip
OF_TURNS = ("blocks_per_reduction", "circular_buffer_stages", "unroll_factor_outer_reduction")


def described(params: HeuristicParams) -> dict[str, object]:
    of_maps = (
        "break_point", "vectorization_factor", "unroll_factor_outer", "unroll_factor_inner",
    )  # fmt: skip
    names = {
        SchedulerType.pointwise: of_maps,
        SchedulerType.resize: of_maps,
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


def of_row(
    lanes: int, batches: int, threads: int, rows: int = 1, *, stored: bool = False
) -> dict[str, object]:
    """`stored`: inputs are what is kept, or read again, instead of what is computed from them."""
    return dict(zip(OF_ROWS, (lanes, batches, stored), strict=True)) | {"block": (threads, rows)}


def of_backward(lanes: int, batches: int, warps: int, blocks: int) -> dict[str, object]:
    return of_row(lanes, batches, 32, warps, stored=True) | dict(
        zip(OF_TURNS, (blocks, 2, 11), strict=True)
    )


CHOICES = {
    "pointwise_fma_f32": of_map(4, (128, 1), inner=2),
    "bias_gelu_bf16": of_map(8, (128, 1), outer=4, break_point=1),
    "silu_mul_bf16": of_map(8, (128, 1), inner=2),
    "scale_bias_relu_nhwc_bf16": of_map(8, (8, 16), outer=4, break_point=3),
    "rope_bf16": of_map(8, (128, 1), break_point=2),
    "cat_slice_pad_bf16": of_map(8, (128, 1), inner=2),
    "transpose_add_bf16": of_tile(128, 8, 512),
    "transpose_f32": of_tile(64, 4, 512),
    "sum_inner_f32": of_inner_sum(4, 8, 256),
    "sum_all_f32": of_inner_sum(4, 8, 256, 660),
    "sum_outer_f32": of_outer_sum(4, 8, (32, 8), 4),
    "sum_outer_bf16_skinny": of_outer_sum(8, 8, (32, 8), 264),
    "rmsnorm_fwd_bf16_32768x4096": of_row(8, 4, 128),
    "rmsnorm_fwd_bf16_8192x16384": of_row(8, 4, 512),
    "rmsnorm_fwd_bf16_2048x65536": of_row(8, 8, 1024, stored=True),
    "softmax_fwd_bf16_1024x262144": of_row(8, 8, 512, stored=True),  # of a cluster
    "layernorm_fwd_bf16_32768x4096": of_row(8, 4, 128),
    "layernorm_fwd_bf16_32768x768": of_row(8, 3, 32, 4),
    "layernorm_fwd_bf16_8192x16384": of_row(8, 8, 256, stored=True),
    "softmax_fwd_bf16_32768x4096": of_row(8, 4, 128),
    "softmax_fwd_bf16_4096x32768": of_row(8, 8, 512, stored=True),
    "softmax_bwd_bf16_16384x4096": of_row(8, 2, 256),
    "add_layernorm_bf16_16384x4096": of_row(8, 2, 256),
    "dropout_add_layernorm_bf16_16384x4096": of_row(8, 4, 128),
    "batchnorm_train_nchw_bf16": of_row(8, 14, 224, stored=True),  # of the grid
    "layernorm_bwd_bf16_16384x4096": of_backward(8, 2, 8, 264),
    "rmsnorm_bwd_bf16_16384x4096": of_backward(8, 2, 8, 264),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choices_for_the_suite(name: str) -> None:
    assert described(chosen(name)) == CHOICES[name]


#: Of fusions that are cut: by the number of the segment.
CHOICES_OF_SEGMENTS = {
    ("batchnorm_train_nhwc_bf16", 0): of_outer_sum(8, 8, (8, 32), 264),
    ("batchnorm_train_nhwc_bf16", 1): of_map(8, (8, 16), outer=4, break_point=3),
    ("cross_entropy_fwd_bf16_8192x128256", 0): of_row(8, 16, 512),
    ("cross_entropy_fwd_bf16_8192x128256", 1): of_inner_sum(4, 8, 256),
    ("groupnorm_fwd_bf16", 0): of_row(8, 10, 512, stored=True),
    ("matmul_bias_gelu_bf16_8192", 1): of_map(8, (128, 1), outer=4, break_point=1),
}


@pytest.mark.parametrize(("name", "number"), CHOICES_OF_SEGMENTS)
def test_choices_for_segments_of_the_suite(name: str, number: int) -> None:
    group = segment(*optimized(name), "cuda").groups[number]
    assert described(group.params) == CHOICES_OF_SEGMENTS[name, number]


def test_every_kernel_of_the_suite_has_its_choices() -> None:
    kernels = {
        (name, number)
        for name, schedulers in PIECES.items()
        for number, scheduler in enumerate(schedulers)
        if scheduler != "expr_eval"
    }
    of_one_kernel = {(name, 0) for name in CHOICES if name != "transpose_f32"}  # a view by itself
    assert of_one_kernel | set(CHOICES_OF_SEGMENTS) == kernels


# -- the model: what of a multiprocessor is in use --

SMS, REGISTERS, THREADS = 132, 64 * 1024, 2048


def figures(params: HeuristicParams, streams: int, kept: float, vectors: int) -> tuple[int, ...]:
    """Registers of a thread, rows and kilobytes of loads on a multiprocessor, and full waves.

    All loads of a row stand before its first use. `streams`: inputs of its size; `kept`: registers
    for each element; `vectors`: tensors that the last pass reads or writes beside what is kept.
    """
    threads = params.lparams.bdimx * params.lparams.bdimy
    elements = params.batches_per_block_inner_reduction * params.unroll_factor_inner_reduction
    needed = 24 + 4 * vectors + int(kept * elements)
    registers = min(-(-needed // 8) * 8, params.cparams.maxrregcount)
    blocks = min(THREADS // threads, REGISTERS // (registers * threads))
    kilobytes = blocks * threads * streams * elements * 2 // 1024
    waves = params.lparams.gdimx * params.lparams.gdimy // (blocks * SMS)
    return registers, blocks * params.lparams.bdimy, kilobytes, waves


#: Streams, registers kept for each element, and vectors beside what is kept.
ROWS_OF = {
    "rmsnorm_fwd_bf16_32768x4096": (1, 1, 2),
    "rmsnorm_fwd_bf16_8192x16384": (1, 1, 2),
    "rmsnorm_fwd_bf16_2048x65536": (1, 0.5, 2),
    "layernorm_fwd_bf16_32768x4096": (1, 1, 3),
    "layernorm_fwd_bf16_32768x768": (1, 1, 3),
    "layernorm_fwd_bf16_8192x16384": (1, 0.5, 3),
    "softmax_fwd_bf16_32768x4096": (1, 1, 1),
    "softmax_fwd_bf16_4096x32768": (1, 0.5, 1),
    "softmax_fwd_bf16_1024x262144": (1, 0.5, 1),
    "softmax_bwd_bf16_16384x4096": (2, 2, 1),
    "add_layernorm_bf16_16384x4096": (2, 1, 4),
    "dropout_add_layernorm_bf16_16384x4096": (2, 1, 3),
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rmsnorm_fwd_bf16_32768x4096", (64, 8, 64, 31)),
        ("rmsnorm_fwd_bf16_8192x16384", (64, 2, 64, 31)),
        ("rmsnorm_fwd_bf16_2048x65536", (64, 1, 128, 15)),
        ("layernorm_fwd_bf16_32768x4096", (72, 7, 56, 35)),
        ("layernorm_fwd_bf16_32768x768", (64, 32, 48, 7)),
        ("layernorm_fwd_bf16_8192x16384", (72, 3, 96, 20)),
        ("softmax_fwd_bf16_32768x4096", (64, 8, 64, 31)),
        ("softmax_fwd_bf16_4096x32768", (64, 2, 128, 15)),
        ("softmax_fwd_bf16_1024x262144", (64, 2, 128, 31)),
        ("softmax_bwd_bf16_16384x4096", (64, 4, 64, 31)),
        ("add_layernorm_bf16_16384x4096", (56, 4, 64, 31)),
        ("dropout_add_layernorm_bf16_16384x4096", (72, 7, 112, 17)),
    ],
)
def test_rows_have_enough_loads_in_flight(name: str, expected: tuple[int, ...]) -> None:
    params = chosen(name)
    assert figures(params, *ROWS_OF[name]) == expected
    assert expected[2] >= 40  # kilobytes: what the latency of the memory asks for
    assert params.cparams.maxrregcount >= expected[0]


def cost_of_first_kernel(name: str) -> tuple[CostEstimate, int]:
    """The cost and the registers of the schedule for the whole, else of that for segment 0."""
    fusion, inputs = optimized(name)
    if name == "transpose_f32":  # a view, unless its memory is asked for
        params = schedule.compute_heuristics(fusion, SchedulerType.transpose, inputs, "cuda")
        cost = schedule.estimate_cost(fusion, params, inputs, "cuda")
        return cost, params.cparams.maxrregcount
    plan = segment(fusion, inputs, "cuda")
    given = dict(zip(plan.complete_fusion.inputs(), inputs, strict=True))
    group = plan.groups[0]
    of_group = [given[val] for val in group.inputs]
    cost = schedule.estimate_cost(group.fusion, group.params, of_group, "cuda")
    return cost, group.params.cparams.maxrregcount


#: Blocks that registers and shared memory leave room for on a multiprocessor, kilobytes of loads
#: in flight there, rounds of resident blocks, and the cap of registers (255: none).
FIGURES = {
    "bias_gelu_bf16": (10, 100, 49.6, 255),
    "silu_mul_bf16": (12, 96, 72.4, 255),
    "pointwise_fma_f32": (12, 96, 165.5, 255),
    "scale_bias_relu_nhwc_bf16": (10, 120, 19.0, 255),
    "layernorm_bwd_bf16_16384x4096": (2, 32, 1.0, 128),
    "rmsnorm_bwd_bf16_16384x4096": (2, 32, 1.0, 128),
    "batchnorm_train_nhwc_bf16": (3, 64, 0.7, 128),
    "transpose_add_bf16": (2, 128, 62.1, 64),
    "transpose_f32": (4, 64, 124.1, 64),
    "sum_inner_f32": (4, 128, 124.1, 255),
    "sum_outer_f32": (4, 64, 0.5, 128),
    "sum_all_f32": (4, 128, 1.2, 255),
    "sum_outer_bf16_skinny": (4, 64, 0.5, 128),
    "rope_bf16": (10, 100, 198.6, 255),
    "cat_slice_pad_bf16": (12, 96, 31.4, 255),
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_model_of_costs_sees_a_busy_gpu(name: str) -> None:
    cost, registers = cost_of_first_kernel(name)
    in_flight = round(cost.bytes_in_flight / 1024)
    assert (cost.blocks_of_sm, in_flight, round(cost.waves, 1), registers) == FIGURES[name]
    assert in_flight >= (32 if "bwd" in name else 40)  # backward loads the next row meanwhile


def test_every_case_with_a_kernel_has_figures() -> None:
    kept_rows = {name for name, pieces in PIECES.items() if pieces[0] == ROWS}
    of_libraries = {name for name in PIECES if name.startswith("matmul")}
    assert set(FIGURES) == set(PIECES) - kept_rows - of_libraries
    others = {  # below, and rows of the grid (test_rows_of_grids.py)
        "groupnorm_fwd_bf16",
        "cross_entropy_fwd_bf16_8192x128256",
        "batchnorm_train_nchw_bf16",
    }
    assert set(ROWS_OF) | others == kept_rows


def test_groups_of_channels_are_kept_as_they_are_stored() -> None:
    params = segment(*optimized("groupnorm_fwd_bf16"), "cuda").groups[0].params
    assert described(params) == of_row(8, 10, 512, stored=True)
    assert params.cparams.maxrregcount == 64  # two blocks


def test_long_rows_are_kept_as_chunks(capfd: pytest.CaptureFixture[str]) -> None:
    """Two floats in registers are kept of two vectors of 8."""
    rows = segment(*optimized("cross_entropy_fwd_bf16_8192x128256"), "cuda").groups[0]
    params = rows.params
    assert (params.elements_per_chunk, params.unroll_factor_top_of_vectorization) == (16, 2)
    assert described(params) == of_row(8, 16, 512)
    assert params.cparams.maxrregcount == 64  # two blocks
    if has_nvrtc():
        assert spilled_bytes(rows.fusion.clone(), params, capfd) == {"0"}


@pytest.mark.parametrize(("name", "blocks"), [("1024x262144", 8), ("4096x32768", 1)])
def test_clusters_share_rows_that_are_too_long_for_one(name: str, blocks: int) -> None:
    params = chosen(f"softmax_fwd_bf16_{name}")
    assert params.blocks_per_cluster == blocks
    assert params.lparams.cluster_size == blocks


@pytest.mark.parametrize("name", ["transpose_add_bf16", "transpose_f32"])
def test_two_tiles_have_registers(name: str) -> None:
    params = chosen(name)
    assert 2 * params.lparams.bdimx * params.cparams.maxrregcount <= REGISTERS


def spilled_bytes(
    fusion: Fusion, params: HeuristicParams, capfd: pytest.CaptureFixture[str]
) -> set[str]:
    schedule.schedule(fusion, SchedulerType.inner_persistent, params)
    return set(re.findall(r"(\d+) bytes spill stores", assembler_report(fusion, params, capfd)))


def assembler_report(
    fusion: Fusion, params: HeuristicParams, capfd: pytest.CaptureFixture[str]
) -> str:
    compile_params = CompileParams(
        device="cuda:0",
        maxrregcount=params.cparams.maxrregcount,
        index_type=DataType.Int32,
        enable_ptxas_verbose=True,
    )
    KernelExecutor().compile(fusion, [], compile_params=compile_params)
    return capfd.readouterr().out


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("name", ROWS_OF)
def test_registers_hold_what_the_model_counted(
    name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """As the assembler reports: as many blocks fit as the model says, and nothing is spilled, but
    for a register or two of a few."""
    fusion, inputs = optimized(name)
    params = schedule.schedule(fusion, SchedulerType.inner_persistent, inputs, "cuda")
    report = assembler_report(fusion, params, capfd)
    spilled = max(map(int, re.findall(r"(\d+) bytes spill stores", report)))
    assert spilled <= SPILLED_BYTES.get(name, 0)
    registers = max(map(int, re.findall(r"Used (\d+) registers", report)))
    threads = params.lparams.bdimx * params.lparams.bdimy
    _, rows, _, _ = figures(params, *ROWS_OF[name])
    assert REGISTERS // (-(-registers // 8) * 8 * threads) * params.lparams.bdimy >= rows


# -- processors --

TASK = 16 * 1024  # elements
LANES = {"f32": 16, "bf16": 32}  # a vector of what is stored
# In Float; in BFloat16 there are twice as many lanes, and half as many steps of a task.
OF_PROCESSORS: dict[str, tuple[str, dict[str, int]]] = {
    "pointwise_fma": (
        MAP,
        {"vectorization_factor": 16, "unroll_factor_inner": TASK // 16, "unroll_factor_outer": 1},
    ),
    "gelu_bias": (
        MAP,
        {
            "break_point": 1,
            "vectorization_factor": 16,
            "unroll_factor_inner": 256,
            "unroll_factor_outer": 4,
        },
    ),
    "silu_mul": (MAP, {"vectorization_factor": 16, "unroll_factor_inner": TASK // 16}),
    **{
        name: (
            scheduler,
            {
                "iterations_per_task": 4,
                "unroll_factor_inner_reduction": 16,
                "unroll_factor_top_of_vectorization": 4,
            },
        )
        for name, scheduler in {
            "rmsnorm": ROWS,
            "layernorm": ROWS,
            "softmax": ROWS,
        }.items()
    },
    "sum_inner": (
        SUMS,
        {
            "iterations_per_task": 1,
            "unroll_factor_iter_dom": 4,
            "unroll_factor_inner_reduction": 16,
            "unroll_factor_top_of_vectorization": 1,
        },
    ),
    "sum_outer": (SUMS, {"blocks_per_reduction": 16, "unroll_factor_iter_dom": 1024}),
    "transpose_add": ("transpose", {"runs_in_tasks": True}),  # tiles: below
}


def test_every_case_of_processors_is_here() -> None:
    pinned = {f"{name}_{dtype}" for name in OF_PROCESSORS for dtype in ("f32", "bf16")}
    assert pinned == {case.name for case in cases.cpu_cases()}


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("name", OF_PROCESSORS)
def test_choices_for_processors(name: str, dtype: str) -> None:
    (group,) = segment(*optimized(f"{name}_{dtype}", target="cpu"), "cpu").groups
    scheduler, of_floats = OF_PROCESSORS[name]
    more = LANES[dtype] // LANES["f32"]
    growth = {
        "vectorization_factor": more,
        "unroll_factor_inner_reduction": more,
        "unroll_factor_inner": 1 / more,
    }
    expected = {choice: value * growth.get(choice, 1) for choice, value in of_floats.items()}
    assert group.scheduler.name == scheduler
    assert {choice: getattr(group.params, choice) for choice in expected} == expected
    assert group.params.runs_in_tasks


@pytest.mark.parametrize(
    ("dtype", "tile", "copies_rows"), [("f32", (16, 256), False), ("bf16", (64, 96), True)]
)
def test_tiles_of_processors(dtype: str, tile: tuple[int, int], copies_rows: bool) -> None:
    """Tiles of 16 columns are whole lines of Floats; of narrower types, a task copies rows."""
    (group,) = segment(*optimized(f"transpose_add_{dtype}", target="cpu"), "cpu").groups
    assert (group.params.tile_size1, group.params.tile_size2) == tile
    assert group.params.copies_rows == copies_rows
