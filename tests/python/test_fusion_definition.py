"""FusionDefinition: define, run on both targets, validate."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition


def doubled(target: str, sizes=(5, 7)) -> tuple[FusionDefinition, torch.Tensor]:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1] * len(sizes), contiguity=True)
        fd.add_output(fd.ops.mul(t0, 2.0))
    return fd, torch.arange(np.prod(sizes), device=target, dtype=torch.float32).reshape(sizes)


def test_execute(target: str) -> None:
    fd, x = doubled(target)
    (out,) = fd.execute([x])
    assert torch.equal(out, x * 2)
    assert out.device == x.device
    (out,) = fd.execute([x[:3, :2].contiguous()])
    assert torch.equal(out, x[:3, :2] * 2)


def test_execute_is_a_method_like_others(target: str) -> None:
    fd, x = doubled(target)
    assert list(inspect.signature(fd.execute).parameters)[:2] == ["inputs", "device"]
    assert list(inspect.signature(FusionDefinition.execute).parameters)[:2] == ["self", "inputs"]
    assert fd.execute.__doc__.startswith("Run with automatic scheduling")
    for _ in range(2):  # the first call makes what later ones go straight to
        for outputs in (
            fd.execute([x]),
            fd.execute(inputs=[x]),
            fd.execute([x], device=None),
            FusionDefinition.execute(fd, [x]),
        ):
            assert torch.equal(outputs[0], x * 2)
    with pytest.raises(TypeError):
        fd.execute()
    with pytest.raises(TypeError):
        fd.execute([x], None)
    with pytest.raises(AttributeError):
        FusionDefinition.execute(x, [x])


def test_a_bound_execute_keeps_its_definition() -> None:
    fd, x = doubled("cpu")
    run = fd.execute
    del fd
    for _ in range(2):
        assert torch.equal(run([x])[0], x * 2)


def test_a_class_of_ones_own_overrides_execute() -> None:
    class Halved(FusionDefinition):
        def execute(self, inputs):
            return [output / 4 for output in super().execute(inputs)]

    with Halved() as fd:
        t0 = fd.define_tensor([-1])
        fd.add_output(fd.ops.mul(t0, 2.0))
    for _ in range(2):
        assert torch.equal(fd.execute([torch.ones(3)])[0], torch.full([3], 0.5))


def test_manual_execute(target: str) -> None:
    fd, x = doubled(target)
    t1 = fd.fusion.outputs()[0]
    with fd:
        t1.flatten().split(0, 8)
        t1.axis(1).parallelize(nvf.ParallelType.block_x)
        t1.axis(0).parallelize(nvf.ParallelType.grid_x)
    assert not hasattr(fd, "ke")
    (out,) = fd.manual_validate([x])
    assert torch.equal(out, x * 2)
    assert fd.ke.is_compiled()
    assert fd.ke.last_launch().bdimx == 8


def test_the_two_ways_to_run_exclude_each_other() -> None:
    fd, x = doubled("cpu")
    fd.execute([x])
    with pytest.raises(AssertionError, match="FusionExecutorCache already exists! Use execute"):
        fd.manual_execute([x])
    fd, x = doubled("cpu")
    with fd:
        fd.sched.trivial(fd.fusion)
    fd.manual_execute([x])
    with pytest.raises(AssertionError, match="KernelExecutor already exists! Use manual_execute"):
        fd.execute([x])


def test_scalars_and_nested_inputs(target: str) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1])
        sizes = fd.define_vector(2)
        factor = fd.define_scalar(DataType.Double)
        t1 = fd.ops.mul(t0, factor)
        fd.add_output(fd.ops.add(t1, fd.ops.add(sizes[0], sizes[1])))
    x = torch.ones(4, device=target)
    (out,) = fd.execute([x, [3, 4], 0.5])
    assert torch.equal(out.cpu(), torch.full((4,), 7.5))


def test_host_scalars_beside_tensors(target: str) -> None:
    x = torch.ones(4, device=target)
    alpha = torch.tensor(3.0)
    with FusionDefinition() as fd:
        t0, t1 = fd.from_pytorch(x), fd.from_pytorch(alpha)
        fd.add_output(fd.ops.mul(t0, t1))
    assert t1.is_cpu_scalar()
    assert torch.equal(fd.execute([x, alpha])[0], x * 3)


def test_from_pytorch_reads_layout_and_type() -> None:
    x = torch.ones(2, 3, 4, 5, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    with FusionDefinition() as fd:
        tensor = fd.from_pytorch(x)
        static = fd.from_pytorch(x, static_sizes=True)
        with pytest.raises(ValueError, match="Found unsupported device meta"):
            fd.from_pytorch(x.to("meta"))
    n, c, h, w = tensor.get_logical_domain()
    assert tensor.get_allocation_domain() == [n, h, w, c]
    assert tensor.dtype() is DataType.BFloat16
    assert all(size.is_symbolic() for size in tensor.shape())
    assert [str(size) for size in static.shape()] == ["2", "3", "4", "5"]


def test_an_output_that_is_an_input_comes_back_as_the_same_object(target: str) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        t1 = fd.ops.add(t0, 1.0)
        fd.add_output(t1, t0)
        fd.add_output(t1)
    x = torch.zeros(4, device=target)
    (out,) = fd.execute([x])
    assert out is x
    assert torch.equal(x.cpu(), torch.ones(4))


def test_hidden_outputs_are_written_and_not_returned(target: str) -> None:
    with FusionDefinition() as fd:
        t0 = fd.define_tensor([-1], contiguity=True)
        fd.add_output(fd.ops.add(t0, 1.0), t0)
    x = torch.zeros(4, device=target)
    assert fd.validate([x]) == []
    assert torch.equal(x.cpu(), torch.ones(4))


def test_normalizations_run(target: str, rng: torch.Generator) -> None:
    x, weight, bias = (torch.randn(size, generator=rng) for size in ((7, 33), (33,), (33,)))
    inputs = [tensor.to(target) for tensor in (x, weight, bias)]
    with FusionDefinition() as fd:
        t0, t1, t2 = (fd.from_pytorch(tensor) for tensor in inputs)
        for output in fd.ops.layer_norm(t0, 1, t1, t2, 1e-5):
            fd.add_output(output)
        for output in fd.ops.var_mean(t0, [0], 1, True):
            fd.add_output(output)
        fd.add_output(fd.ops.softmax(t0, 1))
    outputs = fd.validate(inputs)
    expected = torch.nn.functional.layer_norm(x, (33,), weight, bias)
    torch.testing.assert_close(outputs[0].cpu(), expected)
    torch.testing.assert_close(outputs[-1].cpu(), x.softmax(1))


def test_tensors_with_gradients_are_inputs() -> None:
    fd, x = doubled("cpu")
    (out,) = fd.validate([torch.nn.Parameter(x)])
    assert torch.equal(out, x * 2)
    assert not out.requires_grad


def test_without_a_compiler_fusions_are_evaluated() -> None:
    code = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    t0 = fd.define_tensor([-1])
    fd.add_output(fd.ops.add(t0, 1.0), t0)
    fd.add_output(fd.ops.mul(t0, 2.0))
x = torch.ones(4)
print(fd.execute([x])[0].tolist(), x.tolist())
"""
    environment = {**os.environ, "CXX": "/no/compiler", "PATH": "", "NVFUSER_KERNEL_CACHE": "0"}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert result.stdout.strip() == "[2.0, 2.0, 2.0, 2.0] [2.0, 2.0, 2.0, 2.0]", result.stderr


