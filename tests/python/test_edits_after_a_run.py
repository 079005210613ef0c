"""Definitions and schedules that are edited after a run: the next run is of what is there then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from nvfuser_direct import (
    DataType,
    FusionDefinition,
    KernelExecutor,
    LruFusionCache,
    MemoryType,
    ParallelType,
    UserError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nvfuser_direct import TensorView


def chained() -> tuple[FusionDefinition, list[TensorView]]:
    """An input, its sine, twice that, and the sums of rows, with nothing scheduled."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 64], contiguity=True)
        sine = fd.ops.sin(x)
        twice = fd.ops.mul(sine, 2.0)
        total = fd.ops.sum(twice, [1])
        fd.add_output(twice)
        fd.add_output(total)
    return fd, [x, sine, twice, total]


def bind(axis: int, parallel_type: ParallelType) -> Callable[..., None]:
    def edit(fd: FusionDefinition, tensors: list[TensorView]) -> None:
        for tensor in tensors[1:]:
            tensor.axis(axis).parallelize(parallel_type)

    return edit


def add_output(fd: FusionDefinition, tensors: list[TensorView]) -> None:
    with fd:
        fd.add_output(fd.ops.neg(tensors[3]))


def update_input(fd: FusionDefinition, tensors: list[TensorView]) -> None:
    fd.add_output(tensors[2], tensors[0])


def reset(fd: FusionDefinition, tensors: list[TensorView]) -> None:
    tensors[1].inline_at(1)
    fd.sched.reset_inlining(fd.fusion)


def pad(fd: FusionDefinition, tensors: list[TensorView]) -> None:
    tensors[3].axis(1).parallelize(ParallelType.block_x)
    tensors[3].axis(1).pad_to_multiple_of_warp()


EDITS: dict[str, Callable[[FusionDefinition, list[TensorView]], Any]] = {
    "split": lambda fd, t: t[2].split(1, 8),
    "merge": lambda fd, t: t[1].merge(0, 1),
    "reorder": lambda fd, t: t[1].reorder({0: 1}),
    "parallelize": bind(0, ParallelType.grid_x),
    "pad_to_multiple_of_warp": pad,
    "inline": lambda fd, t: t[1].inline_at(1),
    "reset_inlining": reset,
    "cache_after": lambda fd, t: t[0].cache_after(),
    "set_memory_type": lambda fd, t: t[1].set_memory_type(MemoryType.shared),
    "set_contiguity": lambda fd, t: t[0].set_contiguity(False),
    "set_allocation_domain": lambda fd, t: t[2].set_allocation_domain(t[2].get_loop_domain(), True),
    "serial_grid": lambda fd, t: t[3].definition().request_serial_grid_reduction(),
    "add_output": add_output,
    "update_input": update_input,
}


@pytest.mark.parametrize("name", EDITS)
def test_edits_are_counted(name: str) -> None:
    fd, tensors = chained()
    before = fd.fusion.version()
    EDITS[name](fd, tensors)
    assert fd.fusion.version() > before


def test_looking_is_no_edit() -> None:
    fd, tensors = chained()
    before = fd.fusion.version()
    str(fd), repr(fd.fusion), fd.fusion.print_math(), fd.fusion.print_transforms()
    fd.fusion.print_kernel(), fd.fusion.lower(), fd.fusion.clone(), fd.fusion.hash()
    fd.fusion.exprs(), fd.fusion.evaluate([torch.ones(32, 64)])
    tensors[2].size(0), tensors[2].axis(0).extent()
    with fd:
        fd.ops.neg(tensors[2])  # nothing reads it
    assert fd.fusion.version() == before


@pytest.mark.parametrize("name", [n for n in EDITS if n not in ("serial_grid", "cache_after")])
def test_the_next_run_is_of_what_was_edited(name: str, target: str) -> None:
    """Edited step by step, or from the start: the same kernel."""
    x = torch.linspace(0, 1, 2048, device=target).reshape(32, 64)
    edited, tensors = chained()
    edited.manual_execute([x])
    first = edited.ke.kernel_source()
    EDITS[name](edited, tensors)
    direct, tensors = chained()
    EDITS[name](direct, tensors)
    try:
        expected = direct.manual_execute([x.clone()])
    except UserError:
        with pytest.raises(UserError):
            edited.manual_execute([x.clone()])
        return
    outputs = edited.manual_execute([x.clone()])
    assert len(outputs) == len(expected)
    for output, wanted in zip(outputs, expected, strict=True):
        assert torch.equal(output, wanted)
    assert edited.ke.kernel_source() == direct.ke.kernel_source()
    if name in ("split", "merge", "reorder", "parallelize", "inline", "add_output"):
        assert edited.ke.kernel_source() != first


