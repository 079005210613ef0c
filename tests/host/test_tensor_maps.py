"""Descriptions of tensors for bulk copies: encoded once for the sizes of a launch plan. Clusters:
a launch asks the driver whether one fits.

The driver is one that keeps a log of what it is asked for.
"""

from __future__ import annotations

from pathlib import Path

from fake_runs import needs_fake, run_with_driver

BOXES = """
from nvfuser_direct import *

def boxes():
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        loaded = x.cache_after(LoadStoreOpType.tma)
        stored = y.cache_before(LoadStoreOpType.tma)
        for tensor in (loaded, stored):
            tensor.set_memory_type(MemoryType.shared)
        for tensor in (loaded, stored, y):
            tensor.split(0, 64)
            tensor.axis(0).parallelize(ParallelType.grid_x)
        for tensor in (loaded, y):
            tensor.axis(1).parallelize(ParallelType.tma)
        stored.axis(1).parallelize(ParallelType.block_x)
        fd.sched.inline_at(y, 1, selected_tensors=[loaded, stored])
    return fd

def run(executor, x):
    (y,) = executor.run([x])
    lines = [line.split() for line in log.take()]
    encoded = [[int(word) for word in line[1:]] for line in lines if line[0] == "encode"]
    addresses = [int(line[1]) for line in lines if line[0] == "address"]
    assert addresses == [x.address, address_of(y)], (lines, x.address, address_of(y))
    return encoded

x, other, larger = ndarray(1000), ndarray(1000), ndarray(2000)
executor = KernelExecutor()
executor.compile(boxes().fusion, [x])
log.take()
"""


@needs_fake
def test_a_tensor_is_described_once_for_its_sizes(driver: Path) -> None:
    """Another run puts addresses into a copy of what is known."""
    run_with_driver(
        driver,
        BOXES
        + """
assert run(executor, x) == [[1000, 0], [1000, 0]]  # what is loaded, and what is stored
assert run(executor, x) == []
assert run(executor, other) == []
assert run(executor, larger) == [[2000, 0], [2000, 0]]
assert run(executor, larger) == []
assert run(executor, x) == []  # the first plan is still there
""",
    )


@needs_fake
def test_each_executor_has_descriptions_of_its_own(driver: Path) -> None:
    run_with_driver(
        driver,
        BOXES
        + """
assert len(run(executor, x)) == 2
second = KernelExecutor()
second.compile(boxes().fusion, [x])
log.take()
assert len(run(second, x)) == 2
assert run(executor, x) == run(second, x) == []
""",
    )


CLUSTERS = """
from nvfuser_direct import *

with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.sum(x, [0])
    fd.add_output(y)
    y.split(0, 64)
    y.split(0, 4, inner_split=False)
    partial = y.rfactor([1])
    for tensor in (partial, y):
        tensor.axis(0).parallelize(ParallelType.grid_x)
        tensor.axis(0).set_clustered_blocks()
        tensor.axis(-1).parallelize(ParallelType.block_x)
    fd.sched.inline_most()

x = ndarray(1000)
executor = KernelExecutor()
executor.compile(fd.fusion, [x])
"""


@needs_fake
def test_a_launch_is_refused_where_no_cluster_fits(driver: Path) -> None:
    """With all five parts, and again: nothing is launched."""
    run_with_driver(
        driver,
        CLUSTERS
        + """
log.take()
for _ in range(2):
    try:
        executor.run([x])
    except RuntimeError as error:
        text = str(error)
    else:
        raise AssertionError("a cluster that does not fit is launched")
    assert text.startswith("No cluster of 4 blocks fits on the device.\\n"), text
    parts = [
        "node:     kernel nvfuser_", "expected: blocks of which 4 find room",
        "found:    64 threads, ", "fix:      split",
    ]
    assert all(part in text for part in parts), text
assert log.take() == []
""",
        FAKE_CLUSTERS="0",
    )


@needs_fake
def test_a_launch_is_made_where_one_cluster_fits(driver: Path) -> None:
    run_with_driver(
        driver,
        CLUSTERS
        + """
log.take()
executor.run([x])
assert len([line for line in log.take() if line.startswith("kernel ")]) == 1
""",
        FAKE_CLUSTERS="1",
    )