@pytest.mark.parametrize("value", ["text", object(), {}, None])
def test_what_is_no_input_is_refused(value: object) -> None:
    fd, _ = doubled("cpu")
    with pytest.raises(RuntimeError, match="Cannot convert provided py::handle"):
        fd.execute([value])


def test_definitions_that_cannot_run_say_why() -> None:
    with pytest.raises(NotImplementedError, match="Fusion does not exist! Use `with"):
        FusionDefinition().execute([])
    with FusionDefinition() as fd:
        fd.define_tensor([4])
    assert fd.validate_definition() == (False, "Fusion is empty!")
    with pytest.raises(NotImplementedError, match="Fusion is empty!"):
        fd.execute([torch.ones(4)])


def test_what_was_executed_is_not_changed_any_more() -> None:
    fd, x = doubled("cpu")
    fd.execute([x])
    with pytest.raises(RuntimeError, match="cannot be changed any more"):
        fd.__enter__()


def test_a_device_that_is_none_is_no_input() -> None:
    class Array:
        shape = (5, 7)
        ndim = 2

        def __dlpack_device__(self) -> str:
            return "cpu"

        def __dlpack__(self, **_: object) -> object:
            return None

    fd, _ = doubled("cpu")
    with pytest.raises(RuntimeError, match="has to return the kind of a device and its index, but"):
        fd.execute([Array()])


