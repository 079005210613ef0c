"""wait_for_products: products of warpgroups are groups, between a fence and a wait."""

from __future__ import annotations

from pass_text import BX, BY, TY, check_unchanged, plain, text_around

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    MmaMacroArch,
    MmaMacroEncode,
    ParallelType,
    TensorView,
)

NAME = "wait_for_products"


def load(box: TensorView, block: ParallelType, rows: int) -> None:
    """[1, rows, 64]: a box for each block, swizzled in lines of 128 bytes."""
    box.set_memory_type(MemoryType.shared)
    box.split(2, 8)
    box.split(1, rows)
    box.split(2, 8)
    box.swizzle(3, 4)
    box.axis(1).parallelize(block)
    for axis in range(2, 6):
        box.axis(axis).parallelize(ParallelType.tma)


def multiplied() -> FusionDefinition:
    """[128, 1, 64] times [1, 32, 64], a block for each tile of 64 x 16."""
    macro = MmaMacroEncode(MmaMacroArch.hopper, 64, 16, 16).mma_macro()
    with FusionDefinition() as fd:
        x = fd.define_tensor([128, 1, 64], contiguity=[True, None, True], dtype=DataType.BFloat16)
        w = fd.define_tensor([1, 32, 64], contiguity=[None, True, True], dtype=DataType.BFloat16)
        total = fd.ops.sum(fd.ops.mul(x, w), [2])
        y = fd.ops.neg(total)
        fd.add_output(y)
        total.set_mma_macro(macro)
        a, b = (tensor.cache_after(LoadStoreOpType.tma) for tensor in (x, w))
        a.reorder({1: 0, 0: 1})
        load(a, BY, 64)
        load(b, BX, 16)
        total.split(2, 16)
        for tensor in (total, y):
            tensor.split(1, 16)
            tensor.split(0, 64)
        total.reorder({4: 0, 0: 1, 2: 2, 1: 3, 3: 4, 5: 5})
        y.reorder({2: 1, 1: 2})
        for tensor, first in ((total, 1), (y, 0)):
            tensor.apply_mma_swizzle(macro=macro)
            tensor.axis(first).parallelize(BY)
            tensor.axis(first + 1).parallelize(BX)
    return fd


def lines_of(text: str) -> list[str]:
    """Waits, groups, and the loop of products, without indices."""
    lines = [line.strip() for line in plain(text).splitlines()]
    return [line for line in lines if line.startswith(("ASYNC", "T5_l[0] = mma")) or "in 4" in line]


def test_products_of_neighbouring_iterations_are_one_group() -> None:
    before, after = (lines_of(text) for text in text_around(multiplied(), NAME))
    arrived = ["ASYNCCOMMIT(CpAsyncBulkTensorTile)"]
    arrived += ["ASYNCWAIT(CpAsyncBulkTensorTile, keep_stages=0)"]
    products = ["FOR k3 in 4:", "T5_l[0] = mma(T7_s[(k3 * 16)],"]
    assert before == [*arrived, *products]
    assert after == [
        *arrived,
        "ASYNCWAIT(StMatrix, keep_stages=0)",
        *products,
        "ASYNCCOMMIT(LdMatrix)",
        "ASYNCWAIT(LdMatrix, keep_stages=0)",
    ]


def test_a_kernel_without_products_is_as_it_was() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.neg(fd.define_tensor([16, 64], contiguity=True))
        fd.add_output(y)
        y.axis(0).parallelize(TY)
    check_unchanged(fd, NAME)
