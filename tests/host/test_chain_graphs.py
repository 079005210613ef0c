"""Kernels that are launched as CUDA graphs, chains and single ones: when, with which parameters.

Most tests need no GPU: the driver is one that keeps a log of what it is asked for.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from fake_runs import needs_fake, run_with_driver

from nvfuser_direct import FusionDefinition

SETUP = """
from nvfuser_direct import FusionDefinition

def chain(kernels):
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1], contiguity=True)
        for i in range(kernels):
            y = fd.ops.neg(y if i == 0 else fd.ops.segment_set(y))
        fd.add_output(y)
    return fd

def kernels(lines):
    return [[int(word) for word in line.split()[1:]] for line in lines if line[:6] == "kernel"]

def check_run(x, out, lines, count):
    found = kernels(lines)
    assert len(found) == count, lines
    assert found[0][1] == x.address and found[-1][2] == address_of(out)
    for one, next_one in zip(found, found[1:]):
        assert one[2] == next_one[1] != 0

def run(fd, count, x=None):
    x = x or ndarray(1000)
    (out,) = fd.execute([x])
    lines = log.take()
    check_run(x, out, lines, count)
    return [line.split()[0] for line in lines if line[:6] != "kernel"]
"""


def script(driver: Path, text: str, **environment: str) -> None:
    options = {"NVFUSER_ENABLE": "launch_graphs(3)"} | environment
    run_with_driver(driver, SETUP + text, **options)


@needs_fake
def test_a_chain_becomes_a_graph_whose_ends_are_updated(driver: Path) -> None:
    """Tensors between kernels stay where they are: one kernel reads the input, one writes the
    output."""
    script(
        driver,
        """
fd = chain(5)
assert [run(fd, 5) for _ in range(3)] == [[], [], []]
assert run(fd, 5) == ["instantiate", "graph"]
for _ in range(5):
    assert run(fd, 5) == ["update", "update", "graph"]
x = ndarray(1000)
run(fd, 5, x)
assert run(fd, 5, x) == ["update", "graph"]
""",
    )


@needs_fake
def test_few_kernels_and_other_options_are_launched_one_by_one(driver: Path) -> None:
    script(
        driver,
        """
from nvfuser_direct import call_with_options
fd = chain(2)
assert [run(fd, 2) for _ in range(9)] == 9 * [[]]
fd = chain(4)
without = lambda: run(fd, 4)
assert [call_with_options(without, [], ["launch_graphs"]) for _ in range(9)] == 9 * [[]]
""",
    )


@needs_fake
def test_each_stream_has_its_graph(driver: Path) -> None:
    """Up to four streams; more launch one by one."""
    script(
        driver,
        """
fd = chain(3)
for stream in (0, 16, 32, 48):
    STREAM[0] = stream
    found = [run(fd, 3) for _ in range(6)]
    assert found[3] == ["instantiate", "graph"] and found[5][-1] == "graph", found
STREAM[0] = 64
assert [run(fd, 3) for _ in range(6)] == 6 * [[]]
STREAM[0] = 16
assert run(fd, 3)[-1] == "graph"
""",
    )


@needs_fake
@pytest.mark.parametrize("fault", ["FAKE_NO_GRAPHS", "FAKE_STUBBORN"])
def test_a_driver_that_refuses_is_not_asked_again(fault: str, driver: Path) -> None:
    script(
        driver,
        """
fd = chain(3)
for _ in range(6):
    run(fd, 3)
assert [run(fd, 3) for _ in range(6)] == 6 * [[]]
""",
        **{fault: "1"},
    )


@needs_fake
def test_graphs_that_are_not_used_make_room(driver: Path) -> None:
    """The process keeps 512. Where all were used since they were looked at last, chains go on
    without a graph."""
    script(
        driver,
        """
fd = chain(3)
def count(word, sizes):
    for size in sizes:
        for _ in range(4):
            fd.execute([ndarray(size)])
    return log.take().count(word)
assert count("instantiate", range(1, 513)) == 512
assert count("instantiate", range(513, 1025)) == 0
assert count("destroy", [1025]) == 1
assert run(fd, 3, ndarray(1)) == []
assert run(fd, 3, ndarray(2))[-1] == run(fd, 3, ndarray(1025))[-1] == "graph"
""",
    )


@needs_fake
def test_profiles_time_kernels_one_by_one(driver: Path) -> None:
    script(
        driver,
        """
from nvfuser_direct import PythonProfiler
fd = chain(3)
for _ in range(6):
    run(fd, 3)
with PythonProfiler():
    assert run(fd, 3) == []
