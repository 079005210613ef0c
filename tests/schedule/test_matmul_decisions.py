"""Which products the scheduler `matmul` takes, and what it decides for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from cuda_kernels import has_nvrtc
from machine_code import resources
from matmul_products import (
    BF16,
    LAYOUTS,
    MATMUL,
    always,
    by_the_processor,
    fused,
    integers,
    linear,
    linear_gelu,
    linear_relu,
    linear_rows,
    reserved,
)
from scheduled_runs import define

import nvfuser_direct
from nvfuser_direct import (
    DataType,
    MatmulCircularBufferingStrategy,
    MatmulParams,
    MmaMacroArch,
    MmaMacroEncode,
    schedule,
    segment,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nvfuser_direct import FusionDefinition, TensorView

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
    small = [integers(67, 40), integers(24, 40), integers(24)]
    here = [x.to(target) for x in small]
    fd = define(linear_relu, here)
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, MATMUL, params)
    executor = nvfuser_direct.KernelExecutor()
    executor.compile(fusion, here)
    (found,) = executor.run(here)
    (expected,) = by_the_processor(fd, small)
    assert torch.equal(found.cpu(), expected)


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
