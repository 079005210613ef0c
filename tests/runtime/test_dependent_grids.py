"""Kernels that begin while the one before them runs: their results, code and launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from cuda_kernels import cuda_text, has_nvrtc
from translated import rebuilt

import nvfuser_direct as nvf
from nvfuser_direct import (
    CompileParams,
    Fusion,
    FusionDefinition,
    KernelExecutor,
    ParallelType,
    UserError,
    call_with_options,
    translate_fusion,
)

if TYPE_CHECKING:
    from collections.abc import Callable

BX, TX = ParallelType.grid_x, ParallelType.block_x


def link(*, waits: bool = True, signals: bool = True) -> FusionDefinition:
    """x * 2 + w, 128 elements a block; `w` is older than the grid that writes x."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        w = fd.define_tensor([-1], contiguity=True)
        late = fd.ops.wait_for_prior_grid([x, w]) if waits else fd.ops.set(x)
        y = fd.ops.add(fd.ops.mul(late, 2.0), w)
        last = fd.ops.launch_dependent_grid([y]) if signals else y
        fd.add_output(last)
        last.split(0, 128)
        fd.sched.transform_like(last)
        last.axis(0).parallelize(BX)
        last.axis(1).parallelize(TX)
        fd.sched.parallelize_like(last)
        fd.sched.inline_most()
    return fd


@pytest.mark.parametrize("size", [1, 127, 100_003])
def test_a_chain_of_kernels_sees_what_each_one_wrote(
    size: int, target: str, rng: torch.Generator
) -> None:
    w = torch.randn(size, generator=rng).to(target)
    first, middle = KernelExecutor(), KernelExecutor()
    x = torch.randn(size, generator=rng).to(target)
    first.compile(link(waits=False).fusion, [x, w])
    middle.compile(link().fusion, [x, w])
    (y,) = first.run([x, w])
    expected = x.double() * 2 + w.double()
    for _ in range(20):
        (y,) = middle.run([y, w])
        expected = (expected * 2 + w.double()).float().double()
    torch.testing.assert_close(y.double(), expected, rtol=1e-5, atol=1e-5)


def test_the_executor_says_whether_kernels_may_overlap(target: str) -> None:
    x = torch.ones(8, device=target)
    executor = KernelExecutor()
    executor.compile(link(waits=False).fusion, [x, x])
    assert not executor.is_programmatic_dependent_launch_enabled()
    executor = KernelExecutor()
    assert not executor.is_programmatic_dependent_launch_enabled()
    executor.compile(link().fusion, [x, x])
    overlaps = target == "cuda" and torch.cuda.get_device_capability() >= (9, 0)
    assert executor.is_programmatic_dependent_launch_enabled() is overlaps


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_ptx_has_the_instructions_from_hopper_on() -> None:
    ptx = link().fusion.compile_cuda(architecture="sm_90a").ptx
    assert ptx.count("griddepcontrol.wait;") == 1
    assert ptx.count("griddepcontrol.launch_dependents;") == 1
    wait = ptx.index("griddepcontrol.wait;")
    assert "ld.global" not in ptx[:wait]
    assert "ld.global.nc" not in ptx  # a compiler may move these in front of the wait
    assert "griddepcontrol" not in link().fusion.compile_cuda(architecture="sm_80").ptx


def test_kernels_for_the_cpu_have_neither() -> None:
    text = link().fusion.print_kernel(target="cpu")
    assert "grid();" not in text
    assert "wait_for_prior_grid();" in cuda_text(link().fusion)


