"""Fusions, definitions, executors, validation and options."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import torch
from documented import Documented, check, in_fusion, pointwise, tensor

import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition, KernelExecutor, define_scalar

if TYPE_CHECKING:
    from collections.abc import Callable


documented = Documented()

# ---- Fusion --------------------------------------------------------------------------------------


@documented("Immediate scalar value cannot be added as an input. It is not necessary to pass it as")
def add_input_of_a_constant() -> object:
    return in_fusion(lambda fd: fd.fusion.add_input(define_scalar(2.0)))


@documented("is already registered as input, duplicated inputs is not allowed")
def add_input_twice() -> object:
    def twice(fd: FusionDefinition) -> None:
        t0 = fd.define_tensor([-1])
        fd.fusion.add_input(t0)

    return in_fusion(twice)


@documented("Cannot register input ")
def add_input_of_another_fusion() -> object:
    foreign = in_fusion(lambda fd: tensor(4))
    return in_fusion(lambda fd: fd.fusion.add_input(foreign))


@documented("Non-TensorView outputs are not supported at this point: ")
def add_output_of_a_scalar() -> object:
    return in_fusion(lambda fd: fd.add_output(fd.define_scalar(DataType.Double)))


@documented("alias source can only be a fusion input")
def alias_of_an_intermediate() -> object:
    def act(fd: FusionDefinition) -> None:
        t1 = fd.ops.neg(fd.define_tensor([-1]))
        fd.add_output(fd.ops.neg(t1), t1)

    return in_fusion(act)


@documented("aliasing output to input is only supported for TensorView")
def alias_of_a_scalar() -> object:
    def act(fd: FusionDefinition) -> None:
        scalar = fd.define_scalar(DataType.Double)
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])), scalar)

    return in_fusion(act)


# ---- FusionDefinition ----------------------------------------------------------------------------


@documented("only scalar CPU or CUDA tensors are supported", ValueError)
def from_pytorch_of_a_meta_tensor() -> object:
    return in_fusion(lambda fd: fd.from_pytorch(torch.ones(2, device="meta")))


@documented("Fusion does not exist! Use `with FusionDefinition() as fd: ...`", NotImplementedError)
def execute_nothing() -> object:
    return FusionDefinition().execute([])


@documented("Fusion is empty!", NotImplementedError)
def execute_without_outputs() -> object:
    with FusionDefinition() as fd:
        fd.define_tensor([-1])
    return fd.execute([torch.ones(1)])


@documented(
    "KernelExecutor already exists! Use manual_execute() to execute the fusion.", AssertionError
)
def execute_after_manual_execute() -> object:
    fd, _, _ = pointwise(4)
    fd.manual_execute([torch.ones(4)])
    return fd.execute([torch.ones(4)])


@documented(
    "FusionExecutorCache already exists! Use execute() to execute the fusion.", AssertionError
)
def manual_execute_after_execute() -> object:
    fd, _, _ = pointwise(4)
    fd.execute([torch.ones(4)])
    return fd.manual_execute([torch.ones(4)])


@documented(
    "fd.last_repro_script() cannot provide a repro because fd.execute(inputs, "
    "save_repro_inputs=True) was not executed!",
    AssertionError,
)
def repro_of_nothing() -> object:
    return pointwise(4)[0].last_repro_script()


@documented("If device argument is passed it must be a CUDA device", AssertionError)
def execute_on_a_named_host() -> object:
    return pointwise(4)[0].execute([torch.ones(4)], device="cpu")


@documented("Expected 1 reference outputs for validation.", AssertionError)
def validate_with_two_references() -> object:
    return pointwise(4)[0].validate([torch.ones(4)], [torch.ones(4)] * 2)


@documented("Missing tolerance values, expected 2, got 1", AssertionError)
def compare_more_outputs_than_there_are() -> object:
    from nvfuser_direct.validation import compare_with_references

    fd, _, _ = pointwise(4)
    ones = [torch.ones(4)] * 2
    return compare_with_references(fd.fusion, ones, ones, [torch.ones(4)])


@documented("Mismatch in reference and fusion output dimensions", AssertionError)
def validate_with_another_shape() -> object:
    return pointwise(4)[0].validate([torch.ones(4)], [torch.ones(2)])


@documented("Absolute tolerance: 1.68222e-06, Relative tolerance: 2.23704e-06", AssertionError)
def validate_with_other_values() -> object:
    return pointwise(4)[0].validate([torch.ones(4)], [torch.ones(4)])


@documented(
    "Mismatch in reference and fusion output values for non-floating point datatypes",
    AssertionError,
)
def validate_with_other_integers() -> object:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1], dtype=DataType.Int)))
    return fd.validate([torch.ones(4, dtype=torch.int64)], [torch.ones(4, dtype=torch.int64)])


# ---- executors -----------------------------------------------------------------------------------


@documented("Maximum device index is 255")
def execute_on_device_256() -> object:
    return pointwise(4)[0].execute([torch.ones(4)], device=256)


@documented("Unrecognized enable_option: no_such")
def enable_an_unknown_option() -> object:
    return pointwise(4)[0].execute([torch.ones(4)], _enable_options=["no_such"])


@documented("Unrecognized disable_option: no_such")
def disable_an_unknown_option() -> object:
    return pointwise(4)[0].execute([torch.ones(4)], _disable_options=["no_such"])


@documented("Invalid fusion definition!")
def text_of_a_run_that_was_not() -> object:
    fusion = pointwise(4)[0].fusion
    return nvf.FusionExecutorCache(fusion).get_most_recent_scheduled_ir()


@documented("Fusion is not compiled!")
def source_before_compilation() -> object:
    return nvf.FusionExecutorCache(pointwise(4)[0].fusion).get_cuda_kernel([torch.ones(4)])


@documented("Fusion is not compiled!")
def schedule_before_compilation() -> object:
    return nvf.FusionExecutorCache(pointwise(4)[0].fusion).get_scheduled_ir([torch.ones(4)])


@documented("Cannot convert provided py::handle to a PolymorphicValue.")
def execute_with_text() -> object:
    return pointwise(4)[0].execute(["text"])


@documented("KernelExecutor does not support the Fusion provided.")
def compile_an_output_in_host_memory() -> object:
    with FusionDefinition() as fd:
        fd.add_output(fd.define_tensor([], is_cpu=True))
    return KernelExecutor().compile(fd.fusion)


@documented("No output found for this kernel, aborting.")
def compile_without_outputs() -> object:
    with FusionDefinition() as fd:
        fd.define_tensor([-1])
    return KernelExecutor().compile(fd.fusion)


# ---- Validation and profiles ---------------------------------------------------------------------


@documented("Number of outputs don't match.")
def validate_too_few_outputs() -> object:
    fusion = pointwise(4)[0].fusion
    return nvf.validate_with_auto_inferred_outputs(fusion, [], [torch.ones(4)])


@documented("Number of inputs don't match.")
def validate_too_few_inputs() -> object:
    fusion = pointwise(4)[0].fusion
    return nvf.validate_with_auto_inferred_outputs(fusion, [torch.ones(4)], [])


@documented("Detected max abs error of: 2.0 absolute tolerance was set to 1.68222e-06 and relative")
def validate_wrong_outputs() -> object:
    fusion = pointwise(4)[0].fusion
    return nvf.validate_with_auto_inferred_outputs(fusion, [torch.ones(4)], [torch.ones(4)])


@documented("Values are not equal and are not a floating type.")
def validate_wrong_integers() -> object:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1], dtype=DataType.Int)))
    ones = [torch.ones(4, dtype=torch.int64)]
    return nvf.validate_with_auto_inferred_outputs(fd.fusion, ones, ones)


@documented("can't convert 3 to Version", ValueError)
def compare_a_version_with_a_number() -> object:
    return nvf.version() < 3


@documented("The FusionProfile struct data is not valid because it has not been processed!")
def profile_of_nothing() -> object:
    nvf.reset_profiler()
    return nvf.get_fusion_profile()


@documented("Something went wrong with Fusion Profiling as no kernel segments were profiled!")
def profile_without_kernels() -> object:
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.neg(fd.define_tensor([-1])))
    with nvf.PythonProfiler() as prof:
        fd.execute([torch.empty(0)])
    return prof.profile


@documented("Something went wrong with Fusion Profiling as an illegal fusion_id was returned!")
def profile_without_a_number() -> object:
    with nvf.PythonProfiler(auto_scheduled=False) as prof:
        pass
    return prof.profile


def python_error(code: str, **environment: str) -> None:
    """Raise what a process of its own raised."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    if result.returncode:
        raise RuntimeError(result.stderr)


