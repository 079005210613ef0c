"""Params of products of matrices: made, edited, printed, compared and copied by scripts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import nvfuser_direct
from nvfuser_direct import (
    CircularBufferOptions,
    ClusterDims,
    GemmTile,
    HeuristicParams,
    MatmulParams,
    MatMulTileOptions,
    MatmulTilingStrategy,
    MmaMacroArch,
    MmaMacroEncode,
    SchedulerType,
    SupportedVectorization,
)

ENUMERATIONS = {
    "MatmulTilingStrategy": (
        "one_tile_per_cta distribute_tiles_across_sms distribute_stages_across_sms"
    ),
    "MatmulBufferingLoopLevel": "cta_tiles warp_tiles",
    "MatmulCircularBufferingStrategy": "pipelined warp_specialized",
    "MatmulTileRasterizationOrder": "column_major row_major",
    "MmaMacroArch": "no_mma volta turing ampere hopper blackwell_1cta blackwell_2cta",
}
HOPPER = MmaMacroEncode(MmaMacroArch.hopper, 64, 256, 16)


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_enumerations_have_their_members(name: str) -> None:
    """ir.md 5.1"""
    members = {member.name for member in getattr(nvfuser_direct, name)}
    assert members == set(ENUMERATIONS[name].split())


TEXTS: list[tuple[Any, str]] = [
    (GemmTile(1, 2, 3), "GemmTile(m=1, n=2, k=3)"),
    (
        MatMulTileOptions(GemmTile(128, 128, 32), GemmTile(64, 64, 32)),
        "MatMulTileOptions: warp tile [64, 64, 32], CTA tile [128, 128, 32]",
    ),
    (
        CircularBufferOptions(True, False, 4, 1),
        "CircularBufferOptions:\n  circular_buffer_smem_write: true\n"
        "  circular_buffer_smem_read: false\n  smem_circular_buffer_stage: 4\n"
        "  smem_circular_buffer_prefetch_gap: 1",
    ),
    (SupportedVectorization(8, 4, 2), "SupportedVectorization:\n  a: 8\n  b: 4\n  epilogue: 2"),
    (ClusterDims(2, 1), "__cluster_dims__(2, 1)"),
    (HOPPER.mma_macro(), "Hopper_64_256_16"),
    (MatmulParams().mma_macro, "NoOp"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS, ids=lambda value: str(value).split()[0])
def test_parts_print_and_come_back_from_copies(value: Any, text: str) -> None:
    """schedule.md 6.6"""
    assert repr(value) == text
    for again in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert again == value
        assert again is not value


def test_a_macro_has_parts_of_16_bits() -> None:
    """ "16 each, arch highest" """
    macro = HOPPER.mma_macro()
    assert (macro.arch, macro.m, macro.n, macro.k) == (MmaMacroArch.hopper, 64, 256, 16)
    macro.n, macro.arch = 65535, MmaMacroArch.blackwell_2cta
    assert repr(macro) == "Blackwell2CTA_64_65535_16"
    assert macro != HOPPER.mma_macro()
    with pytest.raises(TypeError):
        macro.m = 65536
    assert pickle.loads(pickle.dumps(HOPPER)) == HOPPER


def test_defaults_are_the_documented_ones() -> None:
    """schedule.md 6.6, 6.7"""
    params = MatmulParams()
    assert params.tile_sizes == MatMulTileOptions(GemmTile(128, 128, 32), GemmTile(64, 64, 32))
    assert params.circular_buffer_options == CircularBufferOptions(False, False, 2, 1)
    assert params.supported_vec_size == SupportedVectorization(0, 0, 0)
    assert params.grid_traversal_factor == (1, 1)
    assert params.use_ldst_matrix
    flags = "async_gmem_load_operands use_smem_epilogue promote_prologue_smem_reuse"
    assert not any(getattr(params, flag) for flag in flags.split())
    assert params.splitk_factor == 1
    assert params.cluster_dims == ClusterDims(1, 1)
    assert isinstance(params, HeuristicParams)
    assert params.scheduler_type == SchedulerType.matmul


def test_the_text_has_the_documented_lines() -> None:
    """schedule.md 6.7"""
    params = MatmulParams()
    params.mma_macro = HOPPER.mma_macro()
    params.async_gmem_load_operands = True
    params.splitk_factor = 3
    assert repr(params).splitlines() == [
        "",
        "===== Matmul Parameters ========",
        "MMA macro: Hopper_64_256_16",
        *repr(params.circular_buffer_options).splitlines(),
        *repr(params.supported_vec_size).splitlines(),
        repr(params.tile_sizes),
        "Async global mem load: true",
        "Indexing mode: unavailable",
        "Tile rasterization order: row-major",
        "Grid swizzle factor: (1, 1)",
        "Tiling strategy: OneTilePerCTA",
        "Buffering loop level: CTATiles",
        "Circular buffering strategy: Pipelined",
        "__cluster_dims__(1, 1)",
        "Use shared memory epilogue: 0",
        "Promote re-use of prologue shared memory: 0",
        "Use ldmatrix/stmatrix in epilogue: 1",
        "Split-K factor: 3",
        "====================================",
    ]


def test_parts_are_edited_in_place_and_compared() -> None:
    params, other = MatmulParams(), MatmulParams()
    assert params == other
    assert params.hash() == other.hash()
    params.tile_sizes.warp_tile.k = 16
    params.circular_buffer_options.smem_circular_buffer_stage = 3
    assert params.tile_sizes.warp_tile == GemmTile(64, 64, 16)
    assert params != other
    assert params.hash() != other.hash()
    other.tile_sizes.warp_tile.k = 16
    other.circular_buffer_options = CircularBufferOptions(False, False, 3, 1)
    assert params == other
    params.tiling_strategy = MatmulTilingStrategy.distribute_tiles_across_sms
    for again in (copy.copy(params), copy.deepcopy(params), pickle.loads(pickle.dumps(params))):
        assert again == params != other
        assert repr(again) == repr(params)
