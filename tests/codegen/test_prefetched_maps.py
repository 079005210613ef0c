"""Descriptions of tensors, which bulk copies read: fetched where the kernel begins."""

from __future__ import annotations

import pytest
from cuda_kernels import cuda_text, has_nvrtc

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType


def negated(*, has_boxes: bool = True) -> FusionDefinition:
    """-x, a row of 64 a block; rows are loaded and stored as boxes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        tensors = [y]
        if has_boxes:
            box = x.cache_after(LoadStoreOpType.tma)
            row = y.cache_before(LoadStoreOpType.tma)
            for tensor in (box, row):
                tensor.set_memory_type(MemoryType.shared)
            for tensor in (box, y):
                tensor.axis(1).parallelize(ParallelType.tma)
            row.axis(1).parallelize(ParallelType.block_x)
            tensors += [box, row]
        for tensor in tensors:
            tensor.axis(0).parallelize(ParallelType.grid_x)
        fd.sched.inline_at(y, 1)
    return fd


def test_all_descriptions_are_fetched_before_anything_else() -> None:
    text = cuda_text(negated().fusion)
    (line,) = [line.strip() for line in text.splitlines() if "prefetch_maps" in line]
    assert line == "prefetch_maps(T0_map0, T1_map1);"
    for later in ("bulk_groups(", "bulk_load<", "bulk_store("):
        assert text.index("prefetch_maps") < text.index(later)


def test_a_kernel_without_boxes_has_none() -> None:
    assert "prefetch_maps" not in negated(has_boxes=False).fusion.print_kernel(target="cuda")
    assert "prefetch_maps" not in negated().fusion.print_kernel(target="cpu")


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_ptx_fetches_each_description_once() -> None:
    ptx = negated().fusion.compile_cuda(architecture="sm_90a").ptx
    assert ptx.count("prefetch.tensormap") == 2
    assert ptx.index("prefetch.tensormap") < ptx.index("mbarrier.init")
