"""No sequence of Python calls crashes the process or touches freed memory."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import threading
import weakref

import pytest

import nvfuser_direct as nvf
from nvfuser_direct import Fusion, FusionDefinition, FusionGuard, ops


def build() -> FusionDefinition:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, 8], contiguity=True)
        t1 = fd.ops.add(t0, 1.0)
        fd.add_output(fd.ops.sum(t1, [1]))
    return fd


def reachable(fd: FusionDefinition) -> list[object]:
    """Handles of every kind."""
    fusion = fd.fusion
    handles: list[object] = [fusion, *fusion.vals(), *fusion.all_exprs()]
    for tensor in fusion.tensors():
        handles += [tensor.domain(), *tensor.get_loop_domain(), *tensor.shape()]
    return handles


def test_any_handle_keeps_the_fusion_alive() -> None:
    fd = build()
    alive = weakref.ref(fd.fusion)
    axis = fd.fusion.outputs()[0].axis(0)
    del fd
    gc.collect()
    assert alive() is not None
    assert axis.fusion() is alive()
    assert str(axis).startswith("iS")
    del axis
    gc.collect()
    assert alive() is None


def test_a_fusion_without_handles_is_freed() -> None:
    fd = build()
    alive = weakref.ref(fd.fusion)
    del fd
    gc.collect()
    assert alive() is None


def test_an_open_guard_keeps_the_fusion_alive() -> None:
    guard = FusionGuard(Fusion())
    gc.collect()
    tensor = nvf.define_tensor([4])
    assert str(ops.neg(tensor)).startswith("T1")
    del guard
    assert str(tensor.fusion().vals()[-1])


@pytest.mark.parametrize("seed", range(20))
def test_handles_may_die_in_any_order(seed: int) -> None:
    order = random.Random(seed)
    handles = reachable(build())
    order.shuffle(handles)
    while handles:
        handles.pop()
        if handles:
            survivor = order.choice(handles)
            if isinstance(survivor, nvf.Val):
                assert isinstance(survivor.uses(), list)
            assert str(survivor) is not None
        if order.random() < 0.1:
            gc.collect()


def test_a_handle_that_died_comes_back_as_a_new_one() -> None:
    fd = build()
    for _ in range(1000):
        assert fd.fusion.outputs()[0].definition().arg.definition().lhs is fd.fusion.inputs()[0]


def test_definitions_in_cycles_are_collected() -> None:
    fd = build()
    fd.me = fd
    fd.handles = reachable(fd)
    alive = weakref.ref(fd.fusion)
    del fd
    gc.collect()
    assert alive() is None


def test_an_exception_leaves_the_block_and_the_fusion_in_order(capsys) -> None:
    fd = FusionDefinition()

    def block() -> None:
        with fd:
            fd.define_tensor([4])
            raise ZeroDivisionError("in the block")

    with pytest.raises(ZeroDivisionError):
        block()
    (t0,) = fd.fusion.inputs()
    assert capsys.readouterr().out == ""
    with pytest.raises(RuntimeError, match="No fusion is active"):
        ops.neg(t0)
    with fd:
        ops.neg(t0)


def test_a_failed_operation_leaves_a_usable_fusion() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4, 8])
        t1 = fd.define_tensor([4, 9])
        for _ in range(100):
            with pytest.raises(RuntimeError, match="Expected sizes to match"):
                fd.ops.add(t0, t1)
        fd.add_output(fd.ops.neg(t0))
    assert "T0_g_float" in fd.fusion.print_math()


def test_a_guard_that_dies_on_another_thread() -> None:
    box = [FusionGuard(Fusion())]
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    gc.collect()
    with pytest.raises(RuntimeError, match="No fusion is active"):
        nvf.define_tensor([4])


def test_threads_have_their_own_active_fusion() -> None:
    errors: list[BaseException] = []
    barrier = threading.Barrier(4)

    def work() -> None:
        try:
            for _ in range(20):
                barrier.wait(timeout=60)
                fd = build()
                assert len(fd.fusion.inputs()) == 1
                assert all(v.fusion() is fd.fusion for v in fd.fusion.vals())
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_handles_shared_by_threads() -> None:
    fd = build()
    expected = [str(handle) for handle in reachable(fd)]
    results: list[list[str]] = []

    def work() -> None:
        for _ in range(10):
            results.append([str(handle) for handle in reachable(fd)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 40


def test_a_definition_used_from_a_finalizer() -> None:
    fd = build()
    seen: list[str] = []

    class Holder:
        def __init__(self, tensor) -> None:
            self.tensor = tensor
            self.me = self

        def __del__(self) -> None:
            seen.append(str(self.tensor))

    Holder(fd.fusion.outputs()[0])
    del fd
    gc.collect()
    assert seen[0].startswith("T2_g_float")


def test_clones_share_nothing() -> None:
    fd = build()
    clone = fd.fusion.clone()
    tensors = clone.tensors()
    del fd
    gc.collect()
    assert [str(tensor)[:2] for tensor in tensors] == ["T0", "T1", "T2"]


def test_a_definition_entered_twice_is_active_until_the_outer_end() -> None:
    fd = FusionDefinition()
    with fd:
        t0 = fd.define_tensor([4])
        with fd:
            t1 = fd.ops.neg(t0)
        fd.add_output(fd.ops.neg(t1))
    with pytest.raises(RuntimeError, match="No fusion is active"):
        ops.neg(t0)


def test_a_list_that_holds_itself_is_no_tensor() -> None:
    with FusionDefinition() as fd:
        nested: list[object] = []
        nested.append(nested)
        with pytest.raises(RuntimeError, match="lists in lists are more than 64 deep"):
            fd.ops.tensor(nested)


def test_a_shape_that_shrinks_while_it_is_read() -> None:
    shape: list[object] = []

    class Size:
        def __index__(self) -> int:
            shape.clear()
            return 4

    shape += [Size(), 1, 2]
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([4])
        assert fd.ops.reshape(t0, shape).ndim == 1


# ---- Analyses, kernels, executors ----------------------------------------------------------------


def scheduled() -> FusionDefinition:
    fd = build()
    with fd:
        fd.sched.trivial(fd.fusion)
    return fd


def test_a_kernel_outlives_its_fusion() -> None:
    fd = scheduled()
    kernel = fd.fusion.lower(target="cpu", record_passes=True)
    del fd
    gc.collect()
    statement = kernel.body[0]
    buffers = kernel.buffers()
    assert statement.fusion() is kernel
    text = str(kernel)
    del kernel
    gc.collect()
    assert str(statement.fusion()) == text
    assert all(tensor.fusion() is statement.fusion() for tensor, _, _ in buffers)


def test_a_kernel_outlives_its_executor() -> None:
    fd = scheduled()
    executor = nvf.KernelExecutor()
    executor.compile(fd.fusion)
    kernel = executor.kernel()
    assert kernel is executor.kernel()
    source = kernel.print_source()
    assert "GeneratedKernel(" in source
    del executor, fd
    gc.collect()
    assert kernel.print_source() == source


def test_an_id_model_keeps_its_fusion() -> None:
    fd = build()
    model = nvf.idm.IdModel(fd.fusion)
    alive = weakref.ref(fd.fusion)
    graph = model.maybe_build_graph(nvf.IdMappingMode.exact)
    sets = graph.disjoint_val_sets()
    del fd, model
    gc.collect()
    assert alive() is not None
    assert "iS0" in str(sets)
    members = graph.members(alive().inputs()[0].axis(0))
    del graph, sets
    gc.collect()
    assert str(members[0]).startswith("iS")
    del members
    gc.collect()
    assert alive() is None


def test_a_graph_keeps_foreign_axes() -> None:
    graph = nvf.idm.IdModel(build().fusion).maybe_build_graph(nvf.IdMappingMode.exact)
    other = build().fusion
    graph.map_vals(other.inputs()[0].axis(0), other.inputs()[0].axis(1))
    del other
    gc.collect()
    assert "idg{" in str(graph)


def test_a_self_mapping_keeps_its_fusion() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.add(t0, fd.ops.permute(t0, [1, 0])))
    alive = weakref.ref(fd.fusion)
    graph = nvf.idm.IdModel(fd.fusion).maybe_build_graph(nvf.IdMappingMode.exact)
    mapping = nvf.idm.find_self_mapping(graph, fd.fusion)
    del fd, t0, graph
    gc.collect()
    assert alive() is not None
    assert mapping.first in mapping.tensor.get_logical_domain()
    del mapping
    gc.collect()
    assert alive() is None


def test_bank_conflicts_keep_their_kernel() -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([32, 32], contiguity=True)
        t1 = fd.ops.set(t0)
        t2 = fd.ops.neg(t1)
        fd.add_output(t2)
    t1.set_memory_type(nvf.MemoryType.shared)
    for tensor in (t1, t2):
        tensor.axis(1).parallelize(nvf.ParallelType.block_x)
    conflicts = fd.fusion.lower().bank_conflicts()
    alive = weakref.ref(conflicts[0].statement.fusion())
    gc.collect()
    assert alive() is not None
    assert all(conflict.tensor.fusion() is alive() for conflict in conflicts)
    del conflicts
    gc.collect()
    assert alive() is None


def test_a_fusion_changes_while_it_compiles() -> None:
    fd = scheduled()
    executor = nvf.KernelExecutor()
    done = threading.Event()

    def change() -> None:
        guard = FusionGuard(fd.fusion)
        while not done.is_set():
            ops.neg(fd.fusion.inputs()[0])
        del guard

    thread = threading.Thread(target=change)
    thread.start()
    try:
        executor.compile(fd.fusion)
    finally:
        done.set()
        thread.join()
    assert executor.is_compiled()


def test_everything_may_be_alive_when_the_interpreter_ends() -> None:
    code = """
import atexit, threading
import nvfuser_direct as nvf
fd = nvf.FusionDefinition().__enter__()
t0 = fd.define_tensor([-1])
t1 = fd.ops.neg(t0)
fd.add_output(t1)
guard = nvf.FusionGuard(nvf.Fusion())
model = nvf.idm.IdModel(fd.fusion, build_graphs=True)
handles = [t1.definition(), t1.axis(0), fd]
handles.append(handles)
atexit.register(lambda: print(t1))
box = threading.local()
box.tensor = t1
def forever():
    while True:
        str(fd.fusion)
threading.Thread(target=forever, daemon=True).start()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "T1_g_float[iS1{i0}]\n"
    assert result.stderr == ""