def test_options_hold_for_one_call() -> None:
    fd, x = doubled("cpu")
    with pytest.raises(RuntimeError, match="Unrecognized enable_option: no_such_option"):
        fd.execute([x], _enable_options=["no_such_option"])
    with pytest.raises(RuntimeError, match="Unrecognized disable_option: no_such_option"):
        fd.execute([x], _disable_options=["no_such_option"])
    assert torch.equal(fd.execute([x], _disable_options=["fma"])[0], x * 2)
    with pytest.raises(TypeError, match="expected a list of names of options, but got 'fma'"):
        fd.execute([x], _disable_options="fma")


def test_saved_inputs_have_no_data() -> None:
    fd, x = doubled("cpu")
    fd.execute(iter([x]), save_repro_inputs=True)
    (fake,) = fd.fake_inputs
    assert fake.shape == x.shape
    assert fake.untyped_storage().device.type == "meta"


def test_device_index() -> None:
    fd = FusionDefinition()
    assert fd._get_device_index(None) is None
    assert fd._get_device_index(3) == 3
    assert fd._get_device_index("cuda:1") == 1
    with pytest.raises(AssertionError, match="If device argument is passed it must be a CUDA"):
        fd._get_device_index("cpu")


def test_generated_source_and_schedule_are_text(target: str) -> None:
    fd, x = doubled(target)
    fd.execute([x])
    assert "test_fusion_definition.py" in fd.fec.get_cuda_kernel([x])
    assert len(fd.fec.get_cuda_kernel([x], intrinsic_code=True)) > len(fd.fec.get_cuda_kernel([x]))
    text = fd.fec.get_most_recent_scheduled_ir(tensor_transforms=True)
    assert "%kernel {" in text
    assert "TransformPrinter :" in text
    assert text.rstrip().endswith("} // %kernel")


def test_threads_run_one_definition() -> None:
    fd, x = doubled("cpu", (64, 33))
    results: list[bool] = []

    def work() -> None:
        for _ in range(20):
            results.append(torch.equal(fd.execute([x])[0], x * 2))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 80


# ---- Validation ----------------------------------------------------------------------------------


def test_validate_compares_with_references() -> None:
    fd, x = doubled("cpu")
    fd.validate([x], [x * 2])
    with pytest.raises(AssertionError, match=r"Expected 1 reference outputs for validation\."):
        fd.validate([x], [])
    with pytest.raises(AssertionError, match="Mismatch in reference and fusion output dimensions"):
        fd.validate([x], [x[:1]])
    with pytest.raises(AssertionError, match=r"Max error: .*, Absolute tolerance: .*, Relative"):
        fd.validate([x], [x * 2 + 1])


@pytest.mark.parametrize("reference", [None, 2.0, [1.0, 2.0]])
def test_references_are_tensors(reference: object) -> None:
    fd, x = doubled("cpu")
    with pytest.raises(nvf.UserTypeError, match="A reference output has to be a tensor") as error:
        fd.validate([x], [reference])
    assert "node:     the reference of output 0" in str(error.value)
    assert f"found:    {reference!r}" in str(error.value)


def test_references_may_be_tensors_of_another_framework() -> None:
    fd, x = doubled("cpu")
    fd.validate([x], [(x * 2).numpy()])


