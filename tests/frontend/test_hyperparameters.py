"""`schedule_hyperparameters`: numbers that every automatic scheduler is held to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import torch
from cuda_kernels import cuda_text

from nvfuser import FusionDefinition, SchedulerHyperParameters, SchedulerType
from nvfuser_direct import schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    Build = Callable[[FusionDefinition, Any], Any]
    Reference = Callable[[torch.Tensor], torch.Tensor]


def normalized(dim: int) -> tuple[Build, Reference]:
    """Values divided by the sum of their exponentials along a dimension."""

    def build(fd: FusionDefinition, x: Any) -> Any:
        return fd.ops.div(x, fd.ops.sum(fd.ops.exp(x), [dim], keepdim=True))

    return build, lambda x: x / x.exp().sum(dim, keepdim=True)


def transposed(fd: FusionDefinition, x: Any) -> Any:
    return fd.ops.exp(fd.ops.permute(x, [1, 0]))


CASES: dict[str, tuple[SchedulerType, Build, Reference]] = {
    "pointwise": (SchedulerType.pointwise, lambda fd, x: fd.ops.exp(x), torch.exp),
    "inner sum": (SchedulerType.reduction, lambda fd, x: fd.ops.sum(x, [1]), lambda x: x.sum(1)),
    "outer sum": (SchedulerType.reduction, lambda fd, x: fd.ops.sum(x, [0]), lambda x: x.sum(0)),
    "inner norm": (SchedulerType.inner_persistent, *normalized(1)),
    "outer norm": (SchedulerType.outer_persistent, *normalized(0)),
    "transpose": (SchedulerType.transpose, transposed, lambda x: x.t().exp()),
}
# Vectors, vectors of a thread, and the bounds of its threads; 0 leaves the choice open.
NUMBERS = [
    (1, 1, 0, 0),
    (2, 3, 0, 0),
    (0, 0, 64, 64),
    (0, 0, 0, 32),
    (4, 2, 96, 160),
    (0, 0, 48, 0),
]
SHAPES = [(64, 128), (33, 257), (1, 1000)]


def defined(build: Build) -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(build(fd, x))
    return fd


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_every_scheduler_stays_right(
    target: str, rng: torch.Generator, name: str, numbers: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    """Whatever numbers are asked for, results are those of the fusion."""
    kind, build, reference = CASES[name]
    fd = defined(build)
    x = torch.randn(shape, generator=rng).to(target)
    fd._setup_schedule([x])
    if not fd.sched.can_schedule(kind)[0]:
        fd._drop_schedule()
        return  # one row, or one element a row, has nothing to transpose
    asked = fd.sched.schedule_hyperparameters()
    asked.vectorize_factor, asked.unroll_factor = numbers[:2]
    asked.threads_per_block_min, asked.threads_per_block_max = numbers[2:]
    fd.sched.schedule(kind)
    fd._finalize_schedule([x])
    (out,) = fd.execute([x])
    torch.testing.assert_close(out, reference(x.double()).float(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_threads_of_a_gpu_stay_in_their_bounds(name: str) -> None:
    """`threads_per_block_min` and `threads_per_block_max`, which need no GPU to be seen."""
    kind, build, _ = CASES[name]
    fusion = defined(build)._complete_entry().build().fusion.clone()
    inputs = [torch.empty(64, 4096)]
    params = schedule.compute_heuristics(fusion, kind, inputs, "cuda")
    chosen = params.lparams.bdimx
    SchedulerHyperParameters(threads_per_block_min=64, threads_per_block_max=64).apply(params)
    assert chosen != 64
    assert params.lparams.bdimx == 64
    schedule.schedule(fusion, kind, params)
    loops = {str(loop) for tensor in fusion.tensors() for loop in tensor.get_loop_domain()}
    if name == "inner norm":  # a thread keeps 16 vectors of 4, which leaves 64 threads for 4,096
        assert any(re.fullmatch(r"iS\d+\{16\}", loop) for loop in loops)
    else:
        assert any(re.fullmatch(r"[ir]threadIdx\.x\d+\{64\}", loop) for loop in loops)
    assert "threadIdx.x" in cuda_text(fusion)


def test_vectors_and_unrolling_are_as_asked() -> None:
    """`vectorize_factor` and `unroll_factor`, in the params that each scheduler reads."""

    def params_of(name: str, vectors: int, unrolled: int) -> Any:
        kind, build, _ = CASES[name]
        fusion = defined(build)._complete_entry().build().fusion
        params = schedule.compute_heuristics(fusion, kind, [torch.empty(512, 4096)], "cuda")
        SchedulerHyperParameters(vectorize_factor=vectors, unroll_factor=unrolled).apply(params)
        return params

    pointwise = params_of("pointwise", 2, 3)
    assert (pointwise.vectorization_factor, pointwise.unroll_factor_inner) == (2, 3)
    inner = params_of("inner sum", 2, 3)
    assert inner.vectorize_inner_reduction
    assert inner.unroll_factor_inner_reduction == 2
    assert inner.unroll_factor_top_of_vectorization == 3
    outer = params_of("outer sum", 2, 0)
    assert outer.vectorize_iter_dom
    assert outer.unroll_factor_iter_dom == 2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("numbers", NUMBERS, ids=str)
@pytest.mark.parametrize("name", CASES)
def test_kernels_of_a_gpu_can_be_compiled(
    name: str, numbers: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    """The numbers make kernels, which needs no GPU to be seen."""
    kind, build, _ = CASES[name]
    fusion = defined(build)._complete_entry().build().fusion.clone()
    inputs = [torch.empty(shape)]
    if not schedule.can_schedule(fusion, kind, inputs, "cuda")[0]:
        return
    params = schedule.compute_heuristics(fusion, kind, inputs, "cuda")
    SchedulerHyperParameters(*numbers).apply(params)
    schedule.schedule(fusion, kind, params)
    assert "__global__" in fusion.print_kernel(target="cuda")
    lparams = params.lparams
    assert lparams.bdimx * lparams.bdimy * lparams.bdimz <= 1024


def test_bounds_mean_nothing_on_a_processor() -> None:
    """There a block is a task without threads."""
    kind, build, _ = CASES["inner norm"]
    fusion = defined(build)._complete_entry().build().fusion
    params = schedule.compute_heuristics(fusion, kind, [torch.empty(64, 4096)], "cpu")
    before = repr(params)
    SchedulerHyperParameters(threads_per_block_min=64).apply(params)
    assert repr(params) == before


@pytest.mark.parametrize(
    ("numbers", "gist"),
    [
        ({"vectorize_factor": 3}, "Vectorization factor must be a power of 2"),
        ({"vectorize_factor": -2}, "Vectorization factor must be a power of 2"),
        ({"unroll_factor": -1}, "Unroll factor must be greater than 0"),
        (
            {"threads_per_block_min": 128, "threads_per_block_max": 64},
            "threads_per_block_min has to be at most threads_per_block_max",
        ),
        ({"is_warp_specialized": True}, "is_warp_specialized is not there yet"),
    ],
)
def test_wrong_numbers(numbers: dict[str, Any], gist: str) -> None:
    """Values are checked when the scheduler is applied; the schedule stays open."""
    fd = defined(CASES["inner sum"][1])
    fd._setup_schedule([torch.ones(4, 8)])
    asked = fd.sched.schedule_hyperparameters()
    for attribute, value in numbers.items():
        setattr(asked, attribute, value)
    with pytest.raises(RuntimeError, match=gist):
        fd.sched.schedule(SchedulerType.reduction)
    for attribute in numbers:
        setattr(asked, attribute, 0)
    fd.sched.schedule(SchedulerType.reduction)
    fd._finalize_schedule([torch.ones(4, 8)])