def test_a_plan_of_several_kernels_computes_the_same(target: str, rng: torch.Generator) -> None:
    """The automatic schedulers take both for copies."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.exp(fd.ops.wait_for_prior_grid([x]))
        fd.add_output(fd.ops.launch_dependent_grid([fd.ops.sum(y, [1])]))
        fd.add_output(fd.ops.add(y, 1.0))
    data = torch.randn(37, 65, generator=rng).to(target)
    total, shifted = fd.execute([data])
    torch.testing.assert_close(total.double(), data.double().exp().sum(1), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(shifted.double(), data.double().exp() + 1, rtol=1e-5, atol=1e-5)


def test_the_evaluator_copies(rng: torch.Generator) -> None:
    x, w = torch.randn(2, 9, generator=rng)
    (out,) = link().fusion.evaluate([x, w])
    torch.testing.assert_close(out, x * 2 + w)


def test_they_are_printed_translated_and_kept() -> None:
    fusion = link().fusion
    text = str(fusion)
    assert "= waitForPriorGrid(T0_g_float" in text
    assert "= launchDependentGrid(T" in text
    script = translate_fusion(fusion, schedule=True)
    assert "fd.ops.wait_for_prior_grid([tv0, tv1])" in script
    assert "fd.ops.launch_dependent_grid([" in script
    kernels = [
        each.print_kernel(target="cuda", comments=False)
        for each in (fusion, rebuilt(script).fusion)
    ]
    assert kernels[0] == kernels[1]
    assert Fusion.deserialize(fusion.serialize()).serialize() == fusion.serialize()


def scaled() -> FusionDefinition:
    with FusionDefinition() as fd:
        x, w = (fd.define_tensor([-1, -1], contiguity=True) for _ in range(2))
        fd.add_output(fd.ops.mul(fd.ops.exp(x), w))
    nvf.schedule.trivial(fd.fusion)
    return fd


def with_option(function: Callable[[], Any]) -> Any:
    return call_with_options(function, ["dependent_launch"], [])


def hopper_ptx(fusion: Fusion) -> str:
    return str(fusion.compile_cuda(architecture="sm_90a").ptx)


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_with_the_option_all_kernels_wait_and_signal() -> None:
    """In front of the first access to global memory, from Hopper on."""
    fd = scaled()
    ptx = with_option(lambda: hopper_ptx(fd.fusion))
    head, wait, body = ptx.partition("griddepcontrol.wait;")
    before, signal, behind = body.partition("griddepcontrol.launch_dependents;")
    assert wait
    assert signal
    assert "griddepcontrol" not in behind
    for part in (head, before):
        assert "ld.global" not in part
        assert "st.global" not in part
    assert "ld.global.nc" not in behind  # a compiler may move these in front of the wait
    assert "griddepcontrol" not in hopper_ptx(fd.fusion)
    assert with_option(lambda: hopper_ptx(link().fusion)) == hopper_ptx(link().fusion)
    older = with_option(lambda: fd.fusion.compile_cuda(architecture="sm_80").ptx)
    assert "griddepcontrol" not in older
    assert "prior_grid" not in with_option(lambda: fd.fusion.print_kernel(target="cpu"))


@pytest.mark.skipif(not has_nvrtc(), reason="no NVRTC")
def test_kernels_whose_blocks_wait_for_each_other_do_not_begin_early() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        total = fd.ops.sum(x, [0])
        out = fd.ops.sub(x, fd.ops.broadcast(total, [True]))
        fd.add_output(out)
        for tensor in (total, total.uses()[0].output(0), out):
            tensor.axis(0).parallelize(BX)
    assert "griddepcontrol" not in with_option(lambda: hopper_ptx(fd.fusion))


def test_segments_that_begin_early_compute_the_same(target: str, rng: torch.Generator) -> None:
    """Each reads what the one before it wrote, in memory that earlier ones used."""
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1, -1], contiguity=True)
        for _ in range(6):
            total = fd.ops.broadcast(fd.ops.sum(y, [1]), [False, True])
            y = fd.ops.segment_set(fd.ops.sub(y, fd.ops.mul(total, 1e-3)))
        fd.add_output(fd.ops.neg(y))
    for _ in range(8):
        data = torch.randn(257, 771, generator=rng).to(target)
        expected = data.double()
        for _ in range(6):
            expected = expected - expected.sum(1, keepdim=True) * 1e-3
        (out,) = fd.execute([data], _enable_options=["dependent_launch", "launch_graphs(2)"])
        torch.testing.assert_close(out.double(), -expected, rtol=1e-4, atol=1e-4)
        (out,) = fd.execute([data], _enable_options=["dependent_launch"])
        torch.testing.assert_close(out.double(), -expected, rtol=1e-4, atol=1e-4)


def test_a_list_without_tensors_is_an_error() -> None:
    with FusionDefinition() as fd:
        for op in (fd.ops.wait_for_prior_grid, fd.ops.launch_dependent_grid):
            with pytest.raises(
                UserError,
                match=r"(?s)_grid: there is no tensor to copy.*expected: a list of one tensor or "
                r"more.*found: .*an empty list.*fix: .*pass the tensor",
            ):
                op([])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_captured_chain_computes_the_same() -> None:
    """A graph runs its kernels one after the other."""
    size = 4096
    w = torch.randn(size, device="cuda")
    x = torch.randn(size, device="cuda")
    executor = KernelExecutor()
    executor.compile(link().fusion, [x, w], compile_params=CompileParams())
    expected = executor.run([executor.run([x, w])[0], w])[0]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = executor.run([executor.run([x, w])[0], w])[0]
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, expected)
