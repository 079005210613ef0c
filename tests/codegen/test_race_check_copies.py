"""The CPU target's check for races knows asynchronous copies: `NVFUSER_ENABLE=kernel_debug`.

A copy is a loop there, whose result is right whatever threads wait for. The check counts commits,
waits and fences all the same, and reports what a GPU would read or overwrite too early.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from race_checks import debugged, races_of, source_with_checks

from nvfuser_direct import (
    AsyncCommit,
    AsyncWait,
    BulkStoreWait,
    DataType,
    FenceAsyncProxy,
    FusionDefinition,
    Kernel,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
)
from nvfuser_direct._core.internal import find_violations, print_statements, read_statements

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "schedules"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "hard_cases"))

import matmul_wgmma
from hard_case import statements

TMA, CP_ASYNC = LoadStoreOpType.tma, LoadStoreOpType.cp_async
BULK, TX = ParallelType.tma, ParallelType.block_x
SHARED = MemoryType.shared
PREFIX = "Threads race on shared memory"


def stored_rows() -> FusionDefinition:
    """Threads write a row, which a bulk copy stores; a loop writes the next one there."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        staged = y.cache_before(TMA)
        staged.set_memory_type(SHARED)
        y.axis(1).parallelize(BULK)
        staged.axis(1).parallelize(TX)
        fd.sched.inline_at(y, 1, selected_tensors=[staged])
    return fd


def rows_of_blocks() -> FusionDefinition:
    """The same for one row of each block."""
    fd = stored_rows()
    with fd:
        (y,) = fd.fusion.outputs()
        for tensor in (y, y.definition().input(0)):
            tensor.axis(0).parallelize(ParallelType.grid_x)
    return fd


def updated_rows() -> FusionDefinition:
    """The same for integers that a bulk copy adds to an input."""
    with FusionDefinition() as fd:
        total, x = (
            fd.define_tensor([32, 32], contiguity=True, dtype=DataType.Int32) for _ in range(2)
        )
        staged = fd.ops.neg(x)
        y = fd.ops.add(total, staged)
        fd.add_output(y, total)
        staged.set_memory_type(SHARED)
        y.axis(1).parallelize(BULK)
        staged.axis(1).parallelize(TX)
        fd.sched.inline_at(y, 1, selected_tensors=[staged])
    return fd


def rows_ahead(op: LoadStoreOpType, kind: ParallelType) -> FusionDefinition:
    """Rows that are loaded two ahead; others read them than the threads that loaded them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        row = x.cache_after(op)
        row.set_memory_type(SHARED)
        row.axis(1).parallelize(kind)
        y.split(1, 4)
        y.axis(2).parallelize(TX)
        fd.sched.inline_at(y, 1, selected_tensors=[row])
        row.circular_buffer(4, 2)
    return fd


def boxes_ahead() -> FusionDefinition:
    return rows_ahead(TMA, BULK)


def vectors_ahead() -> FusionDefinition:
    return rows_ahead(CP_ASYNC, TX)


def multiplied_boxes() -> FusionDefinition:
    """A product of warpgroups, of factors that bulk copies load ahead."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matmul_wgmma, "is_specialized", False)
        fd = matmul_wgmma.make(32, 32, 32)
        with fd:
            matmul_wgmma.schedule(fd, 32, 32, 32)
    return fd


FENCE = "race.fence();"
WAIT_FOR_READS, WAIT_FOR_STORES = "race.wait_for_reads();", "race.wait_for_stores();"
BARRIER = "race.barrier();"


def without(source: str, part: str, at: int = 0) -> str:
    """The source without the part where it stands for the time `at`."""
    places = [match.start() for match in re.finditer(re.escape(part), source)]
    return source[: places[at]] + source[places[at] + len(part) :]


@pytest.mark.parametrize(
    "make", [stored_rows, updated_rows, boxes_ahead, vectors_ahead, multiplied_boxes]
)
def test_kernels_as_they_are_have_no_races(make, tmp_path) -> None:
    assert races_of(make(), source_with_checks(make()), tmp_path) == ""


# -- fences --


def check_report(text: str, headline: str, *parts: str) -> None:
    """All parts of an error."""
    assert text.startswith(f"{PREFIX}: {headline}\n")
    for part in ("node:", "expected:", "found:", "fix:", *parts):
        assert part in text