assert run(fd, 3)[-1] == "graph"
""",
    )


@needs_fake
def test_kernels_of_a_graph_begin_early_if_asked_for(driver: Path) -> None:
    """All but the first one of the graph; launched one by one, all."""
    script(
        driver,
        """
fd = chain(4)
assert run(fd, 4) == 4 * ["early"]
for _ in range(2):
    run(fd, 4)
assert run(fd, 4) == [*3 * ["early"], "instantiate", "graph"]
assert run(fd, 4) == ["update", "update", "graph"]
""",
        NVFUSER_ENABLE="launch_graphs(3),dependent_launch",
    )


# ---- A kernel alone -----------------------------------------------------------------------------

ALONE = "launch_graphs(1)"


@needs_fake
def test_a_kernel_alone_becomes_a_graph(driver: Path) -> None:
    """Each of its runs has another output, and no other parameters if that lies where it was."""
    script(
        driver,
        """
fd = chain(1)
assert [run(fd, 1) for _ in range(3)] == [[], [], []]
assert run(fd, 1) == ["instantiate", "graph"]
for _ in range(3):
    assert run(fd, 1) == ["update", "graph"]
STREAM[0] = 16
assert [run(fd, 1) for _ in range(3)] == [[], [], []]
assert run(fd, 1) == ["instantiate", "graph"]
""",
        NVFUSER_ENABLE=ALONE,
    )


@needs_fake
def test_a_kernel_that_was_scheduled_by_hand_becomes_a_graph(driver: Path) -> None:
    script(
        driver,
        """
from nvfuser_direct import KernelExecutor, ParallelType
with FusionDefinition() as fd:
    y = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
    fd.add_output(y)
    y.split(0, 128)
    y.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.block_x)
executor = KernelExecutor()
executor.compile(fd.fusion, [ndarray(1000)])
def run_by_hand():
    x = ndarray(1000)
    (out,) = executor.run([x])
    lines = log.take()
    check_run(x, out, lines, 1)
    return [line.split()[0] for line in lines if line[:6] != "kernel"]
assert [run_by_hand() for _ in range(3)] == [[], [], []]
assert run_by_hand() == ["instantiate", "graph"]
assert run_by_hand() == ["update", "graph"]
""",
        NVFUSER_ENABLE=ALONE,
    )


@needs_fake
def test_launches_of_a_chain_are_no_graphs_of_their_own(driver: Path) -> None:
    """The fourth run is one graph, and no kernel was made one for itself before."""
    script(
        driver,
        """
fd = chain(3)
assert [run(fd, 3) for _ in range(3)] == [[], [], []]
assert run(fd, 3) == ["instantiate", "graph"]
""",
        NVFUSER_ENABLE=ALONE,
    )


@needs_fake
@pytest.mark.parametrize("kernels", [1, 3])
def test_a_stream_that_is_captured_gets_launches(kernels: int, driver: Path) -> None:
    """A launch of a graph would be a node of its own in the user's graph, and the tensors in it
    those of later runs."""
    script(
        driver,
        f"""
fd = chain({kernels})
STREAM[0] = 16  # the default stream cannot be captured
for _ in range(5):
    run(fd, {kernels})
log.capture(is_on=True)
assert [run(fd, {kernels}) for _ in range(5)] == 5 * [[]]
log.capture(is_on=False)
assert run(fd, {kernels})[-1] == "graph"
""",
        NVFUSER_ENABLE=ALONE,
    )


@needs_fake
def test_a_kernel_alone_that_begins_early_is_launched(driver: Path) -> None:
    """In a graph of its own there is no kernel that it could begin beside."""
    script(
        driver,
        """
fd = chain(1)
assert [run(fd, 1) for _ in range(6)] == 6 * [["early"]]
""",
        NVFUSER_ENABLE=f"{ALONE},dependent_launch",
    )


@needs_fake
def test_profiles_time_a_kernel_alone(driver: Path) -> None:
    script(
        driver,
        """
from nvfuser_direct import PythonProfiler
fd = chain(1)
for _ in range(6):
    run(fd, 1)
with PythonProfiler():
    assert run(fd, 1) == []
