"""The device-side sources, put together as the code generator does it, and compilers for them."""

from __future__ import annotations

import ctypes
import functools
import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

RUNTIME = Path(__file__).resolve().parents[2] / "runtime"
SUFFIX = {"cuda": ".cuh", "cpu": ".h"}
HEAD = {
    "cuda": "using nvfuser_index_t = long long;\n"
    "constexpr unsigned kBlockX = 0, kBlockY = 0, kBlockZ = 0;\n"
    "constexpr unsigned kLoadingX = 0, kLoadingY = 0, kLoadingZ = 0;\n",
    "cpu": "using nvfuser_index_t = __INT64_TYPE__;\n",
}


@functools.cache
def runtime_files(target: str) -> dict[str, str]:
    """Text of every device source of a target by its name without suffix."""
    paths = [*(RUNTIME / target).glob("*" + SUFFIX[target]), *(RUNTIME / "common").glob("*.h")]
    return {path.stem: path.read_text() for path in sorted(paths)}


def declared(text: str, word: str) -> list[str]:
    """The names in the lines `// <word>: a b c` of a device source."""
    lines = re.findall(rf"^// {word}: (.*)$", text, re.MULTILINE)
    return [name for line in lines for name in line.split()]


def closure(target: str, names: list[str]) -> list[str]:
    """`names` and all they require that the target has, what is required first."""
    files = runtime_files(target)
    order: list[str] = []

    def add(name: str) -> None:
        if name in files and name not in order:
            for required in declared(files[name], "requires"):
                add(required)
            order.append(name)

    for name in ["types", *names]:
        add(name)
    return order


def assemble(target: str, names: list[str], code: str) -> str:
    """A complete source: the device sources `names` stand for, then `code`."""
    files = runtime_files(target)
    pieces = [files[name].replace("#pragma once\n", "") for name in closure(target, names)]
    return HEAD[target] + "".join(pieces) + code


def sources_used(target: str, kernel_text: str) -> list[str]:
    """The device sources that provide a name used in the text, comments left out."""
    words = set(re.findall(r"\w+", re.sub(r"//.*", "", kernel_text)))
    files = runtime_files(target)
    return [name for name, text in files.items() if words & set(declared(text, "provides"))]


# -- CPU -------------------------------------------------------------------------------------------

CXX = next(
    (c for c in (os.environ.get("CXX"), "c++", "g++", "clang++") if c and shutil.which(c)), None
)


def compile_cpu(source: str, folder: Path) -> ctypes.CDLL:
    """Compile a source with the flags of the host compiler and load it."""
    assert CXX is not None
    path = folder / "kernel.cpp"
    path.write_text(source)
    library = folder / "kernel.so"
    flags = ["-std=c++17", "-O3", "-march=native", "-fwrapv", "-fno-math-errno"]
    flags += ["-fno-trapping-math", "-ffp-contract=fast", "-shared", "-fPIC", "-Wall", "-Werror"]
    subprocess.run([CXX, *flags, str(path), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


# -- CUDA ------------------------------------------------------------------------------------------


@functools.cache
def nvrtc() -> ctypes.CDLL | None:
    """The compiler library of the CUDA wheels or of the system."""
    places = [
        f"{path}/nvidia/{package}/lib" for path in sys.path for package in ("cu1*", "cuda_nvrtc")
    ] + ["/usr/local/cuda*/lib64", "/usr/lib/x86_64-linux-gnu"]
    for place in places:
        for path in sorted(glob.glob(f"{place}/libnvrtc.so*")):
            for builtins in glob.glob(os.path.dirname(path) + "/libnvrtc-builtins.so*"):
                ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(path)
    return None


def compile_cuda(source: str, arch: str = "sm_90a") -> bytes:
    """Source to cubin; the compiler's log is the message of the error."""
    lib = nvrtc()
    assert lib is not None
    program = ctypes.c_void_p()
    assert (
        lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
        == 0
    )
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={arch}".encode(), b"--std=c++17")
    status = lib.nvrtcCompileProgram(program, 2, options)
    size = ctypes.c_size_t()
    lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetProgramLog(program, log)
    if status != 0:
        lib.nvrtcDestroyProgram(ctypes.byref(program))
        raise RuntimeError(log.value.decode())
    lib.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetCUBIN(program, cubin)
    lib.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw
