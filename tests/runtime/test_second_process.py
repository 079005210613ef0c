"""A process that defines what an earlier one ran launches it without lowering, to equal effect."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD = 32  # of a file of the kernel cache: magic, bytes of key and payload, checksum

# Every process runs a script of this form; `show` prints what the processes are compared by.
PRELUDE = """
import sys
import numpy as np
import nvfuser_direct as nvf
from nvfuser_direct import DataType, FusionDefinition, KernelCache, KernelExecutor, ParallelType

TARGET = sys.argv[1]
ARGS = sys.argv[2:]


def array(*shape, dtype=np.float32, seed=0):
    values = np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)
    if TARGET == "cpu":
        return values
    import torch
    return torch.from_numpy(values).cuda()


def strided(base, shape, strides):
    # A view with strides in elements. It may lead out of the memory of `base`.
    in_bytes = tuple(stride * 4 for stride in strides)
    if TARGET == "cpu":
        return np.lib.stride_tricks.as_strided(base, shape, in_bytes)
    import torch
    class View:  # as_strided of PyTorch refuses what leads out
        memory = base
        __cuda_array_interface__ = {
            "version": 3,
            "typestr": "<f4",
            "data": (base.data_ptr(), False),
            "shape": shape,
            "strides": in_bytes,
        }
    return torch.as_tensor(View(), device="cuda")


def show(outputs):
    for output in outputs:
        values = np.asarray(output.cpu() if hasattr(output, "cpu") else output)
        print(values.shape, values.strides, values.astype(np.float64).round(4).tolist())


def attempt(run):
    try:
        show(run())
    except RuntimeError as error:
        print(type(error).__name__, error)
    print("--")
"""


@dataclass
class Process:
    output: str
    lowered: int  # how many kernels
    scheduled: int  # how many times the trivial schedule was applied
    read: int  # how many were found on the disk


@pytest.fixture
def run(tmp_path: Path, target: str) -> Callable[..., Process]:
    """Run a script in a process of its own; they all share a folder of kernels."""
    script, trace = tmp_path / "script.py", tmp_path / "trace.json"

    def run_script(body: str, *args: str, **variables: str) -> Process:
        script.write_text(PRELUDE + body)
        environment = {k: v for k, v in os.environ.items() if k != "NVFUSER_VERIFY_PASSES"}
        environment |= {"NVFUSER_CACHE_DIR": str(tmp_path / "cache"), "NVFUSER_TRACE": str(trace)}
        trace.write_text("[]")
        result = subprocess.run(
            [sys.executable, str(script), target, *args],
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        names = [event["name"].partition(" ")[0] for event in json.loads(trace.read_text())]
        return Process(
            result.stdout, names.count("lower"), names.count("schedule"), names.count("read")
        )

    return run_script


def facts_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("cache/*/*.facts"))


AUTOMATIC = {
    "pointwise": """
x, y = array(7, 13), array(13, seed=1)
with FusionDefinition() as fd:
    a = fd.define_tensor([-1, -1], contiguity=True)
    b = fd.define_tensor([-1], contiguity=True)
    s = fd.define_scalar(dtype=DataType.Double)
    c = fd.ops.add(a, fd.ops.broadcast(b, [True, False]))
    fd.add_output(fd.ops.mul(c, s))
    fd.add_output(fd.ops.neg(c))
show(fd.execute([x, y, 2.5]))
""",
    "softmax": """
with FusionDefinition() as fd:
    fd.add_output(fd.ops.softmax(fd.define_tensor([-1, -1], contiguity=True), 1))
show(fd.execute([array(5, 33)]))
""",
    "an update in place": """
x = array(6, 9)
with FusionDefinition() as fd:
    a = fd.define_tensor([-1, -1], contiguity=True)
    b = fd.ops.mul(a, 3.0)
    fd.add_output(b, a)
    fd.add_output(fd.ops.neg(b))
show([*fd.execute([x]), x])
""",
    "a strided input": """
with FusionDefinition() as fd:
    a = fd.define_tensor([-1, -1], contiguity=[False, False])
    fd.add_output(fd.ops.abs(a))