assert run(fd, 1)[-1] == "graph"
""",
        NVFUSER_ENABLE=ALONE,
    )


# ---- On a GPU ------------------------------------------------------------------------------------


def run_as_graph(fd: FusionDefinition, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return fd.execute(inputs, _enable_options=["launch_graphs(2)"])


def long_chain(kernels: int) -> FusionDefinition:
    """Sums over the grid among maps: with counters and workspaces of the stream."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = x
        for i in range(kernels):
            y = fd.ops.add(fd.ops.segment_set(y), float(i))
        fd.add_output(y)
        fd.add_output(fd.ops.sum(y, [0, 1]))
        fd.add_output(fd.ops.sum(y, [0]))
    return fd


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("sizes", [(7, 33), (513, 1024), (4096, 65)])
def test_graphs_compute_with_the_tensors_of_each_run(sizes: tuple[int, int]) -> None:
    fd = long_chain(6)
    streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    found, expected = [], []
    for i in range(24):
        with torch.cuda.stream(streams[i % 3]):
            x = torch.randn(*sizes, device="cuda")
            y = x.double() + sum(range(6))
            found.append(run_as_graph(fd, [x]))
            expected.append([y, y.sum(), y.sum(0)])
    torch.cuda.synchronize()
    for outputs, references in zip(found, expected, strict=True):
        for output, reference in zip(outputs, references, strict=True):
            torch.testing.assert_close(
                output.double(), reference, rtol=1e-4, atol=1e-5 * sizes[0] * sizes[1]
            )


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_random_numbers_of_graphs_are_those_of_launches() -> None:
    with FusionDefinition() as fd:
        y = fd.define_tensor([-1], contiguity=True)
        for _ in range(4):
            y = fd.ops.mul(fd.ops.segment_set(y), fd.ops.rand_like(y))
        fd.add_output(y)
    x = torch.randn(5000, device="cuda")
    torch.manual_seed(3)
    graphs = [run_as_graph(fd, [x])[0] for _ in range(8)]
    torch.manual_seed(3)
    launches = [fd.execute([x], _disable_options=["launch_graphs"])[0] for _ in range(8)]
    for one, other in zip(graphs, launches, strict=True):
        assert torch.equal(one, other)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_graph_updates_its_inputs_in_place() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        rows = fd.ops.sum(x, [1], keepdim=True)
        scaled = fd.ops.div(fd.ops.segment_set(x), fd.ops.segment_set(rows))
        fd.add_output(fd.ops.neg(fd.ops.segment_set(scaled)), x)
    for _ in range(8):
        x = torch.rand(300, 77, device="cuda") + 0.5
        expected = -x.double() / x.double().sum(1, keepdim=True)
        run_as_graph(fd, [x])
        torch.testing.assert_close(x.double(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_threads_share_graphs() -> None:
    """On one stream and on streams of their own."""
    from concurrent.futures import ThreadPoolExecutor

    fd = long_chain(5)

    def work(number: int) -> bool:
        stream = torch.cuda.Stream() if number % 2 else torch.cuda.default_stream()
        with torch.cuda.stream(stream):
            for _ in range(200):
                x = torch.full((64, 64), float(number), device="cuda")
                y, total, rows = run_as_graph(fd, [x])
                if not (
                    bool((y == number + 10).all())
                    and float(total) == 4096 * (number + 10)
                    and bool((rows == 64 * (number + 10)).all())
                ):
                    return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def run_alone(fd: FusionDefinition, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return fd.execute(inputs, _enable_options=[ALONE])


def sums(*axes: int) -> FusionDefinition:
    """With counters and partial results in memory of the stream."""
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.sum(fd.define_tensor([-1, -1], contiguity=True), list(axes)))
    return fd


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("axes", [(0, 1), (0,), (1,)])
def test_a_kernel_alone_computes_with_the_tensors_of_each_run(axes: tuple[int, ...]) -> None:
    fd = sums(*axes)
    streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    found, expected = [], []
    for i in range(30):
        with torch.cuda.stream(streams[i % 3]):
            x = torch.randn(1500, 1024, device="cuda")
            found.append(run_alone(fd, [x])[0])
            expected.append(x.double().sum(axes))
    torch.cuda.synchronize()
    for output, reference in zip(found, expected, strict=True):
        torch.testing.assert_close(output.double(), reference, rtol=1e-4, atol=1e-2)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_threads_share_the_graph_of_a_kernel() -> None:
    from concurrent.futures import ThreadPoolExecutor

    fd = sums(0, 1)

    def work(number: int) -> bool:
        stream = torch.cuda.Stream() if number % 2 else torch.cuda.default_stream()
        with torch.cuda.stream(stream):
            for _ in range(200):
                x = torch.full((512, 512), float(number), device="cuda")
                if float(run_alone(fd, [x])[0]) != 512 * 512 * number:
                    return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_kernel_with_a_graph_can_be_captured() -> None:
    fd = sums(0)
    x = torch.rand(2048, 300, device="cuda")
    for _ in range(6):
        run_alone(fd, [x])
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (captured,) = run_alone(fd, [x])
    for _ in range(4):
        x.copy_(torch.rand_like(x))
        graph.replay()
        (own,) = run_alone(fd, [x])
        reference = x.double().sum(0)
        for result in (captured, own):
            torch.testing.assert_close(result.double(), reference, rtol=1e-5, atol=1e-3)
