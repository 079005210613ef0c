"""`fd.execute` in CUDA graphs: every kind of call works from the second one on, and a call that
would compile or plan is an error that leaves the capture going."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
import torch
from programs import matmul, matrix

from nvfuser_direct import DataType, FusionDefinition, _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
    pytest.mark.filterwarnings("ignore:The CUDA Graph is empty"),
]

REFUSED = "No kernel is compiled while a CUDA graph is captured"


@pytest.fixture(autouse=True)
def without_garbage() -> Iterator[None]:
    """Graphs of earlier tests, which errors hold, must not go while another one is captured."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def defined(define: Callable[[FusionDefinition], None]) -> FusionDefinition:
    with FusionDefinition() as fd:
        define(fd)
    return fd


def rows_then_columns(fd: FusionDefinition) -> None:
    """Two reductions, with a view of the first one's result between them."""
    rows = fd.ops.sum(fd.ops.exp(matrix(fd)), [1], keepdim=True)
    fd.add_output(fd.ops.sum(fd.ops.sin(rows), [0]))


def product_between_maps(fd: FusionDefinition) -> None:
    """The product has no kernel."""
    product = fd.ops.matmul(fd.ops.sin(matrix(fd)), matrix(fd))
    fd.add_output(fd.ops.neg(product))


def sum_over_blocks(fd: FusionDefinition) -> None:
    """Blocks meet at counters, and leave their results to the last one."""
    x = matrix(fd)
    fd.add_output(fd.ops.sum(fd.ops.sin(x), [0, 1]))
    fd.add_output(fd.ops.sum(x, [0]))


def noise_of_seed(fd: FusionDefinition) -> None:
    """Random numbers whose seed is an input, in two segments."""
    x = matrix(fd)
    seed = fd.define_scalar(None, dtype=DataType.Int)
    offset = fd.define_scalar(None, dtype=DataType.Int)
    noise = fd.ops.uniform(0.0, 1.0, fd.ops.shape(x), rng_seed=seed, rng_offset=offset)
    fd.add_output(fd.ops.add(fd.ops.segment_set(fd.ops.add(x, noise)), 1.0))


def updated_input(fd: FusionDefinition) -> None:
    x = matrix(fd)
    rows = fd.ops.sum(x, [1], keepdim=True)
    fd.add_output(fd.ops.div(x, fd.ops.segment_set(rows)), x)


CASES: dict[str, tuple[Callable[[FusionDefinition], None], int, list[int]]] = {
    "segments": (rows_then_columns, 1, []),
    "evaluated": (product_between_maps, 2, []),
    "evaluated alone": (matmul, 2, []),
    "sums over blocks": (sum_over_blocks, 1, []),
    "random numbers of a seed": (noise_of_seed, 1, [7, 12]),
}


def matrices(number: int, size: int = 64) -> list[torch.Tensor]:
    return [torch.rand(size, size, device="cuda") for _ in range(number)]