@pytest.mark.parametrize("make", [stored_rows, updated_rows])
def test_a_forgotten_fence_is_found(make, tmp_path) -> None:
    source = source_with_checks(make())
    found = races_of(make(), without(source, FENCE), tmp_path)
    check_report(
        found, "a bulk copy reads before a fence", "of kernel nvfuser_", "reads element",
        "wrote without a fence and a barrier", "a fence of the async proxy (FenceAsyncProxy)",
    )  # fmt: skip


def test_a_fence_behind_the_barrier_is_found(tmp_path) -> None:
    """The threads that wrote pass it after the copy may have begun."""
    source = source_with_checks(stored_rows())
    fence, barrier = source.index(FENCE), source.index(BARRIER)
    assert fence < barrier
    text = source[:fence] + source[fence + len(FENCE) : barrier] + BARRIER + "\n" + FENCE
    text += source[barrier + len(BARRIER) :]  # of the last thread alone
    found = races_of(stored_rows(), text, tmp_path)
    check_report(found, "a bulk copy reads before a fence")


def test_a_kernel_that_is_read_without_its_fence_is_found(tmp_path) -> None:
    """The statements of the kernel as text, without one line."""
    fd = stored_rows()
    kernel = debugged(lambda: fd.fusion.lower(target="cpu"))
    assert debugged(lambda: find_violations(kernel)) == []
    before = body_of(kernel)
    lines = print_statements(kernel).splitlines(keepends=True)
    kept = [line for line in lines if "FenceAsyncProxy" not in line]
    assert len(kept) == len(lines) - 1
    read_statements(kernel, "".join(kept))
    (violation,) = debugged(lambda: find_violations(kernel))
    assert "without a fence of the async proxy" in violation

    source = source_with_checks(fd)
    assert source.count(before) == 1
    found = races_of(stored_rows(), source.replace(before, body_of(kernel)), tmp_path)
    check_report(found, "a bulk copy reads before a fence", "T2 of kernel", "of T2, which thread")


def body_of(kernel: Kernel) -> str:
    """The source behind the line that names the kernel."""
    source = debugged(kernel.print_source)
    start = source.index("\n", source.index("CPUGeneratedKernel"))
    return source[start : source.rindex("}")]


def test_a_product_reads_what_threads_wrote_after_a_fence(tmp_path) -> None:
    """A factor that threads would write in place of the bulk copy."""
    source = source_with_checks(multiplied_boxes())
    load = re.compile(r"race\.copy_in\((.*), RaceGroups::of_block\)\]")
    text = load.sub(r"race.write(\1)]", source, count=1)
    assert "race.read_async(" in text
    found = races_of(multiplied_boxes(), text, tmp_path)
    check_report(found, "a bulk copy reads before a fence")


# -- waits --


@pytest.mark.parametrize("make", [boxes_ahead, vectors_ahead])
@pytest.mark.parametrize("change", ["wait", "too few groups", "commit"])
def test_loads_that_nothing_waits_for_are_found(make, change, tmp_path) -> None:
    source = source_with_checks(make())
    groups = "RaceGroups::of_block" if make is boxes_ahead else "RaceGroups::of_thread"
    wait, commit = f"race.wait({groups}, 2);", f"race.commit({groups});"
    assert wait in source
    changed = {
        "wait": without(source, wait),
        "too few groups": source.replace(wait, f"race.wait({groups}, 3);"),
        "commit": without(source, commit, at=1),  # that of the loop
    }
    found = races_of(make(), changed[change], tmp_path)
    check_report(found, "a copy has not arrived", "reads element", "(AsyncWait)")


def test_a_thread_waits_for_its_own_vectors_before_the_barrier(tmp_path) -> None:
    """Behind it, the others do not know."""
    source = source_with_checks(vectors_ahead())
    wait = "race.wait(RaceGroups::of_thread, 2);"
    start, stop = source.index(wait), source.index(BARRIER, source.index(wait))
    moved = source[:start] + source[start + len(wait) : stop + len(BARRIER)]
    rest = source[stop + len(BARRIER) :]
    inside = rest.index("race.thread = ")
    end = rest.index("\n", inside)
    text = moved + rest[:end] + wait + rest[end:]
    found = races_of(vectors_ahead(), text, tmp_path)
    check_report(found, "a copy has not arrived")


