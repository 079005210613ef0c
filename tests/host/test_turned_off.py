"""Options that turn off a scheduler, or the side by side of compilers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nvfuser_direct import FusionDefinition, SchedulerType

# Notes when a compiler begins and when it ends.
COMPILER = """#!/bin/sh
echo begin >> {log}
sleep 0.2
{compiler} "$@"
status=$?
echo end >> {log}
exit $status
"""

THREE_SEGMENTS = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    for rank in (1, 2, 3):
        x = fd.define_tensor([-1] * rank, contiguity=True)
        fd.add_output(fd.ops.exp(x))
fd.execute([torch.randn([5] * rank) for rank in (1, 2, 3)])
assert len(fd.fec.last_pieces()) == 3
"""


def padded_and_scanned() -> FusionDefinition:
    with FusionDefinition() as fd:
        x = fd.define_tensor([-1, -1], contiguity=True)
        fd.add_output(fd.ops.exp(fd.ops.pad(x, [1, 1, 0, 0])))
        fd.add_output(fd.ops.cumsum(x, 1))
    return fd


@pytest.mark.parametrize("name", ["resize", "greedy"])
def test_a_scheduler_that_is_turned_off_takes_nothing(name: str, target: str) -> None:
    fd = padded_and_scanned()
    x = torch.randn(6, 9).to(target)
    expected = [torch.nn.functional.pad(x, [1, 1, 0, 0]).exp(), x.cumsum(1)]
    kinds = []
    for options in ([], [f"{name}_scheduler"], []):
        for result, wanted in zip(fd.execute([x], _disable_options=options), expected, strict=True):
            torch.testing.assert_close(result, wanted)
        kinds.append({piece.scheduler for piece in fd.fec.last_pieces()})
    assert kinds[0] == kinds[2] == {SchedulerType.resize, SchedulerType.greedy}
    assert kinds[1] == kinds[0] - {getattr(SchedulerType, name)} | {SchedulerType.none}


def test_a_scheduler_says_that_it_is_turned_off() -> None:
    script = (
        "import torch\n"
        "from nvfuser_direct import FusionDefinition, SchedulerType, schedule\n"
        "with FusionDefinition() as fd:\n"
        "    x = fd.define_tensor([-1, -1], contiguity=True)\n"
        "    fd.add_output(fd.ops.cumsum(x, 1))\n"
        "print(schedule.can_schedule(fd.fusion, SchedulerType.greedy, [torch.randn(4, 6)])[1])\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"NVFUSER_DISABLE": "greedy_scheduler"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == (
        "Scheduler _greedy_ ***rejected*** because : the scheduler is turned off\n"
    )


def test_compilers_run_one_by_one_where_parallel_compile_is_turned_off(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = tmp_path / "compiler"
    compiler = os.environ.get("CXX") or shutil.which("c++") or "c++"
    script.write_text(COMPILER.format(log=log, compiler=compiler))
    script.chmod(0o755)
    environment = os.environ | {
        "CXX": str(script),
        "NVFUSER_CACHE_DIR": str(tmp_path / "cache"),
        "NVFUSER_DISABLE": "parallel_compile",
    }
    subprocess.run([sys.executable, "-c", THREE_SEGMENTS], env=environment, check=True)
    lines = log.read_text().split()
    assert lines.count("begin") >= 3
    assert lines == ["begin", "end"] * (len(lines) // 2)
