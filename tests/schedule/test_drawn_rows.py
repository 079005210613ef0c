"""Random numbers of rows that no vectors divide: a thread draws four neighbours with one cipher,
and threads of rows read them from shared memory. The numbers stay those of their elements."""

from __future__ import annotations

import re

import pytest
import torch
from cuda_kernels import cuda_text
from scheduled_runs import check_prints_as_python

from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, SchedulerType, schedule

PERSISTENT = SchedulerType.inner_persistent


def dropped_softmax(rows: int, cols: int, dtype: torch.dtype) -> tuple[FusionDefinition, list]:
    x = torch.randn(rows, cols, generator=torch.Generator().manual_seed(rows)).to(dtype)
    with FusionDefinition() as fd:
        t = fd.define_tensor([-1, cols], contiguity=True, dtype=define_dtype(dtype))
        wide = fd.ops.cast(t, DataType.Float)
        noise = fd.ops.uniform(0.0, 1.0, [t.size(0), t.size(1)], dtype=DataType.Float)
        kept = fd.ops.where(fd.ops.lt(noise, 0.9), wide, 0.0)
        total = fd.ops.broadcast(fd.ops.sum(kept, [1]), [False, True])
        fd.add_output(fd.ops.sub(kept, total))
        fd.add_output(kept)
    return fd, [x]


def define_dtype(dtype: torch.dtype) -> DataType:
    return {
        torch.float64: DataType.Double,
        torch.float32: DataType.Float,
        torch.bfloat16: DataType.BFloat16,
    }[dtype]


def run(fd: FusionDefinition, inputs: list, target: str, draws_neighbours: bool) -> list:
    here = [x.to(target) for x in inputs]
    params = schedule.compute_heuristics(fd.fusion, PERSISTENT, here, "cuda")
    params.draws_neighbours = draws_neighbours
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, PERSISTENT, params)
    check_prints_as_python(fusion)
    executor = KernelExecutor()
    executor.compile(fusion, here)
    torch.manual_seed(7)
    return executor.run(here, params.lparams, params.cparams)


SHAPES = [(4300, 59), (4301, 37), (4302, 71), (4227, 233), (1101, 1289)]
TARGETS = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
    ),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_numbers_are_those_of_their_elements(
    shape: tuple[int, int], dtype: torch.dtype, target: str
) -> None:
    fd, inputs = dropped_softmax(*shape, dtype)
    alone = run(fd, inputs, target, draws_neighbours=False)
    together = run(fd, inputs, target, draws_neighbours=True)
    for own, other in zip(together, alone, strict=True):
        assert torch.equal(own, other)
    dropped = (alone[1] == 0).double().mean().item()
    assert 0.05 < dropped < 0.15


def test_a_thread_draws_four_numbers_with_one_cipher() -> None:
    fd, inputs = dropped_softmax(270_000, 59, torch.bfloat16)
    params = schedule.compute_heuristics(fd.fusion, PERSISTENT, inputs, "cuda")
    params.draws_neighbours = True
    fusion = fd.fusion.clone()
    schedule.schedule(fusion, PERSISTENT, params)
    text = cuda_text(fusion)
    (drawn,) = [line for line in text.splitlines() if "= random" in line]
    assert re.search(r"random_\w+\(rng_seed, rng_offset, [^,]*, i\d+\)", drawn)
    assert "copy_vector<4, Memory::Shared, Memory::Registers>" in text


@pytest.mark.parametrize("cols", [233, 1289, 2411])
def test_a_block_draws_four_rows_together(cols: int) -> None:
    fd, _ = dropped_softmax(8, cols, torch.float32)
    inputs = [torch.empty(40_000, cols)]
    fusion = fd.fusion.clone()
    params = schedule.schedule(fusion, PERSISTENT, inputs, "cuda")
    assert params.draws_neighbours
    assert params.lparams.bdimy % 4 == 0
    assert "copy_vector<4, Memory::Shared, Memory::Registers>" in cuda_text(fusion)
    check_prints_as_python(fusion)


@pytest.mark.parametrize(
    ("rows", "cols", "reason"),
    [
        (270_000, 64, "a thread has whole vectors of neighbours"),
        (40_000, 8191, "a block has one row"),
        (500, 1289, "there are few rows"),
    ],
)
def test_threads_with_vectors_or_one_row_draw_their_own(rows: int, cols: int, reason: str) -> None:
    fd, _ = dropped_softmax(8, cols, torch.float32)
    inputs = [torch.empty(rows, cols)]
    params = schedule.compute_heuristics(fd.fusion, PERSISTENT, inputs, "cuda")
    assert not params.draws_neighbours, reason


@pytest.mark.parametrize("is_compared", [True, False])
def test_wide_numbers_stay_with_their_threads(is_compared: bool) -> None:
    """Four of Double are no vector; what is compared with is one of Bool."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 233], contiguity=True, dtype=DataType.Double)
        noise = fd.ops.uniform(0.0, 1.0, [x.size(0), x.size(1)], dtype=DataType.Double)
        if is_compared:
            kept = fd.ops.where(fd.ops.lt(noise, 0.9), x, 0.0)
        else:
            kept = fd.ops.mul(x, noise)
        total = fd.ops.broadcast(fd.ops.sum(kept, [1]), [False, True])
        fd.add_output(fd.ops.div(kept, total))
    inputs = [torch.empty(40_000, 233, dtype=torch.float64)]
    fusion = fd.fusion.clone()
    params = schedule.schedule(fusion, PERSISTENT, inputs, "cuda")
    assert params.draws_neighbours == is_compared
    check_prints_as_python(fusion)