show(fd.execute([array(8, 10)[::2, ::3]]))
""",
    "a size that a scalar says": """
with FusionDefinition() as fd:
    n = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.full([n, n], 2.0, DataType.Float))
show(fd.execute([5]))
""",
    "a reshape": """
with FusionDefinition() as fd:
    a = fd.define_tensor([-1, -1], contiguity=True)
    fd.add_output(fd.ops.neg(fd.ops.reshape(a, [fd.ops.mul(a.size(0), a.size(1))])))
show(fd.execute([array(4, 6)]))
""",
}

BY_HAND = """
from nvfuser_direct import MemoryType
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    y = fd.ops.sum(fd.ops.mul(x, 2.0), [1])
    fd.add_output(y)
    copy = x.cache_after()
    copy.set_memory_type(MemoryType.shared)
    y.split(1, int(ARGS[0]))
    y.rfactor([1])
    y.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.block_x)
    fd.sched.transform_like(y)
    fd.sched.parallelize_like(y)
    fd.sched.inline_most()
ke = KernelExecutor()
ke.compile(fd.fusion, [array(5, 32)])
show(ke.run([array(5, 32)]))
"""

ACROSS_BLOCKS = """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.sum(x, [0])
    fd.add_output(y)
    y.split(0, 8)
    y.axis(0).parallelize(ParallelType.grid_x)
    y.axis(1).parallelize(ParallelType.block_x)
ke = KernelExecutor()
ke.compile(fd.fusion)
show(ke.run([array(70)]))
"""


@pytest.mark.parametrize("case", AUTOMATIC)
def test_a_second_process_lowers_nothing_and_has_the_same_results(
    run: Callable[..., Process], case: str
) -> None:
    first, second = (run(AUTOMATIC[case]) for _ in range(2))
    assert (first.lowered, first.read) == (1, 0)
    assert (second.lowered, second.scheduled, second.read) == (0, 0, 1)
    assert second.output == first.output
    assert first.output.count("\n") >= 1


@pytest.mark.parametrize("script", [BY_HAND, ACROSS_BLOCKS])
def test_schedules_by_hand_are_found_again(run: Callable[..., Process], script: str) -> None:
    first, second = (run(script, "8") for _ in range(2))
    assert (first.lowered, second.lowered) == (1, 0)
    assert second.output == first.output


def test_results_of_a_second_process_are_right(run: Callable[..., Process]) -> None:
    script = """
with FusionDefinition() as fd:
    a = fd.define_tensor([-1, -1], contiguity=True)
    b = fd.define_tensor([-1, 1], contiguity=True)
    fd.add_output(fd.ops.mul(fd.ops.exp(a), b))
for rows, columns in [(3, 5), (1, 1), (257, 129), (0, 4), (1, 1000)][int(ARGS[0]) :]:
    a, b = array(rows, columns), array(rows, 1, seed=1)
    found = fd.execute([a, b])[0]
    host = (np.asarray(x if TARGET == "cpu" else x.cpu(), np.float64) for x in (found, a, b))
    found, a, b = host
    assert found.shape == (rows, columns)
    np.testing.assert_allclose(found, np.exp(a) * b, rtol=1e-5)
    print("right")
"""
    run(script, "4")  # the second process has more sizes, and in another order
    second = run(script, "0")
    assert second.output.split() == ["right"] * 5
    assert second.read >= 1


def test_sizes_decide_in_every_process_which_code_runs(run: Callable[..., Process]) -> None:
    """A launch with more threads than an axis has elements tests them: other code, other facts."""
    script = """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.neg(x)
    fd.add_output(y)
    y.axis(0).parallelize(ParallelType.block_x)
for threads in ARGS:
    ke = KernelExecutor()
    constraints = nvf.LaunchParams(-1, -1, -1, int(threads), -1, -1)
    ke.compile(fd.fusion, launch_constraints=constraints)
    attempt(lambda: ke.run([array(16)]))
