"""Waits at barriers in shared memory: without a bound, or with one that kernel_debug gives."""

from __future__ import annotations

import pytest
from cuda_kernels import has_nvrtc

from nvfuser_direct import FusionDefinition, LoadStoreOpType, MemoryType, ParallelType, _core

pytestmark = pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")

BX, TX = ParallelType.grid_x, ParallelType.block_x


def row_sums(*, is_specialized: bool) -> FusionDefinition:
    """Sums of rows, whose boxes are loaded ahead; by threads that do nothing else, or not."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 256], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        row = x.cache_after(LoadStoreOpType.tma)
        row.set_memory_type(MemoryType.shared)
        for tensor in (row, y):
            tensor.split(0, 8, inner_split=False)
            tensor.axis(0).parallelize(BX)
        row.axis(2).parallelize(ParallelType.tma)
        y.axis(2).parallelize(TX)
        fd.sched.inline_at(y, 2, selected_tensors=[row])
        if is_specialized:
            fd.sched.warp_specialize(row, 3, 2, TX)
        else:
            row.circular_buffer(3, 2)
    return fd


def ptx(fd: FusionDefinition, *options: str) -> str:
    def compiled() -> str:
        return fd.fusion.compile_cuda(architecture="sm_90a").ptx

    return _core.call_with_options(compiled, list(options), [])


@pytest.mark.parametrize("is_specialized", [False, True])
def test_a_wait_that_does_not_end_says_what_it_waits_for(*, is_specialized: bool) -> None:
    text = ptx(row_sums(is_specialized=is_specialized), "kernel_debug")
    waits = text.count("mbarrier.try_wait.parity")
    assert waits > 0
    for instruction in ("%globaltimer", "trap;", "vprintf"):
        assert instruction in text
    names = ["a stage that is loaded", "a stage that is handed back"]
    for name in names if is_specialized else ["a group of loads"]:
        assert ", ".join(str(ord(letter)) for letter in name) in text  # a string of the message


@pytest.mark.parametrize("is_specialized", [False, True])
def test_without_the_option_a_wait_asks_the_barrier_and_nothing_else(
    *, is_specialized: bool
) -> None:
    text = ptx(row_sums(is_specialized=is_specialized))
    assert "mbarrier.try_wait.parity" in text
    for instruction in ("globaltimer", "trap", "vprintf", "nanosleep"):
        assert instruction not in text
