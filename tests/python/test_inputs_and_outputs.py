"""Inputs and outputs of a fusion, at the edges."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import torch

from nvfuser_direct import (
    CompileParams,
    DataType,
    FusionDefinition,
    FusionExecutorCache,
    LaunchParams,
    SchedulerType,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def run_scheduled(fd: FusionDefinition, inputs: list[object]) -> list[torch.Tensor]:
    return fd.execute(inputs)


def run_by_hand(fd: FusionDefinition, inputs: list[object]) -> list[torch.Tensor]:
    with fd:
        fd.sched.trivial(fd.fusion)
    return fd.manual_execute(inputs)


both_ways = pytest.mark.parametrize("run", [run_scheduled, run_by_hand])


@both_ways
def test_an_output_may_be_an_input(run: Callable[..., list[torch.Tensor]], target: str) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        for output in (t0, fd.ops.neg(t0), t0):
            fd.add_output(output)
    x = torch.arange(4.0, device=target)
    first, negated, again = run(fd, [x])
    assert first is x
    assert again is x
    assert torch.equal(negated, -x)


@both_ways
def test_all_outputs_may_be_inputs(run: Callable[..., list[torch.Tensor]], target: str) -> None:
    with FusionDefinition() as fd:
        t0, t1 = fd.define_tensor([-1]), fd.define_tensor([])
        fd.add_output(t1)
        fd.add_output(t0)
    x, y = torch.arange(4.0, device=target), torch.tensor(2.0, device=target)
    outputs = run(fd, [x, y])
    assert outputs[0] is y
    assert outputs[1] is x


def test_host_scalars_may_be_outputs(target: str) -> None:
    # No kernel has outputs in host memory: the fusion is evaluated.
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        t1 = fd.define_tensor([], is_cpu=True)
        for output in (t1, fd.ops.mul(t0, t1), t0):
            fd.add_output(output)
    x, scale = torch.arange(4.0, device=target), torch.tensor(0.5)
    scalar, product, same = fd.execute([x, scale])
    assert scalar is scale
    assert same is x
    assert torch.equal(product, x * 0.5)
    assert product.device == x.device


@both_ways
def test_a_tensor_may_be_returned_twice(
    run: Callable[..., list[torch.Tensor]], target: str
) -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.neg(fd.define_tensor([-1]))
        for _ in range(2):
            fd.add_output(t1)
    x = torch.arange(4.0, device=target)
    first, second = run(fd, [x])
    assert first is second
    assert torch.equal(first, -x)


@both_ways
def test_inputs_may_be_unused(run: Callable[..., list[torch.Tensor]], target: str) -> None:
    with FusionDefinition() as fd:
        fd.define_tensor([-1, -1], dtype=DataType.Int)
        t1 = fd.define_tensor([-1])
        fd.define_scalar(DataType.Double)
        fd.add_output(fd.ops.neg(t1))
    x = torch.arange(4.0, device=target)
    unused = torch.ones(2, 3, dtype=torch.int64, device=target)
    (out,) = run(fd, [unused, x, 1.5])
    assert torch.equal(out, -x)
    again = fd.execute if run is run_scheduled else fd.manual_execute
    with pytest.raises(RuntimeError, match="to be bound to a tensor of dtype int64_t"):
        again([unused.float(), x, 1.5])


@both_ways
def test_one_tensor_may_be_several_inputs(
    run: Callable[..., list[torch.Tensor]], target: str
) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.add(fd.define_tensor([-1]), fd.define_tensor([-1])))
    x = torch.arange(4.0, device=target)
    assert torch.equal(run(fd, [x, x])[0], 2 * x)


@both_ways
def test_host_scalars_stand_beside_device_tensors(
    run: Callable[..., list[torch.Tensor]], target: str
) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        t1 = fd.define_tensor([], is_cpu=True)
        t2 = fd.define_tensor([], is_cpu=True, dtype=DataType.Int)
        fd.add_output(fd.ops.add(fd.ops.mul(t0, t1), t2))
    x = torch.arange(4.0, device=target)
    (out,) = run(fd, [x, torch.tensor(0.5), torch.tensor(3)])
    assert torch.equal(out, x * 0.5 + 3)
    assert out.device == x.device


@both_ways
def test_empty_and_scalar_tensors(run: Callable[..., list[torch.Tensor]], target: str) -> None:
    with FusionDefinition() as fd:
        t0, t1 = fd.define_tensor([-1, -1]), fd.define_tensor([])
        fd.add_output(fd.ops.neg(t0))
        fd.add_output(fd.ops.sum(t0, [0, 1]))
        fd.add_output(fd.ops.neg(t1))
    one = torch.tensor(2.0, device=target)
    empty, total, negated = run(fd, [torch.empty(3, 0, device=target), one])
    assert empty.shape == (3, 0)
    assert total.item() == 0
    assert negated.shape == ()
    assert negated.item() == -2


@both_ways
def test_fusions_without_inputs(run: Callable[..., list[torch.Tensor]]) -> None:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.full([2, 3], 1.5, DataType.Float))
    (out,) = run(fd, [])
    assert torch.equal(out.cpu(), torch.full((2, 3), 1.5))
    assert out.device.type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.gpu
def test_the_device_of_fusions_without_inputs() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    for device in (0, "cuda:0", torch.device("cuda", 0)):
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.full([2, 3], 1.5, DataType.Float))
        (out,) = fd.execute([], device=device)
        assert out.device == torch.device("cuda", 0)
        assert "__global__" in fd.fec.get_cuda_kernel([])
        assert fd.fec.is_compiled([])


def test_scalars_are_no_outputs() -> None:
    with FusionDefinition() as fd:
        scalar = fd.define_scalar(DataType.Double)
        with pytest.raises(RuntimeError, match="Non-TensorView outputs are not supported at this"):
            fd.add_output(scalar)


def test_any_iterable_of_inputs_will_do() -> None:
    def doubled() -> FusionDefinition:
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.mul(fd.define_tensor([-1]), 2.0))
        return fd

    x = torch.arange(4.0)
    for calls in (["execute", "validate"], ["manual_execute", "manual_validate"]):
        fd = doubled()
        for call in calls:
            for inputs in ([x], (x,), iter([x]), (y for y in [x]), {"x": x}.values()):
                (out,) = getattr(fd, call)(inputs)
                assert torch.equal(out, 2 * x)


def test_one_level_of_nesting_is_opened() -> None:
    with FusionDefinition() as fd:
        rows, columns = fd.define_vector(2)
        t0 = fd.define_tensor([-1])
        fd.add_output(fd.ops.add(t0, fd.ops.add(rows, columns)))
    x = torch.zeros(2)
    for inputs in ([[1, 2], x], [(1, 2), x], [1, 2, [x]], [1, 2, x]):
        assert fd.execute(inputs)[0].tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="Cannot convert provided py::handle to a PolymorphicVa"):
        fd.execute([[[1, 2]], x])


def test_definitions_take_attributes() -> None:
    fd = FusionDefinition()
    fd.note = "mine"
    with fd as same:
        fd.inputs_by_name = {"x": fd.define_tensor([-1])}
        fd.add_output(fd.ops.neg(fd.inputs_by_name["x"]))
    assert same is fd
    assert fd.note == "mine"
    for name in ("fec", "ke", "fake_inputs"):
        assert not hasattr(fd, name)
    local = fd.fusion
    fd.execute([torch.ones(1)], save_repro_inputs=True)
    assert fd.fusion is fd.fec.fusion()
    assert fd.fusion == local
    assert len(fd.fake_inputs) == 1


def test_define_scalar_of_a_type_is_symbolic() -> None:
    with FusionDefinition() as fd:
        assert fd.define_scalar(DataType.Int).is_symbolic()
        assert fd.define_scalar().is_symbolic()
        assert fd.define_scalar(None, DataType.Bool).is_symbolic()
        assert not fd.define_scalar(3).is_symbolic()
        assert len(fd.fusion.inputs()) == 3


def test_exceptions_of_a_definition_go_on_with_its_text_as_a_note(
    capsys: pytest.CaptureFixture[str],
) -> None:
    fd = FusionDefinition()

    def define() -> None:
        with fd, fd:
            fd.ops.neg(fd.define_tensor([4]))
            raise KeyError("oh")

    with pytest.raises(KeyError, match="oh") as error:
        define()
    (note,) = error.value.__notes__
    assert note == f"The definition so far:\n{fd!r}".rstrip()
    assert "fd.define_tensor(shape=[4]" in note
    assert capsys.readouterr() == ("", "")


def test_the_note_of_what_python_cannot_say_is_the_math() -> None:
    def define() -> None:
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.bitceil(fd.define_tensor([4], dtype=DataType.Int)))
            raise KeyError("oh")

    with pytest.raises(KeyError) as error:
        define()
    assert "%kernel_math {" in error.value.__notes__[0]


def test_exceptions_without_add_note_get_notes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old(Exception):
        add_note = None  # as in Python 3.10

    with pytest.raises(Old) as error, FusionDefinition():
        raise Old
    assert error.value.__notes__[0].startswith("The definition so far:\ndef nvfuser_fusion(")


def test_parameters_of_a_heuristic_are_used() -> None:
    class Params:
        lparams = LaunchParams()
        cparams = CompileParams(index_type=DataType.Int)
        scheduler_type = SchedulerType.pointwise

    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
        fd.sched.trivial(fd.fusion)
    fd.manual_execute([torch.ones(4)], Params())
    assert fd.ke.kernel_name() == "nvfuser_pointwise_f0_c0_r0_g0"
    assert fd.ke.kernel().index_type() == DataType.Int


# ---- FusionExecutorCache -------------------------------------------------------------------------


def cached(target: str) -> tuple[FusionExecutorCache, torch.Tensor]:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.mul(fd.define_tensor([-1, -1], contiguity=True), 2.0))
    return FusionExecutorCache(fd.fusion, fusion_id=5), torch.ones(2, 3, device=target)


def test_the_cache_knows_what_is_compiled(target: str) -> None:
    fec, x = cached(target)
    assert not fec.is_compiled([x])
    for text in (fec.get_cuda_kernel, fec.get_scheduled_ir):
        with pytest.raises(RuntimeError, match="Fusion is not compiled!"):
            text([x])
    with pytest.raises(RuntimeError, match="Invalid fusion definition!"):
        fec.get_most_recent_scheduled_ir()
    fec.execute([x])
    assert fec.is_compiled([x])
    assert fec.is_compiled([x[:1]], device=0)
    for unfit in ([], [x, x], [x[0]], [x.double()], [1.0]):
        assert not fec.is_compiled(unfit)
        with pytest.raises(RuntimeError, match="input"):
            fec.get_cuda_kernel(unfit)
    assert fec.get_output_shardings() == []


def test_kernels_are_numbered(target: str) -> None:
    fec, x = cached(target)
    fec.execute([x])
    source = fec.get_cuda_kernel([x])
    assert "nvfuser_pointwise_f5_c0_r0_g0(" in source
    assert len(fec.get_cuda_kernel([x], intrinsic_code=True)) > len(source)
    assert ("__global__" in source) == (target == "cuda")


def test_scheduled_text(target: str) -> None:
    """runtime.md, section 3.2."""
    fec, x = cached(target)
    fec.execute([x])
    text = fec.get_scheduled_ir([x])
    assert text.endswith("} // %kernel\n")
    lines = text.splitlines()
    assert lines[0] == "Inputs:"
    assert lines[1].startswith("  T0_g_float[")
    assert lines[2] == "Outputs:"
    assert lines[3].startswith("  T1_g_float[")
    assert lines[4:6] == ["", "%kernel {"]
    assert "TransformPrinter" not in "\n".join(lines)
    with_transforms = fec.get_scheduled_ir([x], tensor_transforms=True).splitlines()
    at = with_transforms.index("TransformPrinter : ")
    assert with_transforms[at - 1] == ""
    assert with_transforms[at + 1].startswith("T0_g_float[")
    assert "  logical domain: (iS0{i0}, iS1{i1})" in with_transforms
    assert fec.get_most_recent_scheduled_ir(True) == "\n".join(with_transforms) + "\n"


def test_scheduled_text_of_segments(target: str) -> None:
    """runtime.md, section 3.2: the complete fusion, the plan of segments, then each kernel."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        y = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.exp(fd.ops.sub(y, fd.ops.max(x, [1], keepdim=True))))
    inputs = [torch.ones(2, 32, device=target), torch.ones(2, 128, device=target)]
    fec = FusionExecutorCache(fd.fusion)
    fec.execute(inputs)
    text = fec.get_most_recent_scheduled_ir()
    assert text == fec.get_scheduled_ir(inputs)
    head, rest = text.split("} // {Re-written complete fusion}\n")
    assert head.startswith("Segmented_Fusion Dump: -- Re-written complete fusion:{\nInputs:\n")
    assert "%kernel_math {" in head
    plan, kernels = rest.split("} //Segmented_Fusion\n")
    assert plan.startswith("Segmented_Fusion{ \ngroups: \n  reduction{")
    assert plan.count("group id: ") == 2
    assert kernels.count("%kernel {") == 2


def test_the_cache_runs_what_was_scheduled_by_hand() -> None:
    with FusionDefinition() as fd:
        t1 = fd.ops.mul(fd.define_tensor([-1], contiguity=True), 2.0)
        fd.add_output(t1)
        t1.split(0, 8)
    fec = FusionExecutorCache(fd.fusion, auto_schedule=False)
    assert torch.equal(fec.execute([torch.ones(20)])[0], torch.full((20,), 2.0))
    assert "ceilDiv(i0, 8)" in fec.get_most_recent_scheduled_ir()


def test_devices_have_an_index_below_256() -> None:
    fec, x = cached("cpu")
    with pytest.raises(RuntimeError, match="Maximum device index is 255"):
        fec.execute([x], device=256)


def test_evaluated_fusions_check_their_inputs() -> None:
    """The same errors with a kernel and without one."""
    code = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
fd.execute([torch.ones(4)])
for inputs in ([], [1.0], [torch.ones(2, 2)], [torch.ones(4).double()], [torch.ones(4)] * 2):
    try:
        fd.execute(inputs)
    except RuntimeError as error:
        print(str(error).splitlines()[0])
"""

    def printed(**environment: str) -> str:
        result = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    evaluated = printed(CXX="/no/compiler", PATH="", NVFUSER_KERNEL_CACHE="0")
    assert len(evaluated.splitlines()) == 5
    assert evaluated == printed()
