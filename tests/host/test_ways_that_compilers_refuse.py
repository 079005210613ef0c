"""A compiler that does not take the source of an automatic schedule: the next way is taken.

Segments that no other scheduler takes are cut further; what cannot be cut runs by the trivial
schedule, or is evaluated.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import pytest

# Refuses sources of kernels that are named after these schedulers.
COMPILER = """#!/bin/sh
for word; do
  case "$word" in
    *.cpp) if grep -qE "{refused}" "$word"; then echo "$word:1:1: error: too long" >&2; exit 1; fi;;
  esac
done
exec {compiler} "$@"
"""

SCRIPT = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    x = fd.define_tensor([-1, -1], contiguity=True)
    rows = fd.ops.sum(fd.ops.exp(x), [1], keepdim=True)
    fd.add_output(fd.ops.sum(fd.ops.sin(rows), [0]))
data = torch.randn(6, 9)
for _ in range(2):
    torch.testing.assert_close(fd.execute([data])[0], data.exp().sum(1, True).sin().sum(0))
print([piece.way if str(piece.scheduler) == "SchedulerType.none" else piece.scheduler.name
       for piece in fd.fec.last_pieces()])
print(fd.fec.explain([data]))
"""


TWINS = """
import torch
from nvfuser_direct import FusionDefinition
with FusionDefinition() as fd:
    inputs = [fd.define_tensor([-1, -1], contiguity=True) for _ in range(2)]
    for x in inputs:
        fd.add_output(fd.ops.sum(fd.ops.exp(x), [1]))
data = [torch.randn(6, 9), torch.randn(5, 7)]
for _ in range(2):
    for result, x in zip(fd.execute(data), data):
        torch.testing.assert_close(result, x.exp().sum(1))
print([piece.way for piece in fd.fec.last_pieces()])
"""


def run(folder: Path, refused: str, program: str = SCRIPT) -> subprocess.CompletedProcess[str]:
    script = folder / "compiler"
    compiler = os.environ.get("CXX") or shutil.which("c++") or "c++"
    script.write_text(COMPILER.format(refused=refused, compiler=compiler))
    script.chmod(0o755)
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"CXX": str(script), "NVFUSER_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        ("nvfuser_nothing", "['reduction', 'reduction']"),
        ("nvfuser_reduction", "['pointwise', 'trivial', 'pointwise', 'trivial']"),
        ("nvfuser_", "['evaluated', 'evaluated', 'evaluated', 'evaluated']"),
    ],
)
def test_the_next_way_is_taken(refused: str, expected: str, tmp_path: Path) -> None:
    result = run(tmp_path, refused)
    assert result.stdout.splitlines()[0] == expected
    if refused != "nvfuser_nothing":
        assert "  not reduction: CPU kernel nvfuser_reduction_" in result.stdout
        assert "error: too long" in result.stdout
    assert ("evaluated through PyTorch" in result.stderr) == (refused == "nvfuser_")


@pytest.mark.parametrize("refused", ["nvfuser_reduction", "nvfuser_"])
def test_segments_that_share_kernels_are_refused_together(refused: str, tmp_path: Path) -> None:
    ways = literal_eval(run(tmp_path, refused, TWINS).stdout)
    assert all(ways.count(way) % 2 == 0 for way in ways)
    assert (set(ways) == {"evaluated"}) == (refused == "nvfuser_")
