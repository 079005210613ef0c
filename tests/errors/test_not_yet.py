"""Features that are documented and not there yet: errors that nothing can provoke, each
with the reason, and schedules that no kernel can carry out: refused, never ignored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch

import nvfuser_direct
from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    IterType,
    KernelExecutor,
    LoadStoreOpType,
    MemoryType,
    ParallelType,
    SwizzleType,
    UserError,
    execute_with_dtensors,
    multidevice,
    schedule,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nvfuser_direct import Fusion, TensorView

NOT_YET = {
    "INTERNAL ASSERT FAILED at": "a bug of the compiler; one that is known is mended",
    "Tried to do rFactor on a 0-dim TensorView": "that it is no reduction is said first",
    "Detected exception while compiling fusion segments in parallel.": (
        "the exception itself is raised: that of the first segment that has one"
    ),
    "Could not launch kernel as program could not infer ": (
        "every extent follows from sizes and scalars of the inputs; the check guards launches"
    ),
    "`devices_` contains duplicates: ": "there are no device meshes",
    "All DTensor inputs must have the same mesh dim names. Got ": "there are no device meshes",
    "Expected PrimDataType but got type: ": "there are no tensors of composite types",
}


@pytest.mark.parametrize("gist", NOT_YET)
def test_what_cannot_happen_is_no_case(gist: str) -> None:
    """A gist leaves this list when a case provokes it."""
    assert NOT_YET[gist]
    for file in Path(__file__).parent.glob("test_*_errors.py"):
        assert f'documented("{gist}' not in file.read_text()


@pytest.mark.parametrize(
    ("module", "name", "found"),
    [
        (nvfuser_direct, "nvf_cutlass", "no matrix products in generated kernels"),
    ],
)
def test_names_that_are_not_there_say_why(module: ModuleType, name: str, found: str) -> None:
    headline = rf"^nvfuser_direct\.{name} is not there yet\n"
    with pytest.raises(AttributeError, match=headline) as caught:
        getattr(module, name)
    assert f"  found:    {found}\n  fix:      " in str(caught.value)
    assert not hasattr(module, name)


def any_tensor() -> TensorView:
    with FusionDefinition() as fd:
        return fd.define_tensor([-1])


DEVICE_USES = {
    "DeviceMesh": lambda: multidevice.DeviceMesh([0, 1]),
    "Communicator": multidevice.Communicator.instance,
    "Sharding": multidevice.Sharding,
    "MultiDeviceExecutorParams": multidevice.MultiDeviceExecutorParams,
    "MultiDeviceExecutor": lambda: multidevice.MultiDeviceExecutor(nvfuser_direct.Fusion()),
    "shard_tensor": lambda: multidevice.shard_tensor(torch.ones(2), None),
    "execute_with_dtensors": lambda: execute_with_dtensors(FusionDefinition(), []),
    "TensorView.set_device_mesh": lambda: any_tensor().set_device_mesh(None),
}


@pytest.mark.parametrize("name", DEVICE_USES)
def test_names_of_several_devices_are_there_and_raise_on_use(name: str) -> None:
    with pytest.raises(NotImplementedError, match=rf"{name} is not there yet\n  ") as e:
        DEVICE_USES[name]()
    assert "a fusion runs on one device\n  fix:      define the fusion for the part" in str(e.value)


def test_programs_ask_about_several_devices_without_an_error() -> None:
    """An integrator does this with outputs that may be spread."""
    assert not isinstance(torch.ones(2), multidevice.DeviceMesh)
    for member in ("size", "shape", "shard_tensor"):
        assert hasattr(multidevice.DeviceMesh, member)
    assert [b.name for b in nvfuser_direct.CommunicatorBackend] == ["nccl", "ucc", "cuda"]
    assert nvfuser_direct.multidevice is multidevice
    assert {"multidevice", "execute_with_dtensors"} <= set(nvfuser_direct.__all__)


@pytest.mark.parametrize("module", [schedule, nvfuser_direct])
def test_unknown_names_are_ordinary_errors(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=r"^module '.*' has no attribute 'split_all'$"):
        _ = module.split_all


# ---- Schedules without a kernel form -------------------------------------------------------------

COPIES = {LoadStoreOpType.set, LoadStoreOpType.SegmenterSet, LoadStoreOpType.cp_async}
NO_BINDINGS = [
    ParallelType.stream,
    ParallelType.mesh_x,
    ParallelType.mesh_y,
    ParallelType.mesh_z,
]
LOOP_BINDINGS = [p for p in ParallelType if p not in (*NO_BINDINGS, ParallelType.serial)]


def scheduled(act: Callable[[TensorView, TensorView], object]) -> FusionDefinition:
    """An input of constant sizes, its negation, and what `act` does to them."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        y = fd.ops.neg(x)
        fd.add_output(y)
        act(x, y)
    return fd


def compile_for_cpu(fusion: Fusion) -> None:
    KernelExecutor().compile(fusion, [], compile_params=CompileParams(device="cpu"))


WAYS = {
    "lower for cuda": lambda fusion: fusion.lower(target="cuda"),
    "lower for cpu": lambda fusion: fusion.lower(target="cpu"),
    "print": lambda fusion: fusion.print_kernel(),
    "compile": compile_for_cpu,
}


