"""Boxes that the blocks of a cluster load together: each a part of them, for all (multicast)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch
from hard_case import (
    BX,
    BY,
    SHARED,
    TX,
    TY,
    Compiled,
    check,
    cuda_text,
    lowered,
    numbers,
    par,
    statements,
)
from translated import rebuilt

from nvfuser_direct import (
    BulkLoad,
    FusionDefinition,
    LoadStoreOpType,
    ParallelType,
    UserError,
    _core,
    translate_fusion,
)

TMA = ParallelType.tma
ROWS = 4  # of a block
SHAPES = [(32, 64), (1, 4), (33, 68), (100, 200), (31, 1000)]


def added(
    blocks: int = 2, box: int = 64, stages: int = 3, *, is_specialized: bool = True
) -> FusionDefinition:
    """x [m, n] + z [1, n]: blocks of a cluster have other rows of x, and the same box of z."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([1, -1], contiguity=[None, True])
        y = fd.ops.add(x, z)
        fd.add_output(y)
        a = z.cache_after(LoadStoreOpType.tma)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.split(1, box)
            tensor.split(0, ROWS)
            tensor.split(0, blocks)
            tensor.reorder({3: 0, 0: 1, 1: 2, 2: 3, 4: 4})  # [n / box, m / .., blocks, rows, box]
            par(tensor, None, BY, BX)
            tensor.axis(2).set_clustered_blocks()
        a.axis(4).parallelize(TMA)
        par(y, None, None, None, TY, TX)
        fd.sched.inline_at(y, 1, selected_tensors=[a])
        if is_specialized:
            fd.sched.warp_specialize(a, stages, stages - 1, TY)
        elif stages > 0:
            a.circular_buffer(stages)
    return fd


def loads_of(fd: FusionDefinition) -> list[BulkLoad]:
    return [s for s in statements(lowered(fd.fusion, "cuda")) if isinstance(s, BulkLoad)]


def check_all(target: str) -> None:
    """Rows that are no whole clusters: blocks without rows of their own load their parts."""
    for blocks in (2, 4):
        fd = added(blocks, box=32 * blocks)
        check(fd, target, [[shape, (1, shape[1])] for shape in SHAPES], torch.add)


def test_all_blocks_have_the_whole_box():
    check_all("cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_all_blocks_of_a_gpu_have_the_whole_box():
    """In a process of its own: blocks that wait for each other in vain would do so for ever."""
    done = subprocess.run(
        [sys.executable, "-c", "import test_shared_loads; test_shared_loads.check_all('cuda')"],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_a_block_loads_a_part_into_all():
    fd = added(4, box=128)
    (load,) = loads_of(fd)
    assert load.box == [32]
    text = cuda_text(fd.fusion)
    assert "ClusterStages<3, 4> bulk_stages" in text
    assert "bulk_load_part<128>(" in text  # bytes
    assert "block_x % 4 * 32" in text


def test_nvrtc_compiles_parts_that_are_sent_to_all_blocks():
    ptx = added().fusion.compile_cuda(architecture="sm_90a").ptx
    assert ".multicast::cluster" in ptx
    assert "mbarrier.arrive.shared::cluster.b64" in ptx
    assert "mbarrier.arrive.release.cluster" not in ptx  # it would wait for all stores of a thread


def test_a_cluster_of_one_block_loads_its_own_boxes():
    fd = added(1)
    assert loads_of(fd)[0].box == [64]
    assert "bulk_load<256>(" in cuda_text(fd.fusion)


def test_the_race_check_finds_no_race():
    x, z = numbers(70, 300, device="cpu"), numbers(1, 300, device="cpu")
    run = Compiled(added())
    (out,) = _core.call_with_options(lambda: run(x, z), ["kernel_debug"], [])
    assert torch.equal(out, x + z)


def test_the_schedule_is_translated():
    fd = added()
    text = translate_fusion(fd.fusion, schedule=True)
    again = rebuilt(text)
    kernels = [each.fusion.print_kernel(target="cuda", comments=False) for each in (fd, again)]
    assert kernels[0] == kernels[1]


# -- refusals --


def refused(fd: FusionDefinition, headline: str) -> None:
    """The same on both targets, with all parts."""
    for on in ("cuda", "cpu"):
        with pytest.raises(UserError) as caught:
            lowered(fd.fusion, on)
        assert str(caught.value).startswith(headline)
        for part in ("node:", "expected:", "found:", "fix:"):
            assert part in str(caught.value)


@pytest.mark.parametrize("stages", [0, 3])
def test_boxes_that_no_threads_load_ahead_are_not_shared(stages):
    refused(
        added(is_specialized=False, stages=stages),
        "Blocks of a cluster load a box together that no threads load ahead",
    )


def test_parts_of_a_box_are_equal_lines():
    """Half of 32 floats are 64 bytes, where no box may begin."""
    refused(added(box=32), "A box has no equal parts for the blocks of a cluster")
