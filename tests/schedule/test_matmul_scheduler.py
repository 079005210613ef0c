"""The scheduler `matmul`: products with what follows them, on tensor cores of warpgroups; as loop
nests on the CPU target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from cuda_kernels import has_nvrtc
from machine_code import resources
from scheduled_runs import check_prints_as_python, check_runs, define

import nvfuser_direct
from nvfuser_direct import (
    DataType,
    GemmTile,
    MatmulCircularBufferingStrategy,
    MatmulParams,
    MatMulTileOptions,
    MatmulTileRasterizationOrder,
    MatmulTilingStrategy,
    MmaMacroArch,
    MmaMacroEncode,
    SchedulerType,
    UserError,
    call_with_options,
    schedule,
    segment,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import FusionDefinition, TensorView

pytestmark = pytest.mark.sanitize

MATMUL = SchedulerType.matmul
BF16, HALF = torch.bfloat16, torch.float16


def fused(function: Callable[[], Any]) -> Any:
    return call_with_options(function, ["fuse_matmul"], [])


def always(function: Callable[[], Any]) -> Any:
    """By a kernel, whether it is faster or not."""
    return call_with_options(function, ["fuse_matmul"], ["matmul_expr_eval"])


def integers(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    """Small ones: sums of their products are exact in any order."""
    return torch.randint(-3, 4, shape).to(dtype)


def transposed(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    """A matrix whose columns are contiguous."""
    return integers(*reversed(shape), dtype=dtype).t()


def reserved(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    """Without memory that anything touches."""
    return torch.empty(shape, dtype=dtype)


# -- definitions --


def matmul(fd: FusionDefinition, a: TensorView, b: TensorView) -> TensorView:
    return fd.ops.matmul(a, b)


def linear(fd: FusionDefinition, a: TensorView, w: TensorView) -> TensorView:
    return fd.ops.linear(a, w)


def linear_relu(
    fd: FusionDefinition, a: TensorView, w: TensorView, bias: TensorView | None = None
) -> TensorView:
    return fd.ops.relu(fd.ops.linear(a, w, bias))


def linear_gelu(fd: FusionDefinition, a: TensorView, w: TensorView, bias: TensorView) -> TensorView:
    out = fd.ops.gelu(fd.ops.linear(a, w, bias))
    return fd.ops.cast(out, a.dtype())


def matmul_scaled(fd: FusionDefinition, a: TensorView, b: TensorView) -> TensorView:
    return fd.ops.mul(fd.ops.cast(fd.ops.matmul(a, b), DataType.Float), 0.5)


def linear_residual(
    fd: FusionDefinition, a: TensorView, w: TensorView, residual: TensorView
) -> list[TensorView]:
    """The product is an output as well."""
    out = fd.ops.linear(a, w)
    return [out, fd.ops.cast(fd.ops.add(fd.ops.relu(out), residual), a.dtype())]


def linear_rows(
    fd: FusionDefinition, a: TensorView, w: TensorView, column: TensorView, row: TensorView
) -> TensorView:
    """Operands of one dimension are computed before they are broadcast."""
    out = fd.ops.cast(fd.ops.linear(a, w), DataType.Float)
    scale = fd.ops.mul(fd.ops.cast(column, DataType.Float), 2.0)
    shift = fd.ops.neg(fd.ops.cast(row, DataType.Float))
    out = fd.ops.mul(out, fd.ops.broadcast(scale, [False, True]))
    return fd.ops.add(out, fd.ops.broadcast(shift, [True, False]))


# -- results --

SIZES = [(128, 256, 64), (2, 2, 8), (33, 7, 72), (130, 266, 40), (70, 24, 200)]


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_linear_and_its_epilogue(target, sizes, dtype):
    m, n, k = sizes
    inputs = [integers(m, k, dtype=dtype), integers(n, k, dtype=dtype), integers(n, dtype=dtype)]
    fd = define(linear_relu, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


@pytest.mark.parametrize("sizes", SIZES)
def test_a_matmul_of_transposed_columns(target, sizes):
    m, n, k = sizes
    inputs = [integers(m, k), transposed(k, n)]
    fd = define(matmul_scaled, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


# For each operand: whether m or n is contiguous in memory, and not k.
LAYOUTS = {"m": (True, False), "n": (False, True), "m and n": (True, True)}


def stored(rows: int, k: int, is_turned: bool, dtype: torch.dtype = BF16) -> torch.Tensor:
    return (transposed if is_turned else integers)(rows, k, dtype=dtype)


@pytest.mark.parametrize("dtype", [BF16, HALF])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sizes", [(128, 256, 64), (8, 8, 2), (136, 72, 33), (72, 264, 200)])
def test_rows_of_operands_run_along_m_or_n(target, sizes, layout, dtype):
    m, n, k = sizes
    a, b = LAYOUTS[layout]
    k = k if a and b else -(-k // 8) * 8  # rows of k begin at multiples of 16 bytes
    inputs = [stored(m, k, a, dtype), stored(n, k, b, dtype), integers(n, dtype=dtype)]
    fd = define(linear_relu, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


@pytest.mark.parametrize("layout", ["m", "m and n"])
def test_a_matmul_of_matrices_stored_otherwise(target, layout):
    """[K, N] has n contiguous as it is."""
    is_a_turned, is_b_turned = LAYOUTS[layout]
    inputs = [stored(72, 40, is_a_turned), stored(40, 136, not is_b_turned)]
    fd = define(matmul_scaled, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_operands_of_one_dimension_lie_in_tiles_of_boxes(target, layout):
    a, b = LAYOUTS[layout]
    inputs = [stored(200, 40, a), stored(328, 40, b), integers(200), integers(328)]
    fd = define(linear_rows, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


@pytest.mark.parametrize("shape", [(2, 65), (3, 2, 21)])
def test_leading_dimensions_of_a_linear_are_merged(target, shape):
    inputs = [integers(*shape, 72), integers(24, 72), integers(24)]
    fd = define(linear_gelu, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


@pytest.mark.parametrize("sizes", [(67, 24), (200, 300)])
def test_operands_of_one_dimension_lie_in_shared_memory(target, sizes):
    m, n = sizes
    inputs = [integers(m, 40), integers(n, 40), integers(m), integers(n)]
    fd = define(linear_rows, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


@pytest.mark.parametrize("n", [24, 33])
def test_several_outputs_and_inputs_of_the_shape_of_the_result(target, n):
    inputs = [integers(67, 40), integers(n, 40), integers(67, n)]
    fd = define(linear_residual, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


def test_a_product_alone(target):
    inputs = [integers(67, 40), integers(24, 40)]
    fd = define(linear, inputs)
    always(lambda: check_runs(fd, MATMUL, inputs, target))


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
    (expected,) = nvfuser_direct.evaluate(fd.fusion, here)
    assert torch.equal(found, expected)


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


# -- decisions --

TILES = {  # sizes: tile of a block, rows of a warpgroup, stages, blocks of a group
    (8192, 8192, 8192): ((128, 256), 64, 4, 16),
    (4096, 4096, 4096): ((128, 256), 64, 4, 16),
    (512, 4096, 4096): ((128, 128), 64, 7, 4),
    (256, 256, 256): ((64, 64), 64, 8, 4),
}


@pytest.mark.parametrize("sizes", TILES)
def test_tiles_for_sizes(sizes):
    m, n, k = sizes
    inputs = [reserved(m, k), reserved(n, k), reserved(n)]
    fd = define(linear_gelu, inputs)
    params = always(lambda: schedule.compute_heuristics(fd.fusion, MATMUL, inputs, "cuda"))
    assert isinstance(params, MatmulParams)
    block, group = params.tile_sizes.cta_tile, params.tile_sizes.warp_tile
    stages = params.circular_buffer_options.smem_circular_buffer_stage
    found = ((block.m, block.n), group.m, stages, params.grid_traversal_factor[0])
    assert found == TILES[sizes]
    assert params.mma_macro == MmaMacroEncode(MmaMacroArch.hopper, 64, block.n, 16).mma_macro()
    assert block.k == 64
    assert params.circular_buffering_strategy == MatmulCircularBufferingStrategy.warp_specialized
    assert params.supported_vec_size.epilogue == 2


def rejection(
    fd: FusionDefinition, inputs: Sequence[torch.Tensor], options: Callable = fused
) -> str:
    can, text = options(lambda: schedule.can_schedule(fd.fusion, MATMUL, inputs, "cuda"))
    assert can == (text == "")
    return text


def linear_add(
    fd: FusionDefinition, a: TensorView, w: TensorView, residual: TensorView
) -> TensorView:
    return fd.ops.cast(fd.ops.add(fd.ops.linear(a, w), residual), a.dtype())


# M, N, K, the epilogue, and whether a call of one kernel took less time on an H200 than one of a
# library and a kernel for the rest, with the host's time for a library (docs/products.md).
MEASURED = [
    (1024, 1024, 1024, linear_gelu, True),
    (2048, 2048, 2048, linear_relu, True),
    (2048, 2048, 2048, linear_gelu, True),
    (4096, 1024, 8192, linear_relu, True),
    (4096, 4096, 4096, linear_relu, False),
    (4096, 4096, 4096, linear_gelu, False),
    (4096, 4096, 4096, linear_add, False),
    (8192, 8192, 8192, linear_relu, False),
    (8192, 8192, 8192, linear_gelu, False),
    (16384, 4096, 2048, linear_relu, False),
    (8192, 8192, 1024, linear_relu, False),
]


def is_chosen(m: int, n: int, k: int, build: Callable[..., Any]) -> bool:
    end = reserved(m, n) if build is linear_add else reserved(n)
    inputs = [reserved(m, k), reserved(n, k), end]
    return rejection(define(build, inputs), inputs) == ""


@pytest.mark.parametrize(("m", "n", "k", "build", "is_faster"), MEASURED)
def test_one_kernel_is_chosen_where_it_was_measured_to_win(m, n, k, build, is_faster):
    assert is_chosen(m, n, k, build) == is_faster


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("size", "is_faster"), [(2048, True), (8192, False)])
def test_a_kernel_takes_as_long_in_any_layout(size, is_faster, layout):
    """So do libraries (docs/products.md)."""

    def params_of(inputs: list[torch.Tensor]) -> MatmulParams:
        fd = define(linear_relu, inputs)
        return always(lambda: schedule.compute_heuristics(fd.fusion, MATMUL, inputs, "cuda"))

    x, w, bias = reserved(size, size), reserved(size, size), reserved(size)
    along_m, along_n = LAYOUTS[layout]
    inputs = [x.t() if along_m else x, w.t() if along_n else w, bias]
    assert params_of(inputs) == params_of([x, w, bias])
    assert (rejection(define(linear_relu, inputs), inputs) == "") == is_faster


def test_one_kernel_is_chosen_while_the_host_takes_longer_for_a_library():
    """Up to some size."""
    chosen = [is_chosen(n, n, n, linear_relu) for n in range(1024, 8193, 1024)]
    assert chosen == sorted(chosen, reverse=True)
    assert chosen[0]
    assert not chosen[-1]


@pytest.mark.parametrize("size", [8192, 16384])
@pytest.mark.parametrize("k", [1024, 4096])
def test_a_kernel_that_waits_for_a_residual_is_not_chosen(size, k):
    assert not is_chosen(size, size, k, linear_add)


def test_a_product_that_is_not_chosen_is_scheduled_by_hand(target):
    """Params are those of any other product."""
    sizes = (8192, 8192, 1024)
    inputs = [reserved(8192, 1024), reserved(8192, 1024), reserved(8192)]
    large = define(linear_relu, inputs)
    params = always(lambda: schedule.compute_heuristics(large.fusion, MATMUL, inputs, "cuda"))
    assert not is_chosen(*sizes, linear_relu)
    here = [x.to(target) for x in (integers(67, 40), integers(24, 40), integers(24))]
    fd = define(linear_relu, here)
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, MATMUL, params)
    executor = nvfuser_direct.KernelExecutor()
    executor.compile(fusion, here)
    (found,) = executor.run(here)
    (expected,) = nvfuser_direct.evaluate(fd.fusion, here)
    assert torch.equal(found, expected)


LARGE = (2048, 2048)


def test_without_the_option_products_are_left_to_a_library():
    inputs = [reserved(*LARGE), reserved(*LARGE), reserved(2048)]
    fd = define(linear_relu, inputs)
    can, text = schedule.can_schedule(fd.fusion, MATMUL, inputs, "cuda")
    assert not can
    assert text == (
        "Scheduler _matmul_ ***rejected*** because : Products of matrices are left to a library"
    )
    assert MATMUL not in schedule.find_compatible_schedulers(fd.fusion, inputs, "cuda")
    assert rejection(fd, inputs) == ""


def batched(fd: FusionDefinition, a: TensorView, b: TensorView) -> TensorView:
    return fd.ops.relu(fd.ops.matmul(a, b))


def prologue(fd: FusionDefinition, a: TensorView, w: TensorView) -> TensorView:
    return fd.ops.linear(fd.ops.cast(fd.ops.relu(a), DataType.BFloat16), w)


def squared(fd: FusionDefinition, a: TensorView) -> TensorView:
    return fd.ops.relu(fd.ops.matmul(a, a))


def two_products(fd: FusionDefinition, a: TensorView, w: TensorView) -> list[TensorView]:
    out = fd.ops.linear(a, w)
    return [out, fd.ops.linear(out, w)]


def summed(fd: FusionDefinition, a: TensorView, w: TensorView) -> TensorView:
    return fd.ops.sum(fd.ops.linear(a, w), [1])


def permuted(fd: FusionDefinition, a: TensorView, w: TensorView) -> TensorView:
    return fd.ops.permute(fd.ops.linear(a, w), [1, 0])


def planes(fd: FusionDefinition, a: TensorView, w: TensorView, x: TensorView) -> TensorView:
    """An operand [rows, n] of a result [planes, rows, n]."""
    out = fd.ops.cast(fd.ops.linear(a, w), DataType.Float)
    return fd.ops.add(out, fd.ops.broadcast(fd.ops.cast(x, DataType.Float), [True, False, False]))


def no_product(fd: FusionDefinition, a: TensorView, w: TensorView) -> TensorView:
    return fd.ops.add(a, w)


REJECTED: dict[str, tuple[Callable[..., Any], list[torch.Tensor]]] = {
    "A library is as fast with a product alone": (linear, [reserved(*LARGE), reserved(*LARGE)]),
    "A library, and a kernel for the rest, are faster for these sizes": (
        linear_gelu,
        [reserved(8192, 8192), reserved(8192, 8192), reserved(8192)],
    ),
    "Rows of an operand do not begin at multiples of 16 bytes": (
        linear_relu,
        [reserved(2048, 2052), reserved(2048, 2052)],
    ),
    "An operand does not begin at a multiple of 16 bytes": (
        linear_relu,
        [reserved(2048 * 2048 + 1)[1:].view(LARGE), reserved(*LARGE)],
    ),
    "An operand of a product has no rows that are contiguous in memory": (
        linear_relu,
        [reserved(2048, 4096)[:, ::2], reserved(*LARGE)],
    ),
    "The rows of an operand do not follow each other in memory": (
        linear_relu,
        [reserved(2048, 2, 1024).permute(1, 2, 0), reserved(2048, 2048)],
    ),
    "A product of a matrix with itself has axes that cannot be told apart": (
        squared,
        [reserved(*LARGE)],
    ),
    "A kernel multiplies one pair of matrices": (
        batched,
        [reserved(2, *LARGE), reserved(2, *LARGE).transpose(1, 2)],
    ),
    "Tensor cores do not multiply matrices of this type": (
        linear_relu,
        [reserved(64, 64, dtype=torch.float32), reserved(64, 64, dtype=torch.float32)],
    ),
    "A product for tensor cores has an axis of one element": (
        linear_relu,
        [reserved(1, 2048), reserved(*LARGE)],
    ),
    "An operand of a product is computed in the same kernel": (
        prologue,
        [reserved(*LARGE), reserved(*LARGE)],
    ),
    "A kernel multiplies two matrices": (two_products, [reserved(*LARGE), reserved(*LARGE)]),
    "Only pointwise operations are computed beside a product": (
        summed,
        [reserved(*LARGE), reserved(*LARGE)],
    ),
    "An operand of several dimensions is computed before it is broadcast": (
        planes,
        [reserved(4, *LARGE), reserved(*LARGE), reserved(*LARGE)],
    ),
    "there is no product of matrices": (no_product, [reserved(*LARGE), reserved(*LARGE)]),
}


@pytest.mark.parametrize("headline", REJECTED)
def test_what_the_scheduler_rejects(headline):
    build, inputs = REJECTED[headline]
    text = rejection(define(build, inputs), inputs)
    assert text == f"Scheduler _matmul_ ***rejected*** because : {headline}"


def test_a_permuted_result_is_rejected():
    inputs = [reserved(*LARGE), reserved(*LARGE)]
    assert "Only pointwise operations" in rejection(define(permuted, inputs), inputs)


def test_on_the_cpu_target_a_library_multiplies():
    inputs = [reserved(*LARGE), reserved(*LARGE)]
    fd = define(linear_relu, inputs)
    can, text = fused(lambda: schedule.can_schedule(fd.fusion, MATMUL, inputs, "cpu"))
    assert not can
    assert "A library multiplies matrices faster on this target" in text
    assert always(lambda: schedule.can_schedule(fd.fusion, MATMUL, inputs, "cpu")) == (True, "")


PLACES = {  # of both factors, in the name of the function
    "k": "",
    "m": "_transposed",
    "n": "_straight_transposed",
    "m and n": "_transposed_transposed",
}


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("layout", PLACES)
@pytest.mark.parametrize("build", [linear_relu, linear_gelu, linear_rows])
def test_sums_and_epilogues_stay_in_registers(build, layout):
    ends = {linear_rows: [reserved(2048), reserved(2048)]}.get(build, [reserved(2048)])
    turned = LAYOUTS.get(layout, (False, False))
    factors = [reserved(*LARGE).t() if is_turned else reserved(*LARGE) for is_turned in turned]
    inputs = [*factors, *ends]
    fusion = define(build, inputs).fusion.clone()
    always(lambda: schedule.schedule(fusion, MATMUL, inputs, "cuda"))
    compiled = fusion.compile_cuda()
    (of_kernel,) = resources(compiled.cubin).values()
    assert of_kernel.stack_bytes == 0
    assert compiled.ptx.count("wgmma.mma_async.sync.aligned.m64n256k16") > 0
    assert compiled.ptx.count("wgmma.commit_group") == 1  # of all products of an iteration
    assert f"wgmma_m64n256k16_bf16{PLACES[layout]}(" in fusion.print_kernel(target="cuda")


# -- segments --


def schedulers(fd: FusionDefinition, inputs: list[torch.Tensor], options: Callable) -> list[str]:
    groups = options(lambda: segment(fd.fusion, inputs, "cuda")).groups
    return [group.scheduler.name for group in groups]


def without(function: Callable[[], Any]) -> Any:
    return function()


def test_a_product_and_its_epilogue_are_one_segment():
    inputs = [reserved(*LARGE), reserved(*LARGE), reserved(2048)]
    fd = define(linear_relu, inputs)
    assert schedulers(fd, inputs, without) == ["expr_eval", "pointwise"]
    assert schedulers(fd, inputs, fused) == ["matmul"]


def test_a_product_alone_is_a_kernel_only_where_no_library_may_compute_it():
    inputs = [reserved(*LARGE), reserved(*LARGE)]
    fd = define(linear, inputs)
    assert schedulers(fd, inputs, fused) == ["expr_eval"]
    assert schedulers(fd, inputs, always) == ["matmul"]


def test_what_cannot_follow_in_the_kernel_is_a_segment_of_its_own():
    def build(fd: FusionDefinition, a: TensorView, w: TensorView) -> TensorView:
        negative = fd.ops.cast(fd.ops.neg(a), DataType.BFloat16)
        out = fd.ops.relu(fd.ops.linear(negative, w))
        return fd.ops.sum(fd.ops.cast(out, DataType.Float), [1])

    inputs = [reserved(*LARGE), reserved(*LARGE)]
    fd = define(build, inputs)
    assert schedulers(fd, inputs, without) == ["pointwise", "expr_eval", "reduction"]
    assert "matmul" not in schedulers(fd, inputs, fused)


def test_execution_takes_the_option_of_a_call(target):
    inputs = [integers(67, 40).to(target), integers(24, 40).to(target), integers(24).to(target)]
    fd = define(linear_gelu, inputs)
    (expected,) = fd.execute(inputs)
    (found,) = fd.execute(
        inputs, _enable_options=["fuse_matmul"], _disable_options=["matmul_expr_eval", "fallback"]
    )
    torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-2)


def matmul_of_views(fd: FusionDefinition, a: TensorView, b: TensorView) -> TensorView:
    return fd.ops.relu(fd.ops.matmul(fd.ops.permute(a, [1, 0]), fd.ops.permute(b, [1, 0])))


def test_permuted_operands_are_views_that_a_kernel_multiplies(target):
    inputs = [reserved(*LARGE), reserved(*LARGE)]
    fd = define(matmul_of_views, inputs)
    assert schedulers(fd, inputs, without) == ["expr_eval", "expr_eval", "expr_eval", "pointwise"]
    assert schedulers(fd, inputs, fused) == ["expr_eval", "expr_eval", "matmul"]
    a, b = integers(40, 72).to(target), integers(136, 40).to(target)
    (found,) = define(matmul_of_views, [a, b]).execute(
        [a, b], _enable_options=["fuse_matmul"], _disable_options=["matmul_expr_eval", "fallback"]
    )
    assert torch.equal(found, torch.relu(a.double().t() @ b.double().t()).to(BF16))


def test_rows_of_a_view_lie_as_those_of_its_input():
    """2052 elements are no multiple of 16 bytes, where 2048 are."""
    inputs = [reserved(*LARGE), reserved(2048, 2052)[:, :2048]]
    assert "matmul" not in schedulers(define(matmul_of_views, inputs), inputs, fused)
    inputs[1] = reserved(2048, 2056)[:, :2048]
    assert "matmul" in schedulers(define(matmul_of_views, inputs), inputs, fused)
