"""Stages that readers hand back, and threads that only load."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from bulk_copies import BULK, TMA, bind_box
from circular_buffers import SET
from cuda_kernels import has_nvrtc
from hard_case import (
    BX,
    BY,
    SHARED,
    TX,
    TY,
    check,
    count,
    cuda_text,
    lowered,
    par,
    statements,
)

from nvfuser_direct import (
    AsyncCommit,
    AsyncWait,
    BlockSync,
    BulkLoad,
    CircularBufferLoopStage,
    ForLoop,
    FusionDefinition,
    IfThenElse,
    LoadStoreOpType,
    Pipelined,
    UserError,
    WarpSpecialized,
    schedule,
)
from nvfuser_direct._core.internal import find_violations, set_statements

if TYPE_CHECKING:
    from nvfuser_direct import Expr, Kernel

pytestmark = pytest.mark.sanitize

ASYNC, COMPUTE = CircularBufferLoopStage.AsyncWarp, CircularBufferLoopStage.ComputeWarp
KINDS = [WarpSpecialized(TX), WarpSpecialized(TY), Pipelined(uses_mbarrier_for_war=True)]
STRUCTURES = [(2, 1), (3, 2), (4, 3), (4, 1), (4, 2), (3, 0)]


def tiles(stages: int, prefetch: int, kind, columns: int = -1, persistent: int = 0):
    """Tiles of rows, loaded ahead; several rows for each of `persistent` blocks, if not 0."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, columns], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.split(1, 64)
            if persistent:
                tensor.split(0, persistent, inner_split=False)
            par(tensor, BX)
        axis = 3 if persistent else 2
        bind_box(a, axis)
        y.split(axis, 32)
        y.axis(axis + 1).parallelize(TX)
        fd.sched.inline_at(y, axis, selected_tensors=[a])
        a.circular_buffer(stages, prefetch, kind)
    return fd