"""
    first = run(script, "16", "32")
    second = run(script, "16", "32")
    assert first.lowered > 0
    assert (second.lowered, second.output) == (0, first.output)


def test_a_requested_index_type_is_part_of_the_key(run: Callable[..., Process]) -> None:
    script = """
with FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1, -1], contiguity=None)))
ke = KernelExecutor()
params = nvf.CompileParams(index_type=getattr(DataType, ARGS[0]))
ke.compile(fd.fusion, [array(4, 4)], compile_params=params)
show(ke.run([array(4, 4)]))
print("int " if "nvfuser_index_t = int;" in ke.kernel_source() else "long")
"""
    script = script.replace("contiguity=None", "contiguity=True")
    wide, narrow, narrow_again = run(script, "Int"), run(script, "Int32"), run(script, "Int32")
    assert (wide.lowered, narrow.lowered, narrow_again.read) == (1, 1, 1)
    assert narrow.output == narrow_again.output


def test_sizes_beyond_narrow_indices_are_refused_in_every_process(
    run: Callable[..., Process],
) -> None:
    script = """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=[False, False], stride_order=[1, 0])
    fd.add_output(fd.ops.sum(x, [0, 1]))
ke = KernelExecutor()
params = nvf.CompileParams(index_type=DataType.Int32)
small = array(4, 4)
if ARGS[0] == "small":
    ke.compile(fd.fusion, [small], compile_params=params)
    show(ke.run([small]))
huge = strided(small, (1 << 20, 1 << 20), (1, 1))
attempt(lambda: ke.compile(fd.fusion, [huge], compile_params=params) or ke.run([huge]))
"""
    first, second = run(script, "small"), run(script, "huge")
    assert "int64 is required" in second.output
    assert first.output.endswith(second.output)
    assert second.lowered == 0


REFUSED = {
    "a vector that does not divide": """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.set(x)
    z = fd.ops.neg(y)
    fd.add_output(z)
    for tensor in (y, z):
        tensor.split(0, 4)
    y.axis(1).parallelize(ParallelType.vectorize)
    fd.sched.inline_most()
good, bad = [array(64)], [array(63)]
""",
    "an address that is not aligned": """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.set(x)
    z = fd.ops.neg(y)
    fd.add_output(z)
    for tensor in (y, z):
        tensor.split(0, 4)
    y.axis(1).parallelize(ParallelType.vectorize)
    fd.sched.inline_most()
good, bad = [array(64)], [array(65)[1:]]
""",
    "strides between vectors": """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=[False, True])
    y = fd.ops.set(x)
    z = fd.ops.neg(y)
    fd.add_output(z)
    for tensor in (y, z):
        tensor.split(1, 4)
    y.axis(2).parallelize(ParallelType.vectorize)
    fd.sched.inline_most()
good, bad = [array(8, 8)], [array(8, 9)[:, :8]]
""",
    "too many threads": """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.ops.neg(x)
    fd.add_output(y)
    y.axis(0).parallelize(ParallelType.block_x)
good, bad = [array(64)], [array(2048)]
""",
    "a negative size": """
with FusionDefinition() as fd:
    n = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.full([n], 1.0, DataType.Float))
good, bad = [4], [-4]
""",
    "a tensor that no memory holds": """
with FusionDefinition() as fd:
    n = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.full([n, n], 1.0, DataType.Float))
good, bad = [4], [1 << 40]
""",
    "an input that overlaps itself": """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=[False, False])
    fd.add_output(fd.ops.neg(x), x)
good, bad = [array(4, 4)], [strided(array(16), (4, 4), (1, 1))]
""",
    "sizes that differ": """
with FusionDefinition() as fd:
    x = fd.define_tensor([-1], contiguity=True)
    y = fd.define_tensor([-1], contiguity=True)
    fd.add_output(fd.ops.add(x, y))
good, bad = [array(8), array(8)], [array(8), array(9)]
""",
    "a division by zero": """
with FusionDefinition() as fd:
    m = fd.define_scalar(dtype=DataType.Int)
    n = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.full([fd.ops.div(m, n)], 1.0, DataType.Float))
