"""The kernels that the automatic schedulers choose for the suite, as NVRTC compiles them: PTX and
machine code for compute capability 9.0. Needs no GPU.

A kernel at the speed of the memory moves 16 bytes with an instruction, keeps what it computes in as
many registers as its scheduler counted on, and does not jump for single elements.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import pytest
from cuda_kernels import has_nvrtc
from machine_code import (
    Resources,
    branches,
    entry_body,
    instructions,
    loads,
    local_accesses,
    loops,
    resources,
    stores,
)
from suite_kernels import SPILLED_BYTES, cases, optimized

from nvfuser_direct import DataType, HeuristicParams, SchedulerType, schedule, segment

pytestmark = pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")

WIDEST = 16  # bytes of an access


@dataclass(frozen=True)
class Piece:
    """A kernel of a case.

    Attributes
    ----------
    case : str
        The case's name.
    number : int
        Which segment of the case.
    narrow_loads, narrow_stores : frozenset
        Bytes of accesses that are no whole vectors: values of which a row, or a vector, has one.
    lanes : int
        Elements of a vector, as the params have to say.
    has_exponentials : bool
        Whether elements have exponentials, in their cheap form.
    has_exact_exponentials : bool
        Whether values that are left of many elements have some: their error would be seen.
    stack_bytes : int
        Registers that are spilled, at most, beside those of `SPILLED_BYTES`.
    """

    case: str
    number: int = 0
    narrow_loads: frozenset[int] = frozenset()
    narrow_stores: frozenset[int] = frozenset()
    lanes: int = 8
    has_exponentials: bool = False
    has_exact_exponentials: bool = False
    stack_bytes: int = 0

    def __str__(self) -> str:
        return f"{self.case}-{self.number}" if self.number else self.case


STATISTICS = frozenset({4})
WELFORDS = frozenset({4, 8})  # partial results, with their counts
PIECES = [
    Piece("pointwise_fma_f32", lanes=4),
    Piece("bias_gelu_bf16", has_exponentials=True),
    Piece("silu_mul_bf16", has_exponentials=True),
    Piece("scale_bias_relu_nhwc_bf16"),
    Piece("rmsnorm_fwd_bf16_32768x4096"),
    Piece("rmsnorm_fwd_bf16_8192x16384"),
    Piece("rmsnorm_fwd_bf16_2048x65536"),
    Piece("layernorm_fwd_bf16_32768x4096"),
    Piece("layernorm_fwd_bf16_32768x768"),
    Piece("layernorm_fwd_bf16_8192x16384"),
    # The second stage: partial sums of columns, a thread for each column.
    Piece("layernorm_bwd_bf16_16384x4096", narrow_loads=STATISTICS, narrow_stores=frozenset({2})),
    Piece("rmsnorm_bwd_bf16_16384x4096", narrow_loads=STATISTICS, narrow_stores=frozenset({2})),
    Piece("softmax_fwd_bf16_32768x4096", has_exponentials=True),
    Piece("softmax_fwd_bf16_4096x32768", has_exponentials=True),
    Piece("softmax_fwd_bf16_1024x262144", has_exponentials=True),
    Piece("softmax_bwd_bf16_16384x4096"),
    Piece("add_layernorm_bf16_16384x4096"),
    Piece("dropout_add_layernorm_bf16_16384x4096"),
    Piece(
        "cross_entropy_fwd_bf16_8192x128256",
        narrow_loads=frozenset({2, 8}),  # the target, and its element
        narrow_stores=STATISTICS,
        has_exponentials=True,
        has_exact_exponentials=True,  # of the chunks' maxima
    ),
    Piece("cross_entropy_fwd_bf16_8192x128256", 1, narrow_stores=STATISTICS, lanes=4),
    Piece("batchnorm_train_nchw_bf16", narrow_loads=STATISTICS, narrow_stores=WELFORDS),
    Piece("batchnorm_train_nhwc_bf16"),
    Piece("batchnorm_train_nhwc_bf16", 1),
    Piece(
        "groupnorm_fwd_bf16",
        narrow_loads=frozenset({2}),  # scale and bias of a channel
        has_exponentials=True,
        stack_bytes=16,  # with more registers, a multiprocessor has one block
    ),
    Piece("transpose_add_bf16"),
    Piece("transpose_f32", lanes=4),
    Piece("sum_inner_f32", narrow_stores=STATISTICS, lanes=4),
    Piece("sum_outer_f32", narrow_stores=STATISTICS, lanes=4),
    Piece("sum_all_f32", narrow_stores=STATISTICS, lanes=4),
    Piece("sum_outer_bf16_skinny", narrow_stores=STATISTICS),
    Piece("rope_bf16"),
    Piece("cat_slice_pad_bf16"),
    Piece("matmul_bias_gelu_bf16_8192", 1, has_exponentials=True),
]
WITHOUT_KERNEL = {"matmul_bf16_8192"}
every_piece = pytest.mark.parametrize("piece", PIECES, ids=str)


@dataclass(frozen=True)
class Made:
    params: HeuristicParams
    ptx: str
    resources: Resources

    @property
    def body(self) -> list[str]:
        return instructions(entry_body(self.ptx))

    @property
    def main_part(self) -> list[str]:
        """The loop that loads the most vectors; everything, where rows and tiles are no loop."""
        bodies = [body for body in loops(entry_body(self.ptx)) if WIDEST in loads(body)]
        return max(bodies, key=len, default=self.body)


@functools.cache
def groups(case: str) -> tuple:
    fusion, inputs = optimized(case, stores_views=True)
    return tuple(segment(fusion, inputs, "cuda").groups)


@functools.cache
def made(piece: Piece) -> Made:
    group = groups(piece.case)[piece.number]
    fusion = group.fusion.clone()
    schedule.schedule(fusion, group.scheduler, group.params)
    cap = group.params.cparams.maxrregcount
    texts = fusion.compile_cuda(DataType.Int32, maxrregcount=cap)
    return Made(group.params, texts.ptx, resources(texts.cubin)[texts.name])


def test_every_kernel_of_the_suite_is_here() -> None:
    without = (SchedulerType.expr_eval, SchedulerType.no_op)
    found = {
        (case.name, i)
        for case in cases.cuda_cases()
        if case.name not in WITHOUT_KERNEL
        for i, group in enumerate(groups(case.name))
        if group.scheduler not in without
    }
    assert found == {(piece.case, piece.number) for piece in PIECES}


def lanes_of(params: HeuristicParams) -> int:
    """Elements of a vector, as the params of each scheduler say it."""
    names = {
        SchedulerType.pointwise: ["vectorization_factor"],
        SchedulerType.resize: ["vectorization_factor"],
        SchedulerType.transpose: ["vectorize_factor1"],
        SchedulerType.reduction: ["unroll_factor_inner_reduction", "unroll_factor_iter_dom"],
        SchedulerType.inner_persistent: ["unroll_factor_inner_reduction"],
        SchedulerType.inner_outer_persistent: ["unroll_factor_inner_reduction"],
    }[params.scheduler_type]
    # A sum of columns has its vectors along what it keeps.
    is_of_columns = (
        params.scheduler_type == SchedulerType.reduction and params.unroll_factor_iter_dom > 1
    )
    return getattr(params, names[-1] if is_of_columns else names[0])


@every_piece
def test_accesses_are_as_wide_as_the_params_say(piece: Piece) -> None:
    kernel = made(piece)
    element = 4 if piece.lanes == 4 else 2  # bytes
    assert lanes_of(kernel.params) * element == WIDEST
    assert set(loads(kernel.body)) == {WIDEST} | piece.narrow_loads
    assert set(stores(kernel.body)) - {WIDEST} == piece.narrow_stores
    # Values of rows are narrow, all else is whole vectors.
    assert set(loads(kernel.main_part)) - piece.narrow_loads == {WIDEST}


@every_piece
def test_registers_are_under_the_cap(piece: Piece) -> None:
    """Under the cap of the scheduler, and that of a block."""
    kernel = made(piece)
    threads = kernel.params.lparams.bdimx * kernel.params.lparams.bdimy
    assert kernel.resources.registers <= kernel.params.cparams.maxrregcount
    assert kernel.resources.registers * threads <= 64 * 1024


@every_piece
def test_nothing_is_kept_in_local_memory(piece: Piece) -> None:
    kernel = made(piece)
    assert local_accesses(kernel.body) == []
    spilled = -(-SPILLED_BYTES.get(piece.case, 0) // 8) * 8  # a stack is a multiple of 8 bytes
    assert kernel.resources.stack_bytes <= max(piece.stack_bytes, spilled)


@every_piece
def test_no_element_has_a_branch_of_its_own(piece: Piece) -> None:
    """A vector has one, for its place in the tensor, or two where several tensors meet in it."""
    part = made(piece).main_part
    vectors = loads(part).count(WIDEST) + stores(part).count(WIDEST)
    assert branches(part) <= max(vectors * piece.lanes // 4, vectors + 4)


@every_piece
def test_exponentials_are_one_instruction_where_the_result_is_rounded(piece: Piece) -> None:
    ptx = made(piece).ptx
    assert ("ex2.approx.ftz.f32" in ptx) == piece.has_exponentials
    # `expf` multiplies by log2(e) / 252 and rounds to a multiple of 252 first.
    assert (re.search(r"0f437C0000", ptx) is not None) == piece.has_exact_exponentials