IMPORT_AND_RUN = (
    "import torch\n"
    "from nvfuser_direct import FusionDefinition\n"
    "with FusionDefinition() as fd:\n"
    "    fd.add_output(fd.ops.neg(fd.define_tensor([-1])))\n"
    "fd.execute([torch.ones(2)])\n"
)


# ---- options -------------------------------------------------------------------------------------


@documented("Parsing DUMP failed. Invalid option: 'no_such'\nAvailable options: bank_conflict, ")
def unknown_dump() -> object:
    return python_error(IMPORT_AND_RUN, NVFUSER_DUMP="no_such")


@documented(
    "Parsing ENABLE failed when parsing arguments for fuse_matmul. Syntax error: unclosed '('"
)
def unclosed_arguments() -> object:
    return python_error(IMPORT_AND_RUN, NVFUSER_ENABLE="fuse_matmul(1")


@documented("for fma. Syntax error: expect a ',' after ')'")
def no_comma_after_arguments() -> object:
    return python_error(IMPORT_AND_RUN, NVFUSER_DISABLE="fma(1)fallback")


@documented("Can not find a scheduler to schedule fusion segment")
def product_that_no_library_may_compute() -> object:
    fd = FusionDefinition()
    with fd:
        x = fd.define_tensor([4, 4], contiguity=True)
        fd.add_output(fd.ops.matmul(x, x))
    return fd.execute(
        [torch.ones(4, 4)],
        _enable_options=["fuse_matmul"],
        _disable_options=["matmul_expr_eval"],
    )


@documented.cases
def test_gist(gist: str, kind: type[Exception], provoke: Callable[[], object]) -> None:
    check(gist, kind, provoke)
