"""Arrays of narrow floats that stay packed while threads meet."""

from __future__ import annotations

import re

import pytest
from cuda_kernels import has_nvrtc

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    Pipelined,
    TensorView,
)

THREADS, WIDTH, COLUMNS = 32, 8, 1024


def rows_ahead(*, keeps_rows: bool) -> FusionDefinition:
    """Sums of what is above the mean of a row. Rows are loaded ahead, and read from shared memory
    twice, or once into registers."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, COLUMNS], contiguity=True, dtype=DataType.BFloat16)

        def wide() -> TensorView:
            return fd.ops.cast(x, dtype=DataType.Float)

        mean = fd.ops.mul(fd.ops.sum(wide(), [1]), 1 / COLUMNS)
        above = fd.ops.relu(fd.ops.sub(wide(), fd.ops.broadcast(mean, [False, True])))
        fd.add_output(fd.ops.sum(above, [1]))

        sums = [t for t in fd.fusion.tensors() if t.has_reduction()]
        row = x.cache_after(LoadStoreOpType.tma)
        row.set_memory_type(MemoryType.shared)
        uses = list(row.uses())
        copied = [uses] if keeps_rows else [[use] for use in uses]
        vectors = [row.cache_after(cached_uses=some) for some in copied]
        partials = []
        for total in sums:  # [blocks, rows of a block, vectors of a thread, threads, WIDTH]
            total.split(1, WIDTH)
            total.split(1, THREADS)
            total.split(0, 2, inner_split=False)
            partials.append(total.rfactor([2, 4]))
        others = [t for t in fd.fusion.tensors() if t not in (x, row)]
        fd.sched.transform_like(partials[0], others)
        partials[0].axis(0).parallelize(ParallelType.grid_x)
        partials[0].axis(3).parallelize(ParallelType.block_x)
        fd.sched.parallelize_like(partials[0], -1, others)
        for vector in vectors:
            vector.axis(4).parallelize(ParallelType.vectorize)
        row.split(1, 256)
        row.split(0, 2, inner_split=False)
        row.axis(0).parallelize(ParallelType.grid_x)
        row.axis(3).parallelize(ParallelType.tma)
        fd.sched.inline_at(partials[0], 2, selected_tensors=[row])
        fd.sched.inline_most(others)
        row.circular_buffer(3, 2, Pipelined(uses_mbarrier_for_war=True))
    return fd


def kept_arrays(fd: FusionDefinition) -> list[str]:
    source = fd.fusion.print_kernel(target="cuda")
    assert all(f"{part} of 3 stages" in source for part in ("Prolog", "Main", "Epilog"))
    return re.findall(r"keep_packed<\d+>\((\w+)\)", source)


def test_rows_in_registers_stay_packed_in_each_part_of_the_loop() -> None:
    main, epilogue = kept_arrays(rows_ahead(keeps_rows=True))
    assert main == epilogue


def test_an_array_that_another_part_of_the_loop_declares_anew_is_not_read_there() -> None:
    assert kept_arrays(rows_ahead(keeps_rows=False)) == []


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
@pytest.mark.parametrize("keeps_rows", [True, False])
def test_a_loop_in_parts_compiles(keeps_rows: bool) -> None:
    assert rows_ahead(keeps_rows=keeps_rows).fusion.compile_cuda(architecture="sm_90a").cubin