@pytest.mark.parametrize("name", CASES)
def test_a_replay_computes_with_what_its_inputs_hold_then(name: str) -> None:
    define, num_inputs, numbers = CASES[name]
    fd = defined(define)
    inputs = [*matrices(num_inputs, 1024), *numbers]
    fd.execute(inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = fd.execute(inputs)
    for _ in range(3):
        for x in inputs[:num_inputs]:
            x.copy_(torch.rand_like(x))
        graph.replay()
        for own, other in zip(captured, fd.execute(inputs), strict=True):
            torch.testing.assert_close(own, other, atol=1e-2, rtol=1e-4)


def test_a_graph_runs_beside_launches_of_its_stream() -> None:
    """Counters and partial results of a graph are its own."""
    fd = defined(sum_over_blocks)
    (x,) = matrices(1, 2048)
    (other,) = matrices(1, 2048)
    fd.execute([x])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = fd.execute([x])
    expected = [x.double().sin().sum(), x.double().sum(0)]
    wanted = [other.double().sin().sum(), other.double().sum(0)]
    side = torch.cuda.Stream()
    for _ in range(20):
        with torch.cuda.stream(side):
            graph.replay()
        found = fd.execute([other])
        torch.cuda.synchronize()
        for result, reference in zip([*captured, *found], [*expected, *wanted], strict=True):
            torch.testing.assert_close(result.double(), reference, atol=1.0, rtol=1e-4)


def test_a_replay_updates_inputs_again() -> None:
    fd = defined(updated_input)
    (x,) = matrices(1)
    fd.execute([x])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        fd.execute([x])
    for _ in range(2):
        x.copy_(torch.rand_like(x))
        expected = x / x.sum(1, keepdim=True)
        graph.replay()
        torch.testing.assert_close(x, expected)


@pytest.mark.parametrize("name", CASES)
def test_a_new_call_is_refused_and_the_capture_goes_on(name: str) -> None:
    define, num_inputs, numbers = CASES[name]
    fd = defined(define)
    inputs, others = ([*matrices(num_inputs, size), *numbers] for size in (64, 32))
    fd.execute(inputs)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = fd.execute(inputs)
        with pytest.raises(RuntimeError, match=REFUSED) as refused:
            fd.execute(others)
    text = str(refused.value)
    assert "inputs that are new, and a stream that is being captured on cuda:0" in text
    assert "execute the fusion once with such inputs before the capture" in text
    graph.replay()
    for own, other in zip(captured, fd.execute(inputs), strict=True):
        torch.testing.assert_close(own, other, atol=1e-2, rtol=1e-4)
    assert fd.execute(others)[0] is not None


def test_the_first_call_of_a_definition_is_refused() -> None:
    fd = defined(rows_then_columns)
    (x,) = matrices(1)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x.clone()
        with pytest.raises(RuntimeError, match=REFUSED):
            fd.execute([x])
    graph.replay()
    assert torch.equal(x, y)


def test_random_numbers_without_seed_are_refused() -> None:
    def noise(fd: FusionDefinition) -> None:
        x = matrix(fd)
        drawn = fd.ops.uniform(0.0, 1.0, fd.ops.shape(x), dtype=DataType.Float)
        fd.add_output(fd.ops.neg(fd.ops.segment_set(fd.ops.add(x, drawn))))

    fd = defined(noise)
    (x,) = matrices(1)
    fd.execute([x])
    with (
        torch.cuda.graph(torch.cuda.CUDAGraph()),
        pytest.raises(RuntimeError, match="without seed cannot be captured in a CUDA graph"),
    ):
        fd.execute([x])
    (found,) = fd.execute([x])
    assert torch.all((found <= -x) & (found >= -x - 1))


def test_a_call_that_was_forgotten_is_refused_until_it_is_made_again() -> None:
    fd = defined(rows_then_columns)
    (x,) = matrices(1)
    fd.execute([x])
    fd.execute([x])
    for n in range(1, 300):  # each has a runtime of its own, of which 256 are kept
        fd.execute([torch.rand(n, 1, device="cuda")], _disable_options=["kernel_reuse"])
    assert fd.fec.stats().evictions > 0
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x + 1
        with pytest.raises(RuntimeError, match=REFUSED):
            fd.execute([x])
    graph.replay()
    assert torch.equal(y, x + 1)
    expected = fd.execute([x])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = fd.execute([x])
    graph.replay()
    for own, other in zip(captured, expected, strict=True):
        torch.testing.assert_close(own, other)


def test_a_graph_outlives_its_definition() -> None:
    """Its kernels stay loaded: a graph has no other hold on them."""
    (x,) = matrices(1)
    fd = defined(rows_then_columns)
    fd.execute([x])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (captured,) = fd.execute([x])
    del fd
    gc.collect()
    _core.clear_loaded_kernels()
    for _ in range(2):
        x.copy_(torch.rand_like(x))
        graph.replay()
        expected = x.exp().sum(1, keepdim=True).sin().sum(0)
        torch.testing.assert_close(captured, expected, atol=1e-2, rtol=1e-4)
