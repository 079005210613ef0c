"""The moves of tuning: each takes params to their neighbours, one decision at a time.

A move says what it changes and makes edited params; whether they can be scheduled, lowered and
launched is for the compiler to say. Decisions that follow from others have no move: threads of a
row that is kept on chip follow from its batches.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple

from ._core import LaunchParams, SchedulerType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._core import HeuristicParams

# Integers that are doubled and halved.
_SCALED = {
    SchedulerType.pointwise: (
        "unroll_factor_inner",
        "unroll_factor_outer",
        "vectorization_factor",
    ),
    SchedulerType.transpose: ("tile_size1", "tile_size2", "vectorize_factor1", "vectorize_factor2"),
    SchedulerType.greedy: ("scan_items", "kept_lanes", "rows_of_task", "scatter_blocks"),
    SchedulerType.resize: (
        "unroll_factor_inner",
        "unroll_factor_outer",
        "vectorization_factor",
    ),
}
_SCALED_IN_REDUCTIONS = (
    "batches_per_block_inner_reduction",
    "unroll_factor_inner_reduction",
    "unroll_factor_top_of_vectorization",
    "unroll_factor_iter_dom",
    "batches_per_block_outer_reduction",
    "unroll_factor_outer_reduction",
    "vectorization_factor_outer",
    "iterations_per_task",
    "blocks_per_reduction",
    "circular_buffer_stages",
)
# Yes or no.
_FLIPPED = {
    SchedulerType.pointwise: ("flip_grid_binding",),
    SchedulerType.inner_persistent: ("pad_inner_reduction_to_warp",),
}
_REGISTER_CAPS = (32, 40, 48, 64, 80, 96, 128, 168, 255)
_MOST_THREADS = 1024


class Move(NamedTuple):
    what: str  # "unroll_factor_inner 2 -> 4"
    params: HeuristicParams


def neighbours_of(params: HeuristicParams) -> Iterator[Move]:
    """Params that differ from these in one decision, those that matter most first."""
    is_on_gpu = not getattr(params, "runs_in_tasks", False)
    if is_on_gpu:
        yield from _other_blocks(params)
    for name in _SCALED.get(params.scheduler_type, _SCALED_IN_REDUCTIONS):
        value = getattr(params, name, None)
        if value is None:
            continue
        for other in (value * 2, value // 2):
            if other >= 1:
                yield _edited(params, name, other)
    for name in _FLIPPED.get(params.scheduler_type, ()):
        yield _edited(params, name, not getattr(params, name))
    if is_on_gpu:
        yield from _other_register_caps(params)


def _edited(params: HeuristicParams, name: str, value: int | bool) -> Move:
    edited = copy.copy(params)
    setattr(edited, name, value)
    return Move(f"{name} {getattr(params, name)} -> {value}", edited)


def _other_blocks(params: HeuristicParams) -> Iterator[Move]:
    """Blocks of other shapes: twice and half the threads, or as many arranged otherwise."""
    x, y = params.lparams.bdimx, params.lparams.bdimy
    shapes = [(x // 2, y), (x * 2, y)]
    if y > 1:
        shapes += [(x, y // 2), (x * 2, y // 2)]
    if getattr(params, "split_block", True):
        shapes += [(x, y * 2), (x // 2, y * 2)]
    for other in shapes:
        if min(other) < 1 or other[0] * other[1] > _MOST_THREADS:
            continue
        edited = copy.copy(params)
        grid = (params.lparams.gdimx, params.lparams.gdimy, params.lparams.gdimz)
        sizes = [*grid, *other, params.lparams.bdimz]
        edited.lparams = LaunchParams(*(size if size > 1 else -1 for size in sizes))  # -1: unset
        yield Move(f"block {x} x {y} -> {other[0]} x {other[1]}", edited)


def _other_register_caps(params: HeuristicParams) -> Iterator[Move]:
    cap = params.cparams.maxrregcount
    for other in (
        max((r for r in _REGISTER_CAPS if r < cap), default=None),
        min((r for r in _REGISTER_CAPS if r > cap), default=None),
    ):
        if other is not None:
            edited = copy.copy(params)
            compile_params = edited.cparams
            compile_params.maxrregcount = other
            edited.cparams = compile_params
            yield Move(f"registers {cap} -> {other}", edited)
