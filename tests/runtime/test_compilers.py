"""The compilers behind kernels: NVRTC (no GPU needed) and the host's C++ compiler."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from machine_code import resources

import nvfuser_direct as nvf
from nvfuser_direct import (
    DataType,
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
    assert "expected: a compiler by the name that the variable CXX has" in text
    assert "found:    /no/such/compiler: No such file or directory" in text
    assert "unset CXX" in text
    text = run_python(code, CXX="", PATH="")
    assert "expected: c++, g++ or clang++ on PATH, or another compiler that CXX names" in text
    assert "fix:      install one, or name it in CXX" in text


def test_a_missing_nvrtc_is_a_clear_error(tmp_path: Path) -> None:
    code = "import nvfuser_direct as n; n.compile_cuda_source('int x;')"
    for named in (tmp_path / "libnvrtc.so", tmp_path):  # a file that is not there, an empty folder
        text = run_python(code, NVFUSER_NVRTC=str(named))
        assert "NVRTC, which compiles CUDA kernels, was not found." in text
        assert "expected: libnvrtc.so of CUDA 12 or 13, where NVFUSER_NVRTC says" in text
        assert str(named) in text
        assert "or unset that" in text


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


# ---- A compiler that fails -----------------------------------------------------------------------

RUN = """
import torch, warnings
import nvfuser_direct as nvf
with nvf.FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1], contiguity=True)))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(fd.execute([torch.ones(2)])[0].tolist())
    fd.execute([torch.ones(2)])
for warning in caught:
    print(warning.message)
nvf.schedule.trivial(fd.fusion)
try:
    nvf.KernelExecutor().compile(fd.fusion, [torch.ones(2)])
except nvf.CompilerError as error:
    print("error:", error)
except NotImplementedError as error:
    print("missing:", error)
"""


def compiler_that(folder: Path, does: str) -> str:
    """A program that knows its version, and does this instead of compiling."""
    path = folder / "a-compiler"
    path.write_text(f'#!/bin/sh\ncase "$*" in *--version*) echo "A 1.0"; exit 0;; esac\n{does}\n')
    path.chmod(0o755)
    return str(path)


FAILURES = {
    "exit 0": "It says that it succeeded, and wrote no output.",
    'while [ "$1" != -o ]; do shift; done; : > "$2"': "It says that it succeeded, and wrote no out",
    "kill -9 $$": "It was ended by a signal: Killed.",
    "echo ld: final link failed: No space left on device; exit 1": "No space left on device",
    'while [ "$1" != -o ]; do shift; done; echo garbage > "$2"': "file too short|invalid ELF",
}


@pytest.mark.parametrize("does", FAILURES)
def test_a_compiler_that_fails_is_reported_as_that_and_evaluation_serves(
    does: str, tmp_path: Path
) -> None:
    text = run_python(RUN, CXX=compiler_that(tmp_path, does), NVFUSER_KERNEL_CACHE="0")
    assert text.startswith("[-1.0, -1.0]\nThe fusion is evaluated through PyTorch instead"), text
    assert text.count("The fusion is evaluated through PyTorch instead") == 1
    first, _, second = text.partition("error: ")
    for part in (first, second):
        assert re.search(FAILURES[does], part), text
        assert "does not compile" not in part


@pytest.mark.parametrize("named", ["/no/such/compiler", "no-such-compiler -O1", "/", "false"])
def test_a_named_compiler_that_is_not_there_is_a_warning_and_evaluation_serves(
    named: str, tmp_path: Path
) -> None:
    """Also in a later process, which finds what the first one kept on disk."""
    for _ in range(2):
        text = run_python(RUN, CXX=named, NVFUSER_CACHE_DIR=str(tmp_path))
        assert text.startswith("[-1.0, -1.0]\nThe fusion is evaluated through PyTorch instead"), (
            text
        )
        assert text.count("The fusion is evaluated through PyTorch instead") == 1
        assert f"found:    {named}: " in text


def test_a_machine_without_any_compiler_evaluates_without_a_word() -> None:
    text = run_python(RUN, CXX="", PATH="", NVFUSER_KERNEL_CACHE="0")
    assert text.startswith("[-1.0, -1.0]\n"), text
    assert "instead of running as a kernel" not in text


@pytest.mark.parametrize("bytes_left", [0, 2000])
def test_a_file_that_cannot_be_written_is_no_fault_of_the_source(bytes_left: int) -> None:
    limit = f"import resource as r; r.setrlimit(r.RLIMIT_FSIZE, ({bytes_left}, r.RLIM_INFINITY))\n"
    text = run_python(
        RUN.replace("with warnings", limit + "with warnings", 1), NVFUSER_KERNEL_CACHE="0"
    )
    assert "[-1.0, -1.0]\nThe fusion is evaluated through PyTorch instead" in text
    assert "File too large" in text
    assert "does not compile" not in text


def test_errors_fall_back_only_if_fallback_is_allowed(tmp_path: Path) -> None:
    text = run_python(
        RUN,
        CXX=compiler_that(tmp_path, "exit 0"),
        NVFUSER_KERNEL_CACHE="0",
        NVFUSER_DISABLE="fallback",
    )
    assert "CompilerError: The C++ compiler, which compiles CPU kernels, failed." in text


# ---- CUDA without a GPU --------------------------------------------------------------------------


def reduced_rows() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.sum(fd.ops.relu(x), [1]))
    nvf.schedule.trivial(fd.fusion)
    return fd


@needs_nvrtc
@pytest.mark.parametrize(
    ("index_type", "text"),
    [
        (DataType.Int, "using nvfuser_index_t = long long;"),
        (DataType.Int32, "using nvfuser_index_t = int;"),
    ],
)
def test_one_call_gives_source_ptx_and_machine_code(index_type: DataType, text: str) -> None:
    made = reduced_rows().fusion.compile_cuda(index_type)
    assert text in made.source
    assert made.kernel.index_type() == index_type
    assert f"__global__ void {made.name}(" in made.source
    assert made.cubin.startswith(b"\x7fELF")
    assert f".entry {made.name}(" in made.ptx
    assert ".target sm_90a" in made.ptx
    assert compile_cuda_source(made.source).startswith(b"\x7fELF")  # by itself


@needs_nvrtc
@pytest.mark.parametrize("cap", [32, 64])
def test_machine_code_keeps_to_a_register_cap(cap: int) -> None:
    made = reduced_rows().fusion.compile_cuda(maxrregcount=cap)
    assert resources(made.cubin)[made.name].registers <= cap
    again = compile_cuda_source(made.source, maxrregcount=cap)
    assert resources(again) == resources(made.cubin)


@needs_nvrtc
def test_ptx_ends_with_its_text() -> None:
    assert b"\0" not in compile_cuda_source(CUDA_SOURCE, architecture="compute_90")
    assert "\0" not in reduced_rows().fusion.compile_cuda().ptx


@needs_nvrtc
def test_architecture_and_name_of_machine_code_are_chosen() -> None:
    made = reduced_rows().fusion.compile_cuda(architecture="sm_80", kernel_name="rows")
    assert made.name == "rows"
    assert ".target sm_80" in made.ptx
    with pytest.raises(UserError, match="No machine code can be made for compute_90"):
        reduced_rows().fusion.compile_cuda(architecture="compute_90")
