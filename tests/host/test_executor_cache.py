"""The executor cache: which calls share what, and what happens where there is no kernel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from programs import matmul, matrix, rand

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    FusionExecutorCache,
    call_with_options,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def defined(define: Callable[[FusionDefinition], None]) -> FusionDefinition:
    with FusionDefinition() as fd:
        define(fd)
    return fd


def exp(fd: FusionDefinition) -> None:
    fd.add_output(fd.ops.exp(matrix(fd)))


def strided_exp(fd: FusionDefinition) -> None:
    fd.add_output(fd.ops.exp(fd.define_tensor([-1, -1], contiguity=False)))


def reshaped(fd: FusionDefinition) -> None:
    x = matrix(fd)
    fd.add_output(fd.ops.exp(fd.ops.reshape(x, fd.define_vector(2))))


# ---- What calls share ----------------------------------------------------------------------------


def test_equal_signatures_share_a_plan_and_like_sizes_a_kernel(
    target: str, rng: torch.Generator
) -> None:
    fd = defined(strided_exp)
    for sizes in [(60, 70), (60, 70), (63, 69), (60, 70), (63, 69)]:
        x = rand(target, rng, *sizes)
        torch.testing.assert_close(fd.execute([x])[0], torch.exp(x))
    stats = fd.fec.stats()
    assert (stats.hits, stats.misses, stats.plans) == (3, 2, 2)
    assert (stats.specializations, stats.runtimes, stats.compiled) == (1, 1, 1)
    x = rand(target, rng, 70, 60).t()
    torch.testing.assert_close(fd.execute([x])[0], torch.exp(x))
    stats = fd.fec.stats()
    assert (stats.plans, stats.compiled) == (3, stats.runtimes)
    assert repr(stats).startswith(
        "ExecutorCacheStats(hits=3, misses=3, plans=3, specializations=1, runtimes="
    )


def test_numbers_that_are_sizes_are_part_of_a_signature(target: str, rng: torch.Generator) -> None:
    fd = defined(reshaped)
    x = rand(target, rng, 4, 6)
    for sizes in [(2, 12), (12, 2), (2, 12), (4, 6), (6, 4)]:
        torch.testing.assert_close(fd.execute([x, *sizes])[0], torch.exp(x).reshape(sizes))
    stats = fd.fec.stats()
    assert (stats.hits, stats.misses) == (1, 4)
    assert stats.runtimes == stats.compiled >= stats.specializations > 1


def test_numbers_that_are_no_sizes_are_not(target: str, rng: torch.Generator) -> None:
    def scaled(fd: FusionDefinition) -> None:
        x = matrix(fd)
        fd.add_output(fd.ops.mul(x, fd.define_scalar(dtype=DataType.Double)))

    fd = defined(scaled)
    x = rand(target, rng, 4, 6)
    for factor in (0.5, -2.0, float("inf")):
        torch.testing.assert_close(fd.execute([x, factor])[0], x * factor)
    assert (fd.fec.stats().hits, fd.fec.stats().misses) == (2, 1)


def test_options_have_kernels_of_their_own_wherever_they_come_from() -> None:
    fd = defined(exp)
    x = torch.ones(3, 4)
    fd.execute([x])
    fd.execute([x], _disable_options=["fma"])
    assert fd.fec.stats().runtimes == 2
    call_with_options(lambda: fd.execute([x]), [], ["fma"])
    fd.execute([x], _enable_options=[], _disable_options=("fma",))
    assert (fd.fec.stats().runtimes, fd.fec.stats().hits) == (2, 2)
    fd.execute([x], _enable_options=["fast_math"], _disable_options=["fma"])
    assert fd.fec.stats().runtimes == 3


def test_a_definition_scheduled_by_hand_is_not_scheduled() -> None:
    with FusionDefinition() as fd:
        y = fd.ops.exp(matrix(fd))
        fd.add_output(y)
        y.split(1, 4)
    fec = FusionExecutorCache(fd.fusion, auto_schedule=False)
    x = torch.randn(3, 10)
    torch.testing.assert_close(fec.execute([x])[0], torch.exp(x))
    assert "ceilDiv(i1, 4)" in fec.get_most_recent_scheduled_ir()
    assert len(fec.last_launches()) == 1


def test_the_cache_keeps_the_definition(rng: torch.Generator) -> None:
    fusion = defined(exp).fusion
    fec = FusionExecutorCache(fusion)
    assert fec.fusion() is fusion
    del fusion
    x = torch.randn(3, 4, generator=rng)
    torch.testing.assert_close(fec.execute([x])[0], torch.exp(x))


def test_a_cache_says_whether_it_has_run(rng: torch.Generator) -> None:
    fec = FusionExecutorCache(defined(exp).fusion)
    assert not fec.has_run()
    fec.execute([torch.randn(3, 4, generator=rng)])
    assert fec.has_run()
    assert len(fec.last_pieces()) == 1


def test_inputs_come_from_any_iterable(target: str, rng: torch.Generator) -> None:
    fd = defined(reshaped)
    x = rand(target, rng, 4, 6)
    for inputs in ([x, 3, 8], (x, 3, 8), (i for i in (x, 3, 8)), [x, [3, 8]], [x, (3, 8)]):
        torch.testing.assert_close(fd.execute(inputs)[0], torch.exp(x).reshape(3, 8))
    assert fd.fec.stats().misses == 1


# ---- Schedulers ----------------------------------------------------------------------------------


def scheduler_of(fd: FusionDefinition, x: torch.Tensor) -> str:
    """The scheduler in the name of the kernel for these inputs."""
    match = re.search(r"nvfuser_(\w+)_f\d+_c\d+_r\d+_g\d+\(", fd.fec.get_cuda_kernel([x]))
    assert match is not None
    return match[1]


def test_the_first_scheduler_that_takes_a_fusion_schedules_it(
    target: str, rng: torch.Generator
) -> None:
    def transposed(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.sin(fd.ops.permute(fd.ops.exp(matrix(fd)), [1, 0])))

    def reduced(fd: FusionDefinition) -> None:
        fd.add_output(fd.ops.sum(fd.ops.exp(matrix(fd)), [1]))

    x = rand(target, rng, 300, 500)
    for define, reference in (
        (exp, torch.exp),
        (transposed, lambda x: torch.sin(torch.exp(x).t())),
        (reduced, lambda x: torch.exp(x).sum(1)),
    ):
        fd = defined(define)
        torch.testing.assert_close(fd.execute([x])[0], reference(x), atol=1e-5, rtol=1e-4)
        assert (
            scheduler_of(fd, x)
            == schedule.find_compatible_schedulers(fd.fusion.clone(), [x])[0].name
        )


def test_what_a_shape_gets_does_not_depend_on_those_before_it(
    target: str, rng: torch.Generator
) -> None:
    shapes = [(64, 64), (3, 5), (1, 7), (1024, 96), (5, 1), (64, 33), (0, 4)]
    sources: dict[tuple[int, ...], set[str]] = {shape: set() for shape in shapes}
    for order in (shapes, shapes[::-1], shapes[3:] + shapes[:3]):
        fd = defined(exp)
        for shape in order:
            x = rand(target, rng, *shape)
            torch.testing.assert_close(fd.execute([x])[0], torch.exp(x))
            text = fd.fec.get_most_recent_scheduled_ir(True)
            assert text == fd.fec.get_scheduled_ir([x], True)
            sources[shape].add(text)
        assert fd.fec.stats().compiled == fd.fec.stats().runtimes
    assert all(len(texts) == 1 for texts in sources.values())


def test_tensors_that_start_anywhere_run(target: str, rng: torch.Generator) -> None:
    """Vectors of a kernel for aligned tensors would not serve a slice."""
    fd = defined(exp)
    base = rand(target, rng, 1 + 64 * 64)
    for start in (0, 1, 0):
        x = base[start : start + 64 * 64].view(64, 64)
        torch.testing.assert_close(fd.execute([x])[0], torch.exp(x))
    assert fd.fec.stats().hits == 1


# ---- Threads -------------------------------------------------------------------------------------


def test_threads_compile_each_kernel_once(target: str, rng: torch.Generator) -> None:
    """16 threads, shapes of two specializations, two sets of options."""
    fd = defined(reshaped)
    cases: list[tuple[torch.Tensor, tuple[int, int]]] = []
    for rows in (1, 2, 3, 8):
        x = rand(target, rng, rows * 2, 6)
        cases += [(x, (rows * 2, 6)), (x, (rows, 12))]
    failures: list[BaseException] = []
    start = threading.Barrier(16)

    def work(number: int) -> None:
        try:
            start.wait()
            for i in range(40):
                x, sizes = cases[(number * 7 + i) % len(cases)]
                options = ["fma"] if (i // len(cases)) % 2 else []
                (out,) = fd.execute([x, *sizes], _disable_options=options)
                torch.testing.assert_close(out, torch.exp(x).reshape(sizes))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
    stats = fd.fec.stats()
    assert stats.plans == 2 * len(cases)
    assert stats.hits + stats.misses == 16 * 40
    assert stats.runtimes == stats.compiled >= 2 * stats.specializations


# ---- Without a kernel ----------------------------------------------------------------------------


def test_what_has_no_kernel_is_evaluated(target: str, rng: torch.Generator) -> None:
    fd = defined(matmul)
    x, y = rand(target, rng, 4, 6), rand(target, rng, 6, 5)
    for _ in range(2):
        torch.testing.assert_close(fd.execute([x, y])[0], x @ y, atol=1e-3, rtol=1e-3)
    assert fd.fec.is_compiled([x, y])
    assert fd.fec.get_cuda_kernel([x, y]) == fd.fec.get_scheduled_ir([x, y]) == ""
    assert (fd.fec.last_launches(), fd.fec.stats().compiled) == ([], 0)
    with pytest.raises(NotImplementedError, match="MatmulOp"):
        fd.execute([x, y], _disable_options=["fallback"])


def test_sizes_that_a_kernel_does_not_serve_are_evaluated(
    target: str, rng: torch.Generator
) -> None:
    """An axis without elements leaves an output that stands in its loop unwritten."""

    def define(fd: FusionDefinition) -> None:
        x = matrix(fd)
        total = fd.ops.sum(x, [1])
        fd.add_output(fd.ops.add(fd.ops.broadcast(total, [False, True]), x))
        fd.add_output(total)

    fd = defined(define)
    for sizes in [(4, 6), (4, 0), (3, 2), (4, 0), (0, 3)]:
        x = rand(target, rng, *sizes)
        out, total = fd.execute([x])
        torch.testing.assert_close(total, x.sum(1), atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(out, x.sum(1)[:, None] + x, atol=1e-5, rtol=1e-5)
        assert total.shape == (sizes[0],)


def test_evaluated_outputs_are_tensors_of_the_inputs_framework(rng: torch.Generator) -> None:
    fd = defined(matmul)
    x = torch.randn(3, 4, generator=rng).numpy()
    (out,) = fd.execute([x, x.T.copy()])
    assert isinstance(out, np.ndarray)
    np.testing.assert_allclose(out, x @ x.T, rtol=1e-5, atol=1e-5)


def test_evaluated_outputs_are_what_the_evaluator_made(target: str, rng: torch.Generator) -> None:
    """Scales are laid out in tiles: the memory of the output has more than its elements."""
    from nvfuser_direct.evaluator.steps import EvaluatedFusion

    made: list[torch.Tensor | None] = []
    evaluate = EvaluatedFusion.evaluate

    def evaluate_and_note(*args: Any) -> list[torch.Tensor | None]:
        made.extend(evaluate(*args))
        return made

    fd = defined(matmul)
    x, y = rand(target, rng, 4, 6), rand(target, rng, 6, 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EvaluatedFusion, "evaluate", evaluate_and_note)
        (out,) = fd.execute([x, y])
    assert out is made[0]


def test_conjugated_results_of_an_evaluation_are_plain_tensors() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([2, 2], contiguity=True, dtype=DataType.ComplexFloat)
        fd.add_output(fd.ops.matmul(x, x))
        fd.add_output(fd.ops.imag(x))
    x = torch.tensor([[1 + 2j, 3 - 1j], [0.5j, -1.0]])
    product, imaginary = fd.execute([x])
    torch.testing.assert_close(product, x @ x)
    torch.testing.assert_close(imaginary, x.imag)


@pytest.mark.parametrize("name", ["exp", "matmul"])
def test_updates_are_written_whether_evaluated_or_not(
    target: str, rng: torch.Generator, name: str
) -> None:
    """An input that is updated, and no other output."""
    with FusionDefinition() as fd:
        x = matrix(fd)
        fd.add_output(fd.ops.exp(x) if name == "exp" else fd.ops.matmul(x, x), x)
    value = rand(target, rng, 3, 3)
    expected = torch.exp(value) if name == "exp" else value @ value
    assert fd.execute([value]) == []
    torch.testing.assert_close(value, expected, atol=1e-3, rtol=1e-3)


def test_a_scalar_fusion_runs_where_it_is_sent(target: str) -> None:
    with FusionDefinition() as fd:
        value = fd.define_scalar(dtype=DataType.Double)
        fd.add_output(fd.ops.full([3], value, DataType.Float))
    device = 0 if target == "cuda" else None
    (out,) = fd.execute([1.5], device=device)
    assert out.tolist() == [1.5] * 3
    if target == "cuda":
        assert out.device.type == "cuda"


# ---- Errors --------------------------------------------------------------------------------------


def test_inputs_that_do_not_fit_are_refused_at_every_call(rng: torch.Generator) -> None:
    fd = defined(exp)
    x = torch.randn(2, 3, generator=rng)
    fd.execute([x])
    for inputs, text in [
        ([], "less argument than kernel's input"),
        ([x, x], "more arguments than kernel's inputs"),
        ([x[0]], "bound to a tensor of rank 2"),
        ([x.double()], "bound to a tensor of dtype float"),
        ([1.0], "to be an at::Tensor but got scalar"),
    ]:
        for _ in range(2):
            with pytest.raises(RuntimeError, match=text):
                fd.execute(inputs)
        assert not fd.fec.is_compiled(inputs)
    assert fd.fec.stats().plans == 1


@pytest.mark.parametrize(
    ("device", "text"),
    [
        (-1, "Expected the index of a CUDA device, an int from 0 on, but got -1"),
        ("cuda", "Expected the index of a CUDA device, an int from 0 on, but got 'cuda'"),
        (256, "Maximum device index is 255"),
        (2**40, "Maximum device index is 255"),
    ],
)
def test_devices_that_cannot_be_are_refused(device: Any, text: str) -> None:
    fec = FusionExecutorCache(defined(exp).fusion)
    with pytest.raises(RuntimeError, match=text):
        fec.execute([torch.ones(2, 2)], device=device)


@pytest.mark.parametrize("names", ["fma", "", "fast_math"])
def test_a_text_is_no_list_of_options(names: str) -> None:
    fec = FusionExecutorCache(defined(exp).fusion)
    with pytest.raises(TypeError, match="expected a list of names of options, but got"):
        fec.execute([torch.ones(2, 2)], _disable_options=names)


@pytest.mark.gpu
def test_a_call_that_compiles_is_refused_during_capture() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    fd = defined(exp)
    x = torch.randn(8, 9, device="cuda")
    fd.execute([x])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (out,) = fd.execute([x])
        with pytest.raises(RuntimeError, match="No kernel is compiled while a CUDA graph"):
            fd.execute([x.view(9, 8)])
    x.fill_(0.5)
    graph.replay()
    torch.testing.assert_close(out, torch.exp(x))
    torch.testing.assert_close(fd.execute([x.view(9, 8)])[0], torch.exp(x).view(9, 8))


# ---- Other processes -----------------------------------------------------------------------------


DUMPED = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    fd.add_output(fd.ops.reshape(fd.define_tensor([-1, -1], contiguity=True), fd.define_vector(1)))
for n in (6, 6):
    fd.execute([torch.ones(2, 3), n])
"""


@pytest.mark.parametrize(
    ("dump", "texts", "count"),
    [
        ("python_definition", ["def nvfuser_fusion(fd: FusionDefinition)"], 1),
        ("fusion_ir_original", ["Fusion IR (original):\n"], 1),
        ("fusion_ir_concretized", ["Fusion IR (concretized):\n"], 1),
        ("fusion_args", ["Arguments for fusion 0:\n", "  float[2, 3] on cpu\n  6\n"], 2),
    ],
)
def test_dumps_show_the_stages_of_a_runtime_and_the_arguments_of_calls(
    dump: str, texts: list[str], count: int
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", DUMPED],
        capture_output=True,
        text=True,
        env={**os.environ, "NVFUSER_DUMP": dump},
    )
    assert result.returncode == 0, result.stderr
    for text in texts:
        assert result.stdout.count(text) == count