def row_sums(threads=(64,), registers=None, on=TX, op: str = "sum"):
    """Sums of rows of 64 columns, several rows for each block; rows are loaded ahead."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = getattr(fd.ops, op)(x, [1])
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        for tensor in (a, y):
            if len(threads) == 2:
                tensor.split(0, threads[0])
            tensor.split(0, 3, inner_split=False)
            par(tensor, BX)
        bind_box(a, 2)
        par(y, BX, None, *([TY, TX] if len(threads) == 2 else [TX]))
        fd.sched.inline_at(y, 2, selected_tensors=[a])
        schedule.warp_specialize(a, 3, 2, on, registers)
    return fd


def ptx_of(fd: FusionDefinition) -> str:
    """The text of a kernel that NVRTC has compiled for Hopper."""
    return fd.fusion.compile_cuda(architecture="sm_90a").ptx


def side(statement: Expr) -> str | None:
    """The act of a statement at a barrier of a stage; None: it has none."""
    names = {
        (AsyncWait, LoadStoreOpType.set): "wait empty",
        (AsyncCommit, LoadStoreOpType.CpAsyncBulk): "arrive full",
        (AsyncWait, LoadStoreOpType.CpAsyncBulk): "wait full",
        (AsyncCommit, LoadStoreOpType.set): "arrive empty",
    }
    return names.get((type(statement), getattr(statement, "async_op", None)))


def sides(scope: Kernel | list[Expr]) -> list[str]:
    return [name for s in statements(scope) if (name := side(s)) is not None]


def roles(kernel: Kernel) -> tuple[list[Expr], list[Expr]]:
    """The statements of loading and of computing threads; none where all threads do both."""
    found = [s for s in kernel.body if isinstance(s, IfThenElse) and len(s.else_body) > 0]
    if not found:
        return [], []
    (branch,) = found
    assert branch.condition.to_inline_string().endswith(">= 0 )")
    return list(statements(branch.else_body)), list(statements(branch.then_body))


# -- results --


@pytest.mark.parametrize("kind", KINDS, ids=["x", "y", "pipelined"])
@pytest.mark.parametrize(("stages", "prefetch"), STRUCTURES)
def test_tiles_that_are_handed_back(target, kind, stages, prefetch):
    """Short loops, none among them, load and read as many tiles as there are."""
    fd = tiles(stages, prefetch, kind)
    assert f"BulkStages<{prefetch + 1}> bulk_stages" in cuda_text(fd.fusion)
    shapes = [(3, n) for n in (4, 64, 100, 128, 200, 1000)] + [(1, 64), (40, 256), (2, 0)]
    check(fd, target, [(s,) for s in shapes], lambda x: -x)


@pytest.mark.parametrize("kind", KINDS, ids=["x", "y", "pipelined"])
@pytest.mark.parametrize("columns", [4, 64, 192, 260, 320, 384])
def test_loops_of_known_length(target, kind, columns):
    fd = tiles(3, 2, kind, columns)
    cuda_text(fd.fusion)
    check(fd, target, [((m, columns),) for m in (1, 5)], lambda x: -x)


@pytest.mark.parametrize("kind", KINDS, ids=["x", "y", "pipelined"])
@pytest.mark.parametrize("columns", [-1, 192, 200])
def test_loops_in_a_persistent_loop(target, kind, columns):
    """Stages are counted through all rows; a row begins with stage 0 again."""
    fd = tiles(3, 2, kind, columns, persistent=3)
    cuda_text(fd.fusion)
    widths = (4, 64, 200, 700) if columns < 0 else (columns,)
    check(fd, target, [((m, n),) for m in (1, 3, 7, 20) for n in widths], lambda x: -x)


def test_a_stage_is_free_before_the_next_row_begins():
    """Not where a row ends with the last stage: then stages follow each other."""
    for columns, waits in ((-1, 2), (200, 2), (192, 1)):
        kernel = lowered(tiles(3, 2, KINDS[0], columns, persistent=3).fusion)
        found = [s for s in statements(kernel) if side(s) == "wait empty"]
        assert [s.keep_stages for s in found] == [2, 0][:waits]


@pytest.mark.parametrize("op", ["sum", "max", "prod"])
def test_sums_of_rows_that_are_loaded_ahead(target, op):
    """The loop over rows is the circular one."""
    fd = row_sums(op=op)
    cuda_text(fd.fusion)
    reference = {
        "sum": lambda x: x.sum(1),
        "max": lambda x: x.amax(1),
        "prod": lambda x: x.clamp(0, 0).prod(1) if x.shape[0] == 0 else x.prod(1),
    }[op]
    check(fd, target, [((m, 64),) for m in (1, 2, 3, 7, 100)], reference)


def test_several_groups_of_warps_compute(target):
    """Rows of a stage are read by warps of their own, which meet at its barriers."""
    fd = row_sums(threads=(4, 64), on=TY)
    source = cuda_text(fd.fusion)
    assert "BulkStages<3>" in source
    check(fd, target, [((m, 64),) for m in (1, 3, 12, 13, 50)], lambda x: x.sum(1))


def test_two_tensors_of_a_loop_share_a_stage(target):
    """One barrier expects the bytes of both."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        z = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.ops.add(x, z)
        fd.add_output(y)
        loads = [tensor.cache_after(TMA) for tensor in (x, z)]
        for tensor in (*loads, y):
            tensor.split(1, 64)
            par(tensor, BX)
        y.split(2, 32)
        y.axis(3).parallelize(TX)
        for a in loads:
            a.set_memory_type(SHARED)
            bind_box(a, 2)
        fd.sched.inline_at(y, 2, selected_tensors=loads)
        for a in loads:
            schedule.warp_specialize(a, 2, 1, TX)
    kernel = lowered(fd.fusion)
    assert count(kernel, BulkLoad) == 2
    assert sides(kernel).count("arrive full") == 1
    cuda_text(fd.fusion)
    check(fd, target, [((m, n), (m, n)) for m in (1, 5) for n in (4, 200)], lambda x, z: x + z)