good, bad = [8, 2], [8, 0]
""",
}
RUN = """
ke = KernelExecutor()
ke.compile(fd.fusion)
for which in ARGS:
    attempt(lambda: ke.run(good if which == "good" else bad))
"""


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_the_same_in_every_process(run: Callable[..., Process], case: str) -> None:
    def outputs(process: Process) -> list[str]:
        return re.sub(r"\b0x[0-9a-f]+", "an address", process.output).split("--\n")

    first = run(REFUSED[case] + RUN, "good", "bad")
    results, refusal, _ = outputs(first)
    assert "Error" not in results
    assert "Error" in refusal
    second = run(REFUSED[case] + RUN, "bad", "good")
    assert outputs(second) == [refusal, results, ""]
    assert second.read == 1
    assert second.lowered <= 1  # for the text alone


def test_the_kernel_of_a_second_process_can_be_looked_at(run: Callable[..., Process]) -> None:
    script = """
with FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1], contiguity=True)))
ke = KernelExecutor()
ke.compile(fd.fusion, [array(4)])
show(ke.run([array(4)]))
if ARGS:
    print(ke.kernel_source(), ke.kernel().print_kernel_ir(), ke.kernel_name(), ke.last_launch())
"""
    first = run(script, "look")
    assert run(script).lowered == 0
    second = run(script, "look")
    assert (second.lowered, second.read) == (1, 1)
    assert second.output == first.output


# ---- What is another kernel ----------------------------------------------------------------------

POINTWISE = AUTOMATIC["pointwise"]


@pytest.mark.parametrize(
    "variables",
    [
        {"NVFUSER_DISABLE": "index_hoist"},
        {"NVFUSER_DISABLE": "fma"},
        {"NVFUSER_ENABLE": "kernel_lineinfo"},
    ],
)
def test_other_options_are_another_kernel(
    run: Callable[..., Process], variables: dict[str, str]
) -> None:
    first = run(POINTWISE)
    other = run(POINTWISE, **variables)
    assert (other.lowered, other.output) == (1, first.output)
    assert run(POINTWISE, **variables).lowered == 0
    assert run(POINTWISE).lowered == 0


def test_an_edited_schedule_is_another_kernel(run: Callable[..., Process]) -> None:
    run(BY_HAND, "8")
    other = run(BY_HAND, "4")
    assert (other.lowered, other.read) == (1, 0)


def test_an_edited_definition_is_another_kernel(run: Callable[..., Process]) -> None:
    run(POINTWISE)
    assert run(POINTWISE.replace("fd.ops.neg(c)", "fd.ops.abs(c)")).lowered == 1


def test_another_compiler_is_another_kernel(
    run: Callable[..., Process], target: str, tmp_path: Path
) -> None:
    if target == "cuda":
        pytest.skip("NVRTC is a library")
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nexec c++ "$@"\n')
    compiler.chmod(0o755)
    run(POINTWISE)
    assert run(POINTWISE, CXX=str(compiler)).lowered == 1
    assert run(POINTWISE, CXX=str(compiler)).lowered == 0
    compiler.write_text('#!/bin/sh\n# updated\nexec c++ "$@"\n')
    assert run(POINTWISE, CXX=str(compiler)).lowered == 1


@pytest.mark.gpu
def test_another_target_is_another_kernel(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    script = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    fd.add_output(fd.ops.neg(fd.define_tensor([-1], contiguity=True)))
for place in ("cpu", "cuda"):
    print(fd.execute([torch.ones(4, device=place)])[0].tolist())
"""
    environment = {k: v for k, v in os.environ.items() if k != "NVFUSER_VERIFY_PASSES"}
    environment |= {"NVFUSER_CACHE_DIR": str(tmp_path), "NVFUSER_TRACE": str(tmp_path / "trace")}
    for expected in (2, 0):
        subprocess.run([sys.executable, "-c", script], env=environment, check=True)
        names = [event["name"] for event in json.loads((tmp_path / "trace").read_text())]
        assert sum(name.startswith("lower ") for name in names) == expected


