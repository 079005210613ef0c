"""The scheduler `matmul`: products with what follows them, on tensor cores of warpgroups; as loop
nests on the CPU target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from matmul_products import (
    BF16,
    HALF,
    LAYOUTS,
    MATMUL,
    always,
    by_the_processor,
    integers,
    linear,
    linear_gelu,
    linear_relu,
    linear_residual,
    linear_rows,
    matmul_scaled,
    stored,
    transposed,
)
from scheduled_runs import check_prints_as_python, check_runs, define

import nvfuser_direct
from nvfuser_direct import (
    GemmTile,
    MatmulCircularBufferingStrategy,
    MatmulParams,
    MatMulTileOptions,
    MatmulTileRasterizationOrder,
    MatmulTilingStrategy,
    MmaMacroArch,
    MmaMacroEncode,
    UserError,
    schedule,
)

if TYPE_CHECKING:
    from nvfuser_direct import FusionDefinition

pytestmark = pytest.mark.sanitize

# -- results --


def check_product(fd: FusionDefinition, inputs: list[torch.Tensor], target: str) -> None:
    expected = by_the_processor(fd, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target, expected))


SIZES = [(128, 256, 64), (2, 2, 8), (33, 7, 72), (130, 266, 40), (70, 24, 200)]


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_linear_and_its_epilogue(target, sizes, dtype):
    m, n, k = sizes
    inputs = [integers(m, k, dtype=dtype), integers(n, k, dtype=dtype), integers(n, dtype=dtype)]
    fd = define(linear_relu, inputs)
    check_product(fd, inputs, target)


@pytest.mark.parametrize("sizes", SIZES)
def test_a_matmul_of_transposed_columns(target, sizes):
    m, n, k = sizes
    inputs = [integers(m, k), transposed(k, n)]
    fd = define(matmul_scaled, inputs)
    check_product(fd, inputs, target)


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sizes", [(128, 256, 64), (8, 8, 2), (136, 72, 33), (72, 264, 200)])
def test_rows_of_operands_run_along_m_or_n(target, sizes, layout, dtype):
    m, n, k = sizes
    a, b = LAYOUTS[layout]
    k = k if a and b else -(-k // 8) * 8  # rows of k begin at multiples of 16 bytes
    inputs = [stored(m, k, a, dtype), stored(n, k, b, dtype), integers(n, dtype=dtype)]
    fd = define(linear_relu, inputs)
    check_product(fd, inputs, target)


@pytest.mark.parametrize("layout", ["m", "m and n"])
def test_a_matmul_of_matrices_stored_otherwise(target, layout):
    """[K, N] has n contiguous as it is."""
    is_a_turned, is_b_turned = LAYOUTS[layout]
    inputs = [stored(72, 40, is_a_turned), stored(40, 136, not is_b_turned)]
    fd = define(matmul_scaled, inputs)
    check_product(fd, inputs, target)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_of_one_dimension_lie_in_tiles_of_boxes(target, layout):
    a, b = LAYOUTS[layout]
    inputs = [stored(200, 40, a), stored(328, 40, b), integers(200), integers(328)]
    fd = define(linear_rows, inputs)
    check_product(fd, inputs, target)


@pytest.mark.parametrize("shape", [(2, 65), (3, 2, 21)])
def test_leading_dimensions_of_a_linear_are_merged(target, shape):
    inputs = [integers(*shape, 72), integers(24, 72), integers(24)]
    fd = define(linear_gelu, inputs)
    check_product(fd, inputs, target)


@pytest.mark.parametrize("sizes", [(67, 24), (200, 300)])
def test_operands_of_one_dimension_lie_in_shared_memory(target, sizes):
    m, n = sizes
    inputs = [integers(m, 40), integers(n, 40), integers(m), integers(n)]
    fd = define(linear_rows, inputs)
    check_product(fd, inputs, target)


@pytest.mark.parametrize("n", [24, 33])
def test_several_outputs_and_inputs_of_the_shape_of_the_result(target, n):
    inputs = [integers(67, 40), integers(n, 40), integers(67, n)]
    fd = define(linear_residual, inputs)
    check_product(fd, inputs, target)


def test_a_product_alone(target):
    inputs = [integers(67, 40), integers(24, 40)]
    fd = define(linear, inputs)
    check_product(fd, inputs, target)


ONE_AFTER_THE_OTHER = MatmulTilingStrategy.distribute_tiles_across_sms


def params_with(rows: int, columns: int, rows_of_group: int, **fields: Any) -> MatmulParams:
    params = MatmulParams()
    params.tile_sizes = MatMulTileOptions(
        GemmTile(rows, columns, 64), GemmTile(rows_of_group, columns, 64)
    )
    params.mma_macro = MmaMacroEncode(MmaMacroArch.hopper, 64, columns, 16).mma_macro()
    for name, value in fields.items():
        setattr(params, name, value)
    return params


EDITED = {
    "two tiles of a warpgroup": params_with(256, 24, 128),
    "one warpgroup": params_with(64, 40, 64),
    "groups of columns": params_with(
        64,
        16,
        64,
        cta_order=MatmulTileRasterizationOrder.row_major,
        grid_traversal_factor=(2, 1),
    ),
    "pairs": params_with(
        128, 16, 64, supported_vec_size=nvfuser_direct.SupportedVectorization(8, 8, 2)
    ),
    "loads ahead": params_with(
        128, 32, 64, circular_buffer_options=nvfuser_direct.CircularBufferOptions(True, False, 3, 1)
    ),
    "loads by threads of their own": params_with(
        128,
        32,
        64,
        circular_buffer_options=nvfuser_direct.CircularBufferOptions(True, False, 3, 1),
        circular_buffering_strategy=MatmulCircularBufferingStrategy.warp_specialized,
    ),
    "tile after tile": params_with(
        64, 16, 64, tiling_strategy=ONE_AFTER_THE_OTHER, grid_traversal_factor=(2, 3)
    ),
    "tile after tile, loaded by threads of their own": params_with(
        128,
        32,
        64,
        tiling_strategy=ONE_AFTER_THE_OTHER,
        grid_traversal_factor=(1, 2),
        circular_buffer_options=nvfuser_direct.CircularBufferOptions(True, False, 3, 1),
        circular_buffering_strategy=MatmulCircularBufferingStrategy.warp_specialized,
        supported_vec_size=nvfuser_direct.SupportedVectorization(8, 8, 2),
    ),
}


def check_params(target: str, params: MatmulParams, inputs: list[torch.Tensor]) -> None:
    fd = define(linear_relu, inputs)
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, MATMUL, params)
    check_prints_as_python(fusion)
    here = [x.to(target) for x in inputs]
    executor = nvfuser_direct.KernelExecutor()
    executor.compile(fusion, here)
    (found,) = executor.run(here)
    (expected,) = by_the_processor(fd, inputs)
    assert torch.equal(found.cpu(), expected)


@pytest.mark.parametrize("name", EDITED)
def test_params_may_be_edited(target, name):
    inputs = [integers(200, 136), integers(84, 136), integers(84)]
    check_params(target, EDITED[name], inputs)


SPECIALIZED = {
    "circular_buffer_options": nvfuser_direct.CircularBufferOptions(True, False, 3, 1),
    "circular_buffering_strategy": MatmulCircularBufferingStrategy.warp_specialized,
    "supported_vec_size": nvfuser_direct.SupportedVectorization(8, 8, 2),
}
EDITED_BOXES = {
    "two tiles of a warpgroup": params_with(256, 64, 128, **SPECIALIZED),
    "one warpgroup": params_with(64, 128, 64),
    "groups of columns": params_with(
        64,
        64,
        64,
        cta_order=MatmulTileRasterizationOrder.row_major,
        grid_traversal_factor=(2, 1),
    ),
    "tile after tile": params_with(
        128, 128, 64, tiling_strategy=ONE_AFTER_THE_OTHER, grid_traversal_factor=(1, 2)
    ),
    "tile after tile, loaded by threads of their own": params_with(
        128,
        192,
        64,
        tiling_strategy=ONE_AFTER_THE_OTHER,
        grid_traversal_factor=(2, 1),
        **SPECIALIZED,
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", EDITED_BOXES)
def test_params_of_tiles_that_are_boxes(target, name, layout):
    a, b = LAYOUTS[layout]
    inputs = [stored(328, 136, a), stored(264, 136, b), integers(264)]
    check_params(target, EDITED_BOXES[name], inputs)


def test_tiles_along_n_are_whole_boxes():
    fd = define(linear_relu, [integers(8, 8), transposed(8, 8)])
    with pytest.raises(UserError) as error:
        schedule.schedule(fd.fusion.clone(), MATMUL, params_with(128, 96, 64))
    text = str(error.value)
    assert "The matmul scheduler makes no kernel with these params" in text
    assert "expected: tiles of a multiple of 64 columns, as T1" in text
    for part in ("node:", "made at", "found:    96 columns", "fix:"):
        assert part in text


WRONG = {
    "mma_macro Hopper_64_N_16": {
        "mma_macro": MmaMacroEncode(MmaMacroArch.ampere, 16, 8, 16).mma_macro()
    },
    "a tile of a block of up to 256 rows": {
        "tile_sizes": MatMulTileOptions(GemmTile(96, 64, 64), GemmTile(64, 64, 64))
    },
    "splitk_factor 1": {"splitk_factor": 2},
}


@pytest.mark.parametrize("expected", WRONG)
def test_params_that_no_kernel_has(expected):
    fd = define(linear_relu, [integers(8, 8), integers(8, 8)])
    with pytest.raises(UserError) as error:
        schedule.schedule(fd.fusion.clone(), MATMUL, params_with(128, 64, 64, **WRONG[expected]))
    assert "The matmul scheduler makes no kernel with these params" in str(error.value)
    assert expected in str(error.value)


def test_a_block_of_several_tiles_computes_no_rows():
    inputs = [integers(8, 8), integers(8, 8), integers(8), integers(8)]
    fd = define(linear_rows, inputs)
    params = params_with(128, 64, 64, tiling_strategy=ONE_AFTER_THE_OTHER)
    with pytest.raises(UserError, match="one_tile_per_cta, as T"):
        schedule.schedule(fd.fusion.clone(), MATMUL, params)