def check_refused(
    fd: FusionDefinition, headline: str, *parts: str, kind: type = NotImplementedError
) -> None:
    """On every way to a kernel; the text has a tensor, and all `parts`."""
    for way in WAYS.values():
        with pytest.raises(kind, match="^" + re.escape(headline)) as caught:
            way(fd.fusion)
        assert re.search(r"node: +T\d+_", str(caught.value))
        for part in ("expected:", "found:", "fix:", *parts):
            assert part in str(caught.value)


@pytest.mark.parametrize("op", sorted(COPIES, key=str))
def test_copies_of_elements_are_lowered(op: LoadStoreOpType) -> None:
    fd = scheduled(lambda x, y: x.cache_after(op).set_memory_type(MemoryType.shared))
    for way in WAYS.values():
        way(fd.fusion)


def test_execute_evaluates_what_has_no_kernel_form() -> None:
    """The automatic schedule keeps the copy; without the evaluator, and by hand, it is an error."""

    def act(x: TensorView, y: TensorView) -> None:
        x.cache_after().set_memory_type(MemoryType.symmetric)

    values = torch.randn(32, 32)
    fd = scheduled(act)
    torch.testing.assert_close(fd.execute([values])[0], -values)
    assert fd.fec.get_most_recent_scheduled_ir() == ""
    fd = scheduled(act)
    with pytest.raises(NotImplementedError, match="has no kernel form"):
        fd.execute([values], _disable_options=["fallback"])
    fd = scheduled(act)
    with pytest.raises(NotImplementedError, match="has no kernel form"):
        fd.manual_execute([values])


@pytest.mark.parametrize("binding", NO_BINDINGS)
def test_a_binding_without_kernel_form_is_refused(binding: ParallelType) -> None:
    """Bindings of loops, of the axes they were made from, and of inputs."""

    def of_the_split_axis(x: TensorView, y: TensorView) -> None:
        y.split(0, 4)
        y.get_logical_domain()[0].parallelize(binding)

    for act in (
        lambda x, y: y.axis(0).parallelize(binding),
        lambda x, y: x.axis(0).parallelize(binding),
        of_the_split_axis,
    ):
        check_refused(scheduled(act), "Parallel type ", "has no kernel form")


@pytest.mark.parametrize("binding", LOOP_BINDINGS)
def test_a_bound_axis_is_a_loop(binding: ParallelType) -> None:
    def act(x: TensorView, y: TensorView) -> None:
        y.split(0, 4)
        y.get_logical_domain()[0].parallelize(binding)

    check_refused(
        scheduled(act), "An axis that is no loop is bound to", "get_loop_domain()", kind=UserError
    )


def test_a_merged_loop_keeps_the_binding_of_its_axis() -> None:
    """It is no mistake that the axis itself is no loop any more."""

    def act(x: TensorView, y: TensorView) -> None:
        y.axis(0).parallelize(ParallelType.block_x)
        y.merge(0, 1)
        assert y.axis(0).parallel_type() is ParallelType.block_x

    assert "threadIdx.x" in scheduled(act).fusion.print_kernel()


def test_a_rotation_by_the_device_is_refused() -> None:
    fd = scheduled(lambda x, y: y.swizzle1d(0, ParallelType.mesh_x))
    check_refused(fd, "Swizzle1D has no kernel form", "one device")


def test_memory_without_kernel_form_is_refused() -> None:
    fd = scheduled(lambda x, y: x.cache_after().set_memory_type(MemoryType.symmetric))
    check_refused(fd, "Memory type ", "has no kernel form")


def test_symmetric_inputs_are_refused() -> None:
    fd = scheduled(lambda x, y: x.set_memory_type(MemoryType.symmetric))
    check_refused(fd, "Memory type Symmetric has no kernel form", "global memory")


@pytest.mark.parametrize("dtype", [d for d in DataType if d not in (DataType.Int, DataType.Int32)])
def test_indices_are_integers_of_32_or_64_bits(dtype: DataType) -> None:
    fd = scheduled(lambda x, y: None)
    with pytest.raises(UserError, match="Indices cannot be computed in"):
        fd.fusion.lower(index_type=dtype)
    with pytest.raises(UserError, match="Indices cannot be computed in"):
        fd.fusion.print_kernel(CompileParams(index_type=dtype))
    for inputs in ([], [torch.ones(32, 32)]):
        params = CompileParams(device="cpu", index_type=dtype)
        with pytest.raises(UserError, match="Indices cannot be computed in"):
            KernelExecutor().compile(fd.fusion, inputs, compile_params=params)


def test_what_is_added_to_an_axis_runs_as_the_axis_does() -> None:
    can_be = {IterType.Iteration, IterType.Symbolic}
    for iter_type in IterType:
        if iter_type in can_be:
            scheduled(lambda x, y, t=iter_type: y.resize(0, 1, 2, t)).fusion.print_kernel()
        else:
            with pytest.raises(UserError, match="A resized axis cannot be of type"):
                scheduled(lambda x, y, t=iter_type: y.resize(0, 1, 2, t))


@pytest.mark.parametrize("swizzle", list(SwizzleType))
def test_every_swizzle_is_lowered(swizzle: SwizzleType) -> None:
    text = scheduled(lambda x, y: y.swizzle(swizzle, 0, 1)).fusion.print_kernel()
    word = {SwizzleType.NoSwizzle: "", SwizzleType.XOR: "^", SwizzleType.CyclicShift: "%"}[swizzle]
    assert word in text