@pytest.mark.parametrize(
    "variables",
    [
        {"NVFUSER_VERIFY_PASSES": "1"},
        {"NVFUSER_DUMP": "kernel_ir"},
        {"NVFUSER_DUMP": "lower_verbose"},
        {"NVFUSER_KERNEL_CACHE": "0"},
    ],
)
def test_a_look_into_lowering_shows_it_in_every_process(
    run: Callable[..., Process], tmp_path: Path, variables: dict[str, str]
) -> None:
    first, second = (run(POINTWISE, **variables) for _ in range(2))
    assert (first.lowered, second.lowered) == (1, 1)
    assert second.output == first.output
    assert facts_in(tmp_path) == []


# ---- Files that are not what was written ---------------------------------------------------------


def sealed(key: bytes, payload: bytes, magic: bytes) -> bytes:
    """A file with the checksum that it should have."""
    checksum = 0xCBF29CE484222325
    for byte in key + payload:
        checksum = ((checksum ^ byte) * 0x100000001B3) % 2**64
    return magic + struct.pack("<QQQ", len(key), len(payload), checksum) + key + payload


def parts_of(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Key, payload and magic of a file."""
    (key_bytes,) = struct.unpack("<Q", data[8:16])
    return data[HEAD : HEAD + key_bytes], data[HEAD + key_bytes :], data[:8]


def without_end(data: bytes) -> bytes:
    key, payload, magic = parts_of(data)
    return sealed(key, payload[:-1], magic)


def with_more(data: bytes) -> bytes:
    key, payload, magic = parts_of(data)
    return sealed(key, payload + b"\0", magic)


def with_other_words(data: bytes) -> bytes:
    """A program over other inputs than the fusion has."""
    key, payload, magic = parts_of(data)
    return sealed(key, bytes([payload[0] + 1]) + payload[1:], magic)


def with_numbers_too_large(data: bytes) -> bytes:
    key, payload, magic = parts_of(data)
    return sealed(key, b"\xff" * len(payload), magic)


DAMAGE = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "a flipped bit": lambda data: data[:-3] + bytes([data[-3] ^ 4]) + data[-2:],
    "something else": lambda _: b"something else" * 10,
    "sealed without its end": without_end,
    "sealed with more": with_more,
    "sealed with other words": with_other_words,
    "sealed with numbers too large": with_numbers_too_large,
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_facts_are_a_miss(run: Callable[..., Process], tmp_path: Path, kind: str) -> None:
    first = run(POINTWISE)
    assert len(facts_in(tmp_path)) == 2
    for path in facts_in(tmp_path):
        path.write_bytes(DAMAGE[kind](path.read_bytes()))
    second = run(POINTWISE)
    assert (second.lowered, second.output) == (1, first.output)
    assert run(POINTWISE).lowered == 0  # they were replaced


def test_facts_without_their_machine_code_are_a_miss(
    run: Callable[..., Process], tmp_path: Path
) -> None:
    first = run(POINTWISE)
    for path in tmp_path.glob("cache/*/*.kernel"):
        path.unlink()
    second = run(POINTWISE)
    assert (second.lowered, second.output) == (1, first.output)


def test_facts_that_others_may_write_are_not_used(
    run: Callable[..., Process], tmp_path: Path
) -> None:
    first = run(POINTWISE)
    for path in facts_in(tmp_path):
        path.chmod(0o666)
    second = run("import warnings; warnings.simplefilter('ignore')\n" + POINTWISE)
    assert (second.lowered, second.output) == (1, first.output)


def test_random_changes_of_bytes_never_crash(run: Callable[..., Process], tmp_path: Path) -> None:
    """Bytes that say no recipe are refused; the file's checksum stands before this."""
    run(POINTWISE)
    rng = np.random.default_rng(0)
    for path in facts_in(tmp_path):
        key, payload, magic = parts_of(path.read_bytes())
        cut = int(rng.integers(1, len(payload)))
        noise = rng.integers(128, 256, len(payload) - cut, dtype=np.uint8).tobytes()
        path.write_bytes(sealed(key, payload[:cut] + noise, magic))
    assert run(POINTWISE).lowered == 1
