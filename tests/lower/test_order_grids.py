"""order_grids: where a kernel waits for the grid before it, and tells the next one to begin."""

from __future__ import annotations

import pytest
from pass_text import BX, TX, bound, check_pass, check_refused, check_unchanged

from nvfuser_direct import FusionDefinition, Kernel, LoadStoreOpType, MemoryType, ParallelType

NAME = "order_grids"


def waiting(*, has_older: bool) -> FusionDefinition:
    """x + w, a block a row; `w` is loaded in a loop nest of its own."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([4, 32], contiguity=True)
        w = fd.define_tensor([32], contiguity=True)
        kept = fd.ops.set(w)
        late = fd.ops.wait_for_prior_grid([x, kept] if has_older else [x])
        y = fd.ops.add(late, fd.ops.broadcast(kept, [True, False]))
        fd.add_output(y)
        kept.axis(0).parallelize(TX)
        kept.uses()[-1].output(0).axis(1).parallelize(TX)
        for tensor in (late, y):
            tensor.axis(0).parallelize(BX)
            tensor.axis(1).parallelize(TX)
        fd.sched.inline_at(y, 2, selected_tensors=[late])
    return fd


def test_the_wait_stands_behind_loads_of_older_tensors() -> None:
    text = str(waiting(has_older=True).fusion.lower(target="cuda", until=NAME))
    assert text.count("PRIORGRIDWAIT()") == 1
    load, copy = (text.index(line) for line in ("= Set( T1_g", "= Set( T0_g"))
    assert load < text.index("PRIORGRIDWAIT()") < copy


def test_the_wait_stands_in_front_of_all_loads_that_are_not_said_to_be_older() -> None:
    text = str(waiting(has_older=False).fusion.lower(target="cuda", until=NAME))
    assert text.index("PRIORGRIDWAIT()") < text.index("= Set( T1_g")


def test_what_is_stored_waits_though_only_older_tensors_are_read() -> None:
    """Its memory may be that of a tensor which the prior grid still reads."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32], contiguity=True)
        w = fd.define_tensor([32], contiguity=True)
        kept = fd.ops.exp(w)
        fd.add_output(fd.ops.neg(kept))
        fd.add_output(fd.ops.abs(fd.ops.wait_for_prior_grid([x, kept])))
        for tensor in fd.fusion.tensors():
            if tensor.definition() is not None:
                tensor.axis(0).parallelize(TX)
    check_pass(
        fd,
        NAME,
        """
        T2_l[0] = expf(T1_g[tx]);
        T3_g[tx] = -T2_l[0];
        T4_l[0] = Set(T0_g[tx])
        T5_g[tx] = abs(T4_l[0]);
        """,
        """
        T2_l[0] = expf(T1_g[tx]);
        PRIORGRIDWAIT()
        T3_g[tx] = -T2_l[0];
        T4_l[0] = Set(T0_g[tx])
        T5_g[tx] = abs(T4_l[0]);
        """,
    )


def test_an_update_of_an_older_tensor_waits() -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([32], contiguity=True)
        w = fd.define_tensor([32], contiguity=True)
        kept = fd.ops.exp(w)
        fd.add_output(fd.ops.neg(kept), w)
        fd.add_output(fd.ops.wait_for_prior_grid([x, kept]))
    text = str(fd.fusion.lower(target="cuda", until=NAME))
    assert text.index("= expf(") < text.index("PRIORGRIDWAIT()") < text.index("= -T")


