"""Bulk copies of neighbours in global memory, which need no description of the tensor (10.11)."""

from __future__ import annotations

import re

import pytest
import torch
from bulk_copies import BULK
from cuda_kernels import has_nvrtc
from hard_case import BX, SHARED, TX, check, count, cuda_text, lowered, numbers, par
from translated import rebuilt

from nvfuser_direct import (
    BulkLoad,
    BulkStore,
    CacheHint,
    DataType,
    Fusion,
    FusionDefinition,
    KernelExecutor,
    LoadStoreOpType,
    UserError,
    _core,
    equal_up_to_numbering,
    translate_fusion,
)

pytestmark = pytest.mark.sanitize

RUN = LoadStoreOpType.CpAsyncBulk
LENGTH = 512  # elements of a run: more than a box can have along an axis
WAYS = [
    *("at once", "ahead"),
    pytest.param("by other threads", marks=pytest.mark.lanes_hand_back),
]


def copied(length: int = LENGTH, dtype: DataType = DataType.Float) -> FusionDefinition:
    """A vector, loaded and stored in runs."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True, dtype=dtype)
        y = fd.ops.set(x)
        fd.add_output(y)
        loaded, stored = x.cache_after(RUN), y.cache_before(RUN)
        for tensor in (loaded, stored, y):
            tensor.split(0, length)
            par(tensor, BX)
        for tensor in (loaded, stored):
            tensor.set_memory_type(SHARED)
        for tensor in (loaded, y):
            tensor.axis(1).parallelize(BULK)
        stored.set_allocation_domain(stored.get_loop_domain(), True)
        stored.split(1, 64)
        par(stored, None, None, TX)
        fd.sched.inline_at(y, 1, selected_tensors=[loaded, stored])
    return fd


def sums_of_rows(way: str, columns: int = 2 * LENGTH) -> FusionDefinition:
    """A block has several rows, or none; a row is two runs of a symbolic one."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=[False, True])
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        row = x.cache_after(RUN)
        row.set_memory_type(SHARED)
        partial = y
        for tensor in (row, y):
            tensor.split(1, LENGTH)
            tensor.split(0, 3, inner_split=False)  # [blocks, rows of a block, runs, LENGTH]
            par(tensor, BX)
        row.axis(3).parallelize(BULK)
        y.split(3, 64)
        partial = y.rfactor([2, 3])
        for tensor in (partial, y):
            tensor.axis(-1).parallelize(TX)
        fd.sched.inline_at(partial, 3, selected_tensors=[row])
        fd.sched.inline_at(y, 2, selected_tensors=[partial])
        if way == "ahead":
            row.circular_buffer(3, 2)
        elif way == "by other threads":
            fd.sched.warp_specialize(row, 3, 2, TX)
    return fd


def ptx(fd: FusionDefinition) -> str:
    return fd.fusion.compile_cuda(architecture="sm_90a").ptx


@pytest.mark.parametrize(
    ("dtype", "torch_dtype"),
    [
        (DataType.Float, torch.float32),
        (DataType.BFloat16, torch.bfloat16),
        (DataType.Double, torch.float64),
        (DataType.Char, torch.int8),
    ],
)
def test_runs_are_copied_as_they_are(target, dtype, torch_dtype):
    """Also none."""
    fd = copied(dtype=dtype)
    for runs in (0, 1, 2, 7):
        x = torch.randint(-99, 99, (runs * LENGTH,), device=target).to(torch_dtype)
        executor = KernelExecutor()
        executor.compile(fd.fusion, [x])
        assert torch.equal(executor.run([x])[0], x)