def test_other_boxes_are_loaded_by_threads_that_compute(target):
    """A tensor that is loaded once has a group of its own beside the stages."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        w = fd.define_tensor([64], contiguity=True)
        y = fd.ops.mul(x, fd.ops.broadcast(w, [True, False]))
        fd.add_output(y)
        a, b = x.cache_after(TMA), w.cache_after(TMA)
        for tensor in (a, b):
            tensor.set_memory_type(SHARED)
        for tensor in (a, y):
            tensor.split(0, 2, inner_split=False)
            par(tensor, BX)
        bind_box(a, 2)
        bind_box(b, 0)
        par(y, BX, None, TX)
        fd.sched.inline_at(y, 2, selected_tensors=[a])
        schedule.warp_specialize(a, 3, 2, TX)
    source = cuda_text(fd.fusion)
    assert "BulkGroups<1>" in source
    assert "BulkStages<3>" in source
    reference = lambda x, w: x * w  # noqa: E731
    check(fd, target, [((m, 64), (64,)) for m in (1, 2, 3, 9)], reference)


# -- the kernel --


def test_roles_stand_side_by_side():
    """No barrier of one role is reached by the other, and nothing else is loaded."""
    kernel = lowered(row_sums().fusion)
    loading, computing = roles(kernel)
    first, wait, load, commit = (s for s in loading if not isinstance(s, ForLoop))
    assert first.condition.to_inline_string() == "( threadIdx.x == -128 )"
    assert isinstance(load, BulkLoad)
    assert (side(wait), wait.keep_stages, side(commit)) == ("wait empty", 2, "arrive full")
    assert not any(isinstance(s, BulkLoad) for s in computing)
    assert [side(s) for s in computing if side(s)] == ["wait full", "arrive empty"]
    for statements_of_role, stage in ((loading, ASYNC), (computing, COMPUTE)):
        (loop,) = (
            s for s in statements_of_role if isinstance(s, ForLoop) and s.circular_buffer_depth == 3
        )
        assert loop.circular_buffer_stage == stage


def test_the_order_on_a_target_without_hardware_threads():
    """Loads are ahead as asked for, there are as many as iterations, and no role is a branch."""
    kernel = lowered(tiles(4, 2, KINDS[0]).fusion, "cpu")
    assert roles(kernel) == ([], [])
    assert count(kernel, BlockSync) == 0
    stages = [
        s.circular_buffer_stage
        for s in statements(kernel)
        if isinstance(s, ForLoop) and s.circular_buffer_depth == 4
    ]
    names = CircularBufferLoopStage
    assert stages == [names.Prolog, names.Main, names.Epilog]
    load, read = ["wait empty", "arrive full"], ["wait full", "arrive empty"]
    assert sides(kernel) == load + load + read + read


def test_readers_hand_stages_back_without_a_barrier_of_the_block():
    kernel = lowered(tiles(3, 2, KINDS[2]).fusion)
    assert roles(kernel) == ([], [])
    assert count(kernel, BlockSync) == 0
    assert count(lowered(tiles(3, 2, Pipelined()).fusion), BlockSync) == 1


def test_a_loop_that_runs_once_has_no_roles(target):
    fd = tiles(3, 2, KINDS[0], columns=64)
    assert roles(lowered(fd.fusion)) == ([], [])
    check(fd, target, [((3, 64),)], lambda x: -x)


def test_statements_of_the_other_role_are_found():
    """The check of kernels knows which threads come where."""
    kernel = lowered(row_sums().fusion)
    (branch,) = (s for s in kernel.body if isinstance(s, IfThenElse) and len(s.else_body) > 0)
    loading, computing = list(branch.else_body), list(branch.then_body)
    assert find_violations(kernel) == []
    set_statements(kernel, branch, "then_body", [])
    set_statements(kernel, branch, "else_body", computing)
    texts = find_violations(kernel)
    assert any("threads that only load wait for others" in text for text in texts)
    assert any("come to this side of a stage" in text for text in texts)
    set_statements(kernel, branch, "else_body", [])
    set_statements(kernel, branch, "then_body", loading)
    assert any("come to this side of a stage" in text for text in find_violations(kernel))


def test_printed_roles():
    source = cuda_text(row_sums().fusion)
    assert "const nvfuser_index_t thread_x = nvfuser_index_t(threadIdx.x) - 128;" in source
    body = source[source.index("BulkStages") :]
    texts = [
        "if (thread_x >= 0) {", "bulk_stages.wait_full();", "bulk_stages.arrive_empty();",
        "} else {", "if (thread_x == -128) {", "bulk_stages.wait_empty<2>();", "bulk_load<",
        "bulk_stages.arrive_full();",
    ]  # fmt: skip
    places = [body.index(text) for text in texts]
    assert places == sorted(places)


def test_registers_are_shared_where_roles_begin():
    """The sizes stand in the branches: elsewhere the compiler ignores them (C7507)."""
    source = cuda_text(row_sums(threads=(2, 64), registers=(24, 40), on=TY).fusion)
    lines = [line.strip() for line in source.splitlines()]
    assert lines[lines.index("if (thread_y >= 0) {") + 1] == "take_registers<40>();"
    assert lines[lines.index("} else {") + 1] == "give_registers<24>();"


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC compiles the kernels")
def test_ptx_of_shared_registers():
    ptx = ptx_of(row_sums(threads=(2, 64), registers=(24, 40), on=TY))
    assert sorted(re.findall(r"setmaxnreg\.(\w+)\.sync\.aligned\.u32 +(\d+)", ptx)) == [
        ("dec", "24"),
        ("inc", "40"),
    ]
    assert ".maxnreg 32" in ptx  # (128 * 24 + 128 * 40) / 256
    assert len(set(re.findall(r"bar\.sync\s+(\d+)", ptx))) == 2
    assert "cp.async.bulk.tensor.1d" in ptx or "cp.async.bulk.tensor.2d" in ptx
    assert "mbarrier.try_wait.parity" in ptx
    assert ".local" not in ptx


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC compiles the kernels")
def test_reductions_count_threads_that_compute():
    """Barrier 0 is that of all threads, before the roles; a reduction waits at barrier 1."""
    fd = row_sums()
    ptx = ptx_of(fd)
    assert "setmaxnreg" not in ptx
    before, _, roles = ptx.partition("mbarrier.try_wait")
    assert re.search(r"bar\.sync\s+0;|barrier\.sync\s+0;", before)
    assert not re.search(r"bar\.sync\s+0;|barrier\.sync\s+0;", roles)
    assert re.search(r"bar\.sync\s+1, ", roles)
    source = fd.fusion.compile_cuda(architecture="sm_90a").source
    assert "constexpr unsigned kBlockX = 64;\nconstexpr unsigned kLoadingX = 128;" in source


@pytest.mark.skipif(not has_nvrtc(), reason="NVRTC compiles the kernels")
def test_ptx_without_registers_of_roles():
    assert "setmaxnreg" not in ptx_of(tiles(3, 2, KINDS[1]))


# -- what is refused --


def refused(make, error: type[Exception] = UserError) -> str:
    """The same on both targets, with all parts."""
    texts = []
    for on in ("cuda", "cpu"):
        with pytest.raises(error) as caught:
            lowered(make().fusion, on)
        texts.append(re.sub(r"T\d+", "T", str(caught.value)))
    assert texts[0] == texts[1]
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in texts[0]
    return texts[0]


@pytest.mark.parametrize(
    ("stages", "prefetch", "registers", "headline"),
    [
        (1, 0, None, "Unsupported stage number 1"),
        (0, 0, None, "Unsupported stage number 0"),
        (2, 2, None, "Invalid prefetch distance 2"),
        (3, -4, None, "Invalid prefetch distance -1"),
        (3, 2, (16, 64), "The number of registers for setmaxnreg must be between 24 and 256 "),
        (3, 2, (24, 264), "The number of registers for setmaxnreg must be between 24 and 256 "),
        (3, 2, (28, 64), "The number of registers for setmaxnreg must be between 24 and 256 "),
        (3, 2, (64, 32), "The number of registers for async warp group must be <= to the number"),
    ],
)
def test_arguments_that_are_refused(stages, prefetch, registers, headline):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(TMA)
        a.set_memory_type(SHARED)
        a.inline_at(1)
        with pytest.raises(UserError) as caught:
            schedule.warp_specialize(a, stages, prefetch, TX, registers)
    text = str(caught.value)
    assert text.startswith(headline)
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in text
    assert a.circular_buffer_options() is None


def test_negative_prefetch_counts_from_the_stages():
    fd = tiles(3, 2, KINDS[0])
    other = tiles(3, -1, KINDS[0])
    assert fd.fusion == other.fusion


@pytest.mark.parametrize(
    ("kind", "headline"),
    [
        (WarpSpecialized(TX), "Only bulk copies are loaded by threads of their own"),
        (Pipelined(uses_mbarrier_for_war=True), "Only stages that bulk copies load are handed"),
    ],
)
def test_other_copies_are_refused(kind, headline):
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 64], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        a = x.cache_after(SET)
        a.set_memory_type(SHARED)
        a.inline_at(1)
        with pytest.raises(UserError) as caught:
            a.circular_buffer(2, -1, kind)
    text = str(caught.value)
    assert text.startswith(headline)
    for part in ("node:", "expected:", "found:", "fix:"):
        assert part in text


@pytest.mark.parametrize("on", [BX, BY, BULK])
def test_loading_threads_are_threads(on):
    with pytest.raises(UserError, match="Loading threads stand along a dimension of the block"):
        tiles(2, 1, WarpSpecialized(on))


def test_slices_of_stages_are_refused():
    with pytest.raises(NotImplementedError, match="A stage is loaded and handed back as a whole"):
        tiles(2, 1, WarpSpecialized(TX, None, 1))


def test_loading_threads_are_neighbours():
    text = refused(lambda: row_sums(threads=(4, 64), on=TX))
    assert text.startswith("The loading threads would not be neighbours")
    assert "threadIdx.x, and threadIdx.y of size 4" in text


def test_registers_need_whole_groups_of_warps():
    text = refused(lambda: row_sums(threads=(64,), registers=(24, 64)))
    assert text.startswith("Registers are shared between groups of 128 threads")
    assert "found:    64 threads" in text


def test_registers_need_a_block_of_known_size():

    def make():
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], contiguity=True)
            y = fd.ops.neg(x)
            fd.add_output(y)
            a = x.cache_after(TMA)
            a.set_memory_type(SHARED)
            for tensor in (a, y):
                tensor.split(1, 64)
            bind_box(a, 2)
            y.axis(0).parallelize(BX)
            a.axis(0).parallelize(BX)
            y.split(2, 2, inner_split=False)
            z = y.cache_before()
            fd.sched.transform_like(y, [z])
            fd.sched.inline_at(y, 2, selected_tensors=[a])
            fd.sched.inline_most([z])
            schedule.warp_specialize(a, 3, 2, TX, (24, 64))
        return fd

    text = refused(make)
    assert text.startswith("Registers are shared between groups of 128 threads")


def test_a_block_has_only_so_many_registers():
    text = refused(lambda: row_sums(threads=(8, 64), registers=(32, 168), on=TY))
    assert text.startswith("A block has not as many registers")


def test_types_of_a_loop_are_equal():
    def make():
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, -1], contiguity=True)
            z = fd.define_tensor([-1, -1], contiguity=True)
            y = fd.ops.add(x, z)
            fd.add_output(y)
            loads = [tensor.cache_after(TMA) for tensor in (x, z)]
            for tensor in (*loads, y):
                tensor.split(1, 64)
                par(tensor, BX)
            y.axis(2).parallelize(TX)
            for a in loads:
                a.set_memory_type(SHARED)
                bind_box(a, 2)
            fd.sched.inline_at(y, 2, selected_tensors=loads)
            schedule.warp_specialize(loads[0], 2, 1, TX)
            loads[1].circular_buffer(2, 1)
        return fd

    text = refused(make)
    assert text.startswith("Circular buffers of one loop differ in the threads that load them")


def test_reductions_over_clusters_are_refused():
    """All threads of a cluster wait for each other there, those that load among them."""

    def make():
        with FusionDefinition() as fd:
            x = fd.define_tensor([-1, 2, 64], contiguity=True)
            y = fd.ops.sum(x, [1, 2])
            fd.add_output(y)
            a = x.cache_after(TMA)
            a.set_memory_type(SHARED)
            for tensor in (a, y):
                par(tensor, None, BX)
                tensor.axis(1).set_clustered_blocks()
            bind_box(a, 2)
            par(y, None, None, TX)
            fd.sched.inline_at(y, 1, selected_tensors=[a])
            schedule.warp_specialize(a, 3, 2, TX)
        return fd

    text = refused(make, NotImplementedError)
    assert text.startswith("A kernel with loading threads has no reductions over clusters")


def test_dimension_of_another_loop():
    """All loops of a kernel share one group of loading threads."""
    text = refused(lambda: two_loops(WarpSpecialized(TX), WarpSpecialized(TY)))
    assert text.startswith("A kernel has one group of loading threads")


def two_loops(first, second) -> FusionDefinition:
    """Two outputs with loops of their own."""
    with FusionDefinition() as fd:
        for kind, columns in ((first, 64), (second, 32)):
            x = fd.define_tensor([-1, columns], contiguity=True)
            y = fd.ops.neg(x)
            fd.add_output(y)
            a = x.cache_after(TMA)
            a.set_memory_type(SHARED)
            bind_box(a, 1)
            par(y, None, TX)
            a.inline_at(1)
            a.circular_buffer(3, 2, kind)
    return fd


def test_two_loops_are_loaded_by_one_group(target):
    """Stages of both are counted together."""
    fd = two_loops(KINDS[0], KINDS[0])
    cuda_text(fd.fusion)
    loading, _ = roles(lowered(fd.fusion))
    assert sum(isinstance(s, BulkLoad) for s in loading) == 2
    shapes = [((m, 64), (n, 32)) for m in (1, 2, 7) for n in (1, 4)]
    check(fd, target, shapes, lambda x, z: [-x, -z])


def test_readers_and_loading_threads_are_not_mixed():
    with pytest.raises(NotImplementedError, match="Stages of a kernel are handed back to one"):
        lowered(two_loops(KINDS[0], KINDS[2]).fusion)
