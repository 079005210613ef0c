"""The CPU target's check for races on shared memory: `NVFUSER_ENABLE=kernel_debug`.

Every hand-written schedule of the examples passes the check; a kernel that lost a
barrier does not, although its result would be right where threads run in order.
"""

import importlib
import re
import sys
from pathlib import Path

import pytest
import torch
from race_checks import debugged, races_of, source_with_checks

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    Pipelined,
)

SCHEDULES = Path(__file__).resolve().parents[2] / "examples" / "schedules"
sys.path.insert(0, str(SCHEDULES))

import harness  # noqa: E402

NAMES = sorted(path.stem for path in SCHEDULES.glob("*.py") if path.stem != "harness")
BARRIER = "race.barrier();"
OF_CLUSTER = "race.cluster_barrier();"


def reverse_rows() -> FusionDefinition:
    """Every thread reads what another one wrote: rows are transposed through shared memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        tile = fd.ops.set(x)
        y = fd.ops.permute(tile, [1, 0])
        fd.add_output(y)
        tile.set_memory_type(MemoryType.shared)
        tile.axis(1).parallelize(ParallelType.block_x)
        y.axis(1).parallelize(ParallelType.block_x)
    return fd


def cluster_sums() -> FusionDefinition:
    """Each block reads what the others of its cluster wrote, and a loop overwrites it."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        y.split(1, 4, inner_split=False)
        y.split(0, 8)
        y.axis(0).parallelize(ParallelType.grid_y)
        y.axis(2).parallelize(ParallelType.grid_x)
        y.axis(2).set_clustered_blocks()
        y.axis(3).parallelize(ParallelType.block_x)
    return fd


def rows_of_other_threads() -> FusionDefinition:
    """Rows that a thread of its own loads, two ahead; readers hand their stages back."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        row = x.cache_after(LoadStoreOpType.tma)
        row.set_memory_type(MemoryType.shared)
        row.axis(1).parallelize(ParallelType.tma)
        y.axis(1).parallelize(ParallelType.block_x)
        row.inline_at(1)
        fd.sched.warp_specialize(row, 4, 2, ParallelType.block_x)
    return fd


def rows_of_clusters() -> FusionDefinition:
    """Rows that each block of a cluster loads ahead, in stages that its readers hand back."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 64], contiguity=True)
        y = fd.ops.sum(x, [1])
        fd.add_output(y)
        row = x.cache_after(LoadStoreOpType.tma)
        row.set_memory_type(MemoryType.shared)
        for tensor in (row, y):
            tensor.split(1, 32)
            tensor.split(0, 4, inner_split=False)  # [clusters, rows, blocks, 32]
            tensor.axis(0).parallelize(ParallelType.grid_y)
            tensor.axis(2).parallelize(ParallelType.grid_x)
            tensor.axis(2).set_clustered_blocks()
        row.axis(3).parallelize(ParallelType.tma)
        y.axis(3).parallelize(ParallelType.block_x)
        fd.sched.inline_at(y, 2, selected_tensors=[row])
        row.circular_buffer(4, 3, Pipelined(uses_mbarrier_for_war=True))
    return fd


@pytest.mark.parametrize("name", NAMES)
def test_examples_have_no_races(name: str) -> None:
    example = importlib.import_module(name)
    for sizes in example.SIZES[-2:]:
        result = debugged(lambda sizes=sizes: harness.run(example, sizes, "cpu"))
        assert result.error <= example.RTOL


def test_every_shared_access_is_checked() -> None:
    source = debugged(lambda: reverse_rows().fusion.lower(target="cpu").print_source())
    kernel = source[source.index("// Codegen generated code") :]
    assert kernel.count("race.write(T1_tags") == 1
    assert kernel.count("race.read(T1_tags") == 1
    assert kernel.count(BARRIER) == 1


def test_without_the_option_nothing_is_checked() -> None:
    assert "race." not in reverse_rows().fusion.lower(target="cpu").print_source()


def test_switching_the_check_on_compiles_anew() -> None:
    executor = KernelExecutor()
    x = torch.randn(32, 32)
    executor.compile(reverse_rows().fusion, [x])
    assert torch.equal(debugged(lambda: executor.run([x]))[0], x.T)


def test_a_lost_barrier_is_found(tmp_path: Path) -> None:
    source = source_with_checks(reverse_rows())
    assert BARRIER in source
    assert races_of(reverse_rows(), source, tmp_path) == ""
    found = races_of(reverse_rows(), source.replace(BARRIER, ""), tmp_path)
    assert "Threads race on shared memory" in found
    assert "of T1, which thread" in found


def test_a_lost_barrier_over_a_cluster_is_found(tmp_path: Path) -> None:
    """Either of them: before the partial results are read, and before they are overwritten."""
    source = source_with_checks(cluster_sums())
    first, second = (match.start() for match in re.finditer(re.escape(OF_CLUSTER), source))
    assert races_of(cluster_sums(), source, tmp_path) == ""
    for at in (first, second):
        text = source[:at] + source[at + len(OF_CLUSTER) :]
        assert "Threads race on shared memory" in races_of(cluster_sums(), text, tmp_path)
    in_block = source.replace(OF_CLUSTER, BARRIER)  # which waits for the own block only
    assert "Threads race" in races_of(cluster_sums(), in_block, tmp_path)


@pytest.mark.parametrize("lost", ["race.wait_full();", "race.wait_empty(2);"])
def test_a_lost_wait_for_a_stage_is_found(lost: str, tmp_path: Path) -> None:
    """Either side: readers that do not wait for loads, loads that do not wait for readers."""
    source = source_with_checks(rows_of_other_threads())
    assert races_of(rows_of_other_threads(), source, tmp_path) == ""
    assert lost in source
    text = source.replace(lost, "")
    found = races_of(rows_of_other_threads(), text, tmp_path)
    assert "Threads race on shared memory" in found


@pytest.mark.parametrize("lost", ["race.arrive_full();", "race.arrive_empty();"])
def test_a_lost_arrival_at_a_stage_is_found(lost: str, tmp_path: Path) -> None:
    """On a GPU the others would wait without end."""
    source = source_with_checks(rows_of_other_threads())
    text = source.replace(lost, "")
    found = races_of(rows_of_other_threads(), text, tmp_path)
    assert "Threads race on shared memory" in found


def test_a_wrong_stage_is_found(tmp_path: Path) -> None:
    """A load into the stage that is read next."""
    source = source_with_checks(rows_of_other_threads())
    stage = re.compile(r"\((\w+) \+ 2\) % 4")
    assert len(stage.findall(source)) == 1
    text = stage.sub(r"(\1 + 1) % 4", source)
    found = races_of(rows_of_other_threads(), text, tmp_path)
    assert "Threads race on shared memory" in found


def test_each_block_of_a_cluster_has_stages_of_its_own(tmp_path: Path) -> None:
    """Between two barriers of the cluster its blocks run one after the other."""
    source = source_with_checks(rows_of_clusters())
    assert OF_CLUSTER in source
    assert races_of(rows_of_clusters(), source, tmp_path) == ""
    text = source.replace("race.wait_full();", "")
    found = races_of(rows_of_clusters(), text, tmp_path)
    assert "Threads race on shared memory" in found