@pytest.mark.parametrize("way", WAYS)
def test_rows_beyond_the_tensor_are_left_out(target, way):
    """Blocks without rows, and loads ahead of the last row."""
    fd = sums_of_rows(way)
    for rows, columns in ((1, LENGTH), (4, 3 * LENGTH), (7, 2 * LENGTH), (64, LENGTH)):
        x = torch.randn(rows, columns + 4, device=target)[:, :columns]
        executor = KernelExecutor()
        executor.compile(fd.fusion, [x])
        (result,) = executor.run([x])
        torch.testing.assert_close(result.double(), x.double().sum(1), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("way", WAYS)
def test_the_race_check_finds_no_race(way):
    def run() -> None:
        x = torch.randn(8, 2 * LENGTH)
        executor = KernelExecutor()
        executor.compile(sums_of_rows(way).fusion, [x])
        executor.run([x])

    _core.call_with_options(run, ["kernel_debug"], [])


def test_a_run_is_told_an_address_and_no_description():
    """The condition around the copy is around the bytes that are expected as well; the group is
    waited for without it."""
    fd = copied()
    kernel = lowered(fd.fusion)
    assert count(kernel, BulkLoad) == count(kernel, BulkStore) == 1
    lines = [line.strip() for line in cuda_text(fd.fusion).splitlines()]
    assert not any("TensorMap" in line for line in lines)
    (load,) = [i for i, line in enumerate(lines) if line.startswith("bulk_load_run<2048>(")]
    assert "&T0[block_x * 512], bulk_groups);" in lines[load]
    assert lines[load - 1] == "if (thread_x == 0 && block_x * 512 < i0) {"
    assert lines[load + 1 : load + 4] == ["}", "bulk_groups.commit();", "bulk_groups.wait<0>();"]
    assert any(line.startswith("bulk_store_run<2048>(&T1[block_x * 512],") for line in lines)


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_nvrtc_compiles_runs_with_hints_and_without():
    text = ptx(copied())
    load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    store = "cp.async.bulk.global.shared::cta.bulk_group"
    assert f"{load} [" in text
    assert f"{store} [" in text
    assert "cp.async.bulk.tensor" not in text

    fd = copied()
    with fd:
        (y,) = fd.fusion.outputs()
        (x,) = fd.fusion.inputs()
        (loaded,) = [use.output(0) for use in x.uses()]
        for tensor in (loaded, y):
            tensor.set_cache_hint(CacheHint.evict_first)
    text = ptx(fd)
    assert f"{load}.L2::cache_hint [" in text
    assert f"{store}.L2::cache_hint [" in text


def test_several_runs_begin_at_any_multiple_of_16_bytes(target):
    """Boxes would have to begin at multiples of 128."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 12], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        row = x.cache_after(RUN)
        row.set_memory_type(SHARED)
        for tensor in (row, y):
            tensor.split(0, 8)
            par(tensor, BX)
        row.axis(2).parallelize(BULK)
        par(y, None, None, TX)
        fd.sched.inline_at(y, 1, selected_tensors=[row])
    check(fd, target, [((rows, 12),) for rows in (1, 8, 13)], lambda x: -x)


def test_text_and_bytes_keep_the_copies():
    fd = sums_of_rows("by other threads")
    text = translate_fusion(fd.fusion, schedule=True)
    assert "cache_after(LoadStoreOpType.CpAsyncBulk)" in text
    source = fd.fusion.print_kernel(target="cuda", comments=False)
    assert rebuilt(text).fusion.print_kernel(target="cuda", comments=False) == source
    again = Fusion.deserialize(fd.fusion.serialize())
    assert equal_up_to_numbering(again, fd.fusion)


# -- refusals --


def refused(columns: int, split: int, rows: int = 1) -> str:
    """Why a tile of a matrix is no run, on both targets alike."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64, columns], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        box = x.cache_after(RUN)
        box.set_memory_type(SHARED)
        for tensor in (box, y):
            tensor.split(1, split)
            tensor.split(0, rows)
            tensor.reorder({2: 1, 1: 2})
            par(tensor, BX)
        for axis in (2, 3) if rows > 1 else (3,):
            box.axis(axis).parallelize(BULK)
        par(y, None, None, None, TX)
        fd.sched.inline_at(y, 2, selected_tensors=[box])
    texts = []
    for target in ("cuda", "cpu"):
        with pytest.raises(UserError) as caught:
            lowered(fd.fusion, target)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in texts[0]
    return texts[0]


def test_a_tile_of_several_rows_is_no_run():
    headline = "A bulk copy without a description of its tensor copies neighbours"
    assert refused(64, 32, rows=4).startswith(headline)


def test_a_run_does_not_reach_beyond_its_axis():
    headline = "A bulk copy without a description of its tensor would reach beyond an axis"
    assert refused(100, 32).startswith(headline)


def test_a_run_consists_of_pieces_of_16_bytes():
    assert refused(60, 6).startswith("A box consists of pieces of 16 bytes")


def test_runs_of_a_launch_divide_the_axis(target):
    x = numbers(LENGTH + 4, device=target)
    executor = KernelExecutor()
    executor.compile(copied().fusion, [x])
    with pytest.raises(UserError) as caught:
        executor.run([x])
    text = str(caught.value)
    assert text.startswith("A bulk copy without a description of its tensor needs runs that divide")
    for part in ("node:", "expected:", "found:    i0 = 516", "fix:"):
        assert part in text


def test_addresses_of_runs_are_multiples_of_16_bytes(target):
    x = numbers(LENGTH + 1, device=target).clone()[1:]
    executor = KernelExecutor()
    executor.compile(copied().fusion, [x])
    with pytest.raises(UserError, match=re.escape("the memory address is not aligned")):
        executor.run([x])


def test_blocks_of_a_cluster_load_no_runs_together():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([1, -1], contiguity=[None, True])
        y = fd.ops.add(x, z)
        fd.add_output(y)
        row = z.cache_after(RUN)
        row.set_memory_type(SHARED)
        for tensor in (row, y):  # [columns / 64, rows / 2, 2, 64]
            tensor.split(1, 64)
            tensor.split(0, 2)
            tensor.reorder({2: 0, 0: 1, 1: 2})
            par(tensor, None, None, BX)
            tensor.axis(2).set_clustered_blocks()
        row.axis(3).parallelize(BULK)
        par(y, None, None, None, TX)
        fd.sched.inline_at(y, 1, selected_tensors=[row])
        fd.sched.warp_specialize(row, 3, 2, TX)
    with pytest.raises(UserError) as caught:
        lowered(fd.fusion)
    assert str(caught.value).startswith("Blocks of a cluster load no runs together\n")
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in str(caught.value)
