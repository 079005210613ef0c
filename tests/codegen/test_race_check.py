"""The CPU target's check for races on shared memory: `NVFUSER_ENABLE=kernel_debug`.

Every hand-written schedule of the examples passes the check; a kernel that lost a
barrier does not, although its result would be right where threads run in order.
"""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nvfuser_direct import FusionDefinition, KernelExecutor, MemoryType, ParallelType, _core

SCHEDULES = Path(__file__).resolve().parents[2] / "examples" / "schedules"
sys.path.insert(0, str(SCHEDULES))

import harness  # noqa: E402

NAMES = sorted(path.stem for path in SCHEDULES.glob("*.py") if path.stem != "harness")
BARRIER = "race.barrier();"


def debugged(function):
    return _core.call_with_options(function, ["kernel_debug"], [])


def reverse_rows() -> FusionDefinition:
    """Every thread reads what another one wrote: rows are transposed through shared memory."""
    with FusionDefinition() as fd:
        x = fd.define_tensor([32, 32], contiguity=True)
        tile = fd.ops.set(x)
        y = fd.ops.permute(tile, [1, 0])
        fd.add_output(y)
        tile.set_memory_type(MemoryType.shared)
        tile.axis(1).parallelize(ParallelType.block_x)
        y.axis(1).parallelize(ParallelType.block_x)
    return fd


@pytest.mark.parametrize("name", NAMES)
def test_examples_have_no_races(name: str) -> None:
    example = importlib.import_module(name)
    for sizes in example.SIZES[-2:]:
        result = debugged(lambda sizes=sizes: harness.run(example, sizes, "cpu"))
        assert result.error <= example.RTOL


def test_every_shared_access_is_checked() -> None:
    source = debugged(lambda: reverse_rows().fusion.lower(target="cpu").print_source())
    kernel = source[source.index("// Codegen generated code") :]
    assert kernel.count("race.write(T1_tags") == 1
    assert kernel.count("race.read(T1_tags") == 1
    assert kernel.count(BARRIER) == 1


def test_without_the_option_nothing_is_checked() -> None:
    assert "race." not in reverse_rows().fusion.lower(target="cpu").print_source()


def test_switching_the_check_on_compiles_anew() -> None:
    executor = KernelExecutor()
    x = torch.randn(32, 32)
    executor.compile(reverse_rows().fusion, [x])
    assert torch.equal(debugged(lambda: executor.run([x]))[0], x.T)


SCRIPT = """
import sys
import torch
sys.path.insert(0, {folder!r})
from nvfuser_direct import KernelExecutor
from test_race_check import reverse_rows

x = torch.randn(32, 32)
executor = KernelExecutor()
executor.compile(reverse_rows().fusion, [x])
try:
    executor.run([x])
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("has_barrier", [True, False])
def test_a_lost_barrier_is_found(has_barrier: bool, tmp_path: Path, monkeypatch) -> None:
    executor = KernelExecutor()
    debugged(lambda: executor.compile(reverse_rows().fusion, [torch.randn(32, 32)]))
    source = executor.kernel_source()
    assert BARRIER in source
    file = tmp_path / "kernel.cpp"
    file.write_text(source if has_barrier else source.replace(BARRIER, ""))
    monkeypatch.setenv("NVFUSER_EXTERNAL_SRC", str(file))
    script = SCRIPT.format(folder=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    if has_barrier:
        assert done.stdout == ""
        return
    assert "Threads race on shared memory" in done.stdout
    assert "of T1, which thread" in done.stdout