@pytest.mark.parametrize("make", [boxes_ahead, vectors_ahead])
def test_loads_into_a_wrong_stage_are_found(make, tmp_path) -> None:
    """The stage is that of the iteration that reads next: no barrier is missing."""
    source = source_with_checks(make())
    stage = re.compile(r"\((\w+) \+ 2\) % 4")
    assert len(stage.findall(source)) == 1
    found = races_of(make(), stage.sub(r"(\1 + 1) % 4", source), tmp_path)
    check_report(found, "a copy has not arrived")


# -- stores --


def test_what_is_stored_changes_after_a_wait(tmp_path) -> None:
    source = source_with_checks(stored_rows())
    assert source.count(WAIT_FOR_READS) == 1
    found = races_of(stored_rows(), without(source, WAIT_FOR_READS), tmp_path)
    check_report(
        found, "a bulk copy may still read", "overwrites element", "(BulkStoreWait)", "of T2"
    )


def test_a_block_ends_after_a_wait_for_its_stores(tmp_path) -> None:
    """Its shared memory becomes that of another block."""
    source = source_with_checks(rows_of_blocks())
    assert source.count(WAIT_FOR_STORES) == 1
    assert races_of(rows_of_blocks(), source, tmp_path) == ""
    found = races_of(rows_of_blocks(), without(source, WAIT_FOR_STORES), tmp_path)
    check_report(found, "a bulk copy may still read", "leaves before", "(BulkStoreWait)")


@pytest.mark.parametrize("make", [stored_rows, updated_rows])
@pytest.mark.parametrize("instead", ["", WAIT_FOR_READS])
def test_a_block_ends_after_its_stores_have(make, instead, tmp_path) -> None:
    """The wait of each iteration is one for reads."""
    source = source_with_checks(make())
    assert source.count(WAIT_FOR_STORES) == 1
    found = races_of(make(), source.replace(WAIT_FOR_STORES, instead), tmp_path)
    assert found.startswith("Threads race on global memory: a bulk copy may still write\n")
    for part in ("node:", "leaves before", "(BulkStoreWait(only_reads=false))", "fix:"):
        assert part in found


def test_a_store_may_go_on_where_blocks_wait_for_each_other(tmp_path) -> None:
    """A phase of the kernel ends there, but no block; the wait for its end is in the next phase."""
    with FusionDefinition() as fd:
        x, total = (
            fd.define_tensor([8, 16], contiguity=True, dtype=DataType.Int32) for _ in range(2)
        )
        staged = fd.ops.neg(x)
        y = fd.ops.add(total, staged)
        fd.add_output(y, total)
        kept = fd.ops.add(x, 1)
        z = fd.ops.mul(kept, 2)
        fd.add_output(z)
        staged.set_memory_type(SHARED)
        y.axis(0).parallelize(ParallelType.grid_x)
        y.axis(1).parallelize(BULK)
        staged.axis(0).parallelize(ParallelType.grid_x)
        staged.axis(1).parallelize(TX)
        fd.sched.inline_at(y, 1, selected_tensors=[staged])
        kept.set_memory_type(MemoryType.Global)
        for tensor, axis in ((kept, 0), (z, 1)):
            tensor.axis(axis).parallelize(ParallelType.grid_x)
    source = source_with_checks(fd)
    assert source.count("RaceCheck race(") == 2
    assert races_of(fd, source, tmp_path) == ""


# -- which kernels have such statements --


def test_without_the_option_kernels_have_no_waits() -> None:
    for make in (stored_rows, vectors_ahead):
        kernel = make().fusion.lower(target="cpu")
        kinds = (AsyncCommit, AsyncWait, BulkStoreWait, FenceAsyncProxy)
        assert not any(isinstance(statement, kinds) for statement in statements(kernel))
        assert "race." not in kernel.print_source()


def test_fences_stand_where_a_gpu_has_them() -> None:
    fd = stored_rows()
    count = [
        sum(isinstance(s, FenceAsyncProxy) for s in statements(kernel))
        for kernel in (fd.fusion.lower(), debugged(lambda: fd.fusion.lower(target="cpu")))
    ]
    assert count == [1, 1]