def test_validation_finds_wrong_outputs() -> None:
    fd, x = doubled("cpu")
    with pytest.raises(RuntimeError, match=r"Detected max abs error of: 1\.0"):
        nvf.validate_with_auto_inferred_outputs(fd.fusion, [x * 2 + 1], [x])
    with pytest.raises(RuntimeError, match=r"Number of outputs don't match\."):
        nvf.validate_with_auto_inferred_outputs(fd.fusion, [], [x])
    with pytest.raises(RuntimeError, match=r"Number of inputs don't match\."):
        nvf.validate_with_auto_inferred_outputs(fd.fusion, [x], [])


@pytest.mark.parametrize(
    ("dtype", "size", "expected"),
    [
        (torch.float32, 1, (1.68222e-06, 2.23704e-06)),
        (torch.float32, 4, (2.23704e-06, 2.23704e-08)),
        (torch.float32, 5, (2.95788e-06, 2.95788e-08)),
        (torch.float64, 2048, (0.000108292, 1.08292e-06)),
        (torch.float32, 2097152, (2 * 0.00343043, 2 * 0.0000343043)),
    ],
)
def test_tolerances_follow_the_reduction_size(dtype, size: int, expected) -> None:
    x = torch.ones(2, size, dtype=dtype)
    with FusionDefinition() as fd:
        t0 = fd.from_pytorch(x)
        fd.add_output(fd.ops.sum(t0, [1]) if size > 1 else fd.ops.neg(t0))
    assert nvf.get_val_tolerances(fd.fusion, [x]) == [pytest.approx(expected)]


@pytest.mark.parametrize("op", ["sum", "welford"])
def test_tolerances_follow_factored_reductions(op: str) -> None:
    x = torch.ones(2, 1024)
    with FusionDefinition() as fd:
        made = getattr(fd.ops, op)(fd.from_pytorch(x, static_sizes=True), [1])
        results = list(made) if isinstance(made, tuple) else [made]
        for result in results:
            fd.add_output(result)
    whole = nvf.get_val_tolerances(fd.fusion, [x])
    with fd:
        results[0].split(1, 32)
        results[0].rfactor([1], results)
    assert nvf.get_val_tolerances(fd.fusion, [x]) == whole


def test_tolerances_by_type() -> None:
    from nvfuser_direct.validation import tolerances

    assert tolerances(DataType.Half, 1) == (0.00390625, 0.0078125)
    assert tolerances(DataType.BFloat16, 4) == pytest.approx((0.078125, 0.00078125))
    assert tolerances(DataType.Int, 100) == (0.0, 0.0)


# ---- The package ---------------------------------------------------------------------------------


def test_importing_needs_no_pytorch() -> None:
    code = "import sys, nvfuser_direct; assert 'torch' not in sys.modules; print('ok')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "ok\n", result.stderr


def test_the_doctor_reports() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "nvfuser_direct"], capture_output=True, text=True
    )
    assert result.returncode == 0
    for topic in ("PyTorch", "CUDA driver", "NVRTC", "C++ compiler", "kernel cache"):
        assert topic in result.stdout


def test_versions_compare_as_releases() -> None:
    from packaging.version import Version

    assert nvf.version() >= "0.2.34"
    assert nvf.__version__ >= Version("0.3.0")
    assert nvf.version() == f"{nvf.version()}+git1234567"
    assert str(nvf.version()).startswith("0.")
    with pytest.raises(ValueError, match="can't convert 3 to Version"):
        _ = nvf.version() < 3


def test_enums_have_documented_names_and_aliases() -> None:
    assert nvf.ParallelType.grid_x is nvf.ParallelType.BIDx
    assert nvf.ParallelType.tma is nvf.ParallelType.Bulk
    assert nvf.LoadStoreOpType.load_matrix is nvf.LoadStoreOpType.LdMatrix
    assert getattr(nvf.MemoryType, "global") is nvf.MemoryType.Global
    assert getattr(nvf.CacheOp, "global") is nvf.CacheOp.Global
    assert str(nvf.DataType.Float) == "DataType.Float"