def test_workspaces_of_reductions_are_behind_the_wait() -> None:
    """Blocks of the prior grid may still count in the same memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        w = fd.define_tensor([64], contiguity=True)
        kept = fd.ops.set(w)
        total = fd.ops.sum(kept, [0])
        late = fd.ops.wait_for_prior_grid([x, kept])
        fd.add_output(total)
        fd.add_output(late)
        for tensor in (kept, total, late):
            tensor.axis(0).parallelize(BX)
    kernel = fd.fusion.lower(target="cuda", until=NAME)
    assert not kernel.is_cooperative()
    text = str(kernel)
    assert text.index("= Set( T1_g") < text.index("PRIORGRIDWAIT()") < text.index("= GRIDREDUCTION")


@pytest.mark.parametrize("is_older", [True, False])
def test_boxes_of_older_tensors_are_loaded_before_the_wait(*, is_older: bool) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        w = fd.define_tensor([64], contiguity=True)
        late = fd.ops.wait_for_prior_grid([x, w] if is_older else [x])
        y = fd.ops.add(late, w)
        fd.add_output(y)
        box = w.cache_after(LoadStoreOpType.tma)
        box.set_memory_type(MemoryType.shared)
        box.axis(0).parallelize(ParallelType.tma)
        for tensor in (late, y):
            tensor.axis(0).parallelize(TX)
    text = str(fd.fusion.lower(target="cuda", until=NAME))
    assert (text.index("BULKLOAD") < text.index("PRIORGRIDWAIT()")) is is_older


def chained() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([8, 32], contiguity=True)
        y = fd.ops.neg(fd.ops.wait_for_prior_grid([x]))
        last = fd.ops.launch_dependent_grid([y])
        fd.add_output(last)
        last.split(0, 2)
        bound(fd, last, BX)
    return fd


def test_both_stand_outside_of_loops_and_once() -> None:
    check_pass(
        chained(),
        NAME,
        """
        FOR k0 in 2:
          FOR k1 in 32:
            T1_l[0] = Set(T0_g[(((bx * 64) + (k0 * 32)) + k1)])
            T2_l[0] = -T1_l[0];
            T3_g[(((bx * 64) + (k0 * 32)) + k1)] = Set(T2_l[0])
        """,
        """
        PRIORGRIDWAIT()
        FOR k0 in 2:
          FOR k1 in 32:
            T1_l[0] = Set(T0_g[(((bx * 64) + (k0 * 32)) + k1)])
            T2_l[0] = -T1_l[0];
            T3_g[(((bx * 64) + (k0 * 32)) + k1)] = Set(T2_l[0])
        DEPENDENTGRIDLAUNCH()
        """,
    )


def test_grids_of_the_cpu_run_one_after_the_other() -> None:
    check_unchanged(chained(), NAME, target="cpu")


def test_a_kernel_that_does_not_ask_is_as_it_was() -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([16, 64], contiguity=True)))
    check_unchanged(fd, NAME)


@pytest.mark.parametrize(
    ("target", "waits"), [("sm_80", False), ("sm_90a", True), ("cuda", True), ("cpu", False)]
)
def test_the_launch_knows_whether_it_may_overlap(target: str, *, waits: bool) -> None:
    kernel: Kernel = chained().fusion.lower(target=target)
    assert kernel.waits_for_prior_grid() is waits


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_an_input_is_not_read_before_the_grid_that_writes_it_has_ended(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([32], contiguity=True)
        early = fd.ops.set(x)
        y = fd.ops.add(fd.ops.wait_for_prior_grid([x, early]), early)
        fd.add_output(y)
    check_refused(
        fd,
        NAME,
        r"(?s)An input is read before the wait for the grid that writes it.*node:.*made at"
        r".*expected: tensors behind the first.*found: .*which reads T0"
        r".*fix: .*leave the tensor out of the list",
        target,
    )


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_blocks_that_wait_for_each_other_do_not_overlap_the_prior_grid(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([64], contiguity=True)
        late = fd.ops.wait_for_prior_grid([x])
        total = fd.ops.broadcast(fd.ops.sum(late, [0]), [True])
        y = fd.ops.sub(late, total)
        fd.add_output(y)
        for tensor in (late, total.definition().input(0), total, y):
            tensor.axis(0).parallelize(BX)
    check_refused(
        fd,
        NAME,
        r"(?s)A kernel whose blocks wait for each other waits for the prior grid.*node:.*made at"
        r".*expected: blocks that may begin one by one.*found: .*a barrier over the grid"
        r".*fix: .*leave out wait_for_prior_grid",
        target,
    )


@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_no_grid_is_launched_before_the_wait(target: str) -> None:
    with FusionDefinition() as fd:
        x = fd.define_tensor([32], contiguity=True)
        w = fd.define_tensor([32], contiguity=True)
        early = fd.ops.launch_dependent_grid([w])
        y = fd.ops.add(fd.ops.wait_for_prior_grid([x, early]), early)
        fd.add_output(y)
    check_refused(
        fd,
        NAME,
        r"(?s)The dependent grid is launched before the wait for the prior grid.*node:.*made at"
        r".*expected: a tensor that is computed behind the wait.*found: .*computed before it"
        r".*fix: .*pass a tensor that depends on the result of wait_for_prior_grid",
        target,
    )


def test_threads_that_only_load_wait_as_well() -> None:
    """10.10"""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, 1024], contiguity=True)
        y = fd.ops.sum(fd.ops.wait_for_prior_grid([x]), [1])
        fd.add_output(y)
        row = x.cache_after(LoadStoreOpType.tma)
        row.set_memory_type(MemoryType.shared)
        late = row.uses()[0].output(0)
        y.split(1, 256)
        y.split(0, 132, inner_split=False)
        partial = y.rfactor([2])
        for tensor in (late, row):
            tensor.split(1, 256)
            tensor.split(0, 132, inner_split=False)
        for tensor in (partial, y, late):
            tensor.axis(0).parallelize(BX)
            tensor.axis(-1).parallelize(TX)
        row.axis(0).parallelize(BX)
        row.axis(3).parallelize(ParallelType.tma)
        fd.sched.inline_at(partial, 2, selected_tensors=[row])
        fd.sched.inline_at(partial, -1, selected_tensors=[late])
        fd.sched.inline_at(y, 2, selected_tensors=[partial])
        fd.sched.warp_specialize(row, 3, 2, TX)
    source = fd.fusion.print_kernel(target="cuda")
    assert source.count("wait_for_prior_grid();") == 1
    assert source.index("wait_for_prior_grid();") < source.index("} else {")
    assert source.index("wait_for_prior_grid();") < source.index("bulk_load<")
    assert source.index("wait_for_prior_grid();") < source.index("bulk_stages.wait_full();")