def test_a_schedule_is_tried_out_step_by_step(target: str) -> None:
    """The loop of scheduling by hand: edit, run, look, edit."""
    x = torch.randn(1000, device=target)
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        t1 = fd.ops.mul(t0, 2.0)
        fd.add_output(t1)
    assert torch.equal(fd.manual_execute([x])[0], x * 2)
    t1.split(0, 128)
    t1.axis(1).parallelize(ParallelType.block_x)
    assert torch.equal(fd.manual_execute([x])[0], x * 2)
    assert fd.ke.last_launch().bdimx == 128
    t1.axis(0).parallelize(ParallelType.grid_x)
    assert torch.equal(fd.manual_validate([x])[0], x * 2)
    assert fd.ke.last_launch().gdimx == 8
    with fd:
        fd.add_output(fd.ops.add(t1, 1.0))
    fd.fusion.outputs()[1].split(0, 128)
    fd.fusion.outputs()[1].axis(1).parallelize(ParallelType.block_x)
    fd.fusion.outputs()[1].axis(0).parallelize(ParallelType.grid_x)
    doubled, more = fd.manual_validate([x])
    assert torch.equal(more, doubled + 1)


def test_runs_between_edits_compile_nothing() -> None:
    fd, _ = chained()
    x = torch.ones(32, 64)
    fd.manual_execute([x])
    program = fd.ke.kernel()
    for _ in range(3):
        fd.manual_validate([x])
        repr(fd)
    assert fd.ke.kernel() is program
    assert fd.ke.num_compiled() == 1


def test_a_failed_edit_does_not_run_the_old_kernel() -> None:
    fd, tensors = chained()
    x = torch.ones(32, 64)
    fd.manual_execute([x])
    tensors[1].axis(0).parallelize(ParallelType.mma)
    for _ in range(2):
        with pytest.raises(UserError, match="no instruction computes its tensor"):
            fd.manual_execute([x])
    tensors[1].axis(0).parallelize(ParallelType.serial)
    fd.manual_validate([x])


# ---- Definitions that the executor cache has -----------------------------------------------------


def test_edits_of_what_was_executed_are_refused() -> None:
    for edit in (EDITS["split"], EDITS["parallelize"], EDITS["update_input"]):
        fd, tensors = chained()
        x = torch.ones(32, 64)
        fd.execute([x])
        edit(fd, tensors)
        with pytest.raises(UserError, match="was executed, and cannot be changed any more") as e:
            fd.execute([x])
        assert "fix:      make a new definition" in str(e.value)


def test_looking_at_what_was_executed_is_no_edit() -> None:
    @LruFusionCache(max_fusions=2)
    def define() -> FusionDefinition:
        return chained()[0]

    x = torch.ones(32, 64)
    for _ in range(3):
        fd = define()
        fd.validate([x])
        str(fd), fd.fusion.print_math(), fd.repro_script_for([x])
    with FusionDefinition() as rows:
        a, n = rows.define_tensor([-1, -1]), rows.define_scalar(DataType.Int)
        rows.add_output(rows.ops.sum(rows.ops.reshape(a, [n, -1]), [1]))
    for count in (2, 8, 2):
        rows.validate([torch.ones(4, 4), count])


# ---- One way or the other ------------------------------------------------------------------------


def test_mixing_the_two_ways_says_the_way_out() -> None:
    x = torch.ones(32, 64)
    fd, _ = chained()
    fd.execute([x])
    with pytest.raises(AssertionError, match="FusionExecutorCache already exists! Use exec") as e:
        fd.manual_execute([x])
    assert "fd.fusion.clone() and run that with a KernelExecutor" in str(e.value)
    copy, ke = fd.fusion.clone(), KernelExecutor()
    ke.compile(copy, [x])
    torch.testing.assert_close(ke.run([x]), fd.execute([x]))

    fd, _ = chained()
    fd.manual_execute([x])
    with pytest.raises(AssertionError, match="KernelExecutor already exists! Use manual_ex") as e:
        fd.execute([x])
    assert "for automatic scheduling define the fusion again" in str(e.value)


# ---- Devices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", ["cuda", "cuda:0", 0, torch.device("cuda")])
def test_a_device_that_is_not_there_is_an_error(device: object) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.full([2], 1.0, DataType.Float))
    if torch.cuda.is_available():
        assert fd.execute([], device=device)[0].is_cuda
        device = torch.cuda.device_count()
        with pytest.raises(UserError, match="There is no device cuda:"):
            fd.execute([], device=device)
        return
    for run in (fd.execute, fd.validate):
        with pytest.raises(UserError, match=r"^No CUDA device can be used\."):
            run([], device=device)
    assert fd.execute([])[0].tolist() == [1.0, 1.0]


@pytest.mark.gpu
def test_inputs_on_another_device_than_the_call_names_are_an_error() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    fd, _ = chained()
    with pytest.raises(UserError, match="Expected input 0 on device cuda:0, which the call names"):
        fd.execute([torch.ones(32, 64)], device="cuda")
    outputs = fd.execute([torch.ones(32, 64, device="cuda")], device="cuda")
    assert all(output.is_cuda for output in outputs)
