"""Threads at the limits of a process: at its end, in a child, where no more can be started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


DAEMONS = """
import os, threading, time
from nvfuser_direct import compile_cpu_source

def compile_for_ever(worker):
    for i in range(1_000_000):
        name = f"k{worker}_{i}"
        compile_cpu_source(f'extern "C" int {name}() {{ return {os.getpid()}; }}', name)

for worker in range(2):
    threading.Thread(target=compile_for_ever, args=(worker,), daemon=True).start()
time.sleep(SECONDS)
"""


@pytest.mark.parametrize("seconds", [0.2, 0.23, 0.26])
def test_a_process_may_end_while_threads_compile(seconds: float, tmp_path: Path) -> None:
    # The compilers leave their files in TMPDIR.
    result = run_python(DAEMONS.replace("SECONDS", str(seconds)), TMPDIR=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")


LIMITED = """
import resource
import torch
from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType, set_num_threads

with FusionDefinition() as fd:
    out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
    fd.add_output(out)
    out.split(0, 64)
    out.axis(0).parallelize(ParallelType.grid_x)
torch.set_num_threads(1)  # starting others ends the process
x = torch.ones(1 << 17)
executor = KernelExecutor()
executor.compile(fd.fusion, [x])
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (48 << 20)  # room for the stacks of a few threads
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
set_num_threads(64)
print(torch.equal(executor.run([x])[0], -x))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_a_kernel_runs_on_as_many_threads_as_there_can_be() -> None:
    result = run_python(LIMITED)
    assert (result.stdout, result.returncode) == ("True\n", 0), result.stderr


CHILD = """
import os
import torch
from nvfuser_direct import FusionDefinition, KernelExecutor, ParallelType, set_num_threads

set_num_threads(4)
torch.set_num_threads(1)  # its own threads do not survive a fork
with FusionDefinition() as fd:
    out = fd.ops.neg(fd.define_tensor([-1], contiguity=True))
    fd.add_output(out)
    out.split(0, 64)
    out.axis(0).parallelize(ParallelType.grid_x)
x = torch.ones(1 << 17)
executor = KernelExecutor()
executor.compile(fd.fusion, [x])
executor.run([x])  # starts the threads, which a child does not have
child = os.fork()
if child == 0:
    os._exit(0 if (executor.run([x])[0] == -1).all() else 1)
print(os.waitpid(child, 0)[1])
"""


def test_a_forked_child_runs_kernels() -> None:
    result = run_python(CHILD)
    assert (result.stdout, result.returncode) == ("0\n", 0), result.stderr


FIXED_GRID = """
import os
import torch
from nvfuser_direct import FusionDefinition, set_num_threads

set_num_threads(4)
torch.set_num_threads(1)
with FusionDefinition() as fd:
    x = fd.define_tensor([-1])
    total = fd.ops.sum(fd.ops.exp(x), [0], keepdim=True)
    fd.add_output(fd.ops.div(fd.ops.exp(x), total))
fd.execute([torch.ones(8)])  # compiles
for size in (8, 1 << 18):
    before = len(os.listdir("/proc/self/task"))
    fd.execute([torch.ones(size)])
    print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts threads as Linux does")
def test_few_elements_on_a_large_grid_wake_no_threads() -> None:
    result = run_python(FIXED_GRID)
    started_for_few, started_for_many = map(int, result.stdout.split())
    assert started_for_few == 0, result.stderr
    assert started_for_many > 0
