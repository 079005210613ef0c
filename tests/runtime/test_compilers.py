"""The compilers behind kernels: NVRTC (no GPU needed) and the host's C++ compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nvfuser_direct import (
    FusionDefinition,
    KernelExecutor,
    UserError,
    compile_cpu_source,
    compile_cuda_source,
    doctor_report,
)

CUDA_SOURCE = """
extern "C" __global__ void kernel(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { x[i] = expf(x[i]); }
}
"""


def has(topic: str) -> bool:
    return any(
        line.topic == topic and not line.finding.startswith("none") for line in doctor_report()
    )


needs_nvrtc = pytest.mark.skipif(not has("NVRTC"), reason="no NVRTC")
needs_compiler = pytest.mark.skipif(not has("C++ compiler"), reason="no C++ compiler")


@needs_nvrtc
def test_nvrtc_compiles_to_a_cubin_without_a_gpu() -> None:
    assert compile_cuda_source(CUDA_SOURCE, architecture="sm_90a").startswith(b"\x7fELF")


@needs_nvrtc
def test_a_virtual_architecture_gives_ptx() -> None:
    assert b".entry kernel" in compile_cuda_source(CUDA_SOURCE, architecture="compute_90")


@needs_nvrtc
def test_an_nvrtc_error_shows_the_source_around_the_line() -> None:
    source = CUDA_SOURCE.replace("expf", "no_such_function")
    with pytest.raises(UserError) as error:
        compile_cuda_source(source, "broken")
    text = str(error.value)
    assert "CUDA kernel broken does not compile" in text
    assert 'identifier "no_such_function" is undefined' in text
    assert "> 4 |   if (i < n) { x[i] = no_such_function(x[i]); }" in text
    assert '2 | extern "C" __global__' in text


@needs_compiler
def test_the_host_compiler_makes_a_shared_object() -> None:
    source = 'extern "C" int kernel(int x) { return x + 1; }'
    assert compile_cpu_source(source).startswith(b"\x7fELF")


@needs_compiler
def test_a_host_compiler_error_shows_the_source_around_the_line() -> None:
    with pytest.raises(UserError) as error:
        compile_cpu_source("int a;\nint b = no_such_name;\nint c;\n", "broken")
    text = str(error.value)
    assert "CPU kernel broken does not compile." in text
    assert "> 2 | int b = no_such_name;" in text
    assert "3 | int c;" in text


def run_python(code: str, **variables: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stdout + result.stderr


def test_a_missing_host_compiler_is_a_clear_error() -> None:
    code = "import nvfuser_direct as n; n.compile_cpu_source('int x;')"
    text = run_python(code, CXX="/no/such/compiler")
    assert "A C++ compiler, which compiles CPU kernels, was not found." in text
    assert "/no/such/compiler" in text
    assert "name it in CXX" in text


def test_a_missing_nvrtc_is_a_clear_error(tmp_path: Path) -> None:
    code = "import nvfuser_direct as n; n.compile_cuda_source('int x;')"
    text = run_python(code, NVFUSER_NVRTC=str(tmp_path / "libnvrtc.so"))
    assert "NVRTC, which compiles CUDA kernels, was not found." in text
    assert "NVFUSER_NVRTC" in text


def test_the_doctor_says_what_is_missing_and_what_to_do(tmp_path: Path) -> None:
    code = "import nvfuser_direct as n; print([line.fix for line in n.doctor_report()])"
    text = run_python(code, NVFUSER_NVRTC=str(tmp_path), CXX="/no/such/compiler")
    assert "pip install nvidia-cuda-nvrtc" in text
    assert "install g++ or clang++" in text


@needs_nvrtc
@pytest.mark.parametrize("variable", ["NVFUSER_MAX_REG_COUNT", "NVFUSER_JIT_OPT_LEVEL"])
def test_a_limit_that_is_no_number_is_an_error(variable: str) -> None:
    code = "import nvfuser_direct as n; n.compile_cuda_source('int x;')"
    assert f"{variable} is not a number" in run_python(code, **{variable: "many"})


@needs_compiler
@pytest.mark.parametrize("rows", [8, 64])
@pytest.mark.parametrize("lanes", [2, 3, 6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_reads_under_a_condition_are_right(dtype: torch.dtype, lanes: int, rows: int) -> None:
    """g++ before 14 masks all vectors of such a loop like the first (runtime/cpu/conditional.h)."""
    extent = rows * lanes
    values = torch.arange(1, extent + 1, dtype=torch.float64).to(dtype)
    with FusionDefinition() as fd:
        middle = fd.ops.slice(fd.from_pytorch(values, static_sizes=True), [9], [extent - 3])
        out = fd.ops.pad(middle, [9, 3])
        fd.add_output(out)
        out.split(0, lanes)
        fd.sched.transform_like(out)
        fd.sched.inline_most()
    executor = KernelExecutor()
    executor.compile(fd.fusion, [values])
    (result,) = executor.run([values])
    values[:9] = values[-3:] = 0
    assert torch.equal(result, values)
